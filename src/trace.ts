/**
 * Tracing: what `TSAMBA_DEBUG` lists is printed to standard error as it happens, with times, for users and developers alike.
 *
 * Callers ask `tracing(word)` before they make a text, so that nothing is spent while nobody looks.
 */
import { debugWord, type TraceWord } from './environment.ts';
import { showTime } from './show-time.ts';

/** Whether `TSAMBA_DEBUG` asks for this kind of lines. */
export function tracing(word: TraceWord): boolean {
  return debugWord(word);
}

/** Prints `text` under its word, if `TSAMBA_DEBUG` asks for it. Lines after the first are indented. */
export function trace(word: TraceWord, text: () => string): void {
  if (tracing(word)) console.error(`[tsamba ${word}] ${text().trimEnd().replaceAll('\n', '\n    ')}`);
}

/** Runs `body`, and prints how long it took as `TSAMBA_DEBUG` asks. */
export function traceTime<R>(word: TraceWord, what: () => string, body: () => R): R {
  if (!tracing(word)) return body();
  const start = performance.now();
  try {
    return body();
  } finally {
    const milliseconds = performance.now() - start;
    trace(word, () => `${what()}: ${showTime(milliseconds)}`);
  }
}
