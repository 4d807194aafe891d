import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { KernelError } from '../../errors.ts';
import { captureFunction } from './capture.ts';
import type { CapturedFunction } from './captured.ts';
import * as walking from './walk.ts';
import { childrenOf as aliased } from './walk.ts';

type AnyFunction = (...args: never[]) => unknown;
type Given = Record<string, unknown>;

const gain = 3;
const table = new Float32Array(3);
const square = (x: number) => x * x * gain;

/** The values of all names that the function takes from outside. */
function values(captured: CapturedFunction): Given {
  return Object.fromEntries(
    [...captured.captures].map(([name, found]) => [name, found.found ? found.value : '(missing)']),
  );
}

function lookup(captured: CapturedFunction, name: string): unknown {
  const start = Math.max(0, captured.source.text.indexOf(name));
  return captured.lookup(name, { source: captured.source, start, end: start + name.length });
}

function failure(action: () => unknown): KernelError {
  try {
    action();
  } catch (error) {
    if (error instanceof KernelError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

test('values are the live ones, by identity', () => {
  const kernel = (y: number[]) => {
    y[0] = square(gain) + (table[0] ?? 0);
  };
  expect(values(captureFunction(kernel))).toEqual({ square, gain, table });
  expect(lookup(captureFunction(kernel), 'table')).toBe(table);
});

test('imports are seen under whatever names the loader gave them', () => {
  const kernel = (y: number[]) => [aliased(y as never), walking.isNode(y)];
  const seen = Object.values(values(captureFunction(kernel)));
  expect(seen.some((value) => value === aliased || (value as Given).childrenOf === aliased)).toBe(true);
  expect(seen.some((value) => (value as Given).isNode === walking.isNode)).toBe(true);
});

test('each turn of a loop has its own let', () => {
  const kernels: AnyFunction[] = [];
  for (let turn = 0; turn < 3; turn++) kernels.push((y: number[]) => y[turn]);
  expect(kernels.map((kernel) => values(captureFunction(kernel)))).toEqual([{ turn: 0 }, { turn: 1 }, { turn: 2 }]);
});

test('inner scopes hide outer ones', () => {
  const make = (gain: number) => {
    {
      const gain2 = gain + 1;
      return (y: number[]) => [y[gain], gain2];
    }
  };
  // The loader may rename the inner gain; its value is what counts.
  expect(Object.values(values(captureFunction(make(10))))).toEqual([10, 11]);
});

test('values are frozen when the function is read', () => {
  let factor = 1;
  const kernel = (y: number[]) => y[factor];
  const captured = captureFunction(kernel);
  factor = 2;
  expect(lookup(captured, 'factor')).toBe(1);
  expect(lookup(captureFunction(kernel), 'factor')).toBe(2);
});

test('device functions are read with their own scopes, once', () => {
  const captured = captureFunction((y: number[]) => square(y[0] ?? 0));
  const pos = { source: captured.source, start: 0, end: 1 };
  const device = captured.read(square as AnyFunction, pos);
  expect(values(device)).toEqual({ gain });
  expect(captured.read(square as AnyFunction, pos)).toBe(device);
});

test('globals that a kernel may use are found; a local of the same name wins', () => {
  const captured = captureFunction((y: number[]) => [Math.PI, Infinity, NaN, Number(y), BigInt(1), undefined]);
  expect(lookup(captured, 'Math')).toBe(Math);
  expect(lookup(captured, 'undefined')).toBe(undefined);
  // biome-ignore lint/suspicious/noShadowRestrictedNames: that is the point
  const Boolean = 7;
  expect(
    lookup(
      captureFunction((y: number[]) => y[Boolean]),
      'Boolean',
    ),
  ).toBe(7);
});

test('a function expression knows itself by its own name', () => {
  const kernel = function self(y: number[]): unknown {
    return self(y);
  };
  expect(lookup(captureFunction(kernel), 'self')).toBe(kernel);
});

test('functions of another realm are read too', () => {
  const kernel = runInNewContext('const gain = 4; ({ fn: (y) => y[gain] + Math.PI }).fn') as AnyFunction;
  const captured = captureFunction(kernel);
  expect(lookup(captured, 'gain')).toBe(4);
  expect(lookup(captured, 'Math')).toBe(Math);
});

test('explicit captures are found by name, the rest as usual', () => {
  const kernel = new Function('return (y) => { y[0] = factor * Math.PI; }')() as AnyFunction;
  expect(values(captureFunction(kernel, { captures: { factor: 2 } }))).toEqual({ factor: 2, Math });
});

const FACTORIES: Record<string, string> = {
  'the form people write': '({ cuda, gain }) => (y) => { y[cuda] = gain; }',
  'a block body': '({ cuda, gain }) => { return (y) => { y[cuda] = gain; }; }',
  'a named kernel': '({ cuda, gain }) => { function step(y) { y[cuda] = gain; }\n return step; }',
  minified: '({cuda:a,gain:r})=>n=>{n[a]=r}',
  'with counters':
    '({ cuda, gain }) => { cov_x().f[0]++; cov_x().s[0]++; return (y) => { cov_x().f[1]++; y[cuda] = gain; }; }',
  ES5: 'function (_ref) { var cuda = _ref.cuda, gain = _ref.gain; return function (y) { y[cuda] = gain; }; }',
  'minified ES5': 'function(n){var r=n.cuda,u=n.gain;return function(n){n[r]=u}}',
  'without destructuring': '(c) => (y) => { y[c.cuda] = c.gain; }',
};

test.each(Object.entries(FACTORIES))('a factory: %s', (_, text) => {
  const factory = new Function('cov_x', `return ${text}`)(() => ({ f: [0, 0], s: [0, 0] })) as AnyFunction;
  const captured = captureFunction(factory, { captures: { cuda: 'C', gain: 3 } });
  const found = Object.values(values(captured)).filter((value) => typeof value !== 'function');
  expect(found.length === 1 ? Object.values(found[0] as Given) : found).toEqual(['C', 3]);
  expect(captured.node.params).toHaveLength(1);
});

test('a factory may compute values of its own, which the inspector shows', () => {
  const factory = ({ g }: { g: number }) => {
    const twice = g * 2;
    return (y: number[]) => y[twice];
  };
  expect(values(captureFunction(factory as AnyFunction, { captures: { g: 4 } }))).toEqual({ twice: 8 });
});

test('the kernel keeps a name: the one given, its own, or the factory’s', () => {
  const outer = () => (y: number[]) => y[0];
  expect(captureFunction(outer, { captures: {} }).source.name).toBe('outer');
  expect(captureFunction(outer, { captures: {}, name: 'step' }).source.name).toBe('step');
});

test('a key that captures lacks is named', () => {
  const factory =
    ({ gian }: { gian: number }) =>
    (y: number[]) =>
      y[gian];
  const error = failure(() => captureFunction(factory as AnyFunction, { captures: { gain } }));
  expect(error).toMatchObject({
    code: 'K010',
    summary: 'captures has no gian',
    help: expect.stringContaining('{ gain, gian }'),
  });
});

test('a name that does not exist is an error when it is used, with the nearest known name', () => {
  const kernel = new Function('gain', 'return (y) => gain * gian')(2) as AnyFunction;
  const captured = captureFunction(kernel);
  expect(failure(() => lookup(captured, 'gian'))).toMatchObject({
    code: 'K010',
    summary: 'gian is not defined',
    help: 'did you mean gain?',
  });
});

test('a name of Tsamba that was imported as a type is told so', () => {
  const kernel = new Function('return (y) => f32(y)')() as AnyFunction;
  const { help } = failure(() => lookup(captureFunction(kernel), 'f32'));
  expect(help).toContain("import { f32 } from 'tsamba'");
});

test('a name without a near one gets the explicit form', () => {
  const kernel = new Function('return (y) => y * unheardOf')() as AnyFunction;
  const { help } = failure(() => lookup(captureFunction(kernel), 'unheardOf'));
  expect(help).toContain('{ captures: { unheardOf } }');
});

test('a binding that is not initialised yet is an error that says so', () => {
  const kernel = (y: number[]) => y[later];
  const captured = captureFunction(kernel);
  const error = failure(() => lookup(captured, 'later'));
  expect(error).toMatchObject({ code: 'K011', summary: expect.stringContaining('later is undefined') });
  expect(error.help).toContain('move the declaration of later above it');
  const later = 1;
  expect(lookup(captureFunction(kernel), 'later')).toBe(later);
});

test('arguments, native and bound functions are refused with their remedy', () => {
  const captured = captureFunction((y: number[]) => y[0]);
  const pos = { source: captured.source, start: 0, end: 1 };
  expect(failure(() => captured.lookup('arguments', pos)).help).toContain('name the parameters');
  expect(failure(() => captured.read(parseInt as AnyFunction, pos)).summary).toBe(
    'parseInt is a native function, which runs on the host only',
  );
  expect(failure(() => captured.read(square.bind(null) as AnyFunction, pos)).summary).toContain(
    'square was made by bind()',
  );
});
