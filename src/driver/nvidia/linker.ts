/**
 * The driver's own linker: PTX and what it calls functions of, to machine code. CUDA driver API, section "Module Management",
 * `cuLinkCreate` to `cuLinkDestroy`.
 */
import type { LinkItem, LinkKind } from '../../compiler/intrinsics/external.ts';
import { DriverError } from '../../errors.ts';
import { cString, textOf } from '../../ffi/out-parameters.ts';
import type { CudaContext } from '../cuda-api/context.ts';
import { describeResult } from '../cuda-api/result.ts';
import { compileCuda } from './nvrtc.ts';

/** CUjit_option. */
const JIT_ERROR_LOG_BUFFER = 5;
const JIT_ERROR_LOG_BUFFER_SIZE = 6;
export const JIT_GENERATE_LINE_INFO = 13;
const LOG_BYTES = 8192;

/** CUjitInputType. */
const INPUT = { cubin: 0, ptx: 1, fatbin: 2, object: 3, ltoir: 5 } as const;

/** One input of the linker. */
export interface LinkInput {
  readonly type: number;
  readonly bytes: Uint8Array;
  /** What messages call it; absent for what Tsamba wrote. */
  readonly name?: string;
}

/** The machine code, or which call refused and what the linker says. */
export type Linked =
  | { readonly code: Uint8Array; readonly failed?: undefined }
  | {
      readonly code?: undefined;
      readonly failed: { readonly api: string; readonly result: number; readonly log: string };
    };

/** PTX as the linker takes it: with a zero at its end. */
export function ptxInput(text: Uint8Array): LinkInput {
  return { type: INPUT.ptx, bytes: text };
}

/** What a kernel is linked with, as the linker takes it. CUDA C++ is compiled. */
export function inputsOf(items: readonly LinkItem[], capability: number): readonly LinkInput[] {
  return items.map(({ kind, name, code }) => {
    if (kind === 'cuda') return { type: INPUT.ptx, bytes: compileCuda(code(), name, capability), name };
    const bytes = code();
    return { type: inputType(kind), bytes: kind === 'ptx' && bytes.at(-1) !== 0 ? terminated(bytes) : bytes, name };
  });
}

function inputType(kind: LinkKind): number {
  return kind === 'cubin' || kind === 'fatbin' || kind === 'object' || kind === 'ltoir' ? INPUT[kind] : INPUT.ptx;
}

function terminated(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(bytes.length + 1);
  text.set(bytes);
  return text;
}

/** Links in this order; undefined where the driver has no linker. */
export function link(context: CudaContext, inputs: readonly LinkInput[], lineInfo: boolean): Linked | undefined {
  const { cuda, out } = context;
  const { cuLinkCreate, cuLinkAddData, cuLinkComplete, cuLinkDestroy, ffi } = cuda;
  if (cuLinkCreate === undefined || cuLinkAddData === undefined || cuLinkComplete === undefined) return undefined;
  // In memory that does not move: arrays of some bytes are on the heap of the engine.
  const log = new Uint8Array(LOG_BYTES);
  const options = new Int32Array(32);
  options.set([JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE, JIT_GENERATE_LINE_INFO]);
  const values = new BigUint64Array(16);
  values.set([BigInt(ffi.address(log)), BigInt(LOG_BYTES), 1n]);
  const failed = (api: string, result: number): Linked => ({ failed: { api, result, log: textOf(log) } });
  const created = cuLinkCreate(lineInfo ? 3 : 2, ffi.address(options), ffi.address(values), out.at(0));
  if (created !== 0) return failed('cuLinkCreate', created);
  const state = out.long(0);
  try {
    for (const { type, bytes, name } of inputs) {
      const title = name === undefined ? null : cString(name);
      const added = cuLinkAddData(state, type, bytes, bytes.length, title, 0, 0, 0);
      if (added !== 0) return failed('cuLinkAddData', added);
    }
    const completed = cuLinkComplete(state, out.at(0), out.at(1));
    if (completed !== 0) return failed('cuLinkComplete', completed);
    // It is the linker's memory, and goes with it.
    return { code: new Uint8Array(ffi.view(out.long(0), out.long(1))).slice() };
  } finally {
    cuLinkDestroy?.(state);
  }
}

/** The error of a kernel that cannot be linked with what it names. */
export function linkError(
  context: CudaContext,
  kernel: string,
  items: readonly LinkItem[],
  { api, result, log }: NonNullable<Linked['failed']>,
): DriverError {
  const names = items.map(({ name }) => name).join(', ');
  const said = (log === '' ? describeResult(context.cuda, result) : log).trim().split('\n').join('\n  ');
  return new DriverError(
    'E_LINK',
    `${api}: kernel ${kernel} cannot be linked with ${names} on ${context.name}\n  ${said}\n` +
      '  help: functions that kernels call are extern "C" __device__, of the declared types, compiled for this GPU (nvcc -rdc=true)',
    { api },
  );
}
