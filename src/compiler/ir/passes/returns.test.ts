import { describe, expect, test } from 'vitest';
import { randomCases } from '../../../required.testing.ts';
import {
  add,
  assign,
  at,
  barrier,
  block,
  breakTo,
  continueTo,
  eq,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  read,
  ret,
  special,
  store,
  vote,
} from '../builder.ts';
import type { Kernel, Stmt } from '../ops.ts';
import { printStmt } from '../print.ts';
import { outcome, randomSample } from '../testing.ts';
import { lowerReturns } from './returns.ts';
import { hasReturn } from './walk.ts';

const tid = special('threadIdx.x');

function lowered(make: (b: KernelBuilder) => readonly Stmt[]): string {
  const b = new KernelBuilder('returns');
  return text(lowerReturns(b.build(make(b))).kernel);
}

function text(kernel: Kernel): string {
  return `\n${kernel.body.map((s) => printStmt(s, kernel)).join('\n')}\n`;
}

describe('without barriers', () => {
  test('a guard becomes an if around the rest', () => {
    expect(
      lowered((b) => {
        const out = b.global('i32', 'out');
        return [
          ifElse(lt(tid, i32(3)), [ret()]),
          ifElse(eq(tid, i32(5)), [store(at(out, tid), i32(1)), ret()]),
          store(at(out, tid), tid),
          ret(),
        ];
      }),
    ).toMatchInlineSnapshot(`
      "
      if threadIdx.x >= 3 {
        if threadIdx.x == 5 {
          out[threadIdx.x] = 1
        } else {
          out[threadIdx.x] = threadIdx.x
        }
      }
      "
    `);
  });

  test('a return in a last loop leaves it; elsewhere it leaves a block around everything', () => {
    expect(
      lowered((b) => {
        const out = b.global('i32', 'out');
        return [
          loop(b.label(), [ifElse(lt(tid, i32(3)), [ret()])]),
          store(at(out, tid), tid),
          loop(b.label(), [ifElse(lt(tid, i32(4)), [ret()])]),
        ];
      }),
    ).toMatchInlineSnapshot(`
      "
      block L2 {
        loop L0 {
          if threadIdx.x < 3 {
            break L2
          }
        }
        out[threadIdx.x] = threadIdx.x
        loop L1 {
          if threadIdx.x < 4 {
            break L1
          }
        }
      }
      "
    `);
  });
});

describe('with barriers', () => {
  test('the live flag guards what follows, and nobody misses a barrier', () => {
    expect(
      lowered((b) => {
        const out = b.global('i32', 'out');
        const [i, k, many] = [b.variable('i32', 'i'), b.variable('i32', 'k'), b.variable('i32', 'many')];
        const l = b.label();
        return [
          assign(i, add(tid, i32(1))),
          ifElse(lt(read(i), i32(3)), [ret()]),
          assign(k, i32(0)),
          loop(
            l,
            [
              ifElse(lt(read(k), load(at(b.global('i32', 'n'), i32(0)))), [], [breakTo(l)]),
              store(at(out, tid), read(k)),
              vote('count', lt(tid, i32(9)), many),
            ],
            [assign(k, add(read(k), i32(1)))],
          ),
          store(at(out, tid), read(many)),
        ];
      }),
    ).toMatchInlineSnapshot(`
      "
      %live = true
      i = threadIdx.x + 1
      if i < 3 {
        %live = false
      }
      k = 0
      loop L0 {
        %pred.4 = false
        if %live {
          %pred.4 = k < n[0]
        }
        %said = barrier.or %live & %pred.4
        if %said != 0 {
        } else {
          break L0
        }
        if %live {
          out[threadIdx.x] = k
        }
        %pred.6 = false
        if %live {
          %pred.6 = threadIdx.x < 9
        }
        many = barrier.count %live & %pred.6
      } update {
        k = k + 1
      }
      if %live {
        out[threadIdx.x] = many
      }
      "
    `);
  });

  test('a continue that only some threads take past the last barrier has a flag of its own', () => {
    expect(
      lowered((b) => {
        const out = b.global('i32', 'out');
        const l = b.label();
        const g = special('blockIdx.x');
        return [
          loop(
            l,
            [barrier(), ifElse(lt(tid, i32(3)), [continueTo(l)]), store(at(out, tid), tid)],
            [ifElse(eq(g, i32(1)), [breakTo(l)])],
          ),
        ];
      }),
    ).toMatchInlineSnapshot(`
      "
      loop L0 {
        %jumped = false
        barrier
        if threadIdx.x < 3 {
          %jumped = true
        }
        if !%jumped {
          out[threadIdx.x] = threadIdx.x
        }
      } update {
        %jumped = false
        if blockIdx.x == 1 {
          break L0
        }
      }
      "
    `);
  });

  test('all threads may leave a loop with barriers from within one without', () => {
    expect(
      lowered((b) => {
        const [outer, inner] = [b.label(), b.label()];
        const g = special('blockIdx.x');
        return [
          loop(outer, [barrier(), loop(inner, [ifElse(eq(g, i32(1)), [breakTo(outer)])])]),
          block(b.label(), [barrier()]),
        ];
      }),
    ).toMatchInlineSnapshot(`
      "
      %jumped = false
      loop L0 {
        barrier
        loop L1 {
          if blockIdx.x == 1 {
            %jumped = true
            break L1
          }
        }
        if %jumped {
          break L0
        }
      }
      %jumped = false
      barrier
      "
    `);
  });
});

