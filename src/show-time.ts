/**
 * Times as they are printed.
 */

/** `0.42 ms`. */
export function showTime(milliseconds: number): string {
  return `${milliseconds.toFixed(milliseconds < 10 ? 2 : 0)} ms`;
}
