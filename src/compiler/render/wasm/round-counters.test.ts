/**
 * Counters of loops that lanes leave one by one: that another variable counts for those that are still there, and that each thread has its count behind the
 * loop.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Label, Stmt, Var } from '../../ir/ops.ts';
import { countRoundsApart } from '../../ir/passes/round-counters.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { check } from './launch.testing.ts';

const { add, assign, i32, ifElse, lt, mul, read, sub } = ir;
const WIDTH = 40;
const SIZE = 256;
const IMAGE = new Uint8Array(Int32Array.from({ length: 2 * SIZE }, (_, i) => ((i * 7919) >> 3) & 3).buffer);

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly t: Expr;
  readonly k: Var;
  readonly m: Var;
  readonly sum: Var;
  readonly n: Expr;
  /** `from[t + e]`, which is 0 … 3, and how it compares with `from[e]`. */
  from(e: Expr): Expr;
  differs(e: Expr): Expr;
  store(e: Expr): Stmt;
  leave(cond: Expr, label: Label): Stmt;
}

function kernel(body: (p: Parts) => readonly Stmt[]): Kernel {
  const b = new ir.KernelBuilder('counters');
  const [from, to] = [b.global('i32', 'from'), b.global('i32', 'to')];
  const n = b.value('i32', 'n');
  const t = ir.special('threadIdx.x');
  const load = (e: Expr): Expr => ir.load(ir.at(from, ir.and(e, i32(SIZE - 1))));
  return b.build(
    body({
      b,
      t,
      k: b.variable('i32', 'k'),
      m: b.variable('i32', 'm'),
      sum: b.variable('i32', 'sum'),
      n,
      from: (e) => load(add(t, e)),
      differs: (e) => ir.compare('ne', load(add(t, e)), load(e)),
      store: (e) => ir.store(ir.at(to, t), e),
      leave: (cond, label) => ifElse(cond, [ir.breakTo(label)]),
    }),
  );
}

const one = (v: Var, by = 1): Stmt => assign(v, add(read(v), i32(by)));

const APART: Readonly<Record<string, (p: Parts) => readonly Stmt[]>> = {
  'at the end of a round': ({ b, k, n, ...p }) => {
    const label = b.label();
    return [
      assign(k, i32(0)),
      ir.loop(label, [p.leave(ir.ge(read(k), n), label), p.leave(p.differs(read(k)), label), one(k)]),
      p.store(read(k)),
    ];
  },
  'in the update, beside what goes on with it': ({ b, k, n, sum, ...p }) => {
    const label = b.label();
    return [
      assign(k, i32(3)),
      assign(sum, i32(0)),
      ir.loop(
        label,
        [
          p.leave(ir.ge(read(sum), n), label),
          ifElse(p.differs(read(k)), [assign(sum, add(read(sum), i32(1))), ir.continueTo(label)]),
          assign(sum, add(read(sum), add(p.from(read(k)), i32(1)))),
        ],
        [one(k, 2)],
      ),
      p.store(add(mul(read(k), i32(1000)), read(sum))),
    ];
  },
  'before lanes leave': ({ b, k, n, sum, ...p }) => {
    const label = b.label();
    return [
      assign(sum, i32(0)),
      assign(k, i32(-2)),
      ir.loop(label, [
        one(k),
        assign(sum, add(read(sum), add(p.from(read(k)), i32(1)))),
        p.leave(ir.ge(read(sum), n), label),
        assign(sum, add(read(sum), read(k))),
      ]),
      p.store(add(mul(read(k), i32(1000)), read(sum))),
    ];
  },
  'from a start that some lanes alone have reached': ({ b, k, n, ...p }) => {
    const label = b.label();
    const rounds = ir.loop(label, [p.leave(ir.ge(read(k), n), label), p.leave(p.differs(read(k)), label), one(k)]);
    return [assign(k, i32(1)), ifElse(p.differs(i32(7)), [rounds], [assign(k, i32(100))]), p.store(read(k))];
  },
  'in loops in loops': ({ b, k, m, n, ...p }) => {
    const [outer, inner] = [b.label(), b.label()];
    return [
      assign(k, i32(0)),
      ir.loop(outer, [
        p.leave(ir.ge(read(k), n), outer),
        assign(m, i32(0)),
        ir.loop(inner, [
          p.leave(ir.ge(read(m), add(p.from(read(k)), i32(1))), inner),
          p.leave(p.differs(add(read(k), read(m))), inner),
          one(m),
        ]),
        p.leave(ir.compare('eq', read(m), i32(2)), outer),
        one(k),
      ]),
      p.store(add(mul(read(k), i32(1000)), read(m))),
    ];
  },
  'downwards, two of them': ({ b, k, m, n, ...p }) => {
    const label = b.label();
    return [
      assign(k, i32(20)),
      assign(m, i32(0)),
      ir.loop(
        label,
        [
          p.leave(lt(read(k), n), label),
          p.leave(p.differs(add(read(k), read(m))), label),
          assign(k, sub(read(k), i32(1))),
        ],
        [one(m, 3)],
      ),
      p.store(add(mul(read(k), i32(1000)), read(m))),
    ];
  },
};

