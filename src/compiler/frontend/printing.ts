/**
 * `console.log`, and the texts of `console.assert` and `throw`: what of them is known while compiling, and what a thread prints.
 *
 * Strings are no values of kernels. A template string, `'i = ' + i` and `'i = '.concat(i)`, which ES5 output has instead, are taken
 * apart where they are printed: into words and numbers that the host joins.
 */
import type { AnyNode, CallExpression, Expression, SpreadElement } from 'acorn';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import type { Context } from './context.ts';
import { fail } from './diagnostics.ts';
import { describeValue, isLiteral, type Scope, UNDEFINED, type Value } from './values.ts';

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
export function constantText(ctx: Context, nodes: readonly (Expression | SpreadElement)[], scope: Scope): string {
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

/** Collects what one call prints. */
class Line {
  readonly parts: (string | TExpr)[] = [];
  /** How many parts each argument of the host's `console.log` is made of. */
  readonly joined: number[] = [];
  readonly #ctx: Context;
  readonly #pos: Pos;
  constructor(ctx: Context, pos: Pos) {
    this.#ctx = ctx;
    this.#pos = pos;
  }

  /** One argument, or as many as a tuple or an object takes. */
  add(v: Value): void {
    if (v.kind === 'tuple') {
      this.#word('[');
      for (const item of v.items) this.add(item);
      this.#word(']');
    } else if (v.kind === 'record') {
      this.#word('{');
      for (const [k, x] of v.fields) {
        this.#word(`${k}:`);
        this.add(x);
      }
      this.#word('}');
    } else {
      this.parts.push(this.#single(v));
      this.joined.push(1);
    }
  }

  /** One argument that is the text of several values. */
  addText(pieces: readonly (string | Value)[]): void {
    for (const piece of pieces) this.parts.push(typeof piece === 'string' ? piece : this.#single(piece));
    this.joined.push(pieces.length);
  }

  #word(text: string): void {
    this.parts.push(text);
    this.joined.push(1);
  }

  #single(v: Value): string | TExpr {
    if (v.kind === 'scalar') return isLiteral(v.expr) ? String(v.expr.value) : v.expr;
    if (v.kind === 'host') return String(v.value);
    if (v.kind === 'view' && v.view.axes.length === 0) return this.#ctx.scalar(v, this.#pos);
    return fail('K225', this.#pos, `console.log in a kernel prints numbers and strings, not ${describeValue(v)}`, {
      help: v.kind === 'view' ? 'print elements: A[i]' : 'give it as an argument of its own',
    });
  }
}

export function consoleLog(ctx: Context, node: CallExpression, scope: Scope, pos: Pos): Value {
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
  const { parts, joined } = line;
  ctx.emit({ k: 'print', parts, joined: joined.every((count) => count === 1) ? undefined : joined, pos });
  return UNDEFINED;
}
