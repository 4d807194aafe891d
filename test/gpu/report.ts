/**
 * What a run of the GPU tests prints and writes: a line for each failure, totals of each chapter when it ends, everything as JSON.
 */
import { writeFileSync } from 'node:fs';
import { commandLine, machine } from './machine.ts';
import { openclDevice } from './opencl-device.ts';
import type { Options } from './options.ts';
import type { Entry } from './tests.ts';
import type { Message } from './worker.ts';

export interface Report {
  add(test: Entry, outcome: Extract<Message, { ends: number }>): void;
  say(text: string): void;
  /** Prints and writes; the number of failures. */
  finish(): number;
}

interface Total {
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
}

function line(chapter: string, t: Total): string {
  const bad = t.failed > 0 ? `, ${t.failed} FAILED` : '';
  const left = t.skipped > 0 ? `, ${t.skipped} skipped` : '';
  return `${chapter.padEnd(28)} ${String(t.passed).padStart(5)} passed${bad}${left}  (${(t.ms / 1000).toFixed(1)} s)`;
}

const LINES = 12;
const SLOW = 8;

export function makeReport(options: Options): Report {
  const date = new Date().toISOString();
  const began = performance.now();
  const opencl = openclDevice(options.device);
  const about = { ...machine(), ...(opencl === undefined ? {} : { opencl }) };
  const totals = new Map<string, Total>();
  const failures: { chapter: string; name: string; error: string }[] = [];
  const skipped: { chapter: string; name: string; why: string }[] = [];
  const notes: { test: string; note: string }[] = [];
  const times: { test: string; ms: number }[] = [];
  console.log(
    `device ${opencl ?? options.device}; ${about.gpu}, driver ${about.driver}; Node ${about.node}, commit ${about.commit}`,
  );

  let current: string | undefined;
  /** Prints the totals of the chapter that has ended. */
  const tell = (): void => {
    const total = current === undefined ? undefined : totals.get(current);
    if (current !== undefined && total !== undefined) console.log(line(current, total));
  };
  return {
    say: (text) => console.log(text),
    add({ chapter, name }, { ms, error, skipped: why, note }) {
      if (chapter !== current) tell();
      current = chapter;
      const total = totals.get(chapter) ?? { passed: 0, failed: 0, skipped: 0, ms: 0 };
      totals.set(chapter, total);
      total.ms += ms;
      times.push({ test: `${chapter}: ${name}`, ms: Math.round(ms) });
      if (error !== undefined) {
        total.failed++;
        failures.push({ chapter, name, error });
        const lines = error.split('\n');
        const text = lines.slice(0, LINES).join('\n    ');
        console.log(`FAIL ${chapter}: ${name}: ${text}${lines.length > LINES ? '\n    …' : ''}`);
      } else if (why !== undefined) {
        total.skipped++;
        skipped.push({ chapter, name, why });
      } else total.passed++;
      if (note === undefined) return;
      notes.push({ test: `${chapter}: ${name}`, note });
      console.log(`${chapter}: ${name}: ${note}`);
    },
    finish() {
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      tell();
      for (const why of new Set(skipped.map((s) => s.why))) console.log(`skipped: ${why}`);
      const all = [...totals.values()];
      const sum = (of: (t: Total) => number): number => all.reduce((n, t) => n + of(t), 0);
      const [passed, failed] = [sum((t) => t.passed), sum((t) => t.failed)];
      console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped in ${seconds} s`);
      if (options.json !== undefined) {
        const slowest = times.sort((a, b) => b.ms - a.ms).slice(0, SLOW);
        const { json: _, from: __, ...rest } = options;
        const text = {
          date,
          ...about,
          command: commandLine('test-gpu', process.argv.slice(2)),
          options: rest,
          seconds,
          passed,
          failed,
          totals: Object.fromEntries(totals),
          failures,
          skipped,
          notes,
          slowest,
        };
        writeFileSync(options.json, `${JSON.stringify(text, null, 1)}\n`);
      }
      return failed;
    },
  };
}
