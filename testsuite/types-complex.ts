/**
 * Chapter: complex numbers. Operators, functions, variables and memory of c64 and c128, against arithmetic on the host that is
 * written here, in double precision.
 */
import {
  type Complex,
  c64,
  c128,
  cuda,
  f32,
  type f64,
  type i32,
  type Kernel,
  type Mat,
  type NDArray,
  ndarray,
  struct,
  type Vec,
} from '../src/index.ts';
import { ConformanceFailure, closeElements, rejects, same } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType } from './support.ts';
import { launch, read } from './waiting.ts';

const of = (re: number, im = 0): Complex => ({ re, im });
const plus = (a: Complex, b: Complex): Complex => of(a.re + b.re, a.im + b.im);
const minus = (a: Complex, b: Complex): Complex => of(a.re - b.re, a.im - b.im);
const times = (a: Complex, b: Complex): Complex => of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
const over = (a: Complex, b: Complex): Complex => {
  const n = b.re ** 2 + b.im ** 2;
  return of((a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n);
};
const exp = (z: Complex): Complex => of(Math.exp(z.re) * Math.cos(z.im), Math.exp(z.re) * Math.sin(z.im));
const log = (z: Complex): Complex => of(Math.log(Math.hypot(z.re, z.im)), Math.atan2(z.im, z.re));
const I = of(0, 1);
const half = (z: Complex): Complex => of(z.re / 2, z.im / 2);
const sqrt = (z: Complex): Complex => {
  const s = Math.sqrt((Math.hypot(z.re, z.im) + Math.abs(z.re)) / 2);
  const d = Math.abs(z.im) / (2 * s);
  const sign = z.im < 0 || Object.is(z.im, -0) ? -1 : 1;
  return z.re >= 0 ? of(s, sign * d) : of(d, sign * s);
};
const sinh = (z: Complex): Complex => half(minus(exp(z), exp(of(-z.re, -z.im))));
const cosh = (z: Complex): Complex => half(plus(exp(z), exp(of(-z.re, -z.im))));
const asinh = (z: Complex): Complex => log(plus(z, sqrt(plus(times(z, z), of(1)))));
const atanh = (z: Complex): Complex => half(minus(log(plus(of(1), z)), log(of(1 - z.re, -z.im))));
const turned = (f: (z: Complex) => Complex, z: Complex): Complex => {
  const { re, im } = f(times(I, z));
  return of(im, -re);
};

/** Whole numbers and halves: products and sums of them are exact in f32. */
const POINTS: readonly Complex[] = [
  of(1, 2),
  of(-3, 0.5),
  of(0.25, -4),
  of(-1, -1),
  of(2, 0),
  of(0, -3),
  of(5, 5),
  of(-0.5, 1),
];
const DTYPES = [c64, c128] as const;

function arrayOf(dtype: (typeof DTYPES)[number], points: readonly Complex[] = POINTS) {
  return cuda.toDevice(ndarray(points as Complex[], { dtype: dtype as typeof c64 }));
}

function near(actual: Complex, expected: Complex, tolerance: number, what: string): void {
  const error = Math.hypot(actual.re - expected.re, actual.im - expected.im);
  if (!(error <= tolerance * Math.hypot(expected.re, expected.im)))
    throw new ConformanceFailure(`${what}: ${actual.re} + ${actual.im}i instead of ${expected.re} + ${expected.im}i`);
}

async function numbers(a: object): Promise<readonly Complex[]> {
  return ((await read(a as never)) as unknown as NDArray<c64, 1>).toArray();
}

/** Runs a kernel over the points in both precisions; `expected` says what each gives. */
async function maps(
  kernel: Kernel<[z: Vec<c64>, o: Vec<c64>]>,
  expected: (z: Complex, i: number) => Complex,
  digits: readonly [number, number] = [0, 0],
): Promise<void> {
  await eachType(DTYPES.entries(), async ([k, dtype]) => {
    const o = cuda.deviceArray(POINTS.length, dtype as typeof c64);
    await launch(kernel, { grid: 1, block: 32 }, arrayOf(dtype) as never, o);
    const found = await numbers(o);
    for (const [i, z] of found.entries())
      near(z, expected(POINTS[i] as Complex, i), digits[k] ?? 0, `${dtype.name} ${i}`);
  });
}

/** Several ulps of f32 and of f64. */
const FEW = [2e-6, 4e-15] as const;

export const complexNumbers: readonly ConformanceTest[] = chapter('complex numbers', {
  'sums, differences, products': () =>
    maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i < z.length) o[i] = z[i] * z[7 - i] + z[i] - z[3] * -z[i] + z[i] ** 3;
      }),
      (z, i) => {
        const last = times(POINTS[3] as Complex, of(-z.re, -z.im));
        return plus(minus(plus(times(z, POINTS[7 - i] as Complex), z), last), times(z, times(z, z)));
      },
    ),
  'real and integer operands': () =>
    maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i < z.length) o[i] = (2 * z[i] + i - 3) * 0.5 - (1 - z[i]) + z[i] / 4;
      }),
      (z, i) => plus(minus(times(plus(times(of(2), z), of(i - 3)), of(0.5)), minus(of(1), z)), of(z.re / 4, z.im / 4)),
    ),
  'quotients and negative powers': () =>
    maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i < z.length) o[i] = z[7 - i] / z[i] + 3 / z[i] + z[i] ** -2;
      }),
      (z, i) => plus(plus(over(POINTS[7 - i] as Complex, z), over(of(3), z)), over(of(1), times(z, z))),
      FEW,
    ),
  'quotients of any size, by zero, of infinities': () =>
    eachType(DTYPES, async (dtype) => {
      const kernel = cuda.jit((a: Vec<c128>, b: Vec<c128>, o: Vec<c128>) => {
        const i = cuda.grid(1);
        if (i < o.length) o[i] = a[i] / b[i];
      });
      const [big, inf] = [2 ** (dtype === c64 ? 100 : 1000), Number.POSITIVE_INFINITY];
      const cases: readonly (readonly [Complex, Complex, Complex])[] = [
        [of(big, big), of(big, big), of(1, 0)],
        [of(1 / big, 2 / big), of(1 / big, 0), of(1, 2)],
        [of(big, 0), of(0, big), of(0, -1)],
        [of(1, 0), of(0, 0), of(inf, Number.NaN)],
        [of(-1, 1), of(0, 0), of(-inf, inf)],
        [of(inf, 1), of(1, 1), of(inf, -inf)],
        [of(1, 1), of(inf, inf), of(0, 0)],
      ];
      const o = cuda.deviceArray(cases.length, dtype as typeof c128);
      const side = (k: 0 | 1) =>
        arrayOf(
          dtype,
          cases.map((one) => one[k]),
        ) as never;
      await launch(kernel, { grid: 1, block: 32 }, side(0), side(1), o);
      const found = await numbers(o);
      same(
        found.map(({ re, im }) => `${re} ${im + 0}`).join(),
        cases.map(([, , { re, im }]) => `${re} ${im + 0}`).join(),
        dtype.name,
      );
    }),
  'exponential, logarithm, square root, power': () =>
    maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i < z.length) o[i] = Math.exp(z[i]) + Math.log(z[i]) * Math.sqrt(z[i]) + z[i] ** 0.5 + z[i] ** (z[2] / 4);
      }),
      (z) => {
        const w = over(POINTS[2] as Complex, of(4));
        return plus(plus(exp(z), times(log(z), sqrt(z))), plus(sqrt(z), exp(times(w, log(z)))));
      },
      [2e-5, 4e-14],
    ),
  'hyperbolic and trigonometric functions': async () => {
    await maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i < z.length) o[i] = Math.sinh(z[i]) * Math.cosh(z[i]) + Math.tanh(z[i]);
      }),
      (z) => plus(times(sinh(z), cosh(z)), over(sinh(z), cosh(z))),
      FEW,
    );
    await maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i < z.length) o[i] = Math.sin(z[i]) * Math.cos(z[i]) + Math.tan(z[i]);
      }),
      (z) => {
        const [s, c] = [turned(sinh, z), cosh(times(I, z))];
        return plus(times(s, c), over(s, c));
      },
      FEW,
    );
  },
  'inverse functions': async () => {
    const kernel = cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
      const i = cuda.grid(1);
      // Beside the branch cuts, not on them.
      const w = z[i % 8] + c64(0.125, 0.375);
      if (i < z.length) o[i] = Math.asinh(w) + Math.asin(w) + Math.acos(w) + Math.atan(w) * Math.atanh(w);
    });
    await maps(
      kernel,
      // asin + acos is π/2.
      (z) => {
        const w = plus(z, of(0.125, 0.375));
        return plus(plus(asinh(w), of(Math.PI / 2)), times(turned(atanh, w), atanh(w)));
      },
      [2e-5, 4e-14],
    );
    await maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i < z.length) o[i] = Math.cosh(Math.acosh(z[i]));
      }),
      (z) => z,
      [2e-5, 4e-14],
    );
  },
  'both sides of branch cuts': async () => {
    const points = [of(-4, 0), of(-4, -0)];
    const wide = cuda.jit((z: Vec<c128>, o: Vec<f64>) => {
      const i = cuda.grid(1);
      if (i >= z.length) return;
      const root: c128 = Math.sqrt(z[i]);
      const log: c128 = Math.log(z[i]);
      o[4 * i] = root.im;
      o[4 * i + 1] = log.im;
      o[4 * i + 2] = c128(Math.acos(z[i])).im;
      o[4 * i + 3] = c128(Math.atanh(z[i])).im;
    });
    const narrow = cuda.jit((z: Vec<c64>, o: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i >= z.length) return;
      const root: c64 = Math.sqrt(z[i]);
      const log: c64 = Math.log(z[i]);
      o[4 * i] = root.im;
      o[4 * i + 1] = log.im;
      o[4 * i + 2] = c64(Math.acos(z[i])).im;
      o[4 * i + 3] = c64(Math.atanh(z[i])).im;
    });
    await eachType(DTYPES, async (dtype) => {
      const o = cuda.deviceArray(8, dtype === c64 ? 'f32' : ('f64' as never));
      await launch((dtype === c64 ? narrow : wide) as never, { grid: 1, block: 32 }, arrayOf(dtype, points), o);
      const signs = [...(await read(o))].map((x) => Math.sign(x));
      same(signs.join(), [1, 1, -1, 1, -1, -1, 1, -1].join(), dtype.name);
    });
  },
  'size, direction, conjugate, parts': () =>
    maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        const n: c64 = i;
        if (i < z.length)
          o[i] = cuda.polar(Math.abs(z[i]), cuda.arg(z[i])) - cuda.conj(z[i]) + c64(z[i].im, z[i].re) + n.re + n.im;
      }),
      (z, i) => plus(plus(of(0, 2 * z.im), of(z.im, z.re)), of(i)),
      FEW,
    ),
  'variables that become complex, choices, functions': () => {
    const larger = (a: number, b: number) => (Math.abs(a) > Math.abs(b) ? a : b);
    const inverse = (a: number) => {
      if (a === 0) return 0;
      return 1 / a;
    };
    return maps(
      cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i >= z.length) return;
        let sum = 0;
        let w = z[i];
        for (let k = 0; k < 3; k++) {
          sum += w;
          w = k > 0 ? w * z[1] : 2;
        }
        sum -= i % 2 === 0 ? w : 1;
        if (sum !== 0) sum *= 2;
        o[i] = larger(sum, z[i]) + inverse(inverse(z[i])) + inverse(2);
      }),
      (z, i) => {
        const p = POINTS[1] as Complex;
        const w = times(times(of(2), p), p);
        const first = plus(plus(z, of(2)), times(of(2), p));
        const sum = times(of(2), minus(first, i % 2 === 0 ? w : of(1)));
        const found = Math.hypot(sum.re, sum.im) > Math.hypot(z.re, z.im) ? sum : z;
        return plus(plus(found, z), of(0.5));
      },
      FEW,
    );
  },
  'sums over arrays, and numbers that are there from some round on': async () => {
    const kernel = cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
      let largest: number | undefined;
      let sum = 0;
      for (const w of z) {
        if (largest === undefined || Math.abs(w) > Math.abs(largest)) largest = w;
        sum += w;
      }
      o[0] = largest ?? 0;
      o[1] = sum;
    });
    const o = cuda.deviceArray(2, c64);
    await launch(kernel as never, { grid: 1, block: 1 }, arrayOf(c64), o);
    const sum = POINTS.reduce(plus);
    same(JSON.stringify(await numbers(o)), JSON.stringify([POINTS[6], sum]));
  },
  'elements are values: swaps, compound assignment, parts': async () => {
    const kernel = cuda.jit((z: Vec<c64>) => {
      const t = z[0];
      z[0] = z[1];
      z[1] = t;
      [z[2], z[3]] = [z[3], z[2]];
      z[4] *= z[4];
      z[5].re = 7;
      z[6] = c64(z[6].im, -z[6].re);
      const { re, im } = z[7];
      z[7] = 5;
      z[7] += c64(im, re);
    });
    await eachType(DTYPES, async (dtype) => {
      const z = arrayOf(dtype);
      await launch(kernel, { grid: 1, block: 1 }, z);
      same(
        JSON.stringify(await numbers(z)),
        JSON.stringify([POINTS[1], POINTS[0], POINTS[3], POINTS[2], of(4), of(7, -3), of(5, -5), of(6, -0.5)]),
      );
    });
  },
  'equality and truth': async () => {
    const kernel = cuda.jit((z: Vec<c64>, o: Vec<i32>) => {
      const first = z[0];
      o[0] = z[0] === first ? 1 : 0;
      o[1] = z[0] === z[1] ? 1 : 0;
      o[2] = z[4] === 2 && 2 === z[4] ? 1 : 0;
      o[3] = z[0] !== 1 ? 1 : 0;
      o[4] = z[0] - z[0] ? 1 : 0;
      o[5] = !z[5] ? 0 : 1;
      o[6] = Number.isNaN(z[0] / (z[0] - z[0]) - z[4] / (z[1] - z[1])) ? 1 : 0;
      o[7] = Number.isFinite(z[0]) ? 1 : 0;
    });
    const o = cuda.deviceArray(8, 'i32');
    await launch(kernel, { grid: 1, block: 1 }, arrayOf(c64), o);
    same([...(await read(o))].join(), '1,0,1,1,0,1,1,1');
  },
  'shared, local and constant arrays, captured numbers': () =>
    eachType(DTYPES, (captured) => {
      const w = captured(0, 1) as c128;
      const table = ndarray(POINTS as Complex[], { dtype: c64 }) as NDArray<c64, 1>;
      return maps(
        cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
          const tile = cuda.shared.array(8, c64);
          const own = cuda.local.array(2, c64);
          const i = cuda.grid(1);
          if (i < z.length) tile[i] = z[i] * w;
          cuda.syncThreads();
          if (i >= z.length) return;
          for (let k = 0; k < 2; k++) own[k] = tile[(i + k) % 8] + cuda.const.arrayLike(table)[i];
          o[i] = own[0] * own[1];
        }),
        (z, i) => {
          const next = POINTS[(i + 1) % 8] as Complex;
          return times(plus(times(z, I), z), plus(times(next, I), z));
        },
      );
    }),
  'members of structs': async () => {
    const Wave = struct({ at: f32, z: c64 });
    const kernel = cuda.jit((p: Vec<typeof Wave>, o: Vec<c64>) => {
      const { at, z } = p[0];
      p[0].z = z * z;
      p[1] = { at: 2, z: p[0].z + at };
      p[1].z *= 2;
      o[0] = p[1].z - p[0].z;
    });
    const p = cuda.toDevice(ndarray([1, 2].map((at) => ({ at, z: of(1, 2) })) as never, { dtype: Wave }));
    const o = cuda.deviceArray(1, c64);
    await launch(kernel as never, { grid: 1, block: 1 }, p, o);
    same(JSON.stringify(await numbers(o)), JSON.stringify([of(-1, 4)]));
  },
  'arguments: objects, stated types, signatures': async () => {
    const body = (z: Vec<c64>, w: c64, o: Vec<c64>) => {
      const i = cuda.grid(1);
      if (i < z.length) o[i] = z[i] * w + w.re;
    };
    const w = of(0.5, -2);
    const expected = POINTS.map((z) => plus(times(z, w), of(0.5)));
    await eachType(DTYPES, async (dtype) => {
      const [z, name] = [arrayOf(dtype) as never, dtype.name];
      const kernels = [
        cuda.jit(body),
        cuda.jit(body, { signature: `void(${name}[:], ${dtype === c64 ? 'complex64' : 'complex128'}, ${name}[::1])` }),
      ];
      for (const [k, given] of [w, cuda.scalar(dtype as typeof c64, w)].entries()) {
        const o = cuda.deviceArray(POINTS.length, dtype as typeof c64);
        await launch(kernels[k] as never, { grid: 1, block: 32 }, z, given, o);
        await launch(kernels[1] as never, { grid: 1, block: 32 }, z, given, o);
        same(JSON.stringify(await numbers(o)), JSON.stringify(expected));
      }
      await rejects(
        () => launch(kernels[1] as never, { grid: 1, block: 32 }, z, 2, cuda.deviceArray(8, dtype)),
        /is a number, and .* wants c\d+: pass \{ re, im \}/,
      );
    });
  },
  'atomic sums, shuffles, selection': async () => {
    const kernel = cuda.jit((z: Vec<c64>, o: Vec<c64>) => {
      const i = cuda.grid(1);
      const own = z[i % 8];
      cuda.atomic.add(o, 0, own);
      cuda.atomic.sub(o, 1, own * c64(0, 1));
      const next = cuda.shflDownSync(0xffffffff, own, 1);
      if (i === 0) o[2] = next;
      if (i === 1) o[3] = cuda.selp(i === 1, own, 0);
    });
    const o = cuda.toDevice(ndarray([of(0), of(0), of(0), of(0)], { dtype: c64 }));
    await launch(kernel as never, { grid: 1, block: 32 }, arrayOf(c64), o);
    const sum = POINTS.reduce((a, z) => plus(a, times(of(4), z)));
    const total = plus(sum, times(of(3), POINTS[0] as Complex));
    const turned90 = times(of(0, -1), total);
    same(JSON.stringify(await numbers(o)), JSON.stringify([total, turned90, POINTS[1], POINTS[1]]));
  },
  'what has no meaning': async () => {
    const wrong: readonly (readonly [(z: Vec<c64>, o: Vec<f32>) => void, RegExp])[] = [
      [
        (z, o) => {
          o[0] = z[0] < z[1] ? 1 : 0;
        },
        /no order[\s\S]*Math\.abs/,
      ],
      [
        (z, o) => {
          o[0] = z[0];
        },
        /is complex[\s\S]*z\.re/,
      ],
      [
        (z, o) => {
          o[0] = Math.abs(z[0] % z[1]);
        },
        /%/,
      ],
      [
        (z, o) => {
          o[0] = Math.floor(z[0]);
        },
        /Math\.floor does not take complex/,
      ],
      [
        (z, o) => {
          o[0] = o[z[0]];
        },
        /an index, but this is complex/,
      ],
    ];
    for (const [body, message] of wrong) {
      await rejects(
        () => launch(cuda.jit(body), { grid: 1, block: 1 }, arrayOf(c64), cuda.deviceArray(1, 'f32')),
        message,
      );
    }
  },
  'fill, sum, prod and mean': async () => {
    const kernel = cuda.jit((z: Vec<c64>, m: Mat<c64>) => {
      const own = cuda.local.array(3, c64);
      own.fill(c64(1, 2));
      for (let i = 1; i < 3; i++) own[i] = c64(i, 1);
      z[0] = own.sum();
      z[1] = own.prod();
      z[2] = own.mean();
      m.fill(c64(0.5, -1));
      m[1].fill(c64(3, 4), 1);
      z[3] = m.sum() as never;
      z[4] = m[1].mean();
    });
    const [z, m] = [cuda.deviceArray(5, c64), cuda.deviceArray([2, 2], c64)];
    await launch(kernel, { grid: 1, block: 1 }, z, m);
    const found = await numbers(z as never);
    closeElements(
      found.flatMap(({ re, im }: Complex) => [re, im]),
      [4, 4, -5, 5, 4 / 3, 4 / 3, 4.5, 1, 1.75, 1.5],
      1e-6,
    );
  },
});
