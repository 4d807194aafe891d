/**
 * `cuda.pinned` and `cuda.mapped` on a device that works late: memory is unpinned when nothing touches it any more, at once, and
 * without waiting for anything else.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freshQueueingDevice } from '../../../test/support/with-device.ts';
import { stream as createStream, deviceArray, mapped, mappedArray, pinned, pinnedArray } from '../../cuda/host.ts';
import { f32 } from '../../dtype/index.ts';
import { withFaults } from '../with-faults.ts';

const device = freshQueueingDevice();

/** What the driver has pinned and unpinned, in order. */
function watch(): string[] {
  const seen: string[] = [];
  const { driver } = device;
  const [register, unregister] = [driver.registerHost.bind(driver), driver.unregisterHost.bind(driver)];
  driver.registerHost = (bytes, reached) => {
    seen.push(`${reached ? 'map' : 'pin'} ${bytes.byteOffset}+${bytes.byteLength}`);
    return register(bytes, reached);
  };
  driver.unregisterHost = (memory) => {
    seen.push('unpin');
    unregister(memory);
  };
  return seen;
}

describe('pinned', () => {
  it('waits for the copies that touch the array, and for no other work', () => {
    const seen = watch();
    const [busy, other] = [createStream(), createStream()];
    const d = deviceArray(100, f32);
    const host = new Float32Array(100).fill(3);
    let unrelated = false;
    const pin = pinned(host);
    d.copyToDevice(host, { stream: busy });
    device.driver.enqueue(other.handle, () => {
      unrelated = true;
    });
    expect(busy.query()).toBe(false);
    // The driver lets all streams step while it waits: what must not happen is a wait for the other one.
    const waited: unknown[] = [];
    const synchronize = device.driver.synchronizeEvent.bind(device.driver);
    const record = device.driver.recordEvent.bind(device.driver);
    device.driver.recordEvent = (event, stream) => {
      waited.push(stream);
      record(event, stream);
    };
    device.driver.synchronizeEvent = synchronize;
    pin.dispose();
    expect(waited).toEqual([busy.handle]);
    expect(busy.query()).toBe(true);
    expect(seen).toEqual(['pin 0+400', 'unpin']);
    other.synchronize();
    expect(unrelated).toBe(true);
    host.fill(0);
    expect(d.get(5)).toBe(3);
  });

  it('waits for copies from the device, too, which fill the array', () => {
    const busy = createStream();
    const d = deviceArray(50, f32);
    const host = new Float32Array(50);
    const pin = pinned(host);
    const held: unknown[] = [];
    const hold = busy.ref.hold.bind(busy.ref);
    busy.ref.hold = (object) => {
      held.push(object);
      hold(object);
    };
    d.copyToDevice(new Float32Array(50).fill(4), { stream: busy });
    d.copyToHost(host, { stream: busy });
    expect(busy.query()).toBe(false);
    // Nobody else may keep it alive until then.
    expect(held.map((bytes) => (bytes as Uint8Array).buffer === host.buffer)).toEqual([false, true]);
    pin.dispose();
    expect([busy.query(), host[49]]).toEqual([true, 4]);
  });

  it('waits for no copy of what lies right beside the array', () => {
    const busy = createStream();
    const d = deviceArray(50, f32);
    const host = new Float32Array(100);
    const pin = pinned(host.subarray(0, 50));
    d.copyToDevice(host.subarray(50), { stream: busy });
    pin.dispose();
    expect(busy.query()).toBe(false);
    const second = pinned(host.subarray(50));
    d.copyToDevice(host.subarray(0, 50), { stream: busy });
    second.dispose();
    expect(busy.query()).toBe(false);
    busy.synchronize();
  });

  it('goes past the queue of deallocations, also while that is put off', () => {
    const seen = watch();
    const host = new Float32Array(10);
    const end = device.context.deallocations.defer();
    for (let k = 0; k < 3; k++) pinned(host).dispose();
    expect(seen).toEqual(['pin 0+40', 'unpin', 'pin 0+40', 'unpin', 'pin 0+40', 'unpin']);
    expect(device.context.deallocations.length).toBe(0);
    end();
  });

  it('pins a range once, and maps it when that is wanted as well', () => {
    const seen = watch();
    const host = new Float32Array(10);
    const outer = pinned(host, host, host.subarray(3));
    const inner = mapped(host.subarray(5));
    inner.dispose();
    expect(seen).toEqual(['pin 0+40', 'unpin', 'map 0+40']);
    outer.dispose();
    expect(seen.slice(3)).toEqual(['unpin']);
  });

  it('waits for the copies that touch an array before it is mapped as well', () => {
    const seen = watch();
    const busy = createStream();
    const d = deviceArray(100, f32);
    const host = new Float32Array(100).fill(3);
    const pin = pinned(host);
    d.copyToDevice(host, { stream: busy });
    const { driver } = device;
    const unregister = driver.unregisterHost;
    driver.unregisterHost = (memory) => {
      seen.push(`copied: ${busy.query()}`);
      unregister(memory);
    };
    mapped(host).dispose();
    expect(seen).toEqual(['pin 0+400', 'copied: true', 'unpin', 'map 0+400']);
    pin.dispose();
  });

  it('pins, shares and refuses random ranges as a list of what is pinned says', () => {
    const seen = watch();
    const range = fc.record({ start: fc.integer({ min: 0, max: 11 }), length: fc.integer({ min: 1, max: 6 }) });
    const action = fc.oneof(range, fc.record({ leave: fc.nat(5) }));
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        const host = new Uint8Array(17);
        seen.length = 0;
        const wanted: string[] = [];
        let pinnings: { start: number; end: number; users: Set<{ dispose(): void }> }[] = [];
        const leave = (pinning: (typeof pinnings)[number], pin: { dispose(): void }): void => {
          pin.dispose();
          pin.dispose();
          pinning.users.delete(pin);
          if (pinning.users.size > 0) return;
          wanted.push('unpin');
          pinnings = pinnings.filter((other) => other !== pinning);
        };
        for (const act of actions) {
          if ('leave' in act) {
            const pinning = pinnings[act.leave % Math.max(pinnings.length, 1)];
            const pin = pinning?.users.values().next().value;
            if (pinning !== undefined && pin !== undefined) leave(pinning, pin);
            continue;
          }
          const [start, end] = [act.start, act.start + act.length];
          const part = host.subarray(start, end);
          const touched = pinnings.filter((other) => Math.max(other.start, start) < Math.min(other.end, end));
          const around = touched.find((other) => other.start <= start && end <= other.end);
          if (around !== undefined) around.users.add(pinned(part));
          else if (touched.length > 0) expect(() => pinned(part)).toThrow(/which are pinned already/);
          else {
            pinnings.push({ start, end, users: new Set([pinned(part)]) });
            wanted.push(`pin ${start}+${end - start}`);
          }
        }
        for (const pinning of pinnings) for (const pin of pinning.users) leave(pinning, pin);
        expect(seen).toEqual(wanted);
      }),
      { numRuns: 300 },
    );
  });

  it('pins the range that the elements lie in', () => {
    const seen = watch();
    const host = new Float32Array(100);
    const view = { data: host, shape: [3], stride: [-10], offset: 50 };
    pinned(view).dispose();
    expect(seen).toEqual([`pin ${4 * 30}+${4 * 21}`, 'unpin']);
  });

  it('unpins what it has pinned when it cannot pin the rest', () => {
    const seen = watch();
    const [a, b] = [new Float32Array(10), new Float32Array(10)];
    withFaults({ allocate: [2, 3] }, () => {
      expect(() => pinned(a, b)).toThrow(/cannot allocate/);
    });
    expect(seen).toEqual(['pin 0+40', 'unpin']);
    const [whole] = [new Float32Array(10)];
    const part = pinned(whole.subarray(0, 6));
    expect(() => pinned(a, whole)).toThrow(/overlap/);
    part.dispose();
    expect(seen.filter((what) => what === 'unpin').length).toBe(3);
  });

  it('unpins everything, and throws, when the driver fails to unpin', () => {
    const seen = watch();
    const pin = pinned(new Float32Array(10), new Float32Array(10));
    withFaults({ free: 1 }, () => {
      expect(() => pin.dispose()).toThrow(/free number 1/);
    });
    expect(seen.filter((what) => what === 'unpin').length).toBe(1);
    pin.dispose();
  });

  it('keeps what the body threw, when leaving fails too', () => {
    expect(() =>
      withFaults({ free: 1 }, () =>
        pinned(new Float32Array(10), () => {
          throw new Error('of the body');
        }),
      ),
    ).toThrow(/of the body/);
    expect(() => device.context.synchronize()).toThrow(/free number 1/);
  });

  it('waits without blocking where it can', async () => {
    const stream = createStream();
    const host = new Float32Array(100).fill(1);
    const d = deviceArray(100, f32);
    const order: string[] = [];
    setImmediate(() => order.push('the event loop'));
    await pinned(host, async () => {
      d.copyToDevice(host, { stream });
      for (let k = 0; k < 5; k++) device.driver.enqueue(stream.handle, () => undefined);
      await Promise.resolve();
    });
    order.push('left');
    expect(order).toEqual(['the event loop', 'left']);
    expect(stream.query()).toBe(true);
  });

  it('is over when its context is reset', () => {
    const seen = watch();
    const host = new Float32Array(10);
    const pin = pinned(host);
    const { arrays, dispose } = mapped(new Float32Array(4));
    device.context.reset();
    expect(seen.filter((what) => what === 'unpin').length).toBe(2);
    expect(() => arrays[0].get(0)).toThrow(/the context of its mapping was reset/);
    pin.dispose();
    dispose();
    expect(seen.filter((what) => what === 'unpin').length).toBe(2);
    pinned(host).dispose();
  });
});

