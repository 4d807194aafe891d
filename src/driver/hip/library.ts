/**
 * AMD's HIP library as the CUDA driver's functions: `libamdhip64.so` of ROCm 5 to 7.
 *
 * HIP has a function for nearly each of the CUDA driver API, with the same parameters and numbers. So what manages contexts, memory,
 * streams and copies of NVIDIA devices serves HIP's as well; where the two differ is said here, function by function. HIP has no
 * contexts, only a current device of each thread: what stands for a context's handle is the device's number plus 1.
 * Importing this file loads nothing. HIP runtime API reference; loading is as late as in nvidia/library.ts.
 */
import { type Environment, variable } from '../../environment.ts';
import type { Address, AsyncNativeFunction, Ffi, NativeLibrary } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import { nodeModule, platformName } from '../../host/index.ts';
import { type Cuda, IPC_HANDLE_BYTES, prototypeOf } from '../cuda-api/functions.ts';
import type { Vocabulary } from '../cuda-api/vocabulary.ts';
import { hipMeaning } from './result.ts';

/** Functions that are the same but for their name. `p`: a pointer or handle, `host`: memory of the host, the rest is C. */
const SAME: Readonly<Record<string, readonly [entry: string, parameters: string]>> = {
  cuInit: ['hipInit', 'uint32_t'],
  cuDriverGetVersion: ['hipRuntimeGetVersion', 'p'],
  cuDeviceGetCount: ['hipGetDeviceCount', 'p'],
  cuDeviceGet: ['hipDeviceGet', 'p, int32_t'],
  cuDeviceGetName: ['hipDeviceGetName', 'host, int32_t, int32_t'],
  cuDeviceTotalMem: ['hipDeviceTotalMem', 'p, int32_t'],
  cuDeviceGetAttribute: ['hipDeviceGetAttribute', 'p, int32_t, int32_t'],
  cuDeviceCanAccessPeer: ['hipDeviceCanAccessPeer', 'p, int32_t, int32_t'],
  cuCtxSynchronize: ['hipDeviceSynchronize', ''],

  cuMemGetInfo: ['hipMemGetInfo', 'p, p'],
  cuMemAlloc: ['hipMalloc', 'p, size_t'],
  cuMemFree: ['hipFree', 'p'],
  cuMemAllocManaged: ['hipMallocManaged', 'p, size_t, uint32_t'],
  cuMemHostAlloc: ['hipHostMalloc', 'p, size_t, uint32_t'],
  cuMemFreeHost: ['hipHostFree', 'p'],
  cuMemHostGetDevicePointer: ['hipHostGetDevicePointer', 'p, p, uint32_t'],
  cuMemHostRegister: ['hipHostRegister', 'host, size_t, uint32_t'],
  cuMemHostUnregister: ['hipHostUnregister', 'host'],
  cuIpcGetMemHandle: ['hipIpcGetMemHandle', 'host, p'],
  cuIpcOpenMemHandle: ['hipIpcOpenMemHandle', 'p, TsambaIpcMemHandle, uint32_t'],
  cuIpcCloseMemHandle: ['hipIpcCloseMemHandle', 'p'],

  cuMemcpyHtoD: ['hipMemcpyHtoD', 'p, host, size_t'],
  cuMemcpyDtoH: ['hipMemcpyDtoH', 'host, p, size_t'],
  cuMemcpyHtoDAsync: ['hipMemcpyHtoDAsync', 'p, host, size_t, p'],
  cuMemcpyDtoHAsync: ['hipMemcpyDtoHAsync', 'host, p, size_t, p'],
  cuMemcpyDtoDAsync: ['hipMemcpyDtoDAsync', 'p, p, size_t, p'],
  cuMemsetD8Async: ['hipMemsetD8Async', 'p, uint8_t, size_t, p'],
  cuMemsetD16Async: ['hipMemsetD16Async', 'p, uint16_t, size_t, p'],
  cuMemsetD32Async: ['hipMemsetD32Async', 'p, uint32_t, size_t, p'],

  cuStreamCreate: ['hipStreamCreateWithFlags', 'p, uint32_t'],
  cuStreamDestroy: ['hipStreamDestroy', 'p'],
  cuStreamSynchronize: ['hipStreamSynchronize', 'p'],
  cuStreamQuery: ['hipStreamQuery', 'p'],
  cuStreamWaitEvent: ['hipStreamWaitEvent', 'p, p, uint32_t'],
  cuStreamAttachMemAsync: ['hipStreamAttachMemAsync', 'p, p, size_t, uint32_t'],
  cuEventCreate: ['hipEventCreateWithFlags', 'p, uint32_t'],
  cuEventDestroy: ['hipEventDestroy', 'p'],
  cuEventRecord: ['hipEventRecord', 'p, p'],
  cuEventQuery: ['hipEventQuery', 'p'],
  cuEventSynchronize: ['hipEventSynchronize', 'p'],
  cuEventElapsedTime: ['hipEventElapsedTime', 'p, p, p'],

  cuModuleUnload: ['hipModuleUnload', 'p'],
  cuModuleGetFunction: ['hipModuleGetFunction', 'p, p, host'],
  cuModuleGetGlobal: ['hipModuleGetGlobal', 'p, p, p, host'],
  cuFuncGetAttribute: ['hipFuncGetAttribute', 'p, int32_t, p'],
  cuOccupancyMaxActiveBlocksPerMultiprocessor: [
    'hipModuleOccupancyMaxActiveBlocksPerMultiprocessor',
    'p, p, int32_t, size_t',
  ],
  cuLaunchKernel: [
    'hipModuleLaunchKernel',
    'p, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, p, p, p',
  ],
};

