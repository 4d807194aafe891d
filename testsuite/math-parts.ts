/**
 * Chapter: numbers in parts. Mantissas and exponents, neighbours, remainders, bits, norms, pairs, and approximations of the hardware. What is
 * exact is held to arithmetic on bits and bigints that has nothing in common with the library's.
 */
import { cuda, type DeviceNDArray, type f32, type f64, type In, type i32, type i64, type Vec } from '../src/index.ts';
import { closeElements, rejects, same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType, zeros } from './support.ts';
import { launch, read } from './waiting.ts';

type Type = 'float32' | 'float64';
const TYPES: readonly Type[] = ['float32', 'float64'];

const dataOf = (type: Type) => (type === 'float32' ? Float32Array : Float64Array);
const numbers = (a: unknown): number[] => Array.from(a as ArrayLike<number>, Number);

/** Corners of a type, and numbers all over it. */
function values(type: Type): number[] {
  const [least, most, normal] =
    type === 'float32' ? [2 ** -149, 3.4028234663852886e38, 2 ** -126] : [5e-324, Number.MAX_VALUE, 2 ** -1022];
  const sizes = [
    0,
    1,
    1.5,
    2,
    3,
    0.1,
    10,
    123.456,
    least,
    3 * least,
    normal,
    normal - least,
    2 * normal,
    most,
    most / 2,
    7 * normal,
    Number.POSITIVE_INFINITY,
  ];
  const step = type === 'float32' ? 37 : 211;
  for (let e = -step * 4; e < step * 4; e += step)
    sizes.push(1.7320508 * 2 ** Math.max(e, -1070), 2 ** Math.max(e, -1070));
  const all = sizes.flatMap((x) => [x, -x]);
  return Array.from(dataOf(type).from([...all, Number.NaN]));
}

/** An exact fraction: n / 2 ** 1200. */
const SCALE = 1200;
function fraction(x: number): bigint {
  let [m, e] = [x, 0];
  while (!Number.isInteger(m)) {
    m *= 2;
    e++;
  }
  return BigInt(m) << BigInt(SCALE - e);
}

function fromFraction(n: bigint): number {
  // Exact results only: at most 53 bits.
  let [m, e] = [n, -SCALE];
  while (m !== 0n && m % 2n === 0n) {
    m /= 2n;
    e++;
  }
  return Number(m) * 2 ** Math.max(e, -1000) * 2 ** (e - Math.max(e, -1000));
}

/** The IEEE remainder. */
function remainder(x: number, y: number): number {
  if (!Number.isFinite(x) || Number.isNaN(y) || y === 0) return Number.NaN;
  if (!Number.isFinite(y)) return x;
  const [a, b] = [fraction(Math.abs(x)), fraction(Math.abs(y))];
  let [q, r] = [a / b, a % b];
  if (2n * r > b || (2n * r === b && q % 2n === 1n)) [q, r] = [q + 1n, r - b];
  const size = fromFraction(r);
  return x < 0 || Object.is(x, -0) ? -size : size;
}

/** The next number of a type. */
function nextafter(type: Type, x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if (x === y) return y;
  const floats = dataOf(type).of(x);
  const words = type === 'float32' ? new Int32Array(floats.buffer) : new BigInt64Array(floats.buffer);
  const one = (type === 'float32' ? 1 : 1n) as never;
  if (x === 0) {
    words[0] = one;
    return y < 0 ? -(floats[0] as number) : (floats[0] as number);
  }
  if (x < y === x > 0) (words[0] as number) += one;
  else (words[0] as number) -= one;
  return floats[0] as number;
}

