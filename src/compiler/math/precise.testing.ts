/**
 * The functions of the math table to about 130 bits, in integer arithmetic: what tests hold f64 bodies against.
 *
 * Numbers are integers that stand for multiples of 2^-P. P is chosen for each call so that the result has 160 bits, by its
 * size in double precision; sums and series lose a few of them. Written to be right for finite arguments with finite results
 * other than zero, not to be fast.
 */
import type { MathFn } from '../ir/ops.ts';
import { HOST_MATH } from './host.ts';

const bits = new DataView(new ArrayBuffer(8));

function exponentOf(x: number): number {
  if (x === 0) return -1074;
  bits.setFloat64(0, x);
  const field = (bits.getUint32(0) >>> 20) & 0x7ff;
  return field === 0 ? exponentOf(x * 2 ** 64) - 64 : field - 1023;
}

function size(a: bigint): bigint {
  return a < 0n ? -a : a;
}

function length(a: bigint): number {
  const digits = size(a).toString(16);
  // The leading digit has as many bits as it needs.
  return a === 0n ? 0 : digits.length * 4 - (Math.clz32(Number.parseInt(digits[0] ?? '0', 16)) - 28);
}

/** a · 2^k, rounded down. */
function scale(a: bigint, k: number): bigint {
  return k >= 0 ? a << BigInt(k) : a >> BigInt(-k);
}

function root(a: bigint, degree: bigint): bigint {
  if (a < 1n) return 0n;
  let x = 1n << (BigInt(length(a)) / degree + 1n);
  for (;;) {
    const next = ((degree - 1n) * x + a / x ** (degree - 1n)) / degree;
    if (next >= x) return x;
    x = next;
  }
}

/** Arithmetic on multiples of 2^-places. */
class Fixed {
  readonly places: number;
  readonly #p: bigint;
  readonly one: bigint;
  #ln2: bigint | undefined;
  #pi: bigint | undefined;

  constructor(places: number) {
    this.places = places;
    this.#p = BigInt(places);
    this.one = 1n << this.#p;
  }

