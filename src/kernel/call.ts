/**
 * One call of a kernel: its arguments, typed, and what goes with them: copies of host arrays, objects of other libraries.
 *
 * The order of it all is the launcher's.
 */

import { download, downloadLater } from '../array/device-transfer.ts';
import type { ArgType } from '../compiler/contract.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import type { MemoryOwner } from '../memory/owner.ts';
import { recording } from '../memory/recording.ts';
import type { Stream } from '../stream/stream.ts';
import { whenDone } from '../stream/waiting.ts';
import type { HostTyped, Typed } from './args.ts';
import type { Ready } from './marshal.ts';
import type { Specialisation } from './specialisation.ts';
import type { Staging } from './staging.ts';

/** Arguments that have been typed. */
export interface Call {
  readonly typed: readonly Typed[];
  readonly types: readonly ArgType[];
  /** Whether an array is too large for 32-bit indices. */
  readonly wide: boolean;
  readonly staging: Staging | undefined;
  /** Where the host arrays stand in the arguments. */
  readonly paths: ReadonlyMap<HostTyped, string>;
}

/** Copies back to host arrays what the kernel has written. */
export function copyBack(
  staging: Staging,
  { paths }: Call,
  { written }: Specialisation,
  stream: Stream | undefined,
): void {
  const isWritten = (argument: HostTyped): boolean => written.has(paths.get(argument) ?? '');
  staging.copyBack(isWritten, (shape, to, from) => {
    download(shape, to, from, stream);
    return undefined;
  });
}

/** As `copyBack`, without blocking: resolves when the host arrays are filled. */
export function copyBackLater(
  staging: Staging,
  { paths }: Call,
  { written, context }: Specialisation,
  stream: Stream,
): Promise<unknown> {
  const filled: Promise<unknown>[] = [];
  const isWritten = (argument: HostTyped): boolean => written.has(paths.get(argument) ?? '');
  const inSteps = context.driver.copyToHostLater !== undefined;
  staging.copyBack(isWritten, (shape, to, from) => {
    const one = downloadLater(shape, to, from, stream);
    filled.push(one);
    return inSteps ? one : undefined;
  });
  // What went wrong in the kernel is said by that; the rest is for those who wait for the stream.
  filled.push(new Promise<void>((resolve) => whenDone(context, stream.use(), () => resolve())));
  const all = Promise.all(filled);
  // Where the kernel has failed nobody waits for its copies.
  all.catch(() => undefined);
  return all;
}

/** Objects of other libraries that were passed as they are live until the launch is done: nobody else may hold them any more. */
export function keepLenders(typed: readonly Typed[], context: Context, stream: Stream | undefined): void {
  let kept: object[] | undefined = [];
  forEachArray(typed, (arg) => {
    if (arg.kind === 'device' && arg.borrowed !== undefined) kept?.push(arg.borrowed.by);
  });
  if (kept.length === 0) return;
  if (recording.current !== undefined) {
    for (const lender of kept) recording.current.hold(lender);
    return;
  }
  whenDone(context, stream?.handle, () => {
    kept = undefined;
  });
}

/** Gives up the views of such objects: their memory is not to wait for the garbage collector. What is enqueued still has it. */
export function releaseBorrowed(typed: readonly Typed[]): void {
  forEachArray(typed, (arg) => {
    if (arg.kind === 'device') disposeUnseen(arg.borrowed === undefined ? [] : [arg.borrowed.view]);
  });
}

/** Throws unless an array is there and on the device of the launch. */
export function checkArray(
  array: Extract<Typed, { kind: 'device' }>['array'],
  context: Context,
  where: () => string,
): void {
  try {
    array.checkUsable();
  } catch (error) {
    if (!(error instanceof TsambaRangeError)) throw error;
    throw new TsambaRangeError(error.code, `${where()}: ${error.message}`, { cause: error });
  }
  if (array.context === context || array.context.isWith(context)) return;
  const { namespace } = context;
  const { kind, index } = array.context.info;
  throw new TsambaTypeError(
    'E_CONTEXT',
    `${where()} is an array of ${array.context.place}, and the launch is on ${context.place}: select the device that the array is on, ` +
      `${namespace}.selectDevice('${kind}', ${index}), or copy it here: ${namespace}.deviceArrayLike(a), then copyToDevice(a)`,
  );
}

/** The type of an argument as it is now. */
export function typeOf(arg: Typed): ArgType {
  // A tuple's type is made again, because staging may have revised the types of host arrays in it.
  return arg.kind === 'tuple' ? { ...arg.type, items: arg.items.map(typeOf) } : arg.type;
}

/** Calls `visit` for each array, those in tuples included. */
export function forEachArray(
  args: readonly Typed[],
  visit: (arg: Extract<Typed, { kind: 'device' | 'host' }>) => void,
): void {
  for (const arg of args) {
    if (arg.kind === 'tuple') forEachArray(arg.items, visit);
    else if (arg.kind === 'device' || arg.kind === 'host') visit(arg);
  }
}

/** Keeps the memory of the device arrays of a call until the function that it gives is called, which also gives back borrowed views. */
export function retainArrays(typed: readonly Typed[]): () => void {
  const owners: MemoryOwner[] = [];
  forEachArray(typed, (arg) => {
    if (arg.kind === 'device') owners.push(arg.array.owner);
  });
  for (const owner of owners) owner.retain();
  return () => {
    for (const owner of owners) owner.release();
    releaseBorrowed(typed);
  };
}

/** Notes that a stream uses the device arrays of a call. */
export function touchAll(args: readonly Typed[], stream: Stream | undefined): void {
  forEachArray(args, (arg) => {
    if (arg.kind === 'device') arg.array.owner.touch(stream);
  });
}

/** An argument as the marshaller takes it, its host array replaced. */
export function makeReady(arg: Typed, staging: Staging | undefined): Ready {
  switch (arg.kind) {
    case 'device':
      return { kind: 'array', array: arg.array };
    case 'host':
      if (staging === undefined) throw new Error('a host array was not staged');
      return { kind: 'array', array: staging.deviceOf(arg) };
    case 'scalar':
      return { kind: 'scalar', value: arg.value };
    case 'constant':
      return { kind: 'constant' };
    case 'tuple':
      return { kind: 'tuple', items: arg.items.map((item) => makeReady(item, staging)) };
  }
}
