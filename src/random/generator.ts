/**
 * `cuda.random.generator`: arrays of random numbers on the device, NumPy's `Generator(Philox(seed))`.
 *
 * What takes a word a number is NumPy's, bit for bit: `raw`, `random`, `uniform`, `integers`, `choice` with replacement. Where NumPy goes through its
 * words in a way that threads cannot share (the ziggurat, exchanges), the numbers are Tsamba's own, the same on every device but for the last bits of functions.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { copyToContext, deviceOf, isBorrowed, newArray } from '../array/device-create.ts';
import { hostFunction } from '../compiler/intrinsics.ts';
import { asDType, type DType, type DTypeLike, f64, i32, i64, sameDType, u64 } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { ownJitOf } from '../kernel/own-jit.ts';
import { scalar } from '../kernel/scalar.ts';
import { launchSteps, launchStepsLater, type Step } from '../kernel/steps.ts';
import { normalizeShape, type ShapeLike, sizeOf } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';
import { type Bits, CHUNK_THREADS, candidatesOf } from './bounded.ts';
import { PERMUTATION_WORDS } from './distributions.ts';
import { type Mapped, RandomKernels } from './kernels.ts';
import { keyOf, type Seed } from './seed-sequence.ts';
import type { RandomOptions as DrawOptions, Draws, IntegerOptions, MakeGenerator, RandomGenerator } from './types.ts';

const BLOCK = 256;
/** Threads of a block where there are no more. */
const FEW = 32;
const MOST_INT = 2 ** 31;

/** One call: what is launched, and the array that it fills. */
class Call {
  readonly steps: Step[] = [];
  readonly temporaries: { dispose(): void }[] = [];
  readonly context: Context;
  readonly stream: DrawOptions['stream'];
  readonly #name: string;

  constructor(name: string, context: Context, stream: DrawOptions['stream']) {
    this.#name = name;
    this.context = context;
    this.stream = stream;
  }

  launch(kernel: unknown, threads: number, ...args: readonly unknown[]): void {
    const block = threads <= FEW ? FEW : BLOCK;
    const grid = Math.max(1, Math.ceil(threads / block));
    this.steps.push({ kernel: kernel as Step['kernel'], shape: { grid, block, stream: this.stream }, args });
  }

  temporary(length: number, dtype: DType): DeviceNDArray {
    const array = newArray(this.context, length, dtype, { stream: this.stream });
    this.temporaries.push(array);
    return array;
  }

  /** The array for the results: that which is given, or a new one. */
  result(shape: ShapeLike, dtype: DType, out: unknown): DeviceNDArray {
    if (out === undefined || out === null) return newArray(this.context, shape, dtype, { stream: this.stream });
    const there = deviceOf(out, this.context);
    const lengths = normalizeShape(shape);
    if (there === undefined || isBorrowed(there, out) || !sameDType(there.dtype, dtype)) {
      throw new TsambaTypeError('E_RANDOM', `${this.#name}: out must be a device array of ${dtype}, got ${show(out)}`);
    }
    if (String(there.shape) !== String(lengths) || !there.isCContiguous()) {
      throw new TsambaRangeError(
        'E_RANDOM',
        `${this.#name}: out has shape [${there.shape}]${there.isCContiguous() ? '' : ' and is not contiguous'}, and the numbers have [${lengths}]`,
      );
    }
    return there;
  }

  /** All elements of a contiguous array along one axis. */
  flat(array: DeviceNDArray): DeviceNDArray {
    if (array.ndim === 1) return array;
    const view = array.reshape([array.size]) as unknown as DeviceNDArray;
    this.temporaries.push(view);
    return view;
  }
}

type Finish = (call: Call, result: DeviceNDArray) => unknown;

const now: Finish = ({ steps, temporaries }, result) => {
  launchSteps({ steps, temporaries });
  return result;
};

const later: Finish = async ({ steps, temporaries }, result) => {
  await launchStepsLater({ steps, temporaries });
  return result;
};

/** A generator on a device. */
class Source {
  readonly context: Context;
  readonly kernels: RandomKernels;
  readonly seed: Seed;
  readonly spawnKey: readonly number[];
  readonly state: DeviceNDArray;
  spawned = 0;
  readonly #key: readonly [unknown, unknown];

  constructor(context: Context, kernels: RandomKernels, seed: Seed, spawnKey: readonly number[]) {
    this.context = context;
    this.kernels = kernels;
    this.seed = seed;
    this.spawnKey = spawnKey;
    const [k0, k1] = keyOf(seed, spawnKey);
    this.#key = [scalar(u64, k0), scalar(u64, k1)];
    this.state = newArray(context, 3, u64, {});
    this.state.set(0n as never);
  }

