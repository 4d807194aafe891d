// How the kernels of more.cuh are set up; cases.cu includes this after its helpers.
#include <numeric>

static uint8_t *letters(size_t n, uint32_t seed, int kinds) {
  return upload<uint8_t>(n, [=](uint32_t i) { return (uint8_t)(hashed(i, seed) * kinds); });
}

static Contestant setUpSpmv() {
  int n = 1 << 20;
  std::vector<int> starts(n + 1);
  for (int k = 0; k < n; k++) starts[k + 1] = starts[k] + 16 + (int)(64 * hashed(k, 1));
  int *s = upload<int>(n + 1, [&](uint32_t i) { return starts[i]; });
  int *columns = upload<int>(starts[n], [=](uint32_t i) { return (int)(hashed(i, 2) * n); });
  float *values = uniform(starts[n], 3), *x = uniform(n, 4), *y = empty<float>(n);
  return {[=] { spmv<<<n / (BLOCK / 32), BLOCK>>>(s, columns, values, x, y, n); }, [=](auto &o) { check(o, y, n); }};
}

static Contestant setUpCrc() {
  int n = 1 << 20;
  uint8_t *text = letters((size_t)n * LINE, 1, 256);
  uint32_t *table = upload<uint32_t>(256, [](uint32_t c) {
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >> 1) : c >> 1;
    return c;
  });
  uint32_t *sums = empty<uint32_t>(n);
  return {[=] { crc<<<n / BLOCK, BLOCK>>>(text, table, sums, n); }, [=](auto &o) { check(o, sums, n); }};
}

/// A case on pictures and grids, or one without launch.
static Contestant setUpImages(const std::string &name) {
  int n = 8192;
  if (name == "convolution") {
    float *a = uniform(n * n, 1), *w = uniform(9, 5), *b = empty<float>(n * n);
    return {[=] { convolution<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, w, b, n, n); },
            [=](auto &o) { check(o, b, n * n); }};
  }
  if (name == "gaussian") {
    float *a = uniform(n * n, 1), *w = uniform(2 * RADIUS + 1, 5), *b = empty<float>(n * n);
    return {[=] { gaussian<<<dim3(n / SIDE, n / SIDE), dim3(SIDE, SIDE)>>>(a, w, b, n, n); },
            [=](auto &o) { check(o, b, n * n); }};
  }
  if (name == "resize") {
    int from = 6144;
    float *a = uniform(from * from, 1), *b = empty<float>(n * n);
    return {[=] { resize<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, 0.75f, from, n); },
            [=](auto &o) { check(o, b, n * n); }};
  }
  if (name == "heat") {
    n = 512;
    float *a = uniform(n * n * n, 1), *b = uniform(n * n * n, 2);
    return {[=] { heat<<<dim3(n / 32, n / 4, n / 2), dim3(32, 4, 2)>>>(a, b, n); },
            [=](auto &o) { check(o, b, n * n * n); }};
  }
  if (name == "julia") {
    n = 4096;
    int *counts = empty<int>(n * n);
    cuFloatComplex c = make_cuFloatComplex(-0.8f, 0.156f);
    return {[=] { julia<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(counts, n, c, 3.0f / n); },
            [=](auto &o) { check(o, counts, n * n); }};
  }
  return {};
}

static Contestant setUpRows(const std::string &name) {
  int rows = 65536, columns = 1024, n = rows * columns;
  if (name == "scan") {
    float *x = uniform(n, 1), *y = empty<float>(n);
    return {[=] { scan<<<n / BLOCK, BLOCK>>>(x, y); }, [=](auto &o) { check(o, y, n); }};
  }
  if (name == "layernorm") {
    float *x = uniform(n, 1), *gain = uniform(columns, 2), *shift = uniform(columns, 3), *y = empty<float>(n);
    return {[=] { layerNorm<<<rows, BLOCK>>>(x, gain, shift, y, columns); }, [=](auto &o) { check(o, y, n); }};
  }
  if (name == "softmax") {
    float *x = uniform(n, 1), *y = empty<float>(n);
    return {[=] { softmax<<<rows, BLOCK>>>(x, y, columns); }, [=](auto &o) { check(o, y, n); }};
  }
  if (name == "bitonic") {
    n = 1 << 24;
    float *x = uniform(n, 1), *y = empty<float>(n);
    return {[=] { bitonic<<<n / SORTED, BLOCK>>>(x, y); }, [=](auto &o) { check(o, y, n); }};
  }
  if (name == "matvec") {
    n = 8192;
    float *a = uniform(n * n, 1), *x = uniform(n, 2), *y = empty<float>(n);
    return {[=] { matvec<<<n / (BLOCK / 32), BLOCK>>>(a, x, y, n); }, [=](auto &o) { check(o, y, n); }};
  }
  if (name == "spmv") return setUpSpmv();
  if (name == "nearest") {
    n = 65536;
    float *points = uniform(3 * n, 1), *from = uniform(3 * n, 777), *squares = empty<float>(n);
    int *places = empty<int>(n);
    return {[=] { nearest<<<n / BLOCK, BLOCK>>>(points, from, places, squares, n, n); },
            [=](auto &o) { check(o, places, n), check(o, squares, n); }};
  }
  return {};
}

static Contestant setUpIntegers(const std::string &name) {
  if (name == "boxmuller") {
    int n = 1 << 25;
    float *a = empty<float>(n), *b = empty<float>(n);
    return {[=] { boxMuller<<<n / BLOCK, BLOCK>>>(a, b, n); }, [=](auto &o) { check(o, a, n), check(o, b, n); }};
  }
  if (name == "montecarlo") {
    int n = 1 << 22;
    int *hits = empty<int>(n);
    return {[=] { monteCarlo<<<n / BLOCK, BLOCK>>>(hits, 12345, n); }, [=](auto &o) { check(o, hits, n); }};
  }
  if (name == "crc") return setUpCrc();
  if (name == "hash") {
    int n = 1 << 24;
    int *keys = upload<int>(n, [](uint32_t i) { return (int)(hashed(i, 1) * 16777216); }), *hashes = empty<int>(n);
    return {[=] { hashKeys<<<n / BLOCK, BLOCK>>>(keys, hashes, n); }, [=](auto &o) { check(o, hashes, n); }};
  }
  if (name == "levenshtein") {
    int n = 32768;
    uint8_t *a = letters(n * LETTERS, 1, 4), *b = letters(n * LETTERS, 1000003, 4);
    int *distances = empty<int>(n);
    return {[=] { levenshtein<<<n, LETTERS>>>(a, b, distances); }, [=](auto &o) { check(o, distances, n); }};
  }
  return {};
}
