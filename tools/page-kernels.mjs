#!/usr/bin/env node
/**
 * `node tools/page-kernels.mjs LIBRARY PLUGIN first|simple|all`: compiles kernels such as most pages have, for the CPU device and for WebGPU, with the half of the library for pages, and prints what they
 * reach of it: by file, where the functions begin that are called, and ranges of the text with whether they were reached, the inner ones last, as JSON. What none of them reaches, pages load when a
 * kernel does (`page-parts.mjs`).
 */
import { Session } from 'node:inspector/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [library, plugin, which] = process.argv.slice(2);

/** The text of a module, as bundlers give it to the plugin. Each kernel computes elements from elements in \`simple\`; the others have loops, memory that threads share, and functions of \`Math\`. */
const MODULE = `
import { cuda } from 'tsamba';
const gain = 3;
export const first = [
  [cuda.jit((a, x, y) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i] = a * x[i] + y[i];
  }), 'f32', 'f32[:]', 'f32[:]'],
  [cuda.jit((out, a, b, n) => {
    const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
    if (i >= n) return;
    out[i] = gain * (a[i] - b[i]) / 2;
  }), 'f32[:]', 'f32[:]', 'f32[:]', 'i32'],
  [cuda.jit((a, b) => {
    const i = cuda.grid(1);
    if (i >= a.length) return;
    a[i] += b[i];
    b[i] = -a[i] * 3;
  }), 'i32[:]', 'i32[:]'],
];
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
export const simple = [
  [cuda.jit((a, x, y) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i] = a * x[i] + y[i];
  }), 'f32', 'f32[:]', 'f32[:]'],
  [cuda.jit((a, b, c) => {
    const i = cuda.grid(1);
    if (i >= c.length) return;
    c[i] = a[i] + gain * b[i];
  }), 'i32[:]', 'i32[:]', 'i32[:]'],
  [cuda.jit((x, y, least) => {
    const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
    if (i < x.length) {
      const v = Math.sqrt(x[i]) - 0.5;
      y[i] = v > least ? v : 0;
    }
  }), 'f32[:]', 'f32[:]', 'f32'],
  [cuda.jit((y, x, least) => {
    const i = cuda.grid(1);
    if (i >= y.length) return;
    y[i] = x[i] > least ? x[i] - 1 : 0;
  }), 'f32[:]', 'f32[:]', 'f32'],
  [cuda.jit((x, y, t) => {
    const i = cuda.grid(1);
    if (i < x.length && t !== 0) {
      x[i] = x[i] * (1 - t) + y[i] * t;
      x[i] /= 2;
      if (x[i] < -1 || x[i] > 1) y[i] = -x[i];
      else y[i] -= x[i] / 3;
    }
  }), 'f32[:]', 'f32[:]', 'f32'],
  [cuda.jit((a, b) => {
    const i = cuda.grid(1);
    if (i >= a.length) return;
    let v = b[i];
    if (v % 2 === 0) v = v >> 1;
    else v = 3 * v + 1;
    a[i] = (v & 255) | (i << 8);
    b[i]++;
  }), 'i32[:]', 'i32[:]'],
  [cuda.jit((pixels, light) => {
    const i = cuda.grid(1);
    if (i < pixels.length) pixels[i] = Math.min(Math.max(pixels[i] + light, 0), 255);
  }), 'uint8[:]', 'i32'],
  [cuda.jit((from, to) => {
    const [x, y] = cuda.grid(2);
    if (y < to.shape[0] && x < to.shape[1]) to[y][x] = from[y][x] + 1;
  }), 'f32[:,:]', 'f32[:,:]'],
];
export const usual = [
  [cuda.jit((y, n) => {
    for (let i = cuda.grid(1); i < n; i += cuda.gridSize(1)) y[i] *= gain;
  }), 'f32[:]', 'i32'],
  [cuda.jit((picture, time) => {
    const [x, y] = cuda.grid(2);
    const [height, width] = picture.shape;
    if (x >= width || y >= height) return;
    const dx = x / width - 0.5;
    const dy = y / height - 0.5;
    const wave = Math.sin(Math.sqrt(dx * dx + dy * dy) * 40 - time);
    picture[y][x][0] = clamp(255 * wave, 0, 255);
    picture[y][x][1] = (x ^ y) & 255;
    picture[y][x][3] = 255;
  }), 'uint8[:,:,:]', 'f32'],
  [cuda.jit((from, to) => {
    const [x, y] = cuda.grid(2);
    if (x < 1 || y < 1 || x >= to.shape[1] - 1 || y >= to.shape[0] - 1) return;
    let sum = 0;
    for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) sum += from[y + dy][x + dx];
    to[y][x] = sum / 9;
  }), 'f32[:,:]', 'f32[:,:]'],
  [cuda.jit((x, out) => {
    const part = cuda.shared.array(64, 'f32');
    const t = cuda.threadIdx.x;
    const i = cuda.blockIdx.x * cuda.blockDim.x + t;
    part[t] = i < x.length ? x[i] : 0;
    cuda.syncThreads();
    for (let s = 32; s > 0; s >>= 1) {
      if (t < s) part[t] += part[t + s];
      cuda.syncThreads();
    }
    if (t === 0) cuda.atomic.add(out, 0, part[0]);
  }), 'f32[:]', 'f32[:]'],
  [cuda.jit((cells, counts) => {
    const i = cuda.grid(1);
    if (i >= cells.length) return;
    let n = cells[i];
    let steps = 0;
    while (n > 1 && steps < 100) {
      n = n % 2 === 0 ? n >> 1 : 3 * n + 1;
      steps++;
    }
    counts[i] = Math.floor(Math.exp(Math.fround(steps) * 0.1)) | 0;
  }), 'i32[:]', 'i32[:]'],
  [cuda.jit((a, b, c) => {
    const ta = cuda.shared.array([8, 8], 'f32');
    const tb = cuda.shared.array([8, 8], 'f32');
    const { x: tx, y: ty } = cuda.threadIdx;
    const [col, row] = cuda.grid(2);
    let sum = 0;
    for (let k = 0; k < a.shape[1]; k += 8) {
      ta[ty][tx] = a[row][k + tx];
      tb[ty][tx] = b[k + ty][col];
      cuda.syncThreads();
      for (let j = 0; j < 8; j++) sum += ta[ty][j] * tb[j][tx];
      cuda.syncThreads();
    }
    c[row][col] = sum;
  }), 'f32[:,:]', 'f32[:,:]', 'f32[:,:]'],
  [cuda.jit((picture, most) => {
    const [x, y] = cuda.grid(2);
    if (y >= picture.shape[0] || x >= picture.shape[1]) return;
    const cx = (Math.fround(x) * 3) / picture.shape[1] - 2;
    const cy = (Math.fround(y) * 2) / picture.shape[0] - 1;
    let zx = 0;
    let zy = 0;
    let n = 0;
    for (; n < most; n++) {
      const t = zx * zx - zy * zy + cx;
      zy = 2 * zx * zy + cy;
      zx = t;
      if (zx * zx + zy * zy > 4) break;
    }
    picture[y][x] = n;
  }), 'f32[:,:]', 'i32'],
  [cuda.jit((values, counts) => {
    const i = cuda.grid(1);
    if (i < values.length) cuda.atomic.add(counts, values[i] & 63, 1);
  }), 'i32[:]', 'i32[:]'],
  [cuda.jit((place, force, n) => {
    const i = cuda.grid(1);
    if (i >= n) return;
    let fx = 0;
    let fy = 0;
    for (let j = 0; j < n; j++) {
      if (j === i) continue;
      const dx = place[2 * j] - place[2 * i];
      const dy = place[2 * j + 1] - place[2 * i + 1];
      const inverse = 1 / Math.sqrt(dx * dx + dy * dy + 0.01);
      fx += dx * inverse ** 3;
      fy += dy * inverse * inverse * inverse;
    }
    force[2 * i] = Math.abs(fx);
    force[2 * i + 1] = -fy;
  }), 'f32[:]', 'f32[:]', 'i32'],
];
`;

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

