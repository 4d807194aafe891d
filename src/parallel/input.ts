/**
 * What primitives read: arrays brought to the device, and lazy inputs as what a kernel is passed and the device function that reads an element of it.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, i32, i64, SCALAR_TOKENS, type ScalarName, spellDType, struct } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { resultTypeOf } from '../kernel/result-type.ts';
import { scalar } from '../kernel/scalar.ts';
import { elementArgument } from '../kernel/signature-reader.ts';
import { show } from '../show.ts';
import type { Operand, Workplace } from '../ufunc/operands.ts';
import { Lazy, type Recipe } from './lazy.ts';
import { remember } from './memo.ts';
import type { Value } from './operator.ts';

/** Reads element `i` of an argument: a device function, the same object for inputs of the same make. */
export type Read = (argument: Value, i: number) => Value;

/** What a primitive reads. */
export interface Input {
  readonly length: number;
  readonly dtype: DType;
  /** What a kernel is passed: an array, or a tuple of arrays and scalars. */
  readonly argument: unknown;
  readonly read: Read;
  /** Set where the input is an array of one axis: for kernels that load several elements at once. */
  readonly array: DeviceNDArray | undefined;
  /** The arrays that kernels read: what a result must not overwrite too early. */
  readonly arrays: readonly DeviceNDArray[];
}

const readArray: Read = ((x: readonly Value[], i: number): Value => x[i] as Value) as Read;
const readConstant: Read = ((value: Value, _: number): Value => value) as Read;

/**
 * An input of what a call was given; `what` names it in messages. Elements of arrays of several axes are counted in C order. Host arrays are copied to the
 * device, and the copies given back with the place.
 */
export function inputOf(place: Workplace, x: unknown, what: string): Input {
  if (x instanceof Lazy) return lazyInput(place, x, what);
  return arrayInput(raveled(place, arrayOf(place, x, what)));
}

/** An array on the device, with its axes. Throws TypeError for what is none. */
export function arrayOf(place: Workplace, x: unknown, what: string): DeviceNDArray {
  const isArray = typeof x === 'object' && x !== null && !('then' in x);
  const operand = isArray ? read(place, x, what) : undefined;
  if (operand?.kind === 'nested') return place.nested(operand.value, undefined);
  if (operand?.kind === 'array') return operand.array;
  const help = typeof x === 'object' && x !== null && 'then' in x ? ': await it first' : '';
  throw new TsambaTypeError(
    'E_PARALLEL',
    `${place.name}: ${what} must be an array or a lazy input, got ${show(x)}${help}`,
  );
}

/** Undefined for objects that are not arrays. */
function read(place: Workplace, x: object, what: string): Operand | undefined {
  try {
    return place.read(x, what);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'E_UFUNC') return undefined;
    throw error;
  }
}

/** An input of integers; a JavaScript array of them is one of i32, or of i64 where they need it. Throws TypeError for what are none. */
export function integersOf(place: Workplace, x: unknown, what: string): Input {
  const list = Array.isArray(x) ? (x as unknown[]) : undefined;
  const wrong = list?.find((one) => !Number.isInteger(one) && typeof one !== 'bigint' && !Array.isArray(one));
  if (wrong !== undefined) {
    throw new TsambaTypeError('E_PARALLEL', `${place.name}: ${what} must be integers, got ${show(wrong)}`);
  }
  const isFar = list?.some((one) => Math.abs(Number(one)) >= 2 ** 31) === true;
  const array = isFar
    ? place.nested(
        list.map((one) => BigInt(one as number)),
        i64,
      )
    : list && place.nested(list, i32);
  const input = inputOf(place, array ?? x, what);
  if ('iu'.includes(input.dtype.kind)) return input;
  throw new TsambaTypeError('E_PARALLEL', `${place.name}: ${what} must be integers, got ${spellDType(input.dtype)}`);
}

/**
 * Integers that say which of `length` elements are meant, as kernels compute with indices: those of 64 bits become numbers, and what is not a place of an element does not become one; those without
 * a sign get one, so that steps may be negative.
 */
export function indexing(places: Input, length: number): Input {
  const { dtype, read } = places;
  const { kind, itemSize } = dtype;
  if (itemSize < 4 || (itemSize === 4 && kind === 'i')) return places;
  const isLong = length >= 2 ** 31;
  const number = remember(['indexing', read, isLong, dtype.name], () =>
    isLong ? readFar(read) : itemSize === 4 ? readSigned(read) : readNear(read, kind),
  );
  return { ...places, read: number, array: undefined };
}