  get key(): readonly [unknown, unknown] {
    this.state.checkUsable();
    return this.#key;
  }

  call(name: string, options: DrawOptions): Call {
    return new Call(name, this.context, options.stream);
  }

  /** Numbers of a distribution that takes a word for each, or half a word for f32. */
  mapped(name: Mapped, shape: ShapeLike, options: DrawOptions, parameters: readonly number[], finish: Finish): unknown {
    const { dtype: asked, out } = readOptions(name, options, ['dtype', 'out', 'stream']);
    const dtype = name === 'raw' ? u64 : floatOf(name, asked, out);
    const call = this.call(name, options);
    const result = call.result(shape, dtype, out);
    const halves = dtype.itemSize === 4;
    const [p, q] = name === 'raw' ? [0n, 0n] : [parameters[0] ?? 0, parameters[1] ?? 0];
    this.fill(call, name, halves, call.flat(result), scalar(dtype, p), scalar(dtype, q));
    return finish(call, result);
  }

  fill(call: Call, name: Mapped, halves: boolean, flat: DeviceNDArray, p: unknown, q: unknown): void {
    const { size } = flat;
    if (size === 0) return;
    const threads = Math.ceil(size / (halves ? 8 : 4)) + 1;
    call.launch(this.kernels.fill(name, halves), threads, this.state, flat, ...this.key, p, q);
    call.launch(this.kernels.advance(halves), 1, this.state, scalar(u64, BigInt(size)), ...this.key);
  }

  /** Integers from `low` to `high`, both of them included. */
  integers(call: Call, flat: DeviceNDArray, low: bigint, high: bigint): void {
    const range = high - low;
    const { size, dtype } = flat;
    if (size === 0) return;
    if (range === 0n) {
      flat.set((dtype.itemSize === 8 ? low : Number(low)) as never);
      return;
    }
    const width = (8 * dtype.itemSize) as Bits;
    const bits: Bits = width === 64 && range < 2n ** 32n ? 32 : width;
    const words = 2n ** BigInt(bits);
    const excl = range + 1n;
    const threshold = (words - excl) % excl;
    const kernels = this.kernels.bounded(bits, dtype);
    const offset = scalar(u64, BigInt.asUintN(64, low));
    if (excl === 2n ** 64n) {
      // Every word is a number.
      const view = flat.view(u64 as never) as unknown as DeviceNDArray;
      call.temporaries.push(view);
      this.fill(call, 'raw', false, view, offset, scalar(u64, 0n));
      return;
    }
    const rest = [...this.key, scalar(u64, excl), scalar(u64, threshold), offset];
    const each = candidatesOf(bits);
    if (threshold === 0n) {
      call.launch(kernels.direct, Math.ceil(size / each) + 1, this.state, flat, ...rest);
      const draws = bits === 64 ? size : Math.ceil((size * bits) / 32);
      call.launch(this.kernels.advance(bits !== 64), 1, this.state, scalar(u64, BigInt(draws)), ...this.key);
      return;
    }
    const kept = 1 - Number(threshold) / Number(words);
    const most = Math.ceil(size / kept + (8 * Math.sqrt(size * (1 - kept))) / kept + 64);
    const blocks = Math.ceil((Math.ceil(most / each) + 1) / CHUNK_THREADS);
    const counts = call.temporary(blocks, f64);
    const used = call.temporary(2, u64);
    const threads = blocks * CHUNK_THREADS;
    call.launch(kernels.count, threads, this.state, counts, ...rest, most);
    call.launch(kernels.sum, CHUNK_THREADS, counts, used);
    call.launch(kernels.write, threads, this.state, flat, counts, used, ...rest, most);
    call.launch(kernels.finish, 1, this.state, flat, used, ...rest, most);
  }

  /** The first numbers of a permutation of so many. */
  permuted(call: Call, flat: DeviceNDArray, size: number): void {
    if (flat.size === 0) return;
    const keys = call.temporary(PERMUTATION_WORDS, u64);
    this.fill(call, 'raw', false, keys, scalar(u64, 0n), scalar(u64, 0n));
    const bits = Math.max(3, Math.ceil(Math.log2(size) / 2));
    call.launch(this.kernels.permute(flat.dtype), flat.size, keys, flat, size, bits);
  }

  gather(call: Call, from: DeviceNDArray, at: DeviceNDArray, to: DeviceNDArray): void {
    if (to.size > 0) call.launch(this.kernels.gather, to.size, from, at, to);
  }