const { default: tsamba } = await import(pathToFileURL(plugin).href);
const warn = (message) => {
  throw new Error(message);
};
const { code } = tsamba().transform.handler.call({ warn }, MODULE, '/src/kernels.js');
const finish = process.exit.bind(process);
const print = process.stdout.write.bind(process.stdout);
// Pages have no process, no modules of Node.js and no inspector.
globalThis.process = undefined;

const { cuda } = await import(pathToFileURL(library).href);
const text = code
  .replace('from "tsamba"', `from '${pathToFileURL(library).href}'`)
  .replace("from 'tsamba'", `from '${pathToFileURL(library).href}'`);
const { first, simple, usual } = await import(`data:text/javascript,${encodeURIComponent(text)}`);

const written = cuda.jit(
  ({ cuda }) =>
    (a) => {
      const i = cuda.grid(1);
      if (i < a.length) a[i] *= 2;
    },
  { captures: { cuda } },
);

const arrays = { 'f32[:]': [64], 'i32[:]': [64], 'uint8[:,:,:]': [8, 8, 4], 'f32[:,:]': [8, 8], 'uint8[:]': [64] };

async function compileAll() {
  await written.launchAsync({ threads: 3 }, cuda.toDevice(Float32Array.of(1, 2, 3)));
  for (const [kernel, ...types] of which === 'first'
    ? first
    : which === 'simple'
      ? [...first, ...simple]
      : [...first, ...simple, ...usual]) {
    const args = types.map((type) =>
      type in arrays ? cuda.deviceArray(arrays[type], type.slice(0, type.indexOf('['))) : 2,
    );
    const flat = types.some((type) => type.includes(','));
    await kernel.launchAsync(flat ? { grid: [1, 1], block: [8, 8] } : { grid: 2, block: 64 }, ...args);
  }
}

