// Coordinates of a running number, colours side by side, a word in a text.
#include <stdint.h>

/** Patches of 3 × 3 as columns of a matrix. */
void im2col(int channels, int height, int width, const float *restrict x, float *restrict out) {
  int rows = height - 2, columns = width - 2;
#pragma omp parallel for
  for (int q = 0; q < channels * 9; q++) {
    int c = q / 9, a = q % 9 / 3, b = q % 3;
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++)
        out[(q * rows + i) * columns + j] = x[(c * height + i + a) * width + j + b];
  }
}

static uint8_t clamped(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

void ycbcr(int n, const uint8_t *restrict rgb, uint8_t *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    out[3 * i] = (77 * r + 150 * g + 29 * b) >> 8;
    out[3 * i + 1] = clamped(((-43 * r - 85 * g + 128 * b) >> 8) + 128);
    out[3 * i + 2] = clamped(((128 * r - 107 * g - 21 * b) >> 8) + 128);
  }
}

void word_search(int n, int length, const uint8_t *restrict text, const uint8_t *restrict word, uint8_t *restrict found) {
#pragma omp parallel for
  for (int i = 0; i <= n - length; i++) {
    int k = 0;
    while (k < length && text[i + k] == word[k]) k++;
    found[i] = k == length;
  }
}
