/**
 * Whether two elements are the same, in kernels: as `===` says, but NaN is the same as NaN. Structs by their members.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, describeDType, spellDType } from '../dtype/index.ts';
import { NotSupportedError } from '../errors.ts';
import type { Packed } from './accesses.ts';
import type { Read } from './input.ts';
import { remember } from './memo.ts';
import type { Value } from './operator.ts';

/** A device function. */
export type Same = (a: Value, b: Value) => boolean;

type Captured = Readonly<Record<string, unknown>>;
const device = <C, F extends (...args: never[]) => unknown>(factory: (captures: C) => F, captures: C): F =>
  deviceFunction(factory as (captures: Captured) => F, captures as Captured);

const equal = ((a: number, b: number): boolean => a === b) as Same;
const equalOrNaN = ((a: number, b: number): boolean => a === b || (Number.isNaN(a) && Number.isNaN(b))) as Same;

/** How elements of a dtype are compared. Throws NotSupportedError for sub-arrays. */
export function sameOf(dtype: DType): Same {
  return remember(['same', spellDType(dtype)], () => compared(dtype));
}

function compared(dtype: DType): Same {
  const { kind, fields } = dtype;
  if (kind === 'f') return equalOrNaN;
  if (kind === 'c') return members(['re', 'im'], [equalOrNaN, equalOrNaN]);
  if (fields !== undefined)
    return members(
      fields.map(({ name }) => name),
      fields.map((field) => sameOf(field.dtype)),
    );
  if (dtype.subShape === undefined) return equal;
  throw new NotSupportedError('E_PARALLEL', `elements of ${describeDType(dtype)} cannot be compared`);
}

function members(names: readonly string[], each: readonly Same[]): Same {
  const captures = { names, each };
  return device(
    ({ names, each }: typeof captures) =>
      (a: Readonly<Record<string, Value>>, b: Readonly<Record<string, Value>>) =>
        names.every((name, k) => (each[k] as Same)(a[name] as Value, b[name] as Value)),
    captures,
  ) as unknown as Same;
}

/** The same for the elements from `i` on that a vector has; `packed` reads that. */
export function areHeadsOf(key: Read, same: Same, packed: Packed): Packed['load'] {
  return remember(['are heads', key, same, packed], () => {
    const captures = { key, same, load: packed.load };
    return device(
      ({ key, same, load }: typeof captures) =>
        (keys: Value, i: number) => {
          const own = load(keys, i);
          const before = key(keys, Math.max(i - 1, 0));
          return own.map((one, k) => (k > 0 ? !same(one, own[k - 1] as Value) : i === 0 || !same(one, before)));
        },
      captures,
    ) as unknown as Packed['load'];
  });
}

/** Whether element `i` of keys is the first of those that are the same, one behind the other. */
export function isHeadOf(key: Read, same: Same): Read {
  return remember(['is head', key, same], () => {
    const captures = { key, same };
    return device(
      ({ key, same }: typeof captures) =>
        (keys: Value, i: number) =>
          i === 0 || !same(key(keys, i), key(keys, Math.max(i - 1, 0))),
      captures,
    ) as unknown as Read;
  });
}
