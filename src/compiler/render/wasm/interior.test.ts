/**
 * Interior blocks: which blocks are taken for such, what is left for them to do, and that it is the same as before.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { interpret } from '../../ir/interpret.ts';
import type { Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { runAnalysing } from '../../ir/passes/pipeline.ts';
import { formRegions } from '../../ir/passes/regions.ts';
import { lowerReturns } from '../../ir/passes/returns.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { eachExpr, eachStmt, someExpr } from '../../ir/passes/walk.ts';
import { findInterior, type Interior } from './interior.ts';
import { check, runWasm } from './launch.testing.ts';
import { Random } from './programs.testing.ts';
import { eliminatedChecks, Ranges } from './ranges.ts';

type Block = readonly [number, number, number];
const { add, and, assign, i32, lt, mul, or, read, sub } = ir;
const tid = ir.special('threadIdx.x');
const place = (axis: 'x' | 'y'): Expr =>
  add(mul(ir.special(`blockIdx.${axis}`), ir.special(`blockDim.${axis}`)), ir.special(`threadIdx.${axis}`));
const binary = (fn: 'min' | 'max' | 'rem' | 'and', a: Expr, b: Expr): Expr => ir.binary(fn, a, b);

interface Found {
  /** The region before it was specialised. */
  readonly body: readonly Stmt[];
  readonly interior: Interior | undefined;
}

/** What becomes of the one region of a kernel without barriers. */
function find(kernel: Kernel, block: Block): Found {
  const options = { block, lanes: 4 } as const;
  const known = simplify(kernel, { block });
  const regions = formRegions(runAnalysing('lower returns', known, lowerReturns), options);
  const [node] = regions.nodes;
  if (node?.kind !== 'workItems' || regions.nodes.length > 1) throw new Error('not one region');
  const ranges = new Ranges(regions.kernel, block);
  const interior = findInterior(
    {
      kernel: regions.kernel,
      variant: { block, lanes: 4, concurrent: false, memory64: false },
      uniformity: regions.uniformity,
      lanes: 4,
      shapes: new Map(),
      ranges,
      eliminated: eliminatedChecks(regions.kernel, block, ranges),
    },
    node.body,
  );
  return { body: node.body, interior };
}

/** What a list still has of checks, of conditions, and of operations that bring an index into range. */
function left(list: readonly Stmt[]): string[] {
  const found: string[] = [];
  eachStmt(list, (s) => {
    if (s.op === 'if') found.push('if');
    if (s.op === 'store') found.push(...s.mem.checks.map(() => 'check'));
  });
  eachExpr(list, (e) => {
    if (e.op === 'load') found.push(...e.mem.checks.map(() => 'check'));
    if (e.op === 'select') found.push('select');
    if (e.op === 'binary' && ['rem', 'min', 'max', 'and', 'or'].includes(e.fn)) found.push(e.fn);
  });
  return found;
}

const BLOCK: Block = [16, 4, 1];

/** `out[y][x] = ` the sum of what `body` adds up, where x and y are in range. */
function grid(body: (t: Parts) => readonly Stmt[], checked = true): Kernel {
  const b = new ir.KernelBuilder('grid');
  const [source, out] = [b.global('i32', 'source'), b.global('i32', 'out')];
  const [w, h] = [b.value('i32', 'w'), b.value('i32', 'h')];
  const [x, y, sum] = [b.variable('i32', 'x'), b.variable('i32', 'y'), b.variable('i32', 'sum')];
  const access = (array: typeof out, row: Expr, column: Expr): Expr & { op: 'load' } => ({
    op: 'load',
    type: 'i32',
    mem: ir.at(array, add(mul(row, w), column), {
      checks: [
        { index: row, extent: h, axis: 0 },
        { index: column, extent: w, axis: 1 },
      ],
    }),
  });
  const collect = (row: Expr, column: Expr): Stmt => assign(sum, add(read(sum), access(source, row, column)));
  const store = ir.store(access(out, read(y), read(x)).mem, read(sum));
  const t: Parts = { b, w, h, x: read(x), y: read(y), sum, collect, store };
  return b.build([assign(x, place('x')), assign(y, place('y')), assign(sum, i32(0)), ...body(t)], { checked });
}

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly w: Expr;
  readonly h: Expr;
  readonly x: Expr;
  readonly y: Expr;
  readonly sum: Var;
  collect(row: Expr, column: Expr): Stmt;
  readonly store: Stmt;
}

