/**
 * Launch shapes: what users write for `grid`, `block`, `threads` and `sharedBytes`, checked and turned into numbers.
 *
 * Everything that a driver would refuse, or silently misread, is refused here first, with the value and the limit in the
 * message. Pure: knows limits, not devices.
 */
import type { DeviceInfo, Dim3, LaunchShape } from '../driver/driver.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

/** Threads or blocks along x, or along x, y and z. Missing axes are 1. */
export type Dim =
  | number
  | readonly [x: number]
  | readonly [x: number, y: number]
  | readonly [x: number, y: number, z: number];

const AXES = ['x', 'y', 'z'] as const;

/** Checks that `value` is one to three whole numbers ≥ `least`, and pads it with ones. `what` is `'grid'`, `'block'`, … */
export function toDim3(what: string, value: unknown, least: 0 | 1 = 1): Dim3 {
  if (typeof value === 'number') return [toCount(what, value, least), 1, 1];
  if (!Array.isArray(value)) {
    throw new TsambaTypeError(
      'E_LAUNCH_DIMS',
      `${what} must be a whole number or an array of one to three, got ${show(value)}: write ${what}: 128 or ${what}: [16, 16]`,
    );
  }
  const items: readonly unknown[] = value;
  if (items.length < 1 || items.length > 3) {
    throw new TsambaRangeError(
      'E_LAUNCH_DIMS',
      `${what} has one to three dimensions (x, y, z), got ${items.length}: ${show(value)}`,
    );
  }
  const axis = (i: 0 | 1 | 2): number => (i < items.length ? toCount(`${what}.${AXES[i]}`, items[i], least) : 1);
  return [axis(0), axis(1), axis(2)];
}

/** A whole number ≥ `least`; `what` names it in the error. */
export function toCount(what: string, value: unknown, least: 0 | 1 = 1): number {
  if (typeof value !== 'number') {
    const hint = typeof value === 'bigint' ? `: write Number(${String(value)})` : '';
    throw new TsambaTypeError('E_LAUNCH_DIMS', `${what} must be a whole number, got ${show(value)}${hint}`);
  }
  if (!Number.isInteger(value)) {
    const hint = Number.isFinite(value) ? `: Math.ceil gives ${Math.ceil(value)}` : '';
    throw new TsambaTypeError('E_LAUNCH_DIMS', `${what} must be a whole number, got ${show(value)}${hint}`);
  }
  if (value < least) {
    throw new TsambaRangeError('E_LAUNCH_DIMS', `${what} must be at least ${least}, got ${show(value)}`);
  }
  return value;
}

/** `ceil(threads / block)` on each axis. */
export function gridFor(threads: Dim3, block: Dim3): Dim3 {
  return [Math.ceil(threads[0] / block[0]), Math.ceil(threads[1] / block[1]), Math.ceil(threads[2] / block[2])];
}

/**
 * The block that Tsamba picks for so many dimensions: whole warps along x (neighbouring threads touch neighbouring
 * elements) and 256 threads together, or as many as the device and the kernel allow. It does not depend on the number of
 * threads asked for, because drivers specialise code on the block shape.
 */
export function defaultBlock(ndim: number, maxThreads: number, warpSize: number): Dim3 {
  const whole = Math.floor(Math.min(256, maxThreads) / warpSize) * warpSize;
  const threads = whole === 0 ? Math.max(1, maxThreads) : whole;
  if (ndim <= 1) return [threads, 1, 1];
  const x = Math.min(threads, 32);
  const rest = Math.floor(threads / x);
  if (ndim === 2) return [x, rest, 1];
  const y = Math.min(rest, 4);
  return [x, y, Math.max(1, Math.floor(rest / y))];
}

/** How many dimensions the user wrote. */
export function dimCount(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}

/** Throws unless a device with these limits can run `shape`; `name` is the device's. */
export function checkShape(shape: LaunchShape, device: Pick<DeviceInfo, 'limits' | 'name'>): void {
  const { grid, block, sharedBytes } = shape;
  const { limits } = device;
  for (const i of [0, 1, 2] as const) {
    if (grid[i] > limits.maxGridDim[i])
      tooLarge(`grid.${AXES[i]}`, grid[i], limits.maxGridDim[i], 'blocks', device.name);
    if (block[i] > limits.maxBlockDim[i])
      tooLarge(`block.${AXES[i]}`, block[i], limits.maxBlockDim[i], 'threads', device.name);
  }
  const threads = block[0] * block[1] * block[2];
  if (threads > limits.maxThreadsPerBlock) {
    throw new TsambaRangeError(
      'E_LAUNCH_LIMIT',
      `block ${showDim(block)} has ${threads} threads, ${device.name} allows ${limits.maxThreadsPerBlock} in a block: make the block smaller and the grid larger`,
    );
  }
  if (sharedBytes > limits.maxSharedBytesPerBlock) {
    throw new TsambaRangeError(
      'E_LAUNCH_LIMIT',
      `sharedBytes is ${sharedBytes}, ${device.name} has ${limits.maxSharedBytesPerBlock} bytes of shared memory for a block`,
    );
  }
}

function tooLarge(what: string, value: number, limit: number, unit: string, name: string): never {
  throw new TsambaRangeError('E_LAUNCH_LIMIT', `${what} is ${value}, ${name} allows at most ${limit} ${unit} there`);
}

/** `(16, 16)`: without trailing ones. */
export function showDim(dim: Dim3): string {
  const [x, y, z] = dim;
  return z !== 1 ? `(${x}, ${y}, ${z})` : y !== 1 ? `(${x}, ${y})` : `(${x})`;
}
