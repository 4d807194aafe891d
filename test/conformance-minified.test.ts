/**
 * The conformance suite after a minifier: bundled with the library into one file, every name shortened, every statement that
 * can be an expression made one, and run by plain Node.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { conformanceTests } from '../testsuite/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-minified-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RUN = `
import { runConformance } from './suite.mjs';
const results = await runConformance();
const failed = results.filter((r) => r.error !== undefined);
process.stdout.write(JSON.stringify({
  count: results.length,
  failed: failed.map((r) => r.test.chapter + ': ' + r.test.name + ': ' + String(r.error?.message ?? r.error)),
}));
`;

it('passes when minified', { timeout: 600_000 }, async () => {
  await build({
    entryPoints: [join(import.meta.dirname, '../testsuite/index.ts')],
    outfile: join(folder, 'suite.mjs'),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['koffi'],
    logLevel: 'error',
  });
  const script = join(folder, 'run.mjs');
  writeFileSync(script, RUN);
  const env = {
    ...process.env,
    TSAMBA_DEVICE: 'cpu',
    TSAMBA_ROC_DRIVER: 'cpu',
    TSAMBA_CPU_THREADS: '1',
    TSAMBA_WARN_IMPLICIT_COPY: '0',
  };
  const output = execFileSync(process.execPath, [script], { env, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const { count, failed } = JSON.parse(output.slice(output.indexOf('{"count"'))) as { count: number; failed: string[] };
  expect(failed).toEqual([]);
  expect(count).toBe(conformanceTests.length);
});
