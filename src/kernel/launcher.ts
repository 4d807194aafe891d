/**
 * How a launch runs: the fast path for arguments like recent ones, and the slow path, which types them, finds or compiles
 * the specialisation, and brings host arrays to the device and back.
 */
import type { DeviceInfo } from '../driver/driver.ts';
import { KernelError, withStackDepth } from '../errors.ts';
import { blocking, stillFilled } from '../memory/blocking.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { recording, refuseRecording } from '../memory/recording.ts';
import type { Enter } from '../memory/turns.ts';
import { ifLoaded, partsAreMissing, whenLoaded } from '../on-demand.ts';
import { ownValue } from '../options.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import { afterDefault, beforeDefault } from '../stream/transfer-stream.ts';
import { type HostTyped, isWide, type Typed, typeArgument } from './args.ts';
import {
  ASYNC_KEYS,
  type AsyncLaunchOptions,
  checkExtras,
  type Launched,
  refuseAborted,
  reporter,
  settled,
} from './async-launch.ts';
import {
  type Call,
  checkArray,
  copyBack,
  copyBackLater,
  forEachArray,
  keepLenders,
  makeReady,
  releaseBorrowed,
  retainArrays,
  touchAll,
  typeOf,
} from './call.ts';
import { isCompiled, specialisationFor, specialisationLater } from './forms.ts';
import { type CheckedShape, checkLaunch, type LaunchOptions, sameLaunch } from './launch-shape.ts';
import { resolveOverload } from './overload.ts';
import {
  hasSmart,
  markAll,
  markWritten,
  refreshHosts,
  type SmartArguments,
  smartArguments,
} from './smart-arguments.ts';
import type { Specialisation } from './specialisation.ts';
import { Staging } from './staging.ts';
import type { KernelState } from './state.ts';
import { warnIdle, warnImplicitCopy } from './warnings.ts';

/** Compiling ahead asks for what the arguments need. */
const NARROW = { wide: false };

/** Launches one kernel on the devices of a namespace. Remembers the shape of the last launch. */
export class Launcher {
  readonly state: KernelState;
  readonly devices: DeviceSelection;
  #shape: CheckedShape | undefined = undefined;
  #warned = false;
  #warnedIdle = false;

  constructor(state: KernelState, devices: DeviceSelection) {
    this.state = state;
    this.devices = devices;
  }

  /** The launch that `forAll(threads)` makes. */
  forAll(
    threads: number,
    { block, sharedBytes }: { readonly block?: unknown; readonly sharedBytes?: unknown },
  ): LaunchOptions {
    return { threads, block, sharedBytes } as LaunchOptions;
  }

  /** `kernel.launch(options, ...args)`. */
  launch(options: LaunchOptions, args: readonly unknown[]): void {
    const context = this.devices.currentContext();
    const known = this.#shape;
    // `options` may be anything at run time: what is no object cannot be the same as before.
    if (known !== undefined && typeof options === 'object' && options !== null && sameLaunch(options, known, context)) {
      const { stream } = options;
      this.run(known, stream === undefined ? undefined : streamOption(stream, context), args, context);
      return;
    }
    const shape = checkLaunch(options, context, this.state.options);
    if (shape === undefined) return;
    this.noteShape(shape);
    this.#shape = shape;
    this.run(shape, streamOption(ownValue(options, 'stream'), context), args, context);
  }

  /** Launches with a shape that has been checked; gives the specialisation that ran. */
  run(shape: CheckedShape, stream: Stream | undefined, args: readonly unknown[], context: Context): Specialisation {
    const { state } = this;
    const { recent } = state;
    const bits = shape.wide ? 64 : 32;
    const recorded = recording.current !== undefined;
    if (recorded) refuseSmart(args, state.name);
    for (let i = 0; i < recent.length && !state.debugCaptures; i++) {
      const known = recent[i] as Specialisation;
      if (known.context !== context || known.indexBits !== bits || known.stale) continue;
      if (!known.marshaller.match(args, context)) continue;
      if (i > 0) state.remember(known);
      state.hits++;
      if (stream !== undefined || recorded) known.marshaller.touch(args, context, stream);
      known.launch(shape, stream);
      if (known.marshaller.smart) markAll(args, known.written, stream);
      if (state.debugSync && !recorded) synchronize(context, stream);
      return known;
    }
    try {
      return this.#runSlowly(shape, stream, args, context);
    } catch (error) {
      throw seenFrom(error, Launcher.prototype.run);
    }
  }

