/**
 * Tests of the suite that ask of a device what SwiftShader does not have.
 */
import { LEFT_OPEN_BY_WGSL } from './lacking.ts';

/** Blocks of more than 256 threads, and 48 KiB of workgroup memory: it has 32. */
const SMALL: readonly string[] = [
  'devices: limits are those of a device that can run the suite',
  'geometry: a full block of 1024',
  'geometry: every thread runs exactly once',
  'launch: a block beyond the limits',
  'launch: too many threads in a block',
  'sizes: 48 KiB of shared memory',
  'sizes: blocks of 1024 threads with barriers',
];

/** Kernels for eleven types, each in four passes, take it minutes to compile. */
const LONG: readonly string[] = ['parallel sort: numbers of every type, as typed arrays sort'];

export const BEYOND_SWIFTSHADER: readonly string[] = [...LEFT_OPEN_BY_WGSL, ...SMALL, ...LONG];
