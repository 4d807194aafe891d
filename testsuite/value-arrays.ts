/**
 * Chapter: arrays of values of several numbers: complex numbers, vectors and objects in literals and captured arrays, indexed by variables,
 * stored to, gone through; and vectors as arguments, captured values and fields.
 */
import {
  type c64,
  type c128,
  c64 as complex64,
  cuda,
  type f32,
  f32x2,
  f32x4,
  type f64,
  i32x2,
  u8x4,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType } from './support.ts';
import { launch, read } from './waiting.ts';

const N = 12;
const ROOTS = [complex64(1, 0), complex64(0, 1), complex64(-1, 0), complex64(0, -1)];
const CORNERS = [f32x2(0, 0), f32x2(1, 0), f32x2(1, 2), f32x2(0, 2)];
const PALETTE = [u8x4(255, 0, 0, 255), u8x4(0, 250, 0, 128), u8x4(1, 2, 3, 4)];
const BODIES = [
  { mass: 2, at: f32x2(1, -1), spin: complex64(0, 1) },
  { mass: 3, at: f32x2(5, 7), spin: complex64(0.5, 0) },
  { mass: 4, at: f32x2(-2, 0), spin: complex64(2, -1) },
];

/** Types of results, which are whole numbers, and what fractions in the kernels are. */
const RESULTS = [
  [Float64Array, {}],
  [Int32Array, { defaultFloat: 'f32' }],
] as const;

/** What a kernel gives for each thread. */
function numbers(body: (k: number) => number, expected: (k: number) => number): () => Promise<void> {
  return () =>
    eachType(RESULTS, async ([Elements, options]) => {
      const kernel = cuda.jit((y: Vec<f64>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(k);
      }, options);
      const y = cuda.toDevice(new Elements(N) as Float64Array);
      await launch(kernel, { threads: N }, y);
      sameElements(
        await read(y),
        Array.from({ length: N }, (_, k) => expected(k) + 0),
        `${Elements.name}, thread`,
      );
    });
}

/** A kernel that is refused. */
function refused(body: (k: number) => number, message: RegExp, code: string): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((y: Vec<f64>) => {
      y[0] = body(cuda.grid(1));
    });
    const y = cuda.deviceArray(1, 'f64');
    await rejects(() => launch(kernel, { grid: 1, block: 1 }, y), message, code);
  };
}

/** Several multiples of a quarter as one number, modulo 2 ** 32. */
const all = (...parts: number[]): number => {
  let sum = 0;
  for (const part of parts) sum = (Math.imul(sum, 0x9e3779b1) + ((part * 4) | 0)) | 0;
  return sum;
};

const square = (x: number): number => x * x;

