/**
 * What a row of the table of intrinsics says: all there is to know of an operation on integers that neither JavaScript nor the passes of the
 * IR know by name.
 *
 * Type rules, verifier, constant folding, interpreter, simulator and renderers read it; an operation that a renderer has no form of is
 * expanded there. Rows are pure functions of their operands, all of one type, which is the result's too: a result is uniform where the
 * operands are. What threads do together, or what touches memory, is a statement of the IR and no row.
 */

/** Types that rows compute in; indices, literals and narrow data become one of them. */
export type IntrinsicType = 'i32' | 'u32' | 'i64' | 'u64';

/** `E` is an expression of the IR: a parameter, so that the IR can name rows in its expressions. */
export interface Intrinsic<E> {
  /** As users write it after `cuda.`. */
  readonly name: string;
  readonly arity: number;
  /** Of integers of 32 bits that miss here, the bits are taken as u32. */
  readonly types: readonly IntrinsicType[];
  /**
   * The author's type of a call: `int`, a small integer that adopts the type of what it meets; `operand`, the same, but of indices an index and of
   * 64 bits as many. Absent: the type that is computed in.
   */
  readonly result?: 'operand' | 'int';
  /** What it means. The result is wrapped into the type. Absent: calls are their expansion from the start, on every device. */
  evaluate?(type: IntrinsicType, ...operands: readonly bigint[]): bigint;
  /** The same in other operations of the IR. Operands may be used more than once. */
  expand?(...operands: readonly E[]): E;
  readonly native?: NativeForms;
}

/** How devices say it. Where one is absent, or answers undefined, the expansion takes its place. */
export interface NativeForms {
  /** PTX: the instruction with its type, for `sm` ten times the compute capability. */
  ptx?(type: IntrinsicType, sm: number): string | undefined;
  /** PTX gives 32 bits, whatever the width of the operand. */
  readonly ptxGives32?: boolean;
  /** OpenCL C: what to call, or a function of the operands `a`, `b`, `c`. */
  readonly opencl?: CForm;
  /** HIP C++ for an architecture such as `gfx90a`; absent, as OpenCL C. */
  hip?(arch: string, type: IntrinsicType): CForm | undefined;
  /** WGSL: of a word, and of two as the words `a.x` and `a.y`, the operand with 64 bits. */
  readonly wgsl?: { readonly word: string; readonly wide: string };
  /** WebAssembly: the instruction, without the type. */
  readonly wasm?: string;
  /** The same on vectors: instructions one after the other, after the operands. Where there is none, lane by lane. */
  simd?(lanes: 'i32x4' | 'i64x2'): readonly string[] | undefined;
  /** JavaScript on values as the simulator keeps them; where there is none, `evaluate`. */
  js?(type: IntrinsicType, ...operands: readonly string[]): string | undefined;
}

export type CForm = { readonly call: string } | { body(words: CWords): string };

/** What the text of a C function is made from. */
export interface CWords {
  /** The type. */
  readonly T: string;
  /** The unsigned integer of its width. */
  readonly U: string;
  readonly bits: 32 | 64;
}

export function bitsOf(type: IntrinsicType): 32 | 64 {
  return type === 'i64' || type === 'u64' ? 64 : 32;
}

/** The digits of an integer, as many as its type has bits. */
export function binaryDigits(type: IntrinsicType, a: bigint): string {
  const bits = bitsOf(type);
  return BigInt.asUintN(bits, a).toString(2).padStart(bits, '0');
}
