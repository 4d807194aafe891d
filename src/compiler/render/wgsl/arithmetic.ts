/**
 * Arithmetic: what WGSL says as it is, and what goes through a function of the text.
 *
 * Whether a float is NaN is asked of its bits: WGSL lets compilers assume that there is none.
 */
import type { BinaryOp, CompareOp, Expr, UnaryOp, ValueType } from '../../ir/ops.ts';
import { isFloat } from '../../ir/ops.ts';
import { call, define, type Gen, isWide, nothing, type Print, typeOf } from './code.ts';
import { operandOf } from './constants.ts';
import { productOf, sumOf } from './sums.ts';
import { type WideName, wide } from './words.ts';

const INFIX: Readonly<Partial<Record<BinaryOp, string>>> = {
  add: '+',
  sub: '-',
  mul: '*',
  and: '&',
  or: '|',
  xor: '^',
};
const BOOLEAN: Readonly<Partial<Record<BinaryOp, string>>> = { and: '&&', or: '||', xor: '!=' };
const COMPARE: Readonly<Record<CompareOp, string>> = { eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' };

/** Functions of f32 that WGSL has. */
const FUNCTIONS: Readonly<Partial<Record<UnaryOp, string>>> = {
  abs: 'abs',
  sqrt: 'sqrt',
  floor: 'floor',
  ceil: 'ceil',
  trunc: 'trunc',
  rint: 'round',
  exp2Approx: 'exp2',
  log2Approx: 'log2',
  rsqrtApprox: 'inverseSqrt',
  sqrtApprox: 'sqrt',
  sinApprox: 'sin',
  cosApprox: 'cos',
  tanhApprox: 'tanh',
};

const IS_NAN = 'fn is_nan(a: f32) -> bool { return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u; }';

export function isNaNOf(g: Gen): string {
  return define(g, 'is_nan', IS_NAN);
}

/** Functions of f32 that the text brings; all but the first two ask for `is_nan`. */
const FLOAT_HELPERS: Readonly<Record<string, string>> = {
  is_finite: 'fn is_finite(a: f32) -> bool { return (bitcast<u32>(a) & 0x7f800000u) != 0x7f800000u; }',
  copysign:
    'fn copysign(a: f32, b: f32) -> f32 { return bitcast<f32>((bitcast<u32>(a) & 0x7fffffffu) | (bitcast<u32>(b) & 0x80000000u)); }',
  sign_f32:
    'fn sign_f32(a: f32) -> f32 { if (is_nan(a) || a == 0.0f) { return a; } return select(1.0f, -1.0f, a < 0.0f); }',
  // Half up: down, and one up again where at least a half was lost. The sign is the operand's, also of a zero.
  round_f32:
    'fn round_f32(a: f32) -> f32 { let r = floor(a); let up = select(r, r + 1.0f, a - r >= 0.5f); return bitcast<f32>((bitcast<u32>(up) & 0x7fffffffu) | (bitcast<u32>(a) & 0x80000000u)); }',
  // Of equal numbers only zeros differ, in the sign.
  min_f32:
    'fn min_f32(a: f32, b: f32) -> f32 { if (is_nan(a)) { return a; } if (is_nan(b)) { return b; } if (a == b) { return bitcast<f32>(bitcast<u32>(a) | bitcast<u32>(b)); } return select(b, a, a < b); }',
  max_f32:
    'fn max_f32(a: f32, b: f32) -> f32 { if (is_nan(a)) { return a; } if (is_nan(b)) { return b; } if (a == b) { return bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b)); } return select(b, a, a > b); }',
  fmin_f32:
    'fn fmin_f32(a: f32, b: f32) -> f32 { if (is_nan(a)) { return b; } if (is_nan(b)) { return a; } if (a == b) { return bitcast<f32>(bitcast<u32>(a) | bitcast<u32>(b)); } return select(b, a, a < b); }',
  fmax_f32:
    'fn fmax_f32(a: f32, b: f32) -> f32 { if (is_nan(a)) { return b; } if (is_nan(b)) { return a; } if (a == b) { return bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b)); } return select(b, a, a > b); }',
  // The remainder is exact: of the numbers as integers, a bit at a time.
  rem_f32:
    'fn rem_f32(a: f32, b: f32) -> f32 { let sign = bitcast<u32>(a) & 0x80000000u; var x = bitcast<u32>(a) & 0x7fffffffu; let y = bitcast<u32>(b) & 0x7fffffffu; if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) { return bitcast<f32>(0x7fc00000u | nothing); } if (x < y) { return a; } var ex = i32(x >> 23u); var ey = i32(y >> 23u); var mx = x & 0x7fffffu; var my = y & 0x7fffffu; if (ex == 0) { ex = 1; } else { mx |= 0x800000u; } if (ey == 0) { ey = 1; } else { my |= 0x800000u; } loop { if (mx >= my) { mx -= my; } if (ex == ey || mx == 0u) { break; } mx <<= 1u; ex -= 1; } if (mx == 0u) { return bitcast<f32>(sign); } let shift = min(i32(countLeadingZeros(mx)) - 8, ey - 1); mx <<= u32(shift); let e = ey - shift; let bits = select(mx, (mx & 0x7fffffu) | (u32(e) << 23u), mx >= 0x800000u); return bitcast<f32>(bits | sign); }',
};

function floatHelper(g: Gen, name: string): string {
  isNaNOf(g);
  if (name === 'rem_f32') nothing(g);
  return define(g, name, FLOAT_HELPERS[name] ?? '');
}

/** Functions of integers of 32 bits, `T` the type. */
const INTEGER_HELPERS: Readonly<Record<string, (T: string) => string>> = {
  div: (T) =>
    T === 'i32'
      ? 'if (b == 0) { return 0; } if (b == -1) { return 0 - a; } return a / b;'
      : 'if (b == 0u) { return 0u; } return a / b;',
  rem: (T) =>
    T === 'i32' ? 'if (b == 0 || b == -1) { return 0; } return a % b;' : 'if (b == 0u) { return 0u; } return a % b;',
  floordiv: (T) =>
    T === 'i32'
      ? 'if (b == 0) { return 0; } if (b == -1) { return 0 - a; } let q = a / b; if (a % b != 0 && ((a < 0) != (b < 0))) { return q - 1; } return q;'
      : 'if (b == 0u) { return 0u; } return a / b;',
  ipow: (T) =>
    T === 'i32'
      ? 'if (b < 0) { return 0; } var r = 1; var s = a; var e = b; loop { if (e == 0) { break; } if ((e & 1) != 0) { r *= s; } s *= s; e >>= 1u; } return r;'
      : 'var r = 1u; var s = a; var e = b; loop { if (e == 0u) { break; } if ((e & 1u) != 0u) { r *= s; } s *= s; e >>= 1u; } return r;',
};

function integerHelper(g: Gen, name: string, T: string): string {
  const full = `${name}_${T}`;
  const body = INTEGER_HELPERS[name]?.(T);
  if (body === undefined) throw new Error(`internal error: there is no ${name} of ${T}`);
  return define(g, full, `fn ${full}(a: ${T}, b: ${T}) -> ${T} { ${body} }`);
}

// ---------------------------------------------------------------- one operand

export function unaryOf(g: Gen, print: Print, fn: UnaryOp, a: Expr): string {
  const { type } = a;
  const x = print(a);
  if (fn === 'uniform') return x;
  if (type === 'bool') return `(!${x})`;
  if (fn === 'not') return `(~${x})`;
  if (isWide(type)) {
    if (fn === 'abs' && type === 'u64') return x;
    return call(wide(g, (fn === 'neg' ? 'neg_64' : `${fn}_${type}`) as WideName), x);
  }
  if (isFloat(type)) return floatUnary(g, fn, x);
  // The unsigned type has no minus, and the sign of the other may wrap.
  if (fn === 'neg') return type === 'i32' ? `(0i - ${x})` : `(0u - ${x})`;
  return type === 'u32' && fn === 'abs' ? x : type === 'u32' ? `min(${x}, 1u)` : call(fn, x);
}

function floatUnary(g: Gen, fn: UnaryOp, x: string): string {
  switch (fn) {
    case 'neg':
      return `(-${x})`;
    case 'isNaN':
      return call(isNaNOf(g), x);
    case 'isFinite':
      return call(floatHelper(g, 'is_finite'), x);
    case 'sign':
    case 'round':
      return call(floatHelper(g, `${fn}_f32`), x);
    case 'rcpApprox':
      return `(1.0f / ${x})`;
    default: {
      const name = FUNCTIONS[fn];
      if (name === undefined) throw new Error(`internal error: there is no ${fn} of f32`);
      return call(name, x);
    }
  }
}

// ---------------------------------------------------------------- two operands

export function binaryOf(g: Gen, print: Print, e: Expr & { readonly op: 'binary' }): string {
  const { fn, a, b } = e;
  const { type } = a;
  if (isFloat(type)) return floatBinary(g, print, e);
  if (fn === 'shl' || fn === 'shr') return shift(g, fn, a, b, print);
  const [x, y] = [print(a), print(b)];
  if (type === 'bool') return `(${x} ${BOOLEAN[fn]} ${y})`;
  if (isWide(type)) return wideBinary(g, type, fn, x, y);
  const how = INFIX[fn];
  if (how !== undefined) return `(${x} ${how} ${y})`;
  if ((fn === 'div' || fn === 'rem') && isPlainDivisor(b)) return `(${x} ${fn === 'div' ? '/' : '%'} ${y})`;
  if (fn === 'min' || fn === 'max') return call(fn, x, y);
  if (fn === 'mulhi') {
    const high = `${call(wide(g, 'product'), asU32(type, x), asU32(type, y))}.y`;
    if (type === 'u32') return high;
    const signs = `(select(0u, ${asU32(type, y)}, ${x} < 0i) + select(0u, ${asU32(type, x)}, ${y} < 0i))`;
    return `bitcast<i32>(${high} - ${signs})`;
  }
  return call(integerHelper(g, fn, typeOf(type)), x, y);
}

/** Neither 0 nor -1. */
function isPlainDivisor(e: Expr): boolean {
  return e.op === 'const' && Number(e.value) !== 0 && Number(e.value) !== -1;
}

export function asU32(type: ValueType, x: string): string {
  return type === 'i32' ? `bitcast<u32>(${x})` : x;
}

function wideBinary(g: Gen, type: 'i64' | 'u64', fn: BinaryOp, x: string, y: string): string {
  switch (fn) {
    case 'and':
    case 'or':
    case 'xor':
      return `(${x} ${INFIX[fn]} ${y})`;
    case 'add':
    case 'sub':
    case 'mul':
      return call(wide(g, `${fn}_64`), x, y);
    case 'min':
    case 'max': {
      const less = wide(g, `lt_${type}`);
      const name = `${fn}_${type}`;
      const test = fn === 'min' ? `${less}(b, a)` : `${less}(a, b)`;
      return call(
        define(g, name, `fn ${name}(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, ${test}); }`),
        x,
        y,
      );
    }
    default:
      return call(wide(g, `${fn}_${type}` as WideName), x, y);
  }
}

/** Counts are words, and taken modulo the width. */
function shift(g: Gen, fn: 'shl' | 'shr', a: Expr, b: Expr, print: Print): string {
  const { type } = a;
  const mask = isWide(type) ? 63 : 31;
  const count =
    b.op === 'const'
      ? `${Number(BigInt(b.value) & BigInt(mask))}u`
      : `(${isWide(b.type) ? `${print(b)}.x` : asU32(b.type, print(b))} & ${mask}u)`;
  if (isWide(type)) return call(wide(g, fn === 'shl' ? 'shl_64' : `shr_${type}`), print(a), count);
  return `(${print(a)} ${fn === 'shl' ? '<<' : '>>'} ${count})`;
}

function floatBinary(g: Gen, print: Print, e: Expr & { readonly op: 'binary' }): string {
  const { fn } = e;
  if (fn === 'add' || fn === 'sub') return sumOf(g, print, e, fn);
  const [x, y] = [operandOf(g, print, e, 'a'), operandOf(g, print, e, 'b')];
  switch (fn) {
    case 'mul':
      return productOf(g, x, y);
    case 'div':
    case 'divApprox':
      return `(${x} / ${y})`;
    case 'copysign':
      return call(floatHelper(g, 'copysign'), x, y);
    default:
      return call(floatHelper(g, `${fn}_f32`), x, y);
  }
}

// ---------------------------------------------------------------- comparisons

/**
 * Whether both may be one and the same value, which compilers that assume no NaN take for equal. Of one that is less they cannot go wrong; `<=` and `>=` of a value and itself are seldom written but in
 * so many words.
 */
function mayBeSame(fn: CompareOp, a: Expr, b: Expr): boolean {
  if (fn === 'eq') return a.op !== 'const' && b.op !== 'const';
  return (fn === 'le' || fn === 'ge') && a.op === 'var' && b.op === 'var' && a.var === b.var;
}

/** WGSL's `!=` is false of NaN: Tint compares in order. */
function unequal(g: Gen, plain: string, values: readonly string[]): string {
  const odd = [...new Set(values)].map((x) => call(isNaNOf(g), x));
  return `(${[plain, ...odd].join(' || ')})`;
}

export function compareOf(g: Gen, print: Print, fn: CompareOp, a: Expr, b: Expr): string {
  const [x, y] = [print(a), print(b)];
  const { type } = a;
  if (!isWide(type)) {
    const plain = `(${x} ${COMPARE[fn]} ${y})`;
    if (type === 'f32' && fn === 'ne')
      return unequal(g, plain, a.op === 'const' ? [y] : b.op === 'const' ? [x] : [x, y]);
    if (type !== 'f32' || !mayBeSame(fn, a, b)) return plain;
    return `(${plain} && !${call(isNaNOf(g), x)})`;
  }
  if (fn === 'eq') return `all(${x} == ${y})`;
  if (fn === 'ne') return `any(${x} != ${y})`;
  const less = wide(g, `lt_${type}`);
  switch (fn) {
    case 'lt':
      return call(less, x, y);
    case 'gt':
      return call(less, y, x);
    case 'le':
      return `(!${call(less, y, x)})`;
    default:
      return `(!${call(less, x, y)})`;
  }
}
