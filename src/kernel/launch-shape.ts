/**
 * The options of a launch, `{ grid, block }` or `{ threads }`, as a checked launch shape.
 *
 * A kernel remembers the shape of its last launch: the same numbers again cost a few comparisons and nothing else.
 */
import type { Dim3, LaunchShape } from '../driver/driver.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { isInstance, readKeys } from '../options.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';
import { checkShape, type Dim, defaultBlock, dimCount, gridFor, showDim, toCount, toDim3 } from './dims.ts';

/** What every launch may say besides its shape. */
export interface LaunchExtras {
  /** The stream to enqueue on; without one the default stream. */
  readonly stream?: Stream | 0 | null | undefined;
  /** Bytes of dynamic shared memory per block. */
  readonly sharedBytes?: number | undefined;
  /**
   * Milliseconds that the kernel may take: the launch waits for it, and throws E_TIMEOUT (a DriverError) when it has not ended by then. The
   * CPU device and the simulator stop the kernel, and are as usable as before; what it has written stays. A GPU cannot stop it: there the
   * error says that it still runs.
   */
  readonly timeout?: number | undefined;
}

/** A launch of so many blocks of so many threads. */
export interface GridLaunch extends LaunchExtras {
  /** Blocks along x, or along x, y and z. */
  readonly grid: Dim;
  /** Threads of a block along x, or along x, y and z. */
  readonly block: Dim;
  /** Not beside `grid` and `block`. */
  readonly threads?: undefined;
}

/** A launch of at least so many threads: `grid = ceil(threads / block)`, along x, y, z; x is the last axis of an array. */
export interface ThreadsLaunch extends LaunchExtras {
  /** At least so many threads along x, or along x, y and z: kernels need a guard such as `if (i < n)`. */
  readonly threads: Dim;
  /** Default: chosen by Tsamba. */
  readonly block?: Dim | undefined;
  /** Not beside `threads`: it follows from them and the block. */
  readonly grid?: undefined;
}

/** What `launch` takes first: `{ grid, block }` or `{ threads }`, with a stream and dynamic shared memory. */
export type LaunchOptions = GridLaunch | ThreadsLaunch;

/** A checked shape, for one context. */
export interface CheckedShape extends LaunchShape {
  readonly context: Context;
  /** Blocks of a cluster, of which the grid is a multiple. */
  readonly cluster: Dim3 | undefined;
  /** Whether a thread's place in the grid can exceed 32 bits. */
  readonly wide: boolean;
  /** Threads of a block. */
  readonly blockSize: number;
  /** What it was made from, if it was `threads`. */
  readonly threads: Dim3 | undefined;
  /** For how many dimensions the block was chosen; 0 when it was given. */
  readonly chosenFor: number;
  /** Milliseconds; 0 when there is no limit. */
  readonly timeout: number;
  /** Set anew for each launch, as is `argsVersion`. */
  aliased: boolean;
  argsVersion: number;
}

const KEYS = ['grid', 'block', 'threads', 'stream', 'sharedBytes', 'timeout'];

/** The longest timeout: what timers can measure. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** Checks the options of a launch, which may have `more` keys. Undefined: no threads, so nothing is to be done. */
export function checkLaunch(
  options: unknown,
  context: Context,
  bounds: LaunchBounds,
  more: readonly string[] = [],
): CheckedShape | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options) || isInstance(options)) {
    throw new TsambaTypeError(
      'E_LAUNCH_OPTION',
      `launch takes its shape as an object first, got ${show(options)}: write .launch({ grid: 100, block: 128 }, …) or .launch({ threads: n }, …)`,
    );
  }
  const keys = more.length === 0 ? KEYS : [...KEYS, ...more];
  const { grid, block, threads, sharedBytes, timeout } = readKeys('launch', options, keys);
  const { launchBounds, cluster } = bounds;
  const limits = { launchBounds, cluster, timeout: checkTimeout(timeout) };
  if (threads !== undefined) {
    if (grid !== undefined) {
      throw new TsambaTypeError(
        'E_LAUNCH_OPTION',
        'launch takes either grid and block, or threads, not grid and threads both: leave out grid',
      );
    }
    return shapeForThreads(toDim3('threads', threads, 0), dimCount(threads), block, sharedBytes, context, limits);
  }
  for (const [name, value] of [
    ['grid', grid],
    ['block', block],
  ] as const) {
    if (value === undefined) {
      // The key is there, so a value was meant: the `length` of a device array, say, which has `size`.
      const given = Object.hasOwn(options, 'threads') && name === 'grid';
      throw new TsambaTypeError(
        'E_LAUNCH_OPTION',
        given
          ? 'launch: threads is undefined: give a number such as a.size, or a list of up to three'
          : `launch needs ${name}: write { grid: 100, block: 128 }, or { threads: n } to let Tsamba choose`,
      );
    }
  }
  return checked(toDim3('grid', grid), toDim3('block', block), sharedBytes, context, limits, undefined, 0);
}

/** What a kernel says of its launches. */
export interface LaunchBounds {
  readonly launchBounds: number | undefined;
  /** Blocks of a cluster, of which grids are multiples. */
  readonly cluster?: Dim3 | undefined;
}

/** What bounds a launch besides the device. */
interface Limits extends LaunchBounds {
  readonly timeout: number;
}

function checkTimeout(timeout: unknown): number {
  if (timeout === undefined || timeout === null) return 0;
  const milliseconds = toCount('timeout', timeout);
  if (milliseconds <= MAX_TIMEOUT) return milliseconds;
  throw new TsambaRangeError(
    'E_LAUNCH_OPTION',
    `timeout is in milliseconds, at most ${MAX_TIMEOUT}, got ${milliseconds}`,
  );
}

