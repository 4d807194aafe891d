/**
 * Checks that need not be made: which are found, and that none is that can fail.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { interpret } from '../../ir/interpret.ts';
import type { Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { runWasm } from './launch.testing.ts';
import { Random } from './programs.testing.ts';
import { eliminatedChecks } from './ranges.ts';

const { add, mul, special, i32, read } = ir;

/** How many of the checks of a kernel over `s[256]` and `x[n]` are proven. */
function eliminated(make: (b: ir.KernelBuilder, s: (index: Expr) => Expr, x: (index: Expr) => Expr) => Stmt[]): number {
  const b = new ir.KernelBuilder('ranges');
  const shared = b.shared('i32', 's', 256);
  const global = b.global('u8', 'x');
  const n = b.value('i32', 'n');
  const s = (index: Expr): Expr => ir.load(ir.at(shared, index, { checks: [{ index, extent: i32(256), axis: 0 }] }));
  const x = (index: Expr): Expr => ir.load(ir.at(global, index, { checks: [{ index, extent: n, axis: 0 }] }));
  return eliminatedChecks(b.build(make(b, s, x), { checked: true }), [16, 16, 1]).size;
}

/** `for (k = from; k < to; k += step) body(k)`. */
function counting(b: ir.KernelBuilder, from: Expr, to: Expr, step: number, body: (k: Expr) => Stmt[]): Stmt[] {
  const k = b.variable('i32', 'k');
  const label = b.label();
  const next = ir.assign(k, add(read(k), i32(step)));
  return [
    ir.assign(k, from),
    ir.loop(label, [ir.ifElse(ir.ge(read(k), to), [ir.breakTo(label)]), ...body(read(k))], [next]),
  ];
}

/** `for (half = from; half > 0; half = next(half)) if (t < half) body(t, half)`, or as `compare` says, for a t below 256. */
function halving(
  b: ir.KernelBuilder,
  from: Expr,
  next: (half: Expr) => Expr,
  compare: (t: Expr, half: Expr) => Expr,
  body: (t: Expr, half: Expr) => Stmt[],
): Stmt[] {
  const [t, half, label] = [b.variable('i32', 't'), b.variable('i32', 'half'), b.label()];
  const exit = ir.ifElse(ir.compare('le', read(half), i32(0)), [ir.breakTo(label)]);
  return [
    ir.assign(t, add(mul(special('threadIdx.y'), i32(16)), special('threadIdx.x'))),
    ir.assign(half, from),
    ir.loop(
      label,
      [exit, ir.ifElse(compare(read(t), read(half)), body(read(t), read(half)))],
      [ir.assign(half, next(read(half)))],
    ),
  ];
}

const half = (x: Expr): Expr => ir.binary('shr', x, i32(1));

/** `for (k = 0; k + over < 256; k += 16) body(k)`, tested in 64 bits. */
function fullRounds(b: ir.KernelBuilder, over: number, body: (k: Expr) => Stmt[]): Stmt[] {
  const [k, label] = [b.variable('i32', 'k'), b.label()];
  const last = add(ir.cast('i64', read(k)), ir.i64(over));
  return [
    ir.assign(k, i32(0)),
    ir.loop(
      label,
      [ir.ifElse(ir.ge(last, ir.i64(256)), [ir.breakTo(label)]), ...body(read(k))],
      [ir.assign(k, add(read(k), i32(16)))],
    ),
  ];
}

/** `for (k = from; k <= to; k = next(k)) body(k)`. */
function growing(
  b: ir.KernelBuilder,
  from: number,
  to: number,
  next: (k: Expr) => Expr,
  body: (k: Expr) => Stmt[],
): Stmt[] {
  const [k, label] = [b.variable('i32', 'k'), b.label()];
  const exit = ir.ifElse(ir.compare('gt', read(k), i32(to)), [ir.breakTo(label)]);
  return [ir.assign(k, i32(from)), ir.loop(label, [exit, ...body(read(k))], [ir.assign(k, next(read(k)))])];
}

const twice = (x: Expr): Expr => ir.binary('shl', x, i32(1));
const thrice = (x: Expr): Expr => mul(x, i32(3));

/** The exchanges of a bitonic sort: `for (j = k >> 1; j > 0; j >>= 1) body(t ^ j)`. */
function exchanges(b: ir.KernelBuilder, k: Expr, next: (j: Expr) => Expr, body: (other: Expr) => Stmt[]): Stmt[] {
  return halving(b, half(k), next, ir.lt, (t, j) => {
    const other = b.variable('i32', 'other');
    return [ir.assign(other, ir.binary('xor', t, j)), ...body(read(other))];
  });
}

