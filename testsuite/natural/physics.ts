/**
 * Natural kernels of physics and simulation: particles, fields, automata, random walks.
 */
import { bytes, doubles, floats, type Programs, program } from './program.ts';

const N = 100;

class Vec3 {
  x: number;
  y: number;
  z: number;
  constructor(x: number, y: number, z: number) {
    this.x = x;
    this.y = y;
    this.z = z;
  }
  add(o: Vec3): Vec3 {
    return new Vec3(this.x + o.x, this.y + o.y, this.z + o.z);
  }
  sub(o: Vec3): Vec3 {
    return new Vec3(this.x - o.x, this.y - o.y, this.z - o.z);
  }
  scale(s: number): Vec3 {
    return new Vec3(this.x * s, this.y * s, this.z * s);
  }
  dot(o: Vec3): number {
    return this.x * o.x + this.y * o.y + this.z * o.z;
  }
  get length(): number {
    return Math.sqrt(this.dot(this));
  }
}

export const physics: Programs = {
  'n-body with a class of vectors': program(
    N,
    [doubles(3 * N), doubles(3 * N, -1, 1), new Float64Array(3 * N), N],
    (i, position, velocity, next, n) => {
      const at = (k: number) => new Vec3(position[3 * k], position[3 * k + 1], position[3 * k + 2]);
      const p = at(i);
      let force = new Vec3(0, 0, 0);
      for (let j = 0; j < n; j++) {
        if (j === i) continue;
        const d = at(j).sub(p);
        const r = d.length + 0.01;
        force = force.add(d.scale(1 / (r * r * r)));
      }
      const v = new Vec3(velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]).add(force.scale(1e-3));
      const to = p.add(v.scale(1e-3));
      next[3 * i] = to.x;
      next[3 * i + 1] = to.y;
      next[3 * i + 2] = to.z;
    },
  ),

  'an object that is a state': program(N, [floats(N, -1, 1), floats(N, -1, 1)], (i, xs, vs) => {
    const state = { x: xs[i], v: vs[i], steps: 0 };
    while (state.steps < 20) {
      const a = -4 * state.x - 0.1 * state.v;
      state.v += a * 0.05;
      state.x += state.v * 0.05;
      state.steps++;
    }
    xs[i] = state.x;
    vs[i] = state.v;
  }),

  'runge and kutta, with a function in a function': program(N, [doubles(N, 0.5, 2)], (i, y) => {
    const f = (t: number, v: number) => v * Math.cos(t) - v * v * 0.1;
    let t = 0;
    let v = y[i];
    const h = 0.1;
    for (let step = 0; step < 10; step++) {
      const k1 = f(t, v);
      const k2 = f(t + h / 2, v + (h / 2) * k1);
      const k3 = f(t + h / 2, v + (h / 2) * k2);
      const k4 = f(t + h, v + h * k3);
      v += (h / 6) * (k1 + 2 * k2 + 2 * k3 + k4);
      t += h;
    }
    y[i] = v;
  }),

  'heat in a rod': program(N, [floats(N), new Float32Array(N), 0.2], (i, from, to, alpha) => {
    const left = i > 0 ? from[i - 1] : 0;
    const right = i < from.length - 1 ? from[i + 1] : 0;
    to[i] = from[i] + alpha * (left - 2 * from[i] + right);
  }),

  'life on a torus': program(16 * 16, [bytes(256).map((v) => v & 1), new Uint8Array(256)], (i, from, to) => {
    const size = 16;
    const [x, y] = [i % size, Math.floor(i / size)];
    let alive = 0;
    for (const dy of [-1, 0, 1]) {
      for (const dx of [-1, 0, 1]) {
        if (dx === 0 && dy === 0) continue;
        alive += from[((y + dy + size) % size) * size + ((x + dx + size) % size)];
      }
    }
    to[i] = alive === 3 || (alive === 2 && from[i] === 1) ? 1 : 0;
  }),

  'rule 110': program(N, [bytes(N).map((v) => v & 1), new Uint8Array(N)], (i, from, to) => {
    const l = from[(i + N - 1) % N];
    const c = from[i];
    const r = from[(i + 1) % N];
    to[i] = (110 >> ((l << 2) | (c << 1) | r)) & 1;
  }),

  'a spring that breaks': program(N, [doubles(N, 0, 2), new Float64Array(N)], (i, stretch, force) => {
    const k = 3.5;
    function pull(d: number): number | undefined {
      if (d > 1.5) return undefined;
      return -k * d;
    }
    force[i] = pull(stretch[i]) ?? 0;
  }),

  'lennard and jones': program(N, [doubles(N, 0.9, 3), new Float64Array(N)], (i, r, energy) => {
    const [epsilon, sigma] = [1.65, 1.1];
    const s6 = (sigma / r[i]) ** 6;
    energy[i] = 4 * epsilon * (s6 ** 2 - s6);
  }),

  'ising by a checkerboard': program(
    256,
    [Int8Array.from(bytes(256), (v) => (v & 1 ? 1 : -1)), doubles(256)],
    (i, spins, chance) => {
      const n = 16;
      const x = i % n;
      const y = (i / n) | 0;
      if ((x + y) % 2 !== 0) return;
      const around =
        spins[y * n + ((x + 1) % n)] +
        spins[y * n + ((x + n - 1) % n)] +
        spins[((y + 1) % n) * n + x] +
        spins[((y + n - 1) % n) * n + x];
      const gain = 2 * spins[i] * around;
      if (gain <= 0 || chance[i] < Math.exp(-gain / 2.2)) spins[i] = -spins[i];
    },
  ),

  'a bouncing ball, with a while and a break': program(
    N,
    [doubles(N, 1, 10), new Int32Array(N)],
    (i, height, bounces) => {
      let h = height[i];
      let count = 0;
      while (true) {
        h *= 0.7;
        if (h < 0.05) break;
        count++;
      }
      bounces[i] = count;
    },
  ),

  'charge on a grid of three dimensions': program(
    4 * 5 * 6,
    [floats(4 * 5 * 6), new Float32Array(4 * 5 * 6)],
    (i, rho, phi) => {
      const [nx, ny, nz] = [6, 5, 4];
      const x = i % nx;
      const y = Math.floor(i / nx) % ny;
      const z = Math.floor(i / (nx * ny));
      let sum = 0;
      if (x > 0) sum += rho[i - 1];
      if (x < nx - 1) sum += rho[i + 1];
      if (y > 0) sum += rho[i - nx];
      if (y < ny - 1) sum += rho[i + nx];
      if (z > 0) sum += rho[i - nx * ny];
      if (z < nz - 1) sum += rho[i + nx * ny];
      phi[i] = sum / 6;
    },
  ),

  'double pendulum': program(
    20,
    [doubles(20, 0, 3)],
    (i, angle) => {
      let [a, b, va, vb] = [angle[i], angle[i] / 2, 0, 0];
      const g = 9.81;
      for (let k = 0; k < 50; k++) {
        const d = a - b;
        const den = 3 - Math.cos(2 * d);
        const aa =
          (-3 * g * Math.sin(a) - g * Math.sin(a - 2 * b) - 2 * Math.sin(d) * (vb * vb + va * va * Math.cos(d))) / den;
        const ab = (2 * Math.sin(d) * (2 * va * va + 2 * g * Math.cos(a) + vb * vb * Math.cos(d))) / den;
        [va, vb] = [va + aa * 0.005, vb + ab * 0.005];
        [a, b] = [a + va * 0.005, b + vb * 0.005];
      }
      angle[i] = a;
    },
    1e-7,
  ),
};
