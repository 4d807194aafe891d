/**
 * Conversion of one host value to a scalar type: the rule behind casts, stores, and copies between arrays of two types.
 *
 * The same rule as in kernels: a float (any JavaScript number is one) going to an integer truncates and saturates, NaN
 * becomes 0; an integer (a bigint, or an element of an integer array) going to a narrower integer wraps. Values are rounded
 * once, from what was given to what is wanted. Only u8c is otherwise: whatever goes there is clamped, and rounded half to even.
 */

import { TsambaTypeError } from '../errors.ts';
import { describes } from '../options.ts';
import { show } from '../show.ts';
import { narrowCodec } from './narrow-float.ts';
import { rowOf, SCALAR_NAMES, type ScalarName } from './table.ts';

type Range = readonly [low: number, high: number];

/** Those of the integers of at most 32 bits. */
const RANGES: ReadonlyMap<ScalarName, Range> = new Map(
  SCALAR_NAMES.flatMap((name): [ScalarName, Range][] => {
    const { kind, bytes } = rowOf(name);
    if ((kind !== 'i' && kind !== 'u') || bytes > 4) return [];
    const size = 2 ** (8 * bytes);
    return [[name, kind === 'i' ? [-size / 2, size / 2 - 1] : [0, size - 1]]];
  }),
);

/** The least and the greatest value of an integer type of at most 32 bits; undefined for other types. */
export function integerRange(name: ScalarName): Range | undefined {
  return RANGES.get(name);
}

/**
 * A function that converts host values to one scalar type. The values that it gives are what a read of such an element gives:
 * bigint for i64 and u64, boolean for bool, a rounded number otherwise. It throws TypeError for anything but numbers,
 * bigints and booleans.
 */
export function converterTo(name: ScalarName): (value: unknown) => number | bigint | boolean {
  switch (name) {
    case 'bool':
      return (value) => {
        if (typeof value === 'boolean') return value;
        // NaN is not zero, so it is true, as in C; JavaScript's Boolean(NaN) is false.
        if (typeof value === 'number') return value !== 0;
        if (typeof value === 'bigint') return value !== 0n;
        return refuse(name, value);
      };
    case 'f64':
      return (value) => toNumber(name, value);
    case 'f32':
      return (value) => Math.fround(typeof value === 'bigint' ? roundToOdd(value) : toNumber(name, value));
    case 'i64':
      return (value) => toBigint(name, value, -(2n ** 63n), 2n ** 63n - 1n, BigInt.asIntN);
    case 'u64':
      return (value) => toBigint(name, value, 0n, 2n ** 64n - 1n, BigInt.asUintN);
    case 'u8c':
      return (value) => {
        if (typeof value === 'bigint') return Number(value < 0n ? 0n : value > 255n ? 255n : value);
        return toClamped(toNumber(name, value));
      };
    default:
      return converterToNarrow(name);
  }
}

function converterToNarrow(name: ScalarName): (value: unknown) => number {
  const { narrow } = rowOf(name);
  if (narrow !== undefined) {
    const { decode, encode } = narrowCodec(narrow);
    return (value) => decode(encode(typeof value === 'bigint' ? roundToOdd(value) : toNumber(name, value)));
  }
  const [low, high] = RANGES.get(name) ?? [0, 0];
  const wrap = wrapperTo(name);
  return (value) => {
    if (typeof value === 'number') return saturate(value, low, high);
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (typeof value === 'bigint') return wrap(Number(BigInt.asIntN(32, value)));
    return refuse(name, value);
  };
}

/**
 * A function that converts elements read from an array of one scalar type to another: integers wrap, whether they are bigints
 * or numbers, floats saturate.
 */
export function converterBetween(from: ScalarName, to: ScalarName): (value: unknown) => number | bigint | boolean {
  if (!RANGES.has(from)) return converterTo(to);
  // From an integer type of at most 32 bits, whose elements are numbers: they must not be taken for floats.
  if (RANGES.has(to)) {
    const wrap = wrapperTo(to);
    return (value) => wrap(Number(value));
  }
  if (to === 'i64') return (value) => BigInt(Number(value));
  if (to === 'u64') return (value) => BigInt.asUintN(64, BigInt(Number(value)));
  return converterTo(to);
}

/** Brings integers into an integer type of at most 32 bits by dropping the high bits. */
function wrapperTo(name: ScalarName): (value: number) => number {
  if (name === 'u8c') return (value) => Math.min(Math.max(value, 0), 255);
  const { kind, bytes } = rowOf(name);
  const unused = 32 - 8 * bytes;
  return kind === 'i' ? (value) => (value << unused) >> unused : (value) => (value << unused) >>> unused;
}

/** ECMA-262, ToUint8Clamp. */
function toClamped(value: number): number {
  if (!(value > 0)) return 0;
  if (value >= 255) return 255;
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
}

function saturate(value: number, low: number, high: number): number {
  if (Number.isNaN(value)) return 0;
  if (value <= low) return low;
  if (value >= high) return high;
  // `+ 0` turns the -0 that truncation of (-1, 0) gives into the only zero that integers have.
  return Math.trunc(value) + 0;
}

function toNumber(name: ScalarName, value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return refuse(name, value);
}

function toBigint(
  name: ScalarName,
  value: unknown,
  low: bigint,
  high: bigint,
  wrap: (bits: number, value: bigint) => bigint,
): bigint {
  if (typeof value === 'bigint') return wrap(64, value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value !== 'number') return refuse(name, value);
  if (Number.isNaN(value)) return 0n;
  if (value >= Number(high)) return high;
  if (value <= Number(low)) return low;
  return BigInt(Math.trunc(value));
}

/**
 * A bigint as a number of 40 digits at most, the last of which is set when others were lost (rounding to odd): what is rounded from it to
 * a float of fewer digits is rounded once. Number() would round to 53 digits first.
 */
export function roundToOdd(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  if (magnitude < 2n ** 53n) return Number(value);
  const shift = BigInt(magnitude.toString(2).length - 40);
  const kept = magnitude >> shift;
  const sticky = Number(kept << shift === magnitude ? kept : kept | 1n) * 2 ** Number(shift);
  return value < 0n ? -sticky : sticky;
}

function refuse(name: ScalarName, value: unknown): never {
  if (typeof value === 'object' && value !== null && describes(value, 're')) {
    throw new TsambaTypeError('E_CONVERT', `cannot convert a complex number to ${name}; take its .re or .im`);
  }
  const what = Array.isArray(value)
    ? 'an array'
    : typeof value === 'object'
      ? show(value)
      : `a value of type ${typeof value}`;
  throw new TsambaTypeError('E_CONVERT', `cannot convert ${what} to ${name}; give a number, a bigint or a boolean`);
}