  poisson(call: Call, flat: DeviceNDArray, mean: number): void {
    if (flat.size === 0) return;
    call.launch(this.kernels.poisson(flat.dtype), flat.size, this.state, flat, ...this.key, scalar(f64, mean));
    // The next call has counters of its own.
    call.launch(this.kernels.advance(false), 1, this.state, scalar(u64, 1n), ...this.key);
  }
}

/** The methods of a generator, that give arrays or promises of them. */
function drawsOf(source: Source, finish: Finish): Draws<never> {
  const { context } = source;
  const made = (call: Call, result: DeviceNDArray, fill: (flat: DeviceNDArray) => void): unknown => {
    fill(call.flat(result));
    return finish(call, result);
  };
  const draws = {
    raw: (shape: ShapeLike, options: DrawOptions = {}) => source.mapped('raw', shape, options, [], finish),
    random: (shape: ShapeLike, options: DrawOptions = {}) => source.mapped('random', shape, options, [], finish),
    uniform: (low: number, high: number, shape: ShapeLike, options: DrawOptions = {}) => {
      const range = finite('uniform', 'high - low', finite('uniform', 'high', high) - finite('uniform', 'low', low));
      return source.mapped('uniform', shape, options, [low, range], finish);
    },
    normal: (mean: number, deviation: number, shape: ShapeLike, options: DrawOptions = {}) => {
      const scale = notNegative('normal', 'the standard deviation', deviation);
      return source.mapped('normal', shape, options, [finite('normal', 'the mean', mean), scale], finish);
    },
    exponential: (mean: number, shape: ShapeLike, options: DrawOptions = {}) =>
      source.mapped('exponential', shape, options, [notNegative('exponential', 'the mean', mean)], finish),
    integers: (low: number | bigint, high: number | bigint, shape: ShapeLike, options: IntegerOptions = {}) => {
      const { dtype, out, endpoint = false } = readOptions('integers', options, ['dtype', 'out', 'stream', 'endpoint']);
      const least = whole('integers', 'low', low);
      const greatest = whole('integers', 'high', high) - (endpoint === true ? 0n : 1n);
      if (greatest < least) throw new TsambaRangeError('E_RANDOM', `integers: there are none from ${low} to ${high}`);
      const type = integerOf('integers', dtype, out, least, greatest);
      const call = source.call('integers', options);
      return made(call, call.result(shape, type, out), (flat) => source.integers(call, flat, least, greatest));
    },
    poisson: (mean: number, shape: ShapeLike, options: DrawOptions = {}) => {
      const { dtype, out } = readOptions('poisson', options, ['dtype', 'out', 'stream']);
      if (!(mean >= 0 && mean <= 2 ** 30)) {
        throw new TsambaRangeError('E_RANDOM', `poisson: the mean must be a number from 0 to 2^30, got ${show(mean)}`);
      }
      const type = integerOf('poisson', dtype, out, 0n, 0n);
      const call = source.call('poisson', options);
      return made(call, call.result(shape, type, out), (flat) => source.poisson(call, flat, mean));
    },
    permutation: (of: unknown, options: DrawOptions = {}) => {
      const { out } = readOptions('permutation', options, ['out', 'stream']);
      const call = source.call('permutation', options);
      if (typeof of === 'number') {
        const size = count('permutation', of);
        return made(call, call.result(size, indexOf(size), out), (flat) => source.permuted(call, flat, size));
      }
      const x = elements('permutation', of, call);
      return made(call, call.result(x.size, x.dtype, out), (flat) => {
        const at = call.temporary(x.size, indexOf(x.size));
        source.permuted(call, at, x.size);
        source.gather(call, x, at, flat);
      });
    },
    choice: (of: unknown, shape: ShapeLike, options: DrawOptions & { readonly replace?: boolean } = {}) => {
      const { out, replace = true } = readOptions('choice', options, ['out', 'stream', 'replace']);
      const call = source.call('choice', options);
      const x = typeof of === 'number' ? undefined : elements('choice', of, call);
      const size = x?.size ?? count('choice', of as number);
      const type = x?.dtype ?? indexOf(size);
      const wanted = sizeOf(normalizeShape(shape));
      if (wanted > 0 && (size === 0 || (replace === false && wanted > size))) {
        const again = replace === false ? ' without replacement' : '';
        throw new TsambaRangeError('E_RANDOM', `choice: ${wanted} cannot be chosen of ${size}${again}`);
      }
      return made(call, call.result(shape, type, out), (flat) => {
        const at = x === undefined ? flat : call.temporary(wanted, indexOf(size));
        if (replace === false) source.permuted(call, at, size);
        else source.integers(call, at, 0n, BigInt(size) - 1n);
        if (x !== undefined) source.gather(call, x, at, flat);
      });
    },
    shuffle: (x: unknown, options: { readonly stream?: Stream | 0 | null } = {}) => {
      readOptions('shuffle', options, ['stream']);
      const array = deviceOf(x, context);
      if (array === undefined || array.ndim !== 1) {
        throw new TsambaTypeError('E_RANDOM', `shuffle takes a device array of one axis, got ${show(x)}`);
      }
      const call = source.call('shuffle', options);
      const before = call.temporary(array.size, array.dtype);
      before.copyToDevice(array as never, { stream: options.stream });
      return made(call, array, () => {
        const at = call.temporary(array.size, indexOf(array.size));
        source.permuted(call, at, array.size);
        source.gather(call, before, at, array);
      });
    },
  };
  for (const [name, draw] of Object.entries(draws)) {
    hostFunction({ namespace: context.namespace }, `random.generator().${name}`, draw as never);
  }
  return draws as unknown as Draws<never>;
}