/** Since ROCm 5.1 and 5.2: undefined before. */
const SAME_OPTIONAL: typeof SAME = {
  cuDeviceGetUuid: ['hipDeviceGetUuid', 'host, int32_t'],
  cuDeviceGetDefaultMemPool: ['hipDeviceGetDefaultMemPool', 'p, int32_t'],
  cuMemPoolSetAttribute: ['hipMemPoolSetAttribute', 'p, int32_t, p'],
  cuMemPoolGetAttribute: ['hipMemPoolGetAttribute', 'p, int32_t, p'],
  cuMemPoolTrimTo: ['hipMemPoolTrimTo', 'p, size_t'],
  cuMemPoolSetAccess: ['hipMemPoolSetAccess', 'p, p, size_t'],
  cuMemAllocAsync: ['hipMallocAsync', 'p, size_t, p'],
  cuMemFreeAsync: ['hipFreeAsync', 'p, p'],
  cuStreamCreateWithPriority: ['hipStreamCreateWithPriority', 'p, uint32_t, int32_t'],
  cuCtxGetStreamPriorityRange: ['hipDeviceGetStreamPriorityRange', 'p, p'],
  cuStreamBeginCapture: ['hipStreamBeginCapture', 'p, int32_t'],
  cuStreamEndCapture: ['hipStreamEndCapture', 'p, p'],
  cuGraphInstantiate: ['hipGraphInstantiateWithFlags', 'p, p, uint64_t'],
  cuGraphLaunch: ['hipGraphLaunch', 'p, p'],
  cuGraphExecUpdate: ['hipGraphExecUpdate', 'p, p, p, p'],
  cuGraphDestroy: ['hipGraphDestroy', 'p'],
  cuGraphExecDestroy: ['hipGraphExecDestroy', 'p'],
};

