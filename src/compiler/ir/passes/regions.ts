/**
 * Barrier regions: cuts a kernel at its barriers, so that one worker can run a whole block without switching threads.
 *
 * Maximal barrier-free runs become work-item loops, to be run for all work items of the block before the next node; control
 * that contains barriers is uniform and is run once for the block, around them. Variables that live across a barrier are
 * kept once (uniform), recomputed, or saved per work item (see `storage.ts`). Takes a kernel after return lowering.
 */
import { barrier, block, breakTo, continueTo, ifElse, KernelBuilder, loop, vote } from '../builder.ts';
import type { ArraySym, Expr, Kernel, Label, Stmt, Var } from '../ops.ts';
import type { Reduction, RegionNode, StorageClass, WorkItemLoop } from './region-tree.ts';
import type { ReturnsLowered } from './returns.ts';
import { assignStorage } from './storage.ts';
import type { Uniformity, UniformityOptions } from './uniformity.ts';
import { analyseUniformity } from './uniformity.ts';
import { defined, eachExpr, eachPart, eachStmt, hasBarrier, someStmt, stmtLists, written } from './walk.ts';

export interface Regions {
  /** What the nodes hold, as one kernel again; its statements are those of the nodes. */
  readonly kernel: Kernel;
  readonly nodes: readonly RegionNode[];
  /** Whether there is a barrier at all; otherwise there is a single work-item loop. */
  readonly barriers: boolean;
  /** By `Var.id`, for every variable of `kernel`. */
  readonly storage: ReadonlyMap<number, StorageClass>;
  /** The variables that have slots, in order. */
  readonly slots: readonly Var[];
  /** Local arrays whose contents live across barriers: one copy per work item. Others need one per lane. */
  readonly perItemArrays: ReadonlySet<ArraySym>;
  /** Shapes and divergence of the statements in the nodes. */
  readonly uniformity: Uniformity;
}

/** Cuts a kernel whose returns were lowered. `options` are those of the uniformity analysis that the result carries. */
export function formRegions(lowered: ReturnsLowered, options: UniformityOptions = {}): Regions {
  const { kernel, live } = lowered;
  const barriers = hasBarrier(kernel.body);
  if (!barriers) {
    return {
      kernel,
      nodes: [{ kind: 'workItems', body: kernel.body, loads: [], saves: [] }],
      barriers,
      storage: new Map(kernel.vars.map((v) => [v.id, { kind: 'region' }])),
      slots: [],
      perItemArrays: new Set(),
      uniformity: analyseUniformity(kernel, options),
    };
  }
  const b = KernelBuilder.from(kernel);
  const { nodes, storage, slots } = assignStorage(b, new Cutter(live).list(kernel.body), lowered);
  const final: Kernel = { ...kernel, vars: [...b.vars], body: flatten(nodes) };
  const uniform = new Set([...storage].flatMap(([id, storageClass]) => (storageClass.kind === 'uniform' ? [id] : [])));
  return {
    kernel: final,
    nodes,
    barriers,
    storage,
    slots,
    perItemArrays: arraysAcross(nodes),
    uniformity: analyseUniformity(final, { ...options, live, uniform }),
  };
}

class Cutter {
  readonly #live: Var | undefined;
  /** Labels of constructs that became nodes. */
  readonly #nodes = new Set<Label>();

  constructor(live: Var | undefined) {
    this.#live = live;
  }

  list(list: readonly Stmt[]): RegionNode[] {
    const out: RegionNode[] = [];
    let items: Stmt[] = [];
    const flush = (reduce?: Reduction): void => {
      if (items.length === 0 && !reduce) return;
      out.push({ kind: 'workItems', body: items, loads: [], saves: [], reduce });
      const live = this.#live;
      const dies = live !== undefined && someStmt(items, (s) => defined(s) === live.id && !isTrue(s));
      if (dies) out.push({ kind: 'exitIfNoneLive', live });
      items = [];
    };
    for (const s of list) {
      if (!this.#isNode(s)) {
        items.push(s);
        continue;
      }
      flush(reduction(s));
      const node = this.#node(s);
      if (node) out.push(node);
    }
    flush();
    return out;
  }

