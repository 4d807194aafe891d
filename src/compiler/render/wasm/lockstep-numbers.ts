/**
 * Numbers that the threads of a block have, and what operations make of them: see `lockstep.ts`.
 */
import type { BinaryOp, Expr } from '../../ir/ops.ts';

/** What is not understood. */
export class Unknown extends Error {}

/** Numbers of threads, by thread; not a number where a thread has none. */
export type Numbers = Float64Array;
/** Numbers that are evenly apart from thread to thread. */
export class Line {
  readonly first: number;
  readonly step: number;

  constructor(first: number, step: number) {
    this.first = first;
    this.step = step;
  }
}

/** A number is that of all threads. */
export type Scalar = number | Line | Numbers;
/** The number of a thread. */
export function numberOf(value: Scalar, t: number): number {
  if (typeof value === 'number') return value;
  return value instanceof Line ? value.first + t * value.step : (value[t] as number);
}

/** What a variable holds in all threads, as `first + thread * step`; undefined of other numbers. */
export function lineOf(value: Scalar): { readonly first: number; readonly step: number } | undefined {
  if (typeof value === 'number') return { first: value, step: 0 };
  return value instanceof Line ? value : undefined;
}

/** Those for which something is not 0, and the others. */
export function split(threads: Int32Array, cond: Scalar): readonly [Int32Array, Int32Array] {
  const [yes, no] = [new Int32Array(threads.length), new Int32Array(threads.length)];
  let [some, others] = [0, 0];
  for (let k = 0; k < threads.length; k++) {
    const t = threads[k] as number;
    if (numberOf(cond, t) !== 0) yes[some++] = t;
    else no[others++] = t;
  }
  return [yes.subarray(0, some), no.subarray(0, others)];
}

export type WholeType = 'i32' | 'u32' | 'i64' | 'u64';

export const isWord = (type: Expr['type']): type is 'i32' | 'u32' => type === 'i32' || type === 'u32';
export const isWhole = (type: Expr['type']): type is WholeType => isWord(type) || type === 'i64' || type === 'u64';

/** A number in its type; those of 64 bits are small ones. */
export function wrap(type: Expr['type'], x: number): number {
  if (type === 'i32') return x | 0;
  if (type === 'u32') return x >>> 0;
  if (type !== 'bool' && (!Number.isSafeInteger(x) || (type === 'u64' && x < 0))) throw new Unknown();
  return x === 0 ? 0 : x;
}

export function each(
  threads: Int32Array,
  width: number,
  a: Scalar,
  b: Scalar,
  fn: (x: number, y: number) => number,
): number | Numbers {
  if (typeof a === 'number' && typeof b === 'number') return fn(a, b);
  const out = new Float64Array(width).fill(Number.NaN);
  for (let k = 0; k < threads.length; k++) {
    const t = threads[k] as number;
    out[t] = fn(numberOf(a, t), numberOf(b, t));
  }
  return out;
}

export const COMPARE: Record<(Expr & { op: 'compare' })['fn'], (x: number, y: number) => number> = {
  eq: (x, y) => Number(x === y),
  ne: (x, y) => Number(x !== y),
  lt: (x, y) => Number(x < y),
  le: (x, y) => Number(x <= y),
  gt: (x, y) => Number(x > y),
  ge: (x, y) => Number(x >= y),
};

/** What an operation does; its result is wrapped to the type. Of 64 bits, only what is right for small numbers. */
export function operation(fn: BinaryOp, type: Expr['type']): (x: number, y: number) => number {
  const [wide, unsigned] = [type === 'i64' || type === 'u64', type === 'u32'];
  switch (fn) {
    case 'add':
      return (x, y) => x + y;
    case 'sub':
      return (x, y) => x - y;
    case 'mul':
      return wide ? (x, y) => x * y : Math.imul;
    case 'min':
      return Math.min;
    case 'max':
      return Math.max;
    case 'div':
      return (x, y) => (y === 0 ? 0 : Math.trunc(x / y));
    case 'floordiv':
      return (x, y) => (y === 0 ? 0 : Math.floor(x / y));
    case 'rem':
      return (x, y) => (y === 0 ? 0 : x % y);
    default:
      break;
  }
  if (wide) throw new Unknown();
  switch (fn) {
    case 'and':
      return (x, y) => x & y;
    case 'or':
      return (x, y) => x | y;
    case 'xor':
      return (x, y) => x ^ y;
    case 'shl':
      return (x, y) => x << y;
    case 'shr':
      return unsigned ? (x, y) => x >>> y : (x, y) => x >> y;
    default:
      throw new Unknown();
  }
}
