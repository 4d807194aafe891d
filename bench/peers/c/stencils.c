// Grids of cells that look at their neighbours.
#include <stdint.h>

void five_points(int n, const float *restrict from, float *restrict to) {
#pragma omp parallel for
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < n - 1; x++) {
      int at = y * n + x;
      to[at] = 0.2f * (from[at] + from[at - n] + from[at + n] + from[at - 1] + from[at + 1]);
    }
}

void life(int n, const uint8_t *restrict from, uint8_t *restrict to) {
#pragma omp parallel for
  for (int y = 0; y < n; y++) {
    const uint8_t *rows[3] = {from + (y + n - 1) % n * n, from + y * n, from + (y + 1) % n * n};
    for (int x = 0; x < n; x++) {
      int left = x == 0 ? n - 1 : x - 1, right = x == n - 1 ? 0 : x + 1, neighbours = -rows[1][x];
      for (int k = 0; k < 3; k++) neighbours += rows[k][left] + rows[k][x] + rows[k][right];
      to[y * n + x] = neighbours == 3 || (neighbours == 2 && rows[1][x]);
    }
  }
}

enum { EMPTY, TREE, FIRE };

void forest_fire(int n, const int *restrict from, const float *restrict chance, int *restrict to, float lightning) {
#pragma omp parallel for
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < n - 1; x++) {
      int at = y * n + x, cell = from[at];
      if (cell == TREE) {
        int burns = from[at - n] == FIRE || from[at + n] == FIRE || from[at - 1] == FIRE || from[at + 1] == FIRE;
        to[at] = burns || chance[at] < lightning ? FIRE : TREE;
      } else {
        to[at] = cell == EMPTY && chance[at] < 0.01f ? TREE : EMPTY;
      }
    }
}

static const int DX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int DY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double WEIGHT[9] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                                 1. / 36, 1. / 36, 1. / 36, 1. / 36};

void lattice_boltzmann(int n, const double *restrict from, double *restrict to, double tau) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      double f[9], density = 0, ux = 0, uy = 0;
      for (int k = 0; k < 9; k++) {
        int fromX = (x - DX[k] + n) % n, fromY = (y - DY[k] + n) % n;
        f[k] = from[(k * n + fromY) * n + fromX];
        density += f[k];
        ux += f[k] * DX[k];
        uy += f[k] * DY[k];
      }
      ux /= density;
      uy /= density;
      double square = 1.5 * (ux * ux + uy * uy);
      for (int k = 0; k < 9; k++) {
        double along = 3 * (DX[k] * ux + DY[k] * uy);
        double equilibrium = WEIGHT[k] * density * (1 + along + 0.5 * along * along - square);
        to[(k * n + y) * n + x] = f[k] + (equilibrium - f[k]) / tau;
      }
    }
}
