/**
 * Own copies of counters in global memory, where several threads run a launch: arrays of integers that a kernel changes by atomic operations whose
 * order cannot be told from what comes out, and that it does nothing else with. A call of `run` changes a copy in its worker's scratch memory, by plain
 * loads and stores, and puts what that has come to into the array at its end: else each change would be an atomic instruction, which takes
 * ten times as long as a plain one.
 *
 * Nothing in the kernel reads such an array, so that no block can tell when changes arrive. That holds where its memory is that of no other
 * argument, which `run` finds out, as well as whether the array is small and the blocks are many enough; else it runs code without copies.
 */
import { type ArraySym, ELEM_SIZE, type Kernel, type MemRef, type Param, type Stmt } from '../../ir/ops.ts';
import { eachExpr, eachStmt, someStmt, stmtLists, written } from '../../ir/passes/walk.ts';
import type { FunctionBuilder, Local } from './assembler.ts';
import { changeAtomically, isCounted, neutralOf } from './atomics.ts';
import type { Counted } from './gen.ts';
import type { Helpers } from './helpers.ts';
import { RECORD_PARAMS_SLOT, type WasmVariant } from './module.ts';

/** Elements of an array that has a copy, at most. */
const MOST_ELEMENTS = 4096;
/** Arrays of a kernel that have copies, at most. */
const MOST_ARRAYS = 4;
/** Work items for each element of a copy from which on it pays: so much do its first value and the end of it cost. */
const ITEMS_PER_ELEMENT = 2;
/** How often an item is taken to change an element in a loop. */
const ROUNDS = 8;

/** An array of the launch: where the record says what is known of its place. */
interface Place {
  readonly base: number;
  /** Its extents, all contiguous. */
  readonly extents: readonly Param[];
  /** Bytes of an element. */
  readonly scale: number;
}

interface OwnCopy extends Place {
  readonly array: ArraySym;
  /** What puts it into the array. */
  readonly of: Counted;
}

export interface OwnCopies {
  readonly copies: readonly OwnCopy[];
  /** All other arrays that the kernel touches. */
  readonly others: readonly Place[];
  /** Changes that an item is taken to make, of each array. */
  readonly changes: number;
}

/** Statements that the others of a launch could see a kernel's changes by, or wait for them, and what leaves before the end. */
const ENTANGLING: ReadonlySet<Stmt['op']> = new Set(['barrier', 'warp', 'extern', 'fence', 'rest', 'print']);

/** The arrays that may have copies; undefined where none may. */
export function ownCopiesOf(kernel: Kernel, variant: WasmVariant): OwnCopies | undefined {
  const { body, arrays } = kernel;
  if (!variant.concurrent || variant.quick === true || variant.memory64) return undefined;
  if (arrays.some(({ space }) => space === 'shared') || someStmt(body, (s) => ENTANGLING.has(s.op))) return undefined;
  const uses = new Map<ArraySym, MemRef[]>();
  /** The first operation on each array. */
  const counted = new Map<ArraySym, Stmt & { op: 'atomic' }>();
  const others = new Set<ArraySym>();
  let ordered = false;
  const use = (mem: MemRef): void => {
    if (mem.array.space === 'global') uses.set(mem.array, [...(uses.get(mem.array) ?? []), mem]);
  };
  eachStmt(body, (s) => {
    const mem = written(s);
    if (mem === undefined) return;
    use(mem);
    if (s.op !== 'atomic') {
      others.add(mem.array);
      return;
    }
    ordered ||= s.result !== undefined || (s.order ?? 'relaxed') !== 'relaxed' || s.fn === 'load' || s.fn === 'store';
    const first = counted.get(mem.array);
    if (!isCounted(s) || (first !== undefined && kindOf(first) !== kindOf(s))) others.add(mem.array);
    else if (first === undefined) counted.set(mem.array, s);
  });
  eachExpr(body, (e) => {
    if (e.op !== 'load' && e.op !== 'address') return;
    use(e.mem);
    others.add(e.mem.array);
  });
  if (ordered) return undefined;
  const places = new Map<ArraySym, Place>();
  for (const [array, refs] of uses) {
    const place = placeOf(kernel, array, refs);
    if (place === undefined) return undefined;
    places.set(array, place);
  }
  const copies: OwnCopy[] = [];
  for (const [array, { fn, mem }] of counted) {
    const place = places.get(array);
    if (place === undefined || others.has(array) || copies.length === MOST_ARRAYS) continue;
    if (uses.get(array)?.some(({ elem, scale, disp }) => elem !== array.elem || scale !== 4 || disp !== 0)) continue;
    copies.push({ ...place, array, of: { fn: fn === 'sub' ? 'add' : fn, mem } });
    places.delete(array);
  }
  const looped = (list: readonly Stmt[], within: boolean): boolean =>
    list.some(
      (s) =>
        (within && s.op === 'atomic' && copies.some(({ array }) => array === s.mem.array)) ||
        stmtLists(s).some((inner) => looped(inner, within || s.op === 'loop')),
    );
  if (copies.length === 0) return undefined;
  return { copies, others: [...places.values()], changes: looped(body, false) ? ROUNDS : 1 };
}

