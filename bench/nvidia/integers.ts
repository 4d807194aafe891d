/**
 * Kernels of the NVIDIA benchmark that work on integers: random numbers, checksums, hashes of 64 bits, distances of words.
 */
import { cuda, f32, type In, i32, type Mat, ndarray, type u8, type u32, type Vec } from 'tsamba';
import { type Contestant, hashed, type Scale } from './contestant.ts';

const BLOCK = 256;

function bytes(n: number, seed: number, kinds: number): Uint8Array {
  const values = hashed(n, seed);
  const list = new Uint8Array(n);
  for (let i = 0; i < n; i++) list[i] = values[i] * kinds;
  return list;
}

/** The output function of a PCG generator on a counter. */
const pcg = (counter: number): number => {
  const state = (Math.imul(counter, 747796405) + 2891336453) >>> 0;
  const word = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737) >>> 0;
  return ((word >>> 22) ^ word) >>> 0;
};

/** Two normal numbers of two uniform ones (Box and Muller). */
const boxMuller = cuda.jit((a: Vec<f32>, b: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i >= a.length) return;
  const u = (f32(pcg(2 * i) >>> 8) + 0.5) / 16777216;
  const v = f32(pcg(2 * i + 1) >>> 8) / 16777216;
  const radius = Math.sqrt(-2 * Math.log(u));
  const angle = 6.2831855 * v;
  a[i] = radius * Math.cos(angle);
  b[i] = radius * Math.sin(angle);
});

function setUpBoxMuller(scale: Scale): Contestant {
  const n = 2 ** 25 / scale;
  const [a, b] = [cuda.deviceArray(n, f32), cuda.deviceArray(n, f32)];
  return { launch: () => boxMuller.launch({ threads: n, block: BLOCK }, a, b), outputs: [a, b], arrays: [a, b] };
}

const SAMPLES = 256;

/** Points of a square that lie in a circle, by xorshift. */
const monteCarlo = cuda.jit((hits: Vec<i32>, seed: i32) => {
  const i = cuda.grid(1);
  if (i >= hits.length) return;
  let state = Math.imul(i + seed, 2654435761) >>> 0;
  let count = 0;
  for (let k = 0; k < SAMPLES; k++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const x = f32(state >>> 8) / 16777216;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const y = f32(state >>> 8) / 16777216;
    if (x * x + y * y < 1) count++;
  }
  hits[i] = count;
});

function setUpMonteCarlo(scale: Scale): Contestant {
  const hits = cuda.deviceArray(2 ** 22 / scale, i32);
  return {
    launch: () => monteCarlo.launch({ threads: hits.size, block: BLOCK }, hits, 12345),
    outputs: [hits],
    arrays: [hits],
  };
}

const LINE = 64;

/** CRC-32 of lines of 64 bytes, by a table in shared memory. */
const crc = cuda.jit((text: In<Vec<u8>>, table: In<Vec<u32>>, sums: Vec<u32>) => {
  const mine = cuda.shared.array(256, i32);
  mine[cuda.threadIdx.x] = table[cuda.threadIdx.x] | 0;
  cuda.syncThreads();
  const i = cuda.grid(1);
  if (i >= sums.length) return;
  let sum = -1;
  for (let k = 0; k < LINE; k++) sum = mine[(sum ^ text[i * LINE + k]) & 255] ^ (sum >>> 8);
  sums[i] = ~sum >>> 0;
});

/** Of the polynomial that zip uses. */
export function crcTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c;
  });
}

function setUpCrc(scale: Scale): Contestant {
  const n = 2 ** 20 / scale;
  const [text, table] = [cuda.toDevice(bytes(n * LINE, 1, 256)), cuda.toDevice(crcTable())];
  const sums = cuda.deviceArray(n, 'u32');
  return {
    launch: () => crc.launch({ threads: n, block: BLOCK }, text, table, sums),
    outputs: [sums],
    arrays: [text, table, sums],
  };
}

/** Sixteen rounds of a multiplicative hash in 64 bits for each key. */
const hash = cuda.jit((keys: In<Vec<i32>>, hashes: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i >= keys.length) return;
  let h = BigInt(keys[i]);
  for (let k = 0; k < 16; k++) {
    h = (h ^ (h >> 29n)) * 1099511628211n;
    h += BigInt(k);
  }
  hashes[i] = i32((h ^ (h >> 32n)) & 0x7fffffffn);
});

function setUpHash(scale: Scale): Contestant {
  const values = hashed(2 ** 24 / scale, 1);
  const keys = cuda.toDevice(new Int32Array(values.map((v) => v * 2 ** 24)));
  const hashes = cuda.deviceArray(values.length, i32);
  return {
    launch: () => hash.launch({ threads: values.length, block: BLOCK }, keys, hashes),
    outputs: [hashes],
    arrays: [keys, hashes],
  };
}

const LETTERS = 128;

/** Edit distances, a block a pair of words: by diagonals of the table, of which thread t has row t + 1. */
const levenshtein = cuda.jit((a: In<Mat<u8>>, b: In<Mat<u8>>, distances: Vec<i32>) => {
  const diagonals = cuda.shared.array([3, LETTERS + 1], i32);
  const pair = cuda.blockIdx.x;
  const t = cuda.threadIdx.x;
  const row = t + 1;
  const letter = a[pair][t];
  if (t === 0) {
    diagonals[0][0] = 0;
    diagonals[1][0] = 1;
    diagonals[1][1] = 1;
  }
  cuda.syncThreads();
  for (let d = 2; d <= 2 * LETTERS; d++) {
    const column = d - row;
    const now = d % 3;
    const before = (d + 2) % 3;
    const beforeThat = (d + 1) % 3;
    if (column >= 1 && column <= LETTERS) {
      const change = diagonals[beforeThat][row - 1] + (letter === b[pair][column - 1] ? 0 : 1);
      diagonals[now][row] = Math.min(change, diagonals[before][row - 1] + 1, diagonals[before][row] + 1);
    }
    if (column === 0) diagonals[now][row] = row;
    if (t === 0 && d <= LETTERS) diagonals[now][0] = d;
    cuda.syncThreads();
  }
  if (row === LETTERS) distances[pair] = diagonals[(2 * LETTERS) % 3][LETTERS];
});

function setUpLevenshtein(scale: Scale): Contestant {
  const pairs = 32768 / scale;
  const words = (seed: number) => cuda.toDevice(ndarray(bytes(pairs * LETTERS, seed, 4), { shape: [pairs, LETTERS] }));
  const arrays = [words(1), words(1000003), cuda.deviceArray(pairs, i32)] as const;
  return {
    launch: () => levenshtein.launch({ grid: pairs, block: LETTERS }, ...arrays),
    outputs: [arrays[2]],
    arrays,
  };
}

export const INTEGERS: Readonly<Record<string, (scale: Scale) => Contestant>> = {
  boxmuller: setUpBoxMuller,
  montecarlo: setUpMonteCarlo,
  crc: setUpCrc,
  hash: setUpHash,
  levenshtein: setUpLevenshtein,
};
