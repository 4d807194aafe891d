/**
 * The values that reductions begin with, and what they come to without elements.
 */
import { type DType, describeDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { scalar } from '../kernel/scalar.ts';
import { show } from '../show.ts';
import type { Workplace } from '../ufunc/operands.ts';
import type { Operator } from './operator.ts';

/** What a kernel takes for a first value; undefined for none. Throws TypeError for anything that is not a value of the type. */
export function initOf(init: unknown, type: DType): unknown {
  if (init === undefined) return undefined;
  const { kind, fields, itemSize } = type;
  if (fields !== undefined && kind !== 'c') {
    if (typeof init === 'object' && init !== null && fields.every(({ name }) => name in init)) return init;
    throw noValue(init, type);
  }
  // Sums of booleans are integers.
  const value = typeof init === 'boolean' && kind !== 'b' ? Number(init) : init;
  const big = 'iu'.includes(kind) && itemSize === 8 && Number.isInteger(value);
  try {
    return scalar(type, (big ? BigInt(value as number) : value) as number);
  } catch (error) {
    throw noValue(init, type, error);
  }
}

function noValue(init: unknown, type: DType, cause?: unknown): TsambaTypeError {
  return new TsambaTypeError('E_PARALLEL', `init must be a value of ${describeDType(type)}, got ${show(init)}`, {
    cause,
  });
}

/** What a reduction without elements comes to. */
export function withoutElements(place: Workplace, { identity, name, type }: Operator, init: unknown): unknown {
  const value = init ?? (type.kind !== 'b' && (name === 'min' || name === 'max') ? undefined : identity);
  if (value !== undefined) return value;
  throw new TsambaRangeError(
    'E_PARALLEL',
    `${place.name}: there are no elements of ${describeDType(type)} to combine, and ${name} has no identity: pass init`,
  );
}
