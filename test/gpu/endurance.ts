/**
 * Much memory, many launches, many allocations: that sizes beyond 32 bits are right, and that nothing is left behind.
 *
 * Sizes follow the memory that is free, so that smaller GPUs run the same tests; what was reached is in the notes.
 */
import { cuda, f32, type f64, type In, i32, scope, u8, type u32, type Vec } from '../../src/index.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { same, sameElements } from '../../testsuite/assert.ts';
import { primitivesBeyond32Bits, productsBeyond32Bits } from './beyond.ts';
import { type GpuModule, skip } from './suite.ts';

const GIB = 2 ** 30;
/** What drivers take for themselves while they work, such as local memory for kernels and the pages of their pools. */
const SLACK = 64 * 2 ** 20;

/** Bytes that can be had: free ones, and those that the pool keeps. */
function available(): number {
  const context = cudaDevices.currentContext();
  cuda.synchronize();
  context.deallocations.clear();
  const { free, pooled } = context.driver.memoryInfo();
  return Math.max(free, pooled);
}

/** Runs and holds the device to having as much memory as before. */
function leavesNothing(run: () => string): string {
  const [before, live] = [available(), cuda.memoryStats().live];
  const note = scope(run);
  same(cuda.memoryStats().live, live, 'bytes of live arrays afterwards');
  const lost = before - available();
  if (lost > SLACK) throw new Error(`${lost} bytes are missing afterwards`);
  return note;
}

const GROUPS = 4;

function liveArrays(): string {
  const count = Math.floor(Math.min(100, (0.9 * available()) / GIB));
  if (count < 1) skip('less than a GiB is free');
  const n = GIB / 4;
  const mark = cuda.jit((a: Vec<f32>, value: number) => {
    const k = cuda.grid(1);
    if (k < a.length) a[k] = value + (k % 8);
  });
  const began = performance.now();
  const arrays = Array.from({ length: count }, () => cuda.deviceArray(n, f32));
  arrays.forEach((a, k) => void mark.launch({ threads: n, block: 256 }, a, 10 * k));
  cuda.synchronize();
  arrays.forEach((a, k) => {
    for (let j = 0; j <= GROUPS; j++) {
      const at = Math.min(n - 1, (n / GROUPS) * j);
      same(a.get(at), 10 * k + (at % 8), `array ${k}, element ${at}`);
    }
  });
  same(cuda.memoryStats().live >= count * GIB, true, 'all of them count as live');
  for (const a of arrays) a.dispose();
  return `${count} GiB in ${count} arrays, ${((performance.now() - began) / 1000).toFixed(1)} s`;
}

/** Writes every element of an array with more than 2³¹ of them, and reads at both ends and around 2³¹. */
function bytesBeyond32Bits(): string {
  const n = 2 ** 31 + 12_345;
  if (available() < 1.1 * n) skip('less than 2 GiB are free');
  const a = cuda.deviceArray(n, u8);
  a.set(255);
  const write = cuda.jit((y: Vec<u8>) => {
    const k = cuda.grid(1);
    if (k < y.length) y[k] = k % 251;
  });
  const shift = cuda.jit((y: Vec<u8>) => {
    const k = cuda.grid(1);
    if (k === 0) y[y.length - 1] = y[y.length - 2] + 100;
  });
  write.launch({ threads: n, block: 256 }, a);
  shift.launch({ grid: 1, block: 1 }, a);
  for (const k of [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, n - 2]) same(a.get(k), k % 251, `element ${k}`);
  same(a.get(n - 1), (((n - 2) % 251) + 100) & 255, 'the last element');
  const tail = a.slice([n - 5000, n]).copyToHost() as Uint8Array;
  for (let k = 0; k < 4999; k++) same(tail[k], (n - 5000 + k) % 251, `element ${n - 5000 + k}`);
  a.set(7, n - 3);
  same(a.get(n - 3), 7);
  a.dispose();
  return `${n} elements`;
}

/** What needs so many GiB. */
function within(gib: number, run: () => string): string {
  if (available() < gib * GIB) skip(`less than ${gib} GiB are free`);
  return run();
}

/** More than 2³¹ elements of four bytes, so that byte offsets need 34 bits. */
function floatsBeyond32Bits(): string {
  const n = 2 ** 31 + 1_000;
  if (available() < 4.1 * n) skip('less than 9 GiB are free');
  const a = cuda.deviceArray(n, f32);
  const write = cuda.jit((y: Vec<f32>) => {
    for (let k = cuda.grid(1); k < y.length; k += cuda.gridSize(1)) y[k] = k % 1009;
  });
  const pick = cuda.jit((out: Vec<f32>, y: Vec<f32>) => {
    const t = cuda.threadIdx.x;
    out[t] = t < 32 ? y[t] : y[y.length - 64 + t];
  });
  write.launch({ grid: 4096, block: 256 }, a);
  const out = cuda.deviceArray(64, f32);
  pick.launch({ grid: 1, block: 64 }, out, a);
  const got = out.copyToHost();
  for (let t = 0; t < 64; t++) {
    const k = t < 32 ? t : n - 64 + t;
    same(got[t], k % 1009, `element ${k}`);
    same(a.get(k), k % 1009, `element ${k} from the host`);
  }
  a.dispose();
  out.dispose();
  return `${n} elements`;
}

