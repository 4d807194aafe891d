/**
 * What a WebGPU device shares with the program beside it: its GPUDevice, buffers in and out, pictures on a canvas, drawn from the buffer that they are in, and pictures of the page, copied to a
 * buffer.
 */
import { DriverError, TsambaTypeError } from '../../errors.ts';
import type { ImagePlace, Largest, PageCalls, Picture, Pointer } from '../driver.ts';
import { type GpuBuffer, type GpuDevice, type GpuEncoder, type GpuPipeline, type GpuQueue, USAGE } from './api.ts';
import type { Batch } from './batch.ts';
import type { Location, WebGpuMemory } from './memory.ts';

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

interface GpuTexture {
  readonly usage: number;
  readonly dimension: string;
  readonly sampleCount: number;
  readonly format: string;
  createView(options?: object): object;
  destroy(): void;
}

/** What is used of textures. */
interface ReadingDevice extends GpuDevice {
  createTexture(options: object): GpuTexture;
  readonly queue: GpuDevice['queue'] & {
    copyExternalImageToTexture(source: object, target: object, size: readonly number[]): void;
  };
}

interface CanvasContext {
  configure(options: object): void;
  /** Not in all browsers. */
  getConfiguration?(): { readonly device: object; readonly format: string } | null;
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

const WANTED = 'fromGpuBuffer takes a GPUBuffer of cuda.gpuDevice() that has the usages STORAGE, COPY_SRC and COPY_DST';

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

const READER = `
@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@group(0) @binding(2) var<uniform> place: vec4u; // width, height, first word
@compute @workgroup_size(8, 8) fn bytes(@builtin(global_invocation_id) at: vec3u) {
  if (at.x >= place.x || at.y >= place.y) { return; }
  words[place.z + at.y * place.x + at.x] = pack4x8unorm(textureLoad(image, at.xy, 0));
}
@compute @workgroup_size(8, 8) fn floats(@builtin(global_invocation_id) at: vec3u) {
  if (at.x >= place.x || at.y >= place.y) { return; }
  let k = place.z + 4u * (at.y * place.x + at.x);
  let pixel = bitcast<vec4u>(textureLoad(image, at.xy, 0));
  words[k] = pixel.x;
  words[k + 1u] = pixel.y;
  words[k + 2u] = pixel.z;
  words[k + 3u] = pixel.w;
}
`;

/** GPUTextureUsage: COPY_DST, TEXTURE_BINDING and RENDER_ATTACHMENT. */
const TEXTURE = { copyTarget: 2, binding: 4, attachment: 16 } as const;
/** Formats that can be read, and what their pixels become. */
const FORMATS: ReadonlyMap<string, 'bytes' | 'floats'> = new Map([
  ['rgba8unorm', 'bytes'],
  ['bgra8unorm', 'bytes'],
  ['rgba16float', 'floats'],
  ['rgba32float', 'floats'],
]);

let preferred: string | undefined;

/** The format that a canvas is shown in at the least cost; asked for once. */
function canvasFormat(): string {
  preferred ??= askedFormat();
  return preferred;
}

function askedFormat(): string {
  const { navigator } = globalThis as {
    readonly navigator?: { readonly gpu?: { getPreferredCanvasFormat?(): string } };
  };
  return navigator?.gpu?.getPreferredCanvasFormat?.() ?? 'bgra8unorm';
}

/** How a texture is read. Throws TypeError for one that cannot be. */
function readable({ format, usage, dimension, sampleCount }: GpuTexture): string {
  const entryPoint = FORMATS.get(format);
  if (entryPoint !== undefined && dimension === '2d' && sampleCount === 1 && (usage & TEXTURE.binding) !== 0)
    return entryPoint;
  throw new TsambaTypeError(
    'E_IMAGE',
    `a GPUTexture must be two-dimensional, with one sample, the usage TEXTURE_BINDING and a format of ${[...FORMATS.keys()].join(', ')}; this is ` +
      `${dimension}, has ${sampleCount} samples, the usages ${usage} and the format ${format}`,
  );
}

/** The device's queue, as far as it is used here. */
interface QueueOfPage {
  readonly batch: Batch;
  /** Throws where the device is gone. */
  enter(api: string): unknown;
  /** Posts what the device refuses of commands that are given to it. */
  watched(give: () => void, errorOf: (text: string) => DriverError): void;
}

export class WebGpuPage implements PageCalls {
  readonly device: GpuDevice;
  readonly largestPicture: Largest;
  readonly #memory: WebGpuMemory;
  readonly #queue: QueueOfPage;
  readonly #batch: Batch;
  readonly #drawings = new Map<string, Drawing>();
  readonly #readers = new Map<string, GpuPipeline>();
  readonly #place = new Uint32Array(4);
  readonly #configured = new WeakSet<object>();

