/**
 * How many lanes kernels get that go over tiles in which a few threads have a row.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel } from '../../ir/ops.ts';
import { lanesFor } from './lane-count.ts';
import { check } from './launch.testing.ts';

const { add, i32, mul } = ir;
const t = ir.special('threadIdx.x');
const SIZE = 1024;

/** `to[t] = from[column(t) + 40 * row(t)]` for bytes, whose vectors have sixteen lanes where nothing else matters. */
function kernel(column: Expr, row: Expr): Kernel {
  const b = new ir.KernelBuilder('tiles');
  const [from, to] = [b.global('u8', 'from'), b.global('u8', 'to')];
  return b.build([ir.store(ir.at(to, t), ir.load(ir.at(from, add(mul(row, i32(40)), column))))]);
}

const by = (fn: 'and' | 'shr' | 'rem' | 'div' | 'floordiv', n: number): Expr => ir.binary(fn, t, i32(n));
const BLOCK = [64, 1, 1] as const;

describe('lanes', () => {
  it.each([
    ['tiles of 8', by('and', 7), by('shr', 3), 8],
    ['tiles of 8, divided', by('rem', 8), by('floordiv', 8), 8],
    ['tiles of 4', by('and', 3), by('shr', 2), 4],
    ['tiles of 16', by('and', 15), by('shr', 4), 16],
    ['tiles of 5', by('rem', 5), by('div', 5), 16],
    ['what is no tile', mul(t, i32(3)), by('and', 5), 16],
    ['rows', t, i32(2), 16],
  ] as const)('for %s', (_, column, row, lanes) => {
    const k = kernel(column, row);
    expect(lanesFor(k, { block: BLOCK, lanes: 4, concurrent: false, memory64: false })).toBe(lanes);
    const image = Uint8Array.from({ length: SIZE + 64 }, (__, i) => i * 37);
    check(k, { block: BLOCK }, [0, SIZE], image, [{ at: SIZE, elem: 'u8', length: 64 }]);
  });
});
