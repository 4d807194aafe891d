/**
 * Launches of WGSL by hand on the device that Tsamba has opened: a pass for each launch in one encoder, which is submitted when somebody waits.
 */
import { cuda } from 'tsamba';
import { type GpuBuffer, type GpuDevice, type GpuEncoder, USAGE } from '../../src/driver/webgpu/api.ts';
import type { Handwritten } from './handwritten.ts';

interface OnGpu {
  readonly gpuBuffer: GpuBuffer;
  readonly gpuOffset: number;
  readonly nbytes: number;
}

export interface RawLaunch {
  launch(): void;
  done(): Promise<void>;
}

export async function prepare(
  { text, grid, rest }: Handwritten,
  arrays: readonly object[],
  scale: number,
): Promise<RawLaunch> {
  const device = cuda.gpuDevice() as unknown as GpuDevice;
  const numbers = rest(scale);
  const data = new DataView(new ArrayBuffer(16 * Math.ceil(numbers.length / 4)));
  numbers.forEach(({ type, value }, k) => {
    if (type === 'f32') data.setFloat32(4 * k, value, true);
    else data.setInt32(4 * k, value, true);
  });
  const uniform = device.createBuffer({ size: data.byteLength, usage: USAGE.uniform | USAGE.copyTarget });
  device.queue.writeBuffer(uniform, 0, new Uint8Array(data.buffer));
  device.pushErrorScope('validation');
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code: text }), entryPoint: 'main' },
  });
  const buffers = (arrays as readonly OnGpu[]).map(({ gpuBuffer, gpuOffset, nbytes }, binding) => ({
    binding,
    resource: { buffer: gpuBuffer, offset: gpuOffset, size: nbytes },
  }));
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [...buffers, { binding: buffers.length, resource: { buffer: uniform } }],
  });
  const error = await device.popErrorScope();
  if (error !== null) throw new Error(error.message);
  const [x, y] = grid(scale);
  let encoder: GpuEncoder | undefined;
  return {
    launch() {
      encoder ??= device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(x, y, 1);
      pass.end();
    },
    async done() {
      if (encoder !== undefined) device.queue.submit([encoder.finish()]);
      encoder = undefined;
      await device.queue.onSubmittedWorkDone();
    },
  };
}
