/**
 * LTO-IR to machine code by nvJitLink, the linker that comes as a library with the CUDA toolkit from 12.0 on: loaded when a kernel is first linked with a
 * `.ltoir` file. What else is linked goes the same way.
 *
 * nvJitLink's documentation: `nvJitLinkCreate` to `nvJitLinkDestroy`.
 */
import { NotSupportedError } from '../../errors.ts';
import type { AsyncNativeFunction, Ffi } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { cString, OutParameters, textOf } from '../../ffi/out-parameters.ts';
import { platformName } from '../../host/index.ts';
import type { Linked, LinkInput } from './linker.ts';
import { pinned, toolkit } from './nvrtc.ts';

const FUNCTIONS = {
  nvJitLinkCreate: '(uintptr_t, uint32_t, uintptr_t)',
  nvJitLinkDestroy: '(uintptr_t)',
  nvJitLinkAddData: '(uintptr_t, int, uintptr_t, size_t, const uint8_t *)',
  nvJitLinkComplete: '(uintptr_t)',
  nvJitLinkGetLinkedCubinSize: '(uintptr_t, uintptr_t)',
  nvJitLinkGetLinkedCubin: '(uintptr_t, uint8_t *)',
  nvJitLinkGetErrorLogSize: '(uintptr_t, uintptr_t)',
  nvJitLinkGetErrorLog: '(uintptr_t, uint8_t *)',
} as const;

type NvJitLink = Readonly<Record<keyof typeof FUNCTIONS, AsyncNativeFunction>>;

/** nvJitLinkInputType by CUjitInputType: a cubin, PTX, a fat binary, an object; LTO-IR is the sixth. */
const TYPES: readonly number[] = [1, 2, 4, 5, 0, 3];

let loaded: { readonly ffi: Ffi; readonly linker: NvJitLink } | undefined;

/** Links in this order. Throws NotSupportedError where nvJitLink is not installed. */
export function linkLto(
  inputs: readonly LinkInput[],
  { entry, capability, lineInfo }: { readonly entry: string; readonly capability: number; readonly lineInfo: boolean },
): Linked {
  loaded ??= load(entry);
  const { ffi, linker } = loaded;
  const out = new OutParameters(ffi);
  const texts = [`-arch=sm_${capability}`, '-lto', ...(lineInfo ? ['-lineinfo'] : [])].map((text) =>
    pinned(cString(text)),
  );
  const list = new BigUint64Array(16);
  for (const [k, text] of texts.entries()) list[k] = BigInt(ffi.address(text));
  const created = Number(linker.nvJitLinkCreate(out.at(0), texts.length, ffi.address(list)));
  if (created !== 0) return { failed: { api: 'nvJitLinkCreate', result: created, log: said(created) } };
  const handle = out.long(0);
  const failed = (api: string, result: number): Linked => {
    linker.nvJitLinkGetErrorLogSize(handle, out.at(1));
    const log = new Uint8Array(Math.max(out.long(1), 1));
    linker.nvJitLinkGetErrorLog(handle, log);
    return { failed: { api, result, log: textOf(log) || said(result) } };
  };
  try {
    for (const { type, bytes, name = entry } of inputs) {
      const data = pinned(bytes);
      const added = linker.nvJitLinkAddData(handle, TYPES[type] ?? 0, ffi.address(data), bytes.length, cString(name));
      if (added !== 0) return failed('nvJitLinkAddData', Number(added));
    }
    const completed = Number(linker.nvJitLinkComplete(handle));
    if (completed !== 0) return failed('nvJitLinkComplete', completed);
    linker.nvJitLinkGetLinkedCubinSize(handle, out.at(1));
    const code = new Uint8Array(new ArrayBuffer(Math.max(out.long(1), 128)), 0, out.long(1));
    linker.nvJitLinkGetLinkedCubin(handle, code);
    return { code };
  } finally {
    out.set(2, BigInt(handle));
    linker.nvJitLinkDestroy(out.at(2));
  }
}

function said(result: number): string {
  return `nvJitLink gives error ${result}`;
}

function load(entry: string): NonNullable<typeof loaded> {
  const { ffi, reason } = loadFfi();
  const { library, reasons } = ffi?.load(libraryNames()) ?? { reasons: [reason ?? ''] };
  if (ffi === undefined || library === undefined) {
    throw new NotSupportedError(
      'E_NVJITLINK',
      `${entry} is linked with LTO-IR, which nvJitLink links, and nvJitLink is not installed (${reasons[0] ?? 'no library'})\n` +
        '  help: install the CUDA toolkit or its package libnvjitlink, set CUDA_HOME to its folder, or link an object: nvcc -dc',
    );
  }
  const linker: Partial<Record<keyof typeof FUNCTIONS, AsyncNativeFunction>> = {};
  for (const [name, parameters] of Object.entries(FUNCTIONS)) {
    const found = library.function(`int ${name}${parameters}`);
    if (found === undefined)
      throw new NotSupportedError('E_NVJITLINK', `${library.name} has no ${name}: install another`);
    linker[name as keyof typeof FUNCTIONS] = found;
  }
  return { ffi, linker: linker as NvJitLink };
}

/** What is tried: the toolkit that is named, then the system, newest first. */
function libraryNames(): readonly string[] {
  if (platformName() === 'win32') return ['nvJitLink_130_0.dll', 'nvJitLink_120_0.dll'];
  const names = ['libnvJitLink.so.13', 'libnvJitLink.so.12', 'libnvJitLink.so'];
  const home = toolkit();
  return home === undefined ? names : [...names.map((file) => `${home}/lib64/${file}`), ...names];
}
