/**
 * Members of records whose size the launch tells, or that lie anywhere: that neighbouring ones are loaded and stored as vectors, and come out right.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ElemType, Expr, Kernel, MemRef } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, mul, read } = ir;
const tid = ir.special('threadIdx.x');
const gid = add(mul(ir.special('blockIdx.x'), ir.special('blockDim.x')), tid);
const BLOCK = [20, 1, 1] as const;

interface Options {
  readonly elem: ElemType;
  /** The members that are loaded, and those that are stored, in the order of the statements. */
  readonly loads: readonly number[];
  readonly stores: readonly number[];
  /** Elements of a record; undefined: what the launch says. */
  readonly size?: number;
  readonly guarded?: boolean;
  /** Whether the values of stores are loaded by themselves, from what is stored to. */
  readonly inPlace?: boolean;
  /** Whether a table says where the record of a thread is. */
  readonly anywhere?: boolean;
}

/** Where records are that lie anywhere: each number below 64 once. */
const PLACES = Uint8Array.from({ length: 64 }, (_, k) => (k * 27 + 11) % 64);

/** `to[n * i + stored] = 3 * the sum of what is loaded + stored`, n of a launch being a parameter. */
function kernelOf({ elem, loads, stores, size, guarded, inPlace, anywhere }: Options): Kernel {
  const b = new ir.KernelBuilder('records');
  const [from, to] = [b.global(elem, 'from'), b.global(elem, 'to')];
  const given = b.value('i32', 'n');
  const n = size === undefined ? given : i32(size);
  const i = b.variable('i32', 'i');
  const place = (array: MemRef['array'], member: number): MemRef => ir.at(array, add(mul(read(i), n), i32(member)));
  const type = elem === 'f32' ? 'f32' : elem === 'u32' ? 'u32' : 'i32';
  const vars = loads.map((member) => b.variable(type, `m${member}`));
  const sum = (k: number): Expr => vars.map((v) => read(v)).reduce((a, x) => add(a, x), ir.cast(type, i32(k)));
  const list = [
    ...loads.map((member, k) => ir.assign(vars[k] as (typeof vars)[number], ir.load(place(from, member)))),
    ...stores.map((member, k) => {
      const value = mul(sum(member), ir.cast(type, i32(3)));
      return ir.store(place(to, member), inPlace && k > 0 ? add(value, ir.load(place(to, stores[0] ?? 0))) : value);
    }),
  ];
  const table = b.constants('u8', 'places', PLACES);
  return b.build([
    ir.assign(i, anywhere ? ir.load(ir.at(table, gid)) : gid),
    ...(guarded ? [ir.ifElse(ir.ne(ir.binary('rem', tid, i32(5)), i32(0)), list)] : list),
  ]);
}

function run(options: Options, n: number): void {
  const count = 1024;
  const image = Uint8Array.from({ length: 4 * count }, (_, i) =>
    i % 4 === 3 ? 0x41 : (i * 73 + (i >> 3) * 11) & 0x3f,
  );
  check(kernelOf(options), { grid: [2, 1, 1], block: BLOCK }, [0, 4 * 512, n], image, [
    { at: 0, elem: options.elem, length: count },
  ]);
}

/** How many elements are loaded into a lane, or stored from one. */
function lanesAlone(options: Options): number {
  const { bytes } = renderWasm(kernelOf(options), { block: [32, 1, 1], lanes: 4, concurrent: false, memory64: false });
  return bytes.filter((byte, i) => byte === 0xfd && [0x56, 0x5a, 0x5c].includes(bytes[i + 1] ?? 0)).length;
}

describe.each(['f32', 'i32', 'u32'] as const)('%s', (elem) => {
  it.each([
    { loads: [0, 1], stores: [0] },
    { loads: [0, 1, 2], stores: [0, 1, 2] },
    { loads: [2, 0, 3, 1], stores: [1, 0, 3, 2] },
    { loads: [3, 1], stores: [1, 2] },
    { loads: [0, 1, 2, 3, 4, 5, 6], stores: [0, 1, 2, 3, 4, 5, 6] },
    { loads: [0, 5], stores: [0, 2] },
    { loads: [0, 1], stores: [0, 1], guarded: true },
    { loads: [0, 1], stores: [1, 0, 2], inPlace: true },
    { loads: [2, 0, 3, 1], stores: [1, 0, 3, 2], anywhere: true },
    { loads: [0, 1], stores: [2, 1], anywhere: true },
    { loads: [3, 0], stores: [0, 1, 2], anywhere: true, inPlace: true },
    { loads: [2, 0, 3, 1], stores: [1, 0, 3, 2], anywhere: true, guarded: true },
  ])('%o', (options) => {
    for (const n of [7, 8]) run({ elem, ...options }, n);
    for (const size of [2, 3, 4].filter((s) => Math.max(...options.loads, ...options.stores) < s))
      run({ elem, size, ...options }, 0);
  });

  it('are vectors', () => {
    expect(lanesAlone({ elem, loads: [0, 1, 2, 3], stores: [0, 1, 2, 3] })).toBe(0);
    expect(lanesAlone({ elem, loads: [1, 0], stores: [0, 1, 2, 3], size: 2 })).toBe(0);
    expect(lanesAlone({ elem, loads: [0, 1, 2, 3], stores: [0, 1, 2, 3], anywhere: true })).toBe(0);
    expect(lanesAlone({ elem, loads: [0, 5], stores: [0, 5], anywhere: true })).toBeGreaterThan(0);
    const some = { anywhere: true, guarded: true } as const;
    expect(lanesAlone({ elem, loads: [0, 1, 2, 3], stores: [0, 1, 2, 3], ...some })).toBeGreaterThan(0);
    expect(lanesAlone({ elem, loads: [0, 4], stores: [0, 4] })).toBeGreaterThan(0);
  });
});

