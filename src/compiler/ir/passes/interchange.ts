/**
 * Loop interchange, for devices that run the work items of a block one after another on one thread.
 *
 * `for (k …) visit(x[first + k * stride + threadIdx.x])` takes a few items through all of their rounds, then comes back over
 * the same memory for the next few. With a barrier at the end of each round the items are the inner loop: they pass over
 * memory in its order, and what guards the access is tested once a round. Between barriers items may run in any order, so
 * that is all a barrier changes. Forming regions then shows whether it is to be had without saving values for each item.
 */
import { barrier } from '../builder.ts';
import { type Loop, testedLoop } from '../loops.ts';
import type { ArraySym, Kernel, Label, MemRef, Stmt } from '../ops.ts';
import { analyseLiveness, type Liveness } from './liveness.ts';
import type { Shape, UniformityOptions } from './shapes.ts';
import { analyseUniformity, type Uniformity } from './uniformity.ts';
import { eachAccess, eachStmt, hasReturn, mapLists, mapSame, someStmt } from './walk.ts';

/**
 * The kernel with a barrier in each loop that is better run round by round; the same kernel when there is none. Before return
 * lowering; `options` say how wide a row of items is. The loops of `carrying` may keep something for each item.
 */
export function interchange(
  kernel: Kernel,
  options: UniformityOptions,
  carrying: { has(label: Label): boolean } = new Set(),
): Kernel {
  if (hasReturn(kernel.body)) return kernel;
  const ends = new Map<Loop, Stmt>();
  const body = withBarriers(kernel.body, ends);
  if (ends.size === 0) return kernel;
  const uniformity = analyseUniformity({ ...kernel, body }, options);
  const liveness = analyseLiveness(body);
  const kept = new Set(
    [...ends].flatMap(([l, end]) =>
      isWorthIt(l, end, uniformity, carrying.has(l.label) ? undefined : liveness) ? [] : [end],
    ),
  );
  if (kept.size === ends.size) return kernel;
  return { ...kernel, body: without(body, kept) };
}

/** A barrier at the end of each loop that may be a candidate; they are noted in `ends` by the new loop. */
function withBarriers(list: readonly Stmt[], ends: Map<Loop, Stmt>): readonly Stmt[] {
  return mapSame(list, (s) => {
    if (s.op !== 'loop') return mapLists(s, (inner) => withBarriers(inner, ends));
    if (!isInnermost(s)) return mapLists(s, (inner) => withBarriers(inner, ends));
    if (!isCandidate(s)) return s;
    const end = barrier(s.pos);
    const turned: Loop = { ...s, body: [...s.body, end] };
    ends.set(turned, end);
    return turned;
  });
}

function without(list: readonly Stmt[], dropped: ReadonlySet<Stmt>): readonly Stmt[] {
  return mapSame(
    list.filter((s) => !dropped.has(s)),
    (s) => mapLists(s, (inner) => without(inner, dropped)),
  );
}

function isInnermost({ body, update }: Loop): boolean {
  return !someStmt([...body, ...update], (s) => s.op === 'loop');
}

/** What can be said without an analysis: one exit, at the top, and global memory in the rest. */
function isCandidate(loop: Loop): boolean {
  const rest = testedLoop(loop)?.body;
  if (rest === undefined) return false;
  return !someStmt([...rest, ...loop.update], keepsOrder) && accesses(rest).some((mem) => mem.array.space === 'global');
}

/** Statements whose order between items shows, or that keep items together already. */
export function keepsOrder(s: Stmt): boolean {
  switch (s.op) {
    case 'assign':
    case 'store':
    case 'if':
    case 'block':
      return false;
    case 'atomic':
      // What the others left there is anybody's guess, but not on one thread.
      return s.result !== undefined;
    default:
      return true;
  }
}

function accesses(list: readonly Stmt[]): MemRef[] {
  const found: MemRef[] = [];
  eachAccess(list, (mem) => {
    found.push(mem);
  });
  return found;
}

/** Whether all threads make the same rounds, keep nothing of their own from one to the next (if that is asked), and read along rows. */
function isWorthIt(l: Loop, end: Stmt, uniformity: Uniformity, liveness: Liveness | undefined): boolean {
  if (end.op !== 'barrier' || uniformity.parting(end) !== undefined) return false;
  if (liveness !== undefined && keepsOwn(l, uniformity, liveness)) return false;
  const touched = accesses(l.body);
  if (touched.some(({ array }) => array.space === 'local')) return false;
  const shapes = touched.filter(isGlobal).map(({ index }): Shape => uniformity.shape(index));
  return shapes.includes('C') && !shapes.includes('V');
}

function keepsOwn(l: Loop, uniformity: Uniformity, liveness: Liveness): boolean {
  const carried = new Set([...liveness.before(l), ...liveness.after(l)]);
  let own = false;
  eachStmt([...l.body, ...l.update], (s) => {
    if (s.op === 'assign' && carried.has(s.var.id)) own ||= uniformity.varShape(s.var) !== 'G';
  });
  return own;
}

function isGlobal({ array }: { readonly array: ArraySym }): boolean {
  return array.space === 'global';
}
