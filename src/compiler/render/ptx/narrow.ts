/**
 * Floats narrower than f32 that PTX converts by instructions, one row each. What is not here, or not on a device, is expanded before
 * (ir/passes/expand-narrow.ts).
 */
import type { NarrowName } from '../../../dtype/index.ts';
import type { ValueType } from '../../ir/ops.ts';
import type { NarrowArithmetic, NativeNarrow } from '../../ir/passes/expand-narrow.ts';
import type { Operand } from './code.ts';
import { type Gen, inRegister, needIsa, TYPES } from './gen.ts';
import type { PtxTarget } from './module.ts';
import { atLeast } from './targets.ts';

interface Native {
  /** The compute capability that it takes: 80 for 8.0. */
  readonly since: number;
  /** The version of PTX that has it, where that is newer than the first that knows the device. */
  readonly isa?: readonly [major: number, minor: number];
  /** What there are conversions from. */
  readonly from: 'all' | 'f32';
  /** The f32 that bits stand for. */
  readonly widen: (g: Gen, bits: Operand) => Operand;
  /** The instruction that rounds; the type of the operand follows. */
  readonly narrow: string;
  /** It makes two at once, of which the second operand is the lower one. */
  readonly pair?: true;
}

const NATIVE: Readonly<Partial<Record<NarrowName, Native>>> = {
  f16: { since: 50, from: 'all', widen: widenHalf, narrow: 'cvt.rn.f16' },
  bf16: {
    since: 80,
    from: 'f32',
    widen: (g, half) => g.code.value('f', 'mov.b32', [`{0, ${half}}`]),
    narrow: 'cvt.rn.bf16',
  },
  f8e4m3: { since: 89, isa: [8, 1], from: 'f32', widen: byte('e4m3'), narrow: 'cvt.rn.satfinite.e4m3x2', pair: true },
  f8e5m2: { since: 89, isa: [8, 1], from: 'f32', widen: byte('e5m2'), narrow: 'cvt.rn.satfinite.e5m2x2', pair: true },
};

function widenHalf(g: Gen, half: Operand): Operand {
  return g.code.value('f', 'cvt.f32.f16', [half]);
}

/** Bytes become halves, two at once. */
function byte(format: string): Native['widen'] {
  return (g, bits) => {
    const two = g.code.value('r', `cvt.rn.f16x2.${format}x2`, [bits]);
    return widenHalf(g, g.code.value('h', 'cvt.u16.u32', [two]));
  };
}

/** What a device with such a driver converts itself. */
export function nativeNarrow({ capability, isa }: PtxTarget): NativeNarrow {
  const known = Object.entries(NATIVE).filter(
    ([, native]) => native.since <= capability && (native.isa === undefined || atLeast(isa, native.isa)),
  );
  return Object.fromEntries(known.map(([name, { from }]) => [name, from]));
}

/** What it computes in by itself. */
export function nativeArithmetic({ capability, isa }: PtxTarget): NarrowArithmetic {
  return {
    fused: [...(capability >= 53 ? (['f16'] as const) : []), ...(capability >= 80 ? (['bf16'] as const) : [])],
    added: [
      ...(capability >= 70 && atLeast(isa, [6, 3]) ? (['f16'] as const) : []),
      ...(capability >= 90 && atLeast(isa, [7, 8]) ? (['bf16'] as const) : []),
    ],
  };
}

function nativeOf(g: Gen, name: NarrowName): Native {
  const native = NATIVE[name];
  if (native === undefined) throw new Error(`internal error: ${name} should have been expanded`);
  if (native.isa !== undefined) needIsa(g, ...native.isa);
  return native;
}

/** The f32 that the bits of a narrow float stand for. */
export function widenNarrow(g: Gen, name: NarrowName, bits: Operand): Operand {
  const value = nativeOf(g, name).widen(g, bits);
  if (name === 'f16' || name === 'bf16') g.halves.set(value, { name, bits });
  return value;
}

/** An instruction on halves, given as the f32 that they are; its result is one, too. */
export function halfOp(g: Gen, name: 'f16' | 'bf16', op: string, operands: readonly Operand[]): Operand {
  const bits = operands.map((a) => toNarrow(g, name, 'f32', inRegister(g, 'f32', a)));
  return widenNarrow(g, name, g.code.value('h', `${op}.${name}`, bits));
}

/** The bits nearest to a value; of what has been made from bits these. */
export function toNarrow(g: Gen, name: NarrowName, from: ValueType, a: Operand): Operand {
  const known = g.halves.get(a);
  if (known?.name === name) return known.bits;
  const { narrow, pair } = nativeOf(g, name);
  return g.code.value('h', `${narrow}.${TYPES[from].arith}`, pair ? ['0f00000000', a] : [a]);
}
