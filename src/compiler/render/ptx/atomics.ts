/**
 * Atomic operations: PTX's own where it has one, otherwise a loop around compare-and-exchange; of bytes and halves, around that of the word
 * that they are in.
 *
 * Orders are PTX's own from sm_70 on, where one instruction does the operation; else they are fences beside it.
 */
import { type BinaryOp, ELEM_SIZE, type MemoryScope, type Stmt, type ValueType, widen } from '../../ir/ops.ts';
import { fencesAround } from '../../ir/orders.ts';
import { binaryOp, floatCompare, selectOp, unaryOp } from './arithmetic.ts';
import type { Operand } from './code.ts';
import { allChanged, type Gen, inRegister, isWide, needIsa, TYPES, writeVar } from './gen.ts';
import { type Address, addressOf } from './memory.ts';
import { toNarrow, widenNarrow } from './narrow.ts';

type Atomic = Stmt & { op: 'atomic' };

const SCOPES = { block: 'cta', device: 'gpu', system: 'sys' } as const;

export function emitAtomic(g: Gen, s: Atomic): void {
  const type = widen(s.mem.elem);
  const args = s.args.map((a) => inRegister(g, type, g.value(a)));
  const at = addressOf(g, s.mem);
  const ordered = s.order !== undefined && isOne(g, s, type) && g.target.capability >= 70;
  const { before, after } = fencesAround(s);
  if (before && !ordered) emitFence(g, before);
  if (ordered && s.order === 'seq_cst') g.code.emit(`fence.sc.${SCOPES[s.scope ?? 'device']}`);
  const { elem } = s.mem;
  const old =
    elem === 'f16' || elem === 'bf16'
      ? addHalf(g, s, elem, at, args, ordered)
      : ELEM_SIZE[elem] < 4
        ? small(g, s, at, args, ordered)
        : atomically(g, s, type, at, args, ordered);
  if (after && !ordered) emitFence(g, after);
  allChanged(g);
  if (s.result && old !== undefined) writeVar(g, s.result, old);
}

export function emitFence(g: Gen, scope: MemoryScope): void {
  g.code.emit(`membar.${{ block: 'cta', device: 'gl', system: 'sys' }[scope]}`);
}

/** Whether one instruction does it. */
function isOne(g: Gen, { fn, mem }: Atomic, type: ValueType): boolean {
  if (fn === 'load' || fn === 'store') return true;
  if (mem.elem === 'f16' || mem.elem === 'bf16') return true;
  return ELEM_SIZE[mem.elem] >= 4 && (fn === 'cas' || nativeOp(g, fn, type) !== undefined);
}

/** Order and scope as instructions have them; nothing is relaxed, on the device. */
function meaning(g: Gen, { fn, order, scope }: Atomic, ordered: boolean): string {
  const threads = scope === undefined || g.target.capability < 60 ? '' : `.${SCOPES[scope]}`;
  if (threads !== '') needIsa(g, 5, 0);
  if (!ordered) return threads;
  needIsa(g, 6, 0);
  const strict = fn === 'load' ? 'acquire' : fn === 'store' ? 'release' : 'acq_rel';
  return `.${order === 'seq_cst' ? strict : order}${threads === '' ? '.gpu' : threads}`;
}

/** The old value, where it is asked for or comes for nothing. */
function atomically(
  g: Gen,
  s: Atomic,
  type: ValueType,
  at: Address,
  args: readonly Operand[],
  ordered: boolean,
): Operand | undefined {
  const how = meaning(g, s, ordered);
  const size = isWide(type) || type === 'f64' ? 'b64' : 'b32';
  if (s.fn === 'load') return loaded(g, s, at, size, how, type);
  const [a = ''] = args;
  if (s.fn === 'store') {
    g.code.emit(`st${access(g, how)}.${at.space}.${size} ${at.text}, ${asBits(g, type, a)}`);
    return undefined;
  }
  const native = nativeOp(g, s.fn, type);
  if (native !== undefined) {
    const operand = s.fn === 'sub' ? unaryOp(g, 'neg', type, a) : a;
    if (s.fn === 'exch' || s.result !== undefined) return returned(g, type, how, native, at, [operand]);
    // A reduction knows no acquire: nothing is read.
    if (ordered && s.order !== 'release') return returned(g, type, how, native, at, [operand]);
    g.code.emit(`red${how}.${at.space}.${native} ${at.text}, ${operand}`);
    return undefined;
  }
  if (s.fn === 'cas') return returned(g, type, how, `cas.${size}`, at, args);
  return compareLoop(g, s, type, at, args, how);
}

/** A strong load or store: before sm_70 `volatile` is what comes closest. */
function access(g: Gen, how: string): string {
  if (g.target.capability < 70) return '.volatile';
  needIsa(g, 6, 0);
  if (how === '') return '.relaxed.gpu';
  return /^\.(cta|gpu|sys)$/.test(how) ? `.relaxed${how}` : how;
}

