/**
 * Chapter: products of matrices, `cuda.matmul`. Random shapes, types and layouts are held against loops; whole numbers, so that results are exact.
 */
import { cuda, type DeviceNDArray, type DTypeLike, ndarray } from '../src/index.ts';
import {
  type Element,
  indicesOf,
  ownIndex,
  plainText,
  plus,
  Random,
  type Sample,
  sample,
  times,
  together,
} from './array-samples.ts';
import { elementsOf, type Listed, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { read, settled } from './waiting.ts';

const DTYPES = ['float32', 'float64', 'float16', 'bfloat16', 'complex64', 'complex128', 'int32', 'int64', 'uint8'];

function zeroOf(dtype: string): Element {
  if (dtype.startsWith('complex')) return { re: 0, im: 0 };
  return dtype === 'int64' ? 0n : 0;
}

/** What the product of two arrays with two axes or more has to be. */
function productOf(a: Sample, b: Sample, dtype: string): { readonly shape: number[]; readonly elements: Element[] } {
  const [m, k] = a.shape.slice(-2) as [number, number];
  const n = b.shape.at(-1) as number;
  const outer = together(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const shape = [...outer, m, n];
  const elements = indicesOf(shape).map((index) => {
    const [i, j] = index.slice(-2) as [number, number];
    const [inA, inB] = [a, b].map(({ shape }) => ownIndex(shape.slice(0, -2), index.slice(0, -2))) as [
      number[],
      number[],
    ];
    let sum = zeroOf(dtype);
    for (let q = 0; q < k; q++) sum = plus(sum, times(a.at([...inA, i, q]), b.at([...inB, q, j])));
    return sum;
  });
  return { shape, elements };
}

/** Compares elements; sums in bf16 and f16 are rounded once, at the end. */
function compare(actual: Listed, expected: readonly Element[], dtype: string, what: string): void {
  const rounded = dtype === 'bfloat16' ? Math.fround : undefined;
  const of = (value: unknown): string => (rounded === undefined ? plainText(value) : String(toBfloat16(Number(value))));
  sameElements(elementsOf(actual).map(of), expected.map(of), what);
}

function toBfloat16(value: number): number {
  const bits = new Uint32Array(Float32Array.of(value + 0).buffer);
  const word = bits[0] as number;
  bits[0] = (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(bits.buffer)[0] as number;
}

const ofShape = (shape: readonly number[], from = 0): DeviceNDArray => {
  const size = shape.reduce((a, b) => a * b, 1);
  const data = Float32Array.from({ length: size }, (_, k) => ((k + from) % 7) - 3);
  return cuda.toDevice(ndarray(data, { shape })) as DeviceNDArray;
};

export const matrixProducts: readonly ConformanceTest[] = chapter('matmul', {
  'random shapes, types and layouts': async () => {
    const random = new Random(11);
    // OpenCL's compilers take seconds for a kernel.
    const rounds = cuda.currentDevice().kind === 'opencl' ? DTYPES.length : 27;
    for (let round = 0; round < rounds; round++) {
      const dtype = DTYPES[round % DTYPES.length] as string;
      const length = (): number => random.pick([1, 2, 3, 5, 8, 16, 17, 33]);
      const [m, k, n] = [length(), length(), length()];
      const outer = Array.from({ length: random.below(3) }, () => random.pick([1, 2, 3]));
      const own = (): number[] =>
        outer.slice(random.below(outer.length + 1)).map((n) => (random.below(3) === 0 ? 1 : n));
      const [a, b] = [sample([...own(), m, k], dtype, random), sample([...own(), k, n], dtype, random)];
      const result = (await cuda.matmul.async(a.array, b.array)) as DeviceNDArray;
      const expected = productOf(a, b, dtype);
      sameElements(result.shape, expected.shape, 'length');
      const what = `round ${round}, ${dtype} [${a.shape}] and [${b.shape}]: element`;
      compare((await read(result)) as Listed, expected.elements, dtype, what);
    }
  },

  'sizes around tiles': async () => {
    for (const [m, k, n] of [
      [64, 16, 64],
      [65, 17, 63],
      [130, 40, 132],
      [128, 8, 4],
      [4, 130, 260],
      // Thin ones, which are cut into parts where k is long.
      [1, 3000, 70],
      [3, 5001, 2],
      [90, 1100, 5],
    ] as const) {
      const [a, b] = [ofShape([m, k]), ofShape([k, n], 5)];
      const at = (array: readonly number[], index: number): number => array[index] as number;
      const [x, y] = [a, b].map((array) =>
        Array.from({ length: array.size }, (_, q) => ((q + (array === b ? 5 : 0)) % 7) - 3),
      ) as [number[], number[]];
      const expected = indicesOf([m, n]).map(([i, j]) => {
        let sum = 0;
        for (let q = 0; q < k; q++) sum += at(x, (i as number) * k + q) * at(y, q * n + (j as number));
        return sum;
      });
      compare(
        (await read((await cuda.matmul.async(a, b)) as DeviceNDArray)) as Listed,
        expected,
        'float32',
        `${m} × ${k} × ${n}: element`,
      );
    }
  },

  'vectors lose their axis': async () => {
    const [A, x] = [ofShape([3, 4]), ofShape([4], 2)];
    const columns = [ofShape([2, 4, 5], 1), ofShape([4], 2)] as const;
    const right = (await cuda.matmul.async(A, x)) as DeviceNDArray;
    sameElements(right.shape, [3]);
    sameElements(
      (await read(right)) as Listed,
      [-1, 2, -9].map((_, i) => {
        let sum = 0;
        for (let q = 0; q < 4; q++) sum += (((4 * i + q) % 7) - 3) * (((q + 2) % 7) - 3);
        return sum;
      }),
    );
    const left = (await cuda.matmul.async(columns[1], columns[0])) as DeviceNDArray;
    sameElements(left.shape, [2, 5]);
    same(await cuda.matmul.async(Float64Array.of(1, 2, 3), Float64Array.of(4, 5, 6)), 32);
    await settled();
  },

  'host arrays, lists and empty ones': async () => {
    const c = (await cuda.matmul.async(
      [
        [1, 2],
        [3, 4],
      ],
      [
        [0, 1],
        [1, 0],
      ],
    )) as Listed;
    sameElements(c, [2, 1, 4, 3]);
    const empty = (await cuda.matmul.async(ofShape([3, 0]), ofShape([0, 2]))) as DeviceNDArray;
    sameElements(empty.shape, [3, 2]);
    sameElements((await read(empty)) as Listed, [0, 0, 0, 0, 0, 0]);
    sameElements(((await cuda.matmul.async(ofShape([0, 3]), ofShape([3, 2]))) as DeviceNDArray).shape, [0, 2]);
  },

  'types that differ, and narrow integers': async () => {
    const dtypeOf = async (a: DTypeLike, b: DTypeLike): Promise<string> =>
      ((await cuda.matmul.async(cuda.deviceArray([2, 2], a), cuda.deviceArray([2, 2], b))) as DeviceNDArray).dtype.name;
    same(await dtypeOf('float32', 'float64'), 'f64');
    same(await dtypeOf('int32', 'float32'), 'f32');
    same(await dtypeOf('int8', 'int8'), 'i32');
    same(await dtypeOf('float16', 'float16'), 'f16');
    same(await dtypeOf('complex64', 'float32'), 'c64');
    await settled();
  },

  'f16 is added in f32': async () => {
    const ones = cuda.deviceArray([1, 4096], 'float16');
    ones.set(1);
    const small = cuda.deviceArray([4096, 1], 'float16');
    small.set(1);
    // Added in f16 it would stay at 2048.
    same(
      Number(
        ((await read((await cuda.matmul.async(ones, small)) as never)) as { get(...i: number[]): number }).get(0, 0),
      ),
      4096,
    );
  },

  'results go to an array': async () => {
    const [a, b] = [ofShape([4, 4]), ofShape([4, 4], 3)];
    const expected = elementsOf((await read((await cuda.matmul.async(a, b)) as DeviceNDArray)) as Listed);
    const turned = cuda.deviceArray([4, 4], 'float32');
    same(await cuda.matmul.async(a, b, { out: turned.T }).then((out) => out.shape.length), 2);
    const rows = elementsOf((await read(turned)) as Listed);
    sameElements(
      rows,
      expected.map((_, k) => expected[(k % 4) * 4 + Math.floor(k / 4)]),
    );
    // Of the operands themselves.
    await cuda.matmul.async(a, b, { out: a });
    sameElements((await read(a)) as Listed, expected);
    const wide = cuda.deviceArray([4, 8], 'float64');
    wide.set(9);
    await cuda.matmul.async(ofShape([4, 4]), b, { out: wide.slice(':', '::2') });
    sameElements(
      elementsOf((await read(wide)) as Listed).filter((_, k) => k % 2 === 0),
      expected,
    );
    sameElements(
      elementsOf((await read(wide)) as Listed).filter((_, k) => k % 2 === 1),
      expected.map(() => 9),
    );
    const host = new Float32Array(16);
    await cuda.matmul.async(ofShape([4, 4]), b, { out: ndarray(host, { shape: [4, 4] }) });
    sameElements(host, expected);
  },

  "by the vendor's library, or refused where there is none": async () => {
    const random = new Random(4);
    const library = 'cublas';
    const found = (): boolean => {
      try {
        return cuda.matmul.inspect(ofShape([2, 2]), ofShape([2, 2]), { library }).library === library;
      } catch (error) {
        same((error as { readonly code?: string }).code, 'E_CUBLAS');
        return false;
      }
    };
    same(cuda.matmul.inspect(ofShape([2, 2]), ofShape([2, 2])).library, 'own');
    for (const dtype of found() ? DTYPES.slice(0, 6) : []) {
      for (let round = 0; round < 4; round++) {
        const [m, k, n] = [random.below(40) + 1, random.below(40) + 1, random.below(40) + 1];
        const outer = round < 2 ? [] : [3];
        const [a, b] = [
          sample([...outer, m, k], dtype, random),
          sample(round === 3 ? [k, n] : [...outer, k, n], dtype, random),
        ];
        const result = (await cuda.matmul.async(a.array, b.array, { library })) as DeviceNDArray;
        const what = `${dtype} [${a.shape}] and [${b.shape}]: element`;
        compare((await read(result)) as Listed, productOf(a, b, dtype).elements, dtype, what);
      }
    }
    await settled();
  },

  'what does not go together is refused': blocking(() => {
    const square = ofShape([2, 2]);
    throws(
      () => cuda.matmul(ofShape([2, 3]), ofShape([2, 3])),
      /cannot be multiplied: rows have 3 elements, and columns 2/,
      'E_MATMUL',
    );
    throws(() => cuda.matmul(square, 3 as never), /argument 2 must be an array, got 3/, 'E_MATMUL');
    throws(() => cuda.matmul(cuda.deviceArray([2, 2], 'bool'), square), /has dtype bool/, 'E_MATMUL');
    throws(() => cuda.matmul(ofShape([2, 2, 2]), ofShape([3, 2, 2])), /cannot be broadcast/, 'E_BROADCAST');
    const out = cuda.deviceArray([2, 3], 'float32');
    throws(() => cuda.matmul(square, square, { out }), /out has shape/, 'E_BROADCAST');
  }),
});
