/**
 * What functions of integers, of parts and bits of floats, and of floats of 16 bits mean: on plain numbers and bigints, by definitions that share nothing
 * with the compiler.
 */
import type { Ty, Val } from './program.ts';
import { binary, compare, dp4a, fma, roundTo, unary, wrap } from './semantics.ts';

/** The value has more than one possible result, such as the bits of a NaN. */
export class Unspecified extends Error {}

/** A function: `text` with its arguments in place of `$1`, `$2` and so on. */
export interface Row {
  readonly text: string;
  readonly of: readonly Ty[];
  readonly to: Ty;
  readonly value: (...args: Val[]) => Val;
}

type Real = (...args: number[]) => Val;

/** A call by name, of operands of one type. */
function row(name: string, t: Ty, count: number, value: (...args: Val[]) => Val, to: Ty = t): Row {
  const of = Array.from({ length: count }, () => t);
  return { text: `${name}(${of.map((_, k) => `$${k + 1}`).join(', ')})`, of, to, value };
}

const bits = (t: Ty): number => (t === 'i64' || t === 'u64' ? 64 : 32);
const digits = (t: Ty, v: Val): string => BigInt.asUintN(bits(t), BigInt(v)).toString(2).padStart(bits(t), '0');
const reversed = (text: string): string => [...text].reverse().join('');

// ---------------------------------------------------------------- integers

function integers(t: Ty): Row[] {
  const big =
    (f: (...args: bigint[]) => bigint) =>
    (...args: Val[]) =>
      wrap(t, f(...args.map(BigInt)));
  const small = (name: string, f: (text: string) => number): Row => ({
    ...row(`cuda.${name}`, t, 1, (v) => f(digits(t, v)), 'i32'),
    text: `i32(cuda.${name}($1))`,
  });
  const half = (a: bigint): bigint => (a - (((a % 2n) + 2n) % 2n)) / 2n;
  const rows = [
    row(
      'cuda.mulhi',
      t,
      2,
      big((a, b) => {
        const product = a * b;
        const size = 2n ** BigInt(bits(t));
        return (product - (((product % size) + size) % size)) / size;
      }),
    ),
    row(
      'cuda.sad',
      t,
      3,
      big((a, b, c) => (a > b ? a - b : b - a) + c),
    ),
    row(
      'cuda.hadd',
      t,
      2,
      big((a, b) => half(a + b)),
    ),
    row(
      'cuda.rhadd',
      t,
      2,
      big((a, b) => half(a + b + 1n)),
    ),
    small('popc', (text) => [...text].filter((c) => c === '1').length),
    small('clz', (text) => (/^0*/.exec(text)?.[0] ?? '').length),
    small('ffs', (text) => reversed(text).indexOf('1') + 1),
  ];
  if (t !== 'i32') rows.push(row('cuda.brev', t, 1, (v) => wrap(t, BigInt(`0b${reversed(digits(t, v))}`))));
  if (bits(t) === 64) return rows;
  const low = (a: bigint): bigint => (t === 'i32' ? BigInt.asIntN(24, a) : BigInt.asUintN(24, a));
  rows.push(
    row(
      'cuda.mul24',
      t,
      2,
      big((a, b) => low(a) * low(b)),
    ),
    row('cuda.dp4a', t, 3, (a, b, c) => dp4a(t, Number(a), Number(b), Number(c))),
  );
  if (t === 'u32') rows.push(row('cuda.bytePerm', t, 3, (a, b, s) => bytePerm(Number(a), Number(b), Number(s))));
  return rows;
}

function bytePerm(a: number, b: number, selector: number): number {
  const bytes = new Uint8Array(Uint32Array.of(a, b).buffer);
  const out = new Uint8Array(4).map((_, k) => bytes[(selector >>> (4 * k)) & 7] ?? 0);
  return new Uint32Array(out.buffer)[0] ?? 0;
}

// ---------------------------------------------------------------- floats and their parts

const NUMBER = new DataView(new ArrayBuffer(8));

function bitsOf(t: Ty, x: number): bigint {
  if (Number.isNaN(x)) throw new Unspecified('the bits of a NaN');
  if (t === 'f32') {
    NUMBER.setFloat32(0, x);
    return BigInt(NUMBER.getInt32(0));
  }
  NUMBER.setFloat64(0, x);
  return NUMBER.getBigInt64(0);
}

