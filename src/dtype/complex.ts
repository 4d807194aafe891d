/**
 * Complex numbers: `c64` (two f32) and `c128` (two f64), `{ re, im }` on the host.
 *
 * Like the scalar tokens they are dtypes and casts at once. NumPy's names count both parts: complex64 is two float32.
 */

import { TsambaTypeError } from '../errors.ts';
import { describedValue } from '../options.ts';
import { show } from '../show.ts';
import { type ComplexName, DTYPE, type DType, printable } from './dtype.ts';
import { type SubArrayDType, subArray } from './subarray.ts';
import type * as t from './types.ts';
import type { Complex } from './types.ts';

/** A complex dtype; called, it makes a complex number of its precision. */
export interface ComplexToken<out T> extends DType<T> {
  /** `c64(re, im = 0)` or `c64({ re, im })`. Throws TypeError for anything else. */
  (re: number | bigint | boolean | Complex, im?: number): T;
  readonly name: ComplexName;
  /** NumPy's letter for complex numbers. */
  readonly kind: 'c';
  /** A fixed sub-array for the field of a struct. */
  array<const S extends readonly number[]>(...shape: S): SubArrayDType<T, S>;
}

/** The real and imaginary parts of a value given where a complex number is wanted; real numbers have no imaginary part. */
export function toComplex(value: unknown, name: string): Complex {
  if (typeof value === 'number') return { re: value, im: 0 };
  if (typeof value === 'bigint' || typeof value === 'boolean') return { re: Number(value), im: 0 };
  if (typeof value === 'object' && value !== null) {
    const [re, im] = [describedValue(value, 're'), describedValue(value, 'im')];
    if (typeof re === 'number' && typeof im === 'number') return { re, im };
  }
  throw new TsambaTypeError('E_CONVERT', `cannot convert ${describe(value)} to ${name}; give a number or { re, im }`);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object without numbers re and im' : `a value of type ${typeof value}`;
}

function token<T>(name: ComplexName, itemSize: number, round: (x: number) => number): ComplexToken<T> {
  const cast = (re: unknown, im?: unknown, ...more: readonly unknown[]): Complex => {
    const value = toComplex(re, name);
    if (more.length > 0) {
      throw new TsambaTypeError('E_CONVERT', `${name}(re, im) takes 1 or 2 arguments, got ${2 + more.length}`);
    }
    if (im !== undefined && (typeof im !== 'number' || typeof re === 'object')) {
      throw new TsambaTypeError('E_CONVERT', `${name}(re, im) takes two numbers, got ${show(re)} and ${show(im)}`);
    }
    return { re: round(value.re), im: round(im ?? value.im) };
  };
  Object.defineProperty(cast, 'name', { value: name });
  Object.defineProperty(cast, DTYPE, { value: name });
  Object.assign(cast, {
    kind: 'c',
    itemSize,
    alignment: itemSize / 2,
    typestr: `<c${itemSize}`,
    array: <const S extends readonly number[]>(...shape: S) => subArray(cast as unknown as DType<T>, shape),
  });
  return Object.freeze(printable(cast)) as unknown as ComplexToken<T>;
}

/** An element of type c64, for annotations: `Vec<c64>`. */
export type c64 = t.ComplexNum<'c64'>;
/** Complex of two f32, NumPy's complex64. */
export const c64: ComplexToken<c64> = token('c64', 8, Math.fround);
/** An element of type c128, for annotations: `Vec<c128>`. */
export type c128 = t.ComplexNum<'c128'>;
/** Complex of two f64, NumPy's complex128. */
export const c128: ComplexToken<c128> = token('c128', 16, (x) => x);
