/**
 * What programs of `library-programs.ts` call, on the host: by definitions, integrals and series that share nothing with the compiler.
 * Dates and durations of all units are bigints of milliseconds.
 */

/** Numbers with NumPy's reductions. */
export class Numbers extends Float64Array {
  sum(): number {
    return this.reduce((a, b) => a + b, 0);
  }
  prod(): number {
    return this.reduce((a, b) => a * b, 1);
  }
  min(): number {
    return Math.min(...this);
  }
  max(): number {
    return Math.max(...this);
  }
  mean(): number {
    return this.sum() / this.length;
  }
  any(): boolean {
    return this.some((v) => v !== 0);
  }
  all(): boolean {
    return this.every((v) => v !== 0);
  }
  argmin(): number {
    return this.findIndex((v) => Object.is(v + 0, this.min() + 0));
  }
  argmax(): number {
    return this.findIndex((v) => Object.is(v + 0, this.max() + 0));
  }
}

/** A matrix: all its numbers, its rows by their numbers, and its transpose as `T`. */
export function matrix(rows: readonly (readonly number[])[], transposed = false): Numbers {
  const columns = (rows[0] ?? []).map((_, k) => rows.map((row) => row[k] ?? 0));
  const flat = new Numbers(rows.flat());
  const lines = rows.map((row) => new Numbers(row));
  return new Proxy(flat, {
    get: (of, key) => {
      if (key === 'T') return transposed ? undefined : matrix(columns, true);
      if (typeof key === 'string' && /^\d+$/.test(key)) return lines[Number(key)];
      const member: unknown = Reflect.get(of, key, of);
      return typeof member === 'function' ? member.bind(of) : member;
    },
  });
}

// ---------------------------------------------------------------- dates

const MS: Readonly<Record<string, bigint>> = { D: 86_400_000n, h: 3_600_000n, m: 60_000n, s: 1000n, ms: 1n };

function floored(ms: bigint, unit: string): bigint {
  const size = MS[unit] ?? 1n;
  const rest = ((ms % size) + size) % size;
  return ms - rest;
}

/** The text with counts of units, `timedelta64('h')(3n)`, as milliseconds. */
export function withDurations(text: string): string {
  return text.replace(
    /timedelta64\('(\w+)'\)\((\d+)n\)/g,
    (_, unit: string, n: string) => `${BigInt(n) * (MS[unit] ?? 1n)}n`,
  );
}

/** Counts of a unit from milliseconds. */
export function countsOf(list: readonly bigint[], unit: string): bigint[] {
  return list.map((ms) => ms / (MS[unit] ?? 1n));
}

const datetime64 = (unit: string) => (of: bigint | string) =>
  floored(typeof of === 'string' ? BigInt(Date.parse(of)) : of, unit);

// ---------------------------------------------------------------- atomics

type Cells = Int32Array | Uint32Array | Float32Array | Int16Array | Uint8Array | Int8Array | Uint16Array;
type Update = (old: number, value: number) => number;

function exchanged(cells: Cells, at: number, next: (old: number) => number): number {
  const old = cells[at] ?? 0;
  cells[at] = next(old);
  return old;
}

const updating =
  (f: Update) =>
  (cells: Cells, at: number, value: number): number =>
    exchanged(cells, at, (old) => {
      const own = cells.slice(0, 1);
      own[0] = value;
      return f(old, own[0] ?? 0);
    });

const atomic = {
  load: (cells: Cells, at: number): number => cells[at] ?? 0,
  store: (cells: Cells, at: number, value: number): void => {
    cells[at] = value;
  },
  cas: (cells: Cells, at: number, expected: number, value: number): number => {
    const own = cells.slice(0, 1);
    own[0] = expected;
    return exchanged(cells, at, (old) => (Object.is(old, own[0]) ? value : old));
  },
  exch: updating((_, v) => v),
  add: updating((a, b) => a + b),
  sub: updating((a, b) => a - b),
  min: updating(Math.min),
  max: updating(Math.max),
  and: updating((a, b) => a & b),
  or: updating((a, b) => a | b),
  xor: updating((a, b) => a ^ b),
  inc: updating((a, b) => (a >= b ? 0 : a + 1)),
  dec: updating((a, b) => (a === 0 || a > b ? b : a - 1)),
};