/** `out[x] = table[bytes[x]]` or `out[bytes[x]] = 1`, where x is in range. */
function byBytes(reads: boolean): Kernel {
  const b = new ir.KernelBuilder('byBytes');
  const [bytes, table, out] = [b.global('u8', 'bytes'), b.global('i32', 'table'), b.global('i32', 'out')];
  const [n, rows] = [b.value('i32', 'n'), b.value('i32', 'rows')];
  const [x, byte] = [b.variable('i32', 'x'), b.variable('i32', 'byte')];
  const at = (array: typeof out, index: Expr, extent: Expr) =>
    ir.at(array, index, { checks: [{ index, extent, axis: 0 }] });
  const store = reads
    ? ir.store(at(out, read(x), n), ir.load(at(table, read(byte), rows)))
    : ir.store(at(out, read(byte), rows), i32(1));
  return b.build([assign(x, place('x')), assign(byte, ir.load(at(bytes, read(x), n))), store], { checked: true });
}

/** `for (v = from; v < to; v += step)` */
function counting(
  b: ir.KernelBuilder,
  from: Expr,
  to: Expr,
  body: (v: Expr) => readonly Stmt[],
  step = 1,
): readonly Stmt[] {
  const [v, label] = [b.variable('i32', 'v'), b.label()];
  return [
    assign(v, from),
    ir.loop(
      label,
      [ir.ifElse(ir.ge(read(v), to), [ir.breakTo(label)]), ...body(read(v))],
      [assign(v, add(read(v), i32(step)))],
    ),
  ];
}

const around = (v: Expr, n: Expr): Expr => binary('rem', add(v, n), n);
const clamp = (v: Expr, n: Expr): Expr => binary('min', binary('max', v, i32(0)), sub(n, i32(1)));

it('leaves it to vectors whether a table has the rows that bytes name, where these are read', () => {
  const checks = (reads: boolean): string[] => left(find(byBytes(reads), [64, 1, 1]).interior?.body ?? []);
  expect(checks(true)).toEqual(['check']);
  expect(checks(false)).toEqual([]);
});

describe('what an interior block need not do', () => {
  const cases: readonly (readonly [name: string, body: (t: Parts) => readonly Stmt[]])[] = [
    ['checks', ({ x, y, collect, store }) => [collect(sub(y, i32(1)), add(x, i32(1))), store]],
    [
      'a guard of several conditions',
      ({ x, y, w, h, collect, store }) => {
        const leave = [lt(x, i32(1)), ir.eq(y, i32(0)), ir.ge(x, sub(w, i32(1))), ir.ge(y, sub(h, i32(1)))].reduce(or);
        return [ir.ifElse(ir.not(leave), [collect(sub(y, i32(1)), add(x, i32(1))), store])];
      },
    ],
    [
      'remainders',
      ({ x, y, w, h, collect, store }) => [collect(around(sub(y, i32(1)), h), around(add(x, i32(1)), w)), store],
    ],
    [
      'remainders twice over',
      ({ x, y, w, collect, store }) => [collect(y, around(binary('rem', sub(x, i32(2)), w), w)), store],
    ],
    ['masks', ({ x, y, w, collect, store }) => [collect(y, binary('and', add(x, i32(1)), sub(w, i32(1)))), store]],
    [
      'a choice at the edge',
      ({ x, y, w, collect, store }) => [
        collect(y, ir.select(ir.eq(x, i32(0)), sub(w, i32(1)), sub(x, i32(1)))),
        collect(y, ir.select(ir.eq(x, sub(w, i32(1))), i32(0), add(x, i32(1)))),
        store,
      ],
    ],
    [
      'clamps in a loop',
      ({ b, x, y, w, h, collect, store }) => {
        const column = b.variable('i32', 'column');
        return [
          ...counting(b, i32(0), i32(7), (j) => [
            assign(column, clamp(sub(add(x, j), i32(3)), w)),
            collect(clamp(sub(add(y, j), i32(3)), h), read(column)),
          ]),
          store,
        ];
      },
    ],
    [
      'checks in a loop that goes along a row in steps',
      ({ b, y, w, collect, store }) => [...counting(b, tid, w, (v) => [collect(y, v)], 16), store],
    ],
    [
      'a guard in a loop of unknown length',
      ({ b, x, y, w, collect, store }) => {
        const r = b.value('i32', 'r');
        return [
          ...counting(b, ir.neg(r), r, (j) => [
            ir.ifElse(and(ir.ge(add(x, j), i32(0)), lt(add(x, j), w)), [collect(y, add(x, j))]),
          ]),
          store,
        ];
      },
    ],
  ];
  for (const [name, body] of cases) {
    it(name, () => {
      const { interior } = find(grid(body), BLOCK);
      // The test of a loop stays.
      expect(left(interior?.body ?? []).filter((what) => what !== 'if')).toEqual([]);
      const loops = name.includes('loop') ? 1 : 0;
      expect(left(interior?.body ?? []).length).toBe(loops);
    });
  }

  it('is loaded as one vector', () => {
    const { interior } = find(
      grid(({ x, y, w, collect, store }) => [collect(y, around(sub(x, i32(1)), w)), store]),
      BLOCK,
    );
    let columns = 0;
    eachExpr(interior?.body ?? [], (e) => {
      if (e.op === 'load') columns += someExpr(e.mem.index, (i) => i.op === 'binary' && i.fn === 'sub') ? 1 : 0;
    });
    expect(columns).toBe(1);
  });
});

