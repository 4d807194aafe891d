/**
 * `interrupts.ts` of pages, which have no signals.
 */

export class Interruption {
  readonly reason: unknown;
  constructor(reason: unknown) {
    this.reason = reason;
  }
}

export function listensForInterrupts(): boolean {
  return false;
}

export function waitListening(int: Int32Array, index: number, value: number, milliseconds: number): void {
  Atomics.wait(int, index, value, milliseconds);
}
