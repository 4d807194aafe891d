import { describe, expect, it } from 'vitest';
import {
  add,
  assign,
  at,
  constant,
  eq,
  ge,
  i32,
  KernelBuilder,
  leave,
  load,
  loop,
  next,
  param,
  read,
  store,
  sub,
  when,
} from '../builder.ts';
import type { Expr, Kernel, ValueType } from '../ops.ts';
import { printKernel } from '../print.ts';
import { outcome, randomSample, type Sample } from '../testing.ts';
import { verify } from '../verify.ts';
import { countRounds } from './counted.ts';
import { simplify } from './simplify.ts';

/** for (i = start; !exit(i, n); i += step) { if (i == 5) continue; seen++ } out = [seen, i] */
function counting(type: ValueType, exit: (i: Expr, n: Expr) => Expr, step: (i: Expr) => Expr): Kernel {
  const b = new KernelBuilder('counting');
  const [out, x] = [b.global(type, 'out'), b.global(type, 'x')];
  const [start, n] = [b.value(type, 'start'), b.value(type, 'n')];
  const [i, seen, label] = [b.variable(type, 'i'), b.variable(type, 'seen'), b.label()];
  const body = [
    when(exit(read(i), n), [leave(label)]),
    when(eq(read(i), constant(type, 5)), [next(label)]),
    assign(seen, add(read(seen), load(at(x, i32(0))))),
  ];
  return b.build([
    assign(i, start),
    assign(seen, constant(type, 0)),
    loop(label, body, [assign(i, step(read(i)))]),
    store(at(out, i32(0)), read(seen)),
    store(at(out, i32(1)), read(i)),
  ]);
}

/** What the kernel does from `start` to `n`. */
function run(kernel: Kernel, start: number, n: number): string {
  const memory = new Uint8Array(64);
  memory[32] = 1;
  const sample: Sample = {
    name: '',
    kernel,
    launch: { grid: [1, 1, 1], block: [1, 1, 1] },
    args: [0, 32, start, n],
    memory,
  };
  return outcome(sample);
}

const three = (type: ValueType): Expr => constant(type, 3);

describe('counted loops', () => {
  it('count their rounds before the first one', () => {
    const kernel = counting('i32', ge, (i) => add(i, three('i32')));
    expect(printKernel(countRounds(kernel)).split('\n').slice(6, 22).join('\n')).toMatchInlineSnapshot(`
      "  i = start
        seen = 0
        if i < n {
          %rounds = (u32(n - i) - 1u32) / 3u32 + 1u32
          loop L0 {
            if i == 5 {
              continue L0
            }
            seen = seen + x[0]
          } update {
            i = i + 3
            %rounds = %rounds - 1u32
            if %rounds == 0u32 {
              break L0
            }
          }"
    `);
  });

  it('go round as often as before, up and down, from and to anywhere', () => {
    for (const type of ['i32', 'i64', 'u32'] as const) {
      const up = [
        counting(type, ge, (i) => add(i, three(type))),
        counting(
          type,
          (i, n) => ({ op: 'compare', type: 'bool', fn: 'gt', a: i, b: n }),
          (i) => add(constant(type, 1), i),
        ),
        counting(
          type,
          (i, n) => ({ op: 'compare', type: 'bool', fn: 'le', a: n, b: i }),
          (i) => add(i, add(param(type, 3), constant(type, 1))),
        ),
      ];
      const down = [
        counting(
          type,
          (i, n) => ({ op: 'compare', type: 'bool', fn: 'le', a: i, b: n }),
          (i) => sub(i, three(type)),
        ),
        counting(
          type,
          (i, n) => ({ op: 'compare', type: 'bool', fn: 'lt', a: i, b: n }),
          (i) => add(i, constant(type, -2)),
        ),
      ];
      for (const kernel of [...up, ...(type === 'u32' ? [] : down)]) {
        const done = countRounds(kernel);
        verify(done);
        expect(done).not.toBe(kernel);
        for (const [start, n] of [
          [0, 10],
          [0, 9],
          [3, 3],
          [4, 3],
          [1, 2],
          [0, 0],
          [30, 7],
        ] as const) {
          expect(run(done, start, n), `${type} ${start} ${n}`).toBe(run(kernel, start, n));
        }
      }
    }
  });

  it('are left alone when the counter, bound or step changes on the way', () => {
    const moving = counting(
      'i32',
      (i, n) => ge(add(i, n), n),
      (i) => add(i, i),
    );
    expect(countRounds(moving)).toBe(moving);
  });

  it('do in random kernels what they did', () => {
    for (let seed = 0; seed < 40; seed++) {
      const sample = randomSample(seed);
      const kernel = countRounds(simplify(sample.kernel));
      verify(kernel);
      expect(outcome(sample, kernel), sample.name).toBe(outcome(sample));
    }
  });
});
