/**
 * What the bodies of special functions share: the shape of their coefficients, and polynomials of either width, whose coefficients are constants or stand in a table of the kernel's.
 */
import { add as addInteger, at, cast, constant, i32, load, mul as mulInteger } from '../../ir/builder.ts';
import type { ArraySym, Expr, MathFn } from '../../ir/ops.ts';
import { add, branch, mul } from '../notation.ts';

export interface Rows {
  readonly from: number;
  readonly columns: number;
  readonly rows: readonly number[];
}

export interface Hankel {
  readonly p: readonly number[];
  readonly q: readonly number[];
}

interface Modified {
  readonly near: readonly number[];
  readonly far: readonly number[];
}

export interface BesselTables {
  readonly j0: Rows;
  readonly j1: Rows;
  readonly y0: Rows;
  readonly y1: Rows;
  readonly hankel0: Hankel;
  readonly hankel1: Hankel;
  readonly y0Start: { readonly zero: readonly number[]; readonly rest: readonly number[] };
  readonly y1Start: readonly number[];
  readonly i0: Modified;
  readonly i1: Modified;
}

export interface ErrorTables {
  readonly centre: number;
  readonly below: readonly number[];
  readonly above: readonly number[];
  readonly inverse: readonly number[];
  readonly inverseLow: number;
  readonly edges: readonly number[];
  readonly columns: number;
  readonly tail: readonly number[];
}

/** A function of the math table, which devices put in. */
export function call(fn: MathFn, x: Expr): Expr {
  if (x.type !== 'f32' && x.type !== 'f64') throw new TypeError(`${fn} needs a float`);
  return { op: 'call', type: x.type, fn, args: [x] };
}

/** A select of which only the arm that is wanted is computed. */
export function either(cond: Expr, a: Expr, b: Expr): Expr {
  return branch(false, cond, [a], [b])[0] ?? a;
}

/** c[0] + x (c[1] + x (c[2] + …)), in the type of x. */
export function horner(x: Expr, coefficients: readonly number[]): Expr {
  const [last = 0, ...others] = [...coefficients].reverse();
  return others.reduce((sum: Expr, c) => add(mul(sum, x), c), constant(x.type, last));
}

const arrays = new Map<readonly number[], ArraySym>();

/** Numbers as constant memory of a kernel. */
function memory(type: 'f32' | 'f64', numbers: readonly number[]): ArraySym {
  const known = arrays.get(numbers);
  if (known !== undefined) return known;
  const values = type === 'f32' ? Float32Array.from(numbers) : Float64Array.from(numbers);
  const made: ArraySym = {
    id: -1,
    name: '%coefficients',
    space: 'constant',
    elem: type,
    data: new Uint8Array(values.buffer),
    length: values.length,
    align: values.BYTES_PER_ELEMENT,
  };
  arrays.set(numbers, made);
  return made;
}

/** The entries of row `row`, an i32, of a table. */
export function rowOf(type: 'f32' | 'f64', numbers: readonly number[], columns: number, row: Expr): Expr[] {
  const table = memory(type, numbers);
  const start = mulInteger(row, i32(columns));
  return Array.from({ length: columns }, (_, k) => load(at(table, addInteger(start, i32(k)))));
}

/** c[0] + x (c[1] + …) of coefficients that are values. */
export function hornerOf(x: Expr, coefficients: readonly Expr[]): Expr {
  return coefficients.reduceRight((sum, c) => add(mul(sum, x), c));
}

/** The whole number at or below a float that is at least 0, as an i32. */
export function whole(x: Expr): Expr {
  return cast('i32', x);
}
