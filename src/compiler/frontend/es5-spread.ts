/**
 * What older targets make of `{ ...a, x }`: a call of a helper, which is taken back to the literal that the author wrote.
 *
 * esbuild's `__spreadValues`, TypeScript's `__assign`, Babel's and swc's `_objectSpread` copy the members of all their arguments into the
 * first one, a literal of their own. They are known by their source, as minifiers rename them.
 */
import type { CallExpression, Node } from 'acorn';

/** Whether a captured function is a helper that merges its arguments. */
export function isSpreadHelper(value: unknown): boolean {
  if (typeof value !== 'function') return false;
  if (value === Object.assign) return true;
  const text = Function.prototype.toString.call(value);
  return PATTERNS.some((pattern) => pattern.test(text));
}

const PATTERNS: readonly RegExp[] = [
  // esbuild: for (var prop in b || (b = {}))
  /for\s*\(\s*var\s+[\w$]+\s+in\s+([\w$]+)\s*\|\|\s*\(?\s*\1\s*=\s*\{\s*\}/,
  // Babel and swc: for (var i = 1; i < arguments.length; i++) … Object.getOwnPropertySymbols or …Descriptors
  /^function[\s\S]*arguments\.length[\s\S]*\.getOwnProperty(?:Symbols|Descriptors)\b/,
  // swc: Object.defineProperties(target, Object.getOwnPropertyDescriptors(source))
  /^function[\s\S]*\.defineProperties\(\s*[\w$]+,\s*Object\.getOwnPropertyDescriptors\(\s*[\w$]+\s*\)/,
  // TypeScript: __assign = Object.assign || function (t) { … }
  /=\s*Object\.assign\s*\|\|\s*function/,
];

/** `{ ...a, ...b }` of `helper(a, b)`. */
export function spreadLiteral({ arguments: args, start, end }: CallExpression): Node {
  const properties = args.map((argument) => ({
    type: 'SpreadElement',
    argument,
    start: argument.start,
    end: argument.end,
  }));
  return { type: 'ObjectExpression', properties, start, end } as unknown as Node;
}
