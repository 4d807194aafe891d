// Sorts by CUB, for `bench/library`: temporary memory is allocated before, times are between events, medians are printed as JSON.
//   nvcc -O3 -arch=native --extended-lambda -o sort sort.cu && ./sort 28 11
#include <algorithm>
#include <cstdint>
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

// The bits of a key are a hash of its place, as in the benchmark beside this one. Floats are below 1.
__device__ inline uint64_t hashed(uint64_t i) {
  uint32_t h = (uint32_t)i, g;
  h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
  g = h * 0x9e3779b9u; g ^= g >> 15; g *= 0x2c1b3c6du; g ^= g >> 12;
  return ((uint64_t)g << 32) | h;
}
__device__ inline void make(uint32_t &x, size_t i) { x = (uint32_t)hashed(i); }
__device__ inline void make(uint64_t &x, size_t i) { x = hashed(i); }
__device__ inline void make(float &x, size_t i) { x = (float)((uint32_t)hashed(i) >> 8) * 0x1p-24f; }

template <typename T> __global__ void fill(T *x, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) make(x[i], i);
}

struct Less {
  template <typename T> __device__ bool operator()(const T &a, const T &b) const { return a < b; }
};

template <typename F> float timed(int rounds, F run) {
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int round = 0; round < rounds + 2; round++) {
    CHECK(cudaEventRecord(start));
    run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    if (round >= 2) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <typename K> void keys(const char *name, size_t n, int rounds) {
  K *from, *to;
  CHECK(cudaMalloc(&from, n * sizeof(K)));
  CHECK(cudaMalloc(&to, n * sizeof(K)));
  fill<<<1024, 256>>>(from, n);
  void *temporary = nullptr;
  size_t bytes = 0;
  CHECK(cub::DeviceRadixSort::SortKeys(temporary, bytes, from, to, (long long)n));
  CHECK(cudaMalloc(&temporary, bytes));
  float ms = timed(rounds, [&] { CHECK(cub::DeviceRadixSort::SortKeys(temporary, bytes, from, to, (long long)n)); });
  std::printf("\"%s\":%g,", name, ms);
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  CHECK(cudaFree(temporary));
}

template <typename K> void pairs(const char *name, size_t n, int rounds) {
  K *from, *to;
  uint32_t *values, *toValues;
  CHECK(cudaMalloc(&from, n * sizeof(K)));
  CHECK(cudaMalloc(&to, n * sizeof(K)));
  CHECK(cudaMalloc(&values, n * 4));
  CHECK(cudaMalloc(&toValues, n * 4));
  fill<<<1024, 256>>>(from, n);
  fill<<<1024, 256>>>(values, n);
  void *temporary = nullptr;
  size_t bytes = 0;
  CHECK(cub::DeviceRadixSort::SortPairs(temporary, bytes, from, to, values, toValues, (long long)n));
  CHECK(cudaMalloc(&temporary, bytes));
  float ms = timed(rounds, [&] {
    CHECK(cub::DeviceRadixSort::SortPairs(temporary, bytes, from, to, values, toValues, (long long)n));
  });
  std::printf("\"%s\":%g,", name, ms);
  for (void *p : {(void *)from, (void *)to, (void *)values, (void *)toValues, temporary}) CHECK(cudaFree(p));
}

#ifndef WITHOUT_MERGE
// Merge sort sorts in place: its keys are written anew before each round, which is not timed.
void merge(const char *name, size_t n, int rounds, bool last) {
  uint32_t *x;
  CHECK(cudaMalloc(&x, n * 4));
  void *temporary = nullptr;
  size_t bytes = 0;
  CHECK(cub::DeviceMergeSort::SortKeys(temporary, bytes, x, (long long)n, Less()));
  CHECK(cudaMalloc(&temporary, bytes));
  std::vector<float> times;
  for (int round = 0; round < rounds; round++) {
    fill<<<1024, 256>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start));
    CHECK(cub::DeviceMergeSort::SortKeys(temporary, bytes, x, (long long)n, Less()));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  std::printf("\"%s\":%g%s", name, times[times.size() / 2], last ? "" : ",");
  CHECK(cudaFree(x));
  CHECK(cudaFree(temporary));
}
#endif

int main(int argc, char **argv) {
  int power = argc > 1 ? std::atoi(argv[1]) : 28;
  size_t n = (size_t)1 << power;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 11;
  std::printf("{");
  keys<uint32_t>("u32", n, rounds);
  keys<float>("f32", n, rounds);
  keys<uint64_t>("u64", n / 2, rounds);
  pairs<uint32_t>("u32 pairs", n, rounds);
#ifdef WITHOUT_MERGE
  std::printf("\"power\":%d", power);
#else
  merge("merge u32", n, rounds, true);
#endif
  std::printf("}\n");
}
