// Pictures and sound.
#include <stdint.h>
#include <stdlib.h>

static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

void sobel(int n, const uint8_t *restrict from, uint8_t *restrict to) {
#pragma omp parallel for
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < n - 1; x++) {
      const uint8_t *p = from + y * n + x;
      int gx = p[-n + 1] + 2 * p[1] + p[n + 1] - p[-n - 1] - 2 * p[-1] - p[n - 1];
      int gy = p[n - 1] + 2 * p[n] + p[n + 1] - p[-n - 1] - 2 * p[-n] - p[-n + 1];
      int sum = abs(gx) + abs(gy);
      to[y * n + x] = sum > 255 ? 255 : sum;
    }
}

void convolution(int n, const float *restrict from, const float *restrict weights, float *restrict to) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float sum = 0;
      for (int j = 0; j < 7; j++)
        for (int i = 0; i < 7; i++) {
          int row = clamp(y + j - 3, 0, n - 1), column = clamp(x + i - 3, 0, n - 1);
          sum += weights[j * 7 + i] * from[row * n + column];
        }
      to[y * n + x] = sum;
    }
}

enum { RADIUS = 4 };

void gaussian(int n, const float *restrict weights, const float *restrict from, float *restrict between,
              float *restrict to) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float sum = 0;
      for (int k = -RADIUS; k <= RADIUS; k++) sum += weights[k + RADIUS] * from[y * n + clamp(x + k, 0, n - 1)];
      between[y * n + x] = sum;
    }
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float sum = 0;
      for (int k = -RADIUS; k <= RADIUS; k++) sum += weights[k + RADIUS] * between[clamp(y + k, 0, n - 1) * n + x];
      to[y * n + x] = sum;
    }
}

void grayscale(int n, const uint8_t *restrict pixels, uint8_t *restrict gray) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) gray[i] = (77 * pixels[4 * i] + 150 * pixels[4 * i + 1] + 29 * pixels[4 * i + 2]) >> 8;
}

void blend(int n, const uint8_t *restrict over, const uint8_t *restrict under, uint8_t *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < 4 * n; i += 4) {
    int alpha = over[i + 3];
    for (int c = 0; c < 3; c++) out[i + c] = (over[i + c] * alpha + under[i + c] * (255 - alpha)) / 255;
    out[i + 3] = 255;
  }
}

void mix(int n, const int16_t *restrict a, const int16_t *restrict b, int16_t *restrict out, int gainA, int gainB) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) out[i] = clamp((a[i] * gainA + b[i] * gainB) >> 8, -32768, 32767);
}
