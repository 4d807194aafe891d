/**
 * Grids of cells that look at their neighbours: a 5-point stencil in narrow and in wide blocks, the game of life and a forest fire,
 * and a step of the lattice Boltzmann method.
 */
import { cuda, type f32, f64, type In, type i32, type Mat, type u8, type Vec } from 'tsamba';
import { type Case, random, randomBytes, shaped } from '../case.ts';

function fivePoints(name: string, block: [number, number]): Case {
  return {
    name,
    size: '2048² f32',
    setUp() {
      const n = 2048;
      const [from, to] = [random(n * n), new Float32Array(n * n)];
      const args = [shaped(from, n, n), shaped(to, n, n)];
      return {
        launches: [{ kernel: fivePointKernel, threads: [n, n], block, args }],
        plain: () => fivePointPlain(from, to, n),
        c: ['five_points', n, from, to],
        results: [to],
        tolerance: 1e-6,
      };
    },
  };
}

const fivePointKernel = (from: In<Mat<f32>>, to: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  const [rows, columns] = from.shape;
  if (x > 0 && y > 0 && x < columns - 1 && y < rows - 1) {
    to[y][x] = 0.2 * (from[y][x] + from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
  }
};

function fivePointPlain(from: Float32Array, to: Float32Array, n: number): void {
  for (let y = 1; y < n - 1; y++)
    for (let x = 1; x < n - 1; x++) {
      const at = y * n + x;
      to[at] = 0.2 * (from[at] + from[at - n] + from[at + n] + from[at - 1] + from[at + 1]);
    }
}

/** Cells are 0 or 1; the world is a torus. */
const life: Case = {
  name: 'life',
  size: '1024² u8',
  setUp() {
    const n = 1024;
    const [from, to] = [randomBytes(n * n, 1, 2), new Uint8Array(n * n)];
    const args = [shaped(from, n, n), shaped(to, n, n)];
    return {
      launches: [{ kernel: lifeKernel, threads: [n, n], block: [32, 8], args }],
      plain: () => lifePlain(from, to, n),
      c: ['life', n, from, to],
      results: [to],
    };
  },
};

const lifeKernel = (from: In<Mat<u8>>, to: Mat<u8>) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = from.shape;
  if (x >= w || y >= h) return;
  let neighbours = 0;
  for (let dy = -1; dy <= 1; dy++)
    for (let dx = -1; dx <= 1; dx++) {
      if (dx !== 0 || dy !== 0) neighbours += from[(y + dy + h) % h][(x + dx + w) % w];
    }
  to[y][x] = neighbours === 3 || (neighbours === 2 && from[y][x] === 1) ? 1 : 0;
};

function lifePlain(from: Uint8Array, to: Uint8Array, n: number): void {
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      let neighbours = 0;
      for (let dy = -1; dy <= 1; dy++)
        for (let dx = -1; dx <= 1; dx++) {
          if (dx !== 0 || dy !== 0) neighbours += from[((y + dy + n) % n) * n + ((x + dx + n) % n)];
        }
      to[y * n + x] = neighbours === 3 || (neighbours === 2 && from[y * n + x] === 1) ? 1 : 0;
    }
}

/** Cells are empty, a tree, or a burning tree; trees catch fire from their neighbours, or by lightning. */
const EMPTY = 0;
const TREE = 1;
const FIRE = 2;

const forestFire: Case = {
  name: 'forest-fire',
  size: '2048² i32',
  setUp() {
    const n = 2048;
    const from = Int32Array.from(random(n * n), (v) => (v < 0.4 ? EMPTY : v < 0.98 ? TREE : FIRE));
    const [chance, to] = [random(n * n, 2), new Int32Array(n * n)];
    const args = [shaped(from, n, n), shaped(chance, n, n), shaped(to, n, n), 0.001];
    return {
      launches: [{ kernel: forestFireKernel, threads: [n, n], block: [32, 8], args }],
      plain: () => forestFirePlain(from, chance, to, n, 0.001),
      c: ['forest_fire', n, from, chance, to, 0.001],
      results: [to],
    };
  },
};

