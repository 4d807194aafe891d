/**
 * Which kernels are run in vectors that are whole warps, so that lanes exchange values in registers.
 *
 * A warp is 32 neighbours in the linear order of a block: part of a row if rows are whole numbers of warps, or if there is one row. Other
 * blocks, and what only scalar code can do, exchange through shared memory (ir/passes/warps.ts).
 */
import { ELEM_SIZE, type Kernel, type MemRef } from '../../ir/ops.ts';
import { eachExpr, eachStmt, someStmt, written } from '../../ir/passes/walk.ts';
import { hasExchange } from '../../ir/passes/warps.ts';
import { WARP_SIZE } from '../../ir/warp.ts';
import type { WasmVariant } from './module.ts';

/** The lanes of a vector that is a warp, or the whole of a smaller block; undefined where there are none such, or nothing is exchanged. */
export function warpLanes(kernel: Kernel, { block, lanes }: WasmVariant): 4 | 8 | 16 | 32 | undefined {
  const [width, height, depth] = block;
  if (lanes === 1 || width < 4 || (width % WARP_SIZE !== 0 && height * depth > 1)) return undefined;
  if (!hasExchange(kernel) || isScalar(kernel)) return undefined;
  return ([4, 8, 16] as const).find((n) => width <= n) ?? WARP_SIZE;
}

/** Whether the renderer would start again with one lane. */
function isScalar({ body }: Kernel): boolean {
  if (someStmt(body, (s) => s.op === 'print')) return true;
  const local: MemRef[] = [];
  const note = (mem: MemRef | undefined): void => {
    if (mem?.array.space === 'local') local.push(mem);
  };
  eachStmt(body, (s) => note(written(s)));
  eachExpr(body, (e) => note(e.op === 'load' ? e.mem : undefined));
  return !local.every(isWholeElement);
}

/** Whether an access to a local array is to an element of it: such arrays have one copy of each element for each lane. */
export function isWholeElement({ array, elem, scale, disp }: MemRef): boolean {
  const size = ELEM_SIZE[array.elem];
  return ELEM_SIZE[elem] === size && scale % size === 0 && disp % size === 0;
}
