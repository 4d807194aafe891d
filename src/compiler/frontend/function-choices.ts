/**
 * Functions that a thread chooses between: `c ? f : g`. A number says which it is, and a call of it is a switch.
 */
import type { Pos } from '../source.ts';
import type { Local, TExpr, TStmt } from '../types/tree.ts';
import { arith, select } from './arithmetic.ts';
import type { StatementWriter } from './statement-writer.ts';
import { literal, readLocal, type Value } from './values.ts';

/** What has to be there to write a choice down. */
interface Writer extends Pick<StatementWriter, 'collect' | 'emit' | 'hold'> {
  newLocal(name: string, pos: Pos, stable: boolean): Local;
}

type Callable = Extract<Value, { kind: 'function' | 'functions' | 'host' }>;

export function isCallable(v: Value): v is Callable {
  return v.kind === 'function' || v.kind === 'functions' || (v.kind === 'host' && typeof v.value === 'function');
}

/** Whether two values are one function, or one value of the host: what a function makes at each call is a new one, which has captured other values. */
export function isSame(a: Value, b: Value): boolean {
  if (a.kind === 'function' && b.kind === 'function')
    return a.fn.node === b.fn.node && a.fn.scope === b.fn.scope && a.fn.captured === b.fn.captured;
  return a.kind === 'host' && b.kind === 'host' && Object.is(a.value, b.value);
}

/** One of two functions, each with the statements that compute which of several it is. */
export function eitherFunction(
  ctx: Writer,
  cond: TExpr,
  [then, a]: readonly [list: readonly TStmt[], v: Callable],
  [otherwise, b]: readonly [list: readonly TStmt[], v: Callable],
  pos: Pos,
): Value {
  const among = [...membersOf(a), ...membersOf(b)];
  const which = ctx.newLocal('%which', pos, false);
  const assigned = (list: readonly TStmt[], v: Callable, from: number): TStmt[] => {
    const index: TExpr = v.kind === 'functions' ? v.index : literal(0, pos);
    const value: TExpr = from === 0 ? index : { k: 'arith', fn: 'add', a: index, b: literal(from, pos), pos };
    return [...list, ...ctx.collect(() => ctx.emit({ k: 'assign', local: which, value, pos }))];
  };
  ctx.emit({
    k: 'if',
    cond,
    then: assigned(then, a, 0),
    else: assigned(otherwise, b, membersOf(a).length),
    pos,
  });
  return { kind: 'functions', index: ctx.hold(readLocal(which, pos), '%which'), among };
}

/** One of two functions, of which it is known which they are: no statements are needed. */
export function chosenFunction(cond: TExpr, a: Callable, b: Callable, pos: Pos): Value {
  const [index, other] = [a, b].map((v): TExpr => (v.kind === 'functions' ? v.index : literal(0, pos)));
  const from = literal(membersOf(a).length, pos);
  return {
    kind: 'functions',
    index: select(cond, index as TExpr, arith('add', other as TExpr, from, pos), pos),
    among: [...membersOf(a), ...membersOf(b)],
  };
}

/**
 * Two objects or tuples of one form with the same functions in both: where they differ, both have the choice. What they are otherwise stays as it is.
 */
export function withSameFunctions(cond: () => TExpr, a: Value, b: Value, pos: Pos): readonly [a: Value, b: Value] {
  if (a.kind === 'tuple' && b.kind === 'tuple' && a.items.length === b.items.length) {
    const pairs = a.items.map((x, k) => withSameFunctions(cond, x, b.items[k] ?? x, pos));
    if (pairs.every(([x, y], k) => x === a.items[k] && y === b.items[k])) return [a, b];
    return [
      { ...a, items: pairs.map(([x]) => x) },
      { ...b, items: pairs.map(([, y]) => y) },
    ];
  }
  if (a.kind === 'record' && b.kind === 'record') {
    const pairs = [...a.fields].map(([name, x]) => {
      const y = b.fields.get(name);
      return [name, x, y, y && withSameFunctions(cond, x, y, pos)] as const;
    });
    if (pairs.every(([, x, y, both]) => both === undefined || (both[0] === x && both[1] === y))) return [a, b];
    return [0, 1].map((k): Value => {
      const own = k === 0 ? a : b;
      const changed = pairs.flatMap(([name, , , both]) => (both ? [[name, both[k] as Value] as const] : []));
      return { ...own, fields: new Map([...own.fields, ...changed]) };
    }) as unknown as readonly [Value, Value];
  }
  const plain = (v: Value): v is Callable => isCallable(v) && v.kind !== 'functions';
  if (!plain(a) || !plain(b) || isSame(a, b)) return [a, b];
  const either = chosenFunction(cond(), a, b, pos);
  return [either, either];
}

function membersOf(v: Callable): readonly Value[] {
  return v.kind === 'functions' ? v.among : [v];
}
