/**
 * Loops in each round of which one item of the block is chosen: `for (k …) if (digit(x[k]) === threadIdx.x) { out[at] = x[k]; at++; }`, as in the scatter of
 * a radix sort with a thread per digit.
 *
 * A vector would ask in each round who it is, and then store under a mask. Instead, one item makes all rounds, and does for the chosen one what that would do:
 * what items keep is in shared memory meanwhile. It stops ahead of what may fail; the loop itself is left as it was and goes on from there, so that whoever
 * fails is accused as before. Between barriers, items may run in any order.
 */
import * as ir from '../../ir/builder.ts';
import { type Loop, testedLoop } from '../../ir/loops.ts';
import { canFail, conjuncts, mayFail } from '../../ir/measures.ts';
import type { ArraySym, Check, Expr, Kernel, MemRef, Stmt, Var } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { analyseUniformity, type Uniformity } from '../../ir/passes/uniformity.ts';
import {
  assignedIn,
  eachExpr,
  eachStmt,
  hasReturn,
  mapExpr,
  someExpr,
  someStmt,
  stmtExprs,
  written,
} from '../../ir/passes/walk.ts';

const t = ir.special('threadIdx.x');
/** The items from which on a round is better made for one. */
const FEWEST = 4;

export function chooseItems(kernel: Kernel, block: readonly [number, number, number]): Kernel {
  const [width] = block;
  if (block[1] * block[2] !== 1 || width < FEWEST || kernel.indexBits !== 32) return kernel;
  const at = kernel.body.findIndex((s) => s.op === 'loop' && choiceOf(s) !== undefined);
  if (at < 0 || hasReturn(kernel.body)) return kernel;
  const loop = kernel.body[at] as Loop;
  const ahead = roundsAhead(kernel, loop, choiceOf(loop) as Choice, block);
  if (ahead === undefined) return kernel;
  const { builder, list } = ahead;
  const body = [...kernel.body.slice(0, at), ...list, ...kernel.body.slice(at)];
  return { ...kernel, arrays: [...builder.arrays], vars: [...builder.vars], body };
}

interface Choice {
  readonly exit: Expr;
  /** What is done ahead of the choice. */
  readonly before: readonly (Stmt & { op: 'assign' })[];
  /** The item that is chosen. */
  readonly item: Expr;
  readonly others: readonly Expr[];
  readonly then: readonly Stmt[];
}

/** What a loop looks like that chooses an item in each round, as far as that can be seen. */
function choiceOf(loop: Loop): Choice | undefined {
  const tested = testedLoop(loop);
  const guard = tested?.body.at(-1);
  if (tested === undefined || guard?.op !== 'if' || guard.else.length > 0) return undefined;
  const before = tested.body.slice(0, -1);
  if (!before.every((s): s is Stmt & { op: 'assign' } => s.op === 'assign')) return undefined;
  if (!loop.update.every((s) => s.op === 'assign' && !mayFail(s.value))) return undefined;
  const isPlain = (s: Stmt): boolean =>
    (s.op === 'assign' || s.op === 'if' || s.op === 'store') && written(s)?.array.space !== 'local';
  if (someStmt(guard.then, (s) => !isPlain(s) || stmtExprs(s).some(isOfOne)) || mayFail(guard.cond)) return undefined;
  if (isOfOne(guard.cond)) return undefined;
  const parts = conjuncts(guard.cond);
  for (const part of parts) {
    if (part.op !== 'compare' || part.fn !== 'eq') continue;
    const item = isThread(part.a) ? part.b : isThread(part.b) ? part.a : undefined;
    if (item === undefined || (item.type !== 'i32' && item.type !== 'u32')) continue;
    return { exit: tested.exit, before, item, others: parts.filter((e) => e !== part), then: guard.then };
  }
  return undefined;
}

/** What another item has not in its place: its local memory, and its lane. */
const isOfOne = (e: Expr): boolean =>
  someExpr(e, (x) => (x.op === 'load' && x.mem.array.space === 'local') || (x.op === 'special' && x.name === 'laneId'));

const isThread = (e: Expr): boolean =>
  (e.op === 'special' && e.name === 'threadIdx.x') ||
  (e.op === 'cast' && e.to === 'u32' && !e.checked && isThread(e.a));

