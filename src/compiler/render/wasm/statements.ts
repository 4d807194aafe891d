/**
 * Statements of one region: assignments, stores, and control flow, of single values and of vectors under masks.
 */
import { codeSize } from '../../ir/measures.ts';
import type { Expr, MemRef, Stmt } from '../../ir/ops.ts';
import { exprParts, hasLoad, someStmt, stmtExprs } from '../../ir/passes/walk.ts';
import { emitAtomic, indexLoad, isJoint, rowUpdate } from './atomics.ts';
import { isBlended } from './blended.ts';
import { emitTrap } from './checks.ts';
import { counterOf, emitCounted } from './counters.ts';
import { lanesPart, part, pushFirstLane, restrict, scalar } from './expr.ts';
import { type Gen, isVector, type Mask, varBits, varLocals, varShape } from './gen.ts';
import { emitRecordStores, MOST_MEMBERS, recordStores } from './interleave.ts';
import { type JointStore, jointStore } from './joint-stores.ts';
import { emitLaneBranch } from './lane-branches.ts';
import { withLateStores } from './late-stores.ts';
import { blendPart, type Frame, MaskStack } from './masks.ts';
import { emitStore, emitStoreOf, memoryBits, partsFor, storePart } from './memory.ts';
import { type PassOver, passOverRounds } from './pass-over.ts';
import { withPrepared } from './prepare.ts';
import { emitPrint } from './print.ts';
import { emitMemberStores, memberStores, storeTurned } from './record-stores.ts';
import { memberLoads, stepOfMember } from './records.ts';
import { withHoisted, withinLoop, withMask } from './scope.ts';
import { sharedLoads } from './shared-loads.ts';
import { emitExchange } from './votes.ts';
import { wholeVectorTest } from './whole.ts';
import { emitRounds } from './windows.ts';

/** Emits a list; with vectors, under the mask in force. */
export function emitList(g: Gen, given: readonly Stmt[], stack: MaskStack = new MaskStack(g)): void {
  const list = withLateStores(g, given);
  for (let i = 0; i < list.length; i++) {
    const s = list[i] as Stmt;
    const joint = g.parallel.get(s);
    if (joint !== undefined) {
      const run = list.slice(i, i + joint);
      if (s.op === 'store') storeParallel(g, run);
      else assignParallel(g, run);
      i += joint - 1;
      continue;
    }
    if (!isHarmless(g, s)) stack.test();
    const records = s.op === 'store' ? recordStores(g, list.slice(i, i + MOST_MEMBERS)) : undefined;
    if (records !== undefined) {
      emitRecordStores(g, records, () => {
        for (const one of records.stores) emitStatement(g, one, stack);
      });
      i += records.stores.length - 1;
      continue;
    }
    const members = s.op === 'store' ? memberStores(g, list, i) : undefined;
    if (members !== undefined) {
      emitMemberStores(g, members, () => {
        for (const one of members.stores) emitStatement(g, one, stack);
      });
      i += members.stores.length - 1;
      continue;
    }
    const shared = memberLoads(g, list, i) ?? sharedLoads(g, list, i);
    if (shared !== undefined) {
      const run = list.slice(i, i + shared.count);
      withPrepared(g, shared.loads, [], () => emitList(g, run, stack));
      i += shared.count - 1;
      continue;
    }
    const { mask } = g;
    const [kills, untested] = [mask?.kills, mask?.untested];
    emitStatement(g, s, stack);
    // Inside a construct the test may have stood on one path only.
    if (mask !== null && s.op !== 'assign' && (untested || mask.kills !== kills)) mask.untested = true;
    if (s.op === 'break' || s.op === 'continue' || s.op === 'trap') return;
  }
}

/** Whether a statement may run with no lane active. Not where it assigns one value for all: that would show later. */
function isHarmless(g: Gen, s: Stmt): boolean {
  if (s.op === 'assign') return varShape(g, s.var) === 'V' && isCheap(s.value);
  if (s.op === 'if')
    return s.then.length === 1 && s.else.length === 0 && isJump(s.then[0]) && isVector(g, s.cond) && isCheap(s.cond);
  return false;
}

