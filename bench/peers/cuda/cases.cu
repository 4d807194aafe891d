// The kernels of the NVIDIA benchmark in CUDA C++, with the data, checks and timing of bench/nvidia.
//
//   nvcc -O3 -arch=native -o cases cases.cu && ./cases --runs 50 saxpy:24 matmul:3 …
//
// Names come with the number of launches between two events. Prints JSON on one line.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    cudaError_t e_ = (call);                                                                     \
    if (e_ != cudaSuccess) {                                                                     \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));     \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

__global__ void saxpy(float a, const float *__restrict__ x, float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

constexpr int TILE = 16;
__global__ void matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n) {
  __shared__ float a[TILE][TILE];
  __shared__ float b[TILE][TILE];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
  for (int start = 0; start < n; start += TILE) {
    a[ty][tx] = A[y * n + start + tx];
    b[ty][tx] = B[(start + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  C[y * n + x] = sum;
}

__global__ void transpose(const float *__restrict__ from, float *__restrict__ to, int n) {
  __shared__ float tile[32][33];
  int tx = threadIdx.x, ty = threadIdx.y;
  int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int k = 0; k < 32; k += 8) tile[ty + k][tx] = from[(top + ty + k) * n + left + tx];
  __syncthreads();
  for (int k = 0; k < 32; k += 8) to[(left + ty + k) * n + top + tx] = tile[tx][ty + k];
}

__global__ void stencil(const float *__restrict__ from, float *__restrict__ to, int rows, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y > 0 && x > 0 && y < rows - 1 && x < columns - 1) {
    to[y * columns + x] = 0.2f * (from[y * columns + x] + from[(y - 1) * columns + x] + from[(y + 1) * columns + x] +
                                  from[y * columns + x - 1] + from[y * columns + x + 1]);
  }
}

constexpr int BLOCK = 256;
constexpr int GRID = 1056;
__global__ void reduce(const float *__restrict__ x, float *__restrict__ partial, int n) {
  __shared__ float shared[BLOCK];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  shared[t] = sum;
  __syncthreads();
  for (int half = BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = shared[0];
}

__global__ void histogram(const uint8_t *__restrict__ x, int *__restrict__ bins, int n) {
  __shared__ int mine[256];
  int t = threadIdx.x;
  mine[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1);
  __syncthreads();
  atomicAdd(&bins[t], mine[t]);
}

constexpr int LIMIT = 500;
__global__ void mandelbrot(int *__restrict__ counts, int rows, int columns, float left, float top, float step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= columns || y >= rows) return;
  float cr = left + x * step;
  float ci = top + y * step;
  float re = 0, im = 0;
  int n = 0;
  while (n < LIMIT && re * re + im * im <= 4) {
    float next = re * re - im * im + cr;
    im = 2 * re * im + ci;
    re = next;
    n++;
  }
  counts[y * columns + x] = n;
}

constexpr float SOFTENING = 1e-3f;
__global__ void nbody(const float *__restrict__ x, const float *__restrict__ y, const float *__restrict__ z,
                      const float *__restrict__ m, float *__restrict__ ax, float *__restrict__ ay,
                      float *__restrict__ az, int n) {
  __shared__ float sx[BLOCK], sy[BLOCK], sz[BLOCK], sm[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  float px = x[i], py = y[i], pz = z[i];
  float fx = 0, fy = 0, fz = 0;
  for (int start = 0; start < n; start += BLOCK) {
    sx[t] = x[start + t];
    sy[t] = y[start + t];
    sz[t] = z[start + t];
    sm[t] = m[start + t];
    __syncthreads();
    for (int k = 0; k < BLOCK; k++) {
      float dx = sx[k] - px, dy = sy[k] - py, dz = sz[k] - pz;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
      float s = sm[k] * r * r * r;
      fx += s * dx;
      fy += s * dy;
      fz += s * dz;
    }
    __syncthreads();
  }
  ax[i] = fx;
  ay[i] = fy;
  az[i] = fz;
}

__device__ float normal(float d) {
  float k = 1 / (1 + 0.2316419f * fabsf(d));
  float w = 0.39894228f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - w : w;
}

constexpr float RATE = 0.02f;
constexpr float VOLATILITY = 0.3f;
__global__ void blackScholes(const float *__restrict__ price, const float *__restrict__ strike,
                             const float *__restrict__ years, float *__restrict__ call, float *__restrict__ put,
                             int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i];
  float root = sqrtf(t);
  float d1 = (logf(s / x) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) / (VOLATILITY * root);
  float d2 = d1 - VOLATILITY * root;
  float n1 = normal(d1), n2 = normal(d2);
  float discounted = x * expf(-RATE * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}

#include "more.cuh"

// ---------------------------------------------------------------- data, checks, timing

static float hashed(uint32_t i, uint32_t seed) { return ((i + seed) * 2654435761u >> 8) / 16777216.0f; }

static std::vector<void *> live;

template <typename T>
static T *upload(size_t n, std::function<T(uint32_t)> value) {
  std::vector<T> host(n);
  for (size_t i = 0; i < n; i++) host[i] = value((uint32_t)i);
  T *device;
  CHECK(cudaMalloc(&device, n * sizeof(T)));
  live.push_back(device);
  CHECK(cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

static float *uniform(size_t n, uint32_t seed, float offset = 0, float factor = 1) {
  return upload<float>(n, [=](uint32_t i) { return offset + factor * hashed(i, seed); });
}

template <typename T>
static T *empty(size_t n) {
  T *device;
  CHECK(cudaMalloc(&device, n * sizeof(T)));
  live.push_back(device);
  return device;
}

/// Sum and samples of an output.
template <typename T>
static void check(std::vector<double> &numbers, const T *device, size_t n) {
  std::vector<T> host(n);
  CHECK(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += host[i];
  numbers.push_back(sum);
  for (uint32_t j = 0; j < 256; j++) numbers.push_back(host[(j * 2654435761u) % n]);
}

struct Contestant {
  std::function<void()> launch;
  std::function<void(std::vector<double> &)> outputs;
};

#include "more-cases.cuh"

static Contestant setUp(const std::string &name) {
  for (auto of : {setUpImages, setUpRows, setUpIntegers}) {
    Contestant found = of(name);
    if (found.launch) return found;
  }
  if (name == "saxpy") {
    int n = 1 << 26;
    float *x = uniform(n, 1), *y = uniform(n, 2);
    return {[=] { saxpy<<<n / 256, 256>>>(1e-3f, x, y, n); }, [=](auto &c) { check(c, y, n); }};
  }
  if (name == "matmul") {
    int n = 2048;
    float *a = uniform(n * n, 1), *b = uniform(n * n, 2), *c = empty<float>(n * n);
    return {[=] { matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, c, n); },
            [=](auto &o) { check(o, c, n * n); }};
  }
  if (name == "transpose") {
    int n = 8192;
    float *a = uniform(n * n, 1), *b = empty<float>(n * n);
    return {[=] { transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(a, b, n); }, [=](auto &o) { check(o, b, n * n); }};
  }
  if (name == "stencil") {
    int n = 8192;
    float *a = uniform(n * n, 1), *b = uniform(n * n, 2);
    return {[=] { stencil<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, n, n); }, [=](auto &o) { check(o, b, n * n); }};
  }
  if (name == "reduce") {
    int n = 1 << 26;
    float *x = uniform(n, 1), *partial = empty<float>(GRID);
    return {[=] { reduce<<<GRID, BLOCK>>>(x, partial, n); }, [=](auto &o) { check(o, partial, GRID); }};
  }
  if (name == "histogram") {
    int n = 1 << 26;
    uint8_t *x = upload<uint8_t>(n, [](uint32_t i) { return (uint8_t)(hashed(i, 1) * 256); });
    int *bins = upload<int>(256, [](uint32_t) { return 0; });
    return {[=] { histogram<<<GRID, BLOCK>>>(x, bins, n); }, [=](auto &o) { check(o, bins, 256); }};
  }
  if (name == "mandelbrot") {
    int n = 4096;
    int *counts = empty<int>(n * n);
    return {[=] { mandelbrot<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(counts, n, n, -2.0f, -1.25f, 2.5f / n); },
            [=](auto &o) { check(o, counts, n * n); }};
  }
  if (name == "nbody") {
    int n = 65536;
    float *x = uniform(n, 1000), *y = uniform(n, 2000), *z = uniform(n, 3000), *m = uniform(n, 4000);
    float *ax = empty<float>(n), *ay = empty<float>(n), *az = empty<float>(n);
    return {[=] { nbody<<<n / BLOCK, BLOCK>>>(x, y, z, m, ax, ay, az, n); },
            [=](auto &o) { check(o, ax, n), check(o, ay, n), check(o, az, n); }};
  }
  if (name == "blackscholes") {
    int n = 1 << 24;
    float *price = uniform(n, 1, 5, 25), *strike = uniform(n, 2000, 1, 99), *years = uniform(n, 3000, 0.25f, 9.75f);
    float *call = empty<float>(n), *put = empty<float>(n);
    return {[=] { blackScholes<<<n / 256, 256>>>(price, strike, years, call, put, n); },
            [=](auto &o) { check(o, call, n), check(o, put, n); }};
  }
  fprintf(stderr, "there is no case %s\n", name.c_str());
  exit(1);
}

static std::vector<double> timed(const std::function<void()> &launch, int launches, int runs) {
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  std::vector<double> times;
  for (int k = -3; k < runs; k++) {
    CHECK(cudaEventRecord(start));
    for (int j = 0; j < launches; j++) launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaGetLastError());
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    if (k >= 0) times.push_back(ms / launches);
  }
  return times;
}

static void print(const char *name, const std::vector<double> &list) {
  printf("\"%s\":[", name);
  for (size_t k = 0; k < list.size(); k++) printf("%s%.17g", k ? "," : "", list[k]);
  printf("]");
}

int main(int argc, char **argv) {
  int runs = 50;
  std::vector<std::pair<std::string, int>> cases;
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], "--runs") || !strcmp(argv[k], "--scale")) {
      if (!strcmp(argv[k++], "--runs")) runs = atoi(argv[k]);
    } else {
      std::string arg = argv[k];
      size_t colon = arg.find(':');
      cases.push_back({arg.substr(0, colon), atoi(arg.c_str() + colon + 1)});
    }
  }
  char *a, *b;
  size_t gib = size_t(1) << 30;
  CHECK(cudaMalloc(&a, gib));
  CHECK(cudaMalloc(&b, gib));
  CHECK(cudaMemset(a, 1, gib));
  printf("{");
  print("copy", timed([=] { CHECK(cudaMemcpyAsync(b, a, gib, cudaMemcpyDeviceToDevice)); }, 8, 12));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  printf(",\"results\":{");
  for (size_t k = 0; k < cases.size(); k++) {
    Contestant c = setUp(cases[k].first);
    c.launch();
    CHECK(cudaDeviceSynchronize());
    std::vector<double> numbers;
    c.outputs(numbers);
    printf("%s\"%s\":{", k ? "," : "", cases[k].first.c_str());
    print("check", numbers);
    printf(",");
    print("ms", timed(c.launch, cases[k].second, runs));
    printf("}");
    for (void *p : live) CHECK(cudaFree(p));
    live.clear();
  }
  int version;
  CHECK(cudaRuntimeGetVersion(&version));
  printf("},\"versions\":{\"cuda\":\"%d.%d\"}}\n", version / 1000, version % 1000 / 10);
}
