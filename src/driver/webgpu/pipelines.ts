/**
 * Pipelines and what is bound to them: the text of a module, and buffers. Binding 0 is the uniform buffer of the batch, at an offset that each dispatch names.
 */
import { type GpuBuffer, type GpuDevice, type GpuError, SHADER_STAGE_COMPUTE } from './api.ts';
import type { Batch, Pipeline } from './batch.ts';

/** What stands at a place of group 0, behind the first. */
export type BindingKind = 'read-only-storage' | 'storage';

type Wanted = readonly [code: string, entryPoint: string, bytes: number, kinds: readonly BindingKind[]];

/** Makes a pipeline; what is wrong with it, the device says later, to the error scope around this. `bytes` are those of binding 0. */
export function pipelineOf(device: GpuDevice, ...wanted: Wanted): Pipeline {
  const { layout, options } = described(device, ...wanted);
  return { pipeline: device.createComputePipeline(options), layout, proven: false };
}

/** A pipeline that the device has accepted, while it goes on with its work; undefined where it refuses. */
export function pipelineLater(device: GpuDevice, ...wanted: Wanted): PromiseLike<Pipeline | undefined> {
  device.pushErrorScope('validation');
  const { layout, options } = described(device, ...wanted);
  const making = Promise.resolve(device.createComputePipelineAsync?.(options) ?? device.createComputePipeline(options));
  // A device that is gone refuses both.
  making.catch(() => undefined);
  const accepted = (error: GpuError | null): Promise<Pipeline | undefined> =>
    error === null ? making.then((pipeline) => ({ pipeline, layout, proven: true })) : Promise.resolve(undefined);
  return device.popErrorScope().then(accepted);
}

function described(
  device: GpuDevice,
  ...[code, entryPoint, bytes, kinds]: Wanted
): { readonly layout: object; readonly options: object } {
  const module = device.createShaderModule({ code, label: entryPoint });
  const storage = kinds.map((type, k) => ({
    binding: k + 1,
    visibility: SHADER_STAGE_COMPUTE,
    buffer: { type },
  }));
  const uniform = { type: 'uniform', hasDynamicOffset: true, minBindingSize: bytes };
  const layout = device.createBindGroupLayout({
    entries: [{ binding: 0, visibility: SHADER_STAGE_COMPUTE, buffer: uniform }, ...storage],
  });
  const options = {
    label: entryPoint,
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint },
  };
  return { layout, options };
}

/** Binds buffers to a pipeline; `bytes` are those of binding 0. */
export function groupOf(
  device: GpuDevice,
  batch: Batch,
  { layout }: Pipeline,
  bytes: number,
  buffers: readonly GpuBuffer[],
): object {
  const storage = buffers.map((buffer, k) => ({ binding: k + 1, resource: { buffer } }));
  const uniform = { binding: 0, resource: { buffer: batch.uniform, offset: 0, size: bytes } };
  return device.createBindGroup({ layout, entries: [uniform, ...storage] });
}
