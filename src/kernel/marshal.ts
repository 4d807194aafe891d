/**
 * From arguments to the values that a compiled kernel takes: addresses, extents, strides, scalars.
 *
 * A `Marshaller` is made once for each specialisation from the origins of its parameters. It has two ways to fill its one
 * array of values: `match`, for the launch's fast path, takes raw arguments and gives up on anything but what the
 * specialisation was made for; `fill` takes arguments that have been typed, and reports what does not fit.
 */
import type { ArrayMemory } from '../array/array-memory.ts';
import { memoryIn, memoryOf } from '../array/device-array.ts';
import { DeviceRecord } from '../array/device-record.ts';
import { MappedNDArray } from '../array/host-array.ts';
import { SmartArray } from '../array/smart-array.ts';
import type { ArgType, CompiledKernel } from '../compiler/contract.ts';
import { type ElemType, type Param, type ValueType, widen } from '../compiler/ir/ops.ts';
import { type DType, SCALAR_TOKENS, u8c } from '../dtype/index.ts';
import type { Context } from '../memory/context.ts';
import type { Stream } from '../stream/stream.ts';
import { Aliasing } from './aliasing.ts';
import { type ArrayType, isAligned, stepsOf } from './args.ts';
import { checkScalar, fits, type ScalarValue, scalarType } from './scalar.ts';

/** What a launch reads of a device array. */
export interface ArrayValue {
  readonly pointer: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** An argument that is ready: arrays are on the device. */
export type Ready =
  | { readonly kind: 'array'; readonly array: ArrayValue }
  | { readonly kind: 'scalar'; readonly value: ScalarValue }
  | { readonly kind: 'tuple'; readonly items: readonly Ready[] };

/** An argument of which only values are asked: its arrays need not be on the device yet. */
export type Valued =
  | { readonly kind: 'scalar'; readonly value: ScalarValue }
  | { readonly kind: 'array' | 'device' | 'host' }
  | { readonly kind: 'tuple'; readonly items: readonly Valued[] };

const MAX_INDEX = 2 ** 31 - 1;

/** How one array argument is taken apart. Axes and parameters stand in pairs in flat arrays. */
interface ArraySlot {
  readonly kind: 'array';
  readonly dtype: DType;
  readonly type: ArrayType;
  readonly ndim: number;
  readonly itemSize: number;
  /** What indices count of one element: 1, or for records bytes. */
  readonly steps: number;
  /** Parameter of the address, or -1. */
  readonly base: number;
  readonly extents: readonly { readonly param: number; readonly axis: number }[];
  readonly strides: readonly { readonly param: number; readonly axis: number; readonly unit: number }[];
}

interface ScalarSlot {
  readonly kind: 'scalar';
  /** Which plain values are of this type. */
  readonly number: boolean;
  readonly bigint: boolean;
  readonly boolean: boolean;
  /** The type of a `cuda.scalar` that is. */
  readonly elem: ElemType | undefined;
  /** Parameters that take the value; none when the kernel does not use it. */
  readonly params: readonly { readonly param: number; readonly type: ValueType }[];
}

type Slot = ArraySlot | ScalarSlot;

/** Fills the arguments of one specialisation. */
export class Marshaller {
  /** One value a parameter, in order. Overwritten by each launch. */
  readonly values: ScalarValue[];
  /** Where the arrays of the launch lie. */
  readonly aliasing: Aliasing;
  /** Whether there was a smart array among the arguments that were matched. */
  smart = false;
  readonly #params: readonly Param[];
  readonly #types: readonly ArgType[];
  /** Undefined when an argument is a tuple: such launches take the slower way. */
  readonly #slots: readonly Slot[] | undefined;
  readonly #wide: boolean;

  /** `stated`: scalar types come from the kernel's one signature, so that plain numbers have them. */
  constructor({ kernel, apart }: Pick<CompiledKernel, 'kernel' | 'apart'>, types: readonly ArgType[], stated = false) {
    this.values = kernel.params.map(({ type }) => (type === 'bool' ? false : 0));
    this.aliasing = new Aliasing(kernel, apart);
    this.#params = kernel.params;
    this.#types = types;
    this.#wide = kernel.indexBits === 64;
    this.#slots = makeSlots(kernel.params, types, stated);
  }

  /**
   * Fills `values` if these arguments, on this context, are what this specialisation was made for and everything fits;
   * false if not, or if it takes a closer look to know. Allocates nothing.
   */
  match(args: readonly unknown[], context: Context): boolean {
    const slots = this.#slots;
    if (slots === undefined || args.length !== slots.length) return false;
    this.smart = false;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] as Slot;
      const arg = args[i];
      if (slot.kind === 'array') {
        const array = arrayOn(arg) ?? this.#smartOn(arg, context);
        if (array === undefined || !this.#matchArray(slot, array, context)) return false;
      } else {
        const value = valueFor(slot, arg);
        if (value === undefined) return false;
        const { params } = slot;
        for (let k = 0; k < params.length; k++) {
          const { param, type } = params[k] as ScalarSlot['params'][number];
          if (!fits(value, type)) return false;
          this.values[param] = value;
        }
      }
    }
    return true;
  }

