/**
 * Stores of every second element between those that are already in lanes: `u[x] = (u[x - 1] + u[x + 1]) / 2` of every second x.
 *
 * One by one, four stores take as long as all that is computed before them. But what lies between them has just been loaded, as the neighbour of
 * each: woven with it, the lanes are whole vectors. Where blocks of one launch run at the same time, another one may be writing there, so that this is
 * for code that runs by itself (`WasmModule.exclusive`). No more is written than lanes have loaded.
 */
import { ELEM_SIZE, type MemRef } from '../../ir/ops.ts';
import { distanceOf } from './address.ts';
import type { Local } from './assembler.ts';
import { type Gen, shapeOf } from './gen.ts';
import type { Offsets } from './lane-facts.ts';

/** The elements behind those of lanes; undefined where these are not every second one, or the others are not at hand, or not to be written. */
export function elementsBetween(g: Gen, mem: MemRef, distances: Offsets): readonly Local[] | undefined {
  const size = ELEM_SIZE[mem.elem];
  if (g.variant.concurrent || g.mask !== null || size !== 4 || mem.array.space !== 'global') return undefined;
  if (!distances.every((at, lane) => at === (distances[0] ?? 0) + 2 * size * lane)) return undefined;
  for (const [e, { locals, bits }] of g.prepared) {
    if (e.op !== 'load' || e.mem.array !== mem.array || e.mem.elem !== mem.elem || shapeOf(g, e) !== 'V') continue;
    if ((bits ?? 32) === 32 && distanceOf(e.mem, mem) === size) return locals;
  }
  return undefined;
}

const words = (...lanes: readonly number[]): readonly number[] =>
  lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte));
/** The first words of two vectors in turns, and the last ones. */
const FIRST = words(0, 4, 1, 5);
const LAST = words(2, 6, 3, 7);
/** Of both, one word before the last ones, without the last of them. */
const BEFORE_LAST = words(3, 4, 5, 6);

/**
 * Stores lanes with what lies between them. The element behind the last lane is left alone, as the next lanes load it together with what lies behind it,
 * and processors wait where only a part of what is loaded has just been stored.
 */
export function storeWoven(
  g: Gen,
  address: (lane: number) => number,
  offset: number,
  parts: readonly Local[],
  between: readonly Local[],
): void {
  const { f } = g;
  const [first, last] = [f.temp('v128'), f.temp('v128')];
  g.traits.exclusive = true;
  for (const [p, local] of parts.entries()) {
    const other = between[p] ?? 0;
    for (const [half, weave] of [
      [first, FIRST],
      [last, LAST],
    ] as const) {
      f.get(local, other);
      f.shuffle(weave);
      f.set(half);
    }
    const at = offset + address(4 * p);
    f.get(first);
    f.memory('v128.store', 2, at);
    address(4 * p);
    f.get(first, last);
    f.shuffle(BEFORE_LAST);
    f.memory('v128.store', 2, at + 12);
  }
  f.release('v128', first, last);
}
