/**
 * Grid-stride loops of neighbouring blocks together, so that memory is walked in long stretches.
 *
 * `for (i = grid(1); i < n; i += gridSize(1)) sum += x[i]` reads a row of elements per round and then goes far away: 1 or 2 KB of each
 * page, which is too little for a processor to see what comes next. The rows of the neighbouring blocks lie right behind. So a few
 * blocks are begun one after another, go through the rounds that all of them make in turns, and are finished one after another. What a
 * block has in memory, shared arrays and variables of items, it has in scratch memory of its own; variables kept once for the block
 * are put there while another block runs.
 *
 * Only what has no effect and cannot fail is done ahead: the first effect, and the first fault, are those of the first block still.
 */
import { ELEM_SIZE, type Expr, type Kernel, type Stmt, type Var } from '../../ir/ops.ts';
import type { FullRounds } from '../../ir/passes/full-rounds.ts';
import type { RegionNode } from '../../ir/passes/region-tree.ts';
import type { Regions } from '../../ir/passes/regions.ts';
import { assignedIn, eachExpr, someExpr, someStmt, stmtExprs } from '../../ir/passes/walk.ts';
import type { BranchTarget, Local } from './assembler.ts';
import { scalar } from './expr.ts';
import { type Gen, varLocals, wasmType } from './gen.ts';
import type { WasmVariant } from './module.ts';
import { withPrepared } from './prepare.ts';
import { MOST_TOGETHER } from './run.ts';
import { type ScratchLayout, slotSize } from './scratch.ts';
import { emitNodes } from './work-items.ts';

/** Bytes that one round of neighbours is to read in one stretch: pages, at whose ends the next ones are not known yet, and blocks in turns cost little. */
const STRETCH = 131_072;
/** Blocks that are begun together at most: as many as one call is for. */
const MOST = MOST_TOGETHER;
/** Bytes of the variables that items keep in all neighbours: what the second cache of a processor has room for beside what streams through it. */
const MOST_KEPT = 131_072;
/** Bytes of all scratch memory of a block. */
const LARGEST = 16_384;

type Loop = RegionNode & { readonly kind: 'loop' };
type Test = RegionNode & { readonly kind: 'if' };

/** Blocks that go through a loop in turns. */
export interface Neighbours {
  /** How many of them, at most. */
  readonly most: number;
  /** What each of them does ahead of the loop, and behind it. */
  readonly before: readonly RegionNode[];
  readonly after: readonly RegionNode[];
  readonly loop: Loop;
  /** Variables kept once for a block, which change until the loop is over. */
  readonly own: readonly Var[];
  /** Where they are put in the scratch memory of a block, and the bytes of that. */
  readonly kept: number;
  readonly stride: number;
}

/** The blocks that may go together; undefined where they may not, or where it would not help. */
export function findNeighbours(
  regions: Regions,
  { adjacent }: FullRounds,
  layout: ScratchLayout,
  variant: WasmVariant,
): Neighbours | undefined {
  const { kernel, nodes, storage } = regions;
  const at = nodes.findIndex((node) => node.kind === 'loop' && adjacent.has(node.label));
  const loop = nodes[at];
  if (variant.quick === true || loop?.kind !== 'loop' || kernel.arrays.some((a) => a.dynamic)) return undefined;
  const before = nodes.slice(0, at);
  const inLoop = statementsOf([loop]);
  const [test] = loop.body;
  if (!isTest(test, loop) || statementsOf(before) === undefined || inLoop === undefined) return undefined;
  const ahead = [...(statementsOf(before) ?? []), ...inLoop];
  if (!isHarmless(kernel, ahead) || !isHarmless(kernel, [], [test.cond])) return undefined;
  const [width] = variant.block;
  const slots = regions.slots.reduce((sum, v) => sum + slotSize(v), 0) * layout.items;
  const wanted = Math.min(MOST, STRETCH / (width * elementSize(inLoop)), MOST_KEPT / Math.max(1, slots));
  const most = 2 ** Math.floor(Math.log2(Math.max(1, wanted)));
  const assigned = assignedIn(ahead);
  const own = kernel.vars.filter((v) => assigned.has(v.id) && storage.get(v.id)?.kind === 'uniform');
  const kept = Math.ceil(layout.bytes / 16) * 16;
  // An odd number of cache lines: not all blocks want the same ones.
  const lines = Math.ceil((kept + 8 * own.length) / 64);
  const stride = 64 * (lines + ((lines + 1) % 2));
  if (most < 2 || stride > LARGEST) return undefined;
  return { most, before, after: nodes.slice(at), loop, own, kept, stride };
}

/** Whether a loop begins with the only way out of it. */
function isTest(node: RegionNode | undefined, loop: Loop): node is Test {
  if (node?.kind !== 'if' || node.else.length > 0 || node.then.length !== 1) return false;
  const [jump] = node.then;
  return jump?.kind === 'break' && jump.label === loop.label;
}

