/**
 * A pass over a shared array in which each element takes in the one before: see `prefix-ladders.ts`. Four elements at a time, first
 * among themselves in two steps, then with the last one of the four before.
 */
import { ELEM_SIZE, type Label, type Stmt, type ValueType } from '../../ir/ops.ts';
import { pushBase } from './address.ts';
import { addressType, type Gen } from './gen.ts';
import type { Scan } from './prefix-ladders.ts';
import { extractLane, splat, splatConst, vectorBinary } from './vector.ts';

/** Vectors that are written one after another. */
const UNROLLED = 4;

/** The pass that the items of a region are for, if they are for one. */
export function scanOf(g: Gen, body: readonly Stmt[]): Scan | undefined {
  const [guard] = body;
  if (g.lanes === 1 || body.length !== 1 || guard?.op !== 'if' || guard.then.length !== 2) return undefined;
  const label: Label | undefined = guard.then[1]?.op === 'loop' ? guard.then[1].label : undefined;
  return label === undefined ? undefined : g.scans.get(label);
}

export function emitScan(g: Gen, { array, fn, first, count, down }: Scan): void {
  const { f } = g;
  const t = addressType(g);
  const type = array.elem as ValueType;
  const size = ELEM_SIZE[array.elem];
  const vectors = Math.floor(count / 4);
  const rest = count % 4;
  const [place, end, carry, x] = [f.temp(t), f.temp(t), f.temp('v128'), f.temp('v128')];
  const push = (value: number): void => (t === 'i64' ? f.i64(value) : f.i32(value));
  const together = [UNROLLED, 2, 1].find((n) => vectors % n === 0) ?? 1;
  const start = pushBase(g, array) + first * size;
  /** What instructions add to get to the first of the vectors, in memory. */
  const base = start + (down ? rest * size : 0);
  if (down) {
    push(16 * (vectors - together));
    f.op(`${t}.add`);
  }
  f.set(place);
  // What goes in front of the first: where elements may be taken in twice, the first one itself; else nothing.
  const twice = fn === 'min' || fn === 'max' || fn === 'and' || fn === 'or';
  if (twice) {
    f.get(place);
    f.memory(type === 'f32' ? 'f32.load' : 'i32.load', 2, base + (down ? 16 * together - size : 0));
    splat(f, type);
  } else splatConst(f, type, fn === 'mul' ? 1 : 0);
  f.set(carry);
  const none = twice ? undefined : f.temp('v128');
  if (none !== undefined) {
    f.get(carry);
    f.set(none);
  }
  const vector = (offset: number): void => {
    f.get(place);
    f.memory('v128.load', 2, offset);
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
    f.get(place, x);
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
  const bytes = (down ? -16 : 16) * together;
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
    f.memory(type === 'f32' ? 'f32.load' : 'i32.load', 2, offset);
    splat(f, type);
    f.set(x);
    take(
      () => f.get(x),
      () => f.get(carry),
    );
    f.set(carry);
    f.get(element, carry);
    extractLane(f, type, 0);
    f.memory(type === 'f32' ? 'f32.store' : 'i32.store', 2, offset);
    f.release(t, element);
  }
  f.release(t, place, end);
  f.release('v128', carry, x, ...(none === undefined ? [] : [none]));
}

/** The bytes of four lanes, those from 4 on of the second vector. */
function lanes(from: readonly number[]): number[] {
  return from.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte));
}
