import { describe, expect, it, vi } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { freshBlockDevice, freshQueueingDevice } from '../../test/support/with-device.ts';
import { DeviceNDArray } from '../array/device-array.ts';
import {
  event as createEvent,
  stream as createStream,
  defaultStream,
  externalStream,
  legacyDefaultStream,
  perThreadDefaultStream,
  toDevice,
} from '../cuda/host.ts';
import { DriverError } from '../errors.ts';
import { Context } from '../memory/context.ts';
import { exitAfter } from '../memory/context-manager.ts';
import { cudaDevices } from '../memory/devices.ts';
import { Stream, streamOption } from './stream.ts';

describe('streams', () => {
  const device = freshQueueingDevice();

  it('do their work in order, by the time that synchronize returns', () => {
    const stream = createStream();
    const array = toDevice(Int32Array.of(1, 2, 3), { stream });
    array.set(9, 0);
    const host = array.copyToHost({ stream });
    expect(host).toEqual(new Int32Array(3));
    expect(stream.query()).toBe(false);
    stream.synchronize();
    expect(stream.query()).toBe(true);
    expect(host).toEqual(Int32Array.of(9, 2, 3));
  });

  it('may have a priority', () => {
    using first = createStream({ priority: 'high' });
    const array = toDevice(Int32Array.of(1, 2), { stream: first });
    const host = array.copyToHost({ stream: first });
    first.synchronize();
    expect(host).toEqual(Int32Array.of(1, 2));
    expect(() => createStream({ priority: 3 as never })).toThrow("stream: priority is 'normal' or 'high', got 3");
    expect(() => createStream({ prioriti: 'high' } as never)).toThrow("did you mean 'priority'");
  });

  it('resolve done() with themselves when the work before it is done, without blocking', async () => {
    const stream = createStream();
    const log: string[] = [];
    for (let k = 0; k < 5; k++) device.driver.enqueue(stream.handle, () => log.push(`work ${k}`));
    const done = stream.done().then((value) => {
      log.push('done');
      return value;
    });
    expect(log).toEqual([]);
    expect(await done).toBe(stream);
    expect(log).toEqual(['work 0', 'work 1', 'work 2', 'work 3', 'work 4', 'done']);
    expect(await Promise.all([stream.done(), stream.done()])).toEqual([stream, stream]);
    expect((await defaultStream().done()).kind).toBe('default');
  });

  it('call back in order after the work before, never inside addCallback', async () => {
    const stream = createStream();
    const log: unknown[] = [];
    device.driver.enqueue(stream.handle, () => log.push('work'));
    stream.addCallback((s, status, arg) => log.push([s === stream, status, arg]), 'first');
    stream.addCallback((_, status, arg) => log.push([status, arg]));
    expect(log).toEqual([]);
    await stream.done();
    expect(log).toEqual(['work', [true, 0, 'first'], [0, undefined]]);
    expect(() => stream.addCallback('no' as never)).toThrow(TypeError);
  });

  it('turn what a callback throws into a warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const stream = createStream();
    stream.addCallback(() => {
      throw new Error('from a callback');
    });
    await stream.done();
    expect(String(warn.mock.calls[0]?.[0])).toContain('from a callback');
    warn.mockRestore();
  });

  it('synchronise on leaving autoSynchronize, also when the body throws', async () => {
    const stream = createStream();
    let runs = 0;
    const work = (): void => device.driver.enqueue(stream.handle, () => void runs++);
    const same = stream.autoSynchronize((s) => {
      work();
      return s;
    });
    expect(same).toBe(stream);
    expect(runs).toBe(1);
    expect(() =>
      stream.autoSynchronize(() => {
        work();
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(runs).toBe(2);
    const leaving = stream.autoSynchronize();
    expect(leaving.stream).toBe(stream);
    work();
    leaving.dispose();
    expect(runs).toBe(3);
    await stream.autoSynchronize(async () => work());
    expect(runs).toBe(4);
    await expect(
      stream.autoSynchronize(async () => {
        work();
        throw new Error('async no');
      }),
    ).rejects.toThrow('async no');
    expect(runs).toBe(5);
    const awaited = stream.autoSynchronize();
    work();
    await awaited[Symbol.asyncDispose]();
    expect(runs).toBe(6);
  });

  it('finish their work after dispose, and say where they were disposed', async () => {
    const stream = createStream();
    let ran = false;
    device.driver.enqueue(stream.handle, () => {
      ran = true;
    });
    stream.dispose();
    stream.dispose();
    expect(stream.disposed).toBe(true);
    expect(() => stream.synchronize()).toThrow(/^this stream was disposed at .*stream\.test\.ts:\d+/);
    expect(() => toDevice([1], { stream })).toThrow(/was disposed/);
    device.context.resourceDeallocations.clear();
    expect(stream.destroyed).toBe(true);
    expect(ran).toBe(false);
    while (device.driver.step());
    expect(ran).toBe(true);
    const other = createStream();
    await other[Symbol.asyncDispose]();
    expect(other.disposed).toBe(true);
  });

  it.each([false, true])(
    'are followed by the default stream in what arrays bound to them do after dispose',
    (destroyed) => {
      const stream = createStream();
      const array = toDevice(Int32Array.of(1, 2), { stream });
      array.set(3, 0);
      stream.dispose();
      if (destroyed) device.context.resourceDeallocations.clear();
      expect(stream.destroyed).toBe(destroyed);
      expect(array.slice('::-1').copyToHost()).toEqual(Int32Array.of(2, 3));
      expect(array.get(0)).toBe(3);
      expect(array.__cuda_array_interface__.stream).toBe(1);
    },
  );

  it('keep the memory that work left on them uses, after dispose', () => {
    const stream = createStream();
    const array = toDevice(Int32Array.of(1, 2), { stream });
    const host = new Int32Array(2);
    array.copyToHost(host, { stream });
    array.dispose();
    stream.dispose();
    device.context.resourceDeallocations.clear();
    device.context.deallocations.clear();
    expect(device.context.holders.size).toBe(1);
    expect(device.driver.device.freed).toEqual([]);
    while (device.driver.step());
    expect(host).toEqual(Int32Array.of(1, 2));
    expect(device.driver.device.freed).toHaveLength(1);
    device.context.synchronize();
    expect(device.context.holders.size).toBe(0);
  });

  it('hold no more host memory than their work may use', () => {
    const stream = createStream();
    const array = toDevice(new Float64Array(4));
    for (let k = 0; k < 1000; k++) {
      array.copyToDevice(new Float64Array(4), { stream });
      while (device.driver.step());
    }
    const held: object[] = [];
    const push = vi.spyOn(device.driver, 'queryStream');
    stream.hold(held);
    expect(push.mock.calls.length).toBeLessThan(2);
    stream.synchronize();
    expect(device.context.holders.size).toBe(0);
    device.driver.enqueue(stream.handle, () => undefined);
    array.copyToDevice(new Float64Array(4), { stream });
    expect(device.context.holders.size).toBe(1);
    device.context.synchronize();
    expect(device.context.holders.size).toBe(0);
  });

  it('are checked where one is asked for', () => {
    const { context } = device;
    for (const none of [undefined, null, 0]) expect(streamOption(none, context)).toBeUndefined();
    expect(() => streamOption(1, context)).toThrow('stream must be a Stream or 0, got the number 1');
    expect(() => streamOption({}, context)).toThrow(/an object of class Object/);
    const elsewhere = new Context(new BlockDriver());
    expect(() => streamOption(new Stream(elsewhere, 'created'), context)).toThrow(/make a stream there/);
    elsewhere.close();
  });

  it('have default ones, which nobody disposes', () => {
    for (const stream of [defaultStream(), legacyDefaultStream(), perThreadDefaultStream()]) {
      stream.dispose();
      stream.synchronize();
      expect(stream.query()).toBe(true);
      expect(String(stream)).toContain(stream.kind);
    }
    expect(() => externalStream(1)).toThrow(/has no CUDA streams/);
    expect(() => externalStream('x' as never)).toThrow(TypeError);
  });

  it('do not go through structuredClone silently', () => {
    expect(() => structuredClone(createStream())).toThrow(/make one in each thread/);
    expect(() => structuredClone(createEvent())).toThrow(/make one in each thread/);
  });
});

describe('waiting without blocking', () => {
  const device = freshQueueingDevice();

  it('is told in the order of each stream, and not held up by another', async () => {
    const [slow, quick] = [createStream(), createStream()];
    const log: string[] = [];
    let open = false;
    const query = device.driver.queryEvent.bind(device.driver);
    vi.spyOn(device.driver, 'queryEvent').mockImplementation((event) => open && query(event));
    slow.addCallback(() => log.push('slow 1'));
    slow.addCallback(() => log.push('slow 2'));
    setTimeout(() => {
      open = true;
    }, 20);
    await slow.done();
    quick.addCallback(() => log.push('quick'));
    await quick.done();
    expect(log).toEqual(['slow 1', 'slow 2', 'quick']);
  });

  it('asks eagerly at first, and seldom when it takes long', { retry: 3 }, async () => {
    const stream = createStream();
    const start = performance.now();
    const asked: number[] = [];
    const query = device.driver.queryEvent.bind(device.driver);
    vi.spyOn(device.driver, 'queryEvent').mockImplementation((event) => {
      const time = performance.now() - start;
      asked.push(time);
      return time > 150 && query(event);
    });
    await stream.done();
    const after = asked.filter((time) => time > 2);
    expect(asked.length - after.length).toBeGreaterThan(3);
    expect(after.length).toBeLessThan(160);
    expect(performance.now() - start).toBeLessThan(300);
  });

  it('does not let a callback that waits again keep the loop to itself', async () => {
    const stream = createStream();
    let again = true;
    const wait = (): void => stream.addCallback(() => void (again && wait()));
    wait();
    await new Promise((resolve) => setTimeout(resolve, 5));
    again = false;
    await stream.done();
  });

  it('rejects when an event can not even be given back', async () => {
    vi.spyOn(device.driver, 'queryEvent').mockImplementation(() => {
      throw new DriverError('E_LOST', 'the device is lost');
    });
    vi.spyOn(device.driver, 'destroyEvent').mockImplementation(() => {
      throw new DriverError('E_LOST', 'the device is lost, still');
    });
    await expect(createStream().done()).rejects.toThrow(/the device is lost$/);
    vi.restoreAllMocks();
  });
});

describe('streams of CUDA', () => {
  const device = freshQueueingDevice(1 << 20, { cuda: true });

  it('have addresses, which other libraries know', () => {
    expect(defaultStream().pointer).toBe(1n);
    expect(legacyDefaultStream().pointer).toBe(1n);
    expect(perThreadDefaultStream().pointer).toBe(2n);
    expect(externalStream(0x7f00).pointer).toBe(0x7f00n);
    expect(externalStream(0).pointer).toBe(1n);
    expect(createStream().pointer).toBeUndefined();
    expect(String(externalStream(77n))).toContain('external');
    expect(() => externalStream(-1)).toThrow(RangeError);
  });

  it('enqueue copies on the default stream too, when it is named', () => {
    const stream = defaultStream();
    const array = toDevice(Float32Array.of(1, 2), { stream });
    const host = array.copyToHost({ stream });
    expect(host).toEqual(new Float32Array(2));
    stream.synchronize();
    expect(host).toEqual(Float32Array.of(1, 2));
    expect(array.copyToHost()).toEqual(host);
  });

  it('of other libraries come after the allocation of what they use, and are never destroyed', () => {
    const order: string[] = [];
    const allocate = vi.spyOn(device.driver, 'allocate');
    const array = new DeviceNDArray(4, null, 'float32');
    const [, memoryStream] = allocate.mock.calls[0] ?? [];
    expect(memoryStream).toBeDefined();
    device.driver.enqueue(memoryStream, () => order.push('before the allocation'));
    const stream = externalStream(5);
    array.owner.touch(stream);
    device.driver.enqueue(stream.handle, () => order.push('use'));
    while (device.driver.step());
    expect(order).toEqual(['before the allocation', 'use']);
    stream.dispose();
    expect(stream.disposed).toBe(false);
    externalStream(5).synchronize();
  });

  it('do not wait for each other because of memory that comes and goes', () => {
    const record = vi.spyOn(device.driver, 'recordEvent');
    const free = vi.spyOn(device.driver, 'free');
    const stream = createStream();
    device.driver.enqueue(stream.handle, () => undefined);
    for (let k = 0; k < 20; k++) new DeviceNDArray(4, null, 'float32').dispose();
    device.context.deallocations.clear();
    expect(record).not.toHaveBeenCalled();
    expect(free.mock.calls.every(([, on]) => on !== undefined && on !== stream.handle)).toBe(true);
    device.context.reset();
    new DeviceNDArray(4, null, 'float32').dispose();
  });

  it('of other libraries are not touched after an array was disposed', () => {
    const array = new DeviceNDArray(4, null, 'float32');
    const stream = externalStream(5n);
    array.owner.touch(stream);
    device.driver.enqueue(stream.handle, () => order.push('use'));
    const order: string[] = [];
    array.dispose();
    device.driver.loseExternal(5n);
    device.context.deallocations.clear();
    expect(device.driver.device.freed).toEqual([]);
    while (device.driver.step());
    expect(order).toEqual(['use']);
    device.context.synchronize();
    expect(device.driver.device.freed).toHaveLength(1);
  });

  it('of other libraries may be many, each made again and again', () => {
    const array = new DeviceNDArray(4, null, 'float32');
    for (let k = 0; k < 1000; k++) array.owner.touch(externalStream(10 + (k % 3)));
    const create = vi.spyOn(device.driver, 'createEvent');
    array.dispose();
    expect(create).toHaveBeenCalledTimes(3);
    device.context.deallocations.clear();
    while (device.driver.step());
    const other = new DeviceNDArray(4, null, 'float32');
    for (let k = 0; k < 200; k++) other.owner.touch(externalStream(1000 + k));
    other.dispose();
    device.context.deallocations.clear();
    while (device.driver.step());
    expect(device.driver.device.live).toBe(0);
  });

  it('come after the stream on which memory was allocated', () => {
    const [first, second] = [createStream(), createStream()];
    const order: string[] = [];
    device.driver.enqueue(first.handle, () => order.push('first'));
    const array = new DeviceNDArray(4, null, 'float32', { stream: first });
    array.owner.touch(second);
    device.driver.enqueue(second.handle, () => order.push('second'));
    second.synchronize();
    expect(order).toEqual(['first', 'second']);
    first.synchronize();
    const create = vi.spyOn(device.driver, 'createEvent');
    const later = new DeviceNDArray(4, null, 'float32', { stream: first });
    later.owner.touch(second);
    later.owner.touch(first);
    expect(create).not.toHaveBeenCalled();
  });
});

describe('faults of enqueued work', () => {
  const device = freshBlockDevice();

  /** A device on which everything before the next synchronisation of a stream has failed. */
  class Failing extends BlockDriver {
    post(message: string, stream: Stream): void {
      const identity = this.streams.resolve(stream.handle, 'test');
      this.streams.faults.post(new DriverError('E_KERNEL', message), identity);
    }
  }

  function onFailing<R>(body: (driver: Failing, context: Context) => R): R {
    const driver = new Failing();
    const context = new Context(driver);
    const leave = cudaDevices.enter(context);
    return exitAfter(
      () => void leave(),
      () => body(driver, context),
    );
  }

  it('are thrown by synchronize of their stream, once', () =>
    onFailing((driver) => {
      const [bad, good] = [createStream(), createStream()];
      driver.post('kernel k failed', bad);
      good.synchronize();
      expect(() => bad.synchronize()).toThrow('kernel k failed');
      bad.synchronize();
    }));

  it('reject done()', async () => {
    await onFailing(async (driver) => {
      const stream = createStream();
      driver.post('kernel k failed', stream);
      await expect(stream.done()).rejects.toThrow('kernel k failed');
      await stream.done();
      const byDefault = defaultStream();
      driver.post('kernel d failed', byDefault);
      await expect(byDefault.done()).rejects.toThrow('kernel d failed');
    });
  });

  it('give callbacks a status, and wait for the next synchronising call', async () => {
    const [stream, context, status] = await onFailing(async (driver, context) => {
      const stream = createStream();
      driver.post('kernel k failed', stream);
      const status = await new Promise((resolve) => stream.addCallback((_, status) => resolve(status)));
      return [stream, context, status] as const;
    });
    expect(status).toBe(719);
    expect(() => stream.synchronize()).toThrow('kernel k failed');
    context.synchronize();
  });

  it('are not lost with a stream that was disposed', () =>
    onFailing((driver, context) => {
      const stream = createStream();
      driver.post('kernel k failed', stream);
      stream.dispose();
      context.resourceDeallocations.clear();
      expect(() => context.synchronize()).toThrow('kernel k failed');
    }));

  it('make done() reject when the device is closed meanwhile', async () => {
    const done = createStream().done();
    device.context.close();
    await expect(done).rejects.toThrow(/was closed while/);
  });
});
