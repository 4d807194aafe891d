/**
 * What universal functions do along one axis: reducing and scanning. A thread has a line of elements; where lines are long on a GPU, a warp has one, and of
 * very long ones a part.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction, intrinsic } from '../compiler/intrinsics.ts';
import type { DType } from '../dtype/index.ts';
import type { LaunchOptions } from '../kernel/launch-shape.ts';
import { numberOf } from '../kernel/object-arguments.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import { coreWise, type Elementwise, type LoopKernel, WARP, WARPS, warpWise } from './kernels.ts';
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
    return this.#reduce(place, { arrays: [array] }, out, init);
  }

  /** Reduces what a function makes of the elements of several arrays, which have one shape, and of numbers. */
  reduceOf(place: Workplace, made: Made, out: DeviceNDArray): Step[] {
    return this.#reduce(place, made, out, undefined);
  }

  #reduce(
    place: Workplace,
    given: Partial<Made> & Pick<Made, 'arrays'>,
    out: DeviceNDArray,
    init: DeviceNDArray | undefined,
  ): Step[] {
    const { arrays: lines } = given;
    const { count, length, parts, near } = planOf(place, lines, out.dtype);
    if (parts > 1) {
      // Each line is reduced in parts, and then what these come to.
      const whole = Math.floor(length / parts);
      const rest = length - parts * whole;
      const made = parts + (rest > 0 ? 1 : 0);
      // Neighbouring threads write neighbours: parts of a line, or lines.
      const memory = place.temporary(near === 'lines' ? [made, ...out.shape] : [...out.shape, made], out.dtype);
      const partial = near === 'lines' ? linesAlong(place, memory, 0).array : memory;
      const cut = lines.map((array) => inParts(place, array, whole, parts, near !== 'warp'));
      const steps = this.#reduce(place, { ...given, arrays: cut }, first(place, partial, parts), undefined);
      if (rest > 0) {
        const ends = lines.map((array) => part(place, array, parts * whole, rest, 1));
        const last = part(place, partial, parts, 1, 1);
        const into = place.view(last, out.shape, last.strides.slice(0, -1));
        steps.push(...this.#reduce(place, { ...given, arrays: ends }, into, undefined));
      }
      return [...steps, ...this.#reduce(place, { arrays: [partial] }, out, init)];
    }
    const result = place.view(out, [...out.shape, 1], [...out.strides, 0]);
    const arrays = init === undefined ? [result, ...lines] : [result, ...lines, init];
    const core = near === 'warp' && count > 0 ? 'warpReduce' : init === undefined ? 'reduce' : 'fold';
    const what = init !== undefined && core === 'warpReduce' ? 'warpFold' : core;
    return this.#steps(place, what, (lines[0] as DeviceNDArray).shape.slice(0, -1), arrays, given);
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
    { fn, numbers = [] }: Partial<Made> = {},
  ): Step[] {
    const looped = arrays.map((array) => ({ array, core: 1 }));
    return loopsOver(place, loop, looped).map(({ rank, views, shape }) => ({
      kernel: this.#kernel(what, rank, views[0] as DeviceNDArray, fn && { fn, count: arrays.length - 1 }),
      shape: what.startsWith('warp') ? warpsFor(place, views[0]?.shape.slice(0, rank) ?? []) : shape,
      args: [views, numbers.length === 0 ? undefined : numbers],
    }));
  }

  #kernel(
    what: keyof typeof CORES,
    rank: 1 | 2 | 3,
    { dtype }: DeviceNDArray,
    read: { readonly fn: AnyFunction; readonly count: number } | undefined,
  ): LoopKernel {
    const key = `${what}|${rank}|${dtype.name}|${read === undefined ? '' : `${numberOf(read.fn)}|${read.count}`}`;
    let kernel = this.#kernels.get(key);
    if (kernel === undefined) {
      const { user, jit } = this.#universal;
      const load = read === undefined ? plain : loadBy(read.fn, read.count);
      const captures = { op: user.fn as Elementwise['op'], cast: castTo(dtype), load };
      const core = CORES[what](captures) as unknown as Elementwise['op'];
      kernel = (what.startsWith('warp') ? warpWise : coreWise)(jit, { op: core, rank, name: user.name });
      this.#kernels.set(key, kernel);
    }
    return kernel;
  }
}

/** What is reduced: elements of arrays with the same shape, and numbers, of which a function makes the values. */
export interface Made {
  readonly arrays: readonly DeviceNDArray[];
  readonly numbers: readonly unknown[];
  readonly fn: AnyFunction;
}

type AnyFunction = (...args: never[]) => unknown;
/** Element k of what is reduced, of views of the lines and of numbers. */
type Load = (k: number, ...given: readonly Value[]) => Value;

interface Captures {
  readonly op: Elementwise['op'];
  readonly cast: Elementwise['cast'];
  readonly load: Load;
}

const plain: Load = (k, line) => (line as Vec<Value>)[k] as Value;

/** What `fn` makes of `count` lines and of numbers. */
function loadBy(fn: AnyFunction, count: number): Load {
  const own = { fn: fn as (...args: readonly Value[]) => Value, count };
  return deviceFunction(
    ({ fn, count }: typeof own & Record<string, unknown>) =>
      (k: number, ...given: readonly Value[]): Value =>
        fn(...given.map((x, q) => (q < count ? ((x as Vec<Value>)[k] as Value) : x))),
    own as typeof own & Record<string, unknown>,
  ) as Load;
}

const shflDown = /* @__PURE__ */ intrinsic<(mask: number, value: Value, by: number) => Value>('shflDownSync');

