// Vectors and dense matrices. The loops that OpenMP shares out say so; without -fopenmp the same code runs on one thread.
#include <string.h>

void saxpy(int n, float a, const float *restrict x, float *restrict y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}

void dot(int n, const double *restrict x, const double *restrict y, double *restrict total) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  total[0] += sum;
}

void matvec(int n, const float *restrict a, const float *restrict x, float *restrict y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[i * n + k] * x[k];
    y[i] = sum;
  }
}

void matmul(int n, const float *restrict a, const float *restrict b, float *restrict c) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    float *row = c + i * n;
    memset(row, 0, n * sizeof *row);
    for (int k = 0; k < n; k++) {
      float v = a[i * n + k];
      for (int j = 0; j < n; j++) row[j] += v * b[k * n + j];
    }
  }
}
