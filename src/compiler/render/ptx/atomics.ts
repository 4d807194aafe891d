/**
 * Atomic read-modify-writes: PTX's own where it has one, otherwise a loop around compare-and-exchange.
 */
import type { Stmt, ValueType } from '../../ir/ops.ts';
import { binaryOp, floatCompare, selectOp, unaryOp } from './arithmetic.ts';
import type { Operand } from './code.ts';
import { allChanged, type Gen, inRegister, isWide, TYPES, writeVar } from './gen.ts';
import { type Address, addressOf } from './memory.ts';

type Atomic = Stmt & { op: 'atomic' };

export function emitAtomic(g: Gen, s: Atomic): void {
  const type = s.mem.elem as ValueType;
  const args = s.args.map((a) => inRegister(g, type, g.value(a)));
  const at = addressOf(g, s.mem);
  const old = atomically(g, s, type, at, args);
  allChanged(g);
  if (s.result && old !== undefined) writeVar(g, s.result, old);
}

/** The old value, where it is asked for or comes for nothing. */
function atomically(g: Gen, s: Atomic, type: ValueType, at: Address, args: readonly Operand[]): Operand | undefined {
  const [a = '', b = ''] = args;
  const native = nativeOp(g, s.fn, type);
  if (native !== undefined) {
    const operand = s.fn === 'sub' ? unaryOp(g, 'neg', type, a) : a;
    if (s.fn === 'exch' || s.result !== undefined) return returned(g, type, native, at, [operand]);
    g.code.emit(`red.${at.space}.${native} ${at.text}, ${operand}`);
    return undefined;
  }
  if (s.fn === 'cas' && type !== 'f32' && type !== 'f64')
    return returned(g, type, `cas.${TYPES[type].bits}`, at, [a, b]);
  return compareLoop(g, s, type, at, args);
}

/** PTX's name of an operation on a type, if it has it. */
function nativeOp(g: Gen, fn: Atomic['fn'], type: ValueType): string | undefined {
  const float = type === 'f32' || type === 'f64';
  const size = isWide(type) || type === 'f64' ? 'b64' : 'b32';
  switch (fn) {
    case 'add':
    case 'sub':
      if (type === 'f64' && g.target.capability < 60) return undefined;
      return float ? `add.${type}` : isWide(type) ? 'add.u64' : `add.${TYPES[type].arith}`;
    case 'and':
    case 'or':
    case 'xor':
      return `${fn}.${size}`;
    case 'exch':
      return `exch.${size}`;
    case 'min':
    case 'max':
      return float ? undefined : `${fn}.${TYPES[type].arith}`;
    case 'inc':
    case 'dec':
      return type === 'u32' ? `${fn}.u32` : undefined;
    default:
      return undefined;
  }
}

/** An `atom` with its result. Floats go as their bits where the operation takes no numbers. */
function returned(g: Gen, type: ValueType, op: string, at: Address, args: readonly Operand[]): Operand {
  const bitwise = op.endsWith('.b32') || op.endsWith('.b64');
  const operands = bitwise ? args.map((a) => asBits(g, type, a)) : args;
  const asBitsOf = bitwise && (type === 'f32' || type === 'f64');
  const old = g.code.reg(asBitsOf ? (type === 'f32' ? 'r' : 'rd') : TYPES[type].reg);
  g.code.emit(`atom.${at.space}.${op} ${old}, ${at.text}, ${operands.join(', ')}`);
  return asBitsOf ? fromBits(g, type, old) : old;
}

function asBits(g: Gen, type: ValueType, a: Operand): Operand {
  if (type === 'f32') return g.code.value('r', 'mov.b32', [a]);
  return type === 'f64' ? g.code.value('rd', 'mov.b64', [a]) : a;
}

function fromBits(g: Gen, type: ValueType, a: Operand): Operand {
  if (type === 'f32') return g.code.value('f', 'mov.b32', [a]);
  return type === 'f64' ? g.code.value('fd', 'mov.b64', [a]) : a;
}

/** Reads, computes, and exchanges if nobody was faster; otherwise again, with what that one left. */
function compareLoop(g: Gen, s: Atomic, type: ValueType, at: Address, args: readonly Operand[]): Operand {
  const { code } = g;
  const wide = isWide(type) || type === 'f64';
  const [size, reg] = wide ? (['b64', 'rd'] as const) : (['b32', 'r'] as const);
  const seen = code.reg(reg);
  const [again, done] = [code.label(), code.label()];
  const stop = code.reg('p');
  code.emit(`ld.volatile.${at.space}.${size} ${seen}, ${at.text}`);
  code.place(again);
  code.scoped(() => {
    const old = type === 'f32' || type === 'f64' ? code.reg(TYPES[type].reg) : seen;
    if (old !== seen) code.emit(`mov.${size} ${old}, ${seen}`);
    const { result, changes } = updated(g, s.fn, type, old, args);
    if (changes !== undefined) code.emit(`@!${changes} bra ${done}`);
    const bits = asBits(g, type, result);
    const found = code.reg(reg);
    code.emit(`atom.${at.space}.cas.${size} ${found}, ${at.text}, ${seen}, ${bits}`);
    code.emit(`setp.eq.${size} ${stop}, ${found}, ${seen}`);
    code.emit(`mov.${size} ${seen}, ${found}`);
    code.emit(`@!${stop} bra ${again}`);
  });
  code.place(done);
  return fromBits(g, type, seen);
}

interface Update {
  readonly result: Operand;
  /** Where it is false, memory stays as it is. */
  readonly changes?: Operand;
}

/** What an operation leaves in memory. */
function updated(g: Gen, fn: Atomic['fn'], type: ValueType, old: Operand, args: readonly Operand[]): Update {
  const [a = '', b = ''] = args;
  const compare = (how: 'eq' | 'lt' | 'gt' | 'ge', x: Operand, y: Operand): Operand =>
    type === 'f32' || type === 'f64'
      ? floatCompare(g, how, type, x, y)
      : g.code.value('p', `setp.${how}.${how === 'eq' ? TYPES[type].bits : TYPES[type].arith}`, [x, y]);
  switch (fn) {
    case 'exch':
      return { result: a };
    case 'cas':
      return { result: b, changes: compare('eq', old, a) };
    case 'inc':
      return { result: selectOp(g, type, compare('ge', old, a), '0', binaryOp(g, 'add', type, old, '1')) };
    case 'dec': {
      const less = binaryOp(g, 'sub', type, old, '1');
      const above = g.code.value('p', 'or.pred', [compare('gt', old, a), compare('eq', old, '0')]);
      return { result: selectOp(g, type, above, a, less) };
    }
    case 'max':
    case 'min':
      return { result: a, changes: compare(fn === 'max' ? 'gt' : 'lt', a, old) };
    case 'nanMax':
    case 'nanMin': {
      const better = compare(fn === 'nanMax' ? 'gt' : 'lt', a, old);
      if (type !== 'f32' && type !== 'f64') return { result: a, changes: better };
      const [bad, good] = [
        g.code.value('p', `setp.nan.${type}`, [old, old]),
        g.code.value('p', `setp.num.${type}`, [a, a]),
      ];
      const replaced = g.code.value('p', 'and.pred', [bad, good]);
      return { result: a, changes: g.code.value('p', 'or.pred', [better, replaced]) };
    }
    default:
      return { result: binaryOp(g, fn, type, old, a) };
  }
}
