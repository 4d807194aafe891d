/**
 * How a launch runs: the fast path for arguments like recent ones, and the slow path, which types them, finds or compiles
 * the specialisation, and brings host arrays to the device and back.
 */
import type { ArgType } from '../compiler/contract.ts';
import { KernelError, TsambaRangeError, TsambaTypeError, withStackDepth } from '../errors.ts';
import { blocking } from '../memory/blocking.ts';
import type { Context } from '../memory/context.ts';
import { currentContext } from '../memory/devices.ts';
import { ownValue } from '../options.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import { afterDefault, beforeDefault } from '../stream/transfer-stream.ts';
import { whenDone } from '../stream/waiting.ts';
import { type HostTyped, isWide, type Typed, typeArgument } from './args.ts';
import { ASYNC_KEYS, type AsyncLaunchOptions, checkExtras, refuseAborted, reporter, settled } from './async-launch.ts';
import { type CheckedShape, checkLaunch, type LaunchOptions, sameLaunch } from './launch-shape.ts';
import type { Ready } from './marshal.ts';
import { resolveOverload } from './overload.ts';
import { markAll, markWritten, smartArguments } from './smart-arguments.ts';
import type { Specialisation } from './specialisation.ts';
import { Staging } from './staging.ts';
import type { KernelState } from './state.ts';
import { warnImplicitCopy } from './warnings.ts';

/** Launches one kernel. Remembers the shape of the last launch. */
export class Launcher {
  readonly state: KernelState;
  #shape: CheckedShape | undefined = undefined;
  #warned = false;

  constructor(state: KernelState) {
    this.state = state;
  }

  /** `kernel.launch(options, ...args)`. */
  launch(options: LaunchOptions, args: readonly unknown[]): void {
    const context = currentContext();
    const known = this.#shape;
    // `options` may be anything at run time: what is no object cannot be the same as before.
    if (known !== undefined && typeof options === 'object' && options !== null && sameLaunch(options, known, context)) {
      const { stream } = options;
      this.run(known, stream === undefined ? undefined : streamOption(stream, context), args, context);
      return;
    }
    const shape = checkLaunch(options, context, this.state.options.launchBounds);
    if (shape === undefined) return;
    this.#shape = shape;
    this.run(shape, streamOption(ownValue(options, 'stream'), context), args, context);
  }

  /** Launches with a shape that has been checked. */
  run(shape: CheckedShape, stream: Stream | undefined, args: readonly unknown[], context: Context): void {
    const { state } = this;
    const { recent } = state;
    const bits = shape.wide ? 64 : 32;
    for (let i = 0; i < recent.length && !state.debugCaptures; i++) {
      const known = recent[i] as Specialisation;
      if (known.context !== context || known.indexBits !== bits || known.stale) continue;
      if (!known.marshaller.match(args, context)) continue;
      if (i > 0) state.remember(known);
      state.hits++;
      if (stream !== undefined) known.marshaller.touch(args, context, stream);
      known.launch(shape, stream);
      if (known.marshaller.smart) markAll(args, known.written, stream);
      if (state.debugSync) synchronize(context, stream);
      return;
    }
    try {
      this.#runSlowly(shape, stream, args, context);
    } catch (error) {
      throw seenFrom(error, Launcher.prototype.run);
    }
  }

