/**
 * Floats narrower than f32 that PTX converts by instructions, one row each. What is not here, or not on a device, is expanded before
 * (ir/passes/expand-narrow.ts).
 */
import type { NarrowName } from '../../../dtype/index.ts';
import type { ValueType } from '../../ir/ops.ts';
import type { NativeNarrow } from '../../ir/passes/expand-narrow.ts';
import type { Operand } from './code.ts';
import { type Gen, TYPES } from './gen.ts';

interface Native {
  /** The compute capability that it takes: 80 for 8.0. */
  readonly since: number;
  /** What there are conversions from. */
  readonly from: 'all' | 'f32';
  /** The instruction that makes an f32 of 16 bits, and its operand. */
  readonly widen: (half: Operand) => readonly [op: string, operand: Operand];
  /** That which rounds; the type of the operand follows. */
  readonly narrow: string;
}

const NATIVE: Readonly<Partial<Record<NarrowName, Native>>> = {
  f16: { since: 50, from: 'all', widen: (half) => ['cvt.f32.f16', half], narrow: 'cvt.rn.f16' },
  bf16: { since: 80, from: 'f32', widen: (half) => ['mov.b32', `{0, ${half}}`], narrow: 'cvt.rn.bf16' },
};

/** What a device of this compute capability converts itself. */
export function nativeNarrow(capability: number): NativeNarrow {
  const known = Object.entries(NATIVE).filter(([, { since }]) => since <= capability);
  return Object.fromEntries(known.map(([name, { from }]) => [name, from]));
}

function nativeOf(name: NarrowName): Native {
  const native = NATIVE[name];
  if (native === undefined) throw new Error(`internal error: ${name} should have been expanded`);
  return native;
}

/** The f32 that 16 bits stand for. */
export function widenHalf(g: Gen, name: NarrowName, half: Operand): Operand {
  const [op, operand] = nativeOf(name).widen(half);
  return g.code.value('f', op, [operand]);
}

/** The 16 bits nearest to a value. */
export function toHalf(g: Gen, name: NarrowName, from: ValueType, a: Operand): Operand {
  return g.code.value('h', `${nativeOf(name).narrow}.${TYPES[from].arith}`, [a]);
}
