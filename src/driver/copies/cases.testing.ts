/**
 * For tests: strided copies of every layout, and what copying element by element makes of them.
 */
import fc from 'fast-check';
import type { DeviceSide, HostSide, StridedCopy, StridedFill } from '../driver.ts';

/** The layouts of a strided copy: shape, and the strides of both sides. */
interface Layouts {
  readonly shape: number[];
  readonly itemSize: number;
  readonly target: number[];
  readonly source: number[];
}

/** A strided copy: also where the first elements are. */
export interface CopyCase extends Layouts {
  readonly shiftT: number;
  readonly shiftS: number;
}

/** Byte offsets of all elements in the order of indices. */
export function offsets(shape: readonly number[], strides: readonly number[]): number[] {
  let all = [0];
  shape.forEach((n, axis) => {
    all = all.flatMap((at) => Array.from({ length: n }, (_, i) => at + i * (strides[axis] ?? 0)));
  });
  return all;
}

/** A buffer that holds a side, and where in it the first element is. */
export function side(
  shape: readonly number[],
  strides: readonly number[],
  itemSize: number,
  shift: number,
): { readonly all: number[]; readonly first: number; readonly bytes: number } {
  const all = offsets(shape, strides);
  const low = Math.min(0, ...all);
  return { all, first: shift - low, bytes: Math.max(0, ...all) + itemSize - low + shift + 5 };
}

const layouts = (shape: number[], itemSize: number): fc.Arbitrary<number[]> => {
  const compact = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * Math.max(1, b), itemSize));
  const stride = fc.oneof(
    fc.integer({ min: -5, max: 5 }).map((k) => k * itemSize),
    fc.integer({ min: -40, max: 40 }),
    fc.constantFrom(0, itemSize),
  );
  const padded = compact.map((s, axis) => s * (axis === shape.length - 1 ? 1 : 2));
  return fc.oneof(
    fc.constant(compact),
    fc.constant([...compact].reverse()),
    fc.shuffledSubarray(compact, { minLength: compact.length }),
    fc.constant(padded),
    fc
      .tuple(fc.constant(compact), fc.array(fc.constantFrom(1, -1, 2, -2, 3), { minLength: 6, maxLength: 6 }))
      .map(([strides, factors]) => strides.map((s, k) => s * (factors[k] ?? 1))),
    fc.array(stride, { minLength: shape.length, maxLength: shape.length }),
  );
};

/** Arrays with gaps behind rows and layers: what the copy engines do by pitches. */
const pitched = (shape: number[], itemSize: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 6, maxLength: 6 }).map((gaps) => {
    let stride = itemSize;
    const strides = shape.toReversed().map((n, k) => {
      const own = stride;
      stride *= n + (gaps[k] ?? 0);
      return own;
    });
    return strides.toReversed();
  });

/** Copies of all kinds of layouts: compact, permuted, with gaps, reversed, overlapping. */
export const copyCases: fc.Arbitrary<CopyCase> = fc
  .tuple(
    fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 9 })), { maxLength: 5 }),
    fc.constantFrom(1, 2, 3, 4, 6, 8, 12, 16, 24),
    fc.integer({ min: 0, max: 17 }),
    fc.integer({ min: 0, max: 17 }),
  )
  .filter(([shape]) => shape.reduce((a, b) => a * b, 1) <= 3000)
  .chain(([shape, itemSize, shiftT, shiftS]) =>
    fc
      .oneof(
        fc.tuple(layouts(shape, itemSize), layouts(shape, itemSize)),
        fc.tuple(pitched(shape, itemSize), pitched(shape, itemSize)),
      )
      .map(([target, source]) => ({ shape, itemSize, target, source, shiftT, shiftS })),
  );

/** Bytes that tell places apart. */
export const noise = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, k) => (k * 37 + 11 + (k >> 8)) & 255);

/** What copying element by element makes of the target, and the bytes that it touches. */
export function copyElements(c: CopyCase, to: Uint8Array, t: number, from: Uint8Array, s: number): Set<number> {
  const touched = new Set<number>();
  const sources = offsets(c.shape, c.source);
  offsets(c.shape, c.target).forEach((at, k) => {
    const read = s + (sources[k] ?? 0);
    to.set(from.slice(read, read + c.itemSize), t + at);
    for (let byte = 0; byte < c.itemSize; byte++) touched.add(t + at + byte);
  });
  return touched;
}

/** The copy as drivers are given it: from the host to the device, */
export function upload(
  c: Layouts,
  pointer: number,
  bytes: Uint8Array,
  offset: number,
): StridedCopy<DeviceSide, HostSide> {
  return { ...c, target: { pointer, strides: c.target }, source: { bytes, offset, strides: c.source } };
}

/** to the host, */
export function download(
  c: Layouts,
  bytes: Uint8Array,
  offset: number,
  pointer: number,
): StridedCopy<HostSide, DeviceSide> {
  return { ...c, target: { bytes, offset, strides: c.target }, source: { pointer, strides: c.source } };
}

/** and within the device. */
export function move(c: Layouts, target: number, source: number): StridedCopy<DeviceSide, DeviceSide> {
  return { ...c, target: { pointer: target, strides: c.target }, source: { pointer: source, strides: c.source } };
}

/** Likewise a fill. */
export function fill(c: Layouts & { readonly pattern: Uint8Array }, pointer: number): StridedFill<DeviceSide> {
  return { shape: c.shape, target: { pointer, strides: c.target }, pattern: c.pattern };
}

/** Patterns of all periods. */
const patterns = (size: number): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(fc.constantFrom(1, 2, 4, 8, 16), fc.uint8Array({ minLength: 16, maxLength: 16 }))
    .map(([period, bytes]) => Uint8Array.from({ length: size }, (_, k) => bytes[k % period] as number));

/** Fills of all kinds of layouts. */
export const fillCases: fc.Arbitrary<CopyCase & { readonly pattern: Uint8Array }> = copyCases
  .chain((c) =>
    fc
      .constantFrom(1, 2, 4, 8, 16)
      .chain((itemSize) => fc.tuple(fc.constant(c), layouts(c.shape, itemSize), patterns(itemSize))),
  )
  .map(([c, target, pattern]) => ({ ...c, target, itemSize: pattern.length, pattern }));