/** Functions that stand for others, as said in `others`. */
const OTHER = {
  hipSetDevice: 'int32_t',
  hipDeviceEnablePeerAccess: 'int32_t, uint32_t',
  hipHostGetFlags: 'p, p',
  hipMemcpyPeerAsync: 'p, int32_t, p, int32_t, size_t, p',
  /** Target, pitch, source, pitch, width, height, kind, stream. */
  hipMemcpy2DAsync: 'p, size_t, p, size_t, size_t, size_t, int32_t, p',
  hipModuleLoadData: 'p, host',
  hipModuleOccupancyMaxPotentialBlockSize: 'p, p, p, size_t, int32_t',
} as const;

/** Of the result, a text. Owned by the library. */
const TEXTS = ['hipGetErrorName', 'hipGetErrorString'] as const;

/** Writes a hipDeviceProp_t: the second one of 792 bytes, the first, since ROCm 6, of 1472. */
const PROPERTIES = ['hipGetDevicePropertiesR0600', 'hipGetDeviceProperties'] as const;
const ARCH_AT = { hipGetDevicePropertiesR0600: 1160, hipGetDeviceProperties: 396 } as const;
const ARCH_BYTES = 256;
/** More than the struct has in any version. */
const PROPERTIES_BYTES = 4096;

type Others = { readonly [K in keyof typeof OTHER]: (...args: readonly (Address | Uint8Array)[]) => number };

/** The library. */
export interface Hip extends Others {
  /** What stands for libcuda's functions. */
  readonly cuda: Cuda;
  readonly ffi: Ffi;
  /** As `hipRuntimeGetVersion` gives it: 50221153 of ROCm 5.2; undefined where it does not say. */
  readonly version: number;
  readonly file: string;
  /** The architecture with its features, `gfx90a:sramecc+:xnack-`, as the compiler takes it. */
  archOf(device: number): string | undefined;
}

/** The library, or why it cannot be used. */
export type HipOrReason =
  | { readonly hip: Hip; readonly reason?: undefined }
  | { readonly hip?: undefined; readonly reason: string };

/** Versions of the library that Tsamba knows, newest first. */
const MAJORS = [7, 6, 5] as const;

/** A library of ROCm, as it was found and says its version. */
export interface Runtime {
  readonly file: string;
  readonly version: number;
}

/**
 * What is tried, in order: `ROCM_PATH`, where the loader looks, where ROCm puts itself, and the packages of a Python environment that is
 * active, which bring a ROCm with them. Beside a runtime that is in use, only what is of its version: two do not go together.
 */
export function libraryNames(
  name: 'libamdhip64' | 'libhiprtc' = 'libamdhip64',
  env?: Environment,
  platform: NodeJS.Platform = process.platform,
  runtime?: Runtime,
): readonly string[] {
  if (platform !== 'linux') return [];
  const major = runtime === undefined || runtime.version === 0 ? undefined : Math.floor(runtime.version / 10_000_000);
  const sonames = MAJORS.filter((m) => major === undefined || m === major).map((m) => `${name}.so.${m}`);
  const root = variable('ROCM_PATH', env);
  const within = (folder: string): string[] => sonames.map((soname) => `${folder}/${soname}`);
  // Wheels have libraries without a version in their names, too.
  const packaged = (folder: string): string[] => [...within(folder), `${folder}/${name}.so`];
  return [
    ...(runtime?.file.includes('/') ? packaged(runtime.file.slice(0, runtime.file.lastIndexOf('/'))) : []),
    ...(root === undefined || root === '' ? [] : within(`${root}/lib`)),
    ...sonames,
    ...within('/opt/rocm/lib'),
    ...(runtime === undefined ? pythonFolders(env).flatMap(packaged) : []),
  ];
}

/** Folders of Python packages with ROCm, in the environment that is active. */
function pythonFolders(env: Environment | undefined): readonly string[] {
  const roots = ['VIRTUAL_ENV', 'CONDA_PREFIX'].flatMap((name) => variable(name, env) ?? []).filter((r) => r !== '');
  return roots.flatMap((root) => {
    const packages = versionsOfPython(`${root}/lib`).map((version) => `${root}/lib/${version}/site-packages`);
    return packages.flatMap((at) => [`${at}/_rocm_sdk_core/lib`, `${at}/torch/lib`]);
  });
}

