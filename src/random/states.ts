/**
 * Making generators: `createXoroshiro128pStates`, `initXoroshiro128pStates`. The states are filled on the device, by one kernel.
 */

import { DeviceNDArray } from '../array/device-array.ts';
import { newArray, toDeviceOf } from '../array/device-create.ts';
import { hostFunction, intrinsic } from '../compiler/intrinsics.ts';
import { type StructDType, sameDType, struct, u64 } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { jitOf } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import { type ScalarArgument, scalar } from '../kernel/scalar.ts';
import type { Vec } from '../kernel/types.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';
import { jumpMatrices } from './jump.ts';
import type { XoroshiroState, XoroshiroStates } from './xoroshiro128p.ts';

/** Options of `createXoroshiro128pStates` and `initXoroshiro128pStates`. */
export interface StatesOptions {
  /** Generator i gets subsequence `subsequenceStart` + i of the seed's, each of 2⁶⁴ numbers. Default 0. */
  readonly subsequenceStart?: number | bigint | undefined;
  /** The stream that fills the states; it becomes a new array's own. */
  readonly stream?: Stream | 0 | null | undefined;
}

type States = DeviceNDArray<XoroshiroState>;
type Seed = number | bigint;

/** The host's part of `cuda.random`. */
export interface MakeStates {
  /**
   * `n` generators on the device, one for each thread; the same on every device, and in Numba. Numba: `create_xoroshiro128p_states(n, seed,
   * subsequence_start, stream)`.
   * @throws TypeError for a seed that is not an integer, RangeError for a negative `n`, OutOfMemoryError.
   */
  create(n: number, seed: Seed, options?: StatesOptions): States;
  /**
   * Makes the generators of an array anew. Numba: `init_xoroshiro128p_states(states, seed, subsequence_start, stream)`.
   * @throws TypeError for an array that holds no states, or a seed that is not an integer.
   */
  init(states: States, seed: Seed, options?: StatesOptions): void;
  /** As `create`, for devices that only answer through promises. */
  createAsync(n: number, seed: Seed, options?: StatesOptions): Promise<States>;
}

/** The dtype of a generator's state. */
function stateType(): StructDType<XoroshiroState> {
  return struct({ s0: u64, s1: u64 }, { align: true });
}

type Fill = Kernel<[states: XoroshiroStates, jumps: Vec<u64>, seed: u64, start: u64]>;

/** splitmix64 makes generator 0 of the seed, and jumps make all others of that one. */
function fillOf(devices: DeviceSelection): Fill {
  const captures = { grid: intrinsic<(ndim: 1) => number>('grid'), u64 };
  return jitOf(devices)(
    ({ grid, u64 }: typeof captures) =>
      (states: XoroshiroStates, jumps: Vec<u64>, seed: u64, start: u64) => {
        const i = grid(1);
        if (i >= states.length) return;
        let z = seed + 0x9e3779b97f4a7c15n;
        z = (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n;
        z = (z ^ (z >> 27n)) * 0x94d049bb133111ebn;
        z ^= z >> 31n;
        let [s0, s1] = [z, z];
        let column = 0;
        for (let left = start + u64(i); left !== 0n; left >>= 1n) {
          if ((left & 1n) !== 0n) {
            let [to0, to1] = [u64(0), u64(0)];
            for (let bit = 0; bit < 64; bit++) {
              const at = column + 2 * bit;
              if (((s0 >> u64(bit)) & 1n) !== 0n) {
                to0 ^= jumps[at] as bigint;
                to1 ^= jumps[at + 1] as bigint;
              }
              if (((s1 >> u64(bit)) & 1n) !== 0n) {
                to0 ^= jumps[at + 128] as bigint;
                to1 ^= jumps[at + 129] as bigint;
              }
            }
            [s0, s1] = [to0, to1];
          }
          column += 256;
        }
        states[i] = { s0, s1 };
      },
    { captures },
  );
}

/** A launch of the kernel, ready to be made. */
interface Filling {
  readonly fill: Fill;
  readonly states: States;
  readonly jumps: DeviceNDArray<u64>;
  readonly seed: ScalarArgument<u64>;
  readonly start: ScalarArgument<u64>;
  readonly stream: StatesOptions['stream'];
}

/** The functions of a namespace. */
export function makeStatesOf(devices: DeviceSelection): MakeStates {
  let kernel: Fill | undefined;
  const toDevice = toDeviceOf(devices);

  function prepare(what: string, states: States, seed: Seed, given: StatesOptions | undefined): Filling {
    const { subsequenceStart = 0, stream } = readOptions(what, given, ['subsequenceStart', 'stream']);
    const start = word(what, 'subsequenceStart', subsequenceStart);
    const last = start + BigInt(Math.max(states.size - 1, 0));
    if (last >= 2n ** 64n) {
      throw new TsambaRangeError(
        'E_SEED',
        `${what}: there are 2^64 subsequences, and the last would be number ${last}`,
      );
    }
    const words = { seed: scalar(u64, word(what, 'the seed', seed)), start: scalar(u64, start) };
    const jumps = toDevice(jumpMatrices(last.toString(2).length), { stream }) as DeviceNDArray<u64>;
    kernel ??= fillOf(devices);
    return { fill: kernel, states, jumps, stream, ...words };
  }

  function launch({ fill, states, jumps, seed, start, stream }: Filling): void {
    if (states.size > 0) fill.launch({ threads: states.size, stream }, states, jumps, seed, start);
    disposeUnseen([jumps]);
  }

  function begin(n: number, seed: Seed, options: StatesOptions | undefined): Filling {
    const states = newArray(devices.currentContext(), n, stateType(), { stream: options?.stream });
    try {
      return prepare('createXoroshiro128pStates', states as unknown as States, seed, options);
    } catch (error) {
      states.dispose();
      throw error;
    }
  }

  const create = (n: number, seed: Seed, options?: StatesOptions): States => {
    const filling = begin(n, seed, options);
    launch(filling);
    return filling.states;
  };
  const createAsync = async (n: number, seed: Seed, options?: StatesOptions): Promise<States> => {
    const filling = begin(n, seed, options);
    const { states } = filling;
    await filling.fill.compileAsync(states, filling.jumps, filling.seed, filling.start);
    launch(filling);
    return states;
  };
  const init = (states: States, seed: Seed, options?: StatesOptions): void => {
    checkStates(states);
    launch(prepare('initXoroshiro128pStates', states, seed, options));
  };
  return Object.freeze({
    create: hostFunction(devices, 'random.createXoroshiro128pStates', create),
    createAsync: hostFunction(devices, 'random.createXoroshiro128pStatesAsync', createAsync),
    init: hostFunction(devices, 'random.initXoroshiro128pStates', init),
  });
}

/** An integer of 64 bits, as Numba wraps it. */
function word(what: string, name: string, value: Seed): bigint {
  const given: unknown = value;
  if (typeof given === 'bigint') return BigInt.asUintN(64, given);
  if (Number.isSafeInteger(given)) return BigInt.asUintN(64, BigInt(given as number));
  throw new TsambaTypeError('E_SEED', `${what}: ${name} is ${show(given)}, not an integer of up to 64 bits`);
}

function checkStates(states: unknown): void {
  if (states instanceof DeviceNDArray && states.ndim === 1 && sameDType(states.dtype, stateType())) return;
  throw new TsambaTypeError(
    'E_DTYPE',
    `initXoroshiro128pStates takes a device array of one dimension that createXoroshiro128pStates made, got ${show(states)}`,
  );
}