it('may lie in each other, or be the same for all, where they are only loaded', () => {
  for (const n of [0, 1, -3]) {
    const b = new ir.KernelBuilder('loads');
    const [from, to] = [b.global('f32', 'from'), b.global('f32', 'to')];
    const step = b.value('i32', 'n');
    const member = (k: number): Expr => ir.load(ir.at(from, add(mul(gid, step), i32(k + 150))));
    const kernel = b.build([ir.store(ir.at(to, gid), add(mul(member(0), member(2)), member(1)))]);
    const image = Uint8Array.from({ length: 4 * 300 }, (_, i) => (i % 4 === 3 ? 0x41 : (i * 73) & 0x3f));
    check(kernel, { grid: [2, 1, 1], block: BLOCK }, [0, 4 * 200, n], image, [{ at: 0, elem: 'f32', length: 300 }]);
  }
});

describe('rows of matrices that lie anywhere, each of them wanted by a statement', () => {
  /** Sums of three rows of so many members, of a matrix that a table names or of the thread's own; what is stored is their product. */
  function rows(size: number, { guarded, own }: { guarded?: boolean; own?: boolean }): Kernel {
    const b = new ir.KernelBuilder('rows');
    const [from, to] = [b.global('f32', 'from'), b.global('f32', 'to')];
    const j = b.variable('i32', 'j');
    const sums = [0, 1, 2].map((row) => b.variable('f32', `s${row}`));
    const member = (k: number): Expr => ir.load(ir.at(from, add(mul(read(j), i32(3 * size)), i32(k))));
    const list = [
      ...sums.map((v, row) =>
        ir.assign(
          v,
          Array.from({ length: size }, (_, c) => member(row * size + c)).reduce((a, x) => add(a, x)),
        ),
      ),
      ir.store(ir.at(to, gid), sums.map((v): Expr => read(v)).reduce(mul)),
    ];
    const there = own ? gid : ir.load(ir.at(b.constants('u8', 'places', PLACES), gid));
    return b.build([ir.assign(j, there), ...(guarded ? [ir.ifElse(ir.ne(ir.and(tid, i32(5)), i32(1)), list)] : list)]);
  }
  const alone = (kernel: Kernel): number => {
    const { bytes } = renderWasm(kernel, { block: [32, 1, 1], lanes: 4, concurrent: false, memory64: false });
    return bytes.filter((byte, i) => byte === 0xfd && bytes[i + 1] === 0x5c).length;
  };

  it.each([false, true])('are vectors of their own, in lanes that are active: %s', (guarded) => {
    for (const size of [3, 4]) {
      expect(alone(rows(size, { guarded }))).toBe(0);
      const image = Uint8Array.from({ length: 4 * 1024 }, (_, i) => (i % 4 === 3 ? 0x41 : (i * 73) & 0x3f));
      check(rows(size, { guarded }), { grid: [2, 1, 1], block: BLOCK }, [0, 4 * 900], image, [
        { at: 4 * 900, elem: 'f32', length: 40 },
      ]);
    }
  });

  it('are loaded one by one where they lie in a row and lanes are not active', () => {
    expect(alone(rows(4, { own: true }))).toBe(0);
    expect(alone(rows(4, { own: true, guarded: true }))).toBeGreaterThan(0);
  });
});