/** Operations that may be put together. */
const kindOf = ({ fn }: Counted): Counted['fn'] => (fn === 'sub' ? 'add' : fn);

/** Where an argument's elements are, if they are those that its extents say, one beside the other. */
function placeOf({ params }: Kernel, { param, elem }: ArraySym, refs: readonly MemRef[]): Place | undefined {
  const base = params[param ?? -1];
  if (base?.origin.kind !== 'base') return undefined;
  const path = base.origin.path.join();
  const extents: Param[] = [];
  for (const p of params) {
    const { origin } = p;
    if ((origin.kind !== 'extent' && origin.kind !== 'stride') || origin.path.join() !== path) continue;
    if (origin.kind === 'stride') return undefined;
    extents[origin.axis] = p;
  }
  // An axis without an index is one that nobody has asked for the extent of.
  if (extents.length === 0 || extents.includes(undefined as never)) return undefined;
  const [{ scale } = { scale: 0 }] = refs;
  if (scale < ELEM_SIZE[elem] || refs.some((mem) => mem.scale !== scale)) return undefined;
  return { base: base.index, extents, scale };
}

/** Bytes of scratch memory that copies take. */
export function bytesOfCopies(own: OwnCopies | undefined): ReadonlyMap<ArraySym, number> {
  return new Map(own?.copies.map(({ array }) => [array, 4 * MOST_ELEMENTS]));
}

interface Parts {
  readonly f: FunctionBuilder;
  readonly helpers: Helpers;
  readonly threads: number;
  /** Where the copies are in scratch memory. */
  readonly at: ReadonlyMap<ArraySym, number>;
  /** Functions that run a range of blocks: with copies and without. */
  readonly own: number;
  readonly plain: number;
}

