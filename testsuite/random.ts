/**
 * Chapter: `cuda.random`. The generators are held against xoroshiro128+ as published, with its jump polynomial, in bigints.
 */
import { cuda, type f32, type f64, type u64, type Vec, type XoroshiroStates } from '../src/index.ts';
import { ConformanceFailure, closeElements, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

type State = [s0: bigint, s1: bigint];

const word = (v: bigint): bigint => BigInt.asUintN(64, v);
const rotated = (v: bigint, by: bigint): bigint => word(v << by) | (v >> (64n - by));

function seeded(seed: bigint): State {
  let z = word(seed + 0x9e3779b97f4a7c15n);
  z = word((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = word((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  z ^= z >> 31n;
  return [z, z];
}

/** The next number; the state goes on. */
function next(state: State): bigint {
  const [s0, s1] = state;
  const mixed = s0 ^ s1;
  state[0] = rotated(s0, 55n) ^ mixed ^ word(mixed << 14n);
  state[1] = rotated(mixed, 36n);
  return word(s0 + s1);
}

/** 2⁶⁴ numbers further, by the polynomial that the authors give. */
function jumped(state: State): State {
  const to: State = [0n, 0n];
  for (const part of [0xbeac0467eba5facbn, 0xd86b048b86aa9922n]) {
    for (let bit = 0n; bit < 64n; bit++) {
      if ((part >> bit) & 1n) {
        to[0] ^= state[0];
        to[1] ^= state[1];
      }
      next(state);
    }
  }
  return to;
}

function subsequences(count: number, seed: bigint, start = 0): State[] {
  let state = seeded(seed);
  for (let k = 0; k < start; k++) state = jumped(state);
  return Array.from({ length: count }, () => {
    const own: State = [...state];
    state = jumped(state);
    return own;
  });
}

const words = async (states: Awaited<ReturnType<typeof created>>): Promise<bigint[]> =>
  ((await read(states)).toArray() as { s0: bigint; s1: bigint }[]).flatMap(({ s0, s1 }) => [s0, s1]);

const created = (
  ...args: Parameters<typeof cuda.random.createXoroshiro128pStates>
): ReturnType<typeof cuda.random.createXoroshiro128pStatesAsync> => cuda.random.createXoroshiro128pStatesAsync(...args);

const DRAWS = 4;

/** What each of `count` generators gives, one draw after the other. */
async function drawn(
  count: number,
  seed: number,
  draw: (states: XoroshiroStates, i: number) => number,
): Promise<Float64Array> {
  const kernel = cuda.jit((out: Vec<f64>, states: XoroshiroStates) => {
    const i = cuda.grid(1);
    if (i >= states.length) return;
    for (let k = 0; k < DRAWS; k++) out[DRAWS * i + k] = draw(states, i);
  });
  const out = cuda.deviceArray(DRAWS * count, 'float64');
  await launch(kernel, { threads: count, block: 32 }, out, await created(count, seed));
  return (await read(out)) as Float64Array;
}

function mean(values: Iterable<number>): number {
  let [sum, count] = [0, 0];
  for (const v of values) {
    sum += v;
    count++;
  }
  return sum / count;
}

export const randomNumbers: readonly ConformanceTest[] = chapter('random', {
  'generators begin 2^64 numbers apart': async () => {
    for (const [seed, start] of [
      [1, 0],
      [0, 3],
      [2 ** 53 - 1, 0],
    ] as const) {
      const states = await created(9, seed, { subsequenceStart: start });
      sameElements(await words(states), subsequences(9, BigInt(seed), start).flat(), `word of seed ${seed}`);
    }
  },

  'seeds and subsequences of 64 bits': async () => {
    const seed = 0xfedcba9876543210n;
    sameElements(await words(await created(2, seed)), subsequences(2, seed).flat());
    sameElements(await words(await created(1, -1)), subsequences(1, 2n ** 64n - 1n).flat());
    // The period is 2^128 - 1: 2^64 jumps of 2^64 numbers go once around it, and one number on.
    const last = await created(1, seed, { subsequenceStart: 2n ** 64n - 1n });
    const [state] = subsequences(1, seed) as [State];
    next(state);
    const [end] = (await read(last)).toArray() as { s0: bigint; s1: bigint }[] as [{ s0: bigint; s1: bigint }];
    sameElements(jumped([end.s0, end.s1]), state);
  },

  'the bits of one generator after the other': async () => {
    const kernel = cuda.jit((out: Vec<u64>, states: XoroshiroStates) => {
      const i = cuda.grid(1);
      if (i >= states.length) return;
      for (let k = 0; k < DRAWS; k++) out[DRAWS * i + k] = cuda.random.xoroshiro128pNext(states, i);
    });
    const states = await created(40, 7);
    const out = cuda.deviceArray(DRAWS * 40, 'uint64');
    const expected = subsequences(40, 7n);
    for (let round = 0; round < 2; round++) {
      await launch(kernel, { threads: 40, block: 32 }, out, states);
      sameElements(
        await read(out),
        expected.flatMap((state) => Array.from({ length: DRAWS }, () => next(state))),
      );
    }
  },

  'uniform numbers are those of Numba': async () => {
    const singles = await drawn(50, 3, cuda.random.xoroshiro128pUniformFloat32);
    const doubles = await drawn(50, 3, cuda.random.xoroshiro128pUniformFloat64);
    const bits = subsequences(50, 3n).flatMap((state) =>
      Array.from({ length: DRAWS }, () => Number(next(state) >> 11n)),
    );
    sameElements(
      singles,
      bits.map((v) => Math.fround(v * 2 ** -53)),
    );
    sameElements(
      doubles,
      bits.map((v) => v * 2 ** -53),
    );
  },

  'uniform numbers stay below 1': async () => {
    const kernel = cuda.jit((out: Vec<f32>, wide: Vec<f64>, states: XoroshiroStates) => {
      if (cuda.grid(1) > 0) return;
      states[0] = { s0: 0xffffffffffffffffn, s1: 0n };
      out[0] = cuda.random.xoroshiro128pUniformFloat32(states, 0);
      states[0] = { s0: 0xffffffffffffffffn, s1: 0n };
      wide[0] = cuda.random.xoroshiro128pUniformFloat64(states, 0);
    });
    const [out, wide] = [cuda.deviceArray(1, 'float32'), cuda.deviceArray(1, 'float64')];
    await launch(kernel, { threads: 1 }, out, wide, await created(1, 0));
    sameElements(await read(out), [1 - 2 ** -24]);
    sameElements(await read(wide), [1 - 2 ** -53]);
  },

  'normal numbers are made of two uniform ones': async () => {
    const pairs = subsequences(50, 11n).flatMap((state) =>
      Array.from({ length: DRAWS }, () => [
        Number(next(state) >> 11n) * 2 ** -53,
        Number(next(state) >> 11n) * 2 ** -53,
      ]),
    );
    const normal = pairs.map(([u = 0, v = 0]) => Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v));
    closeElements(await drawn(50, 11, cuda.random.xoroshiro128pNormalFloat64), normal, 1e-13);
    closeElements(await drawn(50, 11, cuda.random.xoroshiro128pNormalFloat32), normal, 2e-5);
  },

  'moments are those of the distributions': async () => {
    const count = 2000;
    const error = 5 / Math.sqrt(DRAWS * count);
    const uniform = await drawn(count, 5, cuda.random.xoroshiro128pUniformFloat32);
    const normal = await drawn(count, 5, cuda.random.xoroshiro128pNormalFloat32);
    const near = (what: string, value: number, expected: number, within: number): void => {
      if (Math.abs(value - expected) > within) throw new ConformanceFailure(`${what} is ${value}, not ${expected}`);
    };
    near('the mean of uniform numbers', mean(uniform), 1 / 2, error * Math.sqrt(1 / 12));
    near('their variance', mean(uniform.map((v) => (v - 0.5) ** 2)), 1 / 12, error * Math.sqrt(1 / 180));
    near('the mean of normal numbers', mean(normal), 0, error);
    near('their variance', mean(normal.map((v) => v ** 2)), 1, error * Math.sqrt(2));
    const bins = new Array<number>(16).fill(0);
    for (const v of uniform) bins[Math.floor(v * 16)] = (bins[Math.floor(v * 16)] ?? 0) + 1;
    const each = (DRAWS * count) / 16;
    // Chi-square of 15 degrees of freedom: above 45 about once in 10,000 seeds, and the seed is fixed.
    const square = bins.reduce((sum, n) => sum + (n - each) ** 2 / each, 0);
    if (square > 45) throw new ConformanceFailure(`bins ${bins} are not even: ${square}`);
  },

  'generators are made anew': blocking(async () => {
    const states = cuda.random.createXoroshiro128pStates(6, 1);
    cuda.random.initXoroshiro128pStates(states, 9, { subsequenceStart: 2 });
    sameElements(await words(states), subsequences(6, 9n, 2).flat());
    const stream = cuda.stream();
    const there = cuda.random.createXoroshiro128pStates(6, 9, { subsequenceStart: 2n, stream });
    sameElements(await words(there), await words(states));
    same(cuda.random.createXoroshiro128pStates(0, 1).size, 0);
  }),

  'what is no seed or no array of states is refused': blocking(() => {
    const { createXoroshiro128pStates: create, initXoroshiro128pStates: init } = cuda.random;
    throws(() => create(3, 0.5), /seed is 0.5, not an integer/, 'E_SEED');
    throws(() => create(3, 1, { subsequenceStart: NaN }), /subsequenceStart is NaN/, 'E_SEED');
    throws(() => create(3, 1, { subsequenceStart: 2n ** 64n - 2n }), /2\^64 subsequences/, 'E_SEED');
    throws(() => create(-1, 1), /-1/);
    throws(() => create(3, 1, { start: 1 } as never), /no option 'start'/, 'E_OPTION');
    throws(() => init(cuda.deviceArray(3, 'uint64') as never, 1), /createXoroshiro128pStates made/, 'E_DTYPE');
  }),
});
