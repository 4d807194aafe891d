/**
 * Traces as Chrome's trace events, which ui.perfetto.dev opens: a process for the host and one for each device, a track for each stream.
 *
 * Times are microseconds since the beginning of 2026, so that files of several processes of a machine can be laid beside each other; since 1970 they
 * would be too large for a tenth of a microsecond. Format: "Trace Event Format"
 * of Chromium's catapult project.
 */
import type { ProfileEvent, Taken } from './records.ts';

/** An event of Chrome's format. */
export interface TraceEvent {
  /** What the viewer shows. */
  readonly name: string;
  /** `X`: an event with a duration, `i`: an instant, `b` and `e`: the ends of one that may overlap others, `C`: a counter, `M`: metadata. */
  readonly ph: 'X' | 'i' | 'b' | 'e' | 'C' | 'M';
  /** The process: the program, or a number for a device. */
  readonly pid: number;
  /** The track within the process: a thread, or a stream. */
  readonly tid: number;
  /** Microseconds since the beginning of 2026. */
  readonly ts?: number;
  /** Microseconds that it took. */
  readonly dur?: number;
  /** The category, by which viewers filter. */
  readonly cat?: string;
  /** Ties together the ends of events that may overlap. */
  readonly id?: string;
  /** Of instants: they belong to their track. */
  readonly s?: 't';
  /** What the viewer shows when the event is selected. */
  readonly args?: Readonly<Record<string, unknown>>;
}

/** The content of a trace file. */
export interface Trace {
  /** The events, in no particular order. */
  readonly traceEvents: readonly TraceEvent[];
  /** The unit that viewers show times in. */
  readonly displayTimeUnit: 'ms';
  /** Describes the trace. */
  readonly otherData: Readonly<Record<string, unknown>>;
}

/** Describes the trace. */
export interface Origin {
  readonly pid: number;
  /** The number of the worker thread; 0 is the main one. */
  readonly thread: number;
  readonly program: string;
  readonly rank?: number | undefined;
}

/** Numbers of processes are smaller on Linux: those above stand for devices. */
const DEVICES_FROM = 2 ** 22;
/** Milliseconds since 1970 at which times begin. */
const EPOCH = Date.UTC(2026, 0, 1);
/** Tracks of each thread of a process. */
const TRACKS = 1000;

/** The trace of what was seen. */
export function traceOf(taken: Taken, origin: Origin): Trace {
  const tracks = new Tracks(taken, origin);
  const events = taken.events.flatMap((event, i) => tracks.of(event, taken.overlapping.has(i), i));
  const memory = taken.memory.map(
    ({ time, device, namespace, bytes }): TraceEvent => ({
      name: `memory of ${namespace}`,
      ph: 'C',
      pid: tracks.device(device),
      tid: 0,
      ts: tracks.microseconds(time),
      args: { bytes },
    }),
  );
  const otherData = { producer: 'tsamba', ...origin, dropped: taken.dropped };
  return { traceEvents: [...tracks.metadata(), ...events, ...memory], displayTimeUnit: 'ms', otherData };
}

class Tracks {
  readonly #taken: Taken;
  readonly #origin: Origin;
  readonly #devices: readonly string[];
  /** Numbers of tracks, by device and stream. */
  readonly #streams = new Map<string, { readonly pid: number; readonly tid: number; readonly name: string }>();

  constructor(taken: Taken, origin: Origin) {
    this.#taken = taken;
    this.#origin = origin;
    const ids = [...taken.devices.map(({ id }) => id), ...taken.memory.map(({ device }) => device)];
    this.#devices = [...new Set(ids)];
  }

