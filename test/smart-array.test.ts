import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  cuda,
  type DeviceNDArray,
  f32,
  f64,
  type In,
  i32,
  ndarray,
  SmartArray,
  scope,
  type Vec,
} from '../src/index.ts';

/** Copies between the sides so far. */
const copies = (): { up: number; down: number } => {
  const { hostToDevice, deviceToHost } = cuda.memoryStats().copies;
  return { up: hostToDevice.count, down: deviceToHost.count };
};
let before = { up: 0, down: 0 };
const since = (): { up: number; down: number } => {
  const now = copies();
  const moved = { up: now.up - before.up, down: now.down - before.down };
  before = now;
  return moved;
};

const addOne = cuda.jit((a: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < a.length) a[i] += 1;
});
const total = cuda.jit((a: In<Vec<f32>>, out: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < a.length) cuda.atomic.add(out, 0, a[i]);
});

describe.each(['cpu', 'simulator'] as const)('smart arrays on the device %s', (device) => {
  beforeAll(() => {
    cuda.selectDevice(device);
    addOne.compile(cuda.deviceArray(1, f32));
    total.compile(cuda.deviceArray(1, f32), cuda.deviceArray(1, f32));
  });
  afterAll(() => cuda.close());
  beforeEach(() => {
    before = copies();
  });

  it('are made of arrays, which they copy', () => {
    const x = Float32Array.of(1, 2, 3);
    const a = new SmartArray(x);
    x[0] = 9;
    expect([a.at(0), a.length, a.shape, a.ndim, a.size, a.nbytes]).toEqual([1, 3, [3], 1, 3, 12]);
    expect(a.dtype.name).toBe('f32');
    const nested = new SmartArray([
      [1, 2],
      [3, 4],
    ]);
    expect([nested.dtype.name, nested.at(1, 0)]).toEqual(['f64', 3]);
    expect(since()).toEqual({ up: 0, down: 0 });
  });

  it('take an array for their own where copy is false', () => {
    const x = Float32Array.of(1, 2, 3);
    const a = new SmartArray(x, { copy: false });
    x[0] = 9;
    a.markChanged();
    expect(a.at(0)).toBe(9);
    addOne.launch({ threads: 3 }, a);
    // Whoever gave the array sees what the kernel did.
    expect([...x]).toEqual([10, 3, 4]);
    const d = cuda.toDevice(x);
    const b = new SmartArray(d, { copy: false, where: 'gpu' });
    expect(b.get('gpu')).toBe(d);
  });

  it('are made on the device with the elements in it', () => {
    const a = new SmartArray(Float32Array.of(4, 5), { where: 'gpu' });
    expect(since()).toEqual({ up: 1, down: 0 });
    expect([...a.get('gpu').copyToHost()]).toEqual([4, 5]);
  });

  it('are made of a shape', () => {
    const c = new SmartArray({ shape: [2, 3], dtype: f64 });
    expect([c.strides, c.get().toArray()]).toEqual([
      [24, 8],
      [
        [0, 0, 0],
        [0, 0, 0],
      ],
    ]);
    expect(new SmartArray({ shape: [2, 3], dtype: 'f32', order: 'F' }).strides).toEqual([4, 8]);
    expect(new SmartArray({ shape: 5, dtype: i32, where: 'gpu' }).get('gpu').shape).toEqual([5]);
    expect(new SmartArray({ shape: [], dtype: f32 }).at()).toBe(0);
  });

  it('move nothing between chained kernels', () => {
    const a = new SmartArray(new Float32Array(8));
    for (let k = 0; k < 5; k++) addOne.launch({ threads: 8 }, a);
    expect(since()).toEqual({ up: 1, down: 0 });
    expect([...a.get().data]).toEqual(new Array(8).fill(5));
    expect(since()).toEqual({ up: 0, down: 1 });
  });

  it('refresh the host side at once while it counts as referenced, and later otherwise', () => {
    const a = new SmartArray(new Float32Array(2));
    const host = a.get();
    addOne.launch({ threads: 2 }, a);
    expect([...host.data]).toEqual([1, 1]);
    expect(since()).toEqual({ up: 1, down: 1 });
    a.release('host');
    addOne.launch({ threads: 2 }, a);
    expect([...host.data]).toEqual([1, 1]);
    expect(since()).toEqual({ up: 0, down: 0 });
    expect(a.at(0)).toBe(2);
    expect([...host.data]).toEqual([2, 2]);
  });

  it('that a kernel only reads stay as they are', () => {
    const a = new SmartArray(Float32Array.of(1, 2, 3));
    a.get();
    const out = cuda.toDevice(new Float32Array(1));
    since();
    total.launch({ threads: 3 }, a, out);
    total.launch({ threads: 3 }, a, out);
    expect(since()).toEqual({ up: 1, down: 0 });
    expect(out.get(0)).toBe(12);
  });

  it('upload what the host changed', () => {
    const a = new SmartArray(new Float32Array(4));
    addOne.launch({ threads: 4 }, a);
    a.set(10, 0);
    a.set([5, 6], '2:');
    addOne.launch({ threads: 4 }, a);
    expect(a.get().toArray()).toEqual([11, 2, 6, 7]);
    a.slice('1:3').set(0);
    a.markChanged('host');
    addOne.launch({ threads: 4 }, a);
    expect([...a]).toEqual([12, 1, 1, 8]);
  });

  it('give rows where there are several axes', () => {
    const a = new SmartArray(
      ndarray(
        [
          [1, 2],
          [3, 4],
        ],
        { dtype: 'f32' },
      ),
    );
    expect([...a].map(String)).toHaveLength(2);
    expect(a.slice(1).toArray()).toEqual([3, 4]);
  });

  it('marking a side that was never made changes nothing', () => {
    const a = new SmartArray(Float32Array.of(7));
    a.markChanged('gpu');
    expect(a.at(0)).toBe(7);
    const b = new SmartArray({ shape: 1, dtype: f32, where: 'gpu' });
    b.get('gpu').set(3);
    b.markChanged('gpu');
    b.markChanged('host');
    expect(b.at(0)).toBe(3);
  });

  it('go through streams and tuples', () => {
    const stream = cuda.stream();
    const a = new SmartArray(new Float32Array(3));
    const both = cuda.jit((pair: readonly [Vec<f32>, Vec<f32>]) => {
      const i = cuda.grid(1);
      if (i < pair[0].length) pair[1][i] = pair[0][i] + 1;
    });
    const b = new SmartArray(new Float32Array(3));
    addOne.launch({ threads: 3, stream }, a);
    both.launch({ threads: 3, stream }, [a, b]);
    expect([...b]).toEqual([2, 2, 2]);
  });

  it('outlive the scope in which their device side was made', () => {
    const a = new SmartArray(Float32Array.of(1));
    scope(() => {
      addOne.launch({ threads: 1 }, a);
    });
    expect(a.at(0)).toBe(2);
    let inner: SmartArray<f32, 1> | undefined;
    scope(() => {
      inner = new SmartArray(Float32Array.of(1));
    });
    expect(inner?.disposed).toBe(true);
  });

  it('say what is wrong', () => {
    const a = new SmartArray(Float32Array.of(1));
    expect(() => a.get('device' as never)).toThrow("'device' is not a valid target");
    expect(() => new SmartArray([1], { where: 'cpu' as never })).toThrow("'cpu' is not a valid target");
    expect(() => new SmartArray({ shape: [1] } as never)).toThrow('dtype must be a dtype such as f32');
    expect(() => new SmartArray({ shape: [1], dtype: f32, wehre: 'gpu' } as never)).toThrow('wehre');
    a.dispose();
    a.dispose();
    expect(() => a.at(0)).toThrow('was disposed');
    expect(() => addOne.launch({ threads: 1 }, a)).toThrow('was disposed');
  });

  it('hold what any sequence of reads, writes, marks and kernels should leave', () => {
    const next = random(12345);
    for (let round = 0; round < 40; round++) {
      const n = 1 + (next() % 5);
      const a = new SmartArray(new Float32Array(n), { where: next() % 2 === 0 ? 'host' : 'gpu' });
      /** What both sides should show, and who is allowed to hold an older copy. */
      const model = new Float32Array(n);
      let host: { readonly data: ArrayLike<number> } | undefined;
      for (let step = 0; step < 30; step++) {
        switch (next() % 7) {
          case 0:
            addOne.launch({ threads: n }, a);
            model.forEach((v, i) => {
              model[i] = v + 1;
            });
            break;
          case 1: {
            const [i, v] = [next() % n, next() % 100];
            a.set(v, i);
            model[i] = v;
            break;
          }
          case 2:
            host = a.get();
            break;
          case 3:
            expect(a.at(next() % n)).toSatisfy((v: number) => [...model].includes(v));
            break;
          case 4: {
            const d: DeviceNDArray<f32> = a.get('gpu') as never;
            d.set(7);
            a.markChanged('gpu');
            model.fill(7);
            break;
          }
          case 5: {
            const view = a.get() as { readonly data: Float32Array };
            view.data[0] = 55;
            a.markChanged('host');
            model[0] = 55;
            host = view;
            break;
          }
          default:
            if (next() % 4 === 0) {
              a.release();
              host = undefined;
            }
        }
        if (host !== undefined) expect([...(host.data as Float32Array)]).toEqual([...model]);
      }
      expect([...a.get('gpu').copyToHost()]).toEqual([...model]);
      expect([...a.get().data]).toEqual([...model]);
      a.dispose();
    }
  });
});

/** Park and Miller's generator. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state;
  };
}

it('gives back the memory of the device that a smart array leaves', () => {
  cuda.selectDevice('cpu');
  const a = new SmartArray(Float32Array.of(1, 2, 3), { where: 'gpu' });
  const live = cuda.memoryStats().live;
  cuda.selectDevice('simulator');
  addOne.launch({ threads: 3 }, a);
  const there = cuda.memoryStats().live;
  expect([...a.get('host').data]).toEqual([2, 3, 4]);
  cuda.selectDevice('cpu');
  expect(live - cuda.memoryStats().live).toBe(12);
  addOne.launch({ threads: 3 }, a);
  expect([...a.get('host').data]).toEqual([3, 4, 5]);
  cuda.selectDevice('simulator');
  expect(there - cuda.memoryStats().live).toBe(12);
  cuda.selectDevice('cpu');
  a.dispose();
  expect(live - cuda.memoryStats().live).toBe(12);
});
