/**
 * Applies one mutant after another to a copy of the sources and runs the battery on it.
 *
 *   npx tsx test/mutants/run.ts [--only 7,12] [--under src/layout,src/memory,src/array] [--jobs 2] [--limit 400]
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { MUTANTS, type Mutant } from './mutants.ts';
import { NAMES } from './names.ts';
import { NARROW } from './narrow.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = [
  'src',
  'testsuite',
  'test/fuzz',
  'test/mutants',
  'test/support',
  'test/asynchronous-device.test.ts',
  'test/conformance-cpu.test.ts',
  'test/dlpack.test.ts',
  'test/native',
  'test/simulator-locks.test.ts',
  'test/smart-array.test.ts',
  'test/webgpu-abilities.test.ts',
  'test/worked-numbers.test.ts',
  'tsconfig.kernels.json',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];

function option(name: string, otherwise: string): string {
  const i = process.argv.indexOf(`--${name}`);
  return i < 0 ? otherwise : (process.argv[i + 1] ?? '');
}

/** Seconds that the battery may take for one mutant. */
const LIMIT = Number(option('limit', '400'));

/** A copy of the sources that can be changed. */
function copy(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-mutants-'));
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** The original text; throws when the mutant no longer fits it. */
function original(folder: string, m: Mutant): string {
  const text = readFileSync(join(folder, m.file), 'utf8');
  const times = text.split(m.find).length - 1;
  if (times !== 1) throw new Error(`${m.file} has ${times} times what the mutant "${m.what}" replaces: ${m.find}`);
  return text;
}

/** Which stage is tried first. */
function likely(m: Mutant): string {
  if (m.tests !== undefined) return 'named';
  if (m.file.startsWith('src/layout')) return 'layout';
  if (/^src\/(memory|array|stream)\//.test(m.file)) return 'memory';
  if (m.file.startsWith('src/driver/simulator/')) return 'simulator';
  if (/\/(presence|presence-state|optionals|hints)\.ts$/.test(m.file)) return 'absence';
  if (NAMES.some(([file]) => m.file === `src/${file}.ts`)) return 'names';
  if (NARROW.some(([file]) => m.file === `src/${file}.ts`)) return 'narrow';
  if (/^src\/compiler\/(?:frontend|types)\//.test(m.file)) return 'front';
  return m.file.includes('/wasm/') || m.file.includes('/math/') ? 'operations' : 'programs';
}

interface Outcome {
  readonly verdict: 'killed' | 'SURVIVED' | 'NO VERDICT';
  /** What found it, or in which stage time ran out. */
  readonly by: string;
  readonly seconds: number;
}

async function battery(folder: string, first: string, within = ''): Promise<Outcome> {
  const started = performance.now();
  const outfile = join(folder, 'battery.mjs');
  // One file starts much sooner than two hundred.
  try {
    await build({
      entryPoints: [join(folder, 'test/mutants/battery.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      logLevel: 'silent',
    });
  } catch (error) {
    return { verdict: 'killed', by: `does not build: ${String(error).slice(0, 100)}`, seconds: 0 };
  }
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [outfile, first, within], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    let late = false;
    child.stdout.on('data', (part) => {
      text += String(part);
    });
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, 1000 * LIMIT);
    child.on('exit', (code) => {
      clearTimeout(timer);
      const last = text.trim().split('\n').at(-1) ?? '';
      const verdict = late ? 'NO VERDICT' : code === 0 ? 'SURVIVED' : 'killed';
      const by = late ? `out of time in ${last}` : verdict === 'killed' ? last : '';
      resolve({ verdict, by, seconds: (performance.now() - started) / 1000 });
    });
  });
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(
      'npm run mutants -- [--only 7,12] [--under src/layout,src/memory] [--jobs 2] [--limit 400] [--skip-clean] [--list]\n',
    );
    return;
  }
  if (process.argv.includes('--list')) {
    process.stdout.write(MUTANTS.map((m, n) => `${n} ${m.file}: ${m.what}\n`).join(''));
    return;
  }
  const only = option('only', '');
  const folders = option('under', '').split(',');
  const chosen = (m: Mutant): boolean => folders.some((folder) => m.file.startsWith(folder));
  const numbers = only === '' ? MUTANTS.flatMap((m, i) => (chosen(m) ? [i] : [])) : only.split(',').map(Number);
  const jobs = Math.min(Number(option('jobs', '1')), numbers.length);
  const queue = [...numbers];
  const survivors: number[] = [];
  const undecided: number[] = [];
  const stale: number[] = [];
  const work = async (): Promise<void> => {
    const folder = copy();
    for (let n = queue.shift(); n !== undefined; n = queue.shift()) {
      const m = MUTANTS[n];
      if (m === undefined) continue;
      let text: string;
      try {
        text = original(folder, m);
      } catch (error) {
        stale.push(n);
        process.stdout.write(`${n} stale: ${(error as Error).message}\n`);
        continue;
      }
      writeFileSync(
        join(folder, m.file),
        text.replace(m.find, () => m.replace),
      );
      const within = m.tests === undefined ? m.file.split('/').slice(0, 2).join('/') : JSON.stringify(m.tests);
      const { verdict, by, seconds } = await battery(folder, likely(m), within);
      writeFileSync(join(folder, m.file), text);
      if (verdict === 'SURVIVED') survivors.push(n);
      if (verdict === 'NO VERDICT') undecided.push(n);
      process.stdout.write(
        `${n} ${verdict} (${seconds.toFixed(1)} s) ${m.file.replace('src/', '')}: ${m.what}${by === '' ? '' : ` — ${by}`}\n`,
      );
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const clean = copy();
  if (!process.argv.includes('--skip-clean')) {
    for (const stage of ['programs', 'memory']) {
      const { verdict, by } = await battery(clean, stage);
      if (verdict !== 'SURVIVED') throw new Error(`the battery (${stage}) fails without a mutant: ${by}`);
    }
  }
  rmSync(clean, { recursive: true, force: true });
  await Promise.all(Array.from({ length: jobs }, work));
  const run = numbers.length - stale.length;
  const killed = run - survivors.length - undecided.length;
  const open = Object.entries({ survivors, 'without a verdict': undecided, stale }).filter(
    ([, list]) => list.length > 0,
  );
  const rate = ((100 * killed) / Math.max(run, 1)).toFixed(1);
  const rest = open.map(([name, list]) => `, ${name}: ${list.join(', ')}`).join('');
  process.stdout.write(`${killed} of ${run} mutants killed (${rate} %)${rest}\n`);
  if (open.length > 0) process.exitCode = 1;
}

await main();
