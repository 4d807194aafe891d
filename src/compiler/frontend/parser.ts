/**
 * The parser.
 */
export { parse, parseExpressionAt } from 'acorn';
