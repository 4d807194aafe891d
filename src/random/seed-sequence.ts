/**
 * How NumPy makes the key of a generator from a seed: `numpy.random.SeedSequence`, bit for bit. On the host.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

const POOL = 4;
const INIT_A = 0x43b0d7e5;
const MULT_A = 0x931e8875;
const INIT_B = 0x8b51f9dd;
const MULT_B = 0x58f38ded;
const MIX_LEFT = 0xca01f9dd;
const MIX_RIGHT = 0x4973f715;

/** A seed: an integer of any size that is not negative, or several. */
export type Seed = number | bigint | readonly (number | bigint)[];

/** Two words of 64 bits, `SeedSequence(seed, spawn_key=…).generate_state(2, uint64)`. */
export function keyOf(seed: Seed, spawnKey: readonly number[] = []): readonly [bigint, bigint] {
  const pool = poolOf(entropyOf(seed), spawnKey);
  let constant = INIT_B;
  const words = [0, 1, 2, 3].map((k) => {
    let word = (pool[k] as number) ^ constant;
    constant = Math.imul(constant, MULT_B);
    word = Math.imul(word, constant);
    return (word ^ (word >>> 16)) >>> 0;
  }) as [number, number, number, number];
  const [a, b, c, d] = words.map(BigInt) as [bigint, bigint, bigint, bigint];
  return [a | (b << 32n), c | (d << 32n)];
}

/** The seed mixed into four words of 32 bits. */
function poolOf(entropy: readonly number[], spawnKey: readonly number[]): readonly number[] {
  // What is spawned is never what a longer seed is.
  const padding = spawnKey.length > 0 ? new Array<number>(Math.max(0, POOL - entropy.length)).fill(0) : [];
  const words = [...entropy, ...padding, ...spawnKey.flatMap((key) => wordsOf(BigInt(key)))];
  let constant = INIT_A;
  const hash = (value: number): number => {
    let word = value ^ constant;
    constant = Math.imul(constant, MULT_A);
    word = Math.imul(word, constant);
    return word ^ (word >>> 16);
  };
  const mix = (x: number, y: number): number => {
    const mixed = (Math.imul(MIX_LEFT, x) - Math.imul(MIX_RIGHT, y)) | 0;
    return mixed ^ (mixed >>> 16);
  };
  const pool = Array.from({ length: POOL }, (_, k) => hash(words[k] ?? 0));
  const into = (to: number, from: number): void => {
    pool[to] = mix(pool[to] as number, hash(from));
  };
  for (let from = 0; from < POOL; from++) {
    for (let to = 0; to < POOL; to++) if (from !== to) into(to, pool[from] as number);
  }
  for (const word of words.slice(POOL)) for (let to = 0; to < POOL; to++) into(to, word);
  return pool;
}

function entropyOf(seed: unknown): readonly number[] {
  if (Array.isArray(seed) && seed.length > 0) return seed.flatMap((part) => wordsOf(integer(part)));
  return wordsOf(integer(seed));
}

function integer(value: unknown): bigint {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    throw new TsambaTypeError('E_SEED', `generator: the seed is ${show(value)}, not an integer, or a list of integers`);
  }
  const whole = BigInt(value as number | bigint);
  if (whole < 0n) throw new TsambaRangeError('E_SEED', `generator: the seed is ${whole}; seeds are not negative`);
  return whole;
}

/** Words of 32 bits, the lowest first; one at least. */
function wordsOf(value: bigint): number[] {
  const words = [];
  for (let left = value; left > 0n || words.length === 0; left >>= 32n) words.push(Number(left & 0xffffffffn));
  return words;
}
