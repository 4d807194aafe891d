/**
 * Threads that copy memory of the process in pieces, together with the caller: `memcpy` by raw addresses.
 *
 * A worker counts from the moment it passes the open gate, so one that is still starting, or gone, is never waited for. Workers
 * start when first asked to, do not keep the process alive, and need nothing of their parent's event loop. `Staging` gives
 * them jobs; this file knows no device.
 */
import type { Worker } from 'node:worker_threads';
import type { AsyncNativeFunction, Ffi } from '../../../ffi/ffi.ts';
import { packagePath } from '../../../ffi/package-path.ts';
import { nodeModule, warn } from '../../../host/index.ts';
import * as at from './thread-code.ts';

/** One job: bytes at an address of the process, and the ring that they come from or go to. */
export interface CopyJob {
  readonly user: number;
  readonly bytes: number;
  readonly ring: number;
  readonly toRing: boolean;
  readonly slots: number;
  readonly pieceBytes: number;
  readonly piecesAChunk: number;
  /** Pieces that may be taken at once. */
  readonly limit: number;
}

const LIVENESS_MS = 200;
/** How long the end of the process waits for workers that are still starting. */
const LEAVE_MS = 2000;
const WARNING = { type: 'TsambaWarning', code: 'TSAMBA_THREADS' };

/** The C library, by platform; musl's has another name than glibc's. */
const LIBRARIES: Readonly<Record<'windows' | 'other', readonly string[]>> = {
  windows: ['ucrtbase.dll', 'msvcrt.dll'],
  other: ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1', 'libSystem.B.dylib'],
};

/** `memcpy` by addresses, on this thread or another; undefined where there is no C library. */
export function nativeMemcpy(ffi: Ffi): { readonly memcpy: AsyncNativeFunction; readonly library: string } | undefined {
  const { library } = ffi.load(LIBRARIES[process.platform === 'win32' ? 'windows' : 'other']);
  const memcpy = library?.function('void memcpy(uint64_t target, uint64_t source, size_t bytes)');
  return library === undefined || memcpy === undefined ? undefined : { memcpy, library: library.name };
}

/** The threads. One job at a time. */
export class CopyThreads {
  readonly #int: Int32Array;
  readonly #float: Float64Array;
  readonly #memcpy: AsyncNativeFunction;
  readonly #library: string;
  readonly #workers: Worker[] = [];
  #started = false;
  #job: CopyJob | undefined;
  #pieces = 0;
  #broken = false;
  #calm = 0;
  #exited = 0;

  constructor(memcpy: AsyncNativeFunction, library: string) {
    this.#memcpy = memcpy;
    this.#library = library;
    const control = new SharedArrayBuffer(at.CONTROL_BYTES);
    this.#int = new Int32Array(control);
    this.#float = new Float64Array(control);
    this.#int[at.GATE] = at.CLOSED;
  }

