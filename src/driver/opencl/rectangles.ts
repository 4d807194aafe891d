/**
 * Block copies as rectangles that OpenCL implementations take: cut where they would count the pitch behind the last row. Pure.
 *
 * OpenCL API specification, clEnqueueReadBufferRect: a region must lie within the buffer. NVIDIA's driver counts whole slices and
 * rows there, also the last, of which the buffer may end with the last element.
 */
import type { Block } from '../copies/blocks.ts';

/** A block, and where it starts relative to the one that it was cut from: bytes of target and source. */
export interface Piece {
  readonly block: Block;
  readonly t: number;
  readonly s: number;
}

/** The pieces of a block that a buffer of so many bytes takes, when the buffer is this side. At most three; usually the block itself. */
export function piecesOf(block: Block, side: 't' | 's', bufferBytes: number): readonly Piece[] {
  const { height, depth, tPitch, sPitch, tHeight, sHeight } = block;
  const [pitch, rows] = side === 't' ? [tPitch, tHeight] : [sPitch, sHeight];
  if (depth * rows * pitch <= bufferBytes) return [{ block, t: 0, s: 0 }];
  if (depth > 1) {
    const last = depth - 1;
    const layers: Piece = { block: { ...block, depth: last }, t: 0, s: 0 };
    const layer: Block = { ...block, depth: 1, tHeight: height, sHeight: height };
    const [t, s] = [last * tHeight * tPitch, last * sHeight * sPitch];
    return [layers, ...piecesOf(layer, side, bufferBytes).map((p) => ({ ...p, t: t + p.t, s: s + p.s }))];
  }
  if (height === 1) return [{ block, t: 0, s: 0 }];
  const above = height - 1;
  return [
    { block: { ...block, height: above, tHeight: above, sHeight: above }, t: 0, s: 0 },
    { block: { ...block, height: 1, tHeight: 1, sHeight: 1 }, t: above * tPitch, s: above * sPitch },
  ];
}
