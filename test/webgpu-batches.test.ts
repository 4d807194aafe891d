/**
 * Launches and copies that WebGPU's driver records and submits together: their order, their faults, and what is kept of them. Skipped where there is no adapter, unless TSAMBA_TEST_REQUIRE
 * names `webgpu`.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type GpuBuffer, type GpuDevice, USAGE } from '../src/driver/webgpu/api.ts';
import { cuda, f32, type In, i32, type Vec } from '../src/index.ts';
import { isRequired } from '../src/required.testing.ts';
import { preferSwiftShader, whyNoWebgpu } from './support/webgpu.ts';

preferSwiftShader();

const why = await whyNoWebgpu(({ cuda }) => cuda.open('webgpu'));

const add = cuda.jit((sum: Vec<i32>, by: In<Vec<i32>>) => {
  sum[0] = (sum[0] as number) + (by[0] as number);
});
const store = cuda.jit(
  (a: Vec<i32>, at: i32) => {
    a[at] = at;
  },
  { boundsCheck: true },
);
const ONE = { grid: 1, block: 1 } as const;
const at = (k: number) => cuda.scalar(i32, k);

function gpuDevice(): GpuDevice {
  return cuda.gpuDevice() as unknown as GpuDevice;
}

describe.skipIf(why !== undefined)('what is recorded', () => {
  beforeEach(async () => {
    await cuda.open('webgpu');
    const [a, b] = [cuda.deviceArray(1, i32), cuda.deviceArray(1, i32)];
    await Promise.all([add.compileAsync(a, b), store.compileAsync(a, at(0))]);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('comes in the order of the calls, with what the host writes between launches', async () => {
    const sum = cuda.toDevice(new Int32Array(1));
    const by = cuda.deviceArray(4096, i32);
    let expected = 0;
    for (let k = 1; k <= 100; k++) {
      // Small ones are recorded, large ones are not, and a single element is a part of a buffer.
      const host = new Int32Array(k % 3 === 0 ? 4096 : 1).fill(k);
      by.slice([0, host.length]).copyToDevice(host);
      add.launch(ONE, sum, by);
      expected += k;
      if (k % 10 === 0) by.set(0);
    }
    expect(Array.from(await sum.copyToHostAsync())).toEqual([expected]);
  });

  it('has the fault of the launch that failed, and nothing of those beside it', async () => {
    const [a, before, behind] = [cuda.deviceArray(4, i32), cuda.stream(), cuda.stream()];
    for (let k = 0; k < 3; k++) store.launch({ ...ONE, stream: before }, a, at(k));
    store.launch(ONE, a, at(7));
    for (let k = 3; k < 4; k++) store.launch({ ...ONE, stream: behind }, a, at(k));
    const [first, last] = await Promise.allSettled([before.done(), behind.done()]);
    expect([first.status, last.status]).toEqual(['fulfilled', 'fulfilled']);
    await expect(cuda.synchronizeAsync()).rejects.toThrow(/index 7|7 .*4/);
    expect(Array.from(await a.copyToHostAsync())).toEqual([0, 1, 2, 3]);
  });

  it('has the fault of a launch that is followed by many of other modules', async () => {
    const a = cuda.deviceArray(4, i32);
    // With the last launch, 1024 numbers of launches lie between two of `store`: they fall on the same record.
    for (const launches of [0, 511, 511, 1]) {
      const other = cuda.jit(
        (x: Vec<i32>, k: i32) => {
          x[k] = 1;
        },
        { boundsCheck: true },
      );
      await other.compileAsync(a, at(0));
      if (launches === 0) store.launch(ONE, a, at(9));
      for (let k = 0; k < launches; k++) other.launch(ONE, a, at(k & 3));
    }
    store.launch(ONE, a, at(8));
    await expect(cuda.synchronizeAsync()).rejects.toThrow(/\b9\b[\s\S]*1 later launch/);
  });

  it('loses nothing where a kernel is refused', async () => {
    const device = gpuDevice() as GpuDevice & { createShaderModule: GpuDevice['createShaderModule'] };
    const [sum, by] = [cuda.toDevice(new Int32Array(1)), cuda.toDevice(Int32Array.of(1))];
    const broken = cuda.jit((a: Vec<i32>) => {
      a[0] = 1000;
    });
    await broken.compileAsync(sum);
    add.launch(ONE, sum, by);
    const made = vi.spyOn(device, 'createShaderModule').mockImplementation(function (this: GpuDevice, options) {
      return GPU_MODULE.call(this, { ...options, code: `${options.code} fn broken( {` });
    });
    broken.launch(ONE, sum);
    made.mockRestore();
    for (let k = 0; k < 40; k++) add.launch(ONE, sum, by);
    broken.launch(ONE, sum);
    add.launch(ONE, sum, by);
    await expect(cuda.synchronizeAsync()).rejects.toThrow(expect.objectContaining({ code: 'E_BUILD_FAILED' }));
    expect(Array.from(await sum.copyToHostAsync())).toEqual([42]);
  });

  it('is bounded, and makes nothing anew for each launch', async () => {
    const device = gpuDevice();
    const [sum, by] = [cuda.toDevice(new Int32Array(1)), cuda.toDevice(Int32Array.of(1))];
    const swapped = cuda.toDevice(new Int32Array(1));
    for (const one of [sum, swapped]) add.launch(ONE, one, by);
    await cuda.synchronizeAsync();
    const buffers = vi.spyOn(device, 'createBuffer');
    const groups = vi.spyOn(device, 'createBindGroup');
    const encoders = vi.spyOn(device, 'createCommandEncoder');
    for (let k = 0; k < 3000; k++) add.launch(ONE, k % 2 === 0 ? sum : swapped, by);
    expect(buffers).not.toHaveBeenCalled();
    expect(groups).not.toHaveBeenCalled();
    expect(encoders.mock.calls.length).toBeGreaterThan(3000 / 64);
    expect(encoders.mock.calls.length).toBeLessThan(3000 / 16);
    expect(Array.from(await sum.copyToHostAsync())).toEqual([1501]);
    expect(Array.from(await swapped.copyToHostAsync())).toEqual([1501]);
  });

  it('uses memory that is given up behind it', async () => {
    const sum = cuda.toDevice(new Int32Array(1));
    for (let k = 1; k <= 200; k++) {
      const by = cuda.toDevice(Int32Array.of(k));
      add.launch(ONE, sum, by);
      by.dispose();
    }
    expect(Array.from(await sum.copyToHostAsync())).toEqual([20_100]);
  });

  it('comes before what the program itself submits, and what it destroys', async () => {
    const device = gpuDevice();
    const [sum, by] = [cuda.toDevice(new Int32Array(1)), cuda.toDevice(Int32Array.of(1))];
    const usage = USAGE.storage | USAGE.copySource | USAGE.copyTarget;
    const [own, second] = [device.createBuffer({ size: 16, usage }), device.createBuffer({ size: 16, usage })];
    for (let k = 0; k < 3; k++) add.launch(ONE, sum, by);
    const { gpuBuffer, gpuOffset } = sum as unknown as { readonly gpuBuffer: GpuBuffer; readonly gpuOffset: number };
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(gpuBuffer, gpuOffset, own, 0, 4);
    device.queue.submit([encoder.finish()]);
    add.launch(ONE, sum, by);
    const seen = cuda.fromGpuBuffer(own as never, { shape: 1, dtype: i32 });
    expect(Array.from((await seen.copyToHostAsync()) as Int32Array)).toEqual([3]);
    const adopted = cuda.fromGpuBuffer(second as never, { shape: 1, dtype: i32 });
    add.launch(ONE, sum, by);
    add.launch(ONE, adopted as never, by);
    adopted.dispose();
    second.destroy();
    add.launch(ONE, sum, by);
    expect(Array.from(await sum.copyToHostAsync())).toEqual([6]);
    seen.dispose();
    own.destroy();
  });

  it('begins by itself, without anybody who waits', async () => {
    const device = gpuDevice();
    const submitted = vi.spyOn(device, 'createCommandEncoder');
    const [sum, by] = [cuda.toDevice(new Int32Array(1)), cuda.toDevice(Int32Array.of(1))];
    for (let k = 0; k < 6; k++) add.launch(ONE, sum, by);
    const before = submitted.mock.calls.length;
    await Promise.resolve();
    add.launch(ONE, sum, by);
    // What was recorded before is in another encoder.
    expect(submitted.mock.calls.length).toBe(before + 1);
    await cuda.synchronizeAsync();
  });

  it('adds up many numbers as the host does', async () => {
    const scale = cuda.jit((a: Vec<f32>, by: f32) => {
      const i = cuda.grid(1);
      if (i < a.length) a[i] = (a[i] as number) * by;
    });
    const a = cuda.toDevice(Float32Array.from({ length: 1000 }, (_, k) => k));
    await scale.compileAsync(a, cuda.scalar(f32, 1));
    for (let k = 0; k < 64; k++) scale.launch({ threads: 1000 }, a, cuda.scalar(f32, k % 2 === 0 ? 2 : 0.5));
    expect(Array.from(await a.copyToHostAsync())).toEqual(Array.from({ length: 1000 }, (_, k) => k));
  });
});

const GPU_MODULE: (this: GpuDevice, options: { readonly code: string }) => object =
  why === undefined ? Object.getPrototypeOf(cuda.gpuDevice()).createShaderModule : () => ({});

it.skipIf(why === undefined || !isRequired('webgpu'))('needs a WebGPU device', () => {
  throw new Error(why);
});
