// A sparse matrix, searches, the nearest of several centres.
#include <math.h>

void spmv(int rows, const int *restrict starts, const int *restrict columns, const float *restrict values,
          const float *restrict x, float *restrict y) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}

void search(int length, const float *restrict table, int n, const float *restrict values, int *restrict places) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int low = 0, high = length;
    while (low < high) {
      int middle = (low + high) >> 1;
      if (table[middle] < values[i]) low = middle + 1;
      else high = middle;
    }
    places[i] = low;
  }
}

void kmeans(int n, const float *restrict x, const float *restrict y, int count, const float *restrict centres,
            int *restrict nearest) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int best = 0;
    float least = INFINITY;
    for (int k = 0; k < count; k++) {
      float dx = x[i] - centres[2 * k], dy = y[i] - centres[2 * k + 1], distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = k;
      }
    }
    nearest[i] = best;
  }
}
