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

describe('columns', () => {
  interface Sums {
    readonly elem?: 'f32' | 'f64' | 'u8';
    readonly block?: readonly [number, number, number];
    /** How many sums each thread keeps. */
    readonly sums?: number;
    /** Of the element of a round: a row further on, or as many elements as there are rounds. */
    readonly index?: (k: Expr) => Expr;
  }
  const PITCH = 130;
  const ROWS = 5;

  /** Each thread adds up a column, in as many sums as asked for. */
  function sums({ elem = 'f32', block = [128, 1, 1], sums: count = 1, index }: Sums): Kernel {
    const b = new ir.KernelBuilder('columns');
    const type = elem === 'u8' ? 'i32' : elem;
    const [x, out] = [b.global(elem, 'x'), b.global(type, 'out')];
    const k = b.variable('i32', 'k');
    const all = Array.from({ length: count }, (_, n) => b.variable(type, `s${n}`));
    const label = b.label();
    const column = add(add(mul(ir.special('blockIdx.x'), i32(block[0])), t), mul(ir.special('threadIdx.y'), i32(16)));
    const at = index?.(ir.read(k)) ?? add(mul(ir.read(k), i32(PITCH)), column);
    return b.build([
      ...all.map((s, n) => ir.assign(s, ir.constant(type, n))),
      ir.assign(k, i32(0)),
      ir.loop(
        label,
        [
          ir.ifElse(ir.ge(ir.read(k), i32(ROWS)), [ir.breakTo(label)]),
          ...all.map((s) => ir.assign(s, add(ir.read(s), ir.load(ir.at(x, at))))),
        ],
        [ir.assign(k, add(ir.read(k), i32(1)))],
      ),
      ir.store(
        ir.at(out, column),
        all.map((s) => ir.read(s)).reduce((a, c) => add(a, c)),
      ),
    ]);
  }

  it.each([
    ['of f32', {}, 16],
    ['of f64, which are larger', { elem: 'f64' }, 8],
    ['of bytes, of which vectors hold as many as ever', { elem: 'u8' }, 16],
    ['with three sums', { sums: 3 }, 16],
    ['with more sums than registers hold', { sums: 4 }, 8],
    ['in short rows', { block: [24, 1, 1] }, 8],
    ['in blocks of several rows', { block: [48, 2, 1] }, 8],
    ['of which a thread goes along a row', { index: (k: Expr) => add(mul(t, i32(ROWS)), k) }, 8],
    ['that all threads have in common', { index: (k: Expr) => mul(k, i32(PITCH)) }, 8],
    ['of one element', { index: () => t }, 8],
  ] as [string, Sums, number][])('%s', (_, what, lanes) => {
    const { elem = 'f32', block = [128, 1, 1] } = what;
    const k = sums(what);
    expect(lanesFor(k, { block, lanes: 4, concurrent: false, memory64: false })).toBe(lanes);
    const length = ROWS * PITCH + 16;
    const image = new Uint8Array(8 * length + 8 * 160);
    const data =
      elem === 'f64' ? new Float64Array(length) : elem === 'u8' ? new Uint8Array(length) : new Float32Array(length);
    for (let i = 0; i < length; i++) data[i] = (i * 37) % 101;
    image.set(new Uint8Array(data.buffer));
    const type = elem === 'u8' ? 'i32' : elem;
    check(k, { block }, [0, 8 * length], image, [{ at: 8 * length, elem: type, length: 128 }]);
  });
});