/** An array of one axis as an input. */
export function arrayInput(array: DeviceNDArray): Input {
  return { length: array.size, dtype: array.dtype, argument: array, read: readArray, array, arrays: [array] };
}

/** All elements along one axis, in C order: a view where they lie so, else a copy. */
export function raveled(place: Workplace, array: DeviceNDArray): DeviceNDArray {
  if (array.ndim === 1) return array;
  if (array.isCContiguous()) return place.view(array, [array.size], [array.itemSize]);
  const compact = place.temporary(array.shape, array.dtype);
  compact.copyToDevice(array, { stream: place.stream });
  return place.view(compact, [array.size], [array.itemSize]);
}

function lazyInput(place: Workplace, lazy: Lazy, what: string): Input {
  const { recipe, length, stated } = lazy;
  const sources = lazy.sources.map((source, k) =>
    k === 1 && recipe.kind === 'permute' ? integersOf(place, source, 'index') : inputOf(place, source, what),
  );
  const arrays = sources.flatMap((source) => source.arrays);
  if (recipe.kind === 'strided') return { ...stridedInput(place, recipe, sources[0] as Input, length), length, arrays };
  const { argument, read } = wayOf(recipe, sources, stated);
  const dtype = stated ?? dtypeOf(place, recipe, sources);
  return { length, dtype, argument, read, array: undefined, arrays };
}

type Way = Pick<Input, 'argument' | 'read'>;

function wayOf(
  recipe: Exclude<Recipe, { kind: 'strided' }>,
  sources: readonly Input[],
  stated: DType | undefined,
): Way {
  const [first, second] = sources as readonly [Input, Input];
  switch (recipe.kind) {
    case 'counting': {
      const dtype = stated as DType;
      const argument = [scalar(dtype, recipe.start as number), scalar(dtype, recipe.step as number)];
      return { argument, read: remember(['counting', spellDType(dtype)], () => readCounting(dtype)) };
    }
    case 'constant': {
      const { value } = recipe;
      const isStruct = stated?.fields !== undefined && stated.kind !== 'c';
      return { argument: isStruct ? value : scalar(stated as DType, value as number), read: readConstant };
    }
    case 'zip': {
      const reads = sources.map((source) => source.read);
      const argument = sources.map((source) => source.argument);
      return { argument, read: remember(['zip', ...recipe.names, ...reads], () => readZip(recipe.names, reads)) };
    }
    case 'map': {
      const { fn } = recipe;
      return { argument: first.argument, read: remember(['map', first.read, fn], () => readMap(first.read, fn as Fn)) };
    }
    case 'permute': {
      const at = indexing(second, first.length).read;
      const read = remember(['permute', first.read, at], () => readPermuted(first.read, at));
      return { argument: [first.argument, second.argument], read };
    }
  }
}

function stridedInput(
  place: Workplace,
  { start, step }: Extract<Recipe, { kind: 'strided' }>,
  source: Input,
  length: number,
): Omit<Input, 'length' | 'arrays'> {
  const { array, dtype, read, argument } = source;
  if (array === undefined || length === 0) {
    const way = remember(['strided', read], () => readStrided(read));
    return { dtype, argument: [argument, whole(start), whole(step)], read: way, array: undefined };
  }
  const stride = array.strides[0] ?? 0;
  const view = place.view(array, [length], [stride * step], start * stride);
  return { dtype, argument: view, read: readArray, array: view };
}

/** An integer of 32 bits if it is one, else of 64. */
const whole = (n: number): unknown => (n === (n | 0) ? scalar(i32, n) : scalar(i64, BigInt(n)));

type Fn = (value: Value) => Value;

function readCounting(dtype: DType): Read {
  const cast = SCALAR_TOKENS[dtype.name as ScalarName] as unknown as Fn;
  return deviceFunction(
    ({ cast }: { readonly cast: Fn }) =>
      ([start, step]: readonly [number, number], i: number) =>
        cast((start + step * (cast(i as Value) as number)) as Value),
    { cast } as { readonly cast: Fn } & Record<string, unknown>,
  ) as Read;
}

