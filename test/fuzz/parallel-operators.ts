/**
 * Random programs of `tsamba/parallel`: operators that are associative for the elements that come with them, and what plain JavaScript makes of them. The functions are the
 * same ones that kernels compile.
 */
import { KINDS, type Kind, type Style, type Value } from './parallel-kinds.ts';
import type { Random } from './random.ts';

export interface Operator {
  /** What is passed: a name or a function. */
  readonly given: never;
  readonly text: string;
  /** Without the type that it computes in. */
  readonly apply: (a: Value, b: Value) => Value;
  /** Elements whose order of combination does not matter. */
  readonly style: Style;
  /** A value that it can begin with. */
  readonly init: Value;
  /** What it computes in and gives, of elements of a kind: in scans, and in reductions. */
  readonly scans: (kind: Kind) => { readonly type: Kind; readonly result: Kind };
  readonly reduces: (kind: Kind) => { readonly type: Kind; readonly result: Kind };
}

type Fn = (a: never, b: never) => unknown;
interface Made {
  readonly fn: Fn;
  readonly commutes: boolean;
  readonly style: Style;
}

// Of integers, wrapped where they are stored.
const INTEGERS: readonly Made[] = [
  { fn: (a: number, b: number) => a + b, commutes: true, style: 'wild' },
  { fn: (a: number, b: number) => a ^ b, commutes: true, style: 'wild' },
  { fn: (a: number, b: number) => Math.max(a, b), commutes: true, style: 'wild' },
  { fn: (a: number, b: number) => Math.min(a, b), commutes: true, style: 'few' },
  { fn: (_a: number, b: number) => b, commutes: false, style: 'wild' },
  { fn: (a: number, b: number) => (b % 3 === 0 ? a : b), commutes: false, style: 'small' },
];
const BIGS: readonly Made[] = [
  { fn: (a: bigint, b: bigint) => a + b, commutes: true, style: 'wild' },
  { fn: (a: bigint, b: bigint) => a ^ b, commutes: true, style: 'wild' },
  { fn: (a: bigint, b: bigint) => (a < b ? b : a), commutes: true, style: 'wild' },
  { fn: (a: bigint, _b: bigint) => a, commutes: false, style: 'wild' },
  { fn: (a: bigint, b: bigint) => (b % 3n === 0n ? a : b), commutes: false, style: 'small' },
];
const FLOATS: readonly Made[] = [
  { fn: (a: number, b: number) => a + b, commutes: true, style: 'small' },
  { fn: (a: number, b: number) => a * b, commutes: true, style: 'signs' },
  { fn: (a: number, b: number) => Math.max(a, b), commutes: true, style: 'wild' },
  { fn: (a: number, b: number) => Math.min(a, b), commutes: true, style: 'wild' },
  { fn: (_a: number, b: number) => b, commutes: false, style: 'wild' },
  { fn: (a: number, b: number) => (b > 0 ? b : a), commutes: false, style: 'wild' },
];
const BOOLS: readonly Made[] = [
  { fn: (a: boolean, b: boolean) => a || b, commutes: true, style: 'few' },
  { fn: (a: boolean, b: boolean) => a !== b, commutes: true, style: 'few' },
  { fn: (_a: boolean, b: boolean) => b, commutes: false, style: 'few' },
];
type Complex = { readonly re: number; readonly im: number };
const COMPLEX: readonly Made[] = [{ fn: (_a: Complex, b: Complex) => b, commutes: false, style: 'small' }];
type Line = { readonly a: number; readonly b: number };
type Mixed = Line & { readonly c: number };
const RECORDS: Readonly<Record<string, readonly Made[]>> = {
  line: [
    {
      fn: (p: Line, q: Line) => ({ a: Math.imul(p.a, q.a), b: (Math.imul(p.b, q.a) + q.b) | 0 }),
      commutes: false,
      style: 'small',
    },
    { fn: (p: Line, q: Line) => ({ a: p.a ^ q.a, b: Math.max(p.b, q.b) }), commutes: true, style: 'small' },
  ],
  mixed: [
    {
      fn: (p: Mixed, q: Mixed) => ({ a: Math.max(p.a, q.a), b: (p.b + q.b) & 255, c: q.c }),
      commutes: false,
      style: 'small',
    },
    {
      fn: (p: Mixed, q: Mixed) => ({ a: p.a + q.a, b: Math.max(p.b, q.b), c: Math.min(p.c, q.c) }),
      commutes: true,
      style: 'small',
    },
  ],
};

const functionsFor = ({ name, family }: Kind): readonly Made[] =>
  ({ int: INTEGERS, big: BIGS, float: FLOATS, bool: BOOLS, complex: COMPLEX, struct: RECORDS[name] ?? [] })[family];

/** A random operator for elements of a kind; `commuting`: one whose operands may change places. */
export function operatorFor(r: Random, kind: Kind, commuting: boolean): Operator {
  const functions = functionsFor(kind).filter((made) => made.commutes || !commuting);
  return kind.family !== 'struct' && (functions.length === 0 || r.chance(0.4))
    ? named(r, kind)
    : byFunction(r.pick(functions), kind);
}

