/**
 * The buffers of WebGPU that arrays are in, for programs that use them beside Tsamba.
 */
import type { PageCalls } from '../driver/driver.ts';
import { NotSupportedError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceMemory } from './device-memory.ts';

/** WebGPU's types where the program has them, objects elsewhere. */
export type PageGpuDevice = typeof globalThis extends { GPUDevice: { prototype: infer T } } ? T : object;
export type PageGpuBuffer = typeof globalThis extends { GPUBuffer: { prototype: infer T } } ? T : object;

/** What a device shares with its page. Throws NotSupportedError where there is no such thing. */
export function pageOf(context: Context, api: string): PageCalls {
  context.checkOpen();
  const { page } = context.driver;
  if (page !== undefined) return page;
  throw new NotSupportedError(
    'E_NO_GPU_BUFFER',
    `${api} is for WebGPU devices (await cuda.open('webgpu')); ${context.info.name} has no GPUBuffers`,
  );
}

/** The buffer that device memory is in, and the byte of its first element. */
export function gpuBufferOf(memory: DeviceMemory): { readonly buffer: PageGpuBuffer; readonly offset: number } {
  const page = pageOf(memory.context, 'gpuBuffer');
  memory.checkUsable();
  const { buffer, offset } = page.bufferOf(memory.pointer);
  return { buffer: buffer as PageGpuBuffer, offset };
}
