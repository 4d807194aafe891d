/**
 * Arrays and what pages have: buffers of WebGPU, in and out without a copy, and pictures on a canvas.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import type { Largest } from '../driver/driver.ts';
import { asDType, type DType, type DTypeLike, type Scalar } from '../dtype/index.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { cStrides, isCContiguous, normalizeShape, type ShapeLike, sizeOf } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { allocationSite } from '../memory/leaks.ts';
import { Allocation, MemoryOwner } from '../memory/owner.ts';
import { done } from '../stream/waiting.ts';
import { DeviceNDArray } from './device-array.ts';
import { type PageGpuBuffer, type PageGpuDevice, pageOf } from './gpu-buffer.ts';

/** An `HTMLCanvasElement` or an `OffscreenCanvas`. */
export interface CanvasLike {
  width: number;
  height: number;
  getContext(kind: string): unknown;
}

/** How the elements of a buffer are read. */
export interface GpuBufferOptions {
  readonly shape: ShapeLike;
  readonly dtype: DTypeLike;
  /** Bytes from the beginning of the buffer to the first element. */
  readonly offset?: number | undefined;
}

/** Memory of a buffer that is the program's. */
class BorrowedBuffer extends Allocation {
  readonly #context: Context;
  readonly #release: () => void;

  constructor(context: Context, pointer: number, release: () => void) {
    super(context, pointer, 0, allocationSite(0));
    this.#context = context;
    this.#release = release;
  }

  override destroy(): void {
    this.#context.freed(this);
    this.#release();
  }
}

export type FromGpuBuffer = (buffer: PageGpuBuffer, options: GpuBufferOptions) => DeviceNDArray;

export function fromGpuBufferOf(devices: DeviceSelection): FromGpuBuffer {
  return hostFunction(devices, 'fromGpuBuffer', (buffer, options) => {
    const context = devices.currentContext();
    const page = pageOf(context, 'fromGpuBuffer');
    const dtype = asDType(options?.dtype) as DType<Scalar>;
    const shape = normalizeShape(options.shape, dtype.itemSize);
    const { offset = 0 } = options;
    const bytes = sizeOf(shape) * dtype.itemSize;
    const taken = page.adopt(buffer);
    if (!Number.isInteger(offset) || offset < 0 || offset % dtype.itemSize !== 0 || offset + bytes > taken.bytes) {
      taken.release();
      throw new TsambaRangeError(
        'E_GPU_BUFFER',
        `fromGpuBuffer: ${bytes} bytes from byte ${offset} on are not in a buffer of ${taken.bytes} bytes, or not aligned to elements of ${dtype.itemSize}`,
      );
    }
    const allocation = context.own(new BorrowedBuffer(context, taken.pointer, () => taken.release()));
    const owner = new MemoryOwner(context, allocation, taken.bytes);
    const gpuData = { context, owner, address: taken.pointer + offset };
    return new DeviceNDArray<Scalar>(shape, cStrides(shape, dtype.itemSize), dtype, { gpuData });
  });
}

export function gpuDeviceOf(devices: DeviceSelection): () => PageGpuDevice {
  return hostFunction(
    devices,
    'gpuDevice',
    () => pageOf(devices.currentContext(), 'gpuDevice').device as PageGpuDevice,
  );
}

const BYTES: ReadonlySet<string> = new Set(['u8', 'u8c']);
const PIXELS: ReadonlySet<string> = new Set(['u8x4', 'u32', 'i32']);

/** What a picture's pixels are. */
function formatOf({ shape, dtype, strides, itemSize }: DeviceNDArray): 'rgba8' | 'rgba32f' {
  const { name } = dtype;
  const flat = shape.length === 2;
  const channels = shape.length === 3 && shape[2] === 4;
  if (isCContiguous(shape, strides, itemSize)) {
    if ((flat && PIXELS.has(name)) || (channels && BYTES.has(name))) return 'rgba8';
    if ((flat && name === 'f32x4') || (channels && name === 'f32')) return 'rgba32f';
  }
  throw new TsambaTypeError(
    'E_PICTURE',
    `present takes a picture in C order: (height, width) of u8x4, u32 or f32x4, or (height, width, 4) of u8 or f32; this is (${shape.join(', ')}) of ${name}`,
  );
}

