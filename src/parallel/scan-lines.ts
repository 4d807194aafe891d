/**
 * Scans along an axis of arrays of several axes: every line by itself.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import type { DType, Scalar } from '../dtype/index.ts';
import { normalizeAxis } from '../layout/index.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { axesOf, checkOut, lastOf, shapedAs } from './axis.ts';
import { arrayInput } from './input.ts';
import type { Plan } from './primitive.ts';
import { initFor, type Own, plainScan, resultType, scanOperator } from './scan-plain.ts';
import { scanningLines } from './scanning.ts';
import { outOf } from './transform.ts';

/** The plan of a scan along `own.axis`. */
export function scanAlong(
  place: Workplace,
  x: unknown,
  op: unknown,
  own: Own,
  isExclusive: boolean,
): Omit<Plan<DeviceNDArray>, 'place'> {
  const array = axesOf(place, x);
  const axis = normalizeAxis(own.axis as number, array.ndim);
  const operator = scanOperator(place, op, array.dtype, own.dtype);
  const init = initFor(place, operator, own.init, isExclusive);
  const dtype = resultType(operator, array, own);
  const given = outOf(place, own.out);
  if (given !== undefined) checkOut(place, given, array, dtype as DType);
  const made =
    given ?? place.own(newArray(place.context, array.shape, dtype as DType<Scalar>, { stream: place.stream }));
  const results = given === undefined ? [made] : [];
  const give = (): DeviceNDArray => made;
  const length = array.shape[axis] ?? 0;
  if (array.size === 0) return { steps: [], results, give };
  const lines = lastOf(place, array, axis);
  const source = flatOf(place, lines, true);
  const target = lastOf(place, made, axis);
  const isFlat = target.isCContiguous();
  const flat = isFlat ? place.view(target, [target.size], [target.itemSize]) : place.temporary([target.size], dtype);
  const steps = scanningLines(place, plainScan(operator, arrayInput(source), flat, init, isExclusive), length);
  if (isFlat) return { steps, results, give };
  const after = (): void => {
    target.copyToDevice(shapedAs(place, flat, target), { stream: place.stream });
  };
  return { steps, results, give, after };
}

/** All elements along one axis, in C order: a view where they lie so, else a copy. */
function flatOf(place: Workplace, array: DeviceNDArray, reads: boolean): DeviceNDArray {
  if (array.isCContiguous()) return place.view(array, [array.size], [array.itemSize]);
  const compact = place.temporary(array.shape, array.dtype);
  if (reads) compact.copyToDevice(array, { stream: place.stream });
  return place.view(compact, [array.size], [array.itemSize]);
}
