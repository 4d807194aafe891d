/**
 * Signatures of universal functions, `'float32(float32, float32)'`, and which of them fits the arguments of a call. Numba's rules: arrays have exactly the types that
 * a signature names, numbers of the host take them.
 */
import type { ArgType } from '../compiler/contract.ts';
import { c64, c128, type DType, SCALAR_TOKENS, sameDType } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { parseType } from '../kernel/signature.ts';
import { show } from '../show.ts';
import { asScalarOf, type Operand } from './operands.ts';

/** The types of one compilation of a function. */
export interface ElementSignature {
  readonly text: string;
  readonly args: readonly DType[];
  readonly result: DType;
}

/** Reads `'float32(float32, float32)'`, or several of them; each takes `arity` arguments. */
export function elementSignatures(
  what: string,
  input: unknown,
  arity: number,
): readonly ElementSignature[] | undefined {
  if (input === undefined) return undefined;
  const texts: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (texts.length === 0) throw bad(what, input);
  return texts.map((text) => {
    const match = typeof text === 'string' ? /^\s*(\w+)\s*\(([^()]*)\)\s*$/.exec(text) : null;
    if (match === null) throw bad(what, text);
    const args = (match[2] ?? '').split(',').map((type) => dtypeNamed(what, type));
    if (args.length !== arity) {
      throw new TsambaTypeError(
        'E_SIGNATURE',
        `${what}: the function takes ${arity} argument${arity === 1 ? '' : 's'}, and the signature ${show(text)} has ${args.length}`,
      );
    }
    const result = dtypeNamed(what, match[1] ?? '');
    return { text: `${result.name}(${args.map(({ name }) => name).join(', ')})`, args, result };
  });
}

function bad(what: string, given: unknown): TsambaTypeError {
  return new TsambaTypeError(
    'E_SIGNATURE',
    `${what} takes signatures such as 'float32(float32, float32)', got ${show(given)}`,
  );
}

function dtypeNamed(what: string, text: string): DType {
  const type = parseType(text);
  const dtype = elementOf(type);
  if (dtype !== undefined) return dtype;
  throw new TsambaTypeError(
    'E_SIGNATURE',
    `${what}: signatures are of elements, such as float32, and not of ${text.trim()}`,
  );
}

/** The dtype of a parameter that is an element. */
export function elementOf(type: ArgType): DType | undefined {
  if (type.kind === 'scalar') return SCALAR_TOKENS[type.type];
  if (type.kind !== 'tuple' || type.complex !== true) return undefined;
  const [part] = type.items;
  return part?.kind === 'scalar' && part.type === 'f32' ? c64 : c128;
}

/** The only signature that fits. Throws TypeError where none does, or several do. */
export function fitting(
  name: string,
  signatures: readonly ElementSignature[],
  operands: readonly Operand[],
): ElementSignature {
  const found = signatures.filter(({ args }) => operands.every((operand, k) => fits(operand, args[k] as DType)));
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  const given = operands.map(describe).join(', ');
  const list = (first === undefined ? signatures : found).map(({ text }) => text).join(', ');
  throw new TsambaTypeError(
    'E_UFUNC',
    first === undefined
      ? `${name}: no signature takes (${given}); there are ${list}. Arrays are not converted: make them of the type wanted`
      : `${name}: several signatures take (${given}): ${list}. Say the type of a number: cuda.scalar('float32', x)`,
  );
}

function fits(operand: Operand, dtype: DType): boolean {
  if (operand.kind === 'array') return sameDType(operand.array.dtype, dtype);
  if (operand.kind === 'nested') return true;
  return asScalarOf(operand.value, dtype) !== undefined;
}

function describe(operand: Operand): string {
  if (operand.kind === 'array') return `${operand.array.dtype.name} array`;
  return operand.kind === 'nested' ? 'JavaScript array' : show(operand.value);
}