const START: Readonly<Record<Kind['family'], Value>> = {
  bool: true,
  int: 3,
  big: 3n,
  float: 1,
  complex: { re: 1, im: 0 },
  struct: { a: 2, b: 5 },
};
const startOf = (kind: Kind): Value => (kind.name === 'mixed' ? { a: 2, b: 5, c: 7 } : START[kind.family]);

function byFunction({ fn, style }: Made, kind: Kind): Operator {
  const types = (of: Kind) => ({ type: of.wide(), result: of });
  const { style: own, ...rest } = {
    given: fn as never,
    text: String(fn),
    apply: fn as unknown as Operator['apply'],
    style,
    init: startOf(kind),
    scans: types,
    reduces: types,
  };
  return { ...rest, style: own };
}

function named(r: Random, kind: Kind): Operator {
  const { family } = kind;
  const name = r.pick(family === 'complex' ? (['sum', 'prod'] as const) : (['sum', 'prod', 'min', 'max'] as const));
  const counts = name === 'sum' || name === 'prod';
  const exact = !counts ? 'wild' : family !== 'float' && family !== 'complex' ? 'wild' : undefined;
  const isWord = family === 'int' || family === 'bool';
  const signed = !kind.name.startsWith('u');
  const narrow = isWord && !['i32', 'u32'].includes(kind.name);
  const grown = signed ? KINDS.i32 : KINDS.u32;
  const own = { type: kind.wide(), result: kind };
  const of = (type: Kind) => ({ type, result: type });
  return {
    given: name as never,
    text: name,
    apply: APPLY[name](family),
    style: exact ?? (name === 'sum' ? 'small' : 'signs'),
    init: startOf(kind),
    scans: () => (counts && isWord ? of(narrow ? grown : kind) : own),
    reduces: () => (counts && isWord ? of(signed ? KINDS.i64 : KINDS.u64) : own),
  };
}

type Binary = (a: Value, b: Value) => Value;
const complexProduct = (a: Complex, b: Complex): Complex => ({
  re: a.re * b.re - a.im * b.im,
  im: a.re * b.im + a.im * b.re,
});
const big = (v: Value): bigint => BigInt(v as number);

const APPLY: Readonly<Record<'sum' | 'prod' | 'min' | 'max', (family: Kind['family']) => Binary>> = {
  sum: (family) =>
    family === 'complex'
      ? (((a: Complex, b: Complex) => ({ re: a.re + b.re, im: a.im + b.im })) as never)
      : family === 'float'
        ? (((a: number, b: number) => a + b) as never)
        : (a, b) => big(a) + big(b),
  prod: (family) =>
    family === 'complex'
      ? (complexProduct as never)
      : family === 'float'
        ? (((a: number, b: number) => a * b) as never)
        : (a, b) => big(a) * big(b),
  min: (family) => (family === 'float' ? (Math.min as never) : (a: Value, b: Value) => (b < a ? b : a)),
  max: (family) => (family === 'float' ? (Math.max as never) : (a: Value, b: Value) => (b > a ? b : a)),
};

/** What all values come to, as their type computes it; undefined of none. */
export function folded(values: readonly Value[], { apply }: Operator, type: Kind, init?: Value): Value | undefined {
  const all = init === undefined ? values : [init, ...values];
  return all
    .map((v) => type.store(v))
    .reduce<Value | undefined>((sum, v) => (sum === undefined ? v : type.store(apply(sum, v))), undefined);
}

/** What all values up to each one come to, or all before it. */
export function running(
  values: readonly Value[],
  { apply }: Operator,
  type: Kind,
  { init, exclusive }: { readonly init: Value | undefined; readonly exclusive: boolean },
): Value[] {
  let sum = init === undefined ? undefined : type.store(init);
  return values.map((value) => {
    const before = sum;
    const own = type.store(value);
    sum = sum === undefined ? own : type.store(apply(sum, own));
    return (exclusive ? before : sum) as Value;
  });
}

/** What names begin with where nothing is said. */
export function identityOf(text: string, type: Kind): Value | undefined {
  const { family, name } = type;
  if (text === 'sum' || text === 'prod') {
    const one = text === 'sum' ? 0 : 1;
    return family === 'complex' ? { re: one, im: 0 } : family === 'big' ? BigInt(one) : one;
  }
  const isLeast = text === 'min';
  if (text !== 'min' && text !== 'max') return undefined;
  if (family === 'bool') return isLeast;
  if (family === 'float') return isLeast ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const bits = BigInt(name.slice(1));
  const [least, most] = name.startsWith('u') ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  return type.store(isLeast ? most : least);
}

/** Whether nothing but a first value says what the operator makes of no elements. */
export function needsInit(text: string, kind: Kind): boolean {
  return text !== 'sum' && text !== 'prod' && (kind.family !== 'bool' || identityOf(text, kind) === undefined);
}
