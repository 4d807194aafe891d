/**
 * Sorting of many stretches of one array by themselves: all elements are sorted at once, then by the number of their segment. As sorts are stable, each segment is in order
 * then.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, spellDType, u32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { arrayInput, type Input, inputOf } from './input.ts';
import { constant } from './lazy.ts';
import { remember } from './memo.ts';
import type { Value } from './operator.ts';
import { jitOn } from './place.ts';
import { copyOf } from './radix-counts.ts';
import { type RadixKeys, radixKeysOf } from './radix-keys.ts';
import { radixSteps } from './radix-steps.ts';
import { contiguous } from './sort-arrays.ts';
import { alongKeys, argsorting, gathering, type ReadOrder } from './sorting.ts';
import { transforming } from './transform.ts';

const WORD = u32 as unknown as DType;

const toWord = /* @__PURE__ */ deviceFunction(
  ({ u32 }: { readonly u32: (v: never) => number }) =>
    (v: never) =>
      u32(v),
  {
    u32: u32 as unknown as (v: never) => number,
  },
);

/** What is stored: the elements, or their places from the beginning of their segment; segments are of one length then. */
export type Wanted = 'values' | { readonly length: number };

/** The launches that sort each segment by itself into a contiguous array. */
export function sortingSegments(
  place: Workplace,
  input: Input,
  offsets: Input,
  order: ReadOrder,
  written: DeviceNDArray,
  wanted: Wanted = 'values',
): Step[] {
  const steps: Step[] = [];
  if (input.length === 0) return steps;
  const { context, stream } = place;
  const jit = jitOn(context);
  const from = apart(place, contiguous(place, input, steps), written, steps);
  const [begins, ids] = [place.temporary([offsets.length], WORD), place.temporary([input.length], WORD)];
  steps.push(...transforming(place, toWord, 'offsets', [offsets], begins));
  const shape = { threads: input.length, block: 256, stream };
  const number = remember(['segments', jit], () => numberOf(jit)) as unknown as Step['kernel'];
  steps.push({ kernel: number, shape, args: [begins, ids] });
  const byNumber = { keysOf: radixKeysOf(WORD, false) as RadixKeys, name: 'u32 false' };
  const passes = Math.max(1, Math.ceil(Math.log2(offsets.length + 1) / 8));
  const [sortedIds, lastIds] = [place.temporary([input.length], WORD), place.temporary([input.length], WORD)];
  const plain =
    wanted === 'values' &&
    order.key === undefined &&
    order.compare === undefined &&
    [1, 2, 4, 8].includes(from.itemSize);
  if (plain) {
    const sorted = place.temporary([input.length], from.dtype);
    steps.push(...alongKeys(place, from, sorted, ids, sortedIds, order.descending));
    const values = { values: sorted, toValues: written };
    steps.push(...radixSteps(place, { ...byNumber, keys: sortedIds, toKeys: lastIds, ...values, passes }));
  } else {
    const [places, last] = [place.temporary([input.length], WORD), place.temporary([input.length], WORD)];
    steps.push(...argsorting(place, input, order, places));
    steps.push(...gathering(place, ids, places, sortedIds));
    const values = { values: places, toValues: last };
    steps.push(...radixSteps(place, { ...byNumber, keys: sortedIds, toKeys: lastIds, ...values, passes }));
    if (wanted !== 'values') {
      const length = inputOf(place, constant(wanted.length, input.length, 'u32'), 'length');
      return [...steps, ...transforming(place, within, 'within', [arrayInput(last), length], written)];
    }
    steps.push(...gathering(place, from, last, written));
  }
  const keep = remember(['keep outside', jit, spellDType(from.dtype)], () => keepOf(jit)) as unknown as Step['kernel'];
  steps.push({ kernel: keep, shape, args: [from, ids, begins, written] });
  return steps;
}

const within = ((at: number, length: number): number => at % length) as (...args: never[]) => unknown;

/** The elements apart from where they go. */
function apart(place: Workplace, from: DeviceNDArray, to: DeviceNDArray, steps: Step[]): DeviceNDArray {
  if (from.owner !== to.owner) return from;
  const jit = jitOn(place.context);
  const copy = place.temporary([from.size], from.dtype);
  const kernel = remember(['copy', jit, spellDType(from.dtype)], () => copyOf(jit)) as unknown as Step['kernel'];
  const grid = Math.min(8192, Math.ceil(from.size / 256));
  steps.push({ kernel, shape: { grid, block: 256, stream: place.stream }, args: [from, copy] });
  return copy;
}

/** How many offsets are not beyond each place: 0 before all segments. */
function numberOf(jit: Jit): Kernel<[begins: Vec<number>, ids: Vec<number>]> {
  const captures = { ...WORDS, u32 };
  return jit(
    ({ grid, u32 }: typeof captures) =>
      (begins: Vec<number>, ids: Vec<number>) => {
        const i = grid(1);
        if (i >= ids.length) return;
        let low = 0;
        let high = begins.length;
        while (low < high) {
          const mid = low + ((high - low) >> 1);
          if (u32(begins[mid] as number) <= u32(i)) low = mid + 1;
          else high = mid;
        }
        ids[i] = u32(low);
      },
    { captures, name: 'numberSegments' },
  );
}

/** Brings back what no segment has. */
function keepOf(jit: Jit): Kernel<[from: Vec<Value>, ids: Vec<number>, begins: Vec<number>, to: Vec<Value>]> {
  const captures = { ...WORDS, u32 };
  return jit(
    ({ grid, u32 }: typeof captures) =>
      (from: Vec<Value>, ids: Vec<number>, begins: Vec<number>, to: Vec<Value>) => {
        const i = grid(1);
        if (i >= ids.length) return;
        const id = ids[i] as number;
        if (id === 0 || id === u32(begins.length)) to[i] = from[i] as Value;
      },
    { captures, name: 'keepOutside' },
  ) as never;
}
