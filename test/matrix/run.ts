/**
 * `npm run test:matrix [-- WORD …]`: runs one small program under each runtime, bundler and test runner (cells.ts), with the package as it
 * is published, and prints a table. WORDs choose the cells whose names have one of them; `--install` only installs the tools. Exits with 1 when a cell fails.
 *
 * The tools are in package.json beside this file, not among those of the repository, and are installed here when they are missing.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Cell } from './cell.ts';
import { CELLS } from './cells.ts';

const HERE: string = dirname(fileURLToPath(import.meta.url));
const REPOSITORY: string = join(HERE, '../..');
const WORK: string = join(HERE, 'work');
const MODULES: string = join(HERE, 'node_modules');
const MINUTES = 5;

/** What the program prints. */
interface Outcome {
  readonly values: readonly number[];
  readonly device: string;
  readonly code: string;
  readonly file: string;
  readonly line: number;
}

const VALUES = '18,36,54,72';
const PROGRAM: string = readFileSync(join(HERE, 'program.ts'), 'utf8');
const LINE: number = PROGRAM.split('\n').findIndex((line) => line.includes('the error is here')) + 1;

/** The tools, and the package itself, packed as `npm publish` would. */
function install(): void {
  const [stamp, lock] = [join(MODULES, '.tsamba-installed'), join(HERE, 'package-lock.json')];
  if (!existsSync(stamp) || statSync(stamp).mtimeMs < statSync(lock).mtimeMs) {
    console.log('Installing the tools of the matrix …');
    const options = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...options], { cwd: HERE, stdio: 'inherit' });
    writeFileSync(stamp, '');
    utimesSync(stamp, new Date(), new Date());
  }
  const target = join(MODULES, 'tsamba');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  const pack = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', MODULES];
  const [{ filename }] = JSON.parse(execFileSync('npm', pack, { cwd: REPOSITORY, encoding: 'utf8' })) as [
    { filename: string },
  ];
  execFileSync('tar', ['xzf', join(MODULES, filename), '-C', target, '--strip-components=1']);
}

/** Executables by the names that cells have for them; found when one is used. */
function executable(name: string): string {
  const version = /^node(\d+)$/.exec(name)?.[1];
  if (name === 'node') return process.execPath;
  if (version !== undefined) {
    return execFileSync(process.execPath, [join(REPOSITORY, 'tools/fetch-node.mjs'), version], {
      encoding: 'utf8',
    }).trim();
  }
  const file = join(MODULES, name === 'bun' ? '@oven/bun-linux-x64/bin/bun' : '@deno/linux-x64-glibc/deno');
  chmodSync(file, 0o755);
  return file;
}

/** Runs one cell; undefined when all is as it should be, else what is not. */
async function run(cell: Cell, folder: string): Promise<string | undefined> {
  const { files = {}, commands, env, last = 'report();', program = 'program.ts', place, prints } = cell;
  rmSync(folder, { recursive: true, force: true });
  const written = { ...files, [program]: PROGRAM.replace(/report\(\);\n$/, () => `${last}\n`) };
  for (const [name, text] of Object.entries(written)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  // The runner's own settings must not reach what is started here.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|JEST|NODE_|TSAMBA_|npm_)/.test(name));
  const environment = {
    ...Object.fromEntries(inherited),
    PATH: `${join(MODULES, '.bin')}:${process.env['PATH']}`,
    ...{ CI: '1', NO_COLOR: '1', ...env },
  };
  let output = '';
  for (const [file = '', ...rest] of commands) {
    const [command = '', ...args] = [file, ...rest].map((word) =>
      word.replace(/^\{(\w+)\}$/, (_, name) => executable(name)),
    );
    try {
      const options = { cwd: folder, env: environment, timeout: MINUTES * 60_000, maxBuffer: 1 << 26 };
      const { stdout, stderr } = await promisify(execFile)(command, args, options);
      output += stdout + stderr;
    } catch (error) {
      const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
      return `${basename(command)}: ${(stderr + stdout).trim() || message}`;
    }
  }
  if (prints !== undefined) {
    const absent = [prints].flat().find((text) => !output.includes(text));
    return absent === undefined ? undefined : `printed no ${absent}: ${output.trim()}`;
  }
  return judge(output, program, place);
}

function judge(output: string, program: string, place: Cell['place']): string | undefined {
  const [, text] = /OUTCOME (.*?) END/.exec(output) ?? [];
  if (text === undefined) return `printed no outcome: ${output.trim()}`;
  const { values, device, code, file, line } = JSON.parse(text) as Outcome;
  if (values.join() !== VALUES) return `computed ${values.join()} instead of ${VALUES}`;
  if (device !== 'cpu') return `computed on ${device}, not on the CPU device`;
  if (code !== 'K215') return `the error is ${code}`;
  if (place === 'kernel')
    return file === '' ? undefined : `the error is in ${file}: the table of cells says nothing of that`;
  return basename(file) === program && line === LINE
    ? undefined
    : `the error is at ${file}:${line}, not at ${program}:${LINE}`;
}

const words = process.argv.slice(2);
install();
if (words.includes('--install')) process.exit(0);
const chosen = CELLS.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase())),
);
const failures: string[] = [];
const turns = chosen.entries();

/** Takes cells as long as there are any: bundlers use one core each, so that as many run as there are. */
async function takeTurns(): Promise<void> {
  for (const [number, cell] of turns) {
    const start = performance.now();
    const folder = join(WORK, String(number));
    const problem = await run(cell, folder);
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
    const where =
      [cell.prints ?? []].flat()[0]?.toLowerCase() ??
      (cell.place === 'kernel' ? "line of the kernel's text" : 'file and line');
    console.log(`${problem === undefined ? 'ok  ' : 'FAIL'} ${cell.name.padEnd(40)} ${where.padEnd(26)} ${seconds} s`);
    if (problem === undefined) rmSync(folder, { recursive: true, force: true });
    else failures.push(`\n${cell.name} (${folder}):\n${problem.slice(0, 3000)}`);
  }
}
await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, takeTurns));
for (const failure of failures) console.error(failure);
console.log(`\n${chosen.length - failures.length} of ${chosen.length} cells`);
process.exitCode = failures.length === 0 && chosen.length > 0 ? 0 : 1;
