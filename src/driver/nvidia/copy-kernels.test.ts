/** The copy kernels' text, and what they are told. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { divider, launchesOf, MAX_AXES, UNITS } from '../copies/launches.ts';
import { type Walk, walkOf } from '../copies/walk.ts';
import { moduleText } from './copy-kernels.ts';

const ptxas = spawnSync('ptxas', ['--version']).status === 0;

describe.skipIf(!ptxas)('ptxas takes the kernels for every device that it knows', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tsamba-copy-'));
    for (const unit of UNITS) {
      for (const kind of ['copy', 'fill'] as const) {
        writeFileSync(join(folder, `${kind}-${unit}.ptx`), moduleText(kind, unit));
      }
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const arch of ['sm_75', 'sm_80', 'sm_90', 'sm_100', 'sm_120']) {
    it(arch, () => {
      const files = UNITS.flatMap((unit) => [`copy-${unit}.ptx`, `fill-${unit}.ptx`]);
      for (const file of files) {
        const { status, stderr } = spawnSync('ptxas', [`-arch=${arch}`, '-v', file, '-o', `${file}.cubin`], {
          cwd: folder,
          encoding: 'utf8',
        });
        expect(stderr).toContain('0 bytes spill stores');
        expect(status).toBe(0);
      }
    });
  }
});

describe('division by multiplication', () => {
  const quotient = (i: number, n: number): number => {
    const { multiplier, shift } = divider(n);
    const high = Number((BigInt(i) * BigInt(multiplier)) >> 32n);
    expect(high + i).toBeLessThan(2 ** 32);
    return (high + i) / 2 ** shift;
  };

  it('is exact for indices below 2^31', () => {
    const corners = (n: number): number[] =>
      [
        0,
        1,
        n - 1,
        n,
        n + 1,
        2 ** 31 - 1,
        Math.floor((2 ** 31 - 1) / n) * n,
        Math.floor((2 ** 31 - 1) / n) * n - 1,
      ].filter((i) => i >= 0 && i < 2 ** 31);
    for (const n of [1, 2, 3, 5, 7, 641, 2 ** 16 - 1, 2 ** 16, 2 ** 16 + 1, 2 ** 30, 2 ** 30 + 1, 2 ** 31 - 1]) {
      for (const i of corners(n)) expect(Math.floor(quotient(i, n))).toBe(Math.floor(i / n));
    }
    const below = fc.integer({ min: 0, max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), below, (n, i) => {
        expect(Math.floor(quotient(i, n))).toBe(Math.floor(i / n));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('launches', () => {
  const walk = (shape: number[], target: number[], source: number[], itemSize = 4): Walk =>
    walkOf({ target: { strides: target }, source: { strides: source }, shape, itemSize }) as Walk;

  it('move units as large as alignment allows', () => {
    const rows = walk([10, 64], [512, 4], [256, 4]);
    expect(launchesOf(rows, 4096, 8192)[0]).toMatchObject({ unit: 16, count: 160 });
    expect(launchesOf(rows, 4096, 8194)[0]).toMatchObject({ unit: 2, count: 1280 });
    expect(launchesOf(walk([10], [12], [3], 3), 0, 0)[0]).toMatchObject({ unit: 1, count: 30 });
  });

  it('have fewer than 2^31 units', () => {
    const huge = walk([3, 2 ** 31], [2 ** 34, 8], [2 ** 33, 4]);
    const launches = launchesOf(huge, 0, 0);
    expect(launches.every(({ count }) => count < 2 ** 31)).toBe(true);
    expect(launches.reduce((sum, { count }) => sum + count, 0)).toBe(3 * 2 ** 31);
    expect(new Set(launches.map(({ target }) => target)).size).toBe(launches.length);
  });

  it('have at most eight axes; the others become launches', () => {
    const shape = [2, 3, 2, 3, 2, 3, 2, 3, 2, 3];
    let stride = 4;
    const target = shape.toReversed().map((n) => {
      stride *= n + 1;
      return stride;
    });
    const launches = launchesOf(walk(shape, target.toReversed(), target), 0, 0);
    expect(Math.max(...launches.map(({ axes }) => axes.length))).toBe(MAX_AXES);
    expect(launches.length).toBe(4);
  });
});
