// Much arithmetic for each element. Schedules are dynamic where elements take different times.
#include <math.h>

void nbody(int n, const float *restrict x, const float *restrict y, const float *restrict z, const float *restrict m,
           float *restrict ax, float *restrict ay, float *restrict az) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < n; k++) {
      float dx = x[k] - x[i], dy = y[k] - y[i], dz = z[k] - z[i];
      float r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), pull = m[k] * r * r * r;
      fx += pull * dx;
      fy += pull * dy;
      fz += pull * dz;
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
  }
}

void mandelbrot(int n, int *restrict counts, float left, float top, float step) {
#pragma omp parallel for schedule(dynamic)
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float cr = left + x * step, ci = top + y * step, re = 0, im = 0;
      int k = 0;
      while (k < 256 && re * re + im * im <= 4) {
        float next = re * re - im * im + cr;
        im = 2 * re * im + ci;
        re = next;
        k++;
      }
      counts[y * n + x] = k;
    }
}

static float cumulative(float d) {
  float k = 1 / (1 + 0.2316419f * fabsf(d));
  float w = 0.39894228f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - w : w;
}

void black_scholes(int n, const float *restrict price, const float *restrict strike, const float *restrict years,
                   float *restrict call, float *restrict put, float rate, float volatility) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    float root = sqrtf(years[i]);
    float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
    float n1 = cumulative(d1), n2 = cumulative(d1 - volatility * root);
    float discounted = strike[i] * expf(-rate * years[i]);
    call[i] = price[i] * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - price[i] * (1 - n1);
  }
}

void spheres(int count, const float *restrict scene, int n, float *restrict picture) {
#pragma omp parallel for schedule(dynamic)
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float px = 2.0f * x / n - 1, py = 2.0f * y / n - 1, nearest = 1e9f, light = 0;
      for (int k = 0; k < count; k++) {
        float dx = px - scene[4 * k], dy = py - scene[4 * k + 1], radius = scene[4 * k + 3];
        float square = radius * radius - dx * dx - dy * dy;
        if (square <= 0) continue;
        float depth = sqrtf(square), distance = scene[4 * k + 2] + 3 - depth;
        if (distance < nearest) {
          nearest = distance;
          light = fmaxf(0, (0.6f * dx + 0.5f * dy + 0.62f * depth) / radius);
        }
      }
      picture[y * n + x] = light;
    }
}
