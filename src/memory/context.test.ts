import { describe, expect, it, vi } from 'vitest';
import { freshBlockDevice } from '../../test/support/with-device.ts';
import {
  event as createEvent,
  stream as createStream,
  deferCleanup,
  deviceArray,
  memoryStats,
  toDevice,
} from '../cuda/host.ts';
import { f32 } from '../dtype/index.ts';
import { DriverError } from '../errors.ts';
import { trackLeaks } from './leaks.ts';
import { withFaults } from './with-faults.ts';

describe('a context', () => {
  const device = freshBlockDevice(1 << 20);

  it('knows its free and total memory', () => {
    const array = deviceArray(1000, f32);
    expect(device.context.memoryInfo()).toEqual({ free: (1 << 20) - 4000, total: 1 << 20 });
    array.dispose();
  });

  it('counts bytes, allocations, frees, copies and synchronisations', () => {
    const a = toDevice(new Float32Array(100));
    const b = deviceArray(100, f32);
    b.copyToDevice(a);
    b.slice('::2').copyToHost();
    b.set(1, 5);
    device.context.synchronize();
    a.dispose();
    expect(memoryStats()).toEqual({
      live: 400,
      pending: 400,
      pooled: 0,
      peak: 800,
      allocations: 2,
      frees: 0,
      synchronizations: 1,
      copies: {
        hostToDevice: { count: 1, bytes: 400 },
        deviceToHost: { count: 1, bytes: 200 },
        deviceToDevice: { count: 1, bytes: 400 },
      },
    });
    device.context.deallocations.clear();
    expect(memoryStats()).toMatchObject({ live: 400, pending: 0, frees: 1 });
  });

  it('has its peak where most was allocated, what waits to be freed included', () => {
    const [a, b] = [deviceArray(100, f32), deviceArray(50, f32)];
    a.dispose();
    deviceArray(25, f32).dispose();
    expect(memoryStats().peak).toBe(700);
    device.context.deallocations.clear();
    deviceArray(100, f32).dispose();
    expect(memoryStats().peak).toBe(700);
    b.dispose();
  });

  it('is empty after a reset, and usable', () => {
    const array = deviceArray(4);
    const stream = createStream();
    const event = createEvent();
    deviceArray(4).dispose();
    device.context.reset();
    expect(device.driver.live).toBe(0);
    expect(array.disposed).toBe(true);
    expect(() => array.get(0)).toThrow('this array was disposed; its context was reset: make a new one');
    expect(() => stream.synchronize()).toThrow(/context was reset/);
    expect(() => event.query()).toThrow(/context was reset/);
    for (const gone of [array, stream, event]) gone.dispose();
    expect(device.context.deallocations.length).toBe(0);
    expect(toDevice([1, 2]).get(1)).toBe(2);
    expect(device.context.epoch).toBe(1);
  });

  it('keeps the fault that nobody could be told, for the next synchronising call', () => {
    device.context.keepFault(new DriverError('E_KERNEL', 'kernel k failed'));
    expect(() => device.context.synchronize()).toThrow('kernel k failed');
    device.context.synchronize();
  });
});

describe('a context that is closed', () => {
  const device = freshBlockDevice();

  it('leaves its driver open until the last holder lets go', () => {
    const close = vi.spyOn(device.driver, 'close');
    const [first, second] = [device.context.holdOpen(), device.context.holdOpen()];
    device.context.close();
    first();
    first();
    expect(close).not.toHaveBeenCalled();
    second();
    second();
    expect(close).toHaveBeenCalledOnce();
  });
});

describe('deferCleanup', () => {
  const device = freshBlockDevice();

  it('puts off frees in both forms, sync and async', async () => {
    const twenty = (): void => {
      for (let k = 0; k < 20; k++) deviceArray(4).dispose();
    };
    const value = deferCleanup(() => {
      twenty();
      return device.context.deallocations.length;
    });
    expect(value).toBe(20);
    expect(device.context.deallocations.length).toBe(20);
    deviceArray(4).dispose();
    expect(device.context.deallocations.length).toBe(0);

    await deferCleanup(async () => {
      twenty();
      await Promise.resolve();
      expect(device.context.deallocations.length).toBe(20);
    });
    const outer = deferCleanup();
    const inner = deferCleanup();
    inner.dispose();
    inner[Symbol.dispose]();
    device.context.deallocations.clear();
    expect(device.context.deallocations.length).toBe(20);
    outer.dispose();
    device.context.deallocations.clear();
    expect(device.context.deallocations.length).toBe(0);
  });

  it('ends when the body throws or rejects', async () => {
    const no = (): never => {
      throw new Error('no');
    };
    expect(() => deferCleanup(no)).toThrow('no');
    await expect(deferCleanup(async () => no())).rejects.toThrow('no');
    expect(device.context.deallocations.deferred).toBe(false);
  });
});

