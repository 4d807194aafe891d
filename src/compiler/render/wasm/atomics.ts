/**
 * Atomic operations, lane by lane in lane order.
 *
 * Shared and local memory belongs to one worker, and so does global memory while a launch runs on one thread: plain loads
 * and stores do. Otherwise they are WebAssembly's atomic instructions, or a compare-and-exchange loop where it has none. Those are
 * ordered as `seq_cst` says, whatever order is asked for.
 */
import {
  type AtomicOp,
  ELEM_SIZE,
  type ElemType,
  type Expr,
  isFloat,
  type MemRef,
  type Stmt,
  type ValueType,
  widen,
} from '../../ir/ops.ts';
import { someExpr } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { pushAddress, pushBase, type Where, withAddresses } from './address.ts';
import type { Local } from './assembler.ts';
import { boundsHazards, guardLanes } from './checks.ts';
import { laneByLaneOperand } from './convert.ts';
import { evaluator, scalar } from './expr.ts';
import { loadWithin } from './fuse.ts';
import {
  addressType,
  type Counted,
  type Gen,
  isWide,
  partCount,
  shapeOf,
  varLocals,
  varShape,
  wasmType,
} from './gen.ts';
import { forActiveLanes, scalarLoad } from './memory.ts';
import type { MemoryOp, PlainOp } from './opcodes.ts';
import { compareOp, type Operands, type Push, pushConst, scalarBinary } from './scalar.ts';
import { replaceLane } from './vector.ts';

/**
 * A load that makes the index of an atomic operation and is used for nothing else, from consecutive addresses: it is made lane by
 * lane too, rather than as a vector to be taken apart.
 */
export function indexLoad(g: Gen, s: Stmt & { op: 'atomic' }): (Expr & { op: 'load' }) | undefined {
  if (g.lanes === 1 || g.mask !== null || isWide(s.mem.index.type) || g.variant.memory64) return undefined;
  const index = loadWithin(s.mem.index);
  if (index === undefined) return undefined;
  const { mem } = index;
  if (shapeOf(g, index) !== 'V' || shapeOf(g, mem.index) !== 'C' || mem.scale !== ELEM_SIZE[mem.elem]) return undefined;
  if (
    mem.array.space === 'local' ||
    s.mem.array.space === 'local' ||
    s.args.some((e) => someExpr(e, (x) => x === index))
  )
    return undefined;
  const [hazard, ...others] = boundsHazards(g, s.mem);
  const isAsked = hazard === undefined || sameExpr(hazard.index, s.mem.index);
  return isAsked && others.length === 0 ? index : undefined;
}

/** `apart`: the result of `indexLoad`. */
export function emitAtomic(g: Gen, s: Stmt & { op: 'atomic' }, apart?: Expr & { op: 'load' }): void {
  if (isJoint(g, s)) {
    emitJoint(g, s);
    return;
  }
  const { f } = g;
  const type = widen(s.mem.elem);
  const w = wasmType(type);
  const concurrent = isContended(g, s.mem);
  const perPart = isWide(type) ? 2 : 4;
  const result = s.result;
  const temps: Local[] = [];
  const use = (where: Where): void => {
    if (where.kind === 'exchanged') throw new Error('internal error: an atomic operation on whole vectors');
    const args = s.args.map((e) => laneByLaneOperand(g, evaluator(g), e, 0, g.lanes, temps));
    const lanes = result !== undefined && varShape(g, result) === 'V' ? oldLanes(g, result) : undefined;
    forActiveLanes(g, (lane) => {
      const address = f.temp(addressType(g));
      let offset = where.offset;
      if (where.kind === 'lanes') offset += where.lane(lane);
      else {
        where.push();
        if (where.kind === 'consecutive') offset += lane * ELEM_SIZE[s.mem.elem];
      }
      f.set(address);
      const old = f.temp(w);
      const operands = args.map((push) => (): void => push(lane));
      const at: Place = { elem: s.mem.elem, type, address, offset };
      if (concurrent) contended(g, s.fn, at, operands, old);
      else alone(g, s.fn, at, operands, old);
      if (lanes !== undefined) {
        const local = lanes[Math.floor(lane / perPart)] ?? 0;
        f.get(local, old);
        replaceLane(f, type, lane % perPart);
        f.set(local);
      } else if (result !== undefined) {
        f.get(old);
        f.set(varLocals(g, result)[0] ?? 0);
      }
      f.release(w, old);
      f.release(addressType(g), address);
    });
  };
  if (apart === undefined) withAddresses(g, s.mem, 'atomic', use);
  else withLoadedIndex(g, s.mem, apart, use);
  f.release('v128', ...temps);
}

