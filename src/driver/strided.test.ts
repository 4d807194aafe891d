/** The strided walker against a model that moves one element at a time in index order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectBytes } from '../../test/support/same.ts';
import { cStrides } from '../layout/index.ts';
import { randomCases } from '../required.testing.ts';
import type { HostSide } from './driver.ts';
import { copyOut, copyStrided, extent, fillStrided } from './strided.ts';

interface Case {
  shape: number[];
  itemSize: number;
  target: number[];
  source: number[];
  targetShift: number;
  sourceShift: number;
}

const side = (bytes: Uint8Array, offset: number, strides: number[]): HostSide => ({ bytes, offset, strides });

function* offsets(shape: readonly number[], strides: readonly number[], axis = 0, at = 0): Generator<number> {
  if (axis === shape.length) {
    yield at;
    return;
  }
  for (let i = 0; i < (shape[axis] ?? 0); i++) yield* offsets(shape, strides, axis + 1, at + i * (strides[axis] ?? 0));
}

function model(to: Uint8Array, t: number, ts: number[], from: Uint8Array, s: number, ss: number[], c: Case): void {
  const sources = [...offsets(c.shape, ss)];
  let k = 0;
  for (const at of offsets(c.shape, ts)) {
    const read = s + (sources[k++] ?? 0);
    to.set(from.slice(read, read + c.itemSize), t + at);
  }
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    shape: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }),
    itemSize: fc.constantFrom(1, 2, 3, 4, 6, 8, 12, 16),
    targetShift: fc.integer({ min: 0, max: 9 }),
    sourceShift: fc.integer({ min: 0, max: 9 }),
  })
  .chain((c) => {
    const n = c.shape.length;
    const stride = fc.oneof(
      fc.integer({ min: -5, max: 5 }).map((k) => k * c.itemSize),
      fc.integer({ min: -40, max: 40 }),
      fc.constantFrom(0, c.itemSize),
    );
    const compact = cStrides(c.shape, c.itemSize);
    const either = fc.oneof(
      fc.array(stride, { minLength: n, maxLength: n }),
      fc.constant(compact),
      fc.constant([...compact].reverse()),
      fc.constant(compact.map((s) => -s)),
      fc.constant(compact.map((s) => s * 2)),
    );
    return fc.record({ target: either, source: either }).map((strides) => ({ ...c, ...strides }));
  });

function buffers(c: Case): { to: Uint8Array; t: number; from: Uint8Array; s: number } {
  const [tl, th] = extent(c.target, c.shape, c.itemSize);
  const [sl, sh] = extent(c.source, c.shape, c.itemSize);
  const from = Uint8Array.from({ length: sh - sl + c.sourceShift + 3 }, (_, i) => (i * 37 + 11) & 255);
  const to = new Uint8Array(th - tl + c.targetShift + 3).fill(0xee);
  return { to, t: c.targetShift - tl, from, s: c.sourceShift - sl };
}

describe('copyStrided', () => {
  it('moves exactly what a loop over single elements moves', () => {
    fc.assert(
      fc.property(cases, (c) => {
        const { to, t, from, s } = buffers(c);
        const expected = to.slice();
        model(expected, t, c.target, from, s, c.source, c);
        copyStrided({ ...c, target: side(to, t, c.target), source: side(from, s, c.source) });
        expectBytes(to, expected);
      }),
      { numRuns: randomCases(3000) },
    );
  });

  it('works in shared memory, through views that start in the middle of a buffer', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(4096), 12, 2048);
    const from = Uint8Array.from({ length: 1024 }, (_, i) => i & 255);
    const source = side(from, 0, [8, 64]);
    copyStrided({ target: side(shared, 4, [256, 8]), source, shape: [8, 16], itemSize: 8 });
    expect(copyOut(side(shared, 4, [8, 256]), [16, 8], 8)).toEqual({ bytes: from, offset: 0, strides: [64, 8] });
  });

  it('transposes a matrix', () => {
    const n = 100;
    const m = 70;
    const from = new Float64Array(n * m).map((_, i) => i);
    const to = new Float64Array(n * m);
    const bytes = (a: Float64Array): Uint8Array => new Uint8Array(a.buffer);
    const source = side(bytes(from), 0, [8, m * 8]);
    copyStrided({ target: side(bytes(to), 0, [n * 8, 8]), source, shape: [m, n], itemSize: 8 });
    for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) expect(to[j * n + i]).toBe(i * m + j);
  });

  it('keeps every bit of a signalling NaN', () => {
    const from = new Uint32Array([1, 0x7ff00000, 2, 0xfff00000, 3, 0x7ff00000]);
    const to = new Uint32Array(4);
    const source = side(new Uint8Array(from.buffer), 0, [16]);
    copyStrided({ target: side(new Uint8Array(to.buffer), 0, [8]), source, shape: [2], itemSize: 8 });
    expect([...to]).toEqual([1, 0x7ff00000, 3, 0x7ff00000]);
  });

  it('refuses a region that leaves its buffer', () => {
    const copy = (bytes: number, targetStrides: number[], sourceStrides: number[]) => () =>
      copyStrided({
        target: side(new Uint8Array(bytes), 0, targetStrides),
        source: side(new Uint8Array(16), 0, sourceStrides),
        shape: [4],
        itemSize: 4,
      });
    expect(copy(12, [4], [4])).toThrow(/bytes 0 to 16 .* 12 bytes/);
    expect(copy(16, [4], [-4])).toThrow(/source touches bytes -12/);
    expect(copy(16, [4, 4], [4])).toThrow(/2 strides for 1 axes/);
  });
});

describe('fillStrided', () => {
  it('writes the pattern to every element and to nothing else', () => {
    fc.assert(
      fc.property(cases, (c) => {
        const { to, t } = buffers(c);
        const pattern = Uint8Array.from({ length: c.itemSize }, (_, i) => i + 1);
        const expected = to.slice();
        for (const at of offsets(c.shape, c.target)) expected.set(pattern, t + at);
        fillStrided({ target: side(to, t, c.target), shape: c.shape, pattern });
        expectBytes(to, expected);
      }),
      { numRuns: randomCases(2000) },
    );
  });

  it('fills a long contiguous run', () => {
    const to = new Uint8Array(300_000 * 12 + 8);
    const pattern = Uint8Array.from({ length: 12 }, (_, i) => i + 1);
    fillStrided({ target: side(to, 4, [12]), shape: [300_000], pattern });
    expect(to.subarray(0, 5)).toEqual(Uint8Array.of(0, 0, 0, 0, 1));
    expect(to.every((byte, i) => byte === (i < 4 || i >= to.length - 4 ? 0 : ((i - 4) % 12) + 1))).toBe(true);
  });
});
