/**
 * Unroll and jam: which regions are run several rows at a time, and that they then do the same.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';
import { renderWasm } from './render.ts';

type Block = readonly [number, number, number];
const [tx, ty] = [ir.special('threadIdx.x'), ir.special('threadIdx.y')];

/** How often an instruction stands in the code of a kernel; other bytes that look like it are unlikely. */
function occurrences(kernel: Kernel, block: Block, instruction: readonly number[]): number {
  const { bytes } = renderWasm(kernel, { block, lanes: 4, concurrent: false, memory64: false });
  let n = 0;
  for (let i = 0; i + instruction.length <= bytes.length; i++) if (instruction.every((b, k) => bytes[i + k] === b)) n++;
  return n;
}
const F32X4_MUL = [0xfd, 0xe6, 0x01];

/** acc += tileA[ty][k] * tileB[k][tx], with or without something in the loop that only one row can do at a time. */
function product(block: Block, extra: (acc: Var) => readonly Stmt[] = () => []): Kernel {
  const [w, h, d] = block;
  const b = new ir.KernelBuilder('product');
  const out = b.global('f32', 'out');
  const tileA = b.shared('f32', 'tileA', w * h);
  const tileB = b.shared('f32', 'tileB', w * h);
  const acc = b.variable('f32', 'acc');
  const k = b.variable('i32', 'k');
  const label = b.label();
  const own = ir.add(ir.mul(ty, ir.i32(w)), tx);
  const cell = ir.add(own, ir.mul(ir.special('threadIdx.z'), ir.i32(w * h)));
  const value = (scale: number): Expr => ir.cast('f32', ir.sub(ir.mul(own, ir.i32(scale)), ir.i32(77)));
  const a = ir.load(ir.at(tileA, ir.add(ir.mul(ty, ir.i32(w)), ir.read(k))));
  const c = ir.load(ir.at(tileB, ir.add(ir.mul(ir.read(k), ir.i32(w)), tx)));
  return b.build(
    [
      ir.assign(acc, ir.f32(1)),
      ir.ifElse(ir.lt(ir.special('threadIdx.z'), ir.i32(d)), [
        ir.store(ir.at(tileA, own), value(3)),
        ir.store(ir.at(tileB, own), value(5)),
      ]),
      ir.barrier(),
      ir.assign(k, ir.i32(0)),
      ir.loop(
        label,
        [
          ir.ifElse(ir.ge(ir.read(k), ir.i32(Math.min(w, h))), [ir.breakTo(label)]),
          ir.assign(acc, ir.add(ir.read(acc), ir.mul(a, c))),
          ...extra(acc),
        ],
        [ir.assign(k, ir.add(ir.read(k), ir.i32(1)))],
      ),
      ir.barrier(),
      ir.store(ir.at(out, cell), ir.read(acc)),
    ],
    { checked: true },
  );
}

describe('what is jammed', () => {
  it('rows that share what they load, as many as registers hold', () => {
    // Sixteen lanes are four parts: two rows.
    expect(occurrences(product([16, 16, 1]), [16, 16, 1], F32X4_MUL)).toBe(8);
    // Eight lanes are two parts: four rows.
    expect(occurrences(product([8, 8, 1]), [8, 8, 1], F32X4_MUL)).toBe(8);
    expect(occurrences(product([8, 6, 1]), [8, 6, 1], F32X4_MUL)).toBe(6);
    expect(occurrences(product([8, 7, 1]), [8, 7, 1], F32X4_MUL)).toBe(2);
    expect(occurrences(product([8, 1, 1]), [8, 1, 1], F32X4_MUL)).toBe(2);
  });

  it('nothing whose rows may take different ways', () => {
    const parting = product([8, 8, 1], (acc) => [
      ir.ifElse(ir.lt(ty, ir.i32(3)), [ir.assign(acc, ir.add(ir.read(acc), ir.f32(1)))]),
    ]);
    expect(occurrences(parting, [8, 8, 1], F32X4_MUL)).toBe(2);
  });
});