function readMap(inner: Read, fn: Fn): Read {
  return deviceFunction(
    ({ inner, fn }: { readonly inner: Read; readonly fn: Fn }) =>
      (argument: Value, i: number) =>
        fn(inner(argument, i)),
    { inner, fn } as { readonly inner: Read; readonly fn: Fn } & Record<string, unknown>,
  ) as Read;
}

function readPermuted(inner: Read, index: Read): Read {
  return deviceFunction(
    ({ inner, index }: { readonly inner: Read; readonly index: Read }) =>
      ([x, at]: readonly [Value, Value], i: number) =>
        inner(x, index(at, i)),
    { inner, index } as { readonly inner: Read; readonly index: Read } & Record<string, unknown>,
  ) as Read;
}

function readStrided(inner: Read): Read {
  return deviceFunction(
    ({ inner }: { readonly inner: Read }) =>
      ([x, start, step]: readonly [Value, number, number], i: number) =>
        inner(x, start + step * i),
    { inner } as { readonly inner: Read } & Record<string, unknown>,
  ) as Read;
}

/** Below 2³¹: i32, which computes faster than what holds all places. */
function readNear(inner: Read, kind: string): Read {
  const none = kind === 'u' ? 0n : -1n;
  const captures = { inner, i32: i32 as unknown as (value: bigint) => number, most: 2n ** 31n - 1n, none };
  return deviceFunction(
    ({ inner, i32, most, none }: typeof captures) =>
      (x: Value, i: number) => {
        const at = inner(x, i) as unknown as bigint;
        return i32(at > most ? most : at < none ? none : at);
      },
    captures as typeof captures & Record<string, unknown>,
  ) as unknown as Read;
}

/** What is beyond i32 becomes negative, and so no place. */
function readSigned(inner: Read): Read {
  const captures = { inner, i32: i32 as unknown as (value: Value) => number };
  return deviceFunction(
    ({ inner, i32 }: typeof captures) =>
      (x: Value, i: number) =>
        i32(inner(x, i)),
    captures as typeof captures & Record<string, unknown>,
  ) as unknown as Read;
}

function readFar(inner: Read): Read {
  const captures = { inner };
  return deviceFunction(
    ({ inner }: typeof captures) =>
      (x: Value, i: number) =>
        Number(inner(x, i)),
    captures as typeof captures & Record<string, unknown>,
  ) as unknown as Read;
}

/** One field after the other, so that each source is read in a way of its own. */
function readZip(names: readonly string[], reads: readonly Read[]): Read {
  let all: Read = (() => ({})) as unknown as Read;
  reads.forEach((one, k) => {
    const captures = { rest: all, one, k, name: names[k] as string };
    all = deviceFunction(
      ({ rest, one, k, name }: typeof captures) =>
        (sources: readonly Value[], i: number) => ({
          ...(rest(sources as never, i) as object),
          [name]: one(sources[k] as Value, i),
        }),
      captures as typeof captures & Record<string, unknown>,
    ) as unknown as Read;
  });
  return all;
}

function dtypeOf(place: Workplace, recipe: Recipe, sources: readonly Input[]): DType {
  const [first] = sources as readonly [Input];
  if (recipe.kind === 'permute') return first.dtype;
  if (recipe.kind === 'zip') {
    const fields = recipe.names.map((name, k) => [name, (sources[k] as Input).dtype] as const);
    return remember(['struct', ...fields.map(([name, dtype]) => `${name}: ${spellDType(dtype)}`)], () =>
      struct(Object.fromEntries(fields) as never, { align: true }),
    ) as DType;
  }
  if (recipe.kind !== 'map') throw new Error('the dtype of a lazy input was not given');
  return resultOf(place, recipe.fn, recipe.name, [first.dtype]);
}

/** The dtype of what a function gives for elements of some dtypes. Throws TypeError where it is not a number: then it must be given. */
export function resultOf(
  place: Workplace,
  fn: (...args: never[]) => unknown,
  name: string,
  dtypes: readonly DType[],
): DType {
  const found = remember(['result', fn, ...dtypes.map(spellDType)], () => {
    const args = dtypes.map(elementArgument);
    return args.includes(undefined) ? undefined : resultTypeOf({ fn, name }, args as never);
  });
  if (found !== undefined) return found;
  throw new TsambaTypeError(
    'E_PARALLEL',
    `${place.name}: ${name} does not return a number: give the dtype of its result, with { dtype }, or as the last argument of map`,
  );
}
