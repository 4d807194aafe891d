/**
 * Members of records that are stored one after another: that they are put together, where nothing forbids it, and come out right.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ElemType, Expr, Kernel, MemRef } from '../../ir/ops.ts';
import { ELEM_SIZE } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, mul } = ir;
const tid = ir.special('threadIdx.x');
const BLOCK = [32, 1, 1] as const;

const VARIANT = { block: BLOCK, lanes: 4, concurrent: false, memory64: false } as const;

/** How many lanes are stored one by one. */
function laneStores(kernel: Kernel): number {
  const { bytes } = renderWasm(kernel, VARIANT);
  const stores = [0x58, 0x59, 0x5a, 0x5b];
  return bytes.filter((byte, i) => byte === 0xfd && stores.includes(bytes[i + 1] ?? 0)).length;
}

interface Options {
  readonly elem: ElemType;
  /** The members in the order of the statements. */
  readonly order: readonly number[];
  /** What the value of a member is loaded from: another array, or the same. */
  readonly from?: 'other' | 'same' | 'table' | 'anywhere';
  /** Which member it is. */
  readonly source?: (member: number) => number;
  readonly guarded?: boolean;
  /** Members as displacements in structures. */
  readonly structs?: boolean;
}

/** `to[n * threadIdx.x + member] = from[n * threadIdx.x + source] + member` for each member. */
function records({ elem, order, from = 'other', source = (m) => m, guarded, structs }: Options): Kernel {
  const b = new ir.KernelBuilder('records');
  const [a, to] = [b.global(elem, 'from'), b.global(elem, 'to')];
  const table = b.constants(elem, 'table', new Uint8Array(64).fill(3));
  const own = b.constants(
    'u8',
    'own',
    Uint8Array.from({ length: 32 }, (_, k) => k),
  );
  const [n, size] = [order.length, ELEM_SIZE[elem]];
  const place = (array: MemRef['array'], member: number): MemRef =>
    structs
      ? { ...ir.at(array, tid), scale: n * size, disp: member * size }
      : ir.at(array, add(mul(tid, i32(n)), i32(member)));
  const value = (member: number): Expr => {
    if (from === 'table') return ir.load(ir.at(table, ir.and(tid, i32(3))));
    if (from === 'anywhere') {
      const record = ir.load(ir.at(own, tid));
      return ir.load(ir.at(a, add(mul(record, i32(n)), i32(source(member)))));
    }
    const x = ir.load(place(from === 'same' ? to : a, source(member)));
    return x.type === 'bool' ? x : add(x, ir.cast(x.type, i32(member)));
  };
  const stores = order.map((member) => ir.store(place(to, member), value(member)));
  return b.build(guarded ? [ir.ifElse(ir.ne(ir.binary('rem', tid, i32(5)), i32(0)), stores)] : stores);
}

/** `shift`: by how many elements the other array begins before the one that is written. */
function run(kernel: Kernel, elem: ElemType, shift = 160): void {
  const size = ELEM_SIZE[elem];
  const image = Uint8Array.from({ length: 400 * size }, (_, i) => (i * 73 + (i >> 3) * 11) & 0x7b);
  check(kernel, { block: BLOCK }, [(200 - shift) * size, 200 * size], image, [{ at: 0, elem, length: 400 }]);
}

describe.each([
  ['f32', [0, 1]],
  ['i32', [1, 0]],
  ['f32', [0, 1, 2, 3]],
  ['u32', [2, 0, 3, 1]],
  ['f64', [1, 0]],
  ['i64', [0, 1]],
  ['u8', [0, 1, 2, 3]],
  ['i8', [3, 2, 1, 0]],
  ['u16', [0, 1]],
] as const)('%s %j', (elem, order) => {
  it.each([{}, { guarded: true }, { structs: true }, { from: 'table' }, { from: 'same' }] as const)('%o', (options) =>
    run(records({ elem, order, ...options }), elem),
  );

  it('leave as vectors', () => {
    expect(laneStores(records({ elem, order, from: 'table' }))).toBe(0);
    expect(laneStores(records({ elem, order, from: 'same' }))).toBe(0);
  });

  it('hold what is loaded from anywhere, in records that begin alike and others', () => {
    for (let shift = 160; shift <= 160 + order.length; shift++)
      run(records({ elem, order, from: 'anywhere' }), elem, shift);
    // Of the same memory, what has just been stored there.
    for (let shift = 0; shift < order.length; shift++)
      run(records({ elem, order, from: 'anywhere', source: (m) => Math.max(m, shift) }), elem, shift);
    const isTogether = (source: (m: number) => number): boolean => {
      const { bytes } = renderWasm(records({ elem, order, from: 'anywhere', source }), VARIANT);
      return bytes.some((byte, i) => byte === 0xfd && bytes[i + 1] === 0x0b);
    };
    expect(isTogether((m) => m)).toBe(true);
    expect(isTogether(() => order[0])).toBe(false);
  });

  it('see what has been stored before them', () => {
    const source = (m: number): number => (m + order.length - 1) % order.length;
    const kernel = records({ elem, order, from: 'same', source });
    expect(laneStores(kernel)).toBeGreaterThan(0);
    run(kernel, elem);
    // The other array may be the same memory, or begin one or two elements before.
    for (let shift = 0; shift < order.length; shift++) {
      const inside = (m: number): number => Math.max(m, shift);
      run(records({ elem, order, source: inside }), elem, shift);
    }
  });
});

it('stay apart where members are missing or stored twice, and of types that change on the way', () => {
  for (const order of [
    [0, 1, 2],
    [0, 0],
    [0, 2, 1, 4],
  ])
    expect(laneStores(records({ elem: 'f32', order, from: 'table' }))).toBeGreaterThan(0);
  for (const order of [
    [0, 1, 2],
    [1, 1],
  ])
    run(records({ elem: 'f32', order, from: 'table' }), 'f32');
});