function versionsOfPython(folder: string): readonly string[] {
  try {
    return nodeModule('node:fs')
      .readdirSync(folder)
      .filter((name) => /^python3\.\d+$/.test(name));
  } catch {
    return [];
  }
}

let loaded: HipOrReason | undefined;

/** Loads the library, once; does not initialise it. Never throws. */
export function loadHip(): HipOrReason {
  loaded ??= load();
  return loaded;
}

function load(): HipOrReason {
  const names = libraryNames();
  if (names.length === 0)
    return { reason: `Tsamba uses HIP on Linux only, not on ${platformName() || 'this runtime'}` };
  const { ffi, reason } = loadFfi();
  if (ffi === undefined) return { reason };
  const { library, reasons } = ffi.load(names);
  if (library === undefined) {
    return {
      reason: `ROCm's HIP runtime is not installed, or not found (${reasons[0] ?? names[0]}): set ROCM_PATH, or activate the Python environment whose packages include it (_rocm_sdk_core/lib, torch/lib)`,
    };
  }
  return bindHip(ffi, library);
}

/** Declares the functions of a library that has been loaded. */
export function bindHip(ffi: Ffi, library: NativeLibrary): HipOrReason {
  ffi.struct('TsambaIpcMemHandle', IPC_HANDLE_BYTES);
  const functions: Record<string, AsyncNativeFunction> = {};
  const missing: string[] = [];
  const declare = (name: string, entry: string, prototype: string, needed: boolean): void => {
    const found = library.function(prototype);
    if (found !== undefined) functions[name] = found;
    else if (needed) missing.push(entry);
  };
  for (const [name, [entry, parameters]] of Object.entries(SAME)) {
    declare(name, entry, prototypeOf(entry, parameters), true);
  }
  for (const [name, [entry, parameters]] of Object.entries(SAME_OPTIONAL)) {
    declare(name, entry, prototypeOf(entry, parameters), false);
  }
  for (const [entry, parameters] of Object.entries(OTHER)) declare(entry, entry, prototypeOf(entry, parameters), true);
  for (const entry of TEXTS) declare(entry, entry, `const char *${entry}(int32_t result)`, true);
  for (const entry of PROPERTIES) declare(entry, entry, prototypeOf(entry, 'host, int32_t'), false);
  if (missing.length > 0) {
    return {
      reason: `the HIP runtime is too old or too new: ${library.name} has no ${missing[0]}; ROCm 5.2 to 7 are supported`,
    };
  }
  const out = new OutParameters(ffi);
  const known = functions['cuDriverGetVersion']?.(out.at(0)) === 0;
  const version = known ? out.int(0) : 0;
  const later = async (name: string, ...args: unknown[]): Promise<number> =>
    Number(await functions[name]?.later(...args));
  // One call for each name in the tables, with the parameters that stand there.
  const others = functions as unknown as Others;
  const words = functions as unknown as Readonly<Record<(typeof TEXTS)[number], (result: number) => string | null>>;
  const cuda = { ...functions, ...inItsPlace(others, words, ffi), ffi, library, later, version } as unknown as Cuda;
  const asked = functions as unknown as Partial<Record<(typeof PROPERTIES)[number], PropertiesOf>>;
  return { hip: { ...others, cuda, ffi, version, file: library.name, archOf: (device) => archOf(asked, device) } };
}

