/** What the simulator warns of when integers wrap: which operations, in which words and where; and what it leaves alone. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cuda, type f64, i32, type i64, type u8, type u8c, type u32, type Vec } from '../index.ts';

cuda.selectDevice('simulator');

const warnings: string[] = [];
const listen = (warning: Error & { code?: string }): void => {
  if (warning.code === 'TSAMBA_OVERFLOW') warnings.push(warning.message);
};
beforeAll(() => void process.on('warning', listen));
afterAll(() => void process.off('warning', listen));
beforeEach(() => warnings.splice(0));

/** What has been warned of since the last call; warnings arrive with the next turn of the event loop. */
async function told(): Promise<string[]> {
  await new Promise((done) => setImmediate(done));
  return warnings.splice(0);
}

const LEAST = -(2 ** 31);

/** Runs a kernel of one thread on an array of f64, which takes numbers as they are, and on operands. */
async function run(kernel: (y: Vec<f64>, x: never) => void, x: Int32Array | Uint32Array): Promise<[number, string[]]> {
  const y = new Float64Array(1);
  cuda.jit(kernel).launch({ grid: 1, block: 1 }, cuda.Out(y), cuda.In(x) as never);
  return [y[0] ?? Number.NaN, await told()];
}

const signed: Readonly<Record<string, [(y: Vec<f64>, x: Vec<i32>) => void, number[], string, number]>> = {
  sum: [(y, x) => (y[0] = x[0] + x[1]), [2 ** 30, 2 ** 30], '1073741824 + 1073741824 is 2147483648', LEAST],
  difference: [(y, x) => (y[0] = x[0] - x[1]), [LEAST, 1], '-2147483648 - 1 is -2147483649', 2 ** 31 - 1],
  product: [(y, x) => (y[0] = x[0] * x[1]), [70000, -70000], '70000 * (-70000) is -4900000000', -605032704],
  negation: [(y, x) => (y[0] = -x[0]), [LEAST, 0], '-(-2147483648) is 2147483648', LEAST],
  'Math.abs': [(y, x) => (y[0] = Math.abs(x[0])), [LEAST, 0], 'Math.abs(-2147483648) is 2147483648', LEAST],
  power: [(y, x) => (y[0] = x[0] ** 10), [10, 0], '10 ** 10 is 10000000000', 1410065408],
  'power with a variable exponent': [
    (y, x) => (y[0] = x[0] ** x[1] + x[1]),
    [10, 10],
    '10 ** 10 is 10000000000',
    1410065418,
  ],
  'compound assignment': [
    (y, x) => {
      let s = x[0];
      s *= x[1];
      y[0] = s;
    },
    [65536, 65536],
    '65536 * 65536 is 4294967296',
    0,
  ],
  comparison: [(y, x) => (y[0] = x[0] + x[1] > 0 ? 1 : 0), [2 ** 30, 2 ** 30], '1073741824 + 1073741824 is', 0],
  remainder: [(y, x) => (y[0] = (x[0] * 1103515245 + 12345) % x[1]), [5, 1000], '5517576225 + 12345 is', 274],
  index: [(y, x) => (y[(x[0] * x[1]) % 1] = 1), [65536, 65537], '65536 * 65537 is', 1],
  'index that wraps into its range': [(y, x) => (y[x[0] * x[1]] = 1), [65536, 65536], '65536 * 65536 is', 1],
};

const unsigned: Readonly<Record<string, [(y: Vec<f64>, x: Vec<u32>) => void, number[], string, number]>> = {
  sum: [(y, x) => (y[0] = x[0] + x[1]), [2 ** 31, 2 ** 31], '2147483648 + 2147483648 is 4294967296', 0],
  difference: [(y, x) => (y[0] = x[0] - x[1]), [2, 5], '2 - 5 is -3', 2 ** 32 - 3],
  product: [(y, x) => (y[0] = x[0] * x[1]), [65536, 65536], '65536 * 65536 is 4294967296', 0],
  negation: [(y, x) => (y[0] = -x[0]), [1, 0], '-1 is -1', 2 ** 32 - 1],
  'Math.abs of a difference': [(y, x) => (y[0] = Math.abs(x[0] - x[1])), [2, 5], '2 - 5 is -3', 2 ** 32 - 3],
  'product that no number holds': [(y, x) => (y[0] = x[0] * x[1]), [4294967295, 4294967295], ' is about 1.84e+19', 1],
  'sum with a product that no number holds': [
    (y, x) => (y[0] = x[0] * x[1] + 1),
    [4294967295, 4294967295],
    ' is about 1.84e+19',
    2,
  ],
  power: [(y, x) => (y[0] = x[0] ** 32), [2, 0], '2 ** 32 is 4294967296', 0],
};

