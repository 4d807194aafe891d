/**
 * Natural kernels of geometry and graphics: rays, distance fields, fractals, maps.
 */
import { doubles, floats, type Programs, program } from './program.ts';

const N = 60;

type Point = { x: number; y: number };

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const fract = (v: number): number => v - Math.floor(v);
const lerp = (a: number, b: number, t: number): number => a + (b - a) * t;
const smoothstep = (a: number, b: number, v: number): number => {
  const t = Math.min(Math.max((v - a) / (b - a), 0), 1);
  return t * t * (3 - 2 * t);
};

const cross = (a: readonly number[], b: readonly number[]): [number, number, number] => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

export const geometry: Programs = {
  mandelbrot: program(24 * 16, [new Int32Array(24 * 16), 50], (i, out, limit) => {
    const cx = -2 + (3 * (i % 24)) / 24;
    const cy = -1 + (2 * Math.floor(i / 24)) / 16;
    let [x, y] = [0, 0];
    let n = 0;
    while (x * x + y * y <= 4 && n < limit) {
      [x, y] = [x * x - y * y + cx, 2 * x * y + cy];
      n++;
    }
    out[i] = n;
  }),

  'julia with a do while': program(20 * 20, [new Float64Array(400)], (i, out) => {
    let z: Point = { x: ((i % 20) - 10) / 6, y: (Math.floor(i / 20) - 10) / 6 };
    let n = 0;
    do {
      z = { x: z.x * z.x - z.y * z.y - 0.8, y: 2 * z.x * z.y + 0.156 };
    } while (++n < 30 && z.x ** 2 + z.y ** 2 < 4);
    out[i] = n;
  }),

  'ray against a sphere': program(N, [doubles(3 * N, -1, 1), new Float64Array(N)], (i, direction, hit) => {
    const sphere = { centre: [0, 0, 3], radius: 1.5 };
    const length = Math.hypot(direction[3 * i], direction[3 * i + 1], direction[3 * i + 2]);
    const d = [direction[3 * i] / length, direction[3 * i + 1] / length, direction[3 * i + 2] / length];
    let b = 0;
    let c = -sphere.radius * sphere.radius;
    for (let k = 0; k < 3; k++) {
      b += d[k] * sphere.centre[k];
      c += sphere.centre[k] * sphere.centre[k];
    }
    const discriminant = b * b - c;
    hit[i] = discriminant < 0 ? Infinity : b - Math.sqrt(discriminant);
  }),

  'ray and triangle': program(N, [doubles(3 * N, -1, 1), new Float64Array(N)], (i, origin, out) => {
    const o = [origin[3 * i], origin[3 * i + 1], -2];
    const d = [0, 0, 1];
    const [e1, e2] = [
      [2, 0, 0],
      [0, 2, 0.5],
    ];
    const p = cross(d, e2);
    const det = e1[0] * p[0] + e1[1] * p[1] + e1[2] * p[2];
    if (Math.abs(det) < 1e-9) {
      out[i] = -1;
      return;
    }
    const s = [o[0] + 1, o[1] + 1, o[2]];
    const u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det;
    const q = cross(s, e1);
    const v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
    out[i] = u < 0 || v < 0 || u + v > 1 ? -1 : (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det;
  }),

  'marching through a distance field': program(N, [floats(2 * N, -0.5, 0.5), new Float32Array(N)], (i, screen, out) => {
    function scene(x: number, y: number, z: number): number {
      const ball = Math.sqrt(x * x + y * y + (z - 3) * (z - 3)) - 1;
      const floor = y + 1;
      return Math.min(ball, floor);
    }
    let t = 0;
    for (let step = 0; step < 40; step++) {
      const d = scene(screen[2 * i] * t, screen[2 * i + 1] * t, t);
      if (d < 0.001) break;
      t += d;
      if (t > 20) return;
    }
    out[i] = Math.round(t * 4);
  }),

  'point in a polygon': program(N, [doubles(2 * N, -1.5, 1.5), new Uint8Array(N)], (i, points, inside) => {
    const polygon = [
      [-1, -1],
      [1, -0.5],
      [0.2, 0],
      [1, 1],
      [-0.7, 0.9],
    ];
    const [x, y] = [points[2 * i], points[2 * i + 1]];
    let odd = false;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
      const [ax, ay] = polygon[a];
      const [bx, by] = polygon[b];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
    }
    inside[i] = odd ? 1 : 0;
  }),

  'a bezier curve': program(N, [new Float64Array(2 * N)], (i, out) => {
    const t = i / (N - 1);
    const control: Point[] = [
      { x: 0, y: 0 },
      { x: 0, y: 2 },
      { x: 3, y: 2 },
      { x: 3, y: -1 },
    ];
    const weights = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
    let [x, y] = [0, 0];
    for (const [k, p] of control.entries()) {
      x += weights[k] * p.x;
      y += weights[k] * p.y;
    }
    out[2 * i] = x;
    out[2 * i + 1] = y;
  }),

  'web mercator tiles': program(N, [doubles(2 * N, -80, 80), new Int32Array(2 * N), 6], (i, place, tile, zoom) => {
    const lat = radians(place[2 * i]);
    const n = 2 ** zoom;
    tile[2 * i] = Math.floor(((place[2 * i + 1] + 180) / 360) * n);
    tile[2 * i + 1] = Math.floor(((1 - Math.log(Math.tan(lat) + 1 / Math.cos(lat)) / Math.PI) / 2) * n);
  }),

  'value noise': program(
    N,
    [new Float64Array(N)],
    (i, out) => {
      const hash = (x: number, y: number) => fract(Math.sin(x * 12.9898 + y * 78.233) * 43.5453);
      const [x, y] = [(i % 10) * 0.37, Math.floor(i / 10) * 0.41];
      const [x0, y0] = [Math.floor(x), Math.floor(y)];
      const u = smoothstep(0, 1, x - x0);
      const v = smoothstep(0, 1, y - y0);
      out[i] = lerp(lerp(hash(x0, y0), hash(x0 + 1, y0), u), lerp(hash(x0, y0 + 1), hash(x0 + 1, y0 + 1), u), v);
    },
    1e-9,
    'f64',
  ),

  'perlin noise with the table of permutations': program(
    N,
    [Uint8Array.from({ length: 256 }, (_, k) => (k * 167 + 13) % 256), new Float64Array(N)],
    (i, permutation, out) => {
      const fade = (t: number) => t * t * t * (t * (t * 6 - 15) + 10);
      const grad = (hash: number, x: number, y: number) => {
        switch (hash & 3) {
          case 0:
            return x + y;
          case 1:
            return -x + y;
          case 2:
            return x - y;
          default:
            return -x - y;
        }
      };
      const [px, py] = [i * 0.173, i * 0.091];
      const X = Math.floor(px) & 255;
      const Y = Math.floor(py) & 255;
      const x = px - Math.floor(px);
      const y = py - Math.floor(py);
      const a = permutation[X] + Y;
      const b = permutation[(X + 1) & 255] + Y;
      const at = (k: number) => permutation[k & 255];
      out[i] = lerp(
        lerp(grad(at(a), x, y), grad(at(b), x - 1, y), fade(x)),
        lerp(grad(at(a + 1), x, y - 1), grad(at(b + 1), x - 1, y - 1), fade(x)),
        fade(y),
      );
    },
  ),

  'voronoi cells': program(N, [doubles(20), new Int32Array(N)], (i, sites, cell) => {
    const p = { x: (i % 10) / 10, y: Math.floor(i / 10) / 6 };
    let nearest = { index: -1, d: Infinity };
    for (let k = 0; k < sites.length / 2; k++) {
      const d = (sites[2 * k] - p.x) ** 2 + (sites[2 * k + 1] - p.y) ** 2;
      if (d < nearest.d) nearest = { index: k, d };
    }
    cell[i] = nearest.index;
  }),

  'a matrix of four rows moves points': program(N, [floats(3 * N), floats(16)], (i, points, m) => {
    const v = [points[3 * i], points[3 * i + 1], points[3 * i + 2], 1];
    const out = [0, 0, 0, 0];
    for (let r = 0; r < 4; r++) for (let c = 0; c < 4; c++) out[r] += m[4 * r + c] * v[c];
    for (let k = 0; k < 3; k++) points[3 * i + k] = out[k] / out[3];
  }),

  'quaternions turn vectors': program(N, [doubles(3 * N), doubles(4, -1, 1)], (i, v, q) => {
    const norm = Math.hypot(q[0], q[1], q[2], q[3]);
    const [w, x, y, z] = [q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm];
    const p = [v[3 * i], v[3 * i + 1], v[3 * i + 2]];
    const t = cross([x, y, z], p).map((c) => 2 * c);
    const u = cross([x, y, z], t);
    v[3 * i] = p[0] + w * t[0] + u[0];
    v[3 * i + 1] = p[1] + w * t[1] + u[1];
    v[3 * i + 2] = p[2] + w * t[2] + u[2];
  }),

  'a box around three points': program(20, [doubles(120), new Float64Array(80)], (i, p, box) => {
    const xs = [p[6 * i], p[6 * i + 2], p[6 * i + 4]];
    const ys = [p[6 * i + 1], p[6 * i + 3], p[6 * i + 5]];
    box[4 * i] = Math.min(...xs);
    box[4 * i + 1] = Math.min(...ys);
    box[4 * i + 2] = Math.max(...xs);
    box[4 * i + 3] = Math.max(...ys);
  }),
};
