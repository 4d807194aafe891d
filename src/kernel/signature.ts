/**
 * Signatures: `'void(f32[:], i32)'`, `['f32[::1,:]', i32]`, or several of them, read into argument types.
 *
 * Numba's spelling is understood (`int32`, `f4`, `float64[:, ::1]`, `UniTuple(f32, 3)`). A signature says which argument
 * types a kernel takes; whether given arguments fit is decided in `overload.ts`.
 */
import type { ArgType, Layout } from '../compiler/contract.ts';
import { elementOf } from '../compiler/elements.ts';
import type { ExternalFunction, ExternalParam } from '../compiler/intrinsics/external.ts';
import { ELEM_SIZE, type ElemType } from '../compiler/ir/ops.ts';
import { type ComplexName, c64, c128, describeDType, rowOf } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

/** One signature: a string, or the list of its argument types as strings and dtype tokens. */
export type SignatureItem = string | { readonly name: string; readonly kind: string; readonly itemSize: number };
/** What the option `signature` takes: one signature, or several. */
export type SignatureInput = string | readonly SignatureItem[] | readonly (readonly SignatureItem[])[];

/** The argument types of one signature, and how to write it in messages. */
export interface Signature {
  readonly text: string;
  readonly args: readonly ArgType[];
}

/** Numba's and NumPy's names for element types; ours (`f32`, …) are the values. */
const NAMES: ReadonlyMap<string, ElemType> = new Map<string, ElemType>([
  ...(Object.keys(ELEM_SIZE) as ElemType[]).flatMap((name) =>
    [name, ...rowOf(name).names].map((spelled): [string, ElemType] => [spelled, name]),
  ),
  ['boolean', 'bool'],
  ['intp', 'i64'],
  ['uintp', 'u64'],
]);

/** The names of complex types: NumPy's `c8` counts bytes. */
const COMPLEX: ReadonlyMap<string, ComplexName> = new Map([
  ...['c64', 'complex64', 'c8'].map((name): [string, ComplexName] => [name, 'c64']),
  ...['c128', 'complex128', 'c16'].map((name): [string, ComplexName] => [name, 'c128']),
]);

function complexArgument(name: ComplexName): ArgType {
  const part: ArgType = { kind: 'scalar', type: name === 'c64' ? 'f32' : 'f64' };
  return { kind: 'tuple', items: [part, part], complex: true };
}

