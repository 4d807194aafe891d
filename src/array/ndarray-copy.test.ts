/**
 * Copies between random layouts and element types, overlapping or not: every element arrives, and no other byte changes.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesTouched, modelOfLayout, type Tuple, tuples } from '../../test/support/strided-model.ts';
import {
  asDType,
  bf16,
  bool,
  c64,
  c128,
  type DType,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  narrowCodec,
  SCALARS,
  struct,
  u8,
  u16,
  u32,
  u64,
} from '../dtype/index.ts';
import { NDArray } from './ndarray.ts';
import { copyElements, fillElements } from './ndarray-copy.ts';

const { decode: decodeHalf, encode: encodeHalf } = narrowCodec(SCALARS.f16.narrow);

const scalars = [bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64];
const ROWS = 7;
const COLUMNS = 9;

/** How a 7×9 array is cut down to `count` rows and columns, maybe transposed. */
interface Cut {
  readonly start: readonly [number, number];
  readonly step: readonly [number, number];
  readonly transposed: boolean;
}
const cut = fc.record({
  start: fc.tuple(fc.nat(ROWS - 1), fc.nat(COLUMNS - 1)),
  step: fc.tuple(fc.constantFrom(1, 1, 2, 3, -1, -2), fc.constantFrom(1, 1, 2, -1, -3)),
  transposed: fc.boolean(),
});

/** As many rows and columns as fit from a start on. */
function fitting({ start, step, transposed }: Cut): [number, number] {
  const room = (length: number, from: number, by: number): number =>
    by > 0 ? Math.ceil((length - from) / by) : Math.floor(from / -by) + 1;
  const [rows, columns] = [room(ROWS, start[0], step[0]), room(COLUMNS, start[1], step[1])];
  return transposed ? [columns, rows] : [rows, columns];
}

function cutOut(base: NDArray, { start, step, transposed }: Cut, shape: readonly [number, number]): NDArray {
  const [rows, columns] = transposed ? [shape[1], shape[0]] : shape;
  const axis = (from: number, by: number, count: number): [number, number | null, number] => {
    const stop = from + by * count;
    return [from, stop < 0 ? null : stop, by];
  };
  const view = base.slice(axis(start[0], step[0], rows), axis(start[1], step[1], columns));
  return transposed ? view.T : view;
}

/** The nearest of both multiples of the last bit, the even one of two. */
function toBfloat(value: number | bigint | boolean): number {
  const x = Number(value);
  if (!Number.isFinite(x) || x === 0) return x;
  let unit = 2 ** -133;
  while (Math.abs(x) >= 256 * unit) unit *= 2;
  const low = Math.floor(Math.abs(x) / unit);
  // Where a double holds an integer it does not decide a tie, an integer that it does not hold may.
  const exact = typeof value === 'bigint' ? (value < 0n ? -value : value) : undefined;
  const twice =
    exact === undefined || unit < 2
      ? Math.abs(x) * 2 - low * unit * 2 - unit
      : Number(2n * exact - BigInt(2 * low + 1) * BigInt(unit));
  const size = (twice > 0 || (twice === 0 && low % 2 === 1) ? low + 1 : low) * unit;
  return Math.sign(x) * (size >= 2 ** 128 ? Number.POSITIVE_INFINITY : size);
}

/** Conversion of one element, from the rule: exact integers wrap, floats truncate and saturate. */
function expected(value: unknown, from: DType, to: DType): unknown {
  if (to === c64 || to === c128) {
    const { re, im } = (from.kind === 'c' ? value : { re: Number(value), im: 0 }) as { re: number; im: number };
    return to === c64 ? { re: Math.fround(re), im: Math.fround(im) } : { re, im };
  }
  const number = Number(value);
  if (to === bool) return number !== 0;
  if (to === f64) return number;
  if (to === f32) return Math.fround(number);
  if (to === f16) return decodeHalf(encodeHalf(number));
  if (to === bf16) return toBfloat(value as number | bigint | boolean);
  const bits = to.itemSize * 8;
  const [low, high] =
    to.kind === 'i' ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n] : [0n, 2n ** BigInt(bits) - 1n];
  let integer: bigint;
  if (from.kind === 'f') {
    if (Number.isNaN(number)) integer = 0n;
    else if (number >= Number(high)) integer = high;
    else if (number <= Number(low)) integer = low;
    else integer = BigInt(Math.trunc(number));
  } else {
    const exact = BigInt(value as number | bigint | boolean);
    integer = to.kind === 'i' ? BigInt.asIntN(bits, exact) : BigInt.asUintN(bits, exact);
  }
  return bits === 64 ? integer : Number(integer);
}

