/**
 * Arithmetic: which instructions compute an operation on each type. The first half is what PTX says as it is (the print
 * table), the second what has to be put together (the legalise table).
 */
import type { ApproxOp, BinaryOp, CompareOp, UnaryOp, ValueType } from '../../ir/ops.ts';
import { isUnsigned } from '../../ir/ops.ts';
import type { Operand } from './code.ts';
import { type Gen, immediate, inRegister, isImmediate, isWide, needIsa, TYPES } from './gen.ts';

/** Modifiers: `.rn` keeps the assembler from contracting; `.ftz` flushes denormals. */
export function round(g: Gen, type: 'f32' | 'f64'): { readonly rn: string; readonly ftz: string } {
  return { rn: g.kernel.contract ? '' : '.rn', ftz: g.kernel.fastMath && type === 'f32' ? '.ftz' : '' };
}

// ---------------------------------------------------------------- what PTX says

/** Operations of integers that are one instruction, with the kind of type it wants. */
const INTEGER: Readonly<Partial<Record<BinaryOp, readonly [op: string, type: 'arith' | 'bits']>>> = {
  add: ['add', 'arith'],
  sub: ['sub', 'arith'],
  mul: ['mul.lo', 'arith'],
  and: ['and', 'bits'],
  or: ['or', 'bits'],
  xor: ['xor', 'bits'],
  min: ['min', 'arith'],
  max: ['max', 'arith'],
  mulhi: ['mul.hi', 'arith'],
};

/** What the hardware approximates. Denormals are flushed in every mode. */
const APPROXIMATIONS: Readonly<Record<ApproxOp, string>> = {
  exp2Approx: 'ex2.approx.ftz',
  log2Approx: 'lg2.approx.ftz',
  rcpApprox: 'rcp.approx.ftz',
  rsqrtApprox: 'rsqrt.approx.ftz',
  sqrtApprox: 'sqrt.approx.ftz',
  sinApprox: 'sin.approx.ftz',
  cosApprox: 'cos.approx.ftz',
  tanhApprox: 'tanh.approx',
};

const COMPARE: Readonly<Record<CompareOp, string>> = { eq: 'eq', ne: 'neu', lt: 'lt', le: 'le', gt: 'gt', ge: 'ge' };

export function floatCompare(g: Gen, fn: CompareOp, type: 'f32' | 'f64', a: Operand, b: Operand): Operand {
  return g.code.value('p', `setp.${COMPARE[fn]}${round(g, type).ftz}.${type}`, [a, b]);
}

export function selectOp(g: Gen, type: ValueType, cond: Operand, a: Operand, b: Operand): Operand {
  if (a === b) return a;
  if (type !== 'bool') return g.code.value(TYPES[type].reg, `selp.${TYPES[type].bits}`, [a, b, cond]);
  const not = g.code.value('p', 'not.pred', [cond]);
  const [yes, no] = [g.code.value('p', 'and.pred', [cond, a]), g.code.value('p', 'and.pred', [not, b])];
  return g.code.value('p', 'or.pred', [yes, no]);
}

export function unaryOp(g: Gen, fn: UnaryOp, type: ValueType, operand: Operand): Operand {
  if (type === 'bool') return g.code.value('p', 'not.pred', [operand]);
  const a = inRegister(g, type, operand);
  return type === 'f32' || type === 'f64' ? floatUnary(g, fn, type, a) : integerUnary(g, fn, type, a);
}