/** The shape for at least `threads` threads; undefined for none. */
function shapeForThreads(
  threads: Dim3,
  ndim: number,
  block: unknown,
  sharedBytes: unknown,
  context: Context,
  limits: Limits,
): CheckedShape | undefined {
  const { maxThreadsPerBlock, warpSize } = context.info.limits;
  const most = Math.min(maxThreadsPerBlock, limits.launchBounds ?? Number.POSITIVE_INFINITY);
  const chosen = block === undefined ? defaultBlock(ndim, most, warpSize) : toDim3('block', block);
  if (threads.includes(0)) return undefined;
  const chosenFor = block === undefined ? ndim : 0;
  const grid = inClusters(gridFor(threads, chosen), limits.cluster);
  return checked(grid, chosen, sharedBytes, context, limits, threads, chosenFor);
}

function checked(
  grid: Dim3,
  block: Dim3,
  sharedBytes: unknown,
  context: Context,
  { launchBounds, cluster, timeout }: Limits,
  threads: Dim3 | undefined,
  chosenFor: number,
): CheckedShape {
  const bytes = sharedBytes === undefined || sharedBytes === null ? 0 : toCount('sharedBytes', sharedBytes, 0);
  const wide = isWide(grid, block);
  const blockSize = block[0] * block[1] * block[2];
  const shape: CheckedShape = {
    grid,
    block,
    sharedBytes: bytes,
    context,
    wide,
    blockSize,
    threads,
    chosenFor,
    timeout,
    cluster,
    aliased: false,
    argsVersion: -1,
  };
  checkShape(shape, context.info);
  if (launchBounds !== undefined && blockSize > launchBounds) {
    throw new TsambaRangeError(
      'E_LAUNCH_LIMIT',
      `block ${showDim(block)} has ${blockSize} threads, launchBounds of this kernel says at most ${launchBounds}: make the block smaller, or raise launchBounds`,
    );
  }
  if (cluster !== undefined && grid.some((n, i) => n % (cluster[i] as number) !== 0)) {
    throw new TsambaRangeError(
      'E_LAUNCH_DIMS',
      `grid ${showDim(grid)} is not made of whole clusters: the option cluster of this kernel says ${showDim(cluster)}, so each length of the grid is a multiple of those`,
    );
  }
  return shape;
}

/** A grid with room for whole clusters. */
function inClusters(grid: Dim3, cluster: Dim3 | undefined): Dim3 {
  if (cluster === undefined) return grid;
  const whole = (i: 0 | 1 | 2): number => Math.ceil(grid[i] / cluster[i]) * cluster[i];
  return [whole(0), whole(1), whole(2)];
}

/** The same threads in blocks of another shape; the shape itself where that would need wider indices, or more blocks than there can be. */
export function withBlock(shape: CheckedShape, block: Dim3): CheckedShape {
  const { threads, context } = shape;
  if (threads === undefined || showDim(block) === showDim(shape.block)) return shape;
  const grid = inClusters(gridFor(threads, block), shape.cluster);
  const { maxGridDim } = context.info.limits;
  if (isWide(grid, block) !== shape.wide || [0, 1, 2].some((i) => (grid[i] as number) > (maxGridDim[i] as number)))
    return shape;
  return { ...shape, grid, block, blockSize: block[0] * block[1] * block[2] };
}

/** Whether a thread's place in the grid can exceed 32 bits. */
function isWide(grid: Dim3, block: Dim3): boolean {
  return [0, 1, 2].some((i) => (grid[i] as number) * (block[i] as number) > 2 ** 31 - 1);
}

/** Whether the options ask for a shape that has been checked already: the same numbers, on the same context. */
export function sameLaunch(options: LaunchOptions, shape: CheckedShape, context: Context): boolean {
  if (shape.context !== context || inheritsOptions(options)) return false;
  if ((options.sharedBytes ?? 0) !== shape.sharedBytes) return false;
  if ((options.timeout ?? 0) !== shape.timeout) return false;
  for (const key in options) {
    if (
      key !== 'grid' &&
      key !== 'block' &&
      key !== 'stream' &&
      key !== 'threads' &&
      key !== 'sharedBytes' &&
      key !== 'timeout'
    )
      return false;
  }
  const { threads } = options;
  if (threads === undefined)
    return shape.threads === undefined && sameDim(options.grid, shape.grid) && sameDim(options.block, shape.block);
  if (shape.threads === undefined || options.grid !== undefined || !sameDim(threads, shape.threads)) return false;
  if (options.block === undefined) return shape.chosenFor === (typeof threads === 'number' ? 1 : threads.length);
  return shape.chosenFor === 0 && sameDim(options.block, shape.block);
}

/**
 * Whether reading an option might find it elsewhere than in the object itself. To ask `Object.prototype` five times is quicker than to ask the
 * options five times, since the engine knows the answers when it compiles this.
 */
function inheritsOptions(options: object): boolean {
  if (Object.getPrototypeOf(options) !== Object.prototype) return true;
  const root: object = Object.prototype;
  return 'grid' in root || 'block' in root || 'threads' in root || 'sharedBytes' in root || 'stream' in root;
}

function sameDim(given: unknown, known: Dim3): boolean {
  if (typeof given === 'number') return given === known[0] && known[1] === 1 && known[2] === 1;
  if (!Array.isArray(given)) return false;
  const items: readonly unknown[] = given;
  const { length } = items;
  return (
    length >= 1 &&
    length <= 3 &&
    items[0] === known[0] &&
    (length > 1 ? items[1] : 1) === known[1] &&
    (length > 2 ? items[2] : 1) === known[2]
  );
}
