/**
 * The error of special functions in f32, measured on the CPU device over all 2³² arguments or a part of them, against the same functions in f64, which the conformance
 * suite holds to values of 40 digits (their own error is below 2⁻²⁶ ulp of f32).
 *
 *   npm run ulp:special -- [--function j0,erfinv] [--stride N]
 *
 * From 8 on, the errors of j0, j1, y0 and y1 are in units of the amplitude √(2 / πx). Exits with 1 when a bound of docs/math.md is exceeded.
 */
import { ulps } from '../../src/compiler/math/testing.ts';
import { cuda, f64, type In, type Vec } from '../../src/index.ts';
import { readOptions } from '../options.ts';

const BATCH = 1 << 20;

/** The function, and the bound that docs/math.md gives. */
const FUNCTIONS: Readonly<Record<string, readonly [(x: number) => number, number]>> = {
  j0: [(x) => cuda.j0(x), 5],
  j1: [(x) => cuda.j1(x), 5],
  y0: [(x) => cuda.y0(x), 5],
  y1: [(x) => cuda.y1(x), 5],
  cylBesselI0: [(x) => cuda.cylBesselI0(x), 5],
  cylBesselI1: [(x) => cuda.cylBesselI1(x), 5],
  erfinv: [(x) => cuda.erfinv(x), 4],
  erfcinv: [(x) => cuda.erfcinv(x), 4],
  erfcx: [(x) => cuda.erfcx(x), 5],
  normcdf: [(x) => cuda.normcdf(x), 5],
  normcdfinv: [(x) => cuda.normcdfinv(x), 4],
  rcbrt: [(x) => cuda.rcbrt(x), 2],
  exp10: [(x) => cuda.exp10(x), 2],
};

const given = readOptions('ulp:special', 'npm run ulp:special --');

/** The largest error of a function, and where. */
function measure(name: string, body: (x: number) => number, stride: number): readonly [error: number, at: number] {
  const kernel = cuda.jit((x: In<Vec<f64>>, single: Vec<f64>, double: Vec<f64>) => {
    const i = cuda.grid(1);
    if (i >= x.length) return;
    single[i] = body(x[i]);
    double[i] = body(f64(x[i]));
  });
  const bits = new Uint32Array(BATCH);
  const x = new Float32Array(bits.buffer);
  const [dx, single, double] = [
    cuda.deviceArray(BATCH, 'float32'),
    cuda.deviceArray(BATCH, 'float32'),
    cuda.deviceArray(BATCH, 'float64'),
  ];
  let [worst, where] = [0, 0];
  for (let next = 0; next < 2 ** 32; ) {
    for (let k = 0; k < BATCH; k++, next += stride) bits[k] = Math.min(next, 2 ** 32 - 1);
    dx.copyToDevice(x);
    kernel.launch({ threads: BATCH, block: 256 }, dx as never, single as never, double);
    const [got, want] = [single.copyToHost(), double.copyToHost()];
    for (let k = 0; k < BATCH; k++) {
      const [y, exact, at] = [got[k] as number, want[k] as number, x[k] as number];
      if (Object.is(y, Math.fround(exact))) continue;
      const wave = /^[jy]/.test(name) && Math.abs(at) >= 8 && !Number.isNaN(y);
      const amplitude = Math.sqrt(2 / (Math.PI * Math.abs(at)));
      const unit = 2 ** Math.max(Math.floor(Math.log2(Math.max(amplitude, Math.abs(exact)))) - 23, -149);
      const error = wave ? Math.abs(y - exact) / unit : ulps(y, exact);
      if (error > worst) [worst, where] = [error, at];
    }
  }
  for (const array of [dx, single, double]) array.dispose();
  return [worst, where];
}

cuda.selectDevice('cpu');
const stride = Number(given.value('stride', '1'));
for (const name of given.value('function', Object.keys(FUNCTIONS).join(',')).split(',')) {
  const found = FUNCTIONS[name];
  if (found === undefined) throw new Error(`unknown function ${name}; there are ${Object.keys(FUNCTIONS).join(', ')}`);
  const [body, bound] = found;
  const [error, at] = measure(name, body, stride);
  const verdict = error <= bound ? '' : `  above its bound of ${bound}`;
  if (verdict !== '') process.exitCode = 1;
  console.log(`${name.padEnd(12)} ${error.toFixed(2)} ulp at ${at}${verdict}`);
}