const isJump = (s: Stmt | undefined): boolean => s?.op === 'break' || s?.op === 'continue';

/** Free of loads, of calls, and of what can fail. */
function isCheap(e: Expr): boolean {
  switch (e.op) {
    case 'load':
    case 'call':
    case 'fma':
      return false;
    case 'unary':
      if (e.fn === 'uniform') return false;
      break;
    case 'cast':
      if (e.checked) return false;
      break;
    case 'binary':
      if (e.fn === 'ipow' || e.fn === 'rem') return false;
      break;
  }
  return exprParts(e).every(isCheap);
}

/** Assignments that may be made in any order, with all lanes on: loads that several of them hold, or that lie side by side, are done once. */
function assignParallel(g: Gen, list: readonly Stmt[]): void {
  const loads = list.map((s) => loadsIn(stmtExprs(s)));
  const [first, second] = loads;
  const isFar = (e: Expr): boolean => e.op === 'load' && stepOfMember(g, e.mem) !== undefined;
  const shared = [...(first ?? [])].filter((e) => second?.has(e));
  for (const own of loads) shared.push(...[...own].filter(isFar));
  withPrepared(g, shared, [], () => {
    for (const s of list)
      if (s.op === 'assign') withPrepared(g, [s.value], [], () => assign(g, s), undefined, varBits(g, s.var));
  });
}

/** Stores of several rows, whose order nothing says: all that they load comes first, and what lies side by side is stored as one. */
function storeParallel(g: Gen, list: readonly Stmt[]): void {
  const stores = list.filter((s) => s.op === 'store');
  const values = stores.flatMap((s) => [s.value, s.mem.index]);
  const memory = stores.map(({ mem }) => mem);
  withPrepared(g, values, memory, () => {
    const group = memberStores(g, stores, 0, { comesFirst: true });
    if (group?.stores.length === stores.length) storeTurned(g, group);
    else for (const s of stores) emitStore(g, s.mem, s.value);
  });
}

function loadsIn(list: readonly Expr[], into: Set<Expr> = new Set()): Set<Expr> {
  for (const e of list) {
    if (e.op === 'load') into.add(e);
    loadsIn(exprParts(e), into);
  }
  return into;
}

function emitStatement(g: Gen, s: Stmt, stack: MaskStack): void {
  const { f } = g;
  switch (s.op) {
    case 'assign':
      withPrepared(g, [s.value], [], () => assign(g, s), undefined, varBits(g, s.var));
      return;
    case 'store':
      store(g, s.mem, s.value);
      return;
    case 'atomic': {
      const update = rowUpdate(g, s);
      if (update === undefined) atomic(g, s);
      else store(g, s.mem, update);
      return;
    }
    case 'if':
      emitIf(g, s, stack);
      return;
    case 'loop': {
      const list = (parts: readonly Stmt[]): void => emitList(g, parts);
      if (g.lanes === 1) emitRounds(g, s, list);
      const over = g.lanes === 1 ? passOverRounds(g, s.label, list) : undefined;
      withinLoop(g, () => {
        if (g.lanes > 1 && g.uniformity.divergence(s) === 'V') divergentLoop(g, s, stack);
        else uniformLoop(g, s, stack, over);
      });
      over?.end();
      return;
    }
    case 'block':
      emitBlock(g, s, stack);
      return;
    case 'break':
    case 'continue':
      stack.jump(s.op, s.label);
      return;
    case 'fence':
      if (g.variant.concurrent) f.fence();
      return;
    case 'print': {
      const values = s.parts.filter((p) => typeof p !== 'string');
      withPrepared(g, values, [], () => emitPrint(g, s));
      return;
    }
    case 'trap':
      emitTrap(g, { kind: 'trap', pos: s.pos, message: s.message });
      return;
    case 'rest':
      return;
    case 'warp':
      withPrepared(g, s.mask ? [s.mask, ...s.args] : s.args, [], () => emitExchange(g, s));
      return;
    case 'return':
    case 'barrier':
    case 'extern':
      throw new Error(`internal error: a ${s.op} within a region`);
    default:
      s satisfies never;
  }
}

