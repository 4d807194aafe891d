/**
 * What scans are made of an operator and an input: the type of the results, what comes first, what kernels read and write.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { asDType, type DType, type DTypeLike, describeDType, spellDType } from '../dtype/index.ts';
import { TsambaRangeError } from '../errors.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { type Packed, packedOf } from './accesses.ts';
import type { Input, Read } from './input.ts';
import { remember } from './memo.ts';
import { type Operator, operatorOf, type Value } from './operator.ts';
import { initOf } from './reduce-values.ts';
import type { Scan } from './scan-kernels.ts';
import type { Scanned } from './scanning.ts';
import { valueWords } from './value-words.ts';

/** Options as they are read. */
export interface Own {
  readonly init?: unknown;
  readonly out?: unknown;
  readonly axis?: number | undefined;
  readonly dtype?: DTypeLike | undefined;
  readonly stream?: StreamLike;
}

/** The operator of a scan. */
export function scanOperator(place: Workplace, op: unknown, dtype: DType, stated: DTypeLike | undefined): Operator {
  return operatorOf(place, op, dtype, stated === undefined ? {} : { dtype: asDType(stated) as DType });
}

/** Sums and products have the type that they are computed in, all else that of the elements, unless it was said. */
export function resultType({ type, identity, name }: Operator, { dtype }: Pick<Input, 'dtype'>, own: Own): DType {
  if (own.dtype !== undefined) return type;
  const grows = identity !== undefined && (name === 'sum' || name === 'prod') && 'biu'.includes(type.kind);
  return grows ? type : dtype;
}

/** What comes first, as a kernel takes it; undefined for nothing. */
export function initFor(
  place: Workplace,
  { type, identity, name }: Operator,
  init: unknown,
  isNeeded: boolean,
): unknown {
  const value = init ?? (isNeeded ? identity : undefined);
  if (value !== undefined) return initOf(value, type);
  if (!isNeeded) return undefined;
  throw new TsambaRangeError(
    'E_PARALLEL',
    `${place.name}: there is nothing before the first element of ${describeDType(type)}, and ${name} has no identity: pass init`,
  );
}

type Captured = Readonly<Record<string, unknown>>;
const device = <C, F extends (...args: never[]) => unknown>(factory: (captures: C) => F, captures: C): F =>
  deviceFunction(factory as (captures: Captured) => F, captures as Captured);

/** The operator with its results brought to its type. */
export function combining({ op, cast, type }: Operator): (a: Value, b: Value) => Value {
  return remember(['combining', op, spellDType(type)], () => {
    const captures = { op, cast };
    return device(
      ({ op, cast }: typeof captures) =>
        (a: Value, b: Value) =>
          cast(op(a, b)),
      captures,
    );
  });
}

/** What is read of an input, in the type of an operator. */
export function readingIn({ cast, type }: Operator, read: Read): Read {
  return remember(['reading in', spellDType(type), read], () => {
    const captures = { read, cast };
    return device(
      ({ read, cast }: typeof captures) =>
        (argument: Value, i: number) =>
          cast(read(argument, i)),
      captures,
    );
  });
}

/** A scan of an input. */
export function plainScan(
  operator: Operator,
  input: Input,
  out: DeviceNDArray,
  init: unknown,
  isExclusive: boolean,
): Scanned {
  const value = valueWords(operator.type);
  const op = combining(operator);
  const emit = remember(['emit', op, operator.name, spellDType(operator.type), init !== undefined, isExclusive], () =>
    emitOf(op, operator, init !== undefined, isExclusive),
  );
  const packed = packedIn(operator, input);
  const keys = ['scan', op, operator.name, isExclusive, init !== undefined];
  const read = readingIn(operator, input.read);
  return { keys, value, op, name: operator.name, argument: input.argument, read, packed, out, emit, init };
}

/** Vectors of an input, in the type of an operator. The same object for the same. */
export function packedIn({ cast, type }: Operator, { array }: Input): Scanned['packed'] {
  const packed = packedOf(array);
  if (packed === undefined) return undefined;
  return remember(['packed in', packed, spellDType(type)], () => {
    const captures = { load: packed.load, cast };
    const load = device(
      ({ load, cast }: typeof captures) =>
        (argument: Value, i: number) =>
          load(argument, i).map((value) => cast(value as Value)),
      captures,
    ) as unknown as Packed['load'];
    return { count: packed.count, load };
  });
}

function emitOf(
  op: (a: Value, b: Value) => Value,
  { cast }: Operator,
  hasInit: boolean,
  isExclusive: boolean,
): Scan['emit'] {
  const captures = { op, cast, hasInit };
  if (!isExclusive) {
    return device(
      ({ op, cast, hasInit }: typeof captures) =>
        (_before: Value, _has: boolean, after: Value, _own: Value, init: Value) =>
          hasInit ? op(cast(init), after) : after,
      captures,
    );
  }
  return device(
    ({ op, cast }: typeof captures) =>
      (before: Value, has: boolean, _after: Value, _own: Value, init: Value) => {
        const first = cast(init);
        return has ? op(first, before) : first;
      },
    captures,
  );
}