/** y[k] = body(a[k], b[k]) for all pairs, against what is expected. */
function exactly(
  body: (a: number, b: number) => number,
  expected: (type: Type, a: number, b: number) => number,
  second?: (type: Type) => readonly number[],
): () => Promise<void> {
  return () =>
    eachType(TYPES, async (type) => {
      const [first, others] = [values(type), second?.(type) ?? [0]];
      const a = dataOf(type).from(first.flatMap((x) => others.map(() => x)));
      const b = dataOf(type).from(first.flatMap(() => others));
      const kernel = cuda.jit((y: Vec<f64>, u: In<Vec<f64>>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(u[k]!, v[k]!);
      });
      const y = cuda.deviceArray(a.length, type);
      const [u, v] = [cuda.toDevice(a), cuda.toDevice(b)];
      await launch(kernel, { threads: a.length, block: 64 }, y as never, u as never, v as never);
      const got = numbers(await read(y));
      for (let k = 0; k < got.length; k++) same(got[k], expected(type, a[k]!, b[k]!), `${type}: f(${a[k]}, ${b[k]})`);
    });
}

/** Mantissa and exponent. */
function frexp(x: number): [number, number] {
  if (x === 0 || !Number.isFinite(x)) return [x, 0];
  let [m, e] = [x, 0];
  while (Math.abs(m) >= 1) [m, e] = [m / 2, e + 1];
  while (Math.abs(m) < 0.5) [m, e] = [m * 2, e - 1];
  return [m, e];
}

const POWERS = [0, 1, -1, 10, -30, 127, -127, 150, -160, 250, -300, 1024, -1080, 2100, -2200, 100000, -2000000000];

/** x · 2ⁿ rounded once: by exact steps, and one that rounds. */
function ldexp(type: Type, x: number, n: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const [m, e] = frexp(x);
  const least = type === 'float32' ? -149 : -1074;
  const power = e + n;
  if (power < least - 2) return m < 0 ? -0 : 0;
  if (power > 1100) return m < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const digits = type === 'float32' ? 24 : 53;
  // In units of the result's last place, which are whole numbers but for the part that rounds.
  const unit = Math.max(power - digits, least);
  const scaled = m * 2 ** (power - unit);
  const low = Math.floor(scaled);
  const rest = scaled - low;
  const whole = rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
  const y = whole * 2 ** Math.max(unit, -1000) * 2 ** (unit - Math.max(unit, -1000));
  const rounded = type === 'float32' ? Math.fround(y) : y;
  return rounded === 0 && m < 0 ? -0 : rounded;
}

