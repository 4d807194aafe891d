import { type AnyNode, parseExpressionAt } from 'acorn';
import { expect, test } from 'vitest';
import type { FunctionNode } from './captured.ts';
import { boundIdentifiers, freeVariables } from './free-variables.ts';

const parse = (text: string) => parseExpressionAt(text, 0, { ecmaVersion: 'latest' }) as AnyNode as FunctionNode;
const free = (text: string) => [...freeVariables(parse(text)).keys()];

test.each<[string, string, string[]]>([
  ['parameters bind', '(a, b) => a + b + c', ['c']],
  [
    'destructured parameters bind, their keys are no names',
    '({ a: b, [k]: c = d }, [e, , ...f]) => a + b + c + e + f',
    ['k', 'd', 'a'],
  ],
  ['a default sees earlier parameters but not the body', '(a, b = a + c) => { var c = 1; return b; }', ['c']],
  ['var and functions are hoisted', '() => { x = 1; f(); { var x; } function f() {} }', []],
  ['a block function is seen in the whole function (sloppy mode)', '() => { { function g() {} } g(); }', []],
  ['let and const end with their block', '() => { { let a; const b = a; } return a + b; }', ['a', 'b']],
  [
    'a loop head binds in the loop only',
    '() => { for (let i = s; i < n; i++) i; for (const v of l) v; return i + v; }',
    ['s', 'n', 'l', 'i', 'v'],
  ],
  ['all cases of a switch share a block', '(q) => { switch (q) { case a: let t; break; default: t = 2; } }', ['a']],
  ['the discriminant is outside that block', '() => { switch (t) { default: let t = 1; } }', ['t']],
  [
    'catch binds its parameter',
    '() => { try { a; } catch ({ message }) { message; } return message; }',
    ['a', 'message'],
  ],
  ['labels are no names', '() => { outer: for (;;) { continue outer; } }', []],
  ['properties are names only when computed', '(o) => o.p + o[q] + o?.r', ['q']],
  ['shorthand properties are uses', '() => ({ a, b: c, [d]: 1, m() { return e; } })', ['a', 'c', 'd', 'e']],
  ['assignment targets are uses', '(y) => { [a, y.b] = y; ({ c: d } = y); e++; }', ['a', 'd', 'e']],
  ['a function expression binds its own name inside', 'function f() { return () => f(); }', []],
  ['arguments belongs to functions, not to arrows', 'function f() { return arguments; }', []],
  ['arguments of an arrow is a free name', '() => arguments', ['arguments']],
  ['nested functions see outer names', '(a) => { const g = (b) => a + b + c; return g; }', ['c']],
  [
    'a class binds its name; keys are no names',
    '() => { class A extends B { x = y; m() { return A; } } return A; }',
    ['B', 'y'],
  ],
  ['an inner let hides, the outer use stays free', '() => { a; { let a; a; } }', ['a']],
  ['globals are free names like others', '() => Math.sin(undefined)', ['Math', 'undefined']],
  ['new.target is no name', 'function f() { return new.target; }', []],
  ['the tag and the holes of a template are uses', '() => tag`\u0024{a}`', ['tag', 'a']],
])('%s', (_, text, names) => {
  expect(free(text)).toEqual(names);
});

test('each free name comes with all its uses', () => {
  const text = '(y) => { y[0] = gain; { let gain; gain; } y[1] = gain; }';
  const uses = freeVariables(parse(text)).get('gain') ?? [];
  expect(uses.map(({ start }) => start)).toEqual([text.indexOf('gain'), text.lastIndexOf('gain')]);
});

test('boundIdentifiers lists what a pattern declares, in order', () => {
  const { params } = parse('({ a, b: [c, { d = 1 }], ...e }) => 0');
  expect(params.flatMap((param) => boundIdentifiers(param)).map(({ name }) => name)).toEqual(['a', 'c', 'd', 'e']);
});
