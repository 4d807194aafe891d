/**
 * Dates and durations as elements: `datetime64('ms')`, `timedelta64('us')`, NumPy's types, Numba's `NPDatetime` and `NPTimedelta`.
 *
 * In memory each is a count of its unit in 64 bits, from 1970 on for dates; the least count stands for NaT, "not a time". On the host an
 * element is a `Date` where that can hold it, in units of a millisecond and more, and a bigint, the count, in all other cases. What dates
 * are written as is `iso-date.ts`.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';
import { DTYPE, type DType, printable } from './dtype.ts';
import { fromIso, toIso } from './iso-date.ts';
import { type DTypeToken, i64 } from './scalars.ts';
import { type SubArrayDType, subArray } from './subarray.ts';
import { floorDiv, isTimeUnit, monthsIn, nanosecondsIn, TIME_UNITS, type TimeUnit } from './time-units.ts';
import type * as t from './types.ts';

/** What may be given where a date is expected: a `Date`, a count of the unit, or a string such as `'2026-11-23T08:05'` or `'NaT'`. */
export type DateLike = Date | bigint | string;

/** A dtype of dates; called, it makes one. */
export interface DatetimeToken<out U extends TimeUnit> extends DType<t.datetime64<U>> {
  /**
   * The count that a date is: `datetime64('s')(new Date())`. In a kernel `datetime64('s')(n)` is the date that a bigint counts, and
   * `datetime64('s')(d)` a date in another unit, rounded down. Throws TypeError or RangeError for anything that is not a date.
   */
  (value: DateLike): t.datetime64<U>;
  /** NumPy's letter for dates. */
  readonly kind: 'M';
  /** The unit that is counted, from 1970 on. */
  readonly unit: TimeUnit;
  /** The type of the count. */
  readonly lane: DTypeToken<unknown>;
  /** A fixed sub-array for the field of a struct. */
  array<const S extends readonly number[]>(...shape: S): SubArrayDType<t.datetime64<U>, S>;
}

/** A dtype of durations; called, it makes one. */
export interface TimedeltaToken<out U extends TimeUnit> extends DType<t.timedelta64<U>> {
  /** The count that a duration is: `timedelta64('s')(90n)`. In a kernel the duration, of a count or of a duration in another unit, rounded down. */
  (value: bigint | string): t.timedelta64<U>;
  /** NumPy's letter for durations. */
  readonly kind: 'm';
  /** The unit that is counted. */
  readonly unit: TimeUnit;
  /** The type of the count. */
  readonly lane: DTypeToken<unknown>;
  /** A fixed sub-array for the field of a struct. */
  array<const S extends readonly number[]>(...shape: S): SubArrayDType<t.timedelta64<U>, S>;
}

/** Either. */
export type TimeToken = DatetimeToken<TimeUnit> | TimedeltaToken<TimeUnit>;

/** "Not a time": the count that stands for it. It equals nothing, itself included: `isNaT(x)` asks for it. NumPy: `np.datetime64('NaT')`. */
export const NaT: bigint = -(2n ** 63n);

/** Whether a date or duration is none, on the host and in kernels. NumPy: `np.isnat`. */
export function isNaT(value: Date | bigint): boolean {
  return typeof value === 'bigint' ? value === NaT : Number.isNaN(value.getTime());
}

const TIMES = new Map<string, TimeToken>();

function token(kind: 'M' | 'm', unit: unknown): TimeToken {
  const maker = kind === 'M' ? 'datetime64' : 'timedelta64';
  if (!isTimeUnit(unit)) {
    throw new TsambaTypeError('E_DTYPE', `${maker} takes a unit, one of ${TIME_UNITS.join(', ')}, got ${show(unit)}`);
  }
  const name = `${maker}[${unit}]`;
  const known = TIMES.get(name);
  if (known !== undefined) return known;
  const make = (value: unknown): bigint => countOf(made, value);
  Object.defineProperty(make, 'name', { value: name });
  Object.defineProperty(make, DTYPE, { value: name });
  Object.assign(make, {
    kind,
    unit,
    itemSize: 8,
    alignment: 8,
    typestr: `<${kind}8[${unit}]`,
    lane: i64,
    array: (...shape: readonly number[]) => subArray(made as DType, shape),
  });
  const made = Object.freeze(printable(make)) as unknown as TimeToken;
  TIMES.set(name, made);
  return made;
}

/**
 * Dates that count `unit` from 1970-01-01T00:00Z on: `datetime64('D')`, or the strings `'datetime64[D]'` and `'<M8[D]'`. Units are
 * Y M W D h m s ms us ns. Throws TypeError for another. NumPy: `np.dtype('datetime64[D]')`. Numba: `types.NPDatetime('D')`.
 */
export function datetime64<const U extends TimeUnit>(unit: U): DatetimeToken<U> {
  return token('M', unit) as unknown as DatetimeToken<U>;
}
export type datetime64<U extends TimeUnit = TimeUnit> = t.datetime64<U>;

/**
 * Durations of a unit: `timedelta64('us')`, or the strings `'timedelta64[us]'` and `'<m8[us]'`. Throws TypeError for another unit than Y M W D h m s ms us ns.
 * NumPy: `np.dtype('timedelta64[us]')`. Numba: `types.NPTimedelta('us')`.
 */
