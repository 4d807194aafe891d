/** Nothing that a program does to an array leads a checked kernel out of the array's memory. */
import { describe, expect, it } from 'vitest';
import { freshCpuDevice } from '../../test/support/with-device.ts';
import { cuda, DeviceNDArray, f32, struct, type Vec } from '../index.ts';

freshCpuDevice();

const fill = cuda.jit((x: Vec<f32>) => {
  for (let i = 0; i < x.length; i++) x[i] = 7;
});
const property = expect.objectContaining({ code: 'E_PROPERTY' });

/** Launches with whatever an array has become, and looks at what lies beside it. */
function neighboursAfter(tamper: (array: DeviceNDArray<f32, 1>) => unknown): number[] {
  const around = cuda.toDevice(new Float32Array(64));
  const array = around.slice([16, 20]) as DeviceNDArray<f32, 1>;
  fill.launch({ threads: 1 }, array);
  let given: unknown = array;
  try {
    const result = tamper(array);
    if (typeof result === 'object') given = result;
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
  }
  for (let k = 0; k < 2; k++) {
    try {
      fill.launch({ threads: 1 }, given as DeviceNDArray<f32, 1>);
      cuda.synchronize();
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  }
  const all = around.copyToHost() as Float32Array;
  around.dispose();
  return [...all.subarray(0, 16), ...all.subarray(20)];
}

class Lying extends DeviceNDArray<f32, 1> {
  override get shape(): readonly number[] {
    return [64];
  }
  override get size(): number {
    return 64;
  }
}

describe('an array that was tampered with', () => {
  it.each<[string, (array: DeviceNDArray<f32, 1>) => unknown]>([
    ['an assignment', (a) => Reflect.set(a, 'shape', [64])],
    ['Object.assign', (a) => Object.assign(a, { shape: [64], size: 64 })],
    ['Object.defineProperty', (a) => Object.defineProperty(a, 'shape', { value: [64] })],
    ['an element of its shape', (a) => Reflect.set(a.shape, 0, 64)],
    ['an element of its strides', (a) => Reflect.set(a.strides, 0, 400)],
    ['its owner', (a) => Object.assign(a.owner, { address: 0, bytes: 1e9 })],
    ['its prototype', (a) => Object.setPrototypeOf(a, { shape: [64], size: 64, pointer: 16 })],
    ['an object made from it', (a) => Object.create(a, { shape: { value: [64] }, size: { value: 64 } })],
    [
      'an object of its class',
      (a) => Object.create(DeviceNDArray.prototype, { shape: { value: [64] }, pointer: { value: a.pointer } }),
    ],
    [
      'a proxy',
      (a) => new Proxy(a, { get: (target, key) => (key === 'shape' ? [64] : Reflect.get(target, key, target)) }),
    ],
    ['a class that extends it', (a) => new Lying([4], null, f32, { gpuData: a.gpuData })],
  ])('leaves its neighbours alone: %s', (_what, tamper) => {
    expect(neighboursAfter(tamper)).toEqual(new Array(60).fill(0));
  });

  it('is used no more than before when its class says that it is not disposed', () => {
    class Undead extends DeviceNDArray<f32, 1> {
      override get disposed(): boolean {
        return false;
      }
      override checkUsable(): void {}
    }
    const array = new Undead([4], null, f32);
    fill.launch({ threads: 1 }, array);
    array.dispose();
    for (const use of [() => fill.launch({ threads: 1 }, array), () => array.copyToHost(), () => array.slice([0, 1])]) {
      expect(use).toThrow(expect.objectContaining({ code: 'E_DISPOSED' }));
    }
  });
});

describe('assignments', () => {
  it('of a shape reshape where nothing need be moved, as in NumPy', () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3, 4, 5, 6));
    d.shape = [2, -1];
    expect([d.shape, d.strides, d.ndim]).toEqual([[2, 3], [12, 4], 2]);
    expect(d.get(1, 0)).toBe(4);
    expect(() => Reflect.set(d, 'shape', [4])).toThrow(RangeError);
    const columns = d.T;
    expect(() => Reflect.set(columns, 'shape', 6)).toThrow(expect.objectContaining({ code: 'E_RESHAPE_COPY' }));
    expect(columns.shape).toEqual([3, 2]);
    const interfaced = { __cuda_array_interface__: d.__cuda_array_interface__ };
    d.shape = 6;
    const { owner } = d;
    expect(owner.arrays).toBe(2);
    d.dispose();
    columns.dispose();
    expect(owner.arrays).toBe(0);
    expect(() => cuda.asCudaArray(interfaced)).toThrow(expect.objectContaining({ code: 'E_DISPOSED' }));
  });

  it.each(['strides', 'dtype', 'pointer', 'readOnly', 'size', 'owner', 'context', 'layout', 'stream', 'ndim'])(
    'of %s throw, in sloppy code too',
    (name) => {
      const d = cuda.deviceArray(4, f32);
      const sloppy = new Function('d', 'name', 'd[name] = 1');
      expect(() => sloppy(d, name)).toThrow(property);
    },
  );

  it('of elements and unknown names throw, and say what to write', () => {
    const d = cuda.toDevice(Float32Array.of(1, 2));
    const sloppy = (text: string) => () => new Function('d', text)(d);
    expect(sloppy('d[0] = 5')).toThrow('[0] of DeviceNDArray = … does not change an element: write .set(value, 0)');
    expect(sloppy('return d[1]')).toThrow('write .get(1)');
    expect(sloppy('d.shpae = [2]')).toThrow('DeviceNDArray has no property shpae');
    expect(() => Object.assign(d.shape, [9])).toThrow(TypeError);
    const record = cuda.toDevice({ x: 1 }, { dtype: struct({ x: f32 }) });
    expect(() => Reflect.set(record, 'array', d)).toThrow(property);
    expect(() => Reflect.set(record, 'x', 5)).toThrow(property);
    expect(d.copyToHost()).toEqual(Float32Array.of(1, 2));
  });

  it('give fields of their own to classes that extend the array', () => {
    class Named extends DeviceNDArray<f32, 1> {
      readonly label = 'mine';
    }
    const array = new Named([2], null, f32);
    expect([array.label, array.shape]).toEqual(['mine', [2]]);
    expect(() => Reflect.set(array, '0', 5)).toThrow(property);
  });
});
