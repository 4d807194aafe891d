/**
 * One form of a kernel on a HIP device: its code object, its function, its packed arguments, and where its records are.
 *
 * HIP C++ has no symbols for records that the host could find by name in all versions: they come as arguments, as in OpenCL.
 * HIP runtime API reference, section "Module Management".
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import {
  FAULT_RECORD_BYTES,
  type OpenCLArg,
  type OpenCLModule,
  PRINT_BYTES,
} from '../../compiler/render/opencl/module.ts';
import type { PtxParam } from '../../compiler/render/ptx/module.ts';
import { cString } from '../../ffi/cells.ts';
import type { LaunchArgs } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import type { CudaContext } from '../nvidia/context.ts';
import { ParamBuffer, type ParamLayout } from '../nvidia/params.ts';
import type { LaunchRecords, Watched } from '../nvidia/records.ts';
import type { HipModule } from './compile.ts';
import { END_OF_EXTRA } from './copy-kernels.ts';

/** hipFunction_attribute. */
const MAX_THREADS_PER_BLOCK = 0;
const SHARED_SIZE_BYTES = 1;
const CONST_SIZE_BYTES = 2;
const LOCAL_SIZE_BYTES = 3;
const NUM_REGS = 4;

/** A code object that has been loaded. */
export class LoadedModule implements Watched {
  readonly kernel: Kernel;
  readonly source: OpenCLModule;
  /** The hipFunction_t. */
  readonly function: number;
  readonly params: ParamBuffer;
  readonly sites: Watched['sites'];
  readonly printSites: Watched['printSites'];
  readonly faultsAt: number | undefined;
  readonly printsAt: number | undefined;
  readonly launches: Watched['launches'] = [];
  /** Whether launches are noted with the device's records. */
  readonly watched: boolean;
  readonly registers: number;
  readonly localBytes: number;
  readonly constBytes: number;
  readonly maxThreadsPerBlock: number;
  readonly staticBytes: number;
  readonly #context: CudaContext;
  readonly #handle: number;
  readonly #buffers: number[] = [];
  /** Where in the arguments the bytes of dynamic shared memory stand; undefined where the kernel does not ask. */
  readonly #sharedBytesAt: number | undefined;
  readonly #view: DataView;
  #loaded = true;

