/**
 * What the parts of the lowering of expressions ask of the whole (`lower-expression.ts`).
 */
import type { Expr, ValueType } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Type } from '../types/lattice.ts';
import type { Signs } from '../types/signs.ts';
import type { TExpr } from '../types/tree.ts';
import type { Use } from './convert.ts';
import type { Symbols } from './symbols.ts';

export interface Lowering {
  readonly symbols: Symbols;
  readonly indexBits: 32 | 64;
  readonly defaultFloat: 'f32' | 'f64';
  readonly signs: Signs;
  readonly quotients: { truncated(e: TExpr): Expr | undefined };
  /** Statements needed before the one being lowered: only temporaries. */
  readonly hold: (value: Expr, pos: Pos) => Expr;
  machine(t: Type): ValueType;
  /** The machine type to compute in, when the types of the operands say `t` and the context wants `want`. */
  settle(t: Type, want: ValueType | undefined): ValueType;
  /** The same of an expression, of operands of type `t`: powers of integers are computed in the float that is wanted. */
  computed(e: TExpr, t: Type, want: ValueType | undefined): ValueType;
  /** A value of machine type `want`, of what is computed in type `t`. */
  to(e: TExpr, want: ValueType, use?: Use, t?: Type): Expr;
  /** As a condition. */
  bool(e: TExpr): Expr;
  /** The value, in its own type or, where it has none, in `want`. The result need not be of type `want`. */
  lower(e: TExpr, want: ValueType | undefined): Expr;
  /** Refuses an integer whose 32 bits may stand for two numbers, where it is computed in `want`. */
  settled(e: TExpr, what?: string, want?: ValueType): TExpr;
  /** Refuses operands that do not mix; `signed`: where the sign counts. */
  operands(operator: string, e: TExpr, a: TExpr, b: TExpr, signed?: boolean): void;
}
