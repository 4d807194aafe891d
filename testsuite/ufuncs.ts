/**
 * Chapter: universal functions, `cuda.vectorize`. Random shapes and layouts are held against loops over indices.
 */
import { type c64, cuda, type DeviceNDArray, ndarray, roc } from '../src/index.ts';
import { same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { canWait, read, settled } from './waiting.ts';

const add = cuda.vectorize((a, b) => a + b, { identity: 0 });
/** Tells its operands apart. */
const mix = cuda.vectorize((a, b) => 100 * a + b);

/** Small random integers; the same ones every time. */
function randomBy(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Sample {
  readonly array: DeviceNDArray;
  readonly shape: readonly number[];
  /** The element at an index. */
  at(index: readonly number[]): number;
}

/** An array of a shape in one of many layouts: C, F, every other element, reversed, repeated. */
function sample(shape: readonly number[], random: (below: number) => number): Sample {
  const kinds = shape.map(() => random(4));
  const base = shape.map((n, k) => (kinds[k] === 1 ? 2 * n : n));
  const order = random(2) === 0 ? 'C' : 'F';
  const size = base.reduce((a, b) => a * b, 1);
  const data = Float64Array.from({ length: size }, () => random(50));
  const host = ndarray(data, { shape: base });
  const whole = cuda.deviceArray(base, 'float64', { order });
  whole.set(host);
  const specs = kinds.map((kind) => (kind === 1 ? '::2' : kind === 2 ? '::-1' : ':'));
  const array = shape.length === 0 ? whole : whole.slice(...specs);
  const at = (index: readonly number[]): number =>
    host.get(
      ...index.map((i, k) => (kinds[k] === 1 ? 2 * i : kinds[k] === 2 ? (shape[k] as number) - 1 - i : i)),
    ) as number;
  return { array: array as DeviceNDArray, shape, at };
}

/** All indices of a shape, in C order. */
function indicesOf(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>((all, n) => all.flatMap((i) => Array.from({ length: n }, (_, k) => [...i, k])), [[]]);
}

/** The element that a broadcast array has at an index of the result. */
function broadcastAt({ shape, at }: Sample, index: readonly number[]): number {
  const own = index.slice(index.length - shape.length);
  return at(own.map((i, k) => (shape[k] === 1 ? 0 : i)));
}

export const universalFunctions: readonly ConformanceTest[] = chapter('ufuncs', {
  'random shapes and layouts are broadcast': async () => {
    const random = randomBy(7);
    for (let round = 0; round < 25; round++) {
      const shape = Array.from({ length: random(6) }, () => [0, 1, 2, 3, 5, 7][1 + random(5)] as number);
      if (round % 8 === 7 && shape.length > 0) shape[0] = 0;
      const shapes = [0, 1].map(() => shape.slice(random(shape.length + 1)).map((n) => (random(3) === 0 ? 1 : n)));
      const [a, b] = shapes.map((s) => sample(s, random)) as [Sample, Sample];
      const common = Array.from(
        { length: Math.max(a.shape.length, b.shape.length) },
        (_, k, n = Math.max(a.shape.length, b.shape.length)) => {
          const [x, y] = [a, b].map((s) => s.shape[k - n + s.shape.length] ?? 1) as [number, number];
          return x === 1 ? y : x;
        },
      );
      const result = (await mix.async(a.array as never, b.array as never)) as unknown as DeviceNDArray;
      sameElements(result.shape, common, 'length');
      const expected = indicesOf(common).map((i) => 100 * broadcastAt(a, i) + broadcastAt(b, i));
      sameElements(
        (await read(result)) as never,
        expected,
        `round ${round}, shapes [${a.shape}] and [${b.shape}]: element`,
      );
    }
  },

  'lengths around blocks': async () => {
    for (const length of [0, 1, 31, 255, 256, 257, 1000]) {
      const x = Float32Array.from({ length }, (_, k) => k);
      const y = await add.async(cuda.toDevice(x), 0.5);
      sameElements(
        await read(y),
        x.map((v) => v + 0.5),
      );
    }
  },

  'many rows, and few columns': async () => {
    const x = cuda.toDevice(
      ndarray(
        Float32Array.from({ length: 9000 }, (_, k) => k),
        { shape: [3000, 3] },
      ),
    );
    const y = (await mix.async(
      x as never,
      cuda.toDevice(Float32Array.of(1, 2, 3)) as never,
    )) as unknown as DeviceNDArray;
    sameElements(
      (await read(y)) as never,
      Array.from({ length: 9000 }, (_, k) => 100 * k + 1 + (k % 3)),
    );
  },

  'results have the type of the expression': async () => {
    const dtypeOf = async (result: Promise<unknown>): Promise<string> => ((await result) as DeviceNDArray).dtype.name;
    const [f, d, i, u8] = (['float32', 'float64', 'int32', 'uint8'] as const).map((name) => cuda.deviceArray(3, name));
    same(await dtypeOf(add.async(f as never, f as never)), 'f32');
    same(await dtypeOf(add.async(f as never, 2.5)), 'f32');
    same(await dtypeOf(add.async(f as never, d as never)), 'f64');
    same(await dtypeOf(add.async(i as never, 2)), 'i32');
    same(await dtypeOf(add.async(i as never, 2.5)), 'f64');
    same(await dtypeOf(add.async(u8 as never, u8 as never)), 'i32');
    same(await dtypeOf(add.async(i as never, cuda.scalar('float32', 2))), 'f32');
    same(await dtypeOf(cuda.vectorize((a, b) => a < b).async(f as never, 1)), 'bool');
    same(await dtypeOf(cuda.vectorize((a) => (a > 0 ? 1 : 0)).async(f as never)), 'i32');
    same(await dtypeOf(cuda.vectorize((a) => a / 2).async(i as never)), 'f64');
    same(await dtypeOf(cuda.vectorize((a: bigint) => a + 1n).async(cuda.deviceArray(2, 'uint64') as never)), 'u64');
    same(await dtypeOf(cuda.vectorize((z: c64) => z * z).async(cuda.deviceArray(2, 'complex64') as never)), 'c64');
    same(await dtypeOf(cuda.vectorize((z: c64) => z.re).async(cuda.deviceArray(2, 'complex64') as never)), 'f32');
    same(await dtypeOf(cuda.vectorize((a) => (a > 0 ? 3 : 3)).async(f as never)), 'i32');
    await settled();
  },

  'NaN and signed zeros': async () => {
    const x = cuda.toDevice(Float64Array.of(Number.NaN, 0, -0, Number.POSITIVE_INFINITY));
    sameElements(await read(await cuda.vectorize((a) => -a).async(x)), [Number.NaN, -0, 0, Number.NEGATIVE_INFINITY]);
    sameElements(await read(await cuda.vectorize((a, b) => Math.min(a, b)).async(x, 0)), [Number.NaN, 0, -0, 0]);
  },

  'signatures choose, and convert the result': async () => {
    const half = cuda.vectorize((a) => a / 2, { signature: ['int32(int32)', 'float32(float32)', 'float64(float64)'] });
    sameElements(half.types, ['i32(i32)', 'f32(f32)', 'f64(f64)']);
    sameElements((await half.async(Int32Array.of(3, 5, -3))) as never, [1, 2, -1]);
    sameElements((await half.async(Float32Array.of(3, 5))) as never, [1.5, 2.5]);
    const mean = cuda.vectorize(['float32(float32, float32)'])((a: number, b: number) => (a + b) / 2);
    sameElements((await mean.async(Float32Array.of(1, 2), 4)) as never, [2.5, 3]);
    sameElements((await mean.async([1, 2], [3, 4])) as never, [2, 3]);
    const parts = cuda.vectorize((re: number) => re > 1, { signature: 'bool(float64)' });
    sameElements((await parts.async([0, 1, 2])) as never, [false, false, true]);
  },

  'out, also in place and over its inputs': async () => {
    const x = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
    same(await add.async(x, 1, { out: x }), x);
    sameElements(await read(x), [2, 3, 4, 5]);
    await add.async(x, x.slice('::-1') as never, { out: x });
    sameElements(await read(x), [7, 7, 7, 7]);
    await add.async(x.slice('1:') as never, 1, { out: x.slice(':-1') as never });
    sameElements(await read(x), [8, 8, 8, 7]);
    const wide = cuda.deviceArray(4, 'float64');
    await add.async(x, 0.5, { out: wide });
    sameElements(await read(wide), [8.5, 8.5, 8.5, 7.5]);
    const host = new Float64Array(4);
    same(await add.async(x, 1, { out: host }), host);
    sameElements(host, [9, 9, 9, 8]);
    const every = cuda.deviceArray(8, 'float32');
    every.set(0);
    await add.async(x, 0, { out: every.slice('::2') as never });
    sameElements(await read(every), [8, 0, 8, 0, 8, 0, 7, 0]);
  },

  'on a stream': async () => {
    const stream = cuda.stream();
    const x = cuda.toDevice(new Float32Array(1000).fill(1), { stream });
    const y = await add.async(x, 1, { stream });
    same(y.stream, stream);
    const z = await add.async(y, 1, { stream });
    await settled(stream);
    sameElements((await read(z)) as never, new Float32Array(1000).fill(3));
  },

  'host arrays give host arrays, numbers numbers': async () => {
    sameElements((await add.async(Float32Array.of(1, 2), 1)) as never, [2, 3]);
    same(await add.async(1, 2.5), 3.5);
    const table = await add.async([[1], [2]], [10, 20]);
    sameElements(table as never, [11, 21, 12, 22]);
    const isDevice = (value: unknown): boolean => value instanceof cuda.DeviceNDArray;
    same(isDevice(await add.async(cuda.toDevice(Float32Array.of(1)), Float32Array.of(1))), true);
    same(isDevice(await add.async(Float32Array.of(1), Float32Array.of(1))), false);
  },

  'reduce along an axis': async () => {
    const random = randomBy(3);
    for (const shape of [[5], [4, 6], [3, 4, 5], [2, 3, 2, 3], [2, 5000]]) {
      const x = sample(shape, random);
      for (const [axis] of shape.entries()) {
        const left = shape.filter((_, k) => k !== axis);
        const expected = indicesOf(left).map((i) =>
          Array.from({ length: shape[axis] as number }, (_, k) =>
            x.at([...i.slice(0, axis), k, ...i.slice(axis)]),
          ).reduce((a, b) => a + b),
        );
        const result = (await add.reduce.async(x.array as never, { axis })) as unknown;
        const given = left.length === 0 ? [result] : await read(result as DeviceNDArray);
        sameElements(given as never, expected, `shape [${shape}], axis ${axis}: element`);
        const kept = (await add.reduce.async(x.array as never, {
          axis,
          keepDims: true,
          init: 7,
        })) as unknown as DeviceNDArray;
        sameElements(
          kept.shape,
          shape.map((n, k) => (k === axis ? 1 : n)),
        );
        sameElements(
          (await read(kept)) as never,
          expected.map((v) => v + 7),
        );
      }
      const all = indicesOf(shape).reduce((sum, i) => sum + x.at(i), 0);
      same(await add.reduce.async(x.array as never, { axis: null }), all);
      same(await add.reduce.async(x.array as never, { axis: null, init: 1 }), all + 1);
    }
  },

  'reduce nothing': async () => {
    same(await add.reduce.async(new Float32Array(0)), 0);
    same(await add.reduce.async(new Float32Array(0), { init: 3 }), 3);
    sameElements((await add.reduce.async(ndarray.empty([0, 3]) as never)) as never, [0, 0, 0]);
    sameElements((await add.reduce.async(ndarray.empty([3, 0]) as never)) as never, []);
  },

  accumulate: async () => {
    const random = randomBy(11);
    for (const shape of [[1], [7], [3, 4], [2, 3, 4], [257], [1000], [3, 300], [70_001]]) {
      const x = sample(shape, random);
      for (const [axis] of shape.entries()) {
        const y = (await add.accumulate.async(x.array as never, { axis })) as unknown as DeviceNDArray;
        const sums = new Map<string, number>();
        const expected = indicesOf(shape).map((i) => {
          const line = String(i.filter((_, k) => k !== axis));
          const sum = (sums.get(line) ?? 0) + x.at(i);
          sums.set(line, sum);
          return sum;
        });
        sameElements((await read(y)) as never, expected, `shape [${shape}], axis ${axis}: element`);
      }
    }
    sameElements((await mix.accumulate.async([1, 2, 3])) as never, [1, 102, 10_203]);
  },

  outer: async () => {
    sameElements((await mix.outer.async([1, 2], [3, 4, 5])) as never, [103, 104, 105, 203, 204, 205]);
    const table = await mix.outer.async([[1, 2]], [3]);
    sameElements((table as { shape: number[] }).shape, [1, 2, 1]);
    same(await mix.outer.async(1, 2), 102);
    const x = cuda.toDevice(Float32Array.of(1, 2, 3));
    sameElements(
      (await read((await mix.outer.async(x, x.slice('::-1') as never)) as unknown as DeviceNDArray)) as never,
      [103, 102, 101, 203, 202, 201, 303, 302, 301],
    );
  },

  'at counts every index': async () => {
    for (const dtype of ['int32', 'uint32', 'float32', 'float64'] as const) {
      const counts = cuda.deviceArray(7, dtype);
      counts.set(1);
      const indices = Int32Array.from({ length: 5000 }, (_, k) => (k % 2 === 0 ? k % 7 : -1 - (k % 7)));
      await add.at.async(counts as never, cuda.toDevice(indices) as never, 2);
      const expected = new Array<number>(7).fill(1);
      for (const i of indices) expected[i < 0 ? i + 7 : i] = (expected[i < 0 ? i + 7 : i] as number) + 2;
      sameElements(await read(counts as never), expected, `${dtype} element`);
    }
    const host = Float64Array.of(1, 2, 3);
    await add.at.async(host, [0, 2, 0], [10, 20, 30]);
    sameElements(host, [41, 2, 23]);
    const squares = Float32Array.of(2, 3, 4);
    await cuda.vectorize((a) => a * a).at.async(squares, [0, 2]);
    sameElements(squares, [4, 3, 16]);
  },

  'what comes from outside, and how it is called': async () => {
    const gain = 3;
    const scaled = cuda.vectorize((x) => gain * x);
    sameElements((await scaled.async([1, 2])) as never, [3, 6]);
    const made = cuda.vectorize(
      ({ gain: g }: { gain: number }) =>
        (x: number) =>
          g * x,
      { captures: { gain }, name: 'amplify' },
    );
    sameElements((await made.async([1, 2])) as never, [3, 6]);
    same(made.name, 'amplify');
    same(made.nin, 1);
    same(add.nargs, 3);
    same(add.identity, 0);
  },

  "Numba's documentation": blocking(() => {
    const f = cuda.vectorize((x, y) => x + y, { signature: ['int32(int32, int32)', 'float64(float64, float64)'] });
    const a = Int32Array.from({ length: 6 }, (_, k) => k);
    sameElements(f(a, a) as never, [0, 2, 4, 6, 8, 10]);
    const b = Float64Array.from({ length: 6 }, (_, k) => k / 5);
    sameElements(
      f(b, b) as never,
      b.map((v) => v + v),
    );
    const table = ndarray(
      Int32Array.from({ length: 12 }, (_, k) => k),
      { shape: [3, 4] },
    );
    sameElements(f.reduce(table) as never, [12, 15, 18, 21]);
    sameElements(f.reduce(table, { axis: 1 }) as never, [6, 22, 38]);
    sameElements(f.accumulate(table) as never, [0, 1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21]);
    const discriminant = cuda.vectorize((p, q, r) => Math.sqrt(q ** 2 - 4 * p * r), {
      signature: 'float32(float32, float32, float32)',
    });
    sameElements(discriminant(Float32Array.of(1, 2), Float32Array.of(5, 7), Float32Array.of(4, 3)) as never, [3, 5]);
  }),

  'temporaries are given back': blocking(() => {
    const x = cuda.toDevice(new Float32Array(1000));
    const run = (): void => {
      add(x, x.slice('::-1') as never, { out: x });
      add(new Float32Array(1000), 1);
      add.reduce(x);
      add.accumulate(x).dispose();
      add.outer(new Float32Array(10), [1, 2]);
    };
    run();
    cuda.synchronize();
    cuda.currentContext().deallocations.clear();
    const { live } = cuda.memoryStats();
    for (let round = 0; round < 5; round++) run();
    cuda.synchronize();
    cuda.currentContext().deallocations.clear();
    same(cuda.memoryStats().live <= live + 16 * 1024, true, 'no bytes more are live');
  }),

  'what cannot be': blocking(() => {
    const x = new Float32Array(3);
    throws(() => add(x, new Float32Array(4)), /shapes \[3\], \[4\] cannot be broadcast/, 'E_BROADCAST');
    throws(() => (add as never as (a: unknown) => void)(x), /takes 2 arguments/, 'E_ARGUMENT_COUNT');
    throws(() => add(x, 'one' as never), /argument 2 must be an array or a number/, 'E_UFUNC');
    throws(() => add(x, 1, { out: new Float32Array(4) }), /out has shape \[4\], and the result \[3\]/, 'E_BROADCAST');
    throws(() => add(x, 1, { out: new Int32Array(3) }), /which out of dtype i32 cannot hold/, 'E_DTYPE_MISMATCH');
    throws(() => add(x, 1, { stram: 1 } as never), /no option 'stram'/, 'E_OPTION');
    throws(() => cuda.vectorize(3 as never), /takes a function/, 'E_FUNCTION');
    throws(() => cuda.vectorize((() => 1) as never), /takes a function of one or more/, 'E_UFUNC');
    throws(() => cuda.vectorize((a) => a, { signature: 'float32' }), /signatures such as/, 'E_SIGNATURE');
    throws(
      () => cuda.vectorize((a) => a, { signature: 'float32(float32, float32)' }),
      /takes 1 argument/,
      'E_SIGNATURE',
    );
    const single = cuda.vectorize((a) => a, { signature: ['float32(float32)', 'float64(float64)'] });
    throws(() => single(new Int32Array(2)), /no signature takes \(i32 array\)/, 'E_UFUNC');
    throws(() => single(1), /several signatures take \(1\)/, 'E_UFUNC');
    throws(() => cuda.vectorize((a) => (a as never)['first'])(x), /has no property first/, 'K223');
    throws(() => cuda.vectorize((a) => ({ a }) as never)(x), /does not return a number/, 'E_UFUNC');
    throws(() => mix.reduce(new Float32Array(0)), /has no identity/, 'E_UFUNC');
    throws(() => add.reduce([[1]], { axis: 2 }), /axis 2 is out of range/, 'E_AXIS');
    throws(() => cuda.vectorize((a) => a).reduce(x), /needs a function of two elements/, 'E_UFUNC');
    throws(() => add.at(cuda.deviceArray(3, 'int16') as never, [0], 1), /takes elements of/, 'E_UFUNC');
    throws(() => add.at(x, [0.5], 1), /takes integers as indices, got 0.5/, 'E_UFUNC');
  }),

  'roc has them too': async () => {
    const twice = roc.vectorize((a) => 2 * a);
    sameElements((await twice.async([1, 2])) as never, [2, 4]);
    if (canWait()) sameElements(twice(Float32Array.of(3)) as never, [6]);
  },
});