describe('trackLeaks', () => {
  freshBlockDevice();

  it('names what was made since, whatever another tracker knows', () => {
    const outer = trackLeaks();
    const early = deviceArray(2, f32);
    const inner = trackLeaks();
    const late = deviceArray(3, f32);
    expect(outer.leaks().map(({ bytes }) => bytes)).toEqual([8, 12]);
    expect(inner.leaks().map(({ bytes }) => bytes)).toEqual([12]);
    inner.dispose();
    late.dispose();
    expect(outer.leaks().map(({ bytes }) => bytes)).toEqual([8]);
    expect(inner.leaks()).toEqual([]);
    outer.dispose();
    const next = trackLeaks();
    expect(next.leaks()).toEqual([]);
    next.dispose();
    early.dispose();
  });

  it('names what was not disposed, with the place', () => {
    const before = deviceArray(4);
    const tracker = trackLeaks();
    const fine = deviceArray(3, f32);
    const leak = deviceArray(5, f32);
    const view = leak.slice('1:');
    fine.dispose();
    view.dispose();
    expect(tracker.leaks()).toHaveLength(1);
    expect(tracker.leaks()[0]?.bytes).toBe(20);
    expect(tracker.report()).toMatch(/^20 bytes never disposed, allocated at .*context\.test\.ts:\d+:\d+/);
    leak.dispose();
    expect(tracker.report()).toBe('');
    tracker.dispose();
    deviceArray(3);
    expect(tracker.leaks()).toEqual([]);
    before.dispose();
  });
});

describe('withFaults', () => {
  it('refuses plans of calls that there are none of, which would never fail', () => {
    expect(() => withFaults({ allocation: 1 } as never, () => {})).toThrow("withFaults has no option 'allocation'");
  });

  const device = freshBlockDevice();

  it('fails the planned calls, and no others', () => {
    const array = toDevice([1, 2, 3]);
    withFaults({ copy: [2, 3] }, (counts) => {
      expect(array.get(0)).toBe(1);
      expect(() => array.get(1)).toThrow('copy number 2 was made to fail');
      expect(() => array.set(7)).toThrow(DriverError);
      array.set(8);
      expect(counts).toEqual({ allocate: 0, free: 0, copy: 4, launch: 0 });
    });
    expect(array.get(1)).toBe(8);
  });

  it('asks before launches', () => {
    withFaults({ launch: 2 }, () => {
      device.context.beforeLaunch?.();
      expect(() => device.context.beforeLaunch?.()).toThrow('launch number 2 was made to fail');
    });
    expect(device.context.beforeLaunch).toBeUndefined();
  });

  it('nests, lasts as long as an async body, and ends when one throws', async () => {
    const original = device.context.driver;
    await withFaults({ allocate: 3 }, async () => {
      await Promise.resolve();
      withFaults({ allocate: 1, error: (kind, n) => new RangeError(`${kind} ${n}`) }, () => {
        expect(() => deviceArray(1)).toThrow('allocate 1');
      });
      expect(device.context.driver).not.toBe(original);
    });
    expect(device.context.driver).toBe(original);
    expect(() =>
      withFaults({}, () => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(device.context.driver).toBe(original);
  });

  it('gives no half-made array when the copy of toDevice fails', () => {
    withFaults({ copy: 1 }, () => expect(() => toDevice([1, 2])).toThrow(DriverError));
    expect(device.context.deallocations.length).toBe(1);
  });

  it('reports failed work when the context goes', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    device.context.keepFault(new DriverError('E_KERNEL', 'kernel k failed'));
    device.context.reset();
    expect(String(warn.mock.calls[0]?.[0])).toContain('kernel k failed');
    warn.mockRestore();
  });
});
