/**
 * The meaning of every scalar operation, written for the fuzzer from kernel-semantics alone.
 *
 * Nothing is shared with the compiler: integers are exact bigints that are wrapped, halves, singles out of 64-bit integers
 * and fused multiply-adds are rounded from exact dyadic rationals. Singles otherwise are doubles rounded once, which is exact
 * for one operation.
 */
import {
  type BinOp,
  type CmpOp,
  type Elem,
  isBig,
  isFloat,
  isNarrow,
  type Narrow,
  type QuotientOp,
  type Ty,
  type UnOp,
  type Val,
  widened,
} from './program.ts';

const BITS: Readonly<Record<Elem, number>> = {
  bool: 1,
  i8: 8,
  u8: 8,
  u8c: 8,
  i16: 16,
  u16: 16,
  f16: 16,
  bf16: 16,
  f8e4m3: 8,
  f8e5m2: 8,
  i32: 32,
  u32: 32,
  f32: 32,
  i64: 64,
  u64: 64,
  f64: 64,
};

function signed(t: Elem): boolean {
  return t === 'i8' || t === 'i16' || t === 'i32' || t === 'i64';
}

/** An exact integer, wrapped into an integer type. */
export function wrap(t: Elem, x: bigint): Val {
  const w = BITS[t];
  const y = signed(t) ? BigInt.asIntN(w, x) : BigInt.asUintN(w, x);
  return isBig(t) ? y : Number(y);
}

// ---------------------------------------------------------------- exact rounding

/** A dyadic rational: n * 2^e. */
interface Dyadic {
  readonly n: bigint;
  readonly e: number;
}

function dyadic(x: number): Dyadic {
  let e = 0;
  let y = x;
  while (!Number.isInteger(y)) {
    y *= 2;
    e--;
  }
  return { n: BigInt(y), e };
}

/** n * 2^e rounded to nearest even with `digits` bits, least exponent `least`, and infinity at 2^top. */
function nearest({ n, e }: Dyadic, digits: number, least: number, top: number): number {
  if (n === 0n) return 0;
  const negative = n < 0n;
  const m = negative ? -n : n;
  const length = m.toString(16).length * 4 + 4;
  // 2^q is the unit of the result: m has at most `length` bits, so count exactly by comparing.
  let bits = length;
  while (bits > 0 && m >> BigInt(bits - 1) === 0n) bits--;
  const q = Math.max(e + bits - digits, least);
  let k: bigint;
  if (q <= e) k = m << BigInt(e - q);
  else {
    const unit = 1n << BigInt(q - e);
    k = m / unit;
    const rest = (m % unit) * 2n;
    if (rest > unit || (rest === unit && k % 2n === 1n)) k++;
  }
  // k has at most 53 bits; halves of the exponent keep powers of two in range.
  const half = Math.trunc(q / 2);
  const y = Number(k) * 2 ** half * 2 ** (q - half);
  const bounded = y >= 2 ** top || !Number.isFinite(y) ? Number.POSITIVE_INFINITY : y;
  return negative ? -bounded : bounded;
}

/** Digits, the least exponent and that of infinity; the greatest number, where what is beyond it becomes that. */
const FORMATS: Readonly<Record<Narrow, readonly [digits: number, least: number, top: number, most?: number]>> = {
  f16: [11, -24, 16],
  bf16: [8, -133, 128],
  f8e4m3: [4, -9, 9, 448],
  f8e5m2: [3, -16, 16, 57344],
};

function nearestNarrow(to: Narrow, x: Dyadic): number {
  const [digits, least, top, most = Number.POSITIVE_INFINITY] = FORMATS[to];
  const y = nearest(x, digits, least, top);
  return Math.max(Math.min(y, most), -most);
}

export function toNarrow(to: Narrow, x: number): number {
  const [, , , most = Number.POSITIVE_INFINITY] = FORMATS[to];
  if (Number.isNaN(x) || x === 0) return x;
  if (!Number.isFinite(x)) return Math.sign(x) * most;
  const y = nearestNarrow(to, dyadic(x));
  return y === 0 && x < 0 ? -0 : y;
}

/** Byte by byte, through memory. */
export function dp4a(t: Ty, a: number, b: number, c: number): number {
  const words = Int32Array.of(a, b);
  const bytes = t === 'u32' ? new Uint8Array(words.buffer) : new Int8Array(words.buffer);
  let sum = c;
  for (let k = 0; k < 4; k++) sum += (bytes[k] as number) * (bytes[k + 4] as number);
  return Number(wrap(t, BigInt(sum)));
}

