/**
 * What the chapters on structs share: a struct in several layouts, its elements, and how they are compared.
 */
import {
  type DType,
  f16,
  f32,
  f64,
  i8,
  i32,
  i64,
  type NDArray,
  ndarray,
  type StructDType,
  struct,
  u8,
} from '../src/index.ts';
import { same } from './assert.ts';
import { type Copied, read } from './waiting.ts';

export const N = 75;

/** An element of any of the layouts. */
export interface Particle {
  tag: number;
  x: number;
  y: number;
  pos: { a: number; flag: number; b: number };
  f: number[][];
  n: bigint;
  h: number;
}

const members = {
  tag: u8,
  x: f32,
  y: i32,
  pos: struct({ a: f64, flag: i8, b: f32 }),
  f: f32.array(3, 2),
  n: i64,
  h: f16,
};
export const PACKED: StructDType<Particle> = struct(members);
export const ALIGNED: StructDType<Particle> = struct(members, { align: true });
const NESTED: StructDType<Particle> = struct(
  { ...members, pos: struct({ a: f64, flag: i8, b: f32 }, { align: true }) },
  { align: true },
);
const narrow = { ...members, pos: struct({ a: f32, flag: i8, b: f32 }) };
/** By name. The last two are for devices without f64 too. */
export const LAYOUTS: Readonly<
  Record<'packed' | 'aligned' | 'nested' | 'packed, narrow' | 'aligned, narrow', StructDType<Particle>>
> = {
  packed: PACKED,
  aligned: ALIGNED,
  nested: NESTED,
  'packed, narrow': struct(narrow),
  'aligned, narrow': struct(narrow, { align: true }),
};
export interface Pair {
  x: number;
  y: number;
}
export const PAIR: StructDType<Pair> = struct({ x: f32, y: i32 });

export const particle = (i: number): Particle => ({
  tag: i,
  x: i / 2,
  y: 3 - i,
  pos: { a: Math.sqrt(i), flag: i - 40, b: 1.5 * i },
  f: [
    [i, i + 0.25],
    [2 * i, -i],
    [3, 4],
  ],
  n: BigInt(i) * 0x123456789n - 50n,
  h: i / 4,
});

export const objects = (count: number = N): Particle[] => Array.from({ length: count }, (_, i) => particle(i));

export function filled<T>(dtype: DType<T>, values: readonly T[]): NDArray<T, 1> {
  const host = ndarray.zeros([values.length], dtype);
  for (const [i, value] of values.entries()) host.set(value, i);
  return host as unknown as NDArray<T, 1>;
}

/** Elements as text, in which 0 and -0, and bigints, are told apart. */
export const text = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : Object.is(v, -0) ? '-0' : v));

export async function sameRecords(
  actual: Copied<unknown>,
  expected: readonly unknown[],
  what = 'element',
): Promise<void> {
  const got = ((await read(actual)) as NDArray).toArray() as readonly unknown[];
  same(got.length, expected.length, `${what}s`);
  for (const [i, e] of expected.entries()) same(text(got[i]), text(e), `${what} ${i}`);
}
