/**
 * Which signature of a kernel takes given arguments, and what types the kernel is then compiled for.
 *
 * Strict, where Numba is not: the number of arguments, element types, ranks and layouts must be what the signature says.
 * A layout of `:` takes any; the kernel is compiled for the one that comes, so that contiguous arrays stay fast.
 */

import type { ArgType } from '../compiler/contract.ts';
import { isInt } from '../compiler/ir/ops.ts';
import { describeDType, sameDType } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { isFContiguous } from '../layout/index.ts';
import type { ArrayType, TupleType, Typed } from './args.ts';
import type { Signature } from './signature.ts';
import { elementName, showType } from './type-text.ts';
import type { Named } from './warnings.ts';

/** The types to compile for: those of the one signature that fits. `name` gives the words for argument i. */
export function resolveOverload(
  kernel: Named,
  signatures: readonly Signature[],
  args: readonly Typed[],
  name: (i: number) => string,
): readonly ArgType[] {
  const [only] = signatures;
  if (signatures.length === 1 && only !== undefined) {
    checkCount(kernel, only, args);
    return args.map((arg, i) => {
      const type = fit(arg, only.args[i] as ArgType);
      if (type !== undefined) return type;
      throw new TsambaTypeError(
        'E_ARGUMENT_TYPE',
        `${name(i)} is ${describe(arg)}, and ${only.text} wants ${showType(only.args[i] as ArgType)}${fix(arg, only.args[i] as ArgType)}`,
      );
    });
  }
  const fitting: { readonly signature: Signature; readonly types: readonly ArgType[] }[] = [];
  for (const signature of signatures) {
    if (signature.args.length !== args.length) continue;
    const types = args.map((arg, i) => fit(arg, signature.args[i] as ArgType));
    if (types.every((type) => type !== undefined)) fitting.push({ signature, types });
  }
  const all = signatures.map(({ text }) => text).join(' or ');
  const given = `(${args.map(describe).join(', ')})`;
  const [first, second] = fitting;
  if (first === undefined) {
    throw new TsambaTypeError('E_ARGUMENT_TYPE', `no signature of ${kernel.name} takes ${given}: it has ${all}`);
  }
  if (second !== undefined) {
    throw new TsambaTypeError(
      'E_ARGUMENT_TYPE',
      `${given} fits several signatures of ${kernel.name}: ${fitting.map(({ signature }) => signature.text).join(' and ')}. Say which type a number has: cuda.scalar(f32, x)`,
    );
  }
  return first.types;
}

function checkCount(kernel: Named, signature: Signature, args: readonly Typed[]): void {
  if (signature.args.length === args.length) return;
  throw new TsambaTypeError(
    'E_ARGUMENT_COUNT',
    `${kernel.name} takes ${signature.args.length} argument${signature.args.length === 1 ? '' : 's'}, ${signature.text}, but got ${args.length}`,
  );
}

/** Whether the elements of an array are those that a signature names. */
function sameElements(given: ArrayType, wanted: ArrayType): boolean {
  const [own, asked] = [given.record?.dtype, wanted.record?.dtype];
  if (own === undefined || asked === undefined) {
    if (own !== asked) return false;
  } else if (!sameDType(own, asked)) return false;
  return given.elem === wanted.elem && given.clamped === wanted.clamped;
}

/** The type that an argument has under a parameter type of a signature, or undefined when it does not go there. */
function fit(arg: Typed, wanted: ArgType): ArgType | undefined {
  switch (wanted.kind) {
    case 'array': {
      if (arg.kind !== 'device' && arg.kind !== 'host') return undefined;
      if (!sameElements(arg.type, wanted) || arg.type.ndim !== wanted.ndim) return undefined;
      if (wanted.layout === 'A' || arg.type.layout === wanted.layout) return arg.type;
      // One column, one row or one element is contiguous both ways.
      const { shape, strides, itemSize } = arg.array;
      return wanted.layout === 'F' && isFContiguous(shape, strides, itemSize)
        ? { ...arg.type, layout: 'F' }
        : undefined;
    }
    case 'scalar': {
      if (arg.kind !== 'scalar') return undefined;
      const given = arg.type;
      const time = given.kind === 'scalar' ? given.time : undefined;
      if (time !== wanted.time) return undefined;
      if (given.kind === 'scalar') return given.type === wanted.type ? wanted : undefined;
      if (given.kind === 'bigint') return wanted.type === 'i64' || wanted.type === 'u64' ? wanted : undefined;
      return wanted.type === 'bool' ? undefined : wanted;
    }
    case 'tuple': {
      if (arg.kind !== 'tuple' || arg.items.length !== wanted.items.length) return undefined;
      if (!isVectorLike(arg, wanted)) {
        if (arg.type.names !== undefined) return undefined;
        if (wanted.complex !== arg.type.complex || wanted.vector !== arg.type.vector) return undefined;
      }
      const items = arg.items.map((item, i) => fit(item, wanted.items[i] as ArgType));
      return items.every((item) => item !== undefined) ? { ...wanted, items } : undefined;
    }
    default:
      return wanted;
  }
}

/** Whether an object has the lanes of a vector that a signature names: an element of an array of these. */
function isVectorLike({ type }: Extract<Typed, { kind: 'tuple' }>, { vector }: TupleType): boolean {
  return (
    vector !== undefined && type.vector === undefined && String(type.names) === String(vector.fields.map((f) => f.name))
  );
}

/** An argument's type in words: `f64[::1]`, `a number`. */
function describe(arg: Typed): string {
  if (arg.kind === 'scalar') {
    if (arg.type.kind === 'number') return 'a number';
    if (arg.type.kind === 'bigint') return 'a bigint';
    return arg.type.kind === 'scalar' && arg.type.type === 'bool' ? 'a boolean' : `a scalar of ${showType(arg.type)}`;
  }
  if (arg.kind === 'tuple' && arg.type.complex) return 'a complex number';
  if (arg.kind === 'tuple' && arg.type.vector !== undefined) return `a vector ${arg.type.vector.name}`;
  if (arg.kind === 'tuple' && arg.type.names === undefined) return `(${arg.items.map(describe).join(', ')})`;
  return showType(arg.type);
}

function nameOf(type: ArrayType): string {
  return type.record === undefined ? elementName(type) : describeDType(type.record.dtype);
}

function fix(arg: Typed, wanted: ArgType): string {
  if (wanted.kind === 'tuple' && wanted.complex) return ': pass { re, im }, or c64(re, im)';
  if (wanted.kind === 'tuple' && wanted.vector !== undefined) {
    const { name, fields } = wanted.vector;
    return `: pass ${name}(${fields.map((field) => field.name).join(', ')})`;
  }
  if (wanted.kind === 'scalar' && arg.kind === 'scalar') {
    if (arg.type.kind === 'bigint') return `: write Number(${String(arg.value)})`;
    if (arg.type.kind === 'number' && wanted.type === 'bool') return ': write true or false';
    if (typeof arg.value === 'boolean' && isInt(wanted.type)) return ': write 1 or 0';
    return '';
  }
  if (wanted.kind !== 'array' || (arg.kind !== 'device' && arg.kind !== 'host')) return '';
  if (!sameElements(arg.type, wanted)) return `: make the array with dtype ${nameOf(wanted)}, or add a signature`;
  if (arg.type.ndim !== wanted.ndim) return `: the array has ${arg.type.ndim} dimensions, not ${wanted.ndim}`;
  const colons = new Array(wanted.ndim).fill(':').join(', ');
  return `: pass a contiguous array (a.ravel() and copies are), or write ${nameOf(wanted)}[${colons}] for any layout`;
}
