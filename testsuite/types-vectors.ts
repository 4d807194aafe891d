/**
 * Chapter: vectors. Values of two, three and four lanes in arrays, variables, structs and functions; operators and functions lane by lane, against
 * the same arithmetic on single numbers of the host; wide loads and stores wherever a vector may begin.
 */
import {
  bf16x4,
  cuda,
  type DeviceNDArray,
  type DType,
  f16x2,
  f16x4,
  f32,
  f32x2,
  f32x3,
  f32x4,
  f64x2,
  f64x4,
  i8x4,
  i16x2,
  i32,
  i32x2,
  i32x4,
  i64x2,
  type Mat,
  ndarray,
  type Struct,
  struct,
  u8x4,
  u16x4,
  u32x3,
  u32x4,
  u64x4,
  type Vec,
} from '../src/index.ts';
import { elementsOf as elementsIn, rejects, same, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read, settled } from './waiting.ts';

const N = 45;

type Lane = number | bigint;
type Lanes = Record<string, Lane>;
type Round = (x: Lane) => Lane;

/** A vector type of any lanes, as the tests use it. */
interface Token {
  readonly name: string;
  readonly lane: unknown;
  readonly fields: readonly { readonly name: string }[];
}

const TYPES: readonly Token[] = [
  ...[f32x2, f32x3, f32x4, f64x2, f64x4, i32x2, i32x4, u32x3, u32x4, i8x4, u8x4, i16x2, u16x4, i64x2, u64x4],
  ...[f16x2, f16x4, bf16x4],
];

/** Elements whose sums and products all floats but the narrowest hold exactly. */
function elementsOf(type: Token, seed: number): Lanes[] {
  const big = /^[iu]64/.test(type.name);
  return Array.from({ length: N }, (_, k) =>
    Object.fromEntries(
      type.fields.map(({ name }, lane) => {
        const n = ((k * 7 + lane * 5 + seed) % 23) - (type.name.startsWith('u') ? 0 : 11);
        return [name, big ? BigInt(n) * 12345678901n : n * (type.name.startsWith('f') ? 0.25 : 1)];
      }),
    ),
  ).map((v) => (type.name.startsWith('u64') ? mapLanes(v, (x) => BigInt.asUintN(64, x as bigint)) : v));
}

function mapLanes(v: Lanes, f: (x: Lane, name: string) => Lane): Lanes {
  return Object.fromEntries(Object.entries(v).map(([name, x]) => [name, f(x, name)]));
}

/** What a lane makes of a result: integers wrap, floats round. */
function rounding({ name, lane }: Token): Round {
  const bits = Number(/\d+/.exec(name)?.[0]);
  if (!/^[iu]/.test(name)) return lane as Round;
  const wrap = name.startsWith('u') ? BigInt.asUintN : BigInt.asIntN;
  return (x) => (typeof x === 'bigint' ? wrap(bits, x) : Number(wrap(bits, BigInt(x))));
}

/** JavaScript's operator on numbers or on bigints. */
function exact(op: '+' | '-' | '*', a: Lane, b: Lane): Lane {
  if (typeof a === 'bigint' && typeof b === 'bigint') return op === '+' ? a + b : op === '-' ? a - b : a * b;
  const [x, y] = [Number(a), Number(b)];
  return op === '+' ? x + y : op === '-' ? x - y : x * y;
}

/** Compares values of any depth; zeros of both signs are the same here. */
function alike(actual: unknown, expected: unknown, what: string): void {
  const text = (x: unknown): string => JSON.stringify(x, (_, v) => (typeof v === 'bigint' ? `${v}n` : v));
  same(text(actual), text(expected), what);
}

const asDType = (type: Token): DType<f32x4> => type as unknown as DType<f32x4>;

function upload<T>(dtype: DType<T>, elements: readonly Lanes[]): DeviceNDArray<T, 1> {
  return cuda.toDevice(ndarray(elements as readonly object[], { dtype })) as unknown as DeviceNDArray<T, 1>;
}

async function sameVectors(array: unknown, expected: readonly Lanes[], what: string): Promise<void> {
  const got = (await read(array as never)) as unknown as { toArray(): Lanes[] };
  alike(got.toArray(), expected, what);
}

const Body = struct({ position: f32x4, velocity: f32x3, mass: f32 }, { align: true });

