/**
 * Chapter: arithmetic of whole arrays, `a.add(b).mul(2).sum({ axis: 0 })`. Random shapes, types and layouts are held against loops over indices; whole numbers, so
 * that results are exact.
 */
import { cuda, type DeviceNDArray, ndarray } from '../src/index.ts';
import {
  type Element,
  indicesOf,
  ownIndex,
  plainText,
  plus,
  Random,
  type Sample,
  sample,
  small,
  times,
  together,
} from './array-samples.ts';
import { closeElements, elementsOf, type Listed, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { read, settled } from './waiting.ts';

/** What an expression comes to. */
interface Lazy {
  evaluateAsync(options?: object): Promise<unknown>;
}

async function computed(expression: Lazy, out?: unknown): Promise<DeviceNDArray> {
  return (await expression.evaluateAsync(out === undefined ? {} : { out })) as DeviceNDArray;
}

async function elements(expression: Lazy): Promise<unknown[]> {
  return elementsOf((await read(await computed(expression))) as Listed);
}

const texts = (list: readonly unknown[]): string[] => list.map(plainText);

/** A shape of up to three axes, with lengths that are odd, 1, and now and then 0. */
function someShape(random: Random, round: number): number[] {
  const shape = Array.from({ length: random.below(4) }, () => random.pick([1, 2, 3, 5, 7, 17]));
  if (round % 9 === 8 && shape.length > 0) shape[0] = 0;
  return shape;
}

/** Part of a shape that broadcasts to it. */
function partOf(shape: readonly number[], random: Random): number[] {
  return shape.slice(random.below(shape.length + 1)).map((n) => (random.below(4) === 0 ? 1 : n));
}

const at = ({ shape, at }: Sample, index: readonly number[]): Element => at(ownIndex(shape, index));

const DTYPES = ['float32', 'float64', 'int32', 'int64', 'complex64', 'complex128', 'float16', 'uint8'];

export const arrayArithmetic: readonly ConformanceTest[] = chapter('array arithmetic', {
  'random shapes, types and layouts': async () => {
    const random = new Random(5);
    for (let round = 0; round < 24; round++) {
      const dtype = DTYPES[round % DTYPES.length] as string;
      const shape = someShape(random, round);
      const [a, b] = [sample(partOf(shape, random), dtype, random), sample(partOf(shape, random), dtype, random)];
      const common = together(a.shape, b.shape);
      const expression = a.array.mul(b.array).add(a.array);
      const what = `round ${round}, ${dtype} [${a.shape}] and [${b.shape}]: element`;
      sameElements(expression.shape, common, `${what}: length`);
      const expected = indicesOf(common).map((i) => plus(times(at(a, i), at(b, i)), at(a, i)));
      sameElements(texts(await elements(expression)), texts(expected), what);
    }
  },

  'random reductions': async () => {
    const random = new Random(6);
    const rounds = cuda.currentDevice().kind === 'opencl' ? DTYPES.length : 24;
    for (let round = 0; round < rounds; round++) {
      const dtype = DTYPES[round % DTYPES.length] as string;
      const shape = someShape(random, round);
      const a = sample(shape, dtype, random);
      const axes = shape.map((_, k) => k).filter(() => random.below(2) === 0);
      const keepDims = random.below(2) === 0;
      const squares = random.below(2) === 0;
      const given = squares ? a.array.mul(a.array) : a.array;
      const sum = given.sum({ axis: axes, keepDims });
      const left = shape.map((n, k) => (axes.includes(k) ? 1 : n));
      const zero: Element = dtype.startsWith('complex') ? { re: 0, im: 0 } : dtype === 'int64' ? 0n : 0;
      const sums = new Map<string, Element>(indicesOf(left).map((i) => [String(i), zero]));
      for (const index of indicesOf(shape)) {
        const key = String(index.map((i, k) => (axes.includes(k) ? 0 : i)));
        const value = squares ? times(a.at(index), a.at(index)) : a.at(index);
        sums.set(key, plus(sums.get(key) as Element, value));
      }
      const what = `round ${round}, ${dtype} [${shape}] along [${axes}]: element`;
      sameElements(sum.shape, keepDims ? left : shape.filter((_, k) => !axes.includes(k)), `${what}: length`);
      sameElements(texts(await elements(sum)), texts([...sums.values()]), what);
    }
  },

  'long lines and short ones, few and many': async () => {
    for (const [rows, columns] of [
      [3, 5000],
      [5000, 3],
      [1, 4097],
      [257, 33],
      [40, 40],
    ] as const) {
      const data = Float32Array.from({ length: rows * columns }, (_, k) => (k % 7) - 2);
      const a = cuda.toDevice(ndarray(data, { shape: [rows, columns] }));
      const of = (r: number, c: number): number => data[r * columns + c] as number;
      const along = (n: number, m: number, value: (i: number, k: number) => number): number[] =>
        Array.from({ length: n }, (_, i) =>
          Array.from({ length: m }, (_, k) => value(i, k)).reduce((x, y) => x + y, 0),
        );
      const byRow = along(rows, columns, (r, c) => of(r, c) * of(r, c));
      const byColumn = along(columns, rows, (c, r) => of(r, c) * of(r, c));
      sameElements(await elements(a.square().sum({ axis: 1 })), byRow, `${rows} × ${columns}, rows: element`);
      sameElements(await elements(a.square().sum({ axis: 0 })), byColumn, `${rows} × ${columns}, columns: element`);
      sameElements(
        await elements(a.square().sum()),
        [byRow.reduce((x, y) => x + y, 0)],
        `${rows} × ${columns}: element`,
      );
      sameElements(
        await elements(a.T.max({ axis: 0 })),
        byRow.map((_, r) => Math.max(...Array.from({ length: columns }, (_, c) => of(r, c)))),
      );
    }
  },

  'functions of elements': async () => {
    const host = Float64Array.of(0.25, 0.5, 0.75, 1);
    const x = cuda.toDevice(host);
    const near = async (expression: Lazy, expected: (v: number) => number): Promise<void> =>
      closeElements((await elements(expression)) as never, Array.from(host, expected), 1e-14);
    await near(x.sin().add(x.cos()), (v) => Math.sin(v) + Math.cos(v));
    await near(x.exp().log().sqrt(), (v) => Math.sqrt(v));
    await near(x.pow(3).sub(x.neg().abs()), (v) => v ** 3 - v);
    await near(x.atan2(2).hypot(1), (v) => Math.hypot(Math.atan2(v, 2), 1));
    await near(x.tanh().div(x), (v) => Math.tanh(v) / v);
    sameElements(await elements(x.mul(3).floor()), [0, 1, 2, 3]);
    sameElements(await elements(x.mul(4).clip(2, 3)), [2, 2, 3, 3]);
    sameElements(await elements(x.minimum(0.5).maximum([0.3, 0, 0, 0])), [0.3, 0.5, 0.5, 0.5]);
  },

  'comparisons, and choosing': async () => {
    const x = cuda.toDevice(Int32Array.of(-2, 0, 3, 5));
    sameElements(await elements(x.greater(0)), [false, false, true, true]);
    sameElements(await elements(x.greaterEqual(0).logicalAnd(x.less(5))), [false, true, true, false]);
    sameElements(await elements(x.equal(0).logicalOr(x.notEqual(3)).logicalNot()), [false, false, true, false]);
    sameElements(await elements(x.greater(0).where(x, x.neg())), [2, 0, 3, 5]);
    sameElements(await elements(x.bitAnd(1).bitXor(2).bitOr(4)), [6, 6, 7, 7]);
    sameElements(await elements(x.mod(4)), [2, 0, 3, 1]);
    sameElements(
      (await elements(x.rem(4))).map((v) => (v as number) + 0),
      [-2, 0, 3, 1],
    );
    sameElements(await elements(x.mod(-4)).then(texts), texts([-2, 0, -1, -3]));
  },

  types: async () => {
    const dtypeOf = (name: string, make: (a: DeviceNDArray) => { readonly dtype: { readonly name: string } }): string =>
      make(cuda.deviceArray(3, name as 'float32') as DeviceNDArray).dtype.name;
    same(
      dtypeOf('float32', (a) => a.add(2)),
      'f32',
    );
    same(
      dtypeOf('int32', (a) => a.add(2.5)),
      'f64',
    );
    same(
      dtypeOf('int32', (a) => a.div(2)),
      'f64',
    );
    same(
      dtypeOf('uint8', (a) => a.add(a)),
      'i32',
    );
    same(
      dtypeOf('float16', (a) => a.mul(2)),
      'f32',
    );
    same(
      dtypeOf('float32', (a) => a.less(2)),
      'bool',
    );
    same(
      dtypeOf('complex64', (a) => a.mul(a)),
      'c64',
    );
    same(
      dtypeOf('complex64', (a) => a.abs()),
      'f32',
    );
    same(
      dtypeOf('complex128', (a) => a.real()),
      'f64',
    );
    same(
      dtypeOf('bool', (a) => a.sum()),
      'i32',
    );
    same(
      dtypeOf('uint8', (a) => a.sum()),
      'i32',
    );
    same(
      dtypeOf('uint8', (a) => a.max()),
      'u8',
    );
    same(
      dtypeOf('int32', (a) => a.mean()),
      'f64',
    );
    same(
      dtypeOf('float32', (a) => a.argmax()),
      'i32',
    );
    same(
      dtypeOf('float32', (a) => a.astype('uint8')),
      'u8',
    );
    same(
      dtypeOf('float32', (a) => a.add([1, 2, 3])),
      'f64',
    );
    await settled();
  },

  'means, extremes and their places': async () => {
    const x = cuda.toDevice(ndarray(Float32Array.of(3, 1, 2, 1, 5, 5), { shape: [2, 3] }));
    sameElements(await elements(x.mean({ axis: 1 })), [2, Math.fround(11 / 3)]);
    sameElements(await elements(x.argmin({ axis: 1 })), [1, 0]);
    sameElements(await elements(x.argmax({ axis: 1 })), [0, 1]);
    sameElements(await elements(x.argmax({ axis: 0, keepDims: true })), [0, 1, 1]);
    sameElements(await elements(x.argmax()), [4]);
    sameElements(await elements(x.T.argmax()), [3]);
    sameElements(await elements(x.prod({ axis: 0 })), [3, 5, 10]);
    const nan = cuda.toDevice(Float32Array.of(1, Number.NaN, 3));
    sameElements(await elements(nan.max()), [Number.NaN]);
    sameElements(await elements(nan.argmax()), [1]);
    sameElements(await elements(nan.isNaN().any()), [true]);
    sameElements(await elements(nan.isFinite().all()), [false]);
    const none = cuda.deviceArray([0, 3], 'float32');
    sameElements(await elements(none.sum({ axis: 0 })), [0, 0, 0]);
    sameElements(await elements(none.any()), [false]);
    sameElements(await elements(none.all()), [true]);
  },

  'parts that are used twice, and long chains': async () => {
    const x = cuda.toDevice(ndarray(Float32Array.of(1, 2, 3, 1, 2, 3), { shape: [2, 3] }));
    const e = x.sub(x.max({ axis: 1, keepDims: true })).exp();
    const softmax = await elements(e.div(e.sum({ axis: 1, keepDims: true })));
    const row = [1, 2, 3].map((v) => Math.exp(v - 3) / (Math.exp(-2) + Math.exp(-1) + 1));
    closeElements(softmax as never, [...row, ...row], 1e-6);
    let doubled = x.add(0);
    for (let k = 0; k < 20; k++) doubled = doubled.add(doubled);
    sameElements(await elements(doubled.div(2 ** 20)), [1, 2, 3, 1, 2, 3]);
    let longer = x.add(0);
    for (let k = 0; k < 100; k++) longer = longer.add(1);
    sameElements(await elements(longer), [101, 102, 103, 101, 102, 103]);
  },

  'results go to an array': async () => {
    const random = new Random(9);
    const x = sample([4, 5], 'float32', random, small);
    const expected = indicesOf([4, 5]).map((i) => (x.at(i) as number) * 2 + 1);
    const out = cuda.deviceArray([5, 4], 'float64');
    await computed(x.array.mul(2).add(1), out.T);
    sameElements(texts(elementsOf((await read(out.T as DeviceNDArray)) as Listed)), texts(expected));
    // Into an operand, and one that overlaps with it.
    const line = cuda.toDevice(Int32Array.from({ length: 9 }, (_, k) => k));
    await computed(line.slice([0, 8]).add(line.slice([1, 9])), line.slice([1, 9]));
    sameElements((await read(line)) as Listed, [0, 1, 3, 5, 7, 9, 11, 13, 15]);
    await computed(line.sum({ keepDims: true }), line.slice([0, 1]));
    sameElements(elementsOf((await read(line)) as Listed).slice(0, 1), [64]);
    const host = new Float32Array(3);
    await computed(cuda.toDevice(Float32Array.of(1, 2, 3)).mul(2), host);
    sameElements(host, [2, 4, 6]);
    same(await cuda.fuse.async(line.add(1), { out: line }).then((given) => given === line), true);
    same(await line.max().getAsync(), 65);
  },

  'what cannot be': blocking(() => {
    const x = cuda.deviceArray([2, 3], 'float32');
    throws(() => x.add(cuda.deviceArray(4, 'float32')).evaluate(), /cannot be broadcast together/, 'E_BROADCAST');
    throws(() => cuda.deviceArray(0, 'float32').max().evaluate(), /there are no elements/, 'E_EXPRESSION');
    throws(() => x.argmax({ axis: [0, 1] as never }).evaluate(), /takes one axis/, 'E_EXPRESSION');
    throws(() => cuda.fuse(3 as never), /fuse takes an expression/, 'E_EXPRESSION');
    throws(() => x.sum({ axis: 2 }).evaluate(), /axis/, 'E_AXIS');
    throws(() => x.add(1).evaluate({ out: cuda.deviceArray([2, 2], 'float32') }), /out has shape/, 'E_BROADCAST');
  }),
});
