/**
 * Pipelines and what is bound to them: the text of a module, and buffers. Binding 0 is the uniform buffer of the batch, at an offset that each dispatch names.
 */
import { type GpuBuffer, type GpuDevice, SHADER_STAGE_COMPUTE } from './api.ts';
import type { Batch, Pipeline } from './batch.ts';

/** What stands at a place of group 0, behind the first. */
export type BindingKind = 'read-only-storage' | 'storage';

/** Makes a pipeline; what is wrong with it, the device says later, to the error scope around this. `bytes` are those of binding 0. */
export function pipelineOf(
  device: GpuDevice,
  code: string,
  entryPoint: string,
  bytes: number,
  kinds: readonly BindingKind[],
): Pipeline {
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
  const pipeline = device.createComputePipeline({
    label: entryPoint,
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint },
  });
  return { pipeline, layout, proven: false };
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
