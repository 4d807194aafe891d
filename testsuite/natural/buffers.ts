/**
 * Natural kernels whose arrays change places: rows of dynamic programming, steps of automata and fields, sorts that merge to and fro.
 */
import { cuda, f32, type i32, type Vec } from '../../src/index.ts';
import { closeElements, sameElements } from '../assert.ts';
import { launch, read } from '../waiting.ts';
import { bytes, doubles, floats, integers, type Programs, program } from './program.ts';

const N = 60;
const LENGTH = 12;
const WIDTH = 16;
const CELLS = 24;
const STATES = 4;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

const byValue = (a: number, b: number): number => a - b;

/** One generation of Conway's game at a cell of a field that is closed to a ring both ways. */
const lives = (from: Vec<i32>, x: number, y: number): number => {
  let neighbours = 0;
  for (let dy = -1; dy <= 1; dy++) {
    for (let dx = -1; dx <= 1; dx++) {
      if (dx === 0 && dy === 0) continue;
      neighbours += from[((y + dy + WIDTH) % WIDTH) * WIDTH + ((x + dx + WIDTH) % WIDTH)]!;
    }
  }
  return neighbours === 3 || (neighbours === 2 && from[y * WIDTH + x] === 1) ? 1 : 0;
};

/** Sorts a part of `to`, which holds what `from` holds; the halves are sorted the other way round. */
const sort = (from: Vec<f32>, to: Vec<f32>, low: number, high: number): number => {
  if (high - low < 2) return 0;
  const middle = (low + high) >> 1;
  const depth = Math.max(sort(to, from, low, middle), sort(to, from, middle, high));
  let a = low;
  let b = middle;
  for (let k = low; k < high; k++) to[k] = a < middle && (b >= high || from[a]! <= from[b]!) ? from[a++]! : from[b++]!;
  return depth + 1;
};

/** Runs a kernel in one block, and the same steps by JavaScript: `step(from, to, i)` for all i, then the buffers change places. */
function steps(
  start: Float32Array | Int32Array,
  count: number,
  kernel: (a: Vec<never>, b: Vec<never>, steps: i32) => void,
  step: (from: number[], to: number[], i: number) => void,
): () => Promise<void> {
  return async () => {
    const a = cuda.toDevice(start);
    const b = cuda.deviceArrayLike(a);
    await launch(cuda.jit(kernel) as never, { grid: 1, block: start.length }, ...([a, b, count] as never));
    let [from, to] = [[...start], [...start]];
    for (let s = 0; s < count; s++) {
      for (let i = 0; i < start.length; i++) step(from, to, i);
      [from, to] = [to, from];
    }
    const result = (await read((count % 2 === 0 ? a : b) as never)) as Float32Array;
    if (start instanceof Int32Array) sameElements(result, from, 'cell');
    else closeElements(result, from, 2e-5, 'cell');
  };
}

