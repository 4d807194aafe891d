/**
 * Jumps of xoroshiro128+ as matrices over GF(2): what 2⁶⁴ steps do to the 128 bits of a state, and powers of that.
 *
 * One step is linear, so many are a product of 128 × 128 matrices. Generator i starts i jumps behind generator 0: with the powers J, J², J⁴, …
 * each thread makes its own start in as many products as i has bits, where going from one generator to the next takes 128 steps for each.
 */

/** Column c, four words of 32 bits: what a state becomes of which only bit c is set. */
type Matrix = Uint32Array;

const BITS = 128;
const WORDS = 4;

/** One step of the generator, on s0 and s1. */
function step(s0: bigint, s1: bigint): readonly [bigint, bigint] {
  const word = (v: bigint): bigint => BigInt.asUintN(64, v);
  const mixed = s0 ^ s1;
  return [word((s0 << 55n) | (s0 >> 9n)) ^ mixed ^ word(mixed << 14n), word((mixed << 36n) | (mixed >> 28n))];
}

function stepMatrix(): Matrix {
  const matrix = new Uint32Array(BITS * WORDS);
  const words = new BigUint64Array(matrix.buffer);
  for (let bit = 0; bit < BITS; bit++) {
    const one = 1n << BigInt(bit & 63);
    words.set(bit < 64 ? step(one, 0n) : step(0n, one), 2 * bit);
  }
  return matrix;
}

/** The matrix times itself: its columns, each sent through it again. */
function squared(m: Matrix): Matrix {
  const result = new Uint32Array(m.length);
  for (let column = 0; column < BITS; column++) {
    for (let row = 0; row < BITS; row++) {
      if ((((m[column * WORDS + (row >> 5)] as number) >>> (row & 31)) & 1) === 0) continue;
      for (let w = 0; w < WORDS; w++) {
        (result[column * WORDS + w] as number) ^= m[row * WORDS + w] as number;
      }
    }
  }
  return result;
}

/** J, J², J⁴, … as far as they were needed; J is 2⁶⁴ steps. */
const powers: Matrix[] = [];

/** The first `count` of J, J², J⁴, …, one after another: words 256 k to 256 k + 255 are the columns of J to the 2ᵏ, two of 64 bits each. */
export function jumpMatrices(count: number): BigUint64Array<ArrayBuffer> {
  if (powers.length === 0) {
    let matrix = stepMatrix();
    for (let k = 0; k < 64; k++) matrix = squared(matrix);
    powers.push(matrix);
  }
  while (powers.length < count) powers.push(squared(powers.at(-1) as Matrix));
  const all = new Uint32Array(count * BITS * WORDS);
  for (let k = 0; k < count; k++) all.set(powers[k] as Matrix, k * BITS * WORDS);
  return new BigUint64Array(all.buffer);
}