function store(g: Gen, mem: MemRef, value: Expr): void {
  withPrepared(g, [value, mem.index], [mem], () => emitStore(g, mem, value), undefined, memoryBits(g, mem.elem));
}

/** Most often all lanes are on, even where there is a mask; then they need not be asked one by one. */
function atomic(g: Gen, s: Stmt & { op: 'atomic' }): void {
  const { f, mask } = g;
  if (counterOf(g, s) !== undefined) {
    withPrepared(g, s.args, [], () => emitCounted(g, s));
    return;
  }
  const prepared = (): void => {
    const apart = indexLoad(g, s);
    const asked = apart === undefined ? [s.mem] : [];
    withPrepared(g, [...s.args, s.mem.index], asked, () => emitAtomic(g, s, apart), apart);
  };
  if (mask === null || isJoint(g, s)) {
    prepared();
    return;
  }
  pushWhole(g, mask.parts);
  f.if();
  withMask(g, null, prepared);
  f.else();
  prepared();
  f.end();
}

/** Pushes whether all lanes of a mask are on. */
function pushWhole(g: Gen, parts: readonly number[]): void {
  const { f } = g;
  for (const [p, local] of parts.entries()) {
    f.get(local);
    if (p > 0) f.op('v128.and');
  }
  f.op('i32x4.bitmask');
  f.i32(15);
  f.op('i32.eq');
}

function assign(g: Gen, s: Stmt & { op: 'assign' }): void {
  const { f } = g;
  const locals = varLocals(g, s.var);
  if (varShape(g, s.var) !== 'V') {
    // A variable of the whole block may be given a vector whose active lanes agree.
    if (isVector(g, s.value)) pushFirstLane(g, s.value);
    else scalar(g, s.value);
    f.set(locals[0] ?? 0);
    return;
  }
  const blend = g.mask !== null && g.uniformity.needsBlend(s);
  if (blend && addMasked(g, s, locals)) return;
  const bits = varBits(g, s.var);
  for (const [p, local] of locals.entries()) {
    lanesPart(g, s.value, bits, p);
    if (blend) blendPart(g, s.var.type, local, p, bits);
    f.set(local);
  }
}

/** `v = v + e` of 32-bit integers under a mask: adds e, or 0 in inactive lanes. */
function addMasked(g: Gen, s: Stmt & { op: 'assign' }, locals: readonly number[]): boolean {
  const { f, mask } = g;
  const { value } = s;
  if (value.op !== 'binary' || (value.fn !== 'add' && value.fn !== 'sub')) return false;
  if ((value.type !== 'i32' && value.type !== 'u32') || varBits(g, s.var) !== 32) return false;
  if (value.a.op !== 'var' || value.a.var.id !== s.var.id) return false;
  const one = value.b.op === 'const' && value.b.value === 1;
  for (const [p, local] of locals.entries()) {
    f.get(local);
    // A lane of the mask is -1.
    if (!one) part(g, value.b, p);
    f.get(mask?.parts[p] ?? 0);
    if (!one) f.op('v128.and');
    f.op((value.fn === 'add') === one ? 'i32x4.sub' : 'i32x4.add');
    f.set(local);
  }
  return true;
}

// ---------------------------------------------------------------- if

