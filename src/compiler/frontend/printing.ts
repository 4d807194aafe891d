/**
 * `console.log`, and the texts of `console.assert` and `throw`: what of them is known while compiling, and what a thread prints.
 *
 * Strings are no values of kernels. A template string, `'i = ' + i` and `'i = '.concat(i)`, which ES5 output has instead, are taken
 * apart where they are printed: into words and numbers that the host joins. Tuples and objects become arrays and objects of the host again.
 */

import type { AnyNode, CallExpression, Expression, SpreadElement } from 'acorn';
import { isDType, LANES } from '../../dtype/index.ts';
import { intrinsicName } from '../intrinsics.ts';
import type { PrintForm, TypedArrayName } from '../ir/print-forms.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { indexView, viewValue } from './arrays.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { fieldsOf } from './objects.ts';
import { fieldNames, isRecord, member } from './record-fields.ts';
import { textCharacters, textType } from './texts.ts';
import { countOf, isTime } from './times.ts';
import { describeValue, isLiteral, literal, type Scope, scalar, UNDEFINED, type Value, type View } from './values.ts';

type Piece = string | Expression;

/** The pieces of an expression that is a string whatever its parts are; undefined for any other. */
function piecesOf(at: Expression | SpreadElement): readonly Piece[] | undefined {
  const node = at as AnyNode;
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : undefined;
    case 'ParenthesizedExpression':
      return piecesOf(node.expression);
    case 'TemplateLiteral':
      return node.quasis.flatMap(({ value }, k): Piece[] => {
        const expression = node.expressions[k];
        const after = expression === undefined ? [] : (piecesOf(expression) ?? [expression]);
        return [value.cooked ?? value.raw, ...after];
      });
    case 'BinaryExpression': {
      const { left, right } = node;
      if (node.operator !== '+' || left.type === 'PrivateIdentifier') return undefined;
      const [before, after] = [piecesOf(left), piecesOf(right)];
      if (before === undefined && after === undefined) return undefined;
      return [...(before ?? [left]), ...(after ?? [right])];
    }
    case 'CallExpression': {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type === 'Super') return undefined;
      const isConcat = callee.property.type === 'Identifier' && callee.property.name === 'concat';
      const before = isConcat ? piecesOf(callee.object) : undefined;
      if (before === undefined || node.arguments.some(({ type }) => type === 'SpreadElement')) return undefined;
      return [...before, ...(node.arguments as Expression[]).flatMap((part) => piecesOf(part) ?? [part])];
    }
    default:
      return undefined;
  }
}

/** A text that is known while compiling, with `…` for what only a thread knows. */
export function constantText(ctx: Evaluation, nodes: readonly (Expression | SpreadElement)[], scope: Scope): string {
  const known = (v: Value): string => {
    if (v.kind === 'host') return String(v.value);
    return v.kind === 'scalar' && isLiteral(v.expr) ? String(v.expr.value) : '…';
  };
  const text = (node: Expression | SpreadElement): string =>
    (piecesOf(node) ?? [node])
      .map((piece) => (typeof piece === 'string' ? piece : known(ctx.parts.evaluate(ctx, piece as Expression, scope))))
      .join('');
  return nodes.map(text).join(' ');
}

const AXES = ['x', 'y', 'z'] as const;

/** `cuda.threadIdx` and its like as the objects that they are in a kernel. */
function indexObject(name: string | undefined, pos: Pos): Value | undefined {
  if (name !== 'threadIdx' && name !== 'blockIdx' && name !== 'blockDim' && name !== 'gridDim') return undefined;
  return {
    kind: 'record',
    fields: new Map(AXES.map((axis) => [axis, scalar({ k: 'special', name: `${name}.${axis}`, pos })])),
  };
}

