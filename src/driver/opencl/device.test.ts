/** An OpenCL device by the driver contract: memory, host memory, streams and events, and kernels that are written by hand. */
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { OpenCLModule } from '../../compiler/render/opencl/module.ts';
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import { collectGarbage } from '../../memory/collect.ts';
import type { Executable, LaunchShape, StreamHandle } from '../driver.ts';
import { REPORT_FAULT } from '../reporting.testing.ts';
import type { OpenCLPipeline } from './compile.ts';
import type { OpenCLDriver } from './device.ts';
import { hasOpenCL, openTestDevice } from './opencl.testing.ts';

const shape: LaunchShape = { grid: [4, 1, 1], block: [16, 1, 1], sharedBytes: 0 };

/** A kernel with the parameters (ptr, i32, f32), all else made up. */
function kernelNamed(name: string): Kernel {
  const source = { text: '', name };
  const param = (index: number, type: 'ptr' | 'i32' | 'f32') =>
    ({ index, name: `p${index}`, type, origin: { kind: 'value', path: [index] } }) as const;
  return {
    name,
    params: [param(0, 'ptr'), param(1, 'i32'), param(2, 'f32')],
    arrays: [],
    vars: [],
    body: [],
    indexBits: 32,
    checked: true,
    contract: false,
    fastMath: false,
    pos: { source, start: 0, end: 0 },
  };
}

const POS = { source: { text: 'throw', name: 'boom' }, start: 0, end: 1 };

/** out[i] += k + x, slowly if k is 1000; a negative k is a fault. */
const TEXT = `
kernel void work(global uchar *base, ulong offset, int k, float x, global uint *faults, uint launch) {
  global float *out = (global float *)(base + offset);
  if (k < 0) {
    ${REPORT_FAULT}
    return;
  }
  float sum = 0;
  if (k == 1000) for (int i = 0; i < 4000000; i++) sum += 1.0f / (x + i + 1);
  out[get_global_id(0)] += k + x + (sum > 1e9f ? 1 : 0);
}`;

const MODULE: OpenCLModule = {
  text: TEXT,
  entry: 'work',
  args: [
    { kind: 'buffer', param: 0 },
    { kind: 'offset', param: 0 },
    { kind: 'value', param: 1, type: 'i32', size: 4 },
    { kind: 'value', param: 2, type: 'f32', size: 4 },
    { kind: 'faults' },
    { kind: 'launchNumber' },
  ],
  buildOptions: ['-cl-std=CL1.2'],
  staticSharedBytes: 0,
  constants: undefined,
  sites: [{ kind: 'trap', pos: POS, message: 'boom' }],
  prints: [],
  usesDisjoint: false,
  cooperative: false,
  threadsPerBlockLimit: undefined,
};

const pipeline: OpenCLPipeline = {
  compile: (kernel) => (kernel.name === 'broken' ? { ...MODULE, text: 'kernel void work() { nonsense }' } : MODULE),
};

