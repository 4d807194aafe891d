/** Runs every kernel of the matrix on the CPU device and returns what they computed, and where the planted errors are. */
import { type f32, KernelError, type NDArray, ndarray } from 'tsamba';
import { runExplicit } from './explicit.js';
import * as kernels from './kernels.js';

const N = 203;
const floats = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => Math.sin(i) * 3);
const matrix = (data: Float32Array, rows: number, columns: number): NDArray<f32, 2> =>
  ndarray(data, { shape: [rows, columns] });

export interface Outcome {
  readonly results: Record<string, number[]>;
  readonly errors: Record<string, { code: string; file: string; line: number; column: number; summary: string }>;
}

export function run(): Outcome {
  const results: Record<string, number[]> = {};
  const keep = (name: string, data: ArrayLike<number>): void => {
    results[name] = Array.from(data);
  };
  const line = { threads: N, block: 64 };

  const y = floats(N).map((v) => v * 2);
  kernels.saxpy.launch(line, y, floats(N), 2.5);
  keep('saxpy', y);

  const [rows, inner, columns] = [13, 21, 10];
  const c = new Float32Array(rows * columns);
  const a = matrix(floats(rows * inner), rows, inner);
  const b = matrix(floats(inner * columns), inner, columns);
  kernels.matmul.launch({ threads: [columns, rows], block: [8, 8] }, matrix(c, rows, columns), a, b);
  keep('matmul', c);

  const bins = new Uint32Array(16);
  const data = Uint32Array.from({ length: N }, (_, i) => (i * i * 7) >>> 1);
  kernels.histogram.launch({ grid: 2, block: 64 }, bins, data);
  keep('histogram', bins);

  const out = new Float32Array(rows * inner);
  kernels.stencil.launch({ threads: [inner, rows], block: [16, 4] }, matrix(out, rows, inner), a);
  keep('stencil', out);

  const sums = new Float32Array(4);
  kernels.blockSum.launch({ grid: 4, block: 64 }, sums, floats(N));
  keep('blockSum', sums);

  const shaded = new Float32Array(N);
  kernels.shaded.launch(line, shaded, floats(N));
  keep('shaded', shaded);

  const switched = new Int32Array(N);
  kernels.switched.launch(line, switched);
  keep('switched', switched);

  const labelled = new Int32Array(N);
  kernels.labelled.launch(line, labelled);
  keep('labelled', labelled);

  const early = new Float32Array(N);
  kernels.early.launch(line, early, N - 3);
  keep('early', early);

  const ternaries = new Int32Array(N);
  const signed = Int32Array.from({ length: N }, (_, i) => (i - 100) * (i % 3));
  kernels.ternaries.launch(line, ternaries, signed);
  keep('ternaries', ternaries);

  const captured = new Float32Array(N);
  kernels.captured.launch(line, captured);
  keep('captured', captured);

  const hashed = new Uint32Array(N);
  kernels.hashed.launch(line, hashed);
  keep('hashed', hashed);

  const iterated = new Float32Array(N);
  kernels.iterated.launch(line, iterated, floats(50));
  keep('iterated', iterated);

  const swapped = new Int32Array(N);
  kernels.swapped.launch(line, swapped);
  keep('swapped', swapped);

  const respelt = new Float32Array(N);
  kernels.respelt.launch(line, respelt, floats(N));
  keep('respelt', respelt);

  const wide = new BigInt64Array(N);
  kernels.wide.launch(line, wide);
  keep('wide', Array.from(wide, Number));

  const looped = new Float32Array(N);
  kernels.looped.launch(line, looped);
  keep('looped', looped);

  keep('explicit', runExplicit());

  const errors: Outcome['errors'] = {};
  const fails = (name: string, launch: () => void): void => {
    try {
      launch();
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      const { code, location, summary } = error;
      errors[name] = {
        code,
        file: location?.file ?? '',
        line: location?.line ?? 0,
        column: location?.column ?? 0,
        summary,
      };
    }
  };
  fails('brokenName', () => kernels.brokenName.launch(line, new Float32Array(N)));
  fails('brokenTypes', () => kernels.brokenTypes.launch(line, new Int32Array(N), new Uint32Array(N)));
  return { results, errors };
}
