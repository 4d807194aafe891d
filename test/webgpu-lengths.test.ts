/**
 * Kernels on a WebGPU device that is a processor, which get variants for the lengths of arrays that come again: results stay the same whatever the lengths do. Skipped where there is no
 * such adapter, unless TSAMBA_TEST_REQUIRE names `webgpu`.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GpuDevice } from '../src/driver/webgpu/api.ts';
import { LENGTHS } from '../src/driver/webgpu/lengths.ts';
import { cuda, f32, type In, i32, type Mat, ndarray, type Vec } from '../src/index.ts';
import { isRequired } from '../src/required.testing.ts';
import { preferSwiftShader, whyNoWebgpu } from './support/webgpu.ts';

preferSwiftShader();

const why = await whyNoWebgpu(async () => {
  await cuda.open('webgpu');
  if (!/swiftshader|llvmpipe/i.test(cuda.currentDevice().name)) throw new Error('the adapter is no processor');
});

const USUAL = LENGTHS.after;
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
const upTo = (length: number): Int32Array => Int32Array.from({ length }, (_, k) => k);

/** out[k] = x[k] * 3 + the number of elements of x, and elements of out beyond those of x are -1. */
const triple = cuda.jit((out: Vec<i32>, x: In<Vec<i32>>) => {
  const i = cuda.grid(1);
  if (i < out.length) out[i] = i < x.length ? (x[i] as number) * 3 + x.length : -1;
});
const tripled = (out: number, x: ArrayLike<number>): number[] =>
  Array.from({ length: out }, (_, k) => (k < x.length ? (x[k] as number) * 3 + x.length : -1));

const modules: string[] = [];

function gpuDevice(): GpuDevice {
  return cuda.gpuDevice() as unknown as GpuDevice;
}

/** Launches until the device has been given a module for these lengths, and says how often. */
async function untilFixed(launch: () => void): Promise<number> {
  for (let launches = 1; launches < 200; launches++) {
    launch();
    await cuda.synchronizeAsync();
    if (modules.some((code) => /array<(?:atomic<)?u32>?, \d+>;/.test(code))) {
      // The pipeline comes later than its module was asked for.
      for (let k = 0; k < 20; k++) await turn();
      return launches;
    }
  }
  throw new Error('there was no variant');
}

