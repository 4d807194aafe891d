/**
 * Strides of compact arrays, and what can be told from strides: contiguity, and the layout that kernels are specialised for.
 *
 * Contiguity follows NumPy's relaxed rules: the strides of axes of length 1 do not matter, and an array without elements is
 * contiguous in both orders.
 */
import { type Order, type StridedLayout, sizeOf } from './shape.ts';

/** Byte strides of a compact array whose last axis is fastest. Axes of length 0 count as 1, as in NumPy. */
export function cStrides(shape: readonly number[], itemSize: number): number[] {
  const strides: number[] = [...shape];
  let stride = itemSize;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= Math.max(shape[axis] ?? 1, 1);
  }
  return strides;
}

/** Byte strides of a compact array whose first axis is fastest. */
export function fStrides(shape: readonly number[], itemSize: number): number[] {
  return compactStrides(
    shape,
    itemSize,
    shape.map((_, axis) => axis),
  );
}

/** Byte strides of a compact array in the given order. */
export function stridesFor(shape: readonly number[], itemSize: number, order: Order): number[] {
  return order === 'F' ? fStrides(shape, itemSize) : cStrides(shape, itemSize);
}

/** A compact layout at offset 0. */
export function compactLayout(shape: readonly number[], itemSize: number, order: Order = 'C'): StridedLayout {
  return { shape: [...shape], strides: stridesFor(shape, itemSize, order), offset: 0, itemSize };
}

/** Byte strides of a compact array whose axes are fastest in the order given. */
function compactStrides(shape: readonly number[], itemSize: number, fastestFirst: readonly number[]): number[] {
  const strides = new Array<number>(shape.length).fill(itemSize);
  let stride = itemSize;
  for (const axis of fastestFirst) {
    strides[axis] = stride;
    stride *= Math.max(shape[axis] ?? 1, 1);
  }
  return strides;
}

function reversedAxes(ndim: number): number[] {
  return Array.from({ length: ndim }, (_, i) => ndim - 1 - i);
}

/** Whether the elements lie without gaps, last axis fastest. Axes of length 1 are ignored; no elements: true. */
export function isCContiguous(shape: readonly number[], strides: readonly number[], itemSize: number): boolean {
  return isContiguous(shape, strides, itemSize, shape.length - 1, -1);
}

/** Whether the elements lie without gaps, first axis fastest. Axes of length 1 are ignored; no elements: true. */
export function isFContiguous(shape: readonly number[], strides: readonly number[], itemSize: number): boolean {
  return isContiguous(shape, strides, itemSize, 0, 1);
}

/** Whether the axes, from the fastest one on in steps of `step`, lie without gaps. Allocates nothing: every new array asks. */
function isContiguous(
  shape: readonly number[],
  strides: readonly number[],
  itemSize: number,
  fastest: number,
  step: 1 | -1,
): boolean {
  if (sizeOf(shape) === 0) return true;
  let expected = itemSize;
  for (let axis = fastest; axis >= 0 && axis < shape.length; axis += step) {
    const length = shape[axis] ?? 1;
    if (length === 1) continue;
    if (strides[axis] !== expected) return false;
    expected *= length;
  }
  return true;
}

/**
 * The layout that a kernel is specialised for. C is preferred where an array is both; any zero stride (a broadcast axis) of
 * an array with elements makes it A.
 */
export function classifyLayout(
  shape: readonly number[],
  strides: readonly number[],
  itemSize: number,
): 'C' | 'F' | 'A' {
  if (sizeOf(shape) > 0 && strides.includes(0)) return 'A';
  if (isCContiguous(shape, strides, itemSize)) return 'C';
  return isFContiguous(shape, strides, itemSize) ? 'F' : 'A';
}

/** The unit in which a kernel counts strides: the item size where every stride is a multiple of it, else one byte. */
export function strideUnit(strides: readonly number[], itemSize: number): number {
  return strides.every((stride) => stride % itemSize === 0) ? itemSize : 1;
}

/**
 * Strides of a new compact array that keeps the order of another's axes in memory (NumPy's order 'K'): C or F where the other
 * is contiguous in it, else by the size of its strides, whatever their sign; broadcast axes become the fastest.
 */
export function likeStrides(shape: readonly number[], strides: readonly number[], itemSize: number): number[] {
  if (shape.length <= 1 || isCContiguous(shape, strides, itemSize)) return cStrides(shape, itemSize);
  if (isFContiguous(shape, strides, itemSize)) return fStrides(shape, itemSize);
  // The sort is stable: among equal strides the later axis is the faster, as in C order.
  const fastestFirst = reversedAxes(shape.length).sort((a, b) => Math.abs(strides[a] ?? 0) - Math.abs(strides[b] ?? 0));
  return compactStrides(shape, itemSize, fastestFirst);
}
