/**
 * The suite's own machinery: that its assertions can fail, and what `runConformance` gives.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../src/index.ts';
import { elementsOf, rejects, same, sameElements, throws, ulpElements } from './assert.ts';
import { ConformanceFailure, conformanceTests, runConformance } from './index.ts';
import { chapter, runTests, waiting } from './suite.ts';

describe('runConformance', () => {
  it('runs what a filter picks, in order, and reports each result', async () => {
    const seen: string[] = [];
    const results = await runConformance({
      device: 'cpu',
      filter: 'geometry: grid(',
      onResult: ({ test }) => seen.push(test.name),
    });
    expect(seen).toEqual(['grid(1), gridSize(1)', 'grid(2), gridSize(2)', 'grid(3), gridSize(3)']);
    expect(results.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
    expect(results.every(({ milliseconds }) => milliseconds > 0)).toBe(true);
  });

  it('keeps failures in the results, and goes on', async () => {
    const made: { disposed: boolean }[] = [];
    const results = await runTests(
      chapter('sample', {
        fails: () => {
          made.push(cuda.deviceArray(3));
          same(1, 2, 'one');
        },
        'fails later': waiting(async () => {
          await Promise.resolve();
          throw new Error('late');
        }),
        'throws nothing to speak of': () => {
          throw undefined;
        },
        passes: () => undefined,
      }),
    );
    expect(results.map(({ error }) => (error as Error | undefined)?.message)).toEqual([
      'one: 1 instead of 2',
      'late',
      'something undefined was thrown',
      undefined,
    ]);
    expect(made.map(({ disposed }) => disposed)).toEqual([true]);
  });

  it('has a name of its own for every test', () => {
    const names = conformanceTests.map(({ chapter: title, name }) => `${title}: ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('assertions', () => {
  it.each<[string, () => void, RegExp]>([
    ['zeros of different signs', () => same(0, -0), /0 instead of -0/],
    ['a bigint and a number', () => same(1n, 1), /1n instead of 1/],
    ['different lengths', () => sameElements([1], [1, 2]), /1 instead of 2/],
    ['different elements', () => sameElements([1, 2], [1, 3], 'thread'), /thread 1: 2 instead of 3/],
    ['nothing thrown', () => throws(() => undefined, /x/), /nothing was thrown/],
    [
      'another message',
      () =>
        throws(() => {
          throw new Error('a');
        }, /b/),
      /threw Error: a/,
    ],
    [
      'another code',
      () =>
        throws(
          () => {
            throw Object.assign(new Error('a'), { code: 'A' });
          },
          /a/,
          'B',
        ),
      /code A instead of B/,
    ],
    ['two ulps', () => ulpElements([1 + 2 ** -51], [1], 1, 'float64', String), /2\.00 ulp apart/],
    ['a number for NaN', () => ulpElements([1], [Number.NaN], 1, 'float32', String), /instead of NaN/],
    ['a number for infinity', () => ulpElements([1e300], [Number.POSITIVE_INFINITY], 4, 'float64', String), /Infinity/],
    ['the wrong sign', () => ulpElements([-(2 ** -149)], [2 ** -149], 4, 'float32', String), /ulp apart/],
  ])('fail for %s', (_, run, message) => {
    expect(run).toThrow(ConformanceFailure);
    expect(run).toThrow(message);
  });

  it('fail for promises that resolve', async () => {
    await expect(rejects(() => Promise.resolve(), /x/)).rejects.toThrow('nothing was rejected');
  });

  it('accept what is equal or near enough', () => {
    same(Number.NaN, Number.NaN);
    sameElements(Float32Array.of(1, 2), [1, 2]);
    ulpElements([1 + 2 ** -52, 0], [1, 0], 1, 'float64', String);
    ulpElements([Number.POSITIVE_INFINITY], [3.5e38], 1, 'float32', String);
    expect(elementsOf(cuda.toDevice([[1, 2]]).copyToHost() as never)).toEqual([1, 2]);
  });
});