/** Memory of random bytes; `shift` makes it start at an odd address. */
function memory(dtype: DType, seed: readonly number[], shift: number): NDArray {
  const count = ROWS * COLUMNS * dtype.itemSize;
  const bytes = new Uint8Array(new ArrayBuffer(count + 16), shift, count);
  bytes.forEach((_, i) => {
    bytes[i] = (Number(seed[i % seed.length]) * (i + 3)) >> 2;
  });
  const strides = [COLUMNS * dtype.itemSize, dtype.itemSize];
  return new NDArray(bytes, dtype, { shape: [ROWS, COLUMNS], strides, offset: 0 }) as NDArray;
}

const seeds = fc.array(fc.nat(2 ** 16), { minLength: 7, maxLength: 13 });
const shared = ([a, b]: readonly [number, number], [c, d]: readonly [number, number]): [number, number] => [
  Math.min(a, c),
  Math.min(b, d),
];
const at = (array: NDArray, tuple: Tuple): unknown => array.get(...tuple);

/** The same array over no more of the buffer than from its lowest element on. */
function narrowed(array: NDArray): NDArray {
  const { layout, dtype } = array;
  const first = Math.min(...bytesTouched(modelOfLayout(layout)));
  return new NDArray(array.bytes.subarray(first), dtype, { ...layout, offset: layout.offset - first }) as NDArray;
}

function checkCopy(target: NDArray, source: NDArray): void {
  const wanted = tuples(target.shape).map((tuple) => expected(at(source, tuple), source.dtype, target.dtype));
  const before = target.bytes.slice();
  copyElements(target, source);
  expect(tuples(target.shape).map((tuple) => at(target, tuple))).toEqual(wanted);
  const touched = bytesTouched(modelOfLayout(target.layout));
  expect(target.bytes.filter((byte, i) => byte !== before[i] && !touched.has(i))).toHaveLength(0);
}