describe('products of tiles', () => {
  const blocks: readonly Block[] = [
    [16, 16, 1],
    [8, 8, 1],
    [8, 6, 1],
    [4, 9, 1],
    [8, 4, 2],
    [32, 2, 1],
    [12, 4, 1],
    [8, 5, 1],
  ];
  it.each(blocks)('in blocks of %d × %d × %d', (w, h, d) => {
    const n = w * h * d;
    check(product([w, h, d]), { block: [w, h, d] }, [0], new Uint8Array(4 * n), [{ at: 0, elem: 'f32', length: n }]);
  });
});

// ---------------------------------------------------------------- random regions

const WIDTH = 8;

/** Fills shared tiles, then computes from them by assignments, loops and branches that all threads take together. */
function randomRegion(seed: number, block: Block): Kernel {
  const r = new Random(seed);
  const [w, h, d] = block;
  const threads = w * h * d;
  const b = new ir.KernelBuilder(`region${seed}`);
  const out = b.global('i32', 'out');
  const n = b.value('i32', 'n');
  const whole = b.shared('i32', 'whole', threads + 64);
  const real = b.shared('f32', 'real', threads + 64);
  const own = ir.add(tx, ir.mul(ir.i32(w), ir.add(ty, ir.mul(ir.i32(h), ir.special('threadIdx.z')))));
  // Few, so that the values of several rows fit into registers; the last one does not outlive the region.
  const i = Array.from({ length: 1 + r.below(2) }, (_, k) => b.variable('i32', `i${k}`));
  const f = Array.from({ length: r.below(2) }, (_, k) => b.variable('f32', `f${k}`));
  const passing = b.variable('i32', 'passing');
  const ints = [...i, passing];
  const counters: Var[] = [];

  const index = (): Expr => {
    const parts: Expr[] = [
      r.pick([tx, tx, ir.i32(3), ir.mul(ty, ir.i32(w)), own, ir.and(ir.read(r.pick(ints)), ir.i32(7))]),
    ];
    const counter = counters.length > 0 ? r.pick(counters) : undefined;
    if (counter !== undefined) parts.push(ir.mul(ir.read(counter), ir.i32(r.pick([1, 4]))));
    const sum = parts.reduce(ir.add);
    return ir.binary('rem', ir.binary('max', sum, ir.i32(0)), ir.i32(threads));
  };
  const checked = (array: typeof whole): Expr => {
    const at = index();
    return ir.load(ir.at(array, at, { checks: [{ index: at, extent: ir.i32(threads + 64), axis: 0 }] }));
  };
  const integer = (depth: number): Expr => {
    if (depth === 0) {
      return r.pick<() => Expr>([
        () => ir.read(r.pick(ints)),
        () => tx,
        () => ty,
        () => n,
        () => checked(whole),
        () => checked(whole),
        () => ir.i32(r.below(9)),
        () => (counters.length > 0 ? ir.read(r.pick(counters)) : own),
      ])();
    }
    if (r.chance(0.1)) return ir.select(ir.lt(integer(depth - 1), integer(0)), integer(depth - 1), integer(0));
    return ir.binary(r.pick(['add', 'sub', 'mul', 'xor', 'max'] as const), integer(depth - 1), integer(depth - 1));
  };
  const float = (depth: number): Expr => {
    if (depth === 0)
      return r.pick<() => Expr>([() => ir.cast('f32', ty), () => checked(real), ...f.map((v) => () => ir.read(v))])();
    return ir.binary(r.pick(['add', 'sub', 'mul', 'max'] as const), float(depth - 1), float(depth - 1));
  };
  const common = (): Expr =>
    r.pick([ir.lt(n, ir.i32(r.below(9))), ir.lt(ir.special('blockIdx.x'), ir.i32(1)), ir.ge(n, ir.i32(2))]);
  const list = (depth: number): Stmt[] => Array.from({ length: 1 + r.below(4) }, () => statement(depth)).flat();
  const statement = (depth: number): Stmt[] => {
    if (depth > 0 && r.chance(0.25))
      return [ir.ifElse(common(), list(depth - 1), r.chance(0.5) ? list(depth - 1) : [])];
    if (depth > 0 && r.chance(0.4)) {
      const k = b.variable('i32', 'k');
      const label = b.label();
      counters.push(k);
      const body = list(depth - 1);
      if (r.chance(0.3)) body.push(ir.ifElse(common(), [r.chance(0.5) ? ir.breakTo(label) : ir.continueTo(label)]));
      if (r.chance(0.5)) body.push(...list(depth - 1));
      counters.pop();
      return [
        ir.assign(k, ir.i32(0)),
        ir.loop(
          label,
          [ir.ifElse(ir.ge(ir.read(k), ir.i32(1 + r.below(20))), [ir.breakTo(label)]), ...body],
          [ir.assign(k, ir.add(ir.read(k), ir.i32(1)))],
        ),
      ];
    }
    const real = f.length > 0 && r.chance(0.5) ? r.pick(f) : undefined;
    if (real !== undefined) return [ir.assign(real, float(1 + r.below(2)))];
    return [ir.assign(r.pick(ints), integer(1 + r.below(2)))];
  };
  const bits = (e: Expr): Expr => ir.select(ir.unary('isNaN', e), ir.i32(1), ir.bitcast('i32', ir.add(e, ir.f32(0))));
  const cell = ir.add(ir.mul(ir.add(own, ir.mul(ir.special('blockIdx.x'), ir.i32(threads))), ir.i32(WIDTH)), ir.i32(0));
  return b.build(
    [
      ir.store(ir.at(whole, own), ir.sub(ir.mul(own, ir.i32(7)), n)),
      ir.store(ir.at(real, own), ir.cast('f32', ir.sub(own, ir.i32(20)))),
      ...i.filter(() => r.chance(0.7)).map((v) => ir.assign(v, r.pick([own, ty, tx, n]))),
      ir.barrier(),
      ir.assign(passing, r.pick([ty, tx, n, own])),
      ...list(2),
      ...list(2),
      ir.barrier(),
      ...i.map((v, k) => ir.store(ir.at(out, ir.add(cell, ir.i32(k))), ir.read(v))),
      ...f.map((v, k) => ir.store(ir.at(out, ir.add(cell, ir.i32(3 + k))), bits(ir.read(v)))),
    ],
    { checked: true },
  );
}