function ofBits(t: Ty, v: bigint): number {
  if (t === 'f32') {
    NUMBER.setInt32(0, Number(BigInt.asIntN(32, v)));
    return NUMBER.getFloat32(0);
  }
  NUMBER.setBigInt64(0, v);
  return NUMBER.getFloat64(0);
}

/** The bits of a float of 16 bits, from its digits. */
function halfBits(t: Ty, x: number): number {
  if (Number.isNaN(x)) throw new Unspecified('the bits of a NaN');
  const [fraction, bias] = t === 'f16' ? [10, 15] : [7, 127];
  const sign = x < 0 || Object.is(x, -0) ? 1 << 15 : 0;
  const size = Math.abs(x);
  if (size === Number.POSITIVE_INFINITY) return sign | ((2 * bias + 1) << fraction);
  const exponent = Math.max(size === 0 ? 1 - bias : exponentOf(size) - 1, 1 - bias);
  const steps = size / 2 ** (exponent - fraction);
  return sign | (steps + (exponent + bias - 1) * 2 ** fraction);
}

/** As frexp has it: of a number other than 0, x / 2ⁿ is in [1/2, 1). */
function exponentOf(x: number): number {
  let n = 0;
  let size = Math.abs(x);
  for (; size >= 1; n++) size /= 2;
  for (; size < 0.5; n--) size *= 2;
  return n;
}

const isPlain = (x: number): boolean => Number.isFinite(x) && x !== 0;

function ldexp(t: Ty, x: number, n: number): number {
  if (!isPlain(x)) return x;
  const e = exponentOf(x);
  if (e + n > 1100) return Math.sign(x) * Number.POSITIVE_INFINITY;
  if (e + n < -1200) return Math.sign(x) * 0;
  // To [1/2, 1) and back, both without rounding but the last.
  const mantissa = scaled(x, -e);
  const exponent = e + n;
  if (exponent > 1000) return roundTo(t, mantissa * 2 ** 1000 * 2 ** (exponent - 1000));
  if (exponent >= -1000) return fma(t, mantissa, 2 ** exponent, 0);
  return fma(t, mantissa * 2 ** -500, 2 ** Math.max(exponent + 500, -1000), 0);
}

function scaled(x: number, n: number): number {
  let y = x;
  for (let k = Math.abs(n); k > 0; k--) y = n > 0 ? y * 2 : y / 2;
  return y;
}

function nextafter(t: Ty, x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if (x === y) return y;
  if (x === 0) return Math.sign(y) * (t === 'f32' ? 2 ** -149 : 2 ** -1074);
  const grows = y > x === x > 0;
  return ofBits(t, bitsOf(t, x) + (grows ? 1n : -1n));
}

/** By halves of the divisor, as IEEE 754 defines it. */
function remainder(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y) || !Number.isFinite(x) || y === 0) return Number.NaN;
  const [size, by] = [Math.abs(x), Math.abs(y)];
  if (by === Number.POSITIVE_INFINITY) return x;
  const rest = size % by;
  const odd = 2 * by < Number.POSITIVE_INFINITY ? size % (2 * by) >= by : size >= by;
  const over = by - rest;
  const up = rest > over || (rest === over && odd);
  const result = up ? -over : rest;
  return result === 0 ? Math.sign(x) * 0 || (Object.is(x, -0) || x < 0 ? -0 : 0) : Math.sign(x) * result;
}

function copysign(x: number, y: number): number {
  if (Number.isNaN(y)) throw new Unspecified('the sign of a NaN');
  return y < 0 || Object.is(y, -0) ? -Math.abs(x) : Math.abs(x);
}

function saturated(x: number): number {
  return Number.isNaN(x) ? 0 : Math.min(Math.max(x, 0), 1) + 0;
}

