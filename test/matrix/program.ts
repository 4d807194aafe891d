/**
 * What every cell of the matrix runs: a saxpy, a captured constant, a device function, and an error whose place in this file counts.
 * In one file, so that no tool has an opinion on how it is imported. Captures are given only where there is no inspector,
 * in the form that survives bundlers.
 */
import { cuda, type f32, type In, KernelError, type Vec } from 'tsamba';

const explicit = process.env['MATRIX_CAPTURES'] === '1';
const gain = 3;
const half = (v: number): number => v * 0.5;

const saxpy = cuda.jit((a: number, x: In<Vec<f32>>, y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i]! += a * x[i]!;
});

const scaled = explicit
  ? cuda.jit(
      ({ cuda, gain }) =>
        (y: Vec<f32>) => {
          const i = cuda.grid(1);
          if (i < y.length) y[i]! *= gain;
        },
      { captures: { cuda, gain } },
    )
  : cuda.jit((y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i]! *= gain;
    });

const halved = explicit
  ? cuda.jit(
      ({ cuda, half }) =>
        (y: Vec<f32>) => {
          const i = cuda.grid(1);
          if (i < y.length) y[i] = half(y[i]!);
        },
      { captures: { cuda, half } },
    )
  : cuda.jit((y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = half(y[i]!);
    });

const broken = cuda.jit((y: Vec<f32>, n: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) {
    y[n[i]!] = 1; // the error is here
  }
});

function report(): void {
  const y = cuda.toDevice(Float32Array.of(10, 20, 30, 40));
  saxpy.launch({ grid: 1, block: 4 }, 2, cuda.toDevice(Float32Array.of(1, 2, 3, 4)), y);
  scaled.launch({ grid: 1, block: 4 }, y);
  halved.launch({ grid: 1, block: 4 }, y);
  let error: unknown;
  try {
    broken.launch({ grid: 1, block: 4 }, y, y);
  } catch (thrown) {
    error = thrown;
  }
  const { code, location } = error instanceof KernelError ? error : { code: String(error), location: undefined };
  const place = { file: location?.file ?? '', line: location?.line ?? 0 };
  console.log(
    `OUTCOME ${JSON.stringify({ values: [...y.copyToHost()], device: cuda.currentDevice().kind, code, ...place })} END`,
  );
}

report();
