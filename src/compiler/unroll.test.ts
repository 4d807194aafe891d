/**
 * Unrolling: which loops are copied out, and that kernels then do the same.
 */
import { describe, expect, test } from 'vitest';
import { randomCases } from '../required.testing.ts';
import type { Kernel } from './ir/ops.ts';
import { simplify } from './ir/passes/simplify.ts';
import { type UnrollOptions, unroll } from './ir/passes/unroll.ts';
import { eachExpr, eachStmt } from './ir/passes/walk.ts';
import { outcome, randomSample } from './ir/testing.ts';
import { verify } from './ir/verify.ts';
import { compileFor, run } from './testing.ts';

const LIKE_GPUS: UnrollOptions = {
  rounds: 16,
  nodes: 2400,
  plainLoads: 512,
  barriers: true,
  elements: false,
  factor: 4,
  nests: true,
  stages: 0,
};

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

describe('as for GPUs', () => {
  const prepared = (kernel: Kernel): Kernel => {
    const done = simplify(unroll(simplify(kernel), LIKE_GPUS));
    verify(done, 'lowered');
    return done;
  };
  /** Loops that are left, once the results have been seen to be those of JavaScript. */
  const left = (fn: (y: V) => void, start: readonly number[] = Array.from({ length: 64 }, (_, k) => k)): number => {
    const [y, want] = [Float32Array.from(start), Float32Array.from(start)];
    fn(want);
    const { compiled } = run(fn as never, [y], {}, {}, prepared);
    expect(y).toEqual(want);
    return loops(prepared(compiled.kernel));
  };
  const remainders = (kernel: Kernel): number => {
    let n = 0;
    eachExpr(kernel.body, (e) => {
      if (e.op === 'binary' && e.fn === 'rem') n++;
    });
    return n;
  };
  const remaindersIn = (fn: (y: V) => void): number =>
    remainders(prepared(compileFor(fn as never, [new Float32Array(64)]).kernel));

  test('loops within loops whose rounds follow from the counter', () => {
    const network = (y: V): void => {
      for (let size = 2; size <= 16; size <<= 1)
        for (let stride = size >> 1; stride > 0; stride >>= 1) y[stride] += size + 2 * y[stride + 1];
    };
    expect(left(network)).toBe(0);
    // Inner rounds that only running tells.
    const open = (y: V): void => {
      for (let k = 1; k < 5; k++) for (let j = 0; j < y[k]; j++) y[k + 8] += j;
    };
    expect(left(open)).toBe(2);
  });

  test('counters modulo a small number, with what is left of the rounds', () => {
    const ring = (y: V): void => {
      let d = 2;
      for (; d <= 60; d++) y[d % 3] = y[(d + 2) % 3] - y[(d + 1) % 3] + d;
      y[5] = d;
    };
    expect(left(ring)).toBe(1);
    expect(remaindersIn(ring)).toBe(0);
    const byTwo = (y: V): void => {
      for (let d = 1; d < 63; d += 2) y[d % 6] += y[(d + 3) % 4] + d;
    };
    expect(left(byTwo)).toBe(1);
    expect(remaindersIn(byTwo)).toBe(0);
    const negative = (y: V): void => {
      for (let d = 0; d < 40; d++) y[8 + ((d - 4) % 3)] += d;
    };
    expect(left(negative)).toBe(1);
    expect(remaindersIn(negative)).toBeGreaterThan(0);
  });

  test('loops with a counter and another test go on in groups', () => {
    const until = (most: number) => (y: V) => {
      let x = y[0];
      let n = 0;
      while (n < 24 && x < most) {
        x = x * 2 + 1;
        n++;
      }
      y[1] = n;
      y[2] = x;
    };
    for (const most of [0, 2, 7, 12, 40, 1e30]) {
      const y = new Float32Array(4);
      const want = new Float32Array(4);
      until(most)(want);
      run(until(most) as never, [y], {}, {}, prepared);
      expect(y).toEqual(want);
    }
    const tests = (fn: (y: V) => void): number => {
      let n = 0;
      eachStmt(prepared(compileFor(fn as never, [new Float32Array(4)]).kernel).body, (s) => {
        if (s.op === 'break') n++;
      });
      return n;
    };
    expect(tests(until(5))).toBe(4);
    const breaking = (y: V): void => {
      let n = 0;
      while (n < 12 && y[n] < 9) {
        n++;
        if (y[n + 20] > 26) break;
      }
      y[1] = n;
    };
    expect(left(breaking)).toBe(1);
  });
});

test('random kernels do the same', () => {
  const cases = randomCases(300);
  for (let seed = 0; seed < cases; seed++) {
    const sample = randomSample(seed);
    const want = outcome(sample);
    for (const options of seed % 4 === 0 ? [undefined, LIKE_GPUS] : [undefined]) {
      const kernel = simplify(unroll(simplify(sample.kernel), options));
      verify(kernel, 'lowered');
      expect(outcome(sample, kernel), `seed ${seed}`).toBe(want);
    }
  }
});
