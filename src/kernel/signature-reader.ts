/**
 * Reads the text of signatures: types in Tsamba's, Numba's and C's spelling, with the place of what cannot be read.
 */
import type { ArgType, Layout } from '../compiler/contract.ts';
import { elementOf } from '../compiler/elements.ts';
import type { ExternalParam } from '../compiler/intrinsics/external.ts';
import {
  charSeq,
  type DType,
  datetime64,
  describeDType,
  elemOf,
  isDType,
  isScalarDType,
  isTimeDType,
  isVectorDType,
  timedelta64,
  unicodeCharSeq,
} from '../dtype/index.ts';
import { nearest } from '../dtype/spelling.ts';
import { TsambaTypeError } from '../errors.ts';
import { vectorType } from './args.ts';
import { C_WORDS, namedType, refusal, typeNames } from './type-names.ts';

/** Dtypes by the names that a signature calls them by. */
export type NamedTypes = Readonly<Record<string, DType>>;

type ArrayArg = Extract<ArgType, { kind: 'array' }>;

export function bad(message: string): TsambaTypeError {
  return new TsambaTypeError('E_SIGNATURE', message);
}

/** An array of elements of a dtype, as an argument. */
export function arrayArgument(dtype: DType, ndim: number, layout: Layout, readonly?: true): ArrayArg {
  const { elem, size, align, record, clamped } = elementOf(dtype);
  const array: ArrayArg = { kind: 'array', elem, ndim, layout, unit: size };
  const more = { ...(clamped && { clamped }), ...(readonly && { readonly }) };
  return record === undefined ? { ...array, ...more } : { ...array, ...more, record: { dtype: record, align } };
}

/** One element of a dtype as an argument: a number, a complex number, a vector, a record; undefined for what is passed in arrays alone. */
export function elementArgument(dtype: DType): ArgType | undefined {
  if (isScalarDType(dtype)) return { kind: 'scalar', type: elemOf(dtype) };
  if (isTimeDType(dtype)) return { kind: 'scalar', type: 'i64', time: dtype };
  if (dtype.kind === 'c') {
    const part: ArgType = { kind: 'scalar', type: dtype.name === 'c64' ? 'f32' : 'f64' };
    return { kind: 'tuple', items: [part, part], complex: true };
  }
  if (isVectorDType(dtype)) return vectorType(dtype);
  return dtype.name === 'struct' ? arrayArgument(dtype, 0, 'A') : undefined;
}

const LAYOUTS: Readonly<Record<string, Layout>> = { C: 'C', F: 'F', A: 'A' };

/** Makers of dtypes in Numba's spelling. */
const MAKERS: Readonly<Record<string, (of: string) => DType>> = {
  NPDatetime: (unit) => datetime64(unit as 's') as DType,
  NPTimedelta: (unit) => timedelta64(unit as 's') as DType,
  M8: (unit) => datetime64(unit as 's') as DType,
  m8: (unit) => timedelta64(unit as 's') as DType,
  datetime64: (unit) => datetime64(unit as 's') as DType,
  timedelta64: (unit) => timedelta64(unit as 's') as DType,
  UnicodeCharSeq: (length) => unicodeCharSeq(Number(length)) as DType,
  CharSeq: (length) => charSeq(Number(length)) as DType,
  unicodeCharSeq: (length) => unicodeCharSeq(Number(length)) as DType,
  charSeq: (length) => charSeq(Number(length)) as DType,
};

/** A cursor over signature text. */
export class Reader {
  readonly #text: string;
  readonly #named: NamedTypes;
  #at = 0;
  /** Where what was read last began. */
  #from = 0;

  constructor(text: string, named: NamedTypes = {}) {
    this.#text = text;
    this.#named = named;
  }

