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
import { mappedArray } from '../array/mapped.ts';
import { isSmart } from '../array/smart-brand.ts';
import type { ArgType, CompiledKernel, NumberKind } from '../compiler/contract.ts';
import { type ElemType, isFloat, type Param, type ValueType } from '../compiler/ir/ops.ts';
import type { Context } from '../memory/context.ts';
import type { Stream } from '../stream/stream.ts';
import { Aliasing } from './aliasing.ts';
import { isAligned } from './args.ts';
import {
  type ArraySlot,
  dtypeOf,
  type GroupSlot,
  isWord,
  makeSlots,
  type ScalarSlot,
  type Slot,
  valueFor,
} from './argument-slots.ts';
import { hasParts } from './object-arguments.ts';
import { checkScalar, fits, type ScalarValue } from './scalar.ts';

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
  | { readonly kind: 'constant' }
  | { readonly kind: 'tuple'; readonly items: readonly Ready[] };

/** An argument of which only values are asked: its arrays need not be on the device yet. */
export type Valued =
  | { readonly kind: 'scalar'; readonly value: ScalarValue }
  | { readonly kind: 'array' | 'device' | 'host' | 'constant' }
  | { readonly kind: 'tuple'; readonly items: readonly Valued[] };

const MAX_INDEX = 2 ** 31 - 1;

