// Random numbers, Collatz sequences, hashes of strings.
#include <stdint.h>

static uint32_t xorshift(uint32_t state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

void monte_carlo(int n, int *restrict hits, int seed) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    uint32_t state = (uint32_t)(i + seed) * 2654435761u;
    int count = 0;
    for (int k = 0; k < 64; k++) {
      state = xorshift(state);
      float x = (state >> 8) / 16777216.0f;
      state = xorshift(state);
      float y = (state >> 8) / 16777216.0f;
      if (x * x + y * y < 1) count++;
    }
    hits[i] = count;
  }
}

void collatz(int n, int *restrict steps) {
#pragma omp parallel for schedule(dynamic, 256)
  for (int i = 0; i < n; i++) {
    int64_t v = i + 1;
    int count = 0;
    while (v != 1) {
      v = v % 2 == 0 ? v / 2 : 3 * v + 1;
      count++;
    }
    steps[i] = count;
  }
}

void fnv(int n, const uint8_t *restrict text, const int *restrict starts, uint32_t *restrict hashes) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    uint32_t hash = 0x811c9dc5;
    for (int k = starts[i]; k < starts[i + 1]; k++) hash = (hash ^ text[k]) * 0x01000193;
    hashes[i] = hash;
  }
}
