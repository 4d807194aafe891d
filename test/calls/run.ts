/**
 * Runs the calls in processes of their own. One that does not come on is ended, the call that it hung in noted, and another goes on behind it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allCalls, describeCall } from './calls.ts';

export interface Finding {
  readonly call: number;
  readonly name: string;
  readonly what: string;
}

/** The last report of a process that came to its end. */
interface Made {
  readonly made: number;
}

/** A call that has taken this long, in milliseconds, is not coming back. */
const HANGS_MS = 20_000;
const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

/** Every `part`-th call from the `seed`-th on. */
export async function runCalls({ part = 1, seed = 0 }: { readonly part?: number; readonly seed?: number }): Promise<{
  readonly calls: number;
  readonly functions: number;
  readonly findings: readonly Finding[];
}> {
  const calls = allCalls();
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-calls-'));
  const findings: Finding[] = [];
  let made = 0;
  try {
    for (let first = seed % part; first < calls.length; ) {
      const { reached, ended, done } = await runFrom(first, part, calls.length, join(folder, 'progress'), findings);
      made += done;
      if (reached < 0) break;
      const call = calls[reached];
      if (call !== undefined) findings.push({ call: reached, name: describeCall(call), what: ended });
      first = reached + part;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return {
    calls: made,
    functions: new Set(calls.map(({ callable }) => callable.name)).size,
    findings,
  };
}

/** The call in which a process ended, -1 for none; and how. */
function runFrom(
  first: number,
  step: number,
  end: number,
  progress: string,
  findings: Finding[],
): Promise<{ readonly reached: number; readonly ended: string; readonly done: number }> {
  writeFileSync(progress, Buffer.alloc(8));
  const args = [...process.execArgv, '--import', 'tsx', CHILD, String(first), String(step), String(end), progress];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  const errors: string[] = [];
  child.stdout?.on('data', (data) => output.push(String(data)));
  child.stderr?.on('data', (data) => errors.push(String(data)));
  let [last, since, hangs] = [-2, Date.now(), false];
  const watch = setInterval(() => {
    const now = readFileSync(progress).readDoubleLE();
    if (now !== last) [last, since] = [now, Date.now()];
    else if (Date.now() - since > HANGS_MS) {
      hangs = true;
      child.kill('SIGKILL');
    }
  }, 250);
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearInterval(watch);
      const lines = output.join('').split('\n');
      const reports = lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Finding | Made] : []));
      for (const one of reports) if ('what' in one) findings.push(one);
      const made = reports.find((one): one is Made => 'made' in one)?.made;
      const reached = made === undefined ? readFileSync(progress).readDoubleLE() : -1;
      const said = errors.join('').split('\n');
      const error = said.find((line) => /Error|FATAL/.test(line)) ?? '';
      resolve({
        reached,
        done: made ?? (reached - first) / step + 1,
        ended: hangs ? 'hangs' : `ends the process: ${signal ?? code} ${error.slice(0, 200)}`,
      });
    });
  });
}
