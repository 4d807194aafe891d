/**
 * Products by cuBLAS, from `cuda.matmul` to the calls of the library: over models of libcuda and of cuBLAS, which computes them in real memory.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { DeviceNDArray } from '../array/device-array.ts';
import { copyToContext, newArray } from '../array/device-create.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { CudaModel } from '../driver/cuda-api/cuda-model.testing.ts';
import { bind, libraryFiles } from '../driver/nvidia/cublas.ts';
import { CublasModel } from '../driver/nvidia/cublas-model.testing.ts';
import { deviceInfo } from '../driver/nvidia/device.testing.ts';
import { NvidiaDriver } from '../driver/nvidia/device.ts';
import { CUDA_VOCABULARY } from '../driver/nvidia/result.ts';
import { asDType } from '../dtype/index.ts';
import { loadFfi } from '../ffi/koffi.ts';
import { graphOf } from '../graph/graph.ts';
import { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { Stream } from '../stream/stream.ts';
import { dotOf } from './dot.ts';
import { einsumOf } from './einsum.ts';
import { matmulOf } from './matmul.ts';

const available = loadFfi().ffi !== undefined;
let number = 0;
let close: () => void = () => undefined;
afterEach(() => close());

type Product = (a: unknown, b: unknown, options?: object) => DeviceNDArray;

function open(reason?: string) {
  const model = new CudaModel(CUDA_VOCABULARY);
  const library = new CublasModel(model);
  const driver = new NvidiaDriver(
    model.cuda,
    { device: 9000 + number++, info: deviceInfo, memoryPools: true },
    { cubins: null, cublas: () => (reason === undefined ? { cublas: library.cublas } : { reason }) },
  );
  const context = new Context(driver);
  close = () => context.close();
  // What a namespace is to the functions that are made for it.
  const devices = { namespace: 'cuda', currentContext: () => context } as unknown as DeviceSelection;
  const upload = (list: readonly unknown[], dtype = 'float32'): DeviceNDArray =>
    copyToContext(context, ndarray(list as number[], { dtype: dtype as 'float32' }), {}) as DeviceNDArray;
  const matmul = matmulOf(devices);
  return { model, library, context, devices, upload, matmul, product: matmul as unknown as Product };
}

interface Complex {
  readonly re: number;
  readonly im: number;
}
type Nested = (number | Complex)[][];

/** Small whole numbers, complex ones where the type is. */
function matrix(rows: number, columns: number, dtype: string, seed: number): Nested {
  return Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (_, j) => {
      const value = ((7 * i + 3 * j + seed) % 9) - 4;
      return dtype.startsWith('complex') ? { re: value, im: ((i + 2 * j + seed) % 5) - 2 } : value;
    }),
  );
}

const partsOf = (x: unknown): Complex => (typeof x === 'object' ? (x as Complex) : { re: Number(x), im: 0 });

function multiplied(a: Nested, b: Nested): Complex[][] {
  return a.map((row) =>
    (b[0] as unknown[]).map((_, j) =>
      row.reduce<Complex>(
        (sum, given, k) => {
          const [x, y] = [partsOf(given), partsOf(b[k]?.[j])];
          return { re: sum.re + x.re * y.re - x.im * y.im, im: sum.im + x.re * y.im + x.im * y.re };
        },
        { re: 0, im: 0 },
      ),
    ),
  );
}

const turned = (a: Nested): Nested => (a[0] as unknown[]).map((_, j) => a.map((row) => row[j] as number));
const listed = (array: DeviceNDArray): unknown => {
  const deep = (x: unknown): unknown => (Array.isArray(x) ? x.map(deep) : partsOf(x));
  const host = array.copyToHost() as unknown as { toArray?(): unknown };
  return deep(host.toArray?.() ?? Array.from(host as unknown as Float32Array));
};

