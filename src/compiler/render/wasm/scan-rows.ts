/**
 * A pass over a shared array in which each element takes in the one before: see `prefix-ladders.ts`. Four elements at a time, first
 * among themselves in two steps, then with the last one of the four before.
 */
import { ELEM_SIZE, type Stmt, type ValueType } from '../../ir/ops.ts';
import { pushBase } from './address.ts';
import { addressType, type Gen } from './gen.ts';
import { neutralOf } from './lockstep.ts';
import type { Scan } from './prefix-ladders.ts';
import { extractLane, splat, splatConst, vectorBinary } from './vector.ts';

/** Vectors that are written one after another. */
const UNROLLED = 4;
/** Elements that follow each other, where others are left out behind them. */
const LONGEST_RUN = 64;

/** The pass that the items of a region are for, if they are for one. */
export function scanOf(g: Gen, body: readonly Stmt[]): Scan | undefined {
  const [guard] = body;
  if (g.lanes === 1 || g.scans.size === 0 || body.length !== 1 || guard?.op !== 'if') return undefined;
  return scanIn(g, guard.then);
}

function scanIn(g: Gen, list: readonly Stmt[]): Scan | undefined {
  const loop = list.find((s) => s.op === 'loop');
  const scan = loop?.op === 'loop' ? g.scans.get(loop.label) : undefined;
  if (scan === undefined || scan.gap === 0) return scan;
  // Others are left to the loop.
  const { count, run } = scan;
  return run % 4 === 0 && run <= LONGEST_RUN && count % run === 0 ? scan : undefined;
}

export function emitScan(g: Gen, { array, fn, first, count, run, gap, source, down, exclusive, total }: Scan): void {
  const { f } = g;
  const t = addressType(g);
  const type = array.elem as ValueType;
  const size = ELEM_SIZE[array.elem];
  const vectors = Math.floor(count / 4);
  const rest = count % 4;
  const [place, end, carry, x] = [f.temp(t), f.temp(t), f.temp('v128'), f.temp('v128')];
  const push = (value: number): void => (t === 'i64' ? f.i64(value) : f.i32(value));
  const together = gap > 0 ? run / 4 : ([UNROLLED, 2, 1].find((n) => vectors % n === 0) ?? 1);
  /** From the first of some vectors to the first of the next. */
  const step = 16 * together + gap * size;
  const start = pushBase(g, array) + first * size;
  const behind = source * size;
  /** What instructions add to get to the first of the vectors, in memory. */
  const base = start + (down ? rest * size : 0);
  if (down) {
    push(step * (vectors / together - 1));
    f.op(`${t}.add`);
  }
  f.set(place);
  // What goes in front of the first: where elements may be taken in twice, the first one itself; else nothing.
  const twice = !exclusive && (fn === 'min' || fn === 'max' || fn === 'and' || fn === 'or');
  if (twice) {
    f.get(place);
    f.memory(type === 'f32' ? 'f32.load' : 'i32.load', 2, base + behind + (down ? 16 * together - size : 0));
    splat(f, type);
  } else splatConst(f, type, neutralOf(fn, type) ?? 0);
  f.set(carry);
  const none = twice ? undefined : f.temp('v128');
  if (none !== undefined) {
    f.get(carry);
    f.set(none);
  }
  const vector = (offset: number): void => {
    f.get(place);
    f.memory('v128.load', 2, offset + behind);
    f.set(x);
    for (const by of [1, 2]) {
      take(
        () => f.get(x),
        () => moved(by),
      );
      f.set(x);
    }
    take(
      () => f.get(x),
      () => f.get(carry),
    );
    f.set(x);
    f.get(place);
    if (exclusive) {
      // What is before each: the one beside it, and the last one of the vector before.
      f.get(carry, x);
      f.shuffle(lanes(down ? [5, 6, 7, 0] : [0, 4, 5, 6]));
    } else f.get(x);
    f.memory('v128.store', 2, offset);
    f.get(x, x);
    f.shuffle(lanes(new Array(4).fill(down ? 0 : 3)));
    f.set(carry);
  };
  const take = (a: () => void, b: () => void): void => {
    vectorBinary(f, fn, type, a, b);
  };
  /** The elements so many lanes away; where there are none in the vector, what changes nothing. */
  const moved = (by: number): void => {
    const from = [0, 1, 2, 3].map((lane) => (down ? lane + by : lane - by));
    if (none === undefined) {
      f.get(x, x);
      f.shuffle(lanes(from.map((lane) => Math.min(Math.max(lane, 0), 3))));
    } else if (down) {
      f.get(x, none);
      f.shuffle(lanes(from));
    } else {
      f.get(none, x);
      f.shuffle(lanes(from.map((lane) => lane + 4)));
    }
  };
  const bytes = down ? -step : step;
  f.get(place);
  push((bytes * vectors) / together);
  f.op(`${t}.add`);
  f.set(end);
  const again = f.loop();
  for (let k = 0; k < together; k++) vector(base + 16 * (down ? together - 1 - k : k));
  f.get(place);
  push(bytes);
  f.op(`${t}.add`);
  f.tee(place);
  f.get(end);
  f.op(`${t}.ne`);
  f.brIf(again);
  f.end();
  // One by one, with the last one in all lanes.
  for (let k = 0; k < rest; k++) {
    pushBase(g, array);
    const offset = start + (down ? rest - 1 - k : count - rest + k) * size;
    const element = f.temp(t);
    f.tee(element);
    f.memory(type === 'f32' ? 'f32.load' : 'i32.load', 2, offset + behind);
    splat(f, type);
    f.set(x);
    const put = (): void => {
      f.get(element, carry);
      extractLane(f, type, 0);
      f.memory(type === 'f32' ? 'f32.store' : 'i32.store', 2, offset);
    };
    if (exclusive) put();
    take(
      () => f.get(x),
      () => f.get(carry),
    );
    f.set(carry);
    if (!exclusive) put();
    f.release(t, element);
  }
  if (total !== undefined) {
    const offset = pushBase(g, total);
    f.get(carry);
    extractLane(f, type, 0);
    f.memory(type === 'f32' ? 'f32.store' : 'i32.store', 2, offset);
  }
  f.release(t, place, end);
  f.release('v128', carry, x, ...(none === undefined ? [] : [none]));
}

/** The bytes of four lanes, those from 4 on of the second vector. */
function lanes(from: readonly number[]): number[] {
  return from.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte));
}
