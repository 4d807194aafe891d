/**
 * A reference interpreter of the IR: thread by thread, phase by phase, as the comments in ops.ts read.
 *
 * It exists to be obviously right. Passes are proven by running a kernel before and after on the same memory; renderers
 * are held against it. It takes any stage of the IR, knows no races, and is slow.
 */

import type { Pos } from '../source.ts';
import type { Value } from './evaluate.ts';
import type { Kernel, MathFn } from './ops.ts';

export interface InterpretLaunch {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes?: number | undefined;
}

export interface InterpretOptions {
  /** Approximated functions; `evalCall` unless given. */
  readonly math?: ((fn: MathFn, type: 'f32' | 'f64', args: readonly number[]) => number) | undefined;
  /** Statements one thread may run before it is taken to hang. Default 1e6. */
  readonly maxSteps?: number | undefined;
  /** The order in which the threads of a block take turns within a phase: a permutation of 0…n-1. Ascending unless given. */
  readonly order?: ((threads: number) => readonly number[]) | undefined;
}

/** What stopped the kernel. */
export interface InterpretFault {
  readonly kind: 'bounds' | 'trap' | 'cast' | 'uniform' | 'exponent' | 'memory' | 'barrier' | 'steps';
  readonly message: string;
  readonly pos: Pos;
  /** Linear in the block; linear in the grid. */
  readonly thread: number;
  readonly block: number;
}

export interface InterpretResult {
  readonly fault: InterpretFault | undefined;
  readonly prints: readonly (readonly (string | Value)[])[];
}

/** Runs a launch on `memory`: pointers (`ptr` params) are byte offsets into it. `args`: one value a parameter. */
export function interpret(
  kernel: Kernel,
  launch: InterpretLaunch,
  args: readonly Value[],
  memory: Uint8Array,
  options: InterpretOptions = {},
): InterpretResult {
  throw new Error(`${kernel.name}${launch.grid}${args.length}${memory.length}${options.maxSteps}`);
}