describe('copies between random layouts', () => {
  test('of every element type to every other', () => {
    const types = fc.tuple(
      fc.constantFrom<DType>(...scalars, c64, c128),
      fc.constantFrom<DType>(...scalars, c64, c128),
    );
    const shifts = fc.tuple(fc.constantFrom(0, 0, 8, 4, 1), fc.constantFrom(0, 0, 8, 4, 1));
    fc.assert(
      fc.property(types, cut, cut, seeds, shifts, ([to, from], a, b, seed, [shiftTo, shiftFrom]) => {
        const shape = shared(fitting(a), fitting(b));
        const target = cutOut(memory(to, seed, shiftTo), a, shape);
        const source = cutOut(memory(from, [...seed].reverse(), shiftFrom), b, shape);
        if (from.kind === 'c' && to.kind !== 'c') expect(() => copyElements(target, source)).toThrow(TypeError);
        else checkCopy(target, source);
      }),
      { numRuns: 1200 },
    );
  });

  test('of whole rows, which the engine converts where it can', () => {
    const types = fc.tuple(fc.constantFrom<DType>(...scalars), fc.constantFrom<DType>(...scalars));
    const rows = fc.record({
      start: fc.tuple(fc.nat(ROWS - 1), fc.nat(3)),
      step: fc.tuple(fc.constantFrom(1, 2, -1), fc.constant(1)),
      transposed: fc.constant(false),
    });
    fc.assert(
      fc.property(types, rows, rows, seeds, ([to, from], a, b, seed) => {
        const shape = shared(fitting(a), fitting(b));
        checkCopy(cutOut(memory(to, seed, 8), a, shape), cutOut(memory(from, [...seed].reverse(), 0), b, shape));
      }),
      { numRuns: 800 },
    );
  });

  test('within one array: the source is read before anything is written', () => {
    fc.assert(
      fc.property(fc.constantFrom<DType>(...scalars, c128), cut, cut, seeds, (dtype, a, b, seed) => {
        const base = memory(dtype, seed, 0);
        const shape = shared(fitting(a), fitting(b));
        checkCopy(cutOut(base, a, shape), cutOut(base, b, shape));
      }),
      { numRuns: 500 },
    );
  });

  test('within one buffer, of which each array has a TypedArray of its own', () => {
    fc.assert(
      fc.property(fc.constantFrom<DType>(...scalars), cut, cut, seeds, (dtype, a, b, seed) => {
        const base = memory(dtype, seed, 0);
        const shape = shared(fitting(a), fitting(b));
        const [target, source] = [cutOut(base, a, shape), cutOut(base, b, shape)];
        checkCopy(target, narrowed(source));
        const narrow = narrowed(target);
        checkCopy(narrow, source);
        checkCopy(narrow, narrowed(source));
      }),
      { numRuns: 300 },
    );
  });

  test('within one buffer, read as two types', () => {
    const pairs = fc.constantFrom<readonly [DType, DType]>(
      [i32, f32],
      [f32, i32],
      [u32, i32],
      [i64, f64],
      [u64, i64],
      [i16, u16],
    );
    fc.assert(
      fc.property(pairs, cut, cut, seeds, ([to, from], a, b, seed) => {
        const base = memory(to, seed, 0);
        const shape = shared(fitting(a), fitting(b));
        checkCopy(cutOut(base, a, shape), cutOut(base.view(from) as NDArray, b, shape));
      }),
      { numRuns: 300 },
    );
  });
});

describe('fills', () => {
  test('write every element and no other byte', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<DType>(...scalars, c64),
        cut,
        seeds,
        fc.integer({ min: 0, max: 100 }),
        (dtype, a, seed, n) => {
          const target = cutOut(memory(dtype, seed, 3), a, fitting(a));
          const before = target.bytes.slice();
          fillElements(target, n);
          const wanted = expected(n, i32, dtype);
          for (const tuple of tuples(target.shape)) expect(at(target, tuple)).toEqual(wanted);
          const touched = bytesTouched(modelOfLayout(target.layout));
          expect(target.bytes.filter((byte, i) => byte !== before[i] && !touched.has(i))).toHaveLength(0);
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('rows that are compact but do not begin at whole elements', () => {
  const rows = (dtype: DType, offset: number, stride: number): NDArray => {
    const bytes = new Uint8Array(96).map((_, i) => (i * 37) % 64);
    return new NDArray(bytes, dtype, { shape: [3, 2], strides: [stride, dtype.itemSize], offset }) as NDArray;
  };
  for (const [offset, stride] of [
    [0, 9],
    [1, 8],
    [4, 12],
    [2, 10],
  ] as const) {
    checkCopy(rows(f64, 0, 24), rows(i32, offset, stride));
    checkCopy(rows(i32, offset, stride), rows(i16, 0, 6));
  }
});

test('shapes must be equal, structs of one type', () => {
  const a = memory(f32, [1], 0);
  expect(() => copyElements(a, a.T)).toThrow('cannot copy an array of shape [9, 7] to one of shape [7, 9]');
  const point = struct({ x: f32, y: f32 });
  const other = memory(asDType(struct({ x: f32, z: f32 })), [1], 0);
  expect(() => copyElements(memory(point, [1], 0), other)).toThrow(
    'elements of struct{x: f32, z: f32} cannot be converted to struct{x: f32, y: f32}',
  );
  const same = memory(struct({ x: f32, y: f32 }), [5], 0);
  const target = memory(point, [1], 0);
  copyElements(target, same);
  expect(target.bytes).toEqual(same.bytes);
});