/** Writes `run` of a module with copies. Parameters: first block, end block, record, scratch. */
export function writeOwnRun({ copies, others, changes }: OwnCopies, parts: Parts): void {
  const { f, threads, at } = parts;
  const [first, end, record, scratch] = [0, 1, 2, 3];
  const load = (p: Param): void => {
    f.get(record);
    f.memory(p.type === 'i64' ? 'i64.load' : 'i32.load', 2, slotOf(p.index));
    if (p.type !== 'i64') f.op('i64.extend_i32_u');
  };
  const pushElements = ({ extents }: Place): void => {
    extents.forEach((p, axis) => {
      load(p);
      if (axis > 0) f.op('i64.mul');
    });
  };
  const shared = f.block();
  const lengths = copies.map((copy) => {
    const length = f.local('i64');
    pushElements(copy);
    f.tee(length);
    f.i64(MOST_ELEMENTS);
    f.op('i64.gt_u');
    f.brIf(shared);
    return length;
  });
  lengths.forEach((length, k) => {
    f.get(length);
    if (k > 0) f.op('i64.add');
  });
  f.i64(ITEMS_PER_ELEMENT);
  f.op('i64.mul');
  f.get(end, first);
  f.op('i32.sub', 'i64.extend_i32_u');
  f.i64(threads * changes);
  f.op('i64.mul', 'i64.gt_u');
  f.brIf(shared);
  const spans = [...copies, ...others].map((place) => {
    const [start, after] = [f.local('i64'), f.local('i64')];
    f.get(record);
    f.memory('i32.load', 2, slotOf(place.base));
    f.op('i64.extend_i32_u');
    f.tee(start);
    pushElements(place);
    f.i64(place.scale);
    f.op('i64.mul', 'i64.add');
    f.set(after);
    return { start, after };
  });
  spans.slice(0, copies.length).forEach((a, k) => {
    for (const b of spans.slice(k + 1)) {
      f.get(a.start, b.after);
      f.op('i64.lt_u');
      f.get(b.start, a.after);
      f.op('i64.lt_u', 'i32.and');
      f.brIf(shared);
    }
  });
  const [index, bytes, copy, result] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  /** Goes over the vectors of a copy; `copy` is then the address of one, `index` its bytes from the first. */
  const eachVector = (k: number, body: (of: OwnCopy) => void): void => {
    const of = copies[k] as OwnCopy;
    f.get(lengths[k] as Local);
    f.op('i32.wrap_i64');
    f.i32(4);
    f.op('i32.mul');
    f.set(bytes);
    f.i32(0);
    f.set(index);
    const done = f.block();
    const again = f.loop();
    f.get(index, bytes);
    f.op('i32.ge_u');
    f.brIf(done);
    f.get(scratch, index);
    f.op('i32.add');
    f.i32(at.get(of.array) ?? 0);
    f.op('i32.add');
    f.set(copy);
    body(of);
    f.get(index);
    f.i32(16);
    f.op('i32.add');
    f.set(index);
    f.br(again);
    f.end();
    f.end();
  };
  const pushNeutral = ({ of }: OwnCopy): void => {
    f.i32(neutralOf(of));
    f.op('i32x4.splat');
  };
  for (const k of copies.keys()) {
    eachVector(k, (of) => {
      f.get(copy);
      pushNeutral(of);
      f.memory('v128.store', 4);
    });
  }
  f.get(first, end, record, scratch);
  f.call(parts.own);
  f.set(result);
  for (const k of copies.keys()) {
    eachVector(k, (of) => {
      f.get(copy);
      f.memory('v128.load', 4);
      pushNeutral(of);
      f.op('i32x4.ne', 'v128.any_true');
      f.if();
      putVector(parts, of, { record, index, copy });
      f.end();
    });
  }
  f.get(result);
  f.op('return');
  f.end();
  f.get(first, end, record, scratch);
  f.call(parts.plain);
}

/** Puts what has been changed of four elements into the array. Those beyond its end have not been. */
function putVector(
  { f, helpers }: Parts,
  { base, of }: OwnCopy,
  { record, index, copy }: { readonly record: Local; readonly index: Local; readonly copy: Local },
): void {
  const [value, address] = [f.temp('i32'), f.temp('i32')];
  f.get(record);
  f.memory('i32.load', 2, slotOf(base));
  f.get(index);
  f.op('i32.add');
  f.set(address);
  for (let lane = 0; lane < 4; lane++) {
    f.get(copy);
    f.memory('i32.load', 2, 4 * lane);
    f.tee(value);
    f.i32(neutralOf(of));
    f.op('i32.ne');
    f.if();
    changeAtomically({ f, helpers }, of, { address, offset: 4 * lane }, () => f.get(value));
    f.end();
  }
  f.release('i32', value, address);
}

const slotOf = (param: number): number => 8 * (RECORD_PARAMS_SLOT + param);
