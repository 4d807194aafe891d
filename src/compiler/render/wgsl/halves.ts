/**
 * f16 as an adapter computes it: by the feature `shader-f16`, or by the built-in functions that pack halves. Both are used where they have been seen to round as IEEE 754 does, and to keep subnormal numbers;
 * elsewhere f16 has been expanded to integer operations before.
 *
 * Values are f32 that are halves; what rounds to halves does so after each operation, so that nothing can be contracted.
 *
 * W3C: WGSL, https://www.w3.org/TR/WGSL/: f16, pack2x16float.
 */
import { call, define, type Gen, nothing } from './code.ts';
import type { Halves } from './module.ts';

type Name = 'half_bits' | 'half_value' | 'half_round';

/** By its bits, combined with those of nothing: Mesa takes a conversion to f16 and back for none. */
const ROUND = 'fn half_round(x: f32) -> f32 { return half_value(half_bits(x) ^ nothing); }';
/** What the packing functions do beyond the greatest half, WGSL leaves open: SwiftShader makes NaNs of it. */
const PACKED =
  'select(pack2x16float(vec2<f32>(x, 0.0f)), ((bitcast<u32>(x) >> 16u) & 0x8000u) | 0x7c00u, abs(x) >= 65520.0f)';

export const HALF_FUNCTIONS: Readonly<Record<Halves, Readonly<Record<Name, string>>>> = {
  f16: {
    half_bits: 'fn half_bits(x: f32) -> u32 { return bitcast<u32>(vec2<f16>(f16(x), 0.0h)); }',
    half_value: 'fn half_value(bits: u32) -> f32 { return f32(bitcast<vec2<f16>>(bits).x); }',
    half_round: ROUND,
  },
  packed: {
    half_bits: `fn half_bits(x: f32) -> u32 { return ${PACKED}; }`,
    half_value: 'fn half_value(bits: u32) -> f32 { return unpack2x16float(bits).x; }',
    half_round: ROUND,
  },
};

/** What a module needs before all else that uses them. */
export function halvesEnabledBy(halves: Halves): string {
  return halves === 'f16' ? 'enable f16;' : '';
}

/** The call of one of them. */
export function half(g: Gen, name: Name, x: string): string {
  const { halves } = g.options.abilities ?? {};
  if (halves === undefined) throw new Error('internal error: f16 was not expanded');
  if (halves === 'f16') g.enabled.add('f16');
  if (name === 'half_round') {
    nothing(g);
    half(g, 'half_bits', x);
    half(g, 'half_value', x);
  }
  return call(define(g, name, HALF_FUNCTIONS[halves][name]), x);
}