  /** Notes with the owners of array arguments that a stream uses them. The arguments have been matched. */
  touch(args: readonly unknown[], context: Context, stream: Stream): void {
    for (const arg of args) {
      (arrayOn(arg) ?? this.#smartOn(arg, context))?.owner.touch(stream);
    }
  }

  /** The device side of a smart array, up to date. */
  #smartOn(arg: unknown, context: Context): ArrayMemory | undefined {
    if (!(arg instanceof SmartArray)) return undefined;
    this.smart = true;
    return memoryOf(arg.forKernel(context));
  }

  /** Whether a number that the caller left untyped does not fit the i32 that it has here, but might with wider indices. */
  overflows(args: readonly Valued[]): boolean {
    if (this.#wide) return false;
    return this.#params.some(({ origin, type }) => {
      if (origin.kind !== 'value' || type !== 'i32' || typeAt(this.#types, origin.path).kind !== 'number') return false;
      const { value } = at(args, origin.path, 'scalar');
      return Number.isSafeInteger(value) && (value as number) !== ((value as number) | 0);
    });
  }

  #matchArray(slot: ArraySlot, array: ArrayMemory, context: Context): boolean {
    const { shape, strides } = array;
    if (array.dtype !== slot.dtype || shape.length !== slot.ndim || array.layout !== slot.type.layout) return false;
    if ((array.context !== context && !array.context.isWith(context)) || array.disposed) return false;
    // What the kernel was not compiled to leave alone may be written to.
    if (array.readOnly && slot.type.readonly !== true) return false;
    if (!this.#wide && array.size * slot.steps > MAX_INDEX) return false;
    const { values } = this;
    if (slot.base >= 0) {
      values[slot.base] = array.pointer;
      if (this.aliasing.matters) this.aliasing.note(slot.base, array, slot.itemSize);
    }
    for (let k = 0; k < slot.extents.length; k++) {
      const { param, axis } = slot.extents[k] as ArraySlot['extents'][number];
      const extent = shape[axis] as number;
      if (!this.#wide && extent > MAX_INDEX) return false;
      values[param] = extent;
    }
    if (slot.type.layout !== 'A') return isAligned(slot.type, array.pointer, strides);
    let reach = 0;
    for (let axis = 0; axis < shape.length; axis++) {
      const stride = (strides[axis] as number) / slot.type.unit;
      if (!Number.isInteger(stride)) return false;
      reach += Math.abs(stride) * slot.steps * ((shape[axis] as number) - 1);
    }
    if ((!this.#wide && reach > MAX_INDEX) || !isAligned(slot.type, array.pointer, strides)) return false;
    fillStrides(slot, strides, values);
    return true;
  }

  /** Fills `values` from arguments of the specialisation's types. Throws for scalars that do not fit; `name` words argument i. */
  fill(args: readonly Ready[], name: (i: number) => string): void {
    for (const { index, origin, type } of this.#params) {
      switch (origin.kind) {
        case 'capturedBase':
          break;
        case 'value': {
          const { value } = at(args, origin.path, 'scalar');
          const declared = typeAt(this.#types, origin.path);
          const elem: ElemType = declared.kind === 'scalar' ? declared.type : (type as ValueType);
          this.values[index] = checkScalar(
            value,
            elem,
            (wrong) =>
              `${place(origin.path, name)} is ${elem} in this kernel: ${wrong}${declared.kind === 'number' ? forFractions(value) : ''}`,
          );
          break;
        }
        default: {
          const { array } = at(args, origin.path, 'array');
          if (origin.kind === 'base') {
            this.values[index] = array.pointer;
            this.aliasing.note(index, array, itemSizeAt(this.#types, origin.path));
          } else if (origin.kind === 'extent') this.values[index] = array.shape[origin.axis] as number;
          else this.values[index] = (array.strides[origin.axis] as number) / origin.unit;
        }
      }
    }
  }
}

/** A device array, or that of a host array which is one as well. Objects of other libraries take the slower way. */
function arrayOn(arg: unknown): ArrayMemory | undefined {
  if (typeof arg !== 'object' || arg === null) return undefined;
  const memory = memoryIn(arg);
  if (memory !== undefined) return memory;
  if (arg instanceof DeviceRecord) return memoryOf(arg.array);
  return arg instanceof MappedNDArray && !arg.disposed ? memoryOf(arg.device) : undefined;
}

/** A number argument became an integer by its uses, and gets a fraction: how to make it a float. */
function forFractions(value: ScalarValue): string {
  if (typeof value !== 'number' || Number.isInteger(value)) return '';
  return `. If the kernel means fractions, pass cuda.scalar(f32, ${value}), or write f32(…) around it in the kernel`;
}

function fillStrides(slot: ArraySlot, strides: readonly number[], values: ScalarValue[]): void {
  for (let k = 0; k < slot.strides.length; k++) {
    const { param, axis, unit } = slot.strides[k] as ArraySlot['strides'][number];
    values[param] = (strides[axis] as number) / unit;
  }
}

function makeSlots(params: readonly Param[], types: readonly ArgType[], stated: boolean): readonly Slot[] | undefined {
  const slots: Slot[] = [];
  for (const [i, type] of types.entries()) {
    const own = params.filter(({ origin }) => origin.kind !== 'capturedBase' && origin.path[0] === i);
    const slot = type.kind === 'array' ? arraySlot(type, own) : scalarSlot(type, own, stated);
    if (slot === undefined) return undefined;
    slots.push(slot);
  }
  return slots;
}

function arraySlot(type: ArrayType, params: readonly Param[]): ArraySlot {
  const extents: { param: number; axis: number }[] = [];
  const strides: { param: number; axis: number; unit: number }[] = [];
  let base = -1;
  for (const { index, origin } of params) {
    if (origin.kind === 'base') base = index;
    if (origin.kind === 'extent') extents.push({ param: index, axis: origin.axis });
    if (origin.kind === 'stride') strides.push({ param: index, axis: origin.axis, unit: origin.unit });
  }
  const { ndim } = type;
  const dtype = dtypeOf(type);
  const { itemSize } = dtype;
  return { kind: 'array', dtype, type, ndim, itemSize, steps: stepsOf(type, itemSize), base, extents, strides };
}

/**
 * Undefined for tuples. A plain number is of a stated type only where the kernel's one signature states it (else its uses type
 * it, which is another specialisation), and where `fits` can judge it: not where the type is narrower than the parameter.
 */
function scalarSlot(type: ArgType, params: readonly Param[], stated: boolean): ScalarSlot | undefined {
  if (type.kind === 'tuple' || type.kind === 'array') return undefined;
  const elem = type.kind === 'scalar' ? type.type : undefined;
  const plain = stated && elem !== undefined && elem !== 'bool' && widen(elem) === elem;
  return {
    kind: 'scalar',
    number: type.kind === 'number' || plain,
    bigint: type.kind === 'bigint' || (plain && (elem === 'i64' || elem === 'u64')),
    boolean: elem === 'bool',
    elem,
    params: params.map(({ index, type: to }) => ({ param: index, type: to as ValueType })),
  };
}

/** The value of an argument that is of a slot's type; undefined when it is not. */
function valueFor(slot: ScalarSlot, arg: unknown): ScalarValue | undefined {
  switch (typeof arg) {
    case 'number':
      return slot.number ? arg : undefined;
    case 'bigint':
      return slot.bigint ? arg : undefined;
    case 'boolean':
      return slot.boolean ? arg : undefined;
    case 'object':
      if (arg === null || slot.elem === undefined || scalarType(arg) !== slot.elem) return undefined;
      return (arg as { readonly value: ScalarValue }).value;
    default:
      return undefined;
  }
}

function at<K extends Ready['kind']>(
  args: readonly Valued[],
  path: readonly number[],
  kind: K,
): Extract<Ready, { kind: K }> {
  let items = args;
  let found: Valued | undefined;
  for (const step of path) {
    found = items[step];
    items = found?.kind === 'tuple' ? found.items : [];
  }
  if (found?.kind !== kind)
    throw new Error(`parameter of argument [${path.join(', ')}] expected ${kind}, found ${found?.kind}`);
  return found as unknown as Extract<Ready, { kind: K }>;
}

function typeAt(types: readonly ArgType[], path: readonly number[]): ArgType {
  let items = types;
  let found: ArgType | undefined;
  for (const step of path) {
    found = items[step];
    items = found?.kind === 'tuple' ? found.items : [];
  }
  if (found === undefined) throw new Error(`no argument type at [${path.join(', ')}]`);
  return found;
}

function itemSizeAt(types: readonly ArgType[], path: readonly number[]): number {
  const type = typeAt(types, path);
  return type.kind === 'array' ? dtypeOf(type).itemSize : 0;
}

function dtypeOf(type: ArrayType): DType {
  if (type.record !== undefined) return type.record.dtype;
  return type.clamped ? u8c : SCALAR_TOKENS[type.elem];
}

function place(path: readonly number[], name: (i: number) => string): string {
  const [first = 0, ...rest] = path;
  return `${name(first)}${rest.map((step) => `[${step}]`).join('')}`;
}
