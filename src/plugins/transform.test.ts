import { type Plugin as EsbuildPlugin, transform } from 'esbuild';
import type { Rollup, Plugin as VitePlugin } from 'vite';
import { expect, it } from 'vitest';
import { captureFunction } from '../compiler/frontend/capture.ts';
import esbuild from './esbuild.ts';
import { identity, readMap } from './mappings.ts';
import rollup from './rollup.ts';
import { ownMap, transformModule } from './transform.ts';
import vite from './vite.ts';

const made = (code: string) => transformModule(code, { file: 'a.js', origin: 'itself' });
/** The names of the functions that something is left on, with what each takes from outside. */
const found = (code: string): string[] =>
  (made(code)?.functions ?? []).map(({ name, free }) => `${name}(${free.join()})`);

const HEAD = `import { cuda, f32 } from 'tsamba';\n`;

it('leaves alone what is no function in place, and what has nothing to do with kernels', () => {
  expect(made(`import x from 'y'; export const f = (a) => a.map((v) => v * x);`)).toBeUndefined();
  expect(made(`const total = [1, 2].reduce((a, b) => a + b, 0); export { total };`)).toBeUndefined();
  expect(found(`${HEAD}cuda.jit(make()); cuda.jit(o.method); cuda.jit(fn.bind(o)); cuda.jit(class {});`)).toEqual([]);
  expect(
    found(`${HEAD}[1].map((v) => v + k); list.sort((a, b) => a - b); button.onclick = () => document.title;`),
  ).toEqual([]);
  expect(
    found(`${HEAD}async function main() { await 1; } function* g() { yield 1; } const m = () => k.launch({}, y);`),
  ).toEqual([]);
  expect(made('not JavaScript at all')).toBeUndefined();
});

it('finds the kernel that a factory gives, not the factory', () => {
  expect(found(`${HEAD}cuda.jit(({ gain }) => (y) => { y[0] = gain; }, { captures: { gain } });`)).toEqual(['(gain)']);
  expect(found(`${HEAD}const make = (k) => { const inner = (y) => { y[0] = k; }; return cuda.jit(inner); };`)).toEqual([
    'inner(k)',
  ]);
});

it.each([
  '({ device, gain }) => (y) => { y[device] = gain + own; }',
  '({ device, gain }) => { return function (y) { y[device] = gain + own; }; }',
  '({ device, gain }) => { const step = (y) => { y[device] = gain + own; }; return step; }',
  '({ device, gain }) => { function step(y) { y[device] = gain + own; } return step; }',
  'function (given) { var device = given.device, gain = given.gain; return function (y) { y[device] = gain + own; }; }',
])('leaves a factory with captures what it is, minified or not: %s', async (factory) => {
  const result = made(
    `${HEAD}const own = 5;\nmodule.kernel = cuda.jit(${factory}, { captures: { device: 3, gain: 4 } });`,
  );
  expect(result?.functions).toHaveLength(1);
  for (const minify of [false, true]) {
    const { code } = await transform(result?.code ?? '', { minify, format: 'cjs', platform: 'node' });
    const module = {} as { readonly kernel: ReturnType<typeof captureFunction> };
    new Function('require', 'module', code)(() => ({ cuda: { jit: captureFunction } }), module);
    expect(module.kernel.node.params).toHaveLength(1);
    const values = ['device', 'gain', 'own'].map((name) => module.kernel.captures.get(name));
    expect(values).toEqual([3, 4, 5].map((value) => ({ found: true, value })));
  }
});

it('of a module without kernels takes what is exported, computes and needs something of the module', () => {
  expect(
    found(`const K = 2; const inner = (x) => x * K; const unused = (x) => x + K;
export function outer(x) { return inner(x) + 1; }
export const alone = (x) => x + 1;
export const host = (list) => list.push(K);
export const text = () => 'a' + K;`),
  ).toEqual(['inner(K)', 'outer(inner)']);
});

