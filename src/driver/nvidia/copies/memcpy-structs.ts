/**
 * Block copies in the driver's words: CUDA_MEMCPY2D and CUDA_MEMCPY3D (CUDA driver API, "Data types used by CUDA driver").
 */
import type { Block } from '../../copies/blocks.ts';

/** Where one side of a block copy is. */
export interface Side {
  readonly memory: 'host' | 'device';
  readonly address: number;
}

/** CUmemorytype. */
const MEMORY_TYPE = { host: 1, device: 2 } as const;

/** CUDA_MEMCPY2D: two sides of 7 words, then width and height. */
export function describe2D(block: Block, target: Side, source: Side): Uint8Array {
  const words = new BigUint64Array(16);
  side2D(words, 0, source, block.sPitch);
  side2D(words, 7, target, block.tPitch);
  words[14] = BigInt(block.width);
  words[15] = BigInt(block.height);
  return new Uint8Array(words.buffer);
}

/** xInBytes, y, memoryType, host, device, array, pitch. */
function side2D(words: BigUint64Array, at: number, side: Side, pitch: number): void {
  words[at + 2] = BigInt(MEMORY_TYPE[side.memory]);
  words[at + (side.memory === 'host' ? 3 : 4)] = BigInt(side.address);
  words[at + 6] = BigInt(pitch);
}

/** CUDA_MEMCPY3D: two sides of 11 words, then width, height and depth. */
export function describe3D(block: Block, target: Side, source: Side): Uint8Array {
  const words = new BigUint64Array(25);
  side3D(words, 0, source, block.sPitch, block.sHeight);
  side3D(words, 11, target, block.tPitch, block.tHeight);
  words[22] = BigInt(block.width);
  words[23] = BigInt(block.height);
  words[24] = BigInt(block.depth);
  return new Uint8Array(words.buffer);
}

/** xInBytes, y, z, LOD, memoryType, host, device, array, reserved, pitch, height. */
function side3D(words: BigUint64Array, at: number, side: Side, pitch: number, height: number): void {
  words[at + 4] = BigInt(MEMORY_TYPE[side.memory]);
  words[at + (side.memory === 'host' ? 5 : 6)] = BigInt(side.address);
  words[at + 9] = BigInt(pitch);
  words[at + 10] = BigInt(height);
}
