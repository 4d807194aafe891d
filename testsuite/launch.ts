/**
 * Chapter: launches: their shapes, arguments from the host, streams, and what is refused with which words.
 */
import {
  cuda,
  type f32,
  type f64,
  type In,
  type i32,
  type Kernel,
  type LaunchOptions,
  type Mat,
  ndarray,
  type u8,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read, settled } from './waiting.ts';

/** A kernel as untyped programs see it. */
type Loose = Omit<Kernel<readonly unknown[]>, 'launch' | 'forAll' | 'configure'> & {
  launch(options: unknown, ...args: unknown[]): void;
  forAll(...args: unknown[]): (...args: unknown[]) => void;
  configure(...args: unknown[]): (...args: unknown[]) => void;
};
const loosely = (kernel: unknown): Loose => kernel as Loose;

function makeScale(): Kernel<[Vec<f32>, number]> {
  return cuda.jit(function scale(a: Vec<f32>, k: number) {
    const i = cuda.grid(1);
    if (i < a.length) a[i] *= k;
  });
}

const floats = (): ReturnType<typeof cuda.toDevice<Float32Array>> => cuda.toDevice(Float32Array.of(1, 2, 3));

/** A launch with this shape, and arguments (a good pair unless given), is refused with these words. */
function refused(options: unknown, message: RegExp, code?: string, ...args: unknown[]): () => Promise<void> {
  return async () => {
    const scale = loosely(makeScale());
    const a = floats();
    await rejects(() => launch(scale, options as LaunchOptions, ...(args.length > 0 ? args : [a, 2])), message, code);
    sameElements(await read(a), [1, 2, 3]);
  };
}

