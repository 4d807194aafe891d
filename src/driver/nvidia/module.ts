/**
 * One form of a kernel on an NVIDIA device: PTX that has been loaded, with its parameter buffer and its records, which are variables of the
 * module.
 *
 * The driver compiles the PTX, unless its machine code is kept on disk (`cubins.ts`); what its assembler says is part of the error when it
 * refuses. CUDA driver API, section "Module Management".
 */
import type { LoadedCode } from '../../compiler/intrinsics/external.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { PtxModule } from '../../compiler/render/ptx/module.ts';
import { DriverError } from '../../errors.ts';
import { cString, textOf } from '../../ffi/out-parameters.ts';
import type { CudaContext } from '../cuda-api/context.ts';
import { LoadedModule } from '../cuda-api/module.ts';
import { ParamBuffer } from '../cuda-api/params.ts';
import { CUDA_ERROR_OUT_OF_MEMORY, describeResult } from '../cuda-api/result.ts';
import { kernelLabel } from '../launch-errors.ts';
import { END_OF_EXTRA } from './copies.ts';
import type { Cubins } from './cubins.ts';
import { JIT_GENERATE_LINE_INFO } from './linker.ts';

const JIT_ERROR_LOG_BUFFER = 5;
const JIT_ERROR_LOG_BUFFER_SIZE = 6;
const LOG_BYTES = 8192;
const CUDA_ERROR_NOT_FOUND = 500;

/** What blocks may have in shared memory unless the function is told otherwise. */
const DEFAULT_SHARED_BYTES = 48 * 1024;

/** CUfunction_attribute. */
const MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
const PREFERRED_SHARED_MEMORY_CARVEOUT = 9;

/** A module that has been loaded. */
export class PtxLoaded extends LoadedModule {
  readonly ptx: PtxModule;
  readonly params: ParamBuffer;
  readonly faultsAt: number | undefined;
  readonly printsAt: number | undefined;
  /** Dynamic shared memory that launches may have now, and at most, after `allowShared`. */
  allowed: number;

  constructor(context: CudaContext, kernel: Kernel, ptx: PtxModule, cubins: Cubins | null) {
    const text = cString(ptx.text);
    super(context, kernel, cubins?.load(context, ptx, text) ?? loadText(context, kernel, ptx, text), ptx);
    this.ptx = ptx;
    this.faultsAt = this.#global(ptx.faultSymbol);
    this.printsAt = this.#global(ptx.printSymbol);
    this.params = new ParamBuffer(context.cuda.ffi, ptx, END_OF_EXTRA);
    this.allowed = DEFAULT_SHARED_BYTES - this.staticBytes;
    for (const { setup } of ptx.link ?? []) setup?.(this.#asLoaded());
  }

  protected override release(): void {
    for (const { teardown } of this.ptx.link ?? []) teardown?.(this.#asLoaded());
  }

  #asLoaded(): LoadedCode {
    const variable: LoadedCode['variable'] = (name) => {
      const { cuda, out } = this.context;
      this.context.enter('cuModuleGetGlobal');
      const result = cuda.cuModuleGetGlobal(out.at(0), out.at(1), this.handle, cString(name));
      if (result === CUDA_ERROR_NOT_FOUND) return undefined;
      this.context.check(result, 'cuModuleGetGlobal');
      return { pointer: out.long(0), bytes: out.long(1) };
    };
    return { handle: BigInt(this.handle), variable };
  }

  /** Lets blocks have as much dynamic shared memory as the device has, `limit` together with the static. */
  allowShared(limit: number): void {
    const bytes = limit - this.staticBytes;
    const { cuda } = this.context;
    this.context.check(
      cuda.cuFuncSetAttribute(this.function, MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes),
      'cuFuncSetAttribute',
    );
    this.allowed = bytes;
  }

  /** Asks for so many percent of what caches and shared memory have together. A hint, which drivers may decline. */
  preferShared(percent: number): void {
    this.context.cuda.cuFuncSetAttribute(this.function, PREFERRED_SHARED_MEMORY_CARVEOUT, percent);
  }

  #global(symbol: string | undefined): number | undefined {
    if (symbol === undefined) return undefined;
    const { cuda, out } = this.context;
    const result = cuda.cuModuleGetGlobal(out.at(0), out.at(1), this.handle, cString(symbol));
    this.context.check(result, 'cuModuleGetGlobal');
    return out.long(0);
  }
}

/** Loads PTX as it is; the CUmodule. */
function loadText(context: CudaContext, kernel: Kernel, { text, lineInfo }: PtxModule, bytes: Uint8Array): number {
  const { cuda, out } = context;
  const log = new Uint8Array(LOG_BYTES);
  const options = new Int32Array(32);
  options.set([JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE, JIT_GENERATE_LINE_INFO]);
  const values = new BigUint64Array(16);
  values[0] = BigInt(cuda.ffi.address(log));
  values[1] = BigInt(LOG_BYTES);
  values[2] = 1n;
  const { ffi } = cuda;
  const count = lineInfo === true ? 3 : 2;
  const result = cuda.cuModuleLoadDataEx(out.at(0), bytes, count, ffi.address(options), ffi.address(values));
  if (result === 0) return out.long(0);
  if (result === CUDA_ERROR_OUT_OF_MEMORY) throw context.failure(result, 'cuModuleLoadDataEx');
  throw rejected(context, result, kernel, text, textOf(log));
}

function rejected(context: CudaContext, result: number, kernel: Kernel, text: string, log: string): DriverError {
  const failure = context.failure(result, 'cuModuleLoadDataEx', { about: `loading kernel ${kernelLabel(kernel)}` });
  if (failure.code !== 'E_PTX_REJECTED') return failure;
  const said = log === '' ? describeResult(context.cuda, result) : log;
  const error = new DriverError(
    'E_PTX_REJECTED',
    `PTX rejected: the driver's assembler does not accept the code of kernel ${kernelLabel(kernel)} for ${context.name}\n  ` +
      `${said.trim().split('\n').join('\n  ')}${faultyLines(said, text)}\n  ${helpOf(failure)}`,
    { api: 'cuModuleLoadDataEx', cause: failure },
  );
  return error;
}

/** The lines of the text that the assembler names. */
function faultyLines(log: string, text: string): string {
  const lines = text.split('\n');
  const numbers = new Set([...log.matchAll(/line (\d+)/g)].slice(0, 3).map(([, line]) => Number(line)));
  return [...numbers].map((line) => `\n  ${line} | ${lines[line - 1]?.trim() ?? ''}`).join('');
}

function helpOf(error: DriverError): string {
  return /help: .*$/.exec(error.message)?.[0] ?? '';
}
