/**
 * How kernels of `roc` are launched: `forAll` runs exactly as many work items as it is asked for, and registered host arrays are used in
 * place where the device can.
 */
import type { AsyncLaunchOptions } from '../kernel/async-launch.ts';
import type { CheckedShape, LaunchOptions } from '../kernel/launch-shape.ts';
import { Launcher } from '../kernel/launcher.ts';
import type { Specialisation } from '../kernel/specialisation.ts';
import type { Context } from '../memory/context.ts';
import type { Stream } from '../stream/stream.ts';
import { inPlace } from './registration.ts';

/** Work items of a group in `forAll`, at most: what AMD's hardware has room for with any kernel. */
const GROUP = 256;

/** Launches one kernel of `roc`. */
export class RocLauncher extends Launcher {
  /** Numba's `kernel.forall(n, local_size=64, stream)`: the global size is `n`, in groups of equal size. */
  override forAll(items: number, { block, sharedBytes }: { block?: unknown; sharedBytes?: unknown }): LaunchOptions {
    const { launchBounds = Number.POSITIVE_INFINITY } = this.state.options;
    const size = greatestDivisor(items, Math.min((block as number | undefined) ?? GROUP, launchBounds));
    return { grid: items / size, block: size, sharedBytes } as LaunchOptions;
  }

  override run(
    shape: CheckedShape,
    stream: Stream | undefined,
    args: readonly unknown[],
    context: Context,
  ): Specialisation {
    const placed = inPlace(args, context);
    const specialisation = super.run(shape, stream, placed, context);
    // Host arrays have what the kernel wrote when a launch without a stream returns.
    if (placed !== args && stream === undefined) context.synchronize();
    return specialisation;
  }

  override launchAsync(options: AsyncLaunchOptions, args: readonly unknown[]): Promise<void> {
    return super.launchAsync(options, inPlace(args, this.devices.currentContext()));
  }
}

/** The greatest divisor of `n` that is at most `most`: groups of that size leave no work item over. */
function greatestDivisor(n: number, most: number): number {
  let size = Math.min(n, most);
  while (n % size !== 0) size--;
  return size;
}