  /** Whether a statement is for the block as a whole: it holds a barrier, or a jump out of such a construct. */
  #isNode(s: Stmt): boolean {
    if (s.op === 'barrier') return true;
    if (s.op === 'break' || s.op === 'continue') return this.#nodes.has(s.label);
    return stmtLists(s).some((inner) => inner.some((x) => this.#isNode(x)));
  }

  #node(s: Stmt): RegionNode | undefined {
    switch (s.op) {
      case 'if':
        return { kind: 'if', cond: s.cond, then: this.list(s.then), else: this.list(s.else) };
      case 'loop':
        this.#nodes.add(s.label);
        return { kind: 'loop', label: s.label, body: this.list(s.body), update: this.list(s.update) };
      case 'block':
        this.#nodes.add(s.label);
        return { kind: 'block', label: s.label, body: this.list(s.body) };
      case 'break':
      case 'continue':
        return { kind: s.op, label: s.label };
      default:
        return undefined;
    }
  }
}

function isTrue(s: Stmt): boolean {
  return s.op === 'assign' && s.value.op === 'const' && s.value.value === true;
}

function reduction(s: Stmt): Reduction | undefined {
  if (s.op !== 'barrier' || s.kind === 'sync' || s.kind === 'grid' || !s.pred || !s.result) return undefined;
  return { fn: s.kind, pred: s.pred, result: s.result };
}

/** The tree as a list of statements again. A barrier stands after items that reduce, and between neighbours. */
function flatten(nodes: readonly RegionNode[]): Stmt[] {
  return nodes.flatMap((node, i) => flattenNode(node, i === nodes.length - 1));
}

function flattenNode(node: RegionNode, last: boolean): readonly Stmt[] {
  switch (node.kind) {
    case 'workItems': {
      if (!node.reduce) return last ? node.body : [...node.body, barrier()];
      const { fn, pred, result } = node.reduce;
      return [...node.body, vote(fn, pred, result)];
    }
    case 'once':
      return node.body;
    case 'if':
      return [ifElse(node.cond, flatten(node.then), flatten(node.else))];
    case 'loop':
      return [loop(node.label, flatten(node.body), flatten(node.update))];
    case 'block':
      return [block(node.label, flatten(node.body))];
    case 'break':
      return [breakTo(node.label)];
    case 'continue':
      return [continueTo(node.label)];
    case 'exitIfNoneLive':
      return [];
  }
}

/** Local arrays that more than one node uses, or one inside a loop around barriers. */
function arraysAcross(nodes: readonly RegionNode[]): Set<ArraySym> {
  const users = new Map<ArraySym, number>();
  const visit = (list: readonly RegionNode[], weight: number): void => {
    for (const node of list) {
      if (node.kind === 'workItems') for (const a of localArrays(node)) users.set(a, (users.get(a) ?? 0) + weight);
      else if (node.kind === 'if') visit([...node.then, ...node.else], weight);
      else if (node.kind === 'loop') visit([...node.body, ...node.update], 2);
      else if (node.kind === 'block') visit(node.body, weight);
    }
  };
  visit(nodes, 1);
  return new Set([...users].filter(([, uses]) => uses > 1).map(([a]) => a));
}

function localArrays(node: WorkItemLoop): Set<ArraySym> {
  const arrays = new Set<ArraySym>();
  const visit = (e: Expr): void => {
    if (e.op === 'load' || e.op === 'address') arrays.add(e.mem.array);
  };
  if (node.reduce) eachPart(node.reduce.pred, visit);
  eachExpr(node.body, visit);
  eachStmt(node.body, (s) => {
    const mem = written(s);
    if (mem) arrays.add(mem.array);
  });
  return new Set([...arrays].filter((a) => a.space === 'local'));
}
