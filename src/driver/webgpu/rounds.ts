/**
 * Whether an adapter runs loops to their ends. llvmpipe, which Mesa brings for processors, lets all loops of a thread make 65,535 rounds together, leaves them then as if
 * their conditions said so, and reports nothing. A device that would give wrong results is refused when it is opened.
 */
import { NotSupportedError } from '../../errors.ts';
import { type GpuDevice, MAP_READ, SHADER_STAGE_COMPUTE, USAGE } from './api.ts';

const WANTED = 70_000;

/** Reads how many rounds it shall make, so that no compiler knows. */
const CODE = `@group(0) @binding(0) var<storage, read_write> rounds: array<u32, 2>;
@compute @workgroup_size(1)
fn count() {
  var n = 0u;
  loop {
    if (n == rounds[0]) { break; }
    n += 1u;
  }
  rounds[1] = n;
}`;

/** Has the device count. Answers with the error with which it is to be refused, if it ends loops early. */
export function loopsCutBy(device: GpuDevice, name: string): PromiseLike<NotSupportedError | undefined> {
  return roundsMade(device).then((rounds) =>
    rounds === WANTED
      ? undefined
      : new NotSupportedError(
          'E_NO_DEVICE',
          `there is no WebGPU device that computes right: ${name} leaves the loops of a kernel after ${rounds.toLocaleString('en')} rounds, finished or not; ` +
            "cuda.selectDevice('cpu') runs on the same processor, and SwiftShader is a software adapter without this fault",
        ),
  );
}

function roundsMade(device: GpuDevice): PromiseLike<number> {
  const size = 8;
  const buffer = device.createBuffer({ size, usage: USAGE.storage | USAGE.copySource | USAGE.copyTarget });
  const answer = device.createBuffer({ size, usage: USAGE.mapRead | USAGE.copyTarget });
  const layout = device.createBindGroupLayout({
    entries: [{ binding: 0, visibility: SHADER_STAGE_COMPUTE, buffer: { type: 'storage' } }],
  });
  const pipeline = device.createComputePipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module: device.createShaderModule({ code: CODE, label: 'rounds' }), entryPoint: 'count' },
  });
  device.queue.writeBuffer(buffer, 0, new Uint8Array(Uint32Array.of(WANTED, 0).buffer));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] }));
  pass.dispatchWorkgroups(1, 1, 1);
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, answer, 0, size);
  device.queue.submit([encoder.finish()]);
  return answer.mapAsync(MAP_READ, 0, size).then(() => {
    const rounds = new Uint32Array(answer.getMappedRange(0, size))[1] as number;
    for (const each of [buffer, answer]) each.destroy();
    return rounds;
  });
}
