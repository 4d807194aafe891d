/**
 * Stores of whole vectors some of whose lanes are not active, where nobody else writes to the memory of these: it is read and written back.
 */
import type { Local } from './assembler.ts';
import type { Gen } from './gen.ts';

/** Stores parts of lanes of `size` bytes, 4 or 8, one after another. */
export function storeBlended(g: Gen, size: number, address: () => void, offset: number, parts: readonly Local[]): void {
  const { f } = g;
  const align = Math.log2(size);
  for (const [p, local] of parts.entries()) {
    address();
    f.get(local);
    address();
    f.memory('v128.load', align, offset + 16 * p);
    maskPart(g, size === 8, p);
    f.op('v128.bitselect');
    f.memory('v128.store', align, offset + 16 * p);
  }
}

/** Pushes the mask of part `p`, whose lanes may be wide. */
function maskPart(g: Gen, wide: boolean, p: number): void {
  const { f, mask } = g;
  f.get(mask?.parts[wide ? p >> 1 : p] ?? 0);
  if (wide) f.op(p & 1 ? 'i64x2.extend_high_i32x4_s' : 'i64x2.extend_low_i32x4_s');
}
