import { describe, expect, it } from 'vitest';
import { freshBlockDevice, freshQueueingDevice } from '../../test/support/with-device.ts';
import { event as createEvent, stream as createStream, defaultStream } from '../cuda/host.ts';
import type { Event } from './event.ts';

describe('events', () => {
  const device = freshQueueingDevice();

  it('are reached when the work before them is done', () => {
    const [stream, event] = [createStream(), createEvent()];
    let ran = false;
    device.driver.enqueue(stream.handle, () => {
      ran = true;
    });
    event.record(stream);
    event.synchronize();
    expect(ran).toBe(true);
    expect(event.query()).toBe(true);
  });

  it('make another stream wait', () => {
    const [first, second, event] = [createStream(), createStream(), createEvent()];
    const log: string[] = [];
    device.driver.enqueue(first.handle, () => log.push('first'));
    event.record(first);
    event.wait(second);
    device.driver.enqueue(second.handle, () => log.push('second'));
    second.synchronize();
    expect(log).toEqual(['first', 'second']);
  });

  it('take the default stream for none', () => {
    const event = createEvent();
    event.record();
    event.record(0);
    event.record(defaultStream());
    event.wait();
    event.synchronize();
    expect(() => event.record(3 as never)).toThrow(/must be a Stream or 0/);
  });

  it('say where they were disposed', () => {
    const event = createEvent();
    event.dispose();
    event[Symbol.dispose]();
    expect(() => event.query()).toThrow(/^this event was disposed at .*event\.test\.ts:\d+/);
    expect(device.context.resourceDeallocations.length).toBe(1);
  });
});

describe('elapsed time', () => {
  freshBlockDevice();

  const recorded = (timing = true): Event => {
    const event = createEvent({ timing });
    event.record();
    return event;
  };

  it('is milliseconds between two events', () => {
    const start = recorded();
    const began = performance.now();
    while (performance.now() - began < 3);
    const ms = start.elapsedTime(recorded());
    expect(ms).toBeGreaterThanOrEqual(3);
    expect(ms).toBeLessThan(1000);
  });

  it('needs recorded events with timing', () => {
    expect(() => recorded().elapsedTime(createEvent())).toThrow('the end event was not recorded');
    expect(() => createEvent().elapsedTime(recorded())).toThrow('the start event was not recorded');
    expect(() => recorded(false).elapsedTime(recorded())).toThrow('the start event was made with timing: false');
    expect(() => recorded().elapsedTime({} as Event)).toThrow(TypeError);
  });
});
