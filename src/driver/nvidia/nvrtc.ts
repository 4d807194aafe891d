/**
 * CUDA C++ to PTX by NVRTC, the compiler that comes as a library with the CUDA toolkit: loaded when a kernel is first linked with a `.cu` file.
 *
 * NVRTC's documentation: `nvrtcCreateProgram` to `nvrtcDestroyProgram`.
 */
import { variable } from '../../environment.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import type { AsyncNativeFunction, Ffi } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { cString, OutParameters, textOf } from '../../ffi/out-parameters.ts';
import { nodeModule, platformName } from '../../host/index.ts';

const FUNCTIONS = {
  nvrtcCreateProgram: 'int nvrtcCreateProgram(uintptr_t, const uint8_t *, const uint8_t *, int, uintptr_t, uintptr_t)',
  nvrtcCompileProgram: 'int nvrtcCompileProgram(uintptr_t, int, uintptr_t)',
  nvrtcGetPTXSize: 'int nvrtcGetPTXSize(uintptr_t, uintptr_t)',
  nvrtcGetPTX: 'int nvrtcGetPTX(uintptr_t, uint8_t *)',
  nvrtcGetProgramLogSize: 'int nvrtcGetProgramLogSize(uintptr_t, uintptr_t)',
  nvrtcGetProgramLog: 'int nvrtcGetProgramLog(uintptr_t, uint8_t *)',
  nvrtcDestroyProgram: 'int nvrtcDestroyProgram(uintptr_t)',
} as const;

type Nvrtc = Readonly<Record<keyof typeof FUNCTIONS, AsyncNativeFunction>>;

interface Compiler {
  readonly ffi: Ffi;
  readonly nvrtc: Nvrtc;
}

let loaded: Compiler | undefined;

/** PTX of a CUDA C++ text, whose functions can be called by what is linked with it; with a zero at its end. */
export function compileCuda(source: Uint8Array, name: string, capability: number): Uint8Array {
  loaded ??= load(name);
  const { ffi, nvrtc } = loaded;
  const out = new OutParameters(ffi);
  const options = [`--gpu-architecture=compute_${capability}`, '--relocatable-device-code=true', ...includes()];
  const texts = options.map((text) => pinned(cString(text)));
  const list = new BigUint64Array(Math.max(texts.length, 16));
  for (const [k, text] of texts.entries()) list[k] = BigInt(ffi.address(text));
  if (Number(nvrtc.nvrtcCreateProgram(out.at(0), terminated(source), cString(name), 0, 0, 0)) !== 0) {
    throw failure(name, 'nvrtcCreateProgram', '');
  }
  const program = out.long(0);
  try {
    const result = Number(nvrtc.nvrtcCompileProgram(program, options.length, ffi.address(list)));
    if (result !== 0) {
      nvrtc.nvrtcGetProgramLogSize(program, out.at(1));
      const log = new Uint8Array(Math.max(out.long(1), 1));
      nvrtc.nvrtcGetProgramLog(program, log);
      throw failure(name, 'nvrtcCompileProgram', textOf(log));
    }
    nvrtc.nvrtcGetPTXSize(program, out.at(1));
    const text = new Uint8Array(out.long(1));
    nvrtc.nvrtcGetPTX(program, text);
    return text;
  } finally {
    out.set(2, BigInt(program));
    nvrtc.nvrtcDestroyProgram(out.at(2));
  }
}

function failure(name: string, api: string, log: string): DriverError {
  const said = log === '' ? '' : `\n  ${log.trim().split('\n').join('\n  ')}`;
  return new DriverError('E_LINK', `${api}: ${name} does not compile${said}`, { api });
}

/** Headers of the toolkit, where it is known. */
function includes(): readonly string[] {
  const home = toolkit();
  return home === undefined ? [] : [`--include-path=${home}/include`];
}

/** The folder of the CUDA toolkit, where it is known. */
export function toolkit(): string | undefined {
  const { existsSync } = nodeModule('node:fs');
  const named = [variable('CUDA_HOME'), variable('CUDA_PATH'), '/usr/local/cuda'];
  return named.find((path) => path !== undefined && path !== '' && existsSync(`${path}/include`));
}

function load(name: string): Compiler {
  const { ffi, reason } = loadFfi();
  const { library, reasons } = ffi?.load(libraryNames()) ?? { reasons: [reason ?? ''] };
  if (ffi === undefined || library === undefined) {
    throw new NotSupportedError(
      'E_NVRTC',
      `${name} is CUDA C++, which NVRTC compiles, and NVRTC is not installed (${reasons[0] ?? 'no library'})\n` +
        '  help: install the CUDA toolkit or its package cuda-nvrtc, set CUDA_HOME to its folder, or link PTX: nvcc -ptx -rdc=true',
    );
  }
  const nvrtc: Partial<Record<keyof typeof FUNCTIONS, AsyncNativeFunction>> = {};
  for (const [key, prototype] of Object.entries(FUNCTIONS)) {
    const found = library.function(prototype);
    if (found === undefined) throw new NotSupportedError('E_NVRTC', `${library.name} has no ${key}: install another`);
    nvrtc[key as keyof typeof FUNCTIONS] = found;
  }
  return { ffi, nvrtc: nvrtc as Nvrtc };
}

/** What is tried: the toolkit that is named, then the system, newest first. */
function libraryNames(): readonly string[] {
  if (platformName() === 'win32') return ['nvrtc64_130_0.dll', 'nvrtc64_120_0.dll', 'nvrtc64_112_0.dll'];
  const names = ['libnvrtc.so.13', 'libnvrtc.so.12', 'libnvrtc.so.11.2', 'libnvrtc.so'];
  const home = toolkit();
  return home === undefined ? names : [...names.map((file) => `${home}/lib64/${file}`), ...names];
}

function terminated(source: Uint8Array): Uint8Array {
  const text = new Uint8Array(source.length + 1);
  text.set(source);
  return text;
}

/** In memory that does not move: arrays of some bytes are on the heap of the engine. */
export function pinned(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new ArrayBuffer(Math.max(bytes.length, 128)));
  copy.set(bytes);
  return copy;
}
