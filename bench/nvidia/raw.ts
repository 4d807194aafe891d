/**
 * The driver's own calls through koffi, with nothing of Tsamba's in between: what the benchmark measures it against.
 */
import { createRequire } from 'node:module';

type Call = (...args: unknown[]) => number;
type Handle = number | bigint;

interface Koffi {
  load(name: string): { func(prototype: string): Call };
  address(view: ArrayBufferView): bigint;
  view(address: Handle, bytes: number): ArrayBuffer;
}

const PROTOTYPES = {
  cuInit: 'int cuInit(unsigned int)',
  cuDevicePrimaryCtxRetain: 'int cuDevicePrimaryCtxRetain(_Out_ uint64_t *, int)',
  cuCtxSetCurrent: 'int cuCtxSetCurrent(uint64_t)',
  cuCtxSynchronize: 'int cuCtxSynchronize()',
  cuModuleLoadData: 'int cuModuleLoadData(_Out_ uint64_t *, const char *)',
  cuModuleGetFunction: 'int cuModuleGetFunction(_Out_ uint64_t *, uint64_t, const char *)',
  cuLaunchKernel:
    'int cuLaunchKernel(uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t, uint64_t)',
  cuMemAlloc: 'int cuMemAlloc_v2(_Out_ uint64_t *, size_t)',
  cuMemFree: 'int cuMemFree_v2(uint64_t)',
  cuMemAllocAsync: 'int cuMemAllocAsync(_Out_ uint64_t *, size_t, uint64_t)',
  cuMemFreeAsync: 'int cuMemFreeAsync(uint64_t, uint64_t)',
  cuDeviceGetDefaultMemPool: 'int cuDeviceGetDefaultMemPool(_Out_ uint64_t *, int)',
  cuMemPoolSetAttribute: 'int cuMemPoolSetAttribute(uint64_t, int, const uint64_t *)',
  cuMemHostAlloc: 'int cuMemHostAlloc(_Out_ uint64_t *, size_t, unsigned int)',
  cuMemFreeHost: 'int cuMemFreeHost(uint64_t)',
  cuMemcpyHtoD: 'int cuMemcpyHtoD_v2(uint64_t, const void *, size_t)',
  cuMemcpyDtoH: 'int cuMemcpyDtoH_v2(void *, uint64_t, size_t)',
} as const;

/** An empty kernel with three pointers and a float, of which nothing is read. */
const EMPTY = `.version 7.0
.target sm_50
.address_size 64
.visible .entry empty(.param .u64 a, .param .u64 b, .param .u64 c, .param .f32 k)
{
  ret;
}
`;

export class RawDriver {
  readonly #koffi: Koffi = createRequire(import.meta.url)('koffi') as Koffi;
  readonly #calls: Readonly<Record<keyof typeof PROTOTYPES, Call>>;
  /** What prepared launches point to. */
  readonly #kept: BigUint64Array[] = [];

  constructor() {
    const library = this.#koffi.load(process.platform === 'win32' ? 'nvcuda.dll' : 'libcuda.so.1');
    const calls = Object.entries(PROTOTYPES).map(([name, prototype]) => [name, library.func(prototype)]);
    this.#calls = Object.fromEntries(calls) as Record<keyof typeof PROTOTYPES, Call>;
    this.call('cuInit', 0);
    this.call('cuCtxSetCurrent', this.get('cuDevicePrimaryCtxRetain', 0));
  }

  /** Throws when the driver refuses. */
  call(name: keyof typeof PROTOTYPES, ...args: unknown[]): void {
    const code = this.#calls[name](...args);
    if (code !== 0) throw new Error(`${name} returned ${code}`);
  }

  /** A call whose first argument is where the result goes. */
  get(name: keyof typeof PROTOTYPES, ...args: unknown[]): Handle {
    const out: Handle[] = [0];
    this.call(name, out, ...args);
    return out[0];
  }

  /** Loads PTX; milliseconds it took. */
  load(ptx: string, entry: string): { readonly fn: Handle; readonly ms: number } {
    const began = performance.now();
    const fn = this.get('cuModuleGetFunction', this.get('cuModuleLoadData', ptx), entry);
    return { fn, ms: performance.now() - began };
  }

  /** A launch of an empty kernel with three pointers and a float, everything prepared. */
  preparedLaunch(): () => void {
    const { fn } = this.load(EMPTY, 'empty');
    const pointer = BigInt(this.get('cuMemAlloc', 4096));
    const values = BigUint64Array.of(pointer, pointer, pointer, 0n);
    const size = BigUint64Array.of(28n);
    const address = (view: BigUint64Array): bigint => {
      // The memory of small arrays moves until somebody has asked for their buffer.
      void view.buffer;
      this.#kept.push(view);
      return this.#koffi.address(view);
    };
    const extra = Number(address(BigUint64Array.of(1n, address(values), 2n, address(size), 0n)));
    const launch = this.#calls.cuLaunchKernel;
    return () => {
      if (launch(fn, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra) !== 0) throw new Error('cuLaunchKernel failed');
    };
  }

  /** Allocates from the default pool and frees, as prepared calls. The pool keeps what is freed. */
  preparedAllocation(bytes: number): () => void {
    this.call('cuMemPoolSetAttribute', this.get('cuDeviceGetDefaultMemPool', 0), 4, [2n ** 64n - 1n]);
    const { cuMemAllocAsync: allocate, cuMemFreeAsync: free } = this.#calls;
    const out: Handle[] = [0];
    return () => {
      if (allocate(out, bytes, 0) !== 0 || free(out[0], 0) !== 0) throw new Error('allocation failed');
    };
  }

  /** Pinned memory, for as long as the process lives. */
  pinned(bytes: number): Uint8Array {
    return new Uint8Array(this.#koffi.view(this.get('cuMemHostAlloc', bytes, 0), bytes));
  }
}
