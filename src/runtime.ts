/**
 * What the JavaScript runtime has beside the language: modules of Node.js, warnings, the end of the process.
 *
 * The library imports no `node:` module: a bundler for pages would fail on it, and so would a runtime that lacks one of them. Modules
 * are looked up when something needs them, so importing Tsamba touches nothing that may be missing; what cannot do without one says so.
 */
import { NotSupportedError } from './errors.ts';

type Modules = {
  'node:child_process': typeof import('node:child_process');
  'node:crypto': typeof import('node:crypto');
  'node:fs': typeof import('node:fs');
  'node:inspector': typeof import('node:inspector');
  'node:module': typeof import('node:module');
  'node:os': typeof import('node:os');
  'node:path': typeof import('node:path');
  'node:timers/promises': typeof import('node:timers/promises');
  'node:url': typeof import('node:url');
  'node:v8': typeof import('node:v8');
  'node:vm': typeof import('node:vm');
  'node:worker_threads': typeof import('node:worker_threads');
};

/** A module of Node.js; undefined where there is none. Never throws. */
export function findNodeModule<Name extends keyof Modules>(name: Name): Modules[Name] | undefined {
  try {
    return globalThis.process?.getBuiltinModule?.(name) as Modules[Name] | undefined;
  } catch {
    // A runtime that has the function, and not the module.
    return undefined;
  }
}

/** A module of Node.js. Throws NotSupportedError where there is none. */
export function nodeModule<Name extends keyof Modules>(name: Name): Modules[Name] {
  const found = findNodeModule(name);
  if (found !== undefined) return found;
  throw new NotSupportedError('E_RUNTIME', `this needs ${name}, which this runtime does not have: run it in Node.js`);
}

/** What `body` gives; undefined where it throws, as what Deno has not been permitted does. */
export function attempt<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch {
    return undefined;
  }
}

/** Whether worker threads may be started; they may where the runtime does not ask for permission. */
export function mayStartWorkers(): boolean {
  const { permission } = (globalThis.process ?? {}) as { readonly permission?: { has?(scope: string): boolean } };
  return permission?.has?.('worker') ?? true;
}

/** Tells the user: as a warning of the process, which can be silenced by its code, or on the console where there is no process. */
export function warn(message: string, kind: { readonly type: string; readonly code: string }): void {
  const process = attempt(() =>
    typeof globalThis.process?.emitWarning === 'function' ? globalThis.process : undefined,
  );
  if (process !== undefined) process.emitWarning(message, kind);
  else globalThis.console?.warn(`${kind.type} [${kind.code}]: ${message}`);
}

/** The operating system, as Node.js names it; the empty string where nobody says. */
export function platformName(): string {
  return globalThis.process?.platform ?? '';
}

/** The process ends with exit code 1, unless the program says otherwise. */
export function markFailed(): void {
  const { process } = globalThis;
  if (process !== undefined && !process.exitCode) process.exitCode = 1;
}

/** Prints a text where errors go, at once: the process may be about to end. */
export function printError(text: string): void {
  const { process } = globalThis;
  if (typeof process?.stderr?.write === 'function') process.stderr.write(`${text}\n`);
  else console.error(text);
}

/** What `onNextTurn` gives. */
export type Turn = NodeJS.Immediate | NodeJS.Timeout;

/** Calls a function in the next turn of the event loop, which in pages takes some milliseconds to come. */
export function onNextTurn(body: () => void): Turn {
  return typeof setImmediate === 'function' ? setImmediate(body) : setTimeout(body, 0);
}

/** Has a function called when the process, or this worker thread, ends; never where nothing tells. */
export function atExit(listener: () => void): void {
  globalThis.process?.on?.('exit', listener);
}
