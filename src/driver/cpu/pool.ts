/**
 * Threads that run the blocks of a launch together with the caller.
 *
 * The caller opens a gate, wakes workers, takes chunks of blocks itself, closes the gate and waits for those who are inside.
 * A worker counts from the moment it passes the open gate, so one that is still starting, or gone, is never waited for, and
 * one that comes late helps with what is left. Workers start at the first job and do not keep the process alive.
 *
 * A detached job is the workers' alone: the caller only opens the gate, and the last worker closes it. One more worker stands in for
 * the caller then. What becomes of such a job is `detached.ts`.
 */
import { DriverError } from '../../errors.ts';
import { warn } from '../../host/index.ts';
import { startThread, type Thread } from '../../host/start-thread.ts';
import { mayBlock, whyNoThreads } from '../../host/threads.ts';
import type { WasmCode, WasmMemory } from './webassembly.ts';
import * as at from './worker-code.ts';
import { AWAKE_MS } from './worker-facts.ts';

/** One launch for the pool: blocks 0 … total-1 of a registered module. */
export interface Job {
  readonly module: number;
  readonly total: number;
  readonly record: number;
  /** Scratch of the caller; thread n has its own `n * stride` bytes further on. */
  readonly scratch: number;
  readonly stride: number;
  /** Fewer blocks than this are not worth a chunk of their own. */
  readonly grain: number;
  readonly run: (firstBlock: number, endBlock: number, record: number | bigint, scratch: number | bigint) => number;
}

/** How a thread failed: a site (what `run` returned, minus one) or an exception. Thread 0 is the caller. */
export interface ThreadFault {
  readonly thread: number;
  readonly site: number;
  readonly error: string | undefined;
}

interface Member {
  readonly worker: Thread;
  readonly slot: number;
}

/** As `Atomics.wait`. */
type Wait = (int: Int32Array, index: number, value: number, milliseconds: number) => void;

const WARNING = { type: 'TsambaWarning', code: 'TSAMBA_THREADS' };
/** A chunk is an eighth of what its range has left: threads finish at about the same time. */
const SHIFT = 3;
/** Of a detached job: its progress is told by chunks, and it can be stopped between them. */
const DETACHED_SHIFT = 6;
const MAX_GRAIN = 2 ** 20;
/** Loads of the gate between two looks at the clock: a few microseconds. */
const SPINS = 500;
const LIVENESS_MS = 500;
const MAX_REPLACEMENTS = 8;
const NO_WORKERS =
  "its workers cannot be started (is there a content security policy? It must have worker-src 'self' blob:)";

/** The worker threads over one memory. */
export class ThreadPool {
  readonly threads: number;
  readonly #memory: WasmMemory;
  readonly #memory64: boolean;
  readonly #int: Int32Array;
  readonly #float: Float64Array;
  readonly #modules = new Map<number, WasmCode>();
  #members: Member[] = [];
  #started = false;
  #detachedStarted = false;
  #broken = false;
  #ending: readonly Member[] = [];
  #nextModule = 1;
  #replacements = 0;
  /** When the last job that the caller took part in was over. */
  #ended = 0;

  /** `threads` counts the caller. */
  constructor(threads: number, memory: WasmMemory, memory64: boolean) {
    this.threads = threads;
    this.#memory = memory;
    this.#memory64 = memory64;
    const bytes = at.controlBytes(threads);
    const control = whyNoThreads() === undefined ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
    this.#int = new Int32Array(control);
    this.#float = new Float64Array(control, 0, at.REPORTS / 8);
    this.#int[at.GATE] = at.CLOSED;
    this.#int[at.MEMORY64] = memory64 ? 1 : 0;
  }