  #runSlowly(
    shape: CheckedShape,
    stream: Stream | undefined,
    args: readonly unknown[],
    context: Context,
  ): Specialisation {
    const { state } = this;
    const smart = smartArguments(args, context);
    if (smart !== undefined) {
      const specialisation = this.run(shape, stream, smart.plain, context);
      markWritten(smart, specialisation.written, stream);
      return specialisation;
    }
    if (state.debugCaptures) state.checkCaptures();
    const call = this.#prepare(args, context);
    const { staging } = call;
    try {
      if (recording.current !== undefined) refuseFilled(call.typed, state.name);
      else if (staging !== undefined) {
        blocking(context.driver, 'launch with host arrays', () => `await ${state.name}.launchAsync(…)`);
      }
      if (staging?.filling() !== undefined) throw stillFilled(`this launch of ${state.name} takes`);
      const specialisation = this.#specialise(call, shape, context);
      this.#fill(specialisation, call, stream);
      specialisation.launch(shape, stream);
      keepLenders(call.typed, context, stream);
      if (staging !== undefined) this.#finish(staging, call, specialisation, stream);
      else if (state.debugSync && recording.current === undefined) synchronize(context, stream);
      return specialisation;
    } finally {
      staging?.dispose();
      releaseBorrowed(call.typed);
    }
  }

  #specialise(call: Call, { wide }: Pick<CheckedShape, 'wide'>, context: Context): Specialisation {
    return specialisationFor(call, wide, ({ types, bits }) => this.state.specialise(context, types, bits));
  }

  #specialiseLater(call: Call, { wide }: Pick<CheckedShape, 'wide'>, context: Context): Promise<Specialisation> {
    return specialisationLater(call, wide, ({ types, bits }) => this.state.specialiseLater(context, types, bits));
  }

  /** Puts the values of a call in place, and its host arrays on the device. */
  #fill({ marshaller }: Specialisation, { typed, staging }: Call, stream: Stream | undefined): void {
    staging?.copyIn(stream);
    const ready = typed.map((arg) => makeReady(arg, staging));
    marshaller.fill(ready, (i) => this.state.argument(i));
    if (stream !== undefined || recording.current !== undefined) touchAll(typed, stream);
  }

  /** `kernel.launchAsync(options, ...args)`: all of it is enqueued when this returns, or when its kernel is compiled by a promise. */
  async launchAsync(options: AsyncLaunchOptions, args: readonly unknown[]): Promise<void> {
    const { state } = this;
    if (recording.current !== undefined)
      refuseRecording(`launchAsync of ${state.name}`, 'its promise would wait for the work', 'write launch');
    const context = this.devices.currentContext();
    const shape = checkLaunch(options, context, state.options, ASYNC_KEYS);
    const extras = checkExtras(options);
    const given = streamOption(ownValue(options, 'stream'), context);
    if (shape === undefined) return;
    const launched = { kernel: state, shape, extras };
    refuseAborted(launched);
    this.noteShape(shape);
    const request: Request = { launched, context, given, args, report: reporter(launched) };
    const enqueued = this.#enqueue(request);
    const { kernel, copies, smart } = enqueued instanceof Promise ? await enqueued : enqueued;
    await kernel;
    await copies;
    if (smart !== undefined) await refreshHosts(smart);
    request.report?.(shape.grid[0] * shape.grid[1] * shape.grid[2]);
  }

  /** A promise where the kernel has to be compiled by one first, host arrays have yet to be filled, or others wait for that. */
  #enqueue(request: Request): Enqueued | Promise<Enqueued> {
    const { context, launched } = request;
    const { turns, driver } = context;
    if (partsAreMissing()) driver.fetch?.();
    const call = turns.waiting > 0 ? undefined : ifLoaded(() => this.#typed(request));
    if (call === undefined) {
      return turns.take(context, async (enter) =>
        this.#enqueueLater(request, await whenLoaded(() => enter(() => this.#typed(request))), enter),
      );
    }
    const compiled =
      driver.loadLater === undefined ||
      isCompiled(call, launched.shape.wide, ({ types, bits }) => this.state.compiled(context, types, bits));
    const later = (): Promise<Enqueued> => turns.take(context, (enter) => this.#enqueueLater(request, call, enter));
    if (!compiled || call.staging?.filling() !== undefined) return later();
    let begins = true;
    try {
      const specialisation = this.#specialise(call, launched.shape, context);
      begins = !partsAreMissing() || ifLoaded(() => specialisation.prepare(launched.shape)) === true;
      return begins ? this.#begin(request, call, specialisation) : later();
    } finally {
      if (begins) call.letGo();
    }
  }

  /** As `#enqueue`, once the kernel has been compiled and its host arrays hold what launches before it leave. */
  async #enqueueLater(request: Request, call: AsyncCall, enter: Enter): Promise<Enqueued> {
    const { context, launched } = request;
    try {
      const specialisation = await this.#specialiseLater(call, launched.shape, context);
      await call.staging?.filling();
      refuseAborted(launched);
      if (partsAreMissing()) await whenLoaded(() => enter(() => specialisation.prepare(launched.shape)));
      return enter(() => this.#begin(request, call, specialisation));
    } finally {
      call.letGo();
    }
  }

  #typed({ args, context }: Request): AsyncCall {
    const { state } = this;
    const smart = smartArguments(args, context);
    if (state.debugCaptures) state.checkCaptures();
    const call = this.#prepare(smart?.plain ?? args, context);
    // What is disposed before the launch is enqueued must be there until then.
    return { ...call, smart, letGo: retainArrays(call.typed) };
  }

  #begin({ launched, context, given, report }: Request, call: AsyncCall, specialisation: Specialisation): Enqueued {
    // Without a stream copies would block.
    const stream = given ?? afterDefault(context);
    const { staging, smart, typed } = call;
    try {
      this.#fill(specialisation, call, stream);
      const pending = specialisation.launchLater(launched.shape, stream, report);
      const kernel = settled(launched, context, stream, pending);
      keepLenders(typed, context, stream);
      if (smart !== undefined) markWritten(smart, specialisation.written, stream, true);
      const copies = staging === undefined ? undefined : copyBackLater(staging, call, specialisation, stream);
      return { kernel, copies, smart };
    } finally {
      staging?.dispose();
      if (given === undefined) beforeDefault(stream);
    }
  }

  /** Compiles for these arguments, without running. */
  compile(args: readonly unknown[]): void {
    const context = this.devices.currentContext();
    try {
      this.#specialise(this.#sample(args, context), NARROW, context);
    } catch (error) {
      throw seenFrom(error, Launcher.prototype.compile);
    }
  }

  /** As `compile`, without blocking where the device compiles through promises. */
  async compileLater(args: readonly unknown[]): Promise<void> {
    const context = this.devices.currentContext();
    try {
      if (partsAreMissing()) context.driver.fetch?.();
      const call = await whenLoaded(() => this.#sample(args, context));
      await this.#specialiseLater(call, NARROW, context);
    } catch (error) {
      throw seenFrom(error, Launcher.prototype.compileLater);
    }
  }

  #sample(args: readonly unknown[], context: Context): Call {
    const call = this.#prepare(smartArguments(args, context)?.plain ?? args, context, false);
    releaseBorrowed(call.typed);
    return call;
  }

  /** Types and checks arguments. Copies nothing. */
  #prepare(args: readonly unknown[], context: Context, launching = true): Call {
    const { state } = this;
    const { signatures } = state.options;
    if (signatures === undefined) state.checkCount(args.length);
    const typed: Typed[] = [];
    try {
      for (const [i, arg] of args.entries()) typed.push(typeArgument(arg, context, () => state.argument(i)));
      return this.#check(typed, context, launching);
    } catch (error) {
      releaseBorrowed(typed);
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
    const staging =
      hosts.length === 0
        ? undefined
        : new Staging(
            hosts.map(({ argument }) => argument),
            context,
          );
    forEachArray(typed, (arg) => {
      wide ||= isWide(arg.array, arg.type);
    });
    const types = signatures === undefined ? typed.map(typeOf) : resolveOverload(state, signatures, typed, name);
    return { typed, types, wide, staging, paths: new Map(hosts.map(({ argument, path }) => [argument, path])) };
  }

  /** Warns of a grid that leaves most of a GPU idle, once. */
  noteShape({ grid }: CheckedShape, { info }: Pick<Context, 'info'> = this.devices.currentContext()): void {
    if (this.#warnedIdle || !isGpu(info)) return;
    const blocks = grid[0] * grid[1] * grid[2];
    if (blocks >= info.limits.multiprocessors) return;
    this.#warnedIdle = true;
    warnIdle(this.state, blocks, info);
  }

  #warnOnce(argument: () => string): void {
    if (this.#warned) return;
    this.#warned = true;
    warnImplicitCopy(this.state, argument(), this.devices.namespace);
  }

  /** Copies host arrays back; without a stream everything is done afterwards. */
  #finish(staging: Staging, call: Call, specialisation: Specialisation, stream: Stream | undefined): void {
    // All host arrays are In: nothing comes back.
    if (recording.current !== undefined) return;
    // What failed in the kernel is thrown here, before anything is copied back.
    if (stream === undefined || this.state.debugSync) synchronize(specialisation.context, stream);
    copyBack(staging, call, specialisation, stream);
  }
}

