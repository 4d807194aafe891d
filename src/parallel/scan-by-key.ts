/**
 * `scanByKey` and `segmentedScan`: scans that begin anew where keys change, or where segments begin.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { u8 } from '../dtype/index.ts';
import { TsambaRangeError } from '../errors.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import { readOptions } from '../options.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { packedOf } from './accesses.ts';
import { type Input, inputOf, type Read } from './input.ts';
import { type Heads, keyedScan } from './keyed-scan.ts';
import { remember } from './memo.ts';
import { offsetsOf } from './offsets.ts';
import type { Value } from './operator.ts';
import { jitOn, placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { areHeadsOf, isHeadOf, sameOf } from './same.ts';
import type { ScanOptions } from './scan.ts';
import { initFor, type Own, resultType, scanOperator } from './scan-plain.ts';
import { scanning } from './scanning.ts';
import { outOf, resultFor } from './transform.ts';
import type { Elements, OperatorLike, Sequence } from './types.ts';

/** Options of scans with segments. */
export interface SegmentedScanOptions<T> extends Omit<ScanOptions<T>, 'axis'> {
  /** Whether an element's own value is left out. Default false. */
  readonly exclusive?: boolean | undefined;
}

/** What `scanByKey` and `segmentedScan` give. */
type Scanned<X> = DeviceNDArray<Elements<X>, 1>;

/** The type of `scanByKey`. */
export interface ScanByKey {
  <const X extends Sequence>(
    keys: Sequence,
    values: X,
    op: OperatorLike<Elements<X>>,
    options?: SegmentedScanOptions<Elements<X>>,
  ): Scanned<X>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(
    keys: Sequence,
    values: X,
    op: OperatorLike<Elements<X>>,
    options?: SegmentedScanOptions<Elements<X>>,
  ) => Promise<Scanned<X>>;
}

/** The type of `segmentedScan`. */
export interface SegmentedScan {
  <const X extends Sequence>(
    x: X,
    offsets: Sequence,
    op: OperatorLike<Elements<X>>,
    options?: SegmentedScanOptions<Elements<X>>,
  ): Scanned<X>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(
    x: X,
    offsets: Sequence,
    op: OperatorLike<Elements<X>>,
    options?: SegmentedScanOptions<Elements<X>>,
  ) => Promise<Scanned<X>>;
}

/**
 * Scans the values of each run of equal keys separately; see `inclusiveScan`. `{ exclusive: true }` leaves out an element's own value. NaN is equal to NaN. Nothing is
 * waited for. CUB: `DeviceScan::InclusiveScanByKey`, `ExclusiveScanByKey`.
 *
 * @throws RangeError if there are not as many keys as values.
 * @example
 * import { scanByKey } from 'tsamba/parallel';
 *
 * const keys = Int32Array.of(1, 1, 2, 2, 2);
 * const values = Int32Array.of(1, 2, 3, 4, 5);
 * console.log(scanByKey(keys, values, 'sum').copyToHost()); // Int32Array(5) [ 1, 3, 3, 7, 12 ]
 */
export const scanByKey: ScanByKey = /* @__PURE__ */ primitive('scanByKey', planByKey) as unknown as ScanByKey;

/**
 * Scans segments of an array, each separately: segment s has the elements from `offsets[s]` up to `offsets[s + 1]`. Offsets are integers in rising order, the last of
 * them the end of the last segment. Does not wait.
 *
 * @throws TypeError for offsets that are not integers.
 * @example
 * import { segmentedScan } from 'tsamba/parallel';
 *
 * const x = Int32Array.of(1, 2, 3, 4, 5);
 * console.log(segmentedScan(x, [0, 2, 5], 'sum').copyToHost()); // Int32Array(5) [ 1, 3, 3, 7, 12 ]
 */
export const segmentedScan: SegmentedScan = /* @__PURE__ */ primitive(
  'segmentedScan',
  planSegmented,
) as unknown as SegmentedScan;

interface Given extends Own {
  readonly exclusive?: boolean | undefined;
}

const OPTIONS = ['init', 'out', 'dtype', 'exclusive', 'deterministic', 'stream'] as const;

function planByKey(keys: unknown, values: unknown, op: unknown, options: unknown): Plan<unknown> {
  const own: Given = readOptions('scanByKey', options as Given, OPTIONS);
  const place = placeOf('scanByKey', [keys, values, own.out], own.stream);
  return planned(place, () => {
    const by = inputOf(place, keys, 'the keys');
    const input = inputOf(place, values, 'the values');
    checkLengths(place, by, input);
    const heads = headsOf(by);
    return headed(place, input, heads, op, own, { steps: [], arrays: by.arrays });
  });
}

