/**
 * The agreement between the WGSL renderer and whoever makes pipelines of its text and dispatches them (the WebGPU driver).
 *
 * A module has one entry point for one block shape. WebGPU has buffers and no addresses: what a driver calls the address of an array is a made-up
 * number, and it resolves it to a buffer and an offset in it. Memory is bound as words of 32 bits in group 0, in the order of `bindings`: binding 0 is a uniform buffer
 * with the words of `words`, in their order; the others are storage buffers. The same buffer must not be bound twice where one of the two is written, so the driver says
 * which parameters share one.
 *
 * Reports. A module with fault sites binds the table of faults, one with print sites the buffer of prints (reports.ts).
 */
import type { ValueType } from '../../ir/ops.ts';
import type { FaultSite, PrintSite } from '../sites.ts';

/** By what f32 is rounded to f16 and back: the feature `shader-f16`, or the built-in functions that pack halves. */
export type Halves = 'f16' | 'packed';

/** What a device has been seen to do beyond what WGSL guarantees. */
export interface Abilities {
  /** Subgroups are warps: 32 threads in the order of their numbers. */
  readonly warps?: boolean | undefined;
  /** What rounds to f16 as IEEE 754 does, and keeps subnormal numbers. */
  readonly halves?: Halves | undefined;
}

export interface WgslOptions {
  /** The kernel's name in profilers. */
  readonly name: string;
  /** The block shape: a constant of the module. */
  readonly block: readonly [x: number, y: number, z: number];
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes: number;
  /** For each parameter that is a pointer, by index, the buffer that its array is in: parameters with the same number share one. */
  readonly buffers: ReadonlyMap<number, number>;
  /** Parameters whose arrays do not begin where their buffers do. */
  readonly moved: ReadonlySet<number>;
  /**
   * How the grid is dispatched, for WebGPU has at most 65,535 blocks along an axis: as it is; a row of blocks as several rows, of which the last may have more of them than there
   * are; or in parts.
   */
  readonly dispatch: 'whole' | 'rows' | 'parts';
  /** The device is a processor's: where a thread is in its block, it would find by dividing, for each thread anew. */
  readonly onProcessor?: boolean | undefined;
  /** What the module is made for alone. */
  readonly known?: Known | undefined;
  readonly abilities?: Abilities | undefined;
}

/** What is the same in all launches of a module. */
export interface Known {
  /** Words of each buffer, by its number: WebGPU need not look for them to keep indices in bounds. */
  readonly lengths: ReadonlyMap<number, number>;
  /** Values of parameters. */
  readonly values: ReadonlyMap<number, number | bigint>;
}

/** One word, or two, of the uniform buffer. */
export type WgslWord =
  /** Where in its buffer the array of this parameter begins, in bytes. */
  | { readonly kind: 'offset'; readonly param: number }
  /** The parameter's value: two words of 64 bits, low half first; of bool 0 or 1. */
  | { readonly kind: 'value'; readonly param: number; readonly type: ValueType; readonly words: 1 | 2 }
  /** The first block of this dispatch, of a grid that runs in parts; and the blocks of the whole grid. */
  | { readonly kind: 'firstBlock' | 'blocks'; readonly axis: 0 | 1 | 2 }
  /** Blocks in a row, of a grid that is dispatched as several. */
  | { readonly kind: 'row' }
  | { readonly kind: 'launchNumber' }
  /** 0, which the compiler cannot know. */
  | { readonly kind: 'zero' };

export type WgslBinding =
  | { readonly kind: 'words' }
  /** By the number that the driver gave it. */
  | { readonly kind: 'buffer'; readonly buffer: number; readonly written: boolean }
  /** Made once, of these bytes. */
  | { readonly kind: 'constants'; readonly bytes: Uint8Array }
  | { readonly kind: 'faults' }
  | { readonly kind: 'prints' };

export interface WgslModule {
  readonly text: string;
  readonly entry: string;
  readonly words: readonly WgslWord[];
  readonly bindings: readonly WgslBinding[];
  /** Bytes of workgroup memory, those of the renderer's own included. */
  readonly sharedBytes: number;
  readonly sites: readonly FaultSite[];
  readonly prints: readonly PrintSite[];
  /** Whether blocks wait for each other: only a launch of one block can be made. */
  readonly cooperative: boolean;
  /** Threads of a block at most, where the code has room for so many. */
  readonly threadsPerBlockLimit: number | undefined;
}
