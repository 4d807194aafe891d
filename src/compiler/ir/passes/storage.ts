/**
 * Where variables live while a block is run region by region: the second half of forming barrier regions.
 *
 * A variable that is used within single nodes is a plain local. Of the others: what all items agree on is kept once;
 * what is a cheap function of the thread's indices and the parameters is computed again where it is wanted; the rest is
 * saved for each item in a slot of scratch memory.
 */
import {
  assign,
  block,
  breakTo,
  constant,
  continueTo,
  i32,
  ifElse,
  type KernelBuilder,
  loop,
  NOWHERE,
  read,
} from '../builder.ts';
import { zero } from '../evaluate.ts';
import { canFail } from '../measures.ts';
import type { Expr, Stmt, Var } from '../ops.ts';
import { analyseLiveness, type Construct, type Liveness, type VarSet } from './liveness.ts';
import { findRecomputable } from './recompute.ts';
import type { RegionNode, StorageClass, WorkItemLoop } from './region-tree.ts';
import { renamed, renameExpr } from './rename.ts';
import type { ReturnsLowered } from './returns.ts';
import { addReads, assignedIn, defined, eachStmt, mapExpr, someExpr, stmtExprs } from './walk.ts';

export interface StorageAssignment {
  readonly nodes: readonly RegionNode[];
  readonly storage: ReadonlyMap<number, StorageClass>;
  readonly slots: readonly Var[];
}

/** New variables are added to the builder. */
export function assignStorage(
  b: KernelBuilder,
  cut: readonly RegionNode[],
  lowered: ReturnsLowered,
): StorageAssignment {
  const uniform = new Set(lowered.uniform);
  const torn = tornByJumps(cut, lowered);
  for (const id of torn) uniform.delete(id);
  let nodes = hoist(spreadVotes(cut, torn, uniform, b), uniform);
  nodes = initialise(nodes, b.vars, uniform);
  nodes = recompute(nodes, b.vars, uniform, lowered.live);
  const first = nodeLiveness(nodes);
  const shared = new Set([...uniform].filter((id) => first.crossing.has(id)));
  nodes = keepOnce(nodes, first, shared, uniform, b, lowered);
  const { crossing, around } = nodeLiveness(nodes);
  const slots = b.vars.filter((v) => crossing.has(v.id) && !uniform.has(v.id));
  const storage = new Map<number, StorageClass>();
  for (const v of b.vars) {
    const slot = slots.indexOf(v);
    const storageClass: StorageClass =
      slot >= 0 ? { kind: 'slot', slot } : { kind: crossing.has(v.id) ? 'uniform' : 'region' };
    storage.set(v.id, storageClass);
  }
  const transfers = mapWorkItemLoops(nodes, (node) => {
    const { before, after } = around(node);
    const written = assignedIn(node.body);
    const touched = new Set([...written, ...readsOfNode(node)]);
    const loads = slots.filter((v) => before.has(v.id) && touched.has(v.id));
    const saves = slots.filter((v) => written.has(v.id) && after.has(v.id));
    return [{ ...node, loads, saves }];
  });
  return { nodes: transfers, storage, slots };
}

/** Rebuilds the tree with a change for each work-item loop. */
function mapWorkItemLoops(
  nodes: readonly RegionNode[],
  change: (node: WorkItemLoop) => readonly RegionNode[],
): RegionNode[] {
  return nodes.flatMap((node): readonly RegionNode[] => {
    switch (node.kind) {
      case 'workItems':
        return change(node);
      case 'if':
        return [{ ...node, then: mapWorkItemLoops(node.then, change), else: mapWorkItemLoops(node.else, change) }];
      case 'loop':
        return [{ ...node, body: mapWorkItemLoops(node.body, change), update: mapWorkItemLoops(node.update, change) }];
      case 'block':
        return [{ ...node, body: mapWorkItemLoops(node.body, change) }];
      default:
        return [node];
    }
  });
}

/**
 * Variables that items assign where some of them wait at a place that they jumped to. Those that wait keep an old value,
 * which nobody reads, so that the others still agree; but then each item must have its own. What the block's own control
 * goes by is never assigned there: it would differ when they meet.
 */