/** What `launchAsync` was given, checked. */
interface Request {
  readonly launched: Launched;
  readonly context: Context;
  readonly given: Stream | undefined;
  readonly args: readonly unknown[];
  readonly report: ((done: number) => void) | undefined;
}

/** A launch that is under way. */
interface Enqueued {
  readonly kernel: Promise<void>;
  readonly copies: Promise<unknown> | undefined;
  readonly smart: SmartArguments | undefined;
}

/** A call whose smart arrays have been replaced. */
interface AsyncCall extends Call {
  readonly smart: SmartArguments | undefined;
  /** Gives back what was kept for the launch until it is enqueued. */
  readonly letGo: () => void;
}

/** WebGPU does not say how many multiprocessors a GPU has. */
function isGpu({ kind, hardware }: DeviceInfo): boolean {
  if (kind === 'webgpu') return false;
  return kind === 'nvidia' || kind === 'hip' || hardware?.type === 'gpu';
}

function synchronize(context: Context, stream: Stream | undefined): void {
  if (stream === undefined) context.synchronize();
  else stream.synchronize();
}

/**
 * An error with the stack of the launch. The compiler is many calls deep: its frames would leave no room for the one line that says
 * which launch, with which types of arguments, could not be compiled.
 */
function seenFrom(error: unknown, call: (...args: never[]) => unknown): unknown {
  if (error instanceof KernelError) withStackDepth(50, () => Error.captureStackTrace(error, call));
  return error;
}

/** Smart arrays are brought up to date by each launch, which a graph does not do. */
function refuseSmart(args: readonly unknown[], kernel: string): void {
  if (!hasSmart(args)) return;
  refuseRecording(`a smart array as an argument of ${kernel}`, 'a graph does not update it', "pass array.get('gpu')");
}

/** Host arrays that a kernel fills would have to be copied back. */
function refuseFilled(typed: readonly Typed[], kernel: string): void {
  forEachArray(typed, (arg) => {
    if (arg.kind !== 'host' || arg.direction === 'in') return;
    refuseRecording(
      `the launch of ${kernel} with a host array`,
      'the array would have to be copied back and waited for',
      'pass a device array, or cuda.In(array) for one that is only read',
    );
  });
}