export const mathParts: readonly ConformanceTest[] = chapter('numbers in parts', {
  'frexp gives the mantissa': exactly(
    (a) => {
      const [m] = cuda.frexp(a);
      return m;
    },
    (_, x) => frexp(x)[0],
  ),
  'frexp gives the exponent': exactly(
    (a) => {
      const [, e] = cuda.frexp(a);
      return e;
    },
    (_, x) => frexp(x)[1],
  ),
  'ldexp rounds once': exactly(
    (a, b) => cuda.ldexp(a, b | 0),
    (type, x, n) => ldexp(type, x, Math.trunc(n)),
    () => POWERS,
  ),
  'ldexp of an integer, and of what frexp gave': () =>
    eachType(TYPES, async (type) => {
      const kernel = cuda.jit(
        (y: Vec<f64>, x: In<Vec<f64>>, n: number) => {
          const [m, e] = cuda.frexp(x[0]!);
          y[0] = cuda.ldexp(m, e);
          y[1] = cuda.ldexp(3, n);
        },
        type === 'float32' ? { defaultFloat: 'f32' } : {},
      );
      const y = cuda.toDevice(new (dataOf(type))(2)) as DeviceNDArray<f64, 1>;
      const x = dataOf(type).of(-12345.678);
      await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(x) as never, 5);
      sameElements(await read(y), [x[0], 96], type);
      const wrong = cuda.jit((out: Vec<f64>) => {
        out[0] = cuda.ldexp(out[0]!, 0.5);
      });
      await rejects(() => launch(wrong, { grid: 1, block: 1 }, y), /cuda\.ldexp needs an integer/);
    }),
  'modf gives the fraction': exactly(
    (a) => {
      const [part] = cuda.modf(a);
      return part;
    },
    (_, x) => (Number.isNaN(x) ? x : Number.isFinite(x) ? copysign(x - Math.trunc(x), x) : copysign(0, x)),
  ),
  'modf gives the whole part': exactly(
    (a) => {
      const [, whole] = cuda.modf(a);
      return whole;
    },
    (_, x) => Math.trunc(x),
  ),
  'nextafter goes one step': exactly((a, b) => cuda.nextafter(a, b), nextafter, values),
  'fmod is the remainder of a division': exactly(
    (a, b) => cuda.fmod(a, b),
    (_, x, y) => x % y,
    values,
  ),
  'remainder is exact, ties to even': exactly(
    (a, b) => cuda.remainder(a, b),
    (_, x, y) => remainder(x, y),
    values,
  ),
  'fmod of integers': async () => {
    const kernel = cuda.jit((y: Vec<f32>, n: In<Vec<i32>>) => {
      y[0] = cuda.fmod(n[0]!, n[1]!);
    });
    const y = zeros(1, 'float32');
    await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(Int32Array.of(-7, 4)));
    sameElements(await read(y), [-3]);
  },
  'sincos gives both': () =>
    eachType(TYPES, async (type) => {
      const kernel = cuda.jit((y: Vec<f64>, x: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        if (k >= x.length) return;
        const [s, c] = cuda.sincos(x[k]! * 3);
        y[2 * k] = s;
        y[2 * k + 1] = c;
      });
      const x = dataOf(type).from(Array.from({ length: 200 }, (_, k) => (k - 100) * 0.37));
      const y = cuda.deviceArray(400, type);
      await launch(kernel, { threads: 200 }, y as never, cuda.toDevice(x) as never);
      const third = (v: number): number => (type === 'float32' ? Math.fround(v * 3) : v * 3);
      const expected = Array.from(x, (v) => [Math.sin(third(v)), Math.cos(third(v))]).flat();
      closeElements(await read(y), expected, type === 'float32' ? 2e-7 : 1e-15);
    }),
  'sinpi and cospi reduce exactly': async () => {
    // By the symmetries of the functions, exact for what is a multiple of 2⁻²⁰.
    const sinpi = (x: number): number => {
      const r = x - 2 * Math.floor(x / 2);
      if (r > 1) return -sinpi(r - 1);
      return r > 0.5 ? sinpi(1 - r) : r > 0.25 ? Math.cos(Math.PI * (0.5 - r)) : Math.sin(Math.PI * r);
    };
    await eachType(TYPES, async (type) => {
      const kernel = cuda.jit((y: Vec<f64>, x: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        if (k >= x.length) return;
        y[2 * k] = cuda.sinpi(x[k]!);
        y[2 * k + 1] = cuda.cospi(x[k]!);
      });
      const x = dataOf(type).from(Array.from({ length: 400 }, (_, k) => (k - 200) * 0.15625 + (k % 3) * 1024));
      const y = cuda.deviceArray(800, type);
      await launch(kernel, { threads: 400 }, y as never, cuda.toDevice(x) as never);
      const expected = Array.from(x, (v) => [sinpi(v), sinpi(v + 0.5)]).flat();
      const got = numbers(await read(y));
      for (const [k, e] of expected.entries()) {
        const unit = Math.max(Math.abs(e), 1e-300) * (type === 'float32' ? 2 ** -23 : 2 ** -52);
        same(
          Math.abs(got[k]! - e) <= 4 * unit,
          true,
          `${type}: ${k % 2 ? 'cospi' : 'sinpi'}(${x[k >> 1]}) is ${got[k]}, ${e}`,
        );
      }
    });
  },
  'norms of three and four numbers, and 1 over them': () =>
    eachType(TYPES, async (type) => {
      const kernel = cuda.jit((y: Vec<f64>, x: In<Vec<f64>>) => {
        y[0] = cuda.norm3d(x[0]!, x[1]!, x[2]!);
        y[1] = cuda.norm4d(x[0]!, x[1]!, x[2]!, x[3]!);
        y[2] = cuda.rhypot(x[0]!, x[1]!);
        y[3] = cuda.rnorm3d(x[0]!, x[1]!, x[2]!);
        y[4] = cuda.rnorm4d(x[0]!, x[1]!, x[2]!, x[3]!);
        y[5] = cuda.norm3d(x[0]! * x[4]!, x[1]! * x[4]!, x[2]! * x[4]!) / x[4]!;
      });
      const y = cuda.toDevice(new (dataOf(type))(6)) as DeviceNDArray<f64, 1>;
      const x = dataOf(type).of(2, -3, 6, 24, type === 'float32' ? 1e30 : 1e200);
      await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(x) as never);
      const expected = [7, 25, 1 / Math.sqrt(13), 1 / 7, 1 / 25, 7];
      closeElements(await read(y), expected, type === 'float32' ? 3e-7 : 1e-15, type);
    }),
  'bits of f32, both ways': async () => {
    const kernel = cuda.jit((x: In<Vec<f32>>, n: Vec<i32>, y: Vec<f32>) => {
      const k = cuda.grid(1);
      n[k] = cuda.floatAsInt(x[k]!);
      y[2 * k] = cuda.intAsFloat(n[k]!);
      y[2 * k + 1] = cuda.uintAsFloat(cuda.floatAsUint(x[k]!));
    });
    const x = Float32Array.of(1, -0, 0.1, -(2 ** -126), Number.POSITIVE_INFINITY);
    const [n, y] = [zeros(5, 'int32'), zeros(10, 'float32')];
    await launch(kernel, { grid: 1, block: 5 }, cuda.toDevice(x), n, y);
    sameElements(await read(n), Array.from(new Int32Array(x.buffer)));
    sameElements(
      await read(y),
      Array.from(x).flatMap((v) => [v, v]),
    );
  },
  'bits of f32 and f64, both ways': async () => {
    const kernel = cuda.jit((x: In<Vec<f32>>, d: In<Vec<f64>>, n: Vec<i32>, w: Vec<i64>, y: Vec<f32>, z: Vec<f64>) => {
      const k = cuda.grid(1);
      n[k] = cuda.floatAsInt(x[k]!);
      y[2 * k] = cuda.intAsFloat(n[k]!);
      y[2 * k + 1] = cuda.uintAsFloat(cuda.floatAsUint(x[k]!));
      w[k] = cuda.doubleAsLong(d[k]!);
      z[2 * k] = cuda.longAsDouble(w[k]!);
      z[2 * k + 1] = cuda.hiLoIntToDouble(cuda.doubleToHiInt(d[k]!), cuda.doubleToLoInt(d[k]!));
    });
    const x = Float32Array.of(1, -0, 0.1, -(2 ** -149), Number.POSITIVE_INFINITY);
    const d = Float64Array.of(1, -0, 0.1, -5e-324, Number.NEGATIVE_INFINITY);
    const [n, w, y, z] = [zeros(5, 'int32'), zeros(5, 'int64'), zeros(10, 'float32'), zeros(10, 'float64')];
    await launch(kernel, { grid: 1, block: 5 }, cuda.toDevice(x), cuda.toDevice(d), n, w, y, z);
    sameElements(await read(n), Array.from(new Int32Array(x.buffer)));
    sameElements(await read(w), Array.from(new BigInt64Array(d.buffer)));
    sameElements(
      await read(y),
      Array.from(x).flatMap((v) => [v, v]),
    );
    sameElements(
      await read(z),
      Array.from(d).flatMap((v) => [v, v]),
    );
  },
  'literals and integers of either sign as bits': async () => {
    const kernel = cuda.jit((y: Vec<f32>, n: In<Vec<i32>>) => {
      y[0] = cuda.intAsFloat(0xbf800000);
      y[1] = cuda.intAsFloat(-1082130432);
      y[2] = cuda.uintAsFloat(n[0]! + 0x3f800000);
      // The quick square root of the games of 1999.
      y[3] = cuda.intAsFloat(0x5f3759df - (cuda.floatAsInt(4) >> 1));
    });
    const y = zeros(4, 'float32');
    await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(Int32Array.of(0)));
    sameElements(await read(y), [-1, -1, 1, new Float32Array(Int32Array.of(0x3ef759df).buffer)[0]!]);
    const wrong = cuda.jit((out: Vec<f32>) => {
      out[0] = cuda.intAsFloat(out[0]!);
    });
    await rejects(() => launch(wrong, { grid: 1, block: 1 }, y), /cuda\.intAsFloat needs an integer/);
  },
  'bits of f16': async () => {
    const kernel = cuda.jit((y: Vec<f32>, n: Vec<i32>, x: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      n[k] = cuda.halfAsShort(x[k]!);
      y[k] = cuda.shortAsHalf(n[k]!);
    });
    const [y, n] = [zeros(6, 'float32'), zeros(6, 'int32')];
    await launch(kernel, { grid: 1, block: 6 }, y, n, cuda.toDevice(Float32Array.of(1, -1, 0.1, 65504, -1e9, -0)));
    sameElements(await read(n), [0x3c00, 0xbc00 - 65536, 0x2e66, 0x7bff, 0xfc00 - 65536, -32768]);
    sameElements(await read(y), [1, -1, 0.0999755859375, 65504, Number.NEGATIVE_INFINITY, -0]);
  },
  'approximations of the hardware': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      const n = x.length;
      if (k >= n) return;
      const v = x[k]!;
      const [s, c] = cuda.fast.sincos(v);
      y[k] = cuda.fast.sin(v);
      y[n + k] = cuda.fast.cos(v) + s + c;
      y[2 * n + k] = cuda.fast.tan(v / 4);
      y[3 * n + k] = cuda.fast.exp(v);
      y[4 * n + k] = cuda.fast.exp2(v) + cuda.fast.exp10(v / 4);
      y[5 * n + k] = cuda.fast.log(v) + cuda.fast.log2(v) + cuda.fast.log10(v);
      y[6 * n + k] = cuda.fast.pow(v, 1.5) + cuda.fast.tanh(v);
      y[7 * n + k] = cuda.fast.sqrt(v) + cuda.fast.rsqrt(v) + cuda.fast.rcp(v) + cuda.fast.div(v, 3);
    });
    const x = Float32Array.from({ length: 60 }, (_, k) => 0.05 * (k + 1));
    const y = zeros(480, 'float32');
    await launch(kernel, { threads: 60 }, y, cuda.toDevice(x));
    const rows: ((v: number) => number)[] = [
      Math.sin,
      (v) => 2 * Math.cos(v) + Math.sin(v),
      (v) => Math.tan(v / 4),
      Math.exp,
      (v) => 2 ** v + 10 ** (v / 4),
      (v) => Math.log(v) + Math.log2(v) + Math.log10(v),
      (v) => v ** 1.5 + Math.tanh(v),
      (v) => Math.sqrt(v) + 1 / Math.sqrt(v) + 1 / v + v / 3,
    ];
    closeElements(
      await read(y),
      rows.flatMap((f) => Array.from(x, f)),
      6e-4 / 16,
    );
  },
  'approximations of the hardware in f64 are the functions': async () => {
    const wide = cuda.jit((out: Vec<f64>) => {
      out[0] = cuda.fast.sin(out[1]!) + cuda.fast.div(out[1]!, 3);
    });
    const out = cuda.toDevice(Float64Array.of(0, 0.5));
    await launch(wide, { grid: 1, block: 1 }, out);
    closeElements(await read(out), [Math.sin(0.5) + 0.5 / 3, 0.5], 1e-15);
  },
});

function copysign(a: number, b: number): number {
  return b < 0 || Object.is(b, -0) ? -Math.abs(a) : Math.abs(a);
}