  constructor(device: GpuDevice, memory: WebGpuMemory, queue: QueueOfPage) {
    this.device = device;
    this.largestPicture = { side: device.limits.maxTextureDimension2D, pixels: Number.POSITIVE_INFINITY };
    this.#memory = memory;
    this.#queue = queue;
    this.#batch = queue.batch;
  }

  bufferOf(pointer: Pointer): { readonly buffer: object; readonly offset: number } {
    return this.#memory.resolve(pointer, 0, 0, 'gpuBuffer');
  }

  adopt(given: unknown): { readonly pointer: number; readonly bytes: number; release(): void } {
    this.#queue.enter('fromGpuBuffer');
    const buffer = given as GpuBuffer & { readonly usage?: unknown };
    const { size, usage } = typeof given === 'object' && given !== null ? buffer : { size: 0, usage: undefined };
    if (typeof usage !== 'number' || (usage & NEEDED) !== NEEDED) {
      throw new TsambaTypeError('E_GPU_BUFFER', WANTED);
    }
    // Known later, and nothing else says so: not even WebGPU, where the buffer is bound.
    const use = (): void => {
      const encoder = this.device.createCommandEncoder();
      encoder.clearBuffer(buffer, 0, 0);
      encoder.finish();
    };
    this.#queue.watched(use, (text) => new DriverError('E_GPU_BUFFER', `${WANTED}: ${text}`));
    const pointer = this.#memory.adopt(buffer);
    return { pointer, bytes: size, release: () => this.#memory.free(pointer) };
  }

  present({ pointer, width, height: _, format }: Picture, context: object): void {
    this.#queue.enter('present');
    const device = this.device as DrawingDevice;
    const canvas = context as CanvasContext;
    const shown = canvasFormat();
    if (!this.#isOurs(canvas, shown)) {
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
    // The browser takes the canvas at the end of its turn; nobody waits here, so that what draws a picture and what shows it are submitted together from the second frame on.
    this.#batch.send();
  }

  /** Whether a canvas shows what this device draws: a program may have given it up, or to another device, where the browser tells. */
  #isOurs(canvas: CanvasContext, format: string): boolean {
    if (!this.#configured.has(canvas)) return false;
    if (canvas.getConfiguration === undefined) return true;
    const now = canvas.getConfiguration();
    return now?.device === this.device && now.format === format;
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

  read({ pointer, width, height, isTexture }: ImagePlace, image: object): void {
    this.#queue.enter('toDevice');
    const device = this.device as ReadingDevice;
    const usage = TEXTURE.copyTarget | TEXTURE.binding | TEXTURE.attachment;
    const texture = isTexture
      ? (image as GpuTexture)
      : device.createTexture({ size: [width, height], format: 'rgba8unorm', usage });
    try {
      const target = { texture, premultipliedAlpha: false, colorSpace: 'srgb' };
      const entryPoint = readable(texture);
      const place = this.#memory.resolve(pointer, 0, 0, 'toDevice');
      // What has been recorded may use the memory.
      this.#batch.flush();
      const copy = (): void => {
        if (!isTexture) device.queue.copyExternalImageToTexture({ source: image }, target, [width, height]);
        this.#copy(entryPoint, texture, place, [width, height]);
      };
      // What is known later: a texture of another device, or one that has been destroyed.
      this.#queue.watched(copy, (text) => new DriverError('E_IMAGE', `a picture cannot be read: ${text}`));
    } finally {
      if (!isTexture) texture.destroy();
    }
  }

  #copy(
    entryPoint: string,
    texture: GpuTexture,
    { buffer, offset }: Location,
    [width, height]: readonly [number, number],
  ): void {
    const device = this.device;
    const place = device.createBuffer({ size: 16, usage: USAGE.uniform | USAGE.copyTarget });
    device.queue.writeBuffer(place, 0, new Uint8Array(Uint32Array.of(width, height, offset / 4, 0).buffer));
    let pipeline = this.#readers.get(entryPoint);
    if (pipeline === undefined) {
      const module = device.createShaderModule({ code: READER, label: 'toDevice' });
      pipeline = device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint } });
      this.#readers.set(entryPoint, pipeline);
    }
    const view = texture.createView({ dimension: '2d', mipLevelCount: 1, arrayLayerCount: 1 });
    const resources = [view, { buffer }, { buffer: place }];
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(Math.ceil(width / 8), Math.ceil(height / 8), 1);
    pass.end();
    device.queue.submit([encoder.finish()]);
    place.destroy();
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