function floatUnary(g: Gen, fn: UnaryOp, type: 'f32' | 'f64', a: Operand): Operand {
  const { reg } = TYPES[type];
  const simple = (op: string): Operand => g.code.value(reg, `${op}.${type}`, [a]);
  switch (fn) {
    case 'neg':
      return simple('neg');
    case 'abs':
      return simple('abs');
    case 'sqrt':
      return simple('sqrt.rn');
    case 'floor':
      return simple(`cvt.rmi.${type}`);
    case 'ceil':
      return simple(`cvt.rpi.${type}`);
    case 'trunc':
      return simple(`cvt.rzi.${type}`);
    case 'rint':
      return simple(`cvt.rni.${type}`);
    case 'round':
      return roundHalfUp(g, type, a);
    case 'sign':
      return signOf(g, type, a);
    case 'isNaN':
      return g.code.value('p', `setp.nan.${type}`, [a, a]);
    case 'isFinite':
      return g.code.value('p', `testp.finite.${type}`, [a]);
    default:
      if (fn === 'tanhApprox') needIsa(g, 7, 0);
      return fn in APPROXIMATIONS ? simple(APPROXIMATIONS[fn as ApproxOp]) : noSuch(fn, type);
  }
}

type Integer = 'i32' | 'u32' | 'i64' | 'u64';

function integerUnary(g: Gen, fn: UnaryOp, type: Integer, a: Operand): Operand {
  const { arith, bits, reg } = TYPES[type];
  switch (fn) {
    case 'neg':
      return g.code.value(reg, `neg.${isWide(type) ? 's64' : 's32'}`, [a]);
    case 'abs':
      return isUnsigned(type) ? a : g.code.value(reg, `abs.${arith}`, [a]);
    case 'not':
      return g.code.value(reg, `not.${bits}`, [a]);
    case 'sign':
      return signOfInteger(g, type, a);
    default:
      return noSuch(fn, type);
  }
}

export function binaryOp(g: Gen, fn: BinaryOp, type: ValueType, a: Operand, b: Operand): Operand {
  switch (type) {
    case 'bool':
      return g.code.value('p', `${fn}.pred`, [a, b]);
    case 'f32':
    case 'f64':
      return floatBinary(g, fn, type, a, b);
    default:
      return integerBinary(g, fn, type, a, b);
  }
}

function integerBinary(g: Gen, fn: BinaryOp, type: Integer, a: Operand, b: Operand): Operand {
  const one = INTEGER[fn];
  if (one) return g.code.value(TYPES[type].reg, `${one[0]}.${TYPES[type][one[1]]}`, [a, b]);
  switch (fn) {
    case 'shl':
    case 'shr':
      return shift(g, fn, type, a, b);
    case 'div':
      return quotient(g, type, a, b);
    case 'rem':
      return remainder(g, type, a, b);
    case 'floordiv':
      return isUnsigned(type) ? quotient(g, type, a, b) : floorQuotient(g, type, a, b);
    case 'ipow':
      return power(g, type, a, b);
    default:
      return noSuch(fn, type);
  }
}

function floatBinary(g: Gen, fn: BinaryOp, type: 'f32' | 'f64', a: Operand, b: Operand): Operand {
  const { rn, ftz } = round(g, type);
  const simple = (op: string, x = a, y = b): Operand => g.code.value(TYPES[type].reg, `${op}.${type}`, [x, y]);
  switch (fn) {
    case 'add':
    case 'sub':
    case 'mul':
      return simple(`${fn}${rn}${ftz}`);
    case 'div':
      return simple('div.rn');
    case 'divApprox':
      return simple('div.approx.ftz');
    case 'fmin':
      return simple(`min${ftz}`);
    case 'fmax':
      return simple(`max${ftz}`);
    case 'min':
    case 'max':
      return nanWins(g, fn, type, a, b);
    case 'copysign':
      // PTX names the sign's operand first.
      return simple('copysign', b, a);
    case 'rem':
      return floatRemainder(g, type, a, b);
    default:
      return noSuch(fn, type);
  }
}

// ---------------------------------------------------------------- what has to be put together: floats

/** JavaScript's minimum: NaN if either is. */
function nanWins(g: Gen, fn: 'min' | 'max', type: 'f32' | 'f64', a: Operand, b: Operand): Operand {
  const { reg } = TYPES[type];
  const { ftz } = round(g, type);
  if (type === 'f32' && g.target.capability >= 80) {
    needIsa(g, 7, 0);
    return g.code.value(reg, `${fn}${ftz}.NaN.${type}`, [a, b]);
  }
  const plain = g.code.value(reg, `${fn}${ftz}.${type}`, [a, b]);
  const unordered = g.code.value('p', `setp.nan.${type}`, [a, b]);
  return g.code.value(reg, `selp.${type}`, [immediate(type, Number.NaN), plain, unordered]);
}

