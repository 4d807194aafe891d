/**
 * Regions: the loops over the work items of a block, and the control between barriers that is run once for the block.
 *
 * A row of work items is run in vectors of consecutive threadIdx.x. Where the guard of a region can be peeled into bounds,
 * only the items within them are run. What is left of a row after its full vectors is run once more under a mask.
 */
import { codeSize } from '../../ir/measures.ts';
import type { Expr, Stmt, Var } from '../../ir/ops.ts';
import { mergeGuards, type PeeledGuard, peelGuard } from '../../ir/passes/guard-peeling.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import type { RegionNode, WorkItemLoop } from '../../ir/passes/region-tree.ts';
import type { Regions } from '../../ir/passes/regions.ts';
import { defined, someStmt } from '../../ir/passes/walk.ts';
import type { BranchTarget } from './assembler.ts';
import { boxesOf, emitBoxRows } from './box-rows.ts';
import { watchUniforms } from './checks.ts';
import { withCountersOf } from './counters.ts';
import { scalar } from './expr.ts';
import type { Gen } from './gen.ts';
import { findInterior, type Interior } from './interior.ts';
import { isJammedStore, type Jam, jamRows } from './jam.ts';
import { inStretches, pushItems } from './long-rows.ts';
import { MaskStack } from './masks.ts';
import { emitPairs, findPairs } from './pairs.ts';
import { eachDoing, passOverItems } from './pass-over.ts';
import { withPrepared } from './prepare.ts';
import { withSteady } from './row-steady.ts';
import { eachRow, masked, setItem, unmasked } from './row-vectors.ts';
import { emitScan, scanOf } from './scan-rows.ts';
import { withFirst, withRare } from './scope.ts';
import { emitItem, mayRunAlone } from './single-items.ts';
import {
  accumulate,
  branchIfNoneLive,
  clearVariable,
  finishReduction,
  keepOutside,
  loadSlots,
  saveSlots,
} from './slots.ts';
import { emitList } from './statements.ts';
import { findStretches } from './stretches.ts';
import { emitStrided, emitStridedBlocks, emitStridedVector, type Strided, stridedRows } from './strided-rows.ts';
import { emitTurns, mayTakeTurns } from './turns.ts';

/** A loop or block around barriers. */
interface Around {
  readonly label: number;
  readonly exit: BranchTarget;
  readonly next: BranchTarget | undefined;
}

/** What blocks are like beside each other. */
interface Blocks {
  /** Whether a block does nothing else than this row, and leaves nothing but memory behind. */
  readonly alone: boolean;
  /** What holds for a block that runs it; undefined where nothing needs to. */
  readonly holds: Expr | undefined;
}

/** Emits the nodes of a block; `done` is where to go when no work item is left. */
export function emitNodes(
  g: Gen,
  regions: Regions,
  nodes: readonly RegionNode[],
  done: BranchTarget,
  around: readonly Around[] = [],
): void {
  const { f } = g;
  const inner = (list: readonly RegionNode[], more: readonly Around[] = around): void =>
    emitNodes(g, regions, list, done, more);
  const frame = (label: number): Around => {
    const found = around.findLast((a) => a.label === label);
    if (found === undefined) throw new Error(`internal error: no construct with label ${label}`);
    return found;
  };
  for (const node of nodes) {
    switch (node.kind) {
      case 'workItems':
        emitItems(g, regions, node);
        break;
      case 'once':
        atFirstItem(g);
        emitList(g, node.body);
        break;
      case 'if':
        atFirstItem(g);
        withPrepared(g, [node.cond], [], () => scalar(g, node.cond));
        f.if();
        inner(node.then);
        if (node.else.length > 0) {
          f.else();
          inner(node.else);
        }
        f.end();
        break;
      case 'loop': {
        const exit = f.block();
        const top = f.loop();
        const next = f.block();
        inner(node.body, [...around, { label: node.label, exit, next }]);
        f.end();
        inner(node.update, [...around, { label: node.label, exit, next: undefined }]);
        f.br(top);
        f.end();
        f.end();
        break;
      }
      case 'block': {
        const exit = f.block();
        inner(node.body, [...around, { label: node.label, exit, next: undefined }]);
        f.end();
        break;
      }
      case 'break':
        f.br(frame(node.label).exit);
        return;
      case 'continue': {
        const { next } = frame(node.label);
        if (next === undefined) throw new Error('internal error: continue of what is no loop');
        f.br(next);
        return;
      }
      case 'exitIfNoneLive':
        branchIfNoneLive(g, node.live, done);
        break;
    }
  }
}