describe.skipIf(!available)('products by cuBLAS', () => {
  it.each(['float32', 'float64', 'complex64', 'complex128', 'float16', 'bfloat16'])(
    'of %s: rows, columns, parts of larger matrices',
    (dtype) => {
      const { upload, product, library, context } = open();
      const [a, b] = [matrix(3, 5, dtype, 1), matrix(5, 4, dtype, 2)];
      const expected = multiplied(a, b);
      const [x, y] = [upload(a, dtype), upload(b, dtype)];
      const [xt, yt] = [upload(turned(a), dtype).T, upload(turned(b), dtype).T];
      const wide = upload(
        b.map((row) => [...row, ...row.map(() => 3)]),
        dtype,
      ).slice(':', '0:4') as DeviceNDArray;
      for (const left of [x, xt]) {
        for (const right of [y, yt, wide])
          expect(listed(product(left, right, { library: 'cublas' }))).toEqual(expected);
      }
      const out = newArray(context, [4, 3], asDType(dtype as 'float32'), {});
      product(x, y, { library: 'cublas', out: out.T });
      expect(listed(out.T)).toEqual(expected);
      expect(library.mathMode).toBe(16);
    },
  );

  it('of batches, some of them broadcast, of vectors, and by einsum and dot', () => {
    const { upload, product, devices, model } = open();
    const options = { library: 'cublas' };
    const [a, b] = [[0, 1, 2].map((z) => matrix(2, 3, 'f', z)), [5, 6, 7].map((z) => matrix(3, 4, 'f', z))];
    const expected = a.map((one, z) => multiplied(one, b[z] as Nested));
    const [x, y] = [upload(a), upload(b)];
    expect(listed(product(x, y, options))).toEqual(expected);
    expect(model.calls.filter((name) => name === 'cublasGemmStridedBatchedEx').length).toBe(1);
    const first = upload(b[0] as Nested);
    expect(listed(product(x, first, options))).toEqual(a.map((one) => multiplied(one, b[0] as Nested)));
    expect(listed(product(upload(a[0] as Nested), y, options))).toEqual(
      b.map((one) => multiplied(a[0] as Nested, one)),
    );
    const vector = upload([1, 2, 3]);
    const row = multiplied([[1, 2, 3]], b[0] as Nested)[0];
    expect(listed(product(vector, first, options))).toEqual(row);
    const einsum = einsumOf(devices) as unknown as (...given: unknown[]) => DeviceNDArray;
    expect(listed(einsum('zij,zjk->zik', x, y, options))).toEqual(expected);
    expect(listed(einsum('ji,jk->ki', first, upload(turned(a[0] as Nested)), options))).toEqual(
      turned(multiplied(turned(b[0] as Nested), turned(a[0] as Nested)) as unknown as Nested),
    );
    const dot = dotOf(devices) as unknown as Product;
    expect(listed(dot(upload(a[0] as Nested), first, options))).toEqual(multiplied(a[0] as Nested, b[0] as Nested));
  });

  it('are in the order of streams, with memory of their own for each', () => {
    const { upload, product, context, library, model } = open();
    const [x, y] = [upload(matrix(2, 2, 'f', 1)), upload(matrix(2, 2, 'f', 2))];
    const [one, other] = [new Stream(context, 'created'), new Stream(context, 'created')];
    for (const stream of [one, other, one]) product(x, y, { library: 'cublas', stream });
    const [first, second, third] = library.workspaces;
    expect(first).toBe(third);
    expect(first).not.toBe(second);
    expect(Math.min(...library.workspaces)).toBeGreaterThan(0);
    context.synchronize();
    context.resourceDeallocations.clear();
    context.synchronize();
    const before = model.live;
    other.dispose();
    context.resourceDeallocations.clear();
    context.synchronize();
    expect(before - model.live).toBe(32 * 2 ** 20);
  });

  it('are kept by graphs, which have memory for them', () => {
    const { upload, product, context, devices, library, model } = open();
    const [a, b] = [matrix(2, 2, 'f', 1), matrix(2, 2, 'f', 3)];
    const [x, y] = [upload(a), upload(b)];
    const [c, d] = [0, 1].map(() => newArray(context, [2, 2], asDType('float32'), {})) as [
      DeviceNDArray,
      DeviceNDArray,
    ];
    product(x, y, { library: 'cublas' });
    context.resourceDeallocations.clear();
    context.synchronize();
    const before = model.live;
    const g = graphOf(devices)(() => {
      product(x, y, { library: 'cublas', out: c });
      product(c, y, { library: 'cublas', out: d });
    });
    expect([g.size, g.kept]).toEqual([2, 2]);
    expect(new Set(library.workspaces).size).toBe(2);
    x.copyToDevice(ndarray([1, 0, 0, 1], { dtype: 'float32', shape: [2, 2] } as never) as never);
    g.launch();
    expect(listed(d)).toEqual(multiplied(b, b));
    g.dispose();
    context.resourceDeallocations.clear();
    context.synchronize();
    expect(model.live).toBe(before);
  });

  it('give errors with the names of cuBLAS, and end with the device', () => {
    const { upload, product, library, model, context } = open();
    const x = upload(matrix(2, 2, 'f', 1));
    model.results.set('cublasGemmEx', 13);
    expect(() => product(x, x, { library: 'cublas' })).toThrow(
      /cublasGemmEx: CUBLAS_STATUS_EXECUTION_FAILED \(13\), on Model GPU\n {2}in the product of \[2, 2\] and \[2, 2\] of f32/,
    );
    model.results.clear();
    product(x, x, { library: 'cublas' });
    expect(library.open).toBe(1);
    context.close();
    expect(library.open).toBe(0);
  });
});

