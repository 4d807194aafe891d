/**
 * Runs the threads of one block: one after another up to a barrier or their end, then the next stretch.
 *
 * Finds threads that do not meet at one barrier, and threads that wait in loops for something that will never happen.
 */
import type { Value } from '../../compiler/ir/evaluate.ts';
import { exchangeLanes, WARP_SIZE } from '../../compiler/ir/warp.ts';
import type { Dim3 } from '../driver.ts';
import { coordinates, describePosition, HELP } from '../launch-errors.ts';
import { Exchange, Pause, type Runtime, type Stop, Vote } from './runtime.ts';

type Index = { readonly x: number; readonly y: number; readonly z: number };
/** Ends with true after an explicit `return`. */
export type ThreadGenerator = Generator<Stop, boolean | undefined, Value>;
/** A simulated kernel: runs one thread, at once or up to its stops. */
export type ThreadFunction = (threadIdx: Index, blockIdx: Index) => ThreadGenerator | boolean | undefined;

interface Thread {
  readonly number: number;
  readonly steps: ThreadGenerator;
  stop: Stop | undefined;
  /** What the next step is given: the result of a vote. */
  answer: Value;
  /** Fell off the end of the kernel, as opposed to returning. */
  fell: boolean;
}

/** All indices of a shape, x fastest. */
export function indices(shape: Dim3): Index[] {
  const [nx, ny, nz] = shape;
  const all: Index[] = [];
  for (let z = 0; z < nz; z++) {
    for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) all.push({ x, y, z });
  }
  return all;
}

/** Threads that never stop on their way. */
export function runStraight(fn: ThreadFunction, runtime: Runtime, threads: readonly Index[], block: Index): void {
  for (let thread = 0; thread < threads.length; thread++) {
    runtime.thread = thread;
    fn(threads[thread] as Index, block);
  }
}

/** Threads that may stop at barriers and in waiting loops. */
export function runInPhases(fn: ThreadFunction, runtime: Runtime, threads: readonly Index[], block: Index): void {
  let running: Thread[] = threads.map((index, number) => {
    runtime.thread = number;
    return { number, steps: fn(index, block) as ThreadGenerator, stop: undefined, answer: 0, fell: false };
  });
  const fallen: Thread[] = [];
  while (running.length > 0) {
    runPhase(running, runtime);
    fallen.push(...running.filter((thread) => thread.fell));
    running = running.filter((thread) => thread.stop !== undefined);
    if (running.length === 0) return;
    meet(running, fallen, runtime);
    runtime.beginPhase();
  }
}

/** Takes every thread to its next barrier or its end. */
function runPhase(threads: readonly Thread[], runtime: Runtime): void {
  let todo = threads;
  const states = new Map<Thread, Pause>();
  while (todo.length > 0) {
    runtime.changes = 0;
    for (const thread of todo) step(thread, runtime);
    const paused = todo.filter((thread) => thread.stop instanceof Pause);
    // When nobody got anywhere and nothing changed, nothing ever will: all that threads do is determined.
    const stuck = runtime.watching && runtime.changes === 0 && paused.length === todo.length;
    if (stuck && paused.every((thread) => sameState(states.get(thread), thread.stop as Pause))) {
      deadlock(paused, threads, runtime);
    }
    for (const thread of paused) states.set(thread, thread.stop as Pause);
    runtime.watching = paused.length > 0;
    const met = meetInWarps(threads, runtime);
    todo = met.size > 0 ? threads.filter((thread) => thread.stop instanceof Pause || met.has(thread)) : paused;
    if (todo.length === 0) refuseLoneLanes(threads, runtime);
  }
}

/** Threads whose lanes have all come to the same exchange get its result. */
function meetInWarps(threads: readonly Thread[], runtime: Runtime): ReadonlySet<Thread> {
  const warps = new Map<number, Thread[]>();
  for (const thread of threads) {
    if (thread.stop === undefined) continue;
    const warp = Math.floor(thread.number / WARP_SIZE);
    const lanes = warps.get(warp);
    if (lanes === undefined) warps.set(warp, [thread]);
    else lanes.push(thread);
  }
  const met = new Set<Thread>();
  for (const [warp, lanes] of warps) {
    for (const { stop } of lanes) {
      if (!(stop instanceof Exchange)) continue;
      const { site, fn, mask } = stop;
      const here = (thread: Thread): boolean =>
        thread.stop instanceof Exchange && thread.stop.site === site && !met.has(thread);
      const named = lanes.filter((thread) => (mask >>> (thread.number % WARP_SIZE)) & 1);
      // `activeMask` waits for nobody.
      const group = fn === 'activeMask' ? named.filter(here) : named;
      if (group.length === 0 || !group.every(here)) continue;
      const entries = group.map((thread) => ({
        lane: thread.number % WARP_SIZE,
        args: (thread.stop as Exchange).args,
      }));
      const results = exchangeLanes(fn, entries);
      group.forEach((thread, k) => {
        thread.answer = results[k] ?? 0;
      });
      for (const thread of group) met.add(thread);
      if (fn !== 'activeMask') runtime.beginRound(warp);
    }
  }
  return met;
}

