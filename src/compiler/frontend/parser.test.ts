/**
 * The parser of pages is held against acorn: on what JavaScript has, and on the functions of all packages that are installed here, minified code among them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AnyNode, type Node, type Options, parse, parseExpressionAt } from 'acorn';
import { describe, expect, it } from 'vitest';
import { parseExpressionAt as parseExpressionInPage, parse as parseInPage } from './parser.page.ts';
import { forEachChild } from './walk.ts';

const OPTIONS: Options = { ecmaVersion: 'latest', sourceType: 'script' };

/** A tree as text, whatever the order of properties. */
function show(tree: unknown): string {
  return JSON.stringify(tree, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof RegExp) return String(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function compare(text: string): void {
  const [own, acorn] = [show(parseExpressionInPage(text, 0, OPTIONS)), show(parseExpressionAt(text, 0, OPTIONS))];
  // Where they differ says more than two long lines.
  if (own === acorn) return;
  let at = 0;
  while (own[at] === acorn[at]) at++;
  expect(`${text.slice(0, 200)}\n${own.slice(Math.max(0, at - 200), at + 100)}`).toBe(
    acorn.slice(Math.max(0, at - 200), at + 100),
  );
}

/** Functions and classes of a script that are in no other. */
function functionsOf(text: string, sourceType: 'script' | 'module'): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    const { type, start, end } = node as AnyNode;
    if (/^(?:Function|ArrowFunction|Class)(?:Expression|Declaration)$/.test(type)) found.push(text.slice(start, end));
    else forEachChild(node, visit);
  };
  visit(parse(text, { ecmaVersion: 'latest', sourceType, allowHashBang: true, allowReturnOutsideFunction: true }));
  return found;
}

const EXPRESSIONS = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program.
  '(a, größe, 变量, \u{10400}x, $_1) => { a[0] = größe / 变量.length; if (/[/\\]]+(?<y>x)/u.test(`${a}`)) return a?.b ?? 0x1f; }',
  'class K { #p = 1n; static f({ x = 2, ...y }, z) { l: for (const [k] of y) { if (k) continue l; } return "\\u0041" + z; } }',
  'class extends (a, b) { static #x; static { this.#x = 1; } get = 1; set; static; async *[k]() { yield* f(); } get x() { return #x in this; } static async m() { await 0; } "constructor"() {} 1() {} }',
  'function* g() { const x = yield; yield\n[1]; return yield a ? yield b : yield c; }',
  'async function f() { for await (const x of y) await x; await (async () => await 1)(); const async = 1; async(async); return async\n; }',
  '() => { let let_ = 1; var yield_, of, get, set, async; async = of; let\n; for (of of of); for (let of = 0; of < 1; of++); for (let in {}); for (var i = 0 in {}); }',
  '(a, b) => { a\n++b; a ++\nb; if (a) ; else b; do a++; while (a) b; do { } while (a); label: { break label } ; return\na }',
  '() => a ? (b) : c => d, e',
  '(a) => (b) => ({ c }) => [d] ',
  '() => ({ a, b: c, [d]: e, "f": g, 1: h, get i() { return 1 }, set i(j) {}, async k() {}, *l() {}, async *m() {}, get: 1, set, async, static: 2, ...n, get() {}, async() {}, set: 3, new: 4 })',
  '({ a, b: { c = 1, ...d }, e: [f, , g = 2, ...h] } = {}, [i, [j] = []] = [], ...k) => { ({ a, b: c.d, e: [f] = [], g = 1 } = h); [a, b.c, ...d] = e; ({ a: (b) } = c); }',
  'a ** b ** c * -(d ** 2) + +e - -f - --g + ++h % i++ >>> j >> k << l',
  'a || b && c | d ^ e & f == g !== h < i in j instanceof k, a ?? (b ?? c)',
  'a?.b?.[c]?.(d).e.f(g), (a?.b).c, a?.b`c`, new a.b.c(d)(e), new a, new (f())(), new new g()(), delete a?.b'.replace(
    ', a?.b`c`',
    '',
  ),
  'a /= b / c / /d[/]e/g.test(f) / (g) / 2',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as above.
  '`a${b}c${`d${e}`}\\n${{ f }}`, f`\\u{zz}${1}\\x`, `\r\n$ ${ { a: `}` }["a"] }`',
  '[1e3, .5, 5., 0.5e-3, 1_000, 0xff, 0XFFn, 0b11, 0o17, 017, 089, 0n, 10n, 1_0n, 0xen, 0e1]',
  '["\\n\\t\\x41\\u0041\\u{1F600}\\0\\101\\\n\\q\'", \'"\', "\u2028"]',
  'import("a"), import.meta ? 1 : 2'.replace(', import.meta ? 1 : 2', ''),
  'a = b ? c = d : e = f, g += h ||= i ??= j &&= k **= l >>>= m',
  '(async) => async, async x => x, async (x, ...y) => { await x }, async(x, y), async () => {}',
  'function f() { "use strict"; "b"; ("c"); "d" }',
  '() => { switch (a) { case 1: case b, c: d; break; default: { } } try { a } catch { b } finally { c } try { } catch ({ d }) { } throw a, b; debugger; with_: ; }',
  'x => { if (a) return b\n else c; while (d) { continue } for (;;) break; for (a.b in c); for ([a, b] of c); for (a of b, c); }'.replace(
    ' for (a of b, c);',
    '',
  ),
  'function f() { new.target.name; return new new.target(1) }',
  '\\u0061b => a\\u{62}',
  '(/* a => */ a /* ) */, // b\n b) /**/ => /* c */ a + b /* d */',
];

describe('the parser of pages', () => {
  it.each(EXPRESSIONS)('reads %s', compare);

  it('reads methods, as parts of an object', () => {
    const text = '({async *foo(a = 1, { b }) { return a; }})';
    expect(show(parseInPage(text, OPTIONS).body)).toBe(show(parse(text, OPTIONS).body));
  });

  it('says where a text ends in the middle, and what is no JavaScript', () => {
    for (const text of [
      '(a) => { °',
      'get(a) {',
      '(a) => { a + }',
      '(a) => `b',
      '(a) => { "b',
      '1 => 2',
      '',
      'foo bar',
    ]) {
      const where = (read: typeof parse): unknown => {
        try {
          read(`(${text})`, OPTIONS);
          return 'parsed';
        } catch (error) {
          return (error as { pos?: unknown }).pos === undefined ? error : 'refused';
        }
      };
      expect([text, where(parseInPage)]).toEqual([text, 'refused']);
    }
  });

  it('reads the functions of all packages here', () => {
    const folder = fileURLToPath(new URL('../../../node_modules', import.meta.url));
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.[cm]?js$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name));
    let compared = 0;
    // Some hundred of them, from all over.
    for (const name of files.filter((_, k) => k % Math.ceil(files.length / 300) === 0)) {
      const text = readFileSync(name, 'utf8');
      if (text.length > 1_000_000) continue;
      const functions = ['module', 'script'].flatMap((type) => {
        try {
          return functionsOf(text, type as 'module');
        } catch {
          return [];
        }
      });
      for (const each of functions) {
        try {
          parseExpressionAt(each, 0, OPTIONS);
        } catch {
          continue;
        }
        compare(each);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(500);
  }, 120_000);
});
