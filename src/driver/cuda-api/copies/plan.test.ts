/** Which way strided copies take between host and device. */
import { describe, expect, it } from 'vitest';
import { planFill } from '../../copies/fill-plan.ts';
import { bytesOf, span, type Walk, walkOf } from '../../copies/walk.ts';
import { divide, planDownload, planPacked, planUpload } from './plan.ts';

const MIB = 2 ** 20;

const walk = (shape: number[], target: number[], source: number[], itemSize = 4): Walk =>
  walkOf({ target: { strides: target }, source: { strides: source }, shape, itemSize }) as Walk;

describe('walks', () => {
  it('of equal layouts are one item, whatever the order and sign of their axes', () => {
    expect(walk([3, 4, 5], [80, 20, 4], [80, 20, 4])).toMatchObject({ axes: [], item: 240 });
    expect(walk([3, 4, 5], [4, 12, 48], [4, 12, 48])).toMatchObject({ axes: [], item: 240 });
    expect(walk([10], [-4], [-4])).toMatchObject({ axes: [], item: 40, t: -36, s: -36 });
    expect(walk([], [], [])).toMatchObject({ axes: [], item: 4 });
    const side = { strides: [4, 4] };
    expect(walkOf({ target: side, source: side, shape: [3, 0], itemSize: 4 })).toBeUndefined();
  });

  it('have the fewest axes', () => {
    expect(walk([2, 3, 4, 5], [240, 80, 20, 4], [480, 160, 40, 8]).axes).toEqual([{ n: 120, t: 4, s: 8 }]);
    expect(walk([6, 5], [20, 4], [40, 4])).toMatchObject({ axes: [{ n: 6, t: 20, s: 40 }], item: 20 });
  });

  it('keep the order of indices where target elements coincide, so that the last one wins', () => {
    expect(walk([5], [0], [4])).toMatchObject({ axes: [], s: 16, ordered: false });
    expect(walk([5], [2], [4])).toMatchObject({ axes: [{ n: 5, t: 2, s: 4 }], ordered: true });
  });
});

describe('to the device', () => {
  it('rows go by the pitches of the copy engine', () => {
    expect(planUpload(walk([1000, 256], [1024, 4], [2048, 4]), true)).toMatchObject({
      how: 'blocks',
      blocks: { block: { width: 1024, height: 1000, depth: 1, tPitch: 1024, sPitch: 2048 }, at: [[0, 0]] },
    });
    expect(planUpload(walk([10, 100, 256], [102400, 1024, 4], [204800, 2048, 4]), true)).toMatchObject({
      how: 'blocks',
      blocks: { block: { width: 1024, height: 1000, depth: 1 } },
    });
    expect(planUpload(walk([10, 100, 256], [102400, 1024, 4], [409600, 2048, 4]), true)).toMatchObject({
      how: 'blocks',
      blocks: { block: { width: 1024, height: 100, depth: 10, tHeight: 100, sHeight: 200 } },
    });
  });

  it('a transposed host array goes as it is, and is turned on the device', () => {
    const plan = planUpload(walk([512, 512], [2048, 4], [4, 2048]), false);
    expect(plan).toMatchObject({ how: 'span', low: 0, bytes: MIB });
  });

  it('what repeats on the host goes once', () => {
    expect(planUpload(walk([1000, 3], [12, 4], [0, 4]), false)).toMatchObject({ how: 'span', bytes: 12 });
  });

  it('few elements far apart are gathered by the host', () => {
    expect(planUpload(walk([1000], [4], [-65536]), false)).toMatchObject({
      how: 'gather',
      bytes: 4000,
      then: { how: 'blocks', blocks: { block: { width: 4000 } } },
    });
  });
});

describe('to the host', () => {
  it('a host array without gaps is filled in one transfer, packed by the device', () => {
    expect(planDownload(walk([512, 512], [2048, 4], [4, 2048]), false)).toMatchObject({ how: 'span', bytes: MIB });
    expect(planDownload(walk([100000], [-4], [4]), false)).toMatchObject({ how: 'span', low: -399996, bytes: 400000 });
  });

  it('gaps are left alone: by pitches where the memory is pinned, by the host where it is not', () => {
    const gaps = walk([8192, 64], [512, 4], [256, 4]);
    expect(planDownload(gaps, true).how).toBe('blocks');
    expect(planDownload(gaps, false)).toMatchObject({ how: 'scatter', first: { how: 'blocks' } });
  });

  it('later, it is one transfer in any case', () => {
    expect(planPacked(walk([8], [8], [4]))).toMatchObject({ bytes: 32, scatter: { axes: [{ n: 8, t: 8, s: 4 }] } });
    expect(planPacked(walk([2, 4], [4, 8], [16, 4])).scatter).toBeUndefined();
  });
});

describe('large copies', () => {
  it('are cut, so that temporaries stay small', () => {
    const huge = walk([2 ** 15, 2 ** 15], [2 ** 17, 4], [4, 2 ** 17]);
    const parts = divide(huge, 's');
    expect(parts.length).toBe(16);
    expect(parts.reduce((sum, part) => sum + bytesOf(part), 0)).toBe(2 ** 32);
    for (const part of parts) {
      const [low, high] = span(part, 's');
      expect(high - low).toBe(2 ** 28);
    }
    expect(divide(walk([100], [4], [8]), 's').length).toBe(1);
  });
});

describe('fills', () => {
  const fill = (shape: number[], strides: number[], pattern: number[], target = 4096) =>
    planFill({ target: { strides }, shape, pattern: new Uint8Array(pattern) }, target);

  it('are memsets of the shortest period where the region is contiguous', () => {
    expect(fill([4, 4], [16, 4], [1, 2, 1, 2])).toMatchObject({ how: 'memset', size: 2, value: 0x201, count: 32 });
    expect(fill([4, 4], [64, 16], new Array<number>(16).fill(255))).toMatchObject({ size: 1, value: 255, count: 256 });
  });

  it('are kernels otherwise, in units as large as rows allow', () => {
    expect(fill([4, 4], [32, 4], [1, 2, 3, 4])).toMatchObject({ how: 'kernel', launches: [{ unit: 16, count: 4 }] });
    expect(fill([4], [8], [1, 2, 3, 4, 5, 6, 7, 8])).toMatchObject({
      how: 'kernel',
      launches: [{ unit: 16, count: 2 }],
    });
    expect(fill([4], [8], [1, 2, 3, 4, 5, 6, 7, 8], 4097)).toMatchObject({ how: 'copy' });
  });
});
