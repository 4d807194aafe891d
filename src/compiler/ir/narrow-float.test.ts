/**
 * Floats narrower than f32 as IR operations, of several formats: every element to its value, and values of all types to the nearest
 * element, against exact arithmetic on bigints.
 */
import { describe, expect, test } from 'vitest';
import { type NarrowFloat, SCALARS } from '../../dtype/index.ts';
import { assign, at, cast, KernelBuilder, load, read, special, store } from './builder.ts';
import { interpret } from './interpret.ts';
import { narrowSingle, oddSingle, widenNarrow } from './narrow-float.ts';
import { ELEM_SIZE, type ElemType, type Expr, type Stmt, type ValueType } from './ops.ts';
import { expandNarrow } from './passes/expand-narrow.ts';
import { random } from './testing.ts';
import { verify } from './verify.ts';

const FORMATS: readonly (readonly [string, NarrowFloat])[] = [
  ['f16', { exponentBits: 5, fractionBits: 10 }],
  ['bfloat16', { exponentBits: 8, fractionBits: 7 }],
  ['8 bits, 5 of them the exponent', { exponentBits: 5, fractionBits: 2 }],
  ['8 bits, 4 of them the exponent', { exponentBits: 4, fractionBits: 3 }],
  ['f8e4m3', SCALARS.f8e4m3.narrow],
  ['f8e5m2', SCALARS.f8e5m2.narrow],
];

/** Values are compared as multiples of this power of two, below the last bit of any double. */
const SCALE = 1100;

function exact(x: number | bigint): bigint {
  if (typeof x === 'bigint') return x << BigInt(SCALE);
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const field = Number((view.getBigUint64(0) >> 52n) & 0x7ffn);
  const fraction = view.getBigUint64(0) & 0xfffffffffffffn;
  const size = (field === 0 ? fraction : fraction | (1n << 52n)) << BigInt(Math.max(field, 1) - 1075 + SCALE);
  return x < 0 ? -size : size;
}

/** The positive elements with their values, as the standard defines them; without infinities there are more. */
function elementsOf({ exponentBits: e, fractionBits: f, finite }: NarrowFloat): readonly bigint[] {
  const bias = 2 ** (e - 1) - 1;
  return Array.from({ length: finite ? 2 ** (e + f) - 1 : (2 ** e - 1) * 2 ** f }, (_, bits) => {
    const [field, fraction] = [Math.floor(bits / 2 ** f), bits % 2 ** f];
    const digits = BigInt(field === 0 ? fraction : 2 ** f + fraction);
    return digits << BigInt(SCALE + Math.max(field, 1) - bias - f);
  });
}

/** The bits of the element nearest to a value. */
function nearest(format: NarrowFloat, elements: readonly bigint[], x: number | bigint): number {
  const { exponentBits: e, fractionBits: f, finite, saturates } = format;
  if (Number.isNaN(x)) return 2 ** (e + f) - (finite ? 1 : 2 ** (f - 1));
  const sign = x < 0 || Object.is(x, -0) ? 2 ** (e + f) : 0;
  const limit = sign + elements.length - (saturates ? 1 : 0);
  if (x === Number.POSITIVE_INFINITY || x === Number.NEGATIVE_INFINITY) return limit;
  const size = exact(x) < 0n ? -exact(x) : exact(x);
  let [low, high] = [0, elements.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((elements[middle] ?? 0n) <= size) low = middle;
    else high = middle;
  }
  const below = elements[low] ?? 0n;
  // What would follow the greatest is where infinity begins.
  const above = elements[high] ?? below + (below - (elements[low - 1] ?? 0n));
  const [down, up] = [size - below, above - size];
  return Math.min(sign + (down < up || (down === up && low % 2 === 0) ? low : high), limit);
}

/** Runs `y[i] = f(x[i])` for each value. */
function mapped(
  from: ElemType,
  to: ElemType,
  write: Uint8Array,
  count: number,
  body: (x: Expr, b: KernelBuilder, out: Stmt[]) => Expr,
): DataView {
  const b = new KernelBuilder('map');
  const [x, y] = [b.global(from, 'x'), b.global(to, 'y')];
  const i = b.variable('i32', 'i');
  const thread: Expr = {
    op: 'binary',
    type: 'i32',
    fn: 'add',
    a: { op: 'binary', type: 'i32', fn: 'mul', a: special('blockIdx.x'), b: special('blockDim.x') },
    b: special('threadIdx.x'),
  };
  const out: Stmt[] = [assign(i, thread)];
  const value = body(load(at(x, read(i))), b, out);
  const source = b.build([...out, store(at(y, read(i)), value)]);
  const kernel = expandNarrow(source, {});
  verify(kernel);
  const start = Math.ceil(write.length / 8) * 8;
  const memory = new Uint8Array(start + count * ELEM_SIZE[to]);
  memory.set(write);
  const block = 256;
  const { fault } = interpret(kernel, { grid: [count / block, 1, 1], block: [block, 1, 1] }, [0, start], memory);
  expect(fault).toBeUndefined();
  return new DataView(memory.buffer, start);
}

function holder(b: KernelBuilder, out: Stmt[]): (value: Expr) => Expr {
  return (value) => {
    const v = b.variable(value.type);
    out.push(assign(v, value));
    return read(v);
  };
}

