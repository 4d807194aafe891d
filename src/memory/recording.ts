/**
 * Whether work is being recorded for a graph instead of being enqueued, and what is refused meanwhile.
 *
 * A body is recorded synchronously, so that there is at most one recording at a time, and nothing else runs. Who records is
 * `graph/recorder.ts`; here is what the layers below tell it. The driver's own calls it takes by standing before the driver.
 */
import type { EventHandle, StreamHandle, Work } from '../driver/driver.ts';
import { NotSupportedError } from '../errors.ts';

/** What a graph keeps alive: memory, and kernels that are loaded. */
export interface Kept {
  /** Where it was made. */
  readonly context: object;
  retain(): void;
  release(): void;
}

/** What is told of work while it is recorded. */
export interface Recording {
  /** Work that no driver is asked for: launches. */
  record(work: Work, stream: StreamHandle | undefined): void;
  /** Keeps what recorded work uses. Throws where it belongs to another context than the one whose work is recorded. */
  keep(used: Kept): void;
  /** Keeps an object of another library alive, or host memory. */
  hold(object: object): void;
  /** Whether the event was recorded by the work so far. */
  knows(event: EventHandle): boolean;
  /** Makes the recording fail, also where the error is caught; gives it. */
  fail<E extends Error>(error: E): E;
}

/** What is being recorded now. */
export const recording: { current: Recording | undefined } = { current: undefined };

/** Throws while work is recorded: `call` is what was called, `why` it cannot be recorded, `instead` what to do. */
export function refuseRecording(call: string, why: string, instead: string): void {
  if (recording.current !== undefined) throw recording.current.fail(unrecordable(call, why, instead));
}

/** Throws while work is recorded, of what waits for the device. */
export function refuseWaiting(call: string): void {
  refuseRecording(call, WAITS, 'call it outside, after the graph was launched');
}

/** The error of a call that a graph cannot have. */
export function unrecordable(call: string, why: string, instead: string): NotSupportedError {
  return new NotSupportedError('E_GRAPH', `${call} cannot be part of a graph: ${why}; ${instead}`);
}

/** Why nothing can wait. */
export const WAITS = 'it waits for work, and the work of a graph runs only when the graph is launched';