/** All statements of nodes that only run items, or a loop around such; undefined where there are others. */
function statementsOf(nodes: readonly RegionNode[]): readonly Stmt[] | undefined {
  const found: Stmt[] = [];
  for (const node of nodes) {
    if (node.kind === 'once' || (node.kind === 'workItems' && node.reduce === undefined)) found.push(...node.body);
    else if (node.kind === 'loop' && isTest(node.body[0], node)) {
      const inner = statementsOf([...node.body.slice(1), ...node.update]);
      if (inner === undefined) return undefined;
      found.push(...inner);
    } else return undefined;
  }
  return found;
}

/** Whether statements change variables alone, and cannot fail. What shared memory holds before anything is written is the block's before. */
function isHarmless({ checked }: Kernel, list: readonly Stmt[], exprs: readonly Expr[] = []): boolean {
  const harmful = (e: Expr): boolean =>
    someExpr(e, (x) => {
      if (x.op === 'load') return x.mem.array.space === 'shared' || (checked && x.mem.checks.length > 0);
      if (x.op === 'cast') return x.checked === true;
      return (x.op === 'unary' && x.fn === 'uniform') || (x.op === 'binary' && x.fn === 'ipow');
    });
  const effects = someStmt(list, (s) => (s.op !== 'assign' && s.op !== 'if') || stmtExprs(s).some((e) => harmful(e)));
  return !effects && !exprs.some(harmful);
}

/** Bytes of the largest elements that a loop reads. */
function elementSize(list: readonly Stmt[]): number {
  let bytes = 1;
  eachExpr(list, (e) => {
    if (e.op === 'load' && e.mem.array.space === 'global') bytes = Math.max(bytes, ELEM_SIZE[e.mem.array.elem]);
  });
  return bytes;
}

/** Runs all blocks from the local of blockIdx.x up to that of its end. Scratch memory is where `home` says when they have run. */
export function emitNeighbours(g: Gen, regions: Regions, n: Neighbours): void {
  const { f, at } = g;
  const end = at.endX;
  const [x] = at.block;
  const [first, last] = [f.local('i32'), f.local('i32')];
  const again = f.loop();
  f.get(x);
  f.tee(first);
  f.i32(n.most);
  f.op('i32.add');
  f.get(end, first);
  f.i32(n.most);
  f.op('i32.add');
  f.get(end);
  f.op('i32.lt_u', 'select');
  f.set(last);
  const each = (body: () => void): void => eachBlock(g, n, first, last, body);
  each(() => {
    emitNodes(g, regions, n.before, never());
    keep(g, n);
  });
  rounds(g, regions, n, each);
  each(() => {
    fetch(g, n);
    const done = f.block();
    emitNodes(g, regions, n.after, done);
    f.end();
  });
  f.get(at.home);
  f.set(at.scratch);
  f.get(x, end);
  f.op('i32.lt_u');
  f.brIf(again);
  f.end();
}

/** The rounds that all blocks make. */
function rounds(g: Gen, regions: Regions, { loop, ...n }: Neighbours, each: (body: () => void) => void): void {
  const { f } = g;
  const [test, ...body] = loop.body;
  const done = f.block();
  const again = f.loop();
  each(() => {
    fetch(g, n);
    if (test?.kind === 'if') withPrepared(g, [test.cond], [], () => scalar(g, test.cond));
    f.brIf(done);
  });
  each(() => {
    fetch(g, n);
    emitNodes(g, regions, [...body, ...loop.update], never());
    keep(g, n);
  });
  f.br(again);
  f.end();
  f.end();
}

/** No node that may run ahead goes anywhere. */
function never(): BranchTarget {
  return undefined as never;
}

function eachBlock(g: Gen, { stride }: Pick<Neighbours, 'stride'>, first: Local, last: Local, body: () => void): void {
  const { f, at, variant } = g;
  const [x] = at.block;
  f.get(at.home);
  f.set(at.scratch);
  f.get(first);
  f.set(x);
  const again = f.loop();
  body();
  f.get(at.scratch);
  if (variant.memory64) {
    f.i64(stride);
    f.op('i64.add');
  } else {
    f.i32(stride);
    f.op('i32.add');
  }
  f.set(at.scratch);
  f.get(x);
  f.i32(1);
  f.op('i32.add');
  f.tee(x);
  f.get(last);
  f.op('i32.lt_u');
  f.brIf(again);
  f.end();
}

function keep(g: Gen, { own, kept }: Pick<Neighbours, 'own' | 'kept'>): void {
  const { f, at } = g;
  for (const [k, v] of own.entries()) {
    f.get(at.scratch, ...varLocals(g, v));
    f.memory(`${wasmType(v.type)}.store`, 2, kept + 8 * k);
  }
}

function fetch(g: Gen, { own, kept }: Pick<Neighbours, 'own' | 'kept'>): void {
  const { f, at } = g;
  for (const [k, v] of own.entries()) {
    f.get(at.scratch);
    f.memory(`${wasmType(v.type)}.load`, 2, kept + 8 * k);
    for (const local of varLocals(g, v)) f.set(local);
  }
}
