/**
 * Argument types as signatures spell them.
 */
import type { ArgType, Layout } from '../compiler/contract.ts';
import type { ElemType } from '../compiler/ir/ops.ts';
import { describeDType } from '../dtype/index.ts';

/** `void(f32[:], i32)`. */
export function showSignature(args: readonly ArgType[]): string {
  return `void(${args.map(showType).join(', ')})`;
}

/** An argument type as a signature spells it. */
export function showType(type: ArgType): string {
  switch (type.kind) {
    case 'array':
      return `${type.record === undefined ? elementName(type) : describeDType(type.record.dtype)}[${dims(type.ndim, type.layout)}]`;
    case 'scalar':
      return type.time?.name ?? elemName(type.type);
    case 'constant':
      return typeof type.value === 'function'
        ? `function ${type.value.name || '(anonymous)'}`
        : type.value === undefined
          ? 'undefined'
          : JSON.stringify(type.value);
    case 'tuple':
      if (type.complex) return complexName(type);
      if (type.vector !== undefined) return type.vector.name;
      if (type.names !== undefined)
        return `{ ${type.items.map((item, k) => `${type.names?.[k]}: ${showType(item)}`).join(', ')} }`;
      return `(${type.items.map(showType).join(', ')}${type.items.length === 1 ? ',' : ''})`;
    default:
      return type.kind;
  }
}

/** A complex argument; one without a stated type is typed by its uses. */
function complexName({ items: [part] }: Extract<ArgType, { kind: 'tuple' }>): string {
  if (part?.kind !== 'scalar') return 'complex';
  return part.type === 'f32' ? 'c64' : 'c128';
}

/** The elements of an array of scalars. */
export function elementName(type: Extract<ArgType, { kind: 'array' }>): string {
  return type.clamped ? 'u8c' : elemName(type.elem);
}

/** `'i8'` and `'u8'` mean something else to NumPy, so they are never written. */
function elemName(elem: ElemType): string {
  return elem === 'i8' ? 'int8' : elem === 'u8' ? 'uint8' : elem;
}

function dims(ndim: number, layout: Layout): string {
  const axes = new Array<string>(ndim).fill(':');
  if (layout === 'C' && ndim > 0) axes[ndim - 1] = '::1';
  if (layout === 'F' && ndim > 0) axes[0] = '::1';
  return axes.join(', ');
}
