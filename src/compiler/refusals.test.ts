/**
 * What JavaScript would do and a kernel cannot is refused with what to write instead: functions, classes and objects that change places, arrays that
 * grow, characters and signs that are not known.
 */
import { describe, expect, it } from 'vitest';
import { KernelError } from '../errors.ts';
import { type RefusalCase as Case, compileFor } from './testing.ts';

type V = { [k: number]: number; length: number };

const vec = new Float32Array(4);

const adding = (n: number) =>
  class Adding {
    of(x: number): number {
      return x + n;
    }
  };
const [ByOne, ByTwo] = [adding(1), adding(2)];

const cases: readonly Case[] = [
  {
    what: 'a variable of two functions that one function has made',
    fn: (a: V) => {
      const scale = (k: number) => (x: number) => k * x;
      let f = scale(2);
      if (a[0] > 0) f = scale(3);
      a[0] = f(1);
    },
    args: [vec],
    code: 'K231',
    message: /f holds the function f and cannot become/,
    help: /choose where it is needed, c \? f : g/,
  },
  {
    what: 'objects of two classes that one function has made',
    fn: (a: V) => {
      const o = a[0] > 0 ? new ByOne() : new ByTwo();
      a[0] = o.of(1);
    },
    args: [vec],
    code: 'K231',
    message: /cannot become another one like it/,
  },
  {
    what: 'objects of two classes that a function of the kernel has made',
    fn: (a: V) => {
      const making = (n: number) =>
        class Made {
          of(x: number): number {
            return x + n;
          }
        };
      const [One, Two] = [making(1), making(2)];
      const o = a[0] > 0 ? new One() : new Two();
      a[0] = o.of(1);
    },
    args: [vec],
    code: 'K231',
    message: /cannot become another one like it/,
  },
  {
    what: 'a literal beyond i32 with a byte, as a float',
    fn: (a: V, b: V) => {
      b[0] = 0x80000000 + a[0];
    },
    args: [new Uint8Array(4), vec],
    code: 'K219',
    message: /needs the sign of (0x80000000|2147483648) \+ a\[0\]/,
  },
  {
    what: 'a JavaScript array sorted as text',
    fn: (a: V) => {
      const v = [10, 9, a[0]];
      v.sort();
      a[0] = v[0];
    },
    args: [vec],
    code: 'K316',
    message: /orders a JavaScript array as text, 10 before 9/,
    help: /sort\(\(a, b\) => a - b\)/,
  },
  {
    what: 'objects of an array that change places',
    fn: (a: V) => {
      const items = [0, 1, 2].map((k) => ({ key: a[k], index: k }));
      for (let k = 0; k < 2; k++)
        if (items[k].key > items[k + 1].key) [items[k], items[k + 1]] = [items[k + 1], items[k]];
      a[0] = items[a.length % 3].index;
    },
    args: [vec],
    code: 'K239',
    message: /objects of an array cannot be exchanged/,
    help: /order\.sort\(/,
  },
  {
    what: 'an array that grows',
    fn: (a: V) => {
      const stack: number[] = [];
      stack.push(a[0]);
      a[0] = stack.length;
    },
    args: [vec],
    code: 'K235',
    message: /a JavaScript array has no push in a kernel/,
    help: /v\[n\+\+\] = x/,
  },
  {
    what: 'a character that a variable names',
    fn: (a: V) => {
      const digits: string = '0123';
      a[0] = digits[a.length] === '1' ? 1 : 0;
    },
    args: [vec],
    code: 'K312',
    message: /which character of .* would only be known at run time/,
    help: /charCodeAt\(k\)/,
  },
];

describe('refusals', () => {
  it.each(cases)('$what', ({ fn, args, code, message, help }) => {
    let error: unknown;
    try {
      compileFor(fn, args);
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(KernelError);
    const { message: text, code: own } = error as KernelError;
    expect(own).toBe(code);
    expect(text).toMatch(message);
    if (help !== undefined) expect(text).toMatch(help);
  });
});