/** Addresses from an index that is loaded for each lane when it is asked for, and checked there: lanes before one that fails have had their turn. */
function withLoadedIndex(g: Gen, mem: MemRef, load: Expr & { op: 'load' }, use: (where: Where) => void): void {
  const { f } = g;
  const source = load.mem;
  const pushIndex = (e: Expr, lane: number): void => {
    if (e === load) {
      f.get(from);
      scalarLoad(g, source.elem, sourceOffset + lane * source.scale);
    } else if (e.op === 'binary') {
      const operand = (x: Expr) => (): void => pushIndex(x, lane);
      scalarBinary(g, e.fn, e.type, operand(e.a), operand(e.b));
    } else scalar(g, e);
  };
  const [from, base, index] = [f.temp('i32'), f.temp('i32'), f.temp('i32')];
  const sourceOffset = pushAddress(g, source);
  f.set(from);
  const offset = pushBase(g, mem.array);
  if (mem.disp !== 0) {
    f.i32(mem.disp);
    f.op('i32.add');
  }
  f.set(base);
  guardLanes(g, boundsHazards(g, mem)[0], index, (check) =>
    use({
      kind: 'lanes',
      offset,
      lane: (lane) => {
        pushIndex(mem.index, lane);
        f.set(index);
        check(lane);
        f.get(base, index);
        f.i32(mem.scale);
        f.op('i32.mul', 'i32.add');
        return 0;
      },
    }),
  );
  f.release('i32', from, base, index);
}

// ---------------------------------------------------------------- one operation for all lanes

/** What lanes that are not active add to the others: nothing. */
const NEUTRAL: Partial<Record<AtomicOp, number>> = { add: 0, sub: 0, or: 0, xor: 0, and: -1 };

/** Whether the order of such operations cannot be told. */
export function isCounted({ fn, mem: { elem }, result }: Stmt & { op: 'atomic' }): boolean {
  if (result !== undefined || (elem !== 'i32' && elem !== 'u32')) return false;
  return NEUTRAL[fn] !== undefined || fn === 'min' || fn === 'max';
}

/**
 * Whether all lanes change one integer, in a way whose order nobody can tell, and none asks what it was: then the lanes are put together
 * first, and memory is changed once. Counters are such.
 */
export function isJoint(g: Gen, s: Stmt & { op: 'atomic' }): boolean {
  if (g.lanes === 1 || s.mem.array.space === 'local' || !isCounted(s)) return false;
  const shape = shapeOf(g, s.mem.index);
  return shape === 'G' || shape === 'U';
}

/** What lanes in a row do to memory of their own, nobody asking what was there: a vector loads, computes and stores for all of them. */
export function rowUpdate(g: Gen, { fn, mem, args, result }: Stmt & { op: 'atomic' }): Expr | undefined {
  const [value] = args;
  if (g.lanes === 1 || result !== undefined || value === undefined || NEUTRAL[fn] === undefined) return undefined;
  if (isContended(g, mem) || ELEM_SIZE[mem.elem] < 4 || mem.scale !== ELEM_SIZE[mem.elem]) return undefined;
  if (shapeOf(g, mem.index) !== 'C') return undefined;
  const type = widen(mem.elem);
  return { op: 'binary', type, fn: fn as 'add', a: { op: 'load', type, mem }, b: value };
}

