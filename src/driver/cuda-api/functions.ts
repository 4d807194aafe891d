/**
 * The functions of the CUDA driver API that Tsamba calls, declared and typed. libcuda has them (nvidia/library.ts); HIP's library answers in
 * its place for AMD GPUs (hip/library.ts).
 *
 * Names of the entry points carry the version that the C headers choose (`cuMemAlloc_v2`); the names here do not. Every
 * function but the two that give texts returns a CUresult, 0 for success; `result.ts` turns others into errors. Device
 * pointers and handles are 64-bit integers, as numbers: no driver gives any above 2^53. Results are written to memory whose
 * address is passed, because that costs a tenth of what out-parameters of the FFI do: `Cells` is such memory.
 */
import type { Address, Ffi, NativeLibrary } from '../../ffi/ffi.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Memory of the host, in place: a view, or the address of memory that stays where it is. */
export type HostBytes = Uint8Array | Address | null;

/** A struct that is passed by value. */
export interface ByValue {
  readonly bytes: Uint8Array;
}

type Call<A extends readonly unknown[]> = (...args: A) => number;

/** `a` Address, `h` HostBytes, `n` a number, `v` IPC handle by value, `s` out-parameter that receives a text. */
interface ArgTypes {
  readonly a: Address;
  readonly h: HostBytes;
  readonly n: number;
  readonly v: ByValue;
  readonly s: [string | null];
}
type Args<S extends string> = S extends `${infer C}${infer Rest}`
  ? C extends keyof ArgTypes
    ? [ArgTypes[C], ...Args<Rest>]
    : never
  : [];

/**
 * Entry point and C parameters: `p` is a pointer or handle as an integer, `host` memory of the host, the rest is C. What is
 * missing in drivers that Tsamba still works with is in OPTIONAL.
 */
