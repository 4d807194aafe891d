/**
 * The agreement between the WebAssembly renderer and whoever runs its modules (the CPU driver).
 *
 * A module imports its memory and exports `run`, which executes a range of blocks on the calling thread. Everything else
 * goes through memory: a launch record that all threads of a launch read, and a scratch area that each thread owns.
 *
 * Launch record, little-endian, 8-byte slots:
 *   slot 0: gridDim.x (i32), gridDim.y (i32)      slot 1: gridDim.z (i32), dynamic shared bytes (u32)
 *   slot 2: address of the kernel's constant data  slot 3 + i: parameter i (i32/u32/f32/bool in the low 4 bytes; a pointer
 *   takes 4 bytes, or 8 under memory64)
 *
 * Scratch, 16-byte aligned: FAULT_BYTES for a fault record (reports.ts), then static shared arrays, the renderer's own (local arrays, values
 * kept across barriers), and dynamic shared memory.
 *
 * Code may read, but does not write, up to 256 bytes past either end of an array; arrays stand at addresses from 4096 on.
 */
import type { Kernel, Label } from '../../ir/ops.ts';
import type { FaultSite, PrintSite } from '../sites.ts';
import type { Scan } from './prefix-ladders.ts';

export const RECORD_PARAMS_SLOT = 3;
export const FAULT_BYTES = 64;

/** What one module is specialised on. */
export interface WasmVariant {
  /** Block shape; a constant in the code. */
  readonly block: readonly [number, number, number];
  /** 4: SIMD128 across work items where possible. 1: scalar. */
  readonly lanes: 1 | 4;
  /** Values of parameters that are constants of the code too, by their numbers. Absent: none. */
  readonly known?: ReadonlyMap<number, number> | undefined;
  /** Parameters of arrays that share no memory with any that the kernel writes. Absent: nobody knows. */
  readonly apart?: ReadonlySet<number> | undefined;
  /** Whether several threads run blocks of one launch at the same time: then global atomics must be atomic. */
  readonly concurrent: boolean;
  /** Whether to leave out what takes long to compile and pays only where much is run: the code of interior blocks. Absent: no. */
  readonly quick?: boolean | undefined;
  /** Whether the memory is a 64-bit one; addresses are then i64. */
  readonly memory64: boolean;
}

export interface WasmModule {
  readonly bytes: Uint8Array;
  /** What was asked for and can be given: 1 when the kernel has something that only scalar code can do. */
  readonly lanes: 1 | 4;
  /** `run` returns 0, or 1 + the number of the site that stopped the kernel. */
  readonly sites: readonly FaultSite[];
  /** Static shared, scratch beyond it; dynamic shared bytes are added by the launcher (rounded up to 16). */
  readonly scratchBytes: number;
  /** Constant arrays one after another, each aligned; the driver places it once per kernel. */
  readonly constants: Uint8Array;
  /** Function imports needed under `math`: names of `MathFn`, each (f64, …) → f64. */
  readonly math: readonly string[];
  /** Whether each call of `run` costs something whatever the number of its blocks: see `own-copies.ts`. Absent: no. */
  readonly copies?: boolean | undefined;
  /** Whether it is only right where nobody else writes to memory in the meantime: see `woven-stores.ts`. Absent: no. */
  readonly exclusive?: boolean | undefined;
  /** Whether `env.print` is imported: (printNumber: i32, valuesPointer) → (); see `prints`. */
  readonly prints: readonly PrintSite[];
}

/** Exports of an instance. Blocks are numbered x fastest. Pointers are numbers, or bigints under memory64. */
export interface WasmExports {
  run(firstBlock: number, endBlock: number, record: number | bigint, scratch: number | bigint): number;
}

/** `scans`: loops of a single thread that are passes over shared arrays, by their labels. */
export type RenderWasm = (kernel: Kernel, variant: WasmVariant, scans?: ReadonlyMap<Label, Scan>) => WasmModule;
