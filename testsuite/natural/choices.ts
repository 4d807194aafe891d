/**
 * Natural kernels that choose: between functions, settings and presets; and that read strings which are known while compiling.
 */
import { doubles, integers, numbers, type Programs, program, text } from './program.ts';

const HEX = '0123456789abcdef';
const CODONS = 'FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG';
const DNA = text('ACGTTGCAACGGTTAACCGGTACG');

const adder = (a: number) => (b: number) => a + b;
const [addOne, addTen] = [adder(1), adder(10)];
const SOFT = { drive: 2, taps: [1, 2, 1], shape: (x: number) => x / (1 + Math.abs(x)) };
const HARD = { drive: 5, taps: [0, 3, 0], shape: (x: number) => Math.max(-1, Math.min(1, x)) };
const amplifier = (k: number) => ({ gain: k, at: (x: number) => x * k });

class Smoother {
  y = 0;
  readonly rate: number;
  readonly curve: (x: number) => number;
  constructor(rate: number, curve: (x: number) => number) {
    this.rate = rate;
    this.curve = curve;
  }
  step(x: number): number {
    this.y += this.rate * (this.curve(x) - this.y);
    return this.y;
  }
}

const words = (count: number): Uint32Array => Uint32Array.from(numbers(count, 0, 2 ** 32));

