import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { QueueingDriver } from '../../test/support/queueing-driver.ts';
import { stream as createStream, deviceArray, toDevice } from '../cuda/host.ts';
import { i32 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import type { DeviceNDArray } from './device-array.ts';
import { ndarray } from './ndarray-create.ts';

describe('copies between devices', () => {
  let drivers: readonly [QueueingDriver, QueueingDriver];
  let contexts: readonly [Context, Context];
  let leave: () => void;
  beforeEach(() => {
    drivers = [new QueueingDriver(2 ** 20, { cuda: true }), new QueueingDriver(2 ** 20, { cuda: true, index: 1 })];
    contexts = [new Context(drivers[0]), new Context(drivers[1])];
    leave = cudaDevices.enter(contexts[0]);
  });
  afterEach(() => {
    leave();
    for (const context of contexts) context.close();
  });

  /** Makes something on one of the two devices. */
  function on<T>(device: 0 | 1, make: () => T): T {
    const back = cudaDevices.enter(contexts[device]);
    try {
      return make();
    } finally {
      back();
    }
  }

  it('go directly, and are done on return without a stream', () => {
    const source = on(0, () => toDevice(Int32Array.of(1, 2, 3)));
    const target = on(1, () => deviceArray(3, i32));
    const down = vi.spyOn(drivers[0], 'copyToHost');
    target.copyToDevice(source);
    expect(down).not.toHaveBeenCalled();
    expect(target.copyToHost()).toEqual(Int32Array.of(1, 2, 3));
    expect(contexts[1].memoryStats().copies.deviceToDevice).toEqual({ count: 1, bytes: 12 });
  });

  it('take any layout to any other, element by element', () => {
    const cells = Int32Array.from({ length: 24 }, (_, k) => k);
    const source = on(0, () => toDevice(ndarray(cells, { shape: [4, 6] })));
    const views: ((a: DeviceNDArray<number>) => DeviceNDArray<number>)[] = [
      (a) => a.slice('::2', '::3'),
      (a) => a.slice('1:3', '4:2:-1'),
      (a) => a.slice('2:', '2:4').transpose(),
    ];
    for (const pick of views) {
      for (const place of views) {
        const whole = on(1, () => toDevice(ndarray(new Int32Array(24).fill(-1), { shape: [4, 6] })));
        const expected = ndarray(new Int32Array(24).fill(-1), { shape: [4, 6] });
        const model = on(0, () => toDevice(expected));
        place(model as DeviceNDArray<number>).copyToDevice(pick(source as DeviceNDArray<number>));
        place(whole as DeviceNDArray<number>).copyToDevice(pick(source as DeviceNDArray<number>));
        expect(whole.reshape(-1).copyToHost()).toEqual(model.reshape(-1).copyToHost());
      }
    }
  });

  it('come after the work on the source’s stream, which goes on after them', () => {
    const [theirs, ours] = [on(0, createStream), on(1, createStream)];
    const source = on(0, () => toDevice(Int32Array.of(0, 0), { stream: theirs }));
    const target = on(1, () => deviceArray(2, i32));
    source.set(7);
    target.copyToDevice(source, { stream: ours });
    source.set(8);
    expect(ours.query()).toBe(false);
    ours.synchronize();
    expect(target.copyToHost()).toEqual(Int32Array.of(7, 7));
    theirs.synchronize();
    expect(source.copyToHost()).toEqual(Int32Array.of(8, 8));
  });

  it('hold up what is done to the source later, whichever device is waited for first', () => {
    const [theirs, ours] = [on(0, createStream), on(1, createStream)];
    const source = on(0, () => toDevice(Int32Array.of(0, 0), { stream: theirs }));
    const target = on(1, () => deviceArray(2, i32));
    source.set(7);
    target.copyToDevice(source, { stream: ours });
    source.set(8);
    theirs.synchronize();
    expect(source.copyToHost()).toEqual(Int32Array.of(8, 8));
    ours.synchronize();
    expect(target.copyToHost()).toEqual(Int32Array.of(7, 7));
  });

  it('keep the source and temporary arrays until they are done', () => {
    const [theirs, ours] = [on(0, createStream), on(1, createStream)];
    const source = on(0, () => toDevice(Int32Array.of(1, 2, 3, 4), { stream: theirs }));
    const target = on(1, () => toDevice(Int32Array.of(0, 0, 0, 0)));
    const reversed = source.slice('3::-2');
    target.slice('::2').copyToDevice(reversed, { stream: ours });
    reversed.dispose();
    for (const context of contexts) context.deallocations.clear();
    source.dispose();
    contexts[0].deallocations.clear();
    ours.synchronize();
    expect(target.copyToHost()).toEqual(Int32Array.of(4, 0, 2, 0));
    theirs.synchronize();
    for (const context of contexts) context.deallocations.clear();
    for (const driver of drivers) while (driver.step());
    expect(drivers[0].device.live).toBe(0);
    expect(drivers[1].device.live).toBe(16);
  });

  it('are what set() does as well, and are refused like others', () => {
    const source = on(0, () => toDevice(Int32Array.of(5)));
    const target = on(1, () => deviceArray(3, i32));
    target.set(source);
    expect(target.copyToHost()).toEqual(Int32Array.of(5, 5, 5));
    const wrong = on(0, () => deviceArray(4, i32));
    expect(() => target.copyToDevice(wrong)).toThrow(/incompatible shape/);
  });

  it('go through the host between different kinds', () => {
    const other = new Context(new BlockDriver());
    const source = on(0, () => toDevice(Int32Array.of(1, 2)));
    const leave = cudaDevices.enter(other);
    const target = deviceArray(2, i32);
    leave();
    target.copyToDevice(source);
    expect(target.copyToHost()).toEqual(Int32Array.of(1, 2));
    other.close();
  });
});
