/**
 * Records as the compiler sees them: sizes, alignment, keys, and what the IR of their accesses is.
 */
import { describe, expect, it } from 'vitest';
import { c64, c128, f16, f32, f32x3, f32x4, f64, i16, i32, i64, struct, u8, u8x4 } from '../dtype/index.ts';
import { compileKernel } from './compile.ts';
import type { ArgType } from './contract.ts';
import { alignmentOf, elementOf, recordKey } from './elements.ts';
import { captureFunction } from './frontend/capture.ts';
import type { MemRef } from './ir/ops.ts';
import { printKernel } from './ir/print.ts';
import { verify } from './ir/verify.ts';
import { DEFAULTS } from './testing.ts';

const packed = struct({ tag: u8, x: f32, d: f64 });
const aligned = struct({ tag: u8, x: f32, d: f64 }, { align: true });
const floats = struct({ x: f32, y: f32, n: i32 });

describe('an element', () => {
  it.each([
    [packed, 'u8', 13, 1],
    [aligned, 'u8', 16, 16],
    [floats, 'u32', 12, 4],
    [struct({ a: floats, b: f32.array(3) }), 'u32', 24, 8],
    [struct({ a: u8, b: struct({ c: u8 }) }), 'u8', 2, 2],
    [struct({ a: i64, b: f64 }), 'u64', 16, 16],
    [struct({ a: i16, b: f16, c: i16 }), 'u16', 6, 2],
    // The second member is as large as the first, but not at a multiple of that.
    [struct({ a: f32, p: struct({ t: u8, b: f32 }) }), 'u8', 9, 1],
    [c64, 'u32', 8, 8],
    [c128, 'u64', 16, 16],
    [f32x4, 'u32', 16, 16],
    [f32x3, 'u32', 12, 4],
    [u8x4, 'u8', 4, 4],
  ])('%# has memory of %s', (dtype, elem, size, align) => {
    expect(elementOf(dtype)).toMatchObject({ elem, size, align, record: dtype });
  });

  it('of a scalar type is the scalar, one object for each', () => {
    expect(elementOf(f32)).toEqual({ elem: 'f32', size: 4, align: 4, record: undefined });
    expect(elementOf(f32)).toBe(elementOf(f32));
    expect(elementOf(packed)).toBe(elementOf(packed));
  });

  it('cannot be a bare sub-array', () => {
    expect(() => elementOf(f32.array(3))).toThrow(/f32\[3\]/);
  });

  it('has a key for its members, their types and places', () => {
    expect(recordKey(packed)).toBe(recordKey(struct({ tag: u8, x: f32, d: f64 })));
    const others = [aligned, struct({ tag: u8, y: f32, d: f64 }), struct({ tag: u8, x: i32, d: f64 }), floats];
    expect(new Set([packed, ...others].map(recordKey)).size).toBe(5);
    expect(recordKey(struct({ a: f32.array(2, 3) }))).not.toBe(recordKey(struct({ a: f32.array(3, 2) })));
    expect(recordKey(struct({ a: struct({ b: u8 }) }))).not.toBe(recordKey(struct({ a: struct({ c: u8 }) })));
  });
});

it('alignment is the largest power of two, up to 16', () => {
  expect([0, 1, 2, 3, 4, 6, 8, 12, 16, 24, -4].map(alignmentOf)).toEqual([16, 1, 2, 1, 4, 2, 8, 4, 16, 8, 4]);
});

/** The accesses of a kernel over one array of records, as `elem *scale +disp`. */
function accesses(
  fn: (p: never) => void,
  dtype: typeof packed | typeof floats,
  align: number,
  layout: 'C' | 'A' = 'C',
) {
  const { elem, size } = elementOf(dtype);
  const type: ArgType = { kind: 'array', elem, record: { dtype, align }, ndim: 1, layout, unit: size };
  const { kernel } = compileKernel(captureFunction(fn), [type], DEFAULTS);
  verify(kernel, 'lowered');
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('mem' in node) {
      const { elem, scale, disp } = node.mem as MemRef;
      found.push(`${(node as unknown as { op: string }).op} ${elem} *${scale} +${disp}`);
    }
    for (const [name, child] of Object.entries(node)) if (name !== 'pos') visit(child);
  };
  visit(kernel.body);
  expect(printKernel(kernel)).toContain('p');
  return found;
}

describe('accesses', () => {
  type P = { tag: number; x: number; d: number }[];

  it('are single where the member is aligned', () => {
    const fn = (p: P) => {
      (p[1] as P[0]).x = 1;
    };
    expect(accesses(fn as never, aligned as typeof packed, 8)).toEqual(['store f32 *16 +4']);
  });

  it('are pieces as large as the alignment that is known', () => {
    const fn = (p: P) => {
      (p[1] as P[0]).x = 1;
    };
    expect(accesses(fn as never, packed, 1)).toEqual([1, 2, 3, 4].map((k) => `store u8 *13 +${k}`));
    // An aligned struct in memory that is not.
    expect(accesses(fn as never, aligned as typeof packed, 2)).toEqual(['store u16 *16 +4', 'store u16 *16 +6']);
    const wide = (p: P) => {
      (p[1] as P[0]).d = (p[0] as P[0]).d;
    };
    const halves = ['u32 *16 +8', 'u32 *16 +12'];
    const found = accesses(wide as never, aligned as typeof packed, 4);
    expect(new Set(found)).toEqual(new Set([...halves.map((a) => `load ${a}`), ...halves.map((a) => `store ${a}`)]));
  });

  it('of one member leave the others alone', () => {
    const fn = (p: { x: number; y: number; n: number }[]) => {
      const [a, b] = [p[0], p[1]] as [(typeof p)[0], (typeof p)[0]];
      a.n = b.n;
    };
    expect(accesses(fn as never, floats, 4).sort()).toEqual(['load i32 *12 +8', 'store i32 *12 +8']);
  });
});