export const valueArrays: readonly ConformanceTest[] = chapter('arrays of values', {
  'complex literals': numbers(
    (k) => {
      const z = [complex64(1, 2), complex64(3, -4), complex64(5, 6)];
      const w = z[k % 3]! * z[(k + 1) % 3]!;
      return (w as c64).re * 100 + (w as c64).im;
    },
    (k) => {
      const z = [
        [1, 2],
        [3, -4],
        [5, 6],
      ] as const;
      const [[a, b], [c, d]] = [z[k % 3]!, z[(k + 1) % 3]!];
      return (a * c - b * d) * 100 + a * d + b * c;
    },
  ),
  'complex numbers that only a thread knows, and real ones among them': numbers(
    (k) => {
      const z: c128[] = [k, complex64(k, 1), 7, complex64(0.5, -k)];
      const w = z[(k * 3) % 4]!;
      return w.re * 100 + w.im;
    },
    (k) => {
      const z = [
        [k, 0],
        [k, 1],
        [7, 0],
        [0.5, -k],
      ];
      const [re = 0, im = 0] = z[(k * 3) % 4]!;
      return re * 100 + im;
    },
  ),
  'complex numbers that are stored to': numbers(
    (k) => {
      const z = [complex64(0, 0), complex64(0, 0), complex64(1, 1)];
      for (let j = 0; j < 6; j++) z[j % 3] = z[j % 3]! * complex64(0, 1) + complex64(j, k);
      z[k % 3]!.im = 5;
      return all(z[0]!.re, z[0]!.im, z[1]!.re, z[1]!.im, z[2]!.re, z[2]!.im);
    },
    (k) => {
      const z = [
        [0, 0],
        [0, 0],
        [1, 1],
      ];
      for (let j = 0; j < 6; j++) z[j % 3] = [-z[j % 3]![1]! + j, z[j % 3]![0]! + k];
      z[k % 3]![1] = 5;
      return all(...z.flat());
    },
  ),
  'captured complex numbers': numbers(
    (k) => {
      const z = ROOTS[k % 4]!;
      let s = complex64(0, 0);
      for (const r of ROOTS) s += r * z;
      for (let j = 0; j <= k; j++) s += ROOTS[j & 3]! * 2;
      return 10 * s.re + s.im;
    },
    (k) => {
      const at = (j: number) => [1, 0, -1, 0][j & 3]!;
      let [re, im] = [0, 0];
      for (let j = 0; j <= k; j++) {
        re += 2 * at(j);
        im += 2 * at(j + 3);
      }
      return 10 * re + im;
    },
  ),
  'an array of complex numbers: filled, mapped, summed, copied, of a length above 64': numbers(
    (k) => {
      const z = new Array(4).fill(complex64(1, 2));
      z[k % 4] = complex64(k, 0);
      const w = z.map((v) => v * complex64(0, 1));
      const s = w.reduce((a, v) => a + v, complex64(0, 0)) as c64;
      const large = new Array(100).fill(complex64(k, 3));
      large[k] = complex64(-1, -1);
      const t = large.slice(0, 12).reduce((a, v) => a + v, complex64(0, 0)) as c64;
      return all(s.re, s.im, t.re, t.im);
    },
    (k) => all(-6, 3 + k, 11 * k - 1, 32),
  ),
  'their type is that of the casts': () =>
    eachType([Float64Array, Float32Array], async (Elements) => {
      const kernel = cuda.jit(
        (y: Vec<f64>) => {
          const k = cuda.grid(1);
          const z = [complex64(0.1, 1e-9), complex64(0.3, 1 + k / 3)];
          y[k] = z[k % 2]!.re;
        },
        Elements === Float32Array ? { defaultFloat: 'f32' } : {},
      );
      const y = cuda.toDevice(new Elements(2) as Float64Array);
      await launch(kernel, { grid: 1, block: 2 }, y);
      sameElements(await read(y), [Math.fround(0.1), Math.fround(0.3)], 'thread');
    }),
  'vector literals': numbers(
    (k) => {
      const v = [i32x2(1, 2), i32x2(30, 40), i32x2(500, -600)];
      const w = v[k % 3]! + v[(k + 1) % 3]! * 2;
      return (w as i32x2).x * 10000 + (w as i32x2).y;
    },
    (k) => {
      const [x, y] = [
        [1, 30, 500],
        [2, 40, -600],
      ] as const;
      const at = (v: readonly number[]) => v[k % 3]! + v[(k + 1) % 3]! * 2;
      return at(x) * 10000 + at(y);
    },
  ),
  'vectors that only a thread knows, and that are stored to': numbers(
    (k) => {
      const v = [f32x4(k), f32x4(1, 2, 3, k), f32x4(0)];
      for (let j = 0; j < 5; j++) v[(j + k) % 3] += f32x4(j, 1, 0, 2);
      v[k % 3]!.z = 9;
      let s = f32x4(0);
      for (const w of v) s = s * 3 + w;
      return all(s.x, s.y, s.z, s.w);
    },
    (k) => {
      const v = [
        [k, k, k, k],
        [1, 2, 3, k],
        [0, 0, 0, 0],
      ];
      for (let j = 0; j < 5; j++) v[(j + k) % 3] = v[(j + k) % 3]!.map((x, n) => x + [j, 1, 0, 2][n]!);
      v[k % 3]![2] = 9;
      const s = [0, 1, 2, 3].map((n) => v.reduce((a, w) => a * 3 + w[n]!, 0));
      return all(...s);
    },
  ),
  'captured vectors, single and in arrays': numbers(
    (k) => {
      const v = CORNERS[k % 4]! * 2 + CORNERS[2]!;
      const c = PALETTE[k % 3]!;
      return all((v as f32x2).x, (v as f32x2).y, c.x, c.w);
    },
    (k) => {
      const [x, y] = [[0, 1, 1, 0][k % 4]!, [0, 0, 2, 2][k % 4]!];
      return all(2 * x + 1, 2 * y + 2, [255, 0, 1][k % 3]!, [255, 128, 4][k % 3]!);
    },
  ),
  'rows of vectors': numbers(
    (k) => {
      const m = [
        [f32x2(1, 2), f32x2(3, 4)],
        [f32x2(5, k), f32x2(7, 8)],
      ];
      const v = m[k % 2]![(k >> 1) % 2]!;
      return v.x * 100 + v.y;
    },
    (k) => {
      const [x, y] = [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [5, k],
          [7, 8],
        ],
      ][k % 2]![(k >> 1) % 2]! as [number, number];
      return x * 100 + y;
    },
  ),
  'objects with vectors and complex numbers': numbers(
    (k) => {
      const b = BODIES[k % 3]!;
      const z = b.spin * complex64(0, 2);
      const points = [
        { at: f32x2(k, 1), w: 2 },
        { at: f32x2(3, k), w: 5 },
      ];
      let s = f32x2(0);
      for (let j = 0; j < 3; j++) s += points[(j + k) % 2]!.at * points[j % 2]!.w;
      return all(b.mass * b.at.x + b.at.y, (z as c64).re, s.x, s.y);
    },
    (k) => {
      const b = [
        [2, 1, -1, -2],
        [3, 5, 7, 0],
        [4, -2, 0, 2],
      ][k % 3]!;
      const at = [
        [k, 1],
        [3, k],
      ];
      const s = [0, 1].map((n) => [0, 1, 2].reduce((a, j) => a + at[(j + k) % 2]![n]! * [2, 5][j % 2]!, 0));
      return all(b[0]! * b[1]! + b[2]!, b[3]!, s[0]!, s[1]!);
    },
  ),
  'one of two arrays of values': numbers(
    (k) => {
      const a = [complex64(1, 2), complex64(3, k)];
      const b = [complex64(5, 6), complex64(k, 8)];
      const chosen = k % 3 === 0 ? a : b;
      chosen[0] = complex64(k, k);
      const z = chosen[k % 2]!;
      return all(z.re, z.im, a[0]!.re, a[0]!.im, b[0]!.re, b[0]!.im);
    },
    (k) => {
      const a = [
        [1, 2],
        [3, k],
      ];
      const b = [
        [5, 6],
        [k, 8],
      ];
      const chosen = k % 3 === 0 ? a : b;
      chosen[0] = [k, k];
      return all(...chosen[k % 2]!, ...a[0]!, ...b[0]!);
    },
  ),
  'vectors as arguments: plain, in objects and in arrays, by signature, stated; a launch with others': () =>
    eachType(['f64', 'f32'] as const, async (type) => {
      const kernel = cuda.jit(
        (y: Vec<f64>, v: f32x4, o: { readonly step: i32x2; readonly list: readonly [f32x2, f32x2] }, n: number) => {
          const k = cuda.grid(1);
          if (k >= y.length) return;
          const w = v * n + 1;
          const s = o.list[0] + o.list[1] * 2;
          y[k] = (w as f32x4).x + 10 * (w as f32x4).w + 100 * o.step.y + 1000 * (s as f32x2).y;
        },
      );
      const y = cuda.deviceArray(N, type as 'f64');
      let hits = 0;
      for (const w of [4, 0.5]) {
        hits = kernel.stats.hits;
        await launch(
          kernel,
          { threads: N },
          y,
          f32x4(1, 2, 3, w),
          { step: i32x2(7, 8), list: [f32x2(1, 2), f32x2(3, 4)] },
          2,
        );
        sameElements(await read(y), new Array<number>(N).fill(3 + 10 * (2 * w + 1) + 800 + 10000), 'thread');
      }
      same(kernel.stats.hits - hits, 1, 'the second launch finds the code of the first');
      const signed = cuda.jit((y: Vec<f64>, v: i32x2) => void (y[0] = ((v + v) as i32x2).x * v.y), {
        signature: `void(${type}[:], int32x2)`,
      });
      await launch(signed, { grid: 1, block: 1 }, y, i32x2(3, 4));
      same((await read(y))[0], 24, 'signature');
      await launch(signed, { grid: 1, block: 1 }, y, { x: 5, y: 6 } as unknown as i32x2);
      same((await read(y))[0], 60, 'an object of its lanes');
      await rejects(
        () => launch(signed, { grid: 1, block: 1 }, y, f32x2(3, 4) as unknown as i32x2),
        /vector f32x2.*wants i32x2/s,
      );
      const plain = cuda.jit((y: Vec<f64>, v: f32x2) => void (y[0] = ((v * 3) as f32x2).x));
      await launch(plain, { grid: 1, block: 1 }, y, cuda.scalar(f32x2, { x: 0.1, y: 0 }));
      same((await read(y))[0], Math.fround(Math.fround(0.1) * 3), 'stated');
      await rejects(() => launch(plain, { grid: 1, block: 1 }, y, { x: 1, y: 2 } as unknown as f32x2), /K221|K223/);
      throws(() => cuda.jit(() => {}, { signature: 'void(f32x5)' }), /f32x5/);
    }),
  'a device function takes and gives vectors': numbers(
    (k) => {
      const turn = (v: f32x2): f32x2 => f32x2(-v.y, v.x);
      let v = f32x2(k, 1);
      for (let j = 0; j < k; j++) v = turn(v) + f32x2(square(j), 0);
      return v.x * 1000 + v.y;
    },
    (k) => {
      let [x, y] = [k, 1];
      for (let j = 0; j < k; j++) [x, y] = [-y + j * j, x];
      return x * 1000 + y;
    },
  ),
  'vectors in shared memory': async () => {
    const kernel = cuda.jit((y: Vec<f32>) => {
      const k = cuda.threadIdx.x;
      const tile = cuda.shared.array(N, f32x4);
      tile[k] = f32x4(k, 2 * k, 1, 0);
      cuda.syncThreads();
      const v = tile[N - 1 - k]! + tile[k]!;
      y[k] = (v as f32x4).x + 100 * (v as f32x4).y + 1e4 * (v as f32x4).z;
    });
    const y = cuda.deviceArray(N, 'f32');
    await launch(kernel, { grid: 1, block: N }, y);
    sameElements(await read(y), new Float32Array(N).fill(11 + 2200 + 20000), 'thread');
  },
  'an index outside is an error': async () => {
    if (!cuda.currentContext().info.features.hostCanWait) return;
    const kernel = cuda.jit(
      (y: Vec<f64>) => {
        const k = cuda.grid(1);
        y[k] = CORNERS[k + 3]!.x;
      },
      { boundsCheck: true },
    );
    const y = cuda.deviceArray(2, 'f64');
    await rejects(async () => {
      await launch(kernel, { grid: 1, block: 2 }, y);
      await read(y);
    }, /out of (?:range|bounds)/);
  },
  'vectors of two types in one array are refused': refused(
    (k) => ([f32x2(1, 2), i32x2(3, 4)] as f32x2[])[k & 1]!.x,
    /K239: an array that holds a vector .* cannot be indexed/,
    'K239',
  ),
});
