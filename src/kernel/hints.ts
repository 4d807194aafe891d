/**
 * `cuda.In`, `cuda.Out`, `cuda.InOut`: which way a host array is copied around a launch.
 *
 * A plain host array is InOut, as in Numba. On device arrays, which are never copied, the hints do nothing.
 */
import { TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';
import type * as views from './types.ts';

const HINT: unique symbol = Symbol.for('tsamba.transfer') as never;

/** In: to the device only. Out: back only. InOut: both. */
export type Direction = 'in' | 'out' | 'inout';

/** A host array with the way it is copied. */
export interface Hinted<A = unknown> {
  readonly [HINT]: Direction;
  /** The host array. */
  readonly array: A;
}

/** As a type: an array that the kernel only reads, `In<Vec<f32>>`. */
export type In<V> = views.In<V>;
/**
 * The array is copied to the device before the launch, but not back. Numba's `cuda.In`.
 * @example
 * const [x, y] = [Float32Array.of(1, 2), new Float32Array(2)];
 * const copy = cuda.jit((x: In<Vec<f32>>, y: Vec<f32>) => { y[cuda.grid(1)] = x[cuda.grid(1)]!; });
 * copy.launch({ grid: 1, block: 2 }, cuda.In(x), cuda.Out(y));
 * console.log(y); // Float32Array(2) [ 1, 2 ]
 */
export function In<A extends object>(array: A): Hinted<A> {
  return hinted('In', 'in', array);
}

/**
 * The array is copied back after the launch, but not to the device before: the kernel must write all of it. Numba's `cuda.Out`.
 * @example
 * const y = new Float32Array(2);
 * cuda.jit((y: Vec<f32>) => { y[cuda.grid(1)] = 7; }).launch({ grid: 1, block: 2 }, cuda.Out(y));
 * console.log(y); // Float32Array(2) [ 7, 7 ]
 */
export function Out<A extends object>(array: A): Hinted<A> {
  return hinted('Out', 'out', array);
}

/**
 * The array is copied to the device before the launch and back after it. Numba's `cuda.InOut`.
 * @example
 * const y = new Float32Array(2);
 * cuda.jit((y: Vec<f32>) => { y[cuda.grid(1)] = 7; }).launch({ grid: 1, block: 2 }, cuda.InOut(y));
 * console.log(y); // Float32Array(2) [ 7, 7 ]
 */
export function InOut<A extends object>(array: A): Hinted<A> {
  return hinted('InOut', 'inout', array);
}

function hinted<A extends object>(name: string, direction: Direction, array: A): Hinted<A> {
  const given: unknown = array;
  if (typeof given !== 'object' || given === null) {
    throw new TsambaTypeError('E_ARGUMENT_TYPE', `cuda.${name} takes a host array, got ${show(given)}`);
  }
  return Object.freeze({ [HINT]: direction, array });
}

/** The direction of a hinted array, or undefined when the value is none. */
export function directionOf(value: object): Direction | undefined {
  return (value as { [HINT]?: Direction })[HINT];
}