export const REQUIRED = {
  cuInit: ['cuInit', 'n', 'uint32_t'],
  cuDriverGetVersion: ['cuDriverGetVersion', 'a', 'p'],
  cuGetErrorName: ['cuGetErrorName', 'ns', 'int32_t, _Out_ const char **'],
  cuGetErrorString: ['cuGetErrorString', 'ns', 'int32_t, _Out_ const char **'],

  cuDeviceGetCount: ['cuDeviceGetCount', 'a', 'p'],
  cuDeviceGet: ['cuDeviceGet', 'an', 'p, int32_t'],
  cuDeviceGetName: ['cuDeviceGetName', 'hnn', 'host, int32_t, int32_t'],
  cuDeviceTotalMem: ['cuDeviceTotalMem_v2', 'an', 'p, int32_t'],
  cuDeviceGetAttribute: ['cuDeviceGetAttribute', 'ann', 'p, int32_t, int32_t'],
  cuDeviceCanAccessPeer: ['cuDeviceCanAccessPeer', 'ann', 'p, int32_t, int32_t'],

  cuDevicePrimaryCtxRetain: ['cuDevicePrimaryCtxRetain', 'an', 'p, int32_t'],
  cuDevicePrimaryCtxRelease: ['cuDevicePrimaryCtxRelease_v2', 'n', 'int32_t'],
  cuDevicePrimaryCtxReset: ['cuDevicePrimaryCtxReset_v2', 'n', 'int32_t'],
  cuDevicePrimaryCtxGetState: ['cuDevicePrimaryCtxGetState', 'naa', 'int32_t, p, p'],
  cuCtxCreate: ['cuCtxCreate_v2', 'ann', 'p, uint32_t, int32_t'],
  cuCtxDestroy: ['cuCtxDestroy_v2', 'a', 'p'],
  cuCtxSetCurrent: ['cuCtxSetCurrent', 'a', 'p'],
  cuCtxGetCurrent: ['cuCtxGetCurrent', 'a', 'p'],
  cuCtxSynchronize: ['cuCtxSynchronize', '', ''],
  cuCtxEnablePeerAccess: ['cuCtxEnablePeerAccess', 'an', 'p, uint32_t'],

  cuMemGetInfo: ['cuMemGetInfo_v2', 'aa', 'p, p'],
  cuMemAlloc: ['cuMemAlloc_v2', 'an', 'p, size_t'],
  cuMemFree: ['cuMemFree_v2', 'a', 'p'],
  cuMemAllocManaged: ['cuMemAllocManaged', 'ann', 'p, size_t, uint32_t'],
  cuMemHostAlloc: ['cuMemHostAlloc', 'ann', 'p, size_t, uint32_t'],
  cuMemFreeHost: ['cuMemFreeHost', 'a', 'p'],
  cuMemHostGetDevicePointer: ['cuMemHostGetDevicePointer_v2', 'aan', 'p, p, uint32_t'],
  cuMemHostRegister: ['cuMemHostRegister_v2', 'hnn', 'host, size_t, uint32_t'],
  cuMemHostUnregister: ['cuMemHostUnregister', 'h', 'host'],
  cuPointerGetAttribute: ['cuPointerGetAttribute', 'ana', 'p, int32_t, p'],
  cuIpcGetMemHandle: ['cuIpcGetMemHandle', 'ha', 'host, p'],
  cuIpcOpenMemHandle: ['cuIpcOpenMemHandle_v2', 'avn', 'p, TsambaIpcMemHandle, uint32_t'],
  cuIpcCloseMemHandle: ['cuIpcCloseMemHandle', 'a', 'p'],

  cuMemcpyHtoD: ['cuMemcpyHtoD_v2', 'ahn', 'p, host, size_t'],
  cuMemcpyDtoH: ['cuMemcpyDtoH_v2', 'han', 'host, p, size_t'],
  cuMemcpyDtoD: ['cuMemcpyDtoD_v2', 'aan', 'p, p, size_t'],
  cuMemcpyHtoDAsync: ['cuMemcpyHtoDAsync_v2', 'ahna', 'p, host, size_t, p'],
  cuMemcpyDtoHAsync: ['cuMemcpyDtoHAsync_v2', 'hana', 'host, p, size_t, p'],
  cuMemcpyDtoDAsync: ['cuMemcpyDtoDAsync_v2', 'aana', 'p, p, size_t, p'],
  cuMemcpyPeer: ['cuMemcpyPeer', 'aaaan', 'p, p, p, p, size_t'],
  cuMemcpyPeerAsync: ['cuMemcpyPeerAsync', 'aaaana', 'p, p, p, p, size_t, p'],
  /** Of CUDA_MEMCPY2D and CUDA_MEMCPY3D structs. */
  cuMemcpy2DUnaligned: ['cuMemcpy2DUnaligned_v2', 'h', 'host'],
  cuMemcpy2DAsync: ['cuMemcpy2DAsync_v2', 'ha', 'host, p'],
  cuMemcpy3D: ['cuMemcpy3D_v2', 'h', 'host'],
  cuMemcpy3DAsync: ['cuMemcpy3DAsync_v2', 'ha', 'host, p'],
  /** Counts are elements. */
  cuMemsetD8Async: ['cuMemsetD8Async', 'anna', 'p, uint8_t, size_t, p'],
  cuMemsetD16Async: ['cuMemsetD16Async', 'anna', 'p, uint16_t, size_t, p'],
  cuMemsetD32Async: ['cuMemsetD32Async', 'anna', 'p, uint32_t, size_t, p'],
  /** Address, pitch in bytes, value, width in elements, height. */
  cuMemsetD2D8Async: ['cuMemsetD2D8Async', 'annnna', 'p, size_t, uint8_t, size_t, size_t, p'],
  cuMemsetD2D16Async: ['cuMemsetD2D16Async', 'annnna', 'p, size_t, uint16_t, size_t, size_t, p'],
  cuMemsetD2D32Async: ['cuMemsetD2D32Async', 'annnna', 'p, size_t, uint32_t, size_t, size_t, p'],

  cuStreamCreate: ['cuStreamCreate', 'an', 'p, uint32_t'],
  cuStreamDestroy: ['cuStreamDestroy_v2', 'a', 'p'],
  cuStreamSynchronize: ['cuStreamSynchronize', 'a', 'p'],
  cuStreamQuery: ['cuStreamQuery', 'a', 'p'],
  cuStreamWaitEvent: ['cuStreamWaitEvent', 'aan', 'p, p, uint32_t'],
  cuStreamAttachMemAsync: ['cuStreamAttachMemAsync', 'aann', 'p, p, size_t, uint32_t'],
  cuEventCreate: ['cuEventCreate', 'an', 'p, uint32_t'],
  cuEventDestroy: ['cuEventDestroy_v2', 'a', 'p'],
  cuEventRecord: ['cuEventRecord', 'aa', 'p, p'],
  cuEventQuery: ['cuEventQuery', 'a', 'p'],
  cuEventSynchronize: ['cuEventSynchronize', 'a', 'p'],
  cuEventElapsedTime: ['cuEventElapsedTime', 'aaa', 'p, p, p'],

  /** Options are arrays of int32 and of 64-bit values. */
  cuModuleLoadDataEx: ['cuModuleLoadDataEx', 'ahnaa', 'p, host, uint32_t, p, p'],
  cuModuleUnload: ['cuModuleUnload', 'a', 'p'],
  cuModuleGetFunction: ['cuModuleGetFunction', 'aah', 'p, p, host'],
  cuModuleGetGlobal: ['cuModuleGetGlobal_v2', 'aaah', 'p, p, p, host'],
  cuFuncGetAttribute: ['cuFuncGetAttribute', 'ana', 'p, int32_t, p'],
  cuFuncSetAttribute: ['cuFuncSetAttribute', 'ann', 'p, int32_t, int32_t'],
  /** Results, function, callback (0), dynamic shared bytes, limit. */
  cuOccupancyMaxPotentialBlockSize: ['cuOccupancyMaxPotentialBlockSize', 'aaaann', 'p, p, p, p, size_t, int32_t'],
  cuOccupancyMaxActiveBlocksPerMultiprocessor: [
    'cuOccupancyMaxActiveBlocksPerMultiprocessor',
    'aann',
    'p, p, int32_t, size_t',
  ],
  /** Function, grid, block, dynamic shared bytes, stream, kernelParams, extra. */
  cuLaunchKernel: [
    'cuLaunchKernel',
    'annnnnnnaaa',
    'p, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, p, p, p',
  ],
} as const;

