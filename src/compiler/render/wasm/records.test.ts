/**
 * Members of records whose size the launch tells: that neighbouring ones are loaded and stored as vectors, and come out right.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ElemType, Expr, Kernel, MemRef } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
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
}

/** `to[n * i + stored] = 3 * the sum of what is loaded + stored`, n of a launch being a parameter. */
function kernelOf({ elem, loads, stores, size, guarded, inPlace }: Options): Kernel {
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
  return b.build([
    ir.assign(i, gid),
    ...(guarded ? [ir.ifElse(ir.ne(ir.binary('rem', tid, i32(5)), i32(0)), list)] : list),
  ]);
}

function run(options: Options, n: number): void {
  const count = 700;
  const image = Uint8Array.from({ length: 4 * count }, (_, i) =>
    i % 4 === 3 ? 0x41 : (i * 73 + (i >> 3) * 11) & 0x3f,
  );
  check(kernelOf(options), { grid: [2, 1, 1], block: BLOCK }, [0, 4 * 350, n], image, [
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
  ])('%o', (options) => {
    for (const n of [7, 8]) run({ elem, ...options }, n);
    for (const size of [2, 3, 4].filter((s) => Math.max(...options.loads, ...options.stores) < s))
      run({ elem, size, ...options }, 0);
  });

  it('are vectors', () => {
    expect(lanesAlone({ elem, loads: [0, 1, 2, 3], stores: [0, 1, 2, 3] })).toBe(0);
    expect(lanesAlone({ elem, loads: [1, 0], stores: [0, 1, 2, 3], size: 2 })).toBe(0);
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
