/**
 * Parts of the library that builds for pages load when they are first needed. Elsewhere all is there from the beginning, and no part is declared.
 *
 * What needs a part calls `now`, which throws `MissingPart` while it is not there: the error of a call that cannot wait, which says what to wait for. Who can wait runs its
 * work by `whenLoaded`, which loads what was missing and begins again: the work must be one that can.
 */
import { NotSupportedError } from './errors.ts';

/** A module, or several, in files of their own. */
export interface Part<T> {
  /** What is in it. Throws MissingPart while it has not been loaded. */
  readonly now: () => T;
  readonly load: () => Promise<void>;
}

/** A part is needed that has not been loaded. */
export class MissingPart extends NotSupportedError {
  readonly load: () => Promise<unknown>;

  constructor(load: () => Promise<unknown>) {
    super(
      'E_NO_WAIT',
      "the page has not loaded all that compiles this kernel, which it does when that is needed: write await cuda.open('cpu') first, which loads all for the CPU device, " +
        'or await its compileAsync(…) first, or await launchAsync(…) instead of launch',
    );
    this.load = load;
  }
}

/** What loads each part that is not there yet. */
const missing = new Set<() => Promise<unknown>>();

/** What loads the parts that most kernels need, but not the simplest; undefined once one has been seen that will need them. */
let usual: (() => void)[] | undefined = [];

/** Declares a part. What fails to load is tried again when it is needed again. `isUsual`: most kernels need it, but not the simplest. */
export function onDemand<T>(load: () => Promise<T>, isUsual = false): Part<T> {
  let part: T | undefined;
  const loadOnce = async (): Promise<void> => {
    part ??= await load();
    missing.delete(loadOnce);
  };
  missing.add(loadOnce);
  if (isUsual) {
    const begin = (): void => void loadOnce().catch(() => undefined);
    if (usual === undefined) begin();
    else usual.push(begin);
  }
  return {
    now: () => {
      if (part === undefined) throw new MissingPart(loadOnce);
      return part;
    },
    load: loadOnce,
  };
}

/** Begins to load what most kernels need, and what is declared of it from here on: by then it would be asked for one after the other. */
export function fetchUsual(): void {
  const loads = usual ?? [];
  usual = undefined;
  for (const load of loads) load();
}

/** Whether there are parts that have not been loaded. */
export function partsAreMissing(): boolean {
  return missing.size > 0;
}

/** Loads all parts, those among them that parts declare. */
export async function loadParts(): Promise<void> {
  while (missing.size > 0) await Promise.all([...missing].map((load) => load()));
}

/** What `work` gives; undefined where it lacks a part, which is loaded from here on. */
export function ifLoaded<R>(work: () => R): R | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MissingPart)) throw error;
    error.load().catch(() => undefined);
    return undefined;
  }
}

/** What `work` gives, begun again each time a part has been loaded that it lacked. */
export async function whenLoaded<R>(work: () => R): Promise<Awaited<R>> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MissingPart)) throw error;
      await error.load();
    }
  }
}