describe.skipIf(!hasOpenCL())('an OpenCL device', { timeout: 30_000 }, () => {
  let device: OpenCLDriver;
  let work: Executable;
  beforeAll(() => {
    device = openTestDevice({ pipeline });
    work = device.load({ kernel: kernelNamed('work') });
  });
  afterAll(() => device.close());

  const floats = (count: number): number => {
    const pointer = Number(device.allocate(4 * count));
    device.fillStrided({ target: { pointer, strides: [4] }, shape: [count], pattern: new Uint8Array(4) });
    return pointer;
  };
  const read = (pointer: number, count: number, stream?: StreamHandle): Float32Array => {
    const values = new Float32Array(count);
    device.copyToHost(new Uint8Array(values.buffer), pointer, stream);
    if (stream !== undefined) device.synchronizeStream(stream);
    return values;
  };

  describe('memory', () => {
    it('has addresses that are never used twice, and counts what is live', () => {
      const { free } = device.memoryInfo();
      const a = Number(device.allocate(1000));
      expect(a % 256).toBe(0);
      expect(device.memoryInfo().free).toBe(free - 1000);
      device.free(a);
      const b = device.allocate(1000);
      expect(b).toBeGreaterThan(a);
      device.free(b);
      expect(device.memoryInfo().free).toBe(free);
    });

    it('knows pointers that are wrong', () => {
      const a = Number(device.allocate(100));
      expect(() => device.copyToHost(new Uint8Array(101), a)).toThrow(/are not one allocation of this device/);
      expect(() => device.copyToHost(new Uint8Array(1), a - 1)).toThrow(DriverError);
      expect(() => device.free(a + 4)).toThrow(/is not an allocation/);
      device.free(a);
      expect(() => device.free(a)).toThrow(/is not an allocation/);
      expect(() => work.launch(shape, [a, 0, 0], undefined)).toThrow(/argument 1 points to no memory/);
    });

    it('runs out with the numbers', () => {
      expect(() => device.allocate(2 ** 50)).toThrow(OutOfMemoryError);
      expect(() => device.allocate(device.device.maxAllocation + 1)).toThrow(/^cannot allocate \d+ bytes/);
    });
  });

  describe('kernels', () => {
    it('take arguments, which are set anew when they change', () => {
      const out = floats(128);
      work.launch(shape, [out, 1, 0.5], undefined);
      work.launch(shape, [out + 256, 1, 0.5], undefined);
      work.launch(shape, [out + 256, 2, -0], undefined);
      const values = read(out, 128);
      expect([values[0], values[63], values[64], values[127]]).toEqual([1.5, 1.5, 3.5, 3.5]);
      device.free(out);
    });

    it('report faults where somebody synchronises, once', () => {
      const out = floats(64);
      const stream = device.createStream();
      work.launch(shape, [out, -1, 0], stream);
      expect(() => device.synchronizeStream(stream)).toThrow(/kernel work: boom at block/);
      device.synchronizeStream(stream);
      expect(device.queryStream(stream)).toBe(true);
      work.launch(shape, [out, 1, 0], stream);
      expect(read(out, 1, stream)[0]).toBe(1);
      expect(device.queryStream(stream)).toBe(true);
      device.destroyStream(stream);
      device.free(out);
    });

    it('of one kernel that fail on two streams are told of on each', () => {
      const out = floats(64);
      const [s, t] = [device.createStream(), device.createStream()];
      work.launch(shape, [out, -1, 0], s);
      work.launch({ ...shape, grid: [1, 1, 1] }, [out, -1, 0], t);
      // Both have run before anybody looks.
      while (!device.queryStream(s) || !device.queryStream(t));
      const launchOf = (stream: StreamHandle): string | undefined => {
        try {
          device.synchronizeStream(stream);
        } catch (error) {
          return (error as DriverError).launch;
        }
        return undefined;
      };
      expect([launchOf(t), launchOf(s)]).toEqual([
        expect.stringContaining('grid [1, 1, 1]'),
        expect.stringContaining('grid [4, 1, 1]'),
      ]);
      device.synchronize();
      for (const stream of [s, t]) device.destroyStream(stream);
      device.free(out);
    });

    it('that the compiler refuses are named, with its words and the line', () => {
      expect(() => device.load({ kernel: kernelNamed('broken') })).toThrow(
        /does not accept the code of kernel broken\n[\s\S]*nonsense/,
      );
    });

    it('leave nothing behind when they are unloaded', async () => {
      const stream = device.createStream();
      const unloaded = (() => {
        const out = floats(64);
        const kernels = Array.from({ length: 300 }, () => {
          const kernel = device.load({ kernel: kernelNamed('work') });
          kernel.launch(shape, [out, 1, 0], stream);
          kernel.unload();
          kernel.unload();
          expect(() => kernel.launch(shape, [out, 1, 0], undefined)).toThrow(/has been unloaded/);
          return new WeakRef(kernel);
        });
        expect(read(out, 1, stream)[0]).toBe(300);
        device.free(out);
        return kernels;
      })();
      const left = (): number => unloaded.filter((kernel) => kernel.deref() !== undefined).length;
      for (let k = 0; k < 20 && left() > 0; k++) {
        await setImmediate();
        collectGarbage();
      }
      expect(left()).toBe(0);
      device.destroyStream(stream);
      const out = floats(64);
      work.launch(shape, [out, 1, 0], undefined);
      expect(read(out, 1)[0]).toBe(1);
      device.free(out);
    });

    it('have limits and code to look at', () => {
      expect(work.attributes.maxThreadsPerBlock).toBeLessThanOrEqual(1024);
      expect(work.suggestBlock(0, 1024)).toBeGreaterThan(0);
      expect(work.activeBlocks(256, 0)).toBeGreaterThan(0);
      expect(work.inspect('opencl')).toBe(TEXT);
      expect(work.inspect('ptx')).toBeUndefined();
    });
  });

  describe('streams', () => {
    it('do their work in order, and wait for each other by events', () => {
      const out = floats(64);
      const [a, b] = [device.createStream(), device.createStream()];
      const event = device.createEvent(false);
      expect(device.queryEvent(event)).toBe(true);
      work.launch(shape, [out, 1000, 0], a);
      device.recordEvent(event, a);
      device.waitEvent(event, b);
      const values = read(out, 64, b);
      expect(device.queryEvent(event)).toBe(true);
      expect(values[0]).toBe(1000);
      for (const stream of [a, b]) device.destroyStream(stream);
      device.destroyEvent(event);
      device.free(out);
    });

    it('are in step with the default stream', () => {
      const out = floats(64);
      const stream = device.createStream();
      work.launch(shape, [out, 1000, 0], stream);
      expect(read(out, 64)[0]).toBe(1000);
      work.launch(shape, [out, 1000, 0], undefined);
      expect(read(out, 64, stream)[0]).toBe(2000);
      device.destroyStream(stream);
      device.free(out);
    });

    it('do not block when they are asked, and finish after they have been destroyed', () => {
      const out = floats(64);
      const stream = device.createStream();
      expect(device.queryStream(stream)).toBe(true);
      work.launch(shape, [out, 1000, 0], stream);
      expect(device.queryStream(stream)).toBe(false);
      device.destroyStream(stream);
      expect(() => device.queryStream(stream)).toThrow(/the stream has been destroyed/);
      device.synchronize();
      expect(read(out, 64)[0]).toBe(1000);
      device.free(out);
    });

    it.each(['markers', 'commands'])('have a clock, by the times of %s', (by) => {
      const timed = openTestDevice({ pipeline, markersHaveTimes: by === 'markers' ? undefined : false });
      const kernel = timed.load({ kernel: kernelNamed('work') });
      const out = timed.allocate(256);
      const [start, end] = [timed.createEvent(true), timed.createEvent(true)];
      timed.recordEvent(start, undefined);
      kernel.launch(shape, [out, 1000, 0], undefined);
      timed.recordEvent(end, undefined);
      expect(timed.elapsedTime(start, end)).toBeGreaterThan(1);
      expect(timed.elapsedTime(start, start)).toBe(0);
      const untimed = timed.createEvent(false);
      expect(() => timed.elapsedTime(start, untimed)).toThrow(/without timing/);
      timed.close();
    });

    it('keep the memory of copies until these are done', () => {
      const bytes = 2 ** 20;
      const stream = device.createStream();
      const target = device.allocate(bytes);
      for (let k = 0; k < 100; k++) device.copyToDevice(target, new Uint8Array(bytes).fill(k), stream);
      const back = new Uint8Array(bytes);
      device.copyToHost(back, target, stream);
      device.synchronizeStream(stream);
      expect([back[0], back[bytes - 1]]).toEqual([99, 99]);
      device.destroyStream(stream);
      device.free(target);
    });
  });

  describe.each([
    ['in place', undefined],
    ['by copies on either side', false],
  ] as const)('host memory that kernels use %s', (_how, sharesHostMemory) => {
    let host: OpenCLDriver;
    let add: Executable;
    beforeAll(() => {
      host = openTestDevice({ pipeline, sharesHostMemory });
      add = host.load({ kernel: kernelNamed('work') });
    });
    afterAll(() => host.close());

    it.each(['mapped', 'managed'] as const)('is allocated: %s', (kind) => {
      const memory = host.allocateHost(256, { kind });
      const values = new Float32Array(memory.bytes.buffer, memory.bytes.byteOffset, 64);
      expect(values.every((value) => value === 0)).toBe(true);
      values.fill(5);
      add.launch(shape, [memory.pointer ?? 0, 1, 0.5], undefined);
      host.synchronize();
      expect([values[0], values[63]]).toEqual([6.5, 6.5]);
      host.freeHost(memory);
      expect(() => host.freeHost(memory)).toThrow(/has been given back/);
    });

    it('is memory of the process, registered for a while', () => {
      const values = new Float32Array(64).fill(2);
      const memory = host.registerHost(new Uint8Array(values.buffer), true);
      const pointer = Number(memory.pointer);
      add.launch(shape, [pointer, 1, 0], undefined);
      host.fillStrided({ target: { pointer, strides: [4] }, shape: [2], pattern: new Uint8Array(4) });
      host.copyToDevice(pointer + 4, new Uint8Array(Float32Array.of(9).buffer));
      host.synchronize();
      expect([...values.subarray(0, 4)]).toEqual([0, 9, 3, 3]);
      values[0] = 8;
      const back = new Float32Array(2);
      host.copyToHost(new Uint8Array(back.buffer), pointer);
      expect([...back]).toEqual([8, 9]);
      host.unregisterHost(memory);
      expect(() => add.launch(shape, [pointer, 1, 0], undefined)).toThrow(/points to no memory/);
    });

    it('is pinned for copies', () => {
      const memory = host.allocateHost(8, { kind: 'pinned' });
      memory.bytes.fill(3);
      const target = host.allocate(8);
      host.copyToDevice(target, memory.bytes);
      const back = new Uint8Array(8);
      host.copyToHost(back, target);
      expect(back.every((byte) => byte === 3)).toBe(true);
      host.free(target);
      host.freeHost(memory);
      host.unregisterHost(host.registerHost(new Uint8Array(10), false));
    });
  });

  it('refuses what belongs to another device, and everything once it is closed', () => {
    const other = openTestDevice({ pipeline });
    const stream = other.createStream();
    expect(() => device.synchronizeStream(stream)).toThrow(/belongs to another device/);
    const source = other.allocate(8);
    other.copyToDevice(source, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    const target = device.allocate(8);
    device.copyFromPeer(target, other, source, 8);
    const bytes = new Uint8Array(8);
    device.copyToHost(bytes, target);
    expect([...bytes]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    other.close();
    other.close();
    expect(() => other.allocate(8)).toThrow(/has been closed/);
    device.free(target);
  });
});