export function fma(t: Ty, a: number, b: number, c: number): number {
  if (!Number.isFinite(a) || !Number.isFinite(b) || a === 0 || b === 0) return roundTo(t, a * b + c);
  if (!Number.isFinite(c)) return c;
  const [x, y, z] = [dyadic(a), dyadic(b), dyadic(c)];
  const e = Math.min(x.e + y.e, z.e);
  const n = ((x.n * y.n) << BigInt(x.e + y.e - e)) + (z.n << BigInt(z.e - e));
  const r = isNarrow(t)
    ? nearestNarrow(t, { n, e })
    : t === 'f32'
      ? nearest({ n, e }, 24, -149, 128)
      : nearest({ n, e }, 53, -1074, 1024);
  return r === 0 && n < 0n ? -0 : r;
}

/** Whether a number is too small for an f32 with all its digits. */
export function isSubnormal(v: Val | undefined): boolean {
  return typeof v === 'number' && v !== 0 && Math.abs(v) < 2 ** -126;
}

/** A number rounded to a float type. */
export function roundTo(t: Elem, x: number): number {
  if (t === 'f32') return Math.fround(x);
  return isNarrow(t) ? toNarrow(t, x) : x;
}

// ---------------------------------------------------------------- operations

function intBinary(op: BinOp, t: Ty, a: bigint, b: bigint): Val {
  const w = BigInt(BITS[t]);
  const shift = ((b % w) + w) % w;
  switch (op) {
    case 'add':
      return wrap(t, a + b);
    case 'sub':
      return wrap(t, a - b);
    case 'mul':
    case 'imul':
      return wrap(t, a * b);
    case 'div':
      return wrap(t, b === 0n ? 0n : a / b);
    case 'rem':
      return wrap(t, b === 0n ? 0n : a % b);
    case 'and':
      return wrap(t, a & b);
    case 'or':
      return wrap(t, a | b);
    case 'xor':
      return wrap(t, a ^ b);
    case 'shl':
      return wrap(t, a << shift);
    case 'shr':
      return wrap(t, a >> shift);
    case 'ushr':
      return wrap(t, BigInt.asUintN(Number(w), a) >> shift);
    case 'min':
    case 'fmin':
      return wrap(t, a < b ? a : b);
    case 'max':
    case 'fmax':
      return wrap(t, a > b ? a : b);
    case 'pow': {
      let y = 1n;
      let base = a;
      for (let n = b; n > 0n; n /= 2n) {
        if (n % 2n === 1n) y = BigInt.asUintN(64, y * base);
        base = BigInt.asUintN(64, base * base);
      }
      return wrap(t, y);
    }
    default:
      throw new Error(`${op} of ${t}`);
  }
}

function lesser(a: number, b: number): number {
  if (a === 0 && b === 0) return Object.is(a, -0) ? a : b;
  // biome-ignore lint/complexity/useMathMinMax: written out, since what is tested uses Math.
  return a < b ? a : b;
}

function greater(a: number, b: number): number {
  if (a === 0 && b === 0) return Object.is(a, -0) ? b : a;
  // biome-ignore lint/complexity/useMathMinMax: written out, since what is tested uses Math.
  return a > b ? a : b;
}

function floatBinary(op: BinOp, a: number, b: number): number {
  const nan = Number.isNaN(a) || Number.isNaN(b);
  switch (op) {
    case 'add':
      return a + b;
    case 'sub':
      return a - b;
    case 'mul':
      return a * b;
    case 'div':
      return a / b;
    case 'rem':
      return a % b;
    case 'min':
      return nan ? Number.NaN : lesser(a, b);
    case 'max':
      return nan ? Number.NaN : greater(a, b);
    case 'fmin':
      return Number.isNaN(a) ? b : Number.isNaN(b) ? a : lesser(a, b);
    case 'fmax':
      return Number.isNaN(a) ? b : Number.isNaN(b) ? a : greater(a, b);
    case 'copysign': {
      const negative = b < 0 || Object.is(b, -0);
      return negative ? -Math.abs(a) : Math.abs(a);
    }
    default:
      throw new Error(`${op} of floats`);
  }
}

