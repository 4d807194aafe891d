/**
 * The half of the host for pages and their workers: there is no process, and nothing of Node.js, whatever a bundler or a library
 * has put in its place.
 */
import type { Turn } from './host.ts';

export function findNodeModule(): undefined {
  return undefined;
}

export function environmentVariables(): Readonly<Record<string, string | undefined>> {
  return {};
}

export function platformName(): string {
  return '';
}

export function processId(): number {
  return 0;
}

export function workingFolder(): undefined {
  return undefined;
}

export function mayStartWorkers(): boolean {
  return false;
}

export function warn(message: string, kind: { readonly type: string; readonly code: string }): void {
  globalThis.console?.warn(`${kind.type} [${kind.code}]: ${message}`);
}

export function print(text: string): void {
  globalThis.console?.log(text);
}

export function printError(text: string): void {
  globalThis.console?.error(text);
}

export function markFailed(): void {}

export function atExit(): void {}

export function onNextTurn(body: () => void): Turn {
  return setTimeout(body, 0);
}

export function onIdleTurn(): undefined {
  return undefined;
}

export function interruptHandlers(): number {
  return 0;
}

export function callInterruptHandlers(): void {}