it('keeps lines, directives and names, and can be parsed where a text has ends of scripts and lines in it', () => {
  const code = `'use strict';\n${HEAD}function late(x) { return x + '</script>\\u2028'.length; }\nconst __tsamba$ = 1;\nexport const k = cuda.jit((y) => {\n  y[0] = late(1);\n});\n`;
  const result = made(code);
  expect(result?.code).toMatch(/^'use strict';;__tsamba\$\$\(late, "late"/);
  expect(
    result?.code
      .split('\n')
      .slice(1, 6)
      .map((line) => line.slice(0, 10)),
  ).toEqual(
    code
      .split('\n')
      .slice(1, 6)
      .map((line) => line.slice(0, 10)),
  );
  expect(result?.code).toContain('<\\/script>');
  expect(made(result?.code ?? '')).toBeUndefined();
});

it('maps what it has made to what it was given, by columns', () => {
  const code = `${HEAD}export const a = cuda.jit((y) => { y[0] = 1; }), b = 2;\n`;
  const result = made(code);
  if (result === undefined) throw new Error('nothing was found');
  const line = result.code.split('\n')[1] as string;
  const segments = readMap(ownMap(code, result))?.[1] ?? [];
  for (const word of ['cuda', 'y[0]', 'b = 2']) {
    const column = line.startsWith('y[0]', line.indexOf(word)) ? line.indexOf('y[0]') : line.indexOf(word);
    expect(segments.find((s) => s.column === column)?.sourceColumn).toBe(code.split('\n')[1]?.indexOf(word));
  }
  expect(identity('a b\n c')).toHaveLength(2);
});

it('gives plugins that the types of their bundlers take', () => {
  const plugins: [Rollup.Plugin, EsbuildPlugin, VitePlugin] = [rollup(), esbuild({ exclude: /x/ }), vite()];
  expect(plugins.map(({ name }) => name)).toEqual(['tsamba', 'tsamba', 'tsamba']);
  expect(() => vite({ includes: 'a' } as never)).toThrow(/no option includes: it has include, exclude and root/);
});

/** With members that a module may import by themselves. */
const apart = (code: string): string =>
  transformModule(code, {
    file: 'a.js',
    origin: 'itself',
    members: new Set(['jit', 'grid', 'threadIdx', 'toDevice', 'open']),
  })?.code ?? '';

it('has a module import the members of cuda that it names, and kernels capture an object of theirs', () => {
  const code = apart(`import { cuda as c, f32 } from 'tsamba';
const d = c.toDevice([1], { dtype: f32 }), c$ = { c: 1 }.c;
export const k = c.jit((y) => { y[c.grid(1)] = c.threadIdx.x + c?.grid(1); });`);
  expect(code).toContain('c$$.toDevice([1]');
  expect(code).toContain('y[c$$.grid(1)] = c$$.threadIdx.x + c$$?.grid(1)');
  expect(code).toContain('import * as c$$ from "tsamba/cuda";');
  // The text stays what the author has written.
  expect(code).toContain('"(y) => { y[c.grid(1)] = c.threadIdx.x + c?.grid(1); }"');
  expect(code).toMatch(/\{ "c": \(\) => (\S+)\(\) \}[\s\S]*function \1\(\) \{ return \1\.object \?\?= Object\.freeze/);
  expect(code).toContain('({ grid: c$$.grid, threadIdx: c$$.threadIdx })');
});

it('also where a module has no kernel, and of a namespace only what kernels capture', () => {
  expect(apart(`import { cuda } from 'tsamba/cuda';\nawait cuda.open('webgpu');`)).toBe(
    `import { cuda } from 'tsamba/cuda';\nawait cuda$.open('webgpu');\nimport * as cuda$ from "tsamba/cuda";\n`,
  );
  const code = apart(`import * as cuda from 'tsamba/cuda';\ncuda.jit((y) => { y[cuda.grid(1)] = 1; });`);
  expect(code).not.toContain('cuda$');
  expect(code).toContain('({ grid: cuda.grid })');
});

it.each([
  'const all = cuda; cuda.jit((y) => { y[0] = 1; });',
  'export { cuda }; cuda.open();',
  'const { jit } = cuda; cuda.open();',
  "cuda['jit']((y) => { y[0] = 1; });",
  'cuda.jit(({ cuda }) => (y) => { y[cuda.grid(1)] = 1; }, { captures: { cuda } });',
  'cuda.nothing(); cuda.open();',
  'cuda.open = 1;',
  'delete cuda.open;',
  'cuda.open++;',
  '[cuda.open] = [1];',
  'for (cuda.open of [1]);',
  'function f(cuda) { return cuda.grid(1); } cuda.open();',
])('leaves cuda the object that it is: %s', (code) => {
  expect(apart(`import { cuda } from 'tsamba';\n${code}`)).not.toContain('tsamba/cuda');
});
