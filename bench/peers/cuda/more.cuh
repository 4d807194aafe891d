// Kernels of bench/nvidia/images.ts, rows.ts and integers.ts in CUDA C++; cases.cu includes them.
#include <cuComplex.h>

// ---------------------------------------------------------------- pictures and grids

__global__ void convolution(const float *__restrict__ from, const float *__restrict__ weights, float *__restrict__ to,
                            int rows, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= columns || y >= rows) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; dy++) {
    int row = min(max(y + dy, 0), rows - 1);
    for (int dx = -1; dx <= 1; dx++) {
      int column = min(max(x + dx, 0), columns - 1);
      sum += weights[3 * (dy + 1) + dx + 1] * from[row * columns + column];
    }
  }
  to[y * columns + x] = sum;
}

constexpr int SIDE = 16, RADIUS = 4, WIDE = SIDE + 2 * RADIUS;
__global__ void gaussian(const float *__restrict__ from, const float *__restrict__ weights, float *__restrict__ to,
                         int rows, int columns) {
  __shared__ float tile[WIDE][WIDE];
  __shared__ float smooth[WIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int left = blockIdx.x * SIDE - RADIUS, top = blockIdx.y * SIDE - RADIUS;
  for (int y = ty; y < WIDE; y += SIDE) {
    int row = min(max(top + y, 0), rows - 1);
    for (int x = tx; x < WIDE; x += SIDE) tile[y][x] = from[row * columns + min(max(left + x, 0), columns - 1)];
  }
  __syncthreads();
  for (int y = ty; y < WIDE; y += SIDE) {
    float sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += weights[k] * tile[y][tx + k];
    smooth[y][tx] = sum;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 2 * RADIUS; k++) sum += weights[k] * smooth[ty + k][tx];
  to[(top + RADIUS + ty) * columns + left + RADIUS + tx] = sum;
}

__global__ void resize(const float *__restrict__ from, float *__restrict__ to, float ratio, int n, int m) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= m || y >= m) return;
  float u = fmaxf((x + 0.5f) * ratio - 0.5f, 0), v = fmaxf((y + 0.5f) * ratio - 0.5f, 0);
  int x0 = (int)floorf(u), y0 = (int)floorf(v);
  int x1 = min(x0 + 1, n - 1), y1 = min(y0 + 1, n - 1);
  float a = u - x0, b = v - y0;
  float upper = from[y0 * n + x0] + a * (from[y0 * n + x1] - from[y0 * n + x0]);
  float lower = from[y1 * n + x0] + a * (from[y1 * n + x1] - from[y1 * n + x0]);
  to[y * m + x] = upper + b * (lower - upper);
}

__global__ void heat(const float *__restrict__ from, float *__restrict__ to, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  int i = (z * n + y) * n + x;
  float here = from[i];
  float around = from[i - 1] + from[i + 1] + from[i - n] + from[i + n] + from[i - n * n] + from[i + n * n];
  to[i] = here + 0.1f * (around - 6 * here);
}

constexpr int ROUNDS = 300;
__global__ void julia(int *__restrict__ counts, int n, cuFloatComplex c, float step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  cuFloatComplex z = make_cuFloatComplex(-1.5f + x * step, -1.5f + y * step);
  int k = 0;
  while (k < ROUNDS && cuCrealf(z) * cuCrealf(z) + cuCimagf(z) * cuCimagf(z) <= 4) {
    z = cuCaddf(cuCmulf(z, z), c);
    k++;
  }
  counts[y * n + x] = k;
}

// ---------------------------------------------------------------- rows

constexpr unsigned ALL = 0xffffffff;

__device__ float warpScan(float sum, int lane) {
  for (int step = 1; step < 32; step <<= 1) {
    float other = __shfl_up_sync(ALL, sum, step);
    if (lane >= step) sum += other;
  }
  return sum;
}

