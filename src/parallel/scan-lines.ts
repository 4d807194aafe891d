/**
 * Scans along an axis of arrays of several axes: every line by itself.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import { type DType, type Scalar, sameDType, spellDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { formatShape, normalizeAxis } from '../layout/index.ts';
import { show } from '../show.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { arrayInput } from './input.ts';
import { Lazy } from './lazy.ts';
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
  const array = arrayOf(place, x);
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
    const shaped = place.view(flat, target.shape, rowStrides(target.shape, flat.itemSize));
    target.copyToDevice(shaped, { stream: place.stream });
  };
  return { steps, results, give, after };
}

function arrayOf(place: Workplace, x: unknown): DeviceNDArray {
  if (x instanceof Lazy) {
    throw new TsambaTypeError('E_PARALLEL', `${place.name}: axis is for arrays, and x is a lazy input, which has one`);
  }
  const operand = place.read(x, 'x');
  if (operand.kind === 'scalar') {
    throw new TsambaTypeError('E_PARALLEL', `${place.name}: x must be an array or a lazy input, got ${show(x)}`);
  }
  const array = operand.kind === 'nested' ? place.nested(operand.value, undefined) : operand.array;
  if (array.ndim > 0) return array;
  throw new TsambaRangeError('E_AXIS', `${place.name}: an array without axes has none to scan`);
}

function checkOut(place: Workplace, out: DeviceNDArray, { shape }: DeviceNDArray, dtype: DType): void {
  if (out.shape.length !== shape.length || out.shape.some((n, k) => n !== shape[k])) {
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${place.name}: out has shape ${formatShape(out.shape)}, and the results ${formatShape(shape)}`,
    );
  }
  if (sameDType(out.dtype, dtype)) return;
  throw new TsambaTypeError(
    'E_DTYPE_MISMATCH',
    `${place.name}: out has dtype ${spellDType(out.dtype)}, and the results ${spellDType(dtype)}`,
  );
}

/** The same elements with one axis last. */
function lastOf(place: Workplace, array: DeviceNDArray, axis: number): DeviceNDArray {
  if (axis === array.ndim - 1) return array;
  const last = <T>(list: readonly T[]): T[] => [...list.filter((_, k) => k !== axis), list[axis] as T];
  return place.view(array, last(array.shape), last(array.strides));
}

/** All elements along one axis, in C order: a view where they lie so, else a copy. */
function flatOf(place: Workplace, array: DeviceNDArray, reads: boolean): DeviceNDArray {
  if (array.isCContiguous()) return place.view(array, [array.size], [array.itemSize]);
  const compact = place.temporary(array.shape, array.dtype);
  if (reads) compact.copyToDevice(array, { stream: place.stream });
  return place.view(compact, [array.size], [array.itemSize]);
}

function rowStrides(shape: readonly number[], itemSize: number): number[] {
  const strides = new Array<number>(shape.length);
  let step = itemSize;
  for (let k = shape.length - 1; k >= 0; k--) {
    strides[k] = step;
    step *= shape[k] as number;
  }
  return strides;
}