const forestFireKernel = (from: In<Mat<i32>>, chance: In<Mat<f32>>, to: Mat<i32>, lightning: number) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = from.shape;
  if (x === 0 || y === 0 || x >= w - 1 || y >= h - 1) return;
  const cell = from[y][x];
  if (cell === TREE) {
    const burns =
      from[y - 1][x] === FIRE || from[y + 1][x] === FIRE || from[y][x - 1] === FIRE || from[y][x + 1] === FIRE;
    to[y][x] = burns || chance[y][x] < lightning ? FIRE : TREE;
  } else {
    to[y][x] = cell === EMPTY && chance[y][x] < 0.01 ? TREE : EMPTY;
  }
};

function forestFirePlain(from: Int32Array, chance: Float32Array, to: Int32Array, n: number, lightning: number): void {
  for (let y = 1; y < n - 1; y++)
    for (let x = 1; x < n - 1; x++) {
      const at = y * n + x;
      const cell = from[at];
      if (cell === TREE) {
        const burns = from[at - n] === FIRE || from[at + n] === FIRE || from[at - 1] === FIRE || from[at + 1] === FIRE;
        to[at] = burns || chance[at] < lightning ? FIRE : TREE;
      } else {
        to[at] = cell === EMPTY && chance[at] < 0.01 ? TREE : EMPTY;
      }
    }
}

/** The nine directions of D2Q9, and how much of the equilibrium moves in each. */
const DX = Int32Array.of(0, 1, 0, -1, 0, 1, -1, -1, 1);
const DY = Int32Array.of(0, 0, 1, 0, -1, 1, 1, -1, -1);
const WEIGHT = Float64Array.of(4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36);

const latticeBoltzmann: Case = {
  name: 'lattice-boltzmann',
  size: '256² × 9 f64',
  setUp() {
    const n = 256;
    const from = Float64Array.from(random(9 * n * n), (v, k) => WEIGHT[Math.floor(k / (n * n))] * (1 + 0.1 * v));
    const to = new Float64Array(9 * n * n);
    return {
      launches: [{ kernel: latticeBoltzmannKernel, threads: [n, n], block: [32, 8], args: [from, to, n, 0.6] }],
      plain: () => latticeBoltzmannPlain(from, to, n, 0.6),
      c: ['lattice_boltzmann', n, from, to, 0.6],
      results: [to],
      tolerance: 1e-12,
    };
  },
};

const latticeBoltzmannKernel = (from: In<Vec<f64>>, to: Vec<f64>, n: number, tau: number) => {
  const f = cuda.local.array(9, f64);
  const [x, y] = cuda.grid(2);
  if (x >= n || y >= n) return;
  let density = 0;
  let ux = 0;
  let uy = 0;
  for (let k = 0; k < 9; k++) {
    const fromX = (x - DX[k] + n) % n;
    const fromY = (y - DY[k] + n) % n;
    f[k] = from[(k * n + fromY) * n + fromX];
    density += f[k];
    ux += f[k] * DX[k];
    uy += f[k] * DY[k];
  }
  ux /= density;
  uy /= density;
  const square = 1.5 * (ux * ux + uy * uy);
  for (let k = 0; k < 9; k++) {
    const along = 3 * (DX[k] * ux + DY[k] * uy);
    const equilibrium = WEIGHT[k] * density * (1 + along + 0.5 * along * along - square);
    to[(k * n + y) * n + x] = f[k] + (equilibrium - f[k]) / tau;
  }
};

function latticeBoltzmannPlain(from: Float64Array, to: Float64Array, n: number, tau: number): void {
  const f = new Float64Array(9);
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      let density = 0;
      let ux = 0;
      let uy = 0;
      for (let k = 0; k < 9; k++) {
        const fromX = (x - DX[k] + n) % n;
        const fromY = (y - DY[k] + n) % n;
        f[k] = from[(k * n + fromY) * n + fromX];
        density += f[k];
        ux += f[k] * DX[k];
        uy += f[k] * DY[k];
      }
      ux /= density;
      uy /= density;
      const square = 1.5 * (ux * ux + uy * uy);
      for (let k = 0; k < 9; k++) {
        const along = 3 * (DX[k] * ux + DY[k] * uy);
        const equilibrium = WEIGHT[k] * density * (1 + along + 0.5 * along * along - square);
        to[(k * n + y) * n + x] = f[k] + (equilibrium - f[k]) / tau;
      }
    }
}

export const stencils: readonly Case[] = [
  fivePoints('stencil-32x8', [32, 8]),
  fivePoints('stencil-wide', [256, 1]),
  life,
  forestFire,
  latticeBoltzmann,
];