describe('random regions', () => {
  const blocks: readonly Block[] = [
    [8, 4, 1],
    [16, 4, 1],
    [8, 6, 1],
    [4, 3, 1],
    [8, 2, 2],
    [24, 4, 1],
    [10, 4, 1],
  ];
  const first = Number(process.env.WASM_SEED ?? 1);
  const count = Number(process.env.WASM_PROGRAMS ?? 40);
  for (let chunk = 0; chunk < count; chunk += 20) {
    it(`${first + chunk} and on`, () => {
      for (let seed = first + chunk; seed < first + Math.min(chunk + 20, count); seed++) {
        const block = blocks[seed % blocks.length] ?? [8, 4, 1];
        const words = 2 * block[0] * block[1] * block[2] * WIDTH;
        check(randomRegion(seed, block), { grid: [2, 1, 1], block }, [0, seed % 11], new Uint8Array(4 * words), [
          { at: 0, elem: 'i32', length: words },
        ]);
      }
    });
  }
});

// ---------------------------------------------------------------- columns

const SHUFFLE = [0xfd, 0x0d];

/** Which access of a block that is turned around goes along columns: the load from a tile, the store to it, or that to global memory. */
type Way = 'load' | 'store' | 'global';

/** `held`: what is loaded goes through a variable of each thread; `asked`: a row and a column of a matrix are checked, which a block does ahead. */
function turned([w, h]: Block, way: Way, { rounds = 1, held = false, asked = false } = {}): Kernel {
  const b = new ir.KernelBuilder('turned');
  const out = b.global('f32', 'out');
  const n = b.value('i32', 'n');
  const size = b.value('i32', 'size');
  const tile = b.shared('f32', 'tile', w * h * rounds);
  const v = b.variable('f32', 'v');
  const first = ir.mul(ir.special('blockIdx.x'), ir.i32(w * h * rounds));
  const across = (k: number): Expr => ir.add(ir.mul(ir.add(ty, ir.i32(k * h)), ir.i32(w)), tx);
  const along = (k: number): Expr => ir.add(ir.mul(tx, ir.i32(h * rounds)), ir.add(ty, ir.i32(k * h)));
  const place = (of: Way, k: number): Expr => (of === way ? along(k) : across(k));
  const each = (one: (k: number) => readonly Stmt[]): Stmt[] => Array.from({ length: rounds }, (_, k) => one(k)).flat();
  const value = (k: number): Expr => ir.cast('f32', ir.sub(ir.add(first, ir.mul(across(k), ir.i32(3))), n));
  const checks = [tx, ty].map((index, axis) => ({ index, extent: size, axis }));
  return b.build(
    [
      ...each((k) => [ir.store(ir.at(tile, place('store', k)), value(k))]),
      ir.barrier(),
      ...each((k) => {
        const got = ir.load(ir.at(tile, place('load', k)));
        const twice = ir.mul(held ? ir.read(v) : got, ir.f32(2));
        return [
          ...(held ? [ir.assign(v, got)] : []),
          ir.store(ir.at(out, ir.add(first, place('global', k)), asked ? { checks } : {}), twice),
        ];
      }),
    ],
    { checked: true },
  );
}

