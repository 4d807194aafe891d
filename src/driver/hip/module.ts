/**
 * One form of a kernel on a HIP device: its code object, its packed arguments, and its records.
 *
 * HIP C++ has no symbols for records that the host could find by name in all versions: they come as arguments, as in OpenCL.
 * HIP runtime API reference, section "Module Management".
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { OpenCLArg, OpenCLModule } from '../../compiler/render/opencl/module.ts';
import { FAULTS, PRINTS } from '../../compiler/render/reports.ts';
import type { CudaContext } from '../cuda-api/context.ts';
import { LoadedModule } from '../cuda-api/module.ts';
import { type PackedParam, ParamBuffer, type ParamLayout } from '../cuda-api/params.ts';
import type { Dim3, LaunchArgs } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import type { GridPart } from '../parts.ts';
import type { HipModule } from './compile.ts';
import { END_OF_EXTRA } from './copy-kernels.ts';

/** A code object that has been loaded. */
export class HipLoaded extends LoadedModule {
  readonly source: OpenCLModule;
  readonly params: ParamBuffer;
  readonly faultsAt: number | undefined;
  readonly printsAt: number | undefined;
  readonly #buffers: number[] = [];
  /** Where in the arguments the bytes of dynamic shared memory stand; undefined where the kernel does not ask. */
  readonly #sharedBytesAt: number | undefined;
  readonly #offsets: readonly number[];
  readonly #view: DataView;

  constructor(context: CudaContext, kernel: Kernel, { source, code }: HipModule) {
    super(context, kernel, loadCode(context, kernel, code), source);
    this.source = source;
    const offsets = offsetsOf(source.args);
    this.#offsets = offsets;
    this.params = new ParamBuffer(context.cuda.ffi, layoutOf(source.args, offsets), END_OF_EXTRA);
    this.#view = new DataView(this.params.bytes.buffer);
    this.faultsAt = this.#own(offsets, 'faults', FAULTS.bytes);
    this.printsAt = this.#own(offsets, 'prints', PRINTS.bytes);
    if (source.constants !== undefined) this.#own(offsets, 'constants', source.constants);
    const sharedBytes = source.args.findIndex(({ kind }) => kind === 'sharedBytes');
    this.#sharedBytesAt = offsets[sharedBytes];
  }

  /** Stores what changes from launch to launch, but for the launch's number. */
  write(args: LaunchArgs, sharedBytes: number): void {
    this.params.write(args);
    if (this.#sharedBytesAt !== undefined) this.#view.setUint32(this.#sharedBytesAt, sharedBytes, true);
  }

  /** Stores which part of a grid the next launch is. */
  writePart({ first }: GridPart, grid: Dim3): void {
    this.source.args.forEach((arg, i) => {
      const at = this.#offsets[i] ?? 0;
      if (arg.kind === 'firstBlock') this.#view.setUint32(at, first[arg.axis], true);
      else if (arg.kind === 'blocks') this.#view.setUint32(at, grid[arg.axis], true);
    });
  }

  /** Makes a buffer of the module's own, zero unless it has contents, and stores its address; undefined where no argument takes it. */
  #own(offsets: readonly number[], kind: OpenCLArg['kind'], contents: number | Uint8Array): number | undefined {
    const offset = offsets[this.source.args.findIndex((arg) => arg.kind === kind)];
    if (offset === undefined) return undefined;
    const { cuda, out } = this.context;
    const bytes = typeof contents === 'number' ? contents : contents.length;
    this.context.check(cuda.cuMemAlloc(out.at(0), bytes), 'cuMemAlloc');
    const at = out.long(0);
    this.#buffers.push(at);
    const [result, api] =
      typeof contents === 'number'
        ? [cuda.cuMemsetD8Async(at, 0, bytes, 0), 'cuMemsetD8Async']
        : [cuda.cuMemcpyHtoDAsync(at, contents, bytes, 0), 'cuMemcpyHtoDAsync'];
    this.context.check(result, api);
    // Launches on streams that do not wait for the default stream find it so.
    this.context.check(cuda.cuStreamSynchronize(0), 'cuStreamSynchronize');
    this.#view.setBigUint64(offset, BigInt(at), true);
    return at;
  }

  protected override release(): void {
    // Waits for the work that may still use them.
    for (const buffer of this.#buffers) this.context.check(this.context.cuda.cuMemFree(buffer), 'cuMemFree');
  }
}

/** Loads a code object; the hipModule_t. */
function loadCode(context: CudaContext, kernel: Kernel, code: Uint8Array): number {
  const { cuda, out } = context;
  context.check(cuda.cuModuleLoadDataEx(out.at(0), code, 0, 0, 0), 'cuModuleLoadDataEx', {
    about: `loading kernel ${kernelLabel(kernel)} on ${context.name}`,
  });
  return out.long(0);
}

/** Bytes of an argument. */
function sizeOf(arg: OpenCLArg): number {
  switch (arg.kind) {
    case 'value':
      return arg.size;
    case 'launchNumber':
    case 'sharedBytes':
    case 'firstBlock':
    case 'blocks':
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
  const params: PackedParam[] = [];
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
