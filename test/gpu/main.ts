/**
 * The program that tests a GPU, bundled into one file: `node test-gpu.mjs [--filter TEXT] [--json FILE]`.
 *
 * It runs the tests in a process of their own and starts another when that one breaks, hangs or crashes; prints a line for each
 * failure and totals for each chapter; exits with 1 when something failed. `options.ts` has the options.
 */
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { givenErrand, runErrand } from './errands.ts';
import { environmentFor } from './opencl-device.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { makeReport, type Report } from './report.ts';
import { type Entry, entries } from './tests.ts';
import { BROKEN, type Message, runTests } from './worker.ts';

const WIRE = 3;

/** One process from test `from` on; resolves to where the next one must begin. */
function oneProcess(list: readonly Entry[], from: number, report: Report): Promise<number> {
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--from', String(from)];
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    // Grids of tests are small.
    env: { TSAMBA_WARN_LOW_OCCUPANCY: '0', ...process.env },
  });
  let [next, running, hung, rest] = [from, -1, false, ''];
  let timer: NodeJS.Timeout | undefined;
  const hear = (m: Message): void => {
    clearTimeout(timer);
    if ('begins' in m) {
      running = m.begins;
      timer = setTimeout(() => {
        hung = true;
        child.kill('SIGKILL');
      }, 1000 * list[running].seconds);
    } else {
      running = -1;
      next = m.ends + 1;
      report.add(list[m.ends], m);
    }
  };
  (child.stdio[WIRE] as Readable).setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(JSON.parse(line) as Message);
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const done = running < 0 && next === list.length;
      if (done && code !== 0 && code !== BROKEN)
        report.say(`the process ended with ${signal ?? code} after its last test`);
      if (done || (running < 0 && code === BROKEN)) return resolve(next);
      const at = Math.min(Math.max(running, next), list.length - 1);
      const how = hung
        ? `still running after ${list[at].seconds} s`
        : `the process ended with ${signal ?? `code ${code}`}`;
      report.add(list[at], { ends: at, ms: 0, error: how });
      resolve(at + 1);
    });
  });
}

/** The options; undefined where all that is left is to have said how they go. */
function givenOptions(): Options | undefined {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(USAGE);
    return undefined;
  }
  try {
    return parseOptions(args);
  } catch (error) {
    console.error(String((error as Error).message));
    process.exitCode = 2;
    return undefined;
  }
}

async function main(): Promise<void> {
  const options = givenOptions();
  if (options === undefined) return;
  Object.assign(process.env, environmentFor(options.device), { TSAMBA_WARN_IMPLICIT_COPY: '0' });
  const list = entries(options);
  if (options.list) return void console.log(list.map((e) => `${e.chapter}: ${e.name}`).join('\n'));
  if (options.from !== undefined) {
    process.exitCode = await runTests(list, options.from, (m) => void writeSync(WIRE, `${JSON.stringify(m)}\n`));
    return;
  }
  const report = makeReport(options);
  if (options.inProcess) {
    await runTests(list, 0, (m) => {
      if ('ends' in m) report.add(list[m.ends], m);
    });
  } else {
    for (let next = 0; next < list.length; ) next = await oneProcess(list, next, report);
  }
  if (report.finish() > 0) process.exitCode = 1;
}

const errand = givenErrand();
await (errand === undefined ? main() : runErrand(errand));