  #runSlowly(shape: CheckedShape, stream: Stream | undefined, args: readonly unknown[], context: Context): void {
    const { state } = this;
    const smart = smartArguments(args, context);
    if (smart !== undefined) {
      this.run(shape, stream, smart.plain, context);
      markWritten(smart, (state.recent[0] as Specialisation).written, stream);
      return;
    }
    if (state.debugCaptures) state.checkCaptures();
    const call = this.#prepare(args, context);
    const { staging } = call;
    try {
      if (staging !== undefined)
        blocking(context.driver, 'launch with host arrays', `await ${state.name}.launchAsync(…)`);
      const specialisation = this.#fill(call, shape, stream, context);
      specialisation.launch(shape, stream);
      keepLenders(call.typed, context, stream);
      if (staging !== undefined) this.#finish(staging, call, specialisation, stream);
      else if (state.debugSync) synchronize(context, stream);
    } finally {
      staging?.dispose();
      giveBackLent(call.typed);
    }
  }

  /** The specialisation for a call, with its values in place and its host arrays on the device. */
  #fill(
    { types, typed, wide, staging }: Call,
    shape: CheckedShape,
    stream: Stream | undefined,
    context: Context,
  ): Specialisation {
    const { state } = this;
    let specialisation = state.specialise(context, types, shape.wide || wide ? 64 : 32);
    staging?.copyIn(stream);
    const ready = typed.map((arg) => makeReady(arg, staging));
    if (specialisation.marshaller.overflows(ready)) specialisation = state.specialise(context, types, 64);
    specialisation.marshaller.fill(ready, (i) => state.argument(i));
    if (stream !== undefined) touchAll(typed, stream);
    return specialisation;
  }

  /** `kernel.launchAsync(options, ...args)`: all of it is enqueued when this returns. */
  async launchAsync(options: AsyncLaunchOptions, args: readonly unknown[]): Promise<void> {
    const context = currentContext();
    const { state } = this;
    const shape = checkLaunch(options, context, state.options.launchBounds, ASYNC_KEYS);
    const extras = checkExtras(options);
    const given = streamOption(ownValue(options, 'stream'), context);
    if (shape === undefined) return;
    const launched = { kernel: state.name, shape, extras };
    refuseAborted(launched);
    // Without a stream copies would block.
    const stream = given ?? afterDefault(context);
    const smart = smartArguments(args, context);
    if (state.debugCaptures) state.checkCaptures();
    const call = this.#prepare(smart?.plain ?? args, context);
    const { staging } = call;
    const report = reporter(launched);
    let kernel: Promise<void>;
    let copies: Promise<unknown> | undefined;
    try {
      const specialisation = this.#fill(call, shape, stream, context);
      const pending = specialisation.launchLater(shape, stream, report);
      kernel = settled(launched, context, stream, pending);
      keepLenders(call.typed, context, stream);
      if (smart !== undefined) markWritten(smart, specialisation.written, stream);
      if (staging !== undefined) {
        copyBack(staging, call, specialisation, stream);
        // What went wrong in the kernel is said by that; the rest is for those who wait for the stream.
        copies = new Promise<void>((resolve) => {
          whenDone(context, stream.use(), () => resolve());
        });
      }
    } finally {
      staging?.dispose();
      giveBackLent(call.typed);
      if (given === undefined) beforeDefault(stream);
    }
    await kernel;
    await copies;
    report?.(shape.grid[0] * shape.grid[1] * shape.grid[2]);
  }

  /** Compiles for these arguments, without running. */
  compile(args: readonly unknown[]): void {
    const context = currentContext();
    try {
      const { typed, types, wide } = this.#prepare(smartArguments(args, context)?.plain ?? args, context, false);
      giveBackLent(typed);
      this.state.specialise(context, types, wide ? 64 : 32);
    } catch (error) {
      throw seenFrom(error, Launcher.prototype.compile);
    }
  }

  /** Types and checks arguments. Copies nothing. */
  #prepare(args: readonly unknown[], context: Context, launching = true): Call {
    const { state } = this;
    const { signatures } = state.options;
    if (signatures === undefined) state.checkCount(args.length);
    const typed: Typed[] = [];
    try {
      for (const [i, arg] of args.entries()) typed.push(typeArgument(arg, () => state.argument(i)));
      return this.#check(typed, context, launching);
    } catch (error) {
      giveBackLent(typed);
      throw error;
    }
  }

  #check(typed: readonly Typed[], context: Context, launching: boolean): Call {
    const { state } = this;
    const { signatures } = state.options;
    const name = (i: number): string => state.argument(i);
    const hosts: { readonly argument: HostTyped; readonly path: string }[] = [];
    let wide = false;
    const visit = (arg: Typed, i: number, path: string): void => {
      if (arg.kind === 'tuple') for (const [k, item] of arg.items.entries()) visit(item, i, `${path},${k}`);
      else if (arg.kind === 'device') checkArray(arg.array, context, () => name(i));
      else if (arg.kind === 'host') {
        hosts.push({ argument: arg, path });
        if (launching && !arg.hinted) this.#warnOnce(() => name(i));
      }
    };
    typed.forEach((arg, i) => {
      visit(arg, i, String(i));
    });
    const staging = hosts.length === 0 ? undefined : new Staging(hosts.map(({ argument }) => argument));
    forEachArray(typed, (arg) => {
      wide ||= isWide(arg.array, arg.type);
    });
    const types = signatures === undefined ? typed.map(typeOf) : resolveOverload(state.name, signatures, typed, name);
    return { typed, types, wide, staging, paths: new Map(hosts.map(({ argument, path }) => [argument, path])) };
  }

  #warnOnce(argument: () => string): void {
    if (this.#warned) return;
    this.#warned = true;
    warnImplicitCopy(this.state.name, argument(), currentContext().namespace);
  }

  /** Copies host arrays back; without a stream everything is done afterwards. */
  #finish(staging: Staging, call: Call, specialisation: Specialisation, stream: Stream | undefined): void {
    // What failed in the kernel is thrown here, before anything is copied back.
    if (stream === undefined || this.state.debugSync) synchronize(specialisation.context, stream);
    copyBack(staging, call, specialisation, stream);
  }
}

