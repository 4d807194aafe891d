/**
 * Lanes by another name: `threadIdx.x & 31` is `laneId` where warps are parts of rows, also of a sum with multiples of 32 in it.
 *
 * Vectors that are whole warps know their lanes while code is written. For that the block must be one row, or its rows whole
 * numbers of warps, and `simplify` must have put its extents in place.
 */
import { bitcast, cast, special } from '../builder.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { isInt } from '../ops.ts';
import { WARP_SIZE } from '../warp.ts';
import { analyseLiveness } from './liveness.ts';
import { defined, eachStmt, mapLists, mapSame, mapStmtExprs, someExpr } from './walk.ts';

/** The same kernel when nothing changes. */
export function nameLanes(kernel: Kernel): Kernel {
  const places = placesIn(kernel);
  const change = (e: Expr): Expr => named(e, places);
  const list = (stmts: readonly Stmt[]): readonly Stmt[] =>
    mapSame(stmts, (s) => mapLists(mapStmtExprs(s, change), list));
  const body = list(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, body };
}

/** Whether an integer is threadIdx.x plus a multiple of 32. */
export function isPlace(e: Expr): boolean {
  switch (e.op) {
    case 'special':
      return e.name === 'threadIdx.x';
    case 'binary':
      if (!isInt(e.type)) return false;
      if (e.fn === 'sub') return isPlace(e.a) && isMultiple(e.b);
      return e.fn === 'add' && ((isPlace(e.a) && isMultiple(e.b)) || (isMultiple(e.a) && isPlace(e.b)));
    case 'cast':
    case 'bitcast':
      return isInt(e.type) && isInt(e.a.type) && (e.op === 'bitcast' || e.to === e.type) && isPlace(e.a);
    default:
      return false;
  }
}

/** Whether an integer is a multiple of 32, whatever it wraps to. */
export function isMultiple(e: Expr): boolean {
  switch (e.op) {
    case 'const':
      return isInt(e.type) && BigInt(e.value) % BigInt(WARP_SIZE) === 0n;
    case 'binary':
      if (!isInt(e.type)) return false;
      if (e.fn === 'add' || e.fn === 'sub') return isMultiple(e.a) && isMultiple(e.b);
      if (e.fn === 'shl') return e.b.op === 'const' && Number(e.b.value) >= 5 && Number(e.b.value) < 32;
      return e.fn === 'mul' && (isMultiple(e.a) || isMultiple(e.b));
    case 'cast':
    case 'bitcast':
      return isInt(e.type) && isInt(e.a.type) && (e.op === 'bitcast' || e.to === e.type) && isMultiple(e.a);
    default:
      return false;
  }
}

function isNatural(e: Expr): boolean {
  if (e.type === 'u32' || e.type === 'u64') return true;
  return e.op === 'special' || ((e.op === 'cast' || e.op === 'bitcast') && e.a.op === 'special');
}

/** What each variable with one value that never changes is, by id, where that is a place of the thread. */
function placesIn({ body }: Kernel): ReadonlyMap<number, Expr> {
  const values = new Map<number, Expr | undefined>();
  eachStmt(body, (s) => {
    const id = defined(s);
    if (id !== undefined) values.set(id, values.has(id) || s.op !== 'assign' ? undefined : s.value);
  });
  const places = new Map<number, Expr>();
  const { entry } = analyseLiveness(body);
  for (const [id, value] of values) {
    const steady = value !== undefined && !entry.has(id) && isPlace(value);
    if (steady && !someExpr(value, (e) => e.op === 'var' || e.op === 'load')) places.set(id, value);
  }
  return places;
}

function named(e: Expr, places: ReadonlyMap<number, Expr>): Expr {
  if (e.op !== 'binary' || e.b.op !== 'const' || e.a.op === 'const') return e;
  const a = e.a.op === 'var' ? (places.get(e.a.var.id) ?? e.a) : e.a;
  if (!isPlace(a)) return e;
  const by = Number(e.b.value);
  const masks = e.fn === 'and' && by === WARP_SIZE - 1;
  const divides = e.fn === 'rem' && by === WARP_SIZE && isNatural(a);
  return masks || divides ? laneAs(e) : e;
}

function laneAs({ type }: Expr): Expr {
  const lane = special('laneId');
  if (type === 'i32') return lane;
  return type === 'u32' ? bitcast('u32', lane) : cast(type === 'u64' ? 'u64' : 'i64', lane);
}