/** Reads what `jit` was given as `signature`. */
export function parseSignatures(input: unknown): readonly Signature[] {
  if (typeof input === 'string') return [parseSignature(input)];
  if (!Array.isArray(input)) {
    throw bad(`signature must be a string such as 'void(f32[:], i32)' or a list, got ${show(input)}`);
  }
  const items: readonly unknown[] = input;
  if (
    items.length > 0 &&
    items.every(
      (item) =>
        Array.isArray(item) || (typeof item === 'string' && /^\w*\s*\(/.test(item) && !/^\w*Tuple\s*\(/i.test(item)),
    )
  ) {
    return items.map((item) =>
      typeof item === 'string' ? parseSignature(item) : fromList(item as readonly unknown[]),
    );
  }
  return [fromList(items)];
}

/** Reads one signature string. */
export function parseSignature(text: string): Signature {
  const reader = new Reader(text);
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
export function parseType(text: string): ArgType {
  const reader = new Reader(text);
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

function fromList(items: readonly unknown[]): Signature {
  const args = items.map((item): ArgType => {
    if (typeof item === 'string') return parseType(item);
    const name: unknown = item === null || item === undefined ? undefined : (item as { name?: unknown }).name;
    const size: unknown = item === null || item === undefined ? undefined : (item as { itemSize?: unknown }).itemSize;
    const elem =
      typeof name === 'string' && typeof size === 'number' ? (name === 'u8c' ? 'u8' : NAMES.get(name)) : undefined;
    if (elem !== undefined) return { kind: 'scalar', type: elem };
    const complex = typeof name === 'string' && typeof size === 'number' ? COMPLEX.get(name) : undefined;
    if (complex !== undefined) return complexArgument(complex);
    throw bad(`a signature lists types such as 'f32[:]' or i32, got ${show(item)}`);
  });
  return { text: showSignature(args), args };
}

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
      return elemName(type.type);
    case 'constant':
      return typeof type.value === 'function'
        ? `function ${type.value.name || '(anonymous)'}`
        : type.value === undefined
          ? 'undefined'
          : JSON.stringify(type.value);
    case 'tuple':
      if (type.complex) return complexName(type);
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

function bad(message: string): TsambaTypeError {
  return new TsambaTypeError('E_SIGNATURE', message);
}

/** A cursor over signature text. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): string {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text[this.#at] ?? '';
  }

  word(): string {
    this.peek();
    const start = this.#at;
    while (/[\w.]/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text.slice(start, this.#at).replace(/^(types|np|numpy|nb|numba)\./, '');
  }

  expect(char: string): void {
    if (this.peek() !== char) {
      const found = this.#text[this.#at];
      this.fail(
        `expected '${char}' ${found === undefined ? 'at the end' : `before '${this.#text.slice(this.#at, this.#at + 8)}'`}`,
      );
    }
    this.#at++;
  }

  end(): void {
    if (this.peek() !== '') this.fail(`unexpected '${this.#text.slice(this.#at)}' after the end`);
  }

  fail(message: string): never {
    throw bad(`invalid signature '${this.#text}': ${message}`);
  }

  /** Comma-separated types up to and including `close`; a trailing comma is allowed. */
  types(close: string): ArgType[] {
    const found: ArgType[] = [];
    while (this.peek() !== close) {
      found.push(this.type());
      if (this.peek() !== ',') break;
      this.#at++;
    }
    this.expect(close);
    return found;
  }

  type(): ArgType {
    if (this.peek() === '(') {
      this.#at++;
      return { kind: 'tuple', items: this.types(')') };
    }
    const name = this.word();
    if (name === 'Tuple') {
      this.expect('(');
      return { kind: 'tuple', items: this.types(')') };
    }
    if (name === 'UniTuple') return this.#uniTuple();
    const complex = COMPLEX.get(name);
    if (complex !== undefined) return this.#complex(complex);
    const clamped = name === 'u8c';
    const elem = clamped ? 'u8' : this.#elem(name);
    if (this.peek() !== '[') return { kind: 'scalar', type: elem };
    this.#at++;
    return clamped ? { ...this.#array(elem), clamped } : this.#array(elem);
  }

  /** A parameter of a function of another language. */
  parameter(): ExternalParam {
    const start = this.#at;
    if (this.word() === 'CPointer') {
      this.expect('(');
      const { elem } = this.parameter();
      this.expect(')');
      return { elem, pointer: true };
    }
    this.#at = start;
    const type = this.type();
    if (type.kind === 'array' && type.record === undefined) return { elem: type.elem, pointer: true };
    if (type.kind !== 'scalar') this.fail('functions of other languages take numbers and pointers');
    const pointer = this.peek() === '*';
    if (pointer) this.expect('*');
    return { elem: type.type, pointer };
  }

  #elem(name: string): ElemType {
    if (name === 'i8' || name === 'u8') {
      const wide = name === 'i8' ? 'int64' : 'uint64';
      const narrow = name === 'i8' ? 'int8' : 'uint8';
      this.fail(`'${name}' is ${narrow} in Tsamba and ${wide} in NumPy: write '${narrow}' or '${wide}'`);
    }
    const elem = NAMES.get(name);
    if (elem !== undefined) return elem;
    if (name === '') this.fail(`expected a type before '${this.#text.slice(this.#at, this.#at + 8)}'`);
    return this.fail(
      `'${name}' is not a type: the types are ${Object.keys(ELEM_SIZE).join(', ')}, and arrays of them such as 'f32[:]' and 'f32[:, ::1]'`,
    );
  }

  /** A complex number, or an array of them. */
  #complex(name: ComplexName): ArgType {
    if (this.peek() !== '[') return complexArgument(name);
    this.#at++;
    const dtype = name === 'c64' ? c64 : c128;
    const { elem, size, align } = elementOf(dtype);
    return { ...this.#array(elem), unit: size, record: { dtype, align } };
  }

  #uniTuple(): ArgType {
    this.expect('(');
    const item = this.type();
    this.expect(',');
    const count = Number(this.word());
    if (!Number.isInteger(count) || count < 0) this.fail('UniTuple needs a type and a count, as in UniTuple(f32, 3)');
    this.expect(')');
    return { kind: 'tuple', items: new Array<ArgType>(count).fill(item) };
  }

  #array(elem: ElemType): Extract<ArgType, { kind: 'array' }> {
    const unit: boolean[] = [];
    do {
      this.expect(':');
      if (this.peek() === ':') {
        this.#at++;
        if (this.word() !== '1') this.fail("a contiguous axis is written '::1'");
        unit.push(true);
      } else unit.push(false);
    } while (this.peek() === ',' && ++this.#at > 0);
    this.expect(']');
    const marked = unit.indexOf(true);
    if (unit.filter(Boolean).length > 1)
      this.fail("only one axis can be contiguous ('::1'): the last (C) or the first (F)");
    const ndim = unit.length;
    if (marked > 0 && marked < ndim - 1) this.fail("'::1' stands at the last axis (C) or at the first (F)");
    const layout: Layout = marked < 0 ? 'A' : marked === ndim - 1 ? 'C' : 'F';
    return { kind: 'array', elem, ndim, layout, unit: ELEM_SIZE[elem] };
  }
}
