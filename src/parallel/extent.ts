/**
 * The least and the largest element at once.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, spellDType, struct } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { Workplace } from '../ufunc/operands.ts';
import type { Input, Read } from './input.ts';
import { remember } from './memo.ts';
import { castTo, type Operator, operatorOf, type Value } from './operator.ts';
import { reducing } from './reducing.ts';

type Both = (value: Value) => Value;

/** A struct of the least and the largest element, in an array of one, and the launches that find it. */
export function extentOf(
  place: Workplace,
  input: Input,
): { readonly argument: DeviceNDArray; readonly steps: readonly Step[] } {
  const made = extentOperator(place, input);
  const array = place.temporary([1], made.operator.type);
  if (input.length === 0) return { argument: array, steps: [] };
  const both: Input = { ...input, dtype: made.operator.type, read: made.read, array: undefined };
  return { argument: array, steps: reducing(place, made.operator, both, array, undefined) };
}

/** What reads elements as pairs, and combines these. */
export function extentOperator(place: Workplace, input: Input): { readonly read: Read; readonly operator: Operator } {
  const [least, greatest] = [operatorOf(place, 'min', input.dtype), operatorOf(place, 'max', input.dtype)];
  return remember(['extent', input.read, least.op, greatest.op, spellDType(least.type)], () =>
    extentBy(input.read, least, greatest),
  );
}

function extentBy(
  inner: Read,
  least: Operator,
  greatest: Operator,
): { readonly read: Read; readonly operator: Operator } {
  const type = struct({ low: least.type, high: least.type }, { align: true }) as DType;
  const captures = { inner, cast: least.cast, low: least.op, high: greatest.op };
  const read = deviceFunction(
    ({ inner, cast }: typeof captures) =>
      (x: Value, i: number) => {
        const value = cast(inner(x, i));
        return { low: value, high: value };
      },
    captures as typeof captures & Record<string, unknown>,
  );
  const op = deviceFunction(
    ({ low, high }: typeof captures) =>
      (a: { readonly low: Value; readonly high: Value }, b: { readonly low: Value; readonly high: Value }) => ({
        low: low(a.low, b.low),
        high: high(a.high, b.high),
      }),
    captures as typeof captures & Record<string, unknown>,
  );
  return {
    read: read as unknown as Read,
    operator: {
      op: op as unknown as Operator['op'],
      type,
      cast: castTo(type) as Both as Operator['cast'],
      identity: undefined,
      name: 'extent',
      commutative: true,
    },
  };
}