/** The rounds as one item makes them; undefined where they are not as they look. */
function roundsAhead(
  kernel: Kernel,
  loop: Loop,
  { exit, before, item, others, then }: Choice,
  block: readonly [number, number, number],
): { readonly builder: ir.KernelBuilder; readonly list: readonly Stmt[] } | undefined {
  const { pos } = loop;
  const uniformity = analyseUniformity(kernel, { block });
  const liveness = analyseLiveness(kernel.body);
  const [entry, leaving] = [liveness.before(loop), liveness.after(loop)];
  const inRound = assignedIn([...before, ...loop.update]);
  const own = assignedIn(then);
  const all = [
    exit,
    item,
    ...before.map((s) => s.value),
    ...loop.update.flatMap((s) => (s.op === 'assign' ? s.value : [])),
  ];
  if (!all.every((e) => isEven(e, uniformity, own))) return undefined;
  for (const id of own) if (inRound.has(id)) return undefined;
  // What all do in a round stays in it, but for what counts the rounds.
  const counting = assignedIn(loop.update);
  for (const { var: v } of before) if (entry.has(v.id) || leaving.has(v.id) || counting.has(v.id)) return undefined;
  const stored = new Set<ArraySym>();
  eachStmt(then, (s) => {
    if (s.op === 'store') stored.add(s.mem.array);
  });
  if (all.some((e) => someExpr(e, (x) => x.op === 'load' && stored.has(x.mem.array)))) return undefined;
  const checks = checksAhead(then, others);
  if (checks === undefined) return undefined;

  const builder = ir.KernelBuilder.from(kernel);
  const fresh = new Map<number, Var>();
  const arrays = new Map<number, ArraySym>();
  const kept: Var[] = [];
  const chosen = builder.variable('i32', '%item');
  let fits = true;
  const meet = (v: Var): void => {
    if (fresh.has(v.id) || arrays.has(v.id)) return;
    const isOwn = own.has(v.id);
    if (inRound.has(v.id) || (isOwn && !entry.has(v.id) && !leaving.has(v.id))) {
      fresh.set(v.id, builder.variable(v.type, v.name));
      return;
    }
    if (!isOwn && uniformity.varShape(v) === 'G') return;
    if (v.type !== 'i32' && v.type !== 'u32' && v.type !== 'f32') fits = false;
    else {
      arrays.set(v.id, builder.shared(v.type, `%${v.name}`, block[0]));
      kept.push(v);
    }
  };
  const parts: readonly Stmt[] = [loop];
  eachExpr(parts, (e) => {
    if (e.op === 'var') meet(e.var);
  });
  eachStmt(parts, (s) => {
    if (s.op === 'assign') meet(s.var);
  });
  if (!fits) return undefined;

  const held = (v: Var): MemRef => ir.at(arrays.get(v.id) as ArraySym, ir.read(chosen), { pos });
  /** An expression of the chosen item. */
  const of = (e: Expr, checked: boolean): Expr =>
    mapExpr(e, (x): Expr => {
      if (x.op === 'special' && x.name === 'threadIdx.x') return ir.read(chosen);
      if (x.op === 'var') return arrays.has(x.var.id) ? ir.load(held(x.var)) : ir.read(fresh.get(x.var.id) ?? x.var);
      return x.op === 'load' && !checked ? { ...x, mem: { ...x.mem, checks: [] } } : x;
    });
  const listOf = (list: readonly Stmt[]): readonly Stmt[] =>
    list.map((s): Stmt => {
      if (s.op === 'assign') {
        const value = of(s.value, inRound.has(s.var.id));
        return arrays.has(s.var.id)
          ? ir.store(held(s.var), value, s.pos)
          : ir.assign(fresh.get(s.var.id) ?? s.var, value, s.pos);
      }
      if (s.op === 'store')
        return { ...s, mem: { ...s.mem, index: of(s.mem.index, false), checks: [] }, value: of(s.value, false) };
      if (s.op === 'if') return { ...s, cond: of(s.cond, false), then: listOf(s.then), else: listOf(s.else) };
      throw new Error(`internal error: a ${s.op} of a chosen item`);
    });
  const label = builder.label();
  const counters = kernel.vars.filter(({ id }) => counting.has(id));
  if (counters.some((v) => v.type !== 'i32' && v.type !== 'u32')) return undefined;
  const places = new Map(counters.map((v) => [v, builder.shared(v.type, `%${v.name}`, 1)] as const));
  const first = (array: ArraySym): MemRef => ir.at(array, ir.i32(0), { pos });
  const inside = checks.flatMap(({ index, extent }) => [
    ir.ge(of(index, false), ir.constant(index.type, 0)),
    ir.lt(of(index, false), of(extent, false)),
  ]);
  const one = (conds: readonly Expr[]): Expr | undefined =>
    conds.reduce<Expr | undefined>((a, b) => (a ? ir.and(a, b) : b), undefined);
  const [safe, wanted] = [one(inside), one(others.map((e) => of(e, false)))];
  const work = listOf(then);
  const round: readonly Stmt[] = [
    ir.assign(chosen, item.type === 'u32' ? ir.cast('i32', of(item, true)) : of(item, true), pos),
    ir.ifElse(
      ir.lt(ir.cast('u32', ir.read(chosen)), ir.u32(block[0])),
      [
        ...(safe === undefined ? [] : [ir.ifElse(ir.negate(safe), [ir.breakTo(label, pos)], [], pos)]),
        ...(wanted === undefined ? work : [ir.ifElse(wanted, work, [], pos)]),
      ],
      [],
      pos,
    ),
  ];
  const list: readonly Stmt[] = [
    ...kept.map((v) => ir.store(ir.at(arrays.get(v.id) as ArraySym, t, { pos }), ir.read(v), pos)),
    ir.barrier(pos),
    ir.ifElse(
      ir.eq(t, ir.i32(0)),
      [
        ...counters.map((v) => ir.assign(fresh.get(v.id) as Var, ir.read(v), pos)),
        ir.loop(
          label,
          [ir.ifElse(of(exit, true), [ir.breakTo(label, pos)], [], pos), ...listOf(before), ...round],
          listOf(loop.update),
          pos,
        ),
        ...Array.from(places, ([v, array]) => ir.store(first(array), ir.read(fresh.get(v.id) as Var), pos)),
      ],
      [],
      pos,
    ),
    ir.barrier(pos),
    ...kept
      .filter((v) => own.has(v.id))
      .map((v) => ir.assign(v, ir.load(ir.at(arrays.get(v.id) as ArraySym, t, { pos })), pos)),
    ...Array.from(places, ([v, array]) => ir.assign(v, ir.load(first(array)), pos)),
  ];
  return { builder, list };
}

