// Histograms, a transpose, sorting, Fourier transforms and edit distances.
#include <stdint.h>
#include <string.h>

void histogram(int n, const uint8_t *restrict x, int *restrict bins) {
#pragma omp parallel for reduction(+ : bins[:256])
  for (int i = 0; i < n; i++) bins[x[i]]++;
}

// By tiles, as the cache wants it; the inner loop writes consecutive elements, which costs less than reading them.
void transpose(int n, const float *restrict from, float *restrict to) {
#pragma omp parallel for
  for (int left = 0; left < n; left += 32)
    for (int top = 0; top < n; top += 32)
      for (int x = left; x < left + 32; x++)
        for (int y = top; y < top + 32; y++) to[x * n + y] = from[y * n + x];
}

enum { SORTED = 512 };

// The network in rows of pairs, none of which has to be looked for.
void bitonic(int n, const float *restrict x, float *restrict out) {
#pragma omp parallel for
  for (int first = 0; first < n; first += SORTED) {
    float *s = out + first;
    memcpy(s, x + first, SORTED * sizeof *s);
    for (int k = 2; k <= SORTED; k <<= 1)
      for (int j = k >> 1; j > 0; j >>= 1)
        for (int start = 0; start < SORTED; start += 2 * j)
          for (int i = start; i < start + j; i++) {
            float a = s[i], b = s[i + j], low = a < b ? a : b, high = a < b ? b : a;
            s[i] = (start & k) == 0 ? low : high;
            s[i + j] = (start & k) == 0 ? high : low;
          }
  }
}

enum { POINTS = 512 };

void fft(int n, const float *restrict re, const float *restrict im, const float *restrict cos,
         const float *restrict sin, float *restrict outRe, float *restrict outIm) {
#pragma omp parallel for
  for (int first = 0; first < n; first += POINTS) {
    float *sr = outRe + first, *si = outIm + first;
    for (int k = 0, from = 0; k < POINTS; k++) {
      sr[k] = re[first + from];
      si[k] = im[first + from];
      int bit = POINTS >> 1;
      for (; from & bit; bit >>= 1) from ^= bit;
      from |= bit;
    }
    for (int half = 1; half < POINTS; half <<= 1)
      for (int start = 0; start < POINTS; start += 2 * half)
        for (int k = 0; k < half; k++) {
          int a = start + k, b = a + half, w = k * (POINTS / 2 / half);
          float vr = sr[b] * cos[w] - si[b] * sin[w], vi = sr[b] * sin[w] + si[b] * cos[w];
          sr[b] = sr[a] - vr;
          si[b] = si[a] - vi;
          sr[a] += vr;
          si[a] += vi;
        }
  }
}

enum { LETTERS = 128 };

static int least(int a, int b) { return a < b ? a : b; }

void levenshtein(int pairs, const uint8_t *restrict a, const uint8_t *restrict b, int *restrict distances) {
#pragma omp parallel for
  for (int p = 0; p < pairs; p++) {
    int row[LETTERS + 1];
    for (int j = 0; j <= LETTERS; j++) row[j] = j;
    for (int i = 1; i <= LETTERS; i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= LETTERS; j++) {
        int change = diagonal + (a[p * LETTERS + i - 1] != b[p * LETTERS + j - 1]);
        diagonal = row[j];
        row[j] = least(change, least(row[j], row[j - 1]) + 1);
      }
    }
    distances[p] = row[LETTERS];
  }
}
