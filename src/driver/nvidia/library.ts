/**
 * The CUDA driver's library, found and loaded: `libcuda.so.1`, or `nvcuda.dll` on Windows. Importing this file loads nothing.
 */

import type { AsyncNativeFunction, Ffi, NativeLibrary } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import { platformName } from '../../host/index.ts';
import { type Cuda, IPC_HANDLE_BYTES, OPTIONAL, prototypeOf, REQUIRED, type Table } from '../cuda-api/functions.ts';
import { CUDA_VOCABULARY } from './result.ts';

/** CUDA 11.0: what all required functions are in, and PTX ISA 7.0. */
const OLDEST_VERSION = 11000;

/** What is tried, in order. The second path is where Windows puts the driver of a Linux subsystem. */
export function libraryNames(platform: string = platformName()): readonly string[] {
  if (platform === 'win32') return ['nvcuda.dll'];
  if (platform === 'linux') return ['libcuda.so.1', '/usr/lib/wsl/lib/libcuda.so.1', 'libcuda.so'];
  return [];
}

/** The driver, or why it cannot be used. */
export type CudaOrReason =
  | { readonly cuda: Cuda; readonly reason?: undefined }
  | { readonly cuda?: undefined; readonly reason: string };

let loaded: CudaOrReason | undefined;

/** Loads the driver's library, once; does not initialise it. Never throws. */
export function loadCuda(): CudaOrReason {
  loaded ??= load();
  return loaded;
}

function load(): CudaOrReason {
  const names = libraryNames();
  if (names.length === 0) return { reason: `NVIDIA has no CUDA driver for ${platformName() || 'this runtime'}` };
  const { ffi, reason } = loadFfi();
  if (ffi === undefined) return { reason };
  const { library, reasons } = ffi.load(names);
  if (library === undefined) {
    return { reason: `no NVIDIA driver is installed, or this process cannot see it (${reasons[0] ?? names[0]})` };
  }
  return bind(ffi, library);
}

/** Declares the functions of a library that has been loaded. */
export function bind(ffi: Ffi, library: NativeLibrary): CudaOrReason {
  ffi.struct('TsambaIpcMemHandle', IPC_HANDLE_BYTES);
  const functions: Record<string, AsyncNativeFunction> = {};
  const missing: string[] = [];
  for (const [table, needed] of [
    [REQUIRED, true],
    [OPTIONAL, false],
  ] as const) {
    for (const [name, [entry, , parameters]] of Object.entries<Table[string]>(table)) {
      const found = library.function(prototypeOf(entry, parameters));
      if (found !== undefined) functions[name] = found;
      else if (needed) missing.push(entry);
    }
  }
  const version = functions['cuDriverGetVersion'] === undefined ? 0 : versionOf(ffi, functions['cuDriverGetVersion']);
  if (version < OLDEST_VERSION || missing.length > 0) {
    const lacks = version < OLDEST_VERSION ? '' : ` (${library.name} has no ${missing[0]})`;
    return {
      reason:
        `the NVIDIA driver is too old: it knows CUDA ${versionText(version)}, and ${versionText(OLDEST_VERSION)} is ` +
        `needed${lacks}; install driver 450 or newer`,
    };
  }
  const later = async (name: string, ...args: unknown[]): Promise<number> =>
    Number(await functions[name]?.later(...args));
  // One call for each name in the tables, with the parameters that stand there.
  const vocabulary = CUDA_VOCABULARY;
  return { cuda: { ...functions, ffi, library, later, version, vocabulary } as unknown as Cuda };
}

function versionOf(ffi: Ffi, cuDriverGetVersion: AsyncNativeFunction): number {
  const out = new OutParameters(ffi);
  return cuDriverGetVersion(out.at(0)) === 0 ? out.int(0) : 0;
}

/** `13.0` of 13000. */
export function versionText(version: number): string {
  return `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
}
