/**
 * The small programs of examples/ run as their first lines say, and print what is right.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { readPng } from '../examples/tour/png.ts';
import { ROOT } from './support/doc-blocks.ts';
import { bundled } from './support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-examples-'));
afterAll(() => rmSync(folder, { recursive: true }));

const devices = ['cpu', 'simulator'];
const examples: Readonly<Record<string, readonly [args: readonly string[], prints: RegExp]>> = {
  'game-of-life.ts': [['48', '30', join(folder, 'life.png')], /^(\d+) of 2304 cells are alive after 30 generations/],
  'histogram.ts': [['20000'], /^128–143 █{50} 3296$/m],
  'n-body.ts': [['300', '3'], /^mean speed 0\.\d+, momentum \de-\d+$/m],
  'statistics.ts': [['400'], /^means -0\.01 9\.97 19\.95 29\.97, .*\nthe farthest of 400 rows is 1\.79 standard/m],
  'streams.ts': [
    ['10000'],
    /^the loudest sample has -0\.\d\d dB, the last -\d+\.\d\d dB\n0 bytes of device memory in use$/m,
  ],
};

it('every example is tested', () => {
  expect(readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.ts'))).toEqual(Object.keys(examples));
});

const file = bundled(...Object.keys(examples).map((name) => `examples/${name}`));

for (const device of devices) {
  it.concurrent.each(Object.entries(examples))(
    `%s on the ${device}`,
    async (name, [args, prints]) => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [file(name), ...args.map((a) => a.replace('life', device))],
        { cwd: ROOT, env: { ...process.env, TSAMBA_DEVICE: device } },
      );
      expect(stdout).toMatch(prints);
    },
    60_000,
  );
}

it.each(devices)('the Game of Life is right on the %s', (device) => {
  const { width, height, data } = readPng(join(folder, `${device}.png`));
  expect([width, height]).toEqual([48, 48]);
  expect([...data].filter((v) => v === 255).length).toBe(lifeInPlainJavaScript(48, 30));
});

function lifeInPlainJavaScript(n: number, generations: number): number {
  let seed = 42;
  let now: number[] = Array.from({ length: n * n }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed > 0xa0000000 ? 1 : 0;
  });
  for (let g = 0; g < generations; g++) {
    now = now.map((cell, k) => {
      let neighbours = -cell;
      for (let d = 0; d < 9; d++) {
        const x = (k + (d % 3) - 1 + n - Math.floor(k / n) * n) % n;
        const y = (Math.floor(k / n) + Math.floor(d / 3) - 1 + n) % n;
        neighbours += now[y * n + x];
      }
      return neighbours === 3 || (neighbours === 2 && cell === 1) ? 1 : 0;
    });
  }
  return now.reduce((a, b) => a + b);
}
