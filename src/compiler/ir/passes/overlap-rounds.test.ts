/**
 * Several rounds of a loop at a time: which loops, and that kernels then do the same.
 */
import { describe, expect, it } from 'vitest';
import {
  add,
  assign,
  at,
  atomic,
  breakTo,
  ge,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  mul,
  read,
  store,
} from '../builder.ts';
import type { Expr, Kernel } from '../ops.ts';
import { outcome, randomSample, type Sample } from '../testing.ts';
import { verify } from '../verify.ts';
import { overlapRounds } from './overlap-rounds.ts';
import { simplify } from './simplify.ts';
import { eachStmt } from './walk.ts';

/** for (i = start; i < n; i += stride) { v = x[i & 7] + i; out[v & 7] += v; last = v } out[8] = i; out[9] = last. */
function histogram(bound: (n: Expr) => Expr, written = false): Kernel {
  const b = new KernelBuilder('histogram');
  const [out, x] = [b.global('i32', 'out'), b.global('i32', 'x')];
  const [start, n, stride] = [b.value('i32', 'start'), b.value('i32', 'n'), b.value('i32', 'stride')];
  const [i, v, last, label] = [b.variable('i32', 'i'), b.variable('i32', 'v'), b.variable('i32', 'last'), b.label()];
  const low = (e: Expr): Expr => ({ op: 'binary', type: 'i32', fn: 'and', a: e, b: i32(7) });
  const body = [
    ifElse(ge(read(i), bound(n)), [breakTo(label)]),
    assign(v, add(load(at(x, low(read(i)))), read(i))),
    atomic('add', at(out, low(read(v))), [read(v)]),
    ...(written ? [store(at(x, i32(0)), read(v))] : []),
    assign(last, mul(read(v), i32(3))),
  ];
  return b.build([
    assign(i, start),
    assign(last, i32(0)),
    loop(label, body, [assign(i, add(read(i), stride))]),
    store(at(out, i32(8)), read(i)),
    store(at(out, i32(9)), read(last)),
  ]);
}

function run(kernel: Kernel, start: number, n: number, stride: number): string {
  const memory = new Uint8Array(96).map((_, k) => (k >= 64 && k % 4 === 0 ? k % 13 : 0));
  const launch = { grid: [1, 1, 1], block: [1, 1, 1] } as const;
  const sample: Sample = { name: '', kernel, launch, args: [0, 64, start, n, stride], memory };
  return outcome(sample);
}

function loops(kernel: Kernel): number {
  let count = 0;
  eachStmt(kernel.body, (s) => {
    if (s.op === 'loop') count++;
  });
  return count;
}

describe('loops that read and then change memory', () => {
  it('have several rounds in one, and what is left behind it', () => {
    const plain = histogram((n) => n);
    const several = overlapRounds(plain);
    verify(several);
    expect([loops(plain), loops(several)]).toEqual([1, 2]);
    const top = 2 ** 31 - 1;
    const cases = [0, 1, 2, 3, 4, 5, 11, 12, 13].map((n) => [0, n, 1]);
    for (const [start, n, stride] of [
      ...cases,
      [-9, 20, 3],
      [5, 5, 7],
      [6, 5, 7],
      [-20, -5, 2],
      [0, 40, 2 ** 28],
      [top - 40, top - 9, 7],
      [top - 2 ** 30, top - 2 ** 29, 2 ** 29],
    ] as [number, number, number][]) {
      expect(run(several, start, n, stride), `${start} ${n} ${stride}`).toBe(run(plain, start, n, stride));
    }
  });

  it('stay as they are where rounds can be counted, and where what they read is written', () => {
    for (const kernel of [histogram(() => i32(40)), histogram((n) => n, true)]) {
      expect(overlapRounds(kernel)).toBe(kernel);
    }
  });

  it('change nothing that a kernel does', () => {
    for (let seed = 100; seed < 140; seed++) {
      const sample = randomSample(seed);
      const kernel = simplify(overlapRounds(simplify(sample.kernel)));
      verify(kernel);
      expect(outcome(sample, kernel), sample.name).toBe(outcome(sample));
    }
  });
});