/** Nobody goes on, and some wait for lanes of their warp that stand elsewhere. */
function refuseLoneLanes(threads: readonly Thread[], runtime: Runtime): void {
  const lone = threads.filter((thread) => thread.stop instanceof Exchange);
  const [first] = lone;
  if (first === undefined) return;
  runtime.thread = first.number;
  runtime.fail(
    (first.stop as Exchange).site,
    `divergent exchange: ${count(lone.length)} for lanes of the warp that never arrive; the first one waiting is`,
    'all lanes in the mask must reach the same call: pass a mask of those that do, as from cuda.activeMask() or ballotSync',
  );
}

function step(thread: Thread, runtime: Runtime): void {
  runtime.thread = thread.number;
  const { done, value } = thread.steps.next(thread.answer);
  if (done) {
    thread.stop = undefined;
    thread.fell = value !== true;
  } else {
    thread.stop = value;
  }
}

function sameState(before: Pause | undefined, now: Pause): boolean {
  if (before === undefined || before.site !== now.site) return false;
  return before.state.every((value, i) => Object.is(value, now.state[i]));
}

/** All threads that go on must stand at one barrier, and none may have run past it. */
function meet(waiting: readonly Thread[], fallen: readonly Thread[], runtime: Runtime): void {
  const bySite = new Map<number, Thread[]>();
  for (const thread of waiting) {
    const site = siteOf(thread.stop as Stop);
    const group = bySite.get(site);
    if (group === undefined) bySite.set(site, [thread]);
    else group.push(thread);
  }
  if (bySite.size > 1 || fallen.length > 0) diverge(bySite, fallen, runtime);
  const [first] = waiting;
  if (!(first?.stop instanceof Vote)) return;
  const ayes = waiting.filter((thread) => (thread.stop as Vote).pred).length;
  const { kind } = first.stop;
  const answer = kind === 'count' ? ayes : Number(kind === 'and' ? ayes === waiting.length : ayes > 0);
  for (const thread of waiting) thread.answer = answer;
}

function siteOf(stop: Stop): number {
  return typeof stop === 'number' ? stop : stop.site;
}

function diverge(bySite: Map<number, Thread[]>, fallen: readonly Thread[], runtime: Runtime): never {
  const groups = [...bySite].map(([site, threads]) => {
    const pos = runtime.sites[site]?.pos;
    return `${count(threads.length)} at the barrier of ${pos === undefined ? '?' : describePosition(pos)}`;
  });
  const ended =
    fallen.length === 0 ? '' : `, ${fallen.length} ${fallen.length === 1 ? 'has' : 'have'} ended without it`;
  const [site, threads] = [...bySite][0] as [number, Thread[]];
  runtime.thread = threads[0]?.number ?? 0;
  runtime.fail(site, `divergent barrier: ${groups.join(', ')}${ended}; the first one waiting is`);
}

function deadlock(paused: readonly Thread[], all: readonly Thread[], runtime: Runtime): never {
  const [first] = paused;
  const site = siteOf((first as Thread).stop as Stop);
  const waiting = all.filter((thread) => thread.stop !== undefined && !(thread.stop instanceof Pause));
  const stand = waiting[0];
  const other =
    stand === undefined
      ? ''
      : `, and ${count(waiting.length)} at a barrier (first: thread ${coordinates(runtime.shape.block, stand.number)})`;
  runtime.thread = first?.number ?? 0;
  const loops = paused.length === 1 ? '1 thread loops' : `${paused.length} threads loop`;
  runtime.fail(
    site,
    `deadlock: ${loops} for something that no thread will change${other}; the first one looping is`,
    HELP.deadlock,
  );
}

function count(n: number): string {
  return n === 1 ? '1 thread waits' : `${n} threads wait`;
}
