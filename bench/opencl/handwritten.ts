/**
 * The kernels of bench/nvidia/cases.ts in OpenCL C as one would write them by hand: the same algorithms, data and launch shapes, and
 * the order of the arguments, arrays first.
 */

/** A kernel by hand. */
export interface Handwritten {
  readonly text: string;
  /** Work-groups and their work items. */
  shape(scale: number): { readonly grid: readonly number[]; readonly block: readonly number[] };
  /** Arguments after the arrays: 4 bytes each. */
  rest(scale: number): readonly { readonly type: 'int' | 'float'; readonly value: number }[];
}

const int = (value: number) => ({ type: 'int', value }) as const;
const float = (value: number) => ({ type: 'float', value }) as const;
const GRID = 1056;

const saxpy = `kernel void k(global const float *restrict x, global float *restrict y, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}`;

const matmul = `kernel void k(global const float *restrict A, global const float *restrict B, global float *restrict C, int n) {
  local float a[16][16];
  local float b[16][16];
  int x = get_global_id(0), y = get_global_id(1), tx = get_local_id(0), ty = get_local_id(1);
  float sum = 0;
  for (int start = 0; start < n; start += 16) {
    a[ty][tx] = A[y * n + start + tx];
    b[ty][tx] = B[(start + ty) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) sum += a[ty][k] * b[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  C[y * n + x] = sum;
}`;

const transpose = `kernel void k(global const float *restrict from, global float *restrict to, int n) {
  local float tile[32][33];
  int tx = get_local_id(0), ty = get_local_id(1), left = get_group_id(0) * 32, top = get_group_id(1) * 32;
  for (int k = 0; k < 32; k += 8) tile[ty + k][tx] = from[(top + ty + k) * n + left + tx];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < 32; k += 8) to[(left + ty + k) * n + top + tx] = tile[tx][ty + k];
}`;

const stencil = `kernel void k(global const float *restrict from, global float *restrict to, int rows, int columns) {
  int x = get_global_id(0), y = get_global_id(1);
  if (y > 0 && x > 0 && y < rows - 1 && x < columns - 1) {
    to[y * columns + x] = 0.2f * (from[y * columns + x] + from[(y - 1) * columns + x] + from[(y + 1) * columns + x] +
                                  from[y * columns + x - 1] + from[y * columns + x + 1]);
  }
}`;

const reduce = `kernel void k(global const float *restrict x, global float *restrict partial, int n) {
  local float shared[256];
  int t = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
  shared[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = 128; rest > 0; rest >>= 1) {
    if (t < rest) shared[t] += shared[t + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = shared[0];
}`;

const histogram = `kernel void k(global const uchar *restrict x, global int *restrict bins, int n) {
  local int mine[256];
  int t = get_local_id(0);
  mine[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(&mine[x[i]], 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[t], mine[t]);
}`;

const mandelbrot = `kernel void k(global int *restrict counts, int rows, int columns, float left, float top, float step) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  float cr = left + x * step, ci = top + y * step, re = 0, im = 0;
  int n = 0;
  while (n < 500 && re * re + im * im <= 4) {
    float next = re * re - im * im + cr;
    im = 2 * re * im + ci;
    re = next;
    n++;
  }
  counts[y * columns + x] = n;
}`;

const nbody = `kernel void k(global const float *restrict x, global const float *restrict y, global const float *restrict z,
                   global const float *restrict m, global float *restrict ax, global float *restrict ay,
                   global float *restrict az, int n) {
  local float sx[256], sy[256], sz[256], sm[256];
  int t = get_local_id(0), i = get_global_id(0);
  float px = x[i], py = y[i], pz = z[i], fx = 0, fy = 0, fz = 0;
  for (int start = 0; start < n; start += 256) {
    sx[t] = x[start + t];
    sy[t] = y[start + t];
    sz[t] = z[start + t];
    sm[t] = m[start + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 256; k++) {
      float dx = sx[k] - px, dy = sy[k] - py, dz = sz[k] - pz;
      float r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
      float s = sm[k] * r * r * r;
      fx += s * dx;
      fy += s * dy;
      fz += s * dz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  ax[i] = fx;
  ay[i] = fy;
  az[i] = fz;
}`;

const blackscholes = `float normal(float d) {
  float k = 1 / (1 + 0.2316419f * fabs(d));
  float w = 0.39894228f * exp(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - w : w;
}
kernel void k(global const float *restrict price, global const float *restrict strike, global const float *restrict years,
              global float *restrict call, global float *restrict put, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i];
  float root = sqrt(t);
  float d1 = (log(s / x) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root);
  float d2 = d1 - 0.3f * root;
  float n1 = normal(d1), n2 = normal(d2);
  float discounted = x * exp(-0.02f * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}`;

const along = (n: number, block: number) => ({ grid: [n / block, 1], block: [block, 1] });
const square = (n: number, x: number, y: number, by: readonly [number, number] = [x, y]) => ({
  grid: [n / by[0], n / by[1]],
  block: [x, y],
});

export const HANDWRITTEN: Readonly<Record<string, Handwritten>> = {
  saxpy: { text: saxpy, shape: (s) => along(2 ** 26 / s, 256), rest: (s) => [float(1e-3), int(2 ** 26 / s)] },
  matmul: { text: matmul, shape: (s) => square(2048 / s, 16, 16), rest: (s) => [int(2048 / s)] },
  transpose: { text: transpose, shape: (s) => square(8192 / s, 32, 8, [32, 32]), rest: (s) => [int(8192 / s)] },
  stencil: { text: stencil, shape: (s) => square(8192 / s, 32, 8), rest: (s) => [int(8192 / s), int(8192 / s)] },
  reduce: { text: reduce, shape: () => along(GRID * 256, 256), rest: (s) => [int(2 ** 26 / s)] },
  histogram: { text: histogram, shape: () => along(GRID * 256, 256), rest: (s) => [int(2 ** 26 / s)] },
  mandelbrot: {
    text: mandelbrot,
    shape: (s) => square(4096 / s, 16, 16),
    rest: (s) => [int(4096 / s), int(4096 / s), float(-2), float(-1.25), float((2.5 * s) / 4096)],
  },
  nbody: { text: nbody, shape: (s) => along(65536 / s, 256), rest: (s) => [int(65536 / s)] },
  blackscholes: { text: blackscholes, shape: (s) => along(2 ** 24 / s, 256), rest: (s) => [int(2 ** 24 / s)] },
};
