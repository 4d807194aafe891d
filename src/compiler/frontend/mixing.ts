/**
 * Errors of numbers whose types do not mix: what stands together, and what to write instead.
 */
import { isFloatType, isIntegerType, isWide, nameOf, plain, type Type } from '../types/lattice.ts';
import type { TExpr } from '../types/tree.ts';
import { numeric, typeOf } from '../types/typing.ts';
import { textOf } from './convert.ts';
import { fail } from './diagnostics.ts';

/** Two operands that an operator does not take together. */
export function refuseMix(operator: string, e: TExpr, a: TExpr, b: TExpr): never {
  const [ta, tb] = [numeric(typeOf(a)), numeric(typeOf(b))];
  const symbols: Readonly<Record<string, string>> = { add: '+', sub: '-', mul: '*', div: '/', rem: '%', pow: '**' };
  const op = symbols[operator] ?? operator;
  const words: Readonly<Record<string, string>> = { '+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide' };
  const verb = words[op];
  const summary =
    verb === undefined
      ? `${op} does not take ${nameOf(ta)} and ${nameOf(tb)} together`
      : `cannot ${verb} ${nameOf(ta)} and ${nameOf(tb)}`;
  fail('K203', e.pos, summary, {
    labels: [
      { pos: a.pos, text: nameOf(ta) },
      { pos: b.pos, text: nameOf(tb) },
    ],
    help: mixHelp(ta, tb, textOf(a.pos), textOf(b.pos)),
  });
}

/** What needs the sign of an integer whose 32 bits stand for two numbers, because of what is `beyond` i32 in it. */
export function refuseOpenSign(what: string, e: TExpr, beyond: TExpr): never {
  const text = textOf(e.pos);
  const x = /^[\w$.[\]]+$/.test(text) ? text : `(${text})`;
  fail('K219', e.pos, `${what} needs the sign of ${text}, which is both i32 and u32`, {
    labels: [
      { pos: e.pos, text: 'of either sign' },
      { pos: beyond.pos, text: beyond.k === 'lit' ? 'beyond i32' : nameOf(typeOf(beyond)) },
    ].slice(beyond.pos.start === e.pos.start ? 1 : 0),
    help: `write ${x} | 0 for i32, or ${x} >>> 0 for u32`,
  });
}

function mixHelp(ta: Type, tb: Type, a: string, b: string): string {
  if (isWide(ta) !== isWide(tb)) {
    const [wide, other, narrow, t] = isWide(ta) ? [a, b, tb, ta] : [b, a, ta, tb];
    return isIntegerType(narrow) && !isFloatType(narrow)
      ? `write ${nameOf(t === 'B' ? 'i64' : t)}(${other})`
      : `write Number(${wide})`;
  }
  if (plain(ta) === 'u32') return `write i32(${a}) or u32(${b})`;
  if (plain(tb) === 'u32') return `write i32(${b}) or u32(${a})`;
  return `write i64(${ta === 'u64' ? a : b}) or u64(${ta === 'u64' ? b : a})`;
}
