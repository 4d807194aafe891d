/**
 * Masked stores that go to memory lane by lane: that no lane branches, and that inactive lanes change nothing.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ElemType, Expr, Kernel } from '../../ir/ops.ts';
import { ELEM_SIZE } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, mul } = ir;
const tid = ir.special('threadIdx.x');
const BLOCK = [32, 1, 1] as const;

/** `if (threadIdx.x * 11 % 7 < 3) array[index] = x[threadIdx.x]`, and copies a shared array out. */
function guarded(elem: ElemType, space: 'global' | 'shared', index: Expr): Kernel {
  const b = new ir.KernelBuilder('guarded');
  const [x, to] = [b.global(elem, 'x'), b.global(elem, 'to')];
  const array = space === 'global' ? to : b.shared(elem, 'array', 64);
  const some = ir.lt(ir.binary('rem', mul(tid, i32(11)), i32(7)), i32(3));
  const place = (at: Expr) => ir.at(array, at);
  const clear = [
    ir.store(place(tid), ir.load(ir.at(x, i32(1)))),
    ir.store(place(add(tid, i32(32))), ir.load(ir.at(x, i32(2)))),
  ];
  const store = ir.ifElse(some, [ir.store(place(index), ir.load(ir.at(x, tid)))]);
  const out = [0, 32].map((first) => ir.store(ir.at(to, add(tid, i32(first))), ir.load(place(add(tid, i32(first))))));
  return space === 'global' ? b.build([store]) : b.build([...clear, ir.barrier(), store, ir.barrier(), ...out]);
}

const scattered = ir.binary('rem', mul(tid, i32(37)), i32(61));

/** How often the code chooses between two vectors by a mask. */
function choices(kernel: Kernel): number {
  const { bytes } = renderWasm(kernel, { block: BLOCK, lanes: 4, concurrent: true, memory64: false });
  return bytes.filter((byte, i) => byte === 0xfd && bytes[i + 1] === 0x52).length;
}

describe.each(['u8', 'i16', 'f32', 'f64'] as const)('%s', (elem) => {
  it.each([
    ['global, scattered', 'global', scattered],
    ['global, in a row', 'global', tid],
    ['shared, scattered', 'shared', scattered],
  ] as const)('%s', (_, space, index) => {
    const kernel = guarded(elem, space, index);
    expect(choices(kernel)).toBeGreaterThan(0);
    const size = ELEM_SIZE[elem];
    const image = Uint8Array.from({ length: 400 * size }, (_, i) => (i * 73 + (i >> 3) * 11) & 0x7b);
    check(kernel, { block: BLOCK }, [0, 200 * size], image, [{ at: 0, elem, length: 400 }]);
  });
});
