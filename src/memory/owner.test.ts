import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { freshBlockDevice, freshQueueingDevice } from '../../test/support/with-device.ts';
import { DeviceNDArray } from '../array/device-array.ts';
import { stream as createStream, deferCleanup, deviceArray, toDevice } from '../cuda/host.ts';
import { f32 } from '../dtype/index.ts';
import { OutOfMemoryError } from '../errors.ts';
import { collectGarbage } from './collect.ts';
import { withFaults } from './with-faults.ts';

describe('owners of memory', () => {
  const device = freshBlockDevice(1 << 20);

  it('queue the memory when the last array or view is disposed', () => {
    const base = deviceArray(8, f32);
    const view = base.slice('::2');
    base.dispose();
    expect(device.context.deallocations.length).toBe(0);
    expect(view.copyToHost()).toHaveLength(4);
    view.dispose();
    view.dispose();
    expect(device.context.deallocations.length).toBe(1);
    expect(device.context.deallocations.bytes).toBe(32);
    expect(device.driver.freed).toEqual([]);
    device.context.deallocations.clear();
    expect(device.driver.freed).toHaveLength(1);
  });

  it('let a loop of 10,000 arrays run without growing', () => {
    for (let k = 0; k < 10_000; k++) {
      const array = deviceArray(1000, f32);
      const view = array.slice('1:');
      view.dispose();
      array.dispose();
      expect(device.driver.live).toBeLessThanOrEqual(11 * 4000);
    }
    expect(device.context.memoryStats()).toMatchObject({ live: 0, allocations: 10_000 });
    expect(device.context.memoryStats().peak).toBeLessThanOrEqual(11 * 4000);
  });

  it('flush and try once more when memory has run out', () => {
    const big = (1 << 20) / 8;
    const held = Array.from({ length: 5 }, () => deviceArray(big, 'u1'));
    const pending = Array.from({ length: 3 }, () => deviceArray(big, 'u1'));
    deferCleanup(() => {
      for (const array of pending) array.dispose();
      expect(() => deviceArray(big, 'u1')).toThrow(/deferCleanup keeps them/);
    });
    expect(device.context.deallocations.length).toBe(3);
    const more = deviceArray(big, 'u1');
    expect(device.context.deallocations.length).toBe(0);
    for (const array of [...held, more]) array.dispose();
  });

  it('say what is live, pending, pooled and free when there is no more memory', () => {
    const kept = deviceArray(1000, 'u1');
    let error: unknown;
    try {
      deviceArray(1 << 20, 'u1');
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(error).toMatchObject({ code: 'E_OUT_OF_MEMORY', asked: 1 << 20, live: 1000, pending: 0, pooled: 0 });
    expect(String(error)).toMatch(/cannot allocate 1048576 bytes.*1000 bytes are live.*dispose\(\)/s);
    kept.dispose();
  });

  it('retry once only, and only when memory ran out', () => {
    withFaults({ allocate: 1 }, (counts) => {
      deviceArray(4, f32).dispose();
      expect(counts.allocate).toBe(2);
    });
    withFaults({ allocate: [1, 2] }, () => expect(() => deviceArray(4, f32)).toThrow(OutOfMemoryError));
    withFaults({ allocate: 1, error: () => new Error('broken') }, (counts) => {
      expect(() => deviceArray(4, f32)).toThrow('broken');
      expect(counts.allocate).toBe(1);
    });
  });

  it('report a free that fails, and keep the rest for the next flush', () => {
    const arrays = [1, 2, 3].map(() => deviceArray(4, f32));
    for (const array of arrays) array.dispose();
    withFaults({ free: 2 }, () => {
      expect(() => device.context.deallocations.clear()).toThrow('free number 2 was made to fail');
      expect(device.context.deallocations.length).toBe(1);
      device.context.deallocations.clear();
    });
    expect(device.context.deallocations.length).toBe(0);
    expect(device.driver.freed).toHaveLength(2);
  });

  it('warn, and do not throw, when a free fails inside a dispose', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const arrays = Array.from({ length: 11 }, () => deviceArray(4, f32));
    withFaults({ free: 1 }, () => {
      for (const array of arrays) array.dispose();
    });
    expect(warn).toHaveBeenCalledOnce();
    expect(String(warn.mock.calls[0]?.[0])).toContain('free number 1 was made to fail');
    expect(device.context.deallocations.length).toBe(10);
    warn.mockRestore();
  });

  it('have no memory for arrays without elements, and keep no base alive', () => {
    const base = deviceArray(8, f32);
    const nothing = base.slice('3:3');
    expect(nothing.pointer).toBe(0);
    expect(nothing.gpuData).toBeUndefined();
    base.dispose();
    expect(device.context.deallocations.length).toBe(1);
    expect(nothing.copyToHost()).toEqual(new Float32Array(0));
    nothing.dispose();
    expect(device.context.memoryStats().allocations).toBe(1);
  });

  it('count once when they are collected after they were disposed, but before they were freed', async () => {
    const { deallocations } = device.context;
    let collected = 0;
    const registry = new FinalizationRegistry(() => collected++);
    for (let k = 0; k < 5; k++) {
      const array = deviceArray(16, f32);
      registry.register(array.owner, undefined);
      array.dispose();
    }
    for (let turn = 0; turn < 200 && collected < 4; turn++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    // Finalisers of all registries run in one turn or the next.
    await new Promise((resolve) => setTimeout(resolve, 5));
    // The engine may still hold the last one.
    expect(collected).toBeGreaterThanOrEqual(4);
    expect([deallocations.length, device.context.memoryStats().live]).toEqual([5, 0]);
    deallocations.clear();
    expect(device.driver.freed).toHaveLength(5);
  });

  it('are freed by the collector too, when they were dropped', async () => {
    for (let k = 0; k < 5; k++) deviceArray(16, f32);
    for (let turn = 0; turn < 50 && device.context.deallocations.length < 5; turn++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(device.context.deallocations.length).toBe(5);
    expect(device.context.memoryStats().live).toBe(0);
  });
});

describe('memory that enqueued work still uses', () => {
  const device = freshQueueingDevice(1 << 20);

  it('is freed after the work on the one stream that used it', () => {
    const stream = createStream();
    const array = toDevice(Float32Array.of(1, 2, 3), { stream });
    const result = array.copyToHost({ stream });
    array.dispose();
    device.context.deallocations.clear();
    expect(device.driver.device.freed).toEqual([]);
    stream.synchronize();
    expect(result).toEqual(Float32Array.of(1, 2, 3));
    expect(device.driver.device.freed).toHaveLength(1);
  });

  it('is freed after the work on all streams that used it, and on the default stream', () => {
    const [a, b] = [createStream(), createStream()];
    const array = new DeviceNDArray(4, null, f32);
    const seen: string[] = [];
    for (const [name, stream] of [
      ['a', a],
      ['b', b],
    ] as const) {
      device.driver.enqueue(stream.handle, () => seen.push(`${name}: freed ${device.driver.device.freed.length}`));
      array.owner.touch(stream);
    }
    device.driver.enqueue(undefined, () => seen.push(`default: freed ${device.driver.device.freed.length}`));
    array.dispose();
    device.context.deallocations.clear();
    while (device.driver.step());
    expect(seen.toSorted()).toEqual(['a: freed 0', 'b: freed 0', 'default: freed 0']);
    expect(device.driver.device.freed).toHaveLength(1);
  });

  it('is freed after the work that was left on streams that are gone', () => {
    const stream = createStream();
    const array = toDevice(Float32Array.of(1, 2, 3), { stream });
    stream.dispose();
    device.context.resourceDeallocations.clear();
    array.dispose();
    device.context.deallocations.clear();
    expect(device.driver.device.freed).toEqual([]);
    while (device.driver.step());
    expect(device.driver.device.freed).toHaveLength(1);
  });
});

describe('memory on a device with streams that do not wait for the default one', () => {
  const device = freshQueueingDevice(1 << 20, { cuda: true });

  it('is freed after the work of all the streams of a long life, gone or not', () => {
    const array = new DeviceNDArray(4, null, f32);
    const { freed } = device.driver.device;
    const before = freed.length;
    const seen: number[] = [];
    for (let k = 0; k < 100; k++) {
      const stream = createStream();
      array.owner.touch(stream);
      // The first has much left when it goes, others little or nothing, and some stay.
      for (let n = k === 0 ? 5000 : k % 3; n > 0; n--)
        device.driver.enqueue(stream.handle, () => seen.push(freed.length - before));
      if (k % 2 === 0) stream.dispose();
      device.context.resourceDeallocations.clear();
      if (k % 5 === 0) device.driver.step();
    }
    array.dispose();
    device.context.deallocations.clear();
    while (device.driver.step());
    expect(seen).toHaveLength(5000 + 33 + 2 * 33);
    expect(Math.max(...seen)).toBe(0);
    expect(freed.length - before).toBe(1);
  });

  it('is freed after the work on all streams that used it, whichever comes last', () => {
    for (const last of [0, 1, 2]) {
      const streams = [createStream(), createStream(), createStream()];
      const array = new DeviceNDArray(4, null, f32);
      const { freed } = device.driver.device;
      const before = freed.length;
      const seen: number[] = [];
      for (const [k, stream] of streams.entries()) {
        array.owner.touch(stream);
        for (let n = k === last ? 20 : 1; n > 0; n--)
          device.driver.enqueue(stream.handle, () => seen.push(freed.length - before));
      }
      array.dispose();
      device.context.deallocations.clear();
      while (device.driver.step());
      expect(seen).toEqual(new Array<number>(22).fill(0));
      expect(freed.length - before).toBe(1);
      for (const stream of streams) stream.dispose();
    }
  });

  it('does not keep the streams of a long life', async () => {
    const array = new DeviceNDArray(4, null, f32);
    const used = Array.from({ length: 200 }, () => {
      const stream = createStream();
      array.owner.touch(stream);
      stream.dispose();
      device.context.resourceDeallocations.clear();
      return new WeakRef(stream.ref);
    });
    await setImmediate();
    collectGarbage();
    expect(used.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(100);
    array.dispose();
  });

  it.each([false, true])(
    'exists for other streams once the one that it was allocated on, gone or not, has come so far',
    (gone) => {
      const [a, b] = [createStream(), createStream()];
      const order: string[] = [];
      for (let k = 0; k < 20; k++) device.driver.enqueue(a.handle, () => order.push('a'));
      const array = new DeviceNDArray(4, null, f32, { stream: a });
      if (gone) a.dispose();
      device.context.resourceDeallocations.clear();
      array.owner.touch(b);
      device.driver.enqueue(b.handle, () => order.push('b'));
      while (device.driver.step());
      expect(order.indexOf('b')).toBe(20);
      array.dispose();
    },
  );
});
