/** Host arrays whose memory went away, and JavaScript values that have no memory to be read into. */
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { cuda, type f32, ndarray, type Vec } from '../index.ts';

cuda.selectDevice('cpu');
afterAll(() => cuda.close());

const fill = cuda.jit((a: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < a.length) a[i] = 7;
});

function detached(): Float32Array<ArrayBuffer> {
  const data = Float32Array.of(1, 2, 3, 4);
  structuredClone(data.buffer, { transfer: [data.buffer] });
  return data;
}

function detachedArray(): ReturnType<typeof ndarray> {
  const data = Float32Array.of(1, 2, 3, 4);
  const array = ndarray(data);
  structuredClone(data.buffer, { transfer: [data.buffer] });
  return array as never;
}

function shrunken(): ReturnType<typeof ndarray> {
  const Resizable = ArrayBuffer as unknown as new (n: number, o: object) => ArrayBuffer & { resize(n: number): void };
  const buffer = new Resizable(16, { maxByteLength: 64 });
  const array = ndarray(new Float32Array(buffer));
  buffer.resize(8);
  return array as never;
}

const device = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
const uses: readonly [string, (a: never) => unknown][] = [
  ['toDevice', (a) => cuda.toDevice(a)],
  ['copyToDevice', (a) => device.copyToDevice(a)],
  ['copyToHost into it', (a) => device.copyToHost(a)],
  ['a launch', (a) => fill.forAll(4)(a)],
  ['a launch with In', (a) => fill.forAll(4)(cuda.In(a) as never)],
];
const arrayUses: readonly [string, (a: ReturnType<typeof ndarray>) => unknown][] = [
  ['get', (a) => a.get(0)],
  ['set', (a) => a.set(1, 0)],
  ['set of all', (a) => a.set(1)],
  ['toArray', (a) => a.toArray()],
  ['copy', (a) => a.copy()],
];

describe('an array whose ArrayBuffer was transferred', () => {
  it.each(uses)('is refused by %s, as TypedArray and as NDArray', (_, use) => {
    expect(() => use(detached() as never)).toThrow(/ArrayBuffer of this Float32Array is detached: it was transferred/);
    expect(() => use(detachedArray() as never)).toThrow(/detached|is gone: its ArrayBuffer was transferred/);
  });

  it.each(arrayUses)('throws from %s', (_, use) => {
    expect(() => use(detachedArray())).toThrow('the memory of this array of shape [4] is gone');
  });

  it('still prints', () => {
    expect(inspect(detachedArray())).toBe(
      'NDArray f32 [4] (its memory is gone: its ArrayBuffer was transferred, or resized to less)',
    );
  });
});

describe('an array whose ArrayBuffer was resized to less', () => {
  it.each([...uses, ...arrayUses])('throws from %s, and gives no stale or undefined elements', (_, use) => {
    expect(() => use(shrunken() as never)).toThrow('the memory of this array of shape [4] is gone');
  });
});

describe('what cannot be read into an array', () => {
  it('is an array that contains itself', () => {
    const self: unknown[] = [];
    self.push(self);
    expect(() => ndarray(self as never)).toThrow('nested more than 64 deep, or one contains itself');
    const later: unknown[] = [1];
    later.push(later);
    expect(() => ndarray(later as never)).toThrow('on axis 1 there is an array in place of a single value');
  });

  it('is named with what to write', () => {
    expect(() => ndarray(new ArrayBuffer(4) as never)).toThrow('give a TypedArray over it');
    expect(() => ndarray(new Set([1]) as never)).toThrow('got a Set: write Array.from(…)');
    expect(() => ndarray(Promise.resolve([1]) as never)).toThrow('await it first');
    expect(() => ndarray([[1], [1, 2]])).toThrow('on axis 1 there are 2 items in place of 1 item');
  });
});

describe('JSON', () => {
  it('has the elements of a host array as nested arrays', () => {
    expect(
      JSON.stringify({
        a: ndarray([
          [1, 2],
          [3, 4],
        ]).transpose(),
      }),
    ).toBe('{"a":[[1,3],[2,4]]}');
  });
});
