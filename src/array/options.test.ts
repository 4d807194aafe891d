/** A misspelt or misplaced option is an error in every function that takes options. */
import { describe, expect, it } from 'vitest';
import { cuda, type f32 as F32, f32, ndarray, struct, type Vec } from '../index.ts';

cuda.selectDevice('simulator');
const d = cuda.deviceArray(4, f32);
const record = cuda.toDevice({ x: 1 }, { dtype: struct({ x: f32 }) });
const host = Float32Array.of(1, 2, 3, 4);
const kernel = cuda.jit((a: Vec<F32>) => {
  a[0] = 1;
});

const calls: readonly [string, (options: never) => unknown][] = [
  ['deviceArray', (o) => cuda.deviceArray(4, f32, o)],
  ['deviceArrayLike', (o) => cuda.deviceArrayLike(host, o)],
  ['toDevice', (o) => cuda.toDevice(host, o)],
  ['copyToHost', (o) => d.copyToHost(host, o)],
  ['copyToDevice', (o) => d.copyToDevice(host, o)],
  ['ravel', (o) => d.ravel(o)],
  ['ravel', (o) => ndarray(host).ravel(o)],
  ['squeeze', (o) => d.squeeze(null, o)],
  ['split', (o) => d.split(2, o)],
  ['DeviceNDArray', (o) => new cuda.DeviceNDArray(4, null, f32, o)],
  ['get', (o) => record.get('x', o)],
  ['set', (o) => record.set('x', 1, o)],
  ['struct', (o) => struct({ x: f32 }, o)],
  ['ndarray', (o) => ndarray(host, o)],
  ['event', (o) => cuda.event(o)],
  ['forAll', (o) => kernel.forAll(4, o)],
  ['jit', (o) => cuda.jit(() => {}, o)],
];

describe.each(calls)('the options of %s', (name, call) => {
  it('have no other keys', () => {
    expect(() => call({ straem: 1 } as never)).toThrow(
      new RegExp(`^${name} has no option 'straem': (did you|the opt)`),
    );
  });

  it('are an object', () => {
    expect(() => call(5 as never)).toThrow(/options as an object.*got .*5/);
    expect(() => call({} as never)).not.toThrow();
    expect(() => call(undefined as never)).not.toThrow();
  });
});

describe('options', () => {
  it('are not streams, which Numba takes by position', () => {
    const stream = cuda.stream();
    expect(() => cuda.toDevice(host, stream as never)).toThrow(
      'toDevice takes its options as an object, such as { stream }, got a value of class Stream',
    );
    expect(() => d.copyToHost(undefined, stream as never)).toThrow('such as { stream }, got a value of class Stream');
    expect(() => d.split(2, stream as never)).toThrow('such as { stream }, got a value of class Stream');
  });

  it('of new host arrays stand with the dtype, and not behind it, as those of device arrays do', () => {
    const zeros = ndarray.zeros as (...args: readonly unknown[]) => unknown;
    expect(() => zeros([2, 3], f32, { order: 'F' })).toThrow(
      'one object, { dtype, order }, got an object with the keys order',
    );
    expect(() => (ndarray.full as typeof zeros)([2, 3], 1, f32, { order: 'F' })).toThrow(
      'one object, { dtype, order }',
    );
    expect(ndarray.zeros([2, 3], { dtype: f32, order: 'F' }).strides).toEqual([4, 8]);
  });

  it('are not orders, which Numba takes by position', () => {
    for (const call of [() => d.reshape([1, d.size], 'F' as never), () => d.ravel('F' as never)]) {
      expect(call).toThrow("takes its options as an object, such as { order: 'F' }, got 'F'");
    }
    expect(() => d.reshape(1, -1, { odrer: 'F' } as never)).toThrow("did you mean 'order'?");
    expect(d.reshape(1, -1, { order: 'F' }).shape).toEqual([1, d.size]);
  });

  it('name what was misspelt also where a target may stand', () => {
    expect(() => d.copyToHost({ straem: 0 } as never)).toThrow(
      "copyToHost has no option 'straem': did you mean 'stream'?",
    );
  });

  it('are not disturbed by what others put on Object.prototype', () => {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    prototype['polluted'] = 1;
    try {
      kernel.launch({ grid: 1, block: 1 }, cuda.toDevice(host, {}));
    } finally {
      delete prototype['polluted'];
    }
  });
});
