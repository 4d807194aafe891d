/**
 * Coordinates made of a running number: that vectors with one quotient run the code for it, and that all do what threads by themselves would.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { splitQuotients } from '../../ir/passes/quotients.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, assign, binary, i32, mul, read, sub } = ir;
const SIZE = 4096;
const IMAGE = new Uint8Array(Int32Array.from({ length: 2 * SIZE }, (_, i) => (i * 7919) & 1023).buffer);

interface Parts {
  readonly b: ir.KernelBuilder;
  /** The running number, and what it is divided by. */
  readonly i: Var;
  readonly w: Expr;
  readonly h: Expr;
  /** Rows, columns and planes. */
  readonly x: Var;
  readonly y: Var;
  readonly z: Var;
  load(row: Expr, column: Expr): Expr;
  store(value: Expr): Stmt;
}

/** `i = from + blockIdx.x * width + threadIdx.x`, and then `body`, for elements of `out` that are those of the thread. */
function kernel(width: number, body: (p: Parts) => readonly Stmt[], checked = true): Kernel {
  const b = new ir.KernelBuilder('coordinates');
  const [from, to] = [b.global('i32', 'from'), b.global('i32', 'to')];
  const [start, w, h] = [b.value('i32', 'start'), b.value('i32', 'w'), b.value('i32', 'h')];
  const [place, i, x, y, z] = ['place', 'i', 'x', 'y', 'z'].map((name) => b.variable('i32', name)) as Var[];
  const masked = (e: Expr): Expr => ir.and(e, i32(SIZE - 1));
  const p = {
    b,
    w,
    h,
    i,
    x,
    y,
    z,
    load: (row: Expr, column: Expr): Expr =>
      ir.load(
        ir.at(
          from,
          masked(add(mul(row, w), column)),
          checked ? { checks: [{ index: column, extent: w, axis: 1 }] } : {},
        ),
      ),
    store: (value: Expr): Stmt => ir.store(ir.at(to, masked(read(place as Var))), value),
  } as unknown as Parts;
  return b.build(
    [
      assign(place as Var, add(mul(ir.special('blockIdx.x'), i32(width)), ir.special('threadIdx.x'))),
      assign(i as Var, add(start, read(place as Var))),
      ...body(p),
    ],
    { checked },
  );
}

const quotient = (a: Expr, b: Expr): Expr => binary('floordiv', a, b);
const rest = (a: Expr, b: Expr): Expr => binary('rem', a, b);
const axes = ({ i, w, x, y }: Parts): readonly Stmt[] => [assign(y, quotient(read(i), w)), assign(x, rest(read(i), w))];
const value = ({ x, y }: Parts): Expr => add(mul(read(y), i32(10000)), read(x));

