/**
 * What a WebGPU device shares with the program beside it: its GPUDevice, buffers in and out, and pictures on a canvas, drawn from the buffer that they are in.
 */
import { TsambaTypeError } from '../../errors.ts';
import type { PageCalls, Picture, Pointer } from '../driver.ts';
import { type GpuBuffer, type GpuDevice, type GpuEncoder, type GpuPipeline, type GpuQueue, USAGE } from './api.ts';
import type { Batch } from './batch.ts';
import type { WebGpuMemory } from './memory.ts';

/** What is used of WebGPU's drawing. */
interface DrawingDevice extends GpuDevice {
  createRenderPipeline(options: object): GpuPipeline;
}

interface Rendering {
  beginRenderPass(options: object): RenderPass;
}

interface RenderPass {
  setPipeline(pipeline: GpuPipeline): void;
  setBindGroup(index: number, group: object, offsets: readonly number[]): void;
  draw(vertices: number): void;
  end(): void;
}

interface CanvasContext {
  configure(options: object): void;
  getCurrentTexture(): { createView(): object };
}

/** What draws pictures of one format, and what it was last given. */
interface Drawing {
  readonly pipeline: GpuPipeline;
  readonly layout: object;
  buffer: GpuBuffer | undefined;
  group: object | undefined;
}

const QUEUE_CALLS: readonly string[] = [
  'submit',
  'writeBuffer',
  'writeTexture',
  'copyExternalImageToTexture',
  'onSubmittedWorkDone',
];

/** Has the calls of a queue that the program sees as well send what Tsamba has recorded before. */
export function sendBefore(queue: GpuQueue, send: () => void): void {
  const calls = queue as unknown as Record<string, ((...args: unknown[]) => unknown) | undefined>;
  for (const name of QUEUE_CALLS) {
    const own = calls[name];
    if (own === undefined) continue;
    const value = (...args: unknown[]): unknown => {
      send();
      return own.apply(queue, args);
    };
    Object.defineProperty(queue, name, { value, configurable: true, writable: true });
  }
}

const SHADER_STAGE_FRAGMENT = 2;

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
  readonly #batch: Batch;
  readonly #enter: (api: string) => unknown;
  readonly #drawings = new Map<string, Drawing>();
  readonly #place = new Uint32Array(4);
  readonly #configured = new WeakSet<object>();

  /** `enter` throws where the device is gone. */
  constructor(device: GpuDevice, memory: WebGpuMemory, batch: Batch, enter: (api: string) => unknown) {
    this.device = device;
    this.#memory = memory;
    this.#batch = batch;
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
    const drawing = this.#drawing(format, shown);
    const { buffer, offset } = this.#memory.resolve(pointer, 0, 0, 'present');
    if (drawing.buffer !== buffer) drawing.group = this.#group(drawing.layout, buffer);
    drawing.buffer = buffer;
    this.#place.set([width, offset / 4]);
    const view = canvas.getCurrentTexture().createView();
    this.#batch.encode((encoder, at) => {
      const pass = (encoder as GpuEncoder & Rendering).beginRenderPass({
        colorAttachments: [{ view, loadOp: 'clear', storeOp: 'store' }],
      });
      pass.setPipeline(drawing.pipeline);
      pass.setBindGroup(0, drawing.group as object, [at]);
      pass.draw(3);
      pass.end();
    }, new Uint8Array(this.#place.buffer));
    this.#batch.flush();
  }

  #group(layout: object, buffer: GpuBuffer): object {
    return this.device.createBindGroup({
      layout,
      entries: [
        { binding: 0, resource: { buffer } },
        { binding: 1, resource: { buffer: this.#batch.uniform, size: this.#place.byteLength } },
      ],
    });
  }

  #drawing(entryPoint: string, format: string): Drawing {
    const known = this.#drawings.get(`${entryPoint}/${format}`);
    if (known !== undefined) return known;
    const device = this.device as DrawingDevice;
    const module = device.createShaderModule({ code: SHADER, label: 'present' });
    const visibility = SHADER_STAGE_FRAGMENT;
    const layout = device.createBindGroupLayout({
      entries: [
        { binding: 0, visibility, buffer: { type: 'read-only-storage' } },
        { binding: 1, visibility, buffer: { type: 'uniform', hasDynamicOffset: true } },
      ],
    });
    const pipeline = device.createRenderPipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      vertex: { module, entryPoint: 'corner' },
      fragment: { module, entryPoint, targets: [{ format }] },
    });
    const made: Drawing = { pipeline, layout, buffer: undefined, group: undefined };
    this.#drawings.set(`${entryPoint}/${format}`, made);
    return made;
  }
}