  constructor(context: CudaContext, kernel: Kernel, { source, code }: HipModule) {
    this.#context = context;
    this.kernel = kernel;
    this.source = source;
    const { cuda, cells } = context;
    context.check(cuda.cuModuleLoadDataEx(cells.at(0), code, 0, 0, 0), 'cuModuleLoadDataEx', {
      about: `loading kernel ${kernelLabel(kernel)} on ${context.name}`,
    });
    this.#handle = cells.long(0);
    context.check(cuda.cuModuleGetFunction(cells.at(0), this.#handle, cString(source.entry)), 'cuModuleGetFunction');
    this.function = cells.long(0);
    this.sites = source.sites;
    this.printSites = source.prints;
    const offsets = offsetsOf(source.args);
    this.params = new ParamBuffer(cuda.ffi, layoutOf(source.args, offsets), END_OF_EXTRA);
    this.#view = new DataView(this.params.bytes.buffer);
    this.faultsAt = this.#own(offsets, 'faults', FAULT_RECORD_BYTES);
    this.printsAt = this.#own(offsets, 'prints', PRINT_BYTES);
    if (source.constants !== undefined) this.#own(offsets, 'constants', source.constants);
    this.watched = this.faultsAt !== undefined || this.printsAt !== undefined;
    const sharedBytes = source.args.findIndex(({ kind }) => kind === 'sharedBytes');
    this.#sharedBytesAt = offsets[sharedBytes];
    this.registers = this.#attribute(NUM_REGS);
    this.localBytes = this.#attribute(LOCAL_SIZE_BYTES);
    this.constBytes = this.#attribute(CONST_SIZE_BYTES);
    this.maxThreadsPerBlock = this.#attribute(MAX_THREADS_PER_BLOCK);
    this.staticBytes = Math.max(source.staticSharedBytes, this.#attribute(SHARED_SIZE_BYTES));
  }

  /** Stores what changes from launch to launch, but for the launch's number. */
  write(args: LaunchArgs, sharedBytes: number): void {
    this.params.write(args);
    if (this.#sharedBytesAt !== undefined) this.#view.setUint32(this.#sharedBytesAt, sharedBytes, true);
  }

  #attribute(which: number): number {
    const { cuda, cells } = this.#context;
    this.#context.check(cuda.cuFuncGetAttribute(cells.at(0), which, this.function), 'cuFuncGetAttribute');
    return cells.int(0);
  }

  /** Makes a buffer of the module's own, zero unless it has contents, and stores its address; undefined where no argument takes it. */
  #own(offsets: readonly number[], kind: OpenCLArg['kind'], contents: number | Uint8Array): number | undefined {
    const offset = offsets[this.source.args.findIndex((arg) => arg.kind === kind)];
    if (offset === undefined) return undefined;
    const { cuda, cells } = this.#context;
    const bytes = typeof contents === 'number' ? contents : contents.length;
    this.#context.check(cuda.cuMemAlloc(cells.at(0), bytes), 'cuMemAlloc');
    const at = cells.long(0);
    this.#buffers.push(at);
    const [result, api] =
      typeof contents === 'number'
        ? [cuda.cuMemsetD8Async(at, 0, bytes, 0), 'cuMemsetD8Async']
        : [cuda.cuMemcpyHtoDAsync(at, contents, bytes, 0), 'cuMemcpyHtoDAsync'];
    this.#context.check(result, api);
    // Launches on streams that do not wait for the default stream find it so.
    this.#context.check(cuda.cuStreamSynchronize(0), 'cuStreamSynchronize');
    this.#view.setBigUint64(offset, BigInt(at), true);
    return at;
  }

  /** Twice is a no-op. */
  unload(records: LaunchRecords): void {
    if (!this.#loaded) return;
    this.#loaded = false;
    records.forget(this);
    const { cuda } = this.#context;
    // Waits for the work that may still use them.
    for (const buffer of this.#buffers) this.#context.check(cuda.cuMemFree(buffer), 'cuMemFree');
    this.#context.check(cuda.cuModuleUnload(this.#handle), 'cuModuleUnload');
  }
}

/** Bytes of an argument. */
function sizeOf(arg: OpenCLArg): number {
  switch (arg.kind) {
    case 'value':
      return arg.size;
    case 'launchNumber':
    case 'sharedBytes':
      return 4;
    default:
      return 8;
  }
}

/** Where each argument is: one after the other, each at a multiple of its size, as C has them in a struct. */
export function offsetsOf(args: readonly OpenCLArg[]): readonly number[] {
  let end = 0;
  return args.map((arg) => {
    const size = sizeOf(arg);
    const at = Math.ceil(end / size) * size;
    end = at + size;
    return at;
  });
}

/** The user's arguments, which come first, and the launch's number. */
function layoutOf(args: readonly OpenCLArg[], offsets: readonly number[]): ParamLayout {
  const params: PtxParam[] = [];
  args.forEach((arg, i) => {
    const offset = offsets[i] ?? 0;
    if (arg.kind === 'pointer') params.push({ type: 'ptr', offset, size: 8 });
    else if (arg.kind === 'value') params.push({ type: arg.type, offset, size: arg.size });
  });
  const number = args.findIndex(({ kind }) => kind === 'launchNumber');
  const last = args.at(-1);
  return {
    params,
    paramBytes: last === undefined ? 0 : (offsets.at(-1) ?? 0) + sizeOf(last),
    launchNumber: number < 0 ? undefined : offsets[number],
  };
}