function loaded(g: Gen, s: Atomic, at: Address, size: string, how: string, type: ValueType): Operand | undefined {
  // Without a result it is its order that counts.
  if (s.result === undefined && s.order === undefined) return undefined;
  const bits = g.code.reg(size === 'b64' ? 'rd' : 'r');
  g.code.emit(`ld${access(g, how)}.${at.space}.${size} ${bits}, ${at.text}`);
  return fromBits(g, type, bits);
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
function returned(g: Gen, type: ValueType, how: string, op: string, at: Address, args: readonly Operand[]): Operand {
  const bitwise = op.endsWith('.b32') || op.endsWith('.b64');
  const operands = bitwise ? args.map((a) => asBits(g, type, a)) : args;
  const asBitsOf = bitwise && (type === 'f32' || type === 'f64');
  const old = g.code.reg(asBitsOf ? (type === 'f32' ? 'r' : 'rd') : TYPES[type].reg);
  g.code.emit(`atom${how}.${at.space}.${op} ${old}, ${at.text}, ${operands.join(', ')}`);
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
function compareLoop(g: Gen, s: Atomic, type: ValueType, at: Address, args: readonly Operand[], how: string): Operand {
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
    code.emit(`atom${how}.${at.space}.cas.${size} ${found}, ${at.text}, ${seen}, ${bits}`);
    code.emit(`setp.eq.${size} ${stop}, ${found}, ${seen}`);
    code.emit(`mov.${size} ${seen}, ${found}`);
    code.emit(`@!${stop} bra ${again}`);
  });
  code.place(done);
  return fromBits(g, type, seen);
}

/** A sum of halves, which is all that there is of them (ir/passes/narrow-atomics.ts). */
function addHalf(
  g: Gen,
  s: Atomic,
  elem: 'f16' | 'bf16',
  at: Address,
  [a = '']: readonly Operand[],
  ordered: boolean,
): Operand | undefined {
  if (elem === 'f16') needIsa(g, 6, 3);
  else needIsa(g, 7, 8);
  const operand = toNarrow(g, elem, 'f32', a);
  const how = `${meaning(g, s, ordered)}.${at.space}.add.noftz.${elem}`;
  if (s.result === undefined && (!ordered || s.order === 'release')) {
    g.code.emit(`red${how} ${at.text}, ${operand}`);
    return undefined;
  }
  const old = g.code.reg('h');
  g.code.emit(`atom${how} ${old}, ${at.text}, ${operand}`);
  return widenNarrow(g, elem, old);
}

/** An element of 8 or 16 bits. What else is in its word stays: where another thread changes that meanwhile, the exchange is tried again. */
function small(g: Gen, s: Atomic, at: Address, args: readonly Operand[], ordered: boolean): Operand | undefined {
  const { code } = g;
  const { elem } = s.mem;
  const how = meaning(g, s, ordered);
  const bits = 8 * ELEM_SIZE[elem];
  const signed = elem === 'i8' || elem === 'i16';
  const [a = '', b = ''] = args;
  if (s.fn === 'load') return loaded(g, s, at, `${signed ? 's' : 'u'}${bits}`, how, 'i32');
  if (s.fn === 'store') {
    code.emit(`st${access(g, how)}.${at.space}.u${bits} ${at.text}, ${a}`);
    return undefined;
  }
  const wide = at.space !== 'shared';
  const [, start = '', disp = '0'] = /^\[(.+?)(?:\+(-?\d+))?\]$/.exec(at.text) ?? [];
  const [reg, type] = wide ? (['rd', '64'] as const) : (['r', '32'] as const);
  const base = start.startsWith('%') ? start : code.value(reg, `mov.u${type}`, [start]);
  const place = disp === '0' ? base : code.value(reg, `add.s${type}`, [base, disp]);
  const word = `[${code.value(reg, `and.b${type}`, [place, '-4'])}]`;
  const low = wide ? code.value('r', 'cvt.u32.u64', [place]) : place;
  const shift = code.value('r', 'shl.b32', [code.value('r', 'and.b32', [low, '3']), '3']);
  const seen = code.reg('r');
  const old = code.reg('r');
  const [again, done] = [code.label(), code.label()];
  const stop = code.reg('p');
  code.emit(`ld.volatile.${at.space}.b32 ${seen}, ${word}`);
  code.place(again);
  code.scoped(() => {
    code.emit(`bfe.${signed ? 's' : 'u'}32 ${old}, ${seen}, ${shift}, ${bits}`);
    if (s.fn === 'cas') code.emit(`@${code.value('p', 'setp.ne.b32', [old, a])} bra ${done}`);
    const next = code.value('r', 'bfi.b32', [s.fn === 'cas' ? b : a, seen, shift, String(bits)]);
    const found = code.reg('r');
    code.emit(`atom${how}.${at.space}.cas.b32 ${found}, ${word}, ${seen}, ${next}`);
    code.emit(`setp.eq.b32 ${stop}, ${found}, ${seen}`);
    code.emit(`mov.b32 ${seen}, ${found}`);
    code.emit(`@!${stop} bra ${again}`);
  });
  code.place(done);
  return old;
}

interface Update {
  readonly result: Operand;
  /** Where it is false, memory stays as it is. */
  readonly changes?: Operand;
}

/** What an operation leaves in memory. */
function updated(g: Gen, fn: Atomic['fn'], type: ValueType, old: Operand, args: readonly Operand[]): Update {
  const [a = ''] = args;
  const compare = (how: 'eq' | 'lt' | 'gt' | 'ge', x: Operand, y: Operand): Operand =>
    type === 'f32' || type === 'f64'
      ? floatCompare(g, how, type, x, y)
      : g.code.value('p', `setp.${how}.${how === 'eq' ? TYPES[type].bits : TYPES[type].arith}`, [x, y]);
  switch (fn) {
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
      return { result: binaryOp(g, fn as BinaryOp, type, old, a) };
  }
}
