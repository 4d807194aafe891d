/**
 * One thread of the process at a time: OpenCL implementations are initialised by their first calls, and some do that wrongly when
 * two threads make them together.
 *
 * The lock is shared through the environment data of worker threads, so it holds among all that start after the main thread has
 * imported Tsamba. Threads that do not share it try again when a first call fails.
 */
import { findNodeModule, nodeModule } from '../../host/index.ts';

const KEY = 'tsamba:opencl-initialisation';
/** Milliseconds after which a thread no longer believes in the lock: whoever had it has died. */
const PATIENCE = 20_000;

shareLock();

/** When the library is imported, as worker threads get what the main thread has at their start. Must not throw. */
function shareLock(): void {
  const threads = findNodeModule('node:worker_threads');
  if (threads?.isMainThread !== true || typeof SharedArrayBuffer === 'undefined') return;
  if (!(threads.getEnvironmentData(KEY) instanceof SharedArrayBuffer)) {
    threads.setEnvironmentData(KEY, new SharedArrayBuffer(4));
  }
}

/** Runs `body` while no other thread runs one. */
export function alone<T>(body: () => T): T {
  const shared = nodeModule('node:worker_threads').getEnvironmentData(KEY);
  if (!(shared instanceof SharedArrayBuffer)) return body();
  const word = new Int32Array(shared);
  while (Atomics.compareExchange(word, 0, 0, 1) !== 0) {
    if (Atomics.wait(word, 0, 1, PATIENCE) === 'timed-out') break;
  }
  try {
    return body();
  } finally {
    Atomics.store(word, 0, 0);
    Atomics.notify(word, 0, 1);
  }
}

/** Waits a moment, on this thread. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
