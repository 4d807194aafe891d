import { expect, test } from 'vitest';
import { inspectFunction, inspectorProblem, inspectScript } from './inspector.ts';

type AnyFunction = (...args: never[]) => unknown;

const outer = { live: true };

function make(inner: number): AnyFunction {
  return (y: number[]) => [y, inner, outer];
}

test('scopes come innermost first, with live values', () => {
  const { scopes = [] } = inspectFunction(make(5)) ?? {};
  expect(scopes[0]).toMatchObject({ description: 'Closure (make)', variables: { inner: 5 } });
  expect(scopes.at(-1)?.description).toBe('Global');
  expect(scopes.some(({ variables }) => Reflect.get(variables, 'outer') === outer)).toBe(true);
});

test('the script of a function has its URL and its text', () => {
  const { location } = inspectFunction(make(1)) ?? {};
  const script = location && inspectScript(location.scriptId);
  expect(script?.url).toMatch(/inspector\.test\.ts$/);
  expect(script?.text).toContain('outer');
});

test('a function without scopes has none', () => {
  expect(inspectFunction(Math.sin)?.scopes).toEqual([]);
});

test('there is an inspector here, so there is no problem to report', () => {
  expect(inspectorProblem()).toBe(undefined);
});

test('reading keeps nothing alive', async () => {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const refs = Array.from({ length: 20 }, (_, i) => {
    const big = { i };
    inspectFunction((() => big) as AnyFunction);
    return new WeakRef(big);
  });
  await new Promise((resolve) => setTimeout(resolve, 10));
  collect();
  // The last may still be on the stack.
  expect(refs.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(3);
});