/** `cuda.present`. */
export type Present = (array: DeviceNDArray<never> | DeviceNDArray, canvas: CanvasLike) => Promise<void>;

async function show(array: DeviceNDArray<never> | DeviceNDArray, canvas: CanvasLike): Promise<void> {
  if (!(array instanceof DeviceNDArray)) throw new TsambaTypeError('E_PICTURE', 'present needs a device array');
  if (typeof canvas?.getContext !== 'function') {
    throw new TsambaTypeError('E_CANVAS', 'present needs a canvas: an HTMLCanvasElement or an OffscreenCanvas');
  }
  array.checkUsable();
  const format = formatOf(array as DeviceNDArray);
  const [height = 0, width = 0] = array.shape;
  const { context, pointer } = array;
  const { driver } = context;
  checkSize(width, height, driver.page?.largestPicture ?? LARGEST_CANVAS, context.info.name);
  resize(canvas, width, height);
  if (width * height === 0) return;
  if (driver.page !== undefined) {
    driver.page.present({ pointer, width, height, format }, contextOf(canvas, 'webgpu'));
    return;
  }
  if (driver.hostBytes === undefined)
    throw new NotSupportedError('E_CANVAS', `${context.info.name} does not run in a page`);
  await done(context, undefined);
  const bytes = driver.hostBytes(pointer, array.nbytes).slice();
  const ImageDataClass = (
    globalThis as unknown as { ImageData: new (data: Uint8ClampedArray, width: number) => object }
  ).ImageData;
  const drawn = contextOf(canvas, '2d') as { putImageData(image: object, x: number, y: number): void };
  drawn.putImageData(new ImageDataClass(opaque(bytes, format), width), 0, 0);
}

/** Pixels along an axis, and in all, that browsers draw on; larger canvases stay empty without a word. */
const LARGEST_CANVAS: Largest = { side: 32_767, pixels: 2 ** 28 };

function checkSize(width: number, height: number, { side, pixels }: Largest, device: string): void {
  if (Math.max(width, height) <= side && width * height <= pixels) return;
  const most = Number.isFinite(pixels)
    ? `${side} pixels wide and high, and ${pixels} in all`
    : `${side} pixels wide and high`;
  throw new TsambaRangeError(
    'E_CANVAS',
    `present: a picture of ${width} x ${height} pixels is larger than a canvas can be on ${device}: at most ${most}; present a part of it, or a smaller one`,
  );
}

function resize(canvas: CanvasLike, width: number, height: number): void {
  try {
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const help = 'where transferControlToOffscreen() was called, present to the OffscreenCanvas that it gave';
    throw new TsambaTypeError(
      'E_CANVAS',
      `present: the canvas cannot be given the size ${width} x ${height} (${why}); ${help}`,
      { cause },
    );
  }
}

/** `present` of a namespace. */
export const presentOf = (devices: DeviceSelection): Present =>
  hostFunction(devices, 'present', (array, canvas) => show(array, canvas));

function contextOf(canvas: CanvasLike, kind: 'webgpu' | '2d'): object {
  let context: unknown;
  try {
    context = canvas.getContext(kind);
  } catch {
    // The control has been transferred: it has none of any kind here.
  }
  if (typeof context === 'object' && context !== null) return context;
  throw new TsambaTypeError(
    'E_CANVAS',
    `present: the canvas gives no context "${kind}", because it has one of another kind, or was transferred to an OffscreenCanvas: use a separate canvas for each device`,
  );
}

function opaque(bytes: Uint8Array, format: 'rgba8' | 'rgba32f'): Uint8ClampedArray {
  const pixels =
    format === 'rgba8'
      ? new Uint8ClampedArray(bytes)
      : Uint8ClampedArray.from(new Float32Array(bytes.buffer), (v) => 255 * v);
  for (let k = 3; k < pixels.length; k += 4) pixels[k] = 255;
  return pixels;
}
