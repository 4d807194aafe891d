/**
 * Waiting for workers in a way that lets the program's SIGINT handlers run.
 */

/** As `Atomics.wait`. */
export function waitOn(int: Int32Array, index: number, value: number, milliseconds: number): void {
  Atomics.wait(int, index, value, milliseconds);
}
