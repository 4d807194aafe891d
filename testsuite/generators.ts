/**
 * Chapter: `cuda.random.generator`, and counter-based generators in kernels. Words are held against Random123's known answers, arrays against numbers
 * that NumPy 2.4.6 gives, and distributions against what they say, with seeds that stay the same.
 */
import { cuda, type DeviceNDArray, type u32, type u64, type Vec } from '../src/index.ts';
import { ConformanceFailure, closeElements, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

type Numbers = ArrayLike<number>;
const numbers = async (array: Promise<unknown>): Promise<Numbers> =>
  (await read((await array) as DeviceNDArray)) as unknown as Numbers;
const words = async (array: Promise<unknown>): Promise<ArrayLike<bigint>> =>
  (await numbers(array)) as unknown as ArrayLike<bigint>;
const sum = (values: Numbers): number => Array.from(values).reduce((a, b) => a + b, 0);

/** How far the distribution of numbers is from one, times the root of how many there are: Kolmogorov's statistic. */
function kolmogorov(values: Numbers, distribution: (x: number) => number): number {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  let most = 0;
  sorted.forEach((x, k) => {
    const p = distribution(x);
    most = Math.max(most, p - k / n, (k + 1) / n - p);
  });
  return most * Math.sqrt(n);
}

/** The sum over kinds of squares of differences, each by what is expected. */
function chiSquare(counts: Numbers, expected: Numbers): number {
  return Array.from(counts).reduce(
    (total, count, k) => total + (count - (expected[k] ?? 0)) ** 2 / (expected[k] ?? 1),
    0,
  );
}

function below(value: number, limit: number, what: string): void {
  if (!(value < limit)) throw new ConformanceFailure(`${what}: ${value}, which is not below ${limit}`);
}

/** The standard normal distribution, to 1e-7: Abramowitz and Stegun 26.2.17. */
function normalDistribution(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * series;
  return x > 0 ? 1 - tail : tail;
}

const SIZE = 8000;

export const generators: readonly ConformanceTest[] = chapter('generators', {
  'philox and threefry of 32 bits are those of Random123': async () => {
    const kernel = cuda.jit((y: Vec<u32>, c: Vec<u32>) => {
      const [a, b, d, e, f, g] = [c[0]!, c[1]!, c[2]!, c[3]!, c[4]!, c[5]!];
      const p = cuda.random.philox([f, g], [a, b, d, e]);
      const q = cuda.random.threefry2x32([d, e], [a, b]);
      const r = cuda.random.threefry4x32([f, g, f, g], [a, b, d, e]);
      [y[0], y[1], y[2], y[3]] = p;
      [y[4], y[5]] = q;
      [y[6], y[7], y[8], y[9]] = r;
      [y[10], y[11], y[12], y[13]] = cuda.random.philox4x32([f, g], [a, b, d, e]);
    });
    const known: readonly (readonly [readonly number[], string, string, string?])[] = [
      [
        [0, 0, 0, 0, 0, 0],
        '6627e8d5 e169c58d bc57ac4c 9b00dbd8',
        '6b200159 99ba4efe',
        '9c6ca96a e17eae66 fc10ecd4 5256a7d8',
      ],
      [
        new Array<number>(6).fill(0xffffffff),
        '408f276d 41c83b0e a20bc7c6 6d5451fd',
        '1cb996fc bb002be7',
        '2a881696 57012287 f6c7446e a16a6732',
      ],
      [
        [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0],
        'd16cfe09 94fdcceb 5001e420 24126ea1',
        'c4923a9c 483df7a0',
      ],
    ];
    for (const [counter, philox, two, four] of known) {
      const y = cuda.deviceArray(14, 'uint32');
      await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(Uint32Array.from(counter)));
      const hex = Array.from(await read(y), (v) => v.toString(16).padStart(8, '0'));
      same(hex.slice(0, 4).join(' '), philox);
      same(hex.slice(4, 6).join(' '), two);
      if (four !== undefined) same(hex.slice(6, 10).join(' '), four);
      same(hex.slice(10).join(' '), philox);
    }
  },

  'philox and threefry of 64 bits are those of Random123': async () => {
    const kernel = cuda.jit((y: Vec<u64>, c: Vec<u64>) => {
      const [a, b, d, e, f, g] = [c[0]!, c[1]!, c[2]!, c[3]!, c[4]!, c[5]!];
      [y[0], y[1], y[2], y[3]] = cuda.random.philox4x64([f, g], [a, b, d, e]);
      [y[4], y[5]] = cuda.random.threefry2x64([f, g], [a, b]);
      [y[6], y[7], y[8], y[9]] = cuda.random.threefry4x64([f, g, f, g], [a, b, d, e]);
    });
    const most = 2n ** 64n - 1n;
    const known: readonly (readonly [readonly bigint[], string, string?])[] = [
      [
        [0n, 0n, 0n, 0n, 0n, 0n],
        '16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b',
        'c2b6e3a8c2c69865 6f81ed42f350084d 09218ebde6c85537 55941f5266d86105 4bd25e16282434dc ee29ec846bd2e40b',
      ],
      [
        [most, most, most, most, most, most],
        '87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0',
        'e02cb7c4d95d277a d06633d0893b8b68 29c24097942bba1b 0371bbfb0f6f4e11 3c231ffa33f83a1c cd29113fde32d168',
      ],
      [
        [
          0x243f6a8885a308d3n,
          0x13198a2e03707344n,
          0xa4093822299f31d0n,
          0x082efa98ec4e6c89n,
          0x452821e638d01377n,
          0xbe5466cf34e90c6cn,
        ],
        'a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6',
      ],
    ];
    for (const [counter, philox, rest] of known) {
      const y = cuda.deviceArray(10, 'uint64');
      await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(BigUint64Array.from(counter)));
      const hex = Array.from(await read(y), (v) => v.toString(16).padStart(16, '0'));
      same(hex.slice(0, 4).join(' '), philox);
      if (rest !== undefined) same(hex.slice(4).join(' '), rest);
    }
  },

  "NumPy's numbers, one after another": async () => {
    const rng = cuda.random.generator(12345).async;
    sameElements(
      await numbers(rng.random(4)),
      [0.42075435954078155, 0.6531709678504624, 0.4331635821770152, 0.538923263838466],
    );
    // Three halves: the fourth is held, and comes next.
    sameElements(
      await numbers(rng.random(3, { dtype: 'float32' })),
      [0.415385365486145, 0.7038663625717163, 0.03319251537322998],
    );
    sameElements(
      await numbers(rng.random(4, { dtype: 'float32' })),
      [0.204842209815979, 0.9835164546966553, 0.0027524232864379883, 0.23764842748641968],
    );
    sameElements(await words(rng.raw(3)), [0x5d7786c049ec7456n, 0xe1cdcf702452c34cn, 0xa20cdd7efa67cec3n]);
    sameElements(await numbers(rng.uniform(-3, 5.5, 3)), [3.520682660756626, -0.655333433138201, 3.380495573236006]);
    sameElements(await numbers(rng.integers(0, 10, 8)), [2, 1, 3, 5, 0, 7, 2, 8]);
    sameElements(await numbers(rng.integers(0, 200, 9, { dtype: 'uint8' })), [126, 93, 164, 102, 51, 21, 120, 161, 15]);
    sameElements(await numbers(rng.integers(-7, 100, 5, { dtype: 'int16' })), [68, 92, 97, 33, 73]);
    sameElements(await words(rng.integers(0, 3n * 2n ** 61n, 3, { dtype: 'int64' })), [
      6626193341538617906n,
      2772140336411902965n,
      4635927795080531450n,
    ]);
    sameElements(await numbers(rng.choice(1000, 5)), [540, 620, 623, 198, 859]);

    // Every other candidate is left out.
    const half = await numbers(rng.integers(0, 2 ** 31 + 1, 1500, { dtype: 'uint32' }));
    same(sum(half), 1624755078375);
    sameElements(Array.from(half).slice(-3), [1250516231, 1621072698, 544124795]);
    const wide = Array.from(await words(rng.integers(0, 3n * 2n ** 62n, 700, { dtype: 'uint64' })));
    same(
      wide.reduce((a, b) => a ^ b, 0n),
      9036953726757236465n,
    );
    const bytes = await numbers(rng.integers(0, 129, 1500, { dtype: 'uint8' }));
    same(sum(bytes), 95152);
    sameElements(Array.from(bytes).slice(-5), [111, 7, 44, 19, 18]);
    const shorts = await numbers(rng.integers(-30000, 30000, 1001, { dtype: 'int16' }));
    same(sum(shorts), 709971);
    sameElements(Array.from(shorts).slice(-5), [-25619, 22905, 22841, 16283, 28604]);
    sameElements(await numbers(rng.random(2)), [0.7332112335861904, 0.5449731922352734]);
    sameElements(await numbers(rng.random(1, { dtype: 'float32' })), [0.03950899839401245]);
  },

  "NumPy's seeds, and generators that are spawned": async () => {
    const two = (rng: ReturnType<typeof cuda.random.generator>): Promise<Numbers> => numbers(rng.async.random(2));
    sameElements(await two(cuda.random.generator([1, 2, 3])), [0.7198955456932165, 0.012702050455707714]);
    sameElements(await two(cuda.random.generator(2n ** 100n)), [0.6952106794219726, 0.5808920863268688]);
    sameElements(await two(cuda.random.generator(0)), [0.014067035665647709, 0.2577672456246177]);
    const parent = cuda.random.generator(12345);
    const [first] = parent.spawn(1);
    const [second] = parent.spawn(1);
    if (first === undefined || second === undefined) throw new ConformanceFailure('nothing was spawned');
    sameElements(await two(first), [0.624177176603334, 0.2734103116216082]);
    sameElements(await two(second), [0.40360732677392863, 0.25829964544405826]);
    const [child] = second.spawn(1);
    if (child !== undefined) sameElements(await two(child), [0.7741921356747337, 0.8959856707849824]);
    const whole = parent.async.integers(-(2n ** 63n), 2n ** 63n - 1n, 5, { dtype: 'int64', endpoint: true });
    const raw = await words(cuda.random.generator(12345).async.raw(5));
    sameElements(
      await words(whole),
      Array.from(raw, (w) => BigInt.asIntN(64, w - 2n ** 63n)),
    );
  },

  'shapes, arrays that are given, and a graph': async () => {
    const rng = cuda.random.generator(5);
    const expected = await numbers(cuda.random.generator(5).async.random(12));
    const table = cuda.deviceArray([3, 4], 'float64');
    same(await rng.async.random([3, 4], { out: table }), table);
    sameElements(await read(table), expected);
    await rng.async.random(0);
    await rng.async.integers(0, 5, [0, 2]);
    sameElements(await numbers(rng.async.integers(5, 6, 3)), [5, 5, 5]);
    const graph = cuda.graph(() => rng.random(4));
    const reference = await numbers(cuda.random.generator(5).async.random(20));
    graph.launch();
    sameElements(await read(graph.result), Array.from(reference).slice(12, 16));
    graph.launch();
    sameElements(await read(graph.result), Array.from(reference).slice(16));
  },

  'uniform and exponential numbers are distributed so': async () => {
    const rng = cuda.random.generator(99).async;
    // One in 2,000 samples is further off than 2.
    below(
      kolmogorov(await numbers(rng.random(SIZE)), (x) => x),
      2,
      'random',
    );
    below(
      kolmogorov(await numbers(rng.uniform(-2, 6, SIZE, { dtype: 'float32' })), (x) => (x + 2) / 8),
      2,
      'uniform',
    );
    for (const dtype of ['float64', 'float32'] as const) {
      const x = await numbers(rng.exponential(3, SIZE, { dtype }));
      below(
        kolmogorov(x, (v) => 1 - Math.exp(-v / 3)),
        2,
        `exponential ${dtype}`,
      );
    }
    closeElements(
      await numbers(cuda.random.generator(7).async.exponential(1, 4)),
      [0.632649601083038, 0.5553799850469564, 0.4509568967167819, 0.27096119410917346],
      1e-15,
    );
  },

  'normal numbers are distributed so': async () => {
    const rng = cuda.random.generator(100).async;
    for (const dtype of ['float64', 'float32'] as const) {
      const x = await numbers(rng.normal(5, 2, SIZE, { dtype }));
      below(
        kolmogorov(x, (v) => normalDistribution((v - 5) / 2)),
        2,
        `normal ${dtype}`,
      );
      const z = Float64Array.from(x, (v) => (v - 5) / 2);
      below(Math.abs(sum(z)) / Math.sqrt(SIZE), 4, 'the mean');
      below(Math.abs(sum(z.map((v) => v * v)) - SIZE) / Math.sqrt(2 * SIZE), 4, 'the variance');
      below(Math.abs(sum(z.map((v) => v ** 3))) / Math.sqrt(15 * SIZE), 4, 'the skewness');
      below(Math.abs(sum(z.map((v) => v ** 4)) - 3 * SIZE) / Math.sqrt(96 * SIZE), 4, 'the kurtosis');
      // Neighbours have nothing to do with each other.
      const products = z.map((v, k) => v * (z[k + 1] ?? 0));
      below(Math.abs(sum(products)) / Math.sqrt(SIZE), 4, 'the correlation of neighbours');
    }
  },

  'integers of all kinds come as often': async () => {
    const rng = cuda.random.generator(101).async;
    const counts = new Float64Array(37);
    for (const v of Array.from(await numbers(rng.integers(10, 47, SIZE)))) counts[v - 10]! += 1;
    // 36 degrees of freedom: one in 1,000 is above 68.
    below(
      chiSquare(
        counts,
        counts.map(() => SIZE / 37),
      ),
      68,
      'chi square',
    );
  },

  'counts of the Poisson distribution': async () => {
    const rng = cuda.random.generator(102).async;
    for (const mean of [0.7, 9.5, 10, 30]) {
      const counts = new Float64Array(80);
      for (const v of Array.from(await numbers(rng.poisson(mean, SIZE)))) counts[Math.min(v, 79)]! += 1;
      const expected = new Float64Array(80);
      let p = Math.exp(-mean) * SIZE;
      for (let k = 0; k < 80; k++) {
        expected[k] = p;
        p *= mean / (k + 1);
      }
      // Rare kinds together.
      const often = Array.from(expected.keys()).filter((k) => (expected[k] ?? 0) >= 10);
      const chi = chiSquare(
        often.map((k) => counts[k] ?? 0),
        often.map((k) => expected[k] ?? 0),
      );
      const freedom = often.length;
      below((chi - freedom) / Math.sqrt(2 * freedom), 4.5, `chi square for ${mean}`);
    }
    sameElements(await numbers(rng.poisson(0, 3)), [0, 0, 0]);
    const large = await numbers(rng.poisson(1e6, 2000));
    below(Math.abs(sum(large) - 2e9) / Math.sqrt(2e9), 4, 'the sum of large counts');
  },

  'permutations, and choice without replacement': async () => {
    const rng = cuda.random.generator(103).async;
    for (const size of [1, 2, 3, 63, 64, 65, 2000]) {
      const order = Array.from(await numbers(rng.permutation(size)));
      sameElements(
        [...order].sort((a, b) => a - b),
        Array.from({ length: size }, (_, k) => k),
        `of ${size}`,
      );
    }
    // All orders of four, and where each of eight goes.
    const many = 240;
    const orders = new Map<string, number>();
    for (let k = 0; k < many; k++) {
      const order = Array.from(await numbers(rng.permutation(4))).join('');
      orders.set(order, (orders.get(order) ?? 0) + 1);
    }
    // 23 degrees of freedom: one in 1,000 is above 50.
    below(
      chiSquare([...orders.values()], new Array<number>(orders.size).fill(many / 24)) + (24 - orders.size) * 10,
      50,
      'orders',
    );
    const long = Array.from(await numbers(rng.permutation(SIZE)));
    const displaced = long.map((to, from) => Math.abs(to - from));
    // The mean distance of two numbers is a third of the size.
    below(Math.abs(sum(displaced) / SIZE / (SIZE / 3) - 1), 0.05, 'displacement');
    below(long.filter((to, from) => to === from).length, 8, 'fixed points');

    const chosen = Array.from(await numbers(rng.choice(1000, 700, { replace: false })));
    same(new Set(chosen).size, 700);
    const letters = Float32Array.of(10, 20, 30);
    sameElements(
      Array.from(await numbers(rng.permutation(letters))).sort((a, b) => a - b),
      [10, 20, 30],
    );
    const x = cuda.toDevice(Int32Array.from({ length: 300 }, (_, k) => k * k));
    same(await rng.shuffle(x), x as never);
    const shuffled = Array.from(await read(x));
    same(
      shuffled.some((v, k) => v !== k * k),
      true,
    );
    sameElements(
      shuffled.sort((a, b) => a - b),
      Array.from({ length: 300 }, (_, k) => k * k),
    );
  },

  'what cannot be drawn is refused': async () => {
    const rng = cuda.random.generator(1);
    throws(() => cuda.random.generator(-1), /not negative/, 'E_SEED');
    throws(() => cuda.random.generator(1.5), /not an integer/, 'E_SEED');
    throws(() => rng.integers(5, 5, 1), /there are none/, 'E_RANDOM');
    throws(() => rng.integers(0, 300, 1, { dtype: 'uint8' }), /not all/, 'E_RANDOM');
    throws(() => rng.normal(0, -1, 1), /must not be negative/, 'E_RANDOM');
    throws(() => rng.random(3, { dtype: 'int32' as never }), /float64 or float32/, 'E_RANDOM');
    throws(() => rng.random(3, { out: cuda.deviceArray(4, 'float64') }), /has shape/, 'E_RANDOM');
    throws(() => rng.choice(3, 4, { replace: false }), /without replacement/, 'E_RANDOM');
    throws(() => rng.random(3, { sead: 1 } as never), /has no option/, 'E_OPTION');
    rng.dispose();
    throws(() => rng.random(3), /disposed/, 'E_DISPOSED');
  },
});
