/**
 * `roc.register` and `roc.deregister`: memory of the program's own arrays, made known to the device for a while.
 *
 * A hint that never changes results: copies of such arrays are faster, and where the device reaches host memory, kernels of `roc` read
 * and write registered arrays in place. An array may be registered several times; the last to be deregistered ends it, once no copy and
 * no kernel touches the array any more.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { describeHostArray, type HostArrayLike } from '../array/ndarray-input.ts';
import { Held, type Pinned, type Pinning, type Range, rangeOf } from '../array/pinning.ts';
import { hostFunction } from '../compiler/intrinsics.ts';
import { DEVICE_KINDS } from '../driver/driver.ts';
import { TsambaRangeError } from '../errors.ts';
import { extentOf } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { isThenable } from '../memory/context-manager.ts';
import { rocDevices } from './devices.ts';

/** One array, registered once. */
interface Entry {
  readonly context: Context;
  readonly held: Held;
  readonly buffer: ArrayBufferLike;
  readonly start: number;
  readonly end: number;
  /** Device arrays over the memory by the host arrays that they stand for; undefined where kernels cannot reach it. */
  readonly devices: WeakMap<object, DeviceNDArray> | undefined;
}

/** What is registered, the latest last. */
const entries: Entry[] = [];

/**
 * Registers host arrays: copies between them and the device are faster, and kernels may use them in place. Undone by disposing the
 * result, when the function that is given last (sync or async) is done, also when it throws, or by `deregister`. Numba:
 * `roc.register(*arrays)`.
 * @throws TypeError for anything that is not a host array, RangeError for part of what is registered already, DriverError; then nothing is.
 * @example
 * const x = Float32Array.of(1, 2);
 * roc.register(x, () => roc.jit((y: Vec<f32>) => { y[roc.getGlobalId(0)] = 7; }).launch({ grid: 1, block: 2 }, x));
 * console.log(x); // Float32Array(2) [ 7, 7 ]
 */
export const register: Pinned = /* @__PURE__ */ hostFunction(rocDevices, 'register', registerArrays as Pinned);

function registerArrays(...args: readonly unknown[]): unknown {
  const last = args.at(-1);
  const body = typeof last === 'function' ? (last as () => unknown) : undefined;
  const context = rocDevices.currentContext();
  const ranges = (body === undefined ? args : args.slice(0, -1)).map((array, i) => rangeOf(array, i, 'register'));
  const made: Entry[] = [];
  try {
    for (const range of ranges) made.push(enter(context, range));
  } catch (error) {
    for (const entry of made.reverse()) abandon(entry);
    throw error;
  }
  return body === undefined ? contextManager(made) : around(made, body);
}

/**
 * Undoes one registration of each array. Numba: `roc.deregister(*arrays)`.
 * @throws TypeError for anything that is not a host array, RangeError for one that is not registered; then all stay as they are.
 * @example
 * const x = Float32Array.of(1, 2);
 * roc.register(x);
 * const d = roc.toDevice(x);
 * roc.deregister(x);
 */
export const deregister: (...arrays: readonly HostArrayLike[]) => void = /* @__PURE__ */ hostFunction(
  rocDevices,
  'deregister',
  deregisterArrays,
);

function deregisterArrays(...arrays: readonly HostArrayLike[]): void {
  const found: Entry[] = [];
  for (const [i, array] of arrays.entries()) {
    const range = rangeOf(array, i, 'deregister').range;
    const entry = entries.findLast((one) => !found.includes(one) && isOf(one, range));
    if (entry === undefined) {
      throw new TsambaRangeError(
        'E_NOT_REGISTERED',
        `deregister: argument ${i + 1} is not registered${entries.some((one) => isOf(one, range)) ? ' so many times' : ''}; ` +
          'pass the array that register was given',
      );
    }
    found.push(entry);
  }
  leaveAll(found);
}

