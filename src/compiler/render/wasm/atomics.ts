/**
 * Atomic read-modify-write operations, lane by lane in lane order.
 *
 * Shared and local memory belongs to one worker, and so does global memory while a launch runs on one thread: plain loads
 * and stores do. Otherwise they are WebAssembly's atomic instructions, or a compare-and-exchange loop where it has none.
 */
import { type AtomicOp, ELEM_SIZE, isFloat, type Stmt, type ValueType, widen } from '../../ir/ops.ts';
import { withAddresses } from './address.ts';
import type { Local } from './assembler.ts';
import { laneByLaneOperand } from './convert.ts';
import { evaluator } from './expr.ts';
import { addressType, type Gen, isWide, partCount, varLocals, varShape, wasmType } from './gen.ts';
import { forActiveLanes } from './memory.ts';
import type { MemoryOp, PlainOp } from './opcodes.ts';
import { compareOp, type Push, pushConst, scalarBinary } from './scalar.ts';
import { replaceLane } from './vector.ts';

export function emitAtomic(g: Gen, s: Stmt & { op: 'atomic' }): void {
  const { f } = g;
  const type = widen(s.mem.elem);
  const w = wasmType(type);
  const concurrent = g.variant.concurrent && s.mem.array.space === 'global';
  const perPart = isWide(type) ? 2 : 4;
  const result = s.result;
  const temps: Local[] = [];
  withAddresses(g, s.mem, (where) => {
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
      if (concurrent) contended(g, s.fn, type, address, offset, operands, old);
      else alone(g, s.fn, type, address, offset, operands, old);
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
  });
  f.release('v128', ...temps);
}

/** The variable's own parts: only active lanes are replaced in them. */
function oldLanes(g: Gen, result: NonNullable<(Stmt & { op: 'atomic' })['result']>): readonly Local[] {
  const locals = varLocals(g, result);
  if (locals.length !== partCount(g, result.type)) throw new Error('internal error: parts of an atomic result');
  return locals;
}

const align = (type: ValueType): number => (isWide(type) ? 3 : 2);

function alone(
  g: Gen,
  fn: AtomicOp,
  type: ValueType,
  address: Local,
  offset: number,
  args: readonly Push[],
  old: Local,
): void {
  const { f } = g;
  const w = wasmType(type);
  f.get(address);
  f.memory(`${w}.load`, align(type), offset);
  f.set(old);
  f.get(address);
  pushNew(g, fn, type, () => f.get(old), args);
  f.memory(`${w}.store`, align(type), offset);
}

const DIRECT: Partial<Record<AtomicOp, string>> = {
  add: 'add',
  sub: 'sub',
  and: 'and',
  or: 'or',
  xor: 'xor',
  exch: 'xchg',
};

function contended(
  g: Gen,
  fn: AtomicOp,
  type: ValueType,
  address: Local,
  offset: number,
  args: readonly Push[],
  old: Local,
): void {
  const { f } = g;
  const float = isFloat(type);
  const w = wasmType(type);
  const bits = isWide(type) ? 'i64' : 'i32';
  const direct = DIRECT[fn];
  const toBits = (): void => {
    if (float) f.op(`${bits}.reinterpret_${w}` as PlainOp);
  };
  const fromBits = (): void => {
    if (float) f.op(`${w}.reinterpret_${bits}` as PlainOp);
  };
  const [a = () => {}, b = () => {}] = args;
  if (direct !== undefined && (!float || fn === 'exch')) {
    f.get(address);
    a();
    toBits();
    f.memory(`${bits}.atomic.rmw.${direct}` as MemoryOp, align(type), offset);
    fromBits();
    f.set(old);
    return;
  }
  if (fn === 'cas' && !float) {
    f.get(address);
    a();
    b();
    f.memory(`${bits}.atomic.rmw.cmpxchg`, align(type), offset);
    f.set(old);
    return;
  }
  const seen = f.temp(bits);
  f.get(address);
  f.memory(`${bits}.atomic.load`, align(type), offset);
  f.set(seen);
  const done = f.block();
  const again = f.loop();
  f.get(seen);
  fromBits();
  f.set(old);
  f.get(address, seen);
  pushNew(g, fn, type, () => f.get(old), args);
  toBits();
  f.memory(`${bits}.atomic.rmw.cmpxchg`, align(type), offset);
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
function pushNew(g: Gen, fn: AtomicOp, type: ValueType, old: Push, args: readonly Push[]): void {
  const { f } = g;
  const [a = () => {}, b = () => {}] = args;
  const test = (op: 'lt' | 'gt' | 'ge' | 'eq', x: Push, y: Push): void => {
    x();
    y();
    f.op(compareOp(op, type));
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
      a();
      return;
    case 'cas':
      b();
      old();
      test('eq', old, a);
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

function plusOne(g: Gen, type: ValueType, old: Push, op: 'add' | 'sub'): void {
  old();
  pushConst(g.f, type, 1);
  g.f.op(`${wasmType(type)}.${op}` as PlainOp);
}
