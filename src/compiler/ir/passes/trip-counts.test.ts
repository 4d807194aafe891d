import { describe, expect, it } from 'vitest';
import {
  add,
  assign,
  at,
  atomic,
  breakTo,
  compare,
  constant,
  continueTo,
  eq,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  mul,
  param,
  read,
  store,
  sub,
} from '../builder.ts';
import type { CompareOp, Expr, Kernel, ValueType } from '../ops.ts';
import { printKernel } from '../print.ts';
import { outcome, randomSample, type Sample } from '../testing.ts';
import { verify } from '../verify.ts';
import { simplify } from './simplify.ts';
import { countTrips } from './trip-counts.ts';

type Step = (i: Expr) => Expr;

/** for (i = start; !(i exit n); i += step) …; out[0] = what it did, out[1] = i. Parameters: out, x, start, n, stride. */
function counting(type: ValueType, exit: CompareOp, step: Step, writes: boolean): Kernel {
  const b = new KernelBuilder('counting');
  const [out, x] = [b.global(type, 'out'), b.global(type, 'x')];
  const [start, n] = [b.value(type, 'start'), b.value(type, 'n')];
  b.value(type, 'stride');
  const [i, seen, label] = [b.variable(type, 'i'), b.variable(type, 'seen'), b.label()];
  const leaves = ifElse(compare(exit, read(i), n), [breakTo(label)]);
  const body = writes
    ? [leaves, atomic('add', at(out, i32(0)), [mul(read(i), load(at(x, i32(0))))])]
    : [
        leaves,
        ifElse(eq(read(i), constant(type, 5)), [continueTo(label)]),
        assign(seen, add(read(seen), load(at(x, i32(0))))),
      ];
  return b.build([
    assign(i, start),
    assign(seen, constant(type, 0)),
    loop(label, body, [assign(i, step(read(i)))]),
    ...(writes ? [] : [store(at(out, i32(0)), read(seen))]),
    store(at(out, i32(1)), read(i)),
  ]);
}

/** What the kernel does from `start` to `n`. */
function run(kernel: Kernel, start: number, n: number): string {
  const memory = new Uint8Array(64);
  memory[32] = 7;
  const launch = { grid: [1, 1, 1], block: [1, 1, 1] } as const;
  const sample: Sample = { name: '', kernel, launch, args: [0, 32, start, n, 3], memory };
  return outcome(sample);
}

const STRIDE = 4;
const strided =
  (type: ValueType): Step =>
  (i) =>
    add(i, param(type, STRIDE));
const by =
  (type: ValueType, step: number): Step =>
  (i) =>
    step < 0 ? sub(i, constant(type, -step)) : add(constant(type, step), i);

describe('counted loops', () => {
  it('count their rounds before the first one', () => {
    const kernel = counting('i32', 'ge', strided('i32'), false);
    expect(printKernel(countTrips(kernel)).split('\n').slice(6, 23).join('\n')).toMatchInlineSnapshot(`
      "  i = start
        seen = 0
        if i < n {
          %rounds = select(stride > 0, (u32(n - i) - 1u32) / u32(stride) + 1u32, 4294967295u32)
          loop L0 {
            if i == 5 {
              continue L0
            }
            seen = seen + x[0]
          } update {
            i = i + stride
            %rounds = %rounds - 1u32
            if %rounds == 0u32 {
              break L0
            }
          }
        }"
    `);
  });

  it('do four rounds in one where they write memory', () => {
    const kernel = counting('i32', 'ge', by('i32', 1), true);
    expect(printKernel(countTrips(kernel)).split('\n').slice(8, 40).join('\n')).toMatchInlineSnapshot(`
      "  seen = 0
        if i < n {
          %rounds = u32(n - i) - 1u32 + 1u32
          %many = %rounds >> 2u32
          if %many != 0u32 {
            loop L1 {
              atomic.add out[0], i * x[0]
              atomic.add out[0], (i + 1) * x[0]
              atomic.add out[0], (i + 2) * x[0]
              atomic.add out[0], (i + 3) * x[0]
            } update {
              i = i + 4
              %many = %many - 1u32
              if %many == 0u32 {
                break L1
              }
            }
          }
          %rounds = %rounds & 3u32
          if %rounds != 0u32 {
            loop L0 {
              atomic.add out[0], i * x[0]
            } update {
              i = 1 + i
              %rounds = %rounds - 1u32
              if %rounds == 0u32 {
                break L0
              }
            }
          }
        }
        out[1] = i"
    `);
  });

  it('go round as often as before, up and down, from and to anywhere', () => {
    const ends = [
      ...[
        [0, 10],
        [0, 9],
        [3, 3],
        [4, 3],
        [1, 2],
        [0, 0],
        [30, 7],
        [0, 40],
      ],
      ...[
        [0, 1],
        [0, 3],
        [0, 4],
        [0, 5],
        [1, 26],
        [26, 1],
        [17, 0],
      ],
    ] as const;
    for (const type of ['i32', 'i64', 'u32'] as const) {
      const kernels = [
        counting(type, 'ge', strided(type), false),
        counting(type, 'gt', strided(type), true),
        counting(type, 'ge', by(type, 1), true),
        counting(type, 'gt', by(type, 3), true),
        ...(type === 'u32' ? [] : [counting(type, 'le', by(type, -1), true), counting(type, 'lt', by(type, -3), true)]),
      ];
      for (const kernel of kernels) {
        const done = countTrips(kernel);
        verify(done);
        expect(done).not.toBe(kernel);
        for (const [start, n] of ends) {
          expect(run(done, start, n), `${type} ${start} ${n}`).toBe(run(kernel, start, n));
        }
      }
    }
  });

  it('are left alone when the step changes on the way', () => {
    const moving = counting('i32', 'ge', (i) => add(i, i), true);
    expect(countTrips(moving)).toBe(moving);
  });

  it('are left alone when they end at one value only', () => {
    const kernel = counting('i32', 'eq', by('i32', 1), true);
    expect(countTrips(kernel)).toBe(kernel);
  });

  it('are left to the assembler when it sees the step', () => {
    const kernel = counting('i32', 'ge', by('i32', 1), false);
    expect(countTrips(kernel)).toBe(kernel);
  });

  it('do in random kernels what they did', () => {
    for (let seed = 0; seed < 40; seed++) {
      const sample = randomSample(seed);
      const kernel = countTrips(simplify(sample.kernel));
      verify(kernel);
      expect(outcome(sample, kernel), sample.name).toBe(outcome(sample));
    }
  });
});