/** Whether an expression is the same for all items, and not what any of them keeps. */
function isEven(e: Expr, uniformity: Uniformity, own: ReadonlySet<number>): boolean {
  return uniformity.shape(e) === 'G' && !someExpr(e, (x) => x.op === 'var' && own.has(x.var.id));
}

/** All that is checked in a list, where it can be told ahead of it; undefined where it cannot, or something else may fail. */
function checksAhead(list: readonly Stmt[], conds: readonly Expr[]): readonly Check[] | undefined {
  const checks: Check[] = [];
  const assigned = new Set<number>();
  let known = true;
  const visit = (e: Expr): void => {
    if (e.op === 'load') meet(e.mem);
    else if (canFail(e)) known = false;
  };
  const meet = ({ checks: own }: MemRef): void => {
    for (const check of own) {
      for (const part of [check.index, check.extent])
        known &&=
          !mayFail(part) && !someExpr(part, (x) => x.op === 'load' || (x.op === 'var' && assigned.has(x.var.id)));
      checks.push(check);
    }
  };
  const each = (e: Expr): void => {
    someExpr(e, (x) => {
      visit(x);
      return false;
    });
  };
  const walk = (stmts: readonly Stmt[]): void => {
    for (const s of stmts) {
      if (s.op === 'assign') {
        each(s.value);
        assigned.add(s.var.id);
      } else if (s.op === 'store') {
        each(s.value);
        each(s.mem.index);
        meet(s.mem);
      } else if (s.op === 'if') {
        each(s.cond);
        walk(s.then);
        walk(s.else);
      }
    }
  };
  conds.forEach(each);
  walk(list);
  return known ? checks : undefined;
}