  /** Workers that have come up. */
  get ready(): number {
    return Atomics.load(this.#int, at.READY);
  }

  /** Whether a worker went away in the middle of a job: there will be no other. */
  get broken(): boolean {
    return this.#broken;
  }

  /** The workers, for tests of what happens when one goes away. */
  get workers(): readonly Worker[] {
    return this.#workers;
  }

  /** Starts so many workers, once; does not wait for them. */
  start(count: number): void {
    if (this.#started) return;
    this.#started = true;
    process.on('exit', this.#leave);
    try {
      const koffi = packagePath('koffi');
      for (let k = 0; k < count; k++) this.#workers.push(this.#spawn(koffi, k));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warn(`large copies are made by ${this.#workers.length} of ${count} threads: ${why}`, WARNING);
    }
  }

  /** Blocks until `count` workers have come up, or the time is over; the number that have. */
  awaitReady(count: number, milliseconds: number): number {
    const end = performance.now() + milliseconds;
    for (;;) {
      const { ready } = this;
      const left = end - performance.now();
      if (ready >= count || left <= 0) return ready;
      Atomics.wait(this.#int, at.READY, ready, left);
    }
  }

  /** Gives all workers a job. The caller helps, watches and ends it. */
  begin(job: CopyJob): void {
    const int = this.#int;
    const float = this.#float;
    this.#job = job;
    this.#pieces = Math.ceil(job.bytes / job.pieceBytes);
    int[at.PIECES] = this.#pieces;
    int[at.PIECES_A_CHUNK] = job.piecesAChunk;
    int[at.SLOTS] = job.slots;
    int[at.PIECE_BYTES] = job.pieceBytes;
    int[at.TO_RING] = job.toRing ? 1 : 0;
    int.fill(0, at.DONE, at.DONE + at.MAX_SLOTS);
    float[at.RING] = job.ring;
    float[at.USER] = job.user;
    float[at.BYTES] = job.bytes;
    Atomics.store(int, at.NEXT, 0);
    Atomics.store(int, at.LIMIT, job.limit);
    Atomics.sub(int, at.GATE, at.CLOSED);
    Atomics.add(int, at.GENERATION, 1);
    Atomics.notify(int, at.GENERATION);
    this.#calm = performance.now();
  }

  /** Lets pieces before `limit` be taken. */
  allow(limit: number): void {
    Atomics.store(this.#int, at.LIMIT, limit);
    Atomics.notify(this.#int, at.LIMIT);
  }

  /** Copies one piece on this thread; false when none may be taken. */
  help(): boolean {
    const int = this.#int;
    const job = this.#job as CopyJob;
    const piece = Atomics.load(int, at.NEXT);
    if (piece >= this.#pieces || piece >= Atomics.load(int, at.LIMIT)) return false;
    if (Atomics.compareExchange(int, at.NEXT, piece, piece + 1) !== piece) return true;
    const slot = Math.floor(piece / job.piecesAChunk) % job.slots;
    const inRing = job.ring + (slot * job.piecesAChunk + (piece % job.piecesAChunk)) * job.pieceBytes;
    const inUser = job.user + piece * job.pieceBytes;
    const count = Math.min(job.pieceBytes, job.bytes - piece * job.pieceBytes);
    if (job.toRing) this.#memcpy(inRing, inUser, count);
    else this.#memcpy(inUser, inRing, count);
    Atomics.add(int, at.DONE + slot, 1);
    return true;
  }

  /** Takes note that the chunk in a slot is complete, when it is: `pieces` of them are done. */
  takeDone(slot: number, pieces: number): boolean {
    const index = at.DONE + slot;
    if (Atomics.load(this.#int, index) < pieces) return false;
    Atomics.store(this.#int, index, 0);
    this.#calm = performance.now();
    return true;
  }

  /** Waits a moment for a worker to finish a piece. False when one that has gone away is being waited for. */
  pause(milliseconds: number): boolean {
    const before = Atomics.load(this.#int, at.PROGRESS);
    if (Atomics.wait(this.#int, at.PROGRESS, before, milliseconds) !== 'timed-out') {
      this.#calm = performance.now();
      return true;
    }
    if (performance.now() - this.#calm < LIVENESS_MS) return true;
    this.#calm = performance.now();
    return !this.#workers.some(hasEnded);
  }

  /** Ends the job, done or not, and waits for those who are in it. */
  end(): void {
    const int = this.#int;
    Atomics.store(int, at.LIMIT, -1);
    Atomics.notify(int, at.LIMIT);
    let inside = Atomics.add(int, at.GATE, at.CLOSED) + at.CLOSED;
    this.#job = undefined;
    while (inside !== at.CLOSED) {
      const state = Atomics.wait(int, at.GATE, inside, LIVENESS_MS);
      inside = Atomics.load(int, at.GATE);
      if (state === 'timed-out' && inside !== at.CLOSED && this.#workers.some(hasEnded)) {
        this.#broken = true;
        return;
      }
    }
  }

  /** Sends the workers home; does not wait for them. */
  close(): void {
    Atomics.store(this.#int, at.STOP, 1);
    Atomics.add(this.#int, at.GENERATION, 1);
    Atomics.notify(this.#int, at.GENERATION);
  }

  /** At the end of the process: a worker that is terminated while it loads koffi takes the process down with it. */
  readonly #leave = (): void => {
    const end = performance.now() + LEAVE_MS;
    const loaded = (): number => this.ready + Atomics.load(this.#int, at.FAILED);
    while (loaded() < this.#workers.length && performance.now() < end) Atomics.wait(this.#int, at.READY, this.ready, 1);
  };

  #spawn(koffi: string, k: number): Worker {
    const data: at.ThreadData = { control: this.#int.buffer as SharedArrayBuffer, koffi, library: this.#library };
    const { Worker } = nodeModule('node:worker_threads');
    const worker = new Worker(at.THREAD_CODE, {
      eval: true,
      workerData: data,
      // The program needs no loaders of its parent, which would only make its start slow.
      execArgv: [],
      env: {},
      name: `tsamba-copy-${k + 1}`,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
    });
    worker.unref();
    worker.on('error', (error) => {
      warn(`a thread for large copies failed: ${error.message}`, WARNING);
    });
    worker.on('exit', () => {
      if (++this.#exited === this.#workers.length) process.off('exit', this.#leave);
    });
    return worker;
  }
}

/** Whether a worker's thread is over, also when its 'exit' event has had no chance to be delivered: its loop reports -1. */
function hasEnded(worker: Worker): boolean {
  return worker.threadId < 0 || (worker.performance?.eventLoopUtilization?.().idle ?? 0) < 0;
}
