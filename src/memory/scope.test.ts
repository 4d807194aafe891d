import { describe, expect, it } from 'vitest';
import { freshBlockDevice } from '../../test/support/with-device.ts';
import { event as createEvent, stream as createStream, deferCleanup, deviceArray, toDevice } from '../cuda/host.ts';
import { scope } from './scope.ts';

describe('scope', () => {
  const device = freshBlockDevice();

  it('takes a function, as deferCleanup and autoSynchronize do, which else do not begin', () => {
    expect(() => scope(5 as never)).toThrow('scope takes a function to run, got a value of type number');
    expect(() => deferCleanup(null as never)).toThrow('deferCleanup takes a function to run, got null');
    expect(device.context.deallocations.deferred).toBe(false);
    expect(() => createStream().autoSynchronize('x' as never)).toThrow(
      'autoSynchronize takes a function to run, got a value of type string',
    );
  });

  it('disposes what the body made and did not return', () => {
    const outside = deviceArray(3);
    const made: { disposed: boolean }[] = [];
    const result = scope(() => {
      const a = toDevice([1, 2]);
      made.push(toDevice([3, 4]), createStream(), createEvent(), outside.slice('1:'));
      return { deep: [{ a }], number: 1 };
    });
    expect(made.map(({ disposed }) => disposed)).toEqual([true, true, true, true]);
    expect(result.deep[0]?.a.get(1)).toBe(2);
    expect(outside.disposed).toBe(false);
  });

  it('keeps the memory under a view that is returned', () => {
    const view = scope(() => toDevice([1, 2, 3, 4]).slice('::2'));
    expect(view.copyToHost()).toEqual(Float64Array.of(1, 3));
    view.dispose();
    expect(device.context.deallocations.length).toBe(1);
  });

  it('disposes when the body throws', () => {
    const made: { disposed: boolean }[] = [];
    expect(() =>
      scope(() => {
        made.push(deviceArray(3));
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(made[0]?.disposed).toBe(true);
  });

  it('gives what an inner scope returns to the outer one', () => {
    const seen: { disposed: boolean }[] = [];
    scope(() => {
      const inner = scope(() => deviceArray(3));
      seen.push(inner);
      expect(inner.disposed).toBe(false);
    });
    expect(seen[0]?.disposed).toBe(true);
  });

  it('refuses an asynchronous body', () => {
    const made: { disposed: boolean }[] = [];
    expect(() =>
      scope(async () => {
        made.push(deviceArray(3));
        await Promise.resolve();
      }),
    ).toThrow(/must be synchronous/);
    expect(made[0]?.disposed).toBe(true);
  });

  it('survives cycles in what is returned', () => {
    const result = scope(() => {
      const node: { self?: unknown; array: ReturnType<typeof toDevice> } = { array: toDevice([1]) };
      node.self = node;
      return node;
    });
    expect(result.array.disposed).toBe(false);
  });
});
