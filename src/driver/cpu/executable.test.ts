/** Launches on the CPU device, with modules written by hand so that what is tested is the launching alone. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { at, i32, KernelBuilder, store } from '../../compiler/ir/builder.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { FaultSite } from '../../compiler/render/sites.ts';
import type { FunctionBuilder } from '../../compiler/render/wasm/assembler.ts';
import type { WasmModule, WasmVariant } from '../../compiler/render/wasm/module.ts';
import { DriverError } from '../../errors.ts';
import type { Executable, LaunchShape } from '../driver.ts';
import { BLOCK, count, FIRST, moduleOf, PRINT, RECORD, SCRATCH, spin } from './handmade.testing.ts';
import { type CpuDriver, type CpuOptions, openCpu } from './index.ts';

const open: CpuDriver[] = [];
afterEach(() => {
  for (const device of open.splice(0)) device.close();
});

/** A device whose kernels all become the module that `make` gives. */
function deviceOf(make: (variant: WasmVariant) => WasmModule, options: CpuOptions = {}): CpuDriver {
  const device = openCpu({ ...options, pipeline: { prepare: (kernel) => kernel, compile: (_, v) => make(v) } });
  open.push(device);
  return device;
}

/** Vectors at once. */
const SIMD: CpuOptions = { scalarFirst: false };

function shape(grid: number, block = 1, sharedBytes = 0): LaunchShape {
  return { grid: [grid, 1, 1], block: [block, 1, 1], sharedBytes };
}

/** The address in parameter 0 of the launch record. */
function parameter(f: FunctionBuilder): void {
  f.get(RECORD);
  f.memory('i32.load', 2, 24);
}

/** One array `y` and its length. */
function kernel(name = 'saxpy', checked = true): Kernel {
  const b = new KernelBuilder(name);
  b.global('i32', 'y');
  b.value('i32', 'n');
  return b.build([], { checked });
}

const counting = (f: FunctionBuilder): void => count(f, () => parameter(f));

function countsOf(device: CpuDriver, pointer: number, n: number): number[] {
  const back = new Int32Array(n);
  device.copyToHost(new Uint8Array(back.buffer), pointer);
  return [...back];
}

function zeroed(device: CpuDriver, n: number): number {
  const pointer = Number(device.allocate(4 * n));
  device.copyToDevice(pointer, new Uint8Array(4 * n));
  return pointer;
}

