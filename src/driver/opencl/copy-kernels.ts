/**
 * Strided copies and fills on the device: one kernel for each unit of 1 to 16 bytes, over up to eight strided axes, in OpenCL C.
 *
 * A work item takes every n-th unit: index → (quotient, remainder) by multiplication (`divider` in launches.ts), remainder × stride
 * added to both offsets. The parameters come by value, as `pack` writes them.
 */
import { type CopyLaunch, MAX_AXES, PARAMETERS, pack, type Unit } from '../copies/launches.ts';
import type { OpenCLContext } from './context.ts';
import type { BuiltProgram, Programs } from './programs.ts';
import type { OpenCLStream, Queues } from './queues.ts';

/** Work items of a group, and groups at most. */
const GROUP = 64;
const MAX_GROUPS = 4096;

const TYPES: Record<Unit, string> = { 1: 'uchar', 2: 'ushort', 4: 'uint', 8: 'ulong', 16: 'uint4' };

/** The text of a copy or a fill. */
export function copyText(kind: 'copy' | 'fill', unit: Unit): string {
  const type = TYPES[unit];
  const copies = kind === 'copy';
  return `
typedef struct { uint n, multiplier, shift, unused; long t, s; } axis_t;
typedef struct { ulong target, source; uint count, rank; ulong unused; uint4 pattern; axis_t axes[${MAX_AXES}]; } parameters_t;
typedef union { uint4 whole; ${type} unit; } pattern_t;

kernel void ${entryName(kind, unit)}(global uchar *target${copies ? ', global const uchar *source' : ''}, const parameters_t p) {
${copies ? '' : '  pattern_t pattern;\n  pattern.whole = p.pattern;\n'}  const uint step = (uint)get_global_size(0);
  for (uint i = (uint)get_global_id(0); i < p.count; i += step) {
    ulong t = p.target${copies ? ', s = p.source' : ''};
    uint rest = i;
    for (uint a = 0; a < p.rank; a++) {
      const uint q = (mul_hi(rest, p.axes[a].multiplier) + rest) >> p.axes[a].shift;
      const long k = rest - q * p.axes[a].n;
      t += (ulong)(k * p.axes[a].t);
${copies ? '      s += (ulong)(k * p.axes[a].s);\n' : ''}      rest = q;
    }
    *(global ${type} *)(target + t) = ${copies ? `*(global const ${type} *)(source + s)` : 'pattern.unit'};
  }
}
`;
}

export function entryName(kind: 'copy' | 'fill', unit: Unit): string {
  return `tsamba_${kind}_${unit}`;
}

/** The copy kernels of one device, built when first needed. */
export class CopyKernels {
  readonly #context: OpenCLContext;
  readonly #programs: Programs;
  readonly #queues: Queues;
  readonly #built = new Map<string, { readonly program: BuiltProgram; readonly kernel: number }>();
  readonly #parameters: DataView;
  readonly #address: number;
  /** [global size, local size, a cl_mem] */
  readonly #words: BigUint64Array = new BigUint64Array(new ArrayBuffer(128));
  readonly #wordsAddress: number;

  constructor(context: OpenCLContext, programs: Programs, queues: Queues) {
    this.#context = context;
    this.#programs = programs;
    this.#queues = queues;
    this.#parameters = new DataView(new ArrayBuffer(PARAMETERS.bytes));
    const { ffi } = context.cl;
    this.#address = Number(ffi.address(this.#parameters));
    this.#wordsAddress = Number(ffi.address(this.#words));
  }

  /** Enqueues launches; their targets and sources are offsets in the buffers. `source` is 0 for fills. */
  run(
    launches: readonly CopyLaunch[],
    stream: OpenCLStream,
    target: number,
    source: number,
    pattern?: Uint8Array,
  ): void {
    for (const launch of launches) {
      const kernel = this.#kernel(pattern === undefined ? 'copy' : 'fill', launch.unit);
      pack(launch, this.#parameters, pattern);
      this.#setBuffer(kernel, 0, target);
      if (pattern === undefined) this.#setBuffer(kernel, 1, source);
      this.#set(kernel, pattern === undefined ? 2 : 1, PARAMETERS.bytes, this.#address);
      const groups = Math.min(MAX_GROUPS, Math.ceil(launch.count / GROUP));
      this.#words[0] = launch.ordered ? 1n : BigInt(groups * GROUP);
      this.#words[1] = launch.ordered ? 1n : BigInt(GROUP);
      const at = this.#wordsAddress;
      const queue = this.#queues.begin(stream);
      const result = this.#context.cl.clEnqueueNDRangeKernel(queue, kernel, 1, 0, at, at + 8, 0, 0, 0);
      this.#context.check(result, 'clEnqueueNDRangeKernel');
    }
  }

  #setBuffer(kernel: number, index: number, handle: number): void {
    this.#words[2] = BigInt(handle);
    this.#set(kernel, index, 8, this.#wordsAddress + 16);
  }

  #set(kernel: number, index: number, size: number, at: number): void {
    this.#context.check(this.#context.cl.clSetKernelArg(kernel, index, size, at), 'clSetKernelArg');
  }

  #kernel(kind: 'copy' | 'fill', unit: Unit): number {
    const name = entryName(kind, unit);
    let built = this.#built.get(name);
    if (built === undefined) {
      const program = this.#programs.build(copyText(kind, unit), '-cl-std=CL1.2', name);
      built = { program, kernel: this.#programs.kernel(program, name) };
      this.#built.set(name, built);
    }
    return built.kernel;
  }

  close(): void {
    for (const { program, kernel } of this.#built.values()) {
      this.#context.cl.clReleaseKernel(kernel);
      this.#programs.release(program);
    }
    this.#built.clear();
  }
}
