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
      'faults',
      'host memory',
    ],
    lacks: WEBGPU_LACKS,
    without: BEYOND_SWIFTSHADER,
  });

  it('tells who waits that the device is lost, and is opened anew', async () => {
    const { cuda } = await import('../src/index.ts');
    const { RemoteDevice } = await import('../src/driver/webgpu/remote.ts');
    cuda.close();
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