describe('what is not asked', () => {
  const asked = ({ interior }: Found): number => {
    let comparisons = 0;
    someExpr(interior?.holds ?? i32(0), (e) => {
      if (e.op === 'compare') comparisons++;
      return false;
    });
    return comparisons;
  };

  it('whether indices are negative that begin at 0', () => {
    // Of each axis the far edge, and of what goes back by one the near one.
    expect(
      asked(
        find(
          grid(({ x, y, collect, store }) => [collect(y, x), store]),
          BLOCK,
        ),
      ),
    ).toBe(2);
    expect(
      asked(
        find(
          grid(({ x, y, collect, store }) => [collect(y, sub(x, i32(1))), store]),
          BLOCK,
        ),
      ),
    ).toBe(3);
    expect(
      asked(
        find(
          grid(({ x, y, collect, store }) => [collect(add(y, i32(2)), x), store]),
          BLOCK,
        ),
      ),
    ).toBe(2);
  });

  it('anything, where all blocks are interior', () => {
    const kernel = grid(({ x, sum, store }) => [assign(sum, binary('max', x, i32(0))), store], false);
    const found = find(kernel, BLOCK);
    expect(found.interior?.holds).toMatchObject({ op: 'const', value: true });
    expect(left(found.interior?.body ?? []).filter((what) => what !== 'check')).toEqual([]);
    const image = new Uint8Array(2 * SIZE + 16);
    const regions = [{ at: SIZE, elem: 'i32', length: SIZE / 4 }] as const;
    check(kernel, { grid: [3, 3, 1], block: BLOCK }, [0, SIZE, 48, 12], image, regions);
  });
});

