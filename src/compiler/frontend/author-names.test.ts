/**
 * esbuild renames what hides a name of the file around it; messages name what the author wrote.
 */
import { Script } from 'node:vm';
import * as esbuild from 'esbuild';
import { expect, it } from 'vitest';
import { withAuthorNames, withAuthorNamesAt } from './author-names.ts';
import { sourceOf } from './positions.ts';

type AnyFunction = (...args: never[]) => unknown;

const TEXT = `
const x: number = 1;
const y2: number = 2;
const helper = (x: number): number => x * y2;
const kernel = (a: number, x: number[], y3: number): void => {
  const i32: number = a;
  x[0] = helper(x[1]) + i32 + y3;
};
[kernel, helper, x];
`;

const { code } = esbuild.transformSync(TEXT, { loader: 'ts', sourcemap: 'inline', sourcefile: 'named.ts' });
const [kernelFn, helperFn] = new Script(code, { filename: '/somewhere/named.js' }).runInThisContext() as [
  AnyFunction,
  AnyFunction,
];
const kernel = sourceOf(kernelFn, 'kernel');
const helper = sourceOf(helperFn, 'helper');

it('puts back names that a tool has numbered, and no others', () => {
  expect(kernel.text).toContain('x2[0]');
  expect(withAuthorNames('write i32(x2[1]) or f32(x2[1]), x22, y3', kernel)).toBe(
    'write i32(x[1]) or f32(x[1]), x22, y3',
  );
});

it('knows the functions through which a position was reached', () => {
  const pos = { source: helper, start: 0, end: 1, caller: { source: kernel, start: 0, end: 1 } };
  expect(withAuthorNamesAt('x2 * y2', pos)).toBe('x * y2');
});

it('leaves texts alone whose script is not known', () => {
  expect(withAuthorNames('x2', { text: '(x2) => x2', name: 'k' })).toBe('x2');
});
