/**
 * Sorts along an axis of arrays of several axes: every line by itself.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import type { DType, Scalar } from '../dtype/index.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { axisOf, checkOut, lastOf, shapedAs } from './axis.ts';
import { arrayInput, inputOf, raveled } from './input.ts';
import { counting } from './lazy.ts';
import type { Plan } from './primitive.ts';
import { sortingSegments } from './segment-sorting.ts';
import { argsorting, placeType, type ReadOrder, sorting } from './sorting.ts';
import { outOf } from './transform.ts';

/** The plan of a sort along `order.axis`: of the elements, or of their places along it. */
export function sortedAlong(
  place: Workplace,
  x: unknown,
  order: ReadOrder,
  wanted: 'values' | 'places',
): Omit<Plan<DeviceNDArray>, 'place'> {
  const { array, axis, length } = axisOf(place, x, order);
  const dtype = wanted === 'values' ? array.dtype : placeType(length);
  const given = outOf(place, order.out);
  if (given !== undefined) checkOut(place, given, array, dtype);
  const { context, stream } = place;
  const made = given ?? place.own(newArray(context, array.shape, dtype as DType<Scalar>, { stream }));
  const result = { results: given === undefined ? [made] : [], give: () => made };
  if (array.size === 0) return { ...result, steps: [] };
  const input = arrayInput(raveled(place, lastOf(place, array, axis)));
  const target = lastOf(place, made, axis);
  const isFlat = target.isCContiguous();
  const flat = isFlat ? place.view(target, [target.size], [target.itemSize]) : place.temporary([target.size], dtype);
  const lines = input.length / length;
  const offsets = (): ReturnType<typeof inputOf> => inputOf(place, counting(lines + 1, 0, length), 'offsets');
  const steps =
    lines > 1
      ? sortingSegments(place, input, offsets(), order, flat, wanted === 'values' ? wanted : { length })
      : (wanted === 'values' ? sorting : argsorting)(place, input, order, flat);
  if (isFlat) return { ...result, steps };
  const after = (): void => {
    target.copyToDevice(shapedAs(place, flat, target), { stream });
  };
  return { ...result, steps, after };
}
