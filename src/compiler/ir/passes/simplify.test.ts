import { describe, expect, test } from 'vitest';
import { randomCases } from '../../../required.testing.ts';
import {
  add,
  assign,
  at,
  atomic,
  barrier,
  binary,
  bitcast,
  block,
  bool,
  breakTo,
  cast,
  compare,
  f32,
  i32,
  i64,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  neg,
  not,
  print,
  read,
  ret,
  select,
  special,
  store,
  sub,
  u32,
  unary,
} from '../builder.ts';
import type { Expr, Kernel, MemRef, Stmt } from '../ops.ts';
import { printExpr, printStmt } from '../print.ts';
import { outcome, random, randomExpr, randomSample, VALUE_TYPES } from '../testing.ts';
import { foldExpr } from './fold.ts';
import { simplify } from './simplify.ts';

const tid = special('threadIdx.x');
const b = new KernelBuilder('fold');
const x = b.value('i32', 'x');
const u = b.value('u32', 'u');
const f = b.value('f32', 'f');
const i = b.variable('i32', 'i');
const kernel = b.build([]);
const folded = (e: Expr): string => printExpr(foldExpr(e), kernel);

describe('expressions', () => {
  test('choosing a number or its negative by its sign is its size', () => {
    const [below, from] = [lt(x, i32(0)), compare('ge', x, i32(0))];
    const size = folded(unary('abs', x));
    for (const e of [select(below, neg(x), x), select(from, x, neg(x)), select(compare('le', x, i32(0)), neg(x), x)])
      expect(folded(e)).toBe(size);
    const y = bitcast('i32', u);
    for (const e of [
      select(below, x, neg(x)),
      select(lt(x, i32(1)), neg(x), x),
      select(below, neg(y), y),
      select(lt(f, f32(0)), neg(f), f),
    ])
      expect(folded(e)).toContain('select');
  });

  test('constants wrap, saturate and round as machines do', () => {
    expect(folded(add(i32(0x7fffffff), i32(1)))).toBe('-2147483648');
    expect(folded(binary('div', i32(7), i32(0)))).toBe('0');
    expect(folded(cast('u8', f32(300)))).toBe('255');
    expect(folded(add(f32(16777216), f32(1)))).toBe('16777216f32');
    expect(folded(bitcast('i32', f32(1)))).toBe('1065353216');
  });

  test('an integer of 32 bits comes out of f64 as it went in', () => {
    const through = (to: 'i32' | 'u32' | 'u8', e: Expr): Expr => cast(to, cast('f64', e));
    expect(folded(through('i32', read(i)))).toBe('i');
    expect(folded(through('u32', u))).toBe('u');
    // These saturate, and f32 rounds.
    expect(folded(through('i32', u))).toContain('f64');
    expect(folded(through('u8', read(i)))).toContain('f64');
    expect(folded(cast('i32', cast('f32', read(i))))).toContain('f32');
  });

  test('integer identities', () => {
    expect(folded(add(i32(0), x))).toBe('x');
    expect(folded(mul(x, i32(0)))).toBe('0');
    expect(folded(sub(x, x))).toBe('0');
    expect(folded(add(add(x, i32(2)), i32(3)))).toBe('x + 5');
    expect(folded(binary('div', tid, i32(16)))).toBe('threadIdx.x >> 4');
    expect(folded(binary('rem', tid, i32(16)))).toBe('threadIdx.x & 15');
    expect(folded(binary('div', x, i32(16)))).toBe('x / 16');
    expect(folded(binary('floordiv', x, i32(16)))).toBe('x >> 4');
    expect(folded(binary('div', u, u32(8)))).toBe('u >> 3u32');
    expect(folded(cast('i32', cast('i64', x)))).toBe('x');
  });

  test('divisibility is seen from the low bits, and quotients of multiples are shifts', () => {
    const even = compare('eq', binary('rem', x, i32(2)), i32(0));
    expect(folded(even)).toBe('(x & 1) == 0');
    expect(folded(compare('ne', binary('rem', u, u32(8)), u32(0)))).toBe('(u & 7u32) != 0u32');
    expect(folded(compare('eq', binary('rem', x, i32(2)), i32(1)))).toBe('x % 2 == 1');
    expect(folded(compare('eq', binary('rem', f, f32(2)), f32(0)))).toBe('f % 2f32 == 0f32');
    const half = binary('div', x, i32(2));
    expect(folded(select(even, half, add(half, i32(1))))).toBe('select((x & 1) == 0, x >> 1, x / 2 + 1)');
    expect(folded(select(not(even), half, mul(i32(3), half)))).toBe('select((x & 1) != 0, x / 2, (x >> 1) * 3)');
    expect(folded(select(even, binary('div', x, i32(4)), binary('rem', x, i32(2))))).toBe(
      'select((x & 1) == 0, x / 4, x % 2)',
    );
    const four = compare('eq', binary('rem', x, i32(4)), i32(0));
    expect(folded(select(four, add(half, binary('rem', x, i32(2))), x))).toBe('select((x & 3) == 0, (x >> 1) + 0, x)');
  });

  test('float identities hold for NaN and both zeros, or are not used', () => {
    expect(folded(add(f, f32(0)))).toBe('f + 0f32');
    expect(folded(sub(f, f32(0)))).toBe('f');
    expect(folded(mul(f, f32(0)))).toBe('f * 0f32');
    expect(folded(binary('div', f, f32(4)))).toBe('f * 0.25f32');
    expect(folded(binary('div', f, f32(3)))).toBe('f / 3f32');
    expect(folded(neg(neg(f)))).toBe('f');
    expect(folded(compare('eq', f, f))).toBe('f == f');
    expect(folded(not(lt(f, f32(1))))).toBe('!(f < 1f32)');
    expect(folded(not(lt(x, i32(1))))).toBe('x >= 1');
  });

  test('elements of constant arrays at known places', () => {
    const k = new KernelBuilder('k');
    const table = k.constants('i16', 'table', new Uint8Array(Int16Array.of(7, -9, 300).buffer));
    const nan = k.constants('f32', 'nan', new Uint8Array(Float32Array.of(Number.NaN, -0).buffer));
    const inside = (index: Expr): MemRef => at(table, index, { checks: [{ index, extent: i32(3), axis: 0 }] });
    const shown = (e: Expr): string => printExpr(foldExpr(e), k.build([]));
    expect(shown(load(at(table, i32(1))))).toBe('-9');
    expect(shown(load(inside(add(i32(1), i32(1)))))).toBe('300');
    expect(shown(load(at(nan, i32(1))))).toBe('-0f32');
    expect(shown(load(at(nan, i32(0))))).toBe('nan[0]');
    for (const wrong of [-1, 3]) {
      expect(shown(load(inside(i32(wrong))))).toContain(`table[${wrong} where`);
      expect(shown(load(at(table, i32(wrong))))).toBe(`table[${wrong}]`);
    }
  });

  test('what may fail is kept', () => {
    const out = new KernelBuilder('k').global('i32', 'out');
    expect(folded(mul(load(at(out, x)), i32(0)))).toBe('out[x] * 0');
    expect(folded(select(bool(true), x, load(at(out, x))))).toBe('select(true, x, out[x])');
    expect(folded({ op: 'cast', type: 'i32', to: 'i32', a: i64(1n << 40n), checked: true })).toBe(
      'i32!(1099511627776i64)',
    );
  });
});

