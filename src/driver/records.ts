/**
 * What kernels leave in device memory for the host: fault records and printed values, read when somebody synchronises. The same
 * for all drivers whose kernels run by themselves; how memory is read is the driver's.
 *
 * Only modules that can fault or print, and that have been launched since they were last looked at, cost anything here. Their
 * launches are remembered until then, so that a fault can name its launch, and be thrown on the stream that it belongs to.
 */
import type { Kernel } from '../compiler/ir/ops.ts';
import { FAULT_RECORD_BYTES, PRINT_BYTES, PRINT_HEADER } from '../compiler/render/ptx/module.ts';
import type { FaultSite, PrintSite } from '../compiler/render/sites.ts';
import { type DriverError, withStackDepth } from '../errors.ts';
import type { Dim3, LaunchShape } from './driver.ts';
import { faultAt } from './fault-message.ts';
import { FaultLog, type Moment } from './faults.ts';
import { printed } from './printed.ts';

/** Launches of one module after which its stream is waited for, to look at its records. */
const MANY_LAUNCHES = 1024;

/** Waits of one stream for one other that are kept apart; more are taken together, and then some work is said to rest on more than it does. */
const MANY_WAITS = 64;

/** A wait of one stream for another, by position; how far the other had got is the mark. */
interface Waited {
  readonly since: number;
  readonly mark: Moment;
}

/** What is asked of a driver's streams. */
export interface RecordStream<S> {
  readonly alive: boolean;
  /** Other streams that this one has waited for: what failed there is a fault of this one as well. */
  readonly waitedFor: WaitedFor<S>;
}

/** The waits of a stream for others, in order. */
export type WaitedFor<S> = Map<S, Waited[]>;

/** Notes, at a position, that a stream waits for a mark in another. */
export function noteWait<S>(waitedFor: WaitedFor<S>, other: S, mark: Moment, since: number): void {
  const waits = waitedFor.get(other);
  if (waits === undefined) {
    waitedFor.set(other, [{ since, mark }]);
    return;
  }
  waits.push({ since, mark });
  const [first] = waits;
  if (waits.length <= MANY_WAITS || first === undefined) return;
  const together = { position: mark.position, told: first.mark.told };
  waits.splice(0, waits.length, { since: first.since, mark: together });
}

/** How a driver reads and clears records. `at` is where they start; the default stream, undefined, comes after all others. */
export interface RecordMemory<S, At> {
  /** The device does not answer any more. */
  readonly lost: boolean;
  isDefault(stream: S): boolean;
  isBusy(stream: S): boolean;
  /** Waits for all work of the device. */
  waitForAll(): void;
  read(into: Uint8Array, at: At, offset: number, stream: S | undefined): void;
  zero(at: At, bytes: number, stream: S | undefined): void;
}

/** A launch whose records have not been looked at. */
export interface Launched<S> {
  readonly number: number;
  readonly stream: S;
  readonly shape: LaunchShape;
  /** Holds the stack of the launch, of checked kernels. */
  readonly site: { readonly stack?: string } | undefined;
}

/** A loaded module that can fault or print. */
export interface Watched<S, At> {
  readonly kernel: Kernel;
  readonly sites: readonly FaultSite[];
  readonly printSites: readonly PrintSite[];
  /** Where its records are; undefined where it has none. */
  readonly faultsAt: At | undefined;
  readonly printsAt: At | undefined;
  readonly launches: Launched<S>[];
}

/** The records of all modules of a device. */
export class LaunchRecords<S extends RecordStream<S>, At> {
  readonly log: FaultLog = new FaultLog();
  readonly #memory: RecordMemory<S, At>;
  readonly #dirty = new Set<Watched<S, At>>();
  readonly #fault: Uint8Array;

  constructor(memory: RecordMemory<S, At>) {
    this.#memory = memory;
    this.#fault = new Uint8Array(new ArrayBuffer(128), 0, FAULT_RECORD_BYTES);
  }

  /** Whether anything has been launched that has not been looked at. */
  get pending(): boolean {
    return this.#dirty.size > 0;
  }

  /** Remembers a launch that is about to be made, and gives its number. */
  note(module: Watched<S, At>, shape: LaunchShape, stream: S, launch: (...args: never[]) => unknown): number {
    if (module.launches.length >= MANY_LAUNCHES) this.#catchUp(module);
    const number = this.log.advance();
    const { grid, block, sharedBytes } = shape;
    module.launches.push({
      number,
      stream,
      shape: { grid: copyOf(grid), block: copyOf(block), sharedBytes },
      site: module.kernel.checked ? siteOf(launch) : undefined,
    });
    this.#dirty.add(module);
    return number;
  }

