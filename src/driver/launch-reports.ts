/**
 * What kernels leave in device memory for the host: fault records and printed values, read when somebody synchronises. The same
 * for all drivers whose kernels run by themselves; how memory is read is the driver's.
 *
 * Only modules that can fault or print, and that have been launched since they were last looked at, cost anything here. Their
 * launches are remembered until then, so that a fault can name its launch, and be thrown on the stream that it belongs to.
 */
import type { Kernel } from '../compiler/ir/ops.ts';
import { FAULT, FAULTS, PRINT, PRINTS } from '../compiler/render/reports.ts';
import type { FaultSite, PrintSite } from '../compiler/render/sites.ts';
import { type DriverError, withStackDepth } from '../errors.ts';
import type { Dim3, LaunchShape } from './driver.ts';
import { faultAt, readFault } from './fault-message.ts';
import { FaultLog, type Moment } from './faults.ts';
import { printed } from './printed.ts';

/** Waits of one stream for one other that are kept apart; more are taken together, and then some work is said to rest on more than it does. */
const MANY_WAITS = 64;

/** A wait of one stream for another, by position; how far the other had got is the mark. */
interface Waited {
  readonly since: number;
  readonly mark: Moment;
}

/** What is asked of a driver's streams. */
export interface ReportStream<S> {
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
  const merged = { position: mark.position, told: first.mark.told };
  waits.splice(0, waits.length, { since: first.since, mark: merged });
}

/** How a driver reads and clears records. `at` is where they start; the default stream, undefined, comes after all others. */
export interface ReportMemory<S, At> {
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

/** The launches of one module whose records have not been looked at. Each has a fault record of its own. */
export class Launches<S> {
  readonly list: Launched<S>[] = [];
  /** By fault record: whether a launch in the list has it. */
  readonly #taken = new Uint8Array(FAULTS.most);
  /** Faults that have been read; the table counts all there were. */
  faultsRead = 0;

  /** No record is left. */
  get full(): boolean {
    return this.list.length >= FAULTS.most;
  }

  /** Whether a launch of this number has a record of its own. */
  isFree(number: number): boolean {
    return this.#taken[number % FAULTS.most] === 0;
  }

  add(launch: Launched<S>): void {
    this.#taken[launch.number % FAULTS.most] = 1;
    this.list.push(launch);
  }

  /** They have been looked at. */
  remove(done: readonly Launched<S>[]): void {
    for (const { number } of done) this.#taken[number % FAULTS.most] = 0;
    const left = done.length === this.list.length ? [] : this.list.filter((each) => !done.includes(each));
    this.list.splice(0, this.list.length, ...left);
  }
}

/** A loaded module that can fault or print. */
export interface Watched<S, At> {
  readonly kernel: Kernel;
  readonly sites: readonly FaultSite[];
  readonly printSites: readonly PrintSite[];
  /** Where its table of faults and its print buffer are; undefined where it has none. */
  readonly faultsAt: At | undefined;
  readonly printsAt: At | undefined;
  readonly launches: Launches<S>;
}

/** The records of all modules of a device. */
export class LaunchReports<S extends ReportStream<S>, At> {
  readonly log: FaultLog = new FaultLog();
  readonly #memory: ReportMemory<S, At>;
  readonly #dirty = new Set<Watched<S, At>>();
  /** Off V8's moving heap, for drivers write to it by address. */
  readonly #count: DataView<ArrayBuffer> = new DataView(new ArrayBuffer(128), 0, 4);

  constructor(memory: ReportMemory<S, At>) {
    this.#memory = memory;
  }

  /** Whether anything has been launched that has not been looked at. */
  get pending(): boolean {
    return this.#dirty.size > 0;
  }

  /** Remembers a launch that is about to be made, and gives its number. */
  note(module: Watched<S, At>, shape: LaunchShape, stream: S, launch: (...args: never[]) => unknown): number {
    const { launches } = module;
    if (launches.full) this.#catchUp(module);
    let number = this.log.advance();
    while (!launches.isFree(number)) number = this.log.advance();
    const { grid, block, sharedBytes } = shape;
    launches.add({
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
    if (module.launches.list.length > 0 && !this.#memory.lost) this.#catchUp(module);
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
    const done = launches.list.filter(
      (each) => (stream === undefined || each.stream === stream) && each.number <= before,
    );
    if (done.length === 0) return;
    // The default stream comes after one that is gone.
    const on = stream?.alive === true ? stream : undefined;
    if (module.printsAt !== undefined && this.#allDone(launches.list, done)) this.#print(module, module.printsAt, on);
    if (module.faultsAt !== undefined) this.#readFaults(module, module.faultsAt, on, done);
    launches.remove(done);
    if (launches.list.length === 0) this.#dirty.delete(module);
  }

  /** Whether nobody prints any more, apart from launches that come later. */
  #allDone(launches: readonly Launched<S>[], done: readonly Launched<S>[]): boolean {
    const streams = new Set(launches.filter((each) => !done.includes(each)).map((each) => each.stream));
    return ![...streams].some((stream) => stream.alive && this.#memory.isBusy(stream));
  }

  /** Posts the faults of launches that are done. Of others, whoever waits for them will see. */
  #readFaults(module: Watched<S, At>, at: At, on: S | undefined, done: readonly Launched<S>[]): void {
    const { launches } = module;
    const { buffer, byteOffset, byteLength } = this.#count;
    this.#memory.read(new Uint8Array(buffer, byteOffset, byteLength), at, FAULTS.count, on);
    if (this.#count.getUint32(0, true) === launches.faultsRead) return;
    const table = new DataView(new ArrayBuffer(FAULTS.most * FAULT.bytes));
    this.#memory.read(new Uint8Array(table.buffer), at, FAULTS.records, on);
    for (const { number, shape, stream, site } of done) {
      const record = (number % FAULTS.most) * FAULT.bytes;
      if (table.getUint32(record + FAULT.launch, true) !== number) continue;
      launches.faultsRead++;
      const error = faultAt(module.kernel, shape, module.sites, readFault(table, record));
      this.log.post(withSite(error, site), stream, number);
    }
  }

  #print(module: Watched<S, At>, at: At, on: S | undefined): void {
    const header = new Uint8Array(new ArrayBuffer(128), 0, PRINTS.records);
    this.#memory.read(header, at, 0, on);
    const taken = new DataView(header.buffer).getUint32(PRINTS.taken, true);
    if (taken === 0) return;
    const room = PRINTS.bytes - PRINTS.records;
    const bytes = new Uint8Array(Math.min(taken, room));
    this.#memory.read(bytes, at, PRINTS.records, on);
    this.#memory.zero(at, PRINTS.records + bytes.length, on);
    for (const line of printedLines(module.printSites, bytes)) console.log(...line);
    if (taken > room) console.log(`… and ${taken - room} more bytes of output, which did not fit`);
  }
}

/** The arguments of `console.log` for each record in a print buffer, in the order in which threads took room. */
export function* printedLines(prints: readonly PrintSite[], bytes: Uint8Array): Generator<readonly unknown[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  while (at + PRINT.values <= bytes.length) {
    const site = prints[view.getUint32(at + PRINT.site, true) - 1];
    // Not written: the thread was stopped in between, or its record did not fit.
    if (site === undefined) return;
    const slots = site.parts.filter((part) => typeof part !== 'string').length;
    const values = at + PRINT.values;
    if (values + 8 * slots > bytes.length) return;
    yield printed(site, new DataView(view.buffer, view.byteOffset + values, 8 * slots));
    at = values + 8 * slots;
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
