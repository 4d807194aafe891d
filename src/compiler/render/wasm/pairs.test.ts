/**
 * Two work items together through a loop whose rounds wait for each other.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Kernel, MemRef, Stmt, Var } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, assign, breakTo, ge, i32, ifElse, load, loop, lt, mul, read, store } = ir;
const item = add(mul(ir.special('blockIdx.x'), ir.special('blockDim.x')), ir.special('threadIdx.x'));
/** Elements of each array. */
const N = 128;

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly i: Var;
  readonly k: Var;
  readonly sum: Var;
  readonly starts: ArraySym;
  readonly x: (index: Expr) => Expr;
  readonly out: (index: Expr) => MemRef;
  /** Extents that x and out are checked against, and a number. */
  readonly extents: readonly [x: Expr, out: Expr];
  readonly n: Expr;
}

function kernelOf(body: (p: Parts) => readonly Stmt[]): Kernel {
  const b = new ir.KernelBuilder('walk');
  const [starts, x, out] = [b.global('i32', 'starts'), b.global('i32', 'x'), b.global('i32', 'out')];
  const [ofX, ofOut, n] = [b.value('i32', 'ofX'), b.value('i32', 'ofOut'), b.value('i32', 'n')];
  const [i, k, sum] = [b.variable('i32', 'i'), b.variable('i32', 'k'), b.variable('i32', 'sum')];
  const parts: Parts = {
    b,
    i,
    k,
    sum,
    starts,
    x: (index) => load(ir.at(x, index, { checks: [{ index, extent: ofX, axis: 0 }] })),
    out: (index) => ir.at(out, index, { checks: [{ index, extent: ofOut, axis: 0 }] }),
    extents: [ofX, ofOut],
    n,
  };
  return b.build([assign(i, item), ...body(parts)], { checked: true });
}

const next = (v: Var): Stmt => assign(v, add(read(v), i32(1)));
const mixed = (sum: Var, e: Expr): Stmt => assign(sum, add(mul(read(sum), i32(31)), e));

/** `for (k = starts[i]; k < starts[i + 1]; k++) round`. */
function alongRow({ b, i, k, starts }: Parts, round: readonly Stmt[]): Stmt[] {
  const label = b.label();
  const end = load(ir.at(starts, add(read(i), i32(1))));
  return [
    assign(k, load(ir.at(starts, read(i)))),
    loop(label, [ifElse(ge(read(k), end), [breakTo(label)]), ...round], [next(k)]),
  ];
}

/** Starts of rows of different lengths, some of them empty; their elements; what is stored. */
function image(change: (all: Int32Array) => void = () => undefined): Uint8Array {
  const all = new Int32Array(3 * N + 16);
  for (let i = 1; i < N; i++) all[i] = Math.min((all[i - 1] ?? 0) + ((i * 7) % 5), N);
  for (let i = 0; i < N; i++) all[N + i] = (i * 37 + 11) % N;
  change(all);
  return new Uint8Array(all.buffer);
}

const ARGS = [0, 4 * N, 8 * N, N, N, 40] as const;
const REGIONS = [{ at: 0, elem: 'i32', length: 3 * N + 16 }] as const;

/** Whether items of a row of so many are run in pairs, which is three times the code of items that have no neighbour. */
function inPairs(kernel: Kernel, width = 16): boolean {
  const bytes = (x: number): number =>
    renderWasm(kernel, { block: [x, 1, 1], lanes: 1, concurrent: false, memory64: false }).bytes.length;
  return bytes(width) > bytes(17) + 150;
}

const hash = kernelOf((p) => [
  ifElse(lt(read(p.i), p.n), [
    assign(p.sum, i32(7)),
    ...alongRow(p, [mixed(p.sum, p.x(read(p.k)))]),
    store(p.out(read(p.i)), read(p.sum)),
  ]),
]);

