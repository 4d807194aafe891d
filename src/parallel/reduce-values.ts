/**
 * The values that reductions begin with, and what they come to without elements.
 */
import { type DType, describeDType } from '../dtype/index.ts';
import { TsambaRangeError } from '../errors.ts';
import { scalar } from '../kernel/scalar.ts';
import type { Workplace } from '../ufunc/operands.ts';
import type { Operator } from './operator.ts';

/** What a kernel takes for a first value; undefined for none. */
export function initOf(init: unknown, type: DType): unknown {
  if (init === undefined) return undefined;
  if (type.fields !== undefined && type.kind !== 'c') return init;
  // Sums of booleans are integers.
  const value = typeof init === 'boolean' && type.kind !== 'b' ? Number(init) : init;
  const big = 'iu'.includes(type.kind) && type.itemSize === 8 && typeof value === 'number';
  return scalar(type, (big ? BigInt(value) : value) as number);
}

/** What a reduction without elements comes to. */
export function withoutElements(place: Workplace, { identity, name, type }: Operator, init: unknown): unknown {
  const value = init ?? (type.kind !== 'b' && (name === 'min' || name === 'max') ? undefined : identity);
  if (value !== undefined) return value;
  throw new TsambaRangeError(
    'E_PARALLEL',
    `${place.name}: there are no elements of ${describeDType(type)} to combine, and ${name} has no value for that: pass init`,
  );
}
