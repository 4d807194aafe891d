/**
 * What only moves elements: `collect`, `gather`, `scatter`, `shuffle`.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceOf, isBorrowed } from '../array/device-create.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { i32, i64, sameDType, spellDType, u32 } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import { scalar } from '../kernel/scalar.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { type Input, indexing, inputOf, integersOf, type Read } from './input.ts';
import { permute } from './lazy.ts';
import { remember } from './memo.ts';
import { castTo, type Value } from './operator.ts';
import { jitOn, placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { type OutOptions, outOf, resultFor, transforming } from './transform.ts';
import type { Elements, OnStream, Sequence } from './types.ts';

/** Where results go. */
export type MoveOptions = Pick<OutOptions, 'out' | 'stream'>;

type Moved<X, L extends boolean> = L extends true
  ? Promise<DeviceNDArray<Elements<X>, 1>>
  : DeviceNDArray<Elements<X>, 1>;
type CollectCall<L extends boolean> = <const X extends Sequence>(x: X, options?: MoveOptions) => Moved<X, L>;
type GatherCall<L extends boolean> = <const X extends Sequence>(
  x: X,
  index: Sequence,
  options?: MoveOptions,
) => Moved<X, L>;

const itself = ((value: Value): Value => value) as (...values: never[]) => unknown;

function moving(
  name: string,
  given: readonly unknown[],
  options: unknown,
  read: (place: Workplace) => Input,
): Plan<DeviceNDArray> {
  const own = readOptions(name, options as object, ['out', 'stream']) as { out?: unknown; stream?: StreamLike };
  const place = placeOf(name, [...given, own.out], own.stream);
  return planned(place, () => {
    const input = read(place);
    const wanted = { length: input.length, dtype: input.dtype, whole: true };
    const results = resultFor(place, outOf(place, own.out), wanted, input.arrays);
    return { ...results, steps: transforming(place, itself, name, [input], results.written) };
  });
}

/**
 * The elements of a sequence as a new device array: a lazy input is computed, an array is copied compactly. `collect(reverse(x))` is `x` reversed. Nothing is
 * waited for.
 * @example
 * import { collect, reverse } from 'tsamba/parallel';
 *
 * console.log(collect(reverse(Int32Array.of(1, 2, 3))).copyToHost()); // Int32Array(3) [ 3, 2, 1 ]
 */
export const collect: CollectCall<false> & { readonly async: CollectCall<true> } = /* @__PURE__ */ primitive(
  'collect',
  (x: unknown, options: unknown) => moving('collect', [x], options, (place) => inputOf(place, x, 'x')),
) as never;

/**
 * `x[index[0]]`, `x[index[1]]`, …: a device array. Indices must be within `x`. Does not wait. NumPy: `take`.
 * @example
 * import { gather } from 'tsamba/parallel';
 *
 * console.log(gather(Float32Array.of(5, 6, 7), [2, 0, 2]).copyToHost()); // Float32Array(3) [ 7, 5, 7 ]
 */
export const gather: GatherCall<false> & { readonly async: GatherCall<true> } = /* @__PURE__ */ primitive(
  'gather',
  (x: unknown, index: unknown, options: unknown) =>
    moving('gather', [x, index], options, (place) => {
      const at = indices(place, index);
      const source = inputOf(place, x, 'x');
      return inputOf(place, permute(source.array ?? x, at), 'x');
    }),
) as never;

/** Indices that have been brought to the device are not brought there again. */
function indices(place: Workplace, index: unknown): unknown {
  return integersOf(place, index, 'index').array ?? index;
}

type ScatterCall<R> = <const X extends Sequence>(
  x: X,
  index: Sequence,
  out: DeviceNDArray | DeviceNDArray<never>,
  options?: OnStream,
) => R;

/**
 * `out[index[i]] = x[i]`, into a device array of the same dtype. Indices must be within `out`; if several elements go to one place, one of them remains. Nothing is
 * waited for. NumPy: `put`.
 * @example
 * import { cuda } from 'tsamba';
 * import { scatter } from 'tsamba/parallel';
 *
 * const out = cuda.toDevice(Float32Array.of(0, 0, 0));
 * scatter(Float32Array.of(7, 8), [2, 0], out);
 * console.log(out.copyToHost()); // Float32Array(3) [ 8, 0, 7 ]
 */
export const scatter: ScatterCall<void> & { readonly async: ScatterCall<Promise<void>> } = /* @__PURE__ */ primitive(
  'scatter',
  planScatter,
) as never;

