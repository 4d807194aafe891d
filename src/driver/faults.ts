/**
 * Faults of kernels that have run but whose failure nobody has asked about yet.
 *
 * A launch does not throw what goes wrong inside its kernel: the next synchronising call on its stream or device does, as on
 * a GPU. Until then the error waits here; one that is never observed is printed when the process exits, and the exit code
 * becomes 1. A fault leaves the device usable.
 */
import type { DriverError } from '../errors.ts';

interface Pending {
  readonly error: DriverError;
  readonly stream: object;
  /** Which streams it is thrown on, and since when in the order: its own, and those that waited for this. */
  readonly known: Map<object, number>;
  /** Later faults on the same stream, which are counted but not kept. */
  later: number;
}

/** Logs that hold something, so that the exit handler finds them. */
const unobserved = new Set<FaultLog>();
let listening = false;

/** The faults of one device that wait for somebody to synchronise. */
export class FaultLog {
  readonly #pending: Pending[] = [];
  #order = 0;

  /** A mark in the order of faults: those posted later are not raised by `raise(stream, mark)`. */
  get mark(): number {
    return this.#order;
  }

  /** Keeps a fault for the next synchronising call. `stream` is the identity of the stream. */
  post(error: DriverError, stream: object): void {
    const order = this.#order++;
    const earlier = this.#pending.find((fault) => fault.stream === stream);
    if (earlier !== undefined) {
      earlier.later++;
      return;
    }
    this.#pending.push({ error, stream, known: new Map([[stream, order]]), later: 0 });
    unobserved.add(this);
    if (listening) return;
    listening = true;
    process.on('exit', reportAll);
  }

  /**
   * `to` waits for what `from`, or all streams when it is undefined, had been given before the mark: what failed there is a fault
   * of `to` as well, since its results rest on that.
   */
  follow(from: object | undefined, before: number, to: object): void {
    for (const fault of this.#pending) {
      if (isKnown(fault, from, before) && !fault.known.has(to)) fault.known.set(to, this.#order++);
    }
  }

  /** Throws the first fault of `stream`, or of any stream when it is undefined, and forgets it. */
  raise(stream?: object, before: number = Number.POSITIVE_INFINITY): void {
    if (this.#pending.length === 0) return;
    const at = this.#pending.findIndex((fault) => isKnown(fault, stream, before));
    const [fault] = at < 0 ? [] : this.#pending.splice(at, 1);
    if (fault === undefined) return;
    if (this.#pending.length === 0) unobserved.delete(this);
    throw withCount(fault);
  }

  /** Somebody has been told of this fault. */
  forget(error: DriverError): void {
    const at = this.#pending.findIndex((fault) => fault.error === error);
    if (at >= 0) this.#pending.splice(at, 1);
    if (this.#pending.length === 0) unobserved.delete(this);
  }

  /** All that is pending, forgotten. */
  drain(): DriverError[] {
    unobserved.delete(this);
    return this.#pending.splice(0).map(withCount);
  }
}

/** Whether a fault is one of `stream`, or of any when it is undefined, before a mark. */
function isKnown(fault: Pending, stream: object | undefined, before: number): boolean {
  const since = fault.known.get(stream ?? fault.stream);
  return since !== undefined && since < before;
}

function withCount({ error, later }: Pending): DriverError {
  if (later > 0) {
    error.message += `\n(${later} later ${later === 1 ? 'launch' : 'launches'} on this stream failed as well)`;
  }
  return error;
}

function reportAll(): void {
  for (const log of [...unobserved]) {
    for (const error of log.drain()) reportUnobserved(error);
  }
}

/** Prints what went wrong and nobody was told; the process ends with exit code 1. */
export function reportUnobserved(error: unknown): void {
  process.exitCode = 1;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `tsamba: a kernel failed, and nothing synchronised with it before the process ended:\n${text}\n`,
  );
}
