// Tables, counters and records.
#include <stdint.h>

void look_up(int n, const uint16_t *restrict x, const uint16_t *restrict table, uint16_t *restrict y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) y[i] = table[x[i]];
}

void embedding(int n, int width, const int32_t *restrict ids, const float *restrict table, float *restrict out) {
#pragma omp parallel for
  for (int t = 0; t < n; t++)
    for (int d = 0; d < width; d++) out[t * width + d] = table[ids[t] * width + d];
}

void flags_counted(int n, const int32_t *restrict x, uint8_t *restrict flag, int32_t *restrict counts, int limit) {
#pragma omp parallel for
  for (int b = 0; b < n / 256; b++) {
    int count = 0;
    for (int i = b * 256; i < (b + 1) * 256; i++) {
      flag[i] = x[i] > limit;
      if (flag[i]) count++;
    }
    counts[b] = count;
  }
}

void quaternions(int n, const float *restrict q, const float *restrict v, float *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    float w = q[4 * i], x = q[4 * i + 1], y = q[4 * i + 2], z = q[4 * i + 3];
    float vx = v[3 * i], vy = v[3 * i + 1], vz = v[3 * i + 2];
    float tx = 2 * (y * vz - z * vy), ty = 2 * (z * vx - x * vz), tz = 2 * (x * vy - y * vx);
    out[3 * i] = vx + w * tx + (y * tz - z * ty);
    out[3 * i + 1] = vy + w * ty + (z * tx - x * tz);
    out[3 * i + 2] = vz + w * tz + (x * ty - y * tx);
  }
}

void running_maxima(int n, const int32_t *restrict x, int32_t *restrict out) {
#pragma omp parallel for
  for (int b = 0; b < n; b += 256) {
    int most = x[b];
    for (int i = b; i < b + 256; i++) {
      most = x[i] > most ? x[i] : most;
      out[i] = most;
    }
  }
}

void shortest_paths(int n, float *d, int by) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    float first = d[i * n + by];
    for (int j = 0; j < n; j++) {
      float other = first + d[by * n + j];
      d[i * n + j] = other < d[i * n + j] ? other : d[i * n + j];
    }
  }
}

void red_black(int n, float *restrict u, const float *restrict f) {
  for (int colour = 0; colour < 2; colour++)
#pragma omp parallel for
    for (int y = 1; y < n - 1; y++)
      for (int x = 1 + ((y + 1 + colour) & 1); x < n - 1; x += 2) {
        float *p = u + y * n + x;
        *p = 0.25f * (p[-n] + p[n] + p[-1] + p[1] - f[y * n + x]);
      }
}

void matvec_i8(int rows, int columns, const int8_t *restrict a, const int8_t *restrict x, int32_t *restrict y) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++) {
    int sum = 0;
    for (int k = 0; k < columns; k++) sum += a[r * columns + k] * x[k];
    y[r] = sum;
  }
}
