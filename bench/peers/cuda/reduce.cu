// Reductions by CUB, for `bench/library`: temporary memory is allocated before, times are between events, a median of each type is printed as JSON.
//   nvcc -O3 -arch=native --extended-lambda -o reduce reduce.cu && ./reduce 28 11
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

template <typename T> __global__ void fill(T *x, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = (T)(i % 3);
}

template <typename T> void run(const char *name, size_t n, int rounds, bool last) {
  T *x, *out;
  CHECK(cudaMalloc(&x, n * sizeof(T)));
  CHECK(cudaMalloc(&out, sizeof(T)));
  fill<<<1024, 256>>>(x, n);
  void *temporary = nullptr;
  size_t bytes = 0;
  CHECK(cub::DeviceReduce::Sum(temporary, bytes, x, out, (long long)n));
  CHECK(cudaMalloc(&temporary, bytes));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  const int together = 20;
  std::vector<float> times;
  for (int round = 0; round < rounds + 2; round++) {
    CHECK(cudaEventRecord(start));
    for (int k = 0; k < together; k++) CHECK(cub::DeviceReduce::Sum(temporary, bytes, x, out, (long long)n));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    if (round >= 2) times.push_back(ms / together);
  }
  std::sort(times.begin(), times.end());
  T sum;
  CHECK(cudaMemcpy(&sum, out, sizeof(T), cudaMemcpyDeviceToHost));
  std::printf("\"%s\":{\"ms\":%g,\"sum\":%.17g}%s", name, times[times.size() / 2], (double)sum, last ? "" : ",");
  CHECK(cudaFree(x));
  CHECK(cudaFree(out));
  CHECK(cudaFree(temporary));
}

int main(int argc, char **argv) {
  size_t n = (size_t)1 << (argc > 1 ? std::atoi(argv[1]) : 28);
  int rounds = argc > 2 ? std::atoi(argv[2]) : 11;
  std::printf("{");
  run<float>("float32", n, rounds, false);
  run<int>("int32", n, rounds, false);
  run<double>("float64", n, rounds, true);
  std::printf("}\n");
}