const TOGETHER: Readonly<Record<string, (p: Parts) => readonly Stmt[]>> = {
  'where some lanes go on without it': ({ b, k, m, n, ...p }) => {
    const label = b.label();
    return [
      assign(k, i32(0)),
      assign(m, i32(0)),
      ir.loop(label, [
        p.leave(ir.ge(add(read(k), read(m)), n), label),
        ifElse(p.differs(read(m)), [assign(m, add(mul(read(m), i32(2)), i32(1))), ir.continueTo(label)]),
        one(k),
      ]),
      p.store(add(mul(read(k), i32(1000)), read(m))),
    ];
  },
  'where it is changed elsewhere': ({ b, k, n, ...p }) => {
    const label = b.label();
    return [
      assign(k, i32(0)),
      ir.loop(label, [p.leave(ir.ge(read(k), n), label), ifElse(p.differs(read(k)), [one(k, 5)]), one(k)]),
      p.store(read(k)),
    ];
  },
  'where lanes begin in different places': ({ b, k, n, t, ...p }) => {
    const label = b.label();
    return [
      assign(k, ir.and(t, i32(3))),
      ir.loop(label, [p.leave(ir.ge(read(k), n), label), p.leave(p.differs(read(k)), label), one(k)]),
      p.store(read(k)),
    ];
  },
  'where some lanes begin elsewhere': ({ b, k, n, ...p }) => {
    const label = b.label();
    return [
      assign(k, i32(0)),
      ifElse(p.differs(i32(9)), [assign(k, i32(2))]),
      ir.loop(label, [p.leave(ir.ge(read(k), n), label), p.leave(p.differs(read(k)), label), one(k)]),
      p.store(read(k)),
    ];
  },
  'where the loop is run again with what it has counted': ({ b, k, m, n, ...p }) => {
    const [outer, inner] = [b.label(), b.label()];
    return [
      assign(k, i32(0)),
      assign(m, i32(0)),
      ir.loop(outer, [
        p.leave(ir.ge(read(m), i32(3)), outer),
        ir.loop(inner, [p.leave(ir.ge(read(k), n), inner), p.leave(p.differs(add(read(k), read(m))), inner), one(k)]),
        one(m),
      ]),
      p.store(read(k)),
    ];
  },
  'where nobody asks for it afterwards': ({ b, k, n, sum, ...p }) => {
    const label = b.label();
    return [
      assign(k, i32(0)),
      assign(sum, i32(0)),
      ir.loop(label, [
        p.leave(ir.ge(read(k), n), label),
        p.leave(p.differs(read(k)), label),
        assign(sum, add(read(sum), p.from(read(k)))),
        one(k),
      ]),
      p.store(read(sum)),
    ];
  },
};

const isApart = (body: (p: Parts) => readonly Stmt[]): boolean => {
  const simple = simplify(kernel(body), { block: [WIDTH, 1, 1] });
  return countRoundsApart(simple, [WIDTH, 1, 1], 4) !== simple;
};

function run(body: (p: Parts) => readonly Stmt[]): void {
  for (const n of [0, 1, 5, 30]) {
    const regions = [{ at: 4 * SIZE, elem: 'i32', length: SIZE }] as const;
    check(kernel(body), { block: [WIDTH, 1, 1] }, [0, 4 * SIZE, n], IMAGE, regions);
  }
}

describe('rounds are counted apart', () => {
  it.each(Object.entries(APART))('%s', (_, body) => {
    expect(isApart(body)).toBe(true);
    run(body);
  });
});

describe('rounds are not counted apart', () => {
  it.each(Object.entries(TOGETHER))('%s', (_, body) => {
    expect(isApart(body)).toBe(false);
    run(body);
  });
});