describe('what stays as it is', () => {
  it('blocks of a few vectors, and regions that ask nothing', () => {
    const kernel = grid(({ collect, x, y, store }) => [collect(y, x), store]);
    expect(find(kernel, [4, 2, 1]).interior).toBeUndefined();
    const b = new ir.KernelBuilder('bare');
    const out = b.global('i32', 'out');
    expect(find(b.build([ir.store(ir.at(out, tid), i32(1))]), BLOCK).interior).toBeUndefined();
  });

  it('checks that only a range says something of, beside those of masks, which are made ahead', () => {
    const b = new ir.KernelBuilder('butterflies');
    const [twiddles, x] = [b.global('f32', 'twiddles'), b.global('f32', 'x')];
    const [n, m, half] = [b.value('i32', 'n'), b.value('i32', 'm'), b.value('i32', 'half')];
    const [k, at] = [b.variable('i32', 'k'), b.variable('i32', 'at')];
    const w = mul(read(k), half);
    const kernel = b.build(
      [
        assign(k, binary('and', tid, sub(half, i32(1)))),
        assign(at, add(mul(i32(2), sub(tid, read(k))), add(read(k), half))),
        ir.store(
          ir.at(x, read(at), { checks: [{ index: read(at), extent: n, axis: 0 }] }),
          ir.load(ir.at(twiddles, w, { checks: [{ index: w, extent: m, axis: 0 }] })),
        ),
      ],
      { checked: true },
    );
    const { interior } = find(kernel, BLOCK);
    expect(left(interior?.body ?? []).filter((what) => what === 'check')).toHaveLength(1);
    // Up to half - 1 times half elements; that x has room for all that `at` could be by its range is not asked.
    for (const [many, holds] of [
      [8 * 7 + 1, true],
      [8 * 7, false],
    ] as const) {
      const image = new Uint8Array(new Float32Array(256).map((_, i) => i).buffer);
      const outputs = [{ at: 512, elem: 'f32', length: 64 }] as const;
      const fault = check(kernel, { block: BLOCK }, [0, 512, 64, many, 8], image, outputs);
      expect(fault === undefined).toBe(holds);
    }
  });

  it('checks of indices from memory, conditions on data, and what is known to fail', () => {
    const kernel = grid(({ collect, x, y, sum, store }) => [
      collect(y, x),
      ir.ifElse(lt(read(sum), i32(3)), [collect(y, read(sum))]),
      ir.ifElse(lt(tid, i32(5)), [store]),
    ]);
    const { interior } = find(kernel, BLOCK);
    expect(left(interior?.body ?? []).sort()).toEqual(['check', 'if', 'if']);
  });
});

describe('uniform', () => {
  it('is compared anew in every block, interior or not', () => {
    const kernel = grid(({ x, y, w, sum, collect, store }) => [
      assign(sum, ir.unary('uniform', ir.special('blockIdx.x'))),
      collect(y, clamp(add(x, i32(16)), w)),
      store,
    ]);
    expect(find(kernel, BLOCK).interior).toBeDefined();
    // The last block is at the edge; those before it are not.
    const launch = { grid: [3, 1, 1] as const, block: BLOCK };
    const plain = new Uint8Array(2 * SIZE);
    const args = [0, SIZE, 48, 4];
    expect(interpret(kernel, launch, args, plain).fault).toBeUndefined();
    for (const lanes of [1, 4] as const) {
      const got = runWasm(kernel, { ...launch, lanes }, args, new Uint8Array(2 * SIZE));
      expect(got.fault).toBeUndefined();
      expect(got.memory.slice(0, 2 * SIZE)).toEqual(plain);
    }
  });
});

// ---------------------------------------------------------------- random kernels