it.each([0, 3])(
  'report what fails first, of their members and of what is loaded between these: again member %i',
  (again) => {
    const b = new ir.KernelBuilder('faults');
    const [from, other, to] = [b.global('f32', 'from'), b.global('f32', 'other'), b.global('f32', 'to')];
    const [extent, few] = [b.value('i32', 'extent'), b.value('i32', 'few')];
    const j = b.variable('i32', 'j');
    const load = (array: MemRef['array'], index: Expr, below: Expr): Expr =>
      ir.load(ir.at(array, index, { checks: [{ index, extent: below, axis: 0 }] }));
    const member = (k: number): Expr => load(from, add(mul(read(j), i32(4)), i32(k)), extent);
    const sums = ['p', 'q', 'r'].map((name) => b.variable('f32', name));
    const values = [add(member(1), member(0)), load(other, gid, few), add(member(again), member(2))];
    const kernel = b.build(
      [
        ir.assign(j, ir.load(ir.at(b.constants('u8', 'places', PLACES), gid))),
        ...sums.map((v, k) => ir.assign(v, values[k] as Expr)),
        ir.store(ir.at(to, gid), sums.map((v): Expr => read(v)).reduce(add)),
      ],
      { checked: true },
    );
    const launch = { grid: [1, 1, 1], block: [4, 1, 1] } as const;
    const fault = (below: number, room: number) => {
      const found = runWasm(kernel, launch, [0, 0, 1024, below, room], new Uint8Array(2048)).fault;
      return found && [Number(found.index), Number(found.extent)];
    };
    const places = [...PLACES.slice(0, 4)];
    expect(fault(256, 4)).toBeUndefined();
    expect(fault(0, 4)).toEqual([4 * (places[0] ?? 0) + 1, 0]);
    // Of the members only the last fails, behind what stands between.
    expect(fault(4 * Math.max(...places) + 2, 0)).toEqual([0, 0]);
  },
);

describe('records that are moved, wherever they are', () => {
  /** `to[size * j + member] = from[size * j + source(member)]`, j being what a table says; in rows of `size * n`, all of them in the first. */
  function moves(size: number, source: (member: number) => number): Kernel {
    const b = new ir.KernelBuilder('moves');
    const [from, to] = [b.global('f32', 'from'), b.global('f32', 'to')];
    const table = b.constants('u8', 'places', PLACES);
    const j = b.variable('i32', 'j');
    const row = mul(ir.special('blockIdx.y'), mul(b.value('i32', 'n'), i32(size)));
    const at = (array: MemRef['array'], member: number): MemRef =>
      ir.at(array, add(add(row, mul(read(j), i32(size))), i32(member)));
    const stores = Array.from({ length: size }, (_, m) => ir.store(at(to, m), ir.load(at(from, source(m)))));
    return b.build([ir.assign(j, ir.load(ir.at(table, gid))), ...stores]);
  }
  const image = Uint8Array.from({ length: 4096 }, (_, i) => (i % 4 === 3 ? 0x41 : (i * 73 + (i >> 3) * 11) & 0x3f));
  const moved = (kernel: Kernel, shift: number): void => {
    const args = [2048 - 4 * shift, 2048, 3];
    check(kernel, { grid: [2, 1, 1], block: BLOCK }, args, image, [{ at: 1024, elem: 'f32', length: 768 }]);
  };

  it.each([2, 4])('of %i members', (size) => {
    // Arrays that begin at the same place of a record, and others.
    for (let shift = 256; shift <= 256 + size; shift++)
      for (const source of [(m: number) => m, (m: number) => size - 1 - m]) moved(moves(size, source), shift);
    // Of the same memory, what has just been stored there.
    for (let shift = 0; shift < size; shift++)
      moved(
        moves(size, (m) => Math.max(m, shift)),
        shift,
      );
    moved(
      moves(size, (m) => Math.max(0, m - 1)),
      0,
    );
  });

  it('of three members, of which one may lie in another', () => {
    const b = new ir.KernelBuilder('three');
    const [from, to] = [b.global('f32', 'from'), b.global('f32', 'to')];
    const table = b.constants('u8', 'places', PLACES);
    const [j, k] = [b.variable('i32', 'j'), b.variable('i32', 'k')];
    const at = (array: MemRef['array'], i: Expr, member: number): MemRef =>
      ir.at(array, add(mul(i, i32(3)), i32(member)));
    // What is loaded for a later store is the first member of the same record.
    const stores = [0, 1, 2].map((m) =>
      ir.store(at(to, read(j), m), add(ir.load(at(from, read(k), 3)), ir.cast('f32', i32(m + 1)))),
    );
    const numbers = [ir.assign(k, ir.load(ir.at(table, gid))), ir.assign(j, add(read(k), i32(1)))];
    moved(b.build([...numbers, ...stores]), 0);
  });

  it('go as vectors unless one is loaded where another was stored', () => {
    const isTogether = (source: (member: number) => number): boolean => {
      const { bytes } = renderWasm(moves(4, source), {
        block: [32, 1, 1],
        lanes: 4,
        concurrent: false,
        memory64: false,
      });
      return bytes.some((byte, i) => byte === 0xfd && bytes[i + 1] === 0x0b);
    };
    expect(isTogether((m) => m)).toBe(true);
    expect(isTogether((m) => Math.max(0, m - 1))).toBe(false);
  });
});