export const choices: Programs = {
  'easing by a ternary of functions': program(12, [new Float64Array(12)], (i, out) => {
    const easeIn = (t: number): number => t * t;
    const easeOut = (t: number): number => t * (2 - t);
    const ease = i % 3 === 0 ? easeIn : i % 3 === 1 ? easeOut : Math.sqrt;
    out[i] = ease(i / 12) + (i % 2 ? Math.sin : Math.cos)(i);
  }),

  'closures that one function has made': program(8, [new Float64Array(8)], (i, out) => {
    const scale = (k: number) => (x: number) => k * x;
    const [two, five] = [scale(2), scale(5)];
    const f = i % 2 ? two : five;
    const g = i % 3 ? scale(i) : scale(100);
    const captured = i > 4 ? addOne : addTen;
    out[i] = f(i) + 1000 * g(1) + captured(i) / 8;
  }),

  'a function chosen for a helper': program(9, [new Float64Array(9)], (i, out) => {
    const integrate = (f: (x: number) => number, n = 10): number => {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += f((k + 0.5) / n);
      return sum / n;
    };
    out[i] = integrate(i % 2 ? (x) => x * x : Math.exp);
  }),

  'objects with functions, chosen': program(8, [new Float64Array(8)], (i, out) => {
    const [quiet, loud] = [amplifier(2), amplifier(5)];
    const own = i % 2 ? quiet : loud;
    const [up, down] = i % 3 ? [adder(1), adder(-1)] : [adder(i), adder(-i)];
    out[i] = own.at(i) + own.gain + up(10) - down(1);
  }),

  'captured settings, chosen': program(30, [doubles(30, -2, 2), new Float64Array(30)], (i, x, out) => {
    const { drive, taps, shape } = i % 2 ? SOFT : HARD;
    let sum = 0;
    for (let k = 0; k < 3; k++) sum += taps[k] * x[(i + k) % 30];
    out[i] = shape(drive * sum);
  }),

  'instances with a function each, chosen': program(8, [new Float64Array(8)], (i, out) => {
    const slow = new Smoother(0.25, (x) => x * x);
    const fast = new Smoother(0.5, (x) => x);
    const own = i % 2 ? slow : fast;
    let sum = 0;
    for (let k = 0; k < 3; k++) sum += own.step(k);
    out[i] = sum;
  }),

  'hex digits of a string': program(8, [words(8), new Uint8Array(64)], (i, x, out) => {
    for (let k = 0; k < 8; k++) out[8 * i + k] = HEX.charCodeAt((x[i] >>> (28 - 4 * k)) & 15);
  }),

  'codons by a string of 64 letters': program(8, [DNA, new Uint8Array(8)], (i, dna, out) => {
    const [T, C, A] = [...'TCA'].map((c) => c.charCodeAt(0));
    const code = (c: number): number => (c === T ? 0 : c === C ? 1 : c === A ? 2 : 3);
    out[i] = CODONS.charCodeAt(16 * code(dna[3 * i]) + 4 * code(dna[3 * i + 1]) + code(dna[3 * i + 2]));
  }),

  'complements by charCodeAt': program(24, [DNA, new Uint8Array(24)], (i, dna, out) => {
    switch (dna[dna.length - 1 - i]) {
      case 'A'.charCodeAt(0):
        out[i] = 'T'.charCodeAt(0);
        break;
      case 'T'.charCodeAt(0):
        out[i] = 'A'.charCodeAt(0);
        break;
      default:
        out[i] = 'CG'.charCodeAt('GC'.charCodeAt(1) === dna[dna.length - 1 - i] ? 1 : 0);
    }
  }),

  'the hash of a key': program(3, [new Int32Array(3), 'some key' as string], (i, out, key) => {
    let hash = i;
    for (let k = 0; k < key.length; k++) hash = (Math.imul(hash, 31) + key.charCodeAt(k)) | 0;
    for (const c of key) hash ^= c === 'e' ? 1 << i : 0;
    out[i] = hash + (key.startsWith('some') ? key.indexOf('key') : key.split(' ').length);
  }),

  'pcg32, by bigints of 32 bits': program(9, [new Uint32Array(9)], (i, out) => {
    let state = 0x853c49e6748fea9bn + BigInt(i);
    for (let k = 0; k < 3; k++) {
      const old = state;
      state = BigInt.asUintN(64, old * 6364136223846793005n + 0xda3e39cb94b95bdbn);
      const word = Number(BigInt.asUintN(32, ((old >> 18n) ^ old) >> 27n));
      const turn = Number(old >> 59n);
      out[i] = ((word >>> turn) | (word << (-turn & 31))) >>> 0;
    }
  }),

  'bigints of a few bits, with and without a sign': program(16, [new BigInt64Array(32)], (i, out) => {
    out[2 * i] = BigInt.asIntN(5, BigInt(i) * 0x123456789n);
    out[2 * i + 1] = BigInt.asUintN(5, BigInt(i) * 0x123456789n - 7n);
  }),

  'weights of four bits in words': program(16, [words(16), new Int32Array(128)], (i, packed, out) => {
    for (let k = 0; k < 8; k++) out[8 * i + k] = (packed[i] << (28 - 4 * k)) >> 28;
  }),

  'sequence numbers that wrap': program(
    15,
    [words(16), new Int32Array(15), new Int32Array(15)],
    (i, seq, order, gap) => {
      const ahead = (seq[i] - seq[i + 1]) | 0;
      order[i] = ahead < 0 ? -1 : 1;
      gap[i] = Math.floor(~~(seq[i] ^ 0x80000000) / 65536);
    },
  ),

  'minima that begin with the largest numbers': program(
    5,
    [integers(25, -9, 99), Uint8Array.from(numbers(25, 0, 256)), words(25), new Int32Array(5), new Float64Array(10)],
    (i, x, bytes, w, least, other) => {
      let best = Number.MAX_SAFE_INTEGER;
      let low = Number.MAX_VALUE;
      let first = 1e10;
      for (let k = 5 * i; k < 5 * i + 5; k++) {
        if (x[k] < best) best = x[k];
        low = Math.min(low, bytes[k]);
        if (w[k] < first) first = w[k];
      }
      least[i] = best;
      other[2 * i] = low;
      other[2 * i + 1] = first;
    },
  ),

  'decimals, by powers of ten': program(
    12,
    [integers(12, -9999, 9999), new Float64Array(12), new Float64Array(12)],
    (i, x, out, inverse) => {
      out[i] = x[i] * 10 ** -(i % 4);
      inverse[i] = (i + 1) ** -1;
    },
  ),

  'bytes into doubles': program(
    20,
    [Uint8Array.from(numbers(60, 0, 256)), new Float64Array(20), new Float64Array(20)],
    (i, rgb, luma, level) => {
      const weigh = (r: number, g: number, b: number): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
      luma[i] = weigh(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
      const v = [0.1, 0.2];
      v[i % 2] += rgb[i] * 1.1;
      level[i] = Math.floor(10 * v[0]) / 10 + (i / rgb.length) * v[1];
    },
  ),
};
