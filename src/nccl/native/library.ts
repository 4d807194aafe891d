/**
 * NCCL's library, found and loaded: `libnccl.so.2` of the system, of Python's package `nvidia-nccl-cu13` (or -cu12), or the file that
 * `TSAMBA_NCCL_LIBRARY` names. Importing this file loads nothing.
 */
import { type Environment, variable } from '../../environment.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import type { AsyncNativeFunction, Ffi, NativeLibrary } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import { attempt, findNodeModule, platformName } from '../../host/index.ts';

/** Bytes of an ncclUniqueId. */
export const ID_BYTES = 128;

/** By NCCL's names: parameters after which every function returns an ncclResult_t. Communicators, streams and memory are addresses. */
const REQUIRED = {
  ncclGetVersion: '(uintptr_t)',
  ncclGetUniqueId: '(uintptr_t)',
  ncclCommInitRank: '(uintptr_t, int, TsambaNcclUniqueId, int)',
  ncclCommInitAll: '(uintptr_t, int, uintptr_t)',
  ncclCommDestroy: '(uint64_t)',
  ncclCommAbort: '(uint64_t)',
  ncclCommGetAsyncError: '(uint64_t, uintptr_t)',
  ncclCommCount: '(uint64_t, uintptr_t)',
  ncclCommUserRank: '(uint64_t, uintptr_t)',
  ncclGroupStart: '()',
  ncclGroupEnd: '()',
  ncclAllReduce: '(uint64_t, uint64_t, size_t, int, int, uint64_t, uint64_t)',
  ncclReduce: '(uint64_t, uint64_t, size_t, int, int, int, uint64_t, uint64_t)',
  ncclBroadcast: '(uint64_t, uint64_t, size_t, int, int, uint64_t, uint64_t)',
  ncclAllGather: '(uint64_t, uint64_t, size_t, int, uint64_t, uint64_t)',
  ncclReduceScatter: '(uint64_t, uint64_t, size_t, int, int, uint64_t, uint64_t)',
  ncclSend: '(uint64_t, size_t, int, int, uint64_t, uint64_t)',
  ncclRecv: '(uint64_t, size_t, int, int, uint64_t, uint64_t)',
} as const;

type Functions = Readonly<Record<keyof typeof REQUIRED, AsyncNativeFunction>>;

/** The library, its functions declared. */
export interface Nccl extends Functions {
  readonly ffi: Ffi;
  readonly out: OutParameters;
  /** 22809 of 2.28.9. */
  readonly version: number;
  /** From 2.18 on. */
  readonly ncclCommSplit: AsyncNativeFunction | undefined;
  readonly ncclGetErrorString: AsyncNativeFunction;
  readonly ncclGetLastError: AsyncNativeFunction | undefined;
}

/** 2.10: what all required functions and the operator avg are in. */
const OLDEST_VERSION = 21_000;

const HELP =
  'Install it with pip install nvidia-nccl-cu13 (or -cu12, to match your driver) or as the system package libnccl2, or set TSAMBA_NCCL_LIBRARY to the path of libnccl.so.2. ' +
  "Without it, transport: 'reference' (TSAMBA_NCCL_TRANSPORT=reference) runs the same program, slowly";

/** What is tried, in order. */
export function libraryNames(env?: Environment): readonly string[] {
  const named = env === undefined ? variable('TSAMBA_NCCL_LIBRARY') : variable('TSAMBA_NCCL_LIBRARY', env);
  if (named !== undefined && named !== '') return [named];
  return ['libnccl.so.2', ...inPython(env), 'libnccl.so'];
}

