/**
 * How a strided copy between host and device is done: the cheapest of what is possible, by measured costs. Pure.
 *
 * Three ways: block copies, which the copy engines do with pitches of their own; one contiguous transfer of the host's whole span,
 * packed or unpacked on the device by a kernel; and gathering or scattering on the host around one of these.
 */
import { type Blocks, blocksOf } from '../../copies/blocks.ts';
import { unitOf } from '../../copies/launches.ts';
import {
  type Axis,
  bytesOf,
  compact,
  countOf,
  cut,
  dense,
  renormal,
  replaceSide,
  span,
  type Walk,
} from '../../copies/walk.ts';

/** To the device. `span`: host bytes from `low` on go to a temporary, from which `walk` (source offsets in the temporary) moves them. */
export type Upload =
  | { readonly how: 'blocks'; readonly blocks: Blocks }
  | { readonly how: 'span'; readonly low: number; readonly bytes: number; readonly walk: Walk }
  | { readonly how: 'gather'; readonly bytes: number; readonly gather: Walk; readonly then: Upload };

/** To the host. `span`: `walk` packs into a temporary, which goes to the host's bytes from `low` on. */
export type Download =
  | { readonly how: 'blocks'; readonly blocks: Blocks }
  | { readonly how: 'span'; readonly low: number; readonly bytes: number; readonly walk: Walk }
  | { readonly how: 'scatter'; readonly bytes: number; readonly first: Download; readonly scatter: Walk };

/** What things cost, in nanoseconds. Measured on an H200 with PCIe 5; only the order of magnitude matters. */
const CALL = 4000;
/** A temporary and a kernel around a transfer, and a byte that the kernel moves. */
const KERNEL = 12_000;
const DEVICE_BYTE = 0.0005;
/** A byte between host and device, and a row of a block copy whatever its width. */
const PINNED = { byte: 0.019, uploadRow: 1.6, downloadRow: 1.6 };
const PAGEABLE = { byte: 0.057, uploadRow: 4.5, downloadRow: 160 };
/** A byte of a contiguous transfer that several threads stage. */
const STAGED_BYTE = 0.024;
const WORTH_STAGING = 16 * 2 ** 20;
/** Gathering and scattering on the host: an element moved word by word, a row moved as one, a byte of it. */
const HOST_WORD = 4.5;
const HOST_ROW = 60;
const HOST_BYTE = 0.06;
const HOST_ROW_BYTES = 128;

/** Bytes of a pinned buffer that the host gathers into and scatters from. */
export const BOUNCE_BYTES: number = 8 * 2 ** 20;
/** Bytes of a temporary, about. */
const MAX_TEMPORARY = 2 ** 28;
/** Plans a copy to the device: `t` is the device's side of the walk. `pinned`: the host's memory. */
export function planUpload(walk: Walk, pinned: boolean): Upload {
  const options: [number, Upload][] = [];
  const blocks = blocksOf(walk);
  if (blocks !== undefined) options.push([blocksCost(blocks, pinned, 'uploadRow'), { how: 'blocks', blocks }]);
  const [low, high] = span(walk, 's');
  const spanned: Upload = {
    how: 'span',
    low,
    bytes: high - low,
    walk: { ...walk, s: walk.s - low },
  };
  options.push([spanCost(high - low, pinned, bytesOf(walk)), spanned]);
  if (!dense(walk, 's')) options.push(costedGather(walk));
  return cheapest(options);
}

/** Plans a copy to the host: `t` is the host's side of the walk. `pinned`: the host's memory. */
export function planDownload(walk: Walk, pinned: boolean): Download {
  const options: [number, Download][] = [];
  const blocks = blocksOf(walk);
  if (blocks !== undefined) options.push([blocksCost(blocks, pinned, 'downloadRow'), { how: 'blocks', blocks }]);
  if (!walk.ordered && dense(walk, 't')) {
    const [low, high] = span(walk, 't');
    const packed: Download = { how: 'span', low, bytes: high - low, walk: { ...walk, t: walk.t - low } };
    options.push([spanCost(high - low, pinned, high - low), packed]);
  } else {
    options.push(costedScatter(walk));
  }
  return cheapest(options);
}

/** A part of a copy, and how it is done. */
export interface Step<Plan> {
  readonly walk: Walk;
  readonly plan: Plan;
}

/** Plans a copy to the device of any size. */
export function uploadSteps(walk: Walk, pinned: boolean): Step<Upload>[] {
  return divide(walk, 's').flatMap((part) => {
    const plan = planUpload(part, pinned);
    return plan.how === 'gather' ? gatherSteps(part) : [{ walk: part, plan }];
  });
}

/** Plans a copy to the host of any size. */
export function downloadSteps(walk: Walk, pinned: boolean): Step<Download>[] {
  return divide(walk, 't').flatMap((part) => {
    const plan = planDownload(part, pinned);
    return plan.how === 'scatter' ? scatterSteps(part) : [{ walk: part, plan }];
  });
}

/** The way over a copy of the host's elements, whatever it costs, in parts that fit into a bounce buffer. */
export function gatherSteps(walk: Walk): Step<Upload>[] {
  return divide(walk, 's', BOUNCE_BYTES).map((part) => ({ walk: part, plan: planGather(part) }));
}

/** Likewise to the host. */
export function scatterSteps(walk: Walk): Step<Download>[] {
  return divide(walk, 't', BOUNCE_BYTES).map((part) => ({ walk: part, plan: planScatter(part) }));
}