export function timedelta64<const U extends TimeUnit>(unit: U): TimedeltaToken<U> {
  return token('m', unit) as unknown as TimedeltaToken<U>;
}
export type timedelta64<U extends TimeUnit = TimeUnit> = t.timedelta64<U>;

/** Whether the elements of a dtype are dates or durations. */
export function isTimeDType(dtype: DType): dtype is TimeToken {
  return TIMES.get(dtype.name) === (dtype as TimeToken);
}

/** The dtype that `'datetime64[ns]'`, `'<M8[ns]'`, `'M8[ns]'` or their likes of durations name; undefined for others. Throws TypeError for another unit. */
export function parseTime(text: string): TimeToken | undefined {
  const found = /^(?:(datetime|timedelta)64|[<=]?([Mm])8)(?:\[(.*)\])?$/.exec(text);
  if (found === null) return undefined;
  return token(found[1] === undefined ? (found[2] as 'M' | 'm') : found[1] === 'datetime' ? 'M' : 'm', found[3]);
}

/** The count that a value is in a dtype's unit. Throws TypeError, or RangeError for one beyond 64 bits. */
export function countOf(dtype: TimeToken, value: unknown): bigint {
  const count = value === 'NaT' ? NaT : typeof value === 'bigint' ? value : countOfDate(dtype, value);
  if (BigInt.asIntN(64, count) === count) return count;
  throw new TsambaRangeError('E_CONVERT', `${show(value)} is beyond the range of ${dtype.name}`);
}

function countOfDate(dtype: TimeToken, value: unknown): bigint {
  const instant = dtype.kind === 'M' ? instantOf(value) : undefined;
  if (instant === undefined) {
    const given = typeof value === 'number' ? `the number ${value}` : show(value);
    const wanted =
      dtype.kind === 'M'
        ? `a Date, a string such as '2026-11-23', or a bigint that counts ${dtype.unit} from 1970 on`
        : `a bigint that counts ${dtype.unit}`;
    throw new TsambaTypeError('E_CONVERT', `an element of ${dtype.name} must be ${wanted}, got ${given}`);
  }
  if (instant === NaT) return NaT;
  const months = monthsIn(dtype.unit);
  return months === undefined ? floorDiv(instant, nanosecondsIn(dtype.unit)) : floorDiv(monthOf(instant), months);
}

/** Nanoseconds since 1970, of any size; NaT; undefined for anything that is not a date. */
function instantOf(value: unknown): bigint | undefined {
  if (value instanceof Date) {
    const ms = value.getTime();
    return Number.isNaN(ms) ? NaT : BigInt(ms) * 1_000_000n;
  }
  return typeof value === 'string' ? fromIso(value) : undefined;
}

/** The month, counted from 1970 on, that an instant is in. */
function monthOf(instant: bigint): bigint {
  const [year, month] = toIso(instant, 'M').split(/(?<=\d)-/) as [string, string];
  return (BigInt(year) - 1970n) * 12n + BigInt(month) - 1n;
}

/** Nanoseconds from 1970 on to the start of what a count of a unit names. */
function startOf(count: bigint, unit: TimeUnit): bigint {
  const months = monthsIn(unit);
  if (months === undefined) return count * nanosecondsIn(unit);
  const month = count * months;
  const year = 1970n + floorDiv(month, 12n);
  const iso = `${year}-${String(month - floorDiv(month, 12n) * 12n + 1n).padStart(2, '0')}`;
  return fromIso(iso) ?? 0n;
}

/** The latest instant of a `Date`, in milliseconds. */
const MOST_MILLISECONDS = 864n * 10n ** 13n;

/** What an element is on the host. */
export function hostTime(dtype: TimeToken, count: bigint): Date | bigint {
  if (dtype.kind === 'm' || dtype.unit === 'us' || dtype.unit === 'ns') return count;
  if (count === NaT) return new Date(Number.NaN);
  const ms = startOf(count, dtype.unit) / 1_000_000n;
  return ms > MOST_MILLISECONDS || ms < -MOST_MILLISECONDS ? count : new Date(Number(ms));
}

/** How an element prints, as in NumPy: `2026-11-23T08:05`, `NaT`, `90`. */
export function showTime(dtype: TimeToken, count: bigint): string {
  if (count === NaT) return 'NaT';
  return dtype.kind === 'm' ? String(count) : toIso(startOf(count, dtype.unit), dtype.unit);
}

/** Whether elements of one dtype have a meaning in the other: a year has no fixed number of days, unless it is one of the calendar. */
export function areConvertible(from: TimeToken, to: TimeToken): boolean {
  const ofMonths = (dtype: TimeToken): boolean => monthsIn(dtype.unit) !== undefined;
  return from.kind === to.kind && (from.kind === 'M' || ofMonths(from) === ofMonths(to));
}

/** An element of the host as a count of another unit, rounded down. */
export function inUnit(from: TimeToken, to: TimeToken, value: unknown): bigint {
  const count = countOf(from, value);
  if (count === NaT) return NaT;
  const [own, wanted] = [monthsIn(from.unit), monthsIn(to.unit)];
  if (own !== undefined && wanted !== undefined) return countOf(to, floorDiv(count * own, wanted));
  const instant = startOf(count, from.unit);
  return countOf(
    to,
    wanted === undefined ? floorDiv(instant, nanosecondsIn(to.unit)) : floorDiv(monthOf(instant), wanted),
  );
}
