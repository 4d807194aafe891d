/**
 * Chapter: what launches pass: plain objects, objects of classes, optional parameters, strings, functions, enums.
 */
import { cuda, type f32, type i32, ndarray, SmartArray, type Vec } from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

interface Params {
  readonly n: number;
  readonly dt: number;
  readonly x: Vec<f32>;
  readonly box: { readonly low: number; readonly high: number };
}

/** What TypeScript makes of `enum Mode { Copy, Twice = 5 }`. */
const Mode = { Copy: 0, Twice: 5, 0: 'Copy', 5: 'Twice' } as const;
type Mode = 0 | 5;

const Named = { Copy: 'copy', Twice: 'twice' } as const;
type Named = 'copy' | 'twice';

class Wave {
  readonly gain: number;
  readonly data: Vec<f32>;
  constructor(gain: number, data: Vec<f32>) {
    this.gain = gain;
    this.data = data;
  }
  at(i: number): number {
    return this.data[i] * this.gain;
  }
  get half(): number {
    return this.gain / 2;
  }
}

const device = (...values: number[]) => cuda.toDevice(Float32Array.from(values));

const square = (v: number) => v * v;
const negate = (v: number) => -v;

export const launchArguments: readonly ConformanceTest[] = chapter('arguments', {
  async 'a plain object, with arrays and objects in it'() {
    const kernel = cuda.jit((y: Vec<f32>, p: Params) => {
      const i = cuda.grid(1);
      if (i < p.n) y[i] = Math.min(Math.max(p.x[i] * p.dt, p.box.low), p.box.high);
    });
    const x = device(1, 2, 3, 40);
    const y = device(0, 0, 0, 0);
    for (const dt of [0.5, 2]) {
      await launch(kernel, { threads: 4 }, y, { n: 3, dt, x, box: { low: 0.75, high: 5 } });
      sameElements(await read(y), [Math.max(dt, 0.75), Math.min(2 * dt, 5), Math.min(3 * dt, 5), 0]);
    }
    same(kernel.stats.specialisations.length, 1, 'specialisations');
  },
  async 'an object taken apart in the list of parameters'() {
    const kernel = cuda.jit((y: Vec<f32>, { n, x, gain = 10, box: { low } }: Params & { readonly gain?: number }) => {
      const i = cuda.grid(1);
      if (i < n) y[i] = x[i] * gain + low;
    });
    const x = device(1, 2, 3);
    const y = cuda.deviceArray(3, 'f32');
    await launch(kernel, { threads: 3 }, y, { n: 3, dt: 1, x, box: { low: 1, high: 2 } });
    sameElements(await read(y), [11, 21, 31]);
    await launch(kernel, { threads: 3 }, y, { n: 3, dt: 1, x, box: { low: 1, high: 2 }, gain: 3 });
    sameElements(await read(y), [4, 7, 10]);
  },
  async 'arrays in objects are written, on the host as well'() {
    const kernel = cuda.jit((p: { out: Vec<f32>; list: readonly [Vec<f32>, number] }) => {
      const i = cuda.grid(1);
      if (i >= p.out.length) return;
      p.out[i] = i + p.list[1];
      p.list[0][i] += 1;
    });
    const out = new Float32Array(3);
    const other = Float32Array.of(5, 6, 7);
    await launch(kernel, { threads: 3 }, { out, list: [other, 2] });
    sameElements(out, [2, 3, 4]);
    sameElements(other, [6, 7, 8]);
  },
  async 'smart arrays in objects'() {
    const kernel = cuda.jit((p: { out: Vec<f32>; by: number }) => {
      const i = cuda.grid(1);
      if (i < p.out.length) p.out[i] += p.by;
    });
    const out = new SmartArray(Float32Array.of(1, 2));
    await launch(kernel, { threads: 2 }, { out, by: 3 });
    await launch(kernel, { threads: 2 }, { out, by: 0.5 });
    sameElements(await out.getAsync(), [4.5, 5.5]);
  },
  async 'the next launch passes other values'() {
    const kernel = cuda.jit((y: Vec<i32>, p: { a: number; t: readonly [number, boolean] }) => {
      y[0] = p.a * 100 + p.t[0] * 10 + (p.t[1] ? 1 : 0);
    });
    const y = cuda.deviceArray(1, 'int32');
    for (let k = 0; k < 5; k++) {
      await launch(kernel, { grid: 1, block: 1 }, y, { a: k, t: [k + 1, k % 2 === 0] });
      sameElements(await read(y), [k * 100 + (k + 1) * 10 + (k % 2 === 0 ? 1 : 0)]);
    }
    // Other names, another order, more fields.
    const other = { t: [1, true], a: 7, more: 3 } as const;
    await launch(kernel, { grid: 1, block: 1 }, y, other);
    sameElements(await read(y), [711]);
  },
  async 'an object of a class, with its methods'() {
    const kernel = cuda.jit((y: Vec<f32>, wave: Wave) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = wave.at(i) + wave.half;
    });
    const y = cuda.deviceArray(2, 'f32');
    await launch(kernel, { threads: 2 }, y, new Wave(4, device(1, 2) as unknown as Vec<f32>));
    sameElements(await read(y), [6, 10]);
  },
  async 'a copy of an object argument is the kernel’s own'() {
    const kernel = cuda.jit((y: Vec<i32>, p: { n: number; m: number }) => {
      const own = { ...p };
      own.n += cuda.grid(1);
      y[cuda.grid(1)] = own.n * 10 + own.m;
    });
    const y = cuda.deviceArray(3, 'int32');
    const p = { n: 1, m: 2 };
    await launch(kernel, { threads: 3, block: 3 }, y, p);
    sameElements(await read(y), [12, 22, 32]);
    same(p.n, 1);
  },
  async 'optional parameters'() {
    const kernel = cuda.jit((y: Vec<f32>, gain = 2, shift?: number, bias?: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i >= y.length) return;
      y[i] = i * gain + (shift ?? 100);
      if (bias !== undefined) y[i] += bias[i];
    });
    const y = cuda.deviceArray(2, 'f32');
    await launch(kernel, { threads: 2 }, y);
    sameElements(await read(y), [100, 102]);
    await launch(kernel, { threads: 2 }, y, undefined, 1);
    sameElements(await read(y), [1, 3]);
    await launch(kernel, { threads: 2 }, y, 5, undefined, device(10, 20));
    sameElements(await read(y), [110, 125]);
    await launch(kernel, { threads: 2 }, y, 3, 0.5);
    sameElements(await read(y), [0.5, 3.5]);
  },
  async 'strings that select a branch'() {
    const kernel = cuda.jit((y: Vec<i32>, mode: 'sum' | 'max' | 'none', named: Named) => {
      const i = cuda.grid(1);
      switch (mode) {
        case 'sum':
          y[i] += 10;
          break;
        case 'max':
          y[i] = Math.max(y[i], 4);
          break;
        default:
          y[i] = -1;
      }
      if (named === Named.Twice) y[i] *= 2;
    });
    const y = cuda.toDevice(Int32Array.of(1, 7));
    await launch(kernel, { grid: 1, block: 2 }, y, 'sum', Named.Copy);
    sameElements(await read(y), [11, 17]);
    await launch(kernel, { grid: 1, block: 2 }, y, 'max', Named.Twice);
    sameElements(await read(y), [22, 34]);
    await launch(kernel, { grid: 1, block: 2 }, y, 'none', Named.Copy);
    sameElements(await read(y), [-1, -1]);
    same(kernel.stats.specialisations.length, 3, 'specialisations');
  },
  async 'enums of numbers, and booleans'() {
    const kernel = cuda.jit((y: Vec<i32>, mode: Mode, on: boolean) => {
      const i = cuda.grid(1);
      y[i] = mode === Mode.Twice ? i * 2 : i;
      if (on) y[i] += 100;
    });
    const y = cuda.deviceArray(2, 'int32');
    await launch(kernel, { grid: 1, block: 2 }, y, Mode.Twice, true);
    sameElements(await read(y), [100, 102]);
    await launch(kernel, { grid: 1, block: 2 }, y, Mode.Copy, false);
    sameElements(await read(y), [0, 1]);
    same(kernel.stats.specialisations.length, 1, 'specialisations');
  },
  async functions() {
    const kernel = cuda.jit((y: Vec<f32>, f: (v: number) => number, options: { then: (v: number) => number }) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = options.then(f(i + 1));
    });
    const y = cuda.deviceArray(2, 'f32');
    await launch(kernel, { threads: 2 }, y, square, { then: negate });
    sameElements(await read(y), [-1, -4]);
    await launch(kernel, { threads: 2 }, y, negate, { then: square });
    sameElements(await read(y), [1, 4]);
    await launch(kernel, { threads: 2 }, y, square, { then: negate });
    sameElements(await read(y), [-1, -4]);
    same(kernel.stats.specialisations.length, 2, 'specialisations');
  },
  async 'a host record is an array, not an object'() {
    const kernel = cuda.jit((y: Vec<f32>, x: Vec<f32>) => {
      y[0] = x[1];
    });
    const y = cuda.deviceArray(1, 'f32');
    await launch(kernel, { grid: 1, block: 1 }, y, ndarray(Float32Array.of(1, 2)));
    sameElements(await read(y), [2]);
  },
  async 'what a kernel cannot take'() {
    const kernel = cuda.jit((y: Vec<f32>, p: unknown) => {
      y[0] = p === undefined ? 0 : 1;
    });
    const y = cuda.deviceArray(1, 'f32');
    const odd = (value: unknown, message: RegExp) =>
      rejects(() => launch(kernel, { grid: 1, block: 1 }, y, value), message, 'E_ARGUMENT_TYPE');
    await odd({ a: { when: new Map() } }, /argument 2 \(`\w+`\)\.a\.when/);
    await odd(new Map(), /argument 2/);
    await odd(Symbol('s'), /argument 2/);
    const ring: { self?: unknown } = {};
    ring.self = ring;
    await odd(ring, /nested more than|contains itself/);
  },
  async 'a store to an object argument'() {
    const kernel = cuda.jit((y: Vec<f32>, p: { n: number }) => {
      p.n += 1;
      y[0] = p.n;
    });
    await rejects(
      () => launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(1, 'f32'), { n: 1 }),
      /captured or an argument of the launch/,
      'K240',
    );
  },
});
