/**
 * What a record of a run says of the machine: GPU, its driver, Node.js, the commit, as `nvidia-smi` and the bundle have it.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { basename, isAbsolute } from 'node:path';

export interface Machine {
  readonly gpu: string;
  readonly driver: string;
  readonly node: string;
  readonly commit: string;
  readonly cpu: string;
  readonly cores: number;
}

/** What was run, as records say it: of files that lie somewhere on this machine only the name. */
export function commandLine(program: string, args: readonly string[]): string {
  return [program, ...args.map((a) => (isAbsolute(a) ? basename(a) : a))].join(' ');
}

export function machine(): Machine {
  const [gpu = 'no GPU', driver = '–'] = smi();
  const commit = process.env.TSAMBA_BUNDLE_COMMIT ?? 'not bundled';
  return { gpu, driver, node: process.version, commit, cpu: cpus()[0]?.model ?? '', cores: cpus().length };
}

function smi(): readonly string[] {
  try {
    const args = ['--query-gpu=name,driver_version', '--format=csv,noheader'];
    const text = execFileSync('nvidia-smi', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 20_000,
    });
    return (text.split('\n')[0] ?? '').split(', ');
  } catch {
    return [];
  }
}