/** Code that runs once for the block reports its faults as the first work item's. */
function atFirstItem(g: Gen): void {
  g.f.i32(0);
  g.f.set(g.at.item);
}

/** Vectors of a row that may stand one after another, and the size of what each does: more of them where that is less. */
const FEW = 4;
const MANY = 8;
const SHORT = 80;

function emitItems(g: Gen, regions: Regions, node: WorkItemLoop): void {
  const scan = scanOf(g, node.body);
  if (scan !== undefined) {
    emitScan(g, scan);
    return;
  }
  withCountersOf(g, node, () => emitLoop(g, regions, node));
}

function emitLoop(g: Gen, regions: Regions, node: WorkItemLoop): void {
  const { f } = g;
  const total = node.reduce === undefined ? undefined : f.temp('i32');
  if (total !== undefined) {
    f.i32(0);
    f.set(total);
  }
  const fresh = freshVariables(regions, node);
  const start = (): void => {
    for (const v of fresh) clearVariable(g, v);
    for (const v of node.loads) loadSlots(g, v);
  };
  const end = (): void => {
    if (node.reduce !== undefined && total !== undefined) accumulate(g, node.reduce, total);
    for (const v of node.saves) saveSlots(g, v);
  };
  const oneOf = (strided: Strided) => (): void => {
    setItem(g);
    start();
    emitList(g, strided.body);
  };
  const stridedOf = (own: WorkItemLoop): Strided | undefined => stridedRows(g, { ...own, body: mergeGuards(own.body) });
  const stridedRow = (own: WorkItemLoop, strided: Strided) => (): void =>
    emitStrided(g, strided, oneOf(strided), () => withRare(g, () => emitRow(g, own, start, end)));
  // Not in code that is to be there in no time.
  const takeTurns = (own: WorkItemLoop): boolean => g.variant.quick !== true && mayTakeTurns(g, regions, own);
  const rows = (own: WorkItemLoop, strided: Strided | undefined, holds?: Expr): void => {
    if (strided !== undefined) {
      const row = stridedRow(own, strided);
      if (takeTurns(own) && strided.goesOn)
        emitTurns(g, holds, (each, blocks) =>
          eachRow(g, () =>
            emitStridedBlocks(g, strided, blocks, () => withRare(g, () => each(() => emitRow(g, own, start, end)))),
          ),
        );
      else if (takeTurns(own)) emitTurns(g, holds, (each) => eachRow(g, () => each(row)));
      else eachRow(g, row);
      return;
    }
    const peeled = peel(g, own);
    const jam = peeled === undefined ? jamRows(g, own) : undefined;
    const pairs = findPairs(g, own);
    if (pairs !== undefined) eachRow(g, () => emitPairs(g, pairs, own.body, { begin: () => setItem(g), start }));
    else if (jam !== undefined) eachRow(g, () => emitJammed(g, own, jam, fresh), jam.rows);
    else if (peeled !== undefined) eachRow(g, () => peeledRow(g, own, peeled, { alone, holds }, start, end));
    else if (takeTurns(own))
      emitTurns(g, holds, (each) =>
        eachRow(g, () => steadyInTurns(g, own, (rest) => each(() => emitRow(g, rest, start, end)))),
      );
    else eachRow(g, () => emitRow(g, own, start, end, { alone, holds }));
  };
  const alone =
    regions.nodes.length === 1 &&
    regions.nodes[0] === node &&
    g.kernel.arrays.every(({ space }) => space === 'global' || space === 'constant');
  watchUniforms(g, node.body);
  const down = someStmt(node.body, (s) => s.op === 'store' && g.downwards.has(s.mem.array));
  const asks = !down && g.variant.quick !== true && !inWholeStretches(g, node);
  const interior = asks ? findInterior(g, node.body) : undefined;
  const strided = down ? undefined : stridedOf(node);
  const inside = interior === undefined ? node : { ...node, body: interior.body };
  const jammed = asks && isJammedStore(g, inside) && peel(g, inside) === undefined;
  const boxes = asks && strided === undefined && !jammed ? boxesOf(g, node, alone) : undefined;
  if (boxes !== undefined) {
    emitBoxRows(g, boxes, start, () => {
      const own = boxes.chooses ? interior : undefined;
      if (own === undefined) withRare(g, () => rows(node, undefined));
      else eachRow(g, () => edgeRow(g, node, peel(g, node), own, (otherwise) => otherwise(), start, end));
    });
  } else if (down) eachRow(g, () => emitRow(g, node, start, end, { down: true }));
  else if (interior === undefined) rows(node, strided);
  else {
    watchUniforms(g, inside.body);
    const strided = stridedOf(inside);
    const few = (otherwise: () => void): void =>
      strided === undefined ? otherwise() : emitStridedVector(g, strided, oneOf(strided), otherwise);
    const peeled = peel(g, node);
    const edge = (): void => edgeRow(g, node, peeled, interior, few, start, end);
    const always = interior.holds.op === 'const';
    if (!always) {
      scalar(g, interior.holds);
      f.if();
    }
    rows(inside, strided, always ? undefined : interior.holds);
    if (!always) {
      f.else();
      eachRow(g, edge);
      f.end();
    }
  }
  if (node.reduce !== undefined && total !== undefined) {
    finishReduction(g, node.reduce, total, regions.storage.get(node.reduce.result.id)?.kind === 'slot');
    f.release('i32', total);
  }
}

