import { transformSync } from '@babel/core';
import * as swc from '@swc/core';
import type { AnyNode } from 'acorn';
import * as esbuild from 'esbuild';
import { minify } from 'terser';
import { expect, test } from 'vitest';
import { run } from '../testing.ts';
import { captureFunction } from './capture.ts';
import { isIterationHelper } from './es5.ts';
import { walk } from './walk.ts';

const SOURCE = `
globalThis.made = (y, a, w) => {
  const [x, z] = a.shape;
  let s = 0;
  outer: for (const v of a) {
    if (v < 0) continue;
    for (const [p, q] of w.slice(1)) {
      if (p === q) break outer;
      s += p * q * v;
    }
  }
  for (const u of w) s += u;
  y[x] = s + z;
};`;

const babel = (text = SOURCE): string =>
  transformSync(text, {
    presets: [['@babel/preset-env', { targets: 'ie 11', modules: false }]],
    configFile: false,
    babelrc: false,
  })?.code ?? '';
const minified = async (code: string): Promise<string> =>
  (await minify(code, { module: true, ecma: 5, toplevel: true, compress: { passes: 3 } })).code ?? '';
const swcEs5 = (text = SOURCE): string =>
  swc.transformSync(text, { isModule: false, jsc: { target: 'es5' }, swcrc: false }).code;

test.each<[string, () => string | Promise<string>]>([
  ['Babel', () => babel()],
  ['Babel and terser', () => minified(babel())],
  ['swc', () => swcEs5()],
  ['swc and terser', () => minified(swcEs5())],
])('%s: loops and destructuring are what they were', async (_, build) => {
  new Function(await build())();
  const { made } = globalThis as { made?: (...args: never[]) => unknown };
  if (made === undefined) throw new Error('the output defines nothing');
  const { node } = captureFunction(made);
  const types: string[] = [];
  const names = new Set<string>();
  const iterated: string[] = [];
  walk(node, (at) => {
    const found = at as AnyNode;
    types.push(found.type);
    if (found.type === 'Identifier') names.add(found.name);
    if (found.type === 'ForOfStatement') iterated.push(found.right.type);
    return true;
  });
  expect(types).not.toContain('TryStatement');
  expect(types).not.toContain('NewExpression');
  expect(types.filter((type) => type === 'ForOfStatement')).toHaveLength(3);
  expect(types.filter((type) => type === 'LabeledStatement')).toHaveLength(1);
  expect([...names].filter((name) => /^(done|next|iterator)$|Symbol|error/i.test(name))).toEqual([]);
  // All that is called is the author's own slice.
  expect(types.filter((type) => type === 'CallExpression')).toHaveLength(1);
});

test('functions of the author are no helpers', () => {
  expect(isIterationHelper((a: number, b: number) => a || b)).toBe(false);
  expect(isIterationHelper(Math.max)).toBe(false);
  expect(isIterationHelper(3)).toBe(false);
});

const DEFAULTS =
  'globalThis.made = (y) => { const f = (a, b = 0.5, c, d = { e: 1 }) => a + b + c + d.e; y[0] = f(1); };';

test.each<[string, () => string | Promise<string>]>([
  ['Babel', () => babel(DEFAULTS)],
  ['Babel and terser', () => minified(babel(DEFAULTS))],
  ['swc', () => swcEs5(DEFAULTS)],
])('%s: default parameters are what they were', async (_, build) => {
  new Function(await build())();
  const { made } = globalThis as { made?: (...args: never[]) => unknown };
  if (made === undefined) throw new Error('the output defines nothing');
  const parameters: string[][] = [];
  walk(captureFunction(made).node, (at) => {
    const found = at as AnyNode;
    if (found.type === 'FunctionExpression') parameters.push(found.params.map(({ type }) => type));
    return found.type !== 'Identifier' || found.name !== 'arguments' || expect.fail('arguments is still used');
  });
  // terser may inline the function whole.
  if (parameters.length > 1)
    expect(parameters[1]).toEqual(['Identifier', 'AssignmentPattern', 'Identifier', 'AssignmentPattern']);
});

const SPREAD = `
globalThis.made = (y, x) => {
  const a = { x: 1, y: 2 };
  const b = { ...a, y: x[0], z: 4 };
  const c = { w: 1, ...b, x: 7 };
  y[0] = c.w + 10 * c.x + 100 * c.y + 1000 * c.z;
};`;
const assigned = SPREAD.replace('{ ...a, y: x[0], z: 4 }', 'Object.assign(Object.assign({}, a), { y: x[0], z: 4 })');
const assign = `var __assign = function () {
  __assign = Object.assign || function (t) { for (var s, i = 1; i < arguments.length; i++) { s = arguments[i]; for (var p in s) t[p] = s[p]; } return t; };
  return __assign.apply(this, arguments);
};`;
const esbuilt = (minify: boolean): string => esbuild.transformSync(SPREAD, { target: 'es2017', minify }).code;

test.each<[string, () => string | Promise<string>]>([
  ['Babel', () => babel(SPREAD)],
  ['Babel and terser', () => minified(babel(SPREAD))],
  ['swc', () => swcEs5(SPREAD)],
  ['swc and terser', () => minified(swcEs5(SPREAD))],
  ['esbuild', () => esbuilt(false)],
  ['esbuild, minified', () => esbuilt(true)],
  ['TypeScript for ES2017', () => assigned],
  ['TypeScript for ES5', () => assign + assigned.replaceAll('Object.assign(', '__assign(')],
])('%s: what spreads objects compiles', async (_, build) => {
  new Function(await build())();
  const { made } = globalThis as { made?: (...args: never[]) => unknown };
  if (made === undefined) throw new Error('the output defines nothing');
  const y = new Float64Array(1);
  run(made, [y, Float64Array.of(3)]);
  expect(y[0]).toBe(4371);
});

test.each([
  '(y, a) => { const q = tslib.__read(a.shape, 2); y[0] = q[1]; }',
  '(y, a) => { const q = (0, tslib.__read)(a.shape, 2); y[0] = q[1]; }',
])('helpers of a module: %s', (text) => {
  const tslib = {
    __esModule: true,
    __read: (o: Iterable<number>, n: number) =>
      Array.from({ [Symbol.iterator]: () => o[Symbol.iterator]() }).slice(0, n),
  };
  const { node } = captureFunction(new Function('tslib', `return ${text}`)(tslib));
  const types: string[] = [];
  walk(node, ({ type }) => {
    types.push(type);
    return true;
  });
  expect(types).not.toContain('CallExpression');
});

test("TypeScript's __read is a helper", () => {
  const read = new Function(
    'return function (o, n) { var m = typeof Symbol === "function" && o[Symbol.iterator]; if (!m) return o; return [...o].slice(0, n); }',
  )();
  expect(isIterationHelper(read)).toBe(true);
});