describe('launch', () => {
  it('packs grid, dynamic shared bytes, constants and parameters as the module reads them', () => {
    // Copies the first 12 slots of the record to where parameter 0 points.
    const device = deviceOf(() =>
      moduleOf(
        (f) => {
          for (let slot = 0; slot < 12; slot++) {
            parameter(f);
            f.get(RECORD);
            f.memory('i64.load', 3, 8 * slot);
            f.memory('i64.store', 3, 8 * slot);
          }
        },
        { constants: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
      ),
    );
    const b = new KernelBuilder('k');
    b.global('i32', 'out');
    for (const type of ['i32', 'u32', 'bool', 'f32', 'f64', 'i64', 'u64', 'i64'] as const) b.value(type, type);
    const executable = device.load({ kernel: b.build([]) });
    const out = zeroed(device, 24);
    const args = [out, -5, 4294967295, true, 1.5, Math.PI, -(2n ** 40n) - 1n, 2n ** 64n - 2n, -(2 ** 40) - 3];
    executable.launch({ grid: [3, 2, 1], block: [2, 1, 1], sharedBytes: 48 }, args, undefined);
    const back = new DataView(new ArrayBuffer(96));
    device.copyToHost(new Uint8Array(back.buffer), out);
    const ints = [0, 4, 8].map((at) => back.getInt32(at, true));
    expect(ints).toEqual([3, 2, 1]);
    expect(back.getUint32(12, true)).toBe(48);
    const constants = new Uint8Array(8);
    device.copyToHost(constants, back.getUint32(16, true));
    expect([...constants]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(back.getUint32(24, true)).toBe(out);
    expect(back.getInt32(32, true)).toBe(-5);
    expect(back.getUint32(40, true)).toBe(4294967295);
    expect(back.getInt32(48, true)).toBe(1);
    expect(back.getFloat32(56, true)).toBe(1.5);
    expect(back.getFloat64(64, true)).toBe(Math.PI);
    expect(back.getBigInt64(72, true)).toBe(-(2n ** 40n) - 1n);
    expect(back.getBigUint64(80, true)).toBe(2n ** 64n - 2n);
    expect(back.getBigInt64(88, true)).toBe(-(2n ** 40n) - 3n);
  });

  it('runs every block once, alone and on all threads', () => {
    for (const alwaysParallel of [false, true]) {
      const device = deviceOf(() => moduleOf(counting), { threads: 3, alwaysParallel });
      const executable = device.load({ kernel: kernel() });
      const y = zeroed(device, 101);
      for (let n = 1; n <= 100; n++) executable.launch(shape(n), [y, n], undefined);
      expect(countsOf(device, y, 101)).toEqual(Array.from({ length: 101 }, (_, i) => 100 - i));
      executable.launch({ grid: [0, 1, 1], block: [1, 1, 1], sharedBytes: 0 }, [y, 0], undefined);
      executable.launch({ grid: [2, 3, 4], block: [1, 1, 1], sharedBytes: 0 }, [y, 0], undefined);
      expect(countsOf(device, y, 25)[23]).toBe(100 - 23 + 1);
    }
  });

  it('hands out fewer chunks where each has copies', () => {
    // Counts calls: a block that is the first of its call adds 1.
    const calls = (f: FunctionBuilder): void => {
      parameter(f);
      f.get(BLOCK, FIRST);
      f.op('i32.eq');
      f.memory('i32.atomic.rmw.add', 2, 0);
      f.op('drop');
    };
    const b = new KernelBuilder('long');
    const y = b.global('i32', 'y');
    const body = Array.from({ length: 20 }, (_, k) => store(at(y, i32(k)), i32(k)));
    const counted = [false, true].map((copies) => {
      const device = deviceOf(() => ({ ...moduleOf(calls), copies }), { threads: 2, alwaysParallel: true });
      const target = zeroed(device, 1);
      device.load({ kernel: b.build(body) }).launch(shape(1600, 1024), [target], undefined);
      return countsOf(device, target, 1)[0] ?? 0;
    });
    expect(counted[1]).toBe(16);
    expect(counted[0]).toBeGreaterThan(40);
  });

  it('compiles once for each block shape', () => {
    const asked: string[] = [];
    const device = deviceOf((variant) => {
      asked.push(`${variant.block.join('x')} ${variant.lanes}`);
      return moduleOf(counting);
    }, SIMD);
    const executable = device.load({ kernel: kernel() });
    const y = zeroed(device, 1);
    for (const block of [32, 64, 32, 32, 64, 128]) executable.launch(shape(1, block), [y, 1], undefined);
    expect(asked).toEqual(['32x1x1 4', '64x1x1 4', '128x1x1 4']);
    expect(openCpu({ lanes: 1 }).engine.lanes).toBe(1);
  });

  it('counts a hundred thousand launches one by one', () => {
    const device = deviceOf(() => moduleOf(counting), { threads: 1 });
    const executable = device.load({ kernel: kernel() });
    const y = zeroed(device, 2);
    const launchShape = shape(2);
    const args = [y, 2];
    for (let i = 0; i < 100_000; i++) executable.launch(launchShape, args, undefined);
    expect(countsOf(device, y, 2)).toEqual([100_000, 100_000]);
  });

  it('gives dynamic shared memory its place in scratch', () => {
    // Writes the last dynamic byte, then reads it back into the array.
    const device = deviceOf(() =>
      moduleOf((f) => {
        f.get(SCRATCH);
        f.i32(77);
        f.memory('i32.store', 2, 128 + 100_000 - 4);
        parameter(f);
        f.get(SCRATCH);
        f.memory('i32.load', 2, 128 + 100_000 - 4);
        f.memory('i32.store', 2, 0);
      }),
    );
    const executable = device.load({ kernel: kernel() });
    const y = zeroed(device, 1);
    const after = Number(device.allocate(1_000_000));
    executable.launch(shape(1, 1, 100_000), [y, 1], undefined);
    expect(countsOf(device, y, 1)).toEqual([77]);
    const { scratch, scratchStride } = device.engine;
    expect(scratchStride).toBeGreaterThanOrEqual(100_128);
    expect(scratch >= after + 1_000_000 || scratch + scratchStride <= after).toBe(true);
  });

  it('refuses destroyed streams, unloaded kernels and grids beyond 32 bits', () => {
    const device = deviceOf(() => moduleOf(counting));
    const executable = device.load({ kernel: kernel() });
    const stream = device.createStream();
    device.destroyStream(stream);
    expect(() => executable.launch(shape(1), [0, 0], stream)).toThrow(/launch: the stream has been destroyed/);
    const huge = { grid: [65536, 65535, 1] as const, block: [1, 1, 1] as const, sharedBytes: 0 };
    expect(() => executable.launch(huge, [0, 0], undefined)).toThrow(
      /up to 2147483647 blocks per launch, not 4294901760/,
    );
    executable.unload();
    executable.unload();
    expect(() => executable.launch(shape(1), [0, 0], undefined)).toThrow(/kernel saxpy has been unloaded/);
  });

  it('shows the code as text', () => {
    const device = deviceOf(() => moduleOf(counting));
    const executable = device.load({ kernel: kernel() });
    const text = executable.inspect('wasm') ?? '';
    expect(text).toContain('(import "env" "memory" (memory 0 65536 shared))');
    expect(text).toContain('(import "math" "atan2" (func 0 (param f64 f64) (result f64)))');
    expect(text).toMatch(/block\n {6}loop\n {8}local\.get 4\n {8}local\.get 1\n {8}i32\.ge_u\n {8}br_if 1\n/);
    expect(text).toContain('i32.atomic.rmw.add align=4');
    expect(executable.inspect('ptx')).toBeUndefined();
  });
});

/** Stops at `block` with the fault record of index `index`, thread 232. */
function failAt(f: FunctionBuilder, block: number, index: bigint, length: bigint): void {
  spin(f, 20_000);
  f.get(BLOCK);
  f.i32(block);
  f.op('i32.ge_u');
  f.if();
  f.get(SCRATCH);
  f.i32(232);
  f.memory('i32.store', 2, 4);
  f.get(SCRATCH, BLOCK);
  f.memory('i32.store', 2, 8);
  f.get(SCRATCH);
  f.i64(index);
  f.memory('i64.store', 3, 16);
  f.get(SCRATCH);
  f.i64(length);
  f.memory('i64.store', 3, 24);
  f.i32(1);
  f.op('return');
  f.end();
}

describe('faults', () => {
  const source = { text: '(y, n) => {\n  y[i] = 1;\n}', name: 'saxpy' };
  const pos = { source, start: 14, end: 18 };

  function faulty(
    kind: FaultSite['kind'],
    index: bigint,
    options: CpuOptions = {},
    block = 3,
  ): [CpuDriver, Executable] {
    const k = kernel();
    const [y] = k.arrays;
    const site: FaultSite = { kind, pos, array: y, axis: 0, message: 'no such luck' };
    const device = deviceOf(() => moduleOf((f) => failAt(f, block, index, 1000n), { sites: [site] }), options);
    return [device, device.load({ kernel: k })];
  }

  function messageOf(call: () => void): string {
    try {
      call();
    } catch (error) {
      expect(error).toBeInstanceOf(DriverError);
      return (error as Error).message;
    }
    throw new Error('nothing was thrown');
  }

  it('name array, index, length, block, thread, source line and launch', () => {
    const [device, executable] = faulty('bounds', 1000n);
    executable.launch(shape(4, 256), [0, 0], undefined);
    expect(messageOf(() => device.synchronize())).toBe(
      'kernel saxpy: index 1000 is out of range for y (length 1000) at block (3,0,0), thread (232,0,0)\n' +
        '  --> saxpy:2:3\n  launched with grid [4, 1, 1], block [256, 1, 1]',
    );
    device.synchronize();
  });

  it('say what each kind of check found', () => {
    const found = (kind: FaultSite['kind'], index: bigint): string => {
      const [device, executable] = faulty(kind, index);
      executable.launch(shape(4, 256), [0, 0], undefined);
      return (
        messageOf(() => device.synchronize())
          .replace(/ at block[\s\S]*help/, '; help')
          .split('\n')[0] ?? ''
      );
    };
    expect(found('bounds', -1n)).toMatch(
      /index -1 is out of range .*; help: negative indices do not count from the end/,
    );
    expect(found('trap', 0n)).toMatch(/^kernel saxpy: no such luck at block/);
    expect(found('cast', 2n ** 31n)).toMatch(/the value 2147483648 does not fit its 32-bit type/);
    expect(found('uniform', 0n)).toMatch(/argument of uniform\(\) differs between the threads/);
    expect(found('exponent', -3n)).toMatch(/negative exponent -3/);
  });

  it('of the lowest block win, whatever thread found them', () => {
    const [device, executable] = faulty('bounds', 1000n, { threads: 3, alwaysParallel: true }, 10);
    device.engine.pool?.awaitReady(2, 20_000);
    for (let round = 0; round < 50; round++) {
      executable.launch(shape(64, 256), [0, 0], undefined);
      expect(messageOf(() => device.synchronize())).toContain('at block (10,0,0)');
    }
  });

  it('wait for the stream they happened on, or for a call that waits for everything', () => {
    const [device, executable] = faulty('bounds', 1000n);
    const [a, b] = [device.createStream(), device.createStream()];
    const event = device.createEvent(false);
    const early = device.createEvent(false);
    device.recordEvent(early, a);
    executable.launch(shape(4), [0, 0], a);
    executable.launch(shape(4), [0, 0], a);
    device.recordEvent(event, a);
    device.synchronizeStream(b);
    device.synchronizeEvent(early);
    device.copyToDevice(device.allocate(4), new Uint8Array(4), b);
    expect(messageOf(() => device.synchronizeEvent(event))).toContain('(1 later launch on this stream failed as well)');
    device.synchronizeStream(a);
    executable.launch(shape(4), [0, 0], a);
    expect(messageOf(() => device.copyToHost(new Uint8Array(4), device.allocate(4)))).toContain('index 1000');
    executable.launch(shape(4), [0, 0], undefined);
    device.synchronizeStream(a);
    expect(messageOf(() => device.synchronize())).toContain('index 1000');
  });

  it('carry the stack of the launch', () => {
    const [device, executable] = faulty('bounds', 1000n);
    function theLaunchingFunction(): void {
      executable.launch(shape(4), [0, 0], undefined);
    }
    // However deep the user's code is below the layers in between.
    const deep = (levels: number): void => (levels === 0 ? theLaunchingFunction() : deep(levels - 1));
    deep(20);
    try {
      device.synchronize();
    } catch (error) {
      const frames = ((error as Error).stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
      expect(frames[0]).toContain('theLaunchingFunction');
      expect(frames.filter((line) => line.includes('deep')).length).toBeGreaterThanOrEqual(20);
      expect(error).toMatchObject({ code: 'E_KERNEL_FAULT', api: 'kernel', launch: /saxpy with grid/ });
    }
  });

  it('are thrown by the launch itself under TSAMBA_DEBUG=sync', () => {
    vi.stubEnv('TSAMBA_DEBUG', 'captures,sync');
    const [device, executable] = faulty('bounds', 1000n);
    vi.unstubAllEnvs();
    expect(messageOf(() => executable.launch(shape(4), [0, 0], undefined))).toContain('index 1000');
    device.synchronize();
  });

  it('include traps of unchecked code, on the caller and in workers, and leave the device usable', () => {
    for (const alwaysParallel of [false, true]) {
      const device = deviceOf(
        () =>
          moduleOf((f) => {
            parameter(f);
            f.i32(1);
            f.memory('i32.store', 2, 0);
          }),
        { threads: 3, alwaysParallel },
      );
      const executable = device.load({ kernel: kernel('wild', false) });
      executable.launch(shape(100), [2 ** 32 - 4, 0], undefined);
      const message = messageOf(() => device.synchronize());
      expect(message).toMatch(
        /^kernel wild: RuntimeError: memory access out of bounds\n {2}help: checked mode \(boundsCheck: true\)/,
      );
      const y = zeroed(device, 1);
      executable.launch(shape(100), [y, 0], undefined);
      expect(countsOf(device, y, 1)).toEqual([1]);
    }
  });
});

describe('console.log in kernels', () => {
  it('prints on the main thread, in order of blocks, and cannot launch kernels', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const parts = ['block', { type: 'f64' }, 'f64', { type: 'bool' }, { type: 'i64' }] as const;
    const device = deviceOf(
      () =>
        moduleOf(
          (f) => {
            f.get(SCRATCH, BLOCK);
            f.op('f64.convert_i32_s');
            f.memory('f64.store', 3, 64);
            f.get(SCRATCH);
            f.f64(1);
            f.memory('f64.store', 3, 72);
            f.get(SCRATCH);
            f.i64(-7n);
            f.memory('i64.store', 3, 80);
            f.i32(0);
            f.get(SCRATCH);
            f.i32(64);
            f.op('i32.add');
            f.call(PRINT);
          },
          { prints: [{ pos: { source: { text: '', name: '' }, start: 0, end: 0 }, parts }] },
        ),
      { threads: 3, alwaysParallel: true },
    );
    const executable = device.load({ kernel: kernel('chatty') });
    executable.launch(shape(3), [0, 0], undefined);
    expect(log.mock.calls).toEqual([0, 1, 2].map((block) => ['block', block, 'f64', true, -7n]));
    log.mockImplementation(() => executable.launch(shape(1), [0, 0], undefined));
    expect(() => executable.launch(shape(1), [0, 0], undefined)).toThrow(
      /chatty was launched while kernel chatty runs/,
    );
    log.mockRestore();
  });
});