/** Half up: down, and one up again where at least a half was lost. The sign is the operand's, also of a zero. */
function roundHalfUp(g: Gen, type: 'f32' | 'f64', a: Operand): Operand {
  const { reg } = TYPES[type];
  const down = g.code.value(reg, `cvt.rmi.${type}.${type}`, [a]);
  const lost = g.code.value(reg, `sub.rn.${type}`, [a, down]);
  const half = g.code.value('p', `setp.ge.${type}`, [lost, immediate(type, 0.5)]);
  const step = g.code.value(reg, `selp.${type}`, [immediate(type, 1), immediate(type, 0), half]);
  return g.code.value(reg, `copysign.${type}`, [a, g.code.value(reg, `add.rn.${type}`, [down, step])]);
}

function signOf(g: Gen, type: 'f32' | 'f64', a: Operand): Operand {
  const { reg } = TYPES[type];
  const zero = immediate(type, 0);
  const above = g.code.value('p', `setp.gt.${type}`, [a, zero]);
  const below = g.code.value('p', `setp.lt.${type}`, [a, zero]);
  const upper = g.code.value(reg, `selp.${type}`, [immediate(type, 1), a, above]);
  return g.code.value(reg, `selp.${type}`, [immediate(type, -1), upper, below]);
}

/**
 * The remainder of a truncating division, exact. Where the quotient is an exact integer, at most one too large, one fma gives it;
 * beyond that the divisor, doubled as far as it goes, is taken off again and again.
 */
function floatRemainder(g: Gen, type: 'f32' | 'f64', x: Operand, y: Operand): Operand {
  const { code } = g;
  const { reg } = TYPES[type];
  const bits = (value: number): string => immediate(type, value);
  const [rest, p, done, slow] = [code.reg(reg), code.reg('p'), code.label(), code.label()];
  const [signed, ax, ay] = [inRegister(g, type, x), unaryOp(g, 'abs', type, x), unaryOp(g, 'abs', type, y)];
  const [valid, finite] = [code.reg('p'), code.reg('p')];
  code.emit(`mov.${type} ${rest}, ${bits(Number.NaN)}`);
  code.emit(`setp.gt.${type} ${valid}, ${ay}, ${bits(0)}`);
  code.emit(`setp.lt.and.${type} ${finite}, ${ax}, ${bits(Number.POSITIVE_INFINITY)}, ${valid}`);
  code.emit(`@!${finite} bra ${done}`);
  code.emit(`mov.${type} ${rest}, ${ax}`);
  code.emit(`setp.lt.${type} ${p}, ${ax}, ${ay}`);
  code.emit(`@${p} bra ${done}`);
  const [quotient, more] = [code.reg(reg), code.reg(reg)];
  code.emit(`div.rn.${type} ${quotient}, ${ax}, ${ay}`);
  code.emit(`setp.ge.${type} ${p}, ${quotient}, ${bits(type === 'f32' ? 2 ** 23 : 2 ** 52)}`);
  code.emit(`@${p} bra ${slow}`);
  code.emit(`cvt.rzi.${type}.${type} ${quotient}, ${quotient}`);
  code.emit(`neg.${type} ${quotient}, ${quotient}`);
  code.emit(`fma.rn.${type} ${rest}, ${quotient}, ${ay}, ${ax}`);
  code.emit(`add.rn.${type} ${more}, ${rest}, ${ay}`);
  code.emit(`setp.lt.${type} ${p}, ${rest}, ${bits(0)}`);
  code.emit(`selp.${type} ${rest}, ${more}, ${rest}, ${p}`);
  code.emit(`bra ${done}`);
  code.place(slow);
  slowRemainder(g, type, rest, ax, ay);
  code.place(done);
  const result = code.reg(reg);
  code.emit(`copysign.${type} ${result}, ${signed}, ${rest}`);
  return result;
}