/** The elements of an argument. */
function elements(name: string, of: unknown, call: Call): DeviceNDArray {
  const there = deviceOf(of, call.context);
  const x = there ?? (copyToContext(call.context, of, { stream: call.stream }) as DeviceNDArray);
  if (there === undefined || isBorrowed(there, of)) call.temporaries.push(x);
  if (x.ndim === 1) return x;
  throw new TsambaTypeError('E_RANDOM', `${name} takes arrays of one axis, got shape [${x.shape}]`);
}

function indexOf(size: number): DType {
  return size <= MOST_INT ? i32 : i64;
}

function floatOf(name: string, asked: DTypeLike | undefined, out: unknown): DType {
  const dtype = dtypeOf(asked, out) ?? f64;
  if (dtype.name === 'f64' || dtype.name === 'f32') return dtype;
  throw new TsambaTypeError('E_RANDOM', `${name}: dtype must be float64 or float32, got ${dtype}`);
}

function integerOf(name: string, asked: DTypeLike | undefined, out: unknown, low: bigint, high: bigint): DType {
  const fits = low >= -(2n ** 31n) && high < 2n ** 31n;
  const dtype = dtypeOf(asked, out) ?? (fits ? i32 : i64);
  if ((dtype.kind !== 'i' && dtype.kind !== 'u') || dtype.fields !== undefined) {
    throw new TsambaTypeError('E_RANDOM', `${name}: dtype must be an integer type, got ${dtype}`);
  }
  const bits = BigInt(8 * dtype.itemSize);
  const [least, most] = dtype.kind === 'u' ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  if (low >= least && high <= most) return dtype;
  throw new TsambaRangeError('E_RANDOM', `${name}: ${low} to ${high} are not all ${dtype}`);
}

function dtypeOf(asked: DTypeLike | undefined, out: unknown): DType | undefined {
  if (asked !== undefined) return asDType(asked);
  return typeof out === 'object' && out !== null && 'dtype' in out ? (out.dtype as DType) : undefined;
}

function finite(name: string, what: string, value: number): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TsambaRangeError('E_RANDOM', `${name}: ${what} must be a finite number, got ${show(value)}`);
}

function notNegative(name: string, what: string, value: number): number {
  if (finite(name, what, value) >= 0) return value;
  throw new TsambaRangeError('E_RANDOM', `${name}: ${what} must not be negative, got ${value}`);
}

function whole(name: string, what: string, value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  throw new TsambaTypeError('E_RANDOM', `${name}: ${what} must be an integer, got ${show(value)}`);
}

function count(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TsambaRangeError('E_RANDOM', `${name}: ${show(value)} is not a number of elements`);
}

/** The function of a namespace. */
export function generatorOf(devices: DeviceSelection): MakeGenerator {
  let kernels: RandomKernels | undefined;
  const make = (context: Context, seed: Seed, spawnKey: readonly number[]): RandomGenerator => {
    kernels ??= new RandomKernels(ownJitOf(devices));
    const source = new Source(context, kernels, seed, spawnKey);
    const dispose = (): void => source.state.dispose();
    return Object.freeze({
      ...drawsOf(source, now),
      async: Object.freeze(drawsOf(source, later)),
      spawn: (children: number): RandomGenerator[] => {
        const from = source.spawned;
        source.spawned += count('spawn', children);
        return Array.from({ length: children }, (_, k) => make(context, seed, [...spawnKey, from + k]));
      },
      dispose,
      [Symbol.dispose]: dispose,
    }) as unknown as RandomGenerator;
  };
  return hostFunction(devices, 'random.generator', (seed: Seed) => make(devices.currentContext(), seed, []));
}