/** Throws RangeError for keys that are not as many as values. */
export function checkLengths(place: Workplace, keys: Input, values: Input): void {
  if (keys.length === values.length) return;
  throw new TsambaRangeError('E_PARALLEL', `${place.name}: there are ${keys.length} keys, and ${values.length} values`);
}

function planSegmented(x: unknown, offsets: unknown, op: unknown, options: unknown): Plan<unknown> {
  const own: Given = readOptions('segmentedScan', options as Given, OPTIONS);
  const place = placeOf('segmentedScan', [x, offsets, own.out], own.stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const { flags, steps } = flagging(place, offsetsOf(place, offsets, input.length), input.length);
    return headed(place, input, { argument: flags, isHead: readFlag }, op, own, { steps, arrays: [] });
  });
}

const readFlag = ((flags: readonly number[], i: number) => flags[i] !== 0) as unknown as Read;

/** A byte for each element: whether a segment begins there. */
function flagging(place: Workplace, starts: Input, length: number): { flags: unknown; steps: Step[] } {
  const flags = place.temporary([Math.max(1, length)], u8);
  const jit = jitOn(place.context);
  const { clear, mark } = remember(['flags', jit, starts.read], () => flagKernels(jit, starts.read));
  const shape = (threads: number): Step['shape'] => ({ threads, block: 256, stream: place.stream });
  const steps: Step[] = [{ kernel: clear as unknown as Step['kernel'], shape: shape(flags.size), args: [flags] }];
  if (starts.length > 0) {
    const args = [flags, starts.argument, place.view(flags, [starts.length], [0])];
    steps.push({ kernel: mark as unknown as Step['kernel'], shape: shape(starts.length), args });
  }
  return { flags, steps };
}

type Flags = Vec<u8>;

function flagKernels(jit: Jit, read: Read) {
  const captures = { ...WORDS, read };
  const clear = jit(
    ({ grid }: typeof captures) =>
      (flags: Flags) => {
        const i = grid(1);
        if (i < flags.length) flags[i] = 0;
      },
    { captures, name: 'clearFlags' },
  ) as unknown as Kernel<[flags: Flags]>;
  const mark = jit(
    ({ grid, read }: typeof captures) =>
      (flags: Flags, starts: Value, sized: Flags) => {
        const s = grid(1);
        if (s >= sized.length) return;
        const at = read(starts, s) as number;
        // Of segments that begin at one place, as those without elements do, one marks it.
        if (s > 0 && read(starts, s - 1) === (at as Value)) return;
        if (at >= 0 && at < flags.length) flags[at] = 1;
      },
    { captures, name: 'markFlags' },
  ) as unknown as Kernel<[flags: Flags, starts: Value, sized: Flags]>;
  return { clear, mark };
}

interface Before {
  readonly steps: readonly Step[];
  /** What says where segments begin: results must not lie there. */
  readonly arrays: readonly DeviceNDArray[];
}

/** The first of each run of equal keys. */
function headsOf({ argument, read, dtype, array }: Input): Heads {
  const same = sameOf(dtype);
  const packed = packedOf(array);
  const load = packed && { count: packed.count, load: areHeadsOf(read, same, packed) };
  return { argument, isHead: isHeadOf(read, same), packed: load };
}

function headed(
  place: Workplace,
  input: Input,
  heads: Heads,
  op: unknown,
  own: Given,
  before: Before,
): Omit<Plan<unknown>, 'place'> {
  const isExclusive = own.exclusive === true;
  const operator = scanOperator(place, op, input.dtype, own.dtype);
  const init = initFor(place, operator, own.init, isExclusive);
  const out = outOf(place, own.out);
  const besideKeys = out !== undefined && before.arrays.some((array) => array.owner === out.owner);
  const wanted = { length: input.length, dtype: resultType(operator, input, own), whole: besideKeys };
  const results = resultFor(place, out, wanted, [...input.arrays, ...before.arrays]);
  if (input.length === 0) return { ...results, steps: [] };
  const scanned = keyedScan(operator, heads, input, results.written, { init, isExclusive });
  return { ...results, steps: [...before.steps, ...scanning(place, scanned)] };
}