/** What a thread does with its line, or a warp. */
const CORES = {
  reduce: (captures: Captures) =>
    deviceFunction(
      ({ op, cast, load }: typeof captures & Record<string, unknown>) =>
        (out: Vec<Value>, ...given: readonly [Value, ...Value[]]) => {
          const { length } = given[0] as Vec<Value>;
          let value = cast(load(0, ...given));
          for (let k = 1; k < length; k++) value = cast(op(value, load(k, ...given)));
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
  warpReduce: (captures: Captures) => {
    const own = { ...captures, shflDown, warp: WARP };
    return deviceFunction(
      ({ op, cast, load, shflDown, warp }: typeof own & Record<string, unknown>) =>
        (lane: number, mine: boolean, out: Vec<Value>, ...given: readonly [Value, ...Value[]]) => {
          const { length } = given[0] as Vec<Value>;
          const filled = Math.min(length, warp);
          let value = cast(load(Math.min(lane, filled - 1), ...given));
          for (let k = lane + warp; k < length; k += warp) value = cast(op(value, load(k, ...given)));
          for (let by = warp >> 1; by > 0; by >>= 1) {
            const other = shflDown(0xffffffff, value, by);
            if (lane + by < filled && lane < by) value = cast(op(value, other));
          }
          if (mine && lane === 0) out[0] = value;
        },
      own as typeof own & Record<string, unknown>,
    );
  },
  warpFold: (captures: Captures) => {
    const own = { ...captures, shflDown, warp: WARP };
    return deviceFunction(
      ({ op, cast, shflDown, warp }: typeof own & Record<string, unknown>) =>
        (lane: number, mine: boolean, out: Vec<Value>, line: Vec<Value>, init: Vec<Value>) => {
          const filled = Math.min(line.length, warp);
          let value = cast(line[Math.min(lane, filled - 1)] as Value);
          for (let k = lane + warp; k < line.length; k += warp) value = cast(op(value, line[k] as Value));
          for (let by = warp >> 1; by > 0; by >>= 1) {
            const other = shflDown(0xffffffff, value, by);
            if (lane + by < filled && lane < by) value = cast(op(value, other));
          }
          if (mine && lane === 0) out[0] = cast(op(cast(init[0] as Value), value));
        },
      own as typeof own & Record<string, unknown>,
    );
  },
};

/** Lines shorter than this have a thread each, whatever their layout. */
const SHORT = 16;
/** Elements along a line that a warp, or a thread, goes through where there are too few lines for all of the device. */
const PART = 2048;
const COLUMN_PART = 64;
/** On the CPU device: of fewer lines than this, each is cut into so many parts. */
const CPU_LINES = 16;
const CPU_PARTS = 1024;
/** Warps, and threads, that a GPU wants. */
const WARPS_WANTED = 1 << 12;
const THREADS_WANTED = 1 << 18;

interface LinePlan {
  readonly count: number;
  readonly length: number;
  /** Into how many parts each line is cut; 1 where it stays whole. */
  readonly parts: number;
  /** Who neighbouring threads are: those of a warp with one line, those of neighbouring lines, or of neighbouring elements of a line. */
  readonly near: 'warp' | 'lines' | 'elements';
}

/** How lines are shared out. On the CPU device neighbouring threads are lanes of vectors, and there are few of them. */
function planOf(place: Workplace, arrays: readonly DeviceNDArray[], dtype: DType): LinePlan {
  const { kind } = place.context.info;
  // The array that is not repeated says what is near.
  const spread = ({ strides }: DeviceNDArray): number => strides.filter((stride) => stride !== 0).length;
  const array = arrays.reduce((best, one) => (spread(one) > spread(best) ? one : best));
  const length = array.shape.at(-1) ?? 0;
  const count = array.size / Math.max(length, 1);
  const along = Math.abs(array.strides.at(-1) ?? 0);
  const inside = array.strides.slice(0, -1).every((stride, k) => array.shape[k] === 1 || Math.abs(stride) >= along);
  if (kind === 'cpu' || kind === 'simulator') {
    const few = inside && count < CPU_LINES && length >= 2 * CPU_PARTS && kind === 'cpu';
    return { count, length, parts: few ? CPU_PARTS : 1, near: few ? 'elements' : 'lines' };
  }
  if (length < SHORT || (inside && !exchanged(dtype))) return { count, length, parts: 1, near: 'lines' };
  const [wanted, least] = inside ? [WARPS_WANTED, PART] : [THREADS_WANTED, COLUMN_PART];
  const parts = count >= wanted / 4 ? 1 : Math.min(Math.ceil(wanted / Math.max(count, 1)), Math.floor(length / least));
  return { count, length, parts: Math.max(parts, 1), near: inside ? 'warp' : 'lines' };
}

/** What threads of a warp can hand to each other as it is. */
function exchanged({ kind, itemSize }: DType): boolean {
  return 'iuf'.includes(kind) && itemSize >= 4;
}

function warpsFor({ stream }: Workplace, lengths: readonly number[]): LaunchOptions {
  const lines = lengths.reduce((a, b) => a * b, 1);
  return { grid: Math.ceil(lines / WARPS), block: WARP * WARPS, stream };
}

/** Each line as `parts` lines of `whole` elements, one after another or every so many; what is left over is not in them. */
function inParts(place: Workplace, array: DeviceNDArray, whole: number, parts: number, mixed: boolean): DeviceNDArray {
  const stride = array.strides.at(-1) ?? 0;
  const [shape, strides] = [array.shape.slice(0, -1), array.strides.slice(0, -1)];
  const [step, along] = mixed ? [stride, parts * stride] : [whole * stride, stride];
  return place.view(array, [...shape, parts, whole], [...strides, step, along]);
}

/** The first `count` along the last axis. */
function first(place: Workplace, array: DeviceNDArray, count: number): DeviceNDArray {
  return place.view(array, [...array.shape.slice(0, -1), count], array.strides);
}

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