function emitIf(g: Gen, s: Stmt & { op: 'if' }, stack: MaskStack): void {
  const { f } = g;
  const outer = g.mask;
  if (!isVector(g, s.cond)) {
    // The condition's own loads must be given back before the branches run, which may evaluate them anew.
    withPrepared(g, [s.cond], [], () => scalar(g, s.cond));
    if (s.then.length > 0) {
      f.if();
      emitList(g, s.then, stack);
      if (s.else.length > 0) {
        f.else();
        if (outer) outer.untested = false;
        emitList(g, s.else, stack);
      }
      f.end();
    } else {
      f.op('i32.eqz');
      f.if();
      emitList(g, s.else, stack);
      f.end();
    }
    return;
  }
  const lists = (list: readonly Stmt[]): void => emitList(g, list, stack);
  if (emitLaneBranch(g, s, lists, (x) => isHarmless(g, x))) return;
  const [first] = s.then;
  if (s.then.length === 1 && s.else.length === 0 && (first?.op === 'break' || first?.op === 'continue')) {
    let done = false;
    withPrepared(g, [s.cond], [], () => {
      done = stack.jumpIf(first.op, first.label, (p) => restrict(g, s.cond, false, p));
    });
    if (done) return;
  }
  const joint = jointStore(g, s);
  if (joint !== undefined) {
    emitJointStore(g, joint, masksOf(g, s, stack), stack);
    return;
  }
  // Where all lanes are on, most often all lanes agree: then the first part is run as if there were no mask.
  const blended = isBlended(g, s, (x) => isHarmless(g, x), isCheap) || isCounting(g, s);
  const counts = s.then.every((x) => x.op === 'atomic' && isJoint(g, x) && x.args.every((e) => !hasLoad(e)));
  const copies = outer === null && !g.rare && !blended && !counts && touchesMemory(s.then) && isWorthCopying(s.then);
  const whole = copies ? f.block() : undefined;
  const agreed = whole && wholeVectorTest(g, s.cond);
  if (whole !== undefined && agreed !== undefined) {
    const parted = f.block();
    withPrepared(g, agreed.exprs, [], () => agreed.branchUnless(parted));
    withHoisted(g, new Set([...g.hoisted, ...agreed.implied(s.then)]), () => emitList(g, s.then, stack));
    f.br(whole);
    f.end();
  }
  const [yes, no] = masksOf(g, s, stack);
  if (whole !== undefined && agreed === undefined) {
    const parted = f.block();
    pushWhole(g, yes);
    f.op('i32.eqz');
    f.brIf(parted);
    emitList(g, s.then, stack);
    f.br(whole);
    f.end();
  }
  for (const [list, parts] of [
    [s.then, yes],
    [s.else, no],
  ] as const) {
    if (parts.length === 0) continue;
    const target = f.block();
    stack.withMask(parts, target, (mask) => {
      if (!blended && (list.length > 3 || !list.every((x) => x.op === 'assign' && isHarmless(g, x)))) {
        stack.pushAny(mask);
        f.op('i32.eqz');
        f.brIf(target);
      }
      emitList(g, list, stack);
      f.end();
    });
  }
  if (whole !== undefined) f.end();
}

/** Whether nothing happens but that counters in registers are changed. */
function isCounting(g: Gen, s: Stmt & { op: 'if' }): boolean {
  const counts = (x: Stmt): boolean => x.op === 'atomic' && counterOf(g, x) !== undefined && x.args.every(isCheap);
  return s.else.length === 0 && s.then.length <= 2 && s.then.every(counts);
}

/** Each branch under its mask, but for the stores: what they store is blended, and stored once. */
function emitJointStore(
  g: Gen,
  { mem, branches }: JointStore,
  masks: readonly (readonly number[])[],
  stack: MaskStack,
): void {
  const { f } = g;
  const bits = memoryBits(g, mem.elem);
  const parts = Array.from({ length: partsFor(g, mem.elem) }, () => f.temp('v128'));
  for (const [k, { list, store }] of branches.entries()) {
    const target = f.block();
    stack.withMask(masks[k] ?? [], target, (mask) => {
      if (list.length > 3 || !isCheap(store.value) || !list.every((s) => s.op === 'assign' && isHarmless(g, s))) {
        stack.pushAny(mask);
        f.op('i32.eqz');
        f.brIf(target);
      }
      emitList(g, list, stack);
      const blend = (): void => {
        for (const [p, local] of parts.entries()) {
          storePart(g, mem.elem, store.value, p);
          if (k > 0) blendPart(g, store.value.type, local, p, bits);
          f.set(local);
        }
      };
      withPrepared(g, [store.value], [], blend, undefined, bits);
      f.end();
    });
  }
  withPrepared(g, [mem.index], [mem], () => emitStoreOf(g, mem, parts));
  f.release('v128', ...parts);
}

/** Expressions and statements that may be written out a second time. Copies nest, so that much more would be too much. */
const LARGEST_COPY = 120;

