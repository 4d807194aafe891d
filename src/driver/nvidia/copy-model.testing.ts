/**
 * A model of what copies use of libcuda, over ArrayBuffers: no GPU, but every call with its meaning and its refusals.
 *
 * Kernels are interpreted from the parameters that they are launched with, thread by thread as the PTX does. Every byte written
 * is noted, so that tests can say that nothing else was touched.
 */

import { PARAMETERS } from '../copies/launches.ts';
import type { CopyDevice } from '../cuda-api/copies/device.ts';
import { PER_THREAD } from '../cuda-api/copies/kernel-runner.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import { cudaCopies } from './copies.ts';

interface Region {
  readonly base: number;
  readonly bytes: Uint8Array;
  readonly device: boolean;
}

const HOST = 1;
const DEVICE = 2;

/** Device and host memory at made-up addresses, and the calls. */
export class CudaModel {
  /** Addresses of written bytes. */
  readonly written: Set<number> = new Set<number>();
  /** Names of the calls made, in order. */
  readonly calls: string[] = [];
  live: number = 0;
  /** Host memory of which a part is registered: the driver refuses copies of all of it. */
  partly: ArrayBufferLike | undefined;
  readonly #regions: Region[] = [];
  readonly #hosts = new Map<ArrayBufferLike, number>();
  readonly #kernels: string[] = [''];
  #next = 2 ** 33;

  /** Device memory whose address is a multiple of 256, plus `shift`. */
  allocate(bytes: number, shift = 0): number {
    return this.#place(new Uint8Array(bytes), true) + shift;
  }

  bytesAt(address: number, count: number): Uint8Array {
    const region = this.#regions.find(({ base, bytes }) => base <= address && address + count <= base + bytes.length);
    if (region === undefined) throw new Error(`no memory at ${address}, ${count} bytes`);
    return region.bytes.subarray(address - region.base, address - region.base + count);
  }

  /** The address of host memory, as the FFI gives it. */
  address(view: ArrayBufferView): number {
    let base = this.#hosts.get(view.buffer);
    if (base === undefined) {
      base = this.#place(new Uint8Array(view.buffer), false);
      this.#hosts.set(view.buffer, base);
    }
    return base + view.byteOffset;
  }

  /** The surroundings of `Copies`. */
  get device(): CopyDevice {
    const cuda = this.#cuda();
    return {
      cuda,
      platform: cudaCopies(cuda),
      enter: () => undefined,
      streamOf: () => 0,
      check: (result, api) => {
        if (result !== 0) throw new Error(`${api} gave ${result}`);
      },
      synchronizeAndCheck: () => undefined,
      checkFaults: () => undefined,
      synchronizeStream: () => undefined,
      allocate: (bytes) => {
        this.live++;
        return this.allocate(bytes);
      },
      free: () => {
        this.live--;
      },
    };
  }

