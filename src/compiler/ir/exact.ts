/**
 * Correctly rounded number conversions and the fused multiply-add, for which JavaScript has no operator.
 *
 * Each result is rounded once, to nearest with ties to even, from the exact value: 64-bit integers straight to single precision,
 * a*b+c from the exact sum. Formats narrower than that are dtype/narrow-float.ts. `evaluate.ts` says which operation uses what.
 */

const bits = new DataView(new ArrayBuffer(8));

/** The nearest integer, ties to even; keeps the sign of zero. */
export function roundHalfEven(x: number): number {
  if (!Number.isFinite(x) || Math.abs(x) >= 2 ** 52) return x;
  const floor = Math.floor(x);
  const rest = x - floor;
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0);
  const y = up ? floor + 1 : floor;
  return y === 0 && (x < 0 || Object.is(x, -0)) ? -0 : y;
}

interface Exact {
  /** Value = mantissa * 2^scale. */
  readonly mantissa: bigint;
  readonly scale: number;
}

function exact(x: number): Exact {
  bits.setFloat64(0, x);
  const field = (bits.getUint32(0) >>> 20) & 0x7ff;
  const fraction = bits.getBigUint64(0) & 0xfffffffffffffn;
  const mantissa = field === 0 ? fraction : fraction | (1n << 52n);
  return { mantissa: x < 0 ? -mantissa : mantissa, scale: Math.max(field, 1) - 1075 };
}

/** Rounds mantissa * 2^scale (not zero) to a float of `digits` significant bits whose least quantum is 2^least. */
function roundExact({ mantissa, scale }: Exact, digits: number, least: number, largest: number): number {
  const size = mantissa < 0n ? -mantissa : mantissa;
  const quantum = Math.max(scale + size.toString(2).length - digits, least);
  const drop = quantum - scale;
  let kept = drop > 0 ? size >> BigInt(drop) : size << BigInt(-drop);
  if (drop > 0) {
    const rest = size - (kept << BigInt(drop));
    const half = 1n << BigInt(drop - 1);
    if (rest > half || (rest === half && kept & 1n)) kept += 1n;
  }
  // Two factors, because 2^quantum alone may be below the least double.
  const y = Number(kept) * 2 ** Math.ceil(quantum / 2) * 2 ** Math.floor(quantum / 2);
  const bounded = y > largest ? Number.POSITIVE_INFINITY : y;
  return mantissa < 0n ? -bounded : bounded;
}

export type FusedType = 'f16' | 'bf16' | 'f32' | 'f64';

/** Digits, the exponent of the least quantum, and the largest number of what sums of products are rounded to. */
const FUSED: Readonly<Record<FusedType, readonly [digits: number, least: number, largest: number]>> = {
  f16: [11, -24, 65504],
  bf16: [8, -133, 3.3895313892515355e38],
  f32: [24, -149, 3.4028234663852886e38],
  f64: [53, -1074, Number.MAX_VALUE],
};

/** a * b + c, rounded once to `type`. */
export function fusedMultiplyAdd(type: FusedType, a: number, b: number, c: number): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a * b + c;
  if (!Number.isFinite(c)) return c;
  if (a === 0 || b === 0) return a * b + c;
  const x = exact(a);
  const y = exact(b);
  const z = exact(c);
  const productScale = x.scale + y.scale;
  const scale = Math.min(productScale, z.scale);
  const sum = ((x.mantissa * y.mantissa) << BigInt(productScale - scale)) + (z.mantissa << BigInt(z.scale - scale));
  if (sum === 0n) return 0;
  return roundExact({ mantissa: sum, scale }, ...FUSED[type]);
}
