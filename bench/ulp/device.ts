/**
 * The error of f32 functions on a GPU, over all 2³² arguments: each is a kernel of its own that compares with the f64 function on the
 * same GPU, whose error (docs/math.md) is at most 3 ulp of f64, 2⁻²⁷ ulp of f32. Bundled into one file by
 * `npm run test:gpu -- --bundle DIR`:
 *
 *   node ulp.mjs [exp,log,…]
 *
 * Exits with 1 when a bound of docs/math.md is exceeded, or where NaN and infinities differ. lgamma is left out: where it is close to
 * zero its error is not relative, see `npm run ulp`.
 */
import { cuda, f32, f64, type In, type Vec } from 'tsamba';
import type { MathFn } from '../../src/compiler/ir/ops.ts';
import { GPU_MAX_ULP_F32 } from '../../src/compiler/math/testing.ts';

type Real = (x: number) => number;

const FUNCTIONS: Readonly<Partial<Record<MathFn, Real>>> = {
  exp: Math.exp,
  exp2: cuda.exp2,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  cbrt: Math.cbrt,
  rsqrt: cuda.rsqrt,
  erf: cuda.erf,
  erfc: cuda.erfc,
  tgamma: cuda.tgamma,
};

/** Bit patterns that one launch covers: one in 64 of all, so that every launch sees arguments of all sizes. */
const PATTERNS = 2 ** 26;
const THREADS = 2 ** 20;

/** The pattern of element i in launch k is `64 · i + k`. */
const patterns = cuda.jit((bits: Vec<f32>, launch: number) => {
  const words = bits as unknown as Vec<number>;
  for (let i = cuda.grid(1); i < words.length; i += cuda.gridSize(1)) words[i] = 64 * i + launch;
});

/** Keeps each thread's largest error, in ulp of f32, and where it was; 10⁹ where one result is NaN or infinite and the other is not. */
function measure(fn: Real) {
  return cuda.jit((arguments_: In<Vec<f32>>, worst: Vec<f64>, where: Vec<f32>) => {
    const t = cuda.grid(1);
    let most = worst[t];
    let at = where[t];
    for (let i = t; i < arguments_.length; i += cuda.gridSize(1)) {
      const x = arguments_[i];
      const got = f64(fn(f32(x)));
      const want = fn(f64(x));
      const size = Math.abs(want);
      // The exponent of the last place: of f32's smallest normal number at least, of its largest at most.
      let e = Math.floor(Math.log2(size));
      if (cuda.exp2(e) > size) e -= 1;
      if (cuda.exp2(e + 1) <= size) e += 1;
      const place = cuda.exp2(Math.min(Math.max(e, f64(-126)), f64(127)) - 23);
      let error = Math.abs(got - want) / place;
      // What rounds to infinity may be infinite, or the largest number.
      if (size >= 3.4028235677973366e38)
        error = Math.abs(got) >= 3.4028234663852886e38 && got * want > 0 ? f64(0) : f64(1e9);
      if (size === 0) error = got === 0 ? f64(0) : Math.abs(got) * 2 ** 149;
      const [ours, theirs] = [Number.isNaN(got), Number.isNaN(want)];
      if (ours || theirs) error = ours === theirs ? f64(0) : f64(1e9);
      if (error > most) {
        most = error;
        at = x;
      }
    }
    worst[t] = most;
    where[t] = at;
  });
}

function run(name: MathFn, fn: Real, bits: ReturnType<typeof cuda.deviceArray>): void {
  const kernel = measure(fn);
  using worst = cuda.toDevice(new Float64Array(THREADS));
  using where = cuda.toDevice(new Float32Array(THREADS));
  const values = bits.view(f32);
  for (let launch = 0; launch < 64; launch++) {
    patterns.forAll(PATTERNS)(bits as never, launch);
    kernel.launch({ grid: THREADS / 256, block: 256 }, values as never, worst as never, where as never);
  }
  const errors = worst.copyToHost() as Float64Array;
  const places = where.copyToHost() as Float32Array;
  const k = errors.reduce((best, error, index) => (error > errors[best] ? index : best), 0);
  const bound = GPU_MAX_ULP_F32[name];
  const verdict = errors[k] <= bound ? '' : `  above its bound of ${bound}`;
  if (verdict) process.exitCode = 1;
  console.log(`${name.padEnd(6)} ${errors[k].toFixed(4)} ulp at ${places[k]}${verdict}`);
}

console.log(`${cuda.currentContext().info.name}`);
const wanted = process.argv[2]?.split(',') ?? Object.keys(FUNCTIONS);
for (const name of wanted as MathFn[]) {
  const fn = FUNCTIONS[name];
  if (!fn) throw new Error(`unknown function ${name}; there are ${Object.keys(FUNCTIONS).join(', ')}`);
  using bits = cuda.deviceArray(PATTERNS, 'u32');
  const began = performance.now();
  run(name, fn, bits);
  if (process.env.TIMES) console.log(`  ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