/** What is undefined in drivers that lack it. */
export const OPTIONAL = {
  cuDeviceGetUuid: ['cuDeviceGetUuid', 'hn', 'host, int32_t'],
  // 11.2: stream-ordered allocation
  cuDeviceGetDefaultMemPool: ['cuDeviceGetDefaultMemPool', 'an', 'p, int32_t'],
  cuMemPoolSetAttribute: ['cuMemPoolSetAttribute', 'ana', 'p, int32_t, p'],
  cuMemPoolGetAttribute: ['cuMemPoolGetAttribute', 'ana', 'p, int32_t, p'],
  cuMemPoolTrimTo: ['cuMemPoolTrimTo', 'an', 'p, size_t'],
  cuMemPoolSetAccess: ['cuMemPoolSetAccess', 'aan', 'p, p, size_t'],
  cuMemAllocAsync: ['cuMemAllocAsync', 'ana', 'p, size_t, p'],
  cuMemFreeAsync: ['cuMemFreeAsync', 'aa', 'p, p'],
  /** Cell, flags, priority: the lower the sooner; cells for the least and the greatest. */
  cuStreamCreateWithPriority: ['cuStreamCreateWithPriority', 'ann', 'p, uint32_t, int32_t'],
  cuCtxGetStreamPriorityRange: ['cuCtxGetStreamPriorityRange', 'aa', 'p, p'],
  // Graphs. Mode; the CUgraph; the CUgraphExec, CUgraph, flags (11.4); exec, stream; exec, graph, cells for what is wrong.
  cuStreamBeginCapture: ['cuStreamBeginCapture_v2', 'an', 'p, int32_t'],
  cuStreamEndCapture: ['cuStreamEndCapture', 'aa', 'p, p'],
  cuGraphInstantiate: ['cuGraphInstantiateWithFlags', 'aan', 'p, p, uint64_t'],
  cuGraphLaunch: ['cuGraphLaunch', 'aa', 'p, p'],
  cuGraphExecUpdate: ['cuGraphExecUpdate', 'aaaa', 'p, p, p, p'],
  cuGraphDestroy: ['cuGraphDestroy', 'a', 'p'],
  cuGraphExecDestroy: ['cuGraphExecDestroy', 'a', 'p'],
  // 9.0: function, grid, block, dynamic shared bytes, stream, kernelParams
  cuLaunchCooperativeKernel: [
    'cuLaunchCooperativeKernel',
    'annnnnnnaa',
    'p, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, p, p',
  ],
  /** Options are arrays of int32 and of 64-bit values; the state. */
  cuLinkCreate: ['cuLinkCreate_v2', 'naaa', 'uint32_t, p, p, p'],
  /** State, CUjitInputType, data, size, name, options as above. */
  cuLinkAddData: ['cuLinkAddData_v2', 'anhnhnaa', 'p, int32_t, host, size_t, host, uint32_t, p, p'],
  cuLinkComplete: ['cuLinkComplete', 'aaa', 'p, p, p'],
  cuLinkDestroy: ['cuLinkDestroy', 'a', 'p'],
  cuProfilerStart: ['cuProfilerStart', '', ''],
  cuProfilerStop: ['cuProfilerStop', '', ''],
} as const;

/** Entry point, kinds of arguments and C parameters of functions, by name. */
export type Table = Readonly<Record<string, readonly [entry: string, args: string, prototype: string]>>;
type Functions<T extends Table> = { readonly [K in keyof T]: Call<Args<T[K][1]>> };

/** The functions, whichever library answers. Those after the required ones may be undefined. */
export interface Cuda extends Functions<typeof REQUIRED>, Partial<Functions<typeof OPTIONAL>> {
  readonly ffi: Ffi;
  /** For functions that are not declared here. */
  readonly library: NativeLibrary;
  /** Functions that may be called off-thread, by name. */
  later(name: keyof typeof REQUIRED, ...args: unknown[]): Promise<number>;
  /** As `cuDriverGetVersion` gives it: 13000 for CUDA 13.0. */
  readonly version: number;
  readonly vocabulary: Vocabulary;
}

export const IPC_HANDLE_BYTES = 64;

/** `int32_t cuMemFree_v2(uint64_t a0)`. */
export function prototypeOf(entry: string, parameters: string): string {
  const list = parameters === '' ? [] : parameters.split(', ');
  const types: Readonly<Record<string, string>> = { p: 'uint64_t', host: 'void *' };
  return `int32_t ${entry}(${list.map((type, i) => `${types[type] ?? type} a${i}`).join(', ')})`;
}
