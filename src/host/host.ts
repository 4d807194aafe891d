/**
 * What a half of this folder has, so that both have the same: `node.ts` for Node.js and what stands in for it, `browser.ts` for pages.
 */

/** The modules of Node.js that the library uses. */
export type NodeModules = {
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

/** What `onNextTurn` gives. */
export type Turn = NodeJS.Immediate | NodeJS.Timeout;

export interface Host {
  /** A module of Node.js; undefined where there is none. Never throws. */
  findNodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined;
  /** The environment variables; none where there are none, or nobody says. */
  environmentVariables(): Readonly<Record<string, string | undefined>>;
  /** The operating system, as Node.js names it; the empty string where nobody says. */
  platformName(): string;
  /** The number of this process; 0 where there is none. */
  processId(): number;
  /** The folder that paths are relative to; undefined where there is none. */
  workingFolder(): string | undefined;
  /** Whether worker threads may be started; they may where the runtime does not ask for permission. */
  mayStartWorkers(): boolean;
  /** Tells the user: as a warning of the process, which can be silenced by its code, or on the console where there is no process. */
  warn(message: string, kind: { readonly type: string; readonly code: string }): void;
  /** Prints lines where output goes. */
  print(text: string): void;
  /** Prints a text where errors go, at once: the process may be about to end. */
  printError(text: string): void;
  /** The process ends with exit code 1, unless the program says otherwise. */
  markFailed(): void;
  /** Has a function called when the process, or this worker thread, ends; never where nothing tells. */
  atExit(listener: () => void): void;
  /** Calls a function in the next turn of the event loop, which in pages takes some milliseconds to come. */
  onNextTurn(body: () => void): Turn;
  /** As `onNextTurn`, but the process does not stay for it. Undefined, and nothing is called, where no process ends by itself. */
  onIdleTurn(body: () => void): NodeJS.Immediate | undefined;
  /** How many handlers the program has for SIGINT. */
  interruptHandlers(): number;
  /** Calls them, as the signal does. */
  callInterruptHandlers(): void;
}
