/**
 * How many lanes the vectors of a kernel have: its block shape, its types and what it does with memory decide.
 */
import type { Loop } from '../../ir/loops.ts';
import { exprsSize } from '../../ir/measures.ts';
import { ELEM_SIZE, type Expr, type Kernel } from '../../ir/ops.ts';
import { carriedVars } from '../../ir/passes/full-rounds.ts';
import { isMostlyNarrow } from '../../ir/passes/lane-widths.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { analyseUniformity, type Uniformity } from '../../ir/passes/uniformity.ts';
import {
  assignedIn,
  eachAccess,
  eachExpr,
  eachStmt,
  exprParts,
  someExpr,
  someStmt,
  stmtExprs,
  written,
} from '../../ir/passes/walk.ts';
import { isWide } from './gen.ts';
import type { WasmVariant } from './module.ts';
import { warpLanes } from './whole-warps.ts';

export type Lanes = 1 | 4 | 8 | 16 | 32 | 64;

/**
 * Lanes of a vector: several `v128` for each value keep the processor's units busy and share the work that is done once for
 * all lanes. Two are 1.2 to 1.5 times faster than one where arithmetic counts, four as much again where there is little else;
 * with many accesses to memory they only run out of registers. 8-byte types have twice as many parts already, and short rows
 * would be mostly tail.
 */
export function lanesFor(kernel: Kernel, variant: WasmVariant): Lanes {
  const warp = warpLanes(kernel, variant);
  if (warp !== undefined) return warp;
  const usual = usualLanes(kernel, variant);
  const lanes = usual === 8 || usual === 16 ? withinTiles(kernel, variant, usual) : usual;
  if (lanes !== usual || !someStmt(kernel.body, (s) => s.op === 'loop')) return lanes;
  return alongColumns(kernel, variant, usual) ?? usual;
}

/** Bytes that caches hold in one piece, and that vectors are to take of it at a time. */
const LINE = 64;

/**
 * Lanes for a kernel whose threads each go down a column of a matrix: as many as make a whole cache line. Each round is a row further on, so that the
 * next vector would find nothing left of the lines of this one: rows of 4 KB all want the same few places in a cache. Undefined where the usual
 * number is as good.
 */
function alongColumns(kernel: Kernel, { block }: WasmVariant, usual: Lanes): Lanes | undefined {
  const [width, height, depth] = block;
  if (usual === 1 || height * depth > 1) return undefined;
  let uniformity: Uniformity | undefined;
  let bytes = 0;
  const inLoop = ({ body, update }: Loop): void => {
    const changed = assignedIn([...body, ...update]);
    const isCounted = (e: Expr): boolean => someExpr(e, (x) => x.op === 'var' && changed.has(x.var.id));
    eachAccess(body, ({ array, elem, index }) => {
      const down = someExpr(index, (e) => e.op === 'binary' && e.fn === 'mul' && (isCounted(e.a) || isCounted(e.b)));
      if (array.space !== 'global' || !down) return;
      uniformity ??= analyseUniformity(kernel, { block, lanes: usual });
      if (uniformity.shape(index) === 'C') bytes = Math.max(bytes, ELEM_SIZE[elem]);
    });
  };
  eachStmt(kernel.body, (s) => {
    if (s.op === 'loop') inLoop(s);
  });
  const lanes = ([8, 16] as const).find((n) => n * bytes === LINE && n > usual && width % n === 0);
  return lanes !== undefined && !isCrowded(kernel, (16 * REGISTERS) / LINE) ? lanes : undefined;
}

/** Threads in a row that make a tile of their own: `tile[t >> 3][t & 7]`. */
const TILES = [4, 8] as const;

/** Fewer lanes where tiles of so many threads in a row are what vectors load at a time. */
function withinTiles(kernel: Kernel, { block }: WasmVariant, most: 8 | 16): Lanes {
  const isTile = (e: Expr, n: number): boolean => {
    if (e.op !== 'binary' || e.b.op !== 'const') return false;
    const by = Number(e.b.value);
    if (e.fn === 'and') return by === n - 1;
    return e.fn === 'shr' ? 2 ** by === n : (e.fn === 'rem' || e.fn === 'div' || e.fn === 'floordiv') && by === n;
  };
  const tiles = TILES.filter((n) => {
    let found = false;
    eachExpr(kernel.body, (e) => {
      found ||= n < most && isTile(e, n);
    });
    return found;
  });
  if (tiles.length === 0) return most;
  /** Accesses of which lanes are here and there. */
  const scattered = (lanes: Lanes): number => {
    const uniformity = analyseUniformity(kernel, { block, lanes });
    let found = 0;
    eachAccess(kernel.body, ({ index }) => {
      if (uniformity.shape(index) === 'V') found++;
    });
    return found;
  };
  const usual = scattered(most);
  return tiles.findLast((n) => scattered(n) < usual) ?? most;
}