/** What a bit operation of type `t` makes of its operand: a float is taken modulo 2³², as in JavaScript. */
export function bitOperand(t: Ty, a: Val): Val {
  if (typeof a !== 'number' || Number.isInteger(a)) return wrap(t, BigInt(a));
  return Number.isFinite(a) ? wrap(t, BigInt(Math.trunc(a))) : wrap(t, 0n);
}

/** Whether an operator sees bits, so that it takes floats modulo 2³². */
export function ofBits(op: BinOp): boolean {
  return ['and', 'or', 'xor', 'shl', 'shr', 'ushr', 'imul'].includes(op);
}

/** `a op b` computed in type `t`; the operands may be of another 32-bit integer type. */
export function binary(op: BinOp, t: Ty, a: Val, b: Val): Val {
  if (isFloat(t)) return roundTo(t, floatBinary(op, Number(a), Number(b)));
  const own = (x: Val): bigint => BigInt(ofBits(op) ? bitOperand(t, x) : wrap(t, BigInt(x)));
  if (op === 'shl' || op === 'shr' || op === 'ushr') return intBinary(op, t, own(a), isBig(t) ? BigInt(b) : own(b));
  return intBinary(op, t, own(a), own(b));
}

/** A quotient of two integers of type `t`, rounded. */
export function quotient(op: QuotientOp, t: Ty, a: Val, b: Val): Val {
  if (BigInt(b) === 0n) return wrap(t, 0n);
  const sign = BigInt(b) < 0n ? -1n : 1n;
  const [x, y] = [BigInt(a) * sign, BigInt(b) * sign];
  const down = (n: bigint, d: bigint): bigint => (n >= 0n ? n / d : -((d - 1n - n) / d));
  switch (op) {
    case 'floor':
      return wrap(t, down(x, y));
    case 'ceil':
      return wrap(t, -down(-x, y));
    case 'round':
      return wrap(t, down(2n * x + y, 2n * y));
    case 'rint': {
      const [low, high] = [-down(y - 2n * x, 2n * y), down(2n * x + y, 2n * y)];
      return wrap(t, low % 2n === 0n ? low : high);
    }
    default:
      return wrap(t, x / y);
  }
}

function evenRound(x: number): number {
  const f = Math.floor(x);
  const d = x - f;
  const y = d < 0.5 ? f : d > 0.5 ? f + 1 : f % 2 === 0 ? f : f + 1;
  return y === 0 && (x < 0 || Object.is(x, -0)) ? -0 : y;
}

/** `op a`, where `a` has type `from` and the result type `t`. */
export function unary(op: UnOp, from: Ty, t: Ty, a: Val): Val {
  switch (op) {
    case 'isNaN':
      return Number.isNaN(a);
    case 'isFinite':
      return typeof a === 'bigint' || Number.isFinite(a);
    case 'isInteger':
      return typeof a === 'bigint' || Number.isInteger(a);
    case 'or0':
    case 'ushr0':
      return bitOperand(t, a);
    case 'uniform':
      return a;
    case 'square':
      return binary('mul', t, a, a);
    default:
      break;
  }
  if (typeof a === 'boolean') return !a;
  if (op === 'clz32' || (op === 'not' && isFloat(from))) {
    const word = BigInt(bitOperand('u32', a));
    return op === 'not' ? wrap(t, ~word) : wrap(t, bitCount(op, 32, word));
  }
  if (isFloat(from)) return floatUnary(op, from, Number(a));
  const x = BigInt(a);
  switch (op) {
    case 'neg':
      return wrap(t, -x);
    case 'not':
      return wrap(t, ~x);
    case 'abs':
      return wrap(t, x < 0n ? -x : x);
    case 'sign':
      return wrap(t, x < 0n ? -1n : x > 0n ? 1n : 0n);
    case 'floor':
    case 'ceil':
    case 'trunc':
    case 'round':
    case 'rint':
      return a;
    default:
      return wrap(t, bitCount(op, BITS[from], BigInt.asUintN(BITS[from], x)));
  }
}

function bitCount(op: UnOp, w: number, x: bigint): bigint {
  let [ones, lowest, highest, reversed] = [0, -1, -1, 0n];
  for (let i = 0; i < w; i++) {
    if (((x >> BigInt(i)) & 1n) === 0n) continue;
    ones++;
    if (lowest < 0) lowest = i;
    highest = i;
    reversed |= 1n << BigInt(w - 1 - i);
  }
  switch (op) {
    case 'clz':
    case 'clz32':
      return BigInt(w - 1 - highest);
    case 'popc':
      return BigInt(ones);
    case 'ffs':
      return BigInt(lowest + 1);
    case 'brev':
      return reversed;
    default:
      throw new Error(op);
  }
}

