/**
 * Chapter: generalised universal functions, `cuda.guvectorize`.
 */
import {
  cuda,
  type DeviceNDArray,
  type f32,
  type f64,
  type i32,
  type Mat,
  ndarray,
  roc,
  type Vec,
} from '../src/index.ts';
import { same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { read, settled } from './waiting.ts';

const product = cuda.guvectorize((A: Mat<f64>, B: Mat<f64>, C: Mat<f64>) => {
  for (let i = 0; i < C.shape[0]; i++) {
    for (let j = 0; j < C.shape[1]; j++) {
      let sum = 0;
      for (let k = 0; k < B.shape[0]; k++) sum += (A[i] as Vec<f64>)[k]! * (B[k] as Vec<f64>)[j]!;
      (C[i] as Vec<f64>)[j] = sum;
    }
  }
}, '(m,n),(n,p)->(m,p)');

const total = cuda.guvectorize((x: Vec<f64>, sum: Vec<f64>) => {
  let s = 0;
  for (let k = 0; k < x.length; k++) s += x[k] as number;
  sum[0] = s;
}, '(n)->()');

const counted = (shape: readonly number[]) =>
  ndarray(
    Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, k) => k),
    { shape },
  );

/** The product of two matrices in C order. */
function productOf(a: readonly number[], b: readonly number[], [m, n, p]: readonly [number, number, number]): number[] {
  return Array.from({ length: m * p }, (_, k) => {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += (a[Math.floor(k / p) * n + j] as number) * (b[j * p + (k % p)] as number);
    return sum;
  });
}

