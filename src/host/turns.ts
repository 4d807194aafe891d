/**
 * Turns of the event loop, and pauses, also in pages that nobody sees: browsers hold up the timers of a hidden page, to one a second at first and one a minute after some minutes, but neither its
 * messages nor the timers of its workers.
 */
import { loadClock, type WorkerClock } from './clock.ts';
import { isPage } from './index.ts';

interface PageGlobals {
  readonly document?: { readonly visibilityState?: string };
  readonly Worker?: unknown;
}

/** What the next turns call, in order, and where a message brings the next turn. */
const turns: (() => void)[] = [];
let door: { postMessage(message: unknown): void } | undefined;

/** Calls a function in the next turn of the event loop. */
export function onNextTurn(body: () => void): void {
  if (typeof setImmediate === 'function') return void setImmediate(body);
  if (!isPage()) return void setTimeout(body, 0);
  turns.push(body);
  door ??= openDoor();
  door.postMessage(0);
}

function openDoor(): { postMessage(message: unknown): void } {
  const { port1, port2 } = new MessageChannel();
  Object.assign(port1, { onmessage: () => turns.shift()?.() });
  return port2;
}

/** As `onNextTurn`, but the process does not stay for it. Undefined, and nothing is called, where no process ends by itself. */
export function onIdleTurn(body: () => void): NodeJS.Immediate | undefined {
  return typeof setImmediate === 'function' ? setImmediate(body).unref() : undefined;
}

/** Made when a page first pauses while it is hidden. Undefined where it could not be loaded. */
let clock: Promise<WorkerClock | undefined> | undefined;

/** Calls a function after so many milliseconds, if what this gives is not called before. */
export function after(milliseconds: number, body: () => void): () => void {
  const page = globalThis as PageGlobals;
  if (page.document?.visibilityState !== 'hidden' || page.Worker === undefined || !isPage())
    return byTimer(milliseconds, body);
  let cancel: (() => void) | undefined;
  let isCancelled = false;
  clock ??= loadClock().catch(() => undefined);
  void clock.then((found) => {
    if (!isCancelled) cancel = found?.runs === true ? found.after(milliseconds, body) : byTimer(milliseconds, body);
  });
  return () => {
    isCancelled = true;
    cancel?.();
  };
}

function byTimer(milliseconds: number, body: () => void): () => void {
  const timer = setTimeout(body, milliseconds);
  return () => clearTimeout(timer);
}
