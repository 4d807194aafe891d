/**
 * Floats of 16 and 8 bits by their definitions, for chapters that hold devices against them: the value of every element, and what a double is
 * rounded to. Nothing here is shared with the library: elements are searched in the list of all of them, and distances are exact.
 */
import { ConformanceFailure } from './assert.ts';

/** How the bits of a format are divided. */
export interface Format {
  readonly name: string;
  readonly exponentBits: number;
  readonly fractionBits: number;
  /** Without infinities; the last element is the only NaN. */
  readonly finite?: boolean;
  /** What is too large becomes the greatest number. */
  readonly saturates?: boolean;
}

export const F16: Format = { name: 'f16', exponentBits: 5, fractionBits: 10 };
export const BF16: Format = { name: 'bf16', exponentBits: 8, fractionBits: 7 };
export const F8E4M3: Format = { name: 'f8e4m3', exponentBits: 4, fractionBits: 3, finite: true, saturates: true };
export const F8E5M2: Format = { name: 'f8e5m2', exponentBits: 5, fractionBits: 2, saturates: true };

/** How many elements there are. */
export function countOf({ exponentBits, fractionBits }: Format): number {
  return 2 ** (1 + exponentBits + fractionBits);
}

/** The value of an element. */
export function numberOf(format: Format, bits: number): number {
  const { exponentBits: e, fractionBits: f, finite } = format;
  const sign = bits >= countOf(format) / 2 ? -1 : 1;
  const magnitude = bits % (countOf(format) / 2);
  const [exponent, fraction] = [Math.floor(magnitude / 2 ** f), magnitude % 2 ** f];
  const bias = 2 ** (e - 1) - 1;
  if (finite ? magnitude === countOf(format) / 2 - 1 : exponent === 2 ** e - 1 && fraction > 0) return Number.NaN;
  if (!finite && exponent === 2 ** e - 1) return sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction * 2 ** (1 - bias - f) : (2 ** f + fraction) * 2 ** (exponent - bias - f));
}

/** The values of all elements, by their bits. */
export function allNumbers(format: Format): number[] {
  return Array.from({ length: countOf(format) }, (_, bits) => numberOf(format, bits));
}

const POSITIVE = new Map<Format, readonly number[]>();

/** The finite elements that are not negative, ascending. */
function positive(format: Format): readonly number[] {
  const known =
    POSITIVE.get(format) ??
    allNumbers(format)
      .slice(0, countOf(format) / 2)
      .filter(Number.isFinite);
  POSITIVE.set(format, known);
  return known;
}

/** A double as the nearest element, ties to the even one. */
export function nearest(format: Format, x: number): number {
  if (Number.isNaN(x)) return x;
  const elements = positive(format);
  const size = Math.abs(x);
  const greatest = elements[elements.length - 1] as number;
  const beyond = 2 * greatest - (elements[elements.length - 2] as number);
  let [low, high] = [0, elements.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((elements[middle] as number) <= size) low = middle;
    else high = middle;
  }
  const below = elements[low] as number;
  const above = elements[high] ?? beyond;
  const up = size - below > above - size || (size - below === above - size && low % 2 === 1);
  const rounded = up || size === Number.POSITIVE_INFINITY ? above : below;
  const limited = rounded < beyond ? rounded : format.saturates ? greatest : Number.POSITIVE_INFINITY;
  return x < 0 || Object.is(x, -0) ? -limited : limited;
}

/** Bits of elements are the same, but that a NaN may be any NaN. */
export function sameBits(format: Format, actual: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  for (let k = 0; k < expected.length; k++) {
    const [a, e] = [actual[k] as number, expected[k] as number];
    if (a === e || (Number.isNaN(numberOf(format, a)) && Number.isNaN(numberOf(format, e)))) continue;
    throw new ConformanceFailure(`${format.name}, ${what} ${k}: ${a.toString(16)} instead of ${e.toString(16)}`);
  }
}

/** f32 of every sign and exponent: around each value of 16 bits itself, the tie to the next, and what is next to the tie. */
export function manySingles(): Float32Array<ArrayBuffer> {
  const around = [0x0000, 0x7fff, 0x8000, 0x8001, 0xffff];
  const words = new Uint32Array(65536 * around.length);
  for (let bits = 0; bits < 65536; bits++)
    for (const [n, low] of around.entries()) words[bits * around.length + n] = bits * 65536 + low;
  return new Float32Array(words.buffer);
}

/** The elements of a format, the ties between neighbours, what is next to a tie where f32 does not show it, and limits. */
export function manyDoubles(format: Format, every = 1): Float64Array<ArrayBuffer> {
  const elements = positive(format);
  const some = elements.filter((_, k) => k % every === 0 || k > elements.length - 3);
  const ties = some.map((x) => {
    const next = elements[elements.indexOf(x) + 1] ?? x;
    return (x + next) / 2;
  });
  const list = [...some, ...ties, ...ties.map((t) => t * (1 + 2 ** -45)), ...ties.map((t) => t * (1 - 2 ** -45))];
  list.push(Number.POSITIVE_INFINITY, Number.NaN, 5e-324, 1e300, 1e-45, 0.1, 1 / 3);
  return Float64Array.from(list.flatMap((x) => [x, -x]));
}

/** a * b + c, rounded once: what the sum in double precision has lost decides where that is a tie. */
export function fused(format: Format, a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  if (!Number.isFinite(sum)) return nearest(format, sum);
  const part = sum - product;
  const lost = product - (sum - part) + (c - part);
  return nearest(format, lost === 0 ? sum : sum + Math.sign(lost) * Math.abs(sum) * 2 ** -52);
}

/** What f32 functions may give: the exact result, a few units of f32 off, rounded. */
export function close(format: Format, actual: ArrayLike<number>, exact: readonly number[], what: string): void {
  for (let k = 0; k < exact.length; k++) {
    const [a, e] = [actual[k] as number, exact[k] as number];
    const slack = Math.abs(e) * 2 ** -20 + 2 ** -146;
    if (Object.is(a, nearest(format, e))) continue;
    if (Number.isFinite(e) && (a === nearest(format, e - slack) || a === nearest(format, e + slack))) continue;
    throw new ConformanceFailure(
      `${what} of ${k.toString(16)} as ${format.name}: ${a} instead of ${nearest(format, e)}`,
    );
  }
}

/** The nearest whole number, halves to even; zeros keep their sign. */
export function evenRound(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  const y = rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
  return y === 0 && (x < 0 || Object.is(x, -0)) ? -0 : y;
}
