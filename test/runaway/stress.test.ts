/**
 * Kernels that are stopped, again and again, and awaited launches among others: results stay right, threads and memory do not grow.
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openCpu } from '../../src/driver/cpu/index.ts';
import type { DeviceInfo, EventHandle } from '../../src/driver/driver.ts';
import { cuda, DriverError, type i32, type Vec } from '../../src/index.ts';
import { Context } from '../../src/memory/context.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { InterpretingDriver } from '../support/interpreting-driver.ts';

const endless = cuda.jit(function endless(y: Vec<i32>) {
  const i = cuda.grid(1);
  while (y[i] >= 0) y[i] = (y[i] + 1) & 1023;
});

const addAll = cuda.jit(function addAll(y: Vec<i32>, x: i32) {
  const i = cuda.grid(1);
  if (i < y.length) y[i] += x;
});

async function onCpu(threads: number, body: () => Promise<void>): Promise<void> {
  const context = new Context(openCpu({ threads, alwaysParallel: true }));
  const leave = cudaDevices.enter(context);
  try {
    await body();
  } finally {
    leave();
    context.close();
  }
}

/** Threads of this process, where the system says. */
function threadCount(): number {
  try {
    return Number(/Threads:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}

function codeOf(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof DriverError) return error.code;
    throw error;
  }
}

describe.each([1, 3])('with %i threads', (threads) => {
  it('is stopped 200 times in a row by a timeout', async () => {
    await onCpu(threads, async () => {
      const y = cuda.deviceArray(256, 'i32');
      const sums = cuda.toDevice(new Int32Array(1000));
      let threadsAfterFirst = 0;
      let memoryAfterTen = 0;
      for (let round = 1; round <= 200; round++) {
        y.set(0);
        expect(codeOf(() => endless.launch({ threads: 256, block: 32, timeout: 5 }, y))).toBe('E_TIMEOUT');
        addAll.launch({ threads: 1000, block: 64 }, sums, 1);
        expect(sums.get(999)).toBe(round);
        if (round === 1) threadsAfterFirst = threadCount();
        if (round === 10) memoryAfterTen = process.memoryUsage().rss;
      }
      expect(sums.copyToHost()).toEqual(new Int32Array(1000).fill(200));
      expect(threadCount()).toBeLessThanOrEqual(threadsAfterFirst + 2);
      expect(process.memoryUsage().rss - memoryAfterTen).toBeLessThan(64 * 2 ** 20);
    });
  });

  it('is stopped 30 times in a row by a signal, which ends its threads', async () => {
    await onCpu(threads, async () => {
      const y = cuda.deviceArray(256, 'i32');
      const sums = cuda.toDevice(new Int32Array(1000));
      let threadsAfterFirst = 0;
      for (let round = 1; round <= 30; round++) {
        y.set(0);
        const controller = new AbortController();
        const pending = endless.launchAsync({ threads: 256, block: 32, signal: controller.signal }, y);
        // Also before the event loop has heard of the threads, and while somebody waits.
        if (round % 3 > 0) await setTimeout(round);
        controller.abort();
        if (round % 2 === 0) {
          addAll.launch({ threads: 1000, block: 64 }, sums, 1);
          await expect(pending).rejects.toMatchObject({ code: 'E_ABORTED' });
        } else {
          await expect(pending).rejects.toMatchObject({ code: 'E_ABORTED' });
          await addAll.launchAsync({ threads: 1000, block: 64 }, sums, 1);
        }
        expect(sums.get(999)).toBe(round);
        if (round === 3) threadsAfterFirst = threadCount();
      }
      await setTimeout(200);
      expect(threadCount()).toBeLessThanOrEqual(threadsAfterFirst + 2 * threads);
    });
  });

  it('keeps order over 1,000 awaited launches among others', async () => {
    await onCpu(threads, async () => {
      let seed = threads;
      const random = (n: number): number => {
        seed = (Math.imul(seed, 1103515245) + 12345) | 0;
        return (seed >>> 8) % n;
      };
      const size = 100;
      const streams = [undefined, cuda.stream(), cuda.stream()];
      const arrays = streams.map(() => cuda.toDevice(new Int32Array(size)));
      const model = streams.map(() => new Int32Array(size));
      const host = new Int32Array(size);
      const hostModel = new Int32Array(size);
      const flying: Promise<unknown>[] = [];
      let awaited = 0;
      while (awaited < 1000) {
        const k = random(3);
        const [stream, array, expected] = [streams[k], arrays[k] as (typeof arrays)[0], model[k] as Int32Array];
        const x = random(1000) - 500;
        const n = 1 + random(size);
        const block = 1 + random(40);
        const act = random(10);
        if (act < 5) {
          flying.push(addAll.launchAsync({ threads: n, block, stream }, array.slice([0, n]), x));
          awaited++;
        } else if (act === 5) {
          flying.push(addAll.launchAsync({ threads: size, block }, cuda.InOut(host), x));
          for (let i = 0; i < size; i++) hostModel[i] = (hostModel[i] as number) + x;
          awaited++;
          continue;
        } else if (act === 6) addAll.launch({ threads: n, block, stream }, array.slice([0, n]), x);
        else if (act === 7) addAll.launch({ threads: n, block, stream, timeout: 300_000 }, array.slice([0, n]), x);
        else if (act === 8) {
          const want = expected.slice();
          if (stream === undefined) expect(array.copyToHost()).toEqual(want);
          else flying.push(array.copyToHostAsync({ stream }).then((got) => expect(got).toEqual(want)));
          continue;
        } else {
          if (random(3) === 0) await flying.at(-1);
          continue;
        }
        for (let i = 0; i < n; i++) expected[i] = (expected[i] as number) + x;
      }
      await Promise.all(flying);
      expect(host).toEqual(hostModel);
      arrays.forEach((array, k) => {
        expect(array.copyToHost()).toEqual(model[k]);
      });
    });
  });

  it('counts a grid that is too large as one that takes too long', async () => {
    await onCpu(threads, async () => {
      const y = cuda.toDevice(new Int32Array(4));
      for (const grid of [2 ** 28, 2 ** 31 - 1]) {
        expect(codeOf(() => addAll.launch({ grid, block: 4, timeout: 50 }, y, 1))).toBe('E_TIMEOUT');
      }
      y.set(0);
      addAll.launch({ grid: 1, block: 4 }, y, 1);
      expect(y.copyToHost()).toEqual(Int32Array.of(1, 1, 1, 1));
    });
  });

  it('stops kernels that print, which run on this thread', async () => {
    await onCpu(threads, async () => {
      const talks = cuda.jit(function talks(y: Vec<i32>) {
        if (y[0] < 0) console.log('never');
        while (y[0] >= 0) y[0] = (y[0] + 1) & 1023;
      });
      const y = cuda.toDevice(new Int32Array(1));
      expect(codeOf(() => talks.launch({ grid: 1, block: 1, timeout: 30 }, y))).toBe('E_TIMEOUT');
      await expect(talks.launchAsync({ grid: 1, block: 1, timeout: 30 }, y)).rejects.toMatchObject({
        code: 'E_TIMEOUT',
      });
      y.set(5);
      expect(y.get(0)).toBe(5);
    });
  });
});

