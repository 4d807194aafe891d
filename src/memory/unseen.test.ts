import { afterEach, beforeEach, expect, it } from 'vitest';
import { cuda, type f32, ndarray, type Vec } from '../index.ts';
import { sort } from '../parallel/index.ts';

const descriptor = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit') as PropertyDescriptor;
/** How often a stack has been captured: each capture sets how many frames it wants, and sets that back. */
let captures = 0;

beforeEach(() => {
  cuda.selectDevice('cpu');
  let { value } = descriptor;
  captures = 0;
  const set = (given: number): void => {
    captures += 0.5;
    value = given;
  };
  Object.defineProperty(Error, 'stackTraceLimit', { get: () => value, set, configurable: true });
});
afterEach(() => {
  Object.defineProperty(Error, 'stackTraceLimit', descriptor);
});

const n = 12;
const matrix = () => cuda.toDevice(ndarray(new Float32Array(n * n).fill(2), { shape: [n, n] }));
const double = cuda.jit((x: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < x.length) x[i] = (x[i] as number) * 2;
});
const [a, b, c] = [matrix(), matrix(), matrix()];
const plus = cuda.vectorize((x: number, y: number) => x + y);
const largest = cuda.reduce((x: number, y: number) => Math.max(x, y));

/** Calls that make arrays of their own and give them back. */
const CALLS: Readonly<Record<string, () => unknown>> = {
  'a product of matrices': () => cuda.matmul(a, b, { out: c }),
  'a product with a host array': () => cuda.matmul(a, new Float32Array(n)),
  'a universal function with a host array': () => plus(new Float32Array(n), 3),
  'arithmetic of arrays': () => a.add(b.mul(3)).copyToHost(),
  'a reduction': () => largest(new Float32Array(20_000).fill(3)),
  'a sort': () => sort(new Float32Array(n)),
  'a kernel with a host array': () => double.launch({ threads: n }, new Float32Array(n)),
};

it.each(Object.entries(CALLS))('%s captures no place where it gives back what nobody has seen', (_, call) => {
  call();
  captures = 0;
  call();
  expect(captures).toBe(0);
});

it('dispose captures where it was called', () => {
  matrix().dispose();
  expect(captures).toBe(1);
});