const use = (b: ir.KernelBuilder, value: Expr): Stmt => ir.assign(b.variable('i32', 'v'), value);

/** `if (cond) … s[t - k] …` in the rounds of a scan. */
function earlier(
  b: ir.KernelBuilder,
  s: Parameters<Parameters<typeof eliminated>[0]>[1],
  cond: (t: Expr, k: Expr) => Expr,
): Stmt[] {
  const t = special('threadIdx.x');
  return counting(b, i32(1), i32(256), 1, (k) => [ir.ifElse(cond(t, k), [use(b, s(ir.sub(t, k)))])]);
}

describe('proven', () => {
  it.each<[string, Parameters<typeof eliminated>[0]]>([
    ['what lies before', (b, s) => earlier(b, s, ir.ge)],
    ['what lies before, turned round', (b, s) => earlier(b, s, (t, k) => ir.compare('lt', ir.sub(k, i32(1)), t))],
    ['thread indices', (b, s) => [use(b, s(add(mul(special('threadIdx.y'), i32(16)), special('threadIdx.x'))))]],
    [
      'all but the low bits',
      (b, s) => [use(b, s(add(mul(ir.and(special('threadIdx.x'), i32(-4)), i32(16)), i32(63))))],
    ],
    ['masks and remainders', (b, s) => [use(b, s(ir.and(special('blockIdx.x'), i32(255))))]],
    ['bytes', (b, s, x) => [use(b, s(ir.load({ ...(x(i32(0)) as Expr & { op: 'load' }).mem, checks: [] })))]],
    ['a counter', (b, s) => counting(b, i32(0), i32(256), 1, (k) => [use(b, s(k))])],
    ['a counter in steps', (b, s) => counting(b, special('threadIdx.x'), i32(256), 16, (k) => [use(b, s(k))])],
    [
      'a row of a tile',
      (b, s) => counting(b, i32(0), i32(16), 1, (k) => [use(b, s(add(mul(k, i32(16)), special('threadIdx.x'))))]),
    ],
    ['a tree', (b, s) => halving(b, i32(128), half, ir.lt, (t, h) => [use(b, s(add(t, h)))])],
    [
      'a tree by division',
      (b, s) =>
        halving(
          b,
          i32(128),
          (h) => ir.binary('div', h, i32(2)),
          ir.lt,
          (t, h) => [use(b, s(add(t, h)))],
        ),
    ],
    ['what is doubled up to a bound', (b, s) => growing(b, 1, 255, twice, (k) => [use(b, s(k))])],
    ['what is multiplied up to a bound', (b, s) => growing(b, 2, 255, thrice, (k) => [use(b, s(k))])],
    [
      'exchanges at distances that are halved, from ones that are doubled',
      (b, s) => growing(b, 2, 256, twice, (k) => exchanges(b, k, half, (other) => [use(b, s(other))])),
    ],
    ['full rounds', (b, s) => fullRounds(b, 15, (k) => [use(b, s(add(k, special('threadIdx.x'))))])],
    [
      'a thread index that a condition bounds',
      (b, s) => [ir.ifElse(ir.ge(special('threadIdx.x'), i32(1)), [use(b, s(ir.sub(special('threadIdx.x'), i32(1))))])],
    ],
  ])('%s', (_, make) => expect(eliminated(make)).toBe(1));
});