/** A random stencil, and how many arguments it has beside the arrays, w and h. */
function random(seed: number): Kernel {
  const r = new Random(seed);
  return grid((t) => {
    const { b, w, h, x, y } = t;
    const reach = b.value('i32', 'r');
    const far = b.value('i32', 'far');
    const index = (at: Expr, n: Expr, counters: readonly Expr[]): Expr => {
      let e = at;
      if (r.chance(0.7)) e = add(e, r.chance(0.1) ? far : i32(r.below(5) - 2));
      if (counters.length > 0 && r.chance(0.7)) e = r.pick([add, sub])(e, r.pick(counters));
      return r.pick<() => Expr>([
        () => e,
        () => clamp(e, n),
        () => around(e, n),
        () => around(binary('rem', e, n), n),
        () => binary('rem', e, n),
        () => binary('and', e, sub(n, i32(1))),
        () => ir.select(ir.eq(at, i32(0)), sub(n, i32(1)), sub(at, i32(1))),
        () => ir.select(lt(add(at, i32(1)), n), add(at, i32(1)), i32(0)),
      ])();
    };
    const condition = (depth: number, counters: readonly Expr[]): Expr => {
      if (depth > 0 && r.chance(0.6)) {
        const [p, q] = [condition(depth - 1, counters), condition(depth - 1, counters)];
        return r.pick([and(p, q), or(p, q), ir.not(p), ir.not(or(p, q))]);
      }
      const [at, n] = r.pick([[x, w] as const, [y, h] as const]);
      const bound = r.pick([
        i32(r.below(4)),
        n,
        sub(n, i32(1 + r.below(2))),
        i32(40),
        far,
        add(far, i32(25)),
        sub(far, i32(7)),
      ]);
      const place = counters.length > 0 && r.chance(0.4) ? add(at, r.pick(counters)) : at;
      return ir.compare(r.pick(['lt', 'le', 'gt', 'ge', 'eq', 'ne']), place, bound);
    };
    const named = b.variable('i32', 'named');
    const list = (depth: number, counters: readonly Expr[]): Stmt[] =>
      Array.from({ length: 1 + r.below(3) }, () => statement(depth, counters)).flat();
    const statement = (depth: number, counters: readonly Expr[]): readonly Stmt[] => {
      if (depth === 0 || r.chance(0.3)) {
        if (r.chance(0.4)) {
          const first = assign(named, index(x, w, counters));
          return r.chance(0.3) ? [first] : [first, t.collect(index(y, h, counters), read(named))];
        }
        if (r.chance(0.1)) return [t.collect(y, read(named))];
        return [t.collect(index(y, h, counters), index(x, w, counters))];
      }
      return r.pick<() => readonly Stmt[]>([
        () => [ir.ifElse(condition(2, counters), list(depth - 1, counters), r.chance(0.3) ? list(0, counters) : [])],
        () => counting(b, i32(-r.below(3)), i32(r.below(4)), (v) => list(depth - 1, [...counters, v])),
        () =>
          counting(b, tid, r.pick([w, sub(w, i32(r.below(3)))]), (v) => list(depth - 1, [...counters, sub(v, x)]), 16),
        () => counting(b, r.pick([ir.neg(reach), i32(0)]), reach, (v) => list(depth - 1, [...counters, v])),
      ])();
    };
    const inside = and(lt(x, w), lt(y, h));
    return r.pick<() => readonly Stmt[]>([
      () => [ir.ifElse(inside, [...list(2, []), t.store])],
      () => [ir.ifElse(and(inside, ir.not(condition(1, []))), [...list(2, []), t.store])],
      () => [...list(2, []), ir.ifElse(inside, [t.store])],
    ])();
  });
}

/** The kernel with its interior written out, and a count of the work items that went there. */
function spelledOut(kernel: Kernel, { interior, body }: Found): Kernel {
  if (interior === undefined) return kernel;
  const b = ir.KernelBuilder.from(kernel);
  const counter = b.global('i32', 'counter');
  const count = ir.atomic('add', ir.at(counter, i32(0)), [i32(1)]);
  return {
    ...b.build([ir.ifElse(interior.holds, [count, ...interior.body], body)], { checked: true }),
    vars: [...b.vars],
  };
}

/** Bytes of an array. */
const SIZE = 4 * 60 * 15;

