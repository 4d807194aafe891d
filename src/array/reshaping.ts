/**
 * The two ways to give an array another shape, as host and device arrays take them: the arguments of `reshape`, and an assignment to `shape`.
 */
import { NotSupportedError } from '../errors.ts';
import {
  formatShape,
  inferShape,
  type ReshapeOrder,
  reshapeLayout,
  type ShapeLike,
  type StridedLayout,
  sizeOf,
} from '../layout/index.ts';
import { readOptions } from '../options.ts';

/** Takes `(2, 3)`, `([2, 3])` and `([2, 3], { order })` apart. */
export function reshapeArguments(args: readonly unknown[]): { shape: ShapeLike; order: ReshapeOrder | undefined } {
  const last = args.at(-1);
  const hasOptions = args.length > 1 && typeof last === 'object' && last !== null && !(Symbol.iterator in last);
  const dims = hasOptions ? args.slice(0, -1) : args;
  const options = hasOptions || typeof last === 'string' ? last : undefined;
  const { order } = readOptions('reshape', options as { readonly order?: ReshapeOrder } | undefined, ['order']);
  const [first] = dims;
  // What is no shape at all is reported by inferShape.
  const shape = dims.length === 1 && typeof first === 'object' ? first : dims;
  return { shape: shape as ShapeLike, order };
}

/** The layout that an assignment to `shape` gives an array. Throws RangeError for a wrong size, NotSupportedError where elements would move. */
export function reshapedInPlace(layout: StridedLayout, shape: ShapeLike): StridedLayout {
  const wanted = inferShape(shape, sizeOf(layout.shape));
  const reshaped = reshapeLayout(layout, wanted);
  if (reshaped !== undefined) return reshaped;
  throw new NotSupportedError(
    'E_RESHAPE_COPY',
    `shape = ${formatShape(wanted)}: the elements of strides ${formatShape(layout.strides)} would have to be copied; reshape() makes a new array`,
  );
}
