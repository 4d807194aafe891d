/**
 * The control block that the threads of the CPU device share, and the program that its worker threads run.
 *
 * The program is a string: so it needs no file that a bundler could lose or that would have to be compiled first, and is the same from
 * sources and from dist. It sleeps in Atomics.wait. In Node.js it never returns to its event loop, and takes new modules from its port
 * when a job names one that it has not seen; workers of pages have no such port, and return to the loop where messages are under way.
 */
import { STARTED as THREAD_STARTED } from '../../host/start-thread.ts';
import { AWAKE_MS } from './worker-facts.ts';

/** Int32 slots; those that change during a job stand in cache lines of their own. */
export const GENERATION = 0;
/** Number of workers in the job while open, plus `CLOSED` when no more may join, plus `DETACHED` when the caller is not one of them. */
export const GATE = 16;
/** Blocks from this one on are not handed out: the total, less when one has failed, 0 to stop. */
export const END = 32;
export const TOTAL = 48;
/** A chunk is the blocks that a range has left, shifted right by `SHIFT`, but at least `GRAIN` of them. */
export const GRAIN = 49;
export const SHIFT = 59;
/** Whether workers look out for another job for a while before they go to sleep. */
export const AWAKE = 61;
export const MODULE = 50;
export const MEMORY64 = 51;
/** Set by whoever fails: there are reports. */
export const FAULTED = 52;
export const STOP = 53;
/** Workers that have come up, those that only do detached jobs not among them. */
export const READY = 54;
/** Of a detached job: the milliseconds that it may take, 0 for any time; when the first worker began (`clock`, never 0). */
export const LIMIT = 55;
export const STARTED = 56;
/** Whether the job is a detached one. */
export const IS_DETACHED = 58;
/** Set by a worker that has run out of time. */
export const TIMED_OUT = 57;
/** Blocks of a detached job that are done. */
export const DONE = 80;
/** Counts detached jobs, for the worker that does no others. */
export const DETACHED_GENERATION = 96;
/** Counts the messages that each worker has been sent; workers of pages must return to their event loop for them. */
export const POSTED = 60;
/** Float64 slots. */
export const RECORD = 32;
export const SCRATCH = 33;
export const STRIDE = 34;

export const CLOSED = -0x40000000;
export const DETACHED = 0x100000;

/** Milliseconds by which all threads can tell how long something takes; wraps. */
export function clock(): number {
  return Date.now() | 0 || 1;
}

/** Byte offset and size of the reports: one for each worker, what `run` returned (Int32) or -1, then an error's text. */
export const REPORTS = 512;
export const REPORT_BYTES = 1024;

/**
 * The Int32 slot of the next block of a range, in a cache line of its own. The blocks of a job are as many ranges as there are threads:
 * thread n begins with range n, in every job, so that its cache has what it left there; then it helps with the others.
 */
export function rangeSlot(range: number, threads: number): number {
  return (REPORTS + threads * REPORT_BYTES) / 4 + 16 * range;
}

/** The first block of a range. */
export function rangeStart(range: number, threads: number, total: number): number {
  return Math.floor((range * total) / threads);
}

/** Bytes of the control block for so many threads. */
export function controlBytes(threads: number): number {
  return 4 * rangeSlot(threads, threads);
}

/** What `WORKER_CODE` begins with in Node.js. */
const NODE_START = `'use strict';
const { workerData, receiveMessageOnPort } = require('node:worker_threads');
const { port } = workerData;
const pending = () => false;
const end = () => port.close();
const runLimited = (run, milliseconds) => {
  limited ??= new (require('node:vm').Script)('limitedJob()');
  globalThis.limitedJob = () => work(run);
  limited.runInThisContext({ timeout: milliseconds });
};
let limited;
function fetchModule(id) {
  const received = receiveMessageOnPort(port);
  if (received === undefined) throw new Error('module ' + id + ' has not arrived');
  take(received.message);
}
begin(workerData);
serve();
`;

/** In a page: the first message is the data. The engine ends no script there. */
const PAGE_START = `'use strict';
let heard;
const pending = () => Atomics.load(int, ${POSTED}) !== heard;
const end = () => close();
const runLimited = (run) => work(run);
function fetchModule(id) {
  throw new Error('module ' + id + ' has not arrived');
}
onmessage = ({ data }) => {
  if (heard === undefined) {
    heard = data.heard;
    begin(data);
  } else {
    heard = (heard + 1) | 0;
    take(data);
  }
  serve();
};
postMessage('${THREAD_STARTED}');
`;