/** What changes nothing. */
export function neutralOf({ fn, mem }: Counted): number {
  const unsigned = mem.elem === 'u32';
  return NEUTRAL[fn] ?? (fn === 'min' ? (unsigned ? -1 : 2 ** 31 - 1) : unsigned ? 0 : -(2 ** 31));
}

function emitJoint(g: Gen, s: Stmt & { op: 'atomic' }): void {
  putTotal(g, s, () => pushJoint(g, s));
}

/** Changes memory by a number, which `push` pushes once. */
function putTotal(g: Gen, of: Counted, push: Push): void {
  const { f } = g;
  const total = f.temp('i32');
  push();
  f.set(total);
  put(g, of, () => f.get(total));
  f.release('i32', total);
}

/** Changes memory by a number, which `push` pushes each time. */
function put(g: Gen, { fn, mem }: Counted, push: Push): void {
  const { f } = g;
  const [address, old] = [f.temp(addressType(g)), f.temp('i32')];
  const offset = pushAddress(g, mem);
  f.set(address);
  const at: Place = { elem: mem.elem, type: widen(mem.elem), address, offset };
  if (isContended(g, mem)) contended(g, fn, at, [push], old);
  else alone(g, fn, at, [push], old);
  f.release('i32', old);
  f.release(addressType(g), address);
}

/** Whether other threads may change it at the same time. */
function isContended(g: Gen, { array }: MemRef): boolean {
  return g.variant.concurrent && array.space === 'global' && !g.own.has(array);
}

/** Changes an integer that other threads change at the same time, by a number, which `push` pushes each time. */
export function changeAtomically(
  operands: Operands,
  { fn, mem: { elem } }: Counted,
  { address, offset }: Pick<Place, 'address' | 'offset'>,
  push: Push,
): void {
  const { f } = operands;
  const old = f.temp('i32');
  contended(operands, fn, { elem, type: widen(elem), address, offset }, [push], old);
  f.release('i32', old);
}

/** Changes memory by what all lanes of a vector do together. */
export function putJoined(g: Gen, of: Counted, push: Push): void {
  putTotal(g, of, () => {
    push();
    acrossLanes(g, of);
  });
}

/** Pushes what all active lanes do together. */
function pushJoint(g: Gen, s: Stmt & { op: 'atomic' }): void {
  const { f, mask } = g;
  const value = s.args[0] as Expr;
  const same = shapeOf(g, value) === 'G' || shapeOf(g, value) === 'U';
  const counts = isSum(s);
  if (same && !(s.fn === 'xor' || (counts && mask !== null && g.lanes > 32))) {
    scalar(g, value);
    if (!counts) return;
    if (mask === null) f.i32(g.lanes);
    else {
      for (const [p, local] of mask.parts.entries()) {
        f.get(local);
        f.op('i32x4.bitmask');
        if (p === 0) continue;
        f.i32(4 * p);
        f.op('i32.shl', 'i32.or');
      }
      f.op('i32.popcnt');
    }
    f.op('i32.mul');
    return;
  }
  pushJoined(g, s);
  acrossLanes(g, s);
}

const isSum = ({ fn }: Counted): boolean => fn === 'add' || fn === 'sub';

/** Puts two vectors together. */
function join(g: Gen, of: Counted): void {
  g.f.op(joinOf(of));
}

/** What puts vectors together. */
export function joinOf(of: Counted): PlainOp {
  if (of.fn === 'min' || of.fn === 'max') return `i32x4.${of.fn}_${of.mem.elem === 'u32' ? 'u' : 's'}`;
  return isSum(of) ? 'i32x4.add' : (`v128.${of.fn}` as PlainOp);
}

