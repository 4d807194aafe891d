/**
 * The kernel that encodes runs of equal elements on GPUs, in one pass: a tile finds where runs begin in it, leaves their elements and places in shared memory, and finds out
 * by a look-back how many runs begin before it, and where the last of them does. The length of a run is the place of the next one less its own.
 */
import { type DType, i32, struct, u16 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { LANE_WORDS } from './lane-words.ts';
import { lookBackOf } from './look-back.ts';
import type { Value } from './operator.ts';
import { type Shape, tileOf } from './scan-kernels.ts';
import type { Selection } from './select-kernels.ts';
import { type ValueWords, valueWords } from './value-words.ts';

const WARP = 32;

/** What is read and written: `keep` says which elements begin a run. All but `type` are device functions. */
export interface Encoding extends Pick<Selection, 'lanes' | 'load' | 'read' | 'keep' | 'castCount' | 'name'> {
  /** Of the elements. */
  readonly type: DType;
  /** Brings a length to the dtype of the array that it is stored to. */
  readonly castLength: (value: Value) => Value;
}

/** `sized` is as long as what is read, less than 2 ** 31. A tile has at most 2 ** 16 elements. */
export type EncodeKernel = Kernel<
  [argument: Value, values: Vec<Value>, counts: Vec<Value>, count: Vec<Value>, state: Value, sized: Vec<Value>]
>;

/** How many runs begin up to somewhere, and where the last of them does; 0 where none does. */
interface Begun {
  readonly runs: number;
  readonly last: number;
}

/** What tiles leave for each other. */
export const BEGUN: () => ValueWords = () =>
  valueWords(struct({ runs: i32, last: i32 } as never, { align: true }) as unknown as DType);

const both = ((a: Begun, b: Begun): Begun => ({
  runs: a.runs + b.runs,
  last: Math.max(a.last, b.last),
})) as unknown as (a: Value, b: Value) => Value;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, k) => k);

