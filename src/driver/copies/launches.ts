/**
 * What the copy and fill kernels are told: a walk as launches with their parameters. Pure.
 *
 * A launch moves fewer than 2³¹ units of 1, 2, 4, 8 or 16 bytes along at most eight axes; larger walks become several launches.
 * Indices are 32 bits wide and divided by multiplication; addresses are 64 bits wide.
 */
import { type Axis, countOf, cut, type Walk } from './walk.ts';

/** Bytes that one load or store moves. */
export type Unit = 1 | 2 | 4 | 8 | 16;
export const UNITS: readonly Unit[] = [1, 2, 4, 8, 16];

/** Axes that a kernel knows. */
export const MAX_AXES = 8;

/** One launch; addresses are absolute, axes outermost first, strides in bytes. */
export interface CopyLaunch {
  readonly unit: Unit;
  readonly target: number;
  readonly source: number;
  readonly axes: readonly Axis[];
  readonly count: number;
  /** One thread does it all, in order. */
  readonly ordered: boolean;
}

/** Byte offsets in the parameter buffer. */
export const PARAMETERS = {
  target: 0,
  source: 8,
  count: 16,
  rank: 20,
  /** Fills only: as many bytes as a unit has. */
  pattern: 32,
  /** Innermost first: length, multiplier, shift, unused (u32 each), target stride, source stride (s64 each). */
  axes: 48,
  axisBytes: 32,
  /** With eight axes. */
  bytes: 304,
} as const;

const MAX_COUNT = 2 ** 31 - 1;

/** The launches of a copy between two device addresses; `source` is undefined for fills. */
export function launchesOf(walk: Walk, target: number, source: number | undefined, most: Unit = 16): CopyLaunch[] {
  const unit = unitOf(walk, target, source, most);
  const inner: Axis[] = walk.item > unit ? [{ n: walk.item / unit, t: unit, s: unit }] : [];
  const whole: Walk = { ...walk, axes: [...walk.axes, ...inner], item: unit };
  return divide(whole).map((part) => ({
    unit,
    target: target + part.t,
    source: (source ?? 0) + part.s,
    axes: part.axes,
    count: countOf(part.axes),
    ordered: walk.ordered,
  }));
}

/** The largest unit to which everything is aligned, and which divides the item. */
export function unitOf(walk: Walk, target: number, source: number | undefined, most: Unit = 16): Unit {
  const places = [walk.item, target + walk.t, ...walk.axes.map((axis) => axis.t)];
  if (source !== undefined) places.push(source + walk.s, ...walk.axes.map((axis) => axis.s));
  const fits = (unit: Unit): boolean => unit <= most && places.every((place) => place % unit === 0);
  return UNITS.findLast(fits) ?? 1;
}

/** Cuts a walk until each part has few enough axes and elements. */
function divide(walk: Walk): Walk[] {
  const { axes } = walk;
  if (axes.length > MAX_AXES) {
    // Short axes give few parts; but what is ordered is cut along the outermost.
    let at = 0;
    if (!walk.ordered) axes.forEach((axis, k) => (at = axis.n < (axes[at]?.n ?? 0) ? k : at));
    return cut(walk, at, 1).flatMap((part) => divide({ ...part, axes: part.axes.toSpliced(at, 1) }));
  }
  const count = countOf(axes);
  if (count <= MAX_COUNT) return [walk];
  const outer = axes[0] as Axis;
  const length = Math.floor(MAX_COUNT / (count / outer.n));
  if (length >= 1) return cut(walk, 0, length);
  return cut(walk, 0, 1).flatMap((part) => divide({ ...part, axes: part.axes.slice(1) }));
}

/** Writes a launch's parameters; `pattern` for fills, as long as the unit. */
export function pack(launch: CopyLaunch, into: DataView, pattern?: Uint8Array): void {
  into.setBigUint64(PARAMETERS.target, BigInt(launch.target), true);
  into.setBigUint64(PARAMETERS.source, BigInt(launch.source), true);
  into.setUint32(PARAMETERS.count, launch.count, true);
  into.setUint32(PARAMETERS.rank, launch.axes.length, true);
  launch.axes.toReversed().forEach((axis, k) => {
    const at = PARAMETERS.axes + k * PARAMETERS.axisBytes;
    const { multiplier, shift } = divider(axis.n);
    into.setUint32(at, axis.n, true);
    into.setUint32(at + 4, multiplier, true);
    into.setUint32(at + 8, shift, true);
    into.setBigInt64(at + 16, BigInt(axis.t), true);
    into.setBigInt64(at + 24, BigInt(axis.s), true);
  });
  pattern?.forEach((byte, k) => {
    into.setUint8(PARAMETERS.pattern + k, byte);
  });
}

/**
 * Division of i < 2³¹ by n: `(mulhi(i, multiplier) + i) >> shift`. The multiplier is ⌊2³²·(2^shift − n) / n⌋ + 1 with the least
 * 2^shift ≥ n (Granlund and Montgomery, "Division by Invariant Integers using Multiplication").
 */
export function divider(n: number): { multiplier: number; shift: number } {
  const shift = n <= 1 ? 0 : 32 - Math.clz32(n - 1);
  const multiplier = (2n ** 32n * (2n ** BigInt(shift) - BigInt(n))) / BigInt(n) + 1n;
  return { multiplier: Number(multiplier), shift };
}
