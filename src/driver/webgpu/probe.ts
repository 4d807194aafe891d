/**
 * Runs a little program on a device that is being opened.
 */
import { type GpuDevice, MAP_READ, SHADER_STAGE_COMPUTE, USAGE } from './api.ts';

/** Runs one workgroup of `main`, which finds `words` in the storage buffer of binding 0, and gives what it leaves there. `code` has all but the declaration of the words. */
export function probe(device: GpuDevice, code: string, words: Uint32Array): PromiseLike<Uint32Array> {
  const size = words.byteLength;
  const buffer = device.createBuffer({ size, usage: USAGE.storage | USAGE.copySource | USAGE.copyTarget });
  const answer = device.createBuffer({ size, usage: USAGE.mapRead | USAGE.copyTarget });
  const layout = device.createBindGroupLayout({
    entries: [{ binding: 0, visibility: SHADER_STAGE_COMPUTE, buffer: { type: 'storage' } }],
  });
  const module = device.createShaderModule({
    code: `${code}\n@group(0) @binding(0) var<storage, read_write> words: array<u32, ${words.length}>;`,
    label: 'probe',
  });
  const pipeline = device.createComputePipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: 'main' },
  });
  device.queue.writeBuffer(buffer, 0, new Uint8Array(words.buffer));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] }));
  pass.dispatchWorkgroups(1, 1, 1);
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, answer, 0, size);
  device.queue.submit([encoder.finish()]);
  return answer.mapAsync(MAP_READ, 0, size).then(() => {
    const found = new Uint32Array(answer.getMappedRange(0, size)).slice();
    for (const each of [buffer, answer]) each.destroy();
    return found;
  });
}
