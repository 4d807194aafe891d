/**
 * Runs a block region by region, as a renderer's code would: the proof that cutting a kernel at its barriers is right.
 *
 * One local for each uniform variable, shared by all items; context slots; everything else starts afresh with each item
 * of each node, and what must not be read is poisoned.
 */
import { constant } from '../builder.ts';
import type { Value } from '../evaluate.ts';
import { Fault, Run, Thread } from '../interpret.ts';
import type { ArraySym, Expr, Label, Stmt, Var } from '../ops.ts';
import { ELEM_SIZE } from '../ops.ts';
import type { Sample } from '../testing.ts';
import { outcomeText } from '../testing.ts';
import type { RegionNode, WorkItemLoop } from './region-tree.ts';
import type { Regions } from './regions.ts';

type Jump = { readonly to: 'break' | 'continue'; readonly label: Label } | 'exit' | undefined;

/** What `outcome` says of the sample's kernel when it is run by its regions. */
export function runRegions(sample: Sample, regions: Regions): string {
  const memory = sample.memory.slice();
  const run = new Run(regions.kernel, sample.launch, sample.args, memory, {});
  const [gx, gy, gz] = sample.launch.grid;
  try {
    for (let b = 0; b < gx * gy * gz; b++) {
      new BlockRun(run, regions, [b % gx, Math.floor(b / gx) % gy, Math.floor(b / (gx * gy))], b).nodes(regions.nodes);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return outcomeText({ kind: error.kind, message: error.message }, run.prints, memory);
  }
  return outcomeText(undefined, run.prints, memory);
}

class BlockRun {
  readonly run: Run;
  readonly regions: Regions;
  readonly blockIdx: readonly [number, number, number];
  readonly block: number;
  readonly shared: ReadonlyMap<ArraySym, DataView>;
  /** Variables of the block, by id. */
  readonly uniform = new Map<number, Value>();
  /** [slot][item] */
  readonly slotValues: Value[][];
  readonly ownArrays: Map<ArraySym, DataView>[];
  readonly items: number;

  constructor(run: Run, regions: Regions, blockIdx: readonly [number, number, number], block: number) {
    const [x, y, z] = run.launch.block;
    this.run = run;
    this.regions = regions;
    this.blockIdx = blockIdx;
    this.block = block;
    this.shared = run.allocate('shared');
    this.items = x * y * z;
    this.slotValues = regions.slots.map((v) => new Array<Value>(this.items).fill(poison(v)));
    this.ownArrays = Array.from({ length: this.items }, () => {
      const own = [...regions.perItemArrays];
      return new Map(own.map((a) => [a, new DataView(new ArrayBuffer((a.length ?? 0) * ELEM_SIZE[a.elem]))]));
    });
  }

  nodes(list: readonly RegionNode[]): Jump {
    for (const node of list) {
      const jump = this.node(node);
      if (jump) return jump;
    }
    return undefined;
  }

  node(node: RegionNode): Jump {
    switch (node.kind) {
      case 'workItems':
        this.allItems(node);
        return undefined;
      case 'once': {
        const thread = this.thread(0);
        this.execute(thread, node.body);
        this.keepUniform(thread);
        return undefined;
      }
      case 'if':
        return this.nodes(this.value(node.cond) ? node.then : node.else);
      case 'loop':
        for (let round = 0; round < 10_000; round++) {
          const body = this.nodes(node.body);
          if (body === 'exit' || (body && body.label !== node.label)) return body;
          if (body?.to === 'break') return undefined;
          const update = this.nodes(node.update);
          if (update) return update !== 'exit' && update.label === node.label ? undefined : update;
        }
        throw new Error('the loop runs for ever');
      case 'block': {
        const jump = this.nodes(node.body);
        return jump && jump !== 'exit' && jump.label === node.label ? undefined : jump;
      }
      case 'break':
      case 'continue':
        return { to: node.kind, label: node.label };
      case 'exitIfNoneLive': {
        const storageClass = this.regions.storage.get(node.live.id);
        const slot = storageClass?.kind === 'slot' ? this.slotValues[storageClass.slot] : undefined;
        return slot?.some((live) => live === true) ? undefined : 'exit';
      }
    }
  }

  /** A condition of the block: it must not depend on the thread. */
  value(e: Expr): Value {
    return this.thread(this.items - 1).value(e);
  }

  allItems(node: WorkItemLoop): void {
    let total = node.reduce?.fn === 'and' ? 1 : 0;
    for (let item = 0; item < this.items; item++) {
      const thread = this.thread(item);
      for (const v of node.loads) thread.vars.set(v.id, this.slot(v)[item] ?? 0);
      this.execute(thread, node.body);
      this.keepUniform(thread);
      if (node.reduce) {
        const pred = thread.value(node.reduce.pred) === true;
        if (node.reduce.fn === 'count') total += pred ? 1 : 0;
        else if (pred !== (node.reduce.fn === 'and')) total = pred ? 1 : 0;
      }
      for (const v of node.saves) this.slot(v)[item] = thread.vars.get(v.id) ?? poison(v);
    }
    if (node.reduce) this.uniform.set(node.reduce.result.id, total);
  }

  slot(v: Var): Value[] {
    const storageClass = this.regions.storage.get(v.id);
    const slot = storageClass?.kind === 'slot' ? this.slotValues[storageClass.slot] : undefined;
    if (!slot) throw new Error(`${v.name} has no slot`);
    return slot;
  }

  /** A work item about to start: it has the block's variables, and nothing in the slots' but poison. */
  thread(item: number): Thread {
    const [x, y] = this.run.launch.block;
    const idx = [item % x, Math.floor(item / x) % y, Math.floor(item / (x * y))] as const;
    const own = new Map([...this.shared, ...(this.ownArrays[item] ?? [])]);
    const thread = new Thread(this.run, own, new Map(), idx, this.blockIdx, item, this.block);
    for (const [id, value] of this.uniform) thread.vars.set(id, value);
    for (const v of this.regions.slots) thread.vars.set(v.id, poison(v));
    return thread;
  }

  keepUniform(thread: Thread): void {
    for (const [id, storageClass] of this.regions.storage) {
      const value = thread.vars.get(id);
      if (storageClass.kind === 'uniform' && value !== undefined) this.uniform.set(id, value);
    }
  }

  execute(thread: Thread, body: readonly Stmt[]): void {
    const step = thread.list(body).next();
    if (!step.done) throw new Error('a barrier within a region');
    if (step.value) throw new Error('a jump out of a region');
  }
}

/** A value that nobody would compute. */
function poison(v: Var): Value {
  const c = constant(v.type, v.type === 'bool' ? true : 0x5a5a5a5);
  return c.op === 'const' ? c.value : 0;
}