/** Pushes a vector of what active lanes do: each four lanes beside the other four are put together. */
export function pushJoined(g: Gen, s: Stmt & { op: 'atomic' }): void {
  const { f, mask } = g;
  const value = s.args[0] as Expr;
  const parts = g.lanes / 4;
  if (mask !== null && isSum(s) && value.op === 'const' && Number(value.value) === 1) {
    // A lane of the mask is -1.
    for (const [p, local] of mask.parts.entries()) {
      f.get(local);
      if (p > 0) f.op('i32x4.add');
    }
    f.op('i32x4.neg');
    return;
  }
  const neutral = neutralOf(s);
  for (let p = 0; p < parts; p++) {
    evaluator(g).part(value, p);
    if (mask !== null) {
      f.v128([neutral, neutral, neutral, neutral]);
      f.get(mask.parts[p] ?? 0);
      f.op('v128.bitselect');
    }
    if (p > 0) join(g, s);
  }
}

/** Stack: a vector; what its lanes do together. */
function acrossLanes(g: Gen, of: Counted): void {
  const { f } = g;
  const joined = f.temp('v128');
  for (const by of [8, 4]) {
    f.tee(joined);
    f.get(joined, joined);
    f.shuffle(Array.from({ length: 16 }, (_, i) => (i + by) % 16));
    join(g, of);
  }
  f.lane('i32x4.extract_lane', 0);
  f.release('v128', joined);
}

/** The variable's own parts: only active lanes are replaced in them. */
function oldLanes(g: Gen, result: NonNullable<(Stmt & { op: 'atomic' })['result']>): readonly Local[] {
  const locals = varLocals(g, result);
  if (locals.length !== partCount(g, result.type)) throw new Error('internal error: parts of an atomic result');
  return locals;
}

/** An element: its address, and the type that its values have. */
interface Place {
  readonly elem: ElemType;
  readonly type: ValueType;
  readonly address: Local;
  readonly offset: number;
}

const align = ({ elem }: Place): number => Math.log2(ELEM_SIZE[elem]);

/** The instruction for elements of this size: `.load8_s`, `.rmw16.xchg_u`, `.store`. */
function sized({ elem, type }: Place, before: string, what: string, unsigned: boolean): MemoryOp {
  const bits = isWide(type) ? 'i64' : 'i32';
  const small = ELEM_SIZE[elem] < 4;
  const size = small ? String(8 * ELEM_SIZE[elem]) : '';
  const sign = small && what !== 'store' && before !== 'store' ? (unsigned || elem.startsWith('u') ? '_u' : '_s') : '';
  return (
    before === ''
      ? `${isFloat(type) ? wasmType(type) : bits}.${what}${size}${sign}`
      : `${bits}.atomic.${before}${size}${what}${sign}`
  ) as MemoryOp;
}

function alone(g: Gen, fn: AtomicOp, at: Place, args: readonly Push[], old: Local): void {
  const { f } = g;
  if (fn !== 'store') {
    f.get(at.address);
    f.memory(sized(at, '', 'load', false), align(at), at.offset);
    f.set(old);
  }
  if (fn === 'load') return;
  f.get(at.address);
  pushNew(g, fn, at.type, () => f.get(old), args);
  f.memory(sized(at, '', 'store', false), align(at), at.offset);
}

const DIRECT: Partial<Record<AtomicOp, string>> = {
  add: 'add',
  sub: 'sub',
  and: 'and',
  or: 'or',
  xor: 'xor',
  exch: 'xchg',
  cas: 'cmpxchg',
};