/** Fills the arguments of one specialisation. */
export class Marshaller {
  /** One value a parameter, in order. Overwritten by each launch. */
  readonly values: ScalarValue[];
  /** Where the arrays of the launch lie. */
  readonly aliasing: Aliasing;
  /** Goes up whenever `values` may have changed. */
  version = 0;
  /** Whether there was a smart array among the arguments that were matched. */
  smart = false;
  readonly #params: readonly Param[];
  readonly #types: readonly ArgType[];
  readonly #slots: readonly Slot[];
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
    if (args.length !== slots.length) return false;
    this.smart = false;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] as Slot;
      const arg = args[i];
      if (slot.kind === 'array') {
        const array = arrayOn(arg) ?? this.#smartOn(arg, context);
        if (array === undefined) return false;
        // As at the last launch: nothing of a memory changes but whether it is there.
        if (array.id === slot.last && !array.disposed) continue;
        if (!this.#matchArray(slot, array, context)) return false;
      } else if (slot.kind === 'scalar') {
        if (!this.#matchScalar(slot, arg)) return false;
      } else if (!this.#matchOther(slot, arg, context)) return false;
    }
    return true;
  }

  #matchScalar(slot: ScalarSlot, arg: unknown): boolean {
    const value = valueFor(slot, arg);
    if (value === undefined) return false;
    const { params } = slot;
    for (let k = 0; k < params.length; k++) {
      const { param, type } = params[k] as ScalarSlot['params'][number];
      if (!fits(value, type)) return false;
      if (Object.is(this.values[param], value)) continue;
      this.values[param] = value;
      this.version++;
    }
    return true;
  }

  /** Smart arrays in JS arrays and objects take the slower way. */
  #matchOther(slot: Slot, arg: unknown, context: Context): boolean {
    switch (slot.kind) {
      case 'array': {
        const array = arrayOn(arg);
        return array !== undefined && this.#matchArray(slot, array, context);
      }
      case 'scalar':
        return this.#matchScalar(slot, arg);
      case 'constant':
        return arg === slot.value;
      case 'other':
        return false;
      case 'group':
        break;
    }
    const { items, parts } = slot;
    if (typeof arg !== 'object' || arg === null) return false;
    if (parts === undefined ? !Array.isArray(arg) || arg.length !== items.length : !hasParts(arg, parts)) return false;
    for (let k = 0; k < items.length; k++) {
      const item: unknown = Reflect.get(arg, parts === undefined ? k : (parts.names[k] as string));
      if (!this.#matchOther(items[k] as Slot, item, context)) return false;
    }
    return true;
  }

  /** Notes with the owners of array arguments that a stream uses them. The arguments have been matched. */
  touch(args: readonly unknown[], context: Context, stream: Stream | undefined): void {
    for (let i = 0; i < args.length; i++) {
      const slot = this.#slots[i] as Slot;
      if (slot.kind === 'group') touchGroup(slot, args[i] as object, stream);
      else (arrayOn(args[i]) ?? this.#smartOn(args[i], context))?.owner.touch(stream);
    }
  }

  /** The device side of a smart array, up to date. */
  #smartOn(arg: unknown, context: Context): ArrayMemory | undefined {
    if (!isSmart(arg)) return undefined;
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

  /**
   * The types of these arguments with numbers marked that are not integers and have an integer type here; undefined where there are none.
   * The uses of such a number make it a float.
   */
  fractions(args: readonly Valued[]): readonly ArgType[] | undefined {
    return this.#marked(
      args,
      'fraction',
      (value, type) => type !== 'ptr' && !isFloat(type) && !Number.isInteger(value),
    );
  }

  /** In the same way those of numbers that are not i32 but u32, `seed` with 0xdeadbeef for one; undefined if there are none. */
  words(args: readonly Valued[]): readonly ArgType[] | undefined {
    return this.#marked(args, 'word', (value, type) => type === 'i32' && isWord(value));
  }

  #marked(
    args: readonly Valued[],
    only: NumberKind,
    is: (value: number, type: Param['type']) => boolean,
  ): readonly ArgType[] | undefined {
    const found = this.#params.flatMap(({ origin, type }) => {
      if (origin.kind !== 'value' || typeAt(this.#types, origin.path).kind !== 'number') return [];
      const { value } = at(args, origin.path, 'scalar');
      return typeof value === 'number' && is(value, type) ? [origin.path] : [];
    });
    return found.length === 0 ? undefined : found.reduce((types, path) => withOnly(types, path, only), this.#types);
  }

  #matchArray(slot: ArraySlot, array: ArrayMemory, context: Context): boolean {
    const { shape, strides } = array;
    if (array.dtype !== slot.dtype || shape.length !== slot.ndim || array.layout !== slot.type.layout) return false;
    if ((array.context !== context && !array.context.isWith(context)) || array.disposed) return false;
    // What the kernel was not compiled to leave alone may be written to.
    if (array.readOnly && slot.type.readonly !== true) return false;
    if (!this.#wide && array.size * slot.steps > MAX_INDEX) return false;
    const { values } = this;
    slot.last = 0;
    this.version++;
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
    if (!isAligned(slot.type, array.pointer, strides)) return false;
    if (slot.type.layout === 'A' && !this.#matchStrides(slot, array)) return false;
    slot.last = array.id;
    return true;
  }

  #matchStrides(slot: ArraySlot, { shape, strides }: ArrayMemory): boolean {
    let reach = 0;
    for (let axis = 0; axis < shape.length; axis++) {
      const stride = (strides[axis] as number) / slot.type.unit;
      if (!Number.isInteger(stride)) return false;
      reach += Math.abs(stride) * slot.steps * ((shape[axis] as number) - 1);
    }
    if (!this.#wide && reach > MAX_INDEX) return false;
    fillStrides(slot, strides, this.values);
    return true;
  }

  /** A value that the launch itself brings. */
  put(param: number, value: ScalarValue): void {
    if (this.values[param] === value) return;
    this.values[param] = value;
    this.version++;
  }

  /** Fills `values` from arguments of the specialisation's types. Throws for scalars that do not fit; `name` words argument i. */
  fill(args: readonly Ready[], name: (i: number) => string): void {
    forget(this.#slots);
    this.version++;
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
            (wrong) => `${place(origin.path, this.#types, name)} is ${elem} in this kernel: ${wrong}`,
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

/** The values of no array are in place any more. */
function forget(slots: readonly Slot[]): void {
  for (const slot of slots) {
    if (slot.kind === 'array') slot.last = 0;
    else if (slot.kind === 'group') forget(slot.items);
  }
}

function touchGroup({ items, parts }: GroupSlot, arg: object, stream: Stream | undefined): void {
  items.forEach((slot, k) => {
    const item: unknown = Reflect.get(arg, parts === undefined ? k : (parts.names[k] as string));
    if (slot.kind === 'group') touchGroup(slot, item as object, stream);
    else arrayOn(item)?.owner.touch(stream);
  });
}

/** A device array, or that of a host array which is one as well. Objects of other libraries take the slower way. */
function arrayOn(arg: unknown): ArrayMemory | undefined {
  if (typeof arg !== 'object' || arg === null) return undefined;
  const memory = memoryIn(arg);
  if (memory !== undefined) return memory;
  if (arg instanceof DeviceRecord) return memoryOf(arg.array);
  const mapped = mappedArray(arg);
  return mapped === undefined || mapped.disposed ? undefined : memoryOf(mapped.device);
}

function fillStrides(slot: ArraySlot, strides: readonly number[], values: ScalarValue[]): void {
  for (let k = 0; k < slot.strides.length; k++) {
    const { param, axis, unit } = slot.strides[k] as ArraySlot['strides'][number];
    values[param] = (strides[axis] as number) / unit;
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

/** The types, with the number at a path marked. */
function withOnly(
  types: readonly ArgType[],
  [first, ...rest]: readonly number[],
  only: NumberKind,
): readonly ArgType[] {
  return types.map((type, i): ArgType => {
    if (i !== first) return type;
    return type.kind === 'tuple' ? { ...type, items: withOnly(type.items, rest, only) } : { kind: 'number', only };
  });
}

function itemSizeAt(types: readonly ArgType[], path: readonly number[]): number {
  const type = typeAt(types, path);
  return type.kind === 'array' ? dtypeOf(type).itemSize : 0;
}

/** An argument, or a part of one, in words: `argument 2 (\`p\`).n`. */
function place(path: readonly number[], types: readonly ArgType[], name: (i: number) => string): string {
  const [first = 0, ...rest] = path;
  let at: ArgType | undefined = types[first];
  let words = name(first);
  for (const step of rest) {
    const key = at?.kind === 'tuple' ? at.names?.[step] : undefined;
    words += key === undefined ? `[${step}]` : `.${key}`;
    at = at?.kind === 'tuple' ? at.items[step] : undefined;
  }
  return words;
}