/** Variables of this region alone that may be read before they are assigned: zero for every item. */
function freshVariables(regions: Regions, node: WorkItemLoop): Regions['kernel']['vars'] {
  const entry = analyseLiveness(node.body).entry;
  return regions.kernel.vars.filter((v) => entry.has(v.id) && regions.storage.get(v.id)?.kind === 'region');
}

// ---------------------------------------------------------------- rows

/** Several rows together: all of their vectors are whole. */
function emitJammed(g: Gen, node: WorkItemLoop, { rows, body, inRow }: Jam, fresh: Regions['kernel']['vars']): void {
  const each = (list: readonly Var[], visit: (v: Var, copy: Var, row: number) => void): void => {
    for (const v of list) {
      for (let row = 0; row < rows; row++) if (row === 0 || inRow(v, row) !== v) visit(v, inRow(v, row), row);
    }
  };
  const item = (stack: MaskStack): void => {
    each(fresh, (_, copy) => clearVariable(g, copy));
    each(node.loads, (v, copy, row) => loadSlots(g, v, copy, row));
    emitList(g, body, stack);
  };
  g.f.i32(0);
  g.f.set(g.at.thread[0]);
  wholeVectors(g, g.variant.block[0], item, () => {
    each(node.saves, (v, copy, row) => saveSlots(g, v, copy, row));
  });
}

/** Runs a row; `down`: from its last items to the first. */
function emitRow(
  g: Gen,
  node: WorkItemLoop,
  start: () => void,
  end: () => void,
  { alone = false, holds, down = false }: Partial<Blocks> & { readonly down?: boolean } = {},
): void {
  const [width] = g.variant.block;
  const full = Math.floor(width / g.lanes) * g.lanes;
  const { f } = g;
  const [x] = g.at.thread;
  const vectors = (body: readonly Stmt[]): void => {
    const item = (stack: MaskStack): void => {
      start();
      emitList(g, body, stack);
    };
    const whole = (): void => {
      if (full === 0) return;
      f.i32(down ? full - g.lanes : 0);
      f.set(x);
      const stretches = down || g.rare || full < FEW * g.lanes ? undefined : findStretches(g, node, body);
      if (stretches !== undefined) {
        const last = f.temp('i32');
        f.i32(full - g.lanes);
        f.set(last);
        inStretches(
          g,
          stretches,
          last,
          () => unmasked(g, item, end),
          start,
          end,
          alone && body === node.body && (() => pushItems(g, holds)),
        );
        f.release('i32', last);
        return;
      }
      const over = down ? undefined : passOverItems(g, node, body, (parts) => emitList(g, parts));
      if (over !== undefined) eachDoing(g, over, item);
      else wholeVectors(g, full, item, end, { unrolled: !g.rare && isShort(g, body, full / g.lanes), down });
    };
    const rest = (): void => {
      if (full === width) return;
      f.i32(full);
      f.set(x);
      masked(g, item, end, () => f.i32(width - full));
    };
    for (const part of down ? [rest, whole] : [whole, rest]) part();
  };
  if (width <= g.lanes || g.variant.quick === true) {
    vectors(node.body);
    return;
  }
  f.i32(0);
  f.set(x);
  setItem(g);
  withSteady(g, node, vectors);
}

