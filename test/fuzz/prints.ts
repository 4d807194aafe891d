/**
 * What programs print: the arguments that the host's `console.log` is called with, kept while a device runs, and compared thread by thread.
 *
 * The first argument of each line is the number of its thread. Threads print in any order, each its own lines in the order of its program.
 */
import { inspect } from 'node:util';

export type Line = readonly unknown[];

/** Runs something, and keeps what it prints from the console. */
export function collectLines<T>(run: () => T): { readonly value: T; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const { log } = console;
  console.log = (...line) => void lines.push(line);
  try {
    return { value: run(), lines };
  } finally {
    console.log = log;
  }
}

function inOrder(lines: readonly Line[]): string[] {
  const sorted = [...lines].sort(([a], [b]) => Number(a) - Number(b));
  return sorted.map((line) =>
    inspect(line, { depth: 10, breakLength: Number.POSITIVE_INFINITY, maxStringLength: null }),
  );
}

/** How printed lines differ from what was expected, if they do. */
export function linesDiffer(expected: readonly Line[], got: readonly Line[]): string | undefined {
  const [want, found] = [inOrder(expected), inOrder(got)];
  const at = Array.from({ length: Math.max(want.length, found.length) }).findIndex((_, i) => want[i] !== found[i]);
  return at < 0 ? undefined : `line ${at} is ${found[at] ?? 'missing'}, must be ${want[at] ?? 'missing'}`;
}
