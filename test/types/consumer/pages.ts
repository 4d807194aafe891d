/**
 * What programs for pages pass, where the compiler knows the browser's types. Compiled, never run.
 */
import { type Cube, cuda, type DeviceNDArray, type f32, type u8, type Vec } from 'tsamba';

declare const bitmap: ImageBitmap;
declare const frame: VideoFrame;

export const pixels: DeviceNDArray<u8, 3> = cuda.toDevice(bitmap);

export const brightness = cuda.jit((out: Vec<f32>, picture: Cube<u8>) => {
  out[0] = picture[0]![0]![0]!;
});
await brightness.launchAsync({ threads: 1 }, new Float32Array(1), frame);
// @ts-expect-error: a picture is no vector of f32.
await brightness.launchAsync({ threads: 1 }, bitmap, frame);