function tornByJumps(nodes: readonly RegionNode[], { flags, live, uniform }: ReturnsLowered): Set<number> {
  const jumped = flags.filter((f) => f.var !== live).map((f) => f.var.id);
  const torn = new Set<number>();
  if (jumped.length === 0) return torn;
  mapWorkItemLoops(nodes, (node) => {
    const used = new Set([...readsOfNode(node), ...assignedIn(node.body)]);
    if (jumped.some((id) => used.has(id))) for (const id of assignedIn(node.body)) if (uniform.has(id)) torn.add(id);
    return [];
  });
  for (const id of controlReads(nodes)) torn.delete(id);
  return torn;
}

/** The result of a vote is one for the block; a variable of which each item has its own gets it from there. */
function spreadVotes(nodes: readonly RegionNode[], torn: VarSet, uniform: Set<number>, b: KernelBuilder): RegionNode[] {
  return mapWorkItemLoops(nodes, (node) => {
    const result = node.reduce?.result;
    if (!node.reduce || !result || !torn.has(result.id)) return [node];
    const said = b.variable('i32', result.name);
    uniform.add(said.id);
    const taken: WorkItemLoop = { kind: 'workItems', body: [assign(result, read(said))], loads: [], saves: [] };
    return [{ ...node, reduce: { ...node.reduce, result: said } }, taken];
  });
}

function controlReads(nodes: readonly RegionNode[], into: Set<number> = new Set()): Set<number> {
  for (const node of nodes) {
    if (node.kind === 'if') {
      addReads(node.cond, into);
      controlReads([...node.then, ...node.else], into);
    } else if (node.kind === 'loop') controlReads([...node.body, ...node.update], into);
    else if (node.kind === 'block') controlReads(node.body, into);
  }
  return into;
}

// ---------------------------------------------------------------- once for the block

function readsOf(s: Stmt): Set<number> {
  const reads = new Set<number>();
  eachStmt([s], (x) => {
    for (const e of stmtExprs(x)) addReads(e, reads);
  });
  return reads;
}

function readsOfNode(node: WorkItemLoop): Set<number> {
  const vote = node.reduce ? [ifElse(node.reduce.pred, [])] : [];
  return readsOf(block(-1, [...node.body, ...vote]));
}

/** What the statements collected so far read and write: whether another may move past them all. */
class Barred {
  readonly #reads = new Set<number>();
  readonly #writes = new Set<number>();

  add(s: Stmt): void {
    for (const id of readsOf(s)) this.#reads.add(id);
    for (const id of assignedIn([s])) this.#writes.add(id);
  }

