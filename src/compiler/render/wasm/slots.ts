/**
 * Variables that live across barriers: saved for each work item in the scratch memory, and reductions over a block.
 *
 * A slot has one element a work item, so that a vector of them is one load, wherever the vector begins. Uniform and
 * consecutive values are saved spread out, because another region may begin its vectors elsewhere in the row.
 */
import type { Var } from '../../ir/ops.ts';
import type { Reduction } from '../../ir/passes/region-tree.ts';
import type { BranchTarget, Local } from './assembler.ts';
import { laneBits, pushLanes } from './checks.ts';
import { part, scalar } from './expr.ts';
import { addressType, type Gen, isWide, partCount, varLocals, varShape, wasmType } from './gen.ts';
import { blendPart } from './masks.ts';
import { withPrepared } from './prepare.ts';
import { slotSize } from './scratch.ts';

function pushItemAddress(g: Gen, v: Var): void {
  const { f, at } = g;
  f.get(at.scratch, at.item);
  f.i32(slotSize(v));
  f.op('i32.mul');
  if (g.variant.memory64) f.op('i64.extend_i32_u', 'i64.add');
  else f.op('i32.add');
}

const slotOffset = (g: Gen, v: Var): number => g.layout.slots.get(v.id) ?? 0;
const rowOffset = (g: Gen, v: Var, row: number): number => row * g.variant.block[0] * slotSize(v);

/** Loads the value of the item `row` rows further on into `into`. */
export function loadSlots(g: Gen, v: Var, into: Var = v, row = 0): void {
  const { f } = g;
  const locals = varLocals(g, into);
  const align = Math.log2(slotSize(v));
  const offset = slotOffset(g, v) + rowOffset(g, v, row);
  for (const [p, local] of locals.entries()) {
    pushItemAddress(g, v);
    if (varShape(g, v) === 'V') f.memory('v128.load', align, offset + 16 * p);
    else {
      f.memory(`${wasmType(v.type)}.load`, align, offset);
      // Vector code keeps masks.
      if (v.type === 'bool') {
        f.i32(1);
        f.op('i32.and');
      }
    }
    f.set(local);
  }
}

/** Saves `from` as the value of the item `row` rows further on. */
export function saveSlots(g: Gen, v: Var, from: Var = v, row = 0): void {
  const { f } = g;
  const align = Math.log2(slotSize(v));
  if (g.lanes === 1) {
    pushItemAddress(g, v);
    f.get(...varLocals(g, v));
    f.memory(`${wasmType(v.type)}.store`, align, slotOffset(g, v));
    return;
  }
  const old = f.temp('v128');
  for (let p = 0; p < partCount(g, v.type); p++) {
    const offset = slotOffset(g, v) + rowOffset(g, v, row) + 16 * p;
    if (g.mask !== null) {
      // Work items beside the active lanes keep theirs.
      pushItemAddress(g, v);
      f.memory('v128.load', align, offset);
      f.set(old);
    }
    pushItemAddress(g, v);
    part(g, { op: 'var', type: v.type, var: from }, p);
    if (g.mask !== null) blendPart(g, v.type, old, p);
    f.memory('v128.store', align, offset);
  }
  f.release('v128', old);
}

/** Adds the active lanes of an item to the reduction of a barrier. */
export function accumulate(g: Gen, reduce: Reduction, total: Local): void {
  const { f } = g;
  withPrepared(g, [reduce.pred], [], () => {
    const predicate = (p: number): void => {
      part(g, reduce.pred, p);
      // `and` looks for a false one.
      if (reduce.fn === 'and') f.op('v128.not');
    };
    if (g.lanes > 1) pushLanes(g, predicate);
    else {
      scalar(g, reduce.pred);
      if (reduce.fn === 'and') f.op('i32.eqz');
    }
    const long = g.lanes > 1 && laneBits(g) === 'i64';
    if (reduce.fn === 'count') f.op(...(long ? (['i64.popcnt', 'i32.wrap_i64'] as const) : (['i32.popcnt'] as const)));
    else if (long) f.op('i64.eqz', 'i32.eqz');
    f.get(total);
    f.op(reduce.fn === 'count' ? 'i32.add' : 'i32.or');
    f.set(total);
  });
}

/** The result of the reduction, for the whole block: in the variable itself, or in its slots where it has some. */
export function finishReduction(g: Gen, reduce: Reduction, total: Local, saved: boolean): void {
  const { f } = g;
  f.get(total);
  if (reduce.fn !== 'count') f.op('i32.eqz');
  if (reduce.fn === 'or') f.op('i32.eqz');
  if (!saved) {
    f.set(varLocals(g, reduce.result)[0] ?? 0);
    return;
  }
  f.set(total);
  eachSlot(g, reduce.result, (address) => {
    f.get(address, total);
    f.memory('i32.store', 2, slotOffset(g, reduce.result));
  });
}

/** Runs `visit` for each work item of the block, with an address to which the slot's offset must be added. */
function eachSlot(g: Gen, v: Var, visit: (address: Local) => void): void {
  const { f, at, variant } = g;
  const t = addressType(g);
  const [address, end] = [f.temp(t), f.temp(t)];
  const items = variant.block[0] * variant.block[1] * variant.block[2];
  const push = (value: number): void => (t === 'i64' ? f.i64(value) : f.i32(value));
  f.get(at.scratch);
  f.tee(address);
  push(slotSize(v) * items);
  f.op(`${t}.add`);
  f.set(end);
  const again = f.loop();
  visit(address);
  f.get(address);
  push(slotSize(v));
  f.op(`${t}.add`);
  f.tee(address);
  f.get(end);
  f.op(`${t}.lt_u`);
  f.brIf(again);
  f.end();
  f.release(t, address, end);
}

/** Branches if the saved flag of no work item is set. */
export function branchIfNoneLive(g: Gen, live: Var, target: BranchTarget): void {
  const { f } = g;
  const any = f.temp('i32');
  f.i32(0);
  f.set(any);
  eachSlot(g, live, (address) => {
    f.get(any, address);
    f.memory('i32.load', 2, slotOffset(g, live));
    f.op('i32.or');
    f.set(any);
  });
  f.get(any);
  f.op('i32.eqz');
  f.brIf(target);
  f.release('i32', any);
}

/** Zero, for a variable that may be read before it is assigned. */
export function clearVariable(g: Gen, v: Var): void {
  const { f } = g;
  for (const local of varLocals(g, v)) {
    if (varShape(g, v) === 'V') f.v128([0, 0, 0, 0]);
    else if (isWide(v.type) || wasmType(v.type) !== 'i32') zero(g, v);
    else f.i32(0);
    f.set(local);
  }
}

function zero(g: Gen, v: Var): void {
  const w = wasmType(v.type);
  if (w === 'i64') g.f.i64(0);
  else g.f[w](0);
}

/** Stack: a value, for the local. By way of memory: else the optimiser would compute it anew at each use, inside of loops. */
export function keepOutside({ f, at, layout }: Gen, type: 'i32' | 'i64', local: Local): void {
  f.set(local);
  f.get(at.scratch, local);
  f.memory(`${type}.store`, 2, layout.faultLanes);
  f.get(at.scratch);
  f.memory(`${type}.load`, 2, layout.faultLanes);
  f.set(local);
}