__global__ void scan(const float *__restrict__ x, float *__restrict__ out) {
  __shared__ float totals[32];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = warpScan(x[i], lane);
  if (lane == 31) totals[warp] = sum;
  __syncthreads();
  if (warp == 0) totals[lane] = warpScan(lane < BLOCK / 32 ? totals[lane] : 0, lane);
  __syncthreads();
  out[i] = sum + (warp > 0 ? totals[warp - 1] : 0);
}

__device__ float warpSum(float sum) {
  for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(ALL, sum, step);
  return sum;
}

__device__ float blockSum(float value) {
  __shared__ float part[BLOCK / 32];
  float sum = warpSum(value);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < BLOCK / 32; w++) sum += part[w];
  __syncthreads();
  return sum;
}

__global__ void layerNorm(const float *__restrict__ x, const float *__restrict__ gain, const float *__restrict__ shift,
                          float *__restrict__ y, int columns) {
  x += (size_t)blockIdx.x * columns;
  y += (size_t)blockIdx.x * columns;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += BLOCK) sum += x[c];
  float mean = blockSum(sum) / columns;
  float squares = 0;
  for (int c = threadIdx.x; c < columns; c += BLOCK) squares += (x[c] - mean) * (x[c] - mean);
  float factor = rsqrtf(blockSum(squares) / columns + 1e-5f);
  for (int c = threadIdx.x; c < columns; c += BLOCK) y[c] = (x[c] - mean) * factor * gain[c] + shift[c];
}

