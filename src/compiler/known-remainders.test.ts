/**
 * Quotients that are indices because the program has asked for their remainder, and what is known of no remainder any more.
 */
import { expect, it } from 'vitest';
import { compileFor } from './testing.ts';

type V = { [k: number]: number; length: number };

const vec = new Float32Array(4);
const ints = new Int32Array(4);

const NEEDS = /K215[^\n]*an index needs an integer, but n \/ 2 is/;

it('are indices behind a way out, in a branch and in a choice', () => {
  compileFor(
    (a: V, b: V) => {
      const n = b[0] as number;
      for (let k = 0; k < 8; k++) {
        if (k % 4 === 0) a[k / 2] = k % 8 ? 1 : (b[k / 8] as number);
      }
      if ((n & 1) !== 0) return;
      a[n / 2] = 1;
    },
    [vec, ints],
  );
});

it('are none of what has changed since', () => {
  const fn = (a: V, b: V): void => {
    let n = b[0] as number;
    if (n % 2 !== 0) return;
    n += b[1] as number;
    a[n / 2] = 1;
  };
  expect(() => compileFor(fn, [vec, ints])).toThrow(NEEDS);
});

it('are none of what a loop changes, in its first round neither', () => {
  const fn = (a: V, b: V): void => {
    let n = b[0] as number;
    if (n % 2 !== 0) return;
    for (let k = 0; k < 3; k++) {
      a[n / 2] = 1;
      n += b[k] as number;
    }
  };
  expect(() => compileFor(fn, [vec, ints])).toThrow(NEEDS);
});