function floats(t: Ty): Row[] {
  const real =
    (f: Real) =>
    (...args: Val[]) => {
      const v = f(...args.map(Number));
      return typeof v === 'number' ? roundTo(t, v) : v;
    };
  const own = (name: string, count: number, f: Real): Row => row(`cuda.${name}`, t, count, real(f));
  const part = (text: string, f: (x: number) => number, to: Ty = t): Row => ({
    text,
    of: [t],
    to,
    value: (x) => roundTo(to, f(Number(x))),
  });
  return [
    part('cuda.frexp($1)[0]', (x) => (isPlain(x) ? scaled(x, -exponentOf(x)) : x)),
    part('cuda.frexp($1)[1]', (x) => (isPlain(x) ? exponentOf(x) : 0), 'i32'),
    part('cuda.modf($1)[0]', (x) => copysign(Number.isFinite(x) ? x % 1 : x - x || 0, x)),
    part('cuda.modf($1)[1]', (x) => Math.trunc(x)),
    { text: 'cuda.ldexp($1, $2)', of: [t, 'i32'], to: t, value: (x, n) => ldexp(t, Number(x), Number(n)) },
    own('nextafter', 2, (x, y) => nextafter(t, x ?? 0, y ?? 0)),
    own('remainder', 2, (x, y) => remainder(x ?? 0, y ?? 0)),
    own('fmod', 2, (x, y) => (x ?? 0) % (y ?? 0)),
    own('copysign', 2, (x, y) => copysign(x ?? 0, y ?? 0)),
    own('fdim', 2, (x = 0, y = 0) => (x > y ? x - y : x <= y ? 0 : Number.NaN)),
    { ...own('saturate', 1, (x) => saturated(x ?? 0)), text: 'Math.abs(cuda.saturate($1))' },
    own('fma', 3, (a, b, c) => fma(t, a ?? 0, b ?? 0, c ?? 0)),
    own('rint', 1, (x) => unary('rint', t, t, x ?? 0)),
    own('fmin', 2, (a, b) => binary('fmin', t, a ?? 0, b ?? 0)),
    own('fmax', 2, (a, b) => binary('fmax', t, a ?? 0, b ?? 0)),
    part('cuda.logb($1)', (x) => (x === 0 ? -Infinity : isPlain(x) ? exponentOf(x) - 1 : Math.abs(x))),
    part(
      'cuda.ilogb($1)',
      (x) => (isPlain(x) ? exponentOf(x) - 1 : Math.abs(x) === Number.POSITIVE_INFINITY ? 2 ** 31 - 1 : -(2 ** 31)),
      'i32',
    ),
  ];
}

const BITS: readonly Row[] = [
  row('cuda.floatAsInt', 'f32', 1, (x) => wrap('i32', bitsOf('f32', Number(x))), 'i32'),
  row('cuda.floatAsUint', 'f32', 1, (x) => wrap('u32', bitsOf('f32', Number(x))), 'u32'),
  row('cuda.intAsFloat', 'i32', 1, (v) => ofBits('f32', BigInt(v)), 'f32'),
  row('cuda.uintAsFloat', 'u32', 1, (v) => ofBits('f32', BigInt(v)), 'f32'),
  row('cuda.doubleAsLong', 'f64', 1, (x) => bitsOf('f64', Number(x)), 'i64'),
  row('cuda.longAsDouble', 'i64', 1, (v) => ofBits('f64', BigInt(v)), 'f64'),
  row('cuda.doubleToHiInt', 'f64', 1, (x) => wrap('i32', bitsOf('f64', Number(x)) >> 32n), 'i32'),
  row('cuda.doubleToLoInt', 'f64', 1, (x) => wrap('i32', bitsOf('f64', Number(x))), 'i32'),
  row(
    'cuda.hiLoIntToDouble',
    'i32',
    2,
    (high, low) => ofBits('f64', (BigInt(high) << 32n) | BigInt.asUintN(32, BigInt(low))),
    'f64',
  ),
  {
    text: '(i32(cuda.halfAsShort($1)) & 65535)',
    of: ['f16'],
    to: 'i32',
    value: (x) => halfBits('f16', Number(x)) & 65535,
  },
];

// ---------------------------------------------------------------- floats of 16 bits

