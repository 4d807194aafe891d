/**
 * Host memory that copies by promise have yet to fill: a launch that takes such memory waits until it holds what the launch before leaves.
 *
 * Drivers that copy in several steps write to it in turns of the event loop, which no stream orders.
 */

/** A range of a buffer that is being filled. */
interface Fill {
  /** Bytes of the buffer, from and up to. */
  readonly start: number;
  readonly end: number;
  /** Resolves when the range is filled, or will not be. */
  readonly over: Promise<unknown>;
}

const fills = new WeakMap<ArrayBufferLike, Set<Fill>>();
/** Copies that go on; most programs never have one. */
let count = 0;

/** A copy is filling these bytes of a buffer until `filled` is settled. */
export function noteFill(buffer: ArrayBufferLike, start: number, end: number, filled: Promise<unknown>): void {
  const known = fills.get(buffer) ?? new Set();
  fills.set(buffer, known);
  const remove = (): void => {
    known.delete(fill);
    count--;
  };
  const fill: Fill = { start, end, over: filled.then(remove, remove) };
  known.add(fill);
  count++;
}

/** Resolves when all copies into these bytes are over that have begun; undefined if there are none. */
export function fillsOf(buffer: ArrayBufferLike, start: number, end: number): Promise<unknown> | undefined {
  if (count === 0) return undefined;
  const known = [...(fills.get(buffer) ?? [])].filter((fill) => fill.start < end && start < fill.end);
  return known.length === 0 ? undefined : Promise.all(known.map(({ over }) => over));
}
