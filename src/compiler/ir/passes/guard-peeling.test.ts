import { describe, expect, test } from 'vitest';
import {
  add,
  and,
  assign,
  at,
  binary,
  cast,
  compare,
  ge,
  i32,
  ifElse,
  KernelBuilder,
  lt,
  mul,
  not,
  read,
  special,
  store,
  sub,
  u32,
} from '../builder.ts';
import { Run, Thread } from '../interpret.ts';
import type { CompareOp, Expr, Stmt } from '../ops.ts';
import { printExpr } from '../print.ts';
import { random } from '../testing.ts';
import { type PeeledGuard, peelGuard } from './guard-peeling.ts';
import { analyseUniformity } from './uniformity.ts';

const [tx, ty, bx] = [special('threadIdx.x'), special('threadIdx.y'), special('blockIdx.x')];
const block = [32, 4, 1] as const;

function peel(
  make: (b: KernelBuilder) => readonly Stmt[],
  uniform?: (b: KernelBuilder) => number,
): { n: PeeledGuard | undefined; show: (e: Expr | undefined) => string } {
  const b = new KernelBuilder('narrow');
  const kernel = b.build(make(b));
  const u = analyseUniformity(kernel, { block, lanes: 4, uniform: new Set(uniform ? [uniform(b)] : []) });
  return { n: peelGuard(kernel.body, u, block[0]), show: (e) => (e ? printExpr(e, kernel) : '-') };
}

describe('forms', () => {
  test('if (!(x >= n || y >= m)): both are tested', () => {
    const { n, show } = peel((b) => {
      const [w, h] = [b.value('i32', 'w'), b.value('i32', 'h')];
      const outside = binary('or', ge(tx, w), ge(ty, h));
      return [ifElse(not(outside), [store(at(b.global('f32', 'x'), tx), cast('f32', ty))])];
    });
    expect([n?.row, n?.hi, n?.bounded].map(show)).toEqual([
      '!(threadIdx.y >= h)',
      'i32(max(min(i64(w), 32i64), 0i64))',
      '!(threadIdx.x >= w)',
    ]);
  });

  test('if (i < n): bounds on threadIdx.x', () => {
    const { n, show } = peel((b) => {
      const i = b.variable('i32', 'i');
      return [
        assign(i, add(mul(bx, i32(32)), tx)),
        ifElse(lt(read(i), b.value('i32', 'n')), [store(at(b.global('f32', 'x'), read(i)), cast('f32', tx))]),
      ];
    });
    expect([n?.row, n?.lo, n?.hi, n?.exact, n?.bounded, n?.rest].map(show)).toMatchInlineSnapshot(`
      [
        "-",
        "0",
        "select(blockIdx.x * 32 <= 2147483616, i32(max(min(i64(n) - i64(blockIdx.x * 32), 32i64), 0i64)), 32)",
        "blockIdx.x * 32 <= 2147483616",
        "i < n",
        "-",
      ]
    `);
  });

  test('a stencil: rows become a test per row, columns become bounds', () => {
    const { n, show } = peel((b) => {
      const [x, y] = [b.variable('i32', 'x'), b.variable('i32', 'y')];
      const w = b.value('i32', 'w');
      const guard = [
        compare('gt', read(x), i32(0)),
        lt(read(x), sub(w, i32(1))),
        compare('gt', read(y), i32(0)),
        not(ge(read(y), w)),
      ];
      return [
        assign(x, tx),
        assign(y, ty),
        ifElse(guard.reduce(and), [store(at(b.global('f32', 'out'), read(x)), cast('f32', ty))]),
      ];
    });
    expect(show(n?.row)).toBe('threadIdx.y > 0 & !(threadIdx.y >= w)');
    expect(show(n?.exact)).toBe('true');
    expect(show(n?.bounded)).toBe('x > 0 & x < w - 1');
    expect(n?.rest).toBeUndefined();
  });

  test('what is neither stays a test for each item', () => {
    const { n, show } = peel((b) => [
      ifElse(and(lt(tx, i32(9)), compare('eq', binary('and', tx, i32(3)), i32(2))), [
        store(at(b.global('i32', 'x'), tx), tx),
      ]),
    ]);
    expect([show(n?.lo), show(n?.hi), show(n?.rest)]).toEqual(['0', '9', '(threadIdx.x & 3) == 2']);
  });

  test('a variable may stand in a bound only if it is kept once for the block', () => {
    let s = 0;
    const make = (b: KernelBuilder): readonly Stmt[] => {
      const v = b.variable('i32', 's');
      s = v.id;
      return [ifElse(lt(tx, read(v)), [store(at(b.global('i32', 'x'), tx), tx)])];
    };
    expect(peel(make).n).toBeUndefined();
    const { n, show } = peel(make, () => s);
    expect(show(n?.hi)).toBe('i32(max(min(i64(s), 32i64), 0i64))');
  });

  test('no guard, an else, effects before it: nothing', () => {
    const out = (b: KernelBuilder): Stmt => store(at(b.global('i32', 'x'), tx), tx);
    expect(peel((b) => [out(b)]).n).toBeUndefined();
    expect(peel((b) => [ifElse(lt(tx, i32(3)), [out(b)], [out(b)])]).n).toBeUndefined();
    expect(peel((b) => [out(b), ifElse(lt(tx, i32(3)), [out(b)])]).n).toBeUndefined();
  });
});

