/**
 * Sums and products that compilers must not see through. WGSL lets them regroup floats, and NVIDIA's for Vulkan does: it takes `(x + c) - c` for `x` also where c is only known at run time.
 * Numbers are rounded to whole ones so, and what a sum lost is found so: Knuth, "The Art of Computer Programming" 2, 4.2.2, and Kahan's sums.
 */
import type { Expr } from '../../ir/ops.ts';
import type { FloatSum, Gen, Print } from './code.ts';
import { nothing } from './code.ts';
import { operandOf, roundsBy } from './constants.ts';

/** A float of which compilers do not see how it was made. */
export function settled(g: Gen, value: string): string {
  return `bitcast<f32>(bitcast<u32>(${value}) | ${nothing(g)})`;
}

function isSum(e: Expr): e is FloatSum {
  return e.op === 'binary' && e.type === 'f32' && (e.fn === 'add' || e.fn === 'sub');
}

/** Remembers what a variable was last given, where it is a sum. */
export function noteSum(g: Gen, id: number, value: Expr): void {
  if (isSum(value)) g.sums.set(id, value);
  else g.sums.delete(id);
}

function same(a: Expr, b: Expr): boolean {
  if (a.op === 'var') return b.op === 'var' && a.var === b.var;
  if (a.op === 'param') return b.op === 'param' && a.param === b.param;
  return a.op === 'const' && b.op === 'const' && Object.is(a.value, b.value);
}

/** Whether `other`, added to or taken from the sum that `e` is, would leave one of the sum's own operands. */
function cancels(g: Gen, e: Expr, other: Expr, fn: 'add' | 'sub'): boolean {
  const sum = e.op === 'var' ? g.sums.get(e.var.id) : isSum(e) ? e : undefined;
  // What rounds by a constant is settled as it is made.
  if (sum === undefined || roundsBy(sum.a) || roundsBy(sum.b)) return false;
  if (fn === 'add') return sum.fn === 'sub' && same(sum.b, other);
  if (sum.fn === 'add') return same(sum.a, other) || same(sum.b, other);
  // (p - q) - p is -q, p - (p - q) is q.
  return same(sum.a, other);
}

/** A sum or a difference of f32, rounded as it is written. */
export function sumOf(g: Gen, print: Print, e: Expr & { readonly op: 'binary' }, fn: 'add' | 'sub'): string {
  const { a, b } = e;
  const operand = (side: 'a' | 'b'): string => {
    const text = operandOf(g, print, e, side);
    return cancels(g, e[side], side === 'a' ? b : a, fn) ? settled(g, text) : text;
  };
  const sum = `(${operand('a')} ${fn === 'add' ? '+' : '-'} ${operand('b')})`;
  return roundsBy(a) || roundsBy(b) ? settled(g, sum) : sum;
}

/** A product of f32. WGSL lets compilers round it together with a sum that it is part of ("Reassociation and fusion" in its specification); of a kernel that may not contract they do not see it. */
export function productOf(g: Gen, a: string, b: string): string {
  const product = `(${a} * ${b})`;
  return g.kernel.contract ? product : settled(g, product);
}
