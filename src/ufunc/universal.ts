/**
 * What a universal function is behind its public face: the kernels for the types that it has met, and the plan of one call.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import { c64, c128, type DType, describeDType, SCALAR_TOKENS, type ScalarName, sameDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Jit } from '../kernel/jit.ts';
import { resultTypeOf } from '../kernel/result-type.ts';
import type { Step } from '../kernel/steps.ts';
import type { UserFunction } from '../kernel/user-function.ts';
import { broadcastShapes, formatShape, mayOverlap } from '../layout/index.ts';
import { type Elementwise, elementwise, type LoopKernel } from './kernels.ts';
import { loopsOver } from './loops.ts';
import { asScalarOf, elementType, type Operand, type Workplace } from './operands.ts';
import { type ElementSignature, fitting } from './signatures.ts';

/** The arguments of a call with their types decided. */
export interface Typed {
  readonly inputs: readonly (DeviceNDArray | { readonly scalar: unknown })[];
  readonly result: DType;
  /** Whether a signature says what the result is: then it is converted. */
  readonly stated: boolean;
}

export type Input = Typed['inputs'][number];

/** A function of elements and its kernels. */
export class Universal {
  readonly user: UserFunction;
  readonly arity: number;
  readonly signatures: readonly ElementSignature[] | undefined;
  readonly jit: Jit;
  readonly #kernels = new Map<string, LoopKernel>();
  readonly #results = new Map<string, DType>();

  constructor(jit: Jit, user: UserFunction, arity: number, signatures: readonly ElementSignature[] | undefined) {
    this.jit = jit;
    this.user = user;
    this.arity = arity;
    this.signatures = signatures;
  }

  /** Decides what the elements are. Throws TypeError where no signature fits, KernelError where the function cannot take them. */
  type(place: Workplace, operands: readonly Operand[]): Typed {
    if (this.signatures === undefined) return this.#inferred(place, operands);
    const { args, result } = fitting(place.name, this.signatures, operands);
    const inputs = operands.map((operand, k): Input => {
      const dtype = args[k] as DType;
      if (operand.kind === 'array') return operand.array;
      if (operand.kind === 'nested') return place.nested(operand.value, dtype);
      return { scalar: asScalarOf(operand.value, dtype) };
    });
    return { inputs, result, stated: true };
  }

  #inferred(place: Workplace, operands: readonly Operand[]): Typed {
    const inputs = operands.map((operand): Input => {
      if (operand.kind === 'scalar') return { scalar: operand.value };
      return operand.kind === 'nested' ? place.nested(operand.value, undefined) : operand.array;
    });
    const types = inputs.map((input, k) => {
      const operand = operands[k];
      return 'scalar' in input && operand?.kind === 'scalar'
        ? operand.type
        : elementType((input as DeviceNDArray).dtype);
    });
    return { inputs, result: this.resultOf(types), stated: false };
  }

  /** What the function gives for elements of these types. */
  resultOf(types: Parameters<typeof resultTypeOf>[1]): DType {
    const key = JSON.stringify(types);
    let result = this.#results.get(key);
    if (result === undefined) {
      result = resultTypeOf(this.user, types);
      if (result === undefined) {
        throw new TsambaTypeError(
          'E_UFUNC',
          `${this.user.name} does not return a number: a universal function returns one element`,
        );
      }
      this.#results.set(key, result);
    }
    return result;
  }

  /** The launches that compute all elements of `out`; arrays are broadcast to its shape. */
  steps(place: Workplace, { inputs, stated }: Typed, out: DeviceNDArray): Step[] {
    const arrays = inputs.filter((input) => !('scalar' in input)) as DeviceNDArray[];
    const isArray = inputs.map((input) => !('scalar' in input));
    const looped = [out, ...arrays].map((array) => ({ array, core: 0 }));
    return loopsOver(place, out.shape, looped).map(({ rank, views, shape }) => {
      const [target, ...rest] = views;
      const args = inputs.map((input) => ('scalar' in input ? input.scalar : rest.shift()));
      return { kernel: this.#kernel(isArray, rank, stated ? out.dtype : undefined), shape, args: [target, args] };
    });
  }

  #kernel(isArray: readonly boolean[], rank: 1 | 2 | 3, cast: DType | undefined): LoopKernel {
    const key = `${isArray}|${rank}|${cast?.name}`;
    let kernel = this.#kernels.get(key);
    if (kernel === undefined) {
      const op = this.user.fn as Elementwise['op'];
      kernel = elementwise(this.jit, { op, cast: castTo(cast), isArray, rank, name: this.user.name });
      this.#kernels.set(key, kernel);
    }
    return kernel;
  }
}

const asIs: Elementwise['cast'] = (value) => value;

/** Conversion to a dtype that a signature names. */
export function castTo(dtype: DType | undefined): Elementwise['cast'] {
  if (dtype === undefined || dtype === c64 || dtype === c128) return asIs;
  return SCALAR_TOKENS[dtype.name as ScalarName] as unknown as Elementwise['cast'];
}

/** The shape of all inputs together. Throws RangeError where they do not broadcast. */
export function commonShape({ inputs }: Typed): number[] {
  return broadcastShapes(...inputs.map((input) => ('scalar' in input ? [] : input.shape)));
}

/** The kinds of numbers, narrower ones first. */
const KINDS = 'buifc';

/** Checks that results of one dtype may go to an array of another: of the same kind, or a wider one. */
export function checkOut(
  name: string,
  out: { readonly dtype: DType; readonly shape: readonly number[] },
  wanted: Wanted,
): void {
  const { dtype, shape } = wanted;
  if (String(out.shape) !== String(shape)) {
    throw new TsambaRangeError(
      'E_BROADCAST',
      `${name}: out has shape ${formatShape(out.shape)}, and the result ${formatShape(shape)}`,
    );
  }
  const [from, to] = [dtype.kind, out.dtype.kind].map((kind) => KINDS.indexOf(kind === 'i' ? 'u' : kind));
  if (sameDType(out.dtype, dtype) || ((to ?? -1) >= (from ?? 0) && out.dtype.fields === undefined)) return;
  if (out.dtype.kind === 'c' && dtype.kind !== 'b') return;
  throw new TsambaTypeError(
    'E_DTYPE_MISMATCH',
    `${name}: the result is ${describeDType(dtype)}, which out of dtype ${describeDType(out.dtype)} cannot hold`,
  );
}

/** What an array for a result has to be. */
export interface Wanted {
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** Where results are computed: `out` itself, or beside it where that holds inputs whose elements are asked for later. */
export function besideInputs(
  place: Workplace,
  out: DeviceNDArray,
  { inputs, whole }: { readonly inputs: readonly DeviceNDArray[]; readonly whole: boolean },
): DeviceNDArray {
  const meets = inputs.some((x) => {
    if (x.owner !== out.owner || x.size === 0 || out.size === 0) return false;
    const same =
      x.pointer === out.pointer && String(x.strides) === String(out.strides) && String(x.shape) === String(out.shape);
    return (whole || !same) && mayOverlap(layoutOf(x), layoutOf(out));
  });
  return meets ? place.temporary(out.shape, out.dtype) : out;
}

function layoutOf({ shape, strides, pointer, itemSize }: DeviceNDArray): Parameters<typeof mayOverlap>[0] {
  return { shape, strides, offset: pointer, itemSize };
}

/** A new array for a result. */
export function newResult(place: Workplace, { dtype, shape }: Wanted): DeviceNDArray {
  return place.own(newArray(place.context, shape, dtype, { stream: place.stream }));
}
