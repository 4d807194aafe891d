/**
 * What the memory layer must know of a stream: its driver handle, and whether it still is one.
 *
 * `StreamState` in `stream/stream-state.ts` implements `StreamRef`: the driver's stream apart from the object that users hold,
 * so that memory can remember the streams that used it without keeping those objects alive, and without the two folders
 * importing each other.
 */
import type { EventHandle, StreamHandle } from '../driver/driver.ts';

/** A stream as the owners of memory see it. */
export interface StreamRef {
  /** The driver's handle; undefined where the default stream has none. */
  readonly handle: StreamHandle | undefined;
  /** True once the driver's stream has been destroyed. */
  readonly destroyed: boolean;
  /** Of a destroyed stream: reached when the work that was left on it is done; undefined when it is. */
  readonly tail: EventHandle | undefined;
  /**
   * Whether it is another library's. Such a stream and the default stream need not wait for each other, and it may be gone at any
   * time: it is only touched inside calls that the user makes with it.
   */
  readonly external: boolean;
}

/** What users hold: a stream whose state is a `StreamRef`. */
export interface StreamUser {
  readonly handle: StreamHandle | undefined;
  readonly ref: StreamRef;
}
