/**
 * What is taken out of functions for pages (`tools/page-regions.mjs`): programs that say of themselves which of their lines were not reached compute the same afterwards, and what cannot be taken out stays.
 */
import { parse } from 'acorn';
import { expect, it } from 'vitest';

const TOOL: string = new URL('../tools/page-regions.mjs', import.meta.url).href;
const { withRegions } = (await import(TOOL)) as {
  withRegions(module: { readonly text: string; readonly body: readonly object[] }, unreached: Uint8Array): string;
};

/** Takes out what stands between `/*-` and `-*​/`. */
function divided(marked: string): string {
  const parts = marked.split(/\/\*-|-\*\//);
  const text = parts.join('');
  const unreached = new Uint8Array(text.length);
  let at = 0;
  parts.forEach((part, k) => {
    if (k % 2 === 1) unreached.fill(1, at, at + part.length);
    at += part.length;
  });
  const { body } = parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
  return withRegions({ text, body }, unreached);
}

/** What `run` of a program gives for each of some arguments: a value, or the message of an error. */
function outcomes(program: string): unknown[] {
  const run = new Function(`${program}\nreturn run;`)() as (n: number) => unknown;
  return [0, 1, 2, 3].map((n) => {
    try {
      return run(n);
    } catch (error) {
      return String(error);
    }
  });
}

const LONG = `'a text that is long enough to be worth a function of its own, of ' + n`;

it.each([
  ['an error', `function run(n) { if (n > 1)/*- { throw new Error(${LONG}); }-*/ return n; }`],
  ['a statement alone', `function run(n) { if (n > 1) /*-throw new Error(${LONG});-*/ return n; }`],
  ['an operand', `const run = (n) => n > 1 ? /*-[n, ${LONG}].join()-*/ : n;`],
  [
    'what always returns',
    `function run(n) { if (n > 1)/*- { const m = n + ${LONG}; if (n === 2) return m; return m + m; }-*/ return n; }`,
  ],
  ['the rest of a function', `function run(n) { if (n < 2) return n;/*- const m = [n, ${LONG}]; return m.join();-*/ }`],
  [
    'a body',
    `function run(n) { return n > 1 ? far(n) : n; } const far = (n) =>/*- { let m = n; m += ${LONG}; return m; }-*/;`,
  ],
  [
    'a body that writes its parameters',
    `function run(n) { const f = (m) =>/*- { m += 1; return m + ${LONG}; }-*/; return f(n) + n; }`,
  ],
  [
    'this',
    `class A { constructor(n) { this.n = n; } of(n) { if (n > 1)/*- { this.n += n; return this.n + ${LONG}; }-*/ return this.n; } } const run = (n) => [new A(1).of(n), n].join();`,
  ],
  [
    'a loop of its own',
    `function run(n) { if (n > 1)/*- { let s = ''; for (const k of [1, 2, 3]) { if (k === n) continue; s += k + ${LONG}; } return s; }-*/ return n; }`,
  ],
  [
    'what closes over a constant',
    `function run(n) { const k = n + 1; if (n > 1)/*- { const f = () => k + ${LONG}; return f() + f(); }-*/ return k; }`,
  ],
  ['what writes a variable', `function run(n) { let m = 0; if (n > 1)/*- { m = n + ${LONG}; }-*/ return m; }`],
  [
    'what writes variables',
    `function run(n) { let m = 0; let k = 1; if (n > 1)/*- { m = n + ${LONG}; k += n; if (n > 2) m += m; }-*/ return [m, k].join(); }`,
  ],
  [
    'what writes a variable that is not read any more',
    `function run(n) { let m = 0; if (n < 2) return n;/*- m = n + ${LONG}; if (n > 2) { m += m; } return m;-*/ }`,
  ],
  [
    'a method',
    `class A { of(n, { m } = { m: 2 })/*- { return [this.k, n, m, ${LONG}].join(); }-*/ k = 5; } const run = (n) => n > 1 ? new A().of(n) : n;`,
  ],
  [
    'a method that calls another',
    `class A { of(n)/*- { this.k += n; const f = () => this.more(n + 1); return [f(), ${LONG}, ${LONG}].join(); }-*/ more(n) { return n + this.k; } k = 5; } const run = (n) => n > 1 ? new A().of(n) : n;`,
  ],
  [
    'cases',
    `function run(n) { const s = { k: n }; switch (s.k) { case 0: return 'none'; case 1:/*- return [s.k, ${LONG}].join();-*/ case 2: case 3:/*- { const m = n + 1; return [m, ${LONG}].join(); }-*/ case 4: return n; } return 'over'; }`,
  ],
  [
    'cases that go on behind the switch',
    `function run(n) { let s = ''; switch (n) { case 1:/*- s = s + n + ${LONG}; break;-*/ case 2:/*- s = n + s + ${LONG}; break;-*/ case 3: s = 'three'; } return s + n; }`,
  ],
  [
    'cases that leave a loop',
    `function run(n) { let s = ''; for (let k = 0; k < 5; k++) { switch (k) { case 1:/*- if (n === 1) continue; s += n + ${LONG}; break;-*/ case 3:/*- return s + ${LONG};-*/ case 4: s += 'four'; } s += k; } return s; }`,
  ],
  [
    'cases where others go on behind the switch',
    `function run(n) { switch (n) { case 1:/*- return [n, ${LONG}].join();-*/ default: n += 5; break; case 2:/*- return [n, n, ${LONG}].join();-*/ } return n; }`,
  ],
  [
    'cases with what stands for all others',
    `function run(n) { switch (n) { case 0: return 'none'; case 1:/*- return [n, ${LONG}].join();-*/ default:/*- return [n, n, ${LONG}].join();-*/ } }`,
  ],
  [
    'what lists that others begin anew close over',
    `function run(n) { let list = [n]; const collect = (f) => { const all = list; list = []; f(); const made = list; list = all; return made; }; const add = (k) => { if (k > 1)/*- { const f = (m) => list.push(m + ${LONG}, m + ${LONG}, m + ${LONG}); f(k); f({ list }.list.length); return; }-*/ list.push(k); }; add(n); const inner = collect(() => { add(n + 1); list.push(0); }); return JSON.stringify([list, inner]); }`,
  ],
  [
    'what writes the counter of a loop',
    `function run(n) { let s = ''; for (let k = 0; k < 9; k++) { if (k === n)/*- { k += 2; s = s + k + ${LONG}; }-*/ s += k; } return s; }`,
  ],
  ['what returns now and then', `function run(n) { if (n > 1)/*- { if (n === 2) return n + ${LONG}; }-*/ return n; }`],
  [
    'what returns nothing now and then',
    `let m = []; function far(n) { if (n > 1)/*- { m.push(${LONG}); if (n === 2) return; m.push(n); }-*/ m.push(0); } function run(n) { far(n); return m.join(); }`,
  ],
  [
    'what returns undefined, and goes on',
    `const is = (n) => n === 2; function far(n) { if (n > 1)/*- { if (is(n)) return (${LONG}, undefined); }-*/ return n; } function run(n) { return String(far(n)); }`,
  ],
  [
    'what leaves a loop',
    `function run(n) { let s = 0; for (const k of [0, 1, 2, 3]) { s += k; if (k === n)/*- { Object.assign({}, { text: ${LONG} }); if (k > 1) break; }-*/ } return s; }`,
  ],
  [
    'what leaves in several ways',
    `function run(n) { let s = ''; out: for (const k of [0, 1, 2, 3]) { for (const l of [0, 1, 2, 3]) { if (k + l > 2)/*- { const t = k * l + ${LONG}; if (l === n) continue out; if (t.length > 90) continue; if (k === 3) break out; if (k + l === n + 3) return t + s; if (l === 3) break; }-*/ s += l; } } return s; }`,
  ],
  [
    'a case of a switch',
    `function run(n) { let s = 0; switch (n) { case 2:/*- if (String(n + ${LONG}).length > 3) break; return n;-*/ case 3: s = 7; break; } return s; }`,
  ],
  [
    'what calls functions beside it',
    `function run(n) { const even = (k) => k === 0 ? true :/*-odd(k - 1, [n, ${LONG}])-*/; const odd = (k) => k === 0 ? false : even(k - 1); return even(n); }`,
  ],
])('takes out %s', (_, marked) => {
  const program = marked.replaceAll(/\/\*-|-\*\//g, '');
  const result = divided(marked);
  expect(result).toMatch(/function region\$\d+\(/);
  expect(outcomes(result)).toEqual(outcomes(program));
  expect(result.split('\n').length).toBeGreaterThan(program.split('\n').length);
});

it.each([
  ['writes a variable of the module', `let m = 0; function run(n) { if (n > 1)/*- { m = n + ${LONG}; }-*/ return m; }`],
  [
    'reads what another function changes meanwhile',
    `function run(n) { let m = 0; const next = () => { m++; }; if (n > 1)/*- { next(); return m + ${LONG}; }-*/ return m; }`,
  ],
  [
    'writes what another function reads',
    `function run(n) { let m = 0; const read = () => m; if (n > 1)/*- { m = n + ${LONG}; m += read(); }-*/ return m; }`,
  ],
  [
    'writes what is read when it fails',
    `function run(n) { let m = 0; try { if (n > 1)/*- { m = n + ${LONG}; if (n > 2) throw new Error(m); }-*/ } catch { m += 'failed'; } return m; }`,
  ],
  [
    'closes over what changes later',
    `function run(n) { let f = () => 0; let m = 1; if (n > 1)/*- { f = Object.assign(() => m, { text: ${LONG} }); }-*/ m = 5; return f(); }`,
  ],
  [
    'reads a constant before it is there',
    `function run(n) { const f = () => n > 1 ?/*-[m, ${LONG}].join()-*/ : n; const m = f(); return m; }`,
  ],
  ['waits', `async function run(n) { if (n > 1)/*- { return [await n, ${LONG}].join(); }-*/ return n; }`],
  ['reads arguments', `function run(n) { if (n > 1)/*- { return [...arguments, ${LONG}].join(); }-*/ return n; }`],
  [
    'reads private properties',
    `class A { #n = 1; of(n) { if (n > 1)/*- { return this.#n + ${LONG}; }-*/ return this.#n; } } const run = (n) => new A().of(n);`,
  ],
  [
    'declares what is read elsewhere',
    `function run(n) { if (n < 2) return near(n);/*- function near(k) { return k + 1; } return near(n) + ${LONG};-*/ }`,
  ],
])('leaves what %s', (_, marked) => {
  const program = marked.replaceAll(/\/\*-|-\*\//g, '');
  const result = divided(marked);
  expect(outcomes(result).map(String)).toEqual(outcomes(program).map(String));
});

it('asks for nothing where no case of a switch fits', () => {
  const marked = `function run(n) { let s = n; switch (n) { case 1:/*- s = n + ${LONG}; break;-*/ case 2:/*- s = [n, ${LONG}].join(); break;-*/ case 9: s = 9; } return s; }`;
  const result = divided(marked);
  expect(result).toMatch(/case 1: case 2: s = region\$\d+\(n, s\);/);
  const missing = result.replace(/region\$\d+\(n, s\);/, 'missing();');
  const run = new Function(`${missing}\nreturn run;`)() as (n: number) => unknown;
  expect([0, 3, 9].map(run)).toEqual([0, 3, 9]);
  expect(() => run(1)).toThrow('missing is not defined');
});

it('keeps in what catches errors that it lets those pass that say that a part is missing', () => {
  const marked = `class MissingPart$ extends Error {} function run(n) { try { if (n > 1) throw new (n > 2 ? Error : MissingPart$)(n); return n; } catch (e) {/*- if (e instanceof MissingPart$) throw e; return [e, ${LONG}].join();-*/ } }`;
  const result = divided(marked);
  expect(result).toMatch(/\{ if \(e instanceof MissingPart\$\) throw e; return region\$\d+\(e, n\);/);
  expect(outcomes(result)).toEqual(outcomes(marked.replaceAll(/\/\*-|-\*\//g, '')));
});
