/**
 * `cuda.guvectorize`: a generalised universal function, of a function that is given parts of arrays and stores its results. Numba's `@guvectorize`.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { asHostArray } from '../array/ndarray-create.ts';
import { hostFunction } from '../compiler/intrinsics.ts';
import { type DType, sameDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { ownJitOf } from '../kernel/own-jit.ts';
import type { Step } from '../kernel/steps.ts';
import { type UserFunction, userFunction } from '../kernel/user-function.ts';
import { broadcastShapes } from '../layout/index.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { readOptions } from '../options.ts';
import { guarded, inBothForms, isOptions, type Planned } from './applied.ts';
import { type CoreAxis, type CoreLayout, parseCoreLayout } from './core-layout.ts';
import { type CoreParameter, type CoreSignature, chosen, coreSignatures } from './core-signatures.ts';
import { coreWise, type Elementwise, type LoopKernel } from './kernels.ts';
import { type Looped, loopsOver } from './loops.ts';
import { type Operand, type StreamLike, Workplace } from './operands.ts';
import { type Target, targetOf } from './results.ts';
import type { GUFunc, GUVectorize, GUVectorizeOptions } from './types.ts';
import { Universal } from './universal.ts';

/** The function of a namespace. */
export function guvectorizeOf(devices: DeviceSelection): GUVectorize {
  const guvectorize = (fn: unknown, ...rest: readonly unknown[]): unknown => {
    // Numba's order: signatures, layout, and then the function.
    if (typeof fn === 'string' || Array.isArray(fn)) {
      const [layout, options] = rest;
      return (later: unknown) => make(devices, later, layout, { ...(options as object), signature: fn });
    }
    // The layout may stand last as well.
    const [layout, options] =
      typeof rest[0] === 'string' && !(typeof rest[1] === 'string') ? rest : [rest[1], { signature: rest[0] }];
    return make(devices, fn, layout, options);
  };
  return hostFunction(devices, 'guvectorize', guvectorize) as unknown as GUVectorize;
}

function make(devices: DeviceSelection, fn: unknown, text: unknown, options: unknown): GUFunc {
  const own = readOptions('guvectorize', options as GUVectorizeOptions, ['signature', 'captures', 'name']);
  const user = userFunction('guvectorize', fn, own);
  const layout = parseCoreLayout('guvectorize', text);
  const arguments_ = layout.inputs.length + layout.outputs.length;
  if (user.fn.length !== arguments_) {
    throw new TsambaTypeError(
      'E_LAYOUT',
      `guvectorize: ${user.name} has ${user.fn.length} parameters, and the layout '${layout.text}' ${arguments_} arguments`,
    );
  }
  const general = new General(devices, user, layout, coreSignatures('guvectorize', own.signature, layout));
  const call = inBothForms(devices, user.name, (...given) => general.plan(given), layout.outputs.length > 1);
  const face = Object.assign(call, {
    nin: layout.inputs.length,
    nout: layout.outputs.length,
    nargs: arguments_,
    layout: layout.text,
    types: (general.signatures ?? []).map((signature) => signature.text),
  });
  return Object.freeze(face) as unknown as GUFunc;
}

/** Lengths that symbols of the layout have in a call. */
type Lengths = Map<CoreAxis, { readonly length: number; readonly at: string }>;

/** An input on the device. */
interface Input {
  readonly array: DeviceNDArray;
  readonly core: number;
}

/** A generalised function and its kernels. */
class General {
  readonly signatures: readonly CoreSignature[] | undefined;
  readonly #devices: DeviceSelection;
  readonly #user: UserFunction;
  readonly #layout: CoreLayout;
  readonly #kernels = new Map<number, LoopKernel>();
  /** Converts what a signature wants of another dtype. */
  readonly #convert: Universal;

  constructor(
    devices: DeviceSelection,
    user: UserFunction,
    layout: CoreLayout,
    signatures: readonly CoreSignature[] | undefined,
  ) {
    this.#devices = devices;
    this.#user = user;
    this.#layout = layout;
    this.signatures = signatures;
    this.#convert = new Universal(ownJitOf(devices), { fn: (x: never) => x, name: user.name }, 1, undefined);
  }

