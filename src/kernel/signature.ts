/**
 * Signatures: `'void(f32[:], i32)'`, `['f32[::1,:]', i32]`, `types.void(types.array(f32), i32)`, or several of them, read into argument types.
 *
 * A signature says which argument types a kernel takes; whether given arguments fit is decided in `overload.ts`, how text is read in
 * `signature-reader.ts`, what types are called in `type-names.ts`.
 */
import type { ArgType, Layout } from '../compiler/contract.ts';
import type { ExternalFunction, ExternalParam } from '../compiler/intrinsics/external.ts';
import { asDType, type DType, type DTypeLike, describeDType, isDType } from '../dtype/index.ts';
import { show } from '../show.ts';
import { arrayArgument, bad, elementArgument, type NamedTypes, Reader } from './signature-reader.ts';
import { showSignature, showType } from './type-text.ts';

const TYPE: unique symbol = Symbol.for('tsamba.argument-type') as never;
const SIGNATURE: unique symbol = Symbol.for('tsamba.signature') as never;

/** The type of an argument, made by `types.array` and its like; prints as signatures spell it. */
export interface ArgumentType {
  readonly [TYPE]: ArgType;
  /** The type as it is written in a signature: `f32[::1]`. */
  toString(): string;
}

/** A signature, made by `types.void`. */
export interface SignatureValue {
  readonly [SIGNATURE]: Signature;
  /** The signature as text. */
  toString(): string;
}

/** One argument of a signature: a string such as `'f32[:]'`, a dtype, or what `types` makes. */
export type SignatureItem = string | DType | ArgumentType;
/** What the option `signature` takes: one signature, or several. */
export type SignatureInput =
  | string
  | SignatureValue
  | readonly SignatureValue[]
  | readonly SignatureItem[]
  | readonly (readonly SignatureItem[])[];

/** The argument types of one signature, and how to write it in messages. */
export interface Signature {
  readonly text: string;
  readonly args: readonly ArgType[];
}

