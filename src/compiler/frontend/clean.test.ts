import { type AnyNode, parse } from 'acorn';
import { expect, test } from 'vitest';
import { clean } from './clean.ts';

/** The tree without positions and raw text, so that trees of different texts can be compared. */
function shape(text: string, cleaned: boolean): unknown {
  const tree = parse(text, { ecmaVersion: 'latest' }) as AnyNode;
  if (cleaned) clean(tree, text);
  return JSON.parse(JSON.stringify(tree, (key, value) => (['start', 'end', 'raw'].includes(key) ? undefined : value)));
}

test.each([
  ['a counter statement', 'cov_a1().s[3]++; f();', 'f();'],
  ['a function counter', 'cov_a1().f[0]++; f();', 'f();'],
  ['the older form', 'cov_a1.s[3]++; __cov_x.b[0][1]++; f();', 'f();'],
  ['an initialiser', 'const t = (cov_a1().s[1]++, f());', 'const t = f();'],
  ['a comma sequence', 'cov_a1().s[1]++, a(), cov_a1().s[2]++, b();', 'a(), b();'],
  ['a condition', 'if (cov_a1().s[1]++, a) b();', 'if (a) b();'],
  ['branches', 'if (a) { cov_a1().b[0][0]++; f(); } else { cov_a1().b[0][1]++; }', 'if (a) { f(); } else { }'],
  ['branches without braces', 'if (a) cov_a1().b[0][0]++; else cov_a1().b[0][1]++;', 'if (a) { }'],
  ['a ternary', 'x = a ? (cov_a1().b[1][0]++, b) : (cov_a1().b[1][1]++, c);', 'x = a ? b : c;'],
  ['logical operators', 'x = (cov_a1().b[2][0]++, a) && (cov_a1().b[2][1]++, b);', 'x = a && b;'],
  ['a default parameter', '(function (a = (cov_a1().b[0][0]++, 1)) {});', '(function (a = 1) {});'],
  ['an arrow', '(a) => (cov_a1().f[0]++, cov_a1().s[0]++, a);', '(a) => a;'],
  ['a return', '() => { return cov_a1().s[0]++, a; };', '() => { return a; };'],
  ['loop heads', 'for (cov_a1().s[0]++; i < n; cov_a1().s[1]++, i++) f();', 'for (; i < n; i++) f();'],
  ['switch cases', 'switch (a) { case 1: cov_a1().b[0][0]++; f(); break; }', 'switch (a) { case 1: f(); break; }'],
  ['a minified name', 't().s[3]++, f();', 'f();'],
  ['minified branches', 'a ? (t().b[0][0]++, f()) : t().b[0][1]++;', 'a && f();'],
  ['minified inverse branches', 'a ? t().b[0][0]++ : f();', 'a || f();'],
  ['minified counters only', 'a() ? t().b[0][0]++ : t().b[0][1]++;', 'a();'],
  ['a logical statement', 'a && t().b[0][1]++;', 'a;'],
  ['directives, debugger, empty statements', "'use strict'; debugger; ; f();", 'f();'],
  ['an empty loop body stays', 'for (;;) ;', 'for (;;) { }'],
  ['names kept for functions', 'const f = __name((x) => x, "f"); g();', 'const f = (x) => x; g();'],
  ['names kept by a minified helper', 'const f = e(function (x) {}, "f");', 'const f = function (x) {};'],
  [
    'names kept for declarations by a minified helper',
    '() => { function f() {} return e(f, "f"), f(); }',
    '() => { function f() {} return f(); }',
  ],
  ['names kept for declarations', 'function f() {} __name(f, "f"); f();', 'function f() {} f();'],
])('%s', (_, dirty, tidy) => {
  expect(shape(dirty, true)).toEqual(shape(tidy, false));
});

test.each([
  'a.s[3]++;',
  'p[3]++;',
  'x().y[3]++;',
  'x().b[3]++;',
  'x(1).s[3]++;',
  'x().s[i]++;',
  '(0, x.grid)(1);',
  'f(x, "f");',
])('%s is no counter and stays', (text) => {
  expect(shape(text, true)).toEqual(shape(text, false));
});