/** Indices beyond 2³¹ that meet offsets of 32 bits, by every way in which kernels put the two together. */
function offsetsBeyond32Bits(): string {
  const n = 2 ** 31 + 1_000;
  if (available() < 1.1 * n) skip('less than 2 GiB are free');
  const x = cuda.deviceArray(n, u8);
  x.set(0);
  const kernel = cuda.jit((y: Vec<u8>, signed: In<Vec<i32>>, unsigned: In<Vec<u32>>, out: Vec<f64>) => {
    const k = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
    if (k >= y.length || k < y.length - 600) return;
    y[k + signed[0]] = k % 251;
    if (k + 1 < y.length) return;
    out[0] = Math.min(y.length, signed[1]);
    out[1] = Math.max(signed[1], y.length);
    out[2] = k + unsigned[0];
    out[3] = k - unsigned[0];
    let at = k;
    at += signed[0];
    out[4] = at;
    out[5] = (k + signed[0]) | 0;
  });
  const [signed, unsigned, out] = [Int32Array.of(-400, 2 ** 31 - 1), Uint32Array.of(2 ** 32 - 1), new Float64Array(6)];
  const y = cuda.toDevice(out);
  kernel.launch({ grid: Math.ceil(n / 256), block: 256 }, x, cuda.toDevice(signed), cuda.toDevice(unsigned), y);
  for (let j = n - 1000; j < n - 400; j += 7) same(x.get(j), (j + 400) % 251, `element ${j}`);
  const k = n - 1;
  sameElements(y.copyToHost(), [2 ** 31 - 1, n, k + 2 ** 32 - 1, k - 2 ** 32 + 1, k - 400, (k - 400) | 0]);
  for (const array of [x, y]) array.dispose();
  return `${n} elements`;
}

function millionLaunches(): string {
  const launches = 1_000_000;
  const add = cuda.jit((a: Vec<i32>, v: number) => {
    const k = cuda.grid(1);
    if (k < a.length) a[k] += v;
  });
  const streams = [cuda.stream(), cuda.stream()];
  const arrays = [0, 1, 2].map(() => cuda.toDevice(new Int32Array(32)));
  cuda.synchronize();
  const began = performance.now();
  for (let k = 0; k < launches; k++) {
    const which = k % 3;
    if (which === 2) add.launch({ grid: 1, block: 32 }, arrays[2], 1);
    else add.launch({ grid: 1, block: 32, stream: streams[which] }, arrays[which], 1);
  }
  cuda.synchronize();
  const us = ((performance.now() - began) / launches) * 1000;
  const sum = arrays.reduce((total, a) => total + a.get(31), 0);
  same(sum, launches, 'launches counted by the kernels');
  for (const x of [...streams, ...arrays]) x.dispose();
  return `${us.toFixed(2)} µs a launch`;
}

function manyAllocations(): string {
  const cycles = 100_000;
  const began = performance.now();
  for (let k = 0; k < cycles; k++) cuda.deviceArray(1 + ((k * 7919) % 100_000), i32).dispose();
  cuda.synchronize();
  return `${(((performance.now() - began) / cycles) * 1000).toFixed(2)} µs each`;
}

/** Allocations that are used, freed on streams, and of which views outlive the arrays. */
function usedAllocations(): string {
  const cycles = 20_000;
  const fill = cuda.jit((a: Vec<f32>, v: number) => {
    const k = cuda.grid(1);
    if (k < a.length) a[k] = v;
  });
  const stream = cuda.stream();
  for (let k = 0; k < cycles; k++) {
    const a = cuda.deviceArray(64 + (k % 1000), f32, k % 2 === 0 ? { stream } : {});
    const view = a.slice([1, 33]);
    a.dispose();
    fill.launch(k % 2 === 0 ? { grid: 1, block: 32, stream } : { grid: 1, block: 32 }, view, k);
    if (k % 1000 === 0) {
      stream.synchronize();
      same(view.get(31), k, `cycle ${k}`);
    }
    view.dispose();
  }
  cuda.synchronize();
  stream.dispose();
  return `${cycles} cycles`;
}

export const endurance: GpuModule = {
  chapter: 'endurance',
  tests: [
    { name: '100 GiB of live arrays', run: () => leavesNothing(liveArrays), seconds: 120 },
    { name: 'more than 2³¹ bytes in an array', run: () => leavesNothing(bytesBeyond32Bits) },
    { name: 'more than 2³¹ floats in an array', run: () => leavesNothing(floatsBeyond32Bits) },
    {
      name: 'primitives over more than 2³¹ elements',
      run: () => leavesNothing(() => within(24, () => primitivesBeyond32Bits())),
      seconds: 120,
    },
    {
      name: 'products of more than 2³¹ elements',
      run: () => leavesNothing(() => within(40, () => productsBeyond32Bits())),
      seconds: 120,
    },
    { name: 'offsets of 32 bits beyond 2³¹ elements', run: () => leavesNothing(offsetsBeyond32Bits) },
    { name: '1,000,000 launches', run: () => leavesNothing(millionLaunches), seconds: 120 },
    { name: '100,000 allocations', run: () => leavesNothing(manyAllocations) },
    { name: '20,000 allocations in use', run: () => leavesNothing(usedAllocations) },
  ],
};
