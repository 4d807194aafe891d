/**
 * How the arguments of one specialisation are taken apart: which parameters of the compiled kernel take what of each.
 */
import type { ArgType, Constant, NumberKind } from '../compiler/contract.ts';
import { type ElemType, type Param, type ValueType, widen } from '../compiler/ir/ops.ts';
import { type DType, SCALAR_TOKENS, u8c } from '../dtype/index.ts';
import { type ArrayType, stepsOf } from './args.ts';
import type { ObjectParts } from './object-arguments.ts';
import { type ScalarValue, scalarType } from './scalar.ts';

/** How one array argument is taken apart. Axes and parameters stand in pairs in flat arrays. */
export interface ArraySlot {
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
  /** The `id` of the memory whose values are in place; 0 for none. A number, which keeps nothing alive. */
  last: number;
}

export interface ScalarSlot {
  readonly kind: 'scalar';
  /** Which plain values are of this type. */
  readonly number: boolean;
  /** Which numbers alone. */
  readonly only: NumberKind | undefined;
  readonly bigint: boolean;
  readonly boolean: boolean;
  /** The type of a `cuda.scalar` that is. */
  readonly elem: ElemType | undefined;
  /** Parameters that take the value; none when the kernel does not use it. */
  readonly params: readonly { readonly param: number; readonly type: ValueType }[];
}

/** A JS array, or an object with its fields in their order. */
export interface GroupSlot {
  readonly kind: 'group';
  readonly items: readonly Slot[];
  readonly parts: ObjectParts | undefined;
}

/** What has to be the same as it was. */
export interface ConstantSlot {
  readonly kind: 'constant';
  readonly value: Constant;
}

/** What takes a closer look at each launch. */
export interface OtherSlot {
  readonly kind: 'other';
}

export type Slot = ArraySlot | ScalarSlot | GroupSlot | ConstantSlot | OtherSlot;

/** How the arguments of a specialisation are taken apart. */
export function makeSlots(
  params: readonly Param[],
  types: readonly ArgType[],
  stated: boolean,
  depth = 0,
): readonly Slot[] {
  return types.map((type, i): Slot => {
    const own = params.filter(({ origin }) => origin.kind !== 'capturedBase' && origin.path[depth] === i);
    switch (type.kind) {
      case 'array':
        return arraySlot(type, own);
      case 'tuple': {
        // Of complex numbers the plain ones, `{ re, im }`.
        if (type.complex && type.items[0]?.kind !== 'number') return { kind: 'other' };
        const { vector, maker } = type;
        const names = type.complex ? ['re', 'im'] : (vector?.fields.map(({ name }) => name) ?? type.names);
        const parts = names && { names, maker, vector };
        if (vector !== undefined) return { kind: 'group', items: makeSlots(own, type.items, true, depth + 1), parts };
        return { kind: 'group', items: makeSlots(own, type.items, stated, depth + 1), parts };
      }
      case 'constant':
        return { kind: 'constant', value: type.value };
      default:
        if (type.kind === 'scalar' && type.time !== undefined) return { kind: 'other' };
        return scalarSlot(type, own, stated);
    }
  });
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
  return {
    kind: 'array',
    dtype,
    type,
    ndim,
    itemSize,
    steps: stepsOf(type, itemSize),
    base,
    extents,
    strides,
    last: 0,
  };
}

/**
 * A plain number is of a stated type only where the kernel's one signature states it (else its uses type
 * it, which is another specialisation), and where `fits` can judge it: not where the type is narrower than the parameter.
 */
function scalarSlot(
  type: Exclude<ArgType, { kind: 'tuple' | 'array' | 'constant' }>,
  params: readonly Param[],
  stated: boolean,
): ScalarSlot {
  const elem = type.kind === 'scalar' ? type.type : undefined;
  const plain = stated && elem !== undefined && elem !== 'bool' && widen(elem) === elem;
  return {
    kind: 'scalar',
    number: type.kind === 'number' || plain,
    only: type.kind === 'number' ? type.only : undefined,
    bigint: type.kind === 'bigint' || (plain && (elem === 'i64' || elem === 'u64')),
    boolean: elem === 'bool',
    elem,
    params: params.map(({ index, type: to }) => ({ param: index, type: to as ValueType })),
  };
}

/** The value of an argument that is of a slot's type; undefined when it is not. */
export function valueFor(slot: ScalarSlot, arg: unknown): ScalarValue | undefined {
  switch (typeof arg) {
    case 'number':
      if (!slot.number) return undefined;
      if (slot.only === undefined) return arg;
      return (slot.only === 'word' ? isWord(arg) : !Number.isInteger(arg)) ? arg : undefined;
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

/** The dtype of an array's elements. */
export function dtypeOf(type: ArrayType): DType {
  if (type.record !== undefined) return type.record.dtype;
  return type.clamped ? u8c : SCALAR_TOKENS[type.elem];
}

/** Whether a number is u32, but no i32. */
export function isWord(value: number): boolean {
  return value >>> 0 === value && value !== (value | 0);
}
