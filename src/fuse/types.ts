/**
 * What `fuse` looks like to the editor.
 */
import type { ArrayKind, EvaluateOptions, Expression } from '../array/expression.ts';

/** What an expression becomes. */
type Evaluated<E> = E extends { evaluate(): infer A } ? A : never;
type AnyExpression = Expression<unknown, ArrayKind>;

/** Evaluates expressions. */
export interface Fuse {
  /**
   * `fuse(a.add(b).mul(2))`, `fuse(expression, { out, stream })`: as `expression.evaluate(…)`.
   * @throws TypeError for anything that is not an expression.
   */
  <O>(expression: AnyExpression, options: EvaluateOptions<O> & { readonly out: O }): O;
  <E extends AnyExpression>(expression: E, options?: EvaluateOptions<undefined>): Evaluated<E>;
  /** The same for devices that compile through promises alone. */
  async<O>(expression: AnyExpression, options: EvaluateOptions<O> & { readonly out: O }): Promise<O>;
  async<E extends AnyExpression>(expression: E, options?: EvaluateOptions<undefined>): Promise<Evaluated<E>>;
}