function copyBack(staging: Staging, call: Call, { written }: Specialisation, stream: Stream | undefined): void {
  staging.copyBack((argument) => written.has(call.paths.get(argument) ?? ''), stream);
}

/** Objects of other libraries that were passed as they are live until the launch is done: nobody else may hold them any more. */
function keepLenders(typed: readonly Typed[], context: Context, stream: Stream | undefined): void {
  let kept: object[] | undefined = [];
  forEachArray(typed, (arg) => {
    if (arg.kind === 'device' && arg.lent !== undefined) kept?.push(arg.lent.by);
  });
  if (kept.length === 0) return;
  whenDone(context, stream?.handle, () => {
    kept = undefined;
  });
}

/** Gives up the views of such objects: their memory is not to wait for the garbage collector. What is enqueued still has it. */
function giveBackLent(typed: readonly Typed[]): void {
  forEachArray(typed, (arg) => {
    if (arg.kind === 'device') arg.lent?.view.dispose();
  });
}

/** Arguments that have been typed. */
interface Call {
  readonly typed: readonly Typed[];
  readonly types: readonly ArgType[];
  /** Whether an array is too large for 32-bit indices. */
  readonly wide: boolean;
  readonly staging: Staging | undefined;
  /** Where the host arrays stand in the arguments. */
  readonly paths: ReadonlyMap<HostTyped, string>;
}

function synchronize(context: Context, stream: Stream | undefined): void {
  if (stream === undefined) context.synchronize();
  else stream.synchronize();
}

function checkArray(array: Extract<Typed, { kind: 'device' }>['array'], context: Context, where: () => string): void {
  try {
    array.checkUsable();
  } catch (error) {
    if (!(error instanceof TsambaRangeError)) throw error;
    throw new TsambaRangeError(error.code, `${where()}: ${error.message}`, { cause: error });
  }
  if (array.context === context) return;
  const { namespace } = array.context;
  if (namespace !== context.namespace) {
    throw new TsambaTypeError(
      'E_CONTEXT',
      `${where()} is an array of ${namespace}, and this is a kernel of ${context.namespace}, which have devices of their own: ` +
        `make the kernel with ${namespace}.jit, or copy the array: ${context.namespace}.deviceArrayLike(a), then copyToDevice(a)`,
    );
  }
  throw new TsambaTypeError(
    'E_CONTEXT',
    `${where()} is an array of ${array.context.info.name}, and the current device is ${context.info.name}: ` +
      `select the device that the array is on (${namespace}.selectDevice), or copy it here: deviceArrayLike(a), then copyToDevice(a)`,
  );
}

function typeOf(arg: Typed): ArgType {
  // A tuple's type is made again, because staging may have revised the types of host arrays in it.
  return arg.kind === 'tuple' ? { kind: 'tuple', items: arg.items.map(typeOf) } : arg.type;
}

function forEachArray(args: readonly Typed[], visit: (arg: Extract<Typed, { kind: 'device' | 'host' }>) => void): void {
  for (const arg of args) {
    if (arg.kind === 'tuple') forEachArray(arg.items, visit);
    else if (arg.kind !== 'scalar') visit(arg);
  }
}

function touchAll(args: readonly Typed[], stream: Stream): void {
  forEachArray(args, (arg) => {
    if (arg.kind === 'device') arg.array.owner.touch(stream);
  });
}

function makeReady(arg: Typed, staging: Staging | undefined): Ready {
  switch (arg.kind) {
    case 'device':
      return { kind: 'array', array: arg.array };
    case 'host':
      if (staging === undefined) throw new Error('a host array was not staged');
      return { kind: 'array', array: staging.deviceOf(arg) };
    case 'scalar':
      return { kind: 'scalar', value: arg.value };
    case 'tuple':
      return { kind: 'tuple', items: arg.items.map((item) => makeReady(item, staging)) };
  }
}

/**
 * An error with the stack of the launch. The compiler is many calls deep: its frames would leave no room for the one line that says
 * which launch, with which types of arguments, could not be compiled.
 */
function seenFrom(error: unknown, call: (...args: never[]) => unknown): unknown {
  if (error instanceof KernelError) withStackDepth(50, () => Error.captureStackTrace(error, call));
  return error;
}
