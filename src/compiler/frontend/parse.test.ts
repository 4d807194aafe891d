import { expect, test } from 'vitest';
import { KernelError } from '../../errors.ts';
import { parseFunction } from './parse.ts';

const parse = (text: string, name = 'k') => parseFunction({ text, name });

function problem(text: string, name = 'k'): { code: string; summary: string; help: string } {
  try {
    parse(text, name);
  } catch (error) {
    if (error instanceof KernelError) return { code: error.code, summary: error.summary, help: error.help ?? '' };
    throw error;
  }
  throw new Error(`${text} was accepted`);
}

test.each([
  ['an arrow with an expression body', '(a) => a + mark'],
  ['an arrow with one bare parameter', 'a => { mark; }'],
  ['a function expression', 'function (a) { mark; }'],
  ['a declaration', 'function foo(a) { mark; }'],
  ['a method', 'foo(a) { mark; }'],
  ['a method with a quoted name', "'a b'(a) { mark; }"],
  ['a method with a computed name', '[Symbol.iterator](a) { mark; }'],
  ['a method called get', 'get(a) { mark; }'],
  ['a method called async', 'async(a) { mark; }'],
  ['a method called if', 'if(a) { mark; }'],
])('%s parses, with offsets into its own text', (_, text) => {
  const node = parse(text);
  expect(node.params).toHaveLength(1);
  const statement = node.body.type === 'BlockStatement' ? node.body.body[0] : undefined;
  const marked = statement?.type === 'ExpressionStatement' ? statement.expression : node.body;
  expect(text.slice(marked.start, marked.end)).toMatch(/mark$/);
});

test.each([
  ['K002', Math.sin.toString(), 'sin', 'native function', 'Math or cuda'],
  ['K002', (() => 0).bind(null).toString(), 'bound k', 'made by bind()', 'pass the function itself'],
  ['K004', 'async (a) => { await a; }', 'k', 'async function', 'remove async'],
  ['K004', 'async foo(a) {}', 'foo', 'async function', 'remove async'],
  ['K005', 'function* (a) { yield a; }', 'k', 'generator function', 'remove the *'],
  ['K005', '*foo(a) {}', 'foo', 'generator function', 'remove the *'],
])('%s for %s', (code, text, name, summary, help) => {
  const found = problem(text, name);
  expect(found.code).toBe(code);
  expect(found.summary).toContain(summary);
  expect(found.help).toContain(help);
});

test('a text that does not parse says where', () => {
  const text = '(a) => { a[0] = ; }';
  expect(problem(text)).toMatchObject({ code: 'K001', summary: expect.stringContaining('Unexpected token') });
  try {
    parse(text);
  } catch (error) {
    expect((error as Error).message).toContain(`${text}\n     |                 ^`);
  }
});
