/**
 * Who touched which byte of a memory, and when: what races and reads of unwritten memory are found by.
 *
 * Time is counted in phases: the stretch of one block from one barrier to the next. Every phase of every block has its own
 * number, so nothing need be cleared in between. Two threads race when they touch one place in one phase and at least one
 * of them by a plain write; atomics do not race with atomics, nor plain reads with atomics. Within a phase the lanes of one warp may
 * have met (syncWarp, shuffles, votes): what they did before does not race with what they do after.
 */

import type { Clocks } from './clocks.ts';

/** What a place remembers for each kind of access: phase, who (see `whoOf`), site and time of the first one in that phase. */
const FIELDS = 4;
const WRITE = 0;
const READ = FIELDS;
const ATOMIC = 2 * FIELDS;
/** The epoch (block, or thread for local memory) in which the place was last written. */
const EPOCH = 3 * FIELDS;
const SLOTS = EPOCH + 1;
const MANY = -2;
/** Places up to which the records are one array; beyond it they are kept one by one. */
const DENSE = 1 << 20;

/** How memory is touched. */
export type AccessKind = 'read' | 'write' | 'atomic';

/** The access that an access races with. */
export interface Conflict {
  readonly kind: AccessKind;
  /** Linear in the block; undefined when several threads did it. */
  readonly thread: number | undefined;
  readonly site: number;
}

/** Who does something, and when. */
export interface Moment {
  readonly phase: number;
  /** See `whoOf`. */
  readonly who: number;
  readonly clocks: Clocks;
}

/** The records of one piece of memory. */
export class Shadow {
  readonly #bytes: number;
  /** Bytes a place has: the size of the elements while all accesses agree, else 1. */
  #grain = 0;
  #dense: Int32Array | undefined;
  #sparse = new Map<number, Int32Array>();

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** To be called before a launch touches the memory by elements of `size` bytes at multiples of `size` plus `offset`. */
  prepare(size: number, offset: number): void {
    const grain = offset % size === 0 ? size : 1;
    if (this.#grain === grain) return;
    this.#grain = this.#grain === 0 ? grain : Math.min(this.#grain, grain);
    this.#dense = undefined;
    this.#sparse.clear();
  }

  /** Notes an access; the access it races with, if it does. */
  access(kind: AccessKind, at: number, size: number, now: Moment, site: number): Conflict | undefined {
    const grain = this.#grain || size;
    for (let place = Math.floor(at / grain); place * grain < at + size; place++) {
      const [slots, base] = this.#slots(place);
      const conflict =
        kind === 'write'
          ? (other(slots, base + WRITE, 'write', now) ??
            other(slots, base + READ, 'read', now) ??
            other(slots, base + ATOMIC, 'atomic', now))
          : other(slots, base + WRITE, 'write', now);
      if (conflict !== undefined) return conflict;
      note(slots, base + (kind === 'write' ? WRITE : kind === 'read' ? READ : ATOMIC), now, site);
    }
    return undefined;
  }

  /** Marks elements as written in this epoch. */
  initialise(at: number, size: number, epoch: number): void {
    const grain = this.#grain || size;
    for (let place = Math.floor(at / grain); place * grain < at + size; place++) {
      const [slots, base] = this.#slots(place);
      slots[base + EPOCH] = epoch;
    }
  }

  /** Whether all of an element has been written in this epoch. */
  isInitialised(at: number, size: number, epoch: number): boolean {
    const grain = this.#grain || size;
    for (let place = Math.floor(at / grain); place * grain < at + size; place++) {
      const [slots, base] = this.#slots(place);
      if (slots[base + EPOCH] !== epoch) return false;
    }
    return true;
  }

  #slots(place: number): [Int32Array, number] {
    const grain = this.#grain || 1;
    if (this.#bytes / grain <= DENSE) {
      this.#dense ??= new Int32Array(SLOTS * Math.ceil(this.#bytes / grain));
      return [this.#dense, place * SLOTS];
    }
    let slots = this.#sparse.get(place);
    if (slots === undefined) {
      slots = new Int32Array(SLOTS);
      this.#sparse.set(place, slots);
    }
    return [slots, 0];
  }
}

/** Threads of a block at most, so that a thread and its warp's round fit one number. */
const THREADS = 1024;
const LANES = 32;
const WARPS = THREADS / LANES;
const ROUNDS = 1 << 20;

/** A thread in the round of its warp: how often the warp's lanes have met. */
export function whoOf(thread: number, round: number): number {
  return (round % ROUNDS) * THREADS + thread;
}

/** Several lanes of one warp in one round of it. */
function manyOf(who: number): number {
  return -3 - (roundOf(who) * WARPS + warpOf(who));
}

function warpOf(who: number): number {
  return who >= 0 ? Math.floor((who % THREADS) / LANES) : (-3 - who) % WARPS;
}

function roundOf(who: number): number {
  return Math.floor(who >= 0 ? who / THREADS : (-3 - who) / WARPS);
}

/** Whether the lanes of one warp have met between these two. */
function haveMet(before: number, now: number): boolean {
  return before !== MANY && warpOf(before) === warpOf(now) && roundOf(before) !== roundOf(now);
}

/** Whether what a place remembers came before: the lanes of a warp have met since, or fences and atomics say so. */
function isOver(slots: Int32Array, at: number, { who, clocks }: Moment): boolean {
  const before = slots[at + 1] as number;
  if (haveMet(before, who)) return true;
  return before >= 0 && clocks.isAfter(who % THREADS, before % THREADS, slots[at + 3] as number);
}

function other(slots: Int32Array, at: number, kind: AccessKind, now: Moment): Conflict | undefined {
  const before = slots[at + 1] as number;
  if (slots[at] !== now.phase || before === now.who || isOver(slots, at, now)) return undefined;
  // The thread itself, before its warp met: `haveMet` has said so; here it is another, or several.
  return { kind, thread: before < 0 ? undefined : before % THREADS, site: slots[at + 2] as number };
}

function note(slots: Int32Array, at: number, now: Moment, site: number): void {
  const { phase, who, clocks } = now;
  const before = slots[at + 1] as number;
  const time = clocks.of(who % THREADS);
  if (slots[at] === phase && before === who && slots[at + 3] === time) return;
  if (slots[at] !== phase || before === who || isOver(slots, at, now)) {
    slots[at] = phase;
    slots[at + 1] = who;
    slots[at + 2] = site;
    slots[at + 3] = time;
  } else if (before !== MANY) {
    slots[at + 1] = warpOf(before) === warpOf(who) ? manyOf(who) : MANY;
  }
}
