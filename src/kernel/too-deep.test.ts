/** Code that programs write may nest deeper than the compiler can walk: it is told about the kernel. */
import { afterAll, describe, expect, it } from 'vitest';
import { cuda, i32, KernelError } from '../index.ts';

afterAll(() => cuda.close());

function sumOf(terms: number): (o: never) => void {
  const sum = Array.from({ length: terms }, (_, k) => `o[${k % 4}]`).join(' + ');
  return new Function('o', `o[0] = ${sum};`) as (o: never) => void;
}

function blocks(depth: number): (o: never) => void {
  return new Function('o', `${'if (o[0] < 9) { '.repeat(depth)}o[0] += 1;${'}'.repeat(depth)}`) as (o: never) => void;
}

type Kernel = (o: never) => void;

function kernelOf(body: string): Kernel {
  return new Function('o', body) as Kernel;
}

/** `list(n, f)`: f(0) … f(n - 1), one after another. */
function list(n: number, f: (k: number) => string, by = ' '): string {
  return Array.from({ length: n }, (_, k) => f(k)).join(by);
}

/** Calls `f` when about this part of the stack is used. */
function atStackUse<T>(part: number, f: () => T): T {
  const most = (): number => {
    try {
      return 1 + most();
    } catch {
      return 1;
    }
  };
  const down = (frames: number): T => (frames > 0 ? down(frames - 1) : f());
  return down(Math.floor(most() * part));
}

describe.each(['cpu', 'simulator'] as const)('on the device %s', (device) => {
  const launch = (fn: (o: never) => void): number => {
    cuda.selectDevice(device);
    const o = cuda.toDevice(Int32Array.of(1, 2, 3, 4));
    cuda.jit(fn as (o: unknown) => void).launch({ grid: 1, block: 1 }, o);
    return o.get(0);
  };

  it.each([
    ['a sum', sumOf, 20_000],
    ['blocks', blocks, 1_500],
  ])('%s that is nested too deeply is refused as a kernel', (_, make, depth) => {
    let error: unknown;
    try {
      launch(make(depth));
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(KernelError);
    expect((error as KernelError).message).toMatch(/^K(104|001): /);
  });

  it.each([
    ['a sum of 890 terms', sumOf(890), 2223],
    ['2000 cases', kernelOf(`switch (o[1]) { ${list(2000, (k) => `case ${k * 2}: o[0] = ${k}; break;`)} }`), 1],
    ['500 cases without breaks', kernelOf(`switch (o[3]) { ${list(500, (k) => `case ${k}: o[0] += 1;`)} }`), 497],
    ['a chain of 400 conditions', kernelOf(list(400, (k) => `if (o[2] === ${k}) o[0] = ${k};`, ' else ')), 3],
    ['3000 statements', kernelOf(list(3000, () => 'o[0] += 1;')), 3001],
    [
      '1000 variables',
      kernelOf(`${list(1000, (k) => `let v${k} = ${k === 0 ? 'o[0]' : `v${k - 1} + 1`};`)} o[0] = v999;`),
      1000,
    ],
    ['64 roundings of quotients', kernelOf(`o[0] = ${'Math.floor('.repeat(64)}o[3]${' / 1)'.repeat(64)}`), 4],
    ['an array of 3000 elements', kernelOf(`const t = [${list(3000, String, ', ')}]; o[0] = t[2999];`), 2999],
    [
      'an object 200 deep',
      kernelOf(`const t = ${'{ a: '.repeat(200)}o[1]${' }'.repeat(200)}; o[0] = t${'.a'.repeat(200)};`),
      2,
    ],
  ])('%s compile', (_, fn, result) => {
    expect(launch(fn)).toBe(result);
  });

  it('a kernel takes 200 parameters', () => {
    cuda.selectDevice(device);
    const o = cuda.toDevice(Int32Array.of(0));
    const names = list(199, (k) => `p${k}`, ', ');
    const kernel = cuda.jit(new Function('o', names, `o[0] = ${list(199, (k) => `p${k} * ${k}`, ' + ')};`) as Kernel);
    const values = Array.from({ length: 199 }, (_, k) => k + 1);
    (kernel.launch as (...args: unknown[]) => void)({ grid: 1, block: 1 }, o, ...values);
    expect(o.get(0)).toBe(values.reduce((sum, v, k) => sum + v * k, 0));
  });

  it('an expression may have 20,000 characters', () => {
    const groups = list(48, (k) => `(${list(60, (n) => `o[${n % 4}]`, k % 2 === 0 ? ' + ' : ' - ')})`, ' ^ ');
    const expression = `${groups} ^ (${list(150, (k) => `Math.max(o[${k % 4}], ${k}) * ${1000 + k}`, ' + ')})`;
    expect(expression.length).toBeGreaterThan(20_000);
    const expected = new Function('o', `return ${expression}`)([1, 2, 3, 4]) as number;
    expect(launch(kernelOf(`o[0] = ${expression};`))).toBe(expected);
  });

  it('functions that double the calls at each level are refused', () => {
    const levels = list(40, (k) => `const f${k} = (v) => f${k + 1}(v) + f${k + 1}(v + 1);`);
    expect(() => launch(kernelOf(`${levels} const f40 = (v) => v; o[0] = f0(1);`))).toThrow(
      /^K105: .*more than 4096 calls/,
    );
  });

  it.each([0.3, 0.6, 0.8])('a caller that has used up %d of the stack gets a result or a KernelError', (part) => {
    let outcome: unknown;
    try {
      outcome = atStackUse(part, () => launch(sumOf(300)));
    } catch (e) {
      outcome = e;
    }
    if (outcome instanceof KernelError) expect(outcome.code).toBe('K104');
    else expect(outcome).toBe(750);
  });

  it('what is written by hand is not', () => {
    expect(launch(sumOf(400))).toBe(1000);
    expect(launch(blocks(100))).toBe(2);
    expect(cuda.deviceArray(1, i32).size).toBe(1);
  });
});
