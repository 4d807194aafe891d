import { beforeEach, describe, expect, it } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { InterpretingDriver } from '../../test/support/interpreting-driver.ts';
import type { NDArray } from '../array/ndarray.ts';
import { atomic } from '../cuda/atomic.ts';
import { grid, threadIdx } from '../cuda/geometry.ts';
import { stream as createStream, deviceArray, jit, toDevice } from '../cuda/host.ts';
import { shared } from '../cuda/spaces.ts';
import { syncThreads } from '../cuda/sync.ts';
import { f32, type f64, i32, i64 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import type { Kernel } from './kernel-types.ts';
import type { LaunchOptions } from './launch-shape.ts';
import { scalar } from './scalar.ts';
import type { Cube, Mat, Vec } from './types.ts';

let driver: InterpretingDriver;

beforeEach(() => {
  driver = new InterpretingDriver();
  cudaDevices.enter(new Context(driver));
  process.env['TSAMBA_WARN_IMPLICIT_COPY'] = '0';
});

/** A kernel whose argument types the editor does not know. */
type Loose = Kernel<readonly unknown[]> & { launch(options: unknown, ...args: unknown[]): void };
const loosely = (kernel: unknown): Loose => kernel as Loose;

const makeScale = () =>
  jit((a: Vec<f32>, k: number) => {
    const i = grid(1);
    if (i < a.length) a[i] = (a[i] as number) * k;
  });

const shapes = () => driver.launches.map(({ shape: { grid: g, block } }) => [g, block]);

describe('launch', () => {
  it('runs a grid of blocks', () => {
    const scale = makeScale();
    const d = toDevice(Float32Array.of(1, 2, 3, 4, 5));
    scale.launch({ grid: 3, block: 2 }, d, 2);
    expect(d.copyToHost()).toEqual(Float32Array.of(2, 4, 6, 8, 10));
    scale.launch({ grid: [1], block: [4, 1] }, d, 0.5);
    expect(d.copyToHost()).toEqual(Float32Array.of(1, 2, 3, 4, 10));
    expect(shapes()).toEqual([
      [
        [3, 1, 1],
        [2, 1, 1],
      ],
      [
        [1, 1, 1],
        [4, 1, 1],
      ],
    ]);
  });

  it('makes the grid for a number of threads, x being the last axis', () => {
    const fill = jit((A: Mat<f32>) => {
      const [x, y] = grid(2);
      if (y < A.shape[0] && x < A.shape[1]) (A[y] as Vec<f32>)[x] = y * 10 + x;
    });
    const d = deviceArray([2, 3], f32);
    fill.launch({ threads: [3, 2] }, d);
    expect(d.copyToHost().toArray()).toEqual([
      [0, 1, 2],
      [10, 11, 12],
    ]);
    fill.launch({ threads: [3, 2], block: [2, 2] }, d);
    fill.launch({ threads: 3 }, d);
    expect(shapes()).toEqual([
      [
        [1, 1, 1],
        [32, 8, 1],
      ],
      [
        [2, 1, 1],
        [2, 2, 1],
      ],
      [
        [1, 1, 1],
        [256, 1, 1],
      ],
    ]);
  });

  it('does nothing at all for no threads', () => {
    const scale = makeScale();
    scale.launch({ threads: 0 }, deviceArray(0, f32), 1);
    loosely(scale).launch({ threads: [4, 0] }, 'not even checked');
    expect([scale.stats.misses, driver.launches.length]).toEqual([0, 0]);
  });

  it('passes dynamic shared memory', () => {
    const reverse = jit((a: Vec<i32>) => {
      const s = shared.array(0, i32);
      const i = threadIdx.x;
      s[i] = a[i] as number;
      syncThreads();
      a[i] = s[s.length - 1 - i] as number;
    });
    const d = toDevice(Int32Array.of(1, 2, 3, 4));
    reverse.launch({ grid: 1, block: 4, sharedBytes: 16 }, d);
    expect(d.copyToHost()).toEqual(Int32Array.of(4, 3, 2, 1));
  });

  it('takes tuples, bigints, booleans and stated scalars', () => {
    const kernel = jit(
      (pair: readonly [Vec<f64>, number], big: bigint, flag: boolean, out: Vec<i64>, small: number) => {
        const [a, k] = pair;
        a[0] = k;
        out[0] = big + BigInt(small);
        if (flag) a[1] = 1;
      },
    );
    const a = toDevice(new Float64Array(2));
    const out = deviceArray(1, i64);
    kernel.launch({ grid: 1, block: 1 }, [a, 2.5], 2n ** 40n, true, out, scalar('uint8', 200));
    expect([a.copyToHost(), out.copyToHost()]).toEqual([Float64Array.of(2.5, 1), BigInt64Array.of(2n ** 40n + 200n)]);
  });

  it('reads arrays of every layout', () => {
    const copy = jit((from: Cube<f32>, to: Cube<f32>) => {
      const [x, y, z] = grid(3);
      ((to[z] as Mat<f32>)[y] as Vec<f32>)[x] = ((from[z] as Mat<f32>)[y] as Vec<f32>)[x] as number;
    });
    const source = toDevice(Float32Array.from({ length: 24 }, (_, i) => i)).reshape([2, 3, 4]);
    const target = deviceArray([4, 3, 2], f32);
    copy.launch({ grid: 1, block: [2, 3, 4] }, source.T, target);
    expect(target.copyToHost().toArray()).toEqual(source.T.copyToHost().toArray());
    const odd = source.slice(':', '::-2', '1::2');
    const back = deviceArray([2, 2, 2], f32);
    copy.launch({ grid: 1, block: [2, 2, 2] }, odd as never, back);
    expect(back.copyToHost().toArray()).toEqual((odd.copyToHost() as NDArray).toArray());
    expect(copy.stats.misses).toBe(2);
  });
});

describe('configure and forAll', () => {
  it('make launches that can be kept', () => {
    const scale = makeScale();
    const d = toDevice(Float32Array.of(1, 2, 3));
    const launch = scale.configure(1, 4, 0, 0);
    launch(d, 2);
    launch(d, 2);
    scale.forAll(3)(d, 2);
    scale.forAll(3, { block: 2 })(d, 0.5);
    expect(d.copyToHost()).toEqual(Float32Array.of(4, 8, 12));
    expect(shapes().slice(2)).toEqual([
      [
        [1, 1, 1],
        [256, 1, 1],
      ],
      [
        [2, 1, 1],
        [2, 1, 1],
      ],
    ]);
  });

  it('forAll(0) neither compiles nor launches', () => {
    const scale = makeScale();
    scale.forAll(0)(deviceArray(0, f32), 1);
    expect([scale.stats.misses, driver.launches.length]).toEqual([0, 0]);
  });

  it.each<[string, (k: Loose) => unknown, string]>([
    ['forAll(-1)', (k) => k.forAll(-1), 'forAll(n): n must be at least 0, got -1'],
    ['forAll(2.5)', (k) => k.forAll(2.5), 'forAll(n): n must be a whole number, got 2.5: Math.ceil gives 3'],
    [
      'forAll(n, 128)',
      (k) => k.forAll(1, 128 as never),
      'forAll takes its options as an object, got 128: write forAll(n, { block: 256 })',
    ],
    ['forAll(n, { tpb })', (k) => k.forAll(1, { tpb: 128 } as never), "forAll has no option 'tpb'"],
    ['forAll block 0', (k) => k.forAll(1, { block: 0 }), 'block must be at least 1, got 0'],
    ['forAll sharedBytes', (k) => k.forAll(1, { sharedBytes: 1.5 }), 'sharedBytes must be a whole number, got 1.5'],
    [
      'configure(1)',
      (k) => k.configure(1, undefined as never),
      'block must be a whole number or an array of one to three, got undefined',
    ],
    [
      'configure()',
      (k) => (k.configure as () => unknown)(),
      'configure takes (grid, block, stream?, sharedBytes?), got 0 arguments',
    ],
    ['configure of five', (k) => (k.configure as (...a: number[]) => unknown)(1, 1, 0, 0, 0), 'got 5 arguments'],
    [
      'configure(null, 1)',
      (k) => k.configure(null as never, 1),
      'grid must be a whole number or an array of one to three, got null',
    ],
  ])('refuse %s when they are made', (_, make, message) => {
    expect(() => make(loosely(makeScale()))).toThrow(message);
  });
});

describe('what a launch refuses', () => {
  const d = () => toDevice(Float32Array.of(1, 2, 3));
  const launch =
    (options: unknown, ...args: unknown[]) =>
    () =>
      loosely(makeScale()).launch(options, ...args);

  it.each<[unknown, string]>([
    [
      undefined,
      'launch takes its shape as an object first, got undefined: write .launch({ grid: 100, block: 128 }, …)',
    ],
    [[1, 2], 'launch takes its shape as an object first, got [1, 2]'],
    [{ grid: 1 }, 'launch needs block: write { grid: 100, block: 128 }, or { threads: n }'],
    [{ block: 1 }, 'launch needs grid'],
    [{ grid: 1, blocks: 1 }, "launch has no option 'blocks': did you mean 'block'?"],
    [{ grid: 1, block: 1, shared: 4 }, "launch has no option 'shared'"],
    [{ grid: 1, block: 1, threads: 1 }, 'either grid and block, or threads'],
    [{ grid: 1.5, block: 1 }, 'grid must be a whole number, got 1.5'],
    [{ grid: 0, block: 1 }, 'grid must be at least 1, got 0'],
    [{ grid: 1, block: -1 }, 'block must be at least 1, got -1'],
    [{ grid: [1, 1, 1, 1], block: 1 }, 'grid has one to three dimensions (x, y, z), got 4'],
    [{ grid: 2 ** 31, block: 1 }, 'grid.x is 2147483648, the interpreter allows at most 2147483647 blocks there'],
    [{ grid: [1, 65536], block: 1 }, 'grid.y is 65536'],
    [{ grid: 1, block: 2048 }, 'block.x is 2048, the interpreter allows at most 1024 threads there'],
    [{ grid: 1, block: [64, 64] }, 'block (64, 64) has 4096 threads, the interpreter allows 1024 in a block'],
    [
      { grid: 1, block: 1, sharedBytes: 50000 },
      'sharedBytes is 50000, the interpreter has 49152 bytes of shared memory for a block',
    ],
    [{ grid: 1, block: 1, sharedBytes: -1 }, 'sharedBytes must be at least 0, got -1'],
    [{ threads: -1 }, 'threads must be at least 0, got -1'],
    [{ threads: 1, block: 0 }, 'block must be at least 1, got 0'],
    [{ grid: 1, block: 1, stream: 'fast' }, 'stream'],
  ])('the shape %o', (options, message) => {
    expect(launch(options, d(), 1)).toThrow(message);
    expect(driver.launches).toHaveLength(0);
  });

  it('too few and too many arguments, by name', () => {
    expect(launch({ threads: 1 }, d())).toThrow('takes 2 arguments (a, k), but got 1: k is missing');
    expect(launch({ threads: 1 })).toThrow('takes 2 arguments (a, k), but got 0: a, k are missing');
    expect(launch({ threads: 1 }, d(), 1, 2)).toThrow('takes 2 arguments (a, k), but got 3');
  });

  it('what is no argument, by name and place', () => {
    expect(launch({ threads: 1 }, d(), undefined)).toThrow('argument 2 (`k`) is undefined');
    expect(launch({ threads: 1 }, null, 1)).toThrow('argument 1 (`a`) is null');
    expect(launch({ threads: 1 }, d(), '2')).toThrow("argument 2 (`k`) is '2'");
  });

  it('numbers that do not fit the type that they have in the kernel', () => {
    const set = loosely(
      jit((a: Vec<f32>, k: number) => {
        a[k] = 1;
      }),
    );
    const a = d();
    set.launch({ threads: 1 }, a, 2);
    expect(() => set.launch({ threads: 1 }, a, 2.5)).toThrow(
      'argument 2 (`k`) is i32 in this kernel: 2.5 is not an integer',
    );
    expect(() => set.launch({ threads: 1 }, a, Number.NaN)).toThrow(
      'argument 2 (`k`) is i32 in this kernel: NaN is not an integer',
    );
    const store = loosely(
      jit((b: Vec<i32>, k: number) => {
        b[0] = k;
      }),
    );
    const b = toDevice(new Int32Array(1));
    expect(() => store.launch({ threads: 1 }, b, 2 ** 40)).toThrow(
      'argument 2 (`k`) is i32 in this kernel: 1099511627776 is out of range',
    );
  });

  it('but takes fractions where nothing needs an integer, however integers were taken before', () => {
    const scale = loosely(
      jit((b: Vec<f32>, x: Vec<i32>, [gain]: [number]) => {
        b[0] = (x[0] as number) * gain;
      }),
    );
    const [b, x] = [toDevice(new Float32Array(1)), toDevice(Int32Array.of(16_777_217))];
    for (const [gain, expected] of [
      [2, 33_554_434],
      [0.5, 8_388_608],
      [1, 16_777_217],
      [Number.NaN, Number.NaN],
      [0.25, 4_194_304],
    ] as const) {
      scale.launch({ threads: 1 }, b, x, [gain]);
      expect(b.get(0)).toBe(Math.fround(expected));
    }
    expect(scale.stats.specialisations).toHaveLength(2);
  });

  it('and divides by fractions what it divides by integers', () => {
    const rows = jit((b: Vec<f32>, width: number) => {
      for (let i = 0; i < b.length; i++) b[i] = Math.floor(i / width) / 2;
    });
    const b = toDevice(new Float32Array(6));
    rows.launch({ threads: 1 }, b, 2);
    expect([...b.copyToHost()]).toEqual([0, 0, 0.5, 0.5, 1, 1]);
    rows.launch({ threads: 1 }, b, 2.5);
    expect([...b.copyToHost()]).toEqual([0, 0, 0, 0.5, 0.5, 1]);
    rows.launch({ threads: 1 }, b, 3);
    expect([...b.copyToHost()]).toEqual([0, 0, 0, 0.5, 0.5, 0.5]);
    expect(rows.stats.specialisations).toHaveLength(2);
  });

  it('but takes an index beyond 32 bits, which is checked like any other', () => {
    const set = jit((a: Vec<f32>, k: number) => {
      a[k] = 1;
    });
    set.launch({ threads: 1 }, d(), 2 ** 40);
    expect(set.stats.specialisations.map(({ indexBits, launches }) => [indexBits, launches])).toEqual([
      [32, 0],
      [64, 1],
    ]);
    expect(() => cudaDevices.currentContext().synchronize()).toThrow(/index 1099511627776/);
  });

  it('disposed arrays, saying where they were disposed', () => {
    const a = d();
    a.dispose();
    expect(launch({ threads: 1 }, a, 1)).toThrow(/^argument 1 \(`a`\): this array was disposed at .*launch\.test\.ts/);
    const scale = makeScale();
    const b = d();
    scale.launch({ threads: 3 }, b, 1);
    b.dispose();
    expect(() => scale.launch({ threads: 3 }, b, 1)).toThrow('argument 1 (`a`): this array was disposed');
  });

  it('arrays and streams of another device', () => {
    const other = new Context(new BlockDriver());
    const leave = cudaDevices.enter(other);
    const [foreign, stream] = [d(), createStream()];
    leave();
    expect(launch({ threads: 1 }, foreign, 1)).toThrow(
      "argument 1 (`a`) is an array of cuda's cpu device 0 (test device), and the launch is on cuda's cpu device 0 (the interpreter)",
    );
    expect(launch({ threads: 1, stream }, d(), 1)).toThrow("the stream belongs to cuda's cpu device 0 (test device)");
  });

  it('a call without a shape', () => {
    const scale = makeScale() as unknown as (...args: unknown[]) => void;
    expect(() => scale(d(), 1)).toThrow('needs to know how many threads to run');
    expect(() => scale(d(), 1)).toThrow(/\.launch\(\{ threads: n \}, …\).*\.forAll\(n\)/);
  });

  it('blocks and shared memory beyond what the kernel allows', () => {
    const bounded = jit(
      (a: Vec<f32>) => {
        a[0] = 1;
      },
      { launchBounds: 64 },
    );
    expect(() => bounded.launch({ grid: 1, block: 128 }, d())).toThrow(
      'block (128) has 128 threads, launchBounds of this kernel says at most 64',
    );
    bounded.launch({ threads: 1 }, d());
    expect(driver.launches[0]?.shape.block).toEqual([64, 1, 1]);
    const big = jit((a: Vec<f32>) => {
      const s = shared.array(12000, f32);
      s[0] = 1;
      syncThreads();
      a[0] = s[0] as number;
    });
    const options: LaunchOptions = { grid: 1, block: 1, sharedBytes: 4096 };
    expect(() => big.launch(options, d())).toThrow(
      '48000 bytes of static shared memory and asks for 4096 more (sharedBytes): the interpreter has 49152',
    );
    const bigger = jit((a: Vec<f32>) => {
      const s = shared.array(13000, f32);
      s[0] = 1;
      syncThreads();
      a[0] = s[0] as number;
    });
    expect(() => bigger.launch({ grid: 1, block: 1 }, d())).toThrow(
      '52000 bytes of static shared memory: the interpreter has 49152 for a block',
    );
  });
});

it('counts atomically across blocks', () => {
  const count = jit((bins: Vec<i32>, data: Vec<i32>) => {
    const i = grid(1);
    if (i < data.length) atomic.add(bins, data[i] as number, 1);
  });
  const bins = toDevice(new Int32Array(3));
  count.launch({ threads: 6 }, bins, toDevice(Int32Array.of(0, 1, 2, 1, 1, 0)));
  expect(bins.copyToHost()).toEqual(Int32Array.of(2, 3, 1));
});
