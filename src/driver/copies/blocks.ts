/**
 * Strided copies as block copies: rows and layers at pitches, which the copy engines of GPUs do by themselves. Pure.
 */
import { type Axis, countOf, type Walk } from './walk.ts';

/** Rows of `width` bytes, `height` of them a layer, `depth` layers; pitches in bytes, layer heights in rows. */
export interface Block {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly tPitch: number;
  readonly sPitch: number;
  readonly tHeight: number;
  readonly sHeight: number;
}

/** The same block at several places: offsets in bytes, target and source. */
export interface Blocks {
  readonly block: Block;
  readonly at: readonly (readonly [t: number, s: number])[];
}

/** The driver's CU_DEVICE_ATTRIBUTE_MAX_PITCH; OpenCL has no limit. */
const MAX_PITCH = 2 ** 31 - 1;
/** Block copies that a strided copy may be cut into. */
const MAX_BLOCKS = 64;

/** Block copies for a walk; undefined where pitches cannot say it, or only in too many pieces. */
export function blocksOf(walk: Walk): Blocks | undefined {
  if (walk.ordered) return undefined;
  const { item } = walk;
  const pitched = (axis: Axis): boolean =>
    axis.t >= item && axis.s >= item && axis.t <= MAX_PITCH && axis.s <= MAX_PITCH;
  const rows = longest(walk.axes, pitched);
  const layers = rows === undefined ? undefined : longest(walk.axes, (axis) => axis !== rows && stacked(axis, rows));
  const outer = walk.axes.filter((axis) => axis !== rows && axis !== layers);
  if (countOf(outer) > MAX_BLOCKS) return undefined;
  const tPitch = rows?.t ?? item;
  const sPitch = rows?.s ?? item;
  const height = rows?.n ?? 1;
  const block: Block = {
    width: item,
    height,
    depth: layers?.n ?? 1,
    tPitch,
    sPitch,
    tHeight: layers === undefined ? height : layers.t / tPitch,
    sHeight: layers === undefined ? height : layers.s / sPitch,
  };
  return { block, at: places(outer, walk.t, walk.s) };
}

/** Whether an axis is one of layers over these rows: a whole number of pitches apart on both sides. */
function stacked(axis: Axis, rows: Axis): boolean {
  const fits = (layer: number, pitch: number): boolean => layer % pitch === 0 && layer / pitch >= rows.n;
  return fits(axis.t, rows.t) && fits(axis.s, rows.s);
}

function longest(axes: readonly Axis[], fits: (axis: Axis) => boolean): Axis | undefined {
  let best: Axis | undefined;
  for (const axis of axes) if (fits(axis) && axis.n > (best?.n ?? 1)) best = axis;
  return best;
}

/** Offsets of all index combinations of some axes. */
export function places(axes: readonly Axis[], t: number, s: number): [number, number][] {
  let at: [number, number][] = [[t, s]];
  for (const axis of axes) {
    at = at.flatMap(([ft, fs]) =>
      Array.from({ length: axis.n }, (_, i): [number, number] => [ft + i * axis.t, fs + i * axis.s]),
    );
  }
  return at;
}
