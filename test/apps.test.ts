/**
 * The small applications of examples/apps, each as its users would use it, held against plain JavaScript.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { readPng, writePng } from '../examples/tour/png.ts';
import { bundled } from './support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-apps-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = bundled(...['service', 'picture', 'worker-pool'].map((name) => `examples/apps/${name}.ts`));
const env = { ...process.env, TSAMBA_DEVICE: 'cpu', NODE_NO_WARNINGS: '1' };
const run = (name: string, ...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [file(`${name}.ts`), ...args], { env, cwd: folder });

it('the service finds the nearest, refuses what it cannot take, and closes', { timeout: 300_000 }, async () => {
  const [count, dimensions] = [3000, 4];
  const child = spawn(process.execPath, [file('service.ts'), '0', String(count), String(dimensions)], { env });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  while (!said.includes('listening')) await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${/on (\d+)/.exec(said)?.[1]}`;
  const ask = async (body: string): Promise<readonly [number, unknown]> => {
    const response = await fetch(`${url}/search`, { method: 'POST', body });
    return [response.status, await response.json()];
  };
  const query = [0.5, -0.25, 0.125, 0.75];
  const value = (k: number): number => Math.fround(Math.sin(k * 12.9898) % 1);
  const distance = (i: number): number =>
    Math.sqrt(query.reduce((sum, q, k) => sum + (value(i * dimensions + k) - q) ** 2, 0));
  const nearest = Array.from({ length: count }, (_, i) => distance(i)).sort((a, b) => a - b);
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(JSON.stringify({ query, count: 3 }))));
  for (const [status, body] of answers) {
    expect(status).toBe(200);
    const { nearest: found } = body as { readonly nearest: { readonly index: number; readonly distance: number }[] };
    expect(found).toHaveLength(3);
    for (const [k, { index, distance: far }] of found.entries()) {
      expect(far).toBeCloseTo(nearest[k] as number, 5);
      expect(distance(index)).toBeCloseTo(far, 5);
    }
  }
  expect(await ask('no JSON')).toEqual([400, { error: 'the body is not JSON' }]);
  expect(await ask('{"query": [1, 2]}')).toEqual([400, { error: 'query must be 4 numbers' }]);
  expect(await ask('{"query": [1, 2, 3, 4], "count": 0}')).toEqual([
    400,
    { error: 'count must be an integer from 1 to 100' },
  ]);
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ vectors: count });
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(said).toContain('closed');
});

it('the command filters pictures, and says how it is used', { timeout: 300_000 }, async () => {
  const [width, height] = [37, 21];
  const data = Uint8Array.from({ length: width * height }, (_, k) => (k * k * 7) & 255);
  writePng(join(folder, 'in.png'), { width, height, channels: 1, data });
  const { stdout } = await run('picture', 'blur', '--radius', '2', 'in.png', 'out.png');
  expect(stdout).toMatch(/^37 x 21 pixels, blur, on CPU .*; wrote out\.png\n$/);
  const blurred = readPng(join(folder, 'out.png')).data;
  for (const [x, y] of [
    [0, 0],
    [18, 10],
    [36, 20],
  ] as const) {
    let [sum, count] = [0, 0];
    for (let j = Math.max(0, y - 2); j <= Math.min(height - 1, y + 2); j++)
      for (let k = Math.max(0, x - 2); k <= Math.min(width - 1, x + 2); k++) {
        sum += data[j * width + k] as number;
        count++;
      }
    expect(Math.abs((blurred[y * width + x] as number) - sum / count)).toBeLessThan(0.51);
  }
  await expect(run('picture', 'bulr', 'in.png', 'out.png')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^picture FILTER .*\nfilters: blur/),
  });
  await expect(run('picture', 'edges', 'none.png', 'out.png')).rejects.toMatchObject({ code: 1 });
});

it('the pool prices options, the same by one worker and by three', { timeout: 300_000 }, async () => {
  const [one, three] = await Promise.all([
    run('worker-pool', '5', '200000', '1'),
    run('worker-pool', '5', '200000', '3'),
  ]);
  const prices = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('strike'));
  expect(prices(three.stdout)).toEqual(prices(one.stdout));
  expect(one.stdout).toMatch(/^5 jobs by 1 workers in /m);
  // By Black and Scholes, for strikes of 80 and 100: 24.589 and 10.451.
  expect(Number(/^strike 80\.00: (.*)$/m.exec(one.stdout)?.[1])).toBeCloseTo(24.589, 0);
  expect(Number(/^strike 100\.00: (.*)$/m.exec(one.stdout)?.[1])).toBeCloseTo(10.451, 0);
});