  #place(bytes: Uint8Array, device: boolean): number {
    const base = this.#next;
    this.#next += Math.ceil((bytes.length + 1) / 256) * 256 + 4096;
    this.#regions.push({ base, bytes, device });
    return base;
  }

  #cuda(): Cuda {
    const host = (from: Uint8Array | number): number => (typeof from === 'number' ? from : this.address(from));
    const set = (size: number) => (target: number, value: number, count: number) =>
      this.#set(target, value, size, count);
    const calls: Record<string, (...args: never[]) => number> = {
      cuMemcpyHtoD: (target: number, source: Uint8Array | number, bytes: number) =>
        this.#copy(target, host(source), bytes),
      cuMemcpyDtoH: (target: Uint8Array | number, source: number, bytes: number) =>
        this.#copy(host(target), source, bytes),
      cuMemcpyHtoDAsync: (target: number, source: Uint8Array | number, bytes: number) =>
        this.#copy(target, host(source), bytes),
      cuMemcpyDtoHAsync: (target: Uint8Array | number, source: number, bytes: number) =>
        this.#copy(host(target), source, bytes),
      cuMemcpyDtoDAsync: (target: number, source: number, bytes: number) => this.#copy(target, source, bytes),
      cuMemcpy2DAsync: (copy: Uint8Array) => this.#copyBlock(copy, 2),
      cuMemcpy3DAsync: (copy: Uint8Array) => this.#copyBlock(copy, 3),
      cuMemsetD8Async: set(1),
      cuMemsetD16Async: set(2),
      cuMemsetD32Async: set(4),
      cuPointerGetAttribute: () => 1,
      cuModuleLoadDataEx: (result: number, image: Uint8Array) => this.#result(result, this.#kernel(image)),
      cuModuleGetFunction: (result: number, module: number) => this.#result(result, module),
      cuModuleUnload: () => 0,
      cuLaunchKernel: (...args: number[]) => this.#launch(args),
      cuEventCreate: (result: number) => this.#result(result, 7),
      cuEventRecord: () => 0,
      cuEventQuery: () => 0,
      cuEventDestroy: () => 0,
      cuEventSynchronize: () => 0,
      cuMemHostAlloc: (result: number, bytes: number) =>
        this.#result(result, this.#place(new Uint8Array(bytes), false)),
      cuMemFreeHost: () => 0,
      cuStreamCreate: (result: number) => this.#result(result, 9),
      cuStreamDestroy: () => 0,
      cuStreamSynchronize: () => 0,
      cuStreamWaitEvent: () => 0,
    };
    const noted = Object.entries(calls).map(([name, call]) => [
      name,
      (...args: never[]) => {
        this.calls.push(name);
        return call(...args);
      },
    ]);
    const ffi = {
      address: (view: ArrayBufferView) => this.address(view),
      view: (address: number, bytes: number) => {
        const found = this.bytesAt(address, bytes);
        return found.length === found.buffer.byteLength ? found.buffer : found.slice().buffer;
      },
      load: () => ({ reasons: [] }),
    };
    return { ...Object.fromEntries(noted), ffi } as unknown as Cuda;
  }

  #result(address: number, value: number): number {
    const bytes = this.bytesAt(address, 8);
    new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(0, BigInt(value), true);
    return 0;
  }

  #refused(address: number): boolean {
    return this.partly !== undefined && this.bytesAt(address, 1).buffer === this.partly;
  }

  #write(address: number, bytes: Uint8Array): void {
    this.bytesAt(address, bytes.length).set(bytes);
    for (let k = 0; k < bytes.length; k++) this.written.add(address + k);
  }

  #copy(target: number, source: number, bytes: number): number {
    if (target < source + bytes && source < target + bytes) return 1;
    if (this.#refused(target) || this.#refused(source)) return 1;
    this.#write(target, this.bytesAt(source, bytes).slice());
    return 0;
  }

  #set(target: number, value: number, size: number, count: number): number {
    if (target % size !== 0) return 1;
    this.#write(
      target,
      new Uint8Array(count * size).map((_, k) => Math.floor(value / 2 ** (8 * (k % size))) & 255),
    );
    return 0;
  }

  /** CUDA_MEMCPY2D and 3D, as the manual lays them out. */
  #copyBlock(copy: Uint8Array, dimensions: 2 | 3): number {
    const words = [...new BigUint64Array(copy.slice().buffer)].map(Number);
    const sideWords = dimensions === 2 ? 7 : 11;
    const [width = 0, height = 0, depth = 1] = words.slice(2 * sideWords);
    const [from, to] = [0, sideWords].map((at) => {
      const side = words.slice(at, at + sideWords);
      if (side[0] !== 0 || side[1] !== 0) throw new Error('offsets are not used');
      const type = side[dimensions === 2 ? 2 : 4];
      const [hostAt, deviceAt] = dimensions === 2 ? [3, 4] : [5, 6];
      const pitch = side[dimensions === 2 ? 6 : 9] ?? 0;
      const rows = dimensions === 2 ? height : (side[10] ?? 0);
      if (type !== HOST && type !== DEVICE) throw new Error(`memory type ${type}`);
      return { address: side[type === HOST ? hostAt : deviceAt] ?? 0, pitch, rows };
    });
    if (from === undefined || to === undefined || this.#refused(from.address) || this.#refused(to.address)) return 1;
    for (const side of [from, to]) if (side.pitch < width || side.pitch > 2 ** 31 - 1 || side.rows < height) return 1;
    for (let z = 0; z < depth; z++) {
      for (let y = 0; y < height; y++) {
        const row = this.bytesAt(from.address + (z * from.rows + y) * from.pitch, width).slice();
        this.#write(to.address + (z * to.rows + y) * to.pitch, row);
      }
    }
    return 0;
  }

  #kernel(image: Uint8Array): number {
    const name = /\.entry (\w+)/.exec(new TextDecoder().decode(image))?.[1];
    return this.#kernels.push(name ?? '') - 1;
  }

  #launch(args: readonly number[]): number {
    const [entry = 0, blocks = 0, , , threads = 0] = args;
    const [, kind, unit] = /tsamba_(copy|fill)_(\d+)/.exec(this.#kernels[entry] ?? '') ?? [];
    const list = this.#words(args[10] ?? 0, 5);
    if (kind === undefined || list[0] !== 1n || list[2] !== 2n || list[4] !== 0n) return 1;
    const [size] = this.#words(Number(list[3]), 1);
    if (size !== BigInt(PARAMETERS.bytes)) return 1;
    const bytes = this.bytesAt(Number(list[1]), PARAMETERS.bytes).slice();
    this.#interpret(new DataView(bytes.buffer), kind === 'copy', Number(unit), blocks, threads);
    return 0;
  }

  #words(address: number, count: number): bigint[] {
    return [...new BigUint64Array(this.bytesAt(address, 8 * count).slice().buffer)];
  }

  /** What the kernel does, in the order of its text: each thread PER_THREAD units a round. */
  #interpret(parameters: DataView, copies: boolean, unit: number, blocks: number, threads: number): void {
    const count = parameters.getUint32(PARAMETERS.count, true);
    const step = blocks * threads * PER_THREAD;
    for (let block = 0; block < blocks; block++) {
      for (let thread = 0; thread < threads; thread++) {
        for (let base = block * threads * PER_THREAD + thread; base < count; base += step) {
          const units = Array.from({ length: PER_THREAD }, (_, k) => base + k * threads).filter((i) => i < count);
          const loads = units.map((i) => {
            const [target, source] = locate(parameters, i);
            if (target % unit !== 0 || (copies && source % unit !== 0)) throw new Error('misaligned address');
            if (!copies) return { target, value: new Uint8Array(parameters.buffer, PARAMETERS.pattern, unit) };
            return { target, value: this.bytesAt(source, unit).slice() };
          });
          for (const { target, value } of loads) this.#write(target, value);
        }
      }
    }
  }
}

/** Addresses of a unit, by the kernel's 32-bit arithmetic. */
function locate(parameters: DataView, index: number): [target: number, source: number] {
  let target = parameters.getBigUint64(PARAMETERS.target, true);
  let source = parameters.getBigUint64(PARAMETERS.source, true);
  let i = index;
  for (let axis = 0; axis < parameters.getUint32(PARAMETERS.rank, true); axis++) {
    const at = PARAMETERS.axes + axis * PARAMETERS.axisBytes;
    const n = parameters.getUint32(at, true);
    const high = Number((BigInt(i) * BigInt(parameters.getUint32(at + 4, true))) >> 32n);
    const quotient = ((high + i) >>> 0) >>> parameters.getUint32(at + 8, true);
    const rest = BigInt((i - Math.imul(quotient, n)) >>> 0);
    target += rest * parameters.getBigInt64(at + 16, true);
    source += rest * parameters.getBigInt64(at + 24, true);
    i = quotient;
  }
  return [Number(BigInt.asUintN(64, target)), Number(BigInt.asUintN(64, source))];
}
