/**
 * Memory that the driver gave is unmapped when nobody can read it any more: no array, no copy in flight, and no TypedArray that somebody
 * kept. Tested with a driver that says what was given back and when.
 */

import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, it } from 'vitest';
import { BlockDriver } from '../../../test/support/block-driver.ts';
import { mappedArray, pinnedArray } from '../../cuda/host.ts';
import type { HostMemory, HostMemoryOptions } from '../../driver/driver.ts';
import { f32 } from '../../dtype/index.ts';
import { Context } from '../context.ts';
import { cudaDevices } from '../devices.ts';
import { detach } from './exposed.ts';

setFlagsFromString('--expose-gc');
const collectNow = runInNewContext('gc') as () => void;

/** A driver whose host memory is native, as far as the layers above can tell. */
class NativeDriver extends BlockDriver {
  readonly returned: number[] = [];
  closes = 0;
  /** Whether ArrayBuffers over its memory can be made to let go of it: WebAssembly's own cannot. */
  detachable = true;
  #next = 1;

  constructor() {
    super(2 ** 30, 'nvidia');
  }

  override allocateHost(bytes: number, { kind }: HostMemoryOptions): HostMemory {
    const pointer = kind === 'pinned' ? undefined : Number(super.allocate(bytes));
    const { buffer } = this.detachable ? { buffer: new ArrayBuffer(bytes) } : new WebAssembly.Memory({ initial: 1 });
    return { host: this.#next++, bytes: new Uint8Array(buffer), pointer };
  }

  override freeHost({ host, bytes }: HostMemory): void {
    expect(bytes.length, 'the driver is given no ArrayBuffer to keep alive').toBe(0);
    this.returned.push(host as number);
  }

  override close(): void {
    this.closes++;
    super.close();
  }
}

let driver: NativeDriver;
let context: Context;

beforeEach(() => {
  driver = new NativeDriver();
  context = new Context(driver);
  const leave = cudaDevices.enter(context);
  return () => leave();
});

/** Elements of a page of WebAssembly's. */
const PAGE = 2 ** 14;
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Memory: new (descriptor: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  };
};

async function collect(until: () => boolean): Promise<void> {
  for (let k = 0; k < 20 && !until(); k++) {
    collectNow();
    await setImmediate();
  }
}

it('this engine can make an ArrayBuffer let go of its memory, also where programs see no `transfer`', () => {
  const bytes = new Uint8Array(8);
  expect([detach(bytes.buffer), bytes.length]).toEqual([true, 0]);
  expect(detach(bytes.buffer), 'it has none any more').toBe(false);
  expect(detach(new WebAssembly.Memory({ initial: 1 }).buffer)).toBe(false);
});

describe('host memory', () => {
  it('is given back when its last array was disposed and the queue is flushed', () => {
    const a = pinnedArray(10, f32);
    const part = a.slice('2:') as typeof a;
    a.dispose();
    context.deallocations.clear();
    expect(driver.returned).toEqual([]);
    part.dispose();
    expect(context.deallocations.length).toBe(1);
    expect(context.deallocations.bytes, 'pinned memory is no device memory').toBe(0);
    context.deallocations.clear();
    expect(driver.returned).toEqual([1]);
  });

  it('leaves TypedArrays with nothing to read', () => {
    const a = mappedArray(10, f32);
    const old = a.data.subarray(3);
    a.dispose();
    expect([old.length, old[0], a.data.buffer.byteLength]).toEqual([0, undefined, 0]);
  });

  it('is not given back while a TypedArray can be read that cannot be emptied', async () => {
    driver.detachable = false;
    let old: Float32Array | undefined = keepOnlyData();
    context.deallocations.clear();
    await collect(() => driver.returned.length > 0);
    expect(driver.returned).toEqual([]);
    expect(old.length).toBe(PAGE);
    old = undefined;
    await collect(() => driver.returned.length > 0);
    expect(driver.returned).toEqual([1]);
  });

  function keepOnlyData(): Float32Array {
    const a = pinnedArray(PAGE, f32);
    const { data } = a;
    a.dispose();
    return data as Float32Array;
  }

  it('is given back by the collector, but not while a TypedArray of it is left', async () => {
    let old: Float32Array | undefined = (() => pinnedArray(10, f32).data.subarray(1) as Float32Array)();
    await collect(() => context.deallocations.length > 0);
    context.deallocations.clear();
    expect(driver.returned, 'a TypedArray is left').toEqual([]);
    old[0] = 1;
    old = undefined;
    await collect(() => context.deallocations.length > 0);
    context.deallocations.clear();
    expect(driver.returned).toEqual([1]);
  });

  it('is kept by a device array over it alone', async () => {
    let device: { get(i: number): unknown; dispose(): void } | undefined = (() => mappedArray(10, f32).device)();
    await collect(() => context.deallocations.length > 0);
    expect(context.deallocations.length).toBe(0);
    device.dispose();
    device = undefined;
    // The host array was never disposed: the rest is the collector's.
    await collect(() => context.deallocations.length > 0);
    context.deallocations.clear();
    expect(driver.returned).toEqual([1]);
  });

  it('cannot be moved to another ArrayBuffer, from where it would be read unnoticed', () => {
    const a = pinnedArray(10, f32);
    const buffer = a.data.buffer as ArrayBuffer & { transfer?(): ArrayBuffer };
    if (buffer.transfer !== undefined)
      expect(() => buffer.transfer?.()).toThrow(/cannot be moved to another ArrayBuffer/);
    expect(a.get(0)).toBe(0);
  });

  it('outlives its context while it can be read: the driver is closed after that', async () => {
    const a = pinnedArray(10, f32);
    let old: Float32Array | undefined = a.data as Float32Array;
    context.close();
    expect(() => a.get(0)).toThrow(/its context was closed/);
    expect([driver.closes, driver.returned]).toEqual([0, []]);
    expect(old[0]).toBe(0);
    a.dispose();
    old = undefined;
    await collect(() => driver.closes > 0);
    expect([driver.closes, driver.returned]).toEqual([1, [1]]);
  });
});
