/**
 * The arguments of a loaded kernel: set when they have changed since the launch before, which most have not.
 *
 * How each is stored is settled when the kernel is loaded. A pointer is two arguments, the buffer that it points into and the offset
 * in it, or the buffer alone in code for whole buffers; as no address is used twice, the same pointer means the same, as long as no
 * buffer is released. OpenCL API specification, clSetKernelArg.
 */
import type { OpenCLArg } from '../../compiler/render/opencl/module.ts';
import { DriverError } from '../../errors.ts';
import type { Dim3, LaunchArgs } from '../driver.ts';
import type { GridPart } from '../parts.ts';
import type { OpenCLContext } from './context.ts';
import type { DeviceBuffer, OpenCLMemory } from './memory.ts';

/** Bytes of an argument's value, 8 at most. */
const SLOT = 8;

/** The cl_mems that a launch takes beside the user's arrays. */
export interface OwnBuffers {
  readonly faults: number;
  readonly prints: number;
  readonly constants: number;
}

/** The arguments of one cl_kernel. */
export class KernelArguments {
  readonly #context: OpenCLContext;
  readonly #memory: OpenCLMemory;
  readonly #kernel: number;
  readonly #args: readonly OpenCLArg[];
  readonly #view: DataView;
  readonly #address: number;
  /** What was set last, by argument; undefined before the first launch. */
  readonly #last: (number | bigint | boolean | undefined)[];
  /** The argument with a pointer's offset, by parameter. */
  readonly #offsetOf = new Map<number, number>();
  /** The buffers that were set last, by argument, and how many had been released then. */
  readonly #buffers: (DeviceBuffer | undefined)[];
  #releases = 0;
  /** Mirrors of host memory that the arguments point into. */
  readonly #mirrors = new Map<number, DeviceBuffer>();
  readonly #label: string;

  constructor(context: OpenCLContext, memory: OpenCLMemory, kernel: number, args: readonly OpenCLArg[], label: string) {
    this.#context = context;
    this.#memory = memory;
    this.#kernel = kernel;
    this.#args = args;
    this.#label = label;
    this.#view = new DataView(new ArrayBuffer(Math.max(128, SLOT * args.length)));
    this.#address = Number(context.cl.ffi.address(this.#view));
    this.#last = new Array<undefined>(args.length).fill(undefined);
    this.#buffers = new Array<undefined>(args.length).fill(undefined);
    args.forEach((arg, i) => {
      if (arg.kind === 'offset') this.#offsetOf.set(arg.param, i);
    });
  }

  /** Sets what no launch changes. */
  setOwn(own: OwnBuffers): void {
    this.#args.forEach(({ kind }, i) => {
      if (kind === 'zero') this.#setInt(i, 0);
      else if (kind === 'faults' || kind === 'prints' || kind === 'constants') this.#setLong(i, own[kind]);
    });
  }

  /** Sets the arrays that have changed; false where one begins inside its buffer, for which the code has no argument. */
  setArrays(values: LaunchArgs): boolean {
    const args = this.#args;
    const last = this.#last;
    const stale = this.#releases !== this.#memory.releases;
    for (let i = 0; i < args.length; i++) {
      const arg = args[i] as OpenCLArg;
      if (arg.kind !== 'buffer') continue;
      const value = values[arg.param] ?? 0;
      if ((stale || value !== last[i]) && !this.#setPointer(i, arg.param, value)) return false;
    }
    this.#releases = this.#memory.releases;
    return true;
  }

  /** Sets what else has changed. */
  set(values: LaunchArgs, sharedBytes: number, launchNumber: number): void {
    const args = this.#args;
    const last = this.#last;
    for (let i = 0; i < args.length; i++) {
      const arg = args[i] as OpenCLArg;
      switch (arg.kind) {
        case 'value': {
          const value = values[arg.param] ?? 0;
          // Of floats, 0 and -0 differ.
          if (!Object.is(value, last[i])) {
            this.#store(SLOT * i, arg.type, value);
            this.#set(i, arg.size, this.#address + SLOT * i);
            last[i] = value;
          }
          break;
        }
        case 'launchNumber':
          this.#setInt(i, launchNumber);
          break;
        case 'sharedBytes':
          if (last[i] !== sharedBytes) this.#setInt(i, sharedBytes);
          break;
        case 'shared':
          if (last[i] === sharedBytes) break;
          this.#set(i, Math.max(16, sharedBytes), 0);
          last[i] = sharedBytes;
          break;
        default:
      }
    }
  }

  /** Sets which part of a grid the next launch is. */
  setPart({ first }: GridPart, grid: Dim3): void {
    this.#args.forEach((arg, i) => {
      if (arg.kind === 'firstBlock') this.#setInt(i, first[arg.axis]);
      else if (arg.kind === 'blocks') this.#setInt(i, grid[arg.axis]);
    });
  }

  /** Mirrors of host memory that this launch reaches, or those that these parameters reach; the arguments have been set. */
  mirrors(params?: ReadonlySet<number>): ReadonlySet<DeviceBuffer> {
    const reached = [...this.#mirrors].filter(([param]) => params?.has(param) ?? true);
    return new Set(reached.map(([, buffer]) => buffer));
  }

  #setPointer(i: number, param: number, value: number | bigint | boolean): boolean {
    const address = Number(value);
    const buffer = address === 0 ? undefined : this.#memory.find(address);
    if (address !== 0 && buffer === undefined) {
      throw new DriverError(
        'E_INVALID_POINTER',
        `launching kernel ${this.#label}: argument ${param + 1} points to no memory of ${this.#context.name}: it may have been freed, or be another device's`,
        { api: 'clSetKernelArg' },
      );
    }
    if (value === this.#last[i] && buffer === this.#buffers[i]) return true;
    const offset = address - (buffer?.start ?? 0);
    const at = this.#offsetOf.get(param);
    if (at === undefined && offset !== 0) return false;
    this.#last[i] = undefined;
    this.#buffers[i] = buffer;
    this.#setLong(i, buffer?.handle ?? 0);
    if (at !== undefined) this.#setLong(at, offset);
    this.#last[i] = value;
    if (buffer?.mirror !== undefined) this.#mirrors.set(param, buffer);
    else this.#mirrors.delete(param);
    return true;
  }

  #store(at: number, type: string, value: number | bigint | boolean): void {
    const view = this.#view;
    switch (type) {
      case 'f32':
        view.setFloat32(at, Number(value), true);
        break;
      case 'f64':
        view.setFloat64(at, Number(value), true);
        break;
      case 'i64':
      case 'u64':
        view.setBigInt64(at, BigInt.asIntN(64, BigInt(value)), true);
        break;
      case 'bool':
        view.setUint8(at, value === true || value === 1 ? 1 : 0);
        break;
      default:
        view.setInt32(at, Number(value), true);
    }
  }

  #setLong(i: number, value: number): void {
    const at = SLOT * i;
    this.#view.setUint32(at, value, true);
    this.#view.setUint32(at + 4, value / 2 ** 32, true);
    this.#set(i, 8, this.#address + at);
  }

  #setInt(i: number, value: number): void {
    const at = SLOT * i;
    this.#view.setInt32(at, value, true);
    this.#set(i, 4, this.#address + at);
    this.#last[i] = value;
  }

  #set(i: number, size: number, at: number): void {
    const result = this.#context.cl.clSetKernelArg(this.#kernel, i, size, at);
    if (result !== 0) {
      throw this.#context.failure(result, 'clSetKernelArg', { about: `argument ${i} of kernel ${this.#label}` });
    }
  }
}