describe('blocks at an edge', () => {
  const store = ({ x, y, w, h, store }: Parts): Stmt => ir.ifElse(and(lt(x, w), lt(y, h)), [store]);
  const one = ({ sum }: Parts): Stmt => assign(sum, add(read(sum), i32(1)));
  const far = (t: Parts): Expr => t.b.value('i32', 'far');
  /** Of two conditions, so that none of them is turned round beforehand. */
  const leave = (t: Parts, fn: 'gt' | 'ge' | 'lt' | 'le', limit: Expr): Expr =>
    ir.not(or(ir.compare(fn, t.x, limit), ir.eq(t.y, i32(1))));
  const cases: readonly (readonly [name: string, far: number, body: (t: Parts) => readonly Stmt[]])[] = [
    ['wrap at the far edge', 0, (t) => [t.collect(around(t.y, t.h), around(add(t.x, i32(3)), t.w))]],
    ['wrap at the near edge', 0, (t) => [t.collect(around(t.y, t.h), around(sub(t.x, i32(3)), t.w))]],
    ['clamp at the near edge', 0, (t) => [t.collect(clamp(sub(t.y, i32(2)), t.h), clamp(sub(t.x, i32(2)), t.w))]],
    ['clamp at the far edge', 0, (t) => [t.collect(clamp(t.y, t.h), clamp(add(t.x, i32(2)), t.w))]],
    // The last column of a block, and the first one.
    ['leave beyond a column', 30, (t) => [ir.ifElse(leave(t, 'gt', far(t)), [one(t)])]],
    ['leave at a column', 31, (t) => [ir.ifElse(leave(t, 'ge', far(t)), [one(t)])]],
    ['leave before a column', 0, (t) => [ir.ifElse(leave(t, 'lt', i32(17)), [one(t)])]],
    ['leave up to a column', 0, (t) => [ir.ifElse(leave(t, 'le', i32(16)), [one(t)])]],
    ['compare with a sum that wraps', 2 ** 31 - 20, (t) => [ir.ifElse(lt(t.x, add(far(t), i32(25))), [one(t)])]],
    ['compare with a difference that wraps', -(2 ** 31), (t) => [ir.ifElse(lt(t.x, sub(far(t), i32(7))), [one(t)])]],
    ['compare a sum that wraps', 10 - 2 ** 31, (t) => [ir.ifElse(lt(sub(add(t.x, far(t)), i32(20)), t.w), [one(t)])]],
    [
      'use an index after what it was made of has changed',
      0,
      (t) => {
        const [column, place] = [t.b.variable('i32', 'column'), t.b.variable('i32', 'place')];
        return [
          assign(place, add(t.x, i32(2))),
          assign(column, around(add(read(place), i32(1)), t.w)),
          assign(place, add(read(place), i32(5))),
          t.collect(around(t.y, t.h), read(column)),
          t.collect(around(t.y, t.h), around(read(place), t.w)),
        ];
      },
    ],
  ];
  for (const [name, value, body] of cases) {
    it(name, () => {
      const kernel = grid((t) => [...body(t), store(t)], false);
      for (const [w, h] of [
        [48, 12],
        [41, 10],
      ] as const) {
        const launch = { grid: [3, 3, 1] as const, block: BLOCK };
        const image = new Uint8Array(2 * SIZE + 16);
        new Int32Array(image.buffer).forEach((_, i, all) => {
          if (4 * i < SIZE) all[i] = i;
        });
        check(kernel, launch, [0, SIZE, w, h, value], image, [{ at: SIZE, elem: 'i32', length: SIZE / 4 }]);
      }
    });
  }

  it('fail at counters that wrap before they reach their end', () => {
    const b = new ir.KernelBuilder('wraps');
    const [out, n] = [b.global('i32', 'out'), b.value('i32', 'n')];
    const end = b.label();
    const visit = (v: Expr): Stmt[] => {
      const mem = ir.at(out, v, { checks: [{ index: v, extent: n, axis: 0 }] });
      // Without the check it would go on for ever.
      return [ir.ifElse(lt(v, i32(64)), [ir.store(mem, i32(1))]), ir.ifElse(lt(v, i32(0)), [ir.breakTo(end)])];
    };
    const kernel = b.build([ir.block(end, counting(b, tid, n, visit, 2 ** 30))], { checked: true });
    expect(find(kernel, [64, 1, 1]).interior).toBeDefined();
    for (const lanes of [1, 4] as const) {
      const launch = { grid: [1, 1, 1] as const, block: [64, 1, 1] as const, lanes };
      expect(runWasm(kernel, launch, [512, 2 ** 30], new Uint8Array(1024)).fault).toBeUndefined();
      expect(runWasm(kernel, launch, [512, 2 ** 31 - 1], new Uint8Array(1024)).fault).toMatchObject({
        thread: 0,
        index: BigInt(-(2 ** 31)),
      });
    }
  });

  it('fail beyond an extent that is nearer than their guard', () => {
    const b = new ir.KernelBuilder('nearer');
    const [out, n, m] = [b.global('i32', 'out'), b.value('i32', 'n'), b.value('i32', 'm')];
    const i = add(mul(ir.special('blockIdx.x'), i32(64)), tid);
    const index = add(i, i32(3));
    const mem = ir.at(out, index, { checks: [{ index, extent: m, axis: 0 }] });
    const kernel = b.build([ir.ifElse(lt(i, n), [ir.store(mem, i32(1))])], { checked: true });
    const launch = { grid: [2, 1, 1] as const, block: [64, 1, 1] as const, lanes: 4 as const };
    // The last vector that the guard lets through lies in it as a whole.
    const run = (extent: number) => runWasm(kernel, launch, [512, 104, extent], new Uint8Array(1024));
    expect(run(107).fault).toBeUndefined();
    for (const extent of [106, 105, 104, 90, 60]) expect(run(extent).fault).toMatchObject({ index: BigInt(extent) });
  });

  it('fail at indices that go backwards by a factor', () => {
    const b = new ir.KernelBuilder('backwards');
    const [out, step] = [b.global('i32', 'out'), b.value('i32', 'step')];
    const index = add(mul(ir.special('threadIdx.y'), step), add(tid, mul(ir.special('blockIdx.x'), i32(16))));
    const mem = ir.at(out, index, { checks: [{ index, extent: b.value('i32', 'n'), axis: 0 }] });
    const kernel = b.build([ir.store(mem, i32(1))], { checked: true });
    const launch = { grid: [1, 1, 1] as const, block: BLOCK, lanes: 4 as const };
    expect(runWasm(kernel, launch, [512, 16, 64], new Uint8Array(1024)).fault).toBeUndefined();
    expect(runWasm(kernel, launch, [512, -16, 64], new Uint8Array(1024)).fault).toMatchObject({
      thread: 16,
      index: -16n,
    });
  });
});

