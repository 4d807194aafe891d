/**
 * Natural kernels of numbers and algorithms: number theory, bits, sorting, search, dynamic programming.
 */
import { bytes, integers, numbers, type Programs, program } from './program.ts';

const N = 48;

function gcd(a: number, b: number): number {
  while (b !== 0) {
    [a, b] = [b, a % b];
  }
  return a;
}

function isPrime(n: number): boolean {
  if (n < 2) return false;
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
}

const swap = (a: Int32Array, i: number, j: number): void => {
  const t = a[i];
  a[i] = a[j];
  a[j] = t;
};

export const algorithms: Programs = {
  'greatest common divisors': program(
    N,
    [integers(N, 1, 1000), integers(N + 1, 1, 1000), new Int32Array(N)],
    (i, a, b, out) => {
      out[i] = gcd(a[i], b[i]);
    },
  ),

  'primes by division': program(200, [new Uint8Array(200)], (i, out) => {
    out[i] = isPrime(i) ? 1 : 0;
  }),

  collatz: program(N, [new Int32Array(N)], (i, steps) => {
    let n = i + 1;
    let count = 0;
    while (n !== 1) {
      n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      count++;
    }
    steps[i] = count;
  }),

  'fibonacci by a swap': program(40, [new Float64Array(40)], (i, out) => {
    let [a, b] = [0, 1];
    for (let k = 0; k < i; k++) [a, b] = [b, a + b];
    out[i] = a;
  }),

  'powers modulo a prime, bigints': program(N, [new BigInt64Array(N)], (i, out) => {
    const modulus = 1000000007n;
    let base = BigInt(i) + 2n;
    let exponent = 1000n;
    let result = 1n;
    while (exponent > 0n) {
      if (exponent & 1n) result = (result * base) % modulus;
      base = (base * base) % modulus;
      exponent >>= 1n;
    }
    out[i] = result;
  }),

  'population counts by shifts': program(
    N,
    [Uint32Array.from(numbers(N, 0, 2 ** 32)), new Uint8Array(N)],
    (i, x, out) => {
      let v = x[i];
      v = v - ((v >>> 1) & 0x55555555);
      v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
      out[i] = (((v + (v >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
    },
  ),

  'bits in reverse': program(N, [Uint32Array.from(numbers(N, 0, 2 ** 32))], (i, x) => {
    let v = x[i];
    let r = 0;
    for (let k = 0; k < 32; k++) {
      r = (r << 1) | (v & 1);
      v >>>= 1;
    }
    x[i] = r >>> 0;
  }),

  'gray code': program(N, [new Uint32Array(N)], (i, out) => {
    out[i] = i ^ (i >> 1);
  }),

  'morton order': program(N, [new Uint32Array(N)], (i, out) => {
    const spread = (v: number) => {
      v = (v | (v << 8)) & 0x00ff00ff;
      v = (v | (v << 4)) & 0x0f0f0f0f;
      v = (v | (v << 2)) & 0x33333333;
      return (v | (v << 1)) & 0x55555555;
    };
    out[i] = spread(i * 3) | (spread(i * 5) << 1);
  }),

  'hilbert curve': program(64, [new Int32Array(128)], (i, out) => {
    let [x, y] = [0, 0];
    let t = i;
    for (let s = 1; s < 8; s *= 2) {
      const rx = 1 & (t / 2);
      const ry = 1 & (t ^ rx);
      if (ry === 0) {
        if (rx === 1) {
          x = s - 1 - x;
          y = s - 1 - y;
        }
        [x, y] = [y, x];
      }
      x += s * rx;
      y += s * ry;
      t = Math.floor(t / 4);
    }
    out[2 * i] = x;
    out[2 * i + 1] = y;
  }),

  'insertion sort of rows': program(8, [integers(64, -50, 50)], (i, a) => {
    const row = a.subarray(8 * i, 8 * i + 8);
    for (let k = 1; k < row.length; k++) {
      const key = row[k];
      let j = k - 1;
      while (j >= 0 && row[j] > key) {
        row[j + 1] = row[j];
        j--;
      }
      row[j + 1] = key;
    }
  }),

  'median filter by sort': program(80, [bytes(80), new Uint8Array(80)], (i, from, to) => {
    const [x, y] = [i % 10, Math.floor(i / 10)];
    const near = new Array(9).fill(0);
    let n = 0;
    for (let dy = -1; dy <= 1; dy++)
      for (let dx = -1; dx <= 1; dx++)
        near[n++] = from[Math.min(7, Math.max(0, y + dy)) * 10 + Math.min(9, Math.max(0, x + dx))];
    near.sort((a, b) => a - b);
    to[i] = near[4];
  }),

  'rows sorted in place, as typed arrays sort': program(
    3,
    [Float64Array.of(3, Number.NaN, -0, 0, -5, 2, 0, -0, 1, ...numbers(51, -1, 1))],
    (i, x) => {
      x.subarray(20 * i, 20 * i + 20).sort();
    },
  ),

  'words and integers of all sizes, sorted by differences': program(
    4,
    [Uint32Array.from(numbers(40, 0, 2 ** 32)), integers(40, -(2 ** 31), 2 ** 31), new Float64Array(80)],
    (i, words, x, out) => {
      const own = new Uint32Array(10);
      for (let k = 0; k < 10; k++) own[k] = words[10 * i + k];
      own.sort((a, b) => a - b);
      const down = [x[10 * i], x[10 * i + 1], x[10 * i + 2], x[10 * i + 3]].sort((a, b) => b - a);
      for (let k = 0; k < 10; k++) {
        out[20 * i + k] = own[k];
        out[20 * i + 10 + k] = down[k % 4];
      }
    },
  ),

  'indices sorted by their keys, equal ones in order': program(
    3,
    [integers(60, 0, 5), new Int32Array(60)],
    (i, key, out) => {
      const order = Array.from({ length: 20 }, (_, k) => k);
      order.sort((a, b) => key[20 * i + a] - key[20 * i + b]);
      for (let k = 0; k < 20; k++) out[20 * i + k] = order[k];
    },
  ),

  'those that pass a filter': program(6, [integers(24, -9, 9), new Int32Array(24)], (i, x, out) => {
    const row = [x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]];
    const positive = row.filter((v) => v > 0);
    let last = -1;
    for (const v of positive) last = v;
    out[4 * i] = positive.length;
    out[4 * i + 1] = positive.reduce((a, b) => a + b, 0);
    out[4 * i + 2] = last;
    out[4 * i + 3] = x.subarray(4 * i, 4 * i + 4).filter((v, k) => v % 2 === 0 && k > 0).length;
  }),

  'bubble sort with a flag': program(8, [integers(64, -50, 50)], (i, a) => {
    let swapped: boolean;
    do {
      swapped = false;
      for (let k = 8 * i; k < 8 * i + 7; k++) {
        if (a[k] > a[k + 1]) {
          swap(a, k, k + 1);
          swapped = true;
        }
      }
    } while (swapped);
  }),

  'heap sort of rows': program(6, [integers(60, 0, 1000)], (i, all) => {
    const n = 10;
    const at = (k: number) => n * i + k;
    const sift = (root: number, end: number) => {
      for (;;) {
        let child = 2 * root + 1;
        if (child >= end) return;
        if (child + 1 < end && all[at(child)] < all[at(child + 1)]) child++;
        if (all[at(root)] >= all[at(child)]) return;
        swap(all, at(root), at(child));
        root = child;
      }
    };
    for (let k = (n >> 1) - 1; k >= 0; k--) sift(k, n);
    for (let end = n - 1; end > 0; end--) {
      swap(all, at(0), at(end));
      sift(0, end);
    }
  }),

  'binary search': program(
    N,
    [Int32Array.from({ length: 100 }, (_, k) => 3 * k), new Int32Array(N)],
    (i, sorted, found) => {
      let low = 0;
      let high = sorted.length;
      while (low < high) {
        const mid = (low + high) >> 1;
        if (sorted[mid] < i * 5) low = mid + 1;
        else high = mid;
      }
      found[i] = sorted[low] === i * 5 ? low : -1;
    },
  ),

  'a knapsack in an array': program(10, [new Int32Array(10)], (i, out) => {
    const weights = [1, 3, 4, 5, 9];
    const values = [1, 4, 5, 7, 11];
    const capacity = i + 6;
    const best = new Int32Array(20);
    for (let k = 0; k < weights.length; k++) {
      for (let w = capacity; w >= weights[k]; w--) best[w] = Math.max(best[w], best[w - weights[k]] + values[k]);
    }
    out[i] = best[capacity];
  }),

  'longest common subsequence': program(
    6,
    [integers(60, 0, 4), integers(61, 0, 4), new Int32Array(6)],
    (i, a, b, out) => {
      const row = new Int32Array(11);
      for (let r = 0; r < 10; r++) {
        let diagonal = 0;
        for (let c = 0; c < 10; c++) {
          const above = row[c + 1];
          row[c + 1] = a[10 * i + r] === b[10 * i + c] ? diagonal + 1 : Math.max(above, row[c]);
          diagonal = above;
        }
      }
      out[i] = row[10];
    },
  ),

  'queens by bits, with a stack of its own': program(6, [new Int32Array(6)], (i, out) => {
    const n = i + 3;
    const all = (1 << n) - 1;
    const columns = new Int32Array(12);
    const left = new Int32Array(12);
    const right = new Int32Array(12);
    const free = new Int32Array(12);
    let depth = 0;
    let count = 0;
    free[0] = all;
    while (depth >= 0) {
      if (free[depth] === 0) {
        depth--;
        continue;
      }
      const bit = free[depth] & -free[depth];
      free[depth] ^= bit;
      if (depth === n - 1) {
        count++;
        continue;
      }
      columns[depth + 1] = columns[depth] | bit;
      left[depth + 1] = (left[depth] | bit) << 1;
      right[depth + 1] = (right[depth] | bit) >> 1;
      depth++;
      free[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
    }
    out[i] = count;
  }),

  'a permutation by its number': program(24, [new Uint8Array(96)], (i, out) => {
    const items = [0, 1, 2, 3];
    let rest = i;
    for (let k = 0; k < 4; k++) {
      let f = 1;
      for (let j = 2; j <= 3 - k; j++) f *= j;
      const pick = Math.floor(rest / f);
      rest %= f;
      out[4 * i + k] = items[pick];
      for (let j = pick; j < 3; j++) items[j] = items[j + 1];
    }
  }),

  'digits add up': program(N, [integers(N, 0, 1e6), new Int32Array(N)], (i, x, out) => {
    let sum = 0;
    for (let v = x[i]; v > 0; v = Math.floor(v / 10)) sum += v % 10;
    out[i] = sum;
  }),

  'whole square roots': program(N, [integers(N, 0, 1e9), new Int32Array(N)], (i, x, out) => {
    out[i] = Math.floor(Math.sqrt(x[i]));
  }),

  'a state machine with a switch that falls through': program(
    N,
    [integers(N, 0, 6), new Int32Array(N)],
    (i, command, out) => {
      let v = 0;
      switch (command[i]) {
        case 0:
          v += 1;
        case 1:
          v += 10;
          break;
        case 2:
        case 3:
          v = 100;
          break;
        case 4:
          return;
        default:
          v = -1;
      }
      out[i] = v;
    },
  ),

  'tic-tac-toe lines': program(30, [integers(270, 0, 3), new Int32Array(30)], (i, boards, winner) => {
    const lines = [
      [0, 1, 2],
      [3, 4, 5],
      [6, 7, 8],
      [0, 3, 6],
      [1, 4, 7],
      [2, 5, 8],
      [0, 4, 8],
      [2, 4, 6],
    ];
    const board = boards.subarray(9 * i, 9 * i + 9);
    for (const [a, b, c] of lines) {
      if (board[a] !== 0 && board[a] === board[b] && board[b] === board[c]) {
        winner[i] = board[a];
        return;
      }
    }
  }),
};
