/**
 * Members of records of narrow integers: the same as the interpreter loads, each vector of the records once.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import { type ArraySym, ELEM_SIZE, type Expr, type Kernel } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, mul, special } = ir;
const tid = special('threadIdx.x');
const NARROW = ['i8', 'u8', 'i16', 'u16'] as const;
const BLOCK = 64;

type Value = (member: (c: number) => Expr) => Expr;

/** Where records are that lie anywhere. */
const PLACES = Uint8Array.from({ length: BLOCK }, (_, k) => 1 + ((k * 27 + 11) % 62));

/** `out[i] = value(p[scale * i + c])`, for the first threads only where `guarded`; i is what a table says where records lie `anywhere`. */
function made(
  from: (typeof NARROW)[number],
  to: 'u8' | 'i16' | 'i32',
  scale: number,
  value: Value,
  { guarded = false, anywhere = false }: { readonly guarded?: boolean; readonly anywhere?: boolean } = {},
): Kernel {
  const b = new ir.KernelBuilder('members');
  const [p, out] = [b.global(from, 'p'), b.global(to, 'out')] as [ArraySym, ArraySym];
  const table = b.constants('u8', 'places', PLACES);
  const j = b.variable('i32', 'j');
  const record = anywhere ? ir.read(j) : tid;
  const member = (c: number): Expr => ir.load(ir.at(p, add(mul(record, i32(scale)), i32(c))));
  const store = ir.store(ir.at(out, tid), value(member));
  const body = guarded ? [ir.ifElse(ir.lt(ir.binary('rem', tid, i32(5)), i32(3)), [store])] : [store];
  return b.build(anywhere ? [ir.assign(j, ir.load(ir.at(table, tid))), ...body] : body);
}

function run(kernel: Kernel, from: (typeof NARROW)[number], to: 'u8' | 'i16' | 'i32'): void {
  const image = Uint8Array.from({ length: 2048 }, (_, i) => (i * 151 + (i >> 3) * 89) & 0xff);
  const region = { at: 1024, elem: to, length: BLOCK };
  check(kernel, { grid: [1, 1, 1], block: [BLOCK, 1, 1] }, [16 * ELEM_SIZE[from], 1024], image, [region]);
}

function loads(kernel: Kernel): number {
  const { bytes } = renderWasm(kernel, { block: [16, 1, 1], lanes: 4, concurrent: false, memory64: false });
  return [...disassemble(bytes).matchAll(/v128\.load /g)].length;
}

const weighted: Value = (m) =>
  ir.binary('shr', add(add(mul(m(0), i32(77)), mul(m(1), i32(150))), mul(m(2), i32(29))), i32(8));
const VALUES: Readonly<Record<string, Value>> = {
  'one of them': (m) => m(1),
  'two, the later first': (m) => ir.sub(m(1), m(0)),
  'weighted ones': weighted,
  'three, the middle one first': (m) => add(m(1), ir.sub(m(0), m(2))),
  'neighbours of the record': (m) => add(m(-1), m(4)),
  'the same twice': (m) => mul(m(1), add(m(1), m(0))),
};

describe.each(NARROW)('members of %s', (from) => {
  it.each(Object.keys(VALUES))('%s', (name) => {
    for (const scale of [2, 3, 4])
      for (const to of ['u8', 'i16', 'i32'] as const)
        for (const guarded of [false, true])
          for (const anywhere of [false, true])
            run(made(from, to, scale, VALUES[name] as Value, { guarded, anywhere }), from, to);
  });
});

it('a pixel that lies anywhere is a word', () => {
  const { bytes } = renderWasm(made('u8', 'u8', 4, weighted, { anywhere: true }), {
    block: [16, 1, 1],
    lanes: 4,
    concurrent: false,
    memory64: false,
  });
  const names = [...disassemble(bytes).matchAll(/v128\.load\d+_(?:lane|zero)/g)].map(([name]) => name);
  expect(names.filter((name) => name.includes('32')).length).toBe(16);
});

it('a pixel is loaded once for all of its channels', () => {
  expect(loads(made('u8', 'u8', 4, weighted))).toBe(4);
  expect(loads(made('u8', 'u8', 3, weighted))).toBe(3);
});