function usualLanes(kernel: Kernel, variant: WasmVariant): Lanes {
  const [width] = variant.block;
  if (variant.lanes === 1 || width < 4) return 1;
  const wide = kernel.arrays.some((a) => isWide(a.elem as Expr['type'])) || kernel.vars.some((v) => v.type === 'f64');
  if (wide || isCrowded(kernel)) return 4;
  if ((width % 16 === 0 || width >= 64) && isMostlyNarrow(kernel)) return 16;
  if (width % 16 === 0 && isArithmetic(kernel)) return 16;
  // A row that is one vector needs no loop.
  if (width === 16 && isLean(kernel)) return 16;
  return width % 8 === 0 || width >= 64 ? 8 : 4;
}

/** Whether a loop carries more than so many values: by default where two parts of each would not fit into vector registers. */
function isCrowded({ body, vars }: Kernel, most = REGISTERS / 2): boolean {
  if (vars.length <= most) return false;
  const liveness = analyseLiveness(body);
  return someStmt(body, (s) => {
    if (s.op !== 'loop') return false;
    const carried = assignedIn([...s.body, ...s.update]);
    const before = liveness.before(s);
    return [...carried].filter((id) => before.has(id)).length > most;
  });
}

/** Vector registers for what full rounds carry, and expressions of a kernel that is written out for so many lanes. */
const REGISTERS = 16;
const LARGEST = 4000;

/**
 * Lanes for a kernel whose full rounds carry sums: as many as registers hold, because each round of a grid-stride loop is elsewhere
 * in memory, and what is loaded there at a time should be whole cache lines. Undefined where the usual number is better.
 */
export function lanesOfRounds(kernel: Kernel, loops: readonly Loop[], { block }: WasmVariant): Lanes | undefined {
  const liveness = analyseLiveness(kernel.body);
  let parts = 0;
  for (const loop of loops) {
    const carried = carriedVars(loop, liveness.before(loop));
    if (carried.length === 0 || someStmt(loop.body, (s) => written(s) !== undefined)) return undefined;
    parts = Math.max(
      parts,
      carried.reduce((sum, v) => sum + (isWide(v.type) ? 2 : 1), 0),
    );
  }
  const nodes = exprsSize(kernel.body);
  return ([64, 32, 16] as const).find(
    (n) => block[0] % n === 0 && (n / 4) * parts <= REGISTERS && (n / 4) * nodes <= LARGEST,
  );
}

/** Whether float arithmetic outweighs accesses to memory. */
function isArithmetic(kernel: Kernel): boolean {
  let [operations, accesses] = [0, 0];
  const count = (e: Expr): void => {
    if (e.op === 'load') accesses++;
    else if (e.type === 'f32' && e.op !== 'const' && e.op !== 'var' && e.op !== 'param') operations++;
    for (const operand of exprParts(e)) count(operand);
  };
  eachStmt(kernel.body, (s) => {
    if (s.op === 'store' || s.op === 'atomic') accesses++;
    for (const e of stmtExprs(s)) count(e);
  });
  return operations >= 4 * accesses;
}

/** Whether few values are loaded for each statement, and in all: then four parts of each stay in registers. */
function isLean(kernel: Kernel): boolean {
  let [loads, most] = [0, 0];
  const count = (e: Expr): number => {
    const below = exprParts(e).reduce((sum, operand) => sum + count(operand), 0);
    return below + (e.op === 'load' ? 1 : 0);
  };
  eachStmt(kernel.body, (s) => {
    const here = stmtExprs(s).reduce((sum, e) => sum + count(e), 0);
    loads += here;
    most = Math.max(most, here);
  });
  return most <= 2 && loads <= 6;
}