describe('statements', () => {
  function simplified(make: (k: KernelBuilder) => readonly Stmt[], block?: readonly [number, number, number]): string {
    const k = new KernelBuilder('statements');
    const result = simplify(k.build(make(k)), { block });
    return result.body.map((s) => printStmt(s, result)).join('\n');
  }

  test('copies and constants are put in place, and their assignments go', () => {
    expect(
      simplified((k) => {
        const out = k.global('i32', 'out');
        const [a, c, d] = [k.variable('i32', 'a'), k.variable('i32', 'c'), k.variable('i32', 'd')];
        return [assign(a, tid), assign(c, read(a)), assign(d, i32(2)), store(at(out, read(c)), mul(read(d), i32(3)))];
      }),
    ).toBe('out[threadIdx.x] = 6');
  });

  test('quotients of multiples are shifts until the value is assigned', () => {
    const text = simplified((k) => {
      const [out, a] = [k.global('i32', 'out'), k.variable('i32', 'a')];
      const half = (): Expr => binary('div', read(a), i32(2));
      return [
        assign(a, load(at(out, tid))),
        ifElse(compare('eq', binary('rem', read(a), i32(2)), i32(0)), [
          store(at(out, i32(0)), half()),
          assign(a, half()),
          store(at(out, i32(1)), half()),
        ]),
        store(at(out, i32(2)), half()),
      ];
    });
    expect(text.match(/a (>> 1|\/ 2)/g)).toEqual(['a >> 1', 'a >> 1', 'a / 2', 'a / 2']);
  });

  test('not past another assignment, nor around a loop', () => {
    expect(
      simplified((k) => {
        const out = k.global('i32', 'out');
        const [a, c] = [k.variable('i32', 'a'), k.variable('i32', 'c')];
        return [
          assign(a, i32(0)),
          loop(0, [
            assign(c, read(a)),
            assign(a, add(read(a), i32(1))),
            store(at(out, read(c)), read(a)),
            ifElse(lt(i32(9), read(a)), [breakTo(0)]),
          ]),
        ];
      }),
    ).toMatchInlineSnapshot(`
      "a = 0
      loop L0 {
        c = a
        a = a + 1
        out[c] = a
        if 9 < a {
          break L0
        }
      }"
    `);
  });

  test('branches on constants, and the block shape where it is known', () => {
    expect(
      simplified(
        (k) => {
          const out = k.global('i32', 'out');
          return [
            ifElse(lt(i32(64), special('blockDim.x')), [store(at(out, tid), special('threadIdx.y'))], [ret()]),
            store(at(out, i32(0)), i32(1)),
          ];
        },
        [128, 1, 1],
      ),
    ).toBe('out[threadIdx.x] = 0\nout[0] = 1');
  });

  test('an inlined function with early returns needs no block', () => {
    expect(
      simplified((k) => {
        const out = k.global('i32', 'out');
        const r = k.variable('i32', 'r');
        return [
          block(
            0,
            [ifElse(lt(tid, i32(3)), [assign(r, i32(-1)), breakTo(0)]), assign(r, mul(tid, tid)), breakTo(0)],
            'clip',
          ),
          store(at(out, tid), read(r)),
        ];
      }),
    ).toMatchInlineSnapshot(`
      "if threadIdx.x < 3 {
        r = -1
      } else {
        r = threadIdx.x * threadIdx.x
      }
      out[threadIdx.x] = r"
    `);
  });

  test('effects stay: atomics without their result, prints, barriers, checks that may fail', () => {
    const make = (k: KernelBuilder): readonly Stmt[] => {
      const out = k.global('i32', 'out');
      const a = k.variable('i32', 'a');
      return [
        atomic('add', at(out, i32(0)), [i32(1)], a),
        assign(a, load(at(out, tid, { checks: [{ index: tid, extent: i32(4), axis: 0 }] }))),
        barrier(),
        print(['here']),
        ifElse(lt(tid, i32(1)), []),
      ];
    };
    expect(simplified(make)).toBe('atomic.add out[0], 1\nbarrier\nprint "here"');
    const k = new KernelBuilder('checked');
    expect(simplify(k.build(make(k), { checked: true })).body).toHaveLength(4);
  });
});