/** w, h, r and far of two launches of a kernel. */
function launches(seed: number): readonly (readonly [number, number, number, number])[] {
  const all = [
    [48, 12, 2, 3],
    [41, 10, 1, -9],
    [32, 8, 3, 2 ** 31 - 20],
    [60, 15, 0, -(2 ** 31)],
  ] as const;
  return all.filter((_, k) => k % 2 === seed % 2);
}

describe('random stencils', () => {
  const first = Number(process.env.WASM_SEED ?? 1);
  const count = Number(process.env.WASM_PROGRAMS ?? 25);
  it('do in interior blocks what they do in all blocks', { timeout: 300_000 }, () => {
    let [both, wrong] = [0, 0];
    for (let seed = first; seed < first + count; seed++) {
      const kernel = random(seed);
      const found = find(kernel, BLOCK);
      const whole = spelledOut(simplify(kernel, { block: BLOCK }), found);
      for (const [w, h, reach, far] of launches(seed)) {
        const launch = { grid: [3, 3, 1] as const, block: BLOCK };
        const image = new Uint8Array(2 * SIZE + 16);
        new Int32Array(image.buffer).forEach((_, i, all) => {
          if (4 * i < SIZE) all[i] = (i * 7919) % 64;
        });
        const args = [0, SIZE, w, h, reach, far];
        const name = `seed ${seed}, ${w} x ${h}`;
        const plain = image.slice();
        const { fault } = interpret(kernel, launch, args, plain);
        const results = (memory: Uint8Array): Uint8Array => memory.slice(0, 2 * SIZE);
        for (const lanes of [1, 4] as const) {
          const got = runWasm(kernel, { ...launch, lanes }, args, image);
          expect(got.fault?.site.kind, name).toBe(fault?.kind);
          if (fault === undefined) expect(results(got.memory), name).toEqual(results(plain));
        }
        if (found.interior === undefined) continue;
        const other = image.slice();
        const outcome = interpret(whole, launch, [...args, 2 * SIZE], other);
        expect(outcome.fault, name).toEqual(fault);
        if (fault !== undefined) wrong++;
        else expect(results(other), name).toEqual(results(plain));
        const inside = new Int32Array(other.buffer)[(2 * SIZE) / 4] ?? 0;
        if (inside > 0 && inside < 9 * 64) both++;
      }
    }
    expect(both).toBeGreaterThan(count / 3);
    expect(wrong).toBeGreaterThan(count / 20);
  });
});
