/**
 * Programs that drop arrays do not run out of device memory as long as the event loop turns; programs that dispose pay nothing.
 */

import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LimitedCpuDriver } from '../../test/support/limited-driver.ts';
import { deviceArray } from '../cuda/host.ts';
import { f32 } from '../dtype/index.ts';
import { Context } from './context.ts';
import { cudaDevices } from './devices.ts';
import { Pressure } from './pressure.ts';

const MB = 2 ** 20;

async function withMemory(bytes: number, body: (context: Context) => void | Promise<void>): Promise<void> {
  const context = new Context(new LimitedCpuDriver(bytes));
  const leave = cudaDevices.enter(context);
  try {
    await body(context);
  } finally {
    leave();
    context.close();
  }
}

const megabyte = () => deviceArray(MB / 4, f32);

describe('memory pressure', () => {
  it('has arrays collected that asynchronous code drops', () =>
    withMemory(32 * MB, async (context) => {
      for (let k = 0; k < 500; k++) {
        megabyte();
        await setImmediate();
      }
      const { allocations, peak } = context.memoryStats();
      expect(allocations).toBe(500);
      expect(peak).toBeLessThanOrEqual(32 * MB);
      expect(context.pressure.collections).toBeGreaterThan(15);
    }));

  it('leaves an engine alone whose program disposes what it makes, however much that is', () =>
    withMemory(32 * MB, async (context) => {
      for (let k = 0; k < 100; k++) {
        const arrays = Array.from({ length: 20 }, megabyte);
        for (const array of arrays) array.dispose();
        await setImmediate();
      }
      expect(context.pressure.collections).toBe(0);
    }));

  it('cannot help synchronous loops, whose error says what does, and helps whoever tries again', () =>
    withMemory(16 * MB, async (context) => {
      const fill = () => {
        for (let k = 0; k < 17; k++) megabyte();
      };
      expect(fill).toThrow(
        /`using`, dispose\(\) or scope\(\): arrays that are merely dropped .* never within a synchronous loop/,
      );
      for (let k = 0; k < 200 && context.counters.live > 0; k++) await setTimeout(5);
      megabyte().dispose();
      expect(context.pressure.collections).toBe(1);
    }));

  it('asks for few collections while what is live is really used', async () => {
    let live = 0;
    const pressure = new Pressure(1024 * MB, { live: () => live, free: () => 1024 * MB - live }, () => true);
    for (; live < 1024 * MB; live += MB) {
      pressure.note(live);
      await setImmediate();
    }
    // At 256 MB, then each time that half of the rest is full.
    expect(pressure.collections).toBeGreaterThan(1);
    expect(pressure.collections).toBeLessThan(40);
  });

  it('takes a twentieth of the time at most, until memory is about to run out', async () => {
    let live = 300 * MB;
    const busy = () => {
      for (const start = performance.now(); performance.now() < start + 10; );
      live = 0;
      return true;
    };
    const pressure = new Pressure(1024 * MB, { live: () => live, free: () => 1024 * MB }, busy);
    const start = performance.now();
    while (performance.now() < start + 150) {
      live += 100 * MB;
      pressure.note(Math.min(live, 500 * MB));
      live = Math.min(live, 500 * MB);
      await setImmediate();
    }
    // One at once, and each of 10 ms makes the next one wait for 200.
    const usual = pressure.collections;
    expect(usual).toBeLessThanOrEqual(1 + (performance.now() - start) / 200);
    for (let k = 0; k < 100 && pressure.collections === usual; k++) {
      live = 600 * MB;
      pressure.note(live);
      await setImmediate();
    }
    expect(pressure.collections).toBe(usual + 1);
  });

  it('gives up where the engine cannot be asked', async () => {
    let asked = 0;
    const refuse = () => {
      asked++;
      return false;
    };
    const pressure = new Pressure(1024 * MB, { live: () => 900 * MB, free: () => 0 }, refuse);
    for (let k = 0; k < 10; k++) {
      pressure.note(900 * MB);
      await setImmediate();
    }
    expect(asked).toBe(1);
  });
});
