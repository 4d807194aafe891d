/**
 * The kernels of bench/nvidia/cases.ts in WGSL as one would write them by hand: the same algorithms, data and launch shapes. Arrays are bound in
 * the order of the case, numbers behind them in a uniform buffer.
 */
import { type CaseSpec, SPECS } from '../nvidia/spec.ts';

/** A kernel by hand. */
export interface Handwritten {
  readonly text: string;
  /** Workgroups. */
  grid(scale: number): readonly [number, number];
  /** Numbers in the uniform buffer. */
  rest(scale: number): readonly { readonly type: 'i32' | 'f32'; readonly value: number }[];
}

const i32 = (value: number) => ({ type: 'i32', value }) as const;
const f32 = (value: number) => ({ type: 'f32', value }) as const;
const GRID = 1056;

/** Declarations of arrays, those of `readonly` as such, and of the numbers. */
function bindings(arrays: string, numbers: string): string {
  const declared = arrays.split(', ').map((array, k) => {
    const [name = '', type = 'f32', access = 'read'] = array.split(' ');
    return `@group(0) @binding(${k}) var<storage, ${access}> ${name}: array<${type}>;`;
  });
  return `${declared.join('\n')}
struct Numbers { ${numbers} }
@group(0) @binding(${declared.length}) var<uniform> n: Numbers;
`;
}

const ALL = '@builtin(global_invocation_id) id: vec3u';
const TILED =
  '@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u';
const WIDE =
  '@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) t: u32, @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u';

const saxpy = `${bindings('x f32, y f32 read_write', 'a: f32, size: i32')}
@compute @workgroup_size(256) fn main(${WIDE}) {
  let i = i32((group.y * groups.x + group.x) * 256 + t);
  if (i < n.size) { y[i] += n.a * x[i]; }
}`;

const matmul = `${bindings('A f32, B f32, C f32 read_write', 'size: i32')}
var<workgroup> a: array<array<f32, 16>, 16>;
var<workgroup> b: array<array<f32, 16>, 16>;
@compute @workgroup_size(16, 16) fn main(${TILED}) {
  let x = i32(id.x);
  let y = i32(id.y);
  let tx = i32(local.x);
  let ty = i32(local.y);
  var sum = 0f;
  for (var start = 0; start < n.size; start += 16) {
    a[ty][tx] = A[y * n.size + start + tx];
    b[ty][tx] = B[(start + ty) * n.size + x];
    workgroupBarrier();
    for (var k = 0; k < 16; k++) { sum += a[ty][k] * b[k][tx]; }
    workgroupBarrier();
  }
  C[y * n.size + x] = sum;
}`;

const transpose = `${bindings('source f32, to f32 read_write', 'size: i32')}
var<workgroup> tile: array<array<f32, 33>, 32>;
@compute @workgroup_size(32, 8) fn main(${TILED}) {
  let tx = i32(local.x);
  let ty = i32(local.y);
  let left = i32(group.x) * 32;
  let top = i32(group.y) * 32;
  for (var k = 0; k < 32; k += 8) { tile[ty + k][tx] = source[(top + ty + k) * n.size + left + tx]; }
  workgroupBarrier();
  for (var k = 0; k < 32; k += 8) { to[(left + ty + k) * n.size + top + tx] = tile[tx][ty + k]; }
}`;

const stencil = `${bindings('source f32, to f32 read_write', 'rows: i32, columns: i32')}
@compute @workgroup_size(32, 8) fn main(${ALL}) {
  let x = i32(id.x);
  let y = i32(id.y);
  let c = n.columns;
  if (y > 0 && x > 0 && y < n.rows - 1 && x < c - 1) {
    to[y * c + x] = 0.2 * (source[y * c + x] + source[(y - 1) * c + x] + source[(y + 1) * c + x] + source[y * c + x - 1] + source[y * c + x + 1]);
  }
}`;

const reduce = `${bindings('x f32, partial f32 read_write', 'size: i32')}
var<workgroup> part: array<f32, 256>;
@compute @workgroup_size(256) fn main(${WIDE}) {
  var sum = 0f;
  for (var i = i32(id.x); i < n.size; i += i32(groups.x) * 256) { sum += x[i]; }
  part[t] = sum;
  workgroupBarrier();
  for (var half = 128u; half > 0; half >>= 1) {
    if (t < half) { part[t] += part[t + half]; }
    workgroupBarrier();
  }
  if (t == 0) { partial[group.x] = part[0]; }
}`;

/** Four bytes of a word at a time: WGSL has no smaller elements. */
const histogram = `${bindings('x u32, bins atomic<i32> read_write', 'words: i32')}
var<workgroup> mine: array<atomic<i32>, 256>;
@compute @workgroup_size(256) fn main(${WIDE}) {
  for (var i = i32(id.x); i < n.words; i += i32(groups.x) * 256) {
    let word = x[i];
    atomicAdd(&mine[word & 255], 1);
    atomicAdd(&mine[(word >> 8) & 255], 1);
    atomicAdd(&mine[(word >> 16) & 255], 1);
    atomicAdd(&mine[word >> 24], 1);
  }
  workgroupBarrier();
  atomicAdd(&bins[t], atomicLoad(&mine[t]));
}`;

