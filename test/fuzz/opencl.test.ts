/**
 * A few random programs on the OpenCL device of this machine, in a process of their own: compilers of OpenCL C run inside of it, and
 * what they do to it must not end the tests. Skipped where there is no device, unless TSAMBA_TEST_REQUIRE names `pocl`.
 *
 * PoCL takes seconds for a program. Longer runs: `npm run fuzz -- --devices opencl --programs 500`.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasOpenCL } from '../../src/driver/opencl/opencl.testing.ts';

const PROGRAMS = 20;

describe.skipIf(!hasOpenCL())('random programs on OpenCL', () => {
  it('do the same as in the evaluator', { timeout: 400_000 }, async () => {
    const child = spawn(
      process.execPath,
      [
        ...['--import', 'tsx', join(import.meta.dirname, 'fuzz.ts')],
        ...['--devices', 'opencl', '--programs', String(PROGRAMS), '--seed', '1', '--shrink', '0'],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(output).toContain(`${PROGRAMS} programs in `);
    expect(output).toContain(' 0 failures');
    expect(code, output).toBe(0);
  });
});
