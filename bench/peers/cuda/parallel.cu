// Reductions, segmented reductions and histograms by CUB, for `bench/library/parallel.ts`: temporary memory is allocated before, times are between events,
// medians are printed as JSON.
//   nvcc -O3 -arch=native --extended-lambda -o parallel parallel.cu && ./parallel 28 11
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cub/cub.cuh>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t e = (call);                                                                \
    if (e != cudaSuccess) {                                                                \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                      \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

// The same as in parallel.ts: pseudo-random words.
__device__ unsigned hashed(unsigned i) {
  i = (i ^ (i >> 16)) * 0x7feb352du;
  i = (i ^ (i >> 15)) * 0x846ca68bu;
  return i ^ (i >> 16);
}

struct Plus { __device__ long long operator()(long long a, long long b) const { return a + b; } };
struct Pair { float x, y; };
struct Add { __device__ Pair operator()(Pair a, Pair b) const { return {a.x + b.x, a.y + b.y}; } };

__global__ void fillInts(int *x, size_t n, unsigned mask) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = hashed(i) & mask;
}
__global__ void fillFloats(float *x, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = (hashed(i) >> 8) * (1.0f / 16777216.0f);
}
__global__ void fillOffsets(int *x, size_t n, int each) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = i * each;
}

template <typename F> void timed(const char *name, int rounds, F call, bool last = false) {
  void *temporary = nullptr;
  size_t bytes = 0;
  CHECK(call(temporary, bytes));
  CHECK(cudaMalloc(&temporary, bytes));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  const int together = 10;
  std::vector<float> times;
  for (int round = 0; round < rounds + 2; round++) {
    CHECK(cudaEventRecord(start));
    for (int k = 0; k < together; k++) CHECK(call(temporary, bytes));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    if (round >= 2) times.push_back(ms / together);
  }
  std::sort(times.begin(), times.end());
  std::printf("\"%s\":%g%s", name, times[times.size() / 2], last ? "" : ",");
  CHECK(cudaFree(temporary));
}

int main(int argc, char **argv) {
  long long n = 1ll << (argc > 1 ? std::atoi(argv[1]) : 28);
  int rounds = argc > 2 ? std::atoi(argv[2]) : 11;
  void *memory, *out;
  int *offsets;
  CHECK(cudaMalloc(&memory, n * 4));
  CHECK(cudaMalloc(&out, n));
  CHECK(cudaMalloc(&offsets, (n / 16 + 1) * sizeof(int)));
  int *ints = (int *)memory;
  float *floats = (float *)memory;
  std::printf("{");
  fillInts<<<1024, 256>>>(ints, n, 1023);
  timed("sum i32", rounds, [&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, ints, (int *)out, n); });
  timed("sum i32 in i64", rounds, [&](void *t, size_t &b) { return cub::DeviceReduce::Reduce(t, b, ints, (long long *)out, n, Plus(), 0ll); });
  fillInts<<<1024, 256>>>(ints, n, ~0u);
  timed("histogram u8", rounds, [&](void *t, size_t &b) { return cub::DeviceHistogram::HistogramEven(t, b, (unsigned char *)ints, (int *)out, 257, 0, 256, (int)n); });
  fillFloats<<<1024, 256>>>(floats, n);
  timed("sum f32", rounds, [&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, floats, (float *)out, n); });
  timed("structs", rounds, [&](void *t, size_t &b) { return cub::DeviceReduce::Reduce(t, b, (Pair *)floats, (Pair *)out, n / 2, Add(), Pair{0, 0}); });
  for (int each : {16, 256, 4096}) {
    char name[64];
    std::snprintf(name, sizeof name, "segments of %d", each);
    fillOffsets<<<1024, 256>>>(offsets, n / each + 1, each);
    timed(name, rounds, [&](void *t, size_t &b) { return cub::DeviceSegmentedReduce::Sum(t, b, floats, (float *)out, (int)(n / each), offsets, offsets + 1); });
  }
  timed("histogram f32", rounds, [&](void *t, size_t &b) { return cub::DeviceHistogram::HistogramEven(t, b, floats, (int *)out, 257, 0.0f, 1.0f, (int)n); });
  timed("histogram f32, 32 bins", rounds, [&](void *t, size_t &b) { return cub::DeviceHistogram::HistogramEven(t, b, floats, (int *)out, 33, 0.0f, 1.0f, (int)n); }, true);
  std::printf("}\n");
}
