/**
 * The methods of universal functions: `reduce`, `accumulate` and `outer` of those of two elements, and `at`.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceOf } from '../array/device-create.ts';
import { type DType, i32, sameDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { type ScalarArgument, scalar } from '../kernel/scalar.ts';
import type { Step } from '../kernel/steps.ts';
import { broadcastTo, formatShape, normalizeAxis, sizeOf } from '../layout/index.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { flag, readOptions } from '../options.ts';
import { Reducer } from '../reduce/reduction.ts';
import { show } from '../show.ts';
import { applied, guarded, type Planned } from './applied.ts';
import type { Elementwise, LoopKernel } from './kernels.ts';
import { LineKernels, linesAlong } from './lines.ts';
import { type Operand, type StreamLike, Workplace } from './operands.ts';
import { type Target, targetOf } from './results.ts';
import { scatterOf, UPDATED } from './scatter.ts';
import { fitting } from './signatures.ts';
import { castTo, type Universal } from './universal.ts';

/** Lines of which there are so few, and which are so long, are each reduced by all of the device. */
const FEW_LINES = 32;
const LONG_LINE = 4096;

type ArrayOperand = Extract<Operand, { kind: 'array' }>;

/** The methods of one universal function. */
export class Methods {
  readonly #universal: Universal;
  readonly #identity: unknown;
  readonly #devices: DeviceSelection;
  readonly #lines: LineKernels;
  readonly #reducer: Reducer;
  readonly #scatter = new Map<string, LoopKernel>();

  constructor(universal: Universal, identity: unknown, devices: DeviceSelection) {
    this.#universal = universal;
    this.#identity = identity;
    this.#devices = devices;
    this.#lines = new LineKernels(universal);
    this.#reducer = new Reducer(universal.jit, universal.user.fn, universal.user.name);
  }

