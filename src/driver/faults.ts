/**
 * Faults of kernels that have run but whose failure nobody has asked about yet, and of those that somebody was told of while others
 * still waited.
 *
 * A launch does not throw what goes wrong inside its kernel: waiting for its stream or device does, as on a GPU. Whoever began to wait
 * before anybody was told is told as well; who begins later is not, and the device stays usable. A fault that is never acknowledged is
 * printed when the process exits, and the exit code becomes 1.
 */
import type { DriverError } from '../errors.ts';
import { atExit, markFailed, printError } from '../host/index.ts';
import type { Failure } from './driver.ts';

interface Fault {
  error: DriverError;
  readonly stream: object;
  /** Which streams it is a fault of, and from which position on: its own, and those that waited for this. */
  readonly known: Map<object, number>;
  /** Later faults on the same stream, which are counted but not kept. */
  later: number;
}

/**
 * A link in the chain of faults that somebody was told of. Who keeps one sees what was told since; what nobody can see any more is
 * collected.
 */
interface Told {
  fault?: Fault;
  next?: Told;
}

/** A point in the order of what is enqueued, and of what somebody was told of. */
export interface Moment {
  readonly position: number;
  readonly told: Told;
}

/** Logs that hold something, so that the exit handler finds them. */
const unread = new Set<FaultLog>();
let listening = false;

/** The faults of one device. */
export class FaultLog {
  readonly #pending: Fault[] = [];
  #position = 0;
  #told: Told = {};

  /** Of what has been enqueued until now. */
  get now(): Moment {
    return { position: this.#position, told: this.#told };
  }

  /** The position of something that is being enqueued. */
  advance(): number {
    return ++this.#position;
  }

  /** Keeps a fault until somebody asks. `stream` is the identity of the stream, `position` that of the work that failed; `others` had work that failed with it. */
  post(error: DriverError, stream: object, position: number = this.advance(), others: readonly object[] = []): void {
    const earlier = this.#pending.find((fault) => fault.stream === stream);
    if (earlier !== undefined) {
      earlier.later++;
      for (const other of others) if (!earlier.known.has(other)) earlier.known.set(other, position);
      // Modules are looked at one after the other, whichever failed first.
      if (position < (earlier.known.get(stream) ?? 0)) {
        earlier.error = error;
        earlier.known.set(stream, position);
      }
      return;
    }
    const known = new Map([stream, ...others].map((each) => [each, position]));
    this.#pending.push({ error, stream, known, later: 0 });
    unread.add(this);
    if (listening) return;
    listening = true;
    atExit(reportAll);
  }

  /**
   * `to` waits, from position `at` on, for what `from` (undefined: all streams) had been given until `mark`: what failed there is a
   * fault of `to` as well, since its results rest on that.
   */
  follow(from: object | undefined, mark: Moment, to: object, at: number = this.advance()): void {
    for (const fault of [...faultsSince(mark.told), ...this.#pending]) {
      if (isKnown(fault, from, mark.position) && !fault.known.has(to)) fault.known.set(to, at);
    }
  }

  /** Throws the first fault of `stream`, or of any stream when it is undefined, that nobody was told of: whoever calls begins to wait now. */
  raise(stream?: object, until: number = Number.POSITIVE_INFINITY): void {
    if (this.#pending.length === 0) return;
    const fault = this.#pending.find((each) => isKnown(each, stream, until));
    if (fault === undefined) return;
    this.#tell(fault);
    throw withCount(fault);
  }

  /** The first fault of `stream`, or of any, up to a moment at which somebody began to wait; also one that others were told of since. */
  failure(stream: object | undefined, began: Moment): Failure | undefined {
    for (const fault of [...faultsSince(began.told), ...this.#pending]) {
      if (isKnown(fault, stream, began.position)) {
        return { error: withCount(fault), kept: true, acknowledge: () => this.#tell(fault) };
      }
    }
    return undefined;
  }

  /** Somebody has been told of what went wrong: a promise rejects with it. */
  acknowledge(error: DriverError): void {
    const fault = this.#pending.find((each) => each.error === error);
    if (fault !== undefined) this.#tell(fault);
  }

  /** Who begins to wait from now on is not told of it. */
  #tell(fault: Fault): void {
    const at = this.#pending.indexOf(fault);
    if (at < 0) return;
    this.#pending.splice(at, 1);
    if (this.#pending.length === 0) unread.delete(this);
    const next: Told = {};
    this.#told.fault = fault;
    this.#told.next = next;
    this.#told = next;
  }

  /** All that is pending, forgotten. */
  takeAll(): DriverError[] {
    unread.delete(this);
    return this.#pending.splice(0).map(withCount);
  }
}

function faultsSince(told: Told): Fault[] {
  const faults: Fault[] = [];
  for (let link: Told | undefined = told; link !== undefined; link = link.next) {
    if (link.fault !== undefined) faults.push(link.fault);
  }
  return faults;
}

/** Whether a fault is one of `stream`, or of any when it is undefined, up to a position. */
function isKnown(fault: Fault, stream: object | undefined, until: number): boolean {
  const since = fault.known.get(stream ?? fault.stream);
  return since !== undefined && since <= until;
}

function withCount(fault: Fault): DriverError {
  const { error, later } = fault;
  if (later > 0) {
    error.message += `\n(${later} later ${later === 1 ? 'launch' : 'launches'} on this stream failed as well)`;
    fault.later = 0;
  }
  return error;
}

function reportAll(): void {
  for (const log of [...unread]) {
    for (const error of log.takeAll()) reportUnread(error);
  }
}

/** Prints what went wrong and nobody was told; the process ends with exit code 1. */
export function reportUnread(error: unknown): void {
  markFailed();
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  printError(`tsamba: a kernel failed, and nothing synchronised with it before the process ended:\n${text}`);
}