/** Where pip puts it: under the environment that is active, the Python that is found first, the user's, the system's. */
function inPython(env: Environment | undefined): readonly string[] {
  const value = (name: string): string => (env === undefined ? variable(name) : variable(name, env)) ?? '';
  const path = findNodeModule('node:path');
  const fs = findNodeModule('node:fs');
  if (path === undefined || fs === undefined) return [];
  const first = value('PATH')
    .split(path.delimiter)
    .find((folder) => folder !== '' && fs.existsSync(path.join(folder, 'python3')));
  const real = first === undefined ? undefined : attempt(() => fs.realpathSync(path.join(first, 'python3')));
  const roots = [value('VIRTUAL_ENV'), value('CONDA_PREFIX')];
  if (first !== undefined) roots.push(path.dirname(first));
  if (real !== undefined) roots.push(path.dirname(path.dirname(real)));
  if (value('HOME') !== '') roots.push(path.join(value('HOME'), '.local'));
  roots.push('/usr/local', '/usr');
  const found = new Set<string>();
  for (const root of roots.filter((r) => r !== '')) {
    const versions = attempt(() => fs.readdirSync(path.join(root, 'lib'))) ?? [];
    for (const version of versions.filter((name) => name.startsWith('python3'))) {
      for (const packages of ['site-packages', 'dist-packages']) {
        const file = path.join(root, 'lib', version, packages, 'nvidia/nccl/lib/libnccl.so.2');
        if (fs.existsSync(file)) found.add(file);
      }
    }
  }
  return [...found];
}

let loaded: Nccl | undefined;

/** Loads NCCL, once. Throws NotSupportedError that says what to install. */
export function loadNccl(): Nccl {
  loaded ??= load();
  return loaded;
}

function load(): Nccl {
  if (platformName() !== 'linux') {
    throw new NotSupportedError('E_NCCL_LIBRARY', `NCCL is for Linux, and this is ${platformName() || 'a page'}`);
  }
  const { ffi, reason } = loadFfi();
  if (ffi === undefined) throw new NotSupportedError('E_NCCL_LIBRARY', `NCCL cannot be called: ${reason}`);
  const { library, reasons } = ffi.load(libraryNames());
  if (library === undefined) {
    throw new NotSupportedError('E_NCCL_LIBRARY', `NCCL is not installed, or not found (${reasons[0] ?? ''}). ${HELP}`);
  }
  return bindNccl(ffi, library);
}

/** Declares the functions of a library that has been loaded. */
export function bindNccl(ffi: Ffi, library: NativeLibrary): Nccl {
  ffi.struct('TsambaNcclUniqueId', ID_BYTES);
  const functions: Record<string, AsyncNativeFunction> = {};
  for (const [name, parameters] of Object.entries(REQUIRED)) {
    const found = library.function(`int ${name}${parameters}`);
    if (found === undefined) {
      throw new NotSupportedError(
        'E_NCCL_LIBRARY',
        `${library.name} has no ${name}: NCCL 2.10 or newer is needed. ${HELP}`,
      );
    }
    functions[name] = found;
  }
  const out = new OutParameters(ffi);
  functions['ncclGetVersion']?.(out.at(0));
  const version = out.int(0);
  if (version < OLDEST_VERSION) {
    throw new NotSupportedError(
      'E_NCCL_LIBRARY',
      `${library.name} is NCCL ${version}, and 2.10 or newer is needed. ${HELP}`,
    );
  }
  const ncclGetErrorString = library.function('const char *ncclGetErrorString(int)');
  const ncclGetLastError = library.function('const char *ncclGetLastError(uint64_t)');
  const ncclCommSplit = library.function('int ncclCommSplit(uint64_t, int, int, uintptr_t, uint64_t)');
  return { ...functions, ffi, out, version, ncclGetErrorString, ncclGetLastError, ncclCommSplit } as unknown as Nccl;
}

/** Turns a result into an error. */
export function check(nccl: Nccl, result: unknown, api: string, comm = 0): void {
  if (result !== 0) throw ncclError(nccl, Number(result), api, comm);
}

/** What NCCL says of a result. */
export function ncclError(nccl: Nccl, result: number, api: string, comm = 0): DriverError {
  const text = String(nccl.ncclGetErrorString(result));
  const last = String(nccl.ncclGetLastError?.(comm) ?? '').trim();
  const more = last === '' ? 'NCCL_DEBUG=WARN prints more' : last;
  return new DriverError('E_NCCL', `${api} failed: ${text} (ncclResult ${result}); ${more}`, { api });
}
