/**
 * `jit`: makes a kernel of a function. The kernel's public face; what it does is `state.ts` and `launcher.ts`.
 */
import type { Namespace } from '../array/rank.ts';
import { declareHostOnly, hostFunction, KERNEL } from '../compiler/intrinsics.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { readKeys } from '../options.ts';
import { show } from '../show.ts';
import { streamOption } from '../stream/stream.ts';
import type { AsyncLaunchOptions } from './async-launch.ts';
import { type Dim, toCount, toDim3 } from './dims.ts';
import { declareHostFunctions } from './host-only.ts';
import { inspectKernel } from './inspect.ts';
import type { Configured, ForAllOptions, Kernel, KernelStats } from './kernel-types.ts';
import { type CheckedShape, checkLaunch, type LaunchOptions } from './launch-shape.ts';
import { Launcher } from './launcher.ts';
import { activeBlocksOf, attributesOf, suggestedBlockOf } from './occupancy.ts';
import { checkOptions, type JitOptions } from './options.ts';
import { parseSignatures } from './signature.ts';
import type { Specialisation } from './specialisation.ts';
import { KernelState, unload } from './state.ts';
import { showToTool } from './tool-hook.ts';

/** Unloads the code of kernels that were dropped. */
const dropped: FinalizationRegistry<Set<Specialisation>> = new FinalizationRegistry(unload);

type AnyFunction = (...args: never[]) => unknown;

/** Makes kernels. */
export interface Jit<N extends Namespace = Namespace> {
  /**
   * Makes a kernel of a factory, `({ gain }) => (y) => {…}`: called with `captures`, it gives the function. For where closures
   * cannot be read (Bun, browsers).
   */
  <C extends object, P extends readonly unknown[]>(
    factory: (captures: C) => (...args: P) => void,
    options: JitOptions & { readonly captures: C },
  ): Kernel<P, N>;
  /**
   * Makes a kernel from a function. Nothing is compiled until the first launch, unless there is a `signature`. Captured values are read then, once.
   * Throws TypeError for invalid options; compiling throws KernelError.
   */
  <F extends Callable>(fn: F & Kernelled<F>, options?: JitOptions): Kernel<ParametersOf<F>, N>;
}

/** Any function. Without a signature of its own, so that parameters with a default have the type of that. */
// biome-ignore lint/complexity/noBannedTypes: a signature would type the parameters of the function that is given
type Callable = Function;

type ParametersOf<F> = F extends (...args: infer P) => unknown ? P : never;

/** Refuses functions that are async, or give something. What stands in quotes is what an editor shows. */
// biome-ignore lint/suspicious/noExplicitAny: so that it is known what a function returns whose parameters are of a type parameter
type Kernelled<F> = F extends (...args: any) => infer R ? Unreturned<R> : unknown;

type Unreturned<R> = [R] extends [PromiseLike<unknown>]
  ? 'a kernel runs to its end: it cannot be async'
  : // Of what nothing is known nothing is said.
    unknown extends R
    ? unknown
    : // biome-ignore lint/suspicious/noConfusingVoidType: what a function returns
      [R] extends [void]
      ? unknown
      : 'a kernel returns nothing: store the result into an array, y[i] = …';

/**
 * `jit` of a namespace. `launcher`: how it launches, where that is not how all do.
 * @internal
 */
export function jitOf(
  devices: DeviceSelection,
  launcher: (state: KernelState) => Launcher = (state) => new Launcher(state, devices),
): Jit {
  const jit = (fn: unknown, options: unknown = {}): unknown => makeJit(fn, options, launcher);
  return hostFunction(devices, 'jit', jit as Jit);
}

function makeJit(
  fn: unknown,
  options: unknown,
  makeLauncher: (state: KernelState) => Launcher,
): Kernel<readonly unknown[]> {
  if (typeof fn !== 'function') {
    const hint =
      typeof fn === 'string' || Array.isArray(fn) ? ': a signature is an option, jit(fn, { signature })' : '';
    throw new TsambaTypeError('E_JIT', `jit takes a function, got ${show(fn)}${hint}`);
  }
  if (KERNEL in fn) throw new TsambaTypeError('E_JIT', `${fn.name} is a kernel already: pass jit the function itself`);
  declareHostFunctions();
  const state = new KernelState(fn as AnyFunction, checkOptions(options));
  const launcher = makeLauncher(state);
  const kernel = makeKernel(launcher);
  // Launches that were configured keep the state, not the kernel.
  dropped.register(state, state.specialisations);
  if (state.options.signatures !== undefined) state.compileSignatures(launcher.devices.currentContext());
  return kernel;
}