describe.skipIf(why !== undefined)('lengths that come again', () => {
  beforeEach(async () => {
    await cuda.open('webgpu');
    const device = gpuDevice();
    const real = device.createShaderModule.bind(device);
    modules.length = 0;
    vi.spyOn(device, 'createShaderModule').mockImplementation((options) => {
      modules.push(options.code);
      return real(options);
    });
  });
  afterEach(() => {
    LENGTHS.after = USUAL;
    vi.restoreAllMocks();
  });

  it('are compiled in after some launches, and not before', async () => {
    const kernel = cuda.jit((y: Vec<f32>, a: f32) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = (y[i] as number) + a;
    });
    const y = cuda.toDevice(new Float32Array(300));
    const launch = (): void => kernel.launch({ threads: 300 }, y, cuda.scalar(f32, 1));
    await kernel.compileAsync(y, cuda.scalar(f32, 1));
    const launches = await untilFixed(launch);
    expect(launches).toBe(LENGTHS.after + 1);
    const [usual = '', fixed = ''] = modules;
    expect(usual).toContain('buffer_0: array<u32>;');
    expect(fixed).toContain('buffer_0: array<u32, 300>;');
    expect(fixed).toContain('< 300i');
    expect(fixed).not.toContain('shape');
    for (let k = 0; k < 10; k++) launch();
    expect(Array.from(await y.copyToHostAsync())).toEqual(Array(300).fill(launches + 10));
    expect(modules).toHaveLength(2);
  });

  it.each([0, USUAL])('change between launches, after %d', async (after) => {
    LENGTHS.after = after;
    const lengths = [5, 5, 5, 5, 5, 5, 64, 64, 64, 64, 64, 1, 5, 64, 1000, 5, 1000, 1000, 1000, 1000, 1000, 7, 8, 9, 5];
    const results: Promise<unknown>[] = [];
    for (const [k, length] of lengths.entries()) {
      const x = upTo(length);
      const out = cuda.deviceArray(length + (k % 3), i32);
      const given = cuda.toDevice(x);
      if (k === 0) await triple.compileAsync(out, given);
      triple.launch({ threads: out.size }, out, given);
      results.push(out.copyToHostAsync().then((got) => expect(Array.from(got)).toEqual(tripled(length + (k % 3), x))));
      if (k % 4 === 0) await turn();
    }
    await Promise.all(results);
  });

  it.each([0, USUAL])(
    'are those of parts of arrays, of empty ones, and of arrays that share memory, after %d',
    async (after) => {
      LENGTHS.after = after;
      const whole = cuda.toDevice(upTo(100));
      const host = upTo(100);
      await triple.compileAsync(whole, whole);
      for (let round = 0; round < 12; round++) {
        // Beside each other, at odd places, and then none at all.
        for (const [from, to, out] of [
          [0, 10, 50],
          [3, 20, 60],
          [90, 100, 41],
          [7, 7, 30],
        ] as const) {
          triple.launch({ threads: 10 }, whole.slice([out, out + 10]), whole.slice([from, to]));
          host.set(tripled(10, host.slice(from, to)), out);
        }
        if (round % 5 === 4) await turn();
      }
      expect(Array.from(await whole.copyToHostAsync())).toEqual(Array.from(host));
    },
  );

  it.each([0, USUAL])('are of grids in rows and in parts, and of blocks of every shape, after %d', async (after) => {
    LENGTHS.after = after;
    const count = cuda.jit((out: Mat<i32>) => {
      const [x, y] = cuda.grid(2);
      const [rows, columns] = out.shape;
      if (x < columns && y < rows) out[y]![x]! += y * 1000 + x + 1;
    });
    for (const [rows, columns, block] of [
      [7, 50, [3, 5]],
      [33, 70, [16, 16]],
      [4, 9, [1, 7]],
      [1, 70_000, [1, 1]],
      [2, 70_000, [1, 1]],
    ] as const) {
      const out = cuda.toDevice(ndarray(new Int32Array(rows * columns), { shape: [rows, columns] }));
      await count.compileAsync(out as never);
      const grid = [Math.ceil(columns / block[0]), Math.ceil(rows / block[1])] as const;
      for (let k = 0; k < 7; k++) {
        count.launch({ grid, block }, out as never);
        await turn();
      }
      const got = (await out.copyToHostAsync()) as unknown as { readonly data: Int32Array };
      expect(got.data).toEqual(
        Int32Array.from({ length: rows * columns }, (_, k) => 7 * (Math.floor(k / columns) * 1000 + (k % columns) + 1)),
      );
    }
  });

  it('are of launches that a graph repeats', async () => {
    const [x, out] = [cuda.toDevice(upTo(40)), cuda.deviceArray(40, i32)];
    await triple.compileAsync(out, x);
    const graph = cuda.graph(() => {
      triple.launch({ threads: 40 }, out, x);
      triple.launch({ threads: 40 }, x, out);
    });
    const host = upTo(40);
    let expected: ArrayLike<number> = host;
    for (let k = 0; k < 9; k++) {
      graph.launch();
      await turn();
      expected = Int32Array.from(tripled(40, Int32Array.from(tripled(40, expected))));
    }
    expect(Array.from(await x.copyToHostAsync())).toEqual(Array.from(expected));
  });

  it.each([0, USUAL])('have short loops and small arrays written out, after %d', async (after) => {
    LENGTHS.after = after;
    const kernel = cuda.jit((out: Mat<i32>, x: In<Mat<i32>>) => {
      const i = cuda.grid(1);
      const sums = cuda.local.array([3, 2], i32);
      for (let r = 0; r < 3; r++) for (let c = 0; c < 2; c++) sums[r]![c] = r * 10 + c;
      for (let k = 0; k < x.shape[1]; k++)
        for (let r = 0; r < 3; r++) for (let c = 0; c < 2; c++) sums[r]![c]! += x[r]![k]! * (c + 1) + i;
      for (let r = 0; r < 3; r++) for (let c = 0; c < 2; c++) if (r < out.shape[0]) out[r]![2 * i + c] = sums[r]![c]!;
    });
    for (const [rows, columns, count] of [
      [3, 8, 5],
      [2, 4, 1],
    ] as const) {
      const x = Int32Array.from({ length: 3 * count }, (_, k) => (k * 7) % 5);
      const out = cuda.toDevice(ndarray(new Int32Array(rows * columns), { shape: [rows, columns] }));
      const given = cuda.toDevice(ndarray(x, { shape: [3, count] }));
      await kernel.compileAsync(out as never, given as never);
      for (let k = 0; k < 8; k++) {
        kernel.launch({ grid: 1, block: columns / 2 }, out as never, given as never);
        await turn();
      }
      const expected = Int32Array.from({ length: rows * columns }, (_, at) => {
        const [r, i, c] = [Math.floor(at / columns), Math.floor((at % columns) / 2), at % 2];
        let sum = r * 10 + c;
        for (let k = 0; k < count; k++) sum += (x[r * count + k] as number) * (c + 1) + i;
        return sum;
      });
      expect(((await out.copyToHostAsync()) as unknown as { readonly data: Int32Array }).data).toEqual(expected);
    }
  });

  it('are forgotten with a device that is lost meanwhile', async () => {
    const kernel = cuda.jit((a: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i < a.length) a[i] = i;
    });
    const a = cuda.deviceArray(33, i32);
    await kernel.compileAsync(a);
    for (let k = 0; k <= LENGTHS.after; k++) kernel.launch({ threads: 33 }, a);
    expect(modules).toHaveLength(2);
    gpuDevice().destroy();
    await expect(cuda.synchronizeAsync()).rejects.toThrow(expect.objectContaining({ code: 'E_DEVICE_LOST' }));
    for (let k = 0; k < 20; k++) await turn();
    await cuda.open('webgpu');
    const b = cuda.deviceArray(33, i32);
    await kernel.compileAsync(b);
    for (let k = 0; k < 9; k++) kernel.launch({ threads: 33 }, b);
    expect(Array.from(await b.copyToHostAsync())).toEqual(Array.from(upTo(33)));
  });

  it('have what a failing thread reports', async () => {
    LENGTHS.after = 0;
    const store = cuda.jit(
      (a: Vec<i32>, k: i32) => {
        a[k] = 1;
      },
      { boundsCheck: true },
    );
    const a = cuda.deviceArray(4, i32);
    await store.compileAsync(a, cuda.scalar(i32, 0));
    store.launch({ grid: 1, block: 1 }, a, cuda.scalar(i32, 9));
    await expect(cuda.synchronizeAsync()).rejects.toThrow(/\b9\b/);
  });

  it('are none of a variant that the device refuses', async () => {
    const device = gpuDevice();
    const kernel = cuda.jit((a: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i < a.length) a[i] = (a[i] as number) + 1;
    });
    const a = cuda.toDevice(new Int32Array(70));
    await kernel.compileAsync(a);
    const real = vi.mocked(device.createShaderModule).getMockImplementation() as GpuDevice['createShaderModule'];
    vi.mocked(device.createShaderModule).mockImplementation((options) =>
      real(/, 70>/.test(options.code) ? { ...options, code: `${options.code} fn broken( {` } : options),
    );
    for (let k = 0; k < 20; k++) {
      kernel.launch({ threads: 70 }, a);
      await turn();
    }
    expect(Array.from(await a.copyToHostAsync())).toEqual(Array(70).fill(20));
    expect(modules.filter((code) => /, 70>/.test(code))).toHaveLength(1);
  });

  it('are compiled in a few times at most', async () => {
    const kernel = cuda.jit((a: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i < a.length) a[i] = i;
    });
    for (let length = 1; length <= 3 * LENGTHS.most; length++) {
      const a = cuda.deviceArray(length, i32);
      if (length === 1) await kernel.compileAsync(a);
      for (let k = 0; k < 2 * LENGTHS.after; k++) kernel.launch({ threads: length }, a);
      expect(Array.from(await a.copyToHostAsync())).toEqual(Array.from(upTo(length)));
    }
    expect(modules).toHaveLength(1 + LENGTHS.most);
  });
});