describe('not proven', () => {
  it.each<[string, Parameters<typeof eliminated>[0]]>([
    ['what lies before, one too many', (b, s) => earlier(b, s, (t, k) => ir.ge(add(t, i32(1)), k))],
    ['what lies behind', (b, s) => earlier(b, s, (t, k) => ir.ge(k, t))],
    [
      'one too far',
      (b, s) => [use(b, s(add(mul(special('threadIdx.y'), i32(16)), add(special('threadIdx.x'), i32(1)))))],
    ],
    [
      'one too far without the low bits',
      (b, s) => [use(b, s(add(mul(ir.and(special('threadIdx.x'), i32(-4)), i32(16)), i32(64))))],
    ],
    ['negative', (b, s) => [use(b, s(ir.sub(special('threadIdx.x'), i32(1))))]],
    ['block indices', (b, s) => [use(b, s(special('blockIdx.x')))]],
    ['an extent that is not known', (b, _, x) => [use(b, x(i32(0)))]],
    ['what is doubled beyond a bound', (b, s) => growing(b, 1, 256, twice, (k) => [use(b, s(k))])],
    [
      'what was doubled, after its loop',
      (b, s) => {
        let counter = i32(0);
        const loop = growing(b, 1, 255, twice, (k) => {
          counter = k;
          return [];
        });
        return [...loop, use(b, s(counter))];
      },
    ],
    ['what is doubled from below zero', (b, s) => growing(b, -1, 255, twice, (k) => [use(b, s(k))])],
    [
      'what may wrap when it is doubled',
      (b, s) => growing(b, 1, 2 ** 30, twice, (k) => [use(b, s(ir.and(k, i32(-256))))]),
    ],
    [
      'exchanges at distances that are one step too far',
      (b, s) => growing(b, 2, 512, twice, (k) => exchanges(b, k, half, (other) => [use(b, s(other))])),
    ],
    [
      'exchanges at distances that are not only halved',
      (b, s) =>
        growing(b, 2, 256, twice, (k) =>
          exchanges(
            b,
            k,
            (j) => ir.sub(half(j), i32(1)),
            (other) => [use(b, s(other))],
          ),
        ),
    ],
    ['what may wrap', (b, s) => [use(b, s(ir.and(mul(add(special('threadIdx.x'), i32(2 ** 30)), i32(4)), i32(-1))))]],
    ['a counter past its loop', (b, s) => counting(b, i32(0), i32(257), 1, (k) => [use(b, s(k))])],
    [
      'a counter after its loop',
      (b, s) => {
        let counter = i32(0);
        const loop = counting(b, i32(0), i32(256), 1, (k) => {
          counter = k;
          return [];
        });
        return [...loop, use(b, s(counter))];
      },
    ],
    [
      'a counter that the body changes',
      (b, s) => {
        const k = b.variable('i32', 'k');
        const label = b.label();
        const body = [
          ir.ifElse(ir.ge(read(k), i32(256)), [ir.breakTo(label)]),
          ir.assign(k, i32(300)),
          use(b, s(read(k))),
        ];
        return [ir.loop(label, body, [ir.assign(k, add(read(k), i32(1)))])];
      },
    ],
    [
      'a tree with one too many',
      (b, s) =>
        halving(
          b,
          i32(128),
          half,
          (t, h) => ir.compare('le', t, h),
          (t, h) => [use(b, s(add(t, h)))],
        ),
    ],
    ['a tree that is too tall', (b, s) => halving(b, i32(129), half, ir.lt, (t, h) => [use(b, s(add(t, h)))])],
    [
      'a tree upside down',
      (b, s) =>
        halving(
          b,
          i32(1),
          (h) => ir.binary('shl', h, i32(1)),
          ir.lt,
          (t, h) => [use(b, s(add(t, h)))],
        ),
    ],
    [
      'a tree of unknown height',
      (b, s) => halving(b, b.value('i32', 'from'), half, ir.lt, (t, h) => [use(b, s(add(t, h)))]),
    ],
    ['rounds that are not quite full', (b, s) => fullRounds(b, 14, (k) => [use(b, s(add(k, special('threadIdx.x'))))])],
    [
      'a value that changes after it was compared',
      (b, s) =>
        halving(b, i32(128), half, ir.lt, (t, h) => [
          ir.assign((h as Expr & { op: 'var' }).var, i32(200)),
          use(b, s(add(t, h))),
        ]),
    ],
    ['a counter downwards', (b, s) => counting(b, i32(0), i32(256), -1, (k) => [use(b, s(k))])],
  ])('%s', (_, make) => expect(eliminated(make)).toBe(0));
});

/** How many of the checks of `x[index]` and `y[index]` with extents `n` and `m` are proven, in 32-bit code or in 64-bit code. */
function related(
  make: (p: { b: ir.KernelBuilder; n: Expr; m: Expr; x: (index: Expr) => Stmt; y: (index: Expr) => Stmt }) => Stmt[],
  indexBits: 32 | 64 = 32,
): number {
  const b = new ir.KernelBuilder('relations');
  const extent = (name: string): Expr => {
    const index = b.params.length;
    b.params.push({ index, name, type: 'i32', origin: { kind: 'extent', path: [index], axis: 0 } });
    return ir.param('i32', index);
  };
  const array = (name: string, n: Expr): ((index: Expr) => Stmt) => {
    const a = b.global('i32', name);
    return (index) => ir.store(ir.at(a, index, { checks: [{ index, extent: n, axis: 0 }] }), i32(1));
  };
  const [n, m] = [extent('n'), extent('m')];
  const body = make({ b, n, m, x: array('x', n), y: array('y', m) });
  return eliminatedChecks(b.build(body, { checked: true, indexBits }), [256, 1, 1]).size;
}