  /** Workers that have come up so far. */
  get ready(): number {
    return Atomics.load(this.#int, at.READY);
  }

  /** The workers, for tests of what happens when one goes away. */
  get workers(): readonly Thread[] {
    return this.#members.map((member) => member.worker);
  }

  /** Makes a module known to all threads; the number names it in jobs. */
  register(module: WasmCode): number {
    const id = this.#nextModule++;
    this.#modules.set(id, module);
    this.#tell({ id, module });
    return id;
  }

  forget(id: number): void {
    this.#modules.delete(id);
    this.#tell({ id });
  }

  #tell(message: object): void {
    for (const { worker } of this.#members) worker.post(message);
    Atomics.add(this.#int, at.POSTED, 1);
  }

  /** Starts the workers; the first job does so by itself. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    for (let slot = 1; slot < this.threads; slot++) {
      const error = this.#enlist(slot);
      if (error === undefined) continue;
      warn(`the CPU device runs on ${slot} of ${this.threads} threads: ${error}`, WARNING);
      return;
    }
  }

  /** Adds a worker; why there can be none. */
  #enlist(slot: number): string | undefined {
    try {
      this.#members.push(this.#spawn(slot));
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Blocks until `count` workers have come up, or the time is over; the number that have. */
  awaitReady(count: number, milliseconds: number): number {
    this.start();
    const end = performance.now() + milliseconds;
    for (;;) {
      const { ready } = this;
      const left = end - performance.now();
      if (ready >= count || left <= 0) return ready;
      Atomics.wait(this.#int, at.READY, ready, left);
    }
  }

  /** Runs a job to its end on all threads; the faults, by thread. */
  run(job: Job): ThreadFault[] {
    this.start();
    const int = this.#int;
    this.#write(job, job.grain, SHIFT);
    int[at.IS_DETACHED] = 0;
    int[at.AWAKE] = performance.now() - this.#ended < AWAKE_MS ? 1 : 0;
    Atomics.store(int, at.GATE, 0);
    Atomics.add(int, at.GENERATION, 1);
    Atomics.notify(int, at.GENERATION);
    const faults: ThreadFault[] = [];
    try {
      const code = this.#takeChunks(job);
      if (code !== 0) faults.push({ thread: 0, site: code - 1, error: undefined });
    } catch (error) {
      Atomics.store(int, at.END, 0);
      const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      faults.push({ thread: 0, site: -1, error: text });
    } finally {
      this.#close();
    }
    this.#ended = performance.now();
    if (Atomics.load(int, at.FAULTED) !== 0) this.#collect(faults);
    return faults;
  }

  #write(job: Job, grain: number, shift: number): void {
    const [int, { threads }] = [this.#int, this];
    const { total } = job;
    int[at.TOTAL] = total;
    int[at.GRAIN] = Math.min(grain, Math.ceil(total / threads), MAX_GRAIN);
    int[at.SHIFT] = shift;
    for (let range = 0; range < threads; range++)
      int[at.rangeSlot(range, threads)] = at.rangeStart(range, threads, total);
    int[at.MODULE] = job.module;
    int[at.FAULTED] = 0;
    this.#float[at.RECORD] = job.record;
    this.#float[at.SCRATCH] = job.scratch;
    this.#float[at.STRIDE] = job.stride;
    Atomics.store(int, at.END, total);
  }

  // ---------------------------------------------------------------- detached jobs

  /** Begins a job that the workers do without the caller, in `limit` milliseconds (0: any time). False where there are no workers. */
  detach(job: Job, limit: number): boolean {
    this.start();
    if (!this.#detachedStarted) {
      this.#detachedStarted = true;
      this.#enlist(this.threads);
    }
    if (this.#members.length === 0) return false;
    const int = this.#int;
    this.#write(job, 1, DETACHED_SHIFT);
    int[at.IS_DETACHED] = 1;
    int[at.AWAKE] = 0;
    int[at.LIMIT] = limit;
    int[at.STARTED] = 0;
    int[at.TIMED_OUT] = 0;
    int[at.DONE] = 0;
    Atomics.store(int, at.GATE, at.DETACHED);
    for (const calls of [at.GENERATION, at.DETACHED_GENERATION]) {
      Atomics.add(int, calls, 1);
      Atomics.notify(int, calls);
    }
    return true;
  }

  /** Whether a detached job is under way. */
  get busy(): boolean {
    return Atomics.load(this.#int, at.GATE) !== at.CLOSED;
  }

  /** Whether a worker has gone away during a detached job, which is never over then. */
  get broken(): boolean {
    return this.#broken || this.#members.some(hasEnded);
  }

  /** Blocks of a detached job that are done. */
  get done(): number {
    return Atomics.load(this.#int, at.DONE);
  }

  /** Whether the workers have run out of time. */
  get timedOut(): boolean {
    return Atomics.load(this.#int, at.TIMED_OUT) !== 0;
  }

  /** Milliseconds since the first worker began; 0 before. */
  get runtime(): number {
    const started = Atomics.load(this.#int, at.STARTED);
    return started === 0 ? 0 : (at.clock() - started) | 0;
  }

  /** Takes a detached job back that no worker has joined yet; false where one has. */
  reclaim(): boolean {
    return Atomics.compareExchange(this.#int, at.GATE, at.DETACHED, at.CLOSED) === at.DETACHED;
  }

  /** Whether all workers have turned out not to start. */
  get unmanned(): boolean {
    return this.#members.length === 0;
  }

  /** Looks at the gate for some microseconds: short jobs are over then. */
  spin(): void {
    for (let spin = 0; spin < SPINS && this.busy; spin++);
  }

  /** Sleeps until somebody leaves a detached job, at most so long; looks for some microseconds where this thread may not sleep. */
  sleep(milliseconds: number, wait: Wait = Atomics.wait): void {
    if (!mayBlock()) return this.spin();
    const gate = Atomics.load(this.#int, at.GATE);
    if (gate !== at.CLOSED) wait(this.#int, at.GATE, gate, milliseconds);
  }

  /** Nobody takes another chunk. */
  halt(): void {
    Atomics.store(this.#int, at.END, 0);
  }

  /** The faults of a detached job that is over. */
  takeFaults(): readonly ThreadFault[] {
    const faults: ThreadFault[] = [];
    if (Atomics.load(this.#int, at.FAULTED) !== 0) this.#collect(faults);
    return faults;
  }

  /** Ends the workers wherever they are, and the pool with them; resolves when they are gone. */
  async terminate(): Promise<void> {
    this.#ending = this.#members;
    this.stop();
    await Promise.all(this.#ending.map(({ worker }) => worker.terminate()));
  }

  /** Whether workers that were terminated are known to be gone; the event loop learns of that too, if it gets a turn. */
  get ended(): boolean {
    return this.#ending.every(hasEnded);
  }

  /** Ends the workers. A pool must not be used afterwards. */
  stop(): void {
    Atomics.store(this.#int, at.STOP, 1);
    Atomics.add(this.#int, at.GENERATION, 1);
    Atomics.notify(this.#int, at.GENERATION);
    for (const { worker } of this.#members) worker.close();
    this.#members = [];
    this.#modules.clear();
  }

  /** As the workers do (`work`): what `run` returned for the first block that failed here, or 0. */
  #takeChunks({ run, total, ...job }: Job): number {
    const [int, { threads }] = [this.#int, this];
    const record = this.#memory64 ? BigInt(job.record) : job.record;
    const scratch = this.#memory64 ? BigInt(job.scratch) : job.scratch;
    const [grain, shift] = [int[at.GRAIN] ?? 1, int[at.SHIFT] ?? 0];
    let failed = 0;
    for (let range = 0; range < threads; range++) {
      const next = at.rangeSlot(range, threads);
      const last = at.rangeStart(range + 1, threads, total);
      for (;;) {
        const left = last - Atomics.load(int, next);
        const end = Math.min(last, Atomics.load(int, at.END));
        if (last - left >= end) break;
        const size = Math.max(grain, left >> shift);
        const first = Atomics.add(int, next, size);
        if (first >= end) break;
        const code = run(first, Math.min(first + size, last), record, scratch);
        if (code === 0) continue;
        failed = code;
        this.#endBefore(first);
      }
    }
    return failed;
  }

  #endBefore(block: number): void {
    const int = this.#int;
    for (let end = Atomics.load(int, at.END); block < end; ) {
      const seen = Atomics.compareExchange(int, at.END, end, block);
      if (seen === end) return;
      end = seen;
    }
  }

  /** Lets nobody in any more and waits for those inside. */
  #close(): void {
    const int = this.#int;
    if (Atomics.add(int, at.GATE, at.CLOSED) === 0) return;
    const until = performance.now() + AWAKE_MS;
    do {
      for (let spin = 0; spin < SPINS; spin++) if (Atomics.load(int, at.GATE) === at.CLOSED) return;
    } while (performance.now() < until);
    for (;;) {
      const gate = Atomics.load(int, at.GATE);
      if (gate === at.CLOSED) return;
      if (!mayBlock() || Atomics.wait(int, at.GATE, gate, LIVENESS_MS) !== 'timed-out') continue;
      // A worker that was ended from outside cannot leave the job; a long kernel is no reason for alarm.
      if (this.#members.some(hasEnded) && Atomics.load(int, at.GATE) !== at.CLOSED) {
        this.stop();
        throw workerDied();
      }
    }
  }

  #collect(faults: ThreadFault[]): void {
    for (let thread = 1; thread <= this.threads; thread++) {
      const report = new DataView(this.#int.buffer, at.REPORTS + (thread - 1) * at.REPORT_BYTES, at.REPORT_BYTES);
      const code = report.getInt32(0, true);
      if (code === 0) continue;
      report.setInt32(0, 0, true);
      let error: string | undefined;
      if (code < 0) {
        error = '';
        for (let i = 0; i < report.getInt32(4, true); i++)
          error += String.fromCharCode(report.getUint16(8 + 2 * i, true));
      }
      // Who stands in for the caller has the caller's scratch.
      faults.push({ thread: thread % this.threads, site: code < 0 ? -1 : code - 1, error });
    }
  }

  /** A worker has ended between two jobs: another takes its place, but not for ever. */
  #replace(member: Member, started: boolean): void {
    const index = this.#members.indexOf(member);
    if (index < 0) return;
    if (!started) {
      this.#members.splice(index, 1);
      if (this.#members.length === 0) warn(`the CPU device runs on one thread: ${NO_WORKERS}`, WARNING);
      return;
    }
    const { slot } = member;
    if (this.busy) this.#broken = true;
    if (slot < this.threads) Atomics.sub(this.#int, at.READY, 1);
    if (this.#replacements++ < MAX_REPLACEMENTS) this.#members[index] = this.#spawn(slot);
    else this.#members.splice(index, 1);
  }

  #spawn(slot: number): Member {
    const worker = startThread({
      name: `tsamba-${slot}`,
      code: { node: at.WORKER_CODE, page: at.PAGE_CODE },
      data: {
        control: this.#int.buffer,
        memory: this.#memory,
        threads: this.threads,
        slot,
        standIn: slot === this.threads,
        modules: Array.from(this.#modules, ([id, module]) => ({ id, module })),
        heard: Atomics.load(this.#int, at.POSTED),
      },
      onError: (error) => warn(`a worker thread of the CPU device failed: ${error.message}`, WARNING),
      onExit: (started) => this.#replace(member, started),
    });
    const member: Member = { worker, slot };
    return member;
  }
}

/** What a launch fails with when a worker that ran it has been ended from outside. */
export function workerDied(): DriverError {
  return new DriverError(
    'E_WORKER_DIED',
    'a worker thread of the CPU device ended while it ran a kernel; what the kernel wrote is undefined: run it again',
    { api: 'launch' },
  );
}

function hasEnded({ worker }: Member): boolean {
  return worker.ended;
}
