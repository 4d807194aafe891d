/**
 * For tests: builds and runs rendered kernels on PoCL by plain calls of the OpenCL API, and holds what they leave against the
 * reference interpreter. In a process of its own: see differences.testing.ts.
 */

import { constant } from '../../compiler/ir/builder.ts';
import { type Value, writeElement } from '../../compiler/ir/evaluate.ts';
import { type InterpretFault, interpret } from '../../compiler/ir/interpret.ts';
import type { ValueType } from '../../compiler/ir/ops.ts';
import type { Sample } from '../../compiler/ir/testing.ts';
import type { OpenCLModule, OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import { FAULT, FAULTS, PRINTS } from '../../compiler/render/reports.ts';
import type { Address, AsyncNativeFunction, Ffi } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { readFault } from '../fault-message.ts';
import { openclPipeline } from './compile.ts';

const PROTOTYPES = {
  clGetPlatformIDs: 'int clGetPlatformIDs(uint32_t, size_t, size_t)',
  clGetPlatformInfo: 'int clGetPlatformInfo(size_t, uint32_t, size_t, size_t, size_t)',
  clGetDeviceIDs: 'int clGetDeviceIDs(size_t, uint64_t, uint32_t, size_t, size_t)',
  clCreateContext: 'size_t clCreateContext(size_t, uint32_t, size_t, size_t, size_t, size_t)',
  clCreateCommandQueue: 'size_t clCreateCommandQueue(size_t, size_t, uint64_t, size_t)',
  clCreateProgramWithSource: 'size_t clCreateProgramWithSource(size_t, uint32_t, size_t, size_t, size_t)',
  clBuildProgram: 'int clBuildProgram(size_t, uint32_t, size_t, size_t, size_t, size_t)',
  clGetProgramBuildInfo: 'int clGetProgramBuildInfo(size_t, size_t, uint32_t, size_t, size_t, size_t)',
  clCreateKernel: 'size_t clCreateKernel(size_t, size_t, size_t)',
  clCreateBuffer: 'size_t clCreateBuffer(size_t, uint64_t, size_t, size_t, size_t)',
  clSetKernelArg: 'int clSetKernelArg(size_t, uint32_t, size_t, size_t)',
  clEnqueueNDRangeKernel:
    'int clEnqueueNDRangeKernel(size_t, size_t, uint32_t, size_t, size_t, size_t, uint32_t, size_t, size_t)',
  clEnqueueReadBuffer:
    'int clEnqueueReadBuffer(size_t, size_t, uint32_t, size_t, size_t, size_t, uint32_t, size_t, size_t)',
  clEnqueueWriteBuffer:
    'int clEnqueueWriteBuffer(size_t, size_t, uint32_t, size_t, size_t, size_t, uint32_t, size_t, size_t)',
  clFinish: 'int clFinish(size_t)',
  clReleaseMemObject: 'int clReleaseMemObject(size_t)',
  clReleaseKernel: 'int clReleaseKernel(size_t)',
  clReleaseProgram: 'int clReleaseProgram(size_t)',
} as const;

type Calls = Readonly<Record<keyof typeof PROTOTYPES, AsyncNativeFunction>>;

const PROGRAM_BUILD_LOG = 0x1183;
const PLATFORM_NAME = 0x0902;
const DEVICE_TYPE_CPU = 2n;
const COPY_HOST_PTR = 32n;
/** The number of every launch. */
const LAUNCH = 77;

/** What PoCL's CPU device can do. */
export const POCL: OpenCLTarget = {
  dialect: 'opencl',
  fp64: true,
  int64Atomics: 'extended',
  fastFma: false,
  correctlyRounded: true,
  maxConstantBytes: 65536,
};

/** What a kernel has left. */
export interface Left {
  readonly memory: Uint8Array;
  readonly fault: Uint8Array;
  readonly prints: Uint8Array;
  readonly module: OpenCLModule;
}

export class Pocl {
  readonly #ffi: Ffi;
  readonly #cl: Calls;
  readonly #cell: BigUint64Array<ArrayBuffer> = new BigUint64Array(new ArrayBuffer(1024));
  readonly #device: Address;
  readonly #context: Address;
  readonly #queue: Address;

  /** Why there is no PoCL, or it. */
  static open(): Pocl | string {
    const { ffi, reason } = loadFfi();
    if (!ffi) return reason ?? 'no koffi';
    const { library, reasons } = ffi.load(['libOpenCL.so.1']);
    if (!library) return reasons.join('; ');
    const calls = Object.entries(PROTOTYPES).map(([name, prototype]) => [name, library.function(prototype)]);
    try {
      return new Pocl(ffi, Object.fromEntries(calls) as Calls);
    } catch (error) {
      return String(error);
    }
  }

  constructor(ffi: Ffi, cl: Calls) {
    this.#ffi = ffi;
    this.#cl = cl;
    this.#device = this.#find();
    this.#cell[0] = BigInt(this.#device);
    this.#context = this.#made(cl.clCreateContext(0, 1, this.#at(0), 0, 0, this.#at(8)), 'clCreateContext');
    this.#queue = this.#made(
      cl.clCreateCommandQueue(this.#context, this.#device, 0, this.#at(8)),
      'clCreateCommandQueue',
    );
  }

  /** The CPU device of the platform that is called so. */
  #find(): Address {
    const cl = this.#cl;
    this.#ok(cl.clGetPlatformIDs(8, this.#at(16), this.#at(0)), 'clGetPlatformIDs');
    const platforms = [...this.#cell.subarray(16, 16 + Number(this.#cell[0]))];
    for (const platform of platforms) {
      const name = Buffer.alloc(256);
      cl.clGetPlatformInfo(platform, PLATFORM_NAME, name.length, this.#ffi.address(name), 0);
      if (!name.toString().startsWith('Portable Computing Language')) continue;
      this.#ok(cl.clGetDeviceIDs(platform, DEVICE_TYPE_CPU, 1, this.#at(0), 0), 'clGetDeviceIDs');
      return this.#cell[0] ?? 0n;
    }
    throw new Error('no platform of PoCL');
  }

  /** Address of a cell. */
  #at(k: number): Address {
    return this.#ffi.address(this.#cell.subarray(k));
  }

  #ok(result: unknown, what: string): void {
    if (Number(result) !== 0) throw new Error(`${what}: ${result}`);
  }

  #made(handle: unknown, what: string): Address {
    const error = new Int32Array(this.#cell.buffer, 64, 1)[0] ?? 0;
    if (error !== 0) throw new Error(`${what}: ${error}`);
    return handle as Address;
  }

  /** Builds a program; throws with the compiler's words. */
  build(
    text: string,
    entry: string,
    options: readonly string[],
  ): { readonly program: Address; readonly kernel: Address } {
    const cl = this.#cl;
    const source = Buffer.from(`${text}\0`);
    this.#cell[0] = BigInt(this.#ffi.address(source));
    const program = this.#made(
      cl.clCreateProgramWithSource(this.#context, 1, this.#at(0), 0, this.#at(8)),
      'clCreateProgramWithSource',
    );
    const flags = Buffer.from(`${options.join(' ')}\0`);
    const result = cl.clBuildProgram(program, 0, 0, this.#ffi.address(flags), 0, 0);
    if (Number(result) !== 0) {
      const log = Buffer.alloc(65536);
      cl.clGetProgramBuildInfo(program, this.#device, PROGRAM_BUILD_LOG, log.length, this.#ffi.address(log), 0);
      throw new Error(`clBuildProgram: ${result}\n${log.toString().split('\0', 1)[0]}\n${text}`);
    }
    const name = Buffer.from(`${entry}\0`);
    const kernel = this.#made(cl.clCreateKernel(program, this.#ffi.address(name), this.#at(8)), 'clCreateKernel');
    return { program, kernel };
  }

  /** Renders, builds and runs a sample on a copy of its memory. */
  run(sample: Sample, target: OpenCLTarget = POCL): Left {
    const cl = this.#cl;
    const module = openclPipeline.compile(sample.kernel, target, { name: sample.name });
    const { program, kernel } = this.build(module.text, module.entry, module.buildOptions);
    const left: Left = {
      memory: sample.memory.slice(),
      fault: new Uint8Array(FAULTS.bytes),
      prints: new Uint8Array(PRINTS.bytes),
      module,
    };
    const buffers = new Map<string, readonly [Uint8Array, Address]>();
    const buffer = (kind: string, bytes: Uint8Array): Address => {
      const known = buffers.get(kind);
      if (known) return known[1];
      const size = Math.max(bytes.length, 8);
      const copy = new Uint8Array(size);
      copy.set(bytes);
      const made = this.#made(
        cl.clCreateBuffer(this.#context, COPY_HOST_PTR, size, this.#ffi.address(copy), this.#at(8)),
        'clCreateBuffer',
      );
      buffers.set(kind, [bytes, made]);
      return made;
    };
    for (const [k, arg] of module.args.entries()) {
      const { value, size } = this.#argument(arg, sample, left, buffer);
      const at = value === undefined ? 0 : this.#ffi.address(value);
      this.#ok(cl.clSetKernelArg(kernel, k, size, at), `clSetKernelArg ${k} (${arg.kind})`);
    }
    const { grid, block } = sample.launch;
    const sizes = new BigUint64Array([...grid.map((n, i) => BigInt(n * (block[i] ?? 1))), ...block.map(BigInt)]);
    const [global, local] = [this.#ffi.address(sizes), this.#ffi.address(sizes.subarray(3))];
    this.#ok(cl.clEnqueueNDRangeKernel(this.#queue, kernel, 3, 0, global, local, 0, 0, 0), 'clEnqueueNDRangeKernel');
    this.#ok(cl.clFinish(this.#queue), 'clFinish');
    for (const [bytes, made] of buffers.values()) {
      if (bytes.length > 0)
        this.#ok(
          cl.clEnqueueReadBuffer(this.#queue, made, 1, 0, bytes.length, this.#ffi.address(bytes), 0, 0, 0),
          'clEnqueueReadBuffer',
        );
      cl.clReleaseMemObject(made);
    }
    cl.clReleaseKernel(kernel);
    cl.clReleaseProgram(program);
    return left;
  }

  #argument(
    arg: OpenCLModule['args'][number],
    sample: Sample,
    left: Left,
    buffer: (kind: string, bytes: Uint8Array) => Address,
  ): { readonly value: Uint8Array | undefined; readonly size: number } {
    const handle = (kind: string, bytes: Uint8Array) => ({ value: word('u64', buffer(kind, bytes)), size: 8 });
    switch (arg.kind) {
      case 'buffer':
        return handle('memory', left.memory);
      case 'faults':
        return handle('faults', left.fault);
      case 'prints':
        return handle('prints', left.prints);
      case 'constants':
        return handle('constants', (left.module.constants ?? new Uint8Array()).slice());
      case 'offset':
      case 'pointer':
        return { value: word('u64', BigInt(sample.args[arg.param] ?? 0)), size: 8 };
      case 'zero':
        return { value: word('u32', 0), size: 4 };
      case 'launchNumber':
        return { value: word('u32', LAUNCH), size: 4 };
      case 'sharedBytes':
        return { value: word('u32', sample.launch.sharedBytes ?? 0), size: 4 };
      case 'firstBlock':
        return { value: word('u32', 0), size: 4 };
      case 'blocks':
        return { value: word('u32', sample.launch.grid[arg.axis]), size: 4 };
      case 'shared':
        return { value: undefined, size: Math.max(sample.launch.sharedBytes ?? 0, 1) };
      case 'value':
        return { value: word(arg.type, sample.args[arg.param] ?? 0), size: arg.size };
    }
  }
}

function word(type: ValueType, value: Value): Uint8Array {
  const bytes = new Uint8Array(8);
  const e = constant(type, value);
  if (e.op === 'const') writeElement(new DataView(bytes.buffer), 0, type, e.value);
  return bytes;
}

/** Where a fault is, as text. */
function faultText(fault: Uint8Array, { sites }: OpenCLModule): string {
  const view = new DataView(fault.buffer);
  const at = FAULTS.records + LAUNCH * FAULT.bytes;
  if (view.getUint32(at + FAULT.launch, true) !== LAUNCH) return '';
  const { site, thread, block } = readFault(view, at);
  return `${sites[site]?.kind} ${sites[site]?.pos.start} thread ${thread} block ${block}`;
}

function expectedFault(fault: InterpretFault | undefined): string {
  return fault ? `${fault.kind} ${fault.pos.start} thread ${fault.thread} block ${fault.block}` : '';
}

/** What differs from what the interpreter leaves, if anything does. Of kernels that fail, only whether and how is looked at. */
export function difference(pocl: Pocl, sample: Sample, target: OpenCLTarget = POCL): string | undefined {
  const expected = sample.memory.slice();
  const { fault } = interpret(sample.kernel, sample.launch, sample.args, expected);
  let left: Left;
  try {
    left = pocl.run(sample, target);
  } catch (error) {
    return `${sample.name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`;
  }
  const got = faultText(left.fault, left.module);
  if (fault)
    return (got === '') === (fault === undefined)
      ? undefined
      : `${sample.name}: '${got}' for '${expectedFault(fault)}'`;
  if (got !== '') return `${sample.name}: ${got}`;
  const at = left.memory.findIndex((byte, i) => byte !== expected[i]);
  if (at < 0) return undefined;
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(at & -8, (at & -8) + 8)).toString('hex');
  const many = left.memory.reduce((n, byte, i) => (byte === expected[i] ? n : n + 1), 0);
  return `${sample.name}: bytes at ${at & -8} are ${hex(left.memory)}, must be ${hex(expected)}; ${many} differ`;
}