cuda.selectDevice('cpu');
await compileAll();
Object.defineProperty(globalThis, 'navigator', { value: { gpu: noGpu() } });
await cuda.open('webgpu');
await compileAll();

/** A GPU that does nothing: what matters is how kernels are compiled for it. */
function noGpu() {
  const nothing = new Proxy(() => nothing, {
    get: (_, key) => (key === 'then' ? undefined : nothing),
    apply: () => nothing,
  });
  const limits = new Proxy(
    {},
    { get: (_, key) => (key === 'maxStorageBuffersPerShaderStage' ? 8 : /Size$/.test(key) ? 2 ** 28 : 256) },
  );
  const queue = { submit() {}, writeBuffer() {}, onSubmittedWorkDone: async () => undefined };
  const buffer = (size) => ({
    size,
    mapAsync: async () => undefined,
    getMappedRange: () => new ArrayBuffer(size),
    unmap() {},
    destroy() {},
  });
  const known = {
    queue,
    limits,
    features: new Set(),
    lost: new Promise(() => undefined),
    createBuffer: ({ size }) => buffer(size),
    popErrorScope: async () => null,
    createComputePipelineAsync: async () => nothing,
  };
  const device = new Proxy(known, { get: (_, key) => known[key] ?? (key === 'then' ? undefined : nothing) });
  const adapter = { limits, features: new Set(), info: {}, requestDevice: async () => device };
  return { requestAdapter: async () => adapter };
}

const { result } = await session.post('Profiler.takePreciseCoverage');
const reached = {};
for (const { url, functions } of result) {
  if (!url.startsWith('file:')) continue;
  const called = functions
    .filter(({ ranges: [{ count }] }) => count > 0)
    .map(({ ranges: [{ startOffset }] }) => startOffset);
  // What is within stands behind what it is within.
  const ranges = functions
    .flatMap(({ ranges }) => ranges)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
    .map(({ startOffset, endOffset, count }) => [startOffset, endOffset, count > 0 ? 1 : 0]);
  reached[fileURLToPath(url)] = { called, ranges };
}
print(JSON.stringify(reached), () => finish(0));
