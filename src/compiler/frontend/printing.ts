/**
 * `console.log`, and the texts of `console.assert` and `throw`: what of them is known while compiling, and what a thread prints.
 *
 * Strings are no values of kernels. A template string, `'i = ' + i` and `'i = '.concat(i)`, which ES5 output has instead, are taken
 * apart where they are printed: into words and numbers that the host joins. Tuples and objects become arrays and objects of the host again.
 */

import type { AnyNode, CallExpression, Expression, SpreadElement } from 'acorn';
import { LANES } from '../../dtype/index.ts';
import { intrinsicName } from '../intrinsics.ts';
import type { PrintForm } from '../ir/print-forms.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { fieldNames, isRecord, member } from './records.ts';
import { describeValue, isLiteral, literal, type Scope, scalar, UNDEFINED, type Value } from './values.ts';

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
        return { fields: v.lanes.map((lane, k) => [LANES[k] ?? 'x', this.#form(scalar(lane))]) };
      case 'record':
        return { fields: [...v.fields].map(([name, x]) => [name, this.#form(x)]) };
      case 'complex':
        return {
          fields: [
            ['re', this.#form(scalar(v.re))],
            ['im', this.#form(scalar(v.im))],
          ],
        };
      case 'scalar':
        this.parts.push(isLiteral(v.expr) ? exact(v.expr.value, pos) : v.expr);
        return 'value';
      case 'host': {
        if (v.value === undefined) return 'undefined';
        if (v.value === null) return 'null';
        const index = indexObject(intrinsicName(v.value), pos);
        return index === undefined ? this.#word(String(v.value)) : this.#form(index);
      }
      case 'view':
        if (v.view.axes.length > 0) break;
        if (!isRecord(v)) {
          this.parts.push(this.#ctx.scalar(v, pos));
          return 'value';
        }
        return { fields: fieldNames(v.view).map((name) => [name, this.#form(member(v.view, name, pos))]) };
      default:
        break;
    }
    return fail('K225', pos, `console.log in a kernel prints numbers and strings, not ${describeValue(v)}`, {
      help: v.kind === 'view' ? 'print elements: A[i]' : 'give it as an argument of its own',
    });
  }
}

/** A literal that prints as it is in JavaScript: -0, 1e300 and 5n. */
function exact(value: number | bigint | boolean, pos: Pos): string | TExpr {
  if (typeof value === 'bigint') {
    if (value < -(2n ** 63n) || value >= 2n ** 64n) return `${value}n`;
    return { k: 'cast', to: value < 2n ** 63n ? 'i64' : 'u64', a: literal(value, pos), pos };
  }
  return typeof value === 'number' ? { k: 'cast', to: 'f64', a: literal(value, pos), pos } : literal(value, pos);
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
