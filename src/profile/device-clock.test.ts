import { describe, expect, it, vi } from 'vitest';
import type { DeviceDriver, EventHandle } from '../driver/driver.ts';
import { DeviceClock, type DeviceTime } from './device-clock.ts';

/** A device whose clock begins elsewhere than the host's; events are reached when the test says so. Differences are f32, as CUDA's. */
class Scale {
  readonly times = new Map<EventHandle, number>();
  readonly live = new Set<EventHandle>();
  now = 5e6;
  reached = Number.NEGATIVE_INFINITY;
  made = 0;
  readonly driver = {
    createEvent: () => {
      this.made++;
      const event = { event: {} };
      this.live.add(event);
      return event;
    },
    destroyEvent: (event: EventHandle) => void this.live.delete(event),
    recordEvent: (event: EventHandle) => void this.times.set(event, this.now),
    queryEvent: (event: EventHandle) => this.#time(event) <= this.reached,
    elapsedTime: (start: EventHandle, end: EventHandle) => Math.fround(this.#time(end) - this.#time(start)),
  } as unknown as DeviceDriver;

  #time(event: EventHandle): number {
    return this.times.get(event) ?? 0;
  }

  /** Enqueues what takes so long, at a time of the host. */
  work(clock: DeviceClock, enqueued: number, duration: number, told: (time: DeviceTime) => void, track = 's'): void {
    const begun = clock.begin(undefined, enqueued, track);
    if (begun === undefined) throw new Error('no times');
    this.now += duration;
    clock.end(begun, undefined, track, told);
  }
}

describe('the clock of a device', () => {
  it('tells times on the scale of the host, none before its work was enqueued', () => {
    const [scale, told] = [new Scale(), [] as DeviceTime[]];
    const clock = new DeviceClock(scale.driver, true);
    // The second begins 5 ms after it was enqueued, the first and third 1 ms and 2 ms.
    scale.now = 5_000_101;
    scale.work(clock, 100, 9, (time) => told.push(time));
    scale.work(clock, 105, 3, (time) => told.push(time));
    clock.poll();
    expect(told).toEqual([]);
    scale.reached = scale.now;
    scale.now = 5_000_122;
    scale.work(clock, 120, 4, (time) => told.push(time));
    scale.reached = scale.now;
    clock.poll();
    expect(told.map(({ duration }) => duration)).toEqual([9, 3, 4]);
    expect(told.map(({ start }) => start + clock.offset)).toEqual([100, 109, 121]);
    clock.close();
    expect(scale.live.size).toBe(0);
  });

  it('uses its events again, and keeps the precision of short times over hours', () => {
    const [scale, told] = [new Scale(), [] as DeviceTime[]];
    const clock = new DeviceClock(scale.driver, true);
    for (let k = 0; k < 7200; k++) {
      scale.now = 5e6 + 1000 * k;
      scale.work(clock, 1000 * k, 0.125, (time) => told.push(time));
      scale.reached = scale.now;
      clock.poll();
    }
    expect(told).toHaveLength(7200);
    expect(told.at(-1)).toEqual({ start: 7_199_000, duration: 0.125 });
    expect(scale.made).toBeLessThan(6);
    clock.close();
    expect(scale.live.size).toBe(0);
  });

  it('does not wait for one stream to tell of another, and lets rounding make nothing overlap', () => {
    const [scale, told] = [new Scale(), [] as (readonly [string, number])[]];
    const clock = new DeviceClock(scale.driver, true);
    scale.work(clock, 0, 50, ({ start }) => told.push(['slow', start]), 'slow');
    const slow = scale.now;
    scale.now = 5e6;
    scale.work(clock, 0, 1, ({ start }) => told.push(['quick', start]), 'quick');
    scale.now -= 0.5;
    scale.work(clock, 0, 1, ({ start }) => told.push(['quick', start]), 'quick');
    scale.reached = scale.now;
    clock.poll();
    expect(told).toEqual([
      ['quick', 0],
      ['quick', 1],
    ]);
    scale.reached = slow;
    clock.poll();
    expect(told.at(-1)).toEqual(['slow', 0]);
    clock.close();
  });

  it('shares an event between work and what follows at once, not after another stream, a wait or a pause', () => {
    const [scale, told] = [new Scale(), [] as DeviceTime[]];
    const clock = new DeviceClock(scale.driver, true);
    const recorded = vi.spyOn(scale.driver, 'recordEvent');
    const work = (track?: string): void => scale.work(clock, scale.now - 5e6, 2, (time) => told.push(time), track);
    work();
    work();
    work();
    expect(recorded).toHaveBeenCalledTimes(4);
    work('other');
    work();
    expect(recorded).toHaveBeenCalledTimes(8);
    clock.interrupt();
    scale.now += 7;
    work();
    expect(recorded).toHaveBeenCalledTimes(10);
    scale.reached = scale.now;
    scale.now += 100;
    work();
    expect(recorded).toHaveBeenCalledTimes(12);
    scale.reached = scale.now;
    clock.poll();
    expect(told.map(({ duration }) => duration)).toEqual([2, 2, 2, 2, 2, 2, 2]);
    expect(told.map(({ start }) => start)).toEqual([0, 2, 4, 6, 8, 17, 119]);
    work();
    clock.close();
    expect(scale.live.size).toBe(0);
  });

  it('shares none where events are reached late', () => {
    const scale = new Scale();
    const clock = new DeviceClock(scale.driver, false);
    const recorded = vi.spyOn(scale.driver, 'recordEvent');
    for (let k = 0; k < 3; k++) scale.work(clock, k, 1, () => undefined);
    expect(recorded).toHaveBeenCalledTimes(6);
    clock.close();
    expect(scale.live.size).toBe(0);
  });

  it('gives up on a device that fails, without a word', () => {
    const scale = new Scale();
    const clock = new DeviceClock(scale.driver, true);
    scale.driver.recordEvent = () => {
      throw new Error('broken');
    };
    expect(clock.begin(undefined, 0, 's')).toBeUndefined();
    expect(clock.begin(undefined, 0, 's')).toBeUndefined();
    expect(scale.made).toBe(1);
    clock.close();
  });
});
