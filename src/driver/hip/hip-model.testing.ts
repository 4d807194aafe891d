/**
 * A model of libamdhip64 for tests without an AMD GPU: the model of libcuda behind HIP's names, with what only HIP has.
 *
 * It answers for the library itself, so what declares and calls it runs as on hardware. Calls are recorded by HIP's names.
 */
import type { Address, AsyncNativeFunction, Ffi, NativeLibrary } from '../../ffi/ffi.ts';
import { CudaModel } from '../cuda-api/cuda-model.testing.ts';
import { ATTRIBUTE } from './info.ts';
import { CUDA_NAMES } from './library.ts';

/** Numbers of attributes, and what the modelled device says. */
const ATTRIBUTES = new Map<number, number>([
  [ATTRIBUTE.canMapHostMemory, 1],
  [ATTRIBUTE.maxThreadsPerBlock, 1024],
  [ATTRIBUTE.multiprocessors, 104],
  [ATTRIBUTE.pciBus, 0xc1],
  [ATTRIBUTE.maxSharedPerBlock, 65536],
  [ATTRIBUTE.warpSize, 64],
  [ATTRIBUTE.memoryPools, 1],
  ...[1024, 1024, 1024].map((n, k): [number, number] => [ATTRIBUTE.maxBlockDim[k] ?? 0, n]),
  ...[2 ** 31 - 1, 65535, 65535].map((n, k): [number, number] => [ATTRIBUTE.maxGridDim[k] ?? 0, n]),
]);

type Call = (...args: never[]) => unknown;

export interface HipModelOptions {
  /** Functions that the library does not have. */
  readonly without?: readonly string[];
  readonly devices?: number;
  /** What `hipInit` gives. */
  readonly init?: number;
}

export class HipModel implements NativeLibrary {
  readonly name = 'libamdhip64.model';
  readonly cuda: CudaModel = new CudaModel();
  /** Calls made, in order. */
  readonly calls: string[] = [];
  /** Results that calls give instead of success, by HIP's name, until they are taken out. */
  readonly results: Map<string, number> = new Map();
  /** Arguments of `hipMemcpy2DAsync`. */
  readonly blocks: number[][] = [];
  readonly #options: HipModelOptions;
  readonly #own: ReadonlyMap<string, Call>;

  constructor(options: HipModelOptions = {}) {
    this.#options = options;
    this.#own = new Map(Object.entries(this.#functions()));
  }

  get ffi(): Ffi {
    return this.cuda.ffi;
  }

  function(prototype: string): AsyncNativeFunction | undefined {
    const name = /(\w+)\(/.exec(prototype)?.[1] ?? '';
    if (this.#options.without?.includes(name)) return undefined;
    const cuda = CUDA_NAMES.get(name);
    const call =
      this.#own.get(name) ??
      (cuda === undefined ? undefined : (this.cuda.cuda as unknown as Record<string, Call>)[cuda]);
    const run = (...args: never[]): unknown => {
      this.calls.push(name);
      return this.results.get(name) ?? call?.(...args) ?? 0;
    };
    return Object.assign(run as (...args: unknown[]) => unknown, {
      later: (...args: unknown[]): Promise<unknown> => Promise.resolve(run(...(args as never[]))),
    });
  }

  #int(cell: Address, value: number): number {
    new Int32Array(this.ffi.view(cell, 4))[0] = value;
    return 0;
  }

  #functions(): Readonly<Record<string, Call>> {
    const { devices = 1, init = 0 } = this.#options;
    const text = (into: Uint8Array, words: string, at = 0): number => {
      into.set(Buffer.from(`${words}\0`), at);
      return 0;
    };
    return {
      hipInit: () => init,
      hipRuntimeGetVersion: (cell: Address) => this.#int(cell, 60443484),
      hipGetDeviceCount: (cell: Address) => this.#int(cell, devices) || (devices === 0 ? 100 : 0),
      hipDeviceGet: (cell: Address, index: number) => this.#int(cell, index),
      hipDeviceGetName: (into: Uint8Array) => text(into, 'AMD Instinct MI210'),
      hipDeviceGetUuid: (into: Uint8Array) => {
        into.set(Buffer.from('0123456789abcdef'));
        return 0;
      },
      hipDeviceTotalMem: (cell: Address) => {
        new BigUint64Array(this.ffi.view(cell, 8))[0] = 2n ** 36n;
        return 0;
      },
      hipDeviceGetAttribute: (cell: Address, which: number) => this.#int(cell, ATTRIBUTES.get(which) ?? 0),
      hipGetDevicePropertiesR0600: (into: Uint8Array) => text(into, 'gfx90a:sramecc+:xnack-', 1160),
      hipGetDeviceProperties: (into: Uint8Array) => text(into, 'gfx906', 396),
      hipGetErrorName: (result: number) => `hipError${result}`,
      hipGetErrorString: (result: number) => `what ${result} is`,
      hipHostGetFlags: () => 1,
      hipMemcpy2DAsync: (...args: number[]) => {
        this.blocks.push(args);
        return 0;
      },
      hipModuleLoadData: (cell: Address, image: Uint8Array) => this.cuda.cuda.cuModuleLoadDataEx(cell, image, 0, 0, 0),
      hipModuleOccupancyMaxPotentialBlockSize: (_blocks: Address, threads: Address) => this.#int(threads, 512),
    };
  }
}
