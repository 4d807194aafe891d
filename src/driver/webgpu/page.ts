/**
 * What a WebGPU device shares with the program beside it: its GPUDevice, buffers in and out, and pictures on a canvas, drawn from the buffer that they are in.
 */
import { TsambaTypeError } from '../../errors.ts';
import type { PageCalls, Picture, Pointer } from '../driver.ts';
import { type GpuBuffer, type GpuDevice, type GpuEncoder, type GpuPipeline, USAGE } from './api.ts';
import type { WebGpuMemory } from './memory.ts';

/** What is used of WebGPU's drawing. */
interface DrawingDevice extends GpuDevice {
  createRenderPipeline(options: object): GpuPipeline;
  createCommandEncoder(): GpuEncoder & { beginRenderPass(options: object): RenderPass };
}

interface RenderPass {
  setPipeline(pipeline: GpuPipeline): void;
  setBindGroup(index: number, group: object): void;
  draw(vertices: number): void;
  end(): void;
}

interface CanvasContext {
  configure(options: object): void;
  getCurrentTexture(): { createView(): object };
}

const NEEDED = USAGE.storage | USAGE.copySource | USAGE.copyTarget;

/** One triangle that covers the canvas; each of its pixels is read where it is in the buffer. */
const SHADER = `
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<uniform> place: vec4u; // pixels in a row, first word
@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
  return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn rgba8(@builtin(position) at: vec4f) -> @location(0) vec4f {
  return unpack4x8unorm(words[place.y + u32(at.y) * place.x + u32(at.x)]);
}
@fragment fn rgba32f(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let k = place.y + 4u * (u32(at.y) * place.x + u32(at.x));
  return clamp(bitcast<vec4f>(vec4u(words[k], words[k + 1u], words[k + 2u], words[k + 3u])), vec4f(0.0), vec4f(1.0));
}
`;

/** The format that a canvas is shown in at the least cost. */
function canvasFormat(): string {
  const { navigator } = globalThis as {
    readonly navigator?: { readonly gpu?: { getPreferredCanvasFormat?(): string } };
  };
  return navigator?.gpu?.getPreferredCanvasFormat?.() ?? 'bgra8unorm';
}

export class WebGpuPage implements PageCalls {
  readonly device: GpuDevice;
  readonly #memory: WebGpuMemory;
  readonly #enter: (api: string) => unknown;
  readonly #pipelines = new Map<string, GpuPipeline>();
  readonly #configured = new WeakSet<object>();

  /** `enter` throws where the device is gone. */
  constructor(device: GpuDevice, memory: WebGpuMemory, enter: (api: string) => unknown) {
    this.device = device;
    this.#memory = memory;
    this.#enter = enter;
  }

  bufferOf(pointer: Pointer): { readonly buffer: object; readonly offset: number } {
    return this.#memory.resolve(pointer, 0, 0, 'gpuBuffer');
  }

  adopt(given: unknown): { readonly pointer: number; readonly bytes: number; release(): void } {
    this.#enter('fromGpuBuffer');
    const buffer = given as GpuBuffer & { readonly usage?: unknown };
    const { size, usage } = typeof given === 'object' && given !== null ? buffer : { size: 0, usage: undefined };
    if (typeof usage !== 'number' || (usage & NEEDED) !== NEEDED) {
      throw new TsambaTypeError(
        'E_GPU_BUFFER',
        'fromGpuBuffer takes a GPUBuffer of cuda.gpuDevice() that has the usages STORAGE, COPY_SRC and COPY_DST',
      );
    }
    const pointer = this.#memory.adopt(buffer);
    return { pointer, bytes: size, release: () => this.#memory.free(pointer) };
  }

  present({ pointer, width, height: _, format }: Picture, context: object): void {
    this.#enter('present');
    const device = this.device as DrawingDevice;
    const canvas = context as CanvasContext;
    const shown = canvasFormat();
    if (!this.#configured.has(context)) {
      canvas.configure({ device, format: shown, alphaMode: 'opaque' });
      this.#configured.add(context);
    }
    const pipeline = this.#pipeline(format, shown);
    const { buffer, offset } = this.#memory.resolve(pointer, 0, 0, 'present');
    const place = device.createBuffer({ size: 16, usage: USAGE.uniform | USAGE.copyTarget });
    device.queue.writeBuffer(place, 0, new Uint8Array(Uint32Array.of(width, offset / 4, 0, 0).buffer));
    const entries = [buffer, place].map((one, binding) => ({ binding, resource: { buffer: one } }));
    const encoder = device.createCommandEncoder();
    const view = canvas.getCurrentTexture().createView();
    const pass = encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: 'clear', storeOp: 'store' }] });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.draw(3);
    pass.end();
    device.queue.submit([encoder.finish()]);
    place.destroy();
  }

  #pipeline(entryPoint: string, format: string): GpuPipeline {
    const known = this.#pipelines.get(`${entryPoint}/${format}`);
    if (known !== undefined) return known;
    const device = this.device as DrawingDevice;
    const module = device.createShaderModule({ code: SHADER, label: 'present' });
    const made = device.createRenderPipeline({
      layout: 'auto',
      vertex: { module, entryPoint: 'corner' },
      fragment: { module, entryPoint, targets: [{ format }] },
    });
    this.#pipelines.set(`${entryPoint}/${format}`, made);
    return made;
  }
}
