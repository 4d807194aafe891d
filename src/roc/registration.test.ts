/**
 * `roc.register` on a device that reaches host memory: kernels use registered arrays in place, on whatever stream, and memory is given
 * up when the last registration ends.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCpu } from '../driver/cpu/index.ts';
import { OutOfMemoryError } from '../errors.ts';
import { type f32, ndarray, roc, type Vec } from '../index.ts';
import { Context } from '../memory/context.ts';
import { rocDevices } from './devices.ts';

let context: Context;
let leave: () => void;
/** What the driver has registered and given up, in order. */
let seen: string[] = [];

beforeEach(() => {
  const driver = openCpu({ threads: 1 });
  const { info } = driver;
  Object.defineProperty(driver, 'info', { value: { ...info, kind: 'opencl' } });
  const [register, unregister] = [driver.registerHost.bind(driver), driver.unregisterHost.bind(driver)];
  seen = [];
  driver.registerHost = (bytes, mapped) => {
    seen.push(`${mapped ? 'map' : 'pin'} ${bytes.byteOffset}+${bytes.byteLength}`);
    return register(bytes, mapped);
  };
  driver.unregisterHost = (memory) => {
    seen.push('end');
    unregister(memory);
  };
  context = new Context(driver, { namespace: 'roc', readsWait: true });
  leave = rocDevices.enter(context);
});
afterEach(() => {
  leave();
  context.close();
});

const increment = roc.jit((a: Vec<f32>) => {
  const i = roc.getGlobalId(0);
  if (i < a.length) a[i] += 1;
});

describe('a registered array', () => {
  it('is used in place: nothing is copied, and all is done when the launch returns', () => {
    const a = new Float32Array(8);
    using _ = roc.register(a);
    for (const launch of [
      () => increment.launch({ grid: 1, block: 8 }, a),
      () => increment.configure(1, 8)(a),
      () => increment.forAll(8)(a),
    ])
      launch();
    expect([...a]).toEqual(new Array(8).fill(3));
    expect(roc.memoryStats().copies.hostToDevice.count).toBe(0);
    expect(roc.memoryStats().copies.deviceToHost.count).toBe(0);
    expect(seen).toEqual(['map 0+32']);
  });

  it('is copied where a hint says which way', () => {
    const a = new Float32Array(8);
    roc.register(a, () => increment.launch({ grid: 1, block: 8 }, roc.InOut(a)));
    expect([...a]).toEqual(new Array(8).fill(1));
    expect(roc.memoryStats().copies.hostToDevice.count).toBe(1);
  });

  it('lends parts of it, and strided views', () => {
    const a = new Float32Array(12);
    roc.register(a, () => {
      increment.launch({ grid: 1, block: 4 }, a.subarray(4, 8));
      increment.launch({ grid: 1, block: 8 }, ndarray(a).slice('::-3'));
    });
    expect([...a]).toEqual([0, 0, 1, 0, 1, 2, 1, 1, 1, 0, 0, 1]);
    expect(roc.memoryStats().copies.hostToDevice.count).toBe(0);
    expect(seen).toEqual(['map 0+48', 'end']);
  });

  it('is an ordinary host array again when its last registration has ended', () => {
    const a = new Float32Array(4);
    const [outer, inner] = [roc.register(a), roc.register(a)];
    increment.launch({ grid: 1, block: 4 }, a);
    outer.dispose();
    expect(seen).toEqual(['map 0+16']);
    increment.launch({ grid: 1, block: 4 }, a);
    inner.dispose();
    expect(seen).toEqual(['map 0+16', 'end']);
    increment.launch({ grid: 1, block: 4 }, a);
    expect([...a]).toEqual([3, 3, 3, 3]);
    expect(roc.memoryStats().copies.deviceToHost.count).toBe(1);
  });

  it('may have no elements', () => {
    const a = new Float32Array(0);
    roc.register(a, () => increment.launch({ grid: 1, block: 4 }, a));
    expect(seen).toEqual([]);
  });
});

describe('when the driver refuses', () => {
  it('what was registered by the same call is given up', () => {
    const [a, b] = [new Float32Array(4), new Float32Array(4)];
    const { driver } = context;
    const register = driver.registerHost.bind(driver);
    driver.registerHost = (bytes, mapped) => {
      if (seen.length === 1)
        throw new OutOfMemoryError('no room', { asked: bytes.length, live: 0, pending: 0, pooled: 0 });
      return register(bytes, mapped);
    };
    expect(() => roc.register(a, b)).toThrow('cannot allocate 16 bytes');
    expect(seen).toEqual(['map 0+16', 'end']);
    expect(() => roc.deregister(a)).toThrow('not registered');
  });
});
