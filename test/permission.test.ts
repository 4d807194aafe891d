/**
 * Where Node's permission model refuses the inspector, worker threads and native addons: kernels find Tsamba's own names by
 * themselves and others in `captures`, run on one thread, and the device says why.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-permission-'));
// The flag lost the word experimental in Node 23.
const FLAG = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';

beforeAll(() => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(fileURLToPath(new URL('..', import.meta.url)), join(folder, 'node_modules/tsamba'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(text: string, ...flags: string[]): string {
  const file = join(folder, 'program.mjs');
  writeFileSync(file, `import { cuda, hsa, roc, f32, i32, NotSupportedError } from 'tsamba';\n${text}`);
  const { stdout, stderr } = spawnSync(process.execPath, [FLAG, '--allow-fs-read=*', '--no-warnings', ...flags, file], {
    encoding: 'utf8',
    env: { ...process.env, TSAMBA_DEVICE: '', NODE_OPTIONS: '' },
  });
  return stdout + stderr;
}

it('computes with the names that everybody knows, on one thread and without native libraries', () => {
  const said = run(`
    const kernel = cuda.jit((y) => {
      const i = cuda.grid(1);
      const t = cuda.shared.array(32, f32);
      t[i] = Math.min(i32(i) * 2, Infinity);
      if (i < y.length) y[i] = t[i] + Number(i > 0);
    });
    const y = cuda.toDevice(new Float32Array(4));
    kernel.launch({ grid: 1, block: 4 }, y);
    console.log(y.copyToHost().join(), cuda.currentDevice().name, cuda.currentDevice().fallbackReason);
  `);
  expect(said).toMatch(
    /^0,3,5,7 CPU \(.*, 1 thread\) koffi.* may not be loaded .*--allow-addons; and on one thread, .*--allow-worker\)$/m,
  );
});

it('knows the names of roc, and those that a bundler has numbered', () => {
  const said = run(`
    const [cuda2, roc$1, f322] = [cuda, roc, f32];
    const y = new Float32Array(2);
    cuda.jit((y) => { y[cuda2.grid(1)] = f322(2); }).launch({ grid: 1, block: 2 }, y);
    roc.jit((y) => { y[roc$1.getGlobalId(0)] += 1; }).launch({ grid: 1, block: 2 }, y);
    roc.jit((y) => { y[hsa.getGlobalId(0)] += 1; }).launch({ grid: 1, block: 2 }, y);
    console.log(y.join());
  `);
  expect(said.trim()).toBe('4,4');
});

it('uses several threads where they are permitted', () => {
  const said = run('console.log(cuda.currentDevice().name)', '--allow-worker');
  expect(said).not.toContain('1 thread)');
});

it('shows in place how other names are given, and takes them so', () => {
  const said = run(`
    const gain = 3, limit = 7, clamp = (v) => v > limit ? limit : v;
    const y = new Float32Array(4);
    const attempt = (body) => { try { body(); } catch (error) { console.log(error.message); } };
    attempt(() => cuda.jit((y, k) => { y[cuda.grid(1)] = clamp(gain * k); }).launch({ grid: 1, block: 4 }, y, 2));
    attempt(() => cuda.jit((y, k) => { y[cuda.grid(1)] = clamp(gain * k); }, { captures: { gain, clamp } }).launch({ grid: 1, block: 4 }, y, 2));
    cuda.jit((y, k) => { y[cuda.grid(1)] = clamp(gain * k); }, { captures: { gain, clamp, limit } }).launch({ grid: 1, block: 4 }, y, 2);
    console.log(y.join());
  `);
  expect(said).toContain('K010: clamp is neither captured by name nor a global');
  expect(said).toContain('help: cuda.jit((y, k) => { … }, { captures: { clamp, gain } })');
  expect(said).toContain('K010: limit is neither');
  expect(said).toContain('help: add it: cuda.jit((y, k) => { … }, { captures: { gain, clamp, limit } })');
  expect(said).toMatch(/^6,6,6,6$/m);
});

it('leaves open what a global of the same name means', () => {
  const said = run(`
    globalThis.f32 = Math.sign;
    const kernel = cuda.jit((y) => { y[cuda.grid(1)] = f32(2); });
    try { kernel.launch({ grid: 1, block: 1 }, new Float32Array(1)); } catch (error) { console.log(error.code, error.help); }
  `);
  expect(said).toMatch(/^K010 cuda\.jit\(\(y\) => \{ … \}, \{ captures: \{ f32 \} \}\)/m);
});