/** Reads what `jit` was given as `signature`; `named` are structs by the names that it calls them by. */
export function parseSignatures(input: unknown, named: NamedTypes = {}): readonly Signature[] {
  if (typeof input === 'string') return [parseSignature(input, named)];
  const value = signatureIn(input);
  if (value !== undefined) return [value];
  if (!Array.isArray(input)) {
    throw bad(`signature must be a string such as 'void(f32[:], i32)' or a list, got ${show(input)}`);
  }
  const items: readonly unknown[] = input;
  const isSignature = (item: unknown): boolean =>
    Array.isArray(item) ||
    signatureIn(item) !== undefined ||
    (typeof item === 'string' && /^\w*\s*\(/.test(item) && !/^(?:\w*Tuple|Array|NP\w+|\w*CharSeq)\s*\(/i.test(item));
  if (items.length === 0 || !items.every(isSignature)) return [fromList(items, named)];
  return items.map((item) =>
    typeof item === 'string'
      ? parseSignature(item, named)
      : (signatureIn(item) ?? fromList(item as readonly unknown[], named)),
  );
}

function signatureIn(input: unknown): Signature | undefined {
  return typeof input === 'object' && input !== null ? (input as Partial<SignatureValue>)[SIGNATURE] : undefined;
}

/** Reads one signature string. */
export function parseSignature(text: string, named: NamedTypes = {}): Signature {
  const reader = new Reader(text, named);
  const result = reader.word();
  if (result !== '' && result !== 'void' && result !== 'none') {
    if (reader.peek() !== '(') reader.fail(`a signature has its argument types in parentheses: 'void(${text.trim()})'`);
    reader.fail(`a kernel returns nothing, so it must have a void return type, not ${result}`);
  }
  reader.expect('(');
  const args = reader.types(')');
  reader.end();
  return { text: showSignature(args), args };
}

/** Reads one type, such as `'f32[:]'`. */
export function parseType(text: string, named: NamedTypes = {}): ArgType {
  const reader = new Reader(text, named);
  const type = reader.type();
  reader.end();
  return type;
}

/** A function of another language: `'float32(float32, int32*)'`. An array is a pointer to its first element, as `CPointer(…)` is. */
export function parseFunction(text: string): Pick<ExternalFunction, 'params' | 'result'> {
  const reader = new Reader(text);
  const nothing = /^\s*(void|none)?\s*\(/.test(text);
  const result = nothing ? undefined : reader.parameter();
  if (nothing) reader.word();
  if (result?.pointer) reader.fail('a function gives a number or nothing');
  reader.expect('(');
  const params: ExternalParam[] = [];
  while (reader.peek() !== ')') {
    params.push(reader.parameter());
    if (reader.peek() === ',') reader.expect(',');
    else break;
  }
  reader.expect(')');
  reader.end();
  return { params, result: result?.elem };
}

function fromList(items: readonly unknown[], named: NamedTypes): Signature {
  const args = items.map((item) => argumentType(item, named));
  return { text: showSignature(args), args };
}

function argumentType(item: unknown, named: NamedTypes): ArgType {
  if (typeof item === 'string') return parseType(item, named);
  const made = item === null || item === undefined ? undefined : (item as Partial<ArgumentType>)[TYPE];
  if (made !== undefined) return made;
  if (!isDType(item)) throw bad(`a signature lists types such as 'f32[:]' or i32, got ${show(item)}`);
  const type = elementArgument(item);
  if (type !== undefined) return type;
  throw bad(`${describeDType(item)} can only be passed in arrays: types.array(${describeDType(item)})`);
}

function made(type: ArgType): ArgumentType {
  return Object.freeze({ [TYPE]: type, toString: () => showType(type) });
}

/**
 * Types of arguments as values, for the option `signature` of `jit`: what cannot be misspelled, and structs without a name. Numba: `numba.types`.
 *
 *     cuda.jit(move, { signature: types.void(types.array(Particle), types.array(f32, 2, 'C'), i32) });
 */
export const types: {
  /** An array of `ndim` axes, 1 unless given: in C order, Fortran's, or any (`'A'`, the default). Numba: `types.Array`. */
  array(dtype: DTypeLike, ndim?: number, layout?: Layout): ArgumentType;
  /** A JavaScript array of these, each with a type of its own. Numba: `types.Tuple`. */
  tuple(...items: readonly SignatureItem[]): ArgumentType;
  /** A JavaScript array of `count` of the same. Numba: `types.UniTuple`. */
  uniTuple(item: SignatureItem, count: number): ArgumentType;
  /** The signature of a kernel with these arguments. Throws TypeError for anything that is not a type. Numba: `types.void(…)`. */
  void(...args: readonly SignatureItem[]): SignatureValue;
} = Object.freeze({
  array(dtype: DTypeLike, ndim = 1, layout: Layout = 'A'): ArgumentType {
    if (!Number.isInteger(ndim) || ndim < 0) throw bad(`an array has a whole number of axes, got ${show(ndim)}`);
    if (layout !== 'C' && layout !== 'F' && layout !== 'A')
      throw bad(`the layout of an array is 'C', 'F' or 'A', got ${show(layout)}`);
    return made(arrayArgument(asDType(dtype), ndim, layout));
  },
  tuple: (...items: readonly SignatureItem[]) =>
    made({ kind: 'tuple', items: items.map((item) => argumentType(item, {})) }),
  uniTuple(item: SignatureItem, count: number): ArgumentType {
    if (!Number.isInteger(count) || count < 0) throw bad(`uniTuple takes a type and a count, got ${show(count)}`);
    return made({ kind: 'tuple', items: new Array<ArgType>(count).fill(argumentType(item, {})) });
  },
  void(...args: readonly SignatureItem[]): SignatureValue {
    const signature = fromList(args, {});
    return Object.freeze({ [SIGNATURE]: signature, toString: () => signature.text });
  },
});
