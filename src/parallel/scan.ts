/**
 * `inclusiveScan` and `exclusiveScan`: what all elements up to each one come to.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { DTypeLike } from '../dtype/index.ts';
import { readOptions } from '../options.ts';
import { inputOf } from './input.ts';
import { placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { scanAlong } from './scan-lines.ts';
import { initFor, type Own, plainScan, resultType, scanOperator } from './scan-plain.ts';
import { scanning } from './scanning.ts';
import { outOf, resultFor } from './transform.ts';
import type { Elements, OnStream, OperatorLike, Sequence } from './types.ts';

/** Options of scans. */
export interface ScanOptions<T> extends OnStream {
  /** A value that comes before all elements. */
  readonly init?: T | undefined;
  /** A device array that gets the results; it may be the one that is read. Default: a new one. */
  readonly out?: DeviceNDArray<never> | DeviceNDArray | undefined;
  /** The axis along which arrays of several axes are scanned, each line separately; the result has their shape. Default: all elements in C order, along one axis. */
  readonly axis?: number | undefined;
  /** What to compute in, and the dtype of the results. Default: that of the elements; 32 bits for `'sum'` and `'prod'` of smaller integers and of booleans. */
  readonly dtype?: DTypeLike | undefined;
  /** The same bits every time. It always is so on one device: which elements meet in which order depends on their number alone. */
  readonly deterministic?: boolean | undefined;
}

/** A scan. */
export interface ScanFunction {
  <const X extends Sequence>(
    x: X,
    op: OperatorLike<Elements<X>>,
    options?: ScanOptions<Elements<X>>,
  ): DeviceNDArray<Elements<X>>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(
    x: X,
    op: OperatorLike<Elements<X>>,
    options?: ScanOptions<Elements<X>>,
  ) => Promise<DeviceNDArray<Elements<X>>>;
}

/**
 * Combines, for each element, all elements up to and including it: a device array. `op` is `'sum'`, `'prod'`, `'min'`, `'max'`, or an associative function of two
 * elements, structs included; it need not commute. Does not wait. NumPy: `cumsum`, `maximum.accumulate`; CUB: `DeviceScan::InclusiveScan`.
 *
 * @throws RangeError for an `out` of another length; KernelError for a function that does not compile.
 * @example
 * import { inclusiveScan } from 'tsamba/parallel';
 *
 * const x = Float32Array.of(3, 1, 2);
 * console.log(inclusiveScan(x, 'sum').copyToHost()); // Float32Array(3) [ 3, 4, 6 ]
 * console.log(inclusiveScan(x, (a, b) => Math.max(a, b)).copyToHost()); // Float32Array(3) [ 3, 3, 3 ]
 */
export const inclusiveScan: ScanFunction = /* @__PURE__ */ scanFunction('inclusiveScan', false);

/**
 * Combines, for each element, `init` and all elements before it. `init` is 0 for `'sum'` by default, and so on; functions need one. Otherwise like
 * `inclusiveScan`. CUB: `DeviceScan::ExclusiveScan`.
 *
 * @throws TypeError for a function without `init`.
 * @example
 * import { exclusiveScan } from 'tsamba/parallel';
 *
 * const counts = Int32Array.of(3, 1, 2);
 * console.log(exclusiveScan(counts, 'sum').copyToHost()); // Int32Array(3) [ 0, 3, 4 ]
 */
export const exclusiveScan: ScanFunction = /* @__PURE__ */ scanFunction('exclusiveScan', true);

function scanFunction(name: string, isExclusive: boolean): ScanFunction {
  const plan = (x: unknown, op: unknown, options: unknown): Plan<unknown> =>
    planScan(name, isExclusive, x, op, options);
  return primitive(name, plan) as unknown as ScanFunction;
}

function planScan(name: string, isExclusive: boolean, x: unknown, op: unknown, options: unknown): Plan<unknown> {
  const own: Own = readOptions(name, options as Own, ['init', 'out', 'axis', 'dtype', 'deterministic', 'stream']);
  const place = placeOf(name, [x, own.out], own.stream);
  return planned(place, () => {
    if (own.axis !== undefined) return scanAlong(place, x, op, own, isExclusive);
    const input = inputOf(place, x, 'x');
    const operator = scanOperator(place, op, input.dtype, own.dtype);
    const init = initFor(place, operator, own.init, isExclusive);
    const wanted = { length: input.length, dtype: resultType(operator, input, own) };
    const results = resultFor(place, outOf(place, own.out), wanted, input.arrays);
    const scanned = plainScan(operator, input, results.written, init, isExclusive);
    return { ...results, steps: input.length === 0 ? [] : scanning(place, scanned) };
  });
}
