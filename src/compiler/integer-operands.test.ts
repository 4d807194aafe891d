/**
 * What intrinsics take integers alone for: masks, lanes and operands of which the bits count.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../cuda/index.ts';
import { i32 } from '../dtype/index.ts';
import { KernelError } from '../errors.ts';
import { roc } from '../roc/index.ts';
import { compileFor } from './testing.ts';

type V = { [k: number]: number; length: number };
type Body = (x: V, y: V) => void;

/** Each has `v`, an element of `x`, where an integer belongs. */
const bodies: readonly (readonly [name: string, body: Body])[] = [
  ['popc', (x, y) => void (y[0] = cuda.popc(x[0]))],
  ['clz', (x, y) => void (y[0] = cuda.clz(x[0]))],
  ['ffs', (x, y) => void (y[0] = cuda.ffs(x[0]))],
  ['brev', (x, y) => void (y[0] = cuda.brev(x[0]))],
  ['dp4a', (x, y) => void (y[0] = cuda.dp4a(y[1], x[0], 1))],
  ['nanosleep', (x, _) => cuda.nanosleep(x[0])],
  ['a mask of a shuffle', (x, y) => void (y[0] = cuda.shflSync(x[0], y[1], 0))],
  ['a lane of a shuffle', (x, y) => void (y[0] = cuda.shflSync(-1, y[1], x[0]))],
  ['a distance of a shuffle', (x, y) => void (y[0] = cuda.shflDownSync(-1, y[1], x[0]))],
  ['lanes of a butterfly', (x, y) => void (y[0] = cuda.shflXorSync(-1, y[1], x[0]))],
  ['a mask of a vote', (x, y) => void (y[0] = cuda.ballotSync(x[0], y[0] > 0))],
  ['a mask of a match', (x, y) => void (y[0] = cuda.matchAnySync(x[0], y[0]))],
  ['a mask of a barrier', (x, _) => cuda.syncWarp(x[0])],
  ['a lane of a wavefront', (x, y) => void (y[0] = roc.dsBpermute(x[0], y[1]))],
];

describe('integers alone', () => {
  it.each(bodies)('%s', (_, body) => {
    const ints = new Int32Array(2);
    compileFor(body, [ints, ints]);
    compileFor(body, [new Uint8Array(2), ints]);
    for (const floats of [new Float32Array(2), new Float64Array(2)]) {
      expect(() => compileFor(body, [floats, ints])).toThrow(KernelError);
      expect(() => compileFor(body, [floats, ints])).toThrow(
        /K215[^\n]*(needs an integer, but x\[0\] is f(32|64))[\s\S]*write Math\.trunc\(x\[0\]\) \| 0, or i32\(x\[0\]\)/,
      );
    }
  });

  it('take whole literals, number arguments and casts', () => {
    const body = (x: V, y: V, delta: number): void => {
      y[0] = cuda.shflDownSync(0xffffffff, y[1], delta) + cuda.popc(255);
      y[1] = cuda.clz(i32(x[0])) + cuda.popc(x[0] | 0);
    };
    const c = compileFor(body, [new Float32Array(2), new Int32Array(2), 3]);
    expect(c.types().find((t) => t.name === 'delta')?.type).toBe('i32');
  });

  it('take halves of a warp', () => {
    const body = (y: V): void => {
      for (let step = cuda.warpSize / 2; step > 0; step >>= 1) y[0] += cuda.shflDownSync(-1, y[0], step);
    };
    expect(
      compileFor(body, [new Float32Array(1)])
        .types()
        .find((t) => t.name === 'step')?.type,
    ).toMatch(/^i32/);
  });

  it('and refuse fractions', () => {
    const body = (y: V): void => {
      y[0] = cuda.popc(2.5);
    };
    expect(() => compileFor(body, [new Int32Array(1)])).toThrow(/cuda\.popc needs an integer, but 2\.5 is a fraction/);
  });

  it('of 32 bits where there are no others, of one sign', () => {
    const body = (y: V, a: V, b: V): void => {
      y[0] = cuda.dp4a(a[0], b[0], 1);
    };
    const [ints, words, longs] = [new Int32Array(1), new Uint32Array(1), new BigInt64Array(1)];
    compileFor(body, [words, words, words]);
    expect(() => compileFor(body, [ints, longs, longs])).toThrow(
      /K215[^\n]*cuda\.dp4a needs integers of 32 bits, but a\[0\] has 64[\s\S]*write i32\(a\[0\]\) or u32\(a\[0\]\)/,
    );
    expect(() => compileFor(body, [ints, ints, words])).toThrow(
      /K203[^\n]*cuda\.dp4a does not take i32 and u32 together[\s\S]*write i32\(b\[0\]\) or u32\(a\[0\]\)/,
    );
    // @ts-expect-error The editor says so, too.
    const two = (y: V): void => void (y[0] = cuda.dp4a(y[0], y[0]));
    expect(() => compileFor(two, [ints])).toThrow(/K316[^\n]*cuda\.dp4a takes 3 arguments, not 2/);
  });

  it('of no type of their own take that of the others; a number argument is an integer that adopts it', () => {
    const body = (y: V, a: V, mask: number): void => {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum = cuda.dp4a(a[k], mask, sum);
      y[0] = sum;
    };
    const words = new Uint32Array(4);
    const types = compileFor(body, [words, words, 1]).types();
    expect(types.find((t) => t.name === 'sum')?.type).toBe('u32');
    expect(types.find((t) => t.name === 'mask')?.type).toBe('i32');
  });

  it('the number of arguments is checked: none is evaluated for nothing', () => {
    const bodies: readonly ((x: V) => void)[] = [
      // @ts-expect-error The editor says so, too.
      () => cuda.syncThreads(1),
      // @ts-expect-error The editor says so, too.
      (x) => void (x[0] = Math.floor(x[0], 1)),
      // @ts-expect-error The editor says so, too.
      (x) => void (x[0] = i32(x[0], 1)),
    ];
    for (const body of bodies) expect(() => compileFor(body, [new Int32Array(8)])).toThrow(/K316[^\n]*takes/);
  });
});