/** The way over a copy of the host's elements, whatever it costs. */
function planGather(walk: Walk): Upload {
  return costedGather(walk)[1];
}

/** Likewise to the host. */
function planScatter(walk: Walk): Download {
  return costedScatter(walk)[1];
}

/** A download in one contiguous transfer: `walk` packs, and what came is spread by `scatter` unless it is in place already. */
export interface Packed {
  readonly low: number;
  readonly bytes: number;
  readonly walk: Walk;
  readonly scatter: Walk | undefined;
}

/** Plans a copy to the host in which the host takes part only at the end. */
export function planPacked(walk: Walk): Packed {
  if (!walk.ordered && dense(walk, 't')) {
    const [low, high] = span(walk, 't');
    return { low, bytes: high - low, walk: { ...walk, t: walk.t - low }, scatter: undefined };
  }
  const strides = compact(walk);
  const first = renormal({ ...replaceSide(walk, 't', 0, strides), ordered: false });
  return { low: 0, bytes: bytesOf(walk), walk: first, scatter: replaceSide(walk, 's', 0, strides) };
}

/** Cuts a large copy along the outermost axis of the host, so that temporaries stay small. */
export function divide(walk: Walk, host: 't' | 's', most: number = MAX_TEMPORARY): Walk[] {
  const parts = Math.ceil(bytesOf(walk) / most);
  const { axes } = walk;
  if (parts <= 1 || walk.ordered || axes.length === 0) return [walk];
  let at = 0;
  axes.forEach((axis, k) => {
    if (Math.abs(axis[host]) > Math.abs(axes[at]?.[host] ?? 0)) at = k;
  });
  const { n } = axes[at] as Axis;
  const pieces = cut(walk, at, Math.ceil(n / parts)).map(renormal);
  // One element of that axis may still be too much.
  return n >= parts ? pieces : pieces.flatMap((piece) => divide(piece, host, most));
}

/** Each element once, in the order of the walk, gathered by the host; from there on to the device. */
function costedGather(walk: Walk): [number, Upload] {
  // What the host's side repeats (stride 0) is gathered once.
  const axes = walk.axes.map((axis) => (axis.s === 0 ? { ...axis, n: 1 } : axis));
  const once = { ...walk, axes };
  const strides = compact(once).map((stride, k) => (walk.axes[k]?.s === 0 ? 0 : stride));
  const gather = renormal({ ...replaceSide(once, 't', 0, strides), ordered: false });
  const bytes = bytesOf(once);
  const deliver = renormal(replaceSide(walk, 's', 0, strides));
  const blocks = blocksOf(deliver);
  const direct =
    blocks === undefined ? Number.POSITIVE_INFINITY : blocksCost(blocks, bytes <= BOUNCE_BYTES, 'uploadRow');
  const packed = spanCost(bytes, bytes <= BOUNCE_BYTES, bytesOf(walk));
  const then: Upload =
    blocks !== undefined && direct <= packed
      ? { how: 'blocks', blocks }
      : { how: 'span', low: 0, bytes, walk: deliver };
  return [hostCost(once) + Math.min(direct, packed), { how: 'gather', bytes, gather, then }];
}

function costedScatter(walk: Walk): [number, Download] {
  const strides = compact(walk);
  const bytes = bytesOf(walk);
  const first = renormal({ ...replaceSide(walk, 't', 0, strides), ordered: false });
  const scatter = replaceSide(walk, 's', 0, strides);
  const blocks = blocksOf(first);
  const direct =
    blocks === undefined ? Number.POSITIVE_INFINITY : blocksCost(blocks, bytes <= BOUNCE_BYTES, 'downloadRow');
  const packed = spanCost(bytes, bytes <= BOUNCE_BYTES, bytes);
  const download: Download =
    blocks !== undefined && direct <= packed ? { how: 'blocks', blocks } : { how: 'span', low: 0, bytes, walk: first };
  return [hostCost(walk) + Math.min(direct, packed), { how: 'scatter', bytes, first: download, scatter }];
}

function blocksCost({ block, at }: Blocks, pinned: boolean, row: 'uploadRow' | 'downloadRow'): number {
  const memory = pinned ? PINNED : PAGEABLE;
  const rows = at.length * block.height * block.depth;
  if (rows === at.length) return at.length * (CALL + transferCost(block.width, pinned));
  return at.length * CALL + rows * (memory[row] + block.width * memory.byte);
}

function spanCost(bytes: number, pinned: boolean, moved: number): number {
  return CALL + KERNEL + transferCost(bytes, pinned) + moved * DEVICE_BYTE;
}

function transferCost(bytes: number, pinned: boolean): number {
  if (pinned) return bytes * PINNED.byte;
  return bytes * (bytes < WORTH_STAGING ? PAGEABLE.byte : STAGED_BYTE);
}

function hostCost(walk: Walk): number {
  const items = countOf(walk.axes);
  if (walk.item >= HOST_ROW_BYTES) return items * (HOST_ROW + walk.item * HOST_BYTE);
  const words = walk.item / Math.min(4, unitOf(walk, 0, 0));
  return items * words * HOST_WORD;
}

function cheapest<T>(options: readonly [number, T][]): T {
  let best = options[0] as [number, T];
  for (const option of options) if (option[0] < best[0]) best = option;
  return best[1];
}