  reduce(given: unknown, options: unknown): Planned {
    const { user } = this.#universal;
    const own = readOptions(`${user.name}.reduce`, options as ReduceOptions, [
      'axis',
      'init',
      'keepDims',
      'out',
      'stream',
    ]);
    return this.#planned('reduce', own.stream, (place) => {
      const source = this.#array(place, given);
      const { array } = source;
      const dtype = this.#typeOf(place, source);
      const lines = own.axis === null ? this.#raveled(place, array) : array;
      const axis = own.axis === null ? 0 : axisOf(own.axis, lines);
      const keep = flag(`${place.name}: keepDims`, own.keepDims) ?? false;
      const left = lines.shape.filter((_, k) => k !== axis);
      const kept = own.axis === null ? array.shape.map(() => 1) : array.shape.map((n, k) => (k === axis ? 1 : n));
      const shape = keep ? kept : left;
      const origins = { onDevice: source.onDevice && shape.length > 0, numbers: true, inputs: [array], whole: true };
      const target = targetOf(place, own.out, { shape, dtype }, origins);
      const out = place.view(
        target.written,
        left,
        keep ? withoutAxis(target.written.strides, axis, own.axis === null) : target.written.strides,
      );
      const init = own.init === undefined ? undefined : (scalar(dtype, own.init as number) as ScalarArgument);
      return { place, targets: [target], steps: this.#reduced(place, lines, axis, out, init) };
    });
  }

  #reduced(
    place: Workplace,
    array: DeviceNDArray,
    axis: number,
    out: DeviceNDArray,
    init: ScalarArgument | undefined,
  ): Step[] {
    const lines = linesAlong(place, array, axis);
    if (lines.length === 0) {
      const value = init?.value ?? this.#identity;
      if (value === undefined) {
        throw new TsambaRangeError(
          'E_UFUNC',
          `${place.name}: there are no elements to reduce, and ${this.#universal.user.name} has no identity: give one, vectorize(fn, { identity: 0 }), or init`,
        );
      }
      if (out.size > 0) out.set(value);
      return [];
    }
    const count = sizeOf(out.shape);
    const whole = count === 1 || (count <= FEW_LINES && lines.length >= LONG_LINE);
    if (!whole) return this.#lines.reduce(place, lines, out, init && place.nested([init.value], array.dtype));
    const steps: Step[] = [];
    for (let k = 0; k < count; k++) {
      const x = place.view(array, [lines.length], [array.strides[axis] ?? 0], offsetAt(lines.array, k));
      const result = place.view(out, [1], [out.itemSize], offsetAt(out, k, out.ndim));
      const plan = this.#reducer.plan({ x, result, init, stream: place.stream });
      for (const temporary of plan.temporaries) place.own(temporary);
      steps.push(...plan.steps);
    }
    return steps;
  }

  accumulate(given: unknown, options: unknown): Planned {
    const own = readOptions(`${this.#universal.user.name}.accumulate`, options as ReduceOptions, [
      'axis',
      'out',
      'stream',
    ]);
    return this.#planned('accumulate', own.stream, (place) => {
      const source = this.#array(place, given);
      const { array } = source;
      const dtype = this.#typeOf(place, source);
      const axis = axisOf(own.axis, array);
      const origins = { onDevice: source.onDevice, numbers: false, inputs: [array], whole: false };
      const target = targetOf(place, own.out, { shape: array.shape, dtype }, origins);
      if (array.size === 0) return { place, steps: [], targets: [target] };
      const out = linesAlong(place, target.written, axis).array;
      return { place, targets: [target], steps: this.#lines.accumulate(place, linesAlong(place, array, axis), out) };
    });
  }

  outer(a: unknown, b: unknown, options: unknown): Planned {
    const own = readOptions(`${this.#universal.user.name}.outer`, options as ReduceOptions, ['out', 'stream']);
    return this.#planned('outer', own.stream, (place) => {
      const [first, second] = [place.read(a, 'argument 1'), place.read(b, 'argument 2')];
      const behind = this.#arrayOf(place, second)?.array.ndim ?? 0;
      const before = this.#arrayOf(place, first);
      const spread = before && {
        ...before,
        array: place.view(
          before.array,
          [...before.array.shape, ...ones(behind)],
          [...before.array.strides, ...zeros(behind)],
        ),
      };
      const { steps, target } = applied(
        this.#universal,
        place,
        [spread ?? first, this.#arrayOf(place, second) ?? second],
        own.out,
      );
      return { place, steps, targets: [target] };
    });
  }

  at(given: unknown, indices: unknown, rest: readonly unknown[]): Planned {
    const { arity, user } = this.#universal;
    if (arity > 2) throw new TsambaTypeError('E_UFUNC', `${user.name}.at needs a function of one or two elements`);
    const own = readOptions(`${user.name}.at`, rest[arity - 1] as ReduceOptions, ['stream']);
    const place = new Workplace(`${user.name}.at`, this.#devices.currentContext(), own.stream);
    return guarded(place, () => this.#updates(place, given, indices, arity === 2 ? rest[0] : undefined));
  }

  #updates(place: Workplace, given: unknown, indices: unknown, b: unknown): Planned {
    const source = this.#arrayOf(place, place.read(given, 'argument 1'));
    if (source === undefined || Array.isArray(given)) {
      throw new TsambaTypeError('E_UFUNC', `${place.name} updates an array in place, got ${show(given)}`);
    }
    const index = this.#indices(place, indices);
    const { array } = source;
    if (array.ndim !== 1 || index.ndim !== 1) {
      throw new TsambaRangeError(
        'E_UFUNC',
        `${place.name} takes an array and indices of one axis each, got shapes ${formatShape(array.shape)} and ${formatShape(index.shape)}`,
      );
    }
    if (!UPDATED.includes(array.dtype.name) || !'iu'.includes(index.dtype.kind)) {
      const [wrong, wanted] = 'iu'.includes(index.dtype.kind)
        ? [array, `elements of ${UPDATED.join(', ')}`]
        : [index, 'integers as indices'];
      throw new TsambaTypeError('E_UFUNC', `${place.name} takes ${wanted}, got ${wrong.dtype.name}`);
    }
    const value = b === undefined ? undefined : place.read(b, 'argument 3');
    const other = value && this.#arrayOf(place, value);
    const args = [
      array,
      index,
      other === undefined
        ? (value as { value?: unknown } | undefined)?.value
        : place.view(other.array, index.shape, broadcastTo(layoutOf(other.array), index.shape).strides),
    ];
    const kernel = this.#scatterKernel(array.dtype, value && other !== undefined);
    const gives = source.onDevice ? 'device' : 'into';
    const target: Target = {
      written: array,
      gives,
      out: source.onDevice ? deviceOf(given, place.context) : given,
      copyTo: undefined,
    };
    const steps = index.size === 0 ? [] : [{ kernel, shape: { threads: index.size, stream: place.stream }, args }];
    return { place, steps, targets: source.onDevice ? [] : [target] };
  }

  #indices(place: Workplace, given: unknown): DeviceNDArray {
    const operand = place.read(given, 'argument 2');
    if (operand.kind === 'array') return operand.array;
    const values: readonly unknown[] = operand.kind === 'nested' ? operand.value : [operand.value];
    const wrong = values.find((value) => !Array.isArray(value) && !Number.isInteger(value));
    if (wrong === undefined) return place.nested(values, i32);
    throw new TsambaTypeError('E_UFUNC', `${place.name} takes integers as indices, got ${show(wrong)}`);
  }

  #scatterKernel(dtype: DType, isArray: boolean | undefined): LoopKernel {
    const key = `${dtype.name}|${isArray}`;
    let kernel = this.#scatter.get(key);
    if (kernel === undefined) {
      const { user, jit } = this.#universal;
      const operation = { op: user.fn as Elementwise['op'], cast: castTo(dtype), name: user.name };
      kernel = scatterOf(jit, operation, dtype.name, isArray);
      this.#scatter.set(key, kernel);
    }
    return kernel;
  }

  /** A method of functions of two elements. */
  #planned(method: string, stream: StreamLike, plan: (place: Workplace) => Planned): Planned {
    const { arity, user } = this.#universal;
    if (arity !== 2) {
      throw new TsambaTypeError(
        'E_UFUNC',
        `${user.name}.${method} needs a function of two elements, and ${user.name} takes ${arity}`,
      );
    }
    const place = new Workplace(`${user.name}.${method}`, this.#devices.currentContext(), stream);
    return guarded(place, () => plan(place));
  }

  #array(place: Workplace, given: unknown): ArrayOperand {
    const array = this.#arrayOf(place, place.read(given, 'argument 1'));
    if (array === undefined) throw new TsambaTypeError('E_UFUNC', `${place.name} takes an array, got ${show(given)}`);
    return array;
  }

  #arrayOf(place: Workplace, operand: Operand): ArrayOperand | undefined {
    if (operand.kind === 'nested')
      return { kind: 'array', array: place.nested(operand.value, undefined), onDevice: false };
    return operand.kind === 'array' ? operand : undefined;
  }

  /** The type that elements are combined in: their own. With signatures, one must say so. */
  #typeOf(place: Workplace, source: ArrayOperand): DType {
    const { signatures } = this.#universal;
    const { dtype } = source.array;
    if (signatures === undefined) return dtype;
    const { result, text } = fitting(place.name, signatures, [source, source]);
    if (sameDType(result, dtype)) return dtype;
    throw new TsambaTypeError('E_UFUNC', `${place.name}: ${text} does not return the type that it takes`);
  }

  /** All elements along one axis. */
  #raveled(place: Workplace, array: DeviceNDArray): DeviceNDArray {
    if (array.isCContiguous()) return place.view(array, [array.size], [array.itemSize]);
    const compact = place.temporary(array.shape, array.dtype);
    compact.copyToDevice(array, { stream: place.stream });
    return place.view(compact, [array.size], [array.itemSize]);
  }
}