/** The kernel for one way of reading. A lane has at most 32 elements, and a warp at most 8 rows. */
export function encodeKernel(
  jit: Jit,
  encoding: Encoding,
  begun: ValueWords,
  { block, rows, blocks }: Shape,
): EncodeKernel {
  const { lanes, name, ...functions } = encoding;
  const warps = block / WARP;
  const by = [1, 2, 4, 8, 16];
  const sizes = { block, warps, lanes, rows, tileSize: tileOf({ block, rows }, lanes), span: WARP * lanes };
  const lists = { by, warpsBy: by.filter((d) => d < warps), rowList: range(rows), laneList: range(lanes) };
  const packs = { packs: range(Math.ceil(rows / 4)) };
  const captures = {
    ...LANE_WORDS,
    ...sizes,
    ...lists,
    ...packs,
    ...functions,
    lookBack: lookBackOf(begun, both),
    i32,
    u16,
  };
  return jit(
    (words: typeof captures) => {
      const { threadIdx, syncThreads, shared, atomicAdd, shflUpSync, shflSync, i32, u16, castCount, castLength } =
        words;
      const { block, warps, lanes, rows, tileSize, span, by, warpsBy, rowList, laneList, packs } = words;
      const { load, read, keep, type, lookBack } = words;
      return (
        argument: Value,
        outs: Vec<Value>,
        counts: Vec<Value>,
        count: Vec<Value>,
        state: Value,
        sized: Vec<Value>,
      ) => {
        const ticket = shared<number>(1, i32);
        const totals = shared<number>(warps, i32);
        const earlier = shared<number>(2, i32);
        const ones = shared<Value>(tileSize, type);
        const places = shared<number>(tileSize, u16);
        const t = threadIdx.x;
        const lane = t & 31;
        const warp = t >> 5;
        if (t === 0) ticket[0] = i32(atomicAdd(state, 0, 1n));
        syncThreads();
        const tile = ticket[0] as number;
        const n = i32(sized.length);
        const tiles = i32(Math.floor((n + (tileSize - 1)) / tileSize));
        // An index, as wide as those of the array.
        const first = (sized.length - sized.length + tile) * tileSize;
        const base = first + (warp * rows * span + lane * lanes);
        const whole = first + tileSize <= sized.length;
        const values = whole
          ? rowList.map((j) => load(argument, base + j * span))
          : rowList.map((j) => laneList.map((k) => read(argument, Math.min(base + j * span + k, sized.length - 1))));
        // A bit for each element that begins a run, and a byte for the number of those in each row.
        let kept = 0;
        const packed = packs.map(() => 0);
        rowList.forEach((j) => {
          const row = keep(argument, base + j * span, values[j] as readonly Value[], sized.length);
          row.forEach((begins, k) => {
            const bit = begins && (whole || base + j * span + k < sized.length) ? 1 : 0;
            kept |= bit << (j * lanes + k);
            packed[j >> 2] = (packed[j >> 2] as number) + (bit << (8 * (j & 3)));
          });
        });
        const upTo = packed.map((own) => {
          let sum = own | 0;
          by.forEach((d) => {
            const other = shflUpSync(0xffffffff, sum, d);
            sum = lane >= d ? (sum + other) | 0 : sum;
          });
          return sum;
        });
        const rowSums = upTo.map((sum) => shflSync(0xffffffff, sum, 31));
        let inWarp = 0;
        rowList.forEach((j) => {
          inWarp += ((rowSums[j >> 2] as number) >> (8 * (j & 3))) & 255;
        });
        if (lane === 0) totals[warp] = inWarp;
        syncThreads();
        let sum = totals[lane < warps ? lane : 0] as number;
        warpsBy.forEach((d) => {
          const other = shflUpSync(0xffffffff, sum, d);
          sum = lane >= d ? sum + other : sum;
        });
        const all = shflSync(0xffffffff, sum, warps - 1);
        const inTile = shflSync(0xffffffff, sum, warp > 0 ? warp - 1 : 0);
        let row0 = warp > 0 ? inTile : 0;
        rowList.forEach((j) => {
          const mine = (packed[j >> 2] as number) >> (8 * (j & 3));
          const upToHere = (upTo[j >> 2] as number) >> (8 * (j & 3));
          let slot = row0 + (upToHere & 255) - (mine & 255);
          laneList.forEach((k) => {
            if (((kept >> (j * lanes + k)) & 1) !== 0) {
              ones[slot] = (values[j] as readonly Value[])[k] as Value;
              places[slot] = (warp * rows + j) * span + lane * lanes + k;
              slot += 1;
            }
          });
          row0 += ((rowSums[j >> 2] as number) >> (8 * (j & 3))) & 255;
        });
        syncThreads();
        const last = i32(first) + (places[Math.max(all - 1, 0)] as number);
        if (warp === 0) {
          const own: Begun = { runs: all, last: all > 0 ? last : 0 };
          const before = lookBack(state, tiles, tile, lane, own as unknown as Value) as unknown as Begun;
          if (lane === 0) {
            earlier[0] = tile > 0 ? before.runs : 0;
            earlier[1] = tile > 0 ? before.last : 0;
          }
        }
        syncThreads();
        const to = earlier[0] as number;
        for (let s = t; s < all; s += block) {
          outs[to + s] = ones[s] as Value;
          if (s + 1 < all) counts[to + s] = castLength(((places[s + 1] as number) - (places[s] as number)) as Value);
        }
        if (t > 0) return;
        const lastBefore = earlier[1] as number;
        // The last run of those before ends where the first one of this tile begins, or goes on.
        if (all > 0 && tile > 0)
          counts[to - 1] = castLength((i32(first) + (places[0] as number) - lastBefore) as Value);
        if (tile === tiles - 1) {
          counts[to + all - 1] = castLength((n - (all > 0 ? last : lastBefore)) as Value);
          count[0] = castCount((to + all) as Value);
        }
      };
    },
    { captures, name, launchBounds: [block, blocks] },
  ) as unknown as EncodeKernel;
}
