import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InterpretingDriver } from '../../test/support/interpreting-driver.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { grid } from '../cuda/geometry.ts';
import { stream as createStream, jit, toDevice } from '../cuda/host.ts';
import { f32, f64, type i16, type i32 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import { In, InOut, Out } from './hints.ts';
import type { Mat, Vec } from './types.ts';

let context: Context;
let warnings: Error[];
const collect = (warning: Error): void => {
  warnings.push(warning);
};

beforeEach(() => {
  context = new Context(new InterpretingDriver());
  cudaDevices.enter(context);
  warnings = [];
  process.env['TSAMBA_WARN_IMPLICIT_COPY'] = '0';
  process.on('warning', collect);
});
afterEach(() => {
  process.off('warning', collect);
});

const copies = (): readonly [number, number] => {
  const { hostToDevice, deviceToHost } = context.memoryStats().copies;
  return [hostToDevice.count, deviceToHost.count];
};

const addTo = () =>
  jit((x: Vec<f32>, y: Vec<f32>) => {
    const i = grid(1);
    if (i < y.length) y[i] = (y[i] as number) + (x[i] as number);
  });

describe('host arrays as arguments', () => {
  it('are copied to the device and back, and done when the call returns', () => {
    const add = addTo();
    const [x, y] = [Float32Array.of(1, 2, 3), Float32Array.of(10, 20, 30)];
    add.launch({ threads: 3 }, x, y);
    expect([x, y]).toEqual([Float32Array.of(1, 2, 3), Float32Array.of(11, 22, 33)]);
  });

  it('are copied back only where the kernel writes, and in only where told', () => {
    const add = addTo();
    const [x, y] = [Float32Array.of(1, 2, 3), new Float32Array(3)];
    add.launch({ threads: 3 }, x, y);
    expect(copies()).toEqual([2, 1]);
    add.launch({ threads: 3 }, In(x), In(y));
    expect(copies()).toEqual([4, 1]);
    expect(y).toEqual(Float32Array.of(1, 2, 3));
    const fill = jit((out: Vec<f32>) => {
      const i = grid(1);
      if (i < out.length) out[i] = i;
    });
    fill.launch({ threads: 3 }, Out(y));
    expect(copies()).toEqual([4, 2]);
    expect(y).toEqual(Float32Array.of(0, 1, 2));
    add.launch({ threads: 3 }, toDevice(x), InOut(y));
    expect(y).toEqual(Float32Array.of(1, 3, 5));
  });

  it('leave no memory behind, whatever happens', () => {
    const add = addTo();
    const before = context.memoryStats().live;
    add.launch({ threads: 3 }, new Float32Array(3), new Float32Array(3));
    const fails = jit((x: Vec<f32>) => {
      x[grid(1) + 100] = 1;
    });
    expect(() => fails.launch({ threads: 1 }, new Float32Array(3))).toThrow();
    const typed = jit((x: Vec<f32>, k: number) => {
      x[k] = 1;
    });
    expect(() => typed.launch({ threads: 1 }, new Float32Array(3), 0.5)).toThrow('0.5 is not an integer');
    expect(context.memoryStats().live).toBe(before);
  });

  it('are not copied back when the kernel failed', () => {
    const y = Float32Array.of(1, 2);
    const fails = jit((x: Vec<f32>) => {
      x[0] = 5;
      x[grid(1) + 100] = 1;
    });
    expect(() => fails.launch({ threads: 1 }, y)).toThrow(/index 100/);
    expect(y).toEqual(Float32Array.of(1, 2));
  });

  it('keep their layout: strided ones are packed, F order stays F order', () => {
    const add = jit((A: Mat<f64>) => {
      const [j, i] = grid(2);
      if (i < A.shape[0] && j < A.shape[1]) (A[i] as Vec<f64>)[j] = ((A[i] as Vec<f64>)[j] as number) + i * 10 + j;
    });
    const F = ndarray.zeros([2, 3], { dtype: f64, order: 'F' });
    add.launch({ threads: [3, 2] }, F);
    expect(F.toArray()).toEqual([
      [0, 1, 2],
      [10, 11, 12],
    ]);
    expect(add.stats.specialisations[0]?.signature).toContain('f64[::1, :]');
    const big = ndarray.full([4, 6], -1, f64);
    add.launch({ threads: [3, 2] }, big.slice('1::2', '::-2') as never);
    expect(big.toArray()).toEqual([
      [-1, -1, -1, -1, -1, -1],
      [-1, 1, -1, 0, -1, -1],
      [-1, -1, -1, -1, -1, -1],
      [-1, 11, -1, 10, -1, 9],
    ]);
  });

  it('may be ndarrays of other libraries, and stand in tuples', () => {
    const foreign = { data: Float32Array.of(0, 1, 2, 3), shape: [2], stride: [2], offset: 1 };
    const kernel = jit((pair: readonly [Vec<f32>, Vec<i32>]) => {
      const [a, b] = pair;
      const i = grid(1);
      if (i < a.length) {
        a[i] = (a[i] as number) * 2;
        b[i] = i + 7;
      }
    });
    const b = new Int32Array(2);
    kernel.launch({ threads: 2 }, [foreign, b]);
    expect([foreign.data, b]).toEqual([Float32Array.of(0, 2, 2, 6), Int32Array.of(7, 8)]);
  });
});

describe('host arrays that share memory', () => {
  it('share one device copy when they are the same array', () => {
    const add = addTo();
    const x = Float32Array.of(1, 2, 3);
    add.launch({ threads: 3 }, x, x);
    expect(x).toEqual(Float32Array.of(2, 4, 6));
    expect(copies()).toEqual([1, 1]);
  });

  it('see the same aliasing on the device when they overlap', () => {
    const shift = jit((from: Vec<f32>, to: Vec<f32>) => {
      for (let i = 0; i < from.length; i++) to[i] = (from[i] as number) + 1;
    });
    const data = Float32Array.of(1, 0, 0, 0, 9);
    shift.launch({ grid: 1, block: 1 }, data.subarray(0, 3), data.subarray(1, 4));
    expect(data).toEqual(Float32Array.of(1, 2, 3, 4, 9));
  });

  it('keep what lies between their elements', () => {
    const set = jit((a: Vec<f32>, b: Vec<f32>) => {
      const i = grid(1);
      if (i < a.length) a[i] = 1;
      if (i < b.length) b[i] = 2;
    });
    const all = ndarray(Float32Array.of(5, 5, 5, 5, 5, 5, 5, 5));
    const [a, b] = [all.slice('0:6:3'), all.slice('1:8:3')];
    set.launch({ threads: 3 }, a as never, b as never);
    expect(all.toArray()).toEqual([1, 2, 5, 1, 2, 5, 5, 2]);
  });

  it('may be of different types', () => {
    const halves = jit((words: Vec<i32>, parts: Vec<i16>) => {
      words[0] = 0x00020001;
      words[1] = (parts[0] as number) + (parts[1] as number);
    });
    const words = new Int32Array(2);
    halves.launch({ grid: 1, block: 1 }, words, new Int16Array(words.buffer));
    expect(words[1]).toBe(3);
  });

  it('may be broadcast, when they are only read', () => {
    const add = addTo();
    const one = ndarray(Float32Array.of(3), { shape: [4], strides: [0] });
    const y = new Float32Array(4);
    add.launch({ threads: 4 }, one as never, y);
    expect(y).toEqual(Float32Array.of(3, 3, 3, 3));
  });
});

describe('with a stream', () => {
  it('copies are enqueued like the launch', () => {
    const add = addTo();
    const stream = createStream();
    const [x, y] = [Float32Array.of(1, 2, 3), new Float32Array(3)];
    add.launch({ threads: 3, stream }, x, y);
    stream.synchronize();
    expect(y).toEqual(Float32Array.of(1, 2, 3));
  });
});

describe('the warning of implicit copies', () => {
  const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

  beforeEach(() => {
    delete process.env['TSAMBA_WARN_IMPLICIT_COPY'];
  });

  it('comes once a kernel, with the fix', async () => {
    const add = addTo();
    const x = new Float32Array(3);
    add.launch({ threads: 3 }, x, x);
    add.launch({ threads: 3 }, x, x);
    await settle();
    const mine = warnings.filter((warning) => (warning as { code?: string }).code === 'TSAMBA_IMPLICIT_COPY');
    expect(mine).toHaveLength(1);
    expect(mine[0]?.message).toMatch(/argument 1 \(`x`\) of \w+ is a host array, .*cuda\.toDevice.*cuda\.In\(a\)/);
  });

  it('does not come for hinted and device arrays, nor when silenced', async () => {
    const x = new Float32Array(3);
    addTo().launch({ threads: 3 }, In(x), InOut(x));
    addTo().launch({ threads: 3 }, toDevice(x), toDevice(x));
    addTo().compile(x, x);
    process.env['TSAMBA_WARN_IMPLICIT_COPY'] = '0';
    addTo().launch({ threads: 3 }, x, x);
    await settle();
    expect(warnings.filter((warning) => (warning as { code?: string }).code === 'TSAMBA_IMPLICIT_COPY')).toEqual([]);
  });
});

it('f32 and f64 arrays of the editor are those of the launch', () => {
  const add = addTo();
  // @ts-expect-error an f64 array for an f32 parameter: types come from the arguments, so it runs all the same
  add.launch({ threads: 1 }, toDevice(Float64Array.of(1)), toDevice(ndarray.zeros(1, f32)));
  expect(add.stats.specialisations[0]?.signature).toContain('f64[::1], f32[::1]');
});