  plan(given: readonly unknown[]): Planned {
    const { name } = this.#user;
    const { inputs, outputs } = this.#layout;
    const [nin, nout] = [inputs.length, outputs.length];
    const positional = given.length >= nin + nout && !(given.length === nin + 1 && isOptions(given[nin]));
    const rest = given.slice(positional ? nin + nout : nin);
    if (given.length < nin || rest.length > 1 || (rest.length === 1 && !isOptions(rest[0]))) {
      throw new TsambaTypeError(
        'E_ARGUMENT_COUNT',
        `${name} takes ${nin} argument${nin === 1 ? '' : 's'}, then ${nout === 1 ? 'an array' : `${nout} arrays`} for results or none, and options; got ${given.length}`,
      );
    }
    const { out, stream } = readOptions(name, rest[0] as CallOptions | undefined, ['out', 'stream']);
    if (positional && out !== undefined && out !== null) {
      throw new TsambaTypeError('E_OPTION', `${name}: out is given twice, as an argument and as an option`);
    }
    const outs = positional ? given.slice(nin, nin + nout) : listOf(name, out, nout);
    const place = new Workplace(name, this.#devices.currentContext(), stream);
    return guarded(place, () => this.#planned(place, given.slice(0, nin), outs));
  }

  #planned(place: Workplace, given: readonly unknown[], outs: readonly unknown[]): Planned {
    const operands = given.map((value, k) => place.read(value, `argument ${k + 1}`));
    const params = this.signatures && chosen(place.name, this.signatures, operands).params;
    const steps: Step[] = [];
    const arrays = this.#inputs(place, operands, params, steps);
    const lengths: Lengths = new Map();
    const inputs = arrays.map((array, k) => this.#input(place, array, k, lengths, params?.[k]));
    const loop = broadcastShapes(...inputs.map(({ array, core }) => array.shape.slice(0, array.ndim - core)));
    const onDevice = operands.some((operand) => operand.kind === 'array' && operand.onDevice);
    const targets = this.#layout.outputs.map((axes, k): Target => {
      const shape = [...loop, ...axes.map((axis) => lengths.get(axis)?.length ?? (axis as number))];
      const dtype = params?.[arrays.length + k]?.dtype ?? this.#resultType(place, arrays, outs[k]);
      const target = targetOf(
        place,
        outs[k],
        { shape, dtype },
        { onDevice, numbers: true, inputs: arrays, whole: true },
      );
      // What the function leaves out stays as it was.
      if (target.gives === 'into') target.written.copyToDevice(asHostArray(outs[k]), { stream: place.stream });
      if (target.copyTo !== undefined) target.written.copyToDevice(target.copyTo, { stream: place.stream });
      return target;
    });
    const results = targets.map(({ written }, k): Looped => {
      const core = this.#layout.outputs[k]?.length ?? 0;
      return core > 0 ? { array: written, core } : boxed(place, written);
    });
    for (const { rank, views, shape } of loopsOver(place, loop, [...inputs, ...results])) {
      steps.push({ kernel: this.#kernel(rank), shape, args: [views, undefined] });
    }
    return { place, steps, targets };
  }

  /** Inputs on the device, of the types that a signature names. */
  #inputs(
    place: Workplace,
    operands: readonly Operand[],
    params: readonly CoreParameter[] | undefined,
    steps: Step[],
  ): DeviceNDArray[] {
    const common = operands.find((operand) => operand.kind === 'array')?.array.dtype;
    return operands.map((operand, k) => {
      const wanted = params?.[k]?.dtype;
      if (operand.kind === 'nested') return place.nested(operand.value, wanted);
      if (operand.kind === 'scalar')
        return place.view(place.nested([numberIn(operand.value)], wanted ?? common), [], []);
      const { array } = operand;
      if (wanted === undefined || sameDType(array.dtype, wanted)) return array;
      const converted = place.temporary(array.shape, wanted);
      steps.push(...this.#convert.steps(place, { inputs: [array], result: wanted, stated: true }, converted));
      return converted;
    });
  }

  /** Checks the axes that the function sees of an input. */
  #input(place: Workplace, array: DeviceNDArray, k: number, lengths: Lengths, param: CoreParameter | undefined): Input {
    const axes = this.#layout.inputs[k] ?? [];
    if (array.ndim < axes.length) {
      throw new TsambaRangeError(
        'E_UFUNC',
        `${place.name}: argument ${k + 1} needs at least ${axes.length} axes, (${axes}) of '${this.#layout.text}', and has ${array.ndim}`,
      );
    }
    for (const [n, axis] of axes.entries()) {
      const length = array.shape[array.ndim - axes.length + n] ?? 0;
      const at = `axis ${array.ndim - axes.length + n} of argument ${k + 1}`;
      const known =
        typeof axis === 'number' ? { length: axis, at: `the layout '${this.#layout.text}'` } : lengths.get(axis);
      if (known === undefined) lengths.set(axis, { length, at });
      else if (known.length !== length) {
        throw new TsambaRangeError(
          'E_UFUNC',
          `${place.name}: ${axis} is ${known.length} in ${known.at}, and ${length} in ${at}`,
        );
      }
    }
    if (axes.length === 0 && param?.boxed === true) return boxed(place, array);
    return { array, core: axes.length };
  }

  #resultType(place: Workplace, inputs: readonly DeviceNDArray[], out: unknown): DType {
    const given = (out as { readonly dtype?: DType } | undefined)?.dtype ?? asHostArray(out)?.dtype;
    if (given !== undefined) return given;
    const [first, ...others] = inputs.map(({ dtype }) => dtype);
    if (first !== undefined && others.every((dtype) => sameDType(dtype, first))) return first;
    throw new TsambaTypeError(
      'E_UFUNC',
      `${place.name}: the inputs are of several types, ${inputs.map(({ dtype }) => dtype.name).join(', ')}: give the type of the result, with out or a signature`,
    );
  }

  #kernel(rank: 1 | 2 | 3): LoopKernel {
    let kernel = this.#kernels.get(rank);
    if (kernel === undefined) {
      const op = this.#user.fn as Elementwise['op'];
      kernel = coreWise(ownJitOf(this.#devices), { op, rank, name: this.#user.name });
      this.#kernels.set(rank, kernel);
    }
    return kernel;
  }
}

interface CallOptions {
  readonly out?: unknown;
  readonly stream?: StreamLike;
}

/** Every element as an array of one. */
function boxed(place: Workplace, array: DeviceNDArray): Input {
  return { array: place.view(array, [...array.shape, 1], [...array.strides, array.itemSize]), core: 1 };
}

/** The option `out`: an array, or one for each result. */
function listOf(name: string, out: unknown, count: number): readonly unknown[] {
  if (out === undefined || out === null) return [];
  if (count === 1) return [out];
  if (Array.isArray(out) && out.length === count) return out;
  throw new TsambaTypeError('E_UFUNC', `${name} has ${count} results: out is a list of ${count} arrays`);
}

/** The number in a `cuda.scalar`, and any other as it is. */
function numberIn(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'dtype' in value
    ? (value as unknown as { value: unknown }).value
    : value;
}
