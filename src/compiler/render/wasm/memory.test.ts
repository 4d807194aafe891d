/**
 * Memory: the spaces, strides and displacements, index widths, block shapes of up to three dimensions, printing.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ElemType, Expr, MemRef } from '../../ir/ops.ts';
import { ELEM_SIZE, widen } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, mul, special, i32, read } = ir;
const tid = special('threadIdx.x');
const gid = add(mul(special('blockIdx.x'), special('blockDim.x')), tid);

/** Bytes that are valid elements of every type. */
function noise(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => (i * 73 + (i >> 3) * 11) & 0x7b);
}

const ELEMS = ['bool', 'i8', 'u8', 'i16', 'u16', 'f16', 'i32', 'u32', 'f32', 'i64', 'u64', 'f64'] as const;

describe.each(ELEMS)('%s', (elem: ElemType) => {
  const size = ELEM_SIZE[elem];
  const indices: [string, () => Expr][] = [
    ['consecutive', () => gid],
    ['consecutive with an offset', () => add(gid, i32(3))],
    ['backwards', () => ir.sub(i32(40), gid)],
    ['every third', () => mul(gid, i32(3))],
    ['scattered', () => ir.binary('rem', mul(gid, i32(37)), i32(101))],
    ['one for all', () => i32(5)],
  ];
  for (const [name, index] of indices) {
    it(`loads and stores ${name}`, () => {
      for (const guarded of [false, true]) {
        const b = new ir.KernelBuilder('access');
        const [from, to] = [b.global(elem, 'from'), b.global(elem, 'to')];
        const odd = ir.ne(ir.binary('rem', tid, i32(3)), i32(0));
        const copy = [
          ir.store(ir.at(to, gid), ir.load(ir.at(from, index()))),
          ir.store(ir.at(to, add(index(), i32(60))), ir.load(ir.at(from, gid))),
        ];
        const kernel = b.build(guarded ? [ir.ifElse(odd, copy)] : copy);
        const image = noise(size * 400);
        check(kernel, { grid: [2, 1, 1], block: [20, 1, 1] }, [0, 200 * size], image, [{ at: 0, elem, length: 400 }]);
      }
    });
  }

  it('lies in structures and runs backwards', () => {
    const b = new ir.KernelBuilder('strides');
    const [from, to] = [b.global(elem, 'from'), b.global(elem, 'to')];
    const field = (array: MemRef['array'], index: Expr, scale: number, disp: number): MemRef => ({
      ...ir.at(array, index),
      scale,
      disp,
    });
    const kernel = b.build([
      ir.store(field(to, tid, 3 * size, 2 * size), ir.load(field(from, tid, size, size))),
      ir.store(field(to, tid, -size, 0), ir.load(field(from, gid, -2 * size, 0))),
      ir.store(
        field(to, ir.binary('rem', mul(tid, i32(3)), i32(7)), -2 * size, -80 * size),
        ir.load(field(from, mul(tid, i32(2)), size, 5 * size)),
      ),
    ]);
    const image = noise(size * 600);
    check(kernel, { block: [16, 1, 1] }, [60 * size, 400 * size], image, [{ at: 0, elem, length: 600 }]);
  });

  it('is kept in shared, local and constant arrays', () => {
    const b = new ir.KernelBuilder('spaces');
    const [from, to] = [b.global(elem, 'from'), b.global(elem, 'to')];
    const shared = b.shared(elem, 'shared', 24);
    const dynamic = b.shared(elem, 'dynamic');
    const local = b.local(elem, 'local', 5);
    const table = b.constants(elem, 'table', noise(7 * size));
    const k = b.variable('i32', 'k');
    const label = b.label();
    const slot = ir.binary('rem', read(k), i32(5));
    const kernel = b.build([
      ir.store(ir.at(shared, tid), ir.load(ir.at(from, gid))),
      ir.store(ir.at(dynamic, ir.sub(i32(23), tid)), ir.load(ir.at(table, ir.binary('rem', tid, i32(7))))),
      ir.assign(k, i32(0)),
      ir.loop(
        label,
        [
          ir.ifElse(ir.ge(read(k), i32(5)), [ir.breakTo(label)]),
          ir.store(ir.at(local, slot), ir.load(ir.at(from, add(gid, read(k))))),
        ],
        [ir.assign(k, add(read(k), i32(1)))],
      ),
      ir.barrier(),
      ir.store(ir.at(to, gid), ir.load(ir.at(shared, ir.sub(i32(23), tid)))),
      ir.ifElse(ir.eq(ir.and(tid, i32(1)), i32(0)), [
        ir.store(ir.at(to, add(gid, i32(48))), ir.load(ir.at(dynamic, tid))),
        ir.store(ir.at(to, add(gid, i32(96))), ir.load(ir.at(local, ir.binary('rem', tid, i32(5))))),
      ]),
      ir.store(ir.at(to, add(gid, i32(144))), ir.load(ir.at(local, i32(3)))),
    ]);
    const image = noise(size * 300);
    check(kernel, { grid: [2, 1, 1], block: [24, 1, 1], sharedBytes: 24 * size }, [0, 60 * size], image, [
      { at: 0, elem, length: 300 },
    ]);
  });

  it('has 64-bit indices', () => {
    const b = new ir.KernelBuilder('long');
    const [from, to] = [b.global(elem, 'from'), b.global(elem, 'to')];
    const long = add(mul(ir.cast('i64', special('blockIdx.x')), ir.i64(20)), ir.cast('i64', tid));
    const kernel = b.build(
      [
        ir.store(ir.at(to, long), ir.load(ir.at(from, ir.sub(ir.i64(50), long)))),
        ir.store(ir.at(to, add(mul(long, ir.i64(3)), ir.i64(60))), ir.load(ir.at(from, long))),
      ],
      { indexBits: 64 },
    );
    const image = noise(size * 300);
    check(kernel, { grid: [2, 1, 1], block: [20, 1, 1] }, [0, 100 * size], image, [{ at: 0, elem, length: 300 }]);
  });

  it('comes as a parameter', () => {
    const type = widen(elem);
    const b = new ir.KernelBuilder('parameter');
    const to = b.global(elem, 'to');
    const x = b.value(type, 'x');
    const value =
      type === 'i64' || type === 'u64' ? -3n : type === 'bool' ? true : type === 'f32' || type === 'f64' ? 1.25 : 7;
    check(b.build([ir.store(ir.at(to, gid), x)]), { grid: [3, 1, 1], block: [6, 1, 1] }, [0, value], noise(size * 20), [
      { at: 0, elem, length: 20 },
    ]);
  });
});

