/**
 * What programs in other languages say by loops and constants, and kernels by arithmetic and shapes: coordinates of a running number, colours side by side in
 * pixels; and a loop that threads leave one by one.
 */
import { type Cube, cuda, type f32, type In, type Mat, type u8, type Vec } from 'tsamba';
import { type Case, random, randomBytes, shaped } from '../case.ts';

/** Patches of 3 × 3 as columns of a matrix, for a convolution by a matrix product. */
const im2col: Case = {
  name: 'im2col',
  size: '16 × 58² f32',
  setUp() {
    const [channels, height, width] = [16, 58, 58];
    const [rows, columns] = [height - 2, width - 2];
    const x = random(channels * height * width);
    const out = new Float32Array(channels * 9 * rows * columns);
    const args = [shaped(x, channels, height, width), shaped(out, channels * 9, rows * columns)];
    return {
      launches: [{ kernel: im2colKernel, threads: [rows * columns, channels * 9], block: [128, 1], args }],
      plain: () => im2colPlain(x, out, channels, height, width),
      c: ['im2col', channels, height, width, x, out],
      results: [out],
    };
  },
};

const im2colKernel = (x: In<Cube<f32>>, out: Mat<f32>) => {
  const [p, q] = cuda.grid(2);
  const [, height, width] = x.shape;
  const columns = width - 2;
  if (p >= (height - 2) * columns || q >= out.shape[0]) return;
  const [channel, k] = [Math.floor(q / 9), q % 9];
  const [i, j] = [Math.floor(p / columns), p % columns];
  out[q][p] = x[channel][i + Math.floor(k / 3)][j + (k % 3)];
};

function im2colPlain(x: Float32Array, out: Float32Array, channels: number, height: number, width: number): void {
  let at = 0;
  for (let c = 0; c < channels; c++)
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++)
        for (let i = 0; i < height - 2; i++)
          for (let j = 0; j < width - 2; j++) out[at++] = x[(c * height + i + a) * width + j + b];
}

const ycbcr: Case = {
  name: 'ycbcr',
  size: '512K pixels u8',
  setUp() {
    const n = 2 ** 19;
    const [rgb, out] = [randomBytes(3 * n), new Uint8Array(3 * n)];
    return {
      launches: [{ kernel: ycbcrKernel, threads: n, block: 256, args: [shaped(rgb, n, 3), shaped(out, n, 3)] }],
      plain: () => ycbcrPlain(rgb, out),
      c: ['ycbcr', n, rgb, out],
      results: [out],
    };
  },
};

const clamped = (v: number): number => Math.min(Math.max(v, 0), 255);

const ycbcrKernel = (rgb: In<Mat<u8>>, out: Mat<u8>) => {
  const i = cuda.grid(1);
  if (i >= rgb.shape[0]) return;
  const [r, g, b] = [rgb[i][0], rgb[i][1], rgb[i][2]];
  out[i][0] = (77 * r + 150 * g + 29 * b) >> 8;
  out[i][1] = clamped(((-43 * r - 85 * g + 128 * b) >> 8) + 128);
  out[i][2] = clamped(((128 * r - 107 * g - 21 * b) >> 8) + 128);
};

function ycbcrPlain(rgb: Uint8Array, out: Uint8Array): void {
  for (let i = 0; i < rgb.length; i += 3) {
    const [r, g, b] = [rgb[i], rgb[i + 1], rgb[i + 2]];
    out[i] = (77 * r + 150 * g + 29 * b) >> 8;
    out[i + 1] = clamped(((-43 * r - 85 * g + 128 * b) >> 8) + 128);
    out[i + 2] = clamped(((128 * r - 107 * g - 21 * b) >> 8) + 128);
  }
}

/** Where a word stands in a text. */
const wordSearch: Case = {
  name: 'word-search',
  size: '8 in 512K u8',
  setUp() {
    const text = randomBytes(2 ** 19, 1, 4);
    const word = text.slice(1000, 1008);
    const found = new Uint8Array(text.length);
    return {
      launches: [{ kernel: wordSearchKernel, threads: text.length, block: 256, args: [text, word, found] }],
      plain: () => wordSearchPlain(text, word, found),
      c: ['word_search', text.length, word.length, text, word, found],
      results: [found],
    };
  },
};

const wordSearchKernel = (text: In<Vec<u8>>, word: In<Vec<u8>>, found: Vec<u8>) => {
  const i = cuda.grid(1);
  if (i + word.length > text.length) return;
  let k = 0;
  while (k < word.length && text[i + k] === word[k]) k++;
  found[i] = k === word.length ? 1 : 0;
};

function wordSearchPlain(text: Uint8Array, word: Uint8Array, found: Uint8Array): void {
  for (let i = 0; i <= text.length - word.length; i++) {
    let k = 0;
    while (k < word.length && text[i + k] === word[k]) k++;
    found[i] = k === word.length ? 1 : 0;
  }
}

export const coordinates: readonly Case[] = [im2col, ycbcr, wordSearch];
