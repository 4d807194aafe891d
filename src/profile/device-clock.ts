/**
 * Times of work on a device: a pair of its events around each piece, from a pool, read when they have been reached. Nothing waits for them.
 * Work that follows at once on what its stream still does shares an event with that: each costs the device a microsecond or two.
 *
 * Events only tell differences. All are counted from an anchor, a reached event that moves along, since CUDA's differences are f32; and the device's
 * clock is laid on the host's so that no work begins before it was enqueued: as late as needed, which is exact to the shortest way from
 * enqueueing to beginning that was seen.
 */
import type { DeviceDriver, EventHandle, StreamHandle } from '../driver/driver.ts';
import { after, onNextTurn } from '../host/turns.ts';

/** Milliseconds from the anchor, from which on it is moved: a f32 tells 0.03 µs there, less than the clocks of devices do. */
const ANCHOR_SPAN = 500;
/** Pairs that wait to be read before it is looked whether some can be. */
const BATCH = 128;
/** Times round the event loop before the loop sleeps between looks. */
const EAGER_TURNS = 20;

/** What a pair of events says, in milliseconds: `start` on the device's own scale. */
export interface DeviceTime {
  readonly start: number;
  readonly duration: number;
}

/** An event that has been recorded, and how many need it: pairs, the anchor, work that may follow. */
interface Mark {
  readonly event: EventHandle;
  needed: number;
  /** When it was reached, once that is known. */
  time?: number;
}

interface Pair {
  readonly start: Mark;
  readonly end: Mark;
  /** When the host was about to record `start`. */
  readonly enqueued: number;
  readonly stream: string;
  readonly told: (time: DeviceTime) => void;
}

/** A piece of work that has begun to be enqueued. */
export interface Begun {
  readonly start: Mark;
  readonly enqueued: number;
}

/** The clock of one device. */
export class DeviceClock {
  readonly #driver: DeviceDriver;
  readonly #free: EventHandle[] = [];
  #pending: Pair[] = [];
  #anchor: { readonly mark: Mark; readonly time: number } | undefined = undefined;
  /** The end of the work that was enqueued last on the device, and its stream. */
  #last: { readonly mark: Mark; readonly stream: string } | undefined = undefined;
  /** When the last work of a stream ended, so that rounding makes none overlap. */
  readonly #ends = new Map<string, number>();
  #offset = Number.NEGATIVE_INFINITY;
  #broken = false;
  readonly #shares: boolean;

  /** `shares`: that an event of the driver is not reached means that the device is not so far, not that nobody has asked it. */
  constructor(driver: DeviceDriver, shares: boolean) {
    this.#driver = driver;
    this.#shares = shares;
  }

  /** What is added to a device's time to get `performance.now()`. */
  get offset(): number {
    return this.#offset === Number.NEGATIVE_INFINITY ? 0 : this.#offset;
  }

  /** Records the event before a piece of work, at a time of the host; undefined where the device gives no times. */
  begin(stream: StreamHandle | undefined, enqueued: number, track: string): Begun | undefined {
    if (this.#broken) return undefined;
    const start = this.#following(track) ?? this.#record(stream);
    return start === undefined ? undefined : { start, enqueued };
  }

  /** Records the event after it. `told` is called when its time is known, or never. */
  end({ start, enqueued }: Begun, stream: StreamHandle | undefined, track: string, told: Pair['told']): void {
    const end = this.#record(stream);
    if (end === undefined) return this.#release(start);
    this.#pending.push({ start, end, enqueued, stream: track, told });
    this.interrupt();
    if (this.#shares) this.#last = { mark: need(end), stream: track };
    if (this.#pending.length % BATCH === 0) this.poll();
  }

  /** The work was not enqueued. */
  cancel({ start }: Begun): void {
    this.#release(start);
  }

  /** What is enqueued from now on may begin later than when the work before it ends: its stream waits for another. */
  interrupt(): void {
    if (this.#last !== undefined) this.#release(this.#last.mark);
    this.#last = undefined;
  }

  /** The end of the work before, if that is still being done: so this begins there. */
  #following(track: string): Mark | undefined {
    const last = this.#last;
    if (last === undefined || last.stream !== track) return undefined;
    try {
      return this.#driver.queryEvent(last.mark.event) ? undefined : need(last.mark);
    } catch {
      return undefined;
    }
  }

  #record(stream: StreamHandle | undefined): Mark | undefined {
    try {
      const event = this.#free.pop() ?? this.#driver.createEvent(true);
      this.#driver.recordEvent(event, stream);
      return { event, needed: 1 };
    } catch {
      // A device that is broken says so to the program itself.
      this.#broken = true;
      return undefined;
    }
  }

  #release(mark: Mark): void {
    mark.needed--;
    if (mark.needed === 0) this.#free.push(mark.event);
  }

  /** Reads the times that can be read. */
  poll(): void {
    const left: Pair[] = [];
    const behind = new Set<string>();
    for (const pair of this.#pending) {
      if (behind.has(pair.stream)) left.push(pair);
      else if (!this.#read(pair)) {
        behind.add(pair.stream);
        left.push(pair);
      }
    }
    this.#pending = left;
  }

  /** Whether nothing more will be known of a pair. */
  #read(pair: Pair): boolean {
    try {
      if (!this.#driver.queryEvent(pair.end.event)) return false;
      this.#tell(pair);
    } catch {
      // No times on this device, or the device is gone: what the host measured stays.
    }
    this.#release(pair.end);
    this.#release(pair.start);
    return true;
  }

  #tell({ start, end, enqueued, stream, told }: Pair): void {
    this.#anchor ??= { mark: need(start), time: 0 };
    const from = this.#timeOf(start);
    if (from - this.#anchor.time > ANCHOR_SPAN) {
      this.#release(this.#anchor.mark);
      this.#anchor = { mark: need(start), time: from };
    }
    const time = Math.max(from, this.#ends.get(stream) ?? Number.NEGATIVE_INFINITY);
    const duration = Math.max(0, this.#timeOf(end) - time);
    this.#ends.set(stream, time + duration);
    this.#offset = Math.max(this.#offset, enqueued - time);
    told({ start: time, duration });
  }

  /** Asked of the driver once for each mark: that takes longer than to record it. */
  #timeOf(mark: Mark): number {
    if (mark.time === undefined) {
      const anchor = this.#anchor ?? { mark, time: 0 };
      mark.time =
        anchor.mark === mark ? anchor.time : anchor.time + this.#driver.elapsedTime(anchor.mark.event, mark.event);
    }
    return mark.time;
  }

  /** Resolves when all times of work that has been enqueued until now are known. */
  async settled(): Promise<void> {
    for (let turns = 0; ; turns++) {
      this.poll();
      if (this.#pending.length === 0) return;
      await new Promise<void>((resolve) => {
        if (turns < EAGER_TURNS) onNextTurn(() => resolve());
        else after(1, resolve);
      });
    }
  }

  /** Gives the events back; times that are not known yet stay so. */
  close(): void {
    this.poll();
    this.interrupt();
    const events = [...this.#free, ...this.#pending.flatMap(({ start, end }) => [start.event, end.event])];
    if (this.#anchor !== undefined) events.push(this.#anchor.mark.event);
    this.#free.length = 0;
    this.#pending = [];
    this.#anchor = undefined;
    for (const event of new Set(events)) {
      try {
        this.#driver.destroyEvent(event);
      } catch {
        // They go with the device.
      }
    }
  }
}

/** The mark, which somebody more needs. */
function need(mark: Mark): Mark {
  mark.needed++;
  return mark;
}
