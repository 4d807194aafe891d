/**
 * cuBLAS, NVIDIA's library of products of matrices, found and loaded: of the CUDA toolkit, of the system, of Python's package `nvidia-cublas`, or where
 * `TSAMBA_CUBLAS_LIBRARY` says. Importing this file loads nothing.
 *
 * cuBLAS's documentation: `cublasCreate` to `cublasDestroy`, `cublasGemmEx`, `cublasGemmStridedBatchedEx`. Of version 11 or newer.
 */
import { variable } from '../../environment.ts';
import type { AsyncNativeFunction, Ffi } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { attempt, nodeModule, platformName } from '../../host/index.ts';
import { toolkit } from './nvrtc.ts';

const FUNCTIONS = {
  cublasCreate_v2: '(uintptr_t)',
  cublasDestroy_v2: '(uintptr_t)',
  cublasGetProperty: '(int, uintptr_t)',
  cublasSetStream_v2: '(uintptr_t, uintptr_t)',
  cublasSetWorkspace_v2: '(uintptr_t, uintptr_t, size_t)',
  cublasSetMathMode: '(uintptr_t, int)',
  // handle, ops of A and B, m, n, k, alpha, A, its type and step, B, its type and step, beta, C, its type and step, type of sums, algorithm
  cublasGemmEx:
    '(uintptr_t, int, int, int, int, int, uintptr_t, uintptr_t, int, int, uintptr_t, int, int, uintptr_t, uintptr_t, int, int, int, int)',
  // The same with the distance of matrices after each step, and their number before the type of sums.
  cublasGemmStridedBatchedEx:
    '(uintptr_t, int, int, int, int, int, uintptr_t, uintptr_t, int, int, int64_t, uintptr_t, int, int, int64_t, uintptr_t, uintptr_t, int, int, int64_t, int, int, int)',
} as const;

type Name = keyof typeof FUNCTIONS;

/** What is called of cuBLAS: functions that give a `cublasStatus_t`. */
export type Cublas = Readonly<Record<Name, (...args: readonly unknown[]) => unknown>>;

/** The library, or why it cannot be used. */
export type CublasOrReason =
  | { readonly cublas: Cublas; readonly reason?: undefined }
  | { readonly cublas?: undefined; readonly reason: string };

let loaded: CublasOrReason | undefined;

/** Loads cuBLAS, once. Never throws. */
export function loadCublas(): CublasOrReason {
  loaded ??= load();
  return loaded;
}

function load(): CublasOrReason {
  const named = variable('TSAMBA_CUBLAS_LIBRARY')?.trim();
  if (named === '0') return { reason: 'TSAMBA_CUBLAS_LIBRARY=0 leaves it out' };
  const { ffi, reason } = loadFfi();
  if (ffi === undefined) return { reason };
  return bind(ffi, named === undefined || named === '' ? undefined : named);
}

/** Loads the library that is named, or the first that there is, and declares its functions. */
export function bind(ffi: Ffi, named?: string): CublasOrReason {
  const files = named === undefined ? libraryFiles() : [named];
  const reasons: string[] = [];
  for (const file of files) {
    // What it needs lies beside it, where the system need not look.
    const beside = file.replace(/cublas(?=[^/\\]*$)/, 'cublasLt');
    if (/[/\\]/.test(file) && beside !== file) ffi.load([beside]);
    const found = ffi.load([file]);
    reasons.push(...found.reasons);
    if (found.library === undefined) continue;
    const functions: Partial<Record<Name, AsyncNativeFunction>> = {};
    for (const [name, parameters] of Object.entries(FUNCTIONS)) {
      const declared = found.library.function(`int ${name}${parameters}`);
      if (declared === undefined)
        return { reason: `${found.library.name} has no ${name}: version 11 or newer is needed` };
      functions[name as Name] = declared;
    }
    return { cublas: functions as Cublas };
  }
  const why = reasons[0] ?? 'there is no library for this system';
  return {
    reason:
      named === undefined
        ? `cuBLAS is not installed (${why})`
        : `TSAMBA_CUBLAS_LIBRARY=${named} cannot be loaded (${why})`,
  };
}

/** What is tried: the toolkit that is named, the system, Python's packages; newest first. */
export function libraryFiles(
  platform: string = platformName(),
  home: string | undefined = toolkit(),
  packages: readonly string[] = pythonPackages(),
): readonly string[] {
  if (platform === 'win32') {
    const names = ['cublas64_13.dll', 'cublas64_12.dll', 'cublas64_11.dll'];
    return home === undefined ? names : [...names.map((name) => `${home}/bin/${name}`), ...names];
  }
  const names = ['libcublas.so.13', 'libcublas.so.12', 'libcublas.so.11'];
  const folders = packages.flatMap((path) => [`${path}/nvidia/cu13/lib`, `${path}/nvidia/cublas/lib`]);
  const all = (folder: string): string[] => names.map((name) => `${folder}/${name}`);
  return [...(home === undefined ? [] : all(`${home}/lib64`)), ...names, ...folders.flatMap(all)];
}

/** Where Python keeps packages on this machine: those of the environment that is active, of the user, of the system. */
function pythonPackages(): readonly string[] {
  const { readdirSync } = nodeModule('node:fs');
  const home = variable('HOME');
  const roots = [
    variable('VIRTUAL_ENV'),
    variable('CONDA_PREFIX'),
    home === undefined ? undefined : `${home}/.local`,
    '/usr/local',
    '/usr',
  ];
  return roots.flatMap((root) => {
    if (root === undefined || root === '') return [];
    const folders = attempt(() => readdirSync(`${root}/lib`)) ?? [];
    return folders
      .filter((name) => /^python3/.test(name))
      .sort((a, b) => Number(b.split('.')[1] ?? 0) - Number(a.split('.')[1] ?? 0))
      .flatMap((name) => ['site-packages', 'dist-packages'].map((last) => `${root}/lib/${name}/${last}`));
  });
}

const STATUS: Readonly<Record<number, string>> = {
  1: 'NOT_INITIALIZED',
  3: 'ALLOC_FAILED',
  7: 'INVALID_VALUE',
  8: 'ARCH_MISMATCH',
  11: 'MAPPING_ERROR',
  13: 'EXECUTION_FAILED',
  14: 'INTERNAL_ERROR',
  15: 'NOT_SUPPORTED',
  16: 'LICENSE_ERROR',
};

/** `CUBLAS_STATUS_INVALID_VALUE (7)`. */
export function describeStatus(status: number): string {
  return `CUBLAS_STATUS_${STATUS[status] ?? 'UNKNOWN'} (${status})`;
}
