/**
 * The wording of errors that stop a kernel: which kernel and source line, which block and thread, which launch.
 *
 * The CPU device and the simulator find faults in different ways and report them in the same words.
 */
import { withAuthorNames, withAuthorNamesAt } from '../compiler/frontend/author-names.ts';
import { displayPath, nameOf } from '../compiler/frontend/diagnostics.ts';
import { describe } from '../compiler/frontend/positions.ts';
import type { ArraySym, Kernel } from '../compiler/ir/ops.ts';
import type { Pos } from '../compiler/source.ts';
import { DriverError, withStackDepth } from '../errors.ts';
import type { Dim3, LaunchShape } from './driver.ts';

/** Where in a launch something happened; linear numbers, x fastest. */
export interface ThreadPlace {
  readonly block: number;
  readonly thread: number;
}

/** A kernel's fault as the error that the next synchronising call throws. Its stack is that of the launch. */
export function kernelFault(
  kernel: Kernel,
  shape: LaunchShape,
  what: string,
  pos: Pos | undefined,
  place: ThreadPlace | undefined,
  help?: string,
): DriverError {
  return new DriverError('E_KERNEL_FAULT', describeFault(kernel, shape, what, pos, place, help), {
    launch: `${kernelLabel(kernel)} with ${describeLaunch(shape)}`,
  });
}

/** What happened, where in the kernel and in the launch, and what to do. */
export function describeFault(
  kernel: Kernel,
  shape: LaunchShape,
  what: string,
  pos: Pos | undefined,
  place: ThreadPlace | undefined,
  help?: string,
): string {
  const at = place === undefined ? '' : ` at ${describePlace(shape, place)}`;
  const line = pos === undefined ? '' : `\n  --> ${describePosition(pos)}`;
  const advice = help === undefined ? '' : `\n  help: ${help}`;
  const said = withAuthorNames(pos === undefined ? what : withAuthorNamesAt(what, pos), kernel.pos.source);
  return `kernel ${kernelLabel(kernel)}: ${said}${at}${line}${advice}\n  launched with ${describeLaunch(shape)}`;
}

/** A kernel that was ended because it took longer than its launch allowed. */
export function timeoutError(kernel: Kernel, shape: LaunchShape, done: number): DriverError {
  const total = shape.grid[0] * shape.grid[1] * shape.grid[2];
  const name = kernelLabel(kernel);
  const launch = describeLaunch(shape);
  return new DriverError(
    'E_TIMEOUT',
    `kernel ${name} was stopped because it had not ended after ${shape.timeout} ms (timeout): ${done} of ${total} ` +
      `${total === 1 ? 'block was' : 'blocks were'} done\n  launched with ${launch}\n  help: what it wrote is incomplete: write the ` +
      'arrays again before they are read; look for a loop that does not end, or raise timeout',
    { launch: `${name} with ${launch}` },
  );
}

/** What messages call a kernel; an anonymous function is called what its file assigns it to. */
export function kernelLabel(kernel: Kernel): string {
  return kernel.name === 'kernel' ? (nameOf(kernel.pos.source) ?? kernel.name) : kernel.name;
}

/** Gives a fault the stack of the launch, from the caller of `launch` on and far enough down to reach the user's code. */
export function withLaunchStack(error: DriverError, launch: (...args: never[]) => unknown): DriverError {
  withStackDepth(50, () => Error.captureStackTrace(error, launch));
  return error;
}

/** `file:line:column` in the author's file, and the calls that led there. */
export function describePosition(pos: Pos): string {
  const { file, line, column } = describe(pos);
  const own = `${file === undefined ? pos.source.name : displayPath(file)}:${line}:${column}`;
  return pos.caller === undefined ? own : `${own}\n  called at ${describePosition(pos.caller)}`;
}

/** `grid [4, 1, 1], block [256, 1, 1]`. */
export function describeLaunch(shape: LaunchShape): string {
  const shared = shape.sharedBytes === 0 ? '' : `, ${shape.sharedBytes} bytes of dynamic shared memory`;
  return `grid [${shape.grid.join(', ')}], block [${shape.block.join(', ')}]${shared}`;
}

/** `block (3,0,0), thread (17,0,0)`. */
function describePlace(shape: LaunchShape, place: ThreadPlace): string {
  return `block ${coordinates(shape.grid, place.block)}, thread ${coordinates(shape.block, place.thread)}`;
}

/** `(x,y,z)` of a linear number in a shape. */
export function coordinates([x, y]: Dim3, linear: number): string {
  return `(${linear % x},${Math.floor(linear / x) % y},${Math.floor(linear / (x * y))})`;
}

/** What an index did that left its axis. */
export function outOfRange(kernel: Kernel, array: ArraySym, axis: number, index: bigint, extent: bigint): string {
  const several = axis > 0 || hasSecondAxis(kernel, array);
  const name = array.name.startsWith('%') ? 'this array' : array.name;
  const target = several ? `axis ${axis} of ${name} (extent ${extent})` : `${name} (length ${extent})`;
  return `index ${index} is out of range for ${target}`;
}

/** Global arrays of rank 2 and more have a parameter for the extent or stride of a further axis. */
function hasSecondAxis(kernel: Kernel, array: ArraySym): boolean {
  const base = array.param === undefined ? undefined : kernel.params[array.param]?.origin;
  if (base?.kind !== 'base') return false;
  return kernel.params.some(
    ({ origin }) => origin.kind === 'extent' && origin.axis > 0 && origin.path.join() === base.path.join(),
  );
}

/** Advice that goes with a fault, where there is any. */
export const HELP = {
  negative: 'negative indices do not count from the end; write a.length - 1 for the last element',
  cast: 'keep the value as an index, or convert it with i64()',
  exponent: 'convert the base to a float first: f32(a) ** b',
  race: 'put a barrier between the two (cuda.syncThreads, roc.barrier), or use atomics',
  uninitialised: 'write it first, with a barrier before others read it',
  deadlock: 'blocks run one after another here, so a block cannot wait for a later one',
  unchecked: 'checked mode (boundsCheck: true) names the array and the index',
} as const;
