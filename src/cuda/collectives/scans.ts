/**
 * Reductions and scans of a block, a wavefront or a warp: lanes by shuffles, warps by what they leave in shared memory.
 */
import { type Items, numbered, type Op, type Value, written } from './words.ts';

/** What lanes up to this one come to. */
const scanLanes = /* @__PURE__ */ written(
  ({ shflUpSync, all }) =>
    (value: Value, op: Op, lane: number): Value => {
      let sum = value;
      for (let by = 1; by < 32; by <<= 1) {
        const other = shflUpSync(all, sum, by);
        if (lane >= by) sum = op(other, sum);
      }
      return sum;
    },
  {},
);

/** What the threads before this one come to, if there are any, and what all do. */
export type Scanned = readonly [hasBefore: boolean, before: Value, total: Value];
type Scan = (value: Value, op: Op) => Scanned;

/** The warps that are scanned together: the first, and one behind the last. */
type Span = (warp: number, warps: number) => readonly [first: number, end: number];

function scanOf(span: Span): Scan {
  return written(
    (w) => {
      const { numbered, scanLanes, span, parts, like, shared, syncThreads, shflUpSync, all } = w;
      return (value: Value, op: Op): Scanned => {
        const [t, count] = numbered();
        const [lane, warp] = [t % 32, Math.floor(t / 32)];
        const warps = Math.floor((count + 31) / 32);
        const memory = shared(32, value);
        const scanned = scanLanes(value, op, lane);
        if (lane === 31 || t === count - 1) {
          parts(scanned).forEach((part, k) => {
            (memory[k] as { [i: number]: Value })[warp] = part;
          });
        }
        syncThreads();
        const load = (i: number): Value =>
          like(
            value,
            memory.map((m) => m[i] as Value),
          );
        const [first, end] = span(warp, warps);
        let total = load(first);
        let below = total;
        for (let k = first + 1; k < end; k++) {
          if (k === warp) below = total;
          total = op(total, load(k));
        }
        // The memory is used again where this is in a loop.
        syncThreads();
        const previous = shflUpSync(all, scanned, 1);
        let before = previous;
        if (warp > first) {
          before = below;
          if (lane > 0) before = op(below, previous);
        }
        return [warp > first || lane > 0, before, total];
      };
    },
    { numbered, scanLanes, span },
  );
}

export const scanBlock: Scan = /* @__PURE__ */ scanOf((_, warps) => [0, warps]);
/** Of 64 lanes: warps two by two. */
export const scanWave: Scan = /* @__PURE__ */ scanOf((warp, warps) => [warp & -2, Math.min((warp & -2) + 2, warps)]);

export const scanWarp: Scan = /* @__PURE__ */ written(
  ({ scanLanes, numbered, shflSync, shflUpSync, laneId, all }) =>
    (value: Value, op: Op): Scanned => {
      const [t, count] = numbered();
      const last = Math.min(31, count - 1 - 32 * Math.floor(t / 32));
      const scanned = scanLanes(value, op, laneId);
      return [laneId > 0, shflUpSync(all, scanned, 1), shflSync(all, scanned, last)];
    },
  { scanLanes, numbered },
);

/** What a thread's items come to. */
const combined = (items: Items, op: Op): Value => items.reduce((a: Value, b: Value) => op(a, b));

/** A thread's items, each with all before it. */
const running = (items: Items, op: Op, hasBefore: boolean, before: Value): Items => {
  let sum = items[0] as Value;
  if (hasBefore) sum = op(before, sum);
  return items.map((item: Value, k: number) => {
    if (k > 0) sum = op(sum, item);
    return sum;
  });
};

/** The functions of one group, by its scan. */
export interface Scans {
  readonly reduce: (given: Value, op: Op) => Value;
  readonly inclusiveScan: (given: Value, op: Op) => Value;
  readonly exclusiveScan: (given: Value, op: Op, init: Value) => Value;
}

export function scansOf(scan: Scan): Scans {
  const more = { scan, combined, running };
  const reduce = written(
    ({ scan, combined, itemsOf }) =>
      (given: Value, op: Op): Value => {
        const items = itemsOf(given);
        return scan(items === undefined ? given : combined(items, op), op)[2];
      },
    more,
  );
  const inclusiveScan = written(
    ({ scan, combined, running, itemsOf }) =>
      (given: Value, op: Op): Value => {
        const items = itemsOf(given);
        const own = items === undefined ? given : combined(items, op);
        const [hasBefore, before] = scan(own, op);
        const results = running(items === undefined ? [given] : items, op, hasBefore, before);
        return items === undefined ? (results[0] as Value) : (results as Value);
      },
    more,
  );
  const exclusiveScan = written(
    ({ scan, combined, itemsOf }) =>
      (given: Value, op: Op, init: Value): Value => {
        const items = itemsOf(given);
        const own = items === undefined ? given : combined(items, op);
        const [hasBefore, before] = scan(own, op);
        let sum = before;
        if (hasBefore) sum = op(init, before);
        else sum = init;
        if (items === undefined) return sum;
        return items.map((item: Value) => {
          const result = sum;
          sum = op(sum, item);
          return result;
        }) as Value;
      },
    more,
  );
  return { reduce, inclusiveScan, exclusiveScan };
}
