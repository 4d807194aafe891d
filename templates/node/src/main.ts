import { cuda, f32, ndarray } from 'tsamba';
import { saxpy, spread } from './kernels.ts';

const device = cuda.currentDevice();
console.log(`Kernels run on ${device.name}`);

const n = 1_000_000;
const x = cuda.toDevice(new Float32Array(n).fill(1));
const y = cuda.toDevice(Float32Array.from({ length: n }, (_, i) => i % 10));
saxpy.launch({ threads: n }, 2, x, y);
console.log('saxpy:', Array.from(y.copyToHost().subarray(0, 5)).join(' '));

const size = 256;
const rim = new Float32Array(size * size);
rim.fill(100, 0, size);
let now = cuda.toDevice(ndarray(rim, { shape: [size, size] }));
let next = cuda.deviceArray([size, size], f32);
const start = performance.now();
for (let step = 0; step < 1000; step++) {
  spread.launch({ threads: [size, size] }, now, next);
  [now, next] = [next, now];
}
cuda.synchronize();
console.log(`heat: ${now.get(10, size / 2).toFixed(1)} degrees below the rim, ${Math.round(performance.now() - start)} ms`);
