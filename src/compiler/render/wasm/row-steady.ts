/**
 * What the items of a row have in common, computed once for the row: `table[ids[y]][x]` loads `ids[y]` for each vector of it otherwise, and checks
 * it each time, as engines take no load out of a loop.
 *
 * Only what all items do before they have any effect: assignments and loads that do not depend on threadIdx.x, of a body that is run from the start
 * of the row. A fault among these is the first item's, as it was. Loads come before what other items of the row store, which no barrier keeps
 * them from.
 */
import { i32 } from '../../ir/builder.ts';
import { canFail } from '../../ir/measures.ts';
import type { Check, Expr, MemRef, Stmt } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import type { Shape } from '../../ir/passes/uniformity.ts';
import { assignedIn, exprParts, hasLoad, memParts, someExpr, someStmt, stmtExprs } from '../../ir/passes/walk.ts';
import { boundsHazards } from './checks.ts';
import { type Gen, varShape } from './gen.ts';
import { withPrepared } from './prepare.ts';
import { withHoisted } from './scope.ts';
import { emitList } from './statements.ts';

type Load = Expr & { readonly op: 'load' };

/** Done for the row: an assignment, or loads that are kept and checks that are made. */
type Step =
  | { readonly assign: Stmt }
  | { readonly assign?: undefined; readonly loads: readonly Load[]; readonly accesses: readonly MemRef[] };

interface RowSteady {
  /** In the order of the body. */
  readonly steps: readonly Step[];
  /** What is left for each vector. */
  readonly body: readonly Stmt[];
}

/** Writes a row: what its items have in common, and `rest` with what is left of the body; `ofBlocks`: a row of several blocks, from the first one on. */
export function withSteady(
  g: Gen,
  node: WorkItemLoop,
  rest: (body: readonly Stmt[]) => void,
  { ofBlocks = false }: { readonly ofBlocks?: boolean } = {},
): void {
  const steady = steadyInRow(g, node, ofBlocks);
  if (steady === undefined) {
    rest(node.body);
    return;
  }
  const checks = steady.steps.flatMap((s) => (s.assign === undefined ? s.accesses.flatMap((mem) => mem.checks) : []));
  const from = (k: number): void => {
    const step = steady.steps[k];
    if (step === undefined) withHoisted(g, new Set([...g.hoisted, ...checks]), () => rest(steady.body));
    else if (step.assign !== undefined) {
      emitList(g, [step.assign]);
      from(k + 1);
    } else withPrepared(g, step.loads, step.accesses, () => from(k + 1));
  };
  from(0);
}

/** Undefined where a row has nothing in common that is worth it: what is only computed is as quickly computed again. */
function steadyInRow(g: Gen, node: WorkItemLoop, ofBlocks: boolean): RowSteady | undefined {
  if (!someStmt(node.body, (s) => stmtExprs(s).some(hasLoad))) return undefined;
  const kept = new Set([...node.loads, ...node.saves].map((v) => v.id));
  const once = assignedOnce(node.body);
  const assigned = assignedIn(node.body);
  /** Variables that have one value in the row. */
  const known = new Set(g.blockVars.flatMap((v) => (assigned.has(v.id) ? [] : [v.id])));
  const isSteady = (e: Expr): boolean => {
    switch (e.op) {
      case 'special':
        return e.name !== 'threadIdx.x' && e.name !== 'laneId' && !(ofBlocks && e.name === 'blockIdx.x');
      case 'var':
        return known.has(e.var.id);
      case 'load':
        return e.mem.array.space !== 'local' && memParts(e.mem).every(isSteady);
      default:
        return !canFail(e) && exprParts(e).every(isSteady);
    }
  };
  const isAsked = ({ index, extent }: Check): boolean => [index, extent].every((e) => isSteady(e) && !hasLoad(e));
  const hasHazards = (mem: MemRef): boolean => boundsHazards(g, mem).length > 0;
  const common = (s: Stmt & { op: 'assign' | 'store' }): Step | undefined => {
    const loads: Load[] = [];
    const mems: MemRef[] = [];
    const find = (e: Expr): void => {
      if (e.op === 'load' && isSteady(e)) loads.push(e);
      else {
        if (e.op === 'load') mems.push(e.mem);
        for (const part of exprParts(e)) find(part);
      }
    };
    for (const e of s.op === 'store' ? [s.value, s.mem.index] : [s.value]) find(e);
    if (s.op === 'store') mems.push(s.mem);
    const only = (mem: MemRef, asked: boolean): MemRef => ({
      ...mem,
      index: i32(0),
      checks: mem.checks.filter((c) => isAsked(c) === asked),
    });
    const fails = stmtExprs(s).some((e) => someExpr(e, (x) => x.op !== 'load' && canFail(x)));
    // What fails first must be what failed first.
    if (fails || mems.some((mem) => hasHazards(only(mem, false)))) return undefined;
    return { loads, accesses: mems.map((mem) => only(mem, true)).filter(hasHazards) };
  };
  const [steps, body]: [Step[], Stmt[]] = [[], []];
  let isQuiet = true;
  for (const s of node.body) {
    const moves = isQuiet && s.op === 'assign' && once.has(s.var.id) && !kept.has(s.var.id) && isSteady(s.value);
    if (moves && isOneValue(varShape(g, s.var))) {
      known.add(s.var.id);
      steps.push({ assign: s });
      continue;
    }
    body.push(s);
    if (!isQuiet) continue;
    const step = s.op === 'assign' || s.op === 'store' ? common(s) : undefined;
    isQuiet = s.op === 'assign' && step !== undefined;
    if (step !== undefined && step.assign === undefined && step.loads.length + step.accesses.length > 0)
      steps.push(step);
  }
  const isWorth = (step: Step): boolean => step.assign === undefined || stmtExprs(step.assign).some(hasLoad);
  if (!steps.some(isWorth)) return undefined;
  // Read before it is assigned, a variable is 0.
  const { entry } = analyseLiveness(node.body);
  return [...known].some((id) => entry.has(id) && assigned.has(id)) ? undefined : { steps, body };
}

const isOneValue = (shape: Shape): boolean => shape === 'U' || shape === 'G';

/** Variables that one statement of a list assigns, by id. */
function assignedOnce(list: readonly Stmt[]): ReadonlySet<number> {
  const others = list.filter((s) => s.op !== 'assign');
  const more = assignedIn(others);
  const seen = new Set<number>();
  const twice = new Set<number>();
  for (const s of list) {
    if (s.op !== 'assign') continue;
    if (seen.has(s.var.id) || more.has(s.var.id)) twice.add(s.var.id);
    seen.add(s.var.id);
  }
  return new Set([...seen].filter((id) => !twice.has(id)));
}