describe('shapes', () => {
  for (const block of [
    [4, 3, 2],
    [5, 2, 3],
    [1, 1, 7],
    [2, 5, 1],
    [32, 2, 1],
    [33, 1, 1],
    [8, 8, 1],
  ] as const) {
    it(`blocks of ${block.join('×')}`, () => {
      const b = new ir.KernelBuilder('shape');
      const out = b.global('i32', 'out');
      const names = [
        'threadIdx.x',
        'threadIdx.y',
        'threadIdx.z',
        'blockIdx.x',
        'blockIdx.y',
        'blockIdx.z',
        'gridDim.x',
        'gridDim.y',
        'gridDim.z',
        'blockDim.x',
        'blockDim.y',
        'blockDim.z',
        'laneId',
        'warpSize',
      ] as const;
      const threads = block[0] * block[1] * block[2];
      const s = special;
      const thread = add(tid, mul(s('blockDim.x'), add(s('threadIdx.y'), mul(s('blockDim.y'), s('threadIdx.z')))));
      const blockNumber = add(
        s('blockIdx.x'),
        mul(s('gridDim.x'), add(s('blockIdx.y'), mul(s('gridDim.y'), s('blockIdx.z')))),
      );
      const at = mul(add(mul(blockNumber, i32(threads)), thread), i32(names.length));
      const kernel = b.build(names.map((name, k) => ir.store(ir.at(out, add(at, i32(k))), special(name))));
      const words = 12 * threads * names.length;
      check(kernel, { grid: [2, 3, 2], block }, [0], new Uint8Array(4 * words), [
        { at: 0, elem: 'i32', length: words },
      ]);
    });
  }
});

it('prints, in thread order', () => {
  const b = new ir.KernelBuilder('print');
  const x = b.value('f32', 'x');
  const kernel = b.build([
    ir.ifElse(ir.lt(tid, i32(3)), [
      ir.print(['thread', tid, 'of', ir.cast('i64', i32(-5)), x, ir.lt(tid, i32(1)), ir.u32(2 ** 32 - 1)]),
    ]),
  ]);
  check(kernel, { block: [8, 1, 1] }, [0.5], new Uint8Array(16), []);
  expect(runWasm(kernel, { block: [8, 1, 1] }, [0.5], new Uint8Array(16)).module.lanes).toBe(1);
});