const i = add(mul(special('blockIdx.x'), i32(256)), special('threadIdx.x'));
const { lt, ge, ifElse: when, and, not, assign, breakTo: leave } = ir;
const gt = (a: Expr, b: Expr): Expr => ir.compare('gt', a, b);
const le = (a: Expr, b: Expr): Expr => ir.compare('le', a, b);

const clamped = (e: Expr, n: Expr): Expr => ir.binary('min', ir.binary('max', e, i32(0)), ir.sub(n, i32(1)));
const next = add(i, i32(1));

describe('proven by what is around', () => {
  it.each<[string, Parameters<typeof related>[0]]>([
    ['a clamp', ({ n, x }) => [when(lt(i, n), [x(clamped(add(i, i32(1000)), n))])]],
    [
      'a clamp of anything',
      ({ b, n, x }) => [when(lt(i, n), [x(clamped(ir.load(ir.at(b.global('i32', 'any'), i)), n))])],
    ],
    [
      'a clamp on either side',
      ({ n, m, x }) => [when(and(lt(i, n), lt(i, m)), [x(ir.binary('min', clamped(next, n), ir.sub(m, i32(1))))])],
    ],
    ['a remainder', ({ n, x }) => [when(lt(i, n), [x(ir.binary('rem', next, n))])]],
    [
      'a variable that is clamped',
      ({ b, n, x }) => {
        const v = b.variable('i32', 'v');
        return [when(lt(i, n), [assign(v, next), assign(v, clamped(read(v), n)), x(read(v))])];
      },
    ],
    ['a guard', ({ n, x }) => [when(lt(i, n), [x(i)])]],
    ['the other side of one', ({ n, x }) => [when(ge(i, n), [], [x(i)])]],
    ['a guard that is turned round', ({ n, x }) => [when(not(le(n, i)), [x(i)])]],
    ['a guard at the edge', ({ n, x }) => [when(lt(i, ir.sub(n, i32(1))), [x(add(i, i32(1)))])]],
    ['both edges', ({ n, x }) => [when(and(gt(i, i32(0)), lt(i, n)), [x(ir.sub(i, i32(1)))])]],
    ['guards in guards', ({ n, x }) => [when(ge(i, i32(2)), [when(lt(i, n), [x(add(i, i32(-2)))])])]],
    [
      'having left',
      ({ b, n, x }) => {
        const label = b.label();
        return [ir.block(label, [when(ge(i, n), [leave(label)]), x(i)])];
      },
    ],
    ['a counter up to the length', ({ b, n, x }) => counting(b, i32(0), n, 1, (k) => [x(k)])],
    [
      'a variable',
      ({ b, n, x }) => {
        const v = b.variable('i32', 'v');
        return [assign(v, i), when(lt(read(v), n), [x(read(v))])];
      },
    ],
  ])('%s', (_, make) => expect(related(make)).toBe(1));
});

