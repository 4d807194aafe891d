// Scans and selections by CUB, for `bench/library`: temporary memory is allocated before, times are between events, medians are printed as JSON.
//   nvcc -O3 -arch=native --extended-lambda -o scan scan.cu && ./scan 28 11
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

struct Pair {
  float x, y;
};
struct AddPairs {
  __device__ Pair operator()(Pair a, Pair b) const { return {a.x + b.x, a.y + b.y}; }
};
struct Even {
  __device__ bool operator()(int v) const { return v % 2 == 0; }
};

__device__ unsigned mixed(size_t i) {
  unsigned h = (unsigned)i * 2654435761u;
  h ^= h >> 16;
  h *= 2246822519u;
  return h ^ (h >> 13);
}
template <typename T> struct Make {
  __device__ static T of(unsigned h) { return (T)(h & 15); }
};
template <> struct Make<Pair> {
  __device__ static Pair of(unsigned h) { return {(float)(h & 15), (float)((h >> 4) & 15)}; }
};
template <typename T> __global__ void fill(T *x, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = Make<T>::of(mixed(i));
}

static int rounds = 11;

template <typename Call> void timed(const char *name, Call call, const char *after) {
  void *temporary = nullptr;
  size_t bytes = 0;
  CHECK(call(temporary, bytes));
  CHECK(cudaMalloc(&temporary, bytes));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  const int together = 20;
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
  std::printf("\"%s\":%g%s", name, times[times.size() / 2], after);
  std::fflush(stdout);
  CHECK(cudaFree(temporary));
}

template <typename T> struct Arrays {
  T *x, *y;
  explicit Arrays(size_t n) {
    CHECK(cudaMalloc(&x, n * sizeof(T)));
    CHECK(cudaMalloc(&y, n * sizeof(T)));
    fill<<<1024, 256>>>(x, n);
  }
  ~Arrays() {
    cudaFree(x);
    cudaFree(y);
  }
};

int main(int argc, char **argv) {
  size_t n = (size_t)1 << (argc > 1 ? std::atoi(argv[1]) : 28);
  if (argc > 2) rounds = std::atoi(argv[2]);
  long long items = (long long)n;
  std::printf("{");
  {
    Arrays<float> a(n);
    timed("scan float32", [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, a.x, a.y, items); }, ",");
  }
  {
    Arrays<int> a(n), values(n);
    int *counts;
    long long *count;
    CHECK(cudaMalloc(&counts, n * sizeof(int)));
    CHECK(cudaMalloc(&count, sizeof(long long)));
    timed("scan int32", [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, a.x, a.y, items); }, ",");
    timed("select", [&](void *t, size_t &b) { return cub::DeviceSelect::If(t, b, a.x, a.y, count, items, Even{}); }, ",");
    timed("unique", [&](void *t, size_t &b) { return cub::DeviceSelect::Unique(t, b, a.x, a.y, count, items); }, ",");
    timed("runs", [&](void *t, size_t &b) { return cub::DeviceRunLengthEncode::Encode(t, b, a.x, a.y, counts, count, items); }, ",");
    timed("scan by key", [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSumByKey(t, b, a.x, values.x, a.y, items); }, ",");
    timed("reduce by key", [&](void *t, size_t &b) {
      return cub::DeviceReduce::ReduceByKey(t, b, a.x, a.y, values.x, counts, count, cuda::std::plus<>{}, items); }, ",");
    cudaFree(counts);
    cudaFree(count);
  }
  {
    Arrays<double> a(n / 2);
    timed("scan float64", [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, a.x, a.y, items / 2); }, ",");
  }
  Arrays<Pair> a(n);
  timed("scan pairs", [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveScan(t, b, a.x, a.y, AddPairs{}, items); }, "");
  std::printf("}\n");
}