/** Takes multiples of `ay` by powers of two off `rest`, which holds `ax`, until it is below `ay`. */
function slowRemainder(g: Gen, type: 'f32' | 'f64', rest: Operand, ax: Operand, ay: Operand): void {
  const { code } = g;
  const [step, half] = [code.reg(TYPES[type].reg), code.reg(TYPES[type].reg)];
  const [p, top, down, skip] = [code.reg('p'), code.label(), code.label(), code.label()];
  code.emit(`mov.${type} ${step}, ${ay}`);
  code.emit(`mul.rn.${type} ${half}, ${ax}, ${immediate(type, 0.5)}`);
  code.place(top);
  code.emit(`add.rn.${type} ${step}, ${step}, ${step}`);
  code.emit(`setp.le.${type} ${p}, ${step}, ${half}`);
  code.emit(`@${p} bra ${top}`);
  code.place(down);
  code.emit(`setp.lt.${type} ${p}, ${rest}, ${step}`);
  code.emit(`@${p} bra ${skip}`);
  code.emit(`sub.rn.${type} ${rest}, ${rest}, ${step}`);
  code.place(skip);
  code.emit(`setp.gt.${type} ${p}, ${step}, ${ay}`);
  code.emit(`mul.rn.${type} ${step}, ${step}, ${immediate(type, 0.5)}`);
  code.emit(`@${p} bra ${down}`);
}

// ---------------------------------------------------------------- what has to be put together: integers

function signOfInteger(g: Gen, type: Integer, a: Operand): Operand {
  const { arith, bits, reg } = TYPES[type];
  const above = g.code.value('p', `setp.ne.${bits}`, [a, '0']);
  const one = g.code.value(reg, `selp.${bits}`, ['1', '0', above]);
  if (isUnsigned(type)) return one;
  const below = g.code.value('p', `setp.lt.${arith}`, [a, '0']);
  return g.code.value(reg, `selp.${bits}`, ['-1', one, below]);
}

/** PTX shifts by counts beyond the width as far as that; here they are taken modulo it. */
function shift(g: Gen, fn: 'shl' | 'shr', type: Integer, a: Operand, b: Operand): Operand {
  const { arith, bits, reg } = TYPES[type];
  const op = `${fn}.${fn === 'shl' ? bits : arith}`;
  const most = isWide(type) ? 63 : 31;
  if (isImmediate(b)) return g.code.value(reg, op, [a, String(Number(BigInt(b) & BigInt(most)))]);
  const low = isWide(type) ? g.code.value('r', 'cvt.u32.u64', [b]) : b;
  return g.code.value(reg, op, [a, g.code.value('r', 'and.b32', [low, String(most)])]);
}

/** Whether a divisor may be zero. */
function mayBeZero(b: Operand): boolean {
  return !isImmediate(b) || BigInt(b) === 0n;
}

/** The divisor, or 1 in place of 0; and whether it was 0. */
function safeDivisor(g: Gen, type: Integer, b: Operand): readonly [divisor: Operand, zero: Operand] {
  const { bits, reg } = TYPES[type];
  const zero = g.code.value('p', `setp.eq.${bits}`, [b, '0']);
  return [g.code.value(reg, `selp.${bits}`, ['1', b, zero]), zero];
}

/** Division by 0 is 0. PTX leaves it open, but does not trap. */
function quotient(g: Gen, type: Integer, a: Operand, b: Operand): Operand {
  const { arith, bits, reg } = TYPES[type];
  if (!mayBeZero(b)) return g.code.value(reg, `div.${arith}`, [a, b]);
  const zero = g.code.value('p', `setp.eq.${bits}`, [b, '0']);
  return g.code.value(reg, `selp.${bits}`, ['0', g.code.value(reg, `div.${arith}`, [a, b]), zero]);
}

