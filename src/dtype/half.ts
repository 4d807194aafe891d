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

/** The 16 bits of the binary16 nearest to a number, ties to even; overflow gives infinity. */
export function encodeHalf(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  // Halfway between the largest half, 65504, and what would follow it; the tie goes to infinity, which is even.
  if (magnitude >= 65520) return sign | 0x7c00;
  // The distance between neighbours is 2^-24 among the subnormals and doubles with each power of two above 2^-14.
  let exponent = -14;
  while (exponent < 15 && magnitude >= 2 ** (exponent + 1)) exponent++;
  const units = roundHalfEven(magnitude / 2 ** (exponent - 10));
  // Subnormals have no implicit bit. Otherwise the carry out of a fraction that rounds up lands in the exponent by itself.
  const bits = exponent === -14 ? units : ((exponent + 14) << 10) + units;
  return sign | bits;
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
