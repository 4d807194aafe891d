/**
 * Local arrays that become variables, and loads that are made once: which, and that kernels then do the same.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { ArraySym, Expr, Kernel, Stmt } from '../ops.ts';
import { verify } from '../verify.ts';
import { reuseLoads } from './reuse-loads.ts';
import { replaceArrays } from './scalars.ts';
import { simplify } from './simplify.ts';
import { unroll } from './unroll.ts';
import { eachExpr } from './walk.ts';

const t = ir.special('threadIdx.x');
const SIZE = 64;

/** `for (it = 0; it < n; it++) body(it)` */
function over(b: ir.KernelBuilder, n: number, body: (it: Expr) => readonly Stmt[]): readonly Stmt[] {
  const it = b.variable('i32', 'it');
  const label = b.label();
  return [
    ir.assign(it, ir.i32(0)),
    ir.loop(
      label,
      [ir.ifElse(ir.ge(ir.read(it), ir.i32(n)), [ir.breakTo(label)]), ...body(ir.read(it))],
      [ir.assign(it, ir.add(ir.read(it), ir.i32(1)))],
    ),
  ];
}

interface Tile {
  readonly b: ir.KernelBuilder;
  readonly acc: ArraySym;
  readonly element: (k: Expr) => ReturnType<typeof ir.at>;
}

/** A tile of products over shared memory: rows × columns accumulators, two steps with a barrier before each. */
function product(rows: number, columns: number, more: (tile: Tile) => readonly Stmt[] = () => []): Kernel {
  const b = new ir.KernelBuilder('tile');
  const out = b.global('f32', 'out');
  const shared = b.shared('f32', 'shared', SIZE);
  const acc = b.local('f32', 'acc', rows * columns);
  const checked = (array: ArraySym, index: Expr, extent: number) =>
    ir.at(array, index, { checks: [{ index, extent: ir.i32(extent), axis: 0 }] });
  const element = (k: Expr) => checked(acc, k, rows * columns);
  const own = (k: Expr): Expr => ir.add(ir.mul(t, ir.i32(rows * columns)), k);
  const row = (i: Expr): Expr => ir.load(checked(shared, ir.add(ir.binary('shr', t, ir.i32(2)), i), SIZE));
  const column = (j: Expr): Expr => ir.load(checked(shared, ir.add(ir.i32(20), ir.add(t, j)), SIZE));
  return b.build(
    [
      ir.store(ir.at(shared, t), ir.cast('f32', ir.add(t, ir.i32(3)))),
      ir.store(ir.at(shared, ir.add(t, ir.i32(32))), ir.f32(0.37)),
      ...over(b, rows * columns, (k) => [ir.store(element(k), ir.f32(0))]),
      ...over(b, 2, () => [
        ir.barrier(),
        ...over(b, rows, (i) =>
          over(b, columns, (j) => {
            const k = b.variable('i32', 'k');
            const at = element(ir.read(k));
            return [
              ir.assign(k, ir.add(ir.mul(i, ir.i32(columns)), j)),
              ir.store(at, ir.add(ir.load(at), ir.mul(row(i), column(j)))),
            ];
          }),
        ),
      ]),
      ...more({ b, acc, element }),
      ...over(b, rows * columns, (k) => [ir.store(ir.at(out, own(k)), ir.load(element(k)))]),
    ],
    { checked: true },
  );
}

const unrolled = (k: Kernel): Kernel => simplify(unroll(simplify(k)));
const locals = (k: Kernel): number => k.arrays.filter((a) => a.space === 'local').length;
const loads = (k: Kernel): number => {
  let n = 0;
  eachExpr(k.body, (e) => {
    if (e.op === 'load') n++;
  });
  return n;
};

