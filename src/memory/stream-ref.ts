/**
 * What the memory layer must know of a stream: its driver handle, and whether it still is one.
 *
 * `Stream` in `stream/stream.ts` implements this. The interface stands here so that owners of memory can remember the
 * streams that used them, without the two folders importing each other.
 */
import type { StreamHandle } from '../driver/driver.ts';

/** A stream as the owners of memory see it. */
export interface StreamRef {
  /** The driver's handle; undefined for the default streams. */
  readonly handle: StreamHandle | undefined;
  /** True once the driver's stream has been destroyed: all work that was enqueued on it is done. */
  readonly destroyed: boolean;
}