describe('not proven by what is around', () => {
  it.each<[string, Parameters<typeof related>[0]]>([
    [
      'what is around one of two copies',
      ({ n, x }) => {
        const access = x(i);
        return [when(lt(i, n), [access]), access];
      },
    ],
    ['a clamp, where the length may be zero', ({ n, x }) => [x(clamped(i, n))]],
    ['a clamp to the length of another array', ({ n, m, y }) => [when(and(lt(i, n), lt(i, m)), [y(clamped(next, n))])]],
    ['a clamp to the length', ({ n, x }) => [when(lt(i, n), [x(ir.binary('min', next, n))])]],
    ['a clamp to what may be below zero', ({ n, x }) => [when(lt(i, n), [x(clamped(i, ir.sub(n, i32(1))))])]],
    [
      'a clamp on the upper side',
      ({ n, x }) => [when(lt(i, n), [x(ir.binary('min', ir.sub(i, i32(1)), ir.sub(n, i32(1))))])],
    ],
    [
      'a clamp of anything on the upper side',
      ({ b, n, x }) => {
        const any = ir.load(ir.at(b.global('i32', 'any'), i));
        return [when(lt(i, n), [x(ir.binary('min', any, ir.sub(n, i32(1))))])];
      },
    ],
    ['the larger of two', ({ n, x }) => [when(lt(i, n), [x(ir.binary('max', clamped(next, n), i32(5)))])]],
    ['one more than a clamp', ({ n, x }) => [when(lt(i, n), [x(add(clamped(next, n), i32(1)))])]],
    ['a remainder, where the length may be zero', ({ n, x }) => [x(ir.binary('rem', ir.special('threadIdx.x'), n))]],
    [
      'a remainder by the length of another array',
      ({ n, m, y }) => [when(and(lt(i, n), lt(i, m)), [y(ir.binary('rem', next, n))])],
    ],
    [
      'a remainder of what may be below zero',
      ({ n, x }) => [when(lt(i, n), [x(ir.binary('rem', ir.sub(i, i32(1)), n))])],
    ],
    [
      'a variable that is clamped and goes on',
      ({ b, n, x }) => {
        const v = b.variable('i32', 'v');
        return [when(lt(i, n), [assign(v, clamped(next, n)), assign(v, add(read(v), i32(1))), x(read(v))])];
      },
    ],
    [
      'a variable that is perhaps clamped',
      ({ b, n, m, x }) => {
        const v = b.variable('i32', 'v');
        return [when(lt(i, n), [assign(v, i32(7)), when(lt(i, m), [assign(v, clamped(next, n))]), x(read(v))])];
      },
    ],
    [
      'a variable that was clamped before it perhaps went on',
      ({ b, n, m, x }) => {
        const v = b.variable('i32', 'v');
        return [when(lt(i, n), [assign(v, clamped(next, n)), when(lt(i, m), [assign(v, i32(7))]), x(read(v))])];
      },
    ],
    [
      'a variable that is clamped later in the round',
      ({ b, n, x }) => {
        const v = b.variable('i32', 'v');
        const rounds = counting(b, i32(0), i32(9), 1, () => [x(read(v)), assign(v, i32(7))]);
        return [when(lt(i, n), [assign(v, clamped(next, n)), ...rounds])];
      },
    ],
    ['of another array', ({ n, y }) => [when(lt(i, n), [y(i)])]],
    ['one further', ({ n, x }) => [when(lt(i, n), [x(add(i, i32(1)))])]],
    ['at the end', ({ n, x }) => [when(le(i, n), [x(i)])]],
    ['below zero', ({ n, x }) => [when(lt(i, n), [x(ir.sub(i, i32(1)))])]],
    ['the other side', ({ n, x }) => [when(lt(i, n), [], [x(i)])]],
    ['after it', ({ n, x }) => [when(lt(i, n), []), x(i)]],
    ['one of two', ({ n, m, x }) => [when(ir.or(lt(i, n), lt(i, m)), [x(i)])]],
    [
      'a variable that changes',
      ({ b, n, x }) => {
        const v = b.variable('i32', 'v');
        return [assign(v, i), when(lt(read(v), n), [assign(v, add(read(v), i32(1))), x(read(v))])];
      },
    ],
    [
      'a variable that may be anything',
      ({ b, n, x }) => {
        const v = b.variable('i32', 'v');
        const any = ir.load(ir.at(b.global('i32', 'any'), i));
        return [assign(v, any), when(lt(read(v), n), [x(read(v))])];
      },
    ],
    ['where the guard may wrap', ({ n, x }) => [when(lt(add(i, i32(1000)), n), [x(i)])]],
    [
      'a counter after its loop',
      ({ b, n, x }) => {
        let counter = i32(0);
        const loop = counting(b, i32(0), n, 1, (k) => {
          counter = k;
          return [];
        });
        return [...loop, x(counter)];
      },
    ],
  ])('%s', (_, make) => expect(related(make)).toBe(0));

  it('where places in the grid need more than 32 bits', () => {
    expect(related(({ n, x }) => [when(lt(i, n), [x(i)])], 64)).toBe(0);
  });
});