test('a thread that returned learns how often the others go round', () => {
  const b = new KernelBuilder('told');
  const out = b.global('i32', 'out');
  const [k, c, many] = [b.variable('i32', 'k'), b.variable('i32', 'c'), b.variable('i32', 'many')];
  const l = b.label();
  const kernel = b.build([
    ifElse(lt(tid, i32(1)), [ret()], [assign(k, i32(2))]),
    loop(
      l,
      [ifElse(lt(read(c), read(k)), [], [breakTo(l)]), vote('count', lt(tid, i32(9)), many)],
      [assign(c, add(read(c), i32(1)))],
    ),
    barrier(),
    store(at(out, tid), add(read(many), read(c))),
  ]);
  const launch = { grid: [1, 1, 1], block: [4, 1, 1] } as const;
  const sample = { name: '', kernel, launch, args: [0], memory: new Uint8Array(16) };
  expect(outcome(sample)).toBe('[] 00000000050000000500000005000000');
  expect(outcome(sample, lowerReturns(kernel).kernel)).toBe(outcome(sample));
});

test('random kernels do the same afterwards', () => {
  let withReturns = 0;
  let withLive = 0;
  const cases = randomCases(500);
  for (let seed = 0; seed < cases; seed++) {
    const sample = randomSample(seed, { barriers: seed % 4 > 0, returns: true });
    const result = lowerReturns(sample.kernel);
    if (hasReturn(sample.kernel.body)) withReturns++;
    if (result.live) withLive++;
    expect(hasReturn(result.kernel.body)).toBe(false);
    const before = outcome(sample);
    const after = outcome(sample, result.kernel);
    if (after !== before) expect.fail(`${sample.name}:${text(sample.kernel)}\nbecame${text(result.kernel)}`);
  }
  expect(withReturns).toBeGreaterThan(0.12 * cases);
  expect(withLive).toBeGreaterThan(0.06 * cases);
});

describe('loops with barriers, when all threads have returned', () => {
  test('end by a jump that the threads of the block agree on, which nobody is left to deny', () => {
    const text = lowered((b) => {
      const [a, x] = [b.global('i32', 'a'), b.global('i32', 'x')];
      const k = b.variable('i32', 'k');
      const l = b.label();
      return [
        ifElse(lt(tid, i32(3)), [ret()]),
        assign(k, i32(0)),
        loop(l, [ifElse(eq(load(at(x, read(k))), i32(5)), [breakTo(l)]), barrier(), assign(k, add(read(k), i32(1)))]),
        store(at(a, tid), i32(1)),
      ];
    });
    expect(text).toContain('barrier.and');
    expect(text).not.toContain('barrier.or');
  });

  test('end by a vote, where threads leave only one by one', () => {
    const text = lowered((b) => {
      const a = b.global('i32', 'a');
      const l = b.label();
      return [loop(l, [barrier(), ifElse(lt(load(at(a, tid)), i32(3)), [ret()]), store(at(a, tid), i32(1))])];
    });
    expect(text).toContain('barrier.or');
  });
});
