/**
 * Whether the runtime has threads beside the calling one, and what they may do. `start-thread.ts` starts them.
 */
import { attempt, findNodeModule, mayStartWorkers } from './index.ts';

interface PageGlobals {
  readonly Worker?: unknown;
  readonly crossOriginIsolated?: boolean;
  readonly navigator?: { readonly hardwareConcurrency?: number };
}

const page: PageGlobals = globalThis as PageGlobals;

/** Why there can be no threads that share memory with this one; undefined where there can. */
export function whyNoThreads(): string | undefined {
  if (findNodeModule('node:worker_threads') !== undefined) {
    if (typeof SharedArrayBuffer === 'undefined') return 'threads share no memory here';
    return mayStartWorkers() ? undefined : 'worker threads are not permitted (--allow-worker)';
  }
  if (page.Worker === undefined) return 'this runtime has no worker threads';
  if (page.crossOriginIsolated !== true || typeof SharedArrayBuffer === 'undefined') {
    return (
      'the page is not cross-origin isolated (it is with the headers Cross-Origin-Opener-Policy: same-origin and ' +
      'Cross-Origin-Embedder-Policy: require-corp)'
    );
  }
  return undefined;
}

/** How many threads the machine runs at the same time, as far as the runtime says. */
export function processors(): number {
  const os = findNodeModule('node:os');
  return attempt(() => os?.availableParallelism()) ?? page.navigator?.hardwareConcurrency ?? 1;
}

let blocks: boolean | undefined;

/** Whether this thread may sleep in `Atomics.wait`: all may but the main thread of a page. */
export function mayBlock(): boolean {
  if (typeof SharedArrayBuffer === 'undefined') return false;
  // A value that is not there: returns at once where it does not throw.
  blocks ??= attempt(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0)) !== undefined;
  return blocks;
}