describe.skipIf(!available)('which library multiplies', () => {
  it('is said by inspect: cuBLAS for large products that are not thin', () => {
    const { upload, matmul, context } = open();
    const large = newArray(context, [128, 128], asDType('float32'), {});
    const why = (a: DeviceNDArray, b: DeviceNDArray, options?: object) => matmul.inspect(a, b, options);
    expect(why(large, large)).toEqual({
      library: 'cublas',
      version: 'cuBLAS 13.0.2',
      why: 'it is installed, and the product is a large one',
    });
    expect(why(large, large, { library: 'own' }).library).toBe('own');
    expect(why(upload([[1]]), upload([[1]])).library).toBe('own');
    const thin = newArray(context, [4, 65536], asDType('float32'), {});
    expect(why(thin, thin.T)).toMatchObject({ library: 'own', why: expect.stringMatching(/thin/) });
    const whole = newArray(context, [128, 128], asDType('int32'), {});
    expect(why(whole, whole)).toEqual({ library: 'own', why: 'cuBLAS does not multiply i32' });
  });

  it('is ours where there is no cuBLAS, which can then not be asked for', () => {
    const { matmul, context } = open('cuBLAS is not installed (none)');
    const large = newArray(context, [128, 128], asDType('float32'), {});
    expect(matmul.inspect(large, large)).toEqual({ library: 'own', why: 'cuBLAS is not installed (none)' });
    expect(() => matmul(large, large, { library: 'cublas' })).toThrow(
      /cuBLAS cannot be used on Model GPU: cuBLAS is not installed \(none\)/,
    );
    expect(() => matmul(large, large, { library: 'mkl' as never })).toThrow(
      /library must be 'own' or 'cublas', got 'mkl'/,
    );
  });

  it('is found in the toolkit, the system and packages of Python, newest first', () => {
    expect(libraryFiles('linux', '/cuda', ['/py'])).toEqual([
      ...[13, 12, 11].map((n) => `/cuda/lib64/libcublas.so.${n}`),
      ...[13, 12, 11].map((n) => `libcublas.so.${n}`),
      ...[13, 12, 11].map((n) => `/py/nvidia/cu13/lib/libcublas.so.${n}`),
      ...[13, 12, 11].map((n) => `/py/nvidia/cublas/lib/libcublas.so.${n}`),
    ]);
    const tried: (readonly string[])[] = [];
    const load = (names: readonly string[]) => {
      tried.push(names);
      return { reasons: ['not there'] };
    };
    expect(bind({ load } as never, '/x/libcublas.so.13').reason).toBe(
      'TSAMBA_CUBLAS_LIBRARY=/x/libcublas.so.13 cannot be loaded (not there)',
    );
    expect(tried).toEqual([['/x/libcublasLt.so.13'], ['/x/libcublas.so.13']]);
  });

  it('is left out where the environment says so', async () => {
    vi.stubEnv('TSAMBA_CUBLAS_LIBRARY', '0');
    vi.resetModules();
    const { loadCublas } = await import('../driver/nvidia/cublas.ts');
    expect(loadCublas().reason).toBe('TSAMBA_CUBLAS_LIBRARY=0 leaves it out');
    vi.unstubAllEnvs();
  });
});
