/**
 * Chapter: the options of kernels, and what they print.
 */
import { cuda, f32, f64, type In, i32, ndarray, struct, type Vec } from '../src/index.ts';
import { closeElements, rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { asVec, eachType, zeros } from './support.ts';
import { element, launch, read, settled } from './waiting.ts';

/** What `run` prints, one string a call of console.log. */
async function printed(run: () => void | Promise<void>): Promise<string[]> {
  return (await handed(run)).map((values) => values.map(String).join(' '));
}

/** What `run` hands to the host's console.log, call by call. */
async function handed(run: () => void | Promise<void>): Promise<(readonly unknown[])[]> {
  const calls: (readonly unknown[])[] = [];
  const { log } = console;
  console.log = (...values: unknown[]) => {
    calls.push(values);
  };
  try {
    await run();
    await settled();
  } finally {
    console.log = log;
  }
  return calls;
}

class Track {
  length: number;
  readonly limits: readonly number[];
  constructor(length: number, limits: readonly number[]) {
    this.length = length;
    this.limits = limits;
  }
  get total(): number {
    return this.length * 10;
  }
}
const track = new Track(1, []);
const settings = { gain: 2, limits: { low: -0, steps: [1, 10] }, none: null };
const WEIGHTS = Uint8Array.of(3, 1, 4);

/** As `exactly`, with the classes of objects, by which Node shows them. */
function classes(value: unknown): string {
  if (typeof value !== 'object' || value === null) return exactly(value);
  const parts = Array.isArray(value)
    ? value.map(classes)
    : Object.entries(value).map(([k, v]) => `${k}: ${classes(v)}`);
  return `${value.constructor.name}(${parts.join(', ')})`;
}

/** Values as text in which no two kinds look alike. */
function exactly(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(exactly).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([k, v]) => `${k}: ${exactly(v)}`)
      .join(', ')}}`;
  if (typeof value === 'string') return JSON.stringify(value);
  return Object.is(value, -0) ? '-0' : `${String(value)}${typeof value === 'bigint' ? 'n' : ''}`;
}

const FLOATS = [Float64Array, Float32Array] as const;
type Floats = (typeof FLOATS)[number];

const onDevice = (Elements: Floats, ...values: number[]) => cuda.toDevice(Elements.from(values) as Float64Array);
const defaults = (Elements: Floats) => ({ defaultFloat: Elements === Float64Array ? 'f64' : 'f32' }) as const;

export const options: readonly ConformanceTest[] = chapter('options', {
  'contract: false rounds products before they are added': async () => {
    const kernel = cuda.jit(
      (y: Vec<f64>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        y[k] = v[k] * v[k] - v[k + 1];
      },
      { contract: false },
    );
    const v = Float64Array.of(1 + 2 ** -30, 1 + 2 ** -29, 0.1, 0.01, 3, 9);
    const y = cuda.deviceArray(5, 'float64');
    await launch(kernel, { grid: 1, block: 5 }, y, cuda.toDevice(v));
    sameElements(
      await read(y),
      Float64Array.from({ length: 5 }, (_, k) => v[k] * v[k] - v[k + 1]),
    );
  },
  'fastMath is close': async () => {
    const kernel = cuda.jit(
      (y: Vec<f32>, v: In<Vec<f32>>) => {
        const k = cuda.grid(1);
        y[k] = Math.exp(v[k]) / (1 + Math.sqrt(v[k])) + Math.sin(v[k]);
      },
      { fastMath: true },
    );
    const v = Float32Array.from({ length: 40 }, (_, k) => k / 10);
    const y = cuda.deviceArray(40, 'float32');
    await launch(kernel, { grid: 1, block: 40 }, y, cuda.toDevice(v));
    closeElements(
      await read(y),
      Array.from(v, (x) => Math.exp(x) / (1 + Math.sqrt(x)) + Math.sin(x)),
      1e-4,
    );
  },
  'defaultFloat decides what nothing else does': async () => {
    const [wide, narrow] = [0.1 + 0.2, Math.fround(Math.fround(0.1) + Math.fround(0.2))];
    const turns = [
      ['f64', 'float64', wide],
      ['f32', 'float64', narrow],
      ['f32', 'float32', narrow],
    ] as const;
    await eachType(turns, async ([defaultFloat, type, expected]) => {
      const kernel = cuda.jit(
        (y: Vec<f64>, at: In<Vec<i32>>) => {
          const tenth = at[0] / 10;
          const sum = tenth + at[1] / 10;
          y[0] = sum;
        },
        { defaultFloat },
      );
      const y = cuda.deviceArray(1, type as 'float64');
      await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(Int32Array.of(1, 2)));
      same(
        Math.abs((await element(y, 0)) - expected) < 1e-7,
        true,
        `${defaultFloat}: ${await element(y, 0)} is about ${expected}`,
      );
    });
  },
  'boundsCheck: false computes the same': async () => {
    const kernel = cuda.jit(
      (y: Vec<i32>, v: In<Vec<i32>>) => {
        const k = cuda.grid(1);
        if (k >= v.length) return;
        let s = 0;
        for (let i = 0; i <= k % 5; i++) s += v[(k + i) % v.length] * (i + 1);
        y[v.length - 1 - k] = s;
      },
      { boundsCheck: false },
    );
    const v = Int32Array.from({ length: 70 }, (_, k) => k * k);
    const y = zeros(70, 'int32');
    await launch(kernel, { threads: 70, block: 32 }, y, cuda.toDevice(v));
    const expected = new Int32Array(70);
    for (let k = 0; k < 70; k++) {
      for (let i = 0; i <= k % 5; i++) expected[69 - k] += v[(k + i) % 70] * (i + 1);
    }
    sameElements(await read(y), expected);
  },
  'a name for messages': async () => {
    const kernel = cuda.jit(
      (a: Vec<i32>, at: number) => {
        a[at] = 1;
      },
      { name: 'my kernel', boundsCheck: true },
    );
    same(kernel.name, 'my kernel');
    await launch(kernel, { grid: 1, block: 1 }, zeros(2, 'int32'), 2);
    await rejects(() => settled(), /kernel my kernel: index 2/, 'E_KERNEL_FAULT');
  },
  'the name of the function': () => {
    function shade(_: Vec<i32>) {}
    same(cuda.jit(shade).name, shade.name);
  },
  'attributes of what was compiled': async () => {
    const kernel = cuda.jit((a: Vec<i32>) => {
      const s = cuda.shared.array(32, i32);
      const t = cuda.threadIdx.x;
      s[t] = a[t];
      cuda.syncThreads();
      a[t] = s[31 - t];
    });
    throws(() => kernel.attributes(), /./);
    await launch(kernel, { grid: 1, block: 32 }, zeros(32, 'int32'));
    const attributes = kernel.attributes();
    same(attributes.sharedBytes >= 128, true, `${attributes.sharedBytes} bytes of shared memory are at least 128`);
    same(attributes.maxThreadsPerBlock >= 32, true, `${attributes.maxThreadsPerBlock} threads are at least 32`);
  },
  'console.log prints numbers, words, booleans and bigints': () =>
    eachType(FLOATS, async (Elements) => {
      const kernel = cuda.jit((a: Vec<f64>, n: bigint) => {
        if (cuda.grid(1) !== 2) return;
        console.log('value', a[2], 'of', a.length, a[2] > 1, n + 1n);
        console.log(f(3), [a[0], a[1]], -0.5);
      }, defaults(Elements));
      const f = (v: number) => v * 2;
      const lines = await printed(() => launch(kernel, { grid: 1, block: 4 }, onDevice(Elements, 1, 2, 3.5), 41n));
      same(lines[0], 'value 3.5 of 3 true 42');
      same(lines.length, 2);
      same(/^6 .*1.*2.* -0\.5$/.test(lines[1] ?? ''), true, `the line '${lines[1]}' is right`);
    }),
  'console.log prints template strings, and strings that are put together': () =>
    eachType(FLOATS, async (Elements) => {
      const label = 'cell';
      const kernel = cuda.jit((a: In<Vec<f64>>, n: bigint) => {
        const k = cuda.grid(1);
        if (k !== 2) return;
        console.log(`${label} ${k} of ${a.length}: ${a[k]}${a[k] > 1} ${n}!`, 'and', a[0]);
        console.log('sum ' + (a[0] + a[1]) + '; ' + 'product '.concat(`${a[0] * a[1]}`), ...[k, '<']);
        console.log(`plain`, `${-0.5}`);
      }, defaults(Elements));
      const lines = await printed(() => launch(kernel, { grid: 1, block: 4 }, onDevice(Elements, 1, 2, 3.5), 41n));
      sameElements(lines, ['cell 2 of 3: 3.5true 41! and 1', 'sum 3; product 2 2 <', 'plain -0.5']);
    }),
  'console.log hands on tuples, objects and literals as JavaScript does': async () => {
    const body = (a: In<Vec<f64>>, n: bigint): void => {
      const pair = [a[0], a[1]] as const;
      const deep = { at: pair, ok: a[0] > 0, n, inner: { word: 'x', none: undefined, empty: [] } };
      console.log(pair, deep, [], {}, [pair, [n, [true]]], -0, 5n, [1e300, -0, 'text', null]);
      console.log(`pair ${pair} and ${deep} ${[pair, [n]]}`, 'joined ' + [1, a[0]] + '.', ...pair);
    };
    const kernel = cuda.jit(body);
    const a = Float64Array.of(1.5, -0);
    const calls = await handed(() => launch(kernel, { grid: 1, block: 1 }, cuda.toDevice(a), 41n));
    sameElements(calls.map(exactly), (await handed(() => body(asVec(a), 41n))).map(exactly));
  },
  'console.log of literals needs nothing of a device': async () => {
    const kernel = cuda.jit((n: Vec<i32>) => {
      console.log(-0.5, 3, `${1e300} ${-0.25}`, -0, [1 / 0, 0 / 0, 0.1]);
      console.log(2.5);
      console.log('n', n[0], 1.5, n[1]);
    });
    const calls = await handed(() => launch(kernel, { grid: 1, block: 1 }, cuda.toDevice(Int32Array.of(7, 8))));
    const expected = [[-0.5, 3, '1e+300 -0.25', -0, [Infinity, NaN, 0.1]], [2.5], ['n', 7, 1.5, 8]];
    sameElements(calls.map(exactly), expected.map(exactly));
  },
  'console.log of indices of threads': async () => {
    const kernel = cuda.jit(() => {
      if (cuda.threadIdx.y !== 1) return;
      console.log(cuda.threadIdx, [cuda.blockIdx, cuda.blockDim], cuda.gridDim, `${cuda.threadIdx}`);
    });
    const calls = await handed(() => launch(kernel, { grid: [2, 1], block: [1, 2] }));
    const dim = (x: number, y: number, z: number): object => ({ x, y, z });
    sameElements(
      // Blocks run in any order.
      calls.map(exactly).sort(),
      [0, 1].map((b) => exactly([dim(0, 1, 0), [dim(b, 0, 0), dim(1, 2, 1)], dim(2, 1, 1), '[object Object]'])),
    );
  },
  'console.log of records and complex numbers': () =>
    eachType([f64, f32], async (u) => {
      const Point = struct({ x: f32, label: i32, at: struct({ u }) });
      const kernel = cuda.jit((p: Vec<{ x: f32; label: i32; at: { u: f64 } }>) => {
        console.log(p[1], `${p[0].x}`);
      });
      const p = ndarray(
        [1, 2].map((k) => ({ x: k / 2, label: k, at: { u: -k } })),
        { dtype: Point },
      );
      const calls = await handed(() => launch(kernel, { grid: 1, block: 1 }, cuda.toDevice(p) as never));
      same(calls.map(exactly).join(), exactly([{ x: 1, label: 2, at: { u: -2 } }, '0.5']));
    }),
  'console.log of objects of classes, arrays and captured objects': () =>
    eachType(FLOATS, async (Elements) => {
      const kernel = cuda.jit((a: Vec<f64>) => {
        const own = new Track(2, [a[0], 5]);
        own.length += 1;
        const near = new Float32Array(3);
        near[a.length - 1] = 0.5;
        const pair = [1, 2];
        pair[a.length - 1] += 1;
        console.log(own, [own], { own }, near, { near, pair }, pair, track, settings, [settings.limits], WEIGHTS);
        console.log(`${pair} ${near}`, own.total);
      }, defaults(Elements));
      const body = (): void => {
        const own = new Track(2, [1.5, 5]);
        own.length += 1;
        const near = Float32Array.of(0, 0.5, 0);
        const pair = [1, 3];
        console.log(own, [own], { own }, near, { near, pair }, pair, track, settings, [settings.limits], WEIGHTS);
        console.log(`${pair} ${near}`, own.total);
      };
      const calls = await handed(() => launch(kernel, { grid: 1, block: 1 }, onDevice(Elements, 1.5, -0)));
      sameElements(calls.map(classes), (await handed(body)).map(classes));
    }),
  'console.log of one thread keeps its order': async () => {
    const kernel = cuda.jit((n: number) => {
      if (cuda.grid(1) === 0) for (let i = 0; i < n; i++) console.log('line', i);
    });
    sameElements(await printed(() => launch(kernel, { grid: 2, block: 8 }, 5)), [
      'line 0',
      'line 1',
      'line 2',
      'line 3',
      'line 4',
    ]);
  },
  'console.log of every thread, each once': async () => {
    const kernel = cuda.jit((a: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (a[k] > 10) console.log(k, a[k]);
    });
    const a = Int32Array.from({ length: 30 }, (_, k) => (k * 7) % 23);
    const lines = await printed(() => launch(kernel, { grid: 3, block: 10 }, cuda.toDevice(a)));
    const expected = Array.from(a, (v, k) => (v > 10 ? `${k} ${v}` : '')).filter((s) => s !== '');
    sameElements(lines.sort(), expected.sort());
  },
});
