/**
 * The OpenCL device in programs that run long, and in programs that end at any stage: nothing grows, nothing is printed, and the exit
 * code is 0. Each in a process of its own. Skipped where there is no OpenCL, unless TSAMBA_TEST_REQUIRE names `pocl`.
 */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { hasOpenCL } from '../src/driver/opencl/opencl.testing.ts';
import { bundled } from './support/program.ts';

const MIB = 2 ** 20;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

const program = bundled('test/opencl-endurance/cycles.ts', 'test/opencl-endurance/stages.ts');

function run(file: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, ['--expose-gc', program(file), ...args], {
    env: { ...process.env, TSAMBA_ROC_DRIVER: 'opencl' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })));
}

describe.skipIf(!hasOpenCL())('OpenCL, for long', { timeout: 300_000 }, () => {
  it.each([
    ['100,000 launches', 'launches', 100_000],
    ['10,000 registrations of two arrays', 'registrations', 10_000],
  ])('%s leave nothing', async (_, what, times) => {
    const { stdout, ...end } = await run('cycles.ts', [what, String(times)]);
    expect(end).toEqual({ code: 0, signal: null, stderr: '' });
    const { grown, live } = JSON.parse(stdout) as { grown: number; live: number };
    expect(live).toBe(0);
    // A leak of a hundred bytes each time would be 10 MB after 100,000; pages come and go.
    expect(grown).toBeLessThan(16 * MIB);
  });
});

const STAGES = [
  ...['loaded', 'probed', 'opened', 'allocated', 'stream', 'registered', 'compiling', 'work in flight'],
  ...['a copy in flight', 'waiting', 'closed', 'an error', 'in a worker'],
];

// Some compute for seconds, several at a time: on two processors that do other work, a minute and more each.
describe.skipIf(!hasOpenCL())('programs on OpenCL that end', { timeout: 300_000 }, () => {
  const quiet = { code: 0, signal: null, stdout: '', stderr: '' };
  it.concurrent.each(STAGES)('after: %s', async (stage) => {
    expect(await run('stages.ts', [stage])).toEqual(quiet);
  });
  it.concurrent.each(STAGES)('by process.exit() after: %s', async (stage) => {
    expect(await run('stages.ts', [stage, 'exit'])).toEqual(quiet);
  });
});