export const buffers: Programs = {
  'Levenshtein distance with two rows that change places': program(
    N,
    [bytes(N * LENGTH).map((b) => 97 + (b % 4)), bytes(LENGTH).map((b) => 97 + (b % 4)), new Int32Array(N)],
    (i, words, word, distance) => {
      let previous = new Int32Array(LENGTH + 1);
      let current = new Int32Array(LENGTH + 1);
      for (let k = 0; k <= LENGTH; k++) previous[k] = k;
      for (let r = 1; r <= LENGTH; r++) {
        current[0] = r;
        for (let c = 1; c <= LENGTH; c++) {
          const cost = words[i * LENGTH + r - 1] === word[c - 1] ? 0 : 1;
          current[c] = Math.min(current[c - 1]! + 1, previous[c]! + 1, previous[c - 1]! + cost);
        }
        [previous, current] = [current, previous];
      }
      distance[i] = previous[LENGTH]!;
    },
  ),

  'longest common subsequence, rows made by new Array': program(
    N,
    [bytes(N * LENGTH).map((b) => b % 5), bytes(LENGTH).map((b) => b % 5), new Int32Array(N)],
    (i, a, b, length) => {
      let above = new Array<number>(LENGTH + 1).fill(0);
      let row = new Array<number>(LENGTH + 1).fill(0);
      for (let r = 0; r < LENGTH; r++) {
        for (let c = 0; c < LENGTH; c++)
          row[c + 1] = a[i * LENGTH + r] === b[c] ? above[c]! + 1 : Math.max(above[c + 1]!, row[c]!);
        const done = row;
        row = above;
        above = done;
      }
      length[i] = above[LENGTH]!;
    },
  ),

  'merge sort from the bottom up, to and fro': program(
    N,
    [Int32Array.from(integers(N * 16, -500, 500)), new Int32Array(N * 16)],
    (i, data, spare) => {
      let from = data;
      let to = spare;
      const base = i * 16;
      for (let width = 1; width < 16; width *= 2) {
        for (let low = 0; low < 16; low += 2 * width) {
          const middle = Math.min(low + width, 16);
          const high = Math.min(low + 2 * width, 16);
          let a = low;
          let b = middle;
          for (let k = low; k < high; k++) {
            const takesA = a < middle && (b >= high || from[base + a] <= from[base + b]);
            to[base + k] = takesA ? from[base + a++] : from[base + b++];
          }
        }
        [from, to] = [to, from];
      }
    },
  ),

  'radix sort by bits, with counters and two buffers of the thread': program(
    N,
    [integers(N * 8, 0, 4096), new Int32Array(N * 8)],
    (i, data, sorted) => {
      let from = new Int32Array(8);
      let to = new Int32Array(8);
      for (let k = 0; k < 8; k++) from[k] = data[8 * i + k];
      for (let shift = 0; shift < 12; shift += 4) {
        const counts = new Int32Array(16);
        for (const v of from) counts[(v >> shift) & 15]!++;
        let sum = 0;
        for (let d = 0; d < 16; d++) {
          const n = counts[d]!;
          counts[d] = sum;
          sum += n;
        }
        for (const v of from) to[counts[(v >> shift) & 15]!++] = v;
        [from, to] = [to, from];
      }
      sorted.set(from, 8 * i);
    },
  ),

  'wave equation with two buffers': program(
    N,
    [floats(N), floats(N * CELLS, -1, 1), new Float32Array(N)],
    (i, speed, start, energy) => {
      let u = new Float32Array(CELLS);
      let v = new Float32Array(CELLS);
      for (let k = 0; k < CELLS; k++) u[k] = v[k] = start[i * CELLS + k];
      const c = 0.4 * speed[i] + 0.1;
      for (let s = 0; s < 20; s++) {
        // The older of the two becomes the newer one in place.
        for (let k = 1; k < CELLS - 1; k++) v[k] = 2 * u[k]! - v[k]! + c * (u[k - 1]! - 2 * u[k]! + u[k + 1]!);
        [u, v] = [v, u];
      }
      let sum = 0;
      for (let k = 0; k < CELLS; k++) sum += u[k]! * u[k]!;
      energy[i] = sum;
    },
    1e-3,
  ),

  'an automaton of one row, rule chosen by the thread': program(N, [new Int32Array(N)], (i, living) => {
    const rows = [new Uint8Array(32), new Uint8Array(32)];
    rows[0]![16] = 1;
    for (let s = 0; s < 12; s++) {
      const from = rows[s % 2]!;
      const to = rows[(s + 1) % 2]!;
      for (let k = 0; k < 32; k++) {
        const pattern = (from[(k + 31) % 32]! << 2) | (from[k]! << 1) | from[(k + 1) % 32]!;
        to[k] = ((i * 4 + 30) >> pattern) & 1;
      }
    }
    let count = 0;
    for (const cell of rows[0]!) count += cell;
    living[i] = count;
  }),

  'Viterbi, the best way through hidden states': program(
    N,
    [doubles(STATES * STATES, 0.05, 1), doubles(N * LENGTH * STATES, 0.05, 1), new Float64Array(N)],
    (i, transition, emission, best) => {
      let score = [0, 0, 0, 0];
      let next = [0, 0, 0, 0];
      for (let t = 0; t < LENGTH; t++) {
        for (let to = 0; to < STATES; to++) {
          let most = -Infinity;
          for (let from = 0; from < STATES; from++)
            most = Math.max(most, score[from]! + Math.log(transition[from * STATES + to]));
          next[to] = most + Math.log(emission[(i * LENGTH + t) * STATES + to]);
        }
        [score, next] = [next, score];
      }
      best[i] = Math.max(...score);
    },
  ),

  'Jacobi iterations on a small system': program(
    N,
    [doubles(9, -0.3, 0.3), doubles(3 * N, -1, 1), new Float64Array(3 * N)],
    (i, m, right, solution) => {
      let x = [0, 0, 0];
      let better = [0, 0, 0];
      for (let s = 0; s < 15; s++) {
        for (let r = 0; r < 3; r++) {
          let sum = right[3 * i + r];
          for (let c = 0; c < 3; c++) if (c !== r) sum -= m[3 * r + c] * x[c]!;
          better[r] = sum / (1 + m[4 * r]);
        }
        const before = x;
        x = better;
        better = before;
      }
      solution.set(x, 3 * i);
    },
  ),

  'three best of many, stored side by side': program(
    N,
    [doubles(40, -1, 1), doubles(N, -1, 1), new Float64Array(3 * N)],
    (i, samples, points, out) => {
      const best = [Infinity, Infinity, Infinity];
      for (const s of samples) {
        let d = Math.abs(s - points[i]);
        for (let k = 0; k < 3; k++) {
          if (d >= best[k]!) continue;
          [best[k], d] = [d, best[k]!];
        }
      }
      out.set(best, 3 * i);
    },
  ),

  'median filter: row and column of a number': program(
    WIDTH * 10,
    [floats(WIDTH * 10), new Float32Array(WIDTH * 10)],
    (i, image, out) => {
      const x = i % WIDTH;
      const y = (i - x) / WIDTH;
      const window = [0, 0, 0, 0, 0, 0, 0, 0, 0];
      for (let k = 0; k < 9; k++) {
        const column = Math.min(Math.max(x + (k % 3) - 1, 0), WIDTH - 1);
        const row = Math.min(Math.max(y + (k - (k % 3)) / 3 - 1, 0), 9);
        window[k] = image[row * WIDTH + column];
      }
      for (let a = 1; a < 9; a++)
        for (let b = a; b > 0 && byValue(window[b - 1]!, window[b]!) > 0; b--)
          [window[b - 1], window[b]] = [window[b]!, window[b - 1]!];
      out[i] = window[4]!;
    },
  ),

  'haversine of pairs of places': program(
    N,
    [doubles(4 * N, -80, 80), new Float64Array(N)],
    (i, points, distance) => {
      const [latitude, longitude, toLatitude, toLongitude] = points.subarray(4 * i, 4 * i + 4).map(radians);
      const h =
        Math.sin((toLatitude! - latitude!) / 2) ** 2 +
        Math.cos(latitude!) * Math.cos(toLatitude!) * Math.sin((toLongitude! - longitude!) / 2) ** 2;
      distance[i] = 2 * 6371 * Math.asin(Math.sqrt(h));
    },
    1e-9,
  ),

  'a table chosen by the thread, smoothed with the other': program(
    N,
    [floats(N), floats(N), new Float32Array(N)],
    (i, low, high, out) => {
      const [mine, other] = low[i] > high[i] ? [low, high] : [high, low];
      const near = i > 0 ? mine : other;
      out[i] = (mine[i] + other[i] + near[i]) / 3;
      near[i] = Math.min(mine[i], other[i]);
    },
  ),

  "Conway's game in one block": steps(
    Int32Array.from({ length: WIDTH * WIDTH }, (_, k) => (Math.imul(k + 7, 40503) >> 5) & 1),
    9,
    (a: Vec<i32>, b: Vec<i32>, count: i32) => {
      const i = cuda.threadIdx.x;
      for (let s = 0; s < count; s++) {
        b[i] = lives(a, i % WIDTH, Math.floor(i / WIDTH));
        cuda.syncThreads();
        [a, b] = [b, a];
      }
    },
    (from, to, i) => {
      to[i] = lives(from as never, i % WIDTH, Math.floor(i / WIDTH));
    },
  ),

  'heat in a rod, buffers in shared memory': steps(
    floats(64, 0, 10),
    12,
    (a: Vec<f32>, b: Vec<f32>, count: i32) => {
      let from = cuda.shared.array(64, f32);
      let to = cuda.shared.array(64, f32);
      const i = cuda.threadIdx.x;
      from[i] = a[i]!;
      cuda.syncThreads();
      for (let s = 0; s < count; s++) {
        const left = from[Math.max(i - 1, 0)]!;
        to[i] = from[i]! + 0.2 * (left - 2 * from[i]! + from[Math.min(i + 1, 63)]!);
        cuda.syncThreads();
        const t = from;
        from = to;
        to = t;
      }
      a[i] = from[i]!;
      b[i] = to[i]!;
    },
    (from, to, i) => {
      to[i] = from[i]! + 0.2 * (from[Math.max(i - 1, 0)]! - 2 * from[i]! + from[Math.min(i + 1, 63)]!);
    },
  ),

  'merge sort that calls itself, source and target changing places': async () => {
    const kernel = cuda.jit(
      (x: Vec<f32>, y: Vec<f32>) => {
        const i = cuda.grid(1);
        if (i < 4) sort(x, y, 11 * i, 11 * i + 11);
      },
      { maxRecursion: 8 },
    );
    const data = floats(44, -9, 9);
    const y = cuda.toDevice(data);
    await launch(kernel, { threads: 4 }, cuda.toDevice(data), y);
    const parts = [0, 1, 2, 3].flatMap((i) => [...data.slice(11 * i, 11 * i + 11).sort(byValue)]);
    sameElements(await read(y), Float32Array.from(parts), 'element');
  },

  'red and black cells by turns, each with its own array': async () => {
    const kernel = cuda.jit((red: Vec<f32>, black: Vec<f32>, rounds: i32) => {
      const i = cuda.threadIdx.x;
      for (let s = 0; s < 2 * rounds; s++) {
        const [mine, other] = s % 2 === 0 ? [red, black] : [black, red];
        const side = s % 2 === 0 ? Math.max(i - 1, 0) : Math.min(i + 1, mine.length - 1);
        mine[i] = 0.5 * mine[i]! + 0.25 * (other[i]! + other[side]!);
        cuda.syncThreads();
      }
    });
    const [red, black] = [floats(32), floats(33).slice(1)];
    const [r, b] = [cuda.toDevice(red), cuda.toDevice(black)];
    await launch(kernel, { grid: 1, block: 32 }, r, b, 6);
    for (let s = 0; s < 12; s++) {
      const [mine, other] = s % 2 === 0 ? [red, black] : [black, red];
      for (let i = 0; i < 32; i++) {
        const side = s % 2 === 0 ? Math.max(i - 1, 0) : Math.min(i + 1, 31);
        mine[i] = 0.5 * mine[i]! + 0.25 * (other[i]! + other[side]!);
      }
    }
    closeElements(await read(r), red, 1e-5, 'red cell');
    closeElements(await read(b), black, 1e-5, 'black cell');
  },
};