interface ReduceOptions {
  readonly axis?: unknown;
  readonly init?: unknown;
  readonly keepDims?: unknown;
  readonly out?: unknown;
  readonly stream?: StreamLike;
}

function axisOf(axis: unknown, array: DeviceNDArray): number {
  if (array.ndim === 0) throw new TsambaRangeError('E_AXIS', 'a 0-d array has no axis to reduce');
  return normalizeAxis((axis as number | undefined) ?? 0, array.ndim);
}

function withoutAxis(strides: readonly number[], axis: number, all: boolean): readonly number[] {
  return all ? [] : strides.filter((_, k) => k !== axis);
}

/** The byte offset of line `k` of lines, or of element `k` where `axes` says how many to count. */
function offsetAt({ shape, strides, ndim }: DeviceNDArray, k: number, axes = ndim - 1): number {
  let [offset, rest] = [0, k];
  for (let axis = axes - 1; axis >= 0; axis--) {
    const length = shape[axis] ?? 1;
    offset += (rest % length) * (strides[axis] ?? 0);
    rest = Math.floor(rest / length);
  }
  return offset;
}

function layoutOf({ shape, strides, itemSize }: DeviceNDArray): Parameters<typeof broadcastTo>[0] {
  return { shape, strides, offset: 0, itemSize };
}

const ones = (count: number): number[] => new Array<number>(count).fill(1);
const zeros = (count: number): number[] => new Array<number>(count).fill(0);
