/**
 * Stretches of one quotient: that they do what threads by themselves would, within rows, through blocks, up to the bounds of arrays and beyond.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Check, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, assign, binary, i32, mul, read, sub } = ir;
const SIZE = 8192;
const IMAGE = new Uint8Array(Int32Array.from({ length: 2 * SIZE }, (_, i) => (i * 7919) & 1023).buffer);

interface Parts {
  /** The running number: `start` and then the thread's. */
  readonly i: Expr;
  readonly w: Expr;
  readonly h: Expr;
  readonly x: Var;
  readonly y: Var;
  readonly z: Var;
  /** `from[row][column]`, of so many rows and columns. */
  load(row: Expr, column: Expr): Expr;
  /** `out[i - start]` of n elements. */
  store(value: Expr): Stmt;
  /** Leaves from a number on, or where something else holds. */
  guard(other?: Expr): Stmt;
  /** Leaves from a number on that is less by so much. */
  guardBefore(less: Expr): Stmt;
}

/** Parameters: where the arrays are, where numbers begin, divisors, rows and columns of `from`, elements of `out`, threads that do something. */
type Given = readonly [start: number, w: number, h: number, rows: number, columns: number, n: number, total: number];

function kernel(width: number, body: (p: Parts) => readonly Stmt[], checked: boolean): Kernel {
  const b = new ir.KernelBuilder('stretches');
  const [from, out] = [b.global('i32', 'from'), b.global('i32', 'out')];
  const [start, w, h, rows, columns, n, total] = ['start', 'w', 'h', 'rows', 'columns', 'n', 'total'].map((name) =>
    b.value('i32', name),
  ) as [Expr, Expr, Expr, Expr, Expr, Expr, Expr];
  const [place, i, x, y, z] = ['place', 'i', 'x', 'y', 'z'].map((name) => b.variable('i32', name)) as [
    Var,
    Var,
    Var,
    Var,
    Var,
  ];
  const within = (...checks: readonly Check[]): { checks?: readonly Check[] } => (checked ? { checks } : {});
  const parts: Parts = {
    i: read(i),
    w,
    h,
    x,
    y,
    z,
    load: (row, column) =>
      ir.load(
        ir.at(
          from,
          add(mul(row, columns), column),
          within({ index: row, extent: rows, axis: 0 }, { index: column, extent: columns, axis: 1 }),
        ),
      ),
    store: (value) => ir.store(ir.at(out, read(place), within({ index: read(place), extent: n, axis: 0 })), value),
    guard: (other) =>
      ir.ifElse(other === undefined ? ir.ge(read(place), total) : ir.or(ir.ge(read(place), total), other), [ir.ret()]),
    guardBefore: (less) => ir.ifElse(ir.ge(read(place), sub(total, less)), [ir.ret()]),
  };
  return b.build(
    [
      assign(place, add(mul(ir.special('blockIdx.x'), i32(width)), ir.special('threadIdx.x'))),
      assign(i, add(start, read(place))),
      ...body(parts),
    ],
    { checked },
  );
}

const quotient = (a: Expr, b: Expr): Expr => binary('floordiv', a, b);
const rest = (a: Expr, b: Expr): Expr => binary('rem', a, b);
const axes = ({ i, w, x, y }: Parts): readonly Stmt[] => [assign(y, quotient(i, w)), assign(x, rest(i, w))];

