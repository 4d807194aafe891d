/**
 * Expressions that generators of programs write over and over.
 */
import type { BinOp, CmpOp, Expr, LValue, Special } from './program.ts';

/** What a thread knows of its place. */
export const special = (what: Special): Expr => ({ t: 'i32', k: 'thread', what });

/** An integer that adopts the type of what it stands beside. */
export const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v, polymorphic: true });

/** An operation, of its first operand's type where nothing else is said. */
export const join = (op: BinOp, a: Expr, b: Expr, t: Expr['t'] = a.t): Expr => ({ t, k: 'bin', op, a, b });

export const compare = (op: CmpOp, a: Expr, b: Expr): Expr => ({ t: 'bool', k: 'cmp', op, a, b });

/** A variable. */
export const named = (name: string, t: Expr['t'] = 'i32'): Expr => ({ t, k: 'var', name });

/** The element at an index, whatever that is. */
export const raw = (index: Expr): LValue => ({ form: 'raw', index: [index] });