/** Numbers of all sizes, elements, and what lies between two of them: ties and their neighbours. */
function numbers(elements: readonly bigint[], seed: number, count: number): number[] {
  const rng = random(seed);
  // No element has digits below 2^-140.
  const value = (k: number): number => Number((elements[k] ?? 0n) >> BigInt(SCALE - 140)) / 2 ** 140;
  const special = [
    0,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e300,
    5e-324,
    2 ** -149,
    -(2 ** -127),
  ];
  return Array.from({ length: count }, (_, n) => {
    if (n < special.length) return special[n] ?? 0;
    const k = rng.below(elements.length - 1);
    const sign = rng.once(2) ? -1 : 1;
    const tie = (value(k) + value(k + 1)) / 2;
    const off = rng.pick([0, 0, 2 ** -20, -(2 ** -20), 2 ** -50, -(2 ** -50), 0.3]);
    if (rng.once(8)) return sign * (rng.below(2 ** 30) + 1) * 2 ** (rng.below(300) - 180);
    return sign * tie * (1 + off);
  });
}

describe.each(FORMATS)('%s', (_, format) => {
  const elements = elementsOf(format);
  const size = 1 + format.exponentBits + format.fractionBits;
  const stored: ElemType = size === 8 ? 'u8' : 'u16';

  test('every element has its value', () => {
    const all =
      size === 8 ? Uint8Array.from({ length: 256 }, (_, k) => k) : Uint16Array.from({ length: 65536 }, (_, k) => k);
    const view = mapped(stored, 'f32', new Uint8Array(all.buffer), all.length, (x, b, out) =>
      widenNarrow(format, x, holder(b, out)),
    );
    for (const bits of all) {
      const got = view.getFloat32(4 * bits, true);
      const [sign, magnitude] = [bits >= 2 ** (size - 1), bits % 2 ** (size - 1)];
      const ok =
        magnitude > elements.length || (format.finite && magnitude === elements.length)
          ? Number.isNaN(got)
          : magnitude === elements.length
            ? got === (sign ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY)
            : Object.is(got < 0 || Object.is(got, -0), sign) && exact(Math.abs(got)) === elements[magnitude];
      if (!ok) expect.fail(`${bits} is not ${got}`);
    }
  });

  const cases: readonly (readonly [ValueType, number])[] = [
    ['f32', 4096],
    ['f64', 4096],
    ['i32', 2048],
    ['u32', 2048],
    ['i64', 2048],
    ['u64', 2048],
    ['bool', 256],
  ];
  test.each(cases)('values of %s go to the nearest element, ties to the even one', (type, count) => {
    const rng = random(7);
    const bytes = new DataView(new ArrayBuffer(count * ELEM_SIZE[type]));
    const values = numbers(elements, 5, count).map((x, n): number | bigint => {
      if (type === 'f32') bytes.setFloat32(4 * n, x, true);
      else if (type === 'f64') bytes.setFloat64(8 * n, x, true);
      else if (type === 'bool') bytes.setUint8(n, n % 2);
      else {
        const bits = type.endsWith('64') ? 64 : 32;
        // Ties of 8 to 11 digits, and one more or less.
        const digits = BigInt(rng.below(2 ** 12)) * 2n + 1n;
        const wide = (digits << BigInt(rng.below(bits))) + BigInt(rng.below(3) - 1);
        const signed = type.startsWith('i')
          ? BigInt.asIntN(bits, rng.once(2) ? -wide : wide)
          : BigInt.asUintN(bits, wide);
        if (bits === 64) bytes.setBigInt64(8 * n, signed, true);
        else bytes.setInt32(4 * n, Number(BigInt.asIntN(32, signed)), true);
        return signed;
      }
      return type === 'f32' ? Math.fround(x) : type === 'f64' ? x : n % 2;
    });
    const view = mapped(type, stored, new Uint8Array(bytes.buffer), count, (x, b, out) => {
      const hold = holder(b, out);
      return narrowSingle(format, oddSingle(x, hold), hold);
    });
    for (const [n, value] of values.entries()) {
      const got = size === 8 ? view.getUint8(n) : view.getUint16(2 * n, true);
      const wanted = nearest(format, elements, value);
      if (got !== wanted) expect.fail(`${value} gives ${got.toString(2)}, not ${wanted.toString(2)}`);
    }
  });
});

test('a format that a device has no instructions for is expanded: arrays, loads, stores, casts', () => {
  const format: NarrowFloat = { exponentBits: 5, fractionBits: 10 };
  const elements = elementsOf(format);
  const values = numbers(elements, 3, 2048);
  const doubles = new Uint8Array(Float64Array.from(values).buffer);
  const cased = mapped('f64', 'f32', doubles, 2048, (x) => cast('f16', x));
  const halves = mapped('f64', 'f16', doubles, 2048, (x) => cast('f32', x));
  const bits = Uint16Array.from({ length: 65536 }, (_, k) => k);
  const loaded = mapped('f16', 'f32', new Uint8Array(bits.buffer), 65536, (x) => x);
  for (const [n, value] of values.entries()) {
    const wanted = nearest(format, elements, value);
    if (!Object.is(cased.getFloat32(4 * n, true), loaded.getFloat32(4 * wanted, true))) expect.fail(`f16(${value})`);
    if (halves.getUint16(2 * n, true) !== nearest(format, elements, Math.fround(value))) expect.fail(`store ${value}`);
  }
});