const BODIES: Readonly<Record<string, (p: Parts) => readonly Stmt[]>> = {
  rows: (p) => [...axes(p), p.store(add(p.load(read(p.y), read(p.x)), mul(read(p.y), i32(1000))))],
  'patches behind a guard': (p) => [
    p.guard(),
    ...axes(p),
    p.store(p.load(add(read(p.y), i32(1)), add(read(p.x), i32(2)))),
  ],
  planes: (p) => [
    p.guard(),
    assign(p.x, rest(p.i, p.w)),
    assign(p.y, rest(quotient(p.i, p.w), p.h)),
    assign(p.z, quotient(p.i, mul(p.w, p.h))),
    p.store(add(p.load(add(read(p.y), read(p.z)), read(p.x)), mul(read(p.z), i32(1e6)))),
  ],
  'rows backwards': (p) => [...axes(p), p.store(p.load(sub(p.h, read(p.y)), read(p.x)))],
  'columns backwards': (p) => [...axes(p), p.store(p.load(read(p.y), sub(sub(p.w, i32(1)), read(p.x))))],
  askew: (p) => [...axes(p), p.store(p.load(i32(0), add(read(p.x), read(p.y))))],
  'columns alone': (p) => [p.guard(), ...axes(p), p.store(p.load(i32(0), read(p.x)))],
  'what blocks have': (p) => [...axes(p), p.store(add(p.load(ir.special('blockIdx.x'), read(p.x)), read(p.y)))],
  'blocks that are left out': (p) => [
    p.guard(ir.compare('eq', ir.special('blockIdx.x'), p.h)),
    ...axes(p),
    p.store(p.load(read(p.y), add(read(p.x), i32(1)))),
  ],
  'guards that tell blocks apart': (p) => [
    p.guardBefore(mul(ir.special('blockIdx.x'), i32(10))),
    ...axes(p),
    p.store(p.load(read(p.y), add(read(p.x), i32(1)))),
  ],
  'neighbours that are there': (p) => [
    p.guard(),
    ...axes(p),
    assign(p.z, i32(7)),
    ir.ifElse(ir.lt(add(read(p.x), i32(1)), p.w), [assign(p.z, p.load(read(p.y), add(read(p.x), i32(1))))]),
    p.store(read(p.z)),
  ],
};

function run(kernels: Map<string, Kernel>, width: number, blocks: number, given: Given) {
  const name = `${width}`;
  const k = kernels.get(name) as Kernel;
  return check(k, { grid: [blocks, 1, 1], block: [width, 1, 1] }, [0, 4 * SIZE, ...given], IMAGE, [
    { at: 4 * SIZE, elem: 'i32', length: SIZE },
  ]);
}

describe.each(Object.entries(BODIES))('%s', (_, body) => {
  const kernels = new Map([64, 37, 128].map((width) => [`${width}`, kernel(width, body, true)] as const));

  it('are the same, and fail in the same place', () => {
    const random = new Random(7);
    let [whole, failed] = [0, 0];
    for (let k = 0; k < 90; k++) {
      const width = random.pick([64, 64, 128, 37]);
      const blocks = random.pick([1, 3, 7]);
      const w = random.pick([56, 24, 17, 64, 100, 8, 3, 1000, 9]);
      const h = random.pick([3, 2, 40]);
      const threads = width * blocks;
      const start = random.pick([0, 0, 0, 5, w, 40, -3, -w]);
      const columns = w + random.pick([2, 2, 3, 2, 2, 1, 0]);
      const rows = Math.min(Math.floor(SIZE / columns), random.pick([1000, 1000, 1000, 4, 9]));
      const total = Math.max(
        1,
        random.pick([threads, threads - 5, Math.floor(threads / 2), threads - 64, threads - 60, threads - 24]),
      );
      const n = random.pick([threads, threads, threads, threads - 1, total]);
      const fault = run(kernels, width, blocks, [start, w, h, rows, columns, n, total]);
      if (fault) failed++;
      else whole++;
    }
    expect(whole).toBeGreaterThan(3);
    expect(failed).toBeGreaterThan(3);
  });

  it('are the same through many blocks', () => {
    // A call of the first block, then of four, sixteen and sixty-four.
    for (const total of [5760, 5759, 5750, 5700, 5752, 22 * 64 + 8, 22 * 64 + 4, 21 * 64 + 3, 3000])
      for (const w of [56, 17]) run(kernels, 64, 90, [0, w, 3, Math.floor(SIZE / (w + 2)), w + 2, SIZE, total]);
  });

  it.each<[string, Given]>([
    ['divisors that are no divisors', [5, 0, 0, 64, 64, SIZE, 500]],
    ['rows that are missing', [0, 64, 40, 3, 66, SIZE, 500]],
    ['columns that are missing', [0, 64, 40, 30, 40, SIZE, 500]],
    ['negative divisors', [1, -56, 3, 64, 64, SIZE, 500]],
    ['the last numbers there are', [2 ** 31 - 300, 2 ** 31 - 301, 1, 64, 100, SIZE, 500]],
    ['numbers that wrap', [2 ** 31 - 100, 2 ** 31 - 120, 1, 2, 4000, SIZE, 500]],
  ])('%s', (_case, given) => {
    for (const width of [64, 128]) run(kernels, width, 5, given);
  });
});

