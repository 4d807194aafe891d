/**
 * Floats narrower than f32, as bits: encoding and decoding on the host, of any format that `table.ts` has.
 *
 * Engines have nothing for most of them; Node 20 has neither Float16Array nor Math.f16round. Encoding rounds once, from the double, half
 * to even; going through f32 first would round twice. On devices it is compiler/ir/passes/expand-narrow.ts.
 */
import type { NarrowFloat } from './table.ts';

/** How values of one format become bits and back. */
export interface NarrowCodec {
  decode(bits: number): number;
  /**
   * The bits of the nearest value, ties to even; overflow gives infinity, or the greatest number where the format saturates. Every NaN is the
   * same quiet one, without a sign.
   */
  encode(value: number): number;
}

const CODECS = new Map<NarrowFloat, NarrowCodec>();

/** The codec of a format. */
export function narrowCodec(format: NarrowFloat): NarrowCodec {
  let codec = CODECS.get(format);
  if (codec === undefined) {
    codec = makeCodec(format);
    CODECS.set(format, codec);
  }
  return codec;
}

/** The bits of the greatest number. */
export function greatestOf({ exponentBits, fractionBits, finite }: NarrowFloat): number {
  return 2 ** (exponentBits + fractionBits) - (finite ? 2 : 1 + 2 ** fractionBits);
}

/** The bits of the NaN that conversions give. */
export function nanOf({ exponentBits, fractionBits, finite }: NarrowFloat): number {
  return 2 ** (exponentBits + fractionBits) - (finite ? 1 : 2 ** (fractionBits - 1));
}

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

function makeCodec(format: NarrowFloat): NarrowCodec {
  const { exponentBits, fractionBits, saturates } = format;
  const bias = 2 ** (exponentBits - 1) - 1;
  const special = 2 ** exponentBits - 1;
  const implicit = 2 ** fractionBits;
  const sign = 2 ** (exponentBits + fractionBits);
  const nan = nanOf(format);
  const greatest = greatestOf(format);
  const last = Math.floor(greatest / implicit);
  // What would follow the last binade; what is rounded up to it below has the bits of infinity.
  const overflow = 2 ** (last - bias + 1);
  const limit = saturates ? greatest : special * implicit;
  // The value of the last bit in the binades of the normal values. The subnormals have that of the first.
  const units: readonly number[] = Array.from({ length: last }, (_, i) => 2 ** (i + 1 - bias - fractionBits));
  return {
    decode(bits) {
      const factor = bits & sign ? -1 : 1;
      const exponent = (bits >> fractionBits) & special;
      const fraction = bits & (implicit - 1);
      if (exponent > last) return fraction === 0 ? factor * Number.POSITIVE_INFINITY : Number.NaN;
      if (bits % sign === nan) return Number.NaN;
      if (exponent === 0) return factor * fraction * (units[0] ?? 0);
      return factor * (implicit + fraction) * (units[exponent - 1] ?? 0);
    },
    encode(value) {
      if (Number.isNaN(value)) return nan;
      const signed = value < 0 || Object.is(value, -0) ? sign : 0;
      const magnitude = Math.abs(value);
      if (magnitude >= overflow) return signed | limit;
      DOUBLE[0] = magnitude;
      const binade = Math.max(((WORDS[1] ?? 0) >>> 20) - 1024 + bias, 0);
      const count = roundHalfEven(magnitude / (units[binade] ?? 1));
      // The implicit bit of a normal value is worth one exponent step, hence no other case for subnormals; and the carry out of a
      // fraction that rounds up lands in the exponent by itself.
      return signed | Math.min(binade * implicit + count, limit);
    },
  };
}

/** Rounds a non-negative number below 2^52 to an integer, ties to even. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest > 0.5) return floor + 1;
  if (rest < 0.5) return floor;
  return floor + (floor % 2);
}