/** What a row of several blocks has in common, and `each` with what is left of it. */
function steadyInTurns(g: Gen, node: WorkItemLoop, each: (rest: WorkItemLoop) => void): void {
  g.f.i32(0);
  g.f.set(g.at.thread[0]);
  setItem(g);
  withSteady(g, node, (body) => each({ ...node, body }), { ofBlocks: true });
}

/**
 * Whether the vectors of a row may stand one after another: engines then compute what all of them have in common once, as where the row begins in
 * memory, which they do not take out of loops.
 */
function isShort({ variant }: Gen, body: readonly Stmt[], vectors: number): boolean {
  const most = vectors <= FEW ? SHORT : (SHORT * FEW) / MANY;
  if (variant.quick === true || vectors > MANY || someStmt(body, (s) => s.op === 'loop')) return false;
  return codeSize(body, most) < most;
}

/** Runs the first `full` items of a row, a whole number of vectors; `unrolled` where they are few, from the last on where they go `down`. */
function wholeVectors(
  g: Gen,
  full: number,
  item: (stack: MaskStack) => void,
  end: () => void,
  { unrolled = false, down = false } = {},
): void {
  const { f } = g;
  const [x] = g.at.thread;
  if (unrolled) {
    const firsts = Array.from({ length: full / g.lanes }, (_, k) => k * g.lanes);
    for (const first of down ? firsts.reverse() : firsts) {
      f.i32(first);
      f.set(x);
      withFirst(g, first, () => unmasked(g, item, end));
    }
    return;
  }
  if (full === g.lanes) {
    unmasked(g, item, end);
    return;
  }
  const again = f.loop();
  unmasked(g, item, end);
  f.get(x);
  f.i32(down ? -g.lanes : g.lanes);
  f.op('i32.add');
  f.tee(x);
  f.i32(down ? 0 : full);
  f.op(down ? 'i32.ge_s' : 'i32.lt_s');
  f.brIf(again);
  f.end();
}

/** The guard of a region as bounds, where there is one and skipping the other items loses nothing. */
function peel(g: Gen, node: WorkItemLoop): PeeledGuard | undefined {
  if (g.lanes === 1 || node.reduce !== undefined) return undefined;
  const peeled = peelGuard(mergeGuards(node.body), g.uniformity, g.variant.block[0]);
  if (peeled === undefined) return undefined;
  // Vectors that are warps begin where warps do.
  const aligned = peeled.lo.op === 'const' && peeled.lo.value === 0;
  if (g.warps && !aligned) return undefined;
  const kept = new Set([...node.saves, ...g.blockVars].map((v) => v.id));
  return peeled.decls.some((s) => kept.has(defined(s) ?? -1)) ? undefined : peeled;
}

function peeledRow(
  g: Gen,
  node: WorkItemLoop,
  n: PeeledGuard,
  { alone, holds }: Blocks,
  start: () => void,
  end: () => void,
): void {
  const { f, at } = g;
  const [x] = at.thread;
  const item =
    (test: Expr | undefined) =>
    (stack: MaskStack): void => {
      start();
      emitList(g, n.decls, stack);
      const body: readonly Stmt[] =
        test === undefined ? n.body : [{ op: 'if', cond: test, then: n.body, else: [], pos: g.kernel.pos }];
      emitList(g, body, stack);
    };
  const alwaysExact = n.exact.op === 'const' && n.exact.value === true;
  f.i32(0);
  f.set(x);
  setItem(g);
  const row = n.row;
  if (row !== undefined) {
    withPrepared(g, [row], [], () => scalar(g, row));
    f.if();
  }
  const [hi, last] = [f.temp('i32'), f.temp('i32')];
  withPrepared(g, [n.lo, n.hi, n.exact], [], () => {
    scalar(g, n.hi);
    f.tee(hi);
    f.i32(g.lanes);
    f.op('i32.sub');
    if (!alwaysExact) {
      f.i32(-1);
      scalar(g, n.exact);
      f.op('select');
    }
    f.set(last);
    scalar(g, n.lo);
    f.set(x);
  });
  if (alwaysExact && n.single && mayRunAlone(g, node)) {
    f.get(x, hi);
    f.op('i32.lt_s');
    f.if();
    emitItem(g, () => item(n.rest)(new MaskStack(g)));
    f.end();
    f.release('i32', hi, last);
    if (row !== undefined) f.end();
    return;
  }
  f.get(x, last);
  f.op('i32.le_s');
  f.if();
  const stretches = n.rest === undefined ? findStretches(g, node, [...n.decls, ...n.body]) : undefined;
  const goesOn = alone && n.lo.op === 'const' && n.lo.value === 0;
  if (stretches !== undefined)
    inStretches(
      g,
      stretches,
      last,
      () => unmasked(g, item(undefined), end),
      start,
      end,
      goesOn && (() => pushItems(g, holds, { node, n })),
      hi,
    );
  else {
    const again = f.loop();
    unmasked(g, item(n.rest), end);
    f.get(x);
    f.i32(g.lanes);
    f.op('i32.add');
    f.tee(x);
    f.get(last);
    f.op('i32.le_s');
    f.brIf(again);
    f.end();
  }
  f.end();
  f.get(x, hi);
  f.op('i32.lt_s');
  f.if();
  // Where the bounds are not exact, all the row comes here, and each item is tested.
  const tail = f.loop();
  masked(g, item(alwaysExact ? n.rest : both(n.bounded, n.rest)), end, () => {
    f.get(hi, x);
    f.op('i32.sub');
  });
  if (!alwaysExact) {
    f.get(x);
    f.i32(g.lanes);
    f.op('i32.add');
    f.tee(x);
    f.get(hi);
    f.op('i32.lt_s');
    f.brIf(tail);
  }
  f.end();
  f.end();
  f.release('i32', hi, last);
  if (row !== undefined) f.end();
}