describe('mapped', () => {
  it('waits for kernels, on streams and on the default stream', () => {
    const stream = createStream();
    const host = new Float32Array(10);
    const ran: string[] = [];
    mapped(host, ([d]) => {
      d.owner.touch(stream);
      device.driver.enqueue(stream.handle, () => ran.push('on a stream'));
      device.driver.enqueue(undefined, () => ran.push('on the default stream'));
    });
    expect(ran.sort()).toEqual(['on a stream', 'on the default stream']);
  });

  it('the inner of two mappings leaves the wait to the outer', () => {
    const stream = createStream();
    const host = new Float32Array(10);
    let done = false;
    mapped(host, () => {
      mapped(host, ([d]) => {
        d.owner.touch(stream);
        device.driver.enqueue(stream.handle, () => {
          done = true;
        });
      });
      expect(done).toBe(false);
    });
    expect(done).toBe(true);
  });
});

describe('arrays of the driver’s host memory', () => {
  it('are freed after the copies that touch them', () => {
    const freed: boolean[] = [];
    const { driver } = device;
    const stream = createStream();
    const freeHost = driver.freeHost.bind(driver);
    driver.freeHost = (memory) => {
      freed.push(stream.query());
      freeHost(memory);
    };
    const d = deviceArray(100, f32);
    const p = pinnedArray(100, f32);
    p.set(4);
    const m = mappedArray(100, f32);
    m.set(5);
    d.copyToDevice(p, { stream });
    m.device.copyToHost(p, { stream });
    d.copyToDevice(m, { stream });
    expect(stream.query()).toBe(false);
    p.dispose();
    m.dispose();
    device.context.deallocations.clear();
    expect(freed).toEqual([true, true]);
    expect(d.get(7)).toBe(5);
  });
});