function floatUnary(op: UnOp, t: Ty, a: number): Val {
  switch (op) {
    case 'neg':
      return -a;
    case 'abs':
      return Object.is(a, -0) || a < 0 ? -a : a;
    case 'sign':
      return Number.isNaN(a) || a === 0 ? a : a < 0 ? -1 : 1;
    case 'sqrt':
      return roundTo(t, Math.sqrt(a));
    case 'floor':
      return Math.floor(a);
    case 'ceil':
      return Math.ceil(a);
    case 'trunc':
      return Math.trunc(a);
    case 'round':
      return Math.round(a);
    case 'rint':
      return Number.isFinite(a) ? evenRound(a) : a;
    default:
      throw new Error(`${op} of floats`);
  }
}

export function compare(op: CmpOp, a: Val, b: Val): boolean {
  switch (op) {
    case 'eq':
      return a === b;
    case 'ne':
      return a !== b;
    case 'lt':
      return a < b;
    case 'le':
      return a <= b;
    case 'gt':
      return a > b;
    case 'ge':
      return a >= b;
  }
}

/** An explicit conversion to `to`, as the value of its widened type. */
export function cast(from: Ty, to: Elem, a: Val): Val {
  if (to === 'bool') return typeof a === 'number' ? a !== 0 && !Number.isNaN(a) : Boolean(a);
  if (isFloat(to)) {
    if (!isBig(from)) return roundTo(to, Number(a));
    const n = BigInt(a);
    if (to === 'f32') return nearest({ n, e: 0 }, 24, -149, 128);
    return isNarrow(to) ? nearestNarrow(to, { n, e: 0 }) : nearest({ n, e: 0 }, 53, -1074, 1024);
  }
  if (to === 'u8c') return clamp(Number(a));
  if (!isFloat(from)) return wrap(to, BigInt(a));
  const x = Number(a);
  const w = BITS[to];
  if (Number.isNaN(x)) return wrap(to, 0n);
  const low = signed(to) ? -(1n << BigInt(w - 1)) : 0n;
  const high = signed(to) ? (1n << BigInt(w - 1)) - 1n : (1n << BigInt(w)) - 1n;
  if (!Number.isFinite(x)) return wrap(to, x < 0 ? low : high);
  const n = BigInt(Math.trunc(x));
  return wrap(to, n < low ? low : n > high ? high : n);
}

/** ECMA-262, ToUint8Clamp. */
function clamp(x: number): number {
  if (Number.isNaN(x) || x <= 0) return 0;
  if (x >= 255) return 255;
  const up = Math.round(x);
  return up - x === 0.5 && up % 2 === 1 ? up - 1 : up;
}

/** What an element of type `elem` holds after `v`, of its widened type, was stored; as it is read back. */
export function stored(elem: Elem, v: Val): Val {
  if (elem === 'bool' || typeof v === 'boolean') return Boolean(v);
  if (elem === 'u8c') return clamp(Number(v));
  return isFloat(elem) ? roundTo(elem, Number(v)) : wrap(elem, BigInt(v));
}

/** Memory after an atomic operation. Numba's: `inc` and `dec` wrap at the operand. */
export function atomic(op: string, elem: Elem, old: Val, args: readonly Val[]): Val {
  const t = widened(elem);
  const [a = 0, b = 0] = args;
  switch (op) {
    case 'add':
    case 'sub':
    case 'and':
    case 'or':
    case 'xor':
      return binary(op, t, old, a);
    case 'exch':
      return a;
    case 'cas':
      return old === a ? b : old;
    case 'inc':
      return old >= a ? wrap(t, 0n) : wrap(t, BigInt(old) + 1n);
    case 'dec':
      return BigInt(old) === 0n || old > a ? a : wrap(t, BigInt(old) - 1n);
    case 'max':
      return Number.isNaN(old) || !(a > old) ? old : a;
    case 'min':
      return Number.isNaN(old) || !(a < old) ? old : a;
    case 'nanMax':
      return Number.isNaN(old) || a > old ? a : old;
    case 'nanMin':
      return Number.isNaN(old) || a < old ? a : old;
    default:
      throw new Error(op);
  }
}
