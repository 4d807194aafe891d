/**
 * Groups of calls, which are made as one: NCCL's `ncclGroupStart` and `ncclGroupEnd`. They are of the thread, not of a communicator.
 */
import { TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

/** What takes part in a group: a transport, or what several have in common. */
export interface Grouping {
  groupStart(): void;
  groupEnd(): void;
  /** After all have ended: whether the calls could be made. */
  groupDone(error: unknown): void;
}

let depth = 0;
const members: Set<Grouping> = new Set();

/** Whether a group is open. */
export function inGroup(): boolean {
  return depth > 0;
}

/** Opens one, which may be within another. */
function openGroup(): void {
  depth++;
}

/** It is used: it takes part in the group that is open. */
export function join(member: Grouping): void {
  if (depth === 0 || members.has(member)) return;
  members.add(member);
  member.groupStart();
}

/** Closes one; with the outermost the calls are made. What goes wrong is told by the promises of the calls. */
function closeGroup(): void {
  depth--;
  if (depth > 0) return;
  const all = [...members];
  members.clear();
  let failure: unknown;
  for (const member of all) {
    try {
      member.groupEnd();
    } catch (error) {
      failure ??= error;
    }
  }
  for (const member of all) member.groupDone(failure);
}

/** `nccl.group`. */
export function grouped<R>(body: () => R): R {
  if (typeof body !== 'function') {
    throw new TsambaTypeError('E_NCCL_ARGUMENT', `group takes a function that makes the calls, got ${show(body)}`);
  }
  openGroup();
  try {
    return body();
  } finally {
    closeGroup();
  }
}
