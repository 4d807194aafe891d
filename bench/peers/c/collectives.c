// Sums, prefix sums and the statistics of rows.
#include <math.h>

enum { BLOCK = 256 };

void block_sums(int n, const float *restrict x, float *restrict out) {
#pragma omp parallel for
  for (int b = 0; b < n / BLOCK; b++) {
    float sum = 0;
    for (int i = 0; i < BLOCK; i++) sum += x[b * BLOCK + i];
    out[b] = sum;
  }
}

void sum(int n, const float *restrict x, float *restrict total) {
  float sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += x[i];
  total[0] += sum;
}

void block_scan(int n, const float *restrict x, float *restrict out) {
#pragma omp parallel for
  for (int b = 0; b < n / BLOCK; b++) {
    float sum = 0;
    for (int i = b * BLOCK; i < (b + 1) * BLOCK; i++) {
      sum += x[i];
      out[i] = sum;
    }
  }
}

void layer_norm(int rows, int columns, const float *restrict x, const float *restrict gain, const float *restrict shift,
                float *restrict y) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++) {
    const float *from = x + r * columns;
    float *to = y + r * columns, sum = 0, squares = 0;
    for (int c = 0; c < columns; c++) sum += from[c];
    float mean = sum / columns;
    for (int c = 0; c < columns; c++) squares += (from[c] - mean) * (from[c] - mean);
    float scale = 1 / sqrtf(squares / columns + 1e-5f);
    for (int c = 0; c < columns; c++) to[c] = (from[c] - mean) * scale * gain[c] + shift[c];
  }
}

void softmax(int rows, int columns, const float *restrict x, float *restrict y) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++) {
    const float *from = x + r * columns;
    float *to = y + r * columns, largest = -INFINITY, sum = 0;
    for (int c = 0; c < columns; c++) largest = fmaxf(largest, from[c]);
    for (int c = 0; c < columns; c++) {
      to[c] = expf(from[c] - largest);
      sum += to[c];
    }
    for (int c = 0; c < columns; c++) to[c] /= sum;
  }
}