describe('local arrays', () => {
  it('are variables where every access names its element, after loops over them are unrolled', () => {
    for (const [rows, columns] of [
      [2, 2],
      [4, 4],
      [8, 8],
    ] as const)
      expect(locals(replaceArrays(unrolled(product(rows, columns))))).toBe(0);
  });

  it('stay arrays where an index is known to the thread alone, or is out of range', () => {
    const mine = product(2, 2, ({ element }) => [ir.store(element(ir.and(t, ir.i32(3))), ir.f32(1))]);
    expect(locals(replaceArrays(unrolled(mine)))).toBe(1);
    const beyond = product(2, 2, ({ element }) => [ir.store(element(ir.i32(4)), ir.f32(1))]);
    expect(locals(replaceArrays(unrolled(beyond)))).toBe(1);
    const large = product(8, 9);
    expect(unrolled(large).body.length).toBeLessThan(60);
    expect(locals(replaceArrays(unrolled(large)))).toBe(1);
  });

  it('of numbers with parts are a variable for each part, unless parts overlap', () => {
    const pairs = (second: number): Kernel => {
      const b = new ir.KernelBuilder('pairs');
      const pair = b.local('u64', 'pair', 4);
      const out = b.global('f64', 'out');
      const part = (k: number, disp: number) =>
        ({ ...ir.at(pair, ir.i32(k), { disp }), elem: 'f64', scale: 16 }) as const;
      const stores = [0, 1].flatMap((k) => [
        ir.store(part(k, 0), ir.cast('f64', ir.add(t, ir.i32(k)))),
        ir.store(part(k, second), ir.cast('f64', ir.add(t, ir.i32(10 + k)))),
      ]);
      const sum = ir.add(ir.load(part(0, second)), ir.load(part(1, 0)));
      return b.build([...stores, ir.store(ir.at(out, t), sum)]);
    };
    const replaced = replaceArrays(pairs(8));
    expect(verify(replaced)).toEqual(verify(pairs(8)));
    expect([locals(replaced), loads(replaced), replaced.vars.length]).toEqual([0, 0, 4]);
    expect(locals(replaceArrays(pairs(4)))).toBe(1);
  });

  it('keep their types: bytes would have to be narrowed', () => {
    const b = new ir.KernelBuilder('bytes');
    const bytes = b.local('u8', 'bytes', 2);
    const out = b.global('i32', 'out');
    const k = b.build([
      ir.store(ir.at(bytes, ir.i32(0)), ir.i32(300)),
      ir.store(ir.at(out, t), ir.load(ir.at(bytes, ir.i32(0)))),
    ]);
    expect(replaceArrays(k)).toBe(k);
  });
});

describe('repeated loads', () => {
  it('of rows and columns are made once a stretch', () => {
    const k = replaceArrays(unrolled(product(4, 4)));
    expect([loads(k), loads(reuseLoads(k))]).toEqual([2 * 16, 2 * 4]);
  });

  it('are made again after a store, a barrier, and where their index has changed', () => {
    const b = new ir.KernelBuilder('again');
    const out = b.global('i32', 'out');
    const [i, v] = [b.variable('i32', 'i'), b.variable('i32', 'v')];
    const element = (): Expr => ir.load(ir.at(out, ir.read(i)));
    const add = (): Stmt => ir.assign(v, ir.add(ir.read(v), element()));
    const k = b.build([
      ir.assign(i, t),
      add(),
      ir.assign(i, ir.add(ir.read(i), ir.i32(1))),
      add(),
      ir.store(ir.at(out, ir.i32(0)), ir.read(v)),
      add(),
      ir.barrier(),
      add(),
      ir.store(ir.at(out, t), ir.read(v)),
    ]);
    expect(reuseLoads(k)).toBe(k);
  });
});

describe('kernels without their arrays', () => {
  it('do the same, with whatever stands between', () => {
    const launch = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
    const run = (k: Kernel, n: number): Uint8Array => {
      const image = new Uint8Array(4 * 32 * n);
      interpret(k, launch, [0], image);
      return image;
    };
    for (const [rows, columns] of [
      [1, 2],
      [3, 2],
      [4, 4],
      [8, 4],
    ] as const) {
      const n = rows * columns;
      const source = product(rows, columns, ({ b, element }) => [
        ...over(b, n, (k) => [
          ir.ifElse(
            ir.lt(ir.and(t, ir.i32(3)), ir.and(k, ir.i32(3))),
            [ir.store(element(k), ir.mul(ir.load(element(k)), ir.f32(-2)))],
            [ir.store(element(ir.sub(ir.i32(n - 1), k)), ir.add(ir.load(element(k)), ir.f32(1)))],
          ),
        ]),
      ]);
      const done = reuseLoads(replaceArrays(unrolled(source)));
      verify(done);
      expect(locals(done)).toBe(0);
      expect(run(done, n)).toEqual(run(source, n));
    }
  });
});