/** Collects what one call prints. */
class Line {
  readonly parts: (string | TExpr)[] = [];
  readonly forms: PrintForm[] = [];
  readonly #ctx: Evaluation;
  readonly #pos: Pos;
  constructor(ctx: Evaluation, pos: Pos) {
    this.#ctx = ctx;
    this.#pos = pos;
  }

  /** One argument. */
  add(v: Value): void {
    this.forms.push(this.#form(v));
  }

  /** One argument that is the text of several values. */
  addText(pieces: readonly (string | Value)[]): void {
    const [only] = pieces;
    const text = pieces
      .filter((piece) => piece !== '' || pieces.length === 1)
      .map((piece) => (typeof piece === 'string' ? this.#word(piece) : this.#form(piece)));
    this.forms.push(pieces.length === 1 && typeof only === 'string' ? 'value' : { text });
  }

  #word(text: string): PrintForm {
    this.parts.push(text);
    return 'value';
  }

  #form(v: Value): PrintForm {
    const pos = this.#pos;
    switch (v.kind) {
      case 'tuple':
        return { items: v.items.map((item) => this.#form(item)) };
      case 'vector':
        if (isTime(v))
          return { text: [this.#word(`${v.type.name}(`), this.#form(scalar(countOf(v))), this.#word(')')] };
        return { fields: v.lanes.map((lane, k) => [LANES[k] ?? 'x', this.#form(scalar(lane))]) };
      case 'record':
      case 'object':
        return this.#object(v);
      case 'complex':
        return {
          fields: [
            ['re', this.#form(scalar(v.re))],
            ['im', this.#form(scalar(v.im))],
          ],
        };
      case 'scalar':
        if (isLiteral(v.expr) && typeof v.expr.value === 'number') return { number: written(v.expr.value) };
        this.parts.push(isLiteral(v.expr) ? exact(v.expr.value, pos) : v.expr);
        return 'value';
      case 'host':
        return this.#host(v);
      case 'function':
        return { name: v.fn.name, isClass: false };
      case 'class':
        return { name: v.type.name, isClass: true };
      case 'view':
        if (v.view.axes.length > 0) return this.#array(v.view);
        if (textType(v) !== undefined) {
          const characters = textCharacters(this.#ctx, v, pos);
          this.parts.push(...characters);
          return { characters: characters.length };
        }
        if (!isRecord(v)) {
          this.parts.push(this.#ctx.scalar(v, pos));
          return 'value';
        }
        return { fields: fieldNames(v.view).map((name) => [name, this.#form(member(v.view, name, pos))]) };
      default:
        return this.#refuse(v);
    }
  }

  #object(v: Extract<Value, { kind: 'record' | 'object' }>): PrintForm {
    const type = v.kind === 'record' ? v.type : v.object.type;
    // An accessor of a literal is a property of its own, which is shown and not called.
    if (type !== undefined && type.construct === undefined && type.name === '') return this.#refuse(v);
    const fields = [...fieldsOf(this.#ctx, v, this.#pos)].filter(([name]) => !name.startsWith('#'));
    const form = (name: string, x: Value): PrintForm =>
      x.kind === 'function' && x.fn.name === '' ? { name, isClass: false } : this.#form(x);
    return { fields: fields.map(([name, x]) => [name, form(name, x)]), type: type?.name || undefined };
  }

  #host(v: Extract<Value, { kind: 'host' }>): PrintForm {
    const { value, name } = v;
    if (value === undefined) return 'undefined';
    if (value === null) return 'null';
    if (typeof value === 'function')
      return { name: value.name, isClass: /^class\b/.test(Function.prototype.toString.call(value)) };
    if (typeof value !== 'object') return this.#word(String(value));
    const index = indexObject(intrinsicName(value), this.#pos);
    if (index !== undefined) return this.#form(index);
    const object = this.#ctx.parts.asObject(this.#ctx, v, this.#pos);
    if (object.kind !== 'host') return this.#form(object);
    return isDType(value) ? this.#word(name) : this.#refuse(v);
  }

  /** An array whose length is known, of numbers as the typed array that it is; of what is in a struct, and of rows, as an array. */
  #array(view: View): PrintForm {
    const own: Value = { kind: 'view', view };
    const pos = this.#pos;
    const lengths = view.axes.map(({ extent }) =>
      isLiteral(extent) ? Number(extent.value) : Number.POSITIVE_INFINITY,
    );
    if (lengths.reduce((a, b) => a * b, 1) > MOST_ELEMENTS) return this.#refuse(own);
    const items = Array.from({ length: lengths[0] ?? 0 }, (_, k) =>
      this.#form(viewValue(indexView(this.#ctx, view, literal(k, pos), pos), pos)),
    );
    const { element, root, level, axes } = view;
    const isPlain = axes.length > 1 || level > 0 || root.open !== undefined || element.record !== undefined;
    return { items, type: isPlain ? undefined : TYPED_ARRAYS[element.clamped === true ? 'u8c' : element.elem] };
  }

  #refuse(v: Value): never {
    return fail('K225', this.#pos, `console.log in a kernel cannot print ${describeValue(v)}`, {
      help:
        v.kind === 'view'
          ? `print elements, ${v.view.name}${'[i]'.repeat(v.view.axes.length)}: whole arrays are printed up to ${MOST_ELEMENTS} elements, if their length is known at compile time`
          : 'it prints numbers, strings, arrays and objects: give what is in it as arguments of their own',
    });
  }
}

/** Arrays of more elements are not printed whole. */
const MOST_ELEMENTS = 64;

const TYPED_ARRAYS: Readonly<Partial<Record<string, TypedArrayName>>> = {
  i8: 'Int8Array',
  u8: 'Uint8Array',
  u8c: 'Uint8ClampedArray',
  i16: 'Int16Array',
  u16: 'Uint16Array',
  i32: 'Int32Array',
  u32: 'Uint32Array',
  i64: 'BigInt64Array',
  u64: 'BigUint64Array',
  f32: 'Float32Array',
  f64: 'Float64Array',
};

function written(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** A literal that prints as it is in JavaScript: 5n. */
function exact(value: bigint | number | boolean, pos: Pos): string | TExpr {
  if (typeof value !== 'bigint') return literal(value, pos);
  if (value < -(2n ** 63n) || value >= 2n ** 64n) return `${value}n`;
  return { k: 'cast', to: value < 2n ** 63n ? 'i64' : 'u64', a: literal(value, pos), pos };
}

export function consoleLog(ctx: Evaluation, node: CallExpression, scope: Scope, pos: Pos): Value {
  const line = new Line(ctx, pos);
  const args = node.arguments.map((argument) => ({ argument, pieces: piecesOf(argument) ?? [argument] }));
  const values = ctx.sequence(
    args.flatMap(({ pieces }) =>
      pieces.flatMap((piece) => {
        if (typeof piece === 'string') return [];
        return [() => ctx.parts.evaluate(ctx, piece.type === 'SpreadElement' ? piece.argument : piece, scope)];
      }),
    ),
  );
  const next = (): Value => values.shift() ?? UNDEFINED;
  for (const { argument, pieces } of args) {
    const [only] = pieces;
    if (pieces.length !== 1 || only === undefined) {
      line.addText(pieces.map((piece) => (typeof piece === 'string' ? piece : next())));
    } else if (typeof only === 'string') line.addText([only]);
    else {
      const value = next();
      if (argument.type !== 'SpreadElement') line.add(value);
      else if (value.kind === 'tuple') for (const item of value.items) line.add(item);
      else fail('K222', ctx.pos(argument, scope), `only a tuple can be spread here, not ${describeValue(value)}`);
    }
  }
  const { parts, forms } = line;
  ctx.emit({ k: 'print', parts, forms: forms.every((form) => form === 'value') ? undefined : forms, pos });
  return UNDEFINED;
}