/** What libcuda's functions are that HIP has no like of. */
function inItsPlace(
  hip: Others,
  words: Readonly<Record<(typeof TEXTS)[number], (result: number) => string | null>>,
  ffi: Ffi,
): Partial<Record<keyof Cuda, unknown>> {
  const write = (cell: Address, value: number): number => {
    new BigUint64Array(ffi.view(cell, 8))[0] = BigInt(value);
    return 0;
  };
  const flags = new OutParameters(ffi);
  return {
    vocabulary: HIP_VOCABULARY,
    cuGetErrorName: (result: number, text: [string | null]) => {
      text[0] = words.hipGetErrorName(result);
      return 0;
    },
    cuGetErrorString: (result: number, text: [string | null]) => {
      text[0] = words.hipGetErrorString(result);
      return 0;
    },
    cuDevicePrimaryCtxRetain: (cell: Address, device: number) => hip.hipSetDevice(device) || write(cell, device + 1),
    cuDevicePrimaryCtxRelease: () => 0,
    cuCtxSetCurrent: (handle: number) => (handle === 0 ? 0 : hip.hipSetDevice(handle - 1)),
    cuCtxEnablePeerAccess: (handle: number) => hip.hipDeviceEnablePeerAccess(handle - 1, 0),
    cuMemcpyPeerAsync: (
      target: Address,
      here: number,
      source: Address,
      there: number,
      bytes: number,
      stream: Address,
    ) => hip.hipMemcpyPeerAsync(target, here - 1, source, there - 1, bytes, stream),
    // Only asked whether the library knows the memory. HIP has flags of what it has pinned, and of nothing else.
    cuPointerGetAttribute: (_cell: Address, _which: number, at: Address) => hip.hipHostGetFlags(flags.at(0), at),
    cuModuleLoadDataEx: (cell: Address, image: Uint8Array) => hip.hipModuleLoadData(cell, image),
    // All shared memory is a kernel's without asking.
    cuFuncSetAttribute: () => 0,
    cuOccupancyMaxPotentialBlockSize: (
      blocks: Address,
      threads: Address,
      entry: Address,
      _callback: Address,
      shared: number,
      limit: number,
    ) => hip.hipModuleOccupancyMaxPotentialBlockSize(blocks, threads, entry, shared, limit),
  };
}

type PropertiesOf = (properties: Uint8Array, device: number) => number;

/** The name at its place in the struct of that version. */
function archOf(
  functions: Partial<Record<(typeof PROPERTIES)[number], PropertiesOf>>,
  device: number,
): string | undefined {
  const entry = PROPERTIES.find((name) => functions[name] !== undefined);
  if (entry === undefined) return undefined;
  const properties = new Uint8Array(PROPERTIES_BYTES);
  if (functions[entry]?.(properties, device) !== 0) return undefined;
  const at = ARCH_AT[entry];
  const text = Buffer.from(properties.subarray(at, at + ARCH_BYTES))
    .toString('latin1')
    .split('\0', 1)[0];
  return text !== undefined && /^gfx[0-9a-f]+(:[a-z]+[+-])*$/.test(text) ? text : undefined;
}

/** What stands for functions that HIP has no like of. */
const INSTEAD: Readonly<Record<string, string>> = {
  cuDevicePrimaryCtxRetain: 'hipSetDevice',
  cuCtxSetCurrent: 'hipSetDevice',
  cuCtxEnablePeerAccess: 'hipDeviceEnablePeerAccess',
  cuMemcpyPeerAsync: 'hipMemcpyPeerAsync',
  cuMemcpy2DAsync: 'hipMemcpy2DAsync',
  cuMemcpy3DAsync: 'hipMemcpy2DAsync',
  cuModuleLoadDataEx: 'hipModuleLoadData',
  cuOccupancyMaxPotentialBlockSize: 'hipModuleOccupancyMaxPotentialBlockSize',
};

/** The name in the CUDA driver API of a function that is the same but for its name. */
export const CUDA_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...SAME, ...SAME_OPTIONAL }).map(([name, [entry]]) => [entry, name]),
);

const HIP_VOCABULARY: Vocabulary = {
  platform: 'HIP',
  functionName: (api) => (SAME[api] ?? SAME_OPTIONAL[api])?.[0] ?? INSTEAD[api] ?? api,
  meaning: hipMeaning,
};
