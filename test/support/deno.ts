/**
 * Deno, and the conformance suite in it on a WebGPU device: Deno's own, or that of the package `webgpu`.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import tsamba from '../../src/plugins/esbuild.ts';

const REPOSITORY: string = join(import.meta.dirname, '../..');
/** Where `npm run test:matrix` installs it. */
const INSTALLED: string = join(REPOSITORY, 'test/matrix/node_modules/@deno/linux-x64-glibc/deno');

/** Deno's program; undefined where there is none. */
export function findDeno(): string | undefined {
  const found = [process.env['TSAMBA_TEST_DENO'] ?? '', INSTALLED].find((path) => path !== '' && existsSync(path));
  if (found === INSTALLED) chmodSync(found, 0o755);
  return found;
}

/** What of the suite is run, and how. */
export interface DenoRun {
  /** By calls that block, else by promises alone. */
  readonly waits: boolean;
  /** Chapters; all where there are none. */
  readonly chapters?: readonly string[] | undefined;
  /** Tests by chapter and name that this device cannot run. */
  readonly without: readonly string[];
  /** Codes of NotSupportedError with which the device refuses what it lacks. */
  readonly lacks: readonly string[];
}

export interface DenoResult {
  readonly name: string;
  readonly passed: number;
  /** Tests whose kernels capture what nobody sees without an inspector. */
  readonly blind: number;
  readonly lacking: number;
  readonly failed: readonly string[];
}

/** Puts a program, with the library's sources, into one file that lies in `folder`. */
export async function bundleForDeno(program: string, folder: string): Promise<string> {
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    external: ['koffi', 'webgpu'],
    logLevel: 'error',
    plugins: [tsamba()],
  });
  return outfile;
}

export interface RunOptions {
  /** Permissions. */
  readonly flags?: readonly string[] | undefined;
  /** Milliseconds after which a program that prints nothing is ended. */
  readonly patience?: number;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** What a program printed, and how it ended. */
interface Ended {
  readonly output: string;
  readonly status: number | string;
}

/** Runs a file in Deno, once more where it crashes: see `closeNow` in src/driver/webgpu/remote.ts, which on a busy machine may be too short. */
export async function runDeno(deno: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const ended = await runOnce(deno, args, options);
  return ended.status === 'SIGSEGV' ? runOnce(deno, args, options) : ended;
}

async function runOnce(
  deno: string,
  args: readonly string[],
  { flags = ['-A'], patience = 120_000, env = {} }: RunOptions,
): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_|TSAMBA_|npm_)/.test(name));
  const child = spawn(deno, ['run', ...flags, '--node-modules-dir=manual', '--no-check', ...args], {
    cwd: REPOSITORY,
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', TSAMBA_WARN_IMPLICIT_COPY: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let quiet: NodeJS.Timeout | undefined;
  const hear = (data: unknown): void => {
    output += String(data);
    clearTimeout(quiet);
    quiet = setTimeout(() => child.kill('SIGKILL'), patience);
  };
  hear('');
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const status = await new Promise<number | string>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  clearTimeout(quiet);
  return { output, status };
}

/** Runs the suite from its bundle. */
export async function runSuiteInDeno(deno: string, bundle: string, run: DenoRun): Promise<DenoResult> {
  const { output, status } = await runDeno(deno, [bundle, JSON.stringify(run)], {
    env: { TSAMBA_ROC_DRIVER: 'webgpu' },
  });
  const [, text] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (text === undefined || status !== 0) throw new Error(`Deno ended with ${status}: ${output.slice(-2000)}`);
  return JSON.parse(text) as DenoResult;
}