describe('pairs', () => {
  for (const block of [
    [2, 1, 1],
    [16, 1, 1],
    [24, 2, 1],
    [6, 2, 3],
    [15, 1, 1],
  ] as const) {
    for (const n of [0, 1, 31, 40, 41]) {
      it(`of a block of ${block.join(' × ')}, ${n} items`, () => {
        const items = block[0] * block[1] * block[2];
        const grid = [Math.ceil(48 / items), 1, 1] as const;
        check(hash, { block, grid, lanes: 1 }, [...ARGS.slice(0, 5), n], image(), REGIONS);
      });
    }
  }

  it('go on alone, whichever of both leaves first', () => {
    for (const lengths of [
      [5, 0],
      [0, 5],
      [1, 9],
      [9, 1],
      [0, 0],
      [3, 3],
    ] as const) {
      const rows = image((all) => {
        for (let i = 1; i < N; i++) all[i] = Math.min((all[i - 1] ?? 0) + (lengths[(i - 1) % 2] ?? 0), N);
      });
      check(hash, { block: [16, 1, 1], lanes: 1 }, ARGS, rows, REGIONS);
    }
  });

  it('walk from node to node, store on their way and choose', () => {
    const walk = kernelOf((p) => {
      const label = p.b.label();
      return [
        assign(p.k, read(p.i)),
        loop(label, [
          ifElse(ir.eq(ir.binary('and', read(p.k), i32(15)), i32(3)), [breakTo(label)]),
          assign(p.k, p.x(read(p.k))),
          ifElse(lt(read(p.k), i32(50)), [mixed(p.sum, read(p.k))], [next(p.sum)]),
          store(p.out(read(p.i)), read(p.sum)),
        ]),
        store(p.out(add(read(p.i), i32(64))), read(p.k)),
      ];
    });
    expect(inPairs(walk)).toBe(true);
    check(walk, { block: [16, 1, 1], grid: [3, 1, 1], lanes: 1 }, ARGS, image(), REGIONS);
  });

  it('begin anew with variables that nothing was assigned to', () => {
    const fresh = kernelOf((p) => [...alongRow(p, [mixed(p.sum, read(p.k))]), store(p.out(read(p.i)), read(p.sum))]);
    expect(inPairs(fresh)).toBe(true);
    check(fresh, { block: [16, 1, 1], grid: [4, 1, 1], lanes: 1 }, ARGS, image(), REGIONS);
  });

  it('read what each of them alone has stored, where arrays are the same', () => {
    const own = kernelOf((p) => [
      assign(p.sum, load(p.out(read(p.i)))),
      ...alongRow(p, [mixed(p.sum, p.x(read(p.k))), store(p.out(read(p.i)), add(load(p.out(read(p.i))), read(p.sum)))]),
      store(p.out(read(p.i)), mul(load(p.out(read(p.i))), i32(3))),
    ]);
    check(own, { block: [16, 1, 1], grid: [4, 1, 1], lanes: 1 }, ARGS, image(), REGIONS);
    const overlapping = [0, 4 * N, 4 * N + 4 * 100, N, 28, 40] as const;
    const short = image((all) => all.fill(90, 20, N));
    check(own, { block: [20, 1, 1], lanes: 1 }, overlapping, short, REGIONS);
  });
});

describe('faults', () => {
  /** A row's element that is out of range for one item, at one of its rounds, or nowhere. */
  for (const culprit of [0, 1, 6, 7, 38, 39]) {
    for (const round of [0, 1, 3]) {
      it(`of item ${culprit} in round ${round} are its own`, () => {
        const gather = kernelOf((p) => [
          ifElse(lt(read(p.i), p.n), [
            ...alongRow(p, [mixed(p.sum, p.x(p.x(read(p.k))))]),
            store(p.out(read(p.i)), read(p.sum)),
          ]),
        ]);
        const rows = image((all) => {
          for (let i = 1; i < N; i++) all[i] = Math.min((all[i - 1] ?? 0) + 2 + (i % 2), N);
          const at = (all[culprit] ?? 0) + round;
          if (at < (all[culprit + 1] ?? 0)) all[N + at] = N + 5;
        });
        const fault = check(gather, { block: [20, 1, 1], grid: [2, 1, 1], lanes: 1 }, ARGS, rows, REGIONS);
        const long = culprit % 2 === 0 ? 3 : 2;
        expect(fault?.thread).toBe(round < long ? culprit % 20 : undefined);
      });
    }
  }

  it('in front of the loop and behind it are reported of the item that they are of', () => {
    for (const [x, out] of [
      [37, N],
      [36, N],
      [N, 37],
      [N, 36],
    ] as const) {
      const edges = kernelOf((p) => [
        assign(p.sum, p.x(read(p.i))),
        ...alongRow(p, [mixed(p.sum, read(p.k))]),
        store(p.out(read(p.i)), read(p.sum)),
      ]);
      const fault = check(edges, { block: [38, 1, 1], lanes: 1 }, [0, 4 * N, 8 * N, x, out, 40], image(), REGIONS);
      expect(fault?.thread).toBe(Math.min(x, out));
    }
  });
});

describe('items are run one by one', () => {
  it('where a round needs nothing of the one before it, or much is carried', () => {
    const apart = kernelOf((p) => alongRow(p, [store(p.out(read(p.k)), read(p.i))]));
    expect(inPairs(apart)).toBe(false);
    const much = kernelOf((p) => {
      const more = Array.from({ length: 6 }, (_, v) => p.b.variable('i32', `v${v}`));
      return [
        ...alongRow(
          p,
          more.map((v) => mixed(v, read(p.k))),
        ),
        store(p.out(read(p.i)), more.map((v): Expr => read(v)).reduce(add)),
      ];
    });
    expect(inPairs(much)).toBe(false);
    check(much, { block: [16, 1, 1], lanes: 1 }, ARGS, image(), REGIONS);
  });

  it('where something is stored, counted or printed in front of the loop, and in rows of odd length', () => {
    const stored = kernelOf((p) => [
      store(p.out(read(p.i)), i32(1)),
      ...alongRow(p, [mixed(p.sum, read(p.k))]),
      store(p.out(read(p.i)), read(p.sum)),
    ]);
    expect(inPairs(stored)).toBe(false);
    const printed = kernelOf((p) => [...alongRow(p, [mixed(p.sum, read(p.k))]), ir.print(['sum', read(p.sum)])]);
    check(printed, { block: [16, 1, 1], lanes: 1 }, ARGS, image(), REGIONS);
    expect(inPairs(hash, 15)).toBe(false);
    expect(inPairs(hash)).toBe(true);
  });
});