  of(x: number): bigint {
    const e = Math.max(exponentOf(x), -1022) - 52;
    return scale(BigInt(e < -1000 ? x * 2 ** 500 * 2 ** (-e - 500) : x * 2 ** -e), this.places + e);
  }
  mul(a: bigint, b: bigint): bigint {
    // Rounded towards zero, or the terms of a series never vanish.
    const product = a * b;
    return product < 0n ? -(-product >> this.#p) : product >> this.#p;
  }
  div(a: bigint, b: bigint): bigint {
    return (a << this.#p) / b;
  }
  sqrt(a: bigint): bigint {
    return root(a << this.#p, 2n);
  }
  /** Σ over n of the terms, each made from the one before, until they vanish. */
  series(first: bigint, next: (term: bigint, n: bigint) => bigint, part: (term: bigint, n: bigint) => bigint): bigint {
    let sum = 0n;
    for (let term = first, n = 0n; size(term) > 1n; n++, term = next(term, n)) sum += part(term, n);
    return sum;
  }
  /** atanh t (sign 1) or atan t (sign -1), |t| well below 1. */
  arc(t: bigint, sign: bigint): bigint {
    const square = sign * this.mul(t, t);
    return this.series(
      t,
      (term) => this.mul(term, square),
      (term, n) => term / (2n * n + 1n),
    );
  }
  get ln2(): bigint {
    this.#ln2 ??= 2n * this.arc(this.one / 3n, 1n);
    return this.#ln2;
  }
  get pi(): bigint {
    this.#pi ??= 16n * this.arc(this.one / 5n, -1n) - 4n * this.arc(this.one / 239n, -1n);
    return this.#pi;
  }
  exp(x: bigint): bigint {
    const k = (2n * x + this.ln2) / (2n * this.ln2) - (x < 0n ? 1n : 0n);
    const r = (x - k * this.ln2) >> 8n;
    let y = this.series(
      this.one,
      (term, n) => this.mul(term, r) / n,
      (term) => term,
    );
    for (let square = 0; square < 8; square++) y = this.mul(y, y);
    return scale(y, Number(k));
  }
  log(x: bigint): bigint {
    const k = length(x) - this.places;
    const m = scale(x, -k);
    return 2n * this.arc(this.div(m - this.one, m + this.one), 1n) + BigInt(k) * this.ln2;
  }
  /** sin(x + quarter · π/2). */
  sin(x: bigint, quarter: bigint): bigint {
    const half = this.pi / 2n;
    const k = (2n * x + half) / (2n * half) - (x < 0n ? 1n : 0n);
    const r = x - k * half;
    const q = (((k + quarter) % 4n) + 4n) % 4n;
    const square = this.mul(r, r);
    const odd = q % 2n;
    const value = this.series(
      odd === 1n ? this.one : r,
      (term, n) => -this.mul(term, square) / ((2n * n - odd) * (2n * n + 1n - odd)),
      (term) => term,
    );
    return q >= 2n ? -value : value;
  }
  atan(t: bigint): bigint {
    if (size(t) > this.one) return (t < 0n ? -1n : 1n) * (this.pi / 2n) - this.atan(this.div(this.one, t));
    let r = t;
    for (let k = 0; k < 3; k++) r = this.div(r, this.one + this.sqrt(this.one + this.mul(r, r)));
    return 8n * this.arc(r, -1n);
  }
  asin(x: bigint): bigint {
    return 2n * this.atan(this.div(x, this.one + this.sqrt(this.one - this.mul(x, x))));
  }
  erf(x: bigint): bigint {
    const square = this.mul(x, x);
    const sum = this.series(
      x,
      (term, n) => -this.mul(term, square) / n,
      (term, n) => term / (2n * n + 1n),
    );
    return this.div(2n * sum, this.sqrt(this.pi));
  }
  /** log Γ(z + 1) for z ≥ 0 by Spouge's formula, whose error is (2π)^-a. */
  logGamma1(z: bigint): bigint {
    const a = BigInt(Math.ceil(this.places / 2.6));
    let sum = this.sqrt(2n * this.pi);
    let factorial = 1n;
    const e = this.exp(this.one);
    let power = this.exp((a - 1n) * this.one);
    for (let k = 1n; k < a; k++) {
      // (-1)^(k-1) / (k-1)! (a-k)^(k-1/2) e^(a-k)
      const base = (a - k) ** (k - 1n) * this.sqrt((a - k) * this.one);
      const c = this.mul(base, power) / factorial;
      sum += this.div(k % 2n === 1n ? c : -c, z + k * this.one);
      factorial *= k;
      power = this.div(power, e);
    }
    const shifted = z + a * this.one;
    return this.mul(z + this.one / 2n, this.log(shifted)) - shifted + this.log(sum);
  }
}

const TABLE: Readonly<Record<MathFn, (f: Fixed, x: bigint, y: bigint) => bigint>> = {
  exp: (f, x) => f.exp(x),
  exp2: (f, x) => f.exp(f.mul(x, f.ln2)),
  expm1: (f, x) => f.exp(x) - f.one,
  log: (f, x) => f.log(x),
  log2: (f, x) => f.div(f.log(x), f.ln2),
  log10: (f, x) => f.div(f.log(x), f.log(10n * f.one)),
  log1p: (f, x) => f.log(f.one + x),
  sin: (f, x) => f.sin(x, 0n),
  cos: (f, x) => f.sin(x, 1n),
  tan: (f, x) => f.div(f.sin(x, 0n), f.sin(x, 1n)),
  asin: (f, x) => f.asin(x),
  acos: (f, x) => f.pi / 2n - f.asin(x),
  atan: (f, x) => f.atan(x),
  atan2: (f, y, x) => {
    const a = 2n * f.atan(f.div(y, root(x * x + y * y, 2n) + size(x)));
    return x >= 0n ? a : y < 0n ? -f.pi - a : f.pi - a;
  },
  sinh: (f, x) => (f.exp(x) - f.exp(-x)) / 2n,
  cosh: (f, x) => (f.exp(x) + f.exp(-x)) / 2n,
  tanh: (f, x) => f.div(f.exp(2n * x) - f.one, f.exp(2n * x) + f.one),
  asinh: (f, x) => (x < 0n ? -1n : 1n) * f.log(size(x) + f.sqrt(f.mul(x, x) + f.one)),
  acosh: (f, x) => f.log(x + f.sqrt(f.mul(x, x) - f.one)),
  atanh: (f, x) => f.log(f.div(f.one + x, f.one - x)) / 2n,
  pow: (f, x, y) => f.exp(f.mul(y, f.log(x))),
  hypot: (_, x, y) => root(x * x + y * y, 2n),
  cbrt: (f, x) => (x < 0n ? -1n : 1n) * root(size(x) * f.one * f.one, 3n),
  rsqrt: (f, x) => f.sqrt(f.div(f.one, x)),
  erf: (f, x) => f.erf(x),
  erfc: (f, x) => f.one - f.erf(x),
  tgamma: (f, x) => {
    if (x >= 0n) return f.div(f.exp(f.logGamma1(x)), x);
    return f.div(f.pi, f.mul(f.sin(f.mul(f.pi, x), 0n), f.exp(f.logGamma1(-x))));
  },
  lgamma: (f, x) => {
    if (x >= 0n) return f.logGamma1(x) - f.log(x);
    return f.log(f.div(f.pi, size(f.sin(f.mul(f.pi, x), 0n)))) - f.logGamma1(-x);
  },
};

/** The distance of `got` from the true fn(x, y), in units of the last place that the true value has as an f64. */
export function preciseUlps(fn: MathFn, got: number, x: number, y = 1): number {
  const about = HOST_MATH[fn](x, y);
  // To all its bits 1 or 2, and a very long series.
  const saturates = fn === 'tanh' ? Math.abs(x) > 25 : (fn === 'erf' && Math.abs(x) > 6) || (fn === 'erfc' && x < -6);
  if (saturates) return Math.abs(got - about) * 2 ** 52;
  // Bits before the point of what is added up on the way: squares, products, the alternating series of erf, large arguments.
  const widest = Math.max(0, exponentOf(x), exponentOf(y));
  const finest = Math.max(0, -exponentOf(x), -exponentOf(y), -exponentOf(about));
  const inside = fn === 'erf' || fn === 'erfc' ? Math.ceil(x * x * 1.5) : fn === 'tgamma' || fn === 'lgamma' ? 400 : 0;
  const f = new Fixed(200 + finest + 2 * widest + inside);
  const want = TABLE[fn](f, f.of(x), f.of(y));
  const last = Math.max(exponentOf(about), -1022) - 52;
  // In thousandths of a unit.
  const error = size(f.of(got) - want) * 1000n;
  return Number(scale(error, -(f.places + last))) / 1000;
}