/** The arguments of a launch with registered arrays as the device reaches them; the same object if there are none. */
export function inPlace(args: readonly unknown[], context: Context): readonly unknown[] {
  if (entries.length === 0) return args;
  let changed = false;
  const mapped = args.map((arg) => {
    const device = typeof arg === 'object' && arg !== null ? deviceFor(arg, context) : undefined;
    changed ||= device !== undefined;
    return device ?? arg;
  });
  return changed ? mapped : args;
}

function deviceFor(array: object, context: Context): DeviceNDArray | undefined {
  const host = Array.isArray(array) ? undefined : describeHostArray(array);
  if (host === undefined) return undefined;
  const { bytes, layout } = host;
  const { low, high } = extentOf(layout.shape, layout.strides, layout.itemSize);
  const start = bytes.byteOffset + layout.offset + low;
  const end = bytes.byteOffset + layout.offset + high;
  const entry = entries.find(
    (one) =>
      one.devices !== undefined &&
      one.context === context &&
      one.buffer === bytes.buffer &&
      one.start <= start &&
      end <= one.end,
  );
  if (entry?.devices === undefined || start === end) return undefined;
  const known = entry.devices.get(array);
  if (known !== undefined && !known.disposed) return known;
  const device = entry.held.map(rangeOf(array, 0, 'launch'), undefined);
  entry.devices.set(array, device);
  return device;
}

/** Devices whose memory is JavaScript's own keep a copy of what is mapped: there it is not worth it. */
function reachesInPlace({ kind, info }: Context): boolean {
  return info.features.mapsHostMemory && !DEVICE_KINDS[kind].inProcess;
}

function enter(context: Context, part: Range): Entry {
  const { range } = part;
  for (const old of entries.filter((one) => one.context.closed)) forget(old);
  const held = new Held(context);
  const devices = reachesInPlace(context) ? new WeakMap<object, DeviceNDArray>() : undefined;
  held.build(() => {
    if (devices === undefined) held.pin(range, false);
    else if (range.length > 0) devices.set(part.array as object, held.map(part, undefined));
  });
  const { buffer, byteOffset: start, byteLength } = range;
  const entry: Entry = { context, held, buffer, start, end: start + byteLength, devices };
  entries.push(entry);
  return entry;
}

function isOf({ buffer, start, end, context }: Entry, range: Uint8Array): boolean {
  return (
    !context.closed &&
    buffer === range.buffer &&
    start === range.byteOffset &&
    end === range.byteOffset + range.byteLength
  );
}

/** Takes an entry off the list; whether it was still there. */
function forget(entry: Entry): boolean {
  const at = entries.indexOf(entry);
  if (at >= 0) entries.splice(at, 1);
  return at >= 0;
}

function abandon(entry: Entry): void {
  if (forget(entry)) entry.held.leaveAside();
}

/** Ends those that `deregister` has not ended yet. Throws what the driver throws, after all have been ended. */
function leaveAll(made: readonly Entry[]): void {
  const errors: unknown[] = [];
  for (const entry of [...made].reverse()) {
    if (!forget(entry)) continue;
    try {
      entry.held.leave();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

async function leaveAllLater(made: readonly Entry[]): Promise<void> {
  const left = [...made].reverse().filter(forget);
  for (const { held } of left) await held.leaveLater();
}

function contextManager(made: readonly Entry[]): Pinning {
  const dispose = (): void => leaveAll(made);
  return { dispose, [Symbol.dispose]: dispose, [Symbol.asyncDispose]: () => leaveAllLater(made) };
}

function around(made: readonly Entry[], body: () => unknown): unknown {
  let result: unknown;
  try {
    result = body();
  } catch (error) {
    for (const entry of [...made].reverse()) abandon(entry);
    throw error;
  }
  if (isThenable(result)) return Promise.resolve(result).finally(() => leaveAllLater(made));
  leaveAll(made);
  return result;
}