function planScatter(x: unknown, index: unknown, out: unknown, options: unknown): Plan<void> {
  const own = readOptions('scatter', options as object, ['stream']) as { stream?: StreamLike };
  const place = placeOf('scatter', [x, index, out], own.stream);
  return planned(place, () => {
    const [source, given] = [inputOf(place, x, 'x'), integersOf(place, index, 'index')];
    const there = deviceOf(out, place.context);
    if (there === undefined) {
      throw new TsambaTypeError('E_PARALLEL', `scatter: out must be a device array, got ${show(out)}`);
    }
    if (isBorrowed(there, out as object)) place.own(there);
    if (there.ndim !== 1 || !sameDType(there.dtype, source.dtype)) {
      throw new TsambaTypeError(
        'E_PARALLEL',
        `scatter: out has ${there.ndim} axes and dtype ${spellDType(there.dtype)}; it needs one, and ${spellDType(source.dtype)}`,
      );
    }
    if (source.length !== given.length) {
      throw new TsambaRangeError(
        'E_PARALLEL',
        `scatter: there are ${given.length} indices, and ${source.length} elements`,
      );
    }
    const at = indexing(given, there.size);
    const jit = jitOn(place.context);
    const keys = ['scatter', jit, source.read, at.read, spellDType(source.dtype)];
    const kernel = remember(keys, () => scatterOf(jit, source.read, at.read, castTo(source.dtype)));
    const threads = source.length;
    const shape = { threads, block: 256, stream: place.stream };
    const step = { kernel: kernel as never, shape, args: [source.argument, at.argument, there, threads] };
    return { steps: threads === 0 ? [] : [step], give: () => undefined };
  });
}

function scatterOf(jit: Jit, read: Read, where: Read, cast: (value: Value) => Value): Kernel<never> {
  const captures = { ...WORDS, read, where, cast };
  return jit(
    ({ grid, read, where, cast }: typeof captures) =>
      (x: Value, index: Value, out: Vec<Value>, n: number) => {
        const i = grid(1);
        if (i < n) out[where(index, i) as number] = cast(read(x, i));
      },
    { captures, name: 'scatter' },
  ) as unknown as Kernel<never>;
}

/** Options of `shuffle`. */
export interface ShuffleOptions extends MoveOptions {
  /** The same seed gives the same order, on every device. Default: 0. */
  readonly seed?: number | undefined;
}
type ShuffleCall<L extends boolean> = <const X extends Sequence>(x: X, options?: ShuffleOptions) => Moved<X, L>;

/**
 * The elements in a random order that depends only on the seed and their number: a device array. It takes no memory besides the result: positions are
 * computed by a Feistel network. Does not wait.
 * @example
 * import { counting, reduce, shuffle } from 'tsamba/parallel';
 *
 * console.log(reduce(shuffle(counting(1001), { seed: 7 }), 'sum')); // 500500
 */
export const shuffle: ShuffleCall<false> & { readonly async: ShuffleCall<true> } = /* @__PURE__ */ primitive(
  'shuffle',
  (x: unknown, options: unknown) => {
    const { seed = 0, ...rest } = readOptions('shuffle', options as ShuffleOptions, ['seed', 'out', 'stream']);
    if (!Number.isSafeInteger(seed)) {
      throw new TsambaRangeError('E_PARALLEL', `shuffle: seed must be an integer, got ${show(seed)}`);
    }
    return moving('shuffle', [x], { ...rest }, (place) => shuffled(inputOf(place, x, 'x'), seed));
  },
) as never;

function shuffled(input: Input, seed: number): Input {
  let half = 1;
  while (4 ** half < input.length) half++;
  if (half > 16) throw new TsambaRangeError('E_PARALLEL', 'shuffle: there are more than 2³² elements');
  const isLong = input.length >= 2 ** 31;
  const read = remember(['shuffle', input.read, isLong], () => readShuffled(input.read, isLong));
  const key = scalar(u32, (Math.imul(seed, 0x9e3779b1) ^ Math.floor(seed / 2 ** 32)) >>> 0);
  const argument = [input.argument, key, scalar(i32, half), scalar(i64, BigInt(input.length))];
  return { ...input, argument, read, array: undefined };
}

/** A permutation of 4 to the power of `half` numbers; what is not a place is permuted again until it is one. */
function readShuffled(inner: Read, isLong: boolean): Read {
  const captures = { inner, u32, i32, isLong, rounds: 8 };
  return deviceFunction(
    ({ inner, u32, i32, isLong, rounds }: typeof captures) =>
      ([x, key, half, length]: readonly [Value, number, number, bigint], i: number) => {
        const mask = u32((1 << half) - 1);
        const n = u32(length);
        let place = u32(i);
        let inside = false;
        while (!inside) {
          let left = u32(place >>> half);
          let right = u32(place & mask);
          for (let round = 0; round < rounds; round++) {
            let mixed = u32(Math.imul(u32(right ^ key), 0x85ebca6b) + round);
            mixed = u32(Math.imul(u32(mixed ^ (mixed >>> 15)), 0xc2b2ae35));
            mixed = u32((mixed ^ (mixed >>> 13)) & mask);
            const next = u32(left ^ mixed);
            left = right;
            right = next;
          }
          place = u32((left << half) | right);
          inside = place < n;
        }
        // Where elements lie backwards, places are computed with steps that are negative.
        return inner(x, isLong ? Number(place) : i32(place));
      },
    captures as typeof captures & Record<string, unknown>,
  ) as unknown as Read;
}
