/** How processes and worker threads end with an OpenCL device open, and how several threads open one at the same time. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REPORT_FAULT } from '../reporting.testing.ts';
import { hasOpenCL } from './opencl.testing.ts';

const RUN = `
import { execSync } from 'node:child_process';
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { openOpenCL } from DRIVER;

const TEXT = \`kernel void work(global uchar *base, ulong offset, global uint *faults, uint launch) {
  global float *out = (global float *)(base + offset);
  float sum = 0;
  for (int i = 0; i < 1000000; i++) sum += 1.0f / (i + 1 + get_global_id(0));
  out[get_global_id(0)] = sum;
  if (get_global_id(0) == FAULTY) ${REPORT_FAULT}
}\`;
const kernel = {
  name: 'work', params: [], arrays: [], vars: [], body: [], indexBits: 32, checked: true, contract: false, fastMath: false,
  pos: { source: { text: '', name: 'work' }, start: 0, end: 0 },
};
const site = { kind: 'trap', pos: { source: { text: 'throw', name: 'boom' }, start: 0, end: 1 }, message: 'boom' };
const open = (faulty) => openOpenCL(0, { pipeline: { compile: () => ({
  text: TEXT.replace('FAULTY', faulty), entry: 'work',
  args: [{ kind: 'buffer', param: 0 }, { kind: 'offset', param: 0 }, { kind: 'faults' }, { kind: 'launchNumber' }],
  buildOptions: [], staticSharedBytes: 0, sites: [site], prints: [], cooperative: false,
}) } });

function launch(faulty, wait) {
  const device = open(faulty);
  const out = device.allocate(4 * 64);
  const work = device.load({ kernel });
  for (let k = 0; k < 3; k++) work.launch({ grid: [8, 1, 1], block: [8, 1, 1], sharedBytes: 0 }, [out], device.createStream());
  if (wait) device.synchronize();
}

const mode = isMainThread ? process.argv[2] : workerData;
if (mode === 'parent') {
  openOpenCL(0);
  console.log(execSync('printenv OCL_ICD_FILENAMES', { encoding: 'utf8' }).trim());
  process.exit();
}
if (mode === 'busy') launch(9999, false);
if (mode === 'faulty') launch(3, false);
if (mode === 'worker') launch(9999, true);
if (mode === 'leaving') launch(9999, false);
if (mode === 'threads') {
  const run = (data) => new Promise((resolve, reject) => {
    new Worker(new URL(import.meta.url), { workerData: data }).on('error', reject).on('exit', resolve);
  });
  console.log((await Promise.all([run('worker'), run('worker'), run('leaving')])).join());
}
`;

describe.skipIf(!hasOpenCL())('with an OpenCL device open', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-opencl-'));
  const outfile = join(folder, 'run.mjs');
  beforeAll(async () => {
    const entry = join(folder, 'entry.js');
    writeFileSync(entry, RUN.replace('DRIVER', JSON.stringify(join(import.meta.dirname, 'index.ts'))));
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['koffi'],
      banner: {
        js: `import { createRequire as c } from 'node:module'; const require = c(${JSON.stringify(import.meta.url)});`,
      },
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (mode: string, environment: Readonly<Record<string, string>> = {}) => {
    const { NODE_PATH } = process.env;
    const modules = join(import.meta.dirname, '../../../node_modules');
    return spawnSync(process.execPath, [outfile, mode], {
      encoding: 'utf8',
      env: { ...process.env, ...environment, NODE_PATH: NODE_PATH === undefined ? modules : `${modules}:${NODE_PATH}` },
    });
  };

  it('a process ends cleanly while kernels run', () => {
    const { status, signal, stderr } = run('busy');
    expect([status, signal, stderr]).toEqual([0, null, '']);
  });

  it('a process that ends tells of faults that nobody has seen', () => {
    const { status, stderr } = run('faulty');
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /a kernel failed, and nothing synchronised with it before the process ended:\nDriverError: kernel work: boom/,
    );
  });

  it('child processes find the platforms that their parent found', () => {
    const OCL_ICD_FILENAMES = 'libpocl.so.2:libpocl.so.2';
    const { stdout } = run('parent', { OCL_ICD_FILENAMES });
    expect(stdout.trim()).toBe(OCL_ICD_FILENAMES);
  });

  it('several threads open it at once, and end', () => {
    const { status, signal, stdout, stderr } = run('threads');
    expect([status, signal, stdout.trim(), stderr]).toEqual([0, null, '0,0,0', '']);
  });
});
