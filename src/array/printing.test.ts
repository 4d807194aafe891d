/** What console.log, String(), JSON and structuredClone make of Tsamba's objects: short, and never their insides. */
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { cuda, type f32 as F32, f32, ndarray, type Vec } from '../index.ts';

cuda.selectDevice('simulator');
afterAll(() => cuda.close());

const NAME = 'simulator (JavaScript, checks everything)';
const kernel = cuda.jit(function double(a: Vec<F32>) {
  a[0] = 2;
});

const objects: readonly [string, () => object, string][] = [
  ['a device array', () => cuda.deviceArray([2, 3], f32), `DeviceNDArray(f32, shape [2, 3], ${NAME})`],
  ['a stream', () => cuda.stream(), `Stream(created, ${NAME})`],
  ['an event', () => cuda.event(), `Event(with timing, ${NAME})`],
  ['a kernel', () => kernel, 'Kernel(double, 0 compiled)'],
];

describe.each(objects)('%s', (_, make, text) => {
  it('prints as what it is', () => {
    const object = make();
    expect(inspect(object)).toBe(text);
    expect(String(object)).toBe(text);
  });

  it('has no insides in JSON', () => {
    const json = JSON.stringify({ object: make() });
    expect(['{}', JSON.stringify({ object: text })]).toContain(json);
  });
});

describe('a context', () => {
  it('prints as what it is', () => {
    expect(inspect(cuda.currentContext())).toMatch(/^Context\(simulator .*, \d+ bytes live\)$/);
    expect(JSON.stringify(cuda.currentContext())).toMatch(/^"Context/);
  });
});

describe('structuredClone', () => {
  it('says what to send in place of a host array', () => {
    // Newer engines leave out the middle of long messages.
    expect(() => structuredClone(ndarray([1, 2]))).toThrow(
      /A Tsamba NDArray has no methods in another thread: send (?:its data, shape and dtype\.name|\.\.\.<omitted>)/,
    );
  });

  it('takes what the message says, and ndarray makes the array anew', () => {
    const array = ndarray([
      [1, 2],
      [3, 4],
    ]);
    const { data, shape, name } = structuredClone({ data: array.data, shape: array.shape, name: array.dtype.name });
    expect(ndarray(data as Float64Array, { shape, dtype: name as 'f64' }).toArray()).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
});
