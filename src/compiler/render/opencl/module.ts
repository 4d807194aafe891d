/**
 * The agreement between the OpenCL C renderer and whoever builds and launches its programs (the OpenCL driver).
 *
 * A program has one kernel. What it takes is said argument by argument in `args`, in order (`clSetKernelArg`). OpenCL 1.2 has
 * no device pointers: what a driver calls the address of an array is a made-up number, and it resolves it to a buffer and a
 * byte offset in it. So a `ptr` parameter of the kernel becomes two arguments, `buffer` (cl_mem) and `offset` (ulong, bytes), or
 * `buffer` alone in code for arrays that begin where their buffers do. In HIP C++ it is one, `pointer`.
 *
 * Reports. A program with fault sites takes a `faults` buffer with the table of faults and the number of the launch; one with print sites
 * a `prints` buffer (reports.ts).
 */
import type { ValueType } from '../../ir/ops.ts';
import type { FaultSite, PrintSite } from '../sites.ts';

/** `opencl`: OpenCL C 1.2, for any device. `hip`: HIP C++, for AMD's offline compiler. */
export type Dialect = 'opencl' | 'hip';

/** What a device can do, as `clGetDeviceInfo` says. */
export interface OpenCLTarget {
  readonly dialect: Dialect;
  /** HIP: the architecture, such as `gfx90a`, or with features. */
  readonly arch?: string;
  /** CL_DEVICE_DOUBLE_FP_CONFIG is not 0. */
  readonly fp64: boolean;
  /** cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics. */
  readonly int64Atomics: 'none' | 'base' | 'extended';
  /** Whether fma of f32 is an instruction: CL_FP_FMA in CL_DEVICE_SINGLE_FP_CONFIG of a GPU. Functions of f32 are built on it then. */
  readonly fastFma: boolean;
  /** CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT in CL_DEVICE_SINGLE_FP_CONFIG. */
  readonly correctlyRounded: boolean;
  /** CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE. Constant arrays beyond it come in a buffer. */
  readonly maxConstantBytes: number;
  /** PoCL: a group's place in the grid is read before any condition (early-positions.ts). */
  readonly positionsFirst?: boolean;
  /** PoCL: functions that round give 0 for a NaN that only its own passes find to be constant. */
  readonly roundsNaN?: boolean;
  /** The compiler takes masks in indices for strides (opaque.ts). */
  readonly hidesMasks?: boolean;
  /** The compiler is only right without optimisation. */
  readonly unoptimized?: boolean;
}

/** What the user or the launch asks of the code. */
export interface OpenCLOptions {
  /** The kernel's name in profilers; anything that C does not allow in a name is replaced. */
  readonly name: string;
  /** The block shape, if the code is for this one only: it becomes a constant, and `reqd_work_group_size`. */
  readonly block?: readonly [x: number, y: number, z: number] | undefined;
  /** Bytes of dynamic shared memory, if the code is for so many only: they are declared with it, and no argument. */
  readonly sharedBytes?: number | undefined;
  /** Arrays that the kernel only reads share no memory with those that it writes: the compiler is told. Absent: they may. */
  readonly disjoint?: boolean | undefined;
  /** Atomic operations on global memory are those that go to memory of the host over PCIe: add, exchange, compare-and-exchange. */
  readonly hostAtomics?: boolean | undefined;
  /** All arrays begin where their buffers do. Absent: anywhere. */
  readonly whole?: boolean | undefined;
  /** A launch runs only some of the grid's blocks: where they are, and how large the grid is, are arguments. */
  readonly partial?: boolean | undefined;
}

/** One argument of the kernel. */
export type OpenCLArg =
  /** The cl_mem in which the array of this parameter is; NULL for an array of no elements. */
  | { readonly kind: 'buffer'; readonly param: number }
  /** ulong: where in it, in bytes. Follows `buffer`; absent where arrays are whole buffers. */
  | { readonly kind: 'offset'; readonly param: number }
  /** HIP: the array's address, in place of both. */
  | { readonly kind: 'pointer'; readonly param: number }
  /** The parameter's value, of `size` bytes; bool is one byte. */
  | { readonly kind: 'value'; readonly param: number; readonly type: ValueType; readonly size: number }
  /** The cl_mem with the table of faults; then uint, the number of the launch. */
  | { readonly kind: 'faults' }
  | { readonly kind: 'launchNumber' }
  /** The cl_mem of printed values. */
  | { readonly kind: 'prints' }
  /** The cl_mem with `OpenCLModule.constants`, made once. */
  | { readonly kind: 'constants' }
  /** int: always 0. */
  | { readonly kind: 'zero' }
  /** uint, of `partial` code, for each axis: the first block of this launch; the blocks of the grid. */
  | { readonly kind: 'firstBlock' | 'blocks'; readonly axis: 0 | 1 | 2 }
  /** uint: the bytes of dynamic shared memory that the user asked for. */
  | { readonly kind: 'sharedBytes' }
  /** Local memory of that size; at least 1 byte, for OpenCL takes no 0. */
  | { readonly kind: 'shared' };

export interface OpenCLModule {
  readonly text: string;
  readonly entry: string;
  readonly args: readonly OpenCLArg[];
  /** For `clBuildProgram`. */
  readonly buildOptions: readonly string[];
  /** Bytes of static local memory, those of the renderer's own included. */
  readonly staticSharedBytes: number;
  /** What does not fit into constant memory; undefined without a `constants` argument. */
  readonly constants: Uint8Array | undefined;
  readonly sites: readonly FaultSite[];
  readonly prints: readonly PrintSite[];
  /** Whether `disjoint` makes a difference. */
  readonly usesDisjoint: boolean;
  /** Whether blocks wait for each other: only a launch of one block can be made. */
  readonly cooperative: boolean;
  /** Threads of a block at most, where the code has room for so many (exchanges between lanes go through local memory). */
  readonly threadsPerBlockLimit: number | undefined;
}
