import { describe, expect, it } from 'vitest';
import { show } from './show.ts';

const thrower = new Proxy(
  {},
  {
    getPrototypeOf() {
      throw new Error('asked for its prototype');
    },
  },
);

describe('values in messages', () => {
  it.each([
    [2.5, '2.5'],
    [-0, '-0'],
    [5n, '5n'],
    ['abc', "'abc'"],
    [null, 'null'],
    [Symbol('mark'), 'Symbol(mark)'],
    [new Float32Array(8), 'a Float32Array of 8'],
    [{ x: 1, y: 2 }, 'an object with the keys x, y'],
    [[1, [2, null], { x: 1 }], '[1, [2, null], an object with the keys x]'],
    [Math.max, 'the function max'],
    [new Date(0), 'a Date'],
  ])('are short and recognisable', (value, text) => {
    expect(show(value)).toBe(text);
  });

  it.each([
    [Object.create(null), 'an empty object'],
    [{ toString: () => ({}) }, 'an object with the keys toString'],
    [thrower, 'a value of type object'],
    // biome-ignore lint/suspicious/noSparseArray: what is passed by mistake
    [[1, , 2], '[1, undefined, 2]'],
  ])('are shown also where they have no text of their own', (value, text) => {
    expect(show(value)).toBe(text);
  });
});
