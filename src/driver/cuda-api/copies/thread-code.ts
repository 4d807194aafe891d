/**
 * The control block that the copying threads share, and the program that they run.
 *
 * The program is a string, so that no bundler can lose it. A job is bytes of the process in pieces, which go between the user's
 * memory and a ring of slots; a slot holds a chunk of several pieces. Threads take pieces in order as far as the limit allows.
 */

/** Int32 slots; those that change during a job stand in cache lines of their own. */
export const GENERATION = 0;
/** Workers in the job while open, plus `CLOSED` when no more may join. */
export const GATE = 16;
export const NEXT = 32;
/** Pieces before this one may be taken; negative: leave. */
export const LIMIT = 48;
/** Counts finished pieces; whoever waits for something to happen waits for this. */
export const PROGRESS = 64;
export const READY = 80;
export const STOP = 96;
export const PIECES = 97;
export const PIECES_A_CHUNK = 98;
export const SLOTS = 99;
export const PIECE_BYTES = 100;
/** Workers that could not load what they need. */
export const FAILED = 102;
/** 1: from the user's memory to the ring; 0: back. */
export const TO_RING = 101;
/** Finished pieces of the chunk in each slot. */
export const DONE = 112;
export const MAX_SLOTS: number = 16;
/** Float64 slots: addresses and bytes. */
export const RING = 192;
export const USER = 193;
export const BYTES = 194;

export const CONTROL_BYTES: number = 8 * 200;
export const CLOSED = -0x40000000;

/** What a worker thread is started with. */
export interface ThreadData {
  readonly control: SharedArrayBuffer;
  /** The file of koffi's module. */
  readonly koffi: string;
  /** Library with `memcpy`. */
  readonly library: string;
}

export const THREAD_CODE: string = `'use strict';
const { workerData } = require('node:worker_threads');
const int = new Int32Array(workerData.control);
const float = new Float64Array(workerData.control);
let memcpy;
try {
  const koffi = require(workerData.koffi);
  memcpy = koffi.load(workerData.library).func('void memcpy(uint64_t target, uint64_t source, size_t bytes)');
} catch (error) {
  Atomics.add(int, ${FAILED}, 1);
  throw error;
}

function copyPieces() {
  const pieces = int[${PIECES}];
  const aChunk = int[${PIECES_A_CHUNK}];
  const slots = int[${SLOTS}];
  const size = int[${PIECE_BYTES}];
  const toRing = int[${TO_RING}] === 1;
  const ring = float[${RING}];
  const user = float[${USER}];
  const bytes = float[${BYTES}];
  let spins = 0;
  for (;;) {
    const piece = Atomics.load(int, ${NEXT});
    const limit = Atomics.load(int, ${LIMIT});
    if (piece >= pieces || limit < 0) return;
    if (piece >= limit) {
      if (++spins > 2000) Atomics.wait(int, ${LIMIT}, limit, 5);
      continue;
    }
    if (Atomics.compareExchange(int, ${NEXT}, piece, piece + 1) !== piece) continue;
    spins = 0;
    const slot = Math.floor(piece / aChunk) % slots;
    const inRing = ring + (slot * aChunk + (piece % aChunk)) * size;
    const inUser = user + piece * size;
    const count = Math.min(size, bytes - piece * size);
    if (toRing) memcpy(inRing, inUser, count);
    else memcpy(inUser, inRing, count);
    Atomics.add(int, ${DONE} + slot, 1);
    Atomics.add(int, ${PROGRESS}, 1);
    Atomics.notify(int, ${PROGRESS});
  }
}

let seen = Atomics.load(int, ${GENERATION});
Atomics.add(int, ${READY}, 1);
Atomics.notify(int, ${READY});
while (Atomics.load(int, ${STOP}) === 0) {
  Atomics.wait(int, ${GENERATION}, seen);
  seen = Atomics.load(int, ${GENERATION});
  if (Atomics.add(int, ${GATE}, 1) >= 0) copyPieces();
  Atomics.sub(int, ${GATE}, 1);
  Atomics.notify(int, ${GATE});
}
`;