function makeKernel(launcher: Launcher): Kernel<readonly unknown[]> {
  const { state, devices } = launcher;
  const kernel = (): never => {
    throw new TsambaTypeError(
      'E_NOT_CONFIGURED',
      `${state.name} is a kernel and needs to know how many threads to run: ${state.name}.launch({ threads: n }, …), ` +
        `${state.name}.launch({ grid, block }, …) or ${state.name}.forAll(n)(…)`,
    );
  };
  const members: Omit<Kernel<readonly unknown[]>, 'name' | 'stats' | 'parameters'> = {
    launch: (options: LaunchOptions, ...args: readonly unknown[]) => launcher.launch(options, args),
    launchAsync: (options: AsyncLaunchOptions, ...args: readonly unknown[]) => launcher.launchAsync(options, args),
    configure: (...shape: readonly unknown[]) => configure(launcher, shape),
    forAll: (threads: number, options?: ForAllOptions) => forAll(launcher, threads, options),
    compile: (...args: readonly unknown[]) => launcher.compile(args),
    compileAsync: (...args: readonly unknown[]) => launcher.compileLater(args),
    recompile: () => {
      state.forget();
      if (state.options.signatures !== undefined) state.compileSignatures(devices.currentContext());
    },
    inspect: (options) => inspectKernel(state, options),
    attributes: () => attributesOf(state),
    maxActiveBlocks: (block, sharedBytes) => activeBlocksOf(state, block, sharedBytes),
    suggestBlock: (sharedBytes) => suggestedBlockOf(state, sharedBytes),
  };
  Object.defineProperties(kernel, Object.getOwnPropertyDescriptors(members));
  const help = 'a kernel cannot launch another one: call it as a function, kernel(…), or launch both from the host';
  for (const fn of [kernel, ...Object.values(members)]) declareHostOnly(fn, { what: 'a kernel', help });
  const description = (): string => `Kernel(${state.name}, ${state.specialisations.size} compiled)`;
  Object.defineProperties(kernel, {
    name: { get: () => state.name },
    stats: { get: () => statsOf(state), enumerable: true },
    [KERNEL]: { value: state.fn },
    toString: { value: description },
    [Symbol.for('nodejs.util.inspect.custom')]: { value: description },
  });
  const made = Object.freeze(kernel) as unknown as Kernel<readonly unknown[]>;
  showToTool(() => ({
    kernel: made,
    parameters: () => state.parameterNames(),
    compile: (signature) => state.compileSignatures(devices.currentContext(), parseSignatures(signature)),
  }));
  return made;
}

function statsOf({ hits, misses, specialisations }: KernelState): KernelStats {
  return {
    hits,
    misses,
    specialisations: [...specialisations].map(({ signature, indexBits, context, launches }) => ({
      signature,
      indexBits,
      device: context.info.name,
      launches,
    })),
  };
}

/** Numba's `kernel[grid, block, stream, sharedmem]`. */
function configure(launcher: Launcher, given: readonly unknown[]): Configured<readonly unknown[]> {
  const { name } = launcher.state;
  if (given.length < 2 || given.length > 4) {
    throw new TsambaRangeError(
      'E_LAUNCH_DIMS',
      `${name}.configure takes (grid, block, stream?, sharedBytes?), got ${given.length} argument${given.length === 1 ? '' : 's'}`,
    );
  }
  const [grid, block, stream, sharedBytes] = given;
  toDim3('grid', grid);
  toDim3('block', block);
  if (sharedBytes !== undefined) toCount('sharedBytes', sharedBytes, 0);
  const options = { grid: grid as Dim, block: block as Dim, sharedBytes };
  return launchLater(launcher, stream, (context) => checkLaunch(options, context, launcher.state.options));
}

/** Numba's `kernel.forall(ntasks, tpb, stream, sharedmem)`. */
function forAll(launcher: Launcher, given: unknown, options: unknown = {}): Configured<readonly unknown[]> {
  const threads = toCount('forAll(n): n', given, 0);
  if (typeof options !== 'object' || options === null) {
    throw new TsambaTypeError(
      'E_LAUNCH_OPTION',
      `forAll takes its options as an object, got ${show(options)}: write forAll(n, { block: 256 })`,
    );
  }
  const { stream, sharedBytes, block } = readKeys('forAll', options, ['stream', 'sharedBytes', 'block']);
  if (block !== undefined) toCount('block', block);
  if (sharedBytes !== undefined) toCount('sharedBytes', sharedBytes, 0);
  if (threads === 0) return () => undefined;
  const launch = launcher.forAll(threads, { block, sharedBytes });
  return launchLater(launcher, stream, (context) => checkLaunch(launch, context, launcher.state.options));
}

/** A launch that waits for its arguments. Its shape is checked once for each device. */
function launchLater(
  launcher: Launcher,
  stream: unknown,
  check: (context: Context) => CheckedShape | undefined,
): Configured<readonly unknown[]> {
  let shape: CheckedShape | undefined;
  return (...args) => {
    const context = launcher.devices.currentContext();
    if (shape === undefined || shape.context !== context) {
      shape = check(context);
      if (shape === undefined) return;
      launcher.noteShape(shape);
    }
    launcher.run(shape, stream === undefined ? undefined : streamOption(stream, context), args, context);
  };
}