describe('warns of', () => {
  it.each(Object.entries(signed))('i32: %s', async (_, [kernel, x, text, kept]) => {
    const [value, [warning, ...more]] = await run(kernel as never, Int32Array.from(x));
    expect(value).toBe(kept);
    expect(warning).toContain(text);
    expect(warning).toContain('which i32 cannot hold: it wraps to ');
    expect(more).toEqual([]);
  });

  it.each(Object.entries(unsigned))('u32: %s', async (_, [kernel, x, text, kept]) => {
    const [value, [warning, ...more]] = await run(kernel as never, Uint32Array.from(x));
    expect(value).toBe(kept);
    expect(warning).toContain(text);
    expect(warning).toContain('which u32 cannot hold: it wraps to ');
    expect(more).toEqual([]);
  });

  it('stores that do not wrap', async () => {
    const kernel = cuda.jit((wide: Vec<i64>, bytes: Vec<u8c>, x: Vec<i32>) => {
      if (x[0] === 0) wide[0] = BigInt(x[1] * x[1]);
      else bytes[0] = x[1] * x[1];
    });
    const [wide, bytes] = [cuda.deviceArray(1, 'i64'), cuda.toDevice(new Uint8ClampedArray(1))];
    for (const choice of [0, 1]) {
      kernel.launch(
        { grid: 1, block: 1 },
        wide as never,
        bytes as never,
        cuda.toDevice(Int32Array.of(choice, 65536)) as never,
      );
      expect(await told()).toHaveLength(1);
    }
  });
});

describe('floats stored to integer arrays', () => {
  /** Stores `x[0]` to an array of the class of `y`, by `store`. */
  async function stored(
    y: Int8Array | Uint8Array | Uint8ClampedArray | Int32Array | Uint32Array,
    x: number,
    store = (out: Vec<i32>, from: Vec<f64>): void => {
      out[0] = from[0];
    },
  ): Promise<[number, string[]]> {
    cuda.jit(store).launch({ grid: 1, block: 1 }, y as never, cuda.In(Float64Array.of(x)));
    return [y[0] ?? Number.NaN, await told()];
  }

  it.each([
    [new Uint8Array(1), 300.7, 255, 44],
    [new Uint8Array(1), -1.5, 0, 255],
    [new Int8Array(1), 200, 127, -56],
    [new Int32Array(1), 3e9, 2147483647, -1294967296],
    [new Uint32Array(1), -2, 0, 4294967294],
    [new Int32Array(1), Number.NEGATIVE_INFINITY, -2147483648, 0],
  ])('%o takes %d', async (y, x, kept, wrapped) => {
    const [value, [warning, ...more]] = await stored(y, x);
    expect(value).toBe(kept);
    expect(warning).toContain(`${x} is stored to an element of `);
    expect(warning).toContain(`it is ${kept} there, where JavaScript stores ${wrapped},`);
    expect(more).toEqual([]);
  });

  it.each([
    [new Uint8Array(1), 255.9, 255],
    [new Uint8Array(1), -0.9, 0],
    [new Int32Array(1), Number.NaN, 0],
    [new Int32Array(1), -2147483648.5, -2147483648],
    [new Uint8ClampedArray(1), 300, 255],
  ])('%o takes %d in silence', async (y, x, kept) => {
    expect(await stored(y, x)).toEqual([kept, []]);
  });

  it('is silent where the author has said what is meant', async () => {
    const casts = [
      (y: Vec<i32>, x: Vec<f64>): void => {
        y[0] = i32(x[0]);
      },
      (y: Vec<i32>, x: Vec<f64>): void => {
        y[0] = x[0] | 0;
      },
      (y: Vec<i32>, x: Vec<f64>): void => {
        y[0] = Math.min(x[0], 1e9);
      },
    ];
    for (const cast of casts) expect((await stored(new Int32Array(1), 3e9, cast))[1]).toEqual([]);
  });

  it('tells the first of a launch, sums included', async () => {
    const kernel = cuda.jit((y: Vec<u8>, x: Vec<f64>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] += x[i];
    });
    kernel.launch(
      { threads: 3 },
      cuda.toDevice(Uint8Array.of(1, 250, 251)),
      cuda.toDevice(Float64Array.of(1, 10.5, 20)),
    );
    const [warning, ...more] = await told();
    expect(warning).toContain('260.5 is stored to an element of u8, which cannot hold it: it is 255 there');
    expect(warning).toContain('thread (1,0,0)');
    expect(more).toEqual([]);
  });
});

