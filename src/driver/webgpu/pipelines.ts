/**
 * Pipelines and dispatches: the text of a module with what it binds, run over buffers.
 */
import { type GpuBuffer, type GpuDevice, type GpuEncoder, type GpuPipeline, SHADER_STAGE_COMPUTE } from './api.ts';

/** What stands at a place of group 0. */
export type BindingKind = 'uniform' | 'read-only-storage' | 'storage';

export interface Pipeline {
  readonly pipeline: GpuPipeline;
  readonly layout: object;
}

/** Makes a pipeline; what is wrong with it, the device says later, to the error scope around this. */
export function pipelineOf(
  device: GpuDevice,
  code: string,
  entryPoint: string,
  kinds: readonly BindingKind[],
): Pipeline {
  const module = device.createShaderModule({ code, label: entryPoint });
  const layout = device.createBindGroupLayout({
    entries: kinds.map((type, binding) => ({ binding, visibility: SHADER_STAGE_COMPUTE, buffer: { type } })),
  });
  const pipeline = device.createComputePipeline({
    label: entryPoint,
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint },
  });
  return { pipeline, layout };
}

export function dispatch(
  device: GpuDevice,
  encoder: GpuEncoder,
  { pipeline, layout }: Pipeline,
  buffers: readonly GpuBuffer[],
  [x, y, z]: readonly [number, number, number],
): void {
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
  pass.dispatchWorkgroups(x, y, z);
  pass.end();
}
