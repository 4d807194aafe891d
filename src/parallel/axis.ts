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
import type { Plan } from './primitive.ts';
import { outOf } from './transform.ts';

/** Options of what is done along an axis. */
export interface AlongAxis {
  /** The axis along which each line is processed separately; negative ones count from the last. */
  readonly axis: number;
  /** Whether the axis stays, with a length of 1. NumPy: `keepdims`. Default: false. */
  readonly keepDims?: boolean | undefined;
}

/** Options of what combines the elements along an axis, or along several: all that have the same place along the others. */
export interface AlongAxes {
  /** The axis, or a list of axes, whose elements are combined; negative ones count from the last. NumPy: `axis=(0, 2)`. */
  readonly axis: number | readonly number[];
  /** Whether the axes stay, with a length of 1. NumPy: `keepdims`. Default: false. */
  readonly keepDims?: boolean | undefined;
  /** A device array of the shape and the dtype of the results, which gets them and is given back. Default: a new one. */
  readonly out?: DeviceNDArray | DeviceNDArray<never> | undefined;
}

/** Options of what is done with all elements. */
export interface AllElements {
  /** Absent: all elements are meant. */
  readonly axis?: undefined;
  /** Absent: there are no axes to keep. */
  readonly keepDims?: undefined;
  /** Absent: the result is one value. */
  readonly out?: undefined;
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
  readonly axis?: number | readonly number[] | undefined;
  readonly keepDims?: boolean | undefined;
  readonly out?: unknown;
}

/** Refuses what only goes with an axis. */
export function withoutAxis({ name }: Workplace, { keepDims, out }: AskedAxis): void {
  const given = keepDims !== undefined ? 'keepDims' : out !== undefined && out !== null ? 'out' : undefined;
  if (given === undefined) return;
  const other = given === 'out' && name === 'reduce' ? ', or reduceInto' : '';
  throw new TsambaTypeError('E_PARALLEL', `${name}: ${given} goes with an axis: pass axis as well${other}`);
}

/** The lines of an argument along several axes: these behind each other, as if they were one. Throws as `axisOf` does. */
export function axesIn(place: Workplace, x: unknown, own: AskedAxis): Axis {
  if (!Array.isArray(own.axis)) return axisOf(place, x, own);
  const array = axesOf(place, x);
  const axes = (own.axis as number[]).map((axis) => normalizeAxis(axis, array.ndim)).sort((a, b) => a - b);
  const twice = axes.find((axis, k) => axis === axes[k + 1]);
  if (twice !== undefined) throw new TsambaRangeError('E_AXIS', `${place.name}: axis ${twice} is given twice`);
  const others = array.shape.flatMap((_, k) => (axes.includes(k) ? [] : [k]));
  const [first = array.ndim] = axes;
  const isOne = axes.every((axis, k) => axis === first + k);
  const of = (list: readonly number[]): number => list.reduce((size, k) => size * (array.shape[k] as number), 1);
  const shape =
    own.keepDims === true
      ? array.shape.map((n, k) => (axes.includes(k) ? 1 : n))
      : others.map((k) => array.shape[k] as number);
  const before = isOne ? others.filter((k) => k < first) : others;
  const behind = isOne ? others.filter((k) => k > first) : [];
  const lines = { axis: first, shape, outer: of(before), length: of(axes), inner: of(behind) };
  if (isOne) return { ...lines, array };
  const order = [...others, ...axes];
  const turned = <T>(list: readonly T[]): T[] => order.map((k) => list[k] as T);
  return { ...lines, array: place.view(array, turned(array.shape), turned(array.strides)) };
}

/** The lines of an argument. Throws TypeError for anything that is not an array, RangeError for an axis that there is not. */
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
  throw new TsambaRangeError('E_AXIS', `${place.name}: a 0-d array has no axis`);
}

/** An array for results, and where they are written: along one axis. */
export interface Made extends Pick<Plan<unknown>, 'after' | 'results'> {
  readonly made: DeviceNDArray;
  readonly flat: DeviceNDArray;
}

/** A new array, or the one that was given for results of `array`, written at once where nothing is read there. Throws TypeError, RangeError for one that does not fit. */
export function madeFlat(
  place: Workplace,
  shape: readonly number[],
  dtype: DType,
  out?: unknown,
  array?: DeviceNDArray,
): Made {
  const flatten = (whole: DeviceNDArray): DeviceNDArray => place.view(whole, [whole.size], [whole.itemSize]);
  const made = outOf(place, out);
  if (made === undefined) {
    const own = place.own(newArray(place.context, shape, dtype as DType<Scalar>, { stream: place.stream }));
    return { made: own, flat: flatten(own), results: [own] };
  }
  checkOut(place, made, { shape }, dtype);
  if (made.isCContiguous() && made.owner !== array?.owner) return { made, flat: flatten(made) };
  const flat = place.temporary([made.size], dtype);
  const after = (): void => {
    made.copyToDevice(shapedAs(place, flat, made), { stream: place.stream });
  };
  return { made, flat, after };
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
export function checkOut(
  place: Workplace,
  out: DeviceNDArray,
  { shape }: Pick<DeviceNDArray, 'shape'>,
  dtype: DType,
): void {
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
