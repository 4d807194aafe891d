/**
 * Pictures that pages have, as arrays: bitmaps, frames of videos, canvases, images and textures become (height, width, 4) of u8; red, green, blue and alpha, which is not multiplied in.
 *
 * A WebGPU device copies them from where the browser keeps them. Elsewhere they are drawn on a canvas, whose pixels are read.
 */
import { type DType, f32, type Scalar, u8 } from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { recording, refuseRecording } from '../memory/recording.ts';
import { DeviceNDArray } from './device-array.ts';
import type { StreamOption } from './device-memory.ts';

/** A class of pages where the program has its type, nothing elsewhere. */
type Class<Name extends string> = typeof globalThis extends { readonly [K in Name]: { prototype: infer T } }
  ? T
  : never;

/** What `toDevice` and launches take as a picture; a type that programs for Node.js do not have. */
export type PageImage =
  | Class<'ImageBitmap'>
  | Class<'VideoFrame'>
  | Class<'HTMLCanvasElement'>
  | Class<'OffscreenCanvas'>
  | Class<'HTMLImageElement'>
  | Class<'HTMLVideoElement'>
  | Class<'ImageData'>
  | Class<'GPUTexture'>;

interface Kind {
  /** The properties that say how large a picture is. */
  readonly size: readonly [width: string, height: string];
  /** Why there is no picture, where it has no size; an empty canvas is an array without elements. */
  readonly missing?: string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  ImageBitmap: {
    size: ['width', 'height'],
    missing: 'it has been closed or transferred: make another one with createImageBitmap()',
  },
  VideoFrame: { size: ['displayWidth', 'displayHeight'], missing: 'it has been closed: pass it before close()' },
  HTMLCanvasElement: { size: ['width', 'height'] },
  OffscreenCanvas: { size: ['width', 'height'], missing: 'it has been transferred, or is empty' },
  HTMLImageElement: {
    size: ['naturalWidth', 'naturalHeight'],
    missing: 'it has not been loaded: await image.decode() first',
  },
  HTMLVideoElement: {
    size: ['videoWidth', 'videoHeight'],
    missing: 'it has no frame yet: wait for its event loadeddata',
  },
  ImageData: { size: ['width', 'height'] },
  GPUTexture: { size: ['width', 'height'] },
};

function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/** Whether a value is a picture of the page. */
export function isImage(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Symbol.toStringTag in value && Object.hasOwn(KINDS, kindOf(value))
  );
}

function fail(kind: string, why: string, cause?: unknown): never {
  throw new TsambaTypeError('E_IMAGE', `cannot read the ${kind}: ${why}`, { cause });
}

/** The pixels of a picture that the page itself has in memory. */
export interface Pixels {
  readonly data: Uint8Array;
  readonly shape: readonly [height: number, width: number, channels: 4];
}

interface Opened {
  readonly shape: readonly [number, number, 4];
  readonly dtype: DType<Scalar>;
  /** The pixels; undefined where the device reads the picture. */
  readonly pixels: Pixels | undefined;
}

const FLOATS = ['rgba16float', 'rgba32float'];

/** What becomes of a picture on a device. Throws TypeError where there is none, or another origin has kept it. */
function opened(image: object, context: Context): Opened {
  const kind = kindOf(image);
  const { size, missing } = KINDS[kind] as Kind;
  const [width = 0, height = 0] = size.map((name) => Number(Reflect.get(image, name)));
  if (missing !== undefined && (width === 0 || height === 0)) fail(kind, missing);
  if (kind === 'HTMLVideoElement' && Number(Reflect.get(image, 'readyState')) < 2) fail(kind, missing ?? '');
  const shape = [height, width, 4] as const;
  const isTexture = kind === 'GPUTexture';
  if (isTexture && context.driver.page === undefined) {
    throw new NotSupportedError(
      'E_NO_GPU_BUFFER',
      `a GPUTexture is for WebGPU devices (await cuda.open('webgpu')), not for ${context.info.name}`,
    );
  }
  const dtype: DType<Scalar> = isTexture && FLOATS.includes(String(Reflect.get(image, 'format'))) ? f32 : u8;
  if (kind === 'ImageData')
    return { shape, dtype, pixels: { data: bytesOf(Reflect.get(image, 'data') as Uint8ClampedArray, kind), shape } };
  if (width * height === 0 || context.driver.page !== undefined) return { shape, dtype, pixels: undefined };
  return { shape, dtype, pixels: { data: drawn(image, kind, width, height), shape } };
}

function bytesOf(data: Uint8ClampedArray, kind: string): Uint8Array {
  if (!(data instanceof Uint8ClampedArray)) fail(kind, 'its pixels are not bytes');
  return new Uint8Array(data.buffer, data.byteOffset, data.length);
}

interface Canvas2d {
  drawImage(image: object, x: number, y: number): void;
  getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray };
}

interface Page {
  readonly OffscreenCanvas?: new (
    width: number,
    height: number,
  ) => { getContext(kind: '2d', options: object): Canvas2d | null };
}

/** The pixels of a picture, by a canvas. */
function drawn(image: object, kind: string, width: number, height: number): Uint8Array {
  const { OffscreenCanvas } = globalThis as Page;
  const canvas = OffscreenCanvas && new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  if (!canvas) return fail(kind, 'there is no OffscreenCanvas to draw it on: pass the data of an ImageData');
  return reading(kind, () => {
    canvas.drawImage(image, 0, 0);
    return bytesOf(canvas.getImageData(0, 0, width, height).data, kind);
  });
}

/** Runs what reads a picture: browsers throw a DOMException where it is not there, or not this page's. */
function reading<R>(kind: string, read: () => R): R {
  try {
    return read();
  } catch (error) {
    const { name, message } = error as Error;
    if (name === 'SecurityError') {
      return fail(
        kind,
        'it comes from another origin, which has not allowed this page to read it: serve it with Access-Control-Allow-Origin, and set crossOrigin on the element',
        error,
      );
    }
    if (name === 'InvalidStateError' || name === 'OperationError' || name === 'TypeError')
      return fail(kind, message, error);
    throw error;
  }
}

/**
 * A new array of a picture. `upload` copies pixels to the device. Throws TypeError where there is no picture, or it may not be read.
 */
export function newImage(
  context: Context,
  image: object,
  { stream }: StreamOption,
  upload: (pixels: Pixels) => DeviceNDArray,
  copy = true,
): DeviceNDArray {
  if (recording.current !== undefined)
    refuseRecording('the copy of a picture', 'a graph would read it only once', 'copy it before');
  const { shape, dtype, pixels } = opened(image, context);
  if (pixels !== undefined && copy) return upload(pixels);
  const array = new DeviceNDArray<Scalar>(shape, undefined, dtype, { stream, gpuData: context });
  if (array.size === 0 || !copy) return array;
  try {
    const [height, width] = shape;
    const kind = kindOf(image);
    reading(kind, () =>
      context.driver.page?.read({ pointer: array.pointer, width, height, isTexture: kind === 'GPUTexture' }, image),
    );
  } catch (error) {
    array.dispose();
    throw error;
  }
  return array;
}
