/**
 * `trackLeaks()`: names the device memory that was never disposed, with the place where it was allocated.
 *
 * Capturing a stack for each allocation costs microseconds, so it only happens while a tracker is on. Memory that the
 * garbage collector found counts as a leak as well: it was freed late, by luck.
 */
import { hostOnly } from '../compiler/intrinsics.ts';
import { captureStack, type Site } from './disposal.ts';

/** Device memory that nobody has disposed. */
export interface Leak {
  /** Bytes of the allocation. */
  readonly bytes: number;
  /** Function, file, line and column of the allocation. */
  readonly site: string;
}

interface Tracked {
  readonly bytes: number;
  /** Counts allocations. */
  readonly number: number;
}

const tracked = new Map<Site, Tracked>();
let trackers = 0;
let allocations = 0;

/** The site of an allocation being made; undefined while nobody tracks. */
export function allocationSite(bytes: number): Site | undefined {
  if (trackers === 0) return undefined;
  const site = captureStack(20);
  allocations++;
  tracked.set(site, { bytes, number: allocations });
  return site;
}

/** The allocation made at `site` has been disposed. */
export function forgetSite(site: Site | undefined): void {
  if (site !== undefined) tracked.delete(site);
}

/** The result of `trackLeaks()`. */
export class LeakTracker {
  #on = true;
  /** The last allocation before tracking began. */
  readonly #since: number = allocations;

  constructor() {
    trackers++;
  }

  /** Allocations made since tracking began that have not been disposed, oldest first. None once tracking has ended. */
  leaks(): Leak[] {
    if (!this.#on) return [];
    const since = [...tracked].filter(([, { number }]) => number > this.#since);
    return since.map(([site, { bytes }]) => ({ bytes, site: site.text }));
  }

  /** The leaks as text, one a line; the empty string when there are none. */
  report(): string {
    return this.leaks()
      .map(({ bytes, site }) => `${bytes} bytes never disposed, allocated at ${site}`)
      .join('\n');
  }

  /** Ends tracking. Calling it again does nothing. */
  dispose(): void {
    if (!this.#on) return;
    this.#on = false;
    trackers--;
    if (trackers === 0) tracked.clear();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

function track(): LeakTracker {
  return new LeakTracker();
}

/**
 * Starts recording where device memory is allocated. `leaks()` of the result lists what has not been disposed of since; `dispose()` ends it. For
 * tests and for finding leaks: each allocation costs a captured stack while it is on.
 * @example
 * const tracker = cuda.trackLeaks();
 * const d = cuda.deviceArray(4, f32);
 * console.log(tracker.leaks().length); // 1
 * d.dispose();
 * tracker.dispose();
 */
export const trackLeaks: typeof track = /* @__PURE__ */ hostOnly('cuda.trackLeaks', track);