/** A device whose work is over when somebody waits for it, and which cannot stop a kernel. */
class Unstoppable extends InterpretingDriver {
  override readonly info: DeviceInfo;
  waited = false;

  constructor() {
    super();
    const { features } = HOST;
    this.info = { ...HOST, features: { ...features, stopsKernels: false } };
  }

  override queryEvent(event: EventHandle): boolean {
    return this.waited && super.queryEvent(event);
  }

  override synchronize(): void {
    this.waited = true;
    super.synchronize();
  }
}

const HOST: DeviceInfo = new InterpretingDriver().info;

it('a device that cannot stop kernels says so, and does not hang', async () => {
  const driver = new Unstoppable();
  const context = new Context(driver);
  const leave = cudaDevices.enter(context);
  try {
    const y = cuda.toDevice(Int32Array.of(0, 0, 0, 0));
    expect(() => addAll.launch({ threads: 4, timeout: 20 }, y, 1)).toThrow(
      /kernel addAll\d* had not ended after 20 ms \(timeout\) and still runs on the interpreter, which cannot stop a kernel\n/,
    );
    const late = addAll.launchAsync({ threads: 4, timeout: 20 }, y, 1);
    await expect(late).rejects.toMatchObject({ code: 'E_TIMEOUT' });
    const unwanted = addAll.launchAsync({ threads: 4, signal: AbortSignal.timeout(20) }, y, 1);
    await expect(unwanted).rejects.toThrow(/still runs on .*, which cannot stop a kernel: its signal was aborted/);
    cuda.synchronize();
    expect(y.copyToHost()).toEqual(Int32Array.of(3, 3, 3, 3));
    await addAll.launchAsync({ threads: 4, timeout: 5000 }, y, 1);
    expect(y.get(3)).toBe(4);
  } finally {
    leave();
    context.close();
  }
});
