/**
 * What the front end writes in the language of kernels, and inlines where it is needed: loops over the characters of strings, and the calendar.
 *
 * Characters are numbers in arrays that have zeros behind a string which is shorter than they are. A function may use nothing but its parameters:
 * it is read like one of an author's, and minified builds rename what stands around it.
 */
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import type { Evaluation } from './evaluation.ts';
import type { Value } from './values.ts';

type Units = ArrayLike<number>;

/** Inlines one of the functions below. */
export function inline(ctx: Evaluation, fn: (...args: never[]) => unknown, args: readonly Value[], pos: Pos): TExpr {
  const captured = ctx.kernel.read(fn, pos);
  const called = { name: fn.name, node: captured.node, captured, scope: undefined };
  return ctx.scalar(ctx.parts.call(ctx, called, args, pos), pos);
}

// ---------------------------------------------------------------- strings

/** How many characters there are. */
export function countUnits(a: Units): number {
  for (let k = a.length; k > 0; k--) if (a[k - 1] !== 0) return k;
  return 0;
}

/** How many words of 16 bits the first `n` characters are in JavaScript, where one beyond U+FFFF is two. */
export function countWords(a: ArrayLike<number>, n: number): number {
  let words = n;
  for (let k = 0; k < n; k++) if ((a[k] as number) > 0xffff) words++;
  return words;
}

/** Word `index` of the string, as `charCodeAt` gives it; 0 where there is none. */
export function wordAt(a: Units, index: number): number {
  let at = 0;
  for (let k = 0; k < a.length; k++) {
    const unit = a[k] as number;
    if (at === index) return unit > 0xffff ? 0xd800 + ((unit - 0x10000) >> 10) : unit;
    at++;
    if (unit > 0xffff) {
      if (at === index) return 0xdc00 + ((unit - 0x10000) & 0x3ff);
      at++;
    }
  }
  return 0;
}

/** Whether two strings are the same. */
export function sameUnits(a: Units, b: Units): boolean {
  const shorter = Math.min(a.length, b.length);
  for (let k = 0; k < shorter; k++) if (a[k] !== b[k]) return false;
  for (let k = shorter; k < a.length; k++) if (a[k] !== 0) return false;
  for (let k = shorter; k < b.length; k++) if (b[k] !== 0) return false;
  return true;
}

/** -1, 0 or 1, as the first string comes before the second, is the same, or comes behind it in JavaScript's order, that of words of 16 bits. */
export function orderUnits(a: Units, b: Units): number {
  const longer = Math.max(a.length, b.length);
  for (let k = 0; k < longer; k++) {
    const x = k < a.length ? (a[k] as number) : 0;
    const y = k < b.length ? (b[k] as number) : 0;
    if (x !== y) {
      // What is beyond U+FFFF begins with a surrogate, which comes before U+E000.
      const first = x >= 0xe000 && x < 0x10000 ? x + 0x110000 : x;
      const second = y >= 0xe000 && y < 0x10000 ? y + 0x110000 : y;
      return first < second ? -1 : 1;
    }
  }
  return 0;
}

/** Whether the `m` characters of `b` stand in `a`, which has `n`, from `at` on. */
export function standsAt(a: Units, n: number, b: Units, m: number, at: number): boolean {
  if (at < 0 || at + m > n) return false;
  for (let k = 0; k < m; k++) if (a[at + k] !== b[k]) return false;
  return true;
}

/** Where the `m` characters of `b` stand first in `a`, which has `n`; -1 if they do not. */
export function findUnits(a: Units, n: number, b: Units, m: number): number {
  for (let at = 0; at + m <= n; at++) {
    let same = true;
    for (let k = 0; k < m && same; k++) if (a[at + k] !== b[k]) same = false;
    if (same) return at;
  }
  return -1;
}

// ---------------------------------------------------------------- dates

/** The quotient rounded down; `b` is positive. */
export function floorQuotient(a: bigint, b: bigint): bigint {
  const q = a / b;
  return q * b > a ? q - 1n : q;
}

/** Days from 1970 on to the first day of a month that is counted so (Hinnant, "chrono-compatible low-level date algorithms"). */
export function daysOfMonths(months: bigint): bigint {
  // The year begins in March, so that the day that some have more is its last; eras have 400 years, and counts below are positive.
  const shifted = months - 2n;
  const fromMarch = shifted - 12n * (shifted / 12n - (shifted % 12n < 0n ? 1n : 0n));
  const y = (shifted - fromMarch) / 12n + 1970n;
  const era = y / 400n - (y % 400n < 0n ? 1n : 0n);
  const yearOfEra = y - era * 400n;
  const dayOfYear = (153n * fromMarch + 2n) / 5n;
  return era * 146_097n + yearOfEra * 365n + yearOfEra / 4n - yearOfEra / 100n + dayOfYear - 719_468n;
}

/** The month, counted from 1970 on, that a day counted so is in. */
export function monthsOfDays(days: bigint): bigint {
  const z = days + 719_468n;
  const era = z / 146_097n - (z % 146_097n < 0n ? 1n : 0n);
  const dayOfEra = z - era * 146_097n;
  const yearOfEra = (dayOfEra - dayOfEra / 1460n + dayOfEra / 36_524n - dayOfEra / 146_096n) / 365n;
  const dayOfYear = dayOfEra - (365n * yearOfEra + yearOfEra / 4n - yearOfEra / 100n);
  const fromMarch = (5n * dayOfYear + 2n) / 153n;
  return (yearOfEra + era * 400n - 1970n) * 12n + fromMarch + 2n;
}