  peek(): string {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text[this.#at] ?? '';
  }

  word(): string {
    this.peek();
    this.#from = this.#at;
    while (/[\w.]/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text.slice(this.#from, this.#at).replace(/^(types|np|numpy|nb|numba|cuda)\./, '');
  }

  expect(char: string): void {
    if (this.peek() !== char) {
      this.#from = this.#at;
      this.fail(`expected '${char}' ${this.#at >= this.#text.length ? 'at the end' : `before '${this.#rest()}'`}`);
    }
    this.#at++;
  }

  end(): void {
    if (this.peek() === '') return;
    this.#from = this.#at;
    this.fail(`unexpected '${this.#text.slice(this.#at)}' after the end`);
  }

  #rest(): string {
    return this.#text.slice(this.#at, this.#at + 8);
  }

  /** Points at what was read last, or at what should stand there. */
  fail(message: string): never {
    const line = this.#text.replace(/\s/g, ' ');
    const carets = '^'.repeat(Math.max(1, this.#text.slice(this.#from, this.#at).trimEnd().length));
    throw bad(`invalid signature: ${message}\n  ${line}\n  ${' '.repeat(this.#from)}${carets}`);
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
    const start = this.#at;
    if (this.#text[this.#at] !== '[') {
      const name = this.word();
      if (name === 'Tuple' || name === 'UniTuple') {
        this.expect('(');
        return name === 'UniTuple' ? this.#uniTuple() : { kind: 'tuple', items: this.#tupleItems() };
      }
      if (name === 'Array') return this.#arrayCall();
      this.#at = start;
    }
    const dtype = this.#dtype();
    const name = this.#from;
    if (this.peek() === '[') {
      this.#at++;
      return this.#array(dtype);
    }
    this.#from = name;
    const own = elementArgument(dtype);
    return own ?? this.fail(`${describeDType(dtype)} can only be passed in arrays: write ${describeDType(dtype)}[:]`);
  }

  /** A dtype: a name, several words of C, Numba's `NPDatetime('ns')` or `[unichr x 8]`. */
  #dtype(): DType {
    const bracketed = /^\[(?:unichr|char) x \d+\]/.exec(this.#text.slice(this.#at));
    const start = this.#at;
    const name = bracketed === null ? this.#name() : bracketed[0];
    if (bracketed !== null) this.#at += name.length;
    this.#from = start;
    const own = Object.hasOwn(this.#named, name) ? this.#named[name] : undefined;
    if (isDType(own)) return own;
    const maker = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined;
    if (maker !== undefined && this.peek() === '(') return this.#made(maker, start);
    // A unit stands in brackets, as dimensions do: datetime64[ns][:].
    const unit = /^\[(\w+)\]/.exec(this.#text.slice(this.#at));
    if (maker !== undefined && unit !== null) {
      this.#at += unit[0].length;
      return this.#attempt(() => maker(unit[1] ?? ''));
    }
    const known = refusal(name) === undefined ? this.#attempt(() => namedType(name)) : undefined;
    return known ?? this.#unknown(name);
  }

  #name(): string {
    let name = this.word();
    while (C_WORDS.has(name.split(' ').at(-1) ?? '') && /[a-z]/.test(this.peek())) {
      const back = this.#at;
      const next = this.word();
      if (!C_WORDS.has(next)) {
        this.#at = back;
        break;
      }
      name += ` ${next}`;
    }
    return name;
  }

  #made(maker: (of: string) => DType, start: number): DType {
    this.expect('(');
    const given = /^\s*(?:'(\w*)'|"(\w*)"|(\d+))\s*/.exec(this.#text.slice(this.#at));
    if (given !== null) this.#at += given[0].length;
    this.expect(')');
    this.#from = start;
    return this.#attempt(() => maker(given?.[1] ?? given?.[2] ?? given?.[3] ?? ''));
  }

  #attempt<D>(make: () => D): D {
    try {
      return make();
    } catch (cause) {
      return this.fail(cause instanceof Error ? cause.message : String(cause));
    }
  }

  #unknown(name: string): never {
    const why = refusal(name);
    if (why !== undefined) return this.fail(`'${name}' is not supported: ${why}`);
    if (name === 'void') return this.fail("'void' is what a function gives, not a type of values: f() takes none");
    if (name === '')
      return this.fail(`expected a type ${this.#rest() === '' ? 'at the end' : `before '${this.#rest()}'`}`);
    const near = nearest(name, [...Object.keys(this.#named), ...typeNames()]);
    const known =
      "the types are bool, int8 to uint64, float16 to float64, complex64, complex128 and arrays of them such as 'f32[:]'";
    return this.fail(`'${name}' is not a type: ${near === undefined ? known : `did you mean '${near}'?`}`);
  }

  /** A parameter of a function of another language. */
  parameter(): ExternalParam {
    const start = this.#at;
    let name = this.word();
    if (name === 'const') return this.parameter();
    if (name === 'CPointer') {
      this.expect('(');
      const { elem } = this.parameter();
      this.expect(')');
      return { elem, pointer: true };
    }
    this.#at = start;
    const type = this.type();
    if (type.kind === 'array' && type.record === undefined) return { elem: type.elem, pointer: true };
    if (type.kind !== 'scalar') this.fail('functions of other languages take numbers and pointers');
    name = this.peek();
    if (name === '*') this.expect('*');
    return { elem: type.type, pointer: name === '*' };
  }

  /** `Tuple((f32, i32))` as Numba has it, or `Tuple(f32, i32)`. */
  #tupleItems(): ArgType[] {
    const items = this.types(')');
    const [only] = items;
    return items.length === 1 && only?.kind === 'tuple' && !only.complex && only.vector === undefined
      ? [...only.items]
      : items;
  }

  #uniTuple(): ArgType {
    const item = this.type();
    this.expect(',');
    const word = this.word();
    const count = Number(word);
    if (word === '' || !Number.isInteger(count)) this.fail('UniTuple needs a type and a count, as in UniTuple(f32, 3)');
    this.expect(')');
    return { kind: 'tuple', items: new Array<ArgType>(count).fill(item) };
  }

  /** `Array(float32, 2, 'C')`, with Numba's `readonly` as a fourth. */
  #arrayCall(): ArgType {
    this.expect('(');
    this.peek();
    const dtype = this.#dtype();
    this.expect(',');
    const rank = this.word();
    if (!/^\d+$/.test(rank))
      this.fail("Array needs an element type, a rank and a layout, as in Array(float32, 2, 'C')");
    this.expect(',');
    this.peek();
    this.#from = this.#at;
    const layout = /^['"]?([A-Z])['"]?/.exec(this.#text.slice(this.#at));
    if (layout !== null) this.#at += layout[0].length;
    const known = LAYOUTS[layout?.[1] ?? ''];
    if (known === undefined) return this.fail("the layout of an array is 'C', 'F' or 'A', which is any");
    let readonly: true | undefined;
    if (this.peek() === ',') {
      this.#at++;
      const flag = this.word();
      if (!/^(?:[Tt]rue|[Ff]alse|readonly)$/.test(flag))
        this.fail('the fourth part of Array(…) says whether it is read-only: True');
      if (this.peek() === '=') {
        this.expect('=');
        readonly = /^[Tt]rue$/.test(this.word()) || undefined;
      } else readonly = /^[Tt]rue$/.test(flag) || undefined;
    }
    this.expect(')');
    return arrayArgument(dtype, Number(rank), known, readonly);
  }

  #array(dtype: DType): ArrayArg {
    const start = this.#at;
    const unit: boolean[] = [];
    if (/^\s*\.\.\./.test(this.#text.slice(this.#at))) {
      this.#from = this.#at;
      this.#at = this.#text.indexOf('...', this.#at) + 3;
      this.fail('an array has as many axes as the signature says: write float32[:] or float32[:, :]');
    }
    do {
      this.expect(':');
      if (this.peek() === ':') {
        this.#at++;
        if (this.word() !== '1') this.fail("a contiguous axis is written '::1'");
        unit.push(true);
      } else unit.push(false);
    } while (this.peek() === ',' && ++this.#at > 0);
    this.expect(']');
    this.#from = start - 1;
    const marked = unit.indexOf(true);
    if (unit.filter(Boolean).length > 1)
      this.fail("only one axis can be contiguous ('::1'): the last (C) or the first (F)");
    const ndim = unit.length;
    if (marked > 0 && marked < ndim - 1) this.fail("'::1' stands at the last axis (C) or at the first (F)");
    const layout: Layout = marked < 0 ? 'A' : marked === ndim - 1 ? 'C' : 'F';
    return arrayArgument(dtype, ndim, layout);
  }
}
