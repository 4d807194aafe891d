/**
 * Which values are the same for all threads of a block, for the lanes of one SIMD vector, or consecutive across them.
 *
 * One lattice serves two readers: barrier legality on every device asks only for G; SIMD renderers want all four shapes.
 * A variable has one shape for the whole kernel. Divergent control counts: what is assigned under it differs afterwards.
 */
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';

/**
 * G: the same in the whole block. U: the same in one vector of `lanes` consecutive threadIdx.x. C: an integer that is
 * base + lane (mod its width), base being U. V: anything.
 */
export type Shape = 'G' | 'U' | 'C' | 'V';

export interface UniformityOptions {
  /** The block shape where it is a constant of the compilation. */
  readonly block?: readonly [number, number, number] | undefined;
  /** Threads in one vector. 1: every value that is not G is U. Absent: vectors do not matter, there are only G and V. */
  readonly lanes?: number | undefined;
}

/** One step of the answer to "why is this not uniform?". */
export interface Reason {
  readonly text: string;
  readonly pos?: import('../../source.ts').Pos | undefined;
}

export interface Uniformity {
  /** The shape of an expression. Among the threads that are active where it is evaluated. */
  shape(expr: Expr): Shape;
  varShape(v: Var): Shape;
  /**
   * How threads part in this construct. `if`: its condition. `loop`: the exits and continues under divergent control
   * inside it. `block`: the breaks to it under divergent control inside it. G: they do not; U: whole vectors do; V: lanes do.
   * Early returns count for `if` and `loop` alike: lanes that returned are missing from there on.
   */
  divergence(stmt: Stmt & { op: 'if' | 'loop' | 'block' }): 'G' | 'U' | 'V';
  /**
   * SIMD: whether an assignment to a V variable must keep the old value of inactive lanes. False where no inactive lane
   * ever reads the variable again before writing it: then the plain assignment is right under any mask.
   */
  needsBlend(stmt: Stmt & { op: 'assign' }): boolean;
  /** The chain of reasons why an expression is not G, outermost first; empty when it is. */
  why(expr: Expr): readonly Reason[];
}

export function analyseUniformity(kernel: Kernel, options: UniformityOptions = {}): Uniformity {
  throw new Error(`not there yet ${kernel.name} ${options.lanes}`);
}
