/**
 * Dates as text, ISO 8601: to and from nanoseconds since 1970, of any year, in the calendar that NumPy and JavaScript use (proleptic Gregorian).
 */
import { floorDiv, nanosecondsIn, type TimeUnit } from './time-units.ts';

/** Days from 1970-01-01 to a day of the calendar (Hinnant, "chrono-compatible low-level date algorithms"). */
function daysFromCivil(year: bigint, month: bigint, day: bigint): bigint {
  const y = month <= 2n ? year - 1n : year;
  const era = floorDiv(y, 400n);
  const yearOfEra = y - era * 400n;
  const dayOfYear = (153n * (month + (month > 2n ? -3n : 9n)) + 2n) / 5n + day - 1n;
  return era * 146_097n + yearOfEra * 365n + yearOfEra / 4n - yearOfEra / 100n + dayOfYear - 719_468n;
}

/** The day of the calendar so many days from 1970-01-01. */
function civilFromDays(days: bigint): readonly [year: bigint, month: bigint, day: bigint] {
  const z = days + 719_468n;
  const era = floorDiv(z, 146_097n);
  const dayOfEra = z - era * 146_097n;
  const yearOfEra = (dayOfEra - dayOfEra / 1460n + dayOfEra / 36_524n - dayOfEra / 146_096n) / 365n;
  const dayOfYear = dayOfEra - (365n * yearOfEra + yearOfEra / 4n - yearOfEra / 100n);
  const shifted = (5n * dayOfYear + 2n) / 153n;
  const month = shifted < 10n ? shifted + 3n : shifted - 9n;
  return [yearOfEra + era * 400n + (month <= 2n ? 1n : 0n), month, dayOfYear - (153n * shifted + 2n) / 5n + 1n];
}

const ISO = /^([+-]?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?Z?)?)?)?$/;

/** Nanoseconds since 1970 of `'2026'`, `'2026-11'`, `'2026-11-23'`, `'2026-11-23T08:05:00.123456789'`; undefined for anything that is not a date. Times are UTC. */
export function fromIso(text: string): bigint | undefined {
  const found = ISO.exec(text.trim());
  if (found === null) return undefined;
  const part = (k: number, otherwise: bigint): bigint => (found[k] === undefined ? otherwise : BigInt(found[k]));
  const [year, month, day] = [BigInt((found[1] ?? '').replace('+', '')), part(2, 1n), part(3, 1n)];
  const [hour, minute, second] = [part(4, 0n), part(5, 0n), part(6, 0n)];
  const days = daysFromCivil(year, month, day);
  const [, sameMonth, sameDay] = civilFromDays(days);
  if (sameMonth !== month || sameDay !== day || hour > 23n || minute > 59n || second > 59n) return undefined;
  const fraction = BigInt((found[7] ?? '').padEnd(9, '0'));
  return days * nanosecondsIn('D') + ((hour * 60n + minute) * 60n + second) * nanosecondsIn('s') + fraction;
}

/** How many digits of a second a unit shows. */
const DIGITS: Readonly<Partial<Record<TimeUnit, number>>> = { ms: 3, us: 6, ns: 9 };

/** An instant as NumPy prints it in a unit: `2026-11`, `2026-11-23T08:05`. */
export function toIso(instant: bigint, unit: TimeUnit): string {
  const days = floorDiv(instant, nanosecondsIn('D'));
  const [year, month, day] = civilFromDays(days);
  const two = (n: bigint): string => String(n).padStart(2, '0');
  const digits = String(year < 0n ? -year : year).padStart(4, '0');
  const shownYear = year < 0n ? `-${digits}` : digits;
  if (unit === 'Y') return shownYear;
  if (unit === 'M') return `${shownYear}-${two(month)}`;
  const date = `${shownYear}-${two(month)}-${two(day)}`;
  if (unit === 'D' || unit === 'W') return date;
  const rest = instant - days * nanosecondsIn('D');
  const seconds = rest / nanosecondsIn('s');
  const fraction = String(rest % nanosecondsIn('s')).padStart(9, '0');
  const [hour, minute, second] = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(two) as [
    string,
    string,
    string,
  ];
  if (unit === 'h') return `${date}T${hour}`;
  if (unit === 'm') return `${date}T${hour}:${minute}`;
  const places = DIGITS[unit];
  return `${date}T${hour}:${minute}:${second}${places === undefined ? '' : `.${fraction.slice(0, places)}`}`;
}