const BODIES: Readonly<Record<string, (p: Parts) => readonly Stmt[]>> = {
  'rows and columns': (p) => [...axes(p), p.store(value(p))],
  'what lies there': (p) => [...axes(p), p.store(add(p.load(read(p.y), read(p.x)), value(p)))],
  'columns by what rows leave': (p) => [
    assign(p.y, binary('div', read(p.i), p.w)),
    assign(p.x, sub(read(p.i), mul(read(p.y), p.w))),
    p.store(value(p)),
  ],
  planes: (p) => [
    assign(p.x, rest(read(p.i), p.w)),
    assign(p.y, rest(quotient(read(p.i), p.w), p.h)),
    assign(p.z, quotient(read(p.i), mul(p.w, p.h))),
    p.store(add(mul(read(p.z), i32(1e6)), value(p))),
  ],
  'a guard before and behind': (p) => [
    ir.ifElse(ir.ge(read(p.i), mul(p.w, p.h)), [ir.ret()]),
    ...axes(p),
    ir.ifElse(ir.ge(read(p.x), sub(p.w, i32(1))), [ir.ret()]),
    p.store(add(p.load(read(p.y), add(read(p.x), i32(1))), value(p))),
  ],
  'neighbours in loops': (p) => {
    const [k, sum, label] = [p.b.variable('i32', 'k'), p.b.variable('i32', 'sum'), p.b.label()];
    return [
      ...axes(p),
      assign(sum, i32(0)),
      assign(k, i32(0)),
      ir.loop(
        label,
        [
          ir.ifElse(ir.ge(read(k), i32(5)), [ir.breakTo(label)]),
          ir.ifElse(ir.compare('eq', read(k), read(p.x)), [ir.continueTo(label)]),
          assign(sum, add(read(sum), add(p.load(add(read(p.y), read(k)), read(p.x)), quotient(read(p.i), p.w)))),
        ],
        [assign(k, add(read(k), i32(1)))],
      ),
      p.store(read(sum)),
    ];
  },
  'a divisor that is made on the way': (p) => [
    ...axes(p),
    assign(p.z, add(p.h, i32(3))),
    p.store(add(value(p), mul(i32(7), rest(read(p.i), read(p.z))))),
  ],
  'a divisor of what is computed in 64 bits': (p) => {
    const twice = mul(ir.cast('i64', p.w), ir.constant('i64', 2n));
    const w = ir.cast('i32', twice);
    return [assign(p.y, quotient(read(p.i), w)), assign(p.x, rest(read(p.i), w)), p.store(value(p))];
  },
  'less a number': (p) => [
    assign(p.z, sub(read(p.i), p.h)),
    assign(p.y, quotient(read(p.z), p.w)),
    assign(p.x, rest(read(p.z), p.w)),
    p.store(value(p)),
  ],
  'what was before': (p) => [
    ir.ifElse(ir.lt(read(p.i), i32(100)), [assign(p.x, rest(read(p.i), p.w)), assign(p.y, quotient(read(p.i), p.w))]),
    p.store(value(p)),
  ],
  'constant widths': ({ i, x, y, ...p }) => [
    assign(y, quotient(read(i), i32(56))),
    assign(x, rest(read(i), i32(56))),
    p.store(value({ i, x, y, ...p } as Parts)),
  ],
};

/** Where the number begins, and what it is divided by. */
const EDGES = [
  [0, 56],
  [5, 17],
  [1000, 64],
  [-1000, 56],
  [-5, 1000],
  [3, 0],
  [40, 7],
  [1, -56],
  [5, -(2 ** 31)],
  [2 ** 31 - 64, 2 ** 31 - 1],
  [2 ** 31 - 300, 100],
  [-(2 ** 31), -(2 ** 31)],
] as const;

function run(width: number, body: (p: Parts) => readonly Stmt[], [start, w, h]: readonly number[], checked = true) {
  const launch = { grid: [4, 1, 1], block: [width, 1, 1] } as const;
  const args = [0, 4 * SIZE, start as number, w as number, h as number];
  return check(kernel(width, body, checked), launch, args, IMAGE, [
    { at: 0, elem: 'i32', length: SIZE },
    { at: 4 * SIZE, elem: 'i32', length: SIZE },
  ]);
}

const isSplit = (width: number, body: (p: Parts) => readonly Stmt[]): boolean => {
  const simple = simplify(kernel(width, body), { block: [width, 1, 1] });
  return splitQuotients(simple, 4) !== simple;
};

describe.each(Object.entries(BODIES))('%s', (_, body) => {
  it('are there twice', () => {
    expect(isSplit(64, body)).toBe(true);
  });

  it.each([64, 37])('are the same in rows of %d', (width) => {
    for (const [start, w] of EDGES) run(width, body, [start, w, 5], false);
  });

  it('fail in the same place', () => {
    const random = new Random(1);
    for (let k = 0; k < 6; k++) {
      const w = random.pick([8, 12, 56, 64, 3]);
      run(64, body, [random.pick([0, 20, -40]), w, random.pick([1, 3, 10])]);
    }
  });
});

describe('code is not there twice', () => {
  it.each<[string, (p: Parts) => readonly Stmt[]]>([
    ['for powers of two', (p) => [assign(p.y, quotient(read(p.i), i32(64))), p.store(read(p.y))]],
    ['for a few threads', (p) => [assign(p.y, quotient(read(p.i), i32(3))), p.store(read(p.y))]],
    [
      'for a divisor that threads have each',
      (p) => [assign(p.y, quotient(read(p.i), p.load(i32(0), read(p.i)))), p.store(read(p.y))],
    ],
    ['for what is no running number', (p) => [assign(p.y, quotient(mul(read(p.i), i32(3)), p.w)), p.store(read(p.y))]],
    ['around barriers', (p) => [...axes(p), ir.barrier(), p.store(value(p))]],
  ])('%s', (_, body) => {
    expect(isSplit(64, body)).toBe(false);
  });
});