describe('rows along columns', () => {
  const ways: readonly Way[] = ['load', 'store', 'global'];
  const blocks: readonly Block[] = [
    [8, 4, 1],
    [16, 16, 1],
    [32, 8, 1],
    [8, 6, 1],
    [8, 3, 1],
    [12, 4, 1],
    [8, 5, 1],
    [6, 4, 1],
  ];

  it.each(ways)('are turned in registers: %s', (way) => {
    expect(occurrences(turned([8, 4, 1], way), [8, 4, 1], SHUFFLE)).toBe(16);
    expect(occurrences(turned([8, 4, 1], way, { held: true }), [8, 4, 1], SHUFFLE)).toBe(16);
    expect(occurrences(turned([8, 4, 1], way, { asked: true }), [8, 4, 1], SHUFFLE)).toBeGreaterThanOrEqual(16);
    // Rows of an odd number stay as they are.
    expect(occurrences(turned([8, 5, 1], way), [8, 5, 1], SHUFFLE)).toBe(0);
  });

  it.each(blocks)('of blocks of %d × %d × %d', (w, h, d) => {
    for (const way of ways) {
      for (const [rounds, held, asked] of [
        [1, false, false],
        [2, false, true],
        [2, true, false],
      ] as const) {
        const length = 2 * w * h * rounds;
        const results = [{ at: 0, elem: 'f32', length }] as const;
        const kernel = turned([w, h, d], way, { rounds, held, asked });
        check(
          kernel,
          { grid: [2, 1, 1], block: [w, h, d] },
          [0, 7, Math.max(w, h)],
          new Uint8Array(4 * length),
          results,
        );
        if (!asked) continue;
        // The last column, or the last row, is beyond what there is.
        check(
          kernel,
          { grid: [2, 1, 1], block: [w, h, d] },
          [0, 7, Math.max(w, h) - 1],
          new Uint8Array(4 * length),
          [],
        );
      }
    }
  });
});
