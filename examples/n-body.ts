/**
 * Gravity between n bodies: every thread has one body, and the block reads the others tile by tile through shared memory.
 *
 *     npx tsx examples/n-body.ts [bodies] [steps]
 */
import { cuda, f32, type In, type Mat, ndarray } from '../src/index.ts';

const [n = 4096, steps = 10] = process.argv.slice(2).map(Number);
const TILE = 128;
const SOFTENING = 0.01;

/** Rows are x, y, z and mass: neighbouring threads read neighbouring elements. */
const accelerate = cuda.jit((bodies: In<Mat<f32>>, velocity: Mat<f32>, dt: number) => {
  const tile = cuda.shared.array([4, TILE], f32);
  const t = cuda.threadIdx.x;
  const i = cuda.grid(1);
  const n = bodies.shape[1];
  const mine = Math.min(i, n - 1); // threads beyond the last body help to load tiles
  const [x, y, z] = [bodies[0][mine], bodies[1][mine], bodies[2][mine]];
  let [ax, ay, az] = [f32(0), f32(0), f32(0)];
  for (let first = 0; first < n; first += TILE) {
    const other = first + t;
    for (let c = 0; c < 4; c++) tile[c][t] = other < n ? bodies[c][other] : 0; // no mass, no pull
    cuda.syncThreads();
    for (let k = 0; k < TILE; k++) {
      const [dx, dy, dz] = [tile[0][k] - x, tile[1][k] - y, tile[2][k] - z];
      const inverse = 1 / Math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
      const pull = tile[3][k] * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    cuda.syncThreads();
  }
  if (i >= n) return;
  velocity[0][i] += dt * ax;
  velocity[1][i] += dt * ay;
  velocity[2][i] += dt * az;
});

const move = cuda.jit((bodies: Mat<f32>, velocity: In<Mat<f32>>, dt: number) => {
  const i = cuda.grid(1);
  if (i >= bodies.shape[1]) return;
  for (let c = 0; c < 3; c++) bodies[c][i] += dt * velocity[c][i];
});

let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 31 - 1;
};
const start = Float32Array.from({ length: 4 * n }, (_, k) => (k < 3 * n ? random() : 1 / n));
const bodies = cuda.toDevice(ndarray(start, { shape: [4, n] }));
const velocity = cuda.toDevice(ndarray.zeros([3, n], f32));

const began = performance.now();
for (let k = 0; k < steps; k++) {
  accelerate.launch({ threads: n, block: TILE }, bodies, velocity, 0.01);
  move.launch({ threads: n, block: TILE }, bodies, velocity, 0.01);
}
cuda.synchronize();
const seconds = (performance.now() - began) / 1000;

// Forces come in pairs, so the momentum stays what it was: nothing, but for rounding.
const v = velocity.copyToHost().data;
const momentum = Math.hypot(...[0, 1, 2].map((c) => v.subarray(c * n, (c + 1) * n).reduce((a, b) => a + b, 0) / n));
const speed = Math.sqrt(v.reduce((a, b) => a + b * b, 0) / n);
console.log(`${n} bodies, ${steps} steps: ${((n * n * steps) / seconds / 1e6).toFixed(0)} million pairs a second`);
console.log(`mean speed ${speed.toFixed(4)}, momentum ${momentum.toExponential(0)}`);
if (!(momentum < 1e-4 * speed)) throw new Error('momentum is not conserved');
