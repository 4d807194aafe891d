/**
 * What primitives do along one axis of an array of several: every line by itself.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import { type DType, type Scalar, sameDType, spellDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { formatShape, normalizeAxis } from '../layout/index.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { arrayOf } from './input.ts';
import { Lazy } from './lazy.ts';

/** Options of what is done along an axis. */
export interface AlongAxis {
  /** The axis along which each line is dealt with by itself; negative ones count from the last. */
  readonly axis: number;
  /** Whether the axis stays, with a length of 1. NumPy: `keepdims`. Default: false. */
  readonly keepDims?: boolean | undefined;
}

/** Options of what is done with all elements. */
export interface AllElements {
  readonly axis?: undefined;
  readonly keepDims?: undefined;
}

/** An array as lines: element `k` of line `(o, i)` is `(o * length + k) * inner + i` in C order. */
export interface Lines {
  readonly outer: number;
  readonly length: number;
  readonly inner: number;
}

/** The array, its lines, and the shape of what has one element for each of them. */
export interface Axis extends Lines {
  readonly array: DeviceNDArray;
  readonly axis: number;
  readonly shape: readonly number[];
}

/** Options as they are read. */
export interface AskedAxis {
  readonly axis?: number | undefined;
  readonly keepDims?: boolean | undefined;
}

/** The lines of an argument. Throws TypeError for what is no array, RangeError for an axis that there is not. */
export function axisOf(place: Workplace, x: unknown, own: AskedAxis): Axis {
  const array = axesOf(place, x);
  const axis = normalizeAxis(own.axis as number, array.ndim);
  const product = (list: readonly number[]): number => list.reduce((a, b) => a * b, 1);
  const [before, behind] = [array.shape.slice(0, axis), array.shape.slice(axis + 1)];
  const shape = own.keepDims === true ? [...before, 1, ...behind] : [...before, ...behind];
  return { array, axis, shape, outer: product(before), length: array.shape[axis] as number, inner: product(behind) };
}

/** An array on the device, with its axes. */
export function axesOf(place: Workplace, x: unknown): DeviceNDArray {
  if (x instanceof Lazy) {
    throw new TsambaTypeError('E_PARALLEL', `${place.name}: axis is for arrays, and x is a lazy input, which has one`);
  }
  const array = arrayOf(place, x, 'x');
  if (array.ndim > 0) return array;
  throw new TsambaRangeError('E_AXIS', `${place.name}: an array without axes has none to go along`);
}

/** A new array, and all of it along one axis. */
export function madeFlat(
  place: Workplace,
  shape: readonly number[],
  dtype: DType,
): { readonly made: DeviceNDArray; readonly flat: DeviceNDArray } {
  const made = place.own(newArray(place.context, shape, dtype as DType<Scalar>, { stream: place.stream }));
  return { made, flat: place.view(made, [made.size], [made.itemSize]) };
}

/** The same elements with one axis last. */
export function lastOf(place: Workplace, array: DeviceNDArray, axis: number): DeviceNDArray {
  if (axis === array.ndim - 1) return array;
  const last = <T>(list: readonly T[]): T[] => [...list.filter((_, k) => k !== axis), list[axis] as T];
  return place.view(array, last(array.shape), last(array.strides));
}

/** What a flat array has to be copied to: an array of the shape of `target`, strides in C order. */
export function shapedAs(place: Workplace, flat: DeviceNDArray, { shape }: DeviceNDArray): DeviceNDArray {
  const strides = new Array<number>(shape.length);
  let step = flat.itemSize;
  for (let k = shape.length - 1; k >= 0; k--) {
    strides[k] = step;
    step *= shape[k] as number;
  }
  return place.view(flat, shape, strides);
}

/** Refuses an array that cannot take results of the shape of `x`. */
export function checkOut(place: Workplace, out: DeviceNDArray, { shape }: DeviceNDArray, dtype: DType): void {
  if (out.shape.length !== shape.length || out.shape.some((n, k) => n !== shape[k])) {
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${place.name}: out has shape ${formatShape(out.shape)}, and the results ${formatShape(shape)}`,
    );
  }
  if (sameDType(out.dtype, dtype)) return;
  throw new TsambaTypeError(
    'E_DTYPE_MISMATCH',
    `${place.name}: out has dtype ${spellDType(out.dtype)}, and the results ${spellDType(dtype)}`,
  );
}
