/**
 * The units of dates and durations: how long each is, and which of two is the finer.
 */

/** From a year to a nanosecond, coarsest first. NumPy's letters. */
export const TIME_UNITS = ['Y', 'M', 'W', 'D', 'h', 'm', 's', 'ms', 'us', 'ns'] as const;

/** A unit of dates and durations. */
export type TimeUnit = (typeof TIME_UNITS)[number];

const NANOSECONDS: Readonly<Record<Exclude<TimeUnit, 'Y' | 'M'>, bigint>> = {
  W: 604_800_000_000_000n,
  D: 86_400_000_000_000n,
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  ns: 1n,
};

export function isTimeUnit(unit: unknown): unit is TimeUnit {
  return TIME_UNITS.some((known) => known === unit);
}

/** How many months a unit has; undefined for one that is not a number of them. */
export function monthsIn(unit: TimeUnit): bigint | undefined {
  return unit === 'Y' ? 12n : unit === 'M' ? 1n : undefined;
}

/** How long a unit is that is not a number of months. */
export function nanosecondsIn(unit: TimeUnit): bigint {
  if (unit === 'Y' || unit === 'M') throw new Error(`${unit} has no fixed length`);
  return NANOSECONDS[unit];
}

/** The finer of two units. */
export function finerUnit(a: TimeUnit, b: TimeUnit): TimeUnit {
  return TIME_UNITS.indexOf(a) > TIME_UNITS.indexOf(b) ? a : b;
}

/** The quotient rounded down; `b` is positive. */
export function floorDiv(a: bigint, b: bigint): bigint {
  return a < 0n && a % b !== 0n ? a / b - 1n : a / b;
}