  /** The module is about to be unloaded: what it has left is looked at now, or never. */
  forget(module: Watched<S, At>): void {
    if (module.launches.length > 0 && !this.#memory.lost) this.#catchUp(module);
    this.#dirty.delete(module);
  }

  /**
   * Prints and posts what kernels have left. The stream (undefined: every stream) has run dry as far as a position. Streams that it
   * waited for have got as far as their marks.
   */
  collect(stream: S | undefined, before: number = this.log.now.position): void {
    if (this.#dirty.size > 0 && !this.#memory.lost) {
      for (const module of this.#dirty) this.#look(module, stream, before);
    }
    if (stream === undefined || stream.waitedFor.size === 0) return;
    for (const [other, waits] of [...stream.waitedFor]) {
      const from = this.#memory.isDefault(other) ? undefined : other;
      const left = waits.filter(({ since }) => since > before);
      if (left.length > 0) stream.waitedFor.set(other, left);
      else stream.waitedFor.delete(other);
      for (const { since, mark } of waits) {
        if (since > before) break;
        this.collect(from, mark.position);
        this.log.follow(from, mark, stream, since);
      }
    }
  }

  #catchUp(module: Watched<S, At>): void {
    this.#memory.waitForAll();
    this.#look(module, undefined, this.log.now.position);
  }

  #look(module: Watched<S, At>, stream: S | undefined, before: number): void {
    const { launches } = module;
    const done = launches.filter((each) => (stream === undefined || each.stream === stream) && each.number <= before);
    if (done.length === 0) return;
    // The default stream comes after one that is gone.
    const on = stream?.alive === true ? stream : undefined;
    if (module.printsAt !== undefined && this.#allDone(launches, done)) this.#print(module, module.printsAt, on);
    if (module.faultsAt !== undefined) this.#readFault(module, module.faultsAt, on, done);
    const left = launches.filter((each) => !done.includes(each));
    launches.splice(0, launches.length, ...left);
    if (left.length === 0) this.#dirty.delete(module);
  }

  /** Whether nobody prints any more, apart from launches that come later. */
  #allDone(launches: readonly Launched<S>[], done: readonly Launched<S>[]): boolean {
    const streams = new Set(launches.filter((each) => !done.includes(each)).map((each) => each.stream));
    return ![...streams].some((stream) => stream.alive && this.#memory.isBusy(stream));
  }

  #readFault(module: Watched<S, At>, at: At, on: S | undefined, done: readonly Launched<S>[]): void {
    const bytes = this.#fault;
    this.#memory.read(bytes, at, 0, on);
    const view = new DataView(bytes.buffer);
    const site = view.getUint32(0, true);
    const number = view.getUint32(4, true);
    if (site === 0) return;
    const launch = done.find((each) => each.number === number);
    // Of a stream that has not run dry yet: whoever waits for that one will see it.
    if (launch === undefined) return;
    const error = faultAt(module.kernel, launch.shape, module.sites, {
      site: site - 1,
      thread: view.getUint32(8, true),
      block: Number(view.getBigUint64(16, true)),
      index: view.getBigInt64(24, true),
      extent: view.getBigInt64(32, true),
    });
    this.log.post(withSite(error, launch.site), launch.stream, launch.number);
    this.#memory.zero(at, FAULT_RECORD_BYTES, on);
  }

  #print(module: Watched<S, At>, at: At, on: S | undefined): void {
    const header = new Uint8Array(new ArrayBuffer(128), 0, PRINT_HEADER);
    this.#memory.read(header, at, 0, on);
    const taken = new DataView(header.buffer).getUint32(0, true);
    if (taken === 0) return;
    const room = PRINT_BYTES - PRINT_HEADER;
    const bytes = new Uint8Array(Math.min(taken, room));
    this.#memory.read(bytes, at, PRINT_HEADER, on);
    this.#memory.zero(at, PRINT_HEADER + bytes.length, on);
    for (const line of printedLines(module.printSites, bytes)) console.log(...line);
    if (taken > room) console.log(`… and ${taken - room} more bytes of output, which did not fit`);
  }
}

/** The arguments of `console.log` for each record in a print buffer, in the order in which threads took room. */
export function* printedLines(prints: readonly PrintSite[], bytes: Uint8Array): Generator<readonly unknown[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  while (at + 16 <= bytes.length) {
    const site = prints[view.getUint32(at, true) - 1];
    // Not written: the thread was stopped in between, or its record did not fit.
    if (site === undefined) return;
    const slots = site.parts.filter((part) => typeof part !== 'string').length;
    if (at + 16 + 8 * slots > bytes.length) return;
    yield printed(site, new DataView(view.buffer, view.byteOffset + at + 16, 8 * slots));
    at += 16 + 8 * slots;
  }
}

function copyOf([x, y, z]: Dim3): Dim3 {
  return [x, y, z];
}

function siteOf(launch: (...args: never[]) => unknown): { readonly stack?: string } {
  const site: { stack?: string } = {};
  withStackDepth(50, () => Error.captureStackTrace(site, launch));
  return site;
}

/** Gives a fault the stack of its launch. */
function withSite(error: DriverError, site: Launched<unknown>['site']): DriverError {
  const stack = site?.stack;
  const frames = stack?.indexOf('\n    at ') ?? -1;
  if (stack !== undefined && frames >= 0) error.stack = `${error.name}: ${error.message}${stack.slice(frames)}`;
  return error;
}
