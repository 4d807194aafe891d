/**
 * What a JavaScript runtime has beside the language, and not every runtime has: modules of Node.js, the process, warnings; turns of the
 * event loop are in `turns.ts`. All that the library asks of it, it asks here; `npm run check` refuses the globals of Node.js elsewhere.
 *
 * Nothing is imported from Node.js, and nothing is touched when this is loaded: a bundler for pages would fail on the one, and so would a
 * runtime that lacks something on the other. Each function looks for what it needs when it is called. In pages there is nothing to find.
 */
import { NotSupportedError } from '../errors.ts';

type NodeModules = {
  'node:child_process': typeof import('node:child_process');
  'node:crypto': typeof import('node:crypto');
  'node:fs': typeof import('node:fs');
  'node:inspector': typeof import('node:inspector');
  'node:module': typeof import('node:module');
  'node:net': typeof import('node:net');
  'node:os': typeof import('node:os');
  'node:path': typeof import('node:path');
  'node:timers/promises': typeof import('node:timers/promises');
  'node:url': typeof import('node:url');
  'node:v8': typeof import('node:v8');
  'node:vm': typeof import('node:vm');
  'node:worker_threads': typeof import('node:worker_threads');
};

/** What `body` gives; undefined where it throws, as what Deno has not been permitted does, and stand-ins for `process` may. */
export function attempt<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch {
    return undefined;
  }
}

/** A module of Node.js; undefined where there is none. Never throws, as runtimes do that have the function and not the module. */
export function findNodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined {
  return attempt(() => globalThis.process?.getBuiltinModule?.(name) as NodeModules[Name] | undefined);
}

/** A module of Node.js. Throws NotSupportedError where there is none. */
export function nodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] {
  const found = findNodeModule(name);
  if (found !== undefined) return found;
  throw new NotSupportedError('E_RUNTIME', `this needs ${name}, which this runtime does not have: run it in Node.js`);
}

/** Whether this is a page, or a worker of one. */
export function isPage(): boolean {
  const { document, WorkerGlobalScope } = globalThis as { document?: unknown; WorkerGlobalScope?: unknown };
  return (document !== undefined || WorkerGlobalScope !== undefined) && findNodeModule('node:fs') === undefined;
}

/** The environment variables; none where nobody says. */
export function environmentVariables(): Readonly<Record<string, string | undefined>> {
  return attempt(() => globalThis.process?.env) ?? {};
}

/** The operating system, as Node.js names it; the empty string where nobody says. */
export function platformName(): string {
  return attempt(() => globalThis.process?.platform) ?? '';
}

/** The number of this process; 0 where there is none. */
export function processId(): number {
  return attempt(() => globalThis.process?.pid) ?? 0;
}

/** The number of this worker thread; 0 for the main thread, and if there are none. */
export function threadNumber(): number {
  return findNodeModule('node:worker_threads')?.threadId ?? 0;
}

/** The file that the process runs; undefined where there is none. */
export function programFile(): string | undefined {
  return attempt(() => globalThis.process?.argv?.[1]);
}

/** The number of the user whose process this is; undefined where the system has no such numbers. */
export function userId(): number | undefined {
  return attempt(() => globalThis.process?.getuid?.());
}

/** The folder that paths are relative to; undefined where there is none. */
export function workingFolder(): string | undefined {
  return attempt(() => globalThis.process?.cwd?.());
}

/** Whether worker threads may be started; they may where the runtime does not ask for permission. */
export function mayStartWorkers(): boolean {
  const { permission } = (globalThis.process ?? {}) as { readonly permission?: { has?(scope: string): boolean } };
  return permission?.has?.('worker') ?? true;
}

/** Tells the user: as a warning of the process, which can be silenced by its code, or on the console where there is no process. */
export function warn(message: string, kind: { readonly type: string; readonly code: string }): void {
  if (attempt(() => typeof globalThis.process?.emitWarning === 'function')) process.emitWarning(message, kind);
  else globalThis.console?.warn(`${kind.type} [${kind.code}]: ${message}`);
}

/** Prints lines where output goes. */
export function print(text: string): void {
  if (attempt(() => typeof globalThis.process?.stdout?.write === 'function')) process.stdout.write(`${text}\n`);
  else globalThis.console?.log(text);
}

/** Prints a text where errors go, at once: the process may be about to end. */
export function printError(text: string): void {
  if (attempt(() => typeof globalThis.process?.stderr?.write === 'function')) process.stderr.write(`${text}\n`);
  else globalThis.console?.error(text);
}

/** The process ends with exit code 1, unless the program says otherwise. */
export function markFailed(): void {
  const { process } = globalThis;
  if (process !== undefined && !process.exitCode) process.exitCode = 1;
}

/** Has a function called with the exit code when the process, or this worker thread, ends; never where nothing tells. */
export function atExit(listener: (code: number) => void): void {
  globalThis.process?.on?.('exit', listener);
}

/** How many handlers the program has for SIGINT. */
export function interruptHandlers(): number {
  return globalThis.process?.listenerCount?.('SIGINT') ?? 0;
}

/** Calls them, as the signal does. */
export function callInterruptHandlers(): void {
  const emitter: NodeJS.EventEmitter = process;
  emitter.emit('SIGINT', 'SIGINT', nodeModule('node:os').constants.signals.SIGINT);
}
