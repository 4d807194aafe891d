/**
 * What a profile says in a table: a row for each kernel, kind of copy and so on, the slowest first, and what the host spent.
 */
import { TsambaTypeError } from '../errors.ts';
import { readOptions } from '../options.ts';
import type { CopyDirection, EventKind } from './observing.ts';
import type { ProfileEvent, Taken } from './records.ts';

/** How often, how long. Times are milliseconds. */
export interface Sum {
  /** Number of occurrences. */
  readonly count: number;
  /** Total milliseconds. */
  readonly total: number;
}

/** Copies in one direction. */
export interface CopySum extends Sum {
  /** Total bytes. */
  readonly bytes: number;
}

/** All work of one name on one device. Times are milliseconds. */
export interface SummaryRow extends Sum {
  /** What kind of work: `'launch'`, `'copy'`, …. */
  readonly kind: EventKind;
  /** The name of the kernel, or of what was done. */
  readonly name: string;
  /** The device: `nvidia:0`; undefined for work that is not on a device. */
  readonly device: string | undefined;
  /** Milliseconds on average. */
  readonly mean: number;
  /** Milliseconds of the shortest. */
  readonly min: number;
  /** Milliseconds of the longest. */
  readonly max: number;
  /** Whose times these are: the device's, or the host's where the device gives none. */
  readonly clock: 'device' | 'host';
  /** Total bytes; undefined if not known. */
  readonly bytes: number | undefined;
  /** 10⁹ bytes per second; undefined if the bytes are not known. */
  readonly gbPerSecond: number | undefined;
  /** Its part of the time of all rows, from 0 to 1. */
  readonly share: number;
}

/** Options of `summary()`. */
export interface SummaryOptions {
  /** Bytes that one launch of a kernel moves, by the kernel's name: nothing else can know them. */
  readonly bytes?: Readonly<Record<string, number>> | undefined;
}

/** A table of what was done. `String(summary)` is a text of it. */
export interface Summary {
  /** Work of devices, and collectives: what took most time first. */
  readonly rows: readonly SummaryRow[];
  /** Compiling kernels, on the host. */
  readonly compile: Sum;
  /** What the host spent in calls that wait; where it awaited promises it did something else meanwhile, which is not counted. */
  readonly wait: Sum;
  /** Copies, by direction. */
  readonly copies: Readonly<Record<CopyDirection, CopySum>>;
  /** Ranges of the program itself, which contain other rows. */
  readonly ranges: readonly SummaryRow[];
  /** Milliseconds from the beginning of the profile to its end. */
  readonly duration: number;
  /** The table as text. */
  toString(): string;
}

/** Kinds that are rows. */
const WORK: ReadonlySet<EventKind> = new Set(['launch', 'graph', 'copy', 'fill', 'product', 'collective']);

/** The summary of what was seen. */
export function summaryOf({ events, duration, overlapping, dropped }: Taken, options?: SummaryOptions): Summary {
  const { bytes = {} } = readOptions('summary', options, ['bytes']);
  for (const [name, count] of Object.entries(bytes)) {
    if (typeof count === 'number' && count >= 0) continue;
    throw new TsambaTypeError('E_OPTION', `summary: bytes of ${name} must be the bytes that a launch moves, a number`);
  }
  const work = events.filter(({ kind }) => WORK.has(kind));
  const rows = rowsOf(work, bytes);
  const ranges = rowsOf(
    events.filter(({ kind }) => kind === 'range'),
    {},
  );
  const waits = events.filter(({ kind }, i) => kind === 'wait' && !overlapping.has(i));
  const compiles = events.filter(({ kind }) => kind === 'compile');
  const copies = {
    hostToDevice: copied(work, 'hostToDevice'),
    deviceToHost: copied(work, 'deviceToHost'),
    deviceToDevice: copied(work, 'deviceToDevice'),
  };
  const summary = { rows, compile: sum(compiles), wait: sum(waits), copies, ranges, duration };
  return Object.freeze({ ...summary, toString: () => show(summary, dropped) });
}