/** Whether a list is small enough to be written out a second time. */
export function isWorthCopying(list: readonly Stmt[]): boolean {
  return codeSize(list, LARGEST_COPY) <= LARGEST_COPY;
}

/** Elsewhere a mask costs next to nothing. */
function touchesMemory(list: readonly Stmt[]): boolean {
  return someStmt(list, (s) => s.op === 'store' || s.op === 'atomic' || stmtExprs(s).some(hasLoad));
}

/** The masks of both parts, computed before either can change what the condition reads. */
function masksOf(g: Gen, s: Stmt & { op: 'if' }, stack: MaskStack): [yes: number[], no: number[]] {
  const { f } = g;
  const make = (): number[] => Array.from({ length: g.lanes / 4 }, () => f.temp('v128'));
  const yes = make();
  const no = s.else.length > 0 ? make() : [];
  withPrepared(g, [s.cond], [], () => {
    for (const [p, local] of yes.entries()) {
      if (g.mask === null) part(g, s.cond, p);
      else {
        stack.pushActive(p);
        restrict(g, s.cond, true, p);
      }
      f.set(local);
    }
  });
  for (const [p, local] of no.entries()) {
    stack.pushActive(p);
    f.get(yes[p] ?? 0);
    f.op('v128.andnot');
    f.set(local);
  }
  if (s.then.length > 0) return [yes, no];
  f.release('v128', ...yes);
  return [[], no];
}

// ---------------------------------------------------------------- loops and blocks

/** A loop that all active lanes run together. */
function uniformLoop(g: Gen, s: Stmt & { op: 'loop' }, stack: MaskStack, over?: PassOver): void {
  const { f, mask } = g;
  const exit = f.block();
  const top = f.loop();
  over?.begin(top);
  const continues = someStmt(s.body, (x) => x.op === 'continue' && x.label === s.label);
  const next = continues ? f.block() : undefined;
  stack.withFrame({ label: s.label, exit, next, parts: false, mask, round: mask }, () => {
    emitList(g, s.body, stack);
    if (next) f.end();
    // Lanes that left for good in the round may have been all there were: nobody would ever end the loop.
    stack.test();
    emitList(g, s.update, stack);
  });
  f.br(top);
  f.end();
  f.end();
}

/** A loop that lanes leave, or go on with, one by one. */
function divergentLoop(g: Gen, s: Stmt & { op: 'loop' }, stack: MaskStack): void {
  const { f } = g;
  const outer = g.mask;
  const exit = f.block();
  stack.within(
    exit,
    (p) => stack.pushActive(p, outer),
    (live) => {
      const top = f.loop();
      const within: Frame = { label: s.label, exit, next: undefined, parts: true, mask: live, round: live };
      const continues = someStmt(s.body, (x) => x.op === 'continue' && x.label === s.label);
      if (continues) {
        const next = f.block();
        stack.within(
          next,
          (p) => f.get(live.parts[p] ?? 0),
          (round) => {
            stack.withFrame({ ...within, next, round }, () => emitList(g, s.body, stack));
            f.end();
          },
        );
        // Lanes that jumped to the update may have been all there were in the round, but live ones are on.
        live.untested = true;
      } else stack.withFrame(within, () => emitList(g, s.body, stack));
      stack.withFrame(within, () => {
        if (continues) stack.test();
        emitList(g, s.update, stack);
      });
      if (live.untested) {
        stack.pushAny(live);
        f.brIf(top);
      } else {
        f.br(top);
      }
      f.end();
      f.end();
    },
  );
}

function emitBlock(g: Gen, s: Stmt & { op: 'block' }, stack: MaskStack): void {
  const { f } = g;
  const outer = g.mask;
  const exit = f.block();
  const parting = g.lanes > 1 && g.uniformity.divergence(s) === 'V';
  const inside = (mask: Mask | null): void => {
    const frame = { label: s.label, exit, next: undefined, parts: parting, mask, round: mask };
    stack.withFrame(frame, () => emitList(g, s.body, stack));
    f.end();
  };
  if (parting) stack.within(exit, (p) => stack.pushActive(p, outer), inside);
  else inside(outer);
}
