/**
 * The small programs of examples/ run as their first lines say, and print what is right.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { readPng, writePng } from '../examples/tour/png.ts';
import { isThorough } from '../src/required.testing.ts';
import { ROOT } from './support/doc-blocks.ts';
import { bundled } from './support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-examples-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Every eighth pixel of the photograph along each axis. */
const photograph = join(folder, 'photograph.png');
{
  const { width, height, channels, data } = readPng(join(ROOT, 'examples', 'tour', 'coffee.png'));
  const [columns, rows] = [width >> 3, height >> 3];
  const small = Uint8Array.from({ length: columns * rows * channels }, (_, at) => {
    const [pixel, c] = [Math.floor(at / channels), at % channels];
    return data[(8 * Math.floor(pixel / columns) * width + 8 * (pixel % columns)) * channels + c] as number;
  });
  writePng(photograph, { width: columns, height: rows, channels, data: small });
}

const devices = isThorough() ? ['cpu', 'simulator'] : ['cpu'];
const examples: Readonly<Record<string, readonly [args: readonly string[], prints: RegExp]>> = {
  'equalise.ts': [
    [photograph, join(folder, 'equalised-life.png')],
    /^75 x 50 pixels, mean grey \d+\.\d before, 12\d\.\d after/,
  ],
  'game-of-life.ts': [['48', '30', join(folder, 'life.png')], /^(\d+) of 2304 cells are alive after 30 generations/],
  'histogram.ts': [['20000'], /^128–143 █{50} 3296$/m],
  'k-means.ts': [['4', photograph, join(folder, 'k-means-life.png')], /^75 x 50 pixels in 4 colours after \d+ rounds/],
  'n-body.ts': [['300', '3'], /^mean speed 0\.\d+, momentum \de-\d+$/m],
  'option.ts': [
    ['4000', '8'],
    /^7\.\d{3} ± 0\.\d{3} by 4000 paths of 8 steps, .*\n7\.128 by Black and Scholes, [0-3]\.\d standard/,
  ],
  'pagerank.ts': [
    [join(ROOT, 'package-lock.json')],
    /^\d+ packages, \d+ dependencies, \d+ rounds, ranks sum to 1\.000000\n\d\.\d\d % {2}\S/,
  ],
  'search.ts': [['3000', '16'], /the one that was bent is 1000\n0\.9\d\d\d {2}vector 1000\n/],
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

it.each(devices)('the photograph has four colours on the %s, and greys of every brightness', (device) => {
  const painted = readPng(join(folder, `k-means-${device}.png`));
  const colours = new Set(
    Array.from({ length: painted.width * painted.height }, (_, i) =>
      painted.data.subarray(painted.channels * i, painted.channels * i + 3).join(),
    ),
  );
  expect(colours.size).toBe(4);
  const { data } = readPng(join(folder, `equalised-${device}.png`));
  expect([Math.min(...data), Math.max(...data)]).toEqual([0, 255]);
  // Half of the pixels are darker than half of the greys, as near as levels are counted.
  const dark = data.filter((v) => v < 128).length / data.length;
  expect(dark).toBeGreaterThan(0.45);
  expect(dark).toBeLessThan(0.55);
});
