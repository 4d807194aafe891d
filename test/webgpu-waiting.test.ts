/**
 * WebGPU for a thread that waits: the device in a thread of its own, by Dawn. The chapters of the suite that wait, and what is told of faults and of a device that is lost. Skipped where there
 * is no adapter, unless TSAMBA_TEST_REQUIRE names `webgpu`.
 */
import { describe, expect, it, vi } from 'vitest';
import type { GpuDevice } from '../src/driver/webgpu/api.ts';
import type { f32, Vec } from '../src/index.ts';
import { isRequired } from '../src/required.testing.ts';
import { defineConformance } from './support/conformance.ts';
import { WEBGPU_LACKS } from './support/lacking.ts';
import { BEYOND_SWIFTSHADER } from './support/swiftshader.ts';
import { preferSwiftShader, whyNoWebgpu } from './support/webgpu.ts';

preferSwiftShader();

const why = await whyNoWebgpu(({ cuda }) => cuda.selectDevice('webgpu'));

describe.skipIf(why !== undefined)('a device that is waited for', async () => {
  if (why !== undefined) return;
  await defineConformance({
    title: 'webgpu, waited for',
    device: 'webgpu',
    chapters: process.env['TSAMBA_TEST_CHAPTERS']?.split(',') ?? [
      'launch',
      'streams and events',
      'asynchronous launches and timeouts',
      'faults',
      'host memory',
      'sizes',
      'roc memory',
    ],
    lacks: WEBGPU_LACKS,
    without: BEYOND_SWIFTSHADER,
  });

  it('tells who asks in a loop when it has come so far', async () => {
    const { cuda } = await import('../src/index.ts');
    const d = cuda.toDevice(new Float32Array(1000));
    const count = cuda.jit((a: Vec<f32>) => {
      const i = cuda.grid(1);
      for (let k = 0; k < 1000; k++) a[i]! += 1;
    });
    const stream = cuda.stream();
    const mark = cuda.event();
    const asks = (query: () => boolean): boolean => {
      const until = performance.now() + 20_000;
      while (!query()) if (performance.now() > until) return false;
      return true;
    };
    count.launch({ grid: 10, block: 100, stream }, d);
    mark.record(stream);
    expect(asks(() => mark.query())).toBe(true);
    count.launch({ grid: 10, block: 100, stream }, d);
    expect(asks(() => stream.query())).toBe(true);
    expect(d.copyToHost()).toEqual(new Float32Array(1000).fill(2000));
  });

  it('tells who waits that the device is lost, and is opened anew', async () => {
    const { cuda, roc } = await import('../src/index.ts');
    const { RemoteDevice } = await import('../src/driver/webgpu/remote.ts');
    cuda.close();
    roc.close();
    const opened = vi.spyOn(RemoteDevice, 'open');
    const d = cuda.toDevice(Float32Array.of(1, 2, 3));
    const addOne = cuda.jit((a: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < a.length) a[i]! += 1;
    });
    addOne.launch({ threads: 3 }, d);
    expect(Array.from(d.copyToHost())).toEqual([2, 3, 4]);
    // What the device's thread cannot make is the end of the device.
    const device: GpuDevice = opened.mock.results[0]?.value;
    device.createBuffer({ size: -1, usage: 128 });
    expect(() => d.copyToHost()).toThrow(expect.objectContaining({ code: 'E_DEVICE_LOST' }));
    cuda.close();
    const again = cuda.toDevice(Float32Array.of(1, 2, 3));
    addOne.launch({ threads: 3 }, again);
    expect(Array.from(again.copyToHost())).toEqual([2, 3, 4]);
  });
});

it.skipIf(why === undefined || !isRequired('webgpu'))('needs a WebGPU device', () => {
  throw new Error(why);
});