test('bounds admit the items that the guard admits, also where base + lane wraps', () => {
  let [exacts, wraps, cut] = [0, 0, 0];
  const corners = [0, 1, -1, 5, 30, 32, 33, 100, -7, 0x7fffffff, 0x7ffffff0, -0x80000000, -0x7ffffff5];
  for (let seed = 0; seed < 2000; seed++) {
    const rng = random(seed);
    const b = new KernelBuilder('bounds');
    const type = rng.once(3) ? 'u32' : 'i32';
    const [base, limit] = [b.value(type, 'base'), b.value(type, 'limit')];
    const lane = cast(type, tx);
    const step = rng.pick([2, 3, 8, 100]);
    const times = (e: Expr): Expr => mul(e, type === 'u32' ? u32(step) : i32(step));
    const value = rng.pick([
      times(lane),
      add(times(lane), base),
      sub(times(lane), base),
      add(base, times(add(lane, base))),
      lane,
      add(lane, base),
      add(base, add(lane, type === 'u32' ? u32(7) : i32(7))),
      sub(lane, base),
    ]);
    const fn = rng.pick<CompareOp>(['lt', 'le', 'gt', 'ge', 'eq']);
    const part = rng.once(2) ? compare(fn, value, limit) : compare(fn, limit, value);
    const other = compare(rng.pick<CompareOp>(['lt', 'ge']), tx, i32(rng.pick([0, 3, 31, 40])));
    const guard = rng.once(2) ? part : and(part, other);
    const kernel = b.build([ifElse(guard, [store(at(b.global('i32', 'x'), tx), tx)])]);
    const n = peelGuard(kernel.body, analyseUniformity(kernel, { block, lanes: 4 }), block[0]);
    expect(n).toBeDefined();
    if (!n) continue;
    const args = [rng.pick(corners), rng.pick(corners), 0];
    const run = new Run(kernel, { grid: [1, 1, 1], block }, args, new Uint8Array(0), {});
    const item = (x: number): Thread => new Thread(run, new Map(), new Map(), [x, 0, 0], [0, 0, 0], x, 0);
    const [lo, hi, exact] = [n.lo, n.hi, n.exact].map((e) => item(5).value(e));
    for (let x = 0; x < block[0]; x++) {
      const inside = x >= Number(lo) && x < Number(hi);
      const tests = [exact ? undefined : n.bounded, n.rest].every((e) => e === undefined || item(x).value(e) === true);
      if ((inside && tests) !== item(x).value(guard))
        expect.fail(`${seed} x=${x} lo=${lo} hi=${hi} exact=${exact} ${args}`);
    }
    expect(Number(lo)).toBeGreaterThanOrEqual(0);
    expect(Number(hi)).toBeLessThanOrEqual(block[0]);
    if (exact) exacts++;
    else wraps++;
    if (exact && (Number(lo) > 0 || Number(hi) < block[0])) cut++;
  }
  expect(Math.min(exacts, wraps, cut)).toBeGreaterThan(50);
});
