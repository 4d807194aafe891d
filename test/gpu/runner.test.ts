/**
 * The runner of the GPU tests, on the CPU device: the bundle needs nothing but Node.js, and a test that ends, crashes or blocks its
 * process costs only itself.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ROOT } from '../support/doc-blocks.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-gpu-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('goes on in another process after a test that breaks its own', { timeout: 300_000 }, () => {
  execFileSync(process.execPath, ['--import', 'tsx', join(ROOT, 'test/gpu/run.ts'), '--bundle', folder], { cwd: ROOT });
  const json = join(folder, 'out.json');
  const options = ['--device', 'cpu', '--programs', '20', '--launched', '0', '--json', json];
  const filters = [
    'the runner',
    'errors in kernels: await',
    'geometry: grid(',
    'random programs',
    'store shared',
  ].flatMap((f) => ['--filter', f]);
  const args = [join(folder, 'test-gpu.mjs'), ...options, ...filters];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stdout).toMatch(/^FAIL the runner: throws: Error: thrown on purpose/m);
  const result = JSON.parse(readFileSync(json, 'utf8')) as Record<string, unknown>;
  expect(result['totals']).toMatchObject({
    // V8 says of an async arrow function in a bundle where it begins, and not where its parameters do.
    'errors in kernels': { passed: 1, failed: 0 },
    geometry: { passed: 3, failed: 0 },
    'random programs': { passed: 1, failed: 0 },
    'the runner': { passed: 3, failed: 4, skipped: 1 },
  });
  expect(
    (result['failures'] as { name: string; error: string }[]).map((f) => `${f.name}: ${f.error.split('\n')[0]}`),
  ).toEqual([
    expect.stringContaining('throws: Error: thrown on purpose'),
    'ends the process: the process ended with code 7',
    'crashes the process: the process ended with SIGABRT',
    'never ends: still running after 0.5 s',
  ]);
  expect(result['notes']).toContainEqual({ test: 'the runner: passes with a note', note: 'all is well' });
});

it('says how its options go', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'test-gpu.mjs'), ...args], { encoding: 'utf8' });
  expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--filter TEXT') });
  expect(run('--gpu')).toMatchObject({ status: 2, stderr: expect.stringMatching(/^what is --gpu\?\n/) });
});