function contended(g: Operands, fn: AtomicOp, at: Place, args: readonly Push[], old: Local): void {
  const { f } = g;
  const { elem, type, address, offset } = at;
  const float = isFloat(type);
  const w = wasmType(type);
  const bits = isWide(type) ? 'i64' : 'i32';
  const small = ELEM_SIZE[elem] < 4;
  const toBits = (): void => {
    if (float) f.op(`${bits}.reinterpret_${w}` as PlainOp);
  };
  const fromBits = (): void => {
    if (float) f.op(`${w}.reinterpret_${bits}` as PlainOp);
    // What comes out of memory has no sign.
    else if (elem === 'i8' || elem === 'i16') f.op(elem === 'i8' ? 'i32.extend8_s' : 'i32.extend16_s');
  };
  if (fn === 'load' || fn === 'store') {
    f.get(address);
    for (const push of args) push();
    if (fn === 'store') toBits();
    f.memory(sized(at, fn, '', true), align(at), offset);
    if (fn === 'store') return;
    fromBits();
    f.set(old);
    return;
  }
  const direct = DIRECT[fn];
  if (direct !== undefined && (!float || fn === 'exch' || fn === 'cas')) {
    f.get(address);
    args.forEach((push, k) => {
      push();
      toBits();
      // What is compared is not cut to the element.
      if (small && fn === 'cas' && k === 0) {
        f.i32(2 ** (8 * ELEM_SIZE[elem]) - 1);
        f.op('i32.and');
      }
    });
    f.memory(sized(at, 'rmw', `.${direct}`, true), align(at), offset);
    fromBits();
    f.set(old);
    return;
  }
  const seen = f.temp(bits);
  f.get(address);
  f.memory(`${bits}.atomic.load`, align(at), offset);
  f.set(seen);
  const done = f.block();
  const again = f.loop();
  f.get(seen);
  fromBits();
  f.set(old);
  f.get(address, seen);
  pushNew(g, fn, type, () => f.get(old), args);
  toBits();
  f.memory(`${bits}.atomic.rmw.cmpxchg`, align(at), offset);
  const found = f.temp(bits);
  f.tee(found);
  f.get(seen);
  f.op(`${bits}.eq`);
  f.brIf(done);
  f.get(found);
  f.set(seen);
  f.br(again);
  f.end();
  f.end();
  f.release(bits, seen, found);
}

/** Pushes what the operation leaves in memory. */
function pushNew(g: Operands, fn: AtomicOp, type: ValueType, old: Push, args: readonly Push[]): void {
  const { f } = g;
  const [a = () => {}, b = () => {}] = args;
  const test = (op: 'lt' | 'gt' | 'ge' | 'eq', x: Push, y: Push): void => {
    x();
    y();
    f.op(compareOp(op, type));
  };
  const bitsOf = (x: Push): void => {
    x();
    if (isFloat(type)) f.op(type === 'f32' ? 'i32.reinterpret_f32' : 'i64.reinterpret_f64');
  };
  switch (fn) {
    case 'add':
    case 'sub':
    case 'and':
    case 'or':
    case 'xor':
      scalarBinary(g, fn, type, old, a);
      return;
    case 'exch':
    case 'store':
      a();
      return;
    case 'load':
      return;
    case 'cas':
      b();
      old();
      bitsOf(old);
      bitsOf(a);
      f.op(isWide(type) ? 'i64.eq' : 'i32.eq');
      f.op('select');
      return;
    case 'inc':
      pushConst(f, type, 0);
      plusOne(g, type, old, 'add');
      test('ge', old, a);
      f.op('select');
      return;
    case 'dec':
      a();
      plusOne(g, type, old, 'sub');
      test('eq', old, () => pushConst(f, type, 0));
      test('gt', old, a);
      f.op('i32.or', 'select');
      return;
    case 'max':
    case 'min':
    case 'nanMax':
    case 'nanMin':
      a();
      old();
      test(fn === 'max' || fn === 'nanMax' ? 'gt' : 'lt', a, old);
      if (isFloat(type) && (fn === 'nanMax' || fn === 'nanMin')) {
        old();
        old();
        f.op(compareOp('ne', type), 'i32.or');
      }
      f.op('select');
      return;
  }
}

function plusOne(g: Operands, type: ValueType, old: Push, op: 'add' | 'sub'): void {
  old();
  pushConst(g.f, type, 1);
  g.f.op(`${wasmType(type)}.${op}` as PlainOp);
}
