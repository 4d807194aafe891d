/**
 * Where a primitive runs: on the device of the arrays that it is given, else on the current one of `cuda`.
 */
import { DeviceNDArray } from '../array/device-array.ts';
import { MappedNDArray } from '../array/host-array.ts';
import { TsambaTypeError } from '../errors.ts';
import { type Jit, jitOf } from '../kernel/jit.ts';
import { Launcher } from '../kernel/launcher.ts';
import type { Context } from '../memory/context.ts';
import { DeviceSelection } from '../memory/device-selection.ts';
import { cudaDevices } from '../memory/devices.ts';
import { type StreamLike, Workplace } from '../ufunc/operands.ts';
import { Lazy } from './lazy.ts';
import { remember } from './memo.ts';

/** One device, whatever is the current one. */
class OneDevice extends DeviceSelection {
  readonly #context: Context;

  constructor(context: Context) {
    const nothing = (): never => {
      throw new Error('one device has nothing to choose');
    };
    const { namespace } = context;
    super({ namespace, variable: '', readsWait: false, choose: nothing, numbered: nothing, numbers: '' });
    this.#context = context;
  }

  override currentContext(): Context {
    return this.#context;
  }
}

/** The grids of the library's own kernels are its own affair: nobody is warned of small ones. */
class QuietLauncher extends Launcher {
  override noteShape(): void {}
}

/** `jit` for kernels that run on the device of a context. */
export function jitOn(context: Context): Jit {
  return remember(['jit', context], () => {
    const devices = new OneDevice(context);
    return jitOf(devices, (state) => new QuietLauncher(state, devices));
  });
}

/**
 * The place of one call. `given`: its arguments, among them arrays and lazy inputs. `name` is what users call it, for messages.
 * @throws TypeError for arrays of different devices.
 */
export function placeOf(name: string, given: readonly unknown[], stream: StreamLike): Workplace {
  const contexts = given.flatMap(contextsIn);
  const [first = cudaDevices.currentContext()] = contexts;
  const other = contexts.find((context) => context !== first && !context.isWith(first));
  if (other !== undefined) {
    throw new TsambaTypeError(
      'E_PARALLEL',
      `${name}: the arrays are on different devices, ${first.place} and ${other.place}: copy one to the device of the other`,
    );
  }
  return new Workplace(name, first, stream);
}

/** The contexts of the device arrays in an argument. */
function contextsIn(value: unknown): readonly Context[] {
  if (value instanceof DeviceNDArray) return [value.context];
  if (value instanceof MappedNDArray) return [value.device.context];
  if (value instanceof Lazy) return value.sources.flatMap(contextsIn);
  return [];
}

/** Whether blocks of a launch run one after another, or some at a time on the threads of a processor, not all over a GPU. */
export function onHost({ info }: Context): boolean {
  return info.kind === 'cpu' || info.kind === 'simulator';
}
