/**
 * A profile: what was done while a body ran, with the host's times and the device's.
 */
import { TsambaTypeError } from '../errors.ts';
import { processId, programFile, threadNumber } from '../host/index.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import { type Trace, traceOf } from './chrome.ts';
import { startRecording, stopRecording, timesKnown } from './collector.ts';
import { rankOfProcess } from './rank.ts';
import type { MemorySample, ProfiledDevice, ProfileEvent, Taken } from './records.ts';
import { Recording } from './records.ts';
import { type Summary, type SummaryOptions, summaryOf } from './summary.ts';
import { writeTrace } from './trace-file.ts';

/** Options of `profile`. */
export interface ProfileOptions {
  /** Where the trace is saved when the body is over, also when it failed. */
  readonly file?: string | undefined;
}

/** What was done while a body ran, given by `cuda.profile()`. */
export class Profile<R = unknown> {
  readonly #taken: Taken;
  /** The result of the body. */
  readonly result: R;

  /** @internal Profiles are made by `profile()`. */
  constructor(taken: Taken, result: R) {
    this.#taken = taken;
    this.result = result;
    Object.freeze(this);
  }

  /** All that was seen, in the order in which it began. Times are milliseconds since the profile began. */
  get events(): readonly ProfileEvent[] {
    return this.#taken.events;
  }

  /** Bytes of device memory that were live, whenever that changed. */
  get memory(): readonly MemorySample[] {
    return this.#taken.memory;
  }

  /** The devices that work was done on. */
  get devices(): readonly ProfiledDevice[] {
    return this.#taken.devices;
  }

  /** Milliseconds from the beginning to the end, until the last work on a device was done. */
  get duration(): number {
    return this.#taken.duration;
  }

  /**
   * A table: a row for each kernel, kind of copy and so on. Print it: `console.log(String(profile.summary()))`. GB/s are known of copies, fills and
   * collectives, each byte counted once; of kernels where `bytes` says what a launch moves.
   * @throws TypeError for bad options.
   */
  summary(options?: SummaryOptions): Summary {
    return summaryOf(this.#taken, options);
  }

  /** The trace as an object, in Chrome's format: what `save` writes. */
  trace(): Trace {
    return traceOf(this.#taken, originOfProcess());
  }

  /**
   * Writes the trace to a file, which ui.perfetto.dev opens; waits until it is written. `{pid}`, `{rank}` and `{thread}` in the name are
   * replaced. Gives the path.
   * @throws NotSupportedError where there are no files, as in pages; what the file system says.
   */
  save(file: string): string {
    return writeTrace(checkFile('save', file), this.trace());
  }

  /** A short description with the number of events and the duration; `String(profile.summary())` is the table. */
  toString(): string {
    return `Profile(${this.events.length} events, ${this.duration.toFixed(1)} ms)`;
  }
}

/** Describes the trace. */
export function originOfProcess(): { pid: number; thread: number; program: string; rank: number | undefined } {
  const file = programFile();
  const program = file === undefined ? 'program' : (file.split(/[\\/]/).at(-1) ?? file);
  return { pid: processId(), thread: threadNumber(), program, rank: rankOfProcess() };
}

/** Takes a profile of a body. */
export async function profile<R>(body: () => R, options?: ProfileOptions): Promise<Profile<Awaited<R>>> {
  const { file } = readOptions('profile', options, ['file']);
  if (typeof body !== 'function') {
    throw new TsambaTypeError('E_CALLBACK', `profile takes a function to run, got ${show(body)}`);
  }
  if (file !== undefined) checkFile('profile', file);
  const recording = new Recording();
  startRecording(recording);
  const end = async (): Promise<Taken> => {
    try {
      await timesKnown();
      return recording.taken();
    } finally {
      stopRecording(recording);
    }
  };
  let result: Awaited<R>;
  try {
    result = await body();
  } catch (error) {
    const taken = await end();
    if (file !== undefined) saveQuietly(taken, file);
    throw error;
  }
  const made = new Profile(await end(), result);
  if (file !== undefined) made.save(file);
  return made;
}

/** The error of the body is what matters. */
function saveQuietly(taken: Taken, file: string): void {
  try {
    writeTrace(file, traceOf(taken, originOfProcess()));
  } catch {
    // As said.
  }
}

function checkFile(call: string, file: unknown): string {
  if (typeof file === 'string' && file !== '') return file;
  throw new TsambaTypeError('E_OPTION', `${call} takes the path of a file, such as 'trace.json', got ${show(file)}`);
}
