/**
 * What was seen, as it is kept while a profile is taken, and as it is given.
 */
import type { DeviceClock, DeviceTime } from './device-clock.ts';
import type { CopyDirection, Doing, EventKind } from './observing.ts';

/** A time and how long something took, in milliseconds since the profile began. */
export interface Span {
  /** Milliseconds from the beginning of the profile. */
  readonly start: number;
  /** Duration in milliseconds. */
  readonly duration: number;
}

/** Something that was done while a profile was taken. */
export interface ProfileEvent extends Span {
  /** What kind of work: `'launch'`, `'copy'`, …. */
  readonly kind: EventKind;
  /** What is done: the kernel's name, `copy host to device`, a range's name. */
  readonly name: string;
  /** `nvidia:0`; undefined for work that is not on a device. */
  readonly device?: string | undefined;
  /** `default stream`, `stream 1`; undefined for work that is not on a stream. */
  readonly stream?: string | undefined;
  /** When it ran on the device; undefined for what only the host does, and where the device gives no times. `start` and `duration` are the host's: of work that is enqueued, of enqueueing. */
  readonly gpu?: Span | undefined;
  /** Of copies, fills and collectives: each byte once, though it is read and written. */
  readonly bytes?: number | undefined;
  /** Of copies: from where to where. */
  readonly direction?: CopyDirection | undefined;
  /** Grid and block of a launch, sizes of a product. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  /** The error, if it threw one. */
  readonly error?: string | undefined;
}

/** Bytes that were live on a device, from a moment on. */
export interface MemorySample {
  /** Milliseconds from the beginning of the profile. */
  readonly time: number;
  /** The device: `nvidia:0`. */
  readonly device: string;
  /** `cuda`, `roc`: whose memory it is. */
  readonly namespace: string;
  /** Bytes that are live from then on. */
  readonly bytes: number;
}

/** A device that work was done on. */
export interface ProfiledDevice {
  /** `nvidia:0`. */
  readonly id: string;
  /** The name of the hardware. */
  readonly name: string;
}

/** Counts what has been seen. */
let made = 0;

/** One thing that was seen; `time` comes when the device has told it. Times are `performance.now()`'s. */
export class Seen {
  readonly what: Doing;
  readonly start: number;
  /** Which came first where a clock is too coarse to tell, as those of pages are. */
  readonly order: number = made++;
  end: number;
  readonly stream: string | undefined;
  readonly clock: DeviceClock | undefined;
  time: DeviceTime | undefined = undefined;
  error: string | undefined = undefined;
  /** Whether others may have begun within it and end after it. */
  overlapping: boolean;

  constructor(what: Doing, start: number, { stream, clock, overlapping = false }: Partial<Seen> = {}) {
    this.what = what;
    this.start = start;
    this.end = start;
    this.stream = stream;
    this.clock = clock;
    this.overlapping = overlapping;
  }

  /** What is given of it: times from `origin` on. */
  eventFrom(origin: number): ProfileEvent {
    const { kind, name, context, bytes, direction, detail } = this.what;
    const { time, clock } = this;
    const gpu =
      time === undefined || clock === undefined
        ? undefined
        : Object.freeze({ start: time.start + clock.offset - origin, duration: time.duration });
    return Object.freeze({
      kind,
      name,
      start: this.start - origin,
      duration: this.end - this.start,
      device: context === undefined ? undefined : deviceId(context.info),
      stream: this.stream,
      gpu,
      bytes,
      direction,
      detail,
      error: this.error,
    });
  }
}

/** `nvidia:0`. */
export function deviceId({ kind, index }: { readonly kind: string; readonly index: number }): string {
  return `${kind}:${index}`;
}

/** Pieces that a recording keeps at most; what comes later is only counted. */
const MOST = 1_000_000;

/** What one profile, or the trace of a program, has seen. */
export class Recording {
  readonly origin: number = performance.now();
  readonly seen: Seen[] = [];
  readonly memory: MemorySample[] = [];
  readonly devices: Map<string, ProfiledDevice> = new Map();
  dropped = 0;

  add(seen: Seen): void {
    if (this.seen.length >= MOST) {
      this.dropped++;
      return;
    }
    this.seen.push(seen);
    const { context } = seen.what;
    if (context === undefined) return;
    const id = deviceId(context.info);
    if (!this.devices.has(id)) this.devices.set(id, { id, name: context.info.name });
  }

  sample(sample: MemorySample): void {
    if (this.memory.length < MOST) this.memory.push(sample);
  }

  /** All of it in the order in which it began; times from the beginning on. */
  taken(): Taken {
    const { origin } = this;
    const inOrder = [...this.seen].sort((a, b) => a.start - b.start || a.order - b.order);
    return {
      epoch: performance.timeOrigin + origin,
      duration: performance.now() - origin,
      events: inOrder.map((seen) => seen.eventFrom(origin)),
      overlapping: new Set(inOrder.flatMap(({ overlapping }, i) => (overlapping ? [i] : []))),
      memory: this.memory.map((sample) => ({ ...sample, time: sample.time - origin })),
      devices: [...this.devices.values()],
      dropped: this.dropped,
    };
  }
}

/** What was seen, as it is written. */
export interface Taken {
  /** Milliseconds since 1970 at which it began. */
  readonly epoch: number;
  readonly duration: number;
  readonly events: readonly ProfileEvent[];
  /** Which of the events may overlap others that neither contain them nor are within them. */
  readonly overlapping: ReadonlySet<number>;
  readonly memory: readonly MemorySample[];
  readonly devices: readonly ProfiledDevice[];
  /** Events that were too many. */
  readonly dropped: number;
}
