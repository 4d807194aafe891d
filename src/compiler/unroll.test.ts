/**
 * Unrolling: which loops are copied out, and that kernels then do the same.
 */
import { describe, expect, test } from 'vitest';
import type { Kernel } from './ir/ops.ts';
import { simplify } from './ir/passes/simplify.ts';
import { unroll } from './ir/passes/unroll.ts';
import { eachStmt } from './ir/passes/walk.ts';
import { outcome, randomSample } from './ir/testing.ts';
import { verify } from './ir/verify.ts';
import { compileFor, run } from './testing.ts';

type V = { [k: number]: number; length: number };

function loops(kernel: Kernel): number {
  let n = 0;
  eachStmt(kernel.body, (s) => {
    if (s.op === 'loop') n++;
  });
  return n;
}

/** Loops before and after, for a kernel over one f32 array. */
function unrolled(fn: (y: V) => void): [number, number] {
  const simple = simplify(compileFor(fn as never, [new Float32Array(64)]).kernel);
  const result = unroll(simple);
  verify(result, 'lowered');
  return [loops(simple), loops(result)];
}

describe('what is unrolled', () => {
  test('short loops with known bounds, up and down, with guards inside', () => {
    expect(
      unrolled((y) => {
        for (let k = 0; k < 16; k++) y[k] += k;
      }),
    ).toEqual([1, 0]);
    expect(
      unrolled((y) => {
        for (let k = 8; k > 0; k >>= 1) y[k] += 1;
      }),
    ).toEqual([1, 0]);
    expect(
      unrolled((y) => {
        for (let k = 5; k >= 0; k -= 2) if (y[k] > 0) y[k] = 0;
      }),
    ).toEqual([1, 0]);
    expect(
      unrolled((y) => {
        for (let a = 0; a < 3; a++) for (let b = 0; b < 3; b++) y[a * 3 + b] = a;
      }),
    ).toEqual([2, 0]);
  });

  test('not long ones, nor what jumps, changes its counter, or has no known end', () => {
    expect(
      unrolled((y) => {
        for (let k = 0; k < 40; k++) y[k] = 1;
      }),
    ).toEqual([1, 1]);
    expect(
      unrolled((y) => {
        for (let k = 0; k < 8; k++) {
          if (y[k] > 0) break;
          y[k] = 1;
        }
      }),
    ).toEqual([1, 1]);
    expect(
      unrolled((y) => {
        for (let k = 0; k < 8; k++) {
          if (y[k] > 0) continue;
          y[k] = 1;
        }
      }),
    ).toEqual([1, 1]);
    expect(
      unrolled((y) => {
        for (let k = 0; k < 8; k++) {
          y[k] = 1;
          if (y[k + 1] > 0) k++;
        }
      }),
    ).toEqual([1, 1]);
    expect(
      unrolled((y) => {
        for (let k = 0; k < y.length; k++) y[k] = 1;
      }),
    ).toEqual([1, 1]);
  });
});

test('the counter has its last value afterwards', () => {
  const y = new Float32Array(8);
  const body = (a: V): void => {
    let k = 1;
    for (; k < 6; k += 2) a[k] = k;
    a[0] = k;
  };
  const want = new Float32Array(8);
  body(want);
  const { compiled } = run(body as never, [y]);
  expect(y).toEqual(want);
  expect(loops(unroll(simplify(compiled.kernel)))).toBe(0);
});

test('random kernels do the same', () => {
  for (let seed = 0; seed < 300; seed++) {
    const sample = randomSample(seed);
    const kernel = simplify(unroll(simplify(sample.kernel)));
    verify(kernel, 'lowered');
    expect(outcome(sample, kernel), `seed ${seed}`).toBe(outcome(sample));
  }
});