const timeOf = ({ gpu, duration }: ProfileEvent): number => gpu?.duration ?? duration;

function sum(events: readonly ProfileEvent[]): Sum {
  return { count: events.length, total: events.reduce((total, event) => total + timeOf(event), 0) };
}

function copied(events: readonly ProfileEvent[], direction: CopyDirection): CopySum {
  const these = events.filter((event) => event.direction === direction);
  return { ...sum(these), bytes: these.reduce((total, { bytes = 0 }) => total + bytes, 0) };
}

function rowsOf(events: readonly ProfileEvent[], said: Readonly<Record<string, number>>): SummaryRow[] {
  const groups = new Map<string, ProfileEvent[]>();
  for (const event of events) {
    const { kind, name, device, gpu } = event;
    const key = JSON.stringify([kind, name, device, gpu !== undefined]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [event]);
    else group.push(event);
  }
  const all = sum(events).total;
  const rows = Array.from(groups.values(), (group) => rowOf(group, said, all));
  return rows.sort((a, b) => b.total - a.total);
}

function rowOf(group: readonly ProfileEvent[], said: Readonly<Record<string, number>>, all: number): SummaryRow {
  const [{ kind, name, device, gpu } = {} as ProfileEvent] = group;
  const { count, total } = sum(group);
  const times = group.map(timeOf);
  const known = kind === 'launch' ? (Object.hasOwn(said, name) ? said[name] : undefined) : undefined;
  const counted = group.every(({ bytes }) => bytes !== undefined)
    ? group.reduce((bytes, event) => bytes + (event.bytes ?? 0), 0)
    : undefined;
  const bytes = known === undefined ? counted : known * count;
  return Object.freeze({
    kind,
    name,
    device,
    count,
    total,
    mean: total / count,
    min: times.reduce((a, b) => Math.min(a, b)),
    max: times.reduce((a, b) => Math.max(a, b)),
    clock: gpu === undefined ? 'host' : 'device',
    bytes,
    gbPerSecond: bytes === undefined || total === 0 ? undefined : bytes / total / 1e6,
    share: all === 0 ? 0 : total / all,
  });
}

type Shown = Omit<Summary, 'toString'>;

function show({ rows, ranges, compile, wait, copies, duration }: Shown, dropped: number): string {
  const devices = new Set(rows.map(({ device }) => device));
  const head = ['what', 'count', 'total ms', 'mean ms', 'min ms', 'max ms', 'GB/s', 'share'];
  const lines = rows.map((row) => [
    `${row.name}${devices.size > 1 ? ` (${row.device})` : ''}${row.clock === 'host' ? ' (host time)' : ''}`,
    String(row.count),
    ...[row.total, row.mean, row.min, row.max].map(showMilliseconds),
    row.gbPerSecond?.toFixed(1) ?? '',
    `${(row.share * 100).toFixed(1)} %`,
  ]);
  for (const row of ranges) {
    lines.push([
      `range ${row.name}`,
      String(row.count),
      ...[row.total, row.mean, row.min, row.max].map(showMilliseconds),
      '',
      '',
    ]);
  }
  const bytes = Object.values(copies).reduce((all, each) => all + each.bytes, 0);
  const notes = [
    `compiling ${showMilliseconds(compile.total)} ms (${compile.count})`,
    `host waiting ${showMilliseconds(wait.total)} ms (${wait.count})`,
    `${(bytes / 1e6).toFixed(1)} MB copied`,
    `${showMilliseconds(duration)} ms in all`,
  ];
  if (dropped > 0) notes.push(`${dropped} events beyond the limit are left out`);
  return `${table([head, ...lines])}\n${notes.join(', ')}`;
}

const showMilliseconds = (time: number): string => time.toFixed(time < 10 ? 3 : 1);

/** Columns under each other: the first to the left, numbers to the right. */
function table(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, k) => Math.max(...lines.map((cells) => cells[k]?.length ?? 0))) ?? [];
  const pad = (cell: string, k: number): string =>
    k === 0 ? cell.padEnd(widths[k] ?? 0) : cell.padStart(widths[k] ?? 0);
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}
