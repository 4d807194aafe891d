/**
 * The form of the tests that only a GPU can run, in modules beside this file that `modules.ts` lists.
 *
 * A module exports a `GpuModule`: a chapter's title and tests, each a name and a function that throws when something is wrong
 * (testsuite/assert.ts has assertions). No test framework: the tests are bundled into one file that runs where there is
 * nothing but Node.js. Each runs with the device already current; what it makes it disposes (`scope` does it for you), and it
 * calls `skip('why')` where the machine lacks what it is about. A string that it returns is a note, printed
 * and recorded. When one breaks the device (a sticky error, a crash, a hang) only
 * that one fails: the next begins in a new process. `seconds` is how long it may take; 60 unless given.
 *
 *   export const streams: GpuModule = {
 *     chapter: 'nvidia streams',
 *     tests: [{ name: 'an event is reached', run() { … } }],
 *   };
 */
export interface GpuTest {
  readonly name: string;
  /** Throws, or rejects, when something is wrong; gives a note, or a promise of one, or anything else. */
  readonly run: () => unknown;
  /** How long it may take; 60 unless given. */
  readonly seconds?: number | undefined;
  /** Runs only when it is asked for by `--filter`: it takes long, or most of the machine's memory. */
  readonly onDemand?: boolean | undefined;
}

export interface GpuModule {
  readonly chapter: string;
  readonly tests: readonly GpuTest[];
}

/** What `skip` throws. */
export class Skipped extends Error {}

/** Ends a test that this machine cannot run. */
export function skip(why: string): never {
  throw new Skipped(why);
}

/** The error that a call throws, which must have this code. */
export function fails(run: () => unknown, code: string): Error {
  try {
    run();
  } catch (error) {
    if (error instanceof Error && (error as { code?: unknown }).code === code) return error;
    throw error;
  }
  throw new Error(`nothing was thrown instead of ${code}`);
}