/** A row of a block that is at an edge somewhere: vectors that are at none do what those of interior blocks do, as `inside` writes it, or else as vectors. */
function edgeRow(
  g: Gen,
  node: WorkItemLoop,
  n: PeeledGuard | undefined,
  interior: Interior,
  inside: (otherwise: () => void) => void,
  start: () => void,
  end: () => void,
): void {
  const { f, at } = g;
  const [x] = at.thread;
  const [width] = g.variant.block;
  const item =
    (body: readonly Stmt[]) =>
    (stack: MaskStack): void => {
      start();
      emitList(g, body, stack);
    };
  const row = n?.row;
  const [hi, mayHold] = [f.temp('i32'), f.temp('i32')];
  f.i32(0);
  f.set(x);
  setItem(g);
  const done = f.block();
  if (row !== undefined) {
    withPrepared(g, [row], [], () => scalar(g, row));
    f.op('i32.eqz');
    f.brIf(done);
  }
  scalar(g, interior.mayHoldInRow);
  keepOutside(g, 'i32', mayHold);
  f.i32(width);
  f.set(hi);
  if (n !== undefined) {
    withPrepared(g, [n.lo, n.hi], [], () => {
      scalar(g, n.hi);
      f.set(hi);
      // From the start of a vector: the guard is tested again for those that are not left out.
      scalar(g, n.lo);
      f.i32(-g.lanes);
      f.op('i32.and');
      f.set(x);
    });
  }
  const again = f.loop();
  f.get(x, hi);
  f.op('i32.ge_s');
  f.brIf(done);
  const next = f.block();
  const general = f.block();
  if (width % g.lanes !== 0) {
    f.get(x);
    f.i32(width - g.lanes);
    f.op('i32.gt_s');
    f.brIf(general);
  }
  f.get(mayHold);
  scalar(g, interior.holdsForVector);
  f.op('i32.and', 'i32.eqz');
  f.brIf(general);
  inside(() => unmasked(g, item(interior.body), end));
  f.br(next);
  f.end();
  withRare(g, () => {
    if (width % g.lanes === 0) unmasked(g, item(node.body), end);
    else
      masked(g, item(node.body), end, () => {
        f.i32(width);
        f.get(x);
        f.op('i32.sub');
      });
  });
  f.end();
  f.get(x);
  f.i32(g.lanes);
  f.op('i32.add');
  f.set(x);
  f.br(again);
  f.end();
  f.end();
  f.release('i32', hi, mayHold);
}

function both(a: Expr | undefined, b: Expr | undefined): Expr | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { op: 'binary', type: 'bool', fn: 'and', a, b };
}

/** Whether rows are run in stretches that ask themselves what interior blocks would be asked. */
function inWholeStretches(g: Gen, node: WorkItemLoop): boolean {
  const n = peel(g, node);
  if (g.variant.block[0] < FEW * g.lanes || n?.rest !== undefined) return false;
  return findStretches(g, node, n === undefined ? node.body : [...n.decls, ...n.body])?.all === true;
}
