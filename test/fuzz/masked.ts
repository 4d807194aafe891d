/**
 * Indices that are brought into range by a mask, and wander within it: `k + 4 * (k & 3)` and its like.
 *
 * Loops over them are what compilers turn into shuffles of whole vectors, and get wrong.
 */
import type { BinOp, Expr } from './program.ts';
import type { Random } from './random.ts';

function word(v: number): Expr {
  return { t: 'i32', k: 'lit', v, polymorphic: true };
}

function join(op: BinOp, a: Expr, b: Expr): Expr {
  return { t: 'i32', k: 'bin', op, a, b };
}

/** A permutation or a gather of 0, 1, 2, …, not yet in range; `x` is such a number. */
export function wandering(r: Random, x: Expr): Expr {
  const [m, s] = [r.pick([1, 3, 3, 7]), 1 + r.below(3)];
  const part = (): Expr => join('and', x, word(m));
  const factor = word(r.pick([-5, -1, 2, 3, 4, 4, 5, 6, 7, 8]));
  return r.weighted<() => Expr>([
    [4, () => join('add', x, join('mul', part(), factor))],
    [1, () => join('sub', join('mul', part(), factor), x)],
    [2, () => join('xor', x, word(r.below(16)))],
    [3, () => join('mul', x, factor)],
    [1, () => join('add', join('mul', x, factor), word(r.below(16)))],
    [1, () => join('add', x, join('mul', join('shr', x, word(s)), factor))],
    [1, () => join('or', join('shl', x, word(s)), join('shr', x, word(4 - s)))],
    [1, () => join('or', join('and', x, word(~m)), join('and', join('add', x, word(1)), word(m)))],
    [1, () => join('sub', word(r.below(16)), x)],
    [1, () => join('xor', x, join('shr', x, word(s)))],
  ])();
}
