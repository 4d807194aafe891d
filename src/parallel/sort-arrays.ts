/**
 * The arrays of a sort: what is sorted in one contiguous piece, and where results go.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { DType } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { Workplace } from '../ufunc/operands.ts';
import type { Input } from './input.ts';
import { type Results, resultFor, transforming } from './transform.ts';

const same = ((value: never): never => value) as (...args: never[]) => unknown;

/** The elements one after another in memory: the array itself where it is so, else a copy that `steps` make. */
export function contiguous(place: Workplace, input: Input, steps: Step[]): DeviceNDArray {
  const { array, length, dtype } = input;
  if (array !== undefined && isPlain(array)) return array;
  const copy = place.temporary([length], dtype);
  steps.push(...transforming(place, same, 'copy', [input], copy));
  return copy;
}

/** Contiguous, and aligned as an integer of the elements' size has to be. */
function isPlain(array: DeviceNDArray): boolean {
  return array.isCContiguous() && array.pointer % Math.min(8, array.itemSize & -array.itemSize) === 0;
}

/** A contiguous array for results of one axis, which may be the one that is sorted; `after` brings them to `out`. */
export function sortedInto(
  place: Workplace,
  out: DeviceNDArray | undefined,
  length: number,
  dtype: DType,
  reads: readonly DeviceNDArray[],
): Results {
  const results = resultFor(place, out, { length, dtype }, reads);
  if (isPlain(results.written)) return results;
  const written = place.temporary([length], dtype);
  const { written: target } = results;
  const after = (): void => {
    target.copyToDevice(written, { stream: place.stream });
    results.after?.();
  };
  return { ...results, written, after };
}