export const launches: readonly ConformanceTest[] = chapter('launch', {
  'numbers that are integers at one launch and fractions at the next': async () => {
    const bright = cuda.jit((y: Vec<f32>, x: In<Vec<u8>>, gain: number, [low, high]: readonly [number, number]) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = Math.min(Math.max(x[i] * gain, low), high);
    });
    const [y, x] = [cuda.deviceArray(3, 'float32'), cuda.toDevice(Uint8Array.of(3, 100, 255))];
    const results: number[][] = [];
    for (const [gain, range] of [
      [2, [0, 255]],
      [1.5, [0, 255]],
      [1.5, [4.75, 99.5]],
      [2, [4.75, 300]],
      [2, [10, 255]],
    ] as const) {
      await launch(bright, { threads: 3, block: 3 }, y, x, gain, range);
      results.push([...(await read(y))]);
    }
    same(JSON.stringify(results), '[[6,200,255],[4.5,150,255],[4.75,99.5,99.5],[6,200,300],[10,200,255]]');
  },

  'grid and block as numbers and as arrays': async () => {
    const scale = makeScale();
    const a = floats();
    await launch(scale, { grid: 2, block: 2 }, a, 2);
    await launch(scale, { grid: [1], block: [4, 1] }, a, 2);
    await launch(scale, { grid: [1, 1, 1], block: 3 }, a, 0.5);
    sameElements(await read(a), [2, 4, 6]);
  },
  'threads makes the grid': async () => {
    const kernel = cuda.jit((counts: Vec<i32>) => {
      cuda.atomic.add(counts, 0, 1);
      if (cuda.grid(1) === 0) {
        counts[1] = cuda.gridDim.x;
        counts[2] = cuda.blockDim.x;
      }
    });
    const counts = zeros(3, 'int32');
    await launch(kernel, { threads: 100, block: 32 }, counts);
    sameElements(await read(counts), [128, 4, 32]);
    counts.set(0);
    await launch(kernel, { threads: 5 }, counts);
    const [total, grid, block] = await read(counts);
    same(total, grid! * block!);
    same(total! >= 5, true);
  },
  'threads of two and three dimensions, x being the last axis': async () => {
    const kernel = cuda.jit((A: Mat<i32>) => {
      const [x, y, z] = cuda.grid(3);
      if (x < A.shape[1] && y < A.shape[0] && z === 0) A[y][x] = y * 100 + x;
    });
    for (const options of [
      { threads: [9, 4] },
      { threads: [9, 4], block: [2, 3] },
      { threads: [9, 4, 1], block: [4, 2, 2] },
    ] as const) {
      const A = cuda.deviceArray([4, 9], 'int32');
      await launch(kernel, options, A);
      sameElements(
        await read(A),
        Array.from({ length: 36 }, (_, k) => ((k / 9) | 0) * 100 + (k % 9)),
      );
    }
  },
  'no threads, no work': async () => {
    const scale = makeScale();
    const a = floats();
    await launch(scale, { threads: 0 }, a, 2);
    await launch(scale, { threads: [3, 0] }, a, 2);
    scale.forAll(0)(a, 2);
    sameElements(await read(a), [1, 2, 3]);
    same(scale.stats.misses, 0);
  },
  'configure gives a launch to keep': blocking(async () => {
    const launch = makeScale().configure(1, 4);
    const [a, b] = [floats(), floats()];
    launch(a, 2);
    launch(b, 3);
    launch(a, 2);
    sameElements(await read(a), [4, 8, 12]);
    sameElements(await read(b), [3, 6, 9]);
  }),
  'configure takes stream and shared memory': blocking(async () => {
    const kernel = cuda.jit((a: Vec<f32>) => {
      const s = cuda.shared.array(0, 'float32');
      s[cuda.threadIdx.x] = a[cuda.threadIdx.x];
      cuda.syncThreads();
      a[cuda.threadIdx.x] = s[2 - cuda.threadIdx.x] + s.length;
    });
    const stream = cuda.stream();
    const a = floats();
    kernel.configure(1, 3, stream, 12)(a);
    kernel.configure([1, 1], [3], 0, 16)(a);
    await settled(stream);
    sameElements(await read(a), [8, 9, 10]);
  }),
  'forAll picks the block': blocking(async () => {
    const scale = makeScale();
    const a = floats();
    scale.forAll(3)(a, 2);
    scale.forAll(3, { block: 1 })(a, 5);
    scale.forAll(2, { stream: cuda.stream() })(a, 1);
    await settled();
    sameElements(await read(a), [10, 20, 30]);
  }),
  'launches on streams keep their order': async () => {
    const scale = makeScale();
    const [s, t] = [cuda.stream(), cuda.stream()];
    const [a, b] = [floats(), floats()];
    for (let i = 0; i < 5; i++) {
      await launch(scale, { grid: 1, block: 3, stream: s }, a, 2);
      await launch(scale, { grid: 1, block: 3, stream: t }, b, 3);
    }
    await settled(s);
    await settled(t);
    sameElements(await read(a), [32, 64, 96]);
    sameElements(await read(b), [243, 486, 729]);
  },
  'host arrays are copied in and back': async () => {
    const scale = makeScale();
    const a = Float32Array.of(1, 2, 3);
    await launch(scale, { grid: 1, block: 3 }, a, 2);
    sameElements(a, [2, 4, 6]);
    await launch(scale, { grid: 1, block: 3 }, cuda.InOut(a), 2);
    sameElements(a, [4, 8, 12]);
  },
  'In copies in only, Out back only': async () => {
    const kernel = cuda.jit((to: Vec<f32>, from: Vec<f32>) => {
      const k = cuda.grid(1);
      to[k] = from[k] + 1;
      from[k] = -1;
    });
    const [to, from] = [new Float32Array(3), Float32Array.of(1, 2, 3)];
    await launch(kernel, { grid: 1, block: 3 }, cuda.Out(to), cuda.In(from));
    sameElements(to, [2, 3, 4]);
    sameElements(from, [1, 2, 3]);
  },
  'host arrays with strides: only their elements change': async () => {
    const kernel = cuda.jit((A: Mat<i32>) => {
      const [x, y] = cuda.grid(2);
      A[y][x] = A[y][x] * 10 + A.shape[1];
    });
    const data = Int32Array.from({ length: 12 }, (_, k) => k);
    const view = ndarray(data, { shape: [3, 4] }).slice('::2', '3:0:-2');
    await launch(kernel, { grid: 1, block: [2, 2] }, view as never);
    sameElements(data, [0, 12, 2, 32, 4, 5, 6, 7, 8, 92, 10, 112]);
  },
  'one host array for two parameters is one array': async () => {
    const kernel = cuda.jit((a: Vec<i32>, b: Vec<i32>) => {
      const k = cuda.grid(1);
      a[k] += 10;
      b[k] *= 2;
    });
    const a = Int32Array.of(1, 2, 3);
    await launch(kernel, { grid: 1, block: 3 }, a, a);
    sameElements(a, [22, 24, 26]);
  },
  'parts of one host array that overlap': async () => {
    const kernel = cuda.jit((a: Vec<i32>, b: Vec<i32>) => {
      const k = cuda.grid(1);
      a[k] += 10;
      b[k] *= 2;
    });
    const all = Int32Array.of(1, 2, 3, 4);
    await launch(kernel, { grid: 1, block: 1 }, all.subarray(0, 3), all.subarray(0, 4));
    sameElements(all, [22, 2, 3, 4]);
  },
  'host arrays on a stream are back after it is synchronised': async () => {
    const scale = makeScale();
    const stream = cuda.stream();
    const a = Float32Array.of(1, 2, 3);
    await launch(scale, { grid: 1, block: 3, stream }, a, 4);
    await settled(stream);
    sameElements(a, [4, 8, 12]);
  },
  'host arrays of small types': async () => {
    const kernel = cuda.jit((a: Vec<u8>) => {
      const k = cuda.grid(1);
      a[k] = 255 - a[k];
    });
    const [a, b] = [Uint8Array.of(0, 100, 255), new Uint8Array(Uint8Array.of(9, 1, 2, 3).buffer, 1)];
    await launch(kernel, { grid: 1, block: 3 }, a);
    await launch(kernel, { grid: 1, block: 3 }, b);
    sameElements(a, [255, 155, 0]);
    sameElements(b, [254, 253, 252]);
  },
  'arrays of other libraries: strides count elements': async () => {
    const kernel = cuda.jit((to: Vec<f64>, A: In<Mat<f64>>) => {
      const [x, y] = cuda.grid(2);
      to[y * 2 + x] = A[y][x];
    });
    const foreign = { data: Float64Array.of(0, 1, 2, 3, 4, 5, 6, 7), shape: [2, 2], stride: [-4, 1], offset: 5 };
    const to = new Float64Array(4);
    await launch(kernel, { grid: 1, block: [2, 2] }, cuda.Out(to), cuda.In(foreign));
    sameElements(to, [5, 6, 1, 2]);
  },
  'signatures are compiled eagerly and type the arguments': blocking(async () => {
    const kernel = cuda.jit(
      (a: Vec<f64>, k: f32) => {
        a[0] = k;
      },
      { signature: 'void(f64[:], f32)' },
    );
    same(kernel.stats.misses, 1);
    const a = zeros(1, 'float64');
    await launch(kernel, { grid: 1, block: 1 }, a, 0.1);
    sameElements(await read(a), [Math.fround(0.1)]);
    same(kernel.stats.misses, 1);
    await rejects(() => launch(loosely(kernel), { grid: 1, block: 1 }, zeros(1, 'int32'), 0.1), /signature|i32/);
  }),
  'compile() compiles without running': blocking(async () => {
    const scale = makeScale();
    const a = floats();
    scale.compile(a, 2);
    same(scale.stats.misses, 1);
    sameElements(await read(a), [1, 2, 3]);
    await launch(scale, { grid: 1, block: 3 }, a, 2);
    same(scale.stats.misses, 1);
  }),
  'inspect shows types and IR': blocking(() => {
    const scale = makeScale();
    scale.compile(floats(), 2);
    for (const [target, text] of [
      ['types', /f32/],
      ['ir', /kernel [\w$]+\(/],
    ] as const) {
      if (!text.test(scale.inspect({ target }))) throw new Error(`inspect '${target}' does not show ${text}`);
    }
  }),
  'a shape that is no object': refused(
    undefined,
    /launch takes its shape as an object first, got undefined/,
    'E_LAUNCH_OPTION',
  ),
  'a shape as an array': refused([1, 2], /launch takes its shape as an object first, got \[1, 2\]/, 'E_LAUNCH_OPTION'),
  'threads that are undefined': refused(
    { threads: undefined },
    /threads is undefined: give a number/,
    'E_LAUNCH_OPTION',
  ),
  'a grid without a block': refused({ grid: 1 }, /launch needs block/, 'E_LAUNCH_OPTION'),
  'a block without a grid': refused({ block: 1 }, /launch needs grid/, 'E_LAUNCH_OPTION'),
  'a misspelt option': refused({ grid: 1, blocks: 1 }, /no option 'blocks': did you mean 'block'/, 'E_OPTION'),
  'grid and threads together': refused(
    { grid: 1, block: 1, threads: 1 },
    /either grid and block, or threads/,
    'E_LAUNCH_OPTION',
  ),
  'a grid that is no integer': refused(
    { grid: 1.5, block: 1 },
    /grid must be a whole number, got 1\.5: Math\.ceil gives 2/,
    'E_LAUNCH_DIMS',
  ),
  'a block that is no number': refused({ grid: 1, block: '32' }, /block must be/, 'E_LAUNCH_DIMS'),
  'NaN for a grid': refused({ grid: Number.NaN, block: 1 }, /grid must be a whole number, got NaN/, 'E_LAUNCH_DIMS'),
  'a bigint for a grid': refused({ grid: 2n, block: 1 }, /grid must be .*2n?/, 'E_LAUNCH_DIMS'),
  'an empty grid': refused({ grid: 0, block: 1 }, /grid must be at least 1, got 0/, 'E_LAUNCH_DIMS'),
  'a negative block': refused({ grid: 1, block: [1, -1] }, /block\.y must be at least 1, got -1/, 'E_LAUNCH_DIMS'),
  'a grid of four dimensions': refused(
    { grid: [1, 1, 1, 1], block: 1 },
    /grid has one to three dimensions \(x, y, z\), got 4/,
    'E_LAUNCH_DIMS',
  ),
  'negative threads': refused({ threads: -1 }, /threads must be at least 0, got -1/, 'E_LAUNCH_DIMS'),
  'a grid beyond the limits': refused(
    { grid: [1, 65536], block: 1 },
    /grid\.y is 65536, .* allows at most 65535/,
    'E_LAUNCH_LIMIT',
  ),
  'a block beyond the limits': refused(
    { grid: 1, block: 2048 },
    /block\.x is 2048, .* allows at most 1024/,
    'E_LAUNCH_LIMIT',
  ),
  'too many threads in a block': refused(
    { grid: 1, block: [64, 64] },
    /block \(64, 64\) has 4096 threads, .* allows 1024 in a block/,
    'E_LAUNCH_LIMIT',
  ),
  'too deep a block': refused({ grid: 1, block: [1, 1, 1025] }, /block\.z is 1025/, 'E_LAUNCH_LIMIT'),
  'shared memory beyond the limits': refused(
    { grid: 1, block: 1, sharedBytes: 2 ** 30 },
    /sharedBytes is 1073741824/,
    'E_LAUNCH_LIMIT',
  ),
  'negative shared memory': refused(
    { grid: 1, block: 1, sharedBytes: -1 },
    /sharedBytes must be at least 0/,
    'E_LAUNCH_DIMS',
  ),
  'a stream that is none': refused(
    { grid: 1, block: 1, stream: 'fast' },
    /stream must be a Stream or 0, got the string fast/,
    'E_STREAM',
  ),
  'an argument too few': refused(
    { threads: 1 },
    /takes 2 arguments \([\w$]+, [\w$]+\), but got 1: [\w$]+ is missing/,
    undefined,
    1,
  ),
  'an argument too many': refused(
    { threads: 1 },
    /takes 2 arguments \([\w$]+, [\w$]+\), but got 3/,
    undefined,
    1,
    2,
    3,
  ),
  'an argument that is undefined': refused(
    { threads: 1 },
    /argument 2 \(`[\w$]+`\) is undefined/,
    undefined,
    new Float32Array(1),
    undefined,
  ),
  'an argument that is null': refused({ threads: 1 }, /argument 1 \(`[\w$]+`\) is null/, undefined, null, 1),
  'an argument that is a string': refused(
    { threads: 1 },
    /argument 2 \(`[\w$]+`\) is '2'/,
    undefined,
    new Float32Array(1),
    '2',
  ),
  'an argument that is an object': refused(
    { threads: 1 },
    /an object \{ length \} has named fields/,
    undefined,
    { length: 3 },
    2,
  ),
  'a number where the kernel needs an array': refused({ threads: 1 }, /array|number/, undefined, 5, 2),
  'a fraction for an index': async () => {
    const kernel = loosely(
      cuda.jit((a: Vec<f32>, k: number) => {
        a[k] = 1;
      }),
    );
    const a = floats();
    await launch(kernel, { threads: 1, block: 1 }, a, 2);
    await rejects(
      () => launch(kernel, { threads: 1, block: 1 }, a, 2.5),
      /argument 2 \(`[\w$]+`\) is i32 in this kernel: 2\.5 is not an integer/,
    );
  },
  'a disposed array': async () => {
    const scale = makeScale();
    const a = floats();
    await launch(scale, { threads: 3 }, a, 1);
    a.dispose();
    await rejects(() => launch(scale, { threads: 3 }, a, 1), /argument 1 \(`[\w$]+`\): this array was disposed at /);
  },
  'a kernel called like a function': () => {
    throws(
      () => (makeScale() as unknown as (...args: unknown[]) => void)(floats(), 2),
      /needs to know how many threads to run/,
    );
  },
  'forAll of what is no count': () => {
    const scale = loosely(makeScale());
    throws(() => scale.forAll(-1), /must be at least 0, got -1/, 'E_LAUNCH_DIMS');
    throws(() => scale.forAll(2.5), /must be a whole number, got 2\.5/, 'E_LAUNCH_DIMS');
    throws(() => scale.configure(1), /configure takes \(grid, block, stream\?, sharedBytes\?\)|block must be/);
  },
  'jit of what is no function': () => {
    const jit = cuda.jit as unknown as (...args: unknown[]) => unknown;
    throws(() => jit(3), /function/);
    throws(
      () => jit(() => undefined, { boundCheck: true }),
      /no option 'boundCheck': did you mean 'boundsCheck'/,
      'E_OPTION',
    );
    throws(() => jit(() => undefined, { debug: 1 }), /debug must be true or false, got 1/, 'E_JIT_OPTION');
    throws(() => jit(() => undefined, { defaultFloat: 'f16' }), /defaultFloat must be 'f32' or 'f64'/, 'E_JIT_OPTION');
  },
  'intrinsics on the host say where they belong': () => {
    throws(() => cuda.grid(1), /only works inside a kernel/, 'E_HOST_INTRINSIC');
    throws(() => cuda.threadIdx.x, /only works inside a kernel/, 'E_HOST_INTRINSIC');
    throws(() => cuda.syncThreads(), /only works inside a kernel/, 'E_HOST_INTRINSIC');
    throws(() => cuda.laneId + 1, /only works inside a kernel/, 'E_HOST_INTRINSIC');
  },
  'launchBounds limits the block': async () => {
    const kernel = cuda.jit(
      (a: Vec<f32>) => {
        if (cuda.grid(1) === 0) a[0] = 1;
      },
      { launchBounds: 64 },
    );
    await rejects(
      () => launch(kernel, { grid: 1, block: 65 }, floats()),
      /launchBounds of this kernel says at most 64/,
      'E_LAUNCH_LIMIT',
    );
    await launch(kernel, { grid: 1, block: 64 }, floats());
  },
  'launchBounds with blocks is a hint': async () => {
    const kernel = cuda.jit(
      (a: Vec<f32>) => {
        const i = cuda.grid(1);
        if (i < a.length) a[i] = Math.sqrt(i);
      },
      { launchBounds: [64, 8] },
    );
    const a = cuda.toDevice(new Float32Array(5));
    await launch(kernel, { grid: 1, block: 64 }, a);
    sameElements(await read(a), [0, 1, Math.fround(Math.sqrt(2)), Math.fround(Math.sqrt(3)), 2]);
  },
  'a kernel says how many of its blocks fit, and which block size fills the device': async () => {
    const kernel = cuda.jit((a: Vec<f32>) => {
      if (cuda.grid(1) === 0) a[0] = 1;
    });
    throws(() => kernel.maxActiveBlocks(64), /has not been compiled yet/, 'E_NOT_COMPILED');
    throws(() => kernel.suggestBlock(), /has not been compiled yet/, 'E_NOT_COMPILED');
    await launch(kernel, { grid: 1, block: 1 }, floats());
    const { maxThreadsPerBlock } = cuda.currentDevice().limits;
    for (const block of [1, 32, [8, 4], maxThreadsPerBlock] as const) {
      const blocks = kernel.maxActiveBlocks(block);
      same(Number.isInteger(blocks) && blocks >= 1, true, `${blocks} blocks of ${block} threads`);
    }
    const suggested = kernel.suggestBlock();
    same(suggested >= 1 && suggested <= kernel.attributes().maxThreadsPerBlock, true, `${suggested} threads`);
    await launch(kernel, { grid: 1, block: suggested }, floats());
    throws(() => kernel.maxActiveBlocks(maxThreadsPerBlock + 1), /at most/, 'E_LAUNCH_LIMIT');
    throws(() => kernel.maxActiveBlocks(2.5), /whole number|integer/, 'E_LAUNCH_DIMS');
    throws(() => kernel.suggestBlock(-1), /sharedBytes must be at least 0/, 'E_LAUNCH_DIMS');
  },
});
