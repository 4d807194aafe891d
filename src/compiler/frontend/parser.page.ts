/**
 * The parser of pages: a fifth of acorn, as it judges nothing. It is given the text of functions, which the engine has parsed before.
 */
import type { Expression, Program } from 'acorn';
import { Statements } from './parser/statements.ts';

/** The tree of a script, as acorn makes it. Throws a SyntaxError with `pos`. */
export function parse(text: string, _options: object): Program {
  return new Statements(text, 0).program() as unknown as Program;
}

/** The tree of the expression that begins at `at`, as acorn makes it; what follows is not looked at. Throws a SyntaxError with `pos`. */
export function parseExpressionAt(text: string, at: number, _options: object): Expression {
  return new Statements(text, at).expression() as unknown as Expression;
}
