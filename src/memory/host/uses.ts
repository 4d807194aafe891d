/**
 * Who must know when a copy touches host memory: pinned allocations and registrations, found by the buffer that is copied.
 *
 * Host memory that the device reaches is unpinned or freed as soon as no copy touches it, and no sooner. The transfers of
 * `array/` say what they touch; memory that nobody pinned costs them one look-up.
 */
import type { StreamRef, StreamUser } from '../stream-ref.ts';

/** A range of a buffer that is pinned. */
export interface HostUser {
  /** Bytes of the buffer, from and up to. */
  readonly start: number;
  readonly end: number;
  /** A copy that touches the range has been enqueued on a stream. */
  noteUse(stream: StreamRef): void;
}

const users = new WeakMap<ArrayBufferLike, Set<HostUser>>();

/** From now on `user` is told of the copies to and from its range of a buffer. */
export function addHostUser(buffer: ArrayBufferLike, user: HostUser): void {
  const known = users.get(buffer);
  if (known === undefined) users.set(buffer, new Set([user]));
  else known.add(user);
}

/** Ends what `addHostUser` began. */
export function removeHostUser(buffer: ArrayBufferLike, user: HostUser): void {
  users.get(buffer)?.delete(user);
}

/** A copy to or from these bytes has been enqueued. Without a stream it is over already. */
export function noteHostUse(bytes: Uint8Array, stream: StreamUser | undefined): void {
  if (stream === undefined) return;
  const known = users.get(bytes.buffer);
  if (known === undefined) return;
  const { byteOffset, byteLength } = bytes;
  for (const user of known) {
    if (byteOffset < user.end && user.start < byteOffset + byteLength) user.noteUse(stream.ref);
  }
}