function halves(t: 'f16' | 'bf16'): Row[] {
  const module = t === 'f16' ? 'cuda.fp16' : 'cuda.bf16';
  const own = (name: string, count: number, f: Real): Row =>
    row(`${module}.${name}`, t, count, (...args) => roundTo(t, Number(f(...args.map(Number)))));
  const sat = (name: string, count: number, f: (a: number, b: number, c: number) => number): Row => ({
    ...own(name, count, (a = 0, b = 0, c = 0) => saturated(roundTo(t, f(a, b, c)))),
    text: `Math.abs(${own(name, count, f as Real).text})`,
  });
  const test = (name: string, f: (a: number, b: number) => boolean): Row => ({
    text: `(${module}.${name}($1, $2) ? 1 : 0)`,
    of: [t, t],
    to: 'i32',
    value: (a, b) => Number(f(Number(a), Number(b))),
  });
  const fused = (a = 0, b = 0, c = 0): number => fma(t, a, b, c);
  const ordered = (a: number, b: number): boolean => !Number.isNaN(a) && !Number.isNaN(b);
  const compares = (['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const).flatMap((op) => [
    test(`h${op}`, (a, b) => ordered(a, b) && compare(op, a, b)),
    test(`h${op}u`, (a, b) => !ordered(a, b) || compare(op, a, b)),
  ]);
  return [
    own('hadd', 2, (a = 0, b = 0) => a + b),
    own('hsub', 2, (a = 0, b = 0) => a - b),
    own('hmul', 2, (a = 0, b = 0) => a * b),
    own('hdiv', 2, (a = 0, b = 0) => a / b),
    own('hfma', 3, fused),
    sat('haddSat', 2, (a, b) => a + b),
    sat('hsubSat', 2, (a, b) => a - b),
    sat('hmulSat', 2, (a, b) => a * b),
    sat('hfmaSat', 3, fused),
    { ...own('hfmaRelu', 3, (a, b, c) => Math.max(fused(a, b, c), 0)), text: `${module}.hfmaRelu($1, $2, $3)` },
    own('hneg', 1, (a = 0) => -a),
    own('habs', 1, (a = 0) => Math.abs(a)),
    own('hmin', 2, (a = 0, b = 0) => binary('fmin', t, a, b)),
    own('hmax', 2, (a = 0, b = 0) => binary('fmax', t, a, b)),
    own('hminNan', 2, (a = 0, b = 0) => Math.min(a, b)),
    own('hmaxNan', 2, (a = 0, b = 0) => Math.max(a, b)),
    own('hsqrt', 1, (a = 0) => Math.sqrt(a)),
    own('hfloor', 1, (a = 0) => Math.floor(a)),
    own('hceil', 1, (a = 0) => Math.ceil(a)),
    own('htrunc', 1, (a = 0) => Math.trunc(a)),
    own('hrint', 1, (a = 0) => unary('rint', t, t, a)),
    own('hrcp', 1, (a = 0) => 1 / a),
    ...compares,
  ];
}

/** a ** b of small integers, which is exact, or the reciprocal of what is. */
function wholePower(a: number, b: number): number {
  let y = 1;
  for (let k = 0; k < Math.abs(b); k++) y *= a;
  return b < 0 ? 1 / y : y;
}

const POWERS: readonly Row[] = [
  ...(['f32', 'f64'] as const).flatMap((to): Row[] => [
    {
      text: `${to}((($1 & 15) - 8) ** (($2 & 15) - 8))`,
      of: ['i32', 'i32'],
      to,
      value: (a, b) => roundTo(to, wholePower((Number(a) & 15) - 8, (Number(b) & 15) - 8)),
    },
    {
      text: `Math.abs(${to}(0.5) * -(($1 & 7) ** -($2 & 3)))`,
      of: ['u32', 'i32'],
      to,
      value: (a, b) => roundTo(to, roundTo(to, wholePower(Number(a) & 7, -(Number(b) & 3))) / 2),
    },
  ]),
  {
    text: '(($1 ** ($2 & 7)) >>> 0)',
    of: ['u32', 'i32'],
    to: 'u32',
    value: (a, b) => wrap('u32', BigInt(a) ** BigInt(Number(b) & 7)),
  },
  {
    text: 'i32($1 ** ($2 & 7))',
    of: ['i32', 'u32'],
    to: 'i32',
    value: (a, b) => wrap('i32', BigInt(a) ** BigInt(Number(b) & 7)),
  },
];

export const ROWS: readonly Row[] = [
  ...POWERS,
  ...(['i32', 'u32', 'i64', 'u64'] as const).flatMap(integers),
  ...(['f32', 'f64'] as const).flatMap(floats),
  ...BITS,
  ...(['f16', 'bf16'] as const).flatMap(halves),
];