  passes(s: Stmt & { op: 'assign' }): boolean {
    if (this.#reads.has(s.var.id) || this.#writes.has(s.var.id)) return false;
    return [...readsOf(s)].every((id) => !this.#writes.has(id));
  }
}

/**
 * Moves assignments of uniform values out of the items, where the order allows it. Not those of a variable that is
 * otherwise used within items, such as the counter of a loop: that would tear it from its other assignments.
 */
function hoist(nodes: readonly RegionNode[], uniform: VarSet): RegionNode[] {
  const { crossing } = nodeLiveness(nodes);
  const isCandidate = (s: Stmt): s is Stmt & { op: 'assign' } =>
    s.op === 'assign' && uniform.has(s.var.id) && isBlockValue(s.value, uniform);
  const torn = new Set<number>();
  mapWorkItemLoops(nodes, (node) => {
    const top = new Set(node.body.filter(isCandidate));
    eachStmt(node.body, (s) => {
      const id = defined(s);
      if (id !== undefined && !crossing.has(id) && !(s.op === 'assign' && top.has(s))) torn.add(id);
    });
    return [];
  });
  const forBlock = (s: Stmt): s is Stmt & { op: 'assign' } => isCandidate(s) && !torn.has(s.var.id);
  return mapWorkItemLoops(nodes, (node) => {
    const before: Stmt[] = [];
    const stay: Stmt[] = [];
    const ahead = new Barred();
    for (const s of node.body) {
      if (forBlock(s) && ahead.passes(s)) before.push(s);
      else {
        stay.push(s);
        ahead.add(s);
      }
    }
    const after: Stmt[] = [];
    const body: Stmt[] = [];
    const behind = new Barred();
    if (node.reduce) behind.add(ifElse(node.reduce.pred, []));
    for (const s of stay.reverse()) {
      if (forBlock(s) && behind.passes(s)) after.unshift(s);
      else {
        body.unshift(s);
        behind.add(s);
      }
    }
    const out: RegionNode[] = [];
    if (before.length > 0) out.push({ kind: 'once', body: before });
    if (body.length > 0 || node.reduce) out.push({ ...node, body });
    if (after.length > 0) out.push({ kind: 'once', body: after });
    return out;
  });
}

/** Whether a value can be had without being a thread. */
function isBlockValue(e: Expr, uniform: VarSet): boolean {
  return !someExpr(e, (x) => {
    switch (x.op) {
      case 'var':
        return !uniform.has(x.var.id);
      case 'special':
        return x.name.startsWith('threadIdx') || x.name === 'laneId';
      default:
        return canFail(x);
    }
  });
}

/**
 * Uniform variables that items assign although they live across nodes: each item works on a copy of its own, from the
 * value before the node, and those that have not returned by the end hand the result on. New uniform variables join `uniform`.
 */
function keepOnce(
  nodes: readonly RegionNode[],
  liveness: NodeLiveness,
  shared: VarSet,
  uniform: Set<number>,
  b: KernelBuilder,
  { live }: ReturnsLowered,
): RegionNode[] {
  const byId = new Map(b.vars.map((v) => [v.id, v]));
  return mapWorkItemLoops(nodes, (node) => {
    const { before, after } = liveness.around(node);
    let { body } = node;
    const pending: Stmt[] = [];
    const copies = new Map<number, Var>();
    const start: Stmt[] = [];
    let end: readonly Stmt[] = [];
    for (const id of assignedIn(body)) {
      const v = byId.get(id);
      if (v === undefined || !shared.has(id)) continue;
      const copy = b.variable(v.type, v.name);
      copies.set(id, copy);
      if (before.has(id)) start.push(assign(copy, read(v)));
      if (!after.has(id)) continue;
      // Where items still read the old value, the new one must wait until all of them have run.
      const target = before.has(id) ? b.variable(v.type, v.name) : v;
      uniform.add(target.id);
      end = [...end, assign(target, read(copy))];
      if (target !== v) pending.push(assign(v, read(target)));
    }
    if (copies.size === 0) return [node];
    body = renamed(body, copies);
    if (live && end.length > 0) end = [ifElse(read(live), end)];
    const items: WorkItemLoop = {
      ...node,
      body: [...start, ...body, ...end],
      reduce: node.reduce && { ...node.reduce, pred: mapExpr(node.reduce.pred, renameExpr(copies)) },
    };
    return pending.length > 0 ? [items, { kind: 'once', body: pending }] : [items];
  });
}

// ---------------------------------------------------------------- liveness of nodes

interface NodeLiveness {
  /** Variables whose value one node leaves to another, or to control. */
  readonly crossing: VarSet;
  /** Variables that may be read before they are assigned. */
  readonly entry: VarSet;
  around(node: WorkItemLoop): { readonly before: VarSet; readonly after: VarSet };
}

function nodeLiveness(nodes: readonly RegionNode[]): NodeLiveness {
  const marks = new Map<WorkItemLoop, Construct>();
  let label = -1;
  /** Variables that nodes other than items use. */
  const outside = new Set<number>();
  const liveness: Liveness = analyseLiveness(statements(nodes));
  const crossing = new Set(outside);
  const around = (node: WorkItemLoop): { before: VarSet; after: VarSet } => {
    const mark = marks.get(node);
    if (!mark) throw new Error('internal error: a node that is not in the tree');
    return { before: liveness.before(mark), after: liveness.after(mark) };
  };
  for (const node of marks.keys()) for (const id of around(node).before) crossing.add(id);
  return { crossing, entry: liveness.entry, around };

  /** The tree as statements, with a block around each node's items to ask about. */
  function statements(list: readonly RegionNode[]): Stmt[] {
    return list.flatMap(nodeStatements);
  }

  function nodeStatements(node: RegionNode): readonly Stmt[] {
    switch (node.kind) {
      case 'workItems': {
        const { reduce } = node;
        const body = reduce ? [...node.body, ifElse(reduce.pred, [])] : node.body;
        const mark: Construct = { op: 'block', label: label--, body, pos: NOWHERE };
        marks.set(node, mark);
        if (!reduce) return [mark];
        outside.add(reduce.result.id);
        return [mark, assign(reduce.result, i32(0))];
      }
      case 'once':
        for (const s of node.body) {
          for (const e of stmtExprs(s)) addReads(e, outside);
          outside.add(defined(s) ?? -1);
        }
        return node.body;
      case 'if':
        addReads(node.cond, outside);
        return [ifElse(node.cond, statements(node.then), statements(node.else))];
      case 'loop':
        return [loop(node.label, statements(node.body), statements(node.update))];
      case 'block':
        return [block(node.label, statements(node.body))];
      case 'break':
        return [breakTo(node.label)];
      case 'continue':
        return [continueTo(node.label)];
      case 'exitIfNoneLive':
        outside.add(node.live.id);
        return [ifElse(read(node.live), [])];
    }
  }
}

// ---------------------------------------------------------------- other values

/** Variables that may be read before they are assigned are zero. */
function initialise(nodes: readonly RegionNode[], vars: readonly Var[], uniform: VarSet): RegionNode[] {
  const { crossing, entry } = nodeLiveness(nodes);
  const unset = vars.filter((v) => entry.has(v.id) && crossing.has(v.id));
  const zeros = (list: readonly Var[]): Stmt[] => list.map((v) => assign(v, constant(v.type, zero(v.type))));
  const once = zeros(unset.filter((v) => uniform.has(v.id)));
  const each = zeros(unset.filter((v) => !uniform.has(v.id)));
  const out: RegionNode[] = [...nodes];
  const first = out[0];
  if (each.length > 0 && first?.kind === 'workItems') out[0] = { ...first, body: [...each, ...first.body] };
  else if (each.length > 0) out.unshift({ kind: 'workItems', body: each, loads: [], saves: [] });
  if (once.length > 0) out.unshift({ kind: 'once', body: once });
  return out;
}

/** Computes cheap values again in the nodes that want them from outside. */
function recompute(
  nodes: readonly RegionNode[],
  vars: readonly Var[],
  uniform: VarSet,
  live: Var | undefined,
): RegionNode[] {
  const { around } = nodeLiveness(nodes);
  const times = new Map<number, number>();
  const assignments: (Stmt & { op: 'assign' })[] = [];
  const count = (id: number | undefined): void => {
    if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  };
  mapWorkItemLoops(nodes, (node) => {
    count(node.reduce?.result.id);
    eachStmt(node.body, (s) => {
      count(defined(s));
      if (s.op === 'assign') assignments.push(s);
    });
    return [];
  });
  eachOnce(nodes, (s) => {
    count(s.var.id);
    assignments.push(s);
  });
  // What may be read before that was given a zero: it is not among them.
  const single = assignments.filter((s) => times.get(s.var.id) === 1 && s.var !== live);
  const found = findRecomputable(single, uniform);
  return mapWorkItemLoops(nodes, (node) => {
    const wanted = new Set<number>();
    const want = (id: number): void => {
      for (const need of found.get(id)?.needs ?? []) want(need);
      if (found.has(id)) wanted.add(id);
    };
    const { before } = around(node);
    const reads = readsOfNode(node);
    for (const v of vars) if (before.has(v.id) && reads.has(v.id)) want(v.id);
    const again = [...wanted]
      .flatMap((id) => found.get(id) ?? [])
      .map(({ assignment: s }) => assign(s.var, s.value, s.pos));
    return again.length > 0 ? [{ ...node, body: [...again, ...node.body] }] : [node];
  });
}

function eachOnce(nodes: readonly RegionNode[], visit: (s: Stmt & { op: 'assign' }) => void): void {
  for (const node of nodes) {
    if (node.kind === 'once') for (const s of node.body) if (s.op === 'assign') visit(s);
    if (node.kind === 'if') eachOnce([...node.then, ...node.else], visit);
    if (node.kind === 'loop') eachOnce([...node.body, ...node.update], visit);
    if (node.kind === 'block') eachOnce(node.body, visit);
  }
}
