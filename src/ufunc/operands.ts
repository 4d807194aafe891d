/**
 * The arguments of one call of a universal function: arrays brought to the device, scalars as they are, and what has to be given back afterwards.
 */
import { DeviceNDArray } from '../array/device-array.ts';
import { copyToContext, deviceOf, isBorrowed, newArray } from '../array/device-create.ts';
import type { NDArray } from '../array/ndarray.ts';
import { asHostArray, ndarray } from '../array/ndarray-create.ts';
import type { ArgType } from '../compiler/contract.ts';
import { type DType, elemOf, type Scalar } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { complexScalar, type ScalarArgument, scalar, scalarType } from '../kernel/scalar.ts';
import type { Context } from '../memory/context.ts';
import { ownValue } from '../options.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';

export type StreamLike = Stream | 0 | null | undefined;

/** An argument. */
export type Operand =
  | { readonly kind: 'array'; readonly array: DeviceNDArray; readonly onDevice: boolean }
  /** Numbers of the host that the arrays beside them, or a signature, give a type. JavaScript arrays of them, too, until then. */
  | { readonly kind: 'scalar'; readonly value: number | bigint | boolean | object; readonly type: ArgType }
  | { readonly kind: 'nested'; readonly value: readonly unknown[] };

/** What a call has made, and where. */
export class Workplace {
  readonly name: string;
  readonly context: Context;
  readonly stream: StreamLike;
  readonly #made: { dispose(): void }[] = [];

  constructor(name: string, context: Context, stream: StreamLike) {
    this.name = name;
    this.context = context;
    this.stream = stream;
  }

  /** To be disposed when the call is enqueued. */
  own<A extends { dispose(): void }>(array: A): A {
    this.#made.push(array);
    return array;
  }

  /** Not to be disposed after all: it is the result. */
  release(array: { dispose(): void }): void {
    const at = this.#made.indexOf(array);
    if (at >= 0) this.#made.splice(at, 1);
  }

  /** What is to be disposed. */
  get made(): readonly { dispose(): void }[] {
    return this.#made;
  }

  /** A new array that is given back. */
  temporary(shape: readonly number[], dtype: DType): DeviceNDArray {
    return this.own(newArray(this.context, shape, dtype, { stream: this.stream }));
  }

  /** The same memory with other axes. */
  view(array: DeviceNDArray, shape: readonly number[], strides: readonly number[], offset = 0): DeviceNDArray {
    const { context, owner, pointer, readOnly } = array;
    const gpuData = { context, owner, address: pointer + offset, readOnly };
    return this.own(new DeviceNDArray<Scalar>(shape, strides, array.dtype, { stream: this.stream, gpuData }));
  }

  /** What an argument is. `place` names it in messages. */
  read(value: unknown, place: string): Operand {
    const there = deviceOf(value, this.context);
    if (there !== undefined) {
      if (isBorrowed(there, value as object)) this.own(there);
      there.checkUsable();
      return { kind: 'array', array: there, onDevice: true };
    }
    if (Array.isArray(value)) return { kind: 'nested', value };
    const host = asHostArray(value);
    if (host !== undefined) return { kind: 'array', array: this.#upload(host), onDevice: false };
    const type = scalarArgument(value);
    if (type !== undefined) return { kind: 'scalar', value: value as number, type };
    throw new TsambaTypeError('E_UFUNC', `${this.name}: ${place} must be an array or a number, got ${show(value)}`);
  }

  /** A JavaScript array as an array of a dtype; f64, i64 or bool where nothing says which. */
  nested(value: readonly unknown[], dtype: DType | undefined): DeviceNDArray {
    const host = dtype === undefined ? ndarray(value as number[]) : ndarray(value as number[], { dtype });
    return this.#upload(host as NDArray);
  }

  #upload(host: NDArray): DeviceNDArray {
    return this.own(copyToContext(this.context, host, { stream: this.stream }) as DeviceNDArray);
  }
}

/** The type of a scalar argument; undefined for what is none. */
function scalarArgument(value: unknown): ArgType | undefined {
  switch (typeof value) {
    case 'number': {
      if (!Number.isInteger(value)) return { kind: 'number', only: 'fraction' };
      return value > 2 ** 31 - 1 && value < 2 ** 32 ? { kind: 'number', only: 'word' } : { kind: 'number' };
    }
    case 'bigint':
      return { kind: 'bigint' };
    case 'boolean':
      return { kind: 'scalar', type: 'bool' };
    case 'object':
      return value === null ? undefined : stated(value);
    default:
      return undefined;
  }
}

function stated(value: object): ArgType | undefined {
  const elem = scalarType(value);
  if (elem !== undefined) return { kind: 'scalar', type: elem };
  const part = complexScalar(value)?.part;
  if (part !== undefined) return complexType({ kind: 'scalar', type: part });
  const parts = [ownValue(value, 're'), ownValue(value, 'im')];
  return parts.every((x) => typeof x === 'number') ? complexType({ kind: 'number' }) : undefined;
}

function complexType(part: ArgType): ArgType {
  return { kind: 'tuple', items: [part, part], complex: true };
}

/** Elements of a dtype as arguments of a function. */
export function elementType(dtype: DType): ArgType {
  if (dtype.kind === 'c') return complexType({ kind: 'scalar', type: dtype.name === 'c64' ? 'f32' : 'f64' });
  return { kind: 'scalar', type: elemOf(dtype) };
}

/** The dtype that `cuda.scalar` says; undefined of plain numbers. */
export function statedDType(value: unknown): DType | undefined {
  return typeof value === 'object' && value !== null && 'dtype' in value ? (value as ScalarArgument).dtype : undefined;
}

/** A scalar as a value of a dtype; undefined where it is none. */
export function asScalarOf(value: unknown, dtype: DType): ScalarArgument | undefined {
  const given = statedDType(value);
  if (given !== undefined) return given === dtype ? (value as ScalarArgument) : undefined;
  try {
    return scalar(dtype, value as number);
  } catch {
    return undefined;
  }
}