__global__ void softmax(const float *__restrict__ x, float *__restrict__ y, int columns) {
  __shared__ float part[BLOCK];
  int t = threadIdx.x;
  x += (size_t)blockIdx.x * columns;
  y += (size_t)blockIdx.x * columns;
  float largest = -INFINITY;
  for (int c = t; c < columns; c += BLOCK) largest = fmaxf(largest, x[c]);
  part[t] = largest;
  __syncthreads();
  for (int half = BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  largest = part[0];
  __syncthreads();
  float sum = 0;
  for (int c = t; c < columns; c += BLOCK) {
    float e = expf(x[c] - largest);
    y[c] = e;
    sum += e;
  }
  part[t] = sum;
  __syncthreads();
  for (int half = BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  for (int c = t; c < columns; c += BLOCK) y[c] /= part[0];
}

constexpr int SORTED = 2 * BLOCK;
__global__ void bitonic(const float *__restrict__ x, float *__restrict__ y) {
  __shared__ float part[SORTED];
  int t = threadIdx.x, first = blockIdx.x * SORTED;
  part[t] = x[first + t];
  part[t + BLOCK] = x[first + t + BLOCK];
  for (int size = 2; size <= SORTED; size <<= 1) {
    for (int stride = size >> 1; stride > 0; stride >>= 1) {
      __syncthreads();
      int i = 2 * t - (t & (stride - 1));
      float a = part[i], b = part[i + stride];
      if ((a > b) == ((i & size) == 0)) {
        part[i] = b;
        part[i + stride] = a;
      }
    }
  }
  __syncthreads();
  y[first + t] = part[t];
  y[first + t + BLOCK] = part[t + BLOCK];
}

__global__ void matvec(const float *__restrict__ A, const float *__restrict__ x, float *__restrict__ y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (row >= n) return;
  float sum = 0;
  for (int k = lane; k < n; k += 32) sum += A[row * n + k] * x[k];
  sum = warpSum(sum);
  if (lane == 0) y[row] = sum;
}

__global__ void spmv(const int *__restrict__ starts, const int *__restrict__ columns, const float *__restrict__ values,
                     const float *__restrict__ x, float *__restrict__ y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (row >= n) return;
  float sum = 0;
  for (int k = starts[row] + lane; k < starts[row + 1]; k += 32) sum += values[k] * x[columns[k]];
  sum = warpSum(sum);
  if (lane == 0) y[row] = sum;
}

__global__ void nearest(const float *__restrict__ points, const float *__restrict__ from, int *__restrict__ places,
                        float *__restrict__ squares, int n, int m) {
  __shared__ float tile[3][BLOCK];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  float x = points[i], y = points[n + i], z = points[2 * n + i];
  float least = INFINITY;
  int best = 0;
  for (int start = 0; start < m; start += BLOCK) {
    for (int c = 0; c < 3; c++) tile[c][t] = from[c * m + start + t];
    __syncthreads();
    for (int k = 0; k < BLOCK; k++) {
      float dx = tile[0][k] - x, dy = tile[1][k] - y, dz = tile[2][k] - z;
      float square = dx * dx + dy * dy + dz * dz;
      if (square < least) {
        least = square;
        best = start + k;
      }
    }
    __syncthreads();
  }
  places[i] = best;
  squares[i] = least;
}

// ---------------------------------------------------------------- integers

__device__ uint32_t pcg(uint32_t counter) {
  uint32_t state = counter * 747796405u + 2891336453u;
  uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return (word >> 22) ^ word;
}

__global__ void boxMuller(float *__restrict__ a, float *__restrict__ b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float u = ((float)(pcg(2 * i) >> 8) + 0.5f) / 16777216;
  float v = (float)(pcg(2 * i + 1) >> 8) / 16777216;
  float radius = sqrtf(-2 * logf(u)), angle = 6.2831855f * v;
  a[i] = radius * cosf(angle);
  b[i] = radius * sinf(angle);
}

constexpr int SAMPLES = 256;
__global__ void monteCarlo(int *__restrict__ hits, int seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t state = (uint32_t)(i + seed) * 2654435761u;
  int count = 0;
  for (int k = 0; k < SAMPLES; k++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    float x = (float)(state >> 8) / 16777216;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    float y = (float)(state >> 8) / 16777216;
    if (x * x + y * y < 1) count++;
  }
  hits[i] = count;
}

constexpr int LINE = 64;
__global__ void crc(const uint8_t *__restrict__ text, const uint32_t *__restrict__ table, uint32_t *__restrict__ sums,
                    int n) {
  __shared__ uint32_t mine[256];
  mine[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t sum = 0xffffffff;
  for (int k = 0; k < LINE; k++) sum = mine[(sum ^ text[i * LINE + k]) & 255] ^ (sum >> 8);
  sums[i] = ~sum;
}

__global__ void hashKeys(const int *__restrict__ keys, int *__restrict__ hashes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int64_t h = keys[i];
  for (int k = 0; k < 16; k++) {
    h = (int64_t)((uint64_t)(h ^ (h >> 29)) * 1099511628211u);
    h += k;
  }
  hashes[i] = (int)((h ^ (h >> 32)) & 0x7fffffff);
}

constexpr int LETTERS = 128;
__global__ void levenshtein(const uint8_t *__restrict__ a, const uint8_t *__restrict__ b, int *__restrict__ distances) {
  __shared__ int diagonals[3][LETTERS + 1];
  int pair = blockIdx.x, t = threadIdx.x, row = t + 1;
  uint8_t letter = a[pair * LETTERS + t];
  if (t == 0) {
    diagonals[0][0] = 0;
    diagonals[1][0] = 1;
    diagonals[1][1] = 1;
  }
  __syncthreads();
  for (int d = 2; d <= 2 * LETTERS; d++) {
    int column = d - row;
    int now = d % 3, before = (d + 2) % 3, beforeThat = (d + 1) % 3;
    if (column >= 1 && column <= LETTERS) {
      int change = diagonals[beforeThat][row - 1] + (letter == b[pair * LETTERS + column - 1] ? 0 : 1);
      diagonals[now][row] = min(change, min(diagonals[before][row - 1] + 1, diagonals[before][row] + 1));
    }
    if (column == 0) diagonals[now][row] = row;
    if (t == 0 && d <= LETTERS) diagonals[now][0] = d;
    __syncthreads();
  }
  if (row == LETTERS) distances[pair] = diagonals[(2 * LETTERS) % 3][LETTERS];
}
