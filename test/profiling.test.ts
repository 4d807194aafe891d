/**
 * Profiling of whole programs, in processes of their own: traces at exit, and a tool that listens to NVTX.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Trace } from '../src/profile/chrome.ts';
import { isThorough } from '../src/required.testing.ts';
import { bundled, runText } from './support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-profiling-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = bundled('src/index.ts');

/** The text of a program that uses the library. */
function run(
  program: string,
  env: Readonly<Record<string, string>>,
): { readonly status: number | null; readonly stderr: string } {
  const text = `import { cuda } from ${JSON.stringify(at('index.ts'))};\n${program}`;
  const { TSAMBA_TRACE: _, ...rest } = process.env;
  const { status, stderr } = spawnSync(process.execPath, runText(text), {
    env: { ...rest, TSAMBA_DEVICE: 'cpu', ...env },
    encoding: 'utf8',
  });
  return { status, stderr };
}

describe('TSAMBA_TRACE', () => {
  it('writes what the program did, also when it fails, under a name for each rank and thread', () => {
    const program = `
      import { Worker, isMainThread } from 'node:worker_threads';
      cuda.nvtx.range('start', () => cuda.toDevice([1, 2]));
      const text = ${JSON.stringify(`import(${JSON.stringify(at('index.ts'))}).then(({ cuda }) => cuda.toDevice([1]))`)};
      await new Promise((resolve) => new Worker(text, { eval: true }).on('exit', resolve));
      throw new Error('mine');`;
    const { status, stderr } = run(program, { TSAMBA_TRACE: join(folder, 'made', 't.json'), RANK: '1' });
    expect(status).toBe(1);
    expect(stderr).toContain('Error: mine');
    expect(stderr).toContain('ui.perfetto.dev');
    expect(readdirSync(join(folder, 'made')).sort()).toEqual(['t.rank1.json', 't.rank1.thread1.json']);
    const trace = JSON.parse(readFileSync(join(folder, 'made', 't.rank1.json'), 'utf8')) as Trace;
    const names = trace.traceEvents.filter(({ ph }) => ph === 'X').map(({ name }) => name);
    expect(names.sort()).toEqual(['copy host to device', 'enqueue copy host to device', 'start']);
    expect(trace.otherData).toMatchObject({ rank: 1, thread: 0, dropped: 0 });
  });
});

describe('TSAMBA_PROGRESS', () => {
  const program = `
    const spin = cuda.jit((v, rounds) => {
      const k = cuda.grid(1);
      let x = k;
      for (let i = 0; i < rounds; i++) x = ((x * 1103515245 + 12345) >> 3) ^ i;
      if (k < v.length) v[k] = x;
    });
    const v = cuda.deviceArray(64, 'i32');
    const run = (rounds) => {
      const began = performance.now();
      spin.launchAsync({ threads: 64 }, v, rounds);
      cuda.synchronize();
      return performance.now() - began;
    };
    run(1);
    for (let took = 0, rounds = 2 ** 25; took < 1300; rounds = Math.min(2 ** 31 - 1, Math.round((rounds * 1600) / took))) took = run(rounds);`;

  it('shows what has taken a second, and when it is over, and nothing else', () => {
    const { status, stderr } = run(program, { TSAMBA_PROGRESS: '1' });
    expect(status).toBe(0);
    const lines = stderr.trim().split('\n');
    expect([2, 4], stderr).toContain(lines.length);
    lines.forEach((line, k) => {
      expect(line).toMatch(
        k % 2 === 0 ? /^tsamba: synchronize \(.+\), 1\.\d s until now$/ : /^tsamba: synchronize \(.+\) is over$/,
      );
    });
  });

  it.skipIf(!isThorough())('is asked for', () =>
    expect(run(program, { TSAMBA_PROGRESS: '0' })).toEqual({ status: 0, stderr: '' }),
  );
});

const library = join(folder, 'tool.so');
const source = join(import.meta.dirname, 'native/nvtx-tool.c');
// Without a C compiler there is no tool; with one it compiles.
const compiled = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', library, source]);

describe.skipIf(compiled.error !== undefined)('a tool that listens to NVTX', () => {
  it('compiles', () => expect([compiled.status, compiled.stderr.toString()]).toEqual([0, '']));

  it('is told of ranges, marks and threads, and has tables of the sizes of the header', () => {
    const output = join(folder, 'told.txt');
    const program = `
      cuda.nvtx.range('sync', () => cuda.nvtx.mark('within'));
      const open = cuda.nvtx.range('öffnen');
      await cuda.nvtx.range('async', async () => undefined);
      open.end();
      cuda.nvtx.nameThread('main');
      if (!cuda.nvtx.listening) throw new Error('nobody listens');`;
    const { status, stderr } = run(program, { NVTX_INJECTION64_PATH: library, NVTX_TOOL_OUTPUT: output });
    expect([status, stderr]).toEqual([0, '']);
    const told = readFileSync(output, 'utf8').trim().split('\n');
    const sizes = [16, 9, 15, 7, 16, 7].map((size, k) => `module ${k + 1}: ${size}`);
    const ranges = ['start sync', 'mark within', 'end 1', 'start öffnen', 'start async', 'end 3', 'end 2'];
    expect(told).toEqual([...sizes, 'version 3', ...ranges, 'thread there main']);
  });

  it('that is not there, or fails, changes nothing', () => {
    const program = `
      cuda.nvtx.range('r', () => cuda.nvtx.mark('m'));
      if (cuda.nvtx.listening) throw new Error('somebody listens');`;
    expect(run(program, { NVTX_INJECTION64_PATH: join(folder, 'none.so') })).toEqual({ status: 0, stderr: '' });
    expect(existsSync(join(folder, 'none.so'))).toBe(false);
  });
});
