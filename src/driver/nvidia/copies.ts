/**
 * What copies do by means of libcuda's own: kernels in PTX, and block copies in the driver's words, CUDA_MEMCPY2D and CUDA_MEMCPY3D (CUDA
 * driver API, "Data types used by CUDA driver").
 */
import type { Block } from '../copies/blocks.ts';
import type { BlockSide, CopyPlatform } from '../cuda-api/copies/device.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import { moduleText } from './copy-kernels.ts';

/** CU_LAUNCH_PARAM_END. */
export const END_OF_EXTRA = 0n;

/** Copies by libcuda. */
export function cudaCopies(cuda: Pick<Cuda, 'cuMemcpy2DAsync' | 'cuMemcpy3DAsync'>): CopyPlatform {
  return {
    endOfExtra: END_OF_EXTRA,
    module: (kind, unit) => Buffer.from(`${moduleText(kind, unit)}\0`),
    copyBlock: (block, to, from, on) =>
      block.depth === 1
        ? cuda.cuMemcpy2DAsync(describe2D(block, to, from), on)
        : cuda.cuMemcpy3DAsync(describe3D(block, to, from), on),
  };
}

/** CUmemorytype. */
const MEMORY_TYPE = { host: 1, device: 2 } as const;

/** CUDA_MEMCPY2D: two sides of 7 words, then width and height. */
function describe2D(block: Block, target: BlockSide, source: BlockSide): Uint8Array {
  const words = new BigUint64Array(16);
  side2D(words, 0, source, block.sPitch);
  side2D(words, 7, target, block.tPitch);
  words[14] = BigInt(block.width);
  words[15] = BigInt(block.height);
  return new Uint8Array(words.buffer);
}

/** xInBytes, y, memoryType, host, device, array, pitch. */
function side2D(words: BigUint64Array, at: number, side: BlockSide, pitch: number): void {
  words[at + 2] = BigInt(MEMORY_TYPE[side.memory]);
  words[at + (side.memory === 'host' ? 3 : 4)] = BigInt(side.address);
  words[at + 6] = BigInt(pitch);
}

/** CUDA_MEMCPY3D: two sides of 11 words, then width, height and depth. */
function describe3D(block: Block, target: BlockSide, source: BlockSide): Uint8Array {
  const words = new BigUint64Array(25);
  side3D(words, 0, source, block.sPitch, block.sHeight);
  side3D(words, 11, target, block.tPitch, block.tHeight);
  words[22] = BigInt(block.width);
  words[23] = BigInt(block.height);
  words[24] = BigInt(block.depth);
  return new Uint8Array(words.buffer);
}

/** xInBytes, y, z, LOD, memoryType, host, device, array, reserved, pitch, height. */
function side3D(words: BigUint64Array, at: number, side: BlockSide, pitch: number, height: number): void {
  words[at + 4] = BigInt(MEMORY_TYPE[side.memory]);
  words[at + (side.memory === 'host' ? 5 : 6)] = BigInt(side.address);
  words[at + 9] = BigInt(pitch);
  words[at + 10] = BigInt(height);
}
