/**
 * The shape of an expression, given the shapes of the variables in it: the transfer rules of the uniformity analysis.
 *
 * What control does to variables is `uniformity.ts`'s part. Rules hold for the threads that are active at a place.
 */
import type { ArraySym, ElemType, Expr, Special, Var } from '../ops.ts';
import { isInt } from '../ops.ts';
import { alignedShape, rangeOf } from './alignment.ts';
import { exprParts } from './walk.ts';

/**
 * G: the same in the whole block. U: the same in one vector of `lanes` consecutive threadIdx.x. C: an integer that is
 * base + lane (mod 2^width), base being U. V: anything.
 */
export type Shape = 'G' | 'U' | 'C' | 'V';

export interface UniformityOptions {
  /** The block shape where it is a constant of the compilation. */
  readonly block?: readonly [number, number, number] | undefined;
  /** Threads in one vector. 1: every value that is not G is U. Absent: vectors do not matter, there are only G and V. */
  readonly lanes?: number | undefined;
  /**
   * Whether each vector is a warp, and `laneId` its lanes. `partial`: where a row ends before the last of them, and `lanes` may be
   * fewer than 32 where that is all of the block.
   */
  readonly warps?: 'whole' | 'partial' | undefined;
  /** After return lowering: the flag that says whether a thread has not returned yet. */
  readonly live?: Var | undefined;
  /** Ids of variables that are known to be the same in the whole block, for threads that have not returned. */
  readonly uniform?: ReadonlySet<number> | undefined;
}

/** What the rules must know of the kernel. */
export interface ShapeFacts {
  readonly options: UniformityOptions;
  readonly varShape: (v: Var) => Shape;
  /** Whether the kernel stores to the array or updates it atomically. */
  readonly isWritten: (array: ArraySym) => boolean;
  /** Whether nothing can be stored to the array while some thread of the block has yet to do this load. */
  readonly isSteady: (load: Expr) => boolean;
  /** All values that are assigned to a variable; undefined where it may have others. */
  readonly values: (v: Var) => readonly Expr[] | undefined;
  /** Shapes found before, where they are final. */
  readonly known?: Map<Expr, Shape> | undefined;
}

/** The shape of a value that has one of two shapes. */
export function join(a: Shape, b: Shape): Shape {
  if (a === b) return a;
  if (a === 'C' || b === 'C') return 'V';
  return a === 'V' || b === 'V' ? 'V' : 'U';
}

/** The shape in terms that these options can tell apart. */
export function coarsen(shape: Shape, { lanes }: UniformityOptions): Shape {
  if (shape === 'G' || lanes === undefined) return shape === 'G' ? 'G' : 'V';
  return lanes === 1 ? 'U' : shape;
}

const steady = (s: Shape): boolean => s === 'G' || s === 'U';

export function exprShape(e: Expr, facts: ShapeFacts): Shape {
  const known = facts.known?.get(e);
  if (known !== undefined) return known;
  const shape = coarsen(ownShape(e, facts), facts.options);
  facts.known?.set(e, shape);
  return shape;
}

function ownShape(e: Expr, facts: ShapeFacts): Shape {
  const shape = (x: Expr): Shape => exprShape(x, facts);
  switch (e.op) {
    case 'const':
    case 'param':
      return 'G';
    case 'var':
      return facts.varShape(e.var);
    case 'special':
      return specialShape(e.name, facts.options);
    case 'unary':
      if (e.fn === 'uniform') return 'G';
      return pointwise([shape(e.a)]);
    case 'binary': {
      const [a, b] = [shape(e.a), shape(e.b)];
      if (isInt(e.type)) {
        if (e.fn === 'add' && ((a === 'C' && steady(b)) || (steady(a) && b === 'C'))) return 'C';
        if (e.fn === 'sub' && a === 'C' && steady(b)) return 'C';
        const aligned = a === 'C' && steady(b) ? shapeByAlignment(e, facts) : undefined;
        if (aligned !== undefined) return aligned;
      }
      return pointwise([a, b]);
    }
    case 'select': {
      const cond = shape(e.cond);
      const arms = join(shape(e.a), shape(e.b));
      return arms === 'C' && steady(cond) ? 'C' : pointwise([cond, arms]);
    }
    case 'cast': {
      const a = shape(e.a);
      return a === 'C' && keepsConsecutive(e.a, e.to, facts) ? 'C' : pointwise([a]);
    }
    case 'bitcast': {
      const a = shape(e.a);
      return a === 'C' && isInt(e.type) && isInt(e.a.type) ? 'C' : pointwise([a]);
    }
    case 'load':
      return loadShape(e, facts);
    default:
      return pointwise(exprParts(e).map(shape));
  }
}

/** The shape of any function of values of these shapes: consecutive ones stop being so. */
function pointwise(shapes: readonly Shape[]): Shape {
  const joined = shapes.reduce(join, 'G');
  return joined === 'C' ? 'V' : joined;
}

function specialShape(name: Special, { block, lanes = 1, warps }: UniformityOptions): Shape {
  switch (name) {
    case 'threadIdx.x':
      return block?.[0] === 1 ? 'G' : 'C';
    case 'threadIdx.y':
    case 'threadIdx.z':
      if (block?.[name === 'threadIdx.y' ? 1 : 2] === 1) return 'G';
      // A vector stays within one row only where rows are whole numbers of vectors.
      return block && block[0] % lanes === 0 ? 'U' : 'V';
    case 'laneId':
      return warps ? 'C' : 'V';
    default:
      return 'G';
  }
}

function loadShape(e: Expr & { op: 'load' }, facts: ShapeFacts): Shape {
  const index = pointwise(exprParts(e).map((x) => exprShape(x, facts)));
  const { array } = e.mem;
  if (array.space === 'local' || !steady(index)) return 'V';
  // Where the kernel writes the array, another thread may have done so between two threads' loads; the lanes of one
  // vector, however, load in one instant.
  return facts.isWritten(array) && !facts.isSteady(e) ? 'U' : index;
}

/** Whether a conversion of base + lane is base' + lane: narrowing always, widening only where nothing wraps. */
function keepsConsecutive(a: Expr, to: ElemType, { options, values }: ShapeFacts): boolean {
  const target = to === 'i32' || to === 'u32' ? 32 : to === 'i64' || to === 'u64' ? 64 : 0;
  const source = a.type === 'i32' || a.type === 'u32' ? 32 : 64;
  if (target === 0) return false;
  return target <= source || rangeOf(a, { block: options.block, values }) !== undefined;
}

/** The shape of `a fn b` with a consecutive `a`, where it rests on vectors that begin at multiples of their lanes. */
export function shapeByAlignment(e: Expr & { op: 'binary' }, { options, values }: ShapeFacts): Shape | undefined {
  return alignedShape(e, { lanes: options.lanes ?? 1, block: options.block, values });
}