describe('guards and accesses at random', () => {
  /** Guards of all forms around accesses near the edges of an array whose length is a parameter. */
  function random(seed: number): { kernel: Kernel; eliminated: number } {
    const r = new Random(seed);
    const b = new ir.KernelBuilder(`guards${seed}`);
    b.params.push({ index: 0, name: 'n', type: 'i32', origin: { kind: 'extent', path: [0], axis: 0 } });
    const n = ir.param('i32', 0);
    const array = b.global('i32', 'x');
    const [v, w] = [b.variable('i32', 'v'), b.variable('i32', 'w')];
    const i = add(mul(special('blockIdx.x'), i32(16)), special('threadIdx.x'));
    const favourite = r.pick([i, i, read(w)]);
    const small = (): number => r.below(5) - 2;
    const index = (): Expr => {
      const base = r.chance(0.7) ? favourite : r.pick([i, read(v), read(w), special('threadIdx.x')]);
      return r.chance(0.4) ? base : r.pick([add, ir.sub])(base, i32(small()));
    };
    const condition = (depth: number): Expr => {
      if (r.chance(0.6)) return and(ge(favourite, i32(r.below(3))), lt(index(), ir.sub(n, i32(r.below(3)))));
      if (depth > 0 && r.chance(0.5)) return r.pick([and, ir.or])(condition(depth - 1), condition(depth - 1));
      if (depth > 0 && r.chance(0.3)) return not(condition(depth - 1));
      const bound = r.chance(0.7)
        ? r.pick([n, add(n, i32(small())), ir.sub(n, i32(small()))])
        : r.pick([i32(small()), read(v)]);
      const [left, right] = r.chance(0.8) ? [index(), bound] : [bound, index()];
      return ir.compare(r.pick(['lt', 'le', 'gt', 'ge', 'eq', 'ne']), left, right);
    };
    const access = (): Stmt => {
      const at = index();
      return ir.store(ir.at(array, at, { checks: [{ index: at, extent: n, axis: 0 }] }), i32(7));
    };
    const list = (depth: number): Stmt[] => Array.from({ length: 1 + r.below(3) }, () => statement(depth)).flat();
    const statement = (depth: number): Stmt[] => {
      if (depth === 0 || r.chance(0.2)) return [access()];
      if (r.chance(0.15)) return [assign(r.pick([v, w]), index())];
      if (r.chance(0.1))
        return halving(b, i32(r.below(20)), half, lt, (t, h) => [assign(v, add(t, h)), ...list(depth - 1)]);
      if (r.chance(0.1))
        return growing(b, r.below(4), r.below(30), r.pick([twice, thrice]), (k) => {
          const stop = ir.ifElse(ir.eq(k, i32(0)), [ir.ret()]);
          return [stop, assign(v, k), ...list(depth - 1)];
        });
      if (r.chance(0.15)) return counting(b, i32(small()), n, 1, (k) => [assign(v, k), ...list(depth - 1)]);
      if (r.chance(0.3)) {
        const label = b.label();
        return [ir.block(label, [when(condition(1), [leave(label)]), ...list(depth - 1)])];
      }
      return [when(condition(2), list(depth - 1), r.chance(0.3) ? list(depth - 1) : [])];
    };
    const kernel = b.build([assign(w, i), when(condition(2), list(2)), ...list(2)], { checked: true });
    return { kernel, eliminated: eliminatedChecks(kernel, [16, 1, 1]).size };
  }

  const first = Number(process.env.WASM_SEED ?? 1);
  const count = Number(process.env.WASM_PROGRAMS ?? 60);
  it('fail where they fail with all checks', () => {
    let [found, faults, runs] = [0, 0, 0];
    for (let seed = first; seed < first + count; seed++) {
      const { kernel, eliminated: some } = random(seed);
      found += some;
      for (const n of [0, 5, 25]) {
        const launch = { grid: [2, 1, 1], block: [16, 1, 1] } as const;
        const expected = new Uint8Array(4 * (n + 64));
        const { fault } = interpret(kernel, launch, [n, 128], expected);
        for (const lanes of [1, 4] as const) {
          const got = runWasm(kernel, { ...launch, lanes }, [n, 128], new Uint8Array(4 * (n + 64)));
          const name = `${kernel.name}, n = ${n}, ${lanes} lanes`;
          expect(got.fault?.site.kind, name).toBe(fault?.kind);
          const outside = [...got.memory.subarray(0, 128), ...got.memory.subarray(128 + 4 * n)];
          expect(
            outside.every((byte) => byte === 0),
            name,
          ).toBe(true);
          if (fault === undefined) expect(got.memory, name).toEqual(expected);
        }
        runs++;
        if (fault !== undefined) faults++;
      }
    }
    expect(found).toBeGreaterThan(count / 4);
    expect(faults).toBeGreaterThan(runs / 10);
    expect(faults).toBeLessThan(runs);
  });
});