export const generalisedFunctions: readonly ConformanceTest[] = chapter('gufuncs', {
  'matrices, and stacks of them': async () => {
    const [a, b] = [counted([2, 3, 4]), counted([2, 4, 5])];
    const parts = (x: { toArray(): unknown }, k: number): number[] =>
      ((x.toArray() as number[][][])[k] as number[][]).flat();
    const expected = [0, 1].flatMap((k) => productOf(parts(a, k), parts(b, k), [3, 4, 5]));
    sameElements((await product.async(a, b)) as never, expected);
    const c = (await product.async(cuda.toDevice(a), cuda.toDevice(b))) as DeviceNDArray;
    sameElements(c.shape, [2, 3, 5]);
    sameElements((await read(c)) as never, expected);
    const one = (await product.async(a, counted([4, 5]))) as never;
    sameElements(
      one,
      [0, 1].flatMap((k) =>
        productOf(
          parts(a, k),
          Array.from({ length: 20 }, (_, i) => i),
          [3, 4, 5],
        ),
      ),
    );
  },

  'loops are broadcast, in any layout': async () => {
    const dot = cuda.guvectorize((x: Vec<f64>, y: Vec<f64>, out: Vec<f64>) => {
      let s = 0;
      for (let k = 0; k < x.length; k++) s += (x[k] as number) * (y[k] as number);
      out[0] = s;
    }, '(n),(n)->()');
    const [x, y] = [counted([5, 4, 1, 6]), counted([3, 10])];
    const a = cuda.toDevice(x).transpose(3, 1, 2, 0).slice('::-1');
    const b = cuda.toDevice(y).slice(':', '::2');
    const out = (await dot.async(a, b)) as DeviceNDArray;
    sameElements(out.shape, [6, 4, 3]);
    const expected: number[] = [];
    for (let i = 0; i < 6; i++) {
      for (let j = 0; j < 4; j++) {
        for (let r = 0; r < 3; r++) {
          let sum = 0;
          for (let k = 0; k < 5; k++) sum += (x.get(k, j, 0, 5 - i) as number) * (y.get(r, 2 * k) as number);
          expected.push(sum);
        }
      }
    }
    sameElements((await read(out)) as never, expected);
  },

  'five loops': async () => {
    const x = cuda.toDevice(counted([2, 3, 2, 3, 2, 4])).transpose(4, 1, 2, 3, 0, 5);
    const out = (await total.async(x)) as DeviceNDArray;
    const host = counted([2, 3, 2, 3, 2, 4]);
    const expected: number[] = [];
    for (const [e, b, c, d, a] of indices([2, 3, 2, 3, 2])) {
      let sum = 0;
      for (let k = 0; k < 4; k++)
        sum += host.get(a as number, b as number, c as number, d as number, e as number, k) as number;
      expected.push(sum);
    }
    sameElements((await read(out)) as never, expected);
  },

  'numbers among the arguments, and results that are numbers': async () => {
    const plus = cuda.guvectorize((x: Vec<f64>, y: number, out: Vec<f64>) => {
      for (let k = 0; k < x.length; k++) out[k] = (x[k] as number) + y;
    }, '(n),()->(n)');
    sameElements((await plus.async([1, 2, 3], 10)) as never, [11, 12, 13]);
    sameElements((await plus.async([1, 2, 3], [10, 20])) as never, [11, 12, 13, 21, 22, 23]);
    same(await total.async([1, 2, 3]), 6);
    sameElements(
      (await total.async([
        [1, 2],
        [3, 4],
      ])) as never,
      [3, 7],
    );
    same(((await total.async(cuda.toDevice(Float64Array.of(1, 2)))) as DeviceNDArray).ndim, 0);
    await settled();
  },

  'several results': async () => {
    const ends = cuda.guvectorize((x: Vec<f64>, low: Vec<f64>, high: Vec<f64>) => {
      low[0] = x.min();
      high[0] = x.max();
    }, '(n)->(),()');
    const [low, high] = (await ends.async([
      [3, 1, 2],
      [9, 8, 7],
    ])) as unknown as readonly [Float64Array, Float64Array];
    sameElements(low, [1, 7]);
    sameElements(high, [3, 9]);
    const out = [cuda.deviceArray(2, 'float64'), cuda.deviceArray(2, 'float64')] as const;
    await ends.async(
      [
        [3, 1, 2],
        [9, 8, 7],
      ],
      { out },
    );
    sameElements(await read(out[0]), [1, 7]);
    same(ends.nout, 2);
  },

  'results are stored where they are wanted': async () => {
    const out = cuda.deviceArray(4, 'float64');
    out.set(-1);
    const every = out.slice('::2');
    same(await total.async(cuda.toDevice(counted([2, 3])), every), every);
    sameElements(await read(out), [3, -1, 12, -1]);
  },

  'signatures convert what converts without loss': async () => {
    const half = cuda.guvectorize(
      (x: Vec<f64>, y: f64, out: Vec<f64>) => {
        for (let k = 0; k < x.length; k++) out[k] = (x[k] as number) / y;
      },
      '(n),()->(n)',
      { signature: 'void(float64[:], float64, float64[:])' },
    );
    sameElements((await half.async(Float32Array.of(1, 2), 2)) as never, [0.5, 1]);
    sameElements(
      (await half.async(cuda.toDevice(Int32Array.of(3, 5)), 2).then((x) => read(x as DeviceNDArray))) as never,
      [1.5, 2.5],
    );
    sameElements(half.types, ['void(f64[:], f64, f64[:])']);
    const boxed = cuda.guvectorize(
      ['void(int32[:], int32[:], int32[:])'],
      '(n),()->()',
    )((x: Vec<i32>, by: Vec<i32>, out: Vec<i32>) => {
      out[0] = (x[0] as number) * (by[0] as number);
    });
    same(await boxed.async(Int32Array.of(6, 0), 7), 42);
  },

  'lengths of zero': async () => {
    same(await total.async(new Float64Array(0)), 0);
    sameElements((await total.async(ndarray.empty([0, 3]))) as never, []);
  },

  "Numba's documentation": blocking(() => {
    const g = cuda.guvectorize(
      (x: Vec<f32>, y: f32, res: Vec<f32>) => {
        for (let i = 0; i < x.shape[0]; i++) res[i] = (x[i] as number) + y;
      },
      ['void(float32[:], float32, float32[:])'],
      '(n),()->(n)',
    );
    const a = Float32Array.from({ length: 5 }, (_, k) => k);
    sameElements(g(a, 2) as never, [2, 3, 4, 5, 6]);
    const table = ndarray(
      Float32Array.from({ length: 6 }, (_, k) => k),
      { shape: [2, 3] },
    );
    sameElements(g(table, 10) as never, [10, 11, 12, 13, 14, 15]);
    sameElements(g(table, Float32Array.of(10, 20)) as never, [10, 11, 12, 23, 24, 25]);
  }),

  'what cannot be': blocking(() => {
    const [a, b] = [counted([2, 3]), counted([4, 5])];
    throws(() => product(a, b), /n is 3 in axis 1 of argument 1, and 4 in axis 0 of argument 2/, 'E_UFUNC');
    throws(() => product(a, Float64Array.of(1)), /argument 2 needs at least 2 axes/, 'E_UFUNC');
    throws(() => product(counted([2, 2, 2]), counted([3, 2, 2])), /cannot be broadcast/, 'E_BROADCAST');
    throws(() => product(a), /takes 2 arguments/, 'E_ARGUMENT_COUNT');
    throws(
      () => product(a, a.T, cuda.deviceArray([2, 3], 'float64')),
      /out has shape \[2, 3\], and the result \[2, 2\]/,
      'E_BROADCAST',
    );
    throws(() => product(a, a.T, counted([2, 2]), { out: counted([2, 2]) }), /given twice/, 'E_OPTION');
    const layout = (text: string) => () => cuda.guvectorize((x: Vec<f64>, y: Vec<f64>) => void [x, y], text);
    throws(layout('(n)->(m)'), /m is not an axis of any input.*\n {2}\(n\)->\(m\)\n {8}\^/, 'E_LAYOUT');
    throws(layout('(n->(n)'), /not closed\n {2}\(n->\(n\)\n {4}\^/, 'E_LAYOUT');
    throws(layout('(n)'), /between inputs and outputs/, 'E_LAYOUT');
    throws(layout('(n),(n)->(n)'), /has 2 parameters, and the layout/, 'E_LAYOUT');
    throws(() => cuda.guvectorize(() => undefined, 3 as never), /layout such as/, 'E_LAYOUT');
    const signed = (signature: string) => () =>
      cuda.guvectorize((x: Vec<f64>, y: Vec<f64>) => void [x, y], '(n)->()', { signature });
    throws(signed('void(float64[:], float64)'), /parameter 2 should have an array of one element/, 'E_SIGNATURE');
    throws(signed('void(float64[:,:], float64[:])'), /parameter 1 should have 1 axis/, 'E_SIGNATURE');
    throws(signed('void(float64[:])'), /it has 1 parameters/, 'E_SIGNATURE');
    throws(signed('int32(float64[:], float64[:])'), /void return type/, 'E_SIGNATURE');
    const narrow = cuda.guvectorize((x: Vec<f32>, y: Vec<f32>) => void [x, y], '(n)->()', {
      signature: 'void(float32[:], float32[:])',
    });
    throws(() => narrow(Float64Array.of(1)), /no signature takes \(f64 array\)/, 'E_UFUNC');
  }),

  'roc has them too': async () => {
    const sum = roc.guvectorize((x: Vec<f64>, out: Vec<f64>) => {
      let s = 0;
      for (let k = 0; k < x.length; k++) s += x[k] as number;
      out[0] = s;
    }, '(n)->()');
    sameElements(
      (await sum.async([
        [1, 2],
        [3, 4],
      ])) as never,
      [3, 7],
    );
  },
});

/** All indices of a shape, in C order. */
function indices(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>((all, n) => all.flatMap((i) => Array.from({ length: n }, (_, k) => [...i, k])), [[]]);
}
