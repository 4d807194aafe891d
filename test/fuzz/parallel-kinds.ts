/**
 * Random programs of `tsamba/parallel`: element types as the host has them, and random elements.
 */
import { bool, c64, type DType, f16, f32, f64, i8, i16, i32, i64, struct, u8, u16, u32, u64 } from '../../src/index.ts';
import type { Elem } from './program.ts';
import type { Random } from './random.ts';
import { roundTo, wrap } from './semantics.ts';

/** An element as the host has it. */
export type Value = number | bigint | boolean | Readonly<Record<string, number>>;

/** How elements are made: small integers, few different ones, any bits and what is special, 1 and -1. */
export type Style = 'small' | 'few' | 'wild' | 'signs';

/** A type of elements. */
export interface Kind {
  readonly name: string;
  readonly dtype: DType;
  readonly family: 'bool' | 'int' | 'big' | 'float' | 'complex' | 'struct';
  /** What a result is when it is stored as this type. */
  readonly store: (value: Value) => Value;
  /** The kind that functions compute in. */
  readonly wide: () => Kind;
}

const scalar = (name: Elem, dtype: unknown, family: Kind['family'], wide?: () => Kind): Kind => {
  const store = (v: Value): Value =>
    family === 'bool' ? Boolean(v) : family === 'float' ? roundTo(name, Number(v)) : (wrap(name, integer(v)) as Value);
  const kind: Kind = { name, dtype: dtype as DType, family, store, wide: wide ?? ((): Kind => kind) };
  return kind;
};
const integer = (v: Value): bigint => BigInt(v as number);
const itself = (kind: Omit<Kind, 'wide'>): Kind => {
  const made: Kind = { ...kind, wide: () => made };
  return made;
};

const record = (name: string, dtype: unknown, fields: Readonly<Record<string, Elem>>): Kind =>
  itself({
    name,
    dtype: dtype as DType,
    family: 'struct',
    store: (v) =>
      Object.fromEntries(
        Object.entries(fields).map(([field, elem]) => {
          const one = (v as Record<string, number>)[field] as number;
          return [field, elem.startsWith('f') ? roundTo(elem, one) : (wrap(elem, BigInt(one)) as number)];
        }),
      ),
  });

const words = (): Kind => KINDS.i32;
const singles = (): Kind => KINDS.f32;

export const KINDS = {
  bool: scalar('bool', bool, 'bool'),
  i8: scalar('i8', i8, 'int', words),
  u8: scalar('u8', u8, 'int', words),
  i16: scalar('i16', i16, 'int', words),
  u16: scalar('u16', u16, 'int', words),
  i32: scalar('i32', i32, 'int'),
  u32: scalar('u32', u32, 'int'),
  i64: scalar('i64', i64, 'big'),
  u64: scalar('u64', u64, 'big'),
  f16: scalar('f16', f16, 'float', singles),
  f32: scalar('f32', f32, 'float'),
  f64: scalar('f64', f64, 'float'),
  c64: itself({ name: 'c64', dtype: c64 as unknown as DType, family: 'complex', store: (v) => v }),
  line: record('line', struct({ a: i32, b: i32 }), { a: 'i32', b: 'i32' }),
  mixed: record('mixed', struct({ a: f32, b: u8, c: f64 }), { a: 'f32', b: 'u8', c: 'f64' }),
} as const satisfies Readonly<Record<string, Kind>>;

export const INTEGERS: readonly Kind[] = [KINDS.i8, KINDS.u8, KINDS.i16, KINDS.u16, KINDS.i32, KINDS.i32, KINDS.u32];
export const FLOATS: readonly Kind[] = [KINDS.f16, KINDS.f32, KINDS.f32, KINDS.f64];
export const NUMBERS: readonly Kind[] = [...INTEGERS, ...FLOATS, KINDS.i64, KINDS.u64];
export const ALL: readonly Kind[] = [...NUMBERS, KINDS.bool, KINDS.c64, KINDS.line, KINDS.mixed];

const SPECIAL = [Number.NaN, 0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e-45, 65504, 3e38, 2 ** 31];

/** A random element. */
export function elementOf(r: Random, kind: Kind, style: Style): Value {
  const { family } = kind;
  if (family === 'bool') return r.chance(0.5);
  if (family === 'complex') {
    if (style !== 'signs') return { re: r.below(9) - 4, im: r.below(9) - 4 };
    return r.pick([
      { re: 1, im: 0 },
      { re: -1, im: 0 },
      { re: 0, im: 1 },
      { re: 0, im: -1 },
    ]);
  }
  if (kind.name === 'line') return { a: r.pick([1, 1, 1, 0, -1, 3]), b: r.below(41) - 20 };
  if (kind.name === 'mixed') return { a: r.below(9) - 4, b: r.below(style === 'few' ? 3 : 256), c: r.below(100) / 4 };
  return kind.store(numberOf(r, family, style));
}

function numberOf(r: Random, family: Kind['family'], style: Style): Value {
  if (style === 'signs') return r.pick([1, 1, -1]);
  if (style === 'few') return r.below(5) - 2;
  if (style === 'small') return r.below(23) - 11;
  if (family === 'float') return r.chance(0.2) ? r.pick(SPECIAL) : (r.unit() - 0.5) * 2 ** (r.below(60) - 20);
  return family === 'big' ? (BigInt(r.bits()) << 32n) | BigInt(r.bits()) : r.bits();
}

/** Elements, some of them in runs of equal ones. */
export function elementsOf(r: Random, kind: Kind, style: Style, length: number, inRuns = false): Value[] {
  const list: Value[] = [];
  const longest = r.pick([2, 5, 40, 3000]);
  while (list.length < length) {
    const value = elementOf(r, kind, style);
    const times = inRuns ? 1 + r.below(longest) : 1;
    for (let k = 0; k < times && list.length < length; k++) list.push(value);
  }
  return list;
}

/** The order of `TypedArray.prototype.sort`: -0 before 0, NaN last; turned round, NaN still is last. */
export function order(descending: boolean): (a: Value, b: Value) => number {
  return (a, b) => {
    const [x, y] = [Number.isNaN(a), Number.isNaN(b)];
    if (x || y) return Number(x) - Number(y);
    const zeros = (): number => Number(Object.is(b, -0)) - Number(Object.is(a, -0));
    const by = a < b ? -1 : a > b ? 1 : zeros();
    return descending ? -by : by;
  };
}

/** Whether two elements are equal as `unique` and keys have it: NaN is NaN, and 0 is -0. */
export function isEqual(a: Value, b: Value): boolean {
  if (typeof a !== 'object') return a === b || (Number.isNaN(a) && Number.isNaN(b));
  return Object.entries(a).every(([name, v]) => isEqual(v, (b as Record<string, number>)[name] as number));
}

/** An element for messages. */
export function show(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value).map(([name, v]) => `${name}: ${show(v)}`)}}`;
  }
  return Object.is(value, -0) ? '-0' : String(value);
}
