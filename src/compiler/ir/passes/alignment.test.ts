/**
 * Shapes that rest on the alignment of vectors: what they are, and that they hold for what every lane really computes.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { BinaryOp, Expr, Stmt } from '../ops.ts';
import { analyseUniformity } from './uniformity.ts';

const t = ir.special('threadIdx.x');
const WIDTH = 32;

describe('quotients and remainders of consecutive integers', () => {
  const kernel = new ir.KernelBuilder('none').build([]);
  const shape = (lanes: number) => {
    const u = analyseUniformity(kernel, { block: [256, 1, 1], lanes });
    return (fn: BinaryOp, a: Expr, by: number): string => u.shape(ir.binary(fn, a, ir.i32(by)));
  };

  it('by multiples of the lanes are the same in a vector, and consecutive', () => {
    const eight = shape(8);
    expect(
      ['div', 'floordiv', 'shr', 'and'].map((fn, k) => eight(fn as BinaryOp, t, [16, 16, 4, ~15][k] ?? 0)),
    ).toEqual(['U', 'U', 'U', 'U']);
    expect([eight('rem', t, 16), eight('and', t, 15), eight('and', t, 7)]).toEqual(['C', 'C', 'C']);
    expect([shape(16)('div', t, 16), shape(4)('div', t, 16), shape(32)('div', t, 16)]).toEqual(['U', 'U', 'V']);
  });

  it('by others, or of what begins elsewhere, are not', () => {
    const eight = shape(8);
    expect([eight('div', t, 12), eight('rem', t, 12), eight('and', t, 5), eight('shr', t, 2)]).toEqual(
      Array(4).fill('V'),
    );
    const later = ir.add(t, ir.i32(4));
    expect([eight('div', later, 16), eight('rem', later, 16)]).toEqual(['V', 'V']);
    expect([eight('div', ir.add(t, ir.i32(256)), 128), eight('rem', ir.add(t, ir.i32(256)), 8)]).toEqual(['U', 'C']);
    const unknown = ir.mul(ir.special('blockIdx.x'), ir.i32(3));
    expect(eight('and', ir.add(t, unknown), 15)).toBe('V');
  });

  it('of what may be negative round towards zero, but for floors and shifts', () => {
    const eight = shape(8);
    const below = ir.sub(t, ir.i32(16));
    expect([eight('div', below, 16), eight('rem', below, 16)]).toEqual(['V', 'V']);
    expect([eight('floordiv', below, 16), eight('shr', below, 4), eight('and', below, 15)]).toEqual(['U', 'U', 'C']);
  });

  it('know of counters that start and step by multiples', () => {
    const b = new ir.KernelBuilder('counters');
    const [i, j] = [b.variable('i32', 'i'), b.variable('i32', 'j')];
    const label = b.label();
    const counters = b.build([
      ir.assign(i, t),
      ir.assign(j, t),
      ir.loop(
        label,
        [ir.ifElse(ir.ge(ir.read(i), ir.i32(900)), [ir.breakTo(label)])],
        [ir.assign(i, ir.add(ir.read(i), ir.i32(256))), ir.assign(j, ir.add(ir.read(j), ir.i32(2)))],
      ),
    ]);
    const u = analyseUniformity(counters, { block: [256, 1, 1], lanes: 8 });
    expect(u.shape(ir.binary('and', ir.read(i), ir.i32(15)))).toBe('C');
    expect(u.shape(ir.binary('and', ir.read(j), ir.i32(15)))).toBe('V');
  });
});

describe('shapes of random integer expressions', () => {
  it.each([4, 8, 16])('hold in all vectors of %d lanes', (lanes) => {
    let state = lanes;
    const below = (n: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * n);
    };
    const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
    const OPS: readonly BinaryOp[] = ['add', 'sub', 'mul', 'div', 'rem', 'floordiv', 'and', 'or', 'shl', 'shr'];
    const b = new ir.KernelBuilder('random');
    const out = b.global('i32', 'out');
    const n = b.value('i32', 'n');
    const w = b.variable('i32', 'w');
    const constant = (): Expr => ir.i32(pick([1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 24, 31, 32, -1, -8, -16, ~7, 64]));
    const expr = (depth: number): Expr => {
      if (depth === 0) return pick([t, t, t, n, ir.read(w), ir.special('blockIdx.x'), constant()]);
      const fn = pick(OPS);
      const shift = fn === 'shl' || fn === 'shr';
      return ir.binary(fn, expr(depth - 1), shift ? ir.i32(below(6)) : below(3) > 0 ? constant() : expr(depth - 1));
    };
    const exprs = Array.from({ length: 1500 }, () => expr(1 + below(3)));
    const body: Stmt[] = [
      ir.assign(w, ir.add(ir.mul(ir.special('blockIdx.x'), ir.i32(WIDTH)), t)),
      ...exprs.map((e, k) => ir.store(ir.at(out, ir.add(ir.i32(k * WIDTH), t)), e)),
    ];
    const kernel = b.build(body);
    const u = analyseUniformity(kernel, { block: [WIDTH, 1, 1], lanes });
    const image = new Uint8Array(4 * WIDTH * exprs.length);
    const found = { U: 0, C: 0, aligned: 0 };
    for (const given of [0, -5, 24]) {
      interpret(kernel, { grid: [1, 1, 1], block: [WIDTH, 1, 1] }, [0, given], image);
      const values = new Int32Array(image.buffer);
      for (const [k, e] of exprs.entries()) {
        const shape = u.shape(e);
        if (shape === 'V') continue;
        for (let lane = 0; lane < WIDTH; lane++) {
          const first = shape === 'G' ? 0 : lane - (lane % lanes);
          const apart = shape === 'C' ? lane % lanes : 0;
          const [value, start] = [values[k * WIDTH + lane] ?? 0, values[k * WIDTH + first] ?? 0];
          if (((start + apart) | 0) !== value) expect.fail(`${JSON.stringify(e)} is ${shape}`);
        }
        if (shape === 'U' || shape === 'C') found[shape]++;
        if (shape === 'U' && e.op === 'binary' && e.fn === 'floordiv') found.aligned++;
      }
    }
    expect(Math.min(found.U, found.C)).toBeGreaterThan(50);
    expect(found.aligned).toBeGreaterThan(3);
  });
});