it('quotients alone, of numbers that wrap', () => {
  const body = (p: Parts): readonly Stmt[] => [...axes(p), p.store(add(mul(read(p.y), i32(1000)), read(p.x)))];
  const kernels = new Map([64, 128].map((width) => [`${width}`, kernel(width, body, true)] as const));
  for (const start of [2 ** 31 - 100, 2 ** 31 - 400, 2 ** 31 - 500, 2 ** 31 - 640, -100, -(2 ** 31)])
    for (const w of [56, 100, 2 ** 31 - 1, 2 ** 31 - 200, -(2 ** 31)])
      for (const width of [64, 128]) run(kernels, width, 5, [start, w, 1, 1, 1, SIZE, SIZE]);
});

it('numbers that wrap behind a guard', () => {
  const body = (p: Parts): readonly Stmt[] => [
    ir.ifElse(ir.ge(p.i, p.h), [ir.ret()]),
    ...axes(p),
    p.store(add(mul(read(p.y), i32(1000)), read(p.x))),
  ];
  const kernels = new Map([64, 128].map((width) => [`${width}`, kernel(width, body, true)] as const));
  for (const start of [2 ** 31 - 200, 2 ** 31 - 600, 0])
    for (const h of [2 ** 31 - 100, 2 ** 31 - 1, 333])
      for (const width of [64, 128]) run(kernels, width, 9, [start, 56, h, 1, 1, SIZE, SIZE]);
});

it('unchecked code is the same', () => {
  for (const body of [BODIES['patches behind a guard'], BODIES['planes']] as const) {
    const kernels = new Map([64, 128].map((width) => [`${width}`, kernel(width, body as never, false)] as const));
    for (const w of [24, 56, 17, 65])
      for (const total of [640, 600, 65])
        for (const width of [64, 128]) run(kernels, width, 5, [0, w, 3, 0, w + 2, 0, total]);
  }
});

it('what looks alike in a program is that', () => {
  // A number of the vector, a quotient of it and a product, and then a choice of the program's own.
  const alike = (lanes: number, isProduct: boolean, [first, quotient, start]: readonly [string, string, string]) => {
    const b = new ir.KernelBuilder('alike');
    const out = b.global('i32', 'out');
    const [w, h, c] = ['w', 'h', 'c'].map((name) => b.value('i32', name)) as [Expr, Expr, Expr];
    const [place, f, q, s] = ['place', first, quotient, start].map((name) => b.variable('i32', name)) as [
      Var,
      Var,
      Var,
      Var,
    ];
    const [thread, row] = [ir.special('threadIdx.x'), mul(ir.special('blockIdx.x'), i32(64))];
    const store = (value: Expr): Stmt => ir.store(ir.at(out, read(place)), value);
    return b.build(
      [
        assign(place, add(row, thread)),
        assign(f, add(row, ir.and(thread, i32(-lanes)))),
        assign(q, binary('div', read(f), w)),
        assign(s, mul(read(q), isProduct ? w : h)),
        ir.ifElse(ir.lt(rest(thread, i32(3)), c), [store(read(s))], [store(i32(-1))]),
      ],
      { checked: false },
    );
  };
  for (const lanes of [4, 8, 16])
    for (const isProduct of [true, false])
      for (const names of [
        ['f', 'q', 's'],
        ['%first', '%quotient', '%start'],
      ] as const) {
        const shape = { grid: [10, 1, 1], block: [64, 1, 1] } as const;
        check(alike(lanes, isProduct, names), shape, [0, 56, 7, 1], IMAGE, [{ at: 0, elem: 'i32', length: 640 }]);
      }
});
