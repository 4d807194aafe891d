/**
 * Random arrays of the device in many layouts, with what their elements are: for the chapters on whole arrays.
 */
import { type Complex, cuda, type DeviceNDArray, type DTypeLike, ndarray } from '../src/index.ts';

/** An element as JavaScript has it. */
export type Element = number | bigint | boolean | Complex;

/** Small random integers; the same ones every time. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(n: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * n);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

/** An array and its elements. */
export interface Sample {
  readonly array: DeviceNDArray;
  readonly shape: readonly number[];
  at(index: readonly number[]): Element;
}

/** A small whole number of a dtype. */
export function small(dtype: string, random: Random): Element {
  const value = random.below(7) - (dtype.startsWith('u') ? 0 : 3);
  if (dtype.startsWith('complex')) return { re: value, im: random.below(3) - 1 };
  if (dtype.endsWith('int64')) return BigInt(value);
  return dtype === 'bool' ? value > 0 : value;
}

/** An array of a shape in one of many layouts: C, F, every other element, backwards. */
export function sample(
  shape: readonly number[],
  dtype: string,
  random: Random,
  element: (dtype: string, random: Random) => Element = small,
): Sample {
  const kinds = shape.map(() => random.below(4));
  const whole = shape.map((n, k) => (kinds[k] === 1 ? 2 * n : n));
  const turned = random.below(2) === 1;
  const inMemory = turned ? [...whole].reverse() : whole;
  const size = inMemory.reduce((a, b) => a * b, 1);
  const data = Array.from({ length: size }, () => element(dtype, random));
  const array = cuda.deviceArray(inMemory, dtype as DTypeLike) as DeviceNDArray;
  if (size > 0) array.set(ndarray(data as number[], { dtype: dtype as DTypeLike }).reshape(inMemory));
  const strides = inMemory.map((_, k) => inMemory.slice(k + 1).reduce((a, b) => a * b, 1));
  if (turned) strides.reverse();
  const specs = kinds.map((kind) => (kind === 1 ? '::2' : kind === 2 ? '::-1' : ':'));
  const seen = turned ? array.T : array;
  const place = (i: number, k: number): number =>
    kinds[k] === 1 ? 2 * i : kinds[k] === 2 ? (shape[k] as number) - 1 - i : i;
  return {
    array: (shape.length === 0 ? seen : seen.slice(...specs)) as DeviceNDArray,
    shape,
    at: (index) => data[index.reduce((sum, i, k) => sum + place(i, k) * (strides[k] as number), 0)] as Element,
  };
}

/** All indices of a shape, in C order. */
export function indicesOf(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>((all, n) => all.flatMap((i) => Array.from({ length: n }, (_, k) => [...i, k])), [[]]);
}

/** The shape that shapes broadcast to. */
export function together(...shapes: readonly (readonly number[])[]): number[] {
  const ndim = Math.max(0, ...shapes.map(({ length }) => length));
  return Array.from({ length: ndim }, (_, axis) => {
    const lengths = shapes.map((shape) => shape[axis - ndim + shape.length] ?? 1);
    return lengths.find((n) => n !== 1) ?? 1;
  });
}

/** The index of an element of a broadcast array, of one of the result. */
export function ownIndex(shape: readonly number[], index: readonly number[]): number[] {
  return index.slice(index.length - shape.length).map((i, k) => (shape[k] === 1 ? 0 : i));
}

export function times(a: Element, b: Element): Element {
  if (typeof a === 'object' && typeof b === 'object')
    return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
  return typeof a === 'bigint' ? a * (b as bigint) : (a as number) * (b as number);
}

export function plus(a: Element, b: Element): Element {
  if (typeof a === 'object' && typeof b === 'object') return { re: a.re + b.re, im: a.im + b.im };
  return typeof a === 'bigint' ? a + (b as bigint) : (a as number) + (b as number);
}

/** An element as text without the sign of zeros. */
export function plainText(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const { re, im } = value as Complex;
    return `${re + 0},${im + 0}`;
  }
  return String(typeof value === 'number' ? value + 0 : value);
}
