/**
 * `roc.jit`: kernels that run on `roc`'s device. They are the kernels of `cuda.jit`, but for `forAll`, which runs exactly as many work
 * items as it is asked for, and for registered host arrays, which are used in place where the device can.
 */
import { declareHostOnly } from '../compiler/intrinsics.ts';
import { TsambaTypeError } from '../errors.ts';
import type { AsyncLaunchOptions } from '../kernel/async-launch.ts';
import { toCount } from '../kernel/dims.ts';
import { jit as sharedJit } from '../kernel/jit.ts';
import type { Configured, ForAllOptions, Kernel } from '../kernel/kernel-types.ts';
import type { LaunchOptions } from '../kernel/launch-shape.ts';
import type { JitOptions } from '../kernel/options.ts';
import { ownValue, readOptions } from '../options.ts';
import { currentContext, within } from './device.ts';
import { declareRocFunctions } from './host-only.ts';
import { inPlace } from './registration.ts';

/** Marks kernels, those of `cuda.jit` among them. */
const KERNEL: unique symbol = Symbol.for('tsamba.kernel') as never;

/** Work items of a group in `forAll`, at most: what AMD's hardware has room for with any kernel. */
const GROUP = 256;

type AnyKernel = Kernel<readonly unknown[]>;

/**
 * Makes a kernel of a factory, `({ gain }) => (y) => {…}`: called with `captures`, it gives the function. For where closures
 * cannot be read (Bun, browsers).
 */
export function jit<C extends object, P extends readonly unknown[]>(
  factory: (captures: C) => (...args: P) => void,
  options: JitOptions & { readonly captures: C },
): Kernel<P>;
/**
 * Makes a kernel of a function, for the device of `roc`. Nothing is compiled until the first launch, unless there is a `signature`.
 * Throws TypeError for bad options; compiling throws KernelError. Numba: `roc.jit`.
 */
export function jit<P extends readonly unknown[]>(fn: (...args: P) => void, options?: JitOptions): Kernel<P>;
export function jit(fn: unknown, options: unknown = {}): AnyKernel {
  const kernel = within(() => sharedJit(fn as () => void, options as JitOptions)) as AnyKernel;
  declareRocFunctions(jit);
  return wrap(kernel, fn as object, ownValue(options as object, 'launchBounds') as number | undefined);
}

function wrap(kernel: AnyKernel, fn: object, launchBounds: number | undefined): AnyKernel {
  const run = kernel as unknown as () => never;
  const outer = (): never => run();
  const members = {
    launch: (options: LaunchOptions, ...args: readonly unknown[]): void => {
      const context = currentContext();
      const placed = inPlace(args, context);
      within(() => kernel.launch(options, ...placed), context);
      if (placed !== args && !ownValue(options, 'stream')) context.synchronize();
    },
    launchAsync: async (options: AsyncLaunchOptions, ...args: readonly unknown[]): Promise<void> => {
      const context = currentContext();
      const placed = inPlace(args, context);
      await within(() => kernel.launchAsync(options, ...placed), context);
    },
    configure: (...shape: Parameters<AnyKernel['configure']>): Configured<readonly unknown[]> =>
      placing(kernel.configure(...shape), shape[2]),
    forAll: (threads: number, options: ForAllOptions = {}): Configured<readonly unknown[]> =>
      forAll(kernel, threads, options, launchBounds),
    compile: (...args: readonly unknown[]): void => within(() => kernel.compile(...args)),
    compileAsync: (...args: readonly unknown[]): Promise<void> => within(() => kernel.compileAsync(...args)),
    recompile: (): void => within(() => kernel.recompile()),
    inspect: (options?: Parameters<AnyKernel['inspect']>[0]): string => kernel.inspect(options),
    attributes: (): ReturnType<AnyKernel['attributes']> => kernel.attributes(),
  };
  Object.defineProperties(outer, Object.getOwnPropertyDescriptors(members));
  const help =
    'a kernel cannot run another one: call the plain function that jit was given, or launch both from the host';
  for (const one of [outer, ...Object.values(members)]) declareHostOnly(one, { what: 'a kernel', help });
  const description = (): string => kernel.toString();
  Object.defineProperties(outer, {
    name: { get: () => kernel.name },
    stats: { get: () => kernel.stats, enumerable: true },
    [KERNEL]: { value: fn },
    toString: { value: description },
    [Symbol.for('nodejs.util.inspect.custom')]: { value: description },
  });
  return Object.freeze(outer) as unknown as AnyKernel;
}

/** A launch with registered arrays in place; done on return unless there is a stream. */
function placing(launch: Configured<readonly unknown[]>, stream: unknown): Configured<readonly unknown[]> {
  return (...args) => {
    const context = currentContext();
    const placed = inPlace(args, context);
    within(() => launch(...placed), context);
    if (placed !== args && !stream) context.synchronize();
  };
}

/** Numba's `kernel.forall(n, local_size=64, stream)`: the global size is `n`, in groups of equal size. */
function forAll(
  kernel: AnyKernel,
  given: unknown,
  options: ForAllOptions,
  launchBounds: number | undefined,
): Configured<readonly unknown[]> {
  const items = toCount('forAll(n): n', given, 0);
  if (typeof options !== 'object' || options === null) {
    throw new TsambaTypeError(
      'E_LAUNCH_OPTION',
      'forAll takes its options as an object: write forAll(n, { block: 64 })',
    );
  }
  const { stream, sharedBytes, block } = readOptions('forAll', options, ['stream', 'sharedBytes', 'block']);
  const most = Math.min(
    block === undefined ? GROUP : toCount('block', block),
    launchBounds ?? Number.POSITIVE_INFINITY,
  );
  if (items === 0) return () => undefined;
  const size = greatestDivisor(items, most);
  return placing(kernel.configure(items / size, size, stream, sharedBytes), stream);
}

/** The greatest divisor of `n` that is at most `most`: groups of that size leave no work item over. */
function greatestDivisor(n: number, most: number): number {
  let size = Math.min(n, most);
  while (n % size !== 0) size--;
  return size;
}
