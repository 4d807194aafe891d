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

  it('what is written by hand is not', () => {
    expect(launch(sumOf(400))).toBe(1000);
    expect(launch(blocks(100))).toBe(2);
    expect(cuda.deviceArray(1, i32).size).toBe(1);
  });
});
