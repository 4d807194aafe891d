/**
 * Kernels under Oclgrind, a simulator of OpenCL devices that watches each access: no data races, no barriers that only some work items
 * meet, nothing out of bounds in the conformance suite; and it finds such faults where they are put in.
 *
 * It is loaded in place of the OpenCL loader, in processes of its own. Without it (Debian: oclgrind) this is skipped, unless
 * TSAMBA_TEST_REQUIRE names `oclgrind`.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { TEST_MARK } from './oclgrind/mark.ts';

const LIBRARY = ['/usr/lib/oclgrind', '/usr/local/lib/oclgrind', '/usr/lib', '/usr/local/lib']
  .map((folder) => join(folder, 'liboclgrind-rt.so'))
  .find((path) => existsSync(path));
const required = isRequired('oclgrind');

/** What takes seconds: chapters on memory and on what threads do together. */
const CHAPTERS = [
  ['control flow', 'divergence', 'geometry', 'launch', 'arrays in kernels', 'array interface', 'roc memory'],
  ['barriers', 'warps', 'memory spaces', 'atomics', 'small types, casts and stores', 'roc kernels'],
  ['device arrays', 'lifetime of memory', 'host memory', 'smart arrays', 'options'],
];

/** Threads of this kernel read plainly what others exchange, as such loops of users do: a race that is meant. */
const RACES = ['atomics: a loop of cas makes any operation atomic'];

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function underOclgrind(file: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'oclgrind', file), ...args], {
    env: {
      ...process.env,
      TSAMBA_OPENCL_LIBRARY: LIBRARY ?? '',
      TSAMBA_ROC_DRIVER: 'opencl',
      TSAMBA_WARN_IMPLICIT_COPY: '0',
      // Binaries that were built with other options are not to be taken.
      TSAMBA_CACHE: '0',
      // Its interpreter does not know all that an optimising compiler makes of a switch, and what is optimised away cannot be watched.
      OCLGRIND_BUILD_OPTIONS: '-cl-opt-disable',
      OCLGRIND_DATA_RACES: '1',
      OCLGRIND_MAX_ERRORS: '20',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

/** What Oclgrind said, with the test before it. */
function complaints(stderr: string): string[] {
  const found: string[] = [];
  let test = '';
  for (const line of stderr.split('\n')) {
    if (line.startsWith(TEST_MARK)) test = line.slice(TEST_MARK.length);
    else if (/data race|^Invalid|divergence|OCLGRIND|Undefined|Error/.test(line)) found.push(`${test}: ${line}`);
  }
  return found;
}

it.runIf(required)('Oclgrind is installed', () => expect(LIBRARY).toBeDefined());

describe.skipIf(LIBRARY === undefined)('under Oclgrind', { timeout: 300_000 }, () => {
  it.concurrent.each(CHAPTERS.map((list) => [list.join(', '), list] as const))(
    'nothing is wrong in %s',
    async (_, chapters) => {
      const { code, stdout, stderr } = await underOclgrind('suite.ts', [chapters.join(), RACES.join(';')]);
      expect(complaints(stderr)).toEqual([]);
      expect({ code, stderr: code === 0 ? '' : stderr.slice(-2000) }).toEqual({ code: 0, stderr: '' });
      const { device, count, failed } = JSON.parse(stdout) as { device: string; count: number; failed: string[] };
      expect(device).toContain('Oclgrind');
      expect(failed).toEqual([]);
      expect(count).toBeGreaterThan(80);
    },
  );

  it.concurrent.each([
    ['nothing in a kernel that is right', 'none', undefined],
    ['a barrier that is missing', 'race', /^Read-write data race at local memory address/m],
    ['a barrier that some work items do not meet', 'divergence', /^Work-group divergence detected \(barrier\)/m],
    ['a store out of bounds', 'store', /^Invalid write of size 4 at global memory address/m],
    ['a load out of bounds', 'load', /^Invalid read of size 4 at global memory address/m],
  ])('%s is found', async (_, fault, said) => {
    const { stdout, stderr } = await underOclgrind('faults.ts', [fault]);
    if (said !== undefined) expect(stderr).toMatch(said);
    else {
      expect(stderr).toBe('');
      expect(stdout).toBe('[7,6,5,4,3,2,1,0,15,14,13,12,11,10,9,8]');
    }
  });
});