function remainder(g: Gen, type: Integer, a: Operand, b: Operand): Operand {
  const { arith, bits, reg } = TYPES[type];
  if (!mayBeZero(b)) return g.code.value(reg, `rem.${arith}`, [a, b]);
  const zero = g.code.value('p', `setp.eq.${bits}`, [b, '0']);
  return g.code.value(reg, `selp.${bits}`, ['0', g.code.value(reg, `rem.${arith}`, [a, b]), zero]);
}

/** One less than the truncated quotient where something remains and the signs differ. */
function floorQuotient(g: Gen, type: Integer, a: Operand, b: Operand): Operand {
  const { arith, bits, reg } = TYPES[type];
  const [divisor, zero] = mayBeZero(b) ? safeDivisor(g, type, b) : [b, undefined];
  const q = g.code.value(reg, `div.${arith}`, [a, divisor]);
  const product = g.code.value(reg, `mul.lo.${arith}`, [q, divisor]);
  const rest = g.code.value(reg, `sub.${arith}`, [a, product]);
  const signs = g.code.value(reg, `xor.${bits}`, [rest, divisor]);
  const differ = g.code.value('p', `setp.lt.${arith}`, [signs, '0']);
  const remains = g.code.value('p', `setp.ne.${bits}`, [rest, '0']);
  const less = g.code.value(reg, `sub.${arith}`, [q, '1']);
  const floor = g.code.value(reg, `selp.${bits}`, [less, q, g.code.value('p', 'and.pred', [differ, remains])]);
  return zero === undefined ? floor : g.code.value(reg, `selp.${bits}`, ['0', floor, zero]);
}

/** By squaring. Negative exponents give 0. */
function power(g: Gen, type: Integer, a: Operand, b: Operand): Operand {
  if (isImmediate(b) && BigInt(b) >= 0n && BigInt(b) < 64n) return constantPower(g, type, a, Number(BigInt(b)));
  const { code } = g;
  const { arith, bits, reg } = TYPES[type];
  const [result, square, exponent, bit, p] = [
    code.reg(reg),
    code.reg(reg),
    code.reg(reg),
    code.reg(reg),
    code.reg('p'),
  ];
  const [top, skip, done] = [code.label(), code.label(), code.label()];
  code.emit(`mov.${bits} ${square}, ${a}`);
  code.emit(`mov.${bits} ${exponent}, ${b}`);
  if (isUnsigned(type)) code.emit(`mov.${bits} ${result}, 1`);
  else {
    code.emit(`setp.lt.${arith} ${p}, ${exponent}, 0`);
    code.emit(`selp.${bits} ${result}, 0, 1, ${p}`);
    code.emit(`@${p} bra ${done}`);
  }
  code.place(top);
  code.emit(`and.${bits} ${bit}, ${exponent}, 1`);
  code.emit(`setp.eq.${bits} ${p}, ${bit}, 0`);
  code.emit(`@${p} bra ${skip}`);
  code.emit(`mul.lo.${arith} ${result}, ${result}, ${square}`);
  code.place(skip);
  code.emit(`mul.lo.${arith} ${square}, ${square}, ${square}`);
  code.emit(`shr.${isWide(type) ? 'u64' : 'u32'} ${exponent}, ${exponent}, 1`);
  code.emit(`setp.ne.${bits} ${p}, ${exponent}, 0`);
  code.emit(`@${p} bra ${top}`);
  code.place(done);
  return result;
}

function constantPower(g: Gen, type: Integer, a: Operand, exponent: number): Operand {
  const { arith, reg } = TYPES[type];
  let result: Operand | undefined;
  let square = a;
  for (let e = exponent; e > 0; e >>= 1) {
    if (e & 1) result = result === undefined ? square : g.code.value(reg, `mul.lo.${arith}`, [result, square]);
    if (e > 1) square = g.code.value(reg, `mul.lo.${arith}`, [square, square]);
  }
  return result ?? '1';
}

function noSuch(fn: string, type: string): never {
  throw new Error(`internal error: there is no ${fn} of ${type}`);
}