const COMMON = `
var memory, threads, slot, standIn, int, float, ranges, report, math, codes, runs, seen, calls;

function begin(data) {
  ({ memory, threads, slot, standIn } = data);
  const { control } = data;
  int = new Int32Array(control);
  float = new Float64Array(control, 0, ${REPORTS / 8});
  ranges = ${REPORTS / 4} + threads * ${REPORT_BYTES / 4};
  report = new DataView(control, ${REPORTS} + (slot - 1) * ${REPORT_BYTES}, ${REPORT_BYTES});
  math = { exp2: (x) => 2 ** x, rsqrt: (x) => 1 / Math.sqrt(x) };
  for (const name of Object.getOwnPropertyNames(Math)) math[name] = Math[name];
  codes = new Map();
  runs = new Map();
  for (const message of data.modules ?? []) take(message);
  // Generation 0 is never a job, so a worker that comes up late still joins the one that is under way.
  seen = 0;
  calls = standIn ? ${DETACHED_GENERATION} : ${GENERATION};
  if (standIn) return;
  Atomics.add(int, ${READY}, 1);
  Atomics.notify(int, ${READY});
}

function take({ id, module }) {
  if (module !== undefined) return codes.set(id, module);
  codes.delete(id);
  runs.delete(id);
}

function runOf(id) {
  const known = runs.get(id);
  if (known !== undefined) return known;
  while (!codes.has(id)) fetchModule(id);
  const env = { memory, print() {} };
  const { run } = new WebAssembly.Instance(codes.get(id), { env, math }).exports;
  runs.set(id, run);
  return run;
}

// Ends the job before a block.
function endBefore(block) {
  let end = Atomics.load(int, ${END});
  while (block < end) {
    const seen = Atomics.compareExchange(int, ${END}, end, block);
    if (seen === end) return;
    end = seen;
  }
}

function work(run) {
  const total = int[${TOTAL}];
  const grain = int[${GRAIN}];
  const shift = int[${SHIFT}];
  let record = float[${RECORD}];
  // Who stands in for the caller has the caller's scratch.
  let scratch = float[${SCRATCH}] + (standIn ? 0 : slot * float[${STRIDE}]);
  if (int[${MEMORY64}] !== 0) {
    record = BigInt(record);
    scratch = BigInt(scratch);
  }
  for (let k = 0; k < threads; k++) {
    const range = (slot + k) % threads;
    const next = ranges + 16 * range;
    const last = Math.floor(((range + 1) * total) / threads);
    for (;;) {
      const left = last - Atomics.load(int, next);
      const end = Math.min(last, Atomics.load(int, ${END}));
      if (last - left >= end) break;
      const size = Math.max(grain, left >> shift);
      const first = Atomics.add(int, next, size);
      if (first >= end) break;
      const after = Math.min(first + size, last);
      const code = run(first, after, record, scratch);
      if (code !== 0) {
        // What fails later stands before this block, and its report goes in the place of this one.
        report.setInt32(0, code, true);
        Atomics.store(int, ${FAULTED}, 1);
        endBefore(first);
      }
      Atomics.add(int, ${DONE}, after - first);
    }
  }
}

// The engine ends a script that takes too long, also within WebAssembly, and the thread lives on. Modules are not received in it: one
// would be lost if the end came then.
function workWithin(run, limit) {
  const now = Date.now() | 0 || 1;
  const started = Atomics.compareExchange(int, ${STARTED}, 0, now) || now;
  if (limit === 0) return work(run);
  try {
    runLimited(run, Math.max(1, limit - ((now - started) | 0)));
  } catch (error) {
    if (error?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    Atomics.store(int, ${TIMED_OUT}, 1);
    Atomics.store(int, ${END}, 0);
  }
}

function fail(error) {
  const text = String(error instanceof Error ? error.name + ': ' + error.message : error).slice(0, 500);
  report.setInt32(4, text.length, true);
  for (let i = 0; i < text.length; i++) report.setUint16(8 + 2 * i, text.charCodeAt(i), true);
  report.setInt32(0, -1, true);
  Atomics.store(int, ${FAULTED}, 1);
  Atomics.store(int, ${END}, 0);
}

function join() {
  let gate = Atomics.load(int, ${GATE});
  while (gate >= (standIn ? ${DETACHED} : 0)) {
    const seen = Atomics.compareExchange(int, ${GATE}, gate, gate + 1);
    if (seen === gate) return true;
    gate = seen;
  }
  return false;
}

function leave() {
  const left = Atomics.sub(int, ${GATE}, 1) - 1;
  if (left === ${CLOSED}) Atomics.notify(int, ${GATE});
  // The last one to leave a detached job closes the gate; there is no work left, or nobody would leave.
  if (left === ${DETACHED} && Atomics.compareExchange(int, ${GATE}, left, ${CLOSED}) === left) Atomics.notify(int, ${GATE});
}

// Where jobs come one after another the next one finds this thread awake.
function lookOut() {
  const until = performance.now() + ${AWAKE_MS};
  do {
    for (let looks = 0; looks < 64; looks++) if (Atomics.load(int, calls) !== seen) return;
  } while (performance.now() < until);
}

function serve() {
  while (Atomics.load(int, ${STOP}) === 0) {
    const generation = Atomics.load(int, calls);
    if (generation === seen) {
      Atomics.wait(int, calls, seen);
      continue;
    }
    // What a job needs was sent before it was announced.
    if (pending()) return;
    seen = generation;
    if (!join()) continue;
    try {
      const run = runOf(Atomics.load(int, ${MODULE}));
      if (int[${IS_DETACHED}] === 0) work(run);
      else workWithin(run, int[${LIMIT}]);
    } catch (error) {
      fail(error);
    } finally {
      leave();
    }
    if (int[${AWAKE}] !== 0) lookOut();
  }
  end();
}
`;

export const WORKER_CODE: string = NODE_START + COMMON;
/** The same for workers of a page. */
export const PAGE_CODE: string = PAGE_START + COMMON;
