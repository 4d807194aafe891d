/**
 * What is wrong in a kernel is said with a code, the place in the author's file, and what to write instead.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../cuda/index.ts';
import { f32, i32 } from '../dtype/index.ts';
import { KernelError } from '../errors.ts';
import { type RefusalCase as Case, compileFor } from './testing.ts';

type V = { [k: number]: number; length: number };
type M = { [k: number]: V; shape: number[] };

const vec = new Float32Array(4);
const ints = new Int32Array(4);
const uints = new Uint32Array(4);
const longs = new BigInt64Array(4);
const mat = { data: new Float32Array(4), shape: [2, 2] };

function errorOf(fn: (...args: never[]) => unknown, args: Parameters<typeof compileFor>[1]): KernelError {
  try {
    compileFor(fn, args);
  } catch (e) {
    if (e instanceof KernelError) return e;
    throw e;
  }
  throw new Error('no error');
}

const outside = { gain: 2 };
let later: number;
const pending = Promise.resolve(new Float32Array(1));

const cases: readonly Case[] = [
  {
    what: 'A[i, j]',
    fn: (a: M) => {
      // @ts-expect-error The editor says so, too.
      a[0][(0, 1)] = 1;
    },
    args: [mat],
    code: 'K238',
    message: /comma operator: it means a\[0\]\[1\]/,
    help: /write a\[0\]\[0\]\[1\]/,
  },
  {
    what: 'i32 and u32 data',
    fn: (a: V, b: V) => {
      a[0] = a[0] % b[0];
    },
    args: [ints, uints],
    code: 'K203',
    message: /% does not take i32 and u32 together/,
    help: /i32\(b\[0\]\)|u32\(a\[0\]\)/,
  },
  {
    what: '64-bit integers with floats',
    fn: (a: V, b: V) => {
      a[0] = a[0] * b[0];
    },
    args: [vec, longs],
    code: 'K203',
    message: /cannot multiply f32 and i64/,
    help: /Number\(b\[0\]\)/,
  },
  {
    what: 'a float given to an integer variable',
    fn: (a: V, b: V) => {
      let n = 0;
      for (let k = 0; k < 3; k++) n = k & 1 ? a[0] * 2 : 1;
      b[n] = 1;
    },
    args: [vec, ints],
    code: 'K215',
    message: /needs an integer, but n is f32/,
    help: /i32\(Math\.round\(n\)\)/,
  },
  {
    what: 'a float as an index',
    fn: (a: V) => {
      a[a[0]] = 1;
    },
    args: [vec],
    code: 'K215',
    message: /an index needs an integer, but a\[0\] is f32/,
    help: /i32\(a\[0\]\)/,
  },
  {
    what: 'a literal that does not fit',
    fn: (a: V) => {
      a[0] = 300;
    },
    args: [new Uint8Array(1)],
    code: 'K212',
    message: /300 does not fit u8 \(0 to 255\)/,
  },
  {
    what: 'a fraction for an integer',
    fn: (a: V) => {
      a[1.5] = 1;
    },
    args: [vec],
    code: 'K234',
    message: /must be an integer; this is 1\.5/,
  },
  {
    what: 'a row stored to',
    fn: (a: M) => {
      (a as unknown as V)[0] = 1;
    },
    args: [mat],
    code: 'K240',
    message: /a part of it, not one element|rank 2/,
    help: /a\[i\]\[i\]|all indices/,
  },
  {
    what: 'a row used as a number',
    fn: (a: M, b: V) => {
      b[0] = (a[0] as unknown as number) + 1;
    },
    args: [mat, vec],
    code: 'K221',
    message: /expected a number, but this is a, an array of rank 1/,
  },
  {
    what: 'too many indices',
    fn: (a: V, b: V) => {
      b[0] = (a as unknown as M)[0][0];
    },
    args: [vec, vec],
    code: 'K223',
    message: /a number cannot be indexed/,
  },
  {
    what: 'a constant index out of an array without a name',
    fn: (a: V) => {
      a[0] = new Float32Array(3)[4] as number;
    },
    args: [vec],
    code: 'K235',
    message: /index 4 is out of range for axis 0 of this array \(length 3\)/,
  },
  {
    what: 'an array without a name as a number',
    fn: (a: V) => {
      a[0] =
        ([
          [1, 2],
          [3, 4],
        ][cuda.grid(1) & 1] as unknown as number) + 1;
    },
    args: [vec],
    code: 'K221',
    message: /expected a number, but this is an array of rank 1/,
    help: /give an index: a\[i\]/,
  },
  {
    what: 'typeof of a variable that is a number here and a boolean there',
    fn: (a: V) => {
      let t: number | boolean = 1;
      if ((a[0] as number) > 3) t = true;
      a[0] = typeof t === 'number' ? 1 : 2;
    },
    args: [vec],
    code: 'K231',
    message: /t is a number first and a boolean here/,
  },
  {
    what: 'a number in groups of digits',
    fn: (a: V) => {
      a[0] = 1_000;
    },
    args: [new Int8Array(4)],
    code: 'K212',
    message: /1_000 does not fit i8/,
    help: /write i8\(1_000\)/,
  },
  {
    what: 'a constant index out of range',
    fn: (a: V) => {
      const s = cuda.shared.array(4, f32) as unknown as V;
      s[4] = a[0];
    },
    args: [vec],
    code: 'K235',
    message: /index 4 is out of range for axis 0 of s \(length 4\)/,
  },
  {
    what: 'a negative index',
    fn: (a: V) => {
      a[-1] = 1;
    },
    args: [vec],
    code: 'K235',
    message: /index -1 is out of range/,
    help: /a\.length - 1/,
  },
  {
    what: 'an unknown name',
    fn: new Function('a', 'a[0] = gainn') as never,
    args: [vec],
    code: 'K010',
    message: /gainn/,
  },
  {
    what: 'a captured object without the property',
    fn: (a: V) => {
      a[0] = (outside as unknown as { gian: number }).gian;
    },
    args: [vec],
    code: 'K312',
    message: /outside has no property gian/,
  },
  {
    what: 'a captured name without a value',
    fn: (a: V) => {
      a[0] = later;
    },
    args: [vec],
    code: 'K011',
    message: /later/,
  },
  {
    what: 'assignment to a captured name',
    fn: (a: V) => {
      later = a[0];
    },
    args: [vec],
    code: 'K313',
    message: /captured from outside|later/,
  },
  {
    what: 'a constant that is read before its declaration',
    fn: (a: V) => {
      const read = () => ahead;
      a[0] = read();
      const ahead = 3;
      a[1] = ahead;
    },
    args: [vec],
    code: 'K311',
    message: /ahead is used before its declaration/,
  },
  {
    what: 'a variable that is written before its declaration, though one around it has its name',
    fn: (a: V) => {
      let v = 1;
      a[1] = v;
      v = 2;
      {
        const write = () => {
          v = 3;
        };
        write();
        let v = a[1];
        v++;
        a[0] = v;
      }
    },
    args: [vec],
    code: 'K311',
    message: /v is used before its declaration/,
  },
  {
    what: 'this',
    fn: function (this: { k: number }, a: V) {
      a[0] = this.k;
    } as never,
    args: [vec],
    code: 'K006',
    message: /this/,
  },
  {
    what: 'try',
    fn: (a: V) => {
      try {
        a[0] = 1;
      } catch {
        a[0] = 2;
      }
    },
    args: [vec],
    code: 'K101',
    message: /`try` cannot be used/,
  },
  {
    what: 'new',
    fn: (a: V) => {
      const x = new Map<number, number>();
      a[0] = x.size;
    },
    args: [vec],
    code: 'K101',
    message: /`new` cannot be used/,
    help: /cuda\.local\.array/,
  },
  {
    what: 'await',
    fn: (async (a: V) => {
      await a;
    }) as never,
    args: [vec],
    code: 'K004',
    message: /async/,
  },
  {
    what: 'recursion',
    fn: (a: V) => {
      const f = (n: number): number => (n < 2 ? 1 : n * f(n - 1));
      a[0] = f(5 + a[0]);
    },
    args: [vec],
    code: 'K315',
    message: /f calls itself: recursion/,
  },
  {
    what: 'a returned value',
    fn: (a: V) => {
      return a[0];
    },
    args: [vec],
    code: 'K317',
    message: /a kernel returns nothing/,
  },
  {
    what: 'Math.random',
    fn: (a: V) => {
      a[0] = Math.random();
    },
    args: [vec],
    code: 'K318',
    message: /Math\.random/,
  },
  {
    what: 'a native function',
    fn: (a: V) => {
      a[0] = Number.parseInt('3', 10);
    },
    args: [vec],
    code: 'K314',
    message: /parseInt is built into the engine/,
  },
  {
    what: 'a function that Node has in JavaScript',
    fn: (a: V) => {
      a[0] = performance.now();
    },
    args: [vec],
    code: 'K314',
    message: /now is built into the engine[\s\S]*errors\.test\.ts/,
  },
  {
    what: 'a number in the spelling of the author',
    fn: (a: V) => {
      a[0] = 0x1ff;
    },
    args: [new Uint8Array(1)],
    code: 'K212',
    message: /0x1ff does not fit u8 \(0 to 255\)/,
  },
  {
    what: 'a sum with a bit pattern whose sign counts',
    fn: (a: V) => {
      if (Math.imul(a[0] as number, 5) + 0xe6546b64 < 7) a[0] = 1;
    },
    args: [ints],
    code: 'K219',
    message: /< needs the sign of Math\.imul\(a\[0\], 5\) \+ (0xe6546b64|3864292196)/,
    help: /write \(Math\.imul\(a\[0\], 5\) \+ (0xe6546b64|3864292196)\) \| 0 for i32, or/,
  },
  {
    what: 'a sum of an element without a sign and a negative number, whose sign counts',
    fn: (a: V) => {
      const sum = (a[0] as number) + -5;
      if (sum < 0) a[0] = 1;
    },
    args: [new Uint32Array(1)],
    code: 'K219',
    message: /< needs the sign of sum, which is both i32 and u32/,
  },
  {
    what: 'a variable of either sign',
    fn: (a: V) => {
      let v = a[0] as number;
      for (let k = 0; k < 3 && v > 0; k++, v >>>= 1) a[k] = v;
    },
    args: [ints],
    code: 'K219',
    message: /> needs the sign of v, which/,
    help: /write v \| 0 for i32, or v >>> 0 for u32/,
  },
  {
    what: 'a place of two axes as one',
    fn: (a: V) => {
      const i = cuda.grid(2) as unknown as number;
      if (i < a.length) a[i] = 1;
    },
    args: [vec],
    code: 'K221',
    message: /a tuple of 2/,
    help: /const \[x, y\]/,
  },
  {
    what: 'a number taken apart',
    fn: (a: V) => {
      const [i] = cuda.grid(1) as unknown as number[];
      a[i as number] = 1;
    },
    args: [vec],
    code: 'K222',
    message: /cannot take a number apart/,
    help: /leave out the brackets/,
  },
  {
    what: 'a vector where a matrix is meant',
    fn: (a: M) => {
      const [, columns] = a.shape;
      (a as unknown as V)[0] = columns as number;
    },
    args: [vec],
    code: 'K235',
    message: /a has rank 1 in this launch: there is no axis 1/,
    help: /an array of rank 2/,
  },
  {
    what: 'a misspelt member of Math',
    fn: (a: V) => {
      a[0] = (Math as unknown as { sqr(v: number): number }).sqr(2);
    },
    args: [vec],
    code: 'K312',
    message: /Math has no property sqr/,
    help: /did you mean sqrt/,
  },
  {
    what: 'a promise that was not awaited',
    fn: (a: V) => {
      a[0] = (pending as unknown as V)[0] as number;
    },
    args: [vec],
    code: 'K312',
    message: /pending has no property 0/,
    help: /await it first/,
  },
  {
    what: 'a choice between a string and a number',
    fn: (a: V) => {
      console.log((a[0] as number) > 0 ? 'yes' : 0);
    },
    args: [vec],
    code: 'K232',
    message: /one branch gives/,
    help: /both branches must be strings/,
  },
  {
    what: 'instanceof',
    fn: (a: V) => {
      a[0] = (a as unknown) instanceof Float32Array ? 1 : 0;
    },
    args: [vec],
    code: 'K101',
    message: /`instanceof` cannot tell what \w+, an array/,
    help: /a\.dtype === f32/,
  },
  {
    what: 'a run-time shared shape',
    fn: (a: V) => {
      const s = cuda.shared.array(a.length, f32) as unknown as V;
      s[0] = 1;
    },
    args: [vec],
    code: 'K332',
    message: /must be known at compile time/,
    help: /size 0/,
  },
  {
    what: 'an atomic of a wrong type',
    fn: (a: V) => {
      cuda.atomic.inc(a as never, 0, 1);
    },
    args: [vec],
    code: 'K335',
    message: /atomic\.inc does not exist for f32/,
    help: /u32/,
  },
  {
    what: 'an atomic with too few indices',
    fn: (a: M) => {
      cuda.atomic.add(a as never, 0, 1);
    },
    args: [mat],
    code: 'K334',
    message: /needs 2 indices for a, not 1/,
  },
  {
    what: 'a barrier in divergent flow',
    fn: (a: V) => {
      const t = cuda.threadIdx.x;
      if (t < 2) cuda.syncThreads();
      a[t] = 1;
    },
    args: [vec],
    code: 'K401',
    message: /barrier/,
    help: /cuda\.uniform/,
  },
  {
    what: 'too many arguments',
    fn: (a: V) => {
      a[0] = 1;
    },
    args: [vec, 1],
    code: 'K316',
    message: /takes 1 arguments? \(a\), not 2/,
  },
  {
    what: 'different kinds in one variable',
    fn: (a: V) => {
      let x: unknown = 1;
      if (a[0] > 0) x = a;
      a[0] = x as number;
    },
    args: [vec],
    code: 'K231',
    message: /x holds a number and cannot become a/,
  },
  {
    what: 'a store to a captured array',
    fn: (a: V) => {
      ints[0] = a.length;
    },
    args: [vec],
    code: 'K241',
    message: /ints is a captured host array and read-only/,
  },
  {
    what: 'a loop without end',
    fn: (a: V) => {
      for (;;) a[0] += 1;
    },
    args: [vec],
    code: 'K102',
    message: /never ends/,
  },
  {
    what: 'an array where a cast belongs',
    fn: (a: V) => {
      a[0] = i32(a as never);
    },
    args: [vec],
    code: 'K221',
    message: /an array of rank 1/,
  },
];

describe('errors in kernels', () => {
  for (const c of cases) {
    it(c.what, () => {
      const e = errorOf(c.fn, c.args);
      expect(e.code.startsWith(c.code), `${e.code}: ${e.message}`).toBe(true);
      expect(e.message).toMatch(c.message);
      if (c.help !== undefined) expect(e.message).toMatch(c.help);
    });
  }

  it('stands in the author’s file, with frame and help', () => {
    const kernel = (x: V, y: V): void => {
      const k = cuda.grid(1);
      y[k] = x[k] % uints[k];
    };
    const e = errorOf(kernel, [ints, ints]);
    expect(e.location?.file).toMatch(/errors\.test\.ts$/);
    expect(e.message).toContain('y[k] = x[k] % uints[k];');
    expect(e.message).toMatch(/\^/);
    expect(e.message).toMatch(/help: write/);
  });

  it('names the chain of calls that led there', () => {
    const inner = (v: number): number => v + (longs as unknown as number[])[0];
    const outer = (v: number): number => inner(v) * 2;
    const e = errorOf(
      (x: V) => {
        x[0] = outer(x[1]);
      },
      [vec],
    );
    expect(e.message).toMatch(/inner/);
    expect(e.message).toMatch(/outer/);
  });
});