describe.skipIf(why !== undefined)('products of matrices on a processor', () => {
  it.each([
    [9, 9, 9],
    [16, 300, 5],
    [70, 65, 33],
    [33, 129, 64],
  ])('of %d × %d by %d steps are right, whatever their edges', async (m, n, k) => {
    await cuda.open('webgpu');
    const [a, b] = [
      Float32Array.from({ length: m * k }, (_, i) => (i * 7) % 11),
      Float32Array.from({ length: k * n }, (_, i) => (i * 5) % 13),
    ];
    const on = (data: Float32Array, shape: readonly [number, number]) => cuda.toDevice(ndarray(data, { shape }));
    const turned = on(
      Float32Array.from({ length: k * n }, (_, i) => b[(i % k) * n + Math.floor(i / k)] as number),
      [n, k],
    ).T;
    const expected = Float32Array.from({ length: m * n }, (_, i) => {
      let sum = 0;
      for (let q = 0; q < k; q++) sum += (a[Math.floor(i / n) * k + q] as number) * (b[q * n + (i % n)] as number);
      return sum;
    });
    for (const right of [on(b, [k, n]), turned]) {
      const got = await cuda.matmul.async(on(a, [m, k]), right as never);
      const host = (await (got as unknown as { copyToHostAsync(): Promise<{ data: Float32Array }> }).copyToHostAsync())
        .data;
      expect(host).toEqual(expected);
    }
  });
});

it.skipIf(why === undefined || !isRequired('webgpu'))('needs a WebGPU device that is a processor', () => {
  throw new Error(why);
});