  microseconds(time: number): number {
    return nanoseconds((this.#taken.epoch - EPOCH + time) * 1e3);
  }

  /** Both ends are rounded, so that what follows each other does so still. */
  #span(start: number, duration: number): { readonly ts: number; readonly dur: number } {
    const ts = this.microseconds(start);
    return { ts, dur: nanoseconds(this.microseconds(start + duration) - ts) };
  }

  /** The number that stands for a device's process. */
  device(id: string): number {
    return DEVICES_FROM * (this.#devices.indexOf(id) + 1) + this.#origin.pid;
  }

  #stream(device: string, name: string): { readonly pid: number; readonly tid: number } {
    const key = `${device} ${name}`;
    let track = this.#streams.get(key);
    if (track === undefined) {
      track = { pid: this.device(device), tid: this.#origin.thread * TRACKS + this.#streams.size + 1, name };
      this.#streams.set(key, track);
    }
    return track;
  }

  of(event: ProfileEvent, overlapping: boolean, i: number): TraceEvent[] {
    const { kind, name, start, duration, device, stream, gpu } = event;
    const host = { name: gpu === undefined ? name : `enqueue ${name}`, cat: kind, ...this.#host() };
    const args = detailsOf(event);
    const ts = this.microseconds(start);
    const events: TraceEvent[] = [];
    if (kind === 'mark') events.push({ ...host, ph: 'i', s: 't', ts, args });
    else if (overlapping) {
      const id = `${this.#origin.pid}.${this.#origin.thread}.${i}`;
      events.push(
        { ...host, ph: 'b', id, ts, args },
        { ...host, ph: 'e', id, ts: this.microseconds(start + duration) },
      );
    } else events.push({ ...host, ph: 'X', ...this.#span(start, duration), args });
    if (gpu !== undefined && device !== undefined && stream !== undefined) {
      const track = this.#stream(device, stream);
      const { pid, tid } = track;
      events.push({
        name,
        cat: kind,
        ph: 'X',
        pid,
        tid,

        ...this.#span(gpu.start, gpu.duration),
        args,
      });
    }
    return events;
  }

  #host(): { readonly pid: number; readonly tid: number } {
    const { pid, thread } = this.#origin;
    return { pid, tid: thread + 1 };
  }

  /** What processes and tracks are called, and in which order they stand. */
  metadata(): TraceEvent[] {
    const { program, rank, thread } = this.#origin;
    const { pid, tid } = this.#host();
    const whose = rank === undefined ? '' : `rank ${rank}: `;
    const events = [
      ...named('process', { pid, tid }, `${whose}${program}`, 0),
      ...named('thread', { pid, tid }, thread === 0 ? 'main thread' : `worker thread ${thread}`, thread),
    ];
    this.#devices.forEach((id, k) => {
      const name = this.#taken.devices.find((device) => device.id === id)?.name ?? id;
      events.push(...named('process', { pid: this.device(id), tid: 0 }, `${whose}${name} (${id})`, k + 1));
    });
    for (const { name, ...track } of this.#streams.values()) events.push(...named('thread', track, name, track.tid));
    return events;
  }
}

function named(
  what: 'process' | 'thread',
  { pid, tid }: { readonly pid: number; readonly tid: number },
  name: string,
  order: number,
): TraceEvent[] {
  return [
    { name: `${what}_name`, ph: 'M', pid, tid, args: { name } },
    { name: `${what}_sort_index`, ph: 'M', pid, tid, args: { sort_index: order } },
  ];
}

/** Microseconds to a thousandth. */
const nanoseconds = (time: number): number => Math.round(time * 1e3) / 1e3;

/** What is shown when an event is clicked. */
function detailsOf({ bytes, detail, error, gpu, duration, device, stream }: ProfileEvent): Record<string, unknown> {
  const span = gpu?.duration ?? duration;
  return {
    ...(device === undefined ? {} : { device }),
    ...(stream === undefined ? {} : { stream }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(bytes === undefined || span <= 0 ? {} : { 'GB/s': Math.round(bytes / span / 1e3) / 1e3 }),
    ...detail,
    ...(error === undefined ? {} : { error }),
  };
}