// ---------------------------------------------------------------- special functions

type Real = (x: number) => number;

/** The mean of a smooth function of period 2π, by as many points as it takes. */
const mean = (f: Real): number =>
  Array.from({ length: 256 }, (_, k) => f((2 * Math.PI * (k + 0.5)) / 256)).reduce((a, b) => a + b) / 256;

/** erf by the series of which all terms have one sign. */
function erf(x: number): number {
  let [sum, term] = [0, x];
  for (let k = 0; Math.abs(term) > Math.abs(sum) * 1e-18; k++) {
    sum += term;
    term *= (2 * x * x) / (2 * k + 3);
  }
  return ((2 * sum) / Math.sqrt(Math.PI)) * Math.exp(-x * x);
}

/** e^x² erfc x: by erf where it is not small, else by its continued fraction. */
function erfcx(x: number): number {
  if (x < 0.5) return Math.exp(x * x) * (1 - erf(x));
  let fraction = x;
  for (let k = 600; k > 0; k--) fraction = x + k / 2 / fraction;
  return 1 / fraction / Math.sqrt(Math.PI);
}

const erfc: Real = (x) => (x < 0.5 ? 1 - erf(x) : erfcx(x) * Math.exp(-x * x));

/** The argument at which a rising function has a value, by halves of an interval. */
function inverse(f: Real, y: number): number {
  let [low, high] = [-8, 8];
  for (let k = 0; k < 100; k++) {
    const middle = (low + high) / 2;
    if (f(middle) < y) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Stirling's series, from an argument of 20 on. */
function lgamma(x: number): number {
  if (x < 20) return lgamma(x + 1) - Math.log(x);
  const w = 1 / (x * x);
  const series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / x;
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series;
}

/** Y₀ and Y₁ by Neumann's integral over sines, and the part that falls off. */
function second(order: 0 | 1, x: number): number {
  const parts = 4000;
  // Simpson's rule.
  const integral = (to: number, n: number, f: Real): number => {
    let sum = 0;
    for (let k = 0; k <= n; k++) sum += f((k * to) / n) * (k === 0 || k === n ? 1 : k % 2 === 1 ? 4 : 2);
    return (sum * to) / n / 3;
  };
  const waves = integral(Math.PI, parts, (a) => Math.sin(x * Math.sin(a) - order * a));
  const falling = integral(
    Math.asinh(800 / x),
    4 * parts,
    (t) => (order === 0 ? 2 : Math.exp(t) - Math.exp(-t)) * Math.exp(-x * Math.sinh(t)),
  );
  return (waves - falling) / Math.PI;
}

export const REFERENCE: Readonly<Record<string, Real>> = {
  j0: (x) => mean((a) => Math.cos(x * Math.sin(a))),
  j1: (x) => mean((a) => Math.cos(a - x * Math.sin(a))),
  y0: (x) => second(0, x),
  y1: (x) => second(1, x),
  cylBesselI0: (x) => mean((a) => Math.exp(x * Math.cos(a))),
  cylBesselI1: (x) => mean((a) => Math.exp(x * Math.cos(a)) * Math.cos(a)),
  erf,
  erfc,
  erfcx,
  erfinv: (y) => inverse(erf, y),
  erfcinv: (y) => inverse(erf, 1 - y),
  normcdf: (x) => erfc(-x * Math.SQRT1_2) / 2,
  normcdfinv: (p) => Math.SQRT2 * inverse(erf, 2 * p - 1),
  tgamma: (x) => Math.exp(lgamma(x)),
  lgamma,
  rcbrt: (x) => 1 / Math.cbrt(x),
  exp10: (x) => 10 ** x,
  'sincos.0': Math.sin,
  'sincos.1': Math.cos,
  'fast.sin': Math.sin,
  'fast.cos': Math.cos,
  'fast.sincos.1': Math.cos,
  'fast.tan': Math.tan,
  'fast.exp': Math.exp,
  'fast.exp2': (x) => 2 ** x,
  'fast.exp10': (x) => 10 ** x,
  'fast.log': Math.log,
  'fast.log2': Math.log2,
  'fast.log10': Math.log10,
  'fast.tanh': Math.tanh,
  'fast.sqrt': Math.sqrt,
  'fast.rsqrt': (x) => 1 / Math.sqrt(x),
  'fast.rcp': (x) => 1 / x,
};

const sincos = (x: number): [number, number] => [Math.sin(x), Math.cos(x)];
const startingWith = (prefix: string): Record<string, Real> =>
  Object.fromEntries(
    Object.entries(REFERENCE).flatMap(([k, f]) => (k.startsWith(prefix) ? [[k.slice(prefix.length), f]] : [])),
  );

// ---------------------------------------------------------------- memory

type Words = new (buffer: ArrayBufferLike, from: number, n: number) => Cells;

/** What dtypes are on the host: casts, and what `view` makes elements of. */
const i8 = (x: number): number => (x << 24) >> 24;
const u8 = (x: number): number => x & 255;
const i16 = (x: number): number => (x << 16) >> 16;
const u16 = (x: number): number => x & 65535;
const u32 = (x: number): number => x >>> 0;
const i32 = Math.trunc;
const WORDS = new Map<unknown, Words>([
  ...([i8, 'int8'].map((t) => [t, Int8Array]) as [unknown, Words][]),
  ...([u8, 'uint8'].map((t) => [t, Uint8Array]) as [unknown, Words][]),
  ...([u16, 'uint16'].map((t) => [t, Uint16Array]) as [unknown, Words][]),
  ...([i32, 'int32'].map((t) => [t, Int32Array]) as [unknown, Words][]),
  [i16, Int16Array],
  [u32, Uint32Array],
]);

/** Gives a typed array the methods `reshape` and `view` of arrays in kernels. */
export function inKernel<T extends Cells>(cells: T): T {
  const reshape = (...given: (number | number[])[]): unknown => {
    const [rows = 0, columns] = given.flat();
    if (columns === undefined) return cells;
    const n = rows === -1 ? cells.length / columns : rows;
    if (n * columns !== cells.length) throw new Error(`${cells.length} elements in ${n} rows of ${columns}`);
    const lines = Array.from({ length: n }, (_, k) => cells.subarray(k * columns, (k + 1) * columns));
    return Object.assign(lines, { reshape: () => cells });
  };
  const view = (type: unknown): Cells => {
    const Type = WORDS.get(type);
    if (Type === undefined) throw new Error('no such type');
    const made = new Type(cells.buffer, cells.byteOffset, 0);
    return inKernel(new Type(cells.buffer, cells.byteOffset, cells.byteLength / made.BYTES_PER_ELEMENT));
  };
  return Object.defineProperties(cells, { reshape: { value: reshape }, view: { value: view } });
}

type Place = number | readonly [number] | readonly [number, number];

/** The array and the index of an element that is named by one index or two. */
function cellAt(array: Cells | readonly Cells[], at: Place): readonly [Cells, number] {
  const [a, b] = typeof at === 'number' ? [at] : at;
  return b === undefined ? [array as Cells, a] : [array[a] as Cells, b];
}
function hinted(array: Cells | readonly Cells[], at: Place): number {
  const [cells, k] = cellAt(array, at);
  return cells[k] ?? Number.NaN;
}
function storeHinted(array: Cells | readonly Cells[], at: Place, value: number): void {
  const [cells, k] = cellAt(array, at);
  cells[k] = value;
}
const hints = {
  ...Object.fromEntries(['ldca', 'ldcg', 'ldcs', 'ldlu', 'ldcv'].map((name) => [name, hinted])),
  ...Object.fromEntries(['stcg', 'stcs', 'stwb', 'stwt'].map((name) => [name, storeHinted])),
};

export const standIns = {
  f32: Math.fround,
  f64: Number,
  i8,
  u8,
  i16,
  u16,
  u32,
  i32,
  datetime64,
  timedelta64: (unit: string) => (of: bigint) => floored(of, unit),
  cuda: {
    atomic,
    local: { array: (n: number, type: unknown) => (type === u32 ? inKernel(new Uint32Array(n)) : new Numbers(n)) },
    ...REFERENCE,
    sincos,
    fast: { ...startingWith('fast.'), sincos },
    ...hints,
  },
};