export const vectorTypes: readonly ConformanceTest[] = chapter('vectors', {
  'of every lane: sums, differences and products, each rounded or wrapped to the lane': async () => {
    for (const type of TYPES) {
      const [a, b] = [elementsOf(type, 3), elementsOf(type, 14)];
      const round = rounding(type);
      const expected = a.map((v, k) =>
        mapLanes(v, (x, name) => {
          const y = (b[k] as Lanes)[name] as Lane;
          return round(exact('-', round(exact('+', round(exact('*', x, y)), x)), y));
        }),
      );
      const kernel = cuda.jit((p: Vec<f32x4>, q: Vec<f32x4>, out: Vec<f32x4>) => {
        const i = cuda.grid(1);
        if (i < out.length) out[i] = p[i] * q[i] + p[i] - q[i];
      });
      const out = cuda.deviceArray(N, asDType(type));
      for (const block of type === (f32x4 as Token) ? [32, 7] : [32]) {
        await launch(kernel, { threads: N, block }, upload(asDType(type), a), upload(asDType(type), b), out);
        await sameVectors(out, expected, `${type.name} in blocks of ${block}`);
      }
    }
  },

  'numbers stand for all lanes, on either side; negation': async () => {
    const a = elementsOf(f32x4, 1);
    const kernel = cuda.jit((p: Vec<f32x4>, out: Vec<f32x4>, s: number) => {
      const i = cuda.grid(1);
      if (i < out.length) out[i] = -(2 - p[i] * s) / 4;
    });
    const out = cuda.deviceArray(N, f32x4);
    await launch(kernel, { threads: N }, upload(f32x4, a), out, 0.5);
    await sameVectors(
      out,
      a.map((v) => mapLanes(v, (x) => -(2 - Number(x) * 0.5) / 4)),
      'element',
    );
  },

  'bit operations, shifts and remainders of integers': async () => {
    const a = elementsOf(i32x4, 5);
    const kernel = cuda.jit((p: Vec<i32x4>, out: Vec<i32x4>) => {
      const i = cuda.grid(1);
      if (i < out.length) out[i] = ((p[i] << 3) ^ ~p[i]) + (p[i] % 4) + ((p[i] >> 1) & 7);
    });
    const out = cuda.deviceArray(N, i32x4);
    await launch(kernel, { threads: N }, upload(i32x4, a), out);
    const expected = a.map((v) =>
      mapLanes(v, (x) => {
        const n = Number(x);
        return (((n << 3) ^ ~n) + (n % 4) + ((n >> 1) & 7)) | 0;
      }),
    );
    await sameVectors(
      out,
      expected.map((v) => mapLanes(v, (x) => Number(x) + 0)),
      'element',
    );
  },

  'Math and intrinsics work lane by lane': async () => {
    const a = elementsOf(f32x3, 5);
    const kernel = cuda.jit((p: Vec<f32x3>, out: Vec<f32x3>) => {
      const i = cuda.grid(1);
      if (i < out.length)
        out[i] =
          cuda.fma(Math.floor(p[i]), Math.min(p[i], 1), Math.abs(p[i])) + Math.sqrt(cuda.fmax(p[i] * p[i], 4) * 0 + 4);
    });
    const out = cuda.deviceArray(N, f32x3);
    await launch(kernel, { threads: N }, upload(f32x3, a), out);
    const one = (x: number): number => Math.floor(x) * Math.min(x, 1) + Math.abs(x) + 2;
    await sameVectors(
      out,
      a.map((v) => mapLanes(v, (x) => one(Number(x)))),
      'element',
    );
    const counts = cuda.jit((p: Vec<u32x4>) => {
      p[cuda.threadIdx.x] = cuda.popc(p[cuda.threadIdx.x]);
    });
    const p = upload(u32x4, [{ x: 0, y: 255, z: 2 ** 32 - 1, w: 6 }]);
    await launch(counts, { grid: 1, block: 1 }, p);
    await sameVectors(p, [{ x: 0, y: 8, z: 32, w: 2 }], 'popc');
  },

  'variables, loops, choices and device functions keep vectors': async () => {
    const a = elementsOf(f32x4, 9);
    const length2 = (v: f32x4): number => v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    const scaled = (v: f32x4, s: number): f32x4 => {
      if (s === 0) return f32x4(0);
      return v * s;
    };
    const kernel = cuda.jit((p: Vec<f32x4>, out: Vec<f32x4>) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      let sum: f32x4 = f32x4(0);
      for (let k = 0; k < 3; k++) sum += scaled(p[i] as f32x4, k);
      const before: f32x4 = p[i] as f32x4;
      p[i] = f32x4(1, 2, 3, 4);
      const chosen: f32x4 = i % 2 === 0 ? sum : before;
      const { x, w } = chosen;
      out[i] = f32x4(x, length2(before), chosen.z, w);
    });
    const out = cuda.deviceArray(N, f32x4);
    const p = upload(f32x4, a);
    await launch(kernel, { threads: N }, p, out);
    const expected = a.map((v, k) => {
      const s = k % 2 === 0 ? 3 : 1;
      const [x, y, z, w] = ['x', 'y', 'z', 'w'].map((name) => Number(v[name])) as [number, number, number, number];
      return { x: x * s + 0, y: x * x + y * y + z * z + w * w, z: z * s + 0, w: w * s + 0 };
    });
    await sameVectors(out, expected, 'element');
    await sameVectors(
      p,
      a.map(() => ({ x: 1, y: 2, z: 3, w: 4 })),
      'stored',
    );
  },

  'compound assignment of elements, and stores to single lanes': async () => {
    const a = elementsOf(i32x2, 2);
    const kernel = cuda.jit((p: Vec<i32x2>) => {
      const i = cuda.grid(1);
      if (i >= p.length) return;
      p[i] += i32x2(1, 2);
      p[i] *= 3;
      (p[i] as i32x2).y -= (p[i] as i32x2).x;
    });
    const p = upload(i32x2, a);
    await launch(kernel, { threads: N }, p);
    await sameVectors(
      p,
      a.map(({ x, y }) => {
        const first = (Number(x) + 1) * 3;
        return { x: first, y: (Number(y) + 2) * 3 - first };
      }),
      'element',
    );
  },

  'made of numbers, of shorter vectors, of vectors of other lanes, of objects': async () => {
    const kernel = cuda.jit((out: Vec<f32x4>, whole: Vec<i32x4>) => {
      const two = f32x2(1.5, -2.5);
      out[0] = f32x4(two, 3, 4);
      out[1] = f32x4(0, two, 9);
      out[2] = f32x4(7);
      whole[0] = i32x4(f32x4(two, 1e10, Number.NaN));
      out[3] = f32x4(whole[0] as i32x4);
      whole[1] = i32x4(u8x4(250) + 10);
    });
    const [out, whole] = [cuda.deviceArray(4, f32x4), cuda.deviceArray(2, i32x4)];
    await launch(kernel, { grid: 1, block: 1 }, out, whole);
    await sameVectors(
      whole,
      [
        { x: 1, y: -2, z: 2147483647, w: 0 },
        { x: 4, y: 4, z: 4, w: 4 },
      ],
      'integers',
    );
    await sameVectors(
      out,
      [
        { x: 1.5, y: -2.5, z: 3, w: 4 },
        { x: 0, y: 1.5, z: -2.5, w: 9 },
        { x: 7, y: 7, z: 7, w: 7 },
        { x: 1, y: -2, z: 2147483648, w: 0 },
      ],
      'floats',
    );
  },

  'are equal if all lanes are': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const a: f32x2 = f32x2(1, 2);
      const bump = cuda.threadIdx.x;
      out[0] = a === f32x2(1, 2 + bump) ? 1 : 0;
      out[1] = a === f32x2(1 + bump, 3) ? 1 : 0;
      out[2] = a !== f32x2(1, 3 + bump) ? 1 : 0;
      out[3] = a !== f32x2(1 + bump, 2) ? 1 : 0;
    });
    const out = cuda.deviceArray(4, i32);
    await launch(kernel, { grid: 1, block: 1 }, out);
    alike([...((await read(out)) as Int32Array)], [1, 0, 1, 0], 'equalities');
  },

  'shared, local and constant arrays hold vectors': async () => {
    const weights = ndarray(
      [
        { x: 1, y: 2, z: 3, w: 4 },
        { x: -1, y: 0.5, z: 0.25, w: 8 },
      ],
      { dtype: f32x4 },
    );
    const a = elementsOf(f32x4, 4).slice(0, 32);
    const kernel = cuda.jit((p: Vec<f32x4>, out: Vec<f32x4>) => {
      const t = cuda.threadIdx.x;
      const tile = cuda.shared.array(32, f32x4);
      const own = cuda.local.array(2, f32x4);
      const w = cuda.const.arrayLike(weights) as unknown as Vec<f32x4>;
      tile[t] = p[t] * w[t % 2];
      for (let k = 0; k < 2; k++) own[k] = w[k] + k;
      cuda.syncThreads();
      out[t] = tile[31 - t] + own[t % 2];
    });
    const out = cuda.deviceArray(32, f32x4);
    await launch(kernel, { grid: 1, block: 32 }, upload(f32x4, a), out);
    const w = weights.toArray() as unknown as Lanes[];
    await sameVectors(
      out,
      a.map((_, t) =>
        mapLanes(a[31 - t] as Lanes, (x, name) => {
          const weight = (k: number): number => Number((w[k % 2] as Lanes)[name]);
          return Number(x) * weight(31 - t) + weight(t) + (t % 2) + 0;
        }),
      ),
      'element',
    );
  },

  'members of structs': async () => {
    type Body = Struct<typeof Body>;
    const bodies = Array.from({ length: N }, (_, k) => ({
      position: { x: k, y: 2 * k, z: -k, w: 1 },
      velocity: { x: 1, y: 0.5, z: k % 3 },
      mass: 2,
    }));
    const kernel = cuda.jit((p: Vec<Body>) => {
      const i = cuda.grid(1);
      if (i >= p.length) return;
      const b = p[i] as Body;
      const v: f32x3 = b.velocity * b.mass;
      b.position += f32x4(v, 0);
      b.velocity = v;
    });
    const p = cuda.toDevice(ndarray(bodies, { dtype: Body }));
    await launch(kernel, { threads: N }, p);
    const expected = bodies.map(({ position, velocity: v, mass }) => ({
      position: { x: position.x + 2 * v.x, y: position.y + 2 * v.y, z: position.z + 2 * v.z, w: 1 },
      velocity: { x: 2 * v.x, y: 2 * v.y, z: 2 * v.z },
      mass,
    }));
    alike(((await read(p)) as unknown as { toArray(): unknown[] }).toArray(), expected, 'bodies');
  },

  'vload and vstore: neighbours of many types, wherever they begin': async () => {
    for (const type of [f32x2, f32x3, f32x4, f64x4, i8x4, u16x4, i64x2, f16x4] as readonly Token[]) {
      const lanes = type.fields.length;
      const lane = type.lane as unknown as DType<f32>;
      const values = Array.from({ length: 8 * lanes + 3 }, (_, k) => k + 1);
      const inType = (x: number): Lane => (type.name.startsWith('i64') ? BigInt(x) : x);
      const x = cuda.toDevice(ndarray(values.map(inType) as never, { dtype: lane }));
      const y = cuda.toDevice(ndarray(values.map(() => inType(0)) as never, { dtype: lane }));
      const token = type as unknown as typeof f32x4;
      const kernel = cuda.jit(
        (a: Vec<f32>, b: Vec<f32>, offset: number) => {
          const t = cuda.threadIdx.x;
          const v = cuda.vload(a.slice([offset]), t * lanes, token);
          cuda.vstore(b, t * lanes + offset, v + v);
        },
        { boundsCheck: false },
      );
      for (const offset of [0, 1, 3]) {
        await launch(kernel, { grid: 1, block: 8 }, x as never, y as never, offset);
        const got = elementsIn((await read(y)) as never);
        const expected = values.map((v, k) => {
          if (k >= offset && k < offset + 8 * lanes) return 2 * v;
          return offset === 0 ? 0 : k < offset ? 2 * v : 0;
        });
        alike(got.map(Number), expected, `${type.name} at ${offset}`);
      }
    }
  },

  'vload and vstore: rows of matrices, shared memory, strided arrays': async () => {
    const m = Float32Array.from({ length: 64 }, (_, k) => k);
    const kernel = cuda.jit((A: Mat<f32>, out: Vec<f32>) => {
      const t = cuda.threadIdx.x;
      const tile = cuda.shared.array(32, f32);
      cuda.vstore(tile, 4 * t, cuda.vload(A[t] as Vec<f32>, 4, f32x4));
      cuda.syncThreads();
      const v: f32x2 = cuda.vload(tile, 4 * (7 - t) + 2, f32x2);
      cuda.vstore(out, 4 * t, f32x4(v, cuda.vload((A[t] as Vec<f32>).slice('::2'), 0, f32x2)));
    });
    const out = cuda.deviceArray(32, f32);
    await launch(kernel, { grid: 1, block: 8 }, cuda.toDevice(ndarray(m, { shape: [8, 8] })), out);
    const got = [...((await read(out)) as Float32Array)];
    alike(
      got,
      Array.from({ length: 8 }, (_, t) => [(7 - t) * 8 + 6, (7 - t) * 8 + 7, 8 * t, 8 * t + 2]).flat(),
      'shared, strided',
    );
  },

  'in checked mode vload and vstore look at each element and at where a vector begins': async () => {
    const kernel = cuda.jit(
      (a: Vec<f32>, at: number) => {
        cuda.vstore(a, at, cuda.vload(a, at, f32x4) * 2);
      },
      { boundsCheck: true },
    );
    const a = cuda.toDevice(Float32Array.of(1, 2, 3, 4, 5, 6));
    await launch(kernel, { grid: 1, block: 1 }, a, 0);
    alike([...((await read(a)) as Float32Array)], [2, 4, 6, 8, 5, 6], 'inside');
    const faulty = async (at: number): Promise<void> => {
      await launch(kernel, { grid: 1, block: 1 }, a, at);
      await settled();
    };
    await rejects(() => faulty(4), /index 6 is out of range/);
    await rejects(() => faulty(1), /not a multiple of 4/);
  },

  'what has no meaning lane by lane is refused, with what to write': () => {
    const refused = (kernel: { compile(...args: never[]): void }, message: RegExp): void => {
      throws(
        () =>
          kernel.compile(
            ndarray([{ x: 1, y: 2 }], { dtype: f32x2 }) as never,
            ndarray([{ x: 1, y: 2 }], { dtype: i32x2 }) as never,
          ),
        message,
      );
    };
    type F = Vec<f32x2>;
    type I = Vec<i32x2>;
    refused(
      cuda.jit((a: F, b: I) => void (a[0] = a[0] + b[0])),
      /f32x2 and i32x2 do not mix[\s\S]*convert one: i32x2/,
    );
    refused(
      cuda.jit((a: F, b: I) => void (b[0] = a[0] < a[1] ? 1 : 0)),
      /has no order[\s\S]*a\.x < b\.x/,
    );
    refused(
      cuda.jit((_: F, b: I) => void (b[0] = b[0] / 2)),
      /a quotient of integers is a fraction/,
    );
    refused(
      cuda.jit((_: F, b: I) => void (b[0] = b[0] * 1.5)),
      /1\.5 is not an integer|cannot store/,
    );
    refused(
      cuda.jit((a: F, _: I) => void (a[0] = a[0] & 1)),
      /the lanes of f32x2 are floats/,
    );
    refused(
      cuda.jit((_: F, b: I) => void (b[0] = Math.sqrt(b[0]))),
      /Math\.sqrt does not take i32x2[\s\S]*f32x2\(v\)/,
    );
    refused(
      cuda.jit((a: F, _: I) => void (a[0] ? 1 : 0)),
      /expected a condition, but this is a vector f32x2/,
    );
    refused(
      cuda.jit((a: F, _: I) => {
        const v = a[0] as f32x2;
        v.x = 1;
      }),
      /a vector in a variable is a value[\s\S]*make a new vector/,
    );
    refused(
      cuda.jit((a: F, _: I) => void (a[0] = f32x2(1, 2, 3))),
      /f32x2 has 2 lanes, not 3/,
    );
    refused(
      cuda.jit((a: F, _: I) => void (a[0] = (a[0] as unknown as f32x3).z)),
      /there is no lane z in a vector f32x2/,
    );
  },

  'on the host: objects, strings that name the types, and views of numbers': () => {
    alike(f32x4(0.1, 2, 3, 4) as unknown, { x: Math.fround(0.1), y: 2, z: 3, w: 4 }, 'f32x4');
    alike(u8x4(300n) as unknown, { x: 44, y: 44, z: 44, w: 44 }, 'u8x4');
    alike(i64x2(1n, -2n) as unknown, { x: 1n, y: -2n }, 'i64x2');
    alike(f32x4(f32x2(1, 2), 3, 4) as unknown, { x: 1, y: 2, z: 3, w: 4 }, 'of a shorter one');
    throws(() => f32x4(1, 2), /f32x4 has 4 lanes, got 2/);
    const view = ndarray(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8)).view('float32x4');
    alike([view.dtype.name, view.size, view.itemSize, view.dtype.alignment], ['f32x4', 2, 16, 16], 'view');
    alike(view.get(1) as unknown, { x: 5, y: 6, z: 7, w: 8 }, 'element');
    alike([f32x3.alignment, f64x4.alignment, u8x4.alignment, f32x2.itemSize], [4, 16, 4, 8], 'layouts');
  },
});
