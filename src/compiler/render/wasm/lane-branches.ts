/**
 * Branches that are taken by lanes which are known while the code is written: `if (laneId >= 4) v += other`, `if (laneId === 0) …`.
 *
 * Assignments need no mask: parts whose lanes all take the branch are assigned, those of which none do are left, and there is a
 * constant for the others. A single lane runs what it does as scalar code, on its own values taken out of the vectors.
 */
import type { Stmt, Var } from '../../ir/ops.ts';
import { eachExpr, eachStmt, someStmt, written } from '../../ir/passes/walk.ts';
import type { Local } from './assembler.ts';
import { part } from './expr.ts';
import { type Gen, isWide, varLocals, varShape, wasmType } from './gen.ts';
import { withOneLane } from './scope.ts';
import { pushLaneMask, staticBits } from './static-lanes.ts';
import { extractLane, replaceLane } from './vector.ts';

/**
 * Emits an `if` of all lanes whose condition is known in each; false where that is better done under a mask. `emit` writes a list,
 * `isHarmless` says what may be run in lanes that do not take it.
 */
export function emitLaneBranch(
  g: Gen,
  s: Stmt & { op: 'if' },
  emit: (list: readonly Stmt[]) => void,
  isHarmless: (s: Stmt) => boolean,
): boolean {
  if (g.mask !== null) return false;
  const bits = staticBits(g, s.cond);
  if (bits === undefined) return false;
  const all = g.lanes === 32 ? -1 : 2 ** g.lanes - 1;
  if (bits === all || bits === 0) {
    emit(bits === all ? s.then : s.else);
    return true;
  }
  const both = [...s.then, ...s.else];
  if (both.every((x) => x.op === 'assign' && isHarmless(x))) {
    for (const x of s.then) assignIn(g, x, bits);
    for (const x of s.else) assignIn(g, x, all & ~bits);
    return true;
  }
  const lane = 31 - Math.clz32(bits);
  if (bits !== 1 << lane || s.else.length > 0 || !isForOne(s.then)) return false;
  inLane(g, lane, s.then, () => emit(s.then));
  return true;
}

/** An assignment in some of the lanes, one bit each. */
function assignIn(g: Gen, s: Stmt, bits: number): void {
  if (s.op !== 'assign') return;
  const { f } = g;
  const perPart = isWide(s.var.type) ? 2 : 4;
  for (const [p, local] of varLocals(g, s.var).entries()) {
    const here = (bits >>> (p * perPart)) & (2 ** perPart - 1);
    if (here === 0) continue;
    part(g, s.value, p);
    if (here !== 2 ** perPart - 1) {
      f.get(local);
      pushLaneMask(g, here, perPart);
      f.op('v128.bitselect');
    }
    f.set(local);
  }
}

// ---------------------------------------------------------------- a single lane

/** Whether a list is nothing but what a single thread does by itself. */
function isForOne(list: readonly Stmt[]): boolean {
  const plain = (s: Stmt): boolean =>
    s.op === 'assign' || s.op === 'store' || s.op === 'atomic' || s.op === 'if' || s.op === 'fence';
  if (someStmt(list, (s) => !plain(s) || written(s)?.array.space === 'local')) return false;
  let own = true;
  eachExpr(list, (e) => {
    // Local arrays lie otherwise in vector code, and `uniform` asks all lanes.
    if ((e.op === 'load' && e.mem.array.space === 'local') || (e.op === 'unary' && e.fn === 'uniform')) own = false;
  });
  return own;
}

/** Runs code as a single lane; what it assigns is put back. */
function inLane(g: Gen, lane: number, list: readonly Stmt[], body: () => void): void {
  const { f, at } = g;
  const vars = new Map<number, readonly Local[]>();
  const taken: { readonly v: Var; readonly own: Local; readonly vector: Local | undefined; readonly index: number }[] =
    [];
  const take = (v: Var): void => {
    if (vars.has(v.id)) return;
    const locals = varLocals(g, v);
    const shape = varShape(g, v);
    if (shape !== 'V' && shape !== 'C') {
      vars.set(v.id, locals);
      return;
    }
    const own = f.temp(wasmType(v.type));
    vars.set(v.id, [own]);
    const perPart = isWide(v.type) ? 2 : 4;
    const vector = shape === 'V' ? locals[Math.floor(lane / perPart)] : undefined;
    taken.push({ v, own, vector, index: lane % perPart });
    f.get(vector ?? locals[0] ?? 0);
    if (vector !== undefined) extractLane(f, v.type, lane % perPart);
    else addTo(g, isWide(v.type) ? 'i64' : 'i32', lane);
    f.set(own);
  };
  const assigned = new Set<number>();
  eachStmt(list, (s) => {
    const v = s.op === 'assign' ? s.var : s.op === 'atomic' ? s.result : undefined;
    if (v === undefined) return;
    assigned.add(v.id);
    take(v);
  });
  eachExpr(list, (e) => {
    if (e.op === 'var') take(e.var);
  });
  const move = (by: number): void => {
    if (lane === 0) return;
    for (const local of [at.thread[0], at.item]) {
      f.get(local);
      addTo(g, 'i32', by);
      f.set(local);
    }
  };
  move(lane);
  withOneLane(g, vars, body);
  move(-lane);
  for (const { v, own, vector, index } of taken) {
    // Consecutive values that some lanes change are nobody's afterwards.
    if (vector !== undefined && assigned.has(v.id)) {
      f.get(vector);
      if (v.type === 'bool') f.i32(0);
      f.get(own);
      if (v.type === 'bool') f.op('i32.sub');
      replaceLane(f, v.type, index);
      f.set(vector);
    }
    f.release(wasmType(v.type), own);
  }
}

function addTo({ f }: Gen, type: 'i32' | 'i64', by: number): void {
  f[type](by);
  f.op(`${type}.add`);
}
