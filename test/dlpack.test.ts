/**
 * DLPack in and out, against a library in C that makes and takes tensors: nothing is copied, and each deleter is called once.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { NativeLibrary } from '../src/ffi/ffi.ts';
import { loadFfi } from '../src/ffi/koffi.ts';
import { bf16, cuda, type DeviceNDArray, f8e4m3, f8e5m2, f32, i64, NDArray, ndarray, struct } from '../src/index.ts';
import { collectGarbage } from '../src/memory/collect.ts';
import { Context } from '../src/memory/context.ts';
import { cudaDevices } from '../src/memory/devices.ts';
import { BlockDriver } from './support/block-driver.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-dlpack-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compile(): NativeLibrary | undefined {
  const source = fileURLToPath(new URL('native/dlpack.c', import.meta.url));
  const target = join(folder, 'dlpack.so');
  const { status } = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', target, source]);
  return status === 0 ? loadFfi().ffi?.load([target]).library : undefined;
}

const library = compile();

function native(prototype: string): (...args: readonly unknown[]) => number {
  const call = library?.function(prototype);
  return (...args) => Number(call?.(...args));
}

const deleted = native('int deleted()');
const makeManaged = native('void *make_managed(int, int, int, int, int, int)');
const makeVersioned = native('void *make_versioned(int, int, int, uint32_t, uint64_t, uint8_t, uint8_t)');
const destroyVersioned = native('void destroy_versioned(void *)');
const addTo = native('double add_to(void *, int, double)');
const finish = native('void finish(void *, int)');
const field = native('int64_t field(void *, int, int)');

const CPU = 1;
const CUDA = 2;
const FLOAT = 2;
const READ_ONLY = 1;
const fields = (pointer: number | bigint, version: 0 | 1, ...which: number[]) =>
  which.map((n) => field(pointer, version, n));

async function until(condition: () => boolean): Promise<void> {
  for (let k = 0; k < 50 && !condition(); k++) {
    collectGarbage();
    await setImmediate();
  }
}

describe.skipIf(library === undefined)('DLPack', () => {
  let before = 0;
  beforeEach(() => {
    before = deleted();
  });

  describe.each(['cpu', 'simulator'] as const)('out of the %s device', (device) => {
    beforeEach(() => {
      cuda.selectDevice(device);
    });

    it.each([0, 1] as const)('gives a tensor once, by its capsule or its pointer, version %i', (version) => {
      const d = cuda.toDevice(Float32Array.of(1, 2, 3));
      const used = (run: () => unknown) => expect(run).toThrow(expect.objectContaining({ code: 'E_DLPACK_USED' }));
      const taken = d.toDlpack({ version });
      const back = cuda.fromDlpack(taken) as DeviceNDArray;
      expect(taken.name).toBe(version === 0 ? 'used_dltensor' : 'used_dltensor_versioned');
      used(() => cuda.fromDlpack(taken));
      used(() => cuda.fromDlpack({ ...taken }));
      used(() => cuda.fromDlpack(taken.pointer, { version }));
      taken.release();
      taken.release();
      d.dispose();
      expect(back.get(2)).toBe(3);
      back.dispose();
      used(() => cuda.fromDlpack(taken.pointer, { version }));
    });

    it('says that elements are bfloat16', () => {
      const d = cuda.toDevice(ndarray([1.5, -2], { dtype: bf16 }));
      const tensor = d.toDlpack();
      expect(fields(tensor.pointer, 1, 3, 4, 5)).toEqual([4, 16, 1]);
      const back = cuda.fromDlpack(tensor) as DeviceNDArray;
      expect(back.dtype).toBe(bf16);
      expect(back.get(1)).toBe(-2);
      back.dispose();
      d.dispose();
    });

    it.each([
      [f8e4m3, 10],
      [f8e5m2, 12],
    ] as const)('says that elements are %s', (dtype, code) => {
      const d = cuda.toDevice(ndarray([1.5, -2, 1e9], { dtype }));
      const tensor = d.toDlpack();
      expect(fields(tensor.pointer, 1, 3, 4, 5)).toEqual([code, 8, 1]);
      const back = cuda.fromDlpack(tensor) as DeviceNDArray;
      expect(back.dtype).toBe(dtype);
      expect([back.get(1), back.get(2)]).toEqual([-2, dtype(1e9)]);
      back.dispose();
      d.dispose();
    });

    it('gives no tensor that was released, deleted or renamed', () => {
      const d = cuda.toDevice(Float32Array.of(1, 2, 3));
      const used = (run: () => unknown) => expect(run).toThrow(expect.objectContaining({ code: 'E_DLPACK_USED' }));
      const released = d.toDlpack();
      released.release();
      used(() => cuda.fromDlpack(released));
      used(() => cuda.fromDlpack(released.pointer));
      const elsewhere = d.toDlpack();
      finish(elsewhere.pointer, 1);
      used(() => cuda.fromDlpack(elsewhere));
      const renamed = d.toDlpack();
      renamed.name = 'used_dltensor_versioned';
      used(() => cuda.fromDlpack(renamed));
      expect(() => {
        renamed.name = 'dltensor_versioned';
      }).toThrow(/renamed to 'used_dltensor_versioned'/);
      // It is the taker's now: `release` leaves it alone.
      renamed.release();
      d.dispose();
      expect(addTo(renamed.pointer, 1, 0)).toBe(6);
      finish(renamed.pointer, 1);
    });

    it('outlives its array, and not its device', () => {
      const d = cuda.toDevice(Float32Array.of(1, 2, 3));
      const tensor = d.toDlpack();
      d.dispose();
      const back = cuda.fromDlpack(tensor) as DeviceNDArray;
      expect(back.get(1)).toBe(2);
      const lost = back.toDlpack();
      back.context.reset();
      expect(() => cuda.fromDlpack(lost)).toThrow(expect.objectContaining({ code: 'E_DISPOSED' }));
      lost.release();
    });

    it.each([0, 1] as const)('shows the same memory to others, version %i', (version) => {
      const d = cuda.toDevice(Float32Array.of(0, 1, 2, 3, 4, 5)).reshape(2, 3);
      const tensor = cuda.toDlpack(d, { version });
      expect(tensor.name).toBe(version === 0 ? 'dltensor' : 'dltensor_versioned');
      expect(fields(tensor.pointer, version, 0, 1, 2, 3, 4, 5)).toEqual([CPU, 0, 2, FLOAT, 32, 1]);
      expect(fields(tensor.pointer, version, 10, 11, 20, 21)).toEqual([2, 3, 3, 1]);
      expect(fields(tensor.pointer, version, 6, 7)).toEqual(version === 0 ? [-1, -1] : [1, 0]);
      expect(addTo(tensor.pointer, version, 10)).toBe(75);
      expect(d.get(1, 2)).toBe(15);
      finish(tensor.pointer, version);
      d.dispose();
    });

    it('keeps the memory until the deleter is called', () => {
      const context = cuda.currentContext();
      const { live } = cuda.memoryStats();
      const d = cuda.toDevice(Float32Array.of(1, 2, 3));
      const reversed = d.slice('::-1');
      const tensor = cuda.toDlpack(reversed);
      expect(fields(tensor.pointer, 1, 10, 20)).toEqual([3, -1]);
      d.dispose();
      reversed.dispose();
      context.deallocations.clear();
      expect(cuda.memoryStats().live).toBe(live + 12);
      expect(addTo(tensor.pointer, 1, 1)).toBe(9);
      finish(tensor.pointer, 1);
      expect(cuda.memoryStats().live).toBe(live);
      // Too late, and no second time.
      tensor.release();
      expect(cuda.memoryStats().live).toBe(live);
    });

    it('is given up by release() where nobody took it', () => {
      const { live } = cuda.memoryStats();
      const d = cuda.deviceArray(3, f32);
      const tensor = cuda.toDlpack(d);
      d.dispose();
      tensor.release();
      tensor.release();
      expect(cuda.memoryStats().live).toBe(live);
      const other = cuda.deviceArray(3, f32);
      using _ = other;
      expect(cuda.memoryStats().live).toBe(live + 12);
    });

    it('comes back in as a view of the same memory', () => {
      const d = cuda.toDevice(BigInt64Array.of(1n, 2n));
      const back = cuda.fromDlpack(d.toDlpack()) as DeviceNDArray;
      back.set(7n, 1);
      expect(d.get(1)).toBe(7n);
      expect(back.dtype).toBe(i64);
      d.dispose();
      expect(back.get(0)).toBe(1n);
      back.dispose();
    });

    it('has tensors without elements and without axes', () => {
      const none = cuda.toDlpack(cuda.deviceArray([0, 3], f32));
      expect(fields(none.pointer, 1, 2, 8, 10, 11)).toEqual([2, 0, 0, 3]);
      finish(none.pointer, 1);
      const scalar = cuda.toDlpack(cuda.toDevice(new Float32Array([4])).reshape([]));
      expect(fields(scalar.pointer, 1, 2)).toEqual([0]);
      expect(addTo(scalar.pointer, 1, 0.5)).toBe(4.5);
      finish(scalar.pointer, 1);
    });

    it('has no words for structs and strides between elements', () => {
      expect(() => cuda.toDlpack(cuda.deviceArray(2, struct({ x: f32 })))).toThrow(/no type for elements/);
      expect(() => cuda.toDlpack(cuda.deviceArray(2, f32, { strides: [6] }))).toThrow(/not a multiple of 4/);
      expect(() => cuda.toDlpack(new Float32Array(2) as never)).toThrow(/needs a device array/);
      expect(() => cuda.toDlpack(cuda.deviceArray(2), { version: 2 as never })).toThrow(/version must be 0/);
    });
  });

  describe('in, from host memory', () => {
    it.each([
      ['C order without strides', 0, 0, 0],
      ['an offset', 8, 0, 1],
      ['F order', 0, 1, 1],
    ])('is an NDArray over it: %s', async (_name, offset, transposed, withStrides) => {
      const pointer = makeManaged(CPU, 2, 3, offset, transposed, withStrides);
      let a: NDArray | undefined = cuda.fromDlpack(pointer, { version: 0 }) as NDArray;
      expect(a.shape).toEqual([2, 3]);
      expect(a.toArray()).toEqual([
        [0, 1, 2],
        [3, 4, 5],
      ]);
      a.set(9, 1, 1);
      expect(() => cuda.fromDlpack(pointer, { version: 0 })).toThrow(/already consumed/);
      using d = cuda.toDevice(a as NDArray<number, 2>);
      expect(d.get(1, 1)).toBe(9);
      expect(deleted()).toBe(before);
      a = undefined;
      await until(() => deleted() > before);
      expect(deleted()).toBe(before + 1);
    });

    it('is deleted at once where a copy is asked for', () => {
      const pointer = makeVersioned(CPU, 2, 2, 1, READ_ONLY, FLOAT, 32);
      const a = cuda.fromDlpack({ pointer, version: 1 }, { copy: true }) as NDArray;
      expect(deleted()).toBe(before + 1);
      expect(a).toBeInstanceOf(NDArray);
      expect(a.toArray()).toEqual([
        [0, 1],
        [2, 3],
      ]);
    });

    it.each([
      ['of another version', CPU, 2, FLOAT, 32, /version 2\.1 is not known/],
      ['of 8-bit floats with other zeros', CPU, 1, 11, 8, /type code 11 with 8 bits/],
      ['of bfloat16 with 32 bits', CPU, 1, 4, 32, /type code 4 with 32 bits/],
      ['of 3 bits', CPU, 1, 1, 3, /3 bits/],
      ['on a GPU', CUDA, 1, FLOAT, 32, /on CUDA device 0, the current device is/],
      ['on a device that nobody knows', 99, 1, FLOAT, 32, /device of DLPack's type 99/],
    ])('does not take tensors %s', (_name, device, major, code, bits, message) => {
      const pointer = makeVersioned(device, 2, 2, major, 0, code, bits);
      expect(() => cuda.fromDlpack(pointer)).toThrow(message);
      expect(deleted()).toBe(before);
      destroyVersioned(pointer);
      expect(deleted()).toBe(before + 1);
    });

    it('may be of bfloat16', () => {
      const a = cuda.fromDlpack(makeVersioned(CPU, 1, 2, 1, 0, 4, 16), { copy: true }) as NDArray;
      expect([a.dtype, a.nbytes, a.shape]).toEqual([bf16, 4, [1, 2]]);
      a.set(-1.5, 0, 1);
      expect([...(a.data as Uint16Array)].at(1)).toBe(0xbfc0);
    });

    it('copies memory that is read-only, as host arrays cannot be', () => {
      const a = cuda.fromDlpack(makeVersioned(CPU, 1, 2, 1, READ_ONLY, FLOAT, 32)) as NDArray;
      expect(deleted()).toBe(before + 1);
      a.set(5, 0, 0);
      expect(a.toArray()).toEqual([[5, 1]]);
    });

    it('says what is no tensor', () => {
      for (const bad of [0, -1, 1.5, 5n, 64, 2 ** 40 + 1, 'x', null, {}]) {
        expect(() => cuda.fromDlpack(bad as never)).toThrow(/needs the pointer to a managed tensor/);
      }
      expect(() => cuda.fromDlpack(16, { version: 3 as never })).toThrow(/version must be/);
    });
  });

  // A model of a GPU: addresses are what counts here.
  describe('on an NVIDIA GPU', () => {
    const context = new Context(new BlockDriver(2 ** 30, 'nvidia'));
    beforeEach(() => {
      const leave = cudaDevices.enter(context);
      return () => leave();
    });

    it('goes out by its address there', () => {
      const d = cuda.deviceArray([2, 2], f32).slice(1);
      const tensor = cuda.toDlpack(d);
      expect(fields(tensor.pointer, 1, 0, 1, 2, 8)).toEqual([CUDA, 0, 1, d.pointer]);
      expect(context.memoryStats().live).toBe(16);
      finish(tensor.pointer, 1);
      d.dispose();
    });

    it('comes in as a device array, and is deleted once, after the last view and with the queue', () => {
      const pointer = makeVersioned(CUDA, 2, 3, 1, READ_ONLY, FLOAT, 32);
      const address = field(pointer, 1, 8);
      const d = cuda.fromDlpack(pointer) as DeviceNDArray;
      expect([d.pointer, d.shape, d.readOnly]).toEqual([address, [2, 3], true]);
      expect(() => d.set(0)).toThrow(/read-only/);
      const view = d.slice(0);
      d.dispose();
      context.deallocations.clear();
      expect(deleted()).toBe(before);
      view.dispose();
      context.deallocations.clear();
      context.deallocations.clear();
      expect(deleted()).toBe(before + 1);
    });

    it('is deleted by the collector, and when the context goes', async () => {
      (() => cuda.fromDlpack(makeManaged(CUDA, 2, 2, 0, 0, 0), { version: 0 }))();
      // Others that were dropped may come first.
      await until(() => {
        context.deallocations.clear();
        return deleted() > before;
      });
      expect(deleted()).toBe(before + 1);
      const kept = cuda.fromDlpack(makeManaged(CUDA, 2, 2, 0, 0, 0), { version: 0 }) as DeviceNDArray;
      context.reset();
      expect(deleted()).toBe(before + 2);
      expect(() => kept.get(0, 0)).toThrow(/its context was reset/);
      kept.dispose();
      context.deallocations.clear();
      expect(deleted()).toBe(before + 2);
    });
  });
});
