/**
 * IEEE half precision, as bits: encoding and decoding without the engine's help.
 *
 * Node 20 has neither Float16Array nor Math.f16round. Encoding rounds once, from the double, half to even; going through
 * f32 first would round twice.
 */

/** The value of 16 bits read as IEEE binary16. */
export function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

/** Units in the last place per one: 2^(10 - e) for the binades of the normal halves, e = -14 … 15. */
const UNITS: readonly number[] = Array.from({ length: 30 }, (_, i) => 2 ** (24 - i));

/** The 16 bits of the binary16 nearest to a number, ties to even; overflow gives infinity. */
export function encodeHalf(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  // Halfway between the largest half, 65504, and what would follow it; the tie goes to infinity, which is even.
  if (magnitude >= 65520) return sign | 0x7c00;
  DOUBLE[0] = magnitude;
  // Below 2^-14 the distance between neighbours stays 2^-24: those are the subnormals.
  const binade = Math.max(((WORDS[1] ?? 0) >>> 20) - 1023 + 14, 0);
  const units = roundHalfEven(magnitude * (UNITS[binade] ?? 1));
  // The implicit bit of a normal half is worth one exponent step, hence no other case for subnormals; and the carry out of a
  // fraction that rounds up lands in the exponent by itself.
  return sign | ((binade << 10) + units);
}

/** A number rounded to the nearest half. */
export function roundToHalf(value: number): number {
  return decodeHalf(encodeHalf(value));
}

/** Rounds a non-negative number below 2^52 to an integer, ties to even. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest > 0.5) return floor + 1;
  if (rest < 0.5) return floor;
  return floor + (floor % 2);
}
