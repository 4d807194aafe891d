/**
 * What universal functions do along one axis, a line of elements for each thread: reducing and scanning.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import { coreWise, type Elementwise, type LoopKernel } from './kernels.ts';
import { loopsOver } from './loops.ts';
import type { Workplace } from './operands.ts';
import type { Universal } from './universal.ts';
import { castTo } from './universal.ts';

/** Elements that a thread scans before it leaves the rest to others. */
const CHUNK = 64;

type Value = never;

/** An array with one of its axes last. */
export interface Lines {
  readonly array: DeviceNDArray;
  readonly length: number;
}

/** The lines along an axis. */
export function linesAlong(place: Workplace, array: DeviceNDArray, axis: number): Lines {
  const last = <T>(list: readonly T[]): T[] => [...list.filter((_, k) => k !== axis), list[axis] as T];
  const moved = place.view(array, last(array.shape), last(array.strides));
  return { array: moved, length: array.shape[axis] ?? 1 };
}

/** The kernels that go along lines by one function. */
export class LineKernels {
  readonly #universal: Universal;
  readonly #kernels = new Map<string, LoopKernel>();

  constructor(universal: Universal) {
    this.#universal = universal;
  }

  /** `out` has the axes of the lines but the last; `init`, an array of one element, comes first. */
  reduce(place: Workplace, { array }: Lines, out: DeviceNDArray, init: DeviceNDArray | undefined): Step[] {
    const result = place.view(out, [...out.shape, 1], [...out.strides, 0]);
    const arrays = init === undefined ? [result, array] : [result, array, init];
    return this.#steps(place, init === undefined ? 'reduce' : 'fold', array.shape.slice(0, -1), arrays);
  }

  /** Running results of every line, into an array of the same shape. Long lines are scanned in chunks, whose totals are scanned in turn. */
  accumulate(place: Workplace, { array, length }: Lines, out: DeviceNDArray): Step[] {
    const rest = array.shape.slice(0, -1);
    if (length <= 4 * CHUNK) return this.#steps(place, 'scan', rest, [out, array]);
    const chunks = Math.floor(length / CHUNK);
    const tail = length - chunks * CHUNK;
    const steps = this.#steps(place, 'scan', [...rest, chunks], [inChunks(place, out), inChunks(place, array)]);
    const [end, from] = [lastOf(place, out, tail), lastOf(place, array, tail)];
    if (tail > 0) steps.push(...this.#steps(place, 'scan', rest, [end, from]));
    const totals = part(place, out, CHUNK - 1, chunks, CHUNK);
    const before = place.temporary([...rest, chunks], out.dtype);
    steps.push(...this.accumulate(place, { array: totals, length: chunks }, before));
    // Each chunk but the first takes what all before it come to.
    const offsets = (from: number, count: number): DeviceNDArray => {
      const view = part(place, before, from, count, 1);
      return place.view(view, [...view.shape, 1], [...view.strides, 0]);
    };
    const later = inChunks(place, part(place, out, CHUNK, (chunks - 1) * CHUNK, 1));
    const typed = (first: DeviceNDArray, second: DeviceNDArray) => ({
      inputs: [first, second],
      result: out.dtype,
      stated: true,
    });
    steps.push(...this.#universal.steps(place, typed(offsets(0, chunks - 1), later), later));
    if (tail > 0) {
      const whole = part(place, before, chunks - 1, 1, 1);
      steps.push(...this.#universal.steps(place, typed(whole, end), end));
    }
    return steps;
  }

  #steps(
    place: Workplace,
    what: keyof typeof CORES,
    loop: readonly number[],
    arrays: readonly DeviceNDArray[],
  ): Step[] {
    const looped = arrays.map((array) => ({ array, core: 1 }));
    return loopsOver(place, loop, looped).map(({ rank, views, shape }) => ({
      kernel: this.#kernel(what, rank, views[0] as DeviceNDArray),
      shape,
      args: [views],
    }));
  }

  #kernel(what: keyof typeof CORES, rank: 1 | 2 | 3, { dtype }: DeviceNDArray): LoopKernel {
    const key = `${what}|${rank}|${dtype.name}`;
    let kernel = this.#kernels.get(key);
    if (kernel === undefined) {
      const { user, jit } = this.#universal;
      const captures = { op: user.fn as Elementwise['op'], cast: castTo(dtype) };
      kernel = coreWise(jit, { op: CORES[what](captures) as unknown as Elementwise['op'], rank, name: user.name });
      this.#kernels.set(key, kernel);
    }
    return kernel;
  }
}

interface Captures {
  readonly op: Elementwise['op'];
  readonly cast: Elementwise['cast'];
}

/** What a thread does with its line. */
const CORES = {
  reduce: (captures: Captures) =>
    deviceFunction(
      ({ op, cast }: typeof captures & Record<string, unknown>) =>
        (out: Vec<Value>, line: Vec<Value>) => {
          let value = cast(line[0] as Value);
          for (let k = 1; k < line.length; k++) value = cast(op(value, line[k] as Value));
          out[0] = value;
        },
      captures as typeof captures & Record<string, unknown>,
    ),
  fold: (captures: Captures) =>
    deviceFunction(
      ({ op, cast }: typeof captures & Record<string, unknown>) =>
        (out: Vec<Value>, line: Vec<Value>, init: Vec<Value>) => {
          let value = cast(init[0] as Value);
          for (let k = 0; k < line.length; k++) value = cast(op(value, line[k] as Value));
          out[0] = value;
        },
      captures as typeof captures & Record<string, unknown>,
    ),
  scan: (captures: Captures) =>
    deviceFunction(
      ({ op, cast }: typeof captures & Record<string, unknown>) =>
        (out: Vec<Value>, line: Vec<Value>) => {
          let value = cast(line[0] as Value);
          out[0] = value;
          for (let k = 1; k < line.length; k++) {
            value = cast(op(value, line[k] as Value));
            out[k] = value;
          }
        },
      captures as typeof captures & Record<string, unknown>,
    ),
};

/** Every `step`-th of `count` elements of each line. */
function part(place: Workplace, array: DeviceNDArray, from: number, count: number, step: number): DeviceNDArray {
  const [shape, strides] = [array.shape.slice(0, -1), array.strides.slice(0, -1)];
  const stride = array.strides.at(-1) ?? 0;
  return place.view(array, [...shape, count], [...strides, step * stride], from * stride);
}

function lastOf(place: Workplace, array: DeviceNDArray, count: number): DeviceNDArray {
  const length = array.shape.at(-1) ?? 0;
  return part(place, array, count === 0 ? 0 : length - count, count, 1);
}

/** The last axis as two, chunks and what is in them; what is left over is left out. */
function inChunks(place: Workplace, array: DeviceNDArray): DeviceNDArray {
  const [shape, strides] = [array.shape.slice(0, -1), array.strides.slice(0, -1)];
  const stride = array.strides.at(-1) ?? 0;
  const chunks = Math.floor((array.shape.at(-1) ?? 0) / CHUNK);
  return place.view(array, [...shape, chunks, CHUNK], [...strides, CHUNK * stride, stride]);
}
