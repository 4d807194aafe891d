/** Rectangles are cut so that every implementation takes them, and their pieces are the whole. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Block } from '../copies/blocks.ts';
import { piecesOf } from './rectangles.ts';
import { faultOf } from './strict.testing.ts';

const blocks: fc.Arbitrary<Block> = fc
  .record({
    width: fc.integer({ min: 1, max: 8 }),
    height: fc.integer({ min: 1, max: 4 }),
    depth: fc.integer({ min: 1, max: 3 }),
    tGap: fc.nat(5),
    sGap: fc.nat(5),
    tRows: fc.nat(2),
    sRows: fc.nat(2),
  })
  .map(({ width, height, depth, tGap, sGap, tRows, sRows }) => {
    const more = depth > 1 ? [tRows, sRows] : [0, 0];
    const [tHeight, sHeight] = more.map((n) => height + n) as [number, number];
    return { width, height, depth, tPitch: width + tGap, sPitch: width + sGap, tHeight, sHeight };
  });

/** First bytes of the rows, target and source, in order. */
function rowsOf({ height, depth, tPitch, sPitch, tHeight, sHeight }: Block, t = 0, s = 0): string[] {
  return Array.from({ length: depth * height }, (_, k) => {
    const [z, y] = [Math.floor(k / height), k % height];
    return `${t + (z * tHeight + y) * tPitch} ${s + (z * sHeight + y) * sPitch}`;
  });
}

it('pieces lie in the buffer with the pitch behind their last row, and are the block', () => {
  fc.assert(
    fc.property(
      blocks,
      fc.constantFrom('t' as const, 's' as const),
      fc.nat(9),
      fc.nat(40),
      (block, side, at, behind) => {
        const [pitch, rows] = side === 't' ? [block.tPitch, block.tHeight] : [block.sPitch, block.sHeight];
        const bytes = at + ((block.depth - 1) * rows + block.height - 1) * pitch + block.width + behind;
        const pieces = piecesOf(block, side, bytes);
        for (const { block: b, ...from } of pieces) {
          // One row is no rectangle.
          if (b.height * b.depth === 1) continue;
          const [row, layer] = side === 't' ? [b.tPitch, b.tHeight] : [b.sPitch, b.sHeight];
          const rectangle = {
            origin: [at + from[side], 0, 0],
            region: [b.width, b.height, b.depth],
            row,
            slice: row * layer,
          };
          expect(faultOf(rectangle, bytes)).toBeUndefined();
        }
        expect(pieces.flatMap(({ block: b, t, s }) => rowsOf(b, t, s))).toEqual(rowsOf(block));
        expect(pieces.length).toBeLessThanOrEqual(3);
      },
    ),
  );
});

it('knows what may be refused', () => {
  const rectangle = { origin: [0, 0, 0], region: [4, 3, 2], row: 8, slice: 32 };
  expect(faultOf(rectangle, 64)).toBeUndefined();
  expect(faultOf(rectangle, 63)).toBe('its slices end at byte 64 of 63');
  expect(faultOf(rectangle, 51)).toBe('it ends at byte 52 of 51');
  expect(faultOf({ ...rectangle, slice: 36 })).toBe('slices are 36 bytes apart, rows 8');
  expect(faultOf({ ...rectangle, slice: 16 })).toBe('slices of 3 rows of 8 bytes are 16 apart');
  expect(faultOf({ ...rectangle, row: 3 })).toBe('rows of 4 bytes are 3 apart');
  expect(faultOf({ ...rectangle, region: [4, 0, 2] })).toBe('the region is empty');
});