const mandelbrot = `${bindings('counts i32 read_write', 'rows: i32, columns: i32, left: f32, top: f32, step: f32')}
@compute @workgroup_size(16, 16) fn main(${ALL}) {
  let x = i32(id.x);
  let y = i32(id.y);
  if (x >= n.columns || y >= n.rows) { return; }
  let cr = n.left + f32(x) * n.step;
  let ci = n.top + f32(y) * n.step;
  var re = 0f;
  var im = 0f;
  var count = 0;
  while (count < 500 && re * re + im * im <= 4) {
    let next = re * re - im * im + cr;
    im = 2 * re * im + ci;
    re = next;
    count++;
  }
  counts[y * n.columns + x] = count;
}`;

const nbody = `${bindings('x f32, y f32, z f32, m f32, ax f32 read_write, ay f32 read_write, az f32 read_write', 'size: i32')}
var<workgroup> bodies: array<vec4f, 256>;
@compute @workgroup_size(256) fn main(${WIDE}) {
  let i = i32(id.x);
  let p = vec3f(x[i], y[i], z[i]);
  var force = vec3f();
  for (var start = 0; start < n.size; start += 256) {
    let j = start + i32(t);
    bodies[t] = vec4f(x[j], y[j], z[j], m[j]);
    workgroupBarrier();
    for (var k = 0; k < 256; k++) {
      let d = bodies[k].xyz - p;
      let r = inverseSqrt(dot(d, d) + 1e-3);
      force += bodies[k].w * r * r * r * d;
    }
    workgroupBarrier();
  }
  ax[i] = force.x;
  ay[i] = force.y;
  az[i] = force.z;
}`;

const blackscholes = `${bindings('price f32, strike f32, years f32, call f32 read_write, put f32 read_write', 'size: i32')}
fn normal(d: f32) -> f32 {
  let k = 1 / (1 + 0.2316419 * abs(d));
  let w = 0.39894228 * exp(-0.5 * d * d) *
    (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
  return select(w, 1 - w, d > 0);
}
@compute @workgroup_size(256) fn main(${WIDE}) {
  let i = i32((group.y * groups.x + group.x) * 256 + t);
  if (i >= n.size) { return; }
  let s = price[i];
  let x = strike[i];
  let time = years[i];
  let root = sqrt(time);
  let d1 = (log(s / x) + (0.02 + 0.5 * 0.3 * 0.3) * time) / (0.3 * root);
  let n1 = normal(d1);
  let n2 = normal(d1 - 0.3 * root);
  let discounted = x * exp(-0.02 * time);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}`;

const along = (n: number, block: number) => [n / block, 1] as const;
/** More than 65,535 workgroups in a row are not allowed. */
const twofold = (n: number) => [512, n / 256 / 512] as const;
const square = (n: number, x: number, y: number) => [n / x, n / y] as const;

export const HANDWRITTEN: Readonly<Record<string, Handwritten>> = {
  matmul: { text: matmul, grid: (s) => square(2048 / s, 16, 16), rest: (s) => [i32(2048 / s)] },
  transpose: { text: transpose, grid: (s) => square(8192 / s, 32, 32), rest: (s) => [i32(8192 / s)] },
  stencil: { text: stencil, grid: (s) => square(8192 / s, 32, 8), rest: (s) => [i32(8192 / s), i32(8192 / s)] },
  reduce: { text: reduce, grid: () => [GRID, 1], rest: (s) => [i32(2 ** 26 / s)] },
  histogram: { text: histogram, grid: () => [GRID, 1], rest: (s) => [i32(2 ** 24 / s)] },
  mandelbrot: {
    text: mandelbrot,
    grid: (s) => square(4096 / s, 16, 16),
    rest: (s) => [i32(4096 / s), i32(4096 / s), f32(-2), f32(-1.25), f32((2.5 * s) / 4096)],
  },
  nbody: { text: nbody, grid: (s) => along(65536 / s, 256), rest: (s) => [i32(65536 / s)] },
  saxpy: { text: saxpy, grid: (s) => twofold(2 ** 26 / s), rest: (s) => [f32(1e-3), i32(2 ** 26 / s)] },
  blackscholes: { text: blackscholes, grid: (s) => twofold(2 ** 24 / s), rest: (s) => [i32(2 ** 24 / s)] },
  'blackscholes-fast': { text: blackscholes, grid: (s) => twofold(2 ** 24 / s), rest: (s) => [i32(2 ** 24 / s)] },
};

/** As on NVIDIA. WGSL's own `exp` and `log` are those of `fastMath`; without it ours are as accurate as on other devices. */
export const WGSL_SPECS: readonly CaseSpec[] = [
  ...SPECS,
  { name: 'blackscholes-fast', title: 'the same, fastMath', launches: 44, tolerance: 1e-3 },
];
