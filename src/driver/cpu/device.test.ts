/** The CPU device without kernels: memory, copies, streams and events. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import { cpuProvider, openCpu } from './index.ts';
import { hasMemory64 } from './memory.ts';

const MIB = 2 ** 20;

describe('cpuProvider', () => {
  it('says what to do where there is no WebAssembly', async () => {
    vi.stubGlobal('WebAssembly', undefined);
    vi.resetModules();
    try {
      const { cpuProvider: without } = await import('./index.ts');
      expect(() => without.open(0)).toThrow(/needs WebAssembly.*--jitless.*TSAMBA_DEVICE=simulator/);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('always finds one device, and each opening has a memory of its own', () => {
    expect(cpuProvider.probe()).toEqual({ count: 1 });
    const device = cpuProvider.open(0);
    const other = cpuProvider.open(0);
    expect(device.info.kind).toBe('cpu');
    expect(device.info.limits.maxThreadsPerBlock).toBe(1024);
    const a = Number(device.allocate(4));
    device.copyToDevice(a, Uint8Array.of(1, 2, 3, 4));
    const b = Number(other.allocate(4));
    expect(b).toBe(a);
    const back = new Uint8Array(4);
    other.copyToHost(back, b);
    expect([...back]).not.toEqual([1, 2, 3, 4]);
    device.close();
    expect(() => device.allocate(4)).toThrow(/allocate: the CPU device has been closed/);
  });
});

describe('the environment', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('sets threads and scalar code', () => {
    vi.stubEnv('TSAMBA_CPU_THREADS', '3');
    vi.stubEnv('TSAMBA_CPU_SIMD', '0');
    const { engine, info } = openCpu();
    expect([engine.threads, engine.lanes, info.limits.multiprocessors]).toEqual([3, 1, 3]);
    expect(openCpu({ threads: 2, lanes: 4 }).engine).toMatchObject({ threads: 2, lanes: 4 });
  });

  it('is checked', () => {
    for (const wrong of ['0', 'two', '1.5', '-1']) {
      vi.stubEnv('TSAMBA_CPU_THREADS', wrong);
      expect(() => openCpu()).toThrow(`TSAMBA_CPU_THREADS is '${wrong}', but must be a whole number from 1 to 256`);
    }
  });
});

describe('memory of the CPU device', () => {
  it('hands out aligned, disjoint, nonzero addresses and takes them back', () => {
    const device = openCpu();
    const first = Number(device.allocate(100));
    const second = Number(device.allocate(1));
    expect(first % 64).toBe(0);
    expect(first).toBeGreaterThanOrEqual(65536);
    expect(Math.abs(second - first)).toBeGreaterThanOrEqual(64);
    const { free } = device.memoryInfo();
    device.free(first);
    expect(device.memoryInfo().free).toBeGreaterThan(free);
    expect(() => device.free(first)).toThrow(/free: \d+ is not an allocation/);
    expect(() => device.allocate(0)).toThrow(/allocate: 0 is not a number of bytes/);
    expect(() => device.allocate(1.5)).toThrow(DriverError);
  });

  it('does not grow over 10,000 rounds of allocation', () => {
    const device = openCpu();
    const round = (i: number): void => device.free(device.allocate(1000 + (i % 7) * 5000));
    for (let i = 0; i < 10; i++) round(i);
    const before = device.memoryInfo();
    for (let i = 0; i < 10_000; i++) round(i);
    expect(device.memoryInfo()).toEqual(before);
  });

  it('keeps 3.5 GiB of arrays alive at once', () => {
    const device = openCpu();
    const pointers = Array.from({ length: 7 }, () => Number(device.allocate(512 * MIB)));
    const mark = (i: number): Uint8Array => Uint8Array.of(i + 1, 255 - i, 7);
    pointers.forEach((pointer, i) => {
      device.copyToDevice(pointer, mark(i));
      device.copyToDevice(pointer + 512 * MIB - 3, mark(i));
    });
    pointers.forEach((pointer, i) => {
      const back = new Uint8Array(3);
      for (const at of [pointer, pointer + 512 * MIB - 3]) {
        device.copyToHost(back, at);
        expect(back).toEqual(mark(i));
      }
    });
    device.close();
  });

  it('says how much was asked, is live and is kept when memory runs out', () => {
    const device = openCpu({ maxPages: 1024 });
    if (hasMemory64()) return;
    const pointer = device.allocate(20 * MIB);
    device.allocate(20 * MIB);
    device.free(pointer);
    let error: unknown;
    try {
      device.allocate(40 * MIB);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(error).toMatchObject({ code: 'E_OUT_OF_MEMORY', asked: 40 * MIB, live: 20 * MIB, pending: 0 });
    expect(String(error)).toMatch(/asked for 40\.0 MiB, the largest free piece is 2\d\.\d MiB; of 63\.9 MiB in all/);
    expect(String(error)).toMatch(/Node 24/);
    device.free(device.allocate(15 * MIB));
  });

  it('moves into a 64-bit memory where the engine has them, addresses and contents unchanged', () => {
    if (!hasMemory64()) return;
    const device = openCpu({ maxPages: 1024 });
    const pointer = Number(device.allocate(40 * MIB));
    device.copyToDevice(pointer, Uint8Array.of(1, 2, 3));
    const more = Number(device.allocate(100 * MIB));
    const back = new Uint8Array(3);
    device.copyToHost(back, pointer);
    expect([...back]).toEqual([1, 2, 3]);
    device.copyOnDevice(more, pointer, 3);
    device.copyToHost(back, more);
    expect([...back]).toEqual([1, 2, 3]);
    expect(device.engine.memory.memory64).toBe(true);
  });
});

describe('copies of the CPU device', () => {
  const device = openCpu();

  it('moves contiguous bytes in every direction, also between ranges that overlap', () => {
    const a = Number(device.allocate(32));
    device.copyToDevice(
      a,
      Uint8Array.from({ length: 32 }, (_, i) => i),
    );
    device.copyOnDevice(a + 4, a, 16);
    const back = new Uint8Array(32);
    device.copyToHost(back, a);
    expect([...back.subarray(0, 24)]).toEqual([
      0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23,
    ]);
  });

  it('reverses an array onto itself as if it had been copied out first', () => {
    const a = Number(device.allocate(40));
    const region = { shape: [10], itemSize: 4 };
    device.copyToDevice(a, new Uint8Array(Int32Array.from({ length: 10 }, (_, i) => i).buffer));
    device.copyOnDeviceStrided({
      target: { pointer: a, strides: [4] },
      source: { pointer: a + 36, strides: [-4] },
      ...region,
    });
    const back = new Int32Array(10);
    const host = { bytes: new Uint8Array(back.buffer), offset: 0, strides: [4] };
    device.copyToHostStrided({ target: host, source: { pointer: a, strides: [4] }, ...region });
    expect([...back]).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    const even = { pointer: a, strides: [8] };
    device.copyToDeviceStrided({ target: even, source: host, shape: [5], itemSize: 4 });
    const odd = { pointer: a + 4, strides: [8] };
    device.fillStrided({ target: odd, shape: [5], pattern: Uint8Array.of(255, 255, 255, 255) });
    device.copyToHost(new Uint8Array(back.buffer), a);
    expect([...back]).toEqual([9, -1, 8, -1, 7, -1, 6, -1, 5, -1]);
  });

  it('does nothing for no bytes and refuses what is not its memory', () => {
    const a = Number(device.allocate(16));
    device.copyToHost(new Uint8Array(), 0);
    device.fillStrided({ target: { pointer: 0, strides: [4, 4] }, shape: [0, 3], pattern: Uint8Array.of(1, 2, 3, 4) });
    expect(() => device.copyToHost(new Uint8Array(4), 0)).toThrow(/copyToHost: got a null pointer/);
    expect(() => device.copyToHost(new Uint8Array(4), -8)).toThrow(/got -8, which is not an address/);
    expect(() => device.copyToDevice(2 ** 31, new Uint8Array(4))).toThrow(/not memory of this device/);
    const far = { target: { pointer: a, strides: [-65536] }, shape: [3], pattern: Uint8Array.of(1) };
    expect(() => device.fillStrided(far)).toThrow(/fillStrided: bytes .* are not memory of this device/);
    device.copyToHost(new Uint8Array(16), BigInt(a));
  });
});

describe('streams and events of the CPU device', () => {
  it('are done as soon as asked, in order, with real times', async () => {
    const device = openCpu();
    const stream = device.createStream();
    const [start, end] = [device.createEvent(true), device.createEvent(true)];
    device.recordEvent(start, stream);
    const before = performance.now();
    while (performance.now() < before + 5);
    device.recordEvent(end, undefined);
    device.waitEvent(end, stream);
    expect(device.queryStream(stream)).toBe(true);
    expect(device.queryEvent(end)).toBe(true);
    device.synchronizeEvent(end);
    device.synchronizeStream(stream);
    device.synchronize();
    expect(device.elapsedTime(start, end)).toBeGreaterThan(4.9);
    expect(device.elapsedTime(end, start)).toBeLessThan(-4.9);
  });

  it('refuses times that were not taken, and handles that are no longer or never were theirs', () => {
    const device = openCpu();
    const [timed, untimed] = [device.createEvent(true), device.createEvent(false)];
    device.recordEvent(untimed, undefined);
    expect(() => device.elapsedTime(timed, timed)).toThrow(/end event has not been recorded/);
    device.recordEvent(timed, undefined);
    expect(() => device.elapsedTime(untimed, timed)).toThrow(/start event was created without timing/);
    const stream = device.createStream();
    device.destroyStream(stream);
    expect(() => device.copyToDevice(device.allocate(1), new Uint8Array(1), stream)).toThrow(/has been destroyed/);
    expect(() => device.synchronizeStream(stream)).toThrow(/synchronizeStream: the stream has been destroyed/);
    device.destroyEvent(timed);
    expect(() => device.queryEvent(timed)).toThrow(/event has been destroyed/);
    expect(() => device.queryStream(openCpu().createStream())).toThrow(/belongs to another device/);
    expect(() => device.recordEvent(openCpu().createEvent(true), undefined)).toThrow(/belongs to another device/);
  });
});