/** Statements that store the bits of expressions of every type; NaNs all count as one. */
function storing(exprs: readonly Expr[], out: Parameters<typeof at>[0]): Stmt[] {
  return exprs.map((e, i) => {
    const long = e.type === 'i64' || e.type === 'u64' ? cast('i64', e) : undefined;
    if (long) return store({ ...at(out, i32(0)), elem: 'i64', disp: 8 * i }, long);
    const bits =
      e.type === 'f64'
        ? select(unary('isNaN', e), i64(-1), bitcast('i64', e))
        : e.type === 'f32'
          ? cast('i64', select(unary('isNaN', e), i32(-1), bitcast('i32', e)))
          : cast('i64', e);
    return store({ ...at(out, i32(0)), elem: 'i64', disp: 8 * i }, bits);
  });
}

test('random expressions of every operation keep their value, bit for bit', () => {
  const cases = randomCases(600);
  for (let seed = 0; seed < cases; seed++) {
    const rng = random(seed);
    const k = new KernelBuilder('random');
    const out = k.global('i32', 'out');
    const leaves = VALUE_TYPES.flatMap((t) => [k.value(t, `${t}1`), k.value(t, `${t}2`)]);
    const leaf = (type: string): Expr | undefined =>
      rng.once(2) ? undefined : rng.pick(leaves.filter((e) => e.type === type));
    const exprs = VALUE_TYPES.map((t) => randomExpr(rng, t, 4, leaf));
    // The stores look at each expression twice and mask NaNs, which must not be folded before: hence variables.
    const vars = exprs.map((e) => k.variable(e.type));
    const before = k.build([
      ...vars.map((v, i) => assign(v, exprs[i] ?? bool(false))),
      ...storing(vars.map(read), out),
    ]);
    const after: Kernel = simplify(before);
    const args = [0, ...VALUE_TYPES.flatMap((t) => [argument(rng, t), argument(rng, t)])];
    const sample = {
      name: '',
      kernel: before,
      launch: { grid: [1, 1, 1], block: [1, 1, 1] },
      args,
      memory: new Uint8Array(56),
    } as const;
    if (outcome(sample, after) !== outcome(sample)) {
      expect.fail(
        `${seed}\n${before.body.map((s) => printStmt(s, before)).join('\n')}\nbecame\n${after.body.map((s) => printStmt(s, after)).join('\n')}`,
      );
    }
  }
});

function argument(rng: ReturnType<typeof random>, type: (typeof VALUE_TYPES)[number]): number | bigint | boolean {
  const e = randomExpr(rng, type, 0, () => undefined);
  return e.op === 'const' ? e.value : 0;
}

test('random kernels do the same afterwards', () => {
  let [before, after] = [0, 0];
  const cases = randomCases(300);
  for (let seed = 0; seed < cases; seed++) {
    const sample = randomSample(seed);
    const result = simplify(sample.kernel, { block: sample.launch.block });
    if (outcome(sample, result) !== outcome(sample)) {
      expect.fail(
        `${sample.name}\n${sample.kernel.body.map((s) => printStmt(s, sample.kernel)).join('\n')}\nbecame\n${result.body.map((s) => printStmt(s, result)).join('\n')}`,
      );
    }
    before += sample.kernel.body.map((s) => printStmt(s)).join().length;
    after += result.body.map((s) => printStmt(s)).join().length;
  }
  expect(after).toBeLessThan(before * 0.95);
});