describe('is silent about', () => {
  const words: Readonly<Record<string, (y: Vec<f64>, x: Vec<u32>) => void>> = {
    '>>> 0': (y, x) => (y[0] = (x[0] - x[1]) >>> 0),
    '| 0': (y, x) => (y[0] = (x[0] * x[1]) | 0),
    'a bit operation': (y, x) => (y[0] = (x[0] - x[1]) & 255),
    'a shift': (y, x) => (y[0] = (x[0] * x[1]) >>> 16),
    'Math.imul': (y, x) => (y[0] = Math.imul(x[0] - x[1], x[1] * 3)),
    'a sum inside one that is wrapped': (y, x) => (y[0] = (x[0] - x[1] * x[1] + x[0] * x[0]) >>> 0),
    'an intermediate result whose whole fits': (y, x) => (y[0] = x[0] - x[1] + 10),
    'the square of a difference': (y, x) => (y[0] = (x[0] - x[1]) * (x[0] - x[1]) + (x[0] - x[1]) ** 2),
    'a signed offset': (y, x) => (y[0] = x[0] + (cuda.grid(1) - 1)),
    'variables on the way': (y, x) => {
      let h = x[0] - x[1];
      for (let k = 0; k < 9; k++) h = h * 747796405 + 2891336453;
      const word = h * 277803737;
      y[0] = word >>> 22;
    },
    'a store that wraps': (y, x) => {
      x[0] = x[0] - x[1];
      x[0] *= x[0];
      y[0] = 1;
    },
    'an atomic sum': (_, x) => {
      cuda.atomic.add(x, 0, x[0] - x[1]);
    },
    'what fits': (y, x) => {
      for (let k = 0; k < 4; k++) y[0] += x[0] * x[1] + k ** 2 - 1;
    },
  };
  it.each(Object.entries(words))('%s', async (_, kernel) => {
    expect((await run(kernel as never, Uint32Array.of(2, 5)))[1]).toEqual([]);
  });

  it('i32 under | 0, through variables too', async () => {
    const kernel = (y: Vec<f64>, x: Vec<i32>): void => {
      const p = x[0] * x[1];
      y[0] = ((p | 0) / 2 + (-x[2] | 0)) | 0;
    };
    expect((await run(kernel as never, Int32Array.of(70000, 70000, LEAST)))[1]).toEqual([]);
  });

  it('stores into smaller elements, and 64 bits, which wrap in BigInt64Array as well', async () => {
    const kernel = cuda.jit((b: Vec<u8>, w: Vec<i64>, x: Vec<i32>) => {
      b[0] = x[0] * x[0];
      w[0] = w[0] * w[0];
    });
    const w = cuda.toDevice(BigInt64Array.of(2n ** 40n));
    kernel.launch(
      { grid: 1, block: 1 },
      cuda.deviceArray(1, 'uint8') as never,
      w,
      cuda.toDevice(Int32Array.of(70000)) as never,
    );
    expect(await told()).toEqual([]);
  });
});

const twice = cuda.jit((y: Vec<f64>, x: Vec<i32>) => {
  const i = cuda.grid(1);
  y[i] = x[i] * x[i];
});

describe('the warning', () => {
  const launch = (kernel = twice): Float64Array => {
    const y = new Float64Array(4);
    kernel.launch({ grid: 1, block: 4 }, cuda.Out(y), cuda.In(Int32Array.of(1, 2, 50000, 60000)) as never);
    return y;
  };

  it('comes once a launch, of the first operation, with its place in the file and what to write', async () => {
    for (let round = 0; round < 2; round++) {
      expect([...launch()]).toEqual([1, 4, -1794967296, -694967296]);
      const said = await told();
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(
        /^kernel twice: 50000 \* 50000 is 2500000000, which i32 cannot hold: it wraps to -1794967296, at block \(0,0,0\), thread \(2,0,0\)\n {2}--> src\/cuda\/simulator-overflow\.test\.ts:\d+:10\n {2}help: if wrapping is meant write \(…\) \| 0;.*TSAMBA_SIMULATOR_OVERFLOW=0.*\n {2}launched with grid \[1, 1, 1\], block \[4, 1, 1\]$/,
      );
    }
  });

  it('is off in unchecked kernels, and by TSAMBA_SIMULATOR_OVERFLOW=0', async () => {
    const kernel = (y: Vec<f64>, x: Vec<i32>): void => {
      const i = cuda.grid(1);
      y[i] = x[i] * x[i];
    };
    launch(cuda.jit(kernel, { boundsCheck: false }));
    process.env['TSAMBA_SIMULATOR_OVERFLOW'] = '0';
    try {
      launch(cuda.jit(kernel));
    } finally {
      delete process.env['TSAMBA_SIMULATOR_OVERFLOW'];
    }
    expect(await told()).toEqual([]);
    launch(cuda.jit(kernel));
    expect(await told()).toHaveLength(1);
  });
});
