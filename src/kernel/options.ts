/**
 * The options of `jit`, and what the environment says about kernels.
 */

import type { LinkItem } from '../compiler/intrinsics/external.ts';
import type { Dim3, Program } from '../driver/driver.ts';
import { type DType, isDType } from '../dtype/index.ts';
import { type Environment, switchFromEnvironment } from '../environment.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { isInstance, readKeys } from '../options.ts';
import { show } from '../show.ts';
import { type Dim, showDim, toDim3 } from './dims.ts';
import { type LinkInput, linkItems } from './link.ts';
import { parseSignatures, type Signature, type SignatureInput } from './signature.ts';
import type { NamedTypes } from './signature-reader.ts';

/** Options of `jit`. */
export interface JitOptions {
  /** `'void(f32[:], i32)'`, or several: what arguments the kernel takes. Compiled when `jit` is called. */
  readonly signature?: SignatureInput | undefined;
  /** Structs by the names that strings in `signature` call them by: `{ signature: 'void(Point[:])', types: { Point } }`. */
  readonly types?: Readonly<Record<string, DType>> | undefined;
  /** Approximate functions and division, denormals flushed, a*b+c fused. Default false. */
  readonly fastMath?: boolean | undefined;
  /** Whether a*b+c may be computed as one fma, which rounds once. Default: as the device does. */
  readonly contract?: boolean | undefined;
  /** The type of numbers that nothing else determines. Default `'f64'`. */
  readonly defaultFloat?: 'f32' | 'f64' | { readonly name: string } | undefined;
  /** Checks indices at run time. Default: on for the CPU device and the simulator, off for GPUs; `TSAMBA_BOUNDS_CHECK=1` turns it on. */
  readonly boundsCheck?: boolean | undefined;
  /** Makes `throw` and `console.assert` in the kernel report. Default false. */
  readonly debug?: boolean | undefined;
  /**
   * The most threads that a block of this kernel will have; with a second number, the minimum number of such blocks that a multiprocessor should
   * hold, for which the compiler limits registers. CUDA C++: `__launch_bounds__(threads, minBlocks)`.
   */
  readonly launchBounds?: number | readonly [threads: number, minBlocks: number] | undefined;
  /**
   * Blocks per cluster, at most 8: a number or up to three. They run at the same time on neighbouring multiprocessors of GPUs from sm_90 on; ignored
   * elsewhere. Each length of the grid must be a multiple (`threads` rounds up). PTX: `.reqnctapercluster`; CUDA C++: `__cluster_dims__`.
   */
  readonly cluster?: Dim | undefined;
  /**
   * How much of the memory that caches and shared memory have together should be shared memory: percent, `'shared'` for most, `'l1'` for least. A hint for
   * NVIDIA GPUs. CUDA: `cudaFuncAttributePreferredSharedMemoryCarveout`.
   */
  readonly sharedCarveout?: number | 'shared' | 'l1' | undefined;
  /** The most registers that a thread may use. */
  readonly maxRegisters?: number | undefined;
  /**
   * Records the lines of your file in the machine code, so that Nsight, cuda-gdb and compute-sanitizer show them. Default: on if one of these has
   * started the process. Numba's `lineinfo`.
   */
  readonly lineInfo?: boolean | undefined;
  /**
   * Code that functions of other languages come from (`cuda.declareDevice`), beside what they name themselves: files of PTX, cubins, fat binaries,
   * objects, CUDA C++, OpenCL C or HIP C++, told apart by their endings, or texts: `{ ptx: '…' }`. Numba's `link`.
   */
  readonly link?: LinkInput | readonly LinkInput[] | undefined;
  /**
   * How deeply recursive calls may be nested, 1 to 1,024. Each thread has local memory for that many; a deeper call is an error. Tail calls do not
   * count: they become loops. Default: recursion is refused.
   *
   * ```ts
   * cuda.jit((a: Vec<i32>) => quicksort(a, 0, a.length - 1), { maxRecursion: 64 });
   * ```
   */
  readonly maxRecursion?: number | undefined;
  /** The kernel's name in messages; by default, the function's. */
  readonly name?: string | undefined;
  /** The values of captured names, where they cannot be read from the closure (Bun, browsers). */
  readonly captures?: Readonly<Record<string, unknown>> | undefined;
}

/** Options that have been checked. */
export interface CheckedOptions {
  readonly signatures: readonly Signature[] | undefined;
  readonly fastMath: boolean;
  readonly contract: boolean | undefined;
  readonly defaultFloat: 'f32' | 'f64';
  /** The author has said what numbers are that nothing determines, and is not warned of them. */
  readonly floatIsChosen: boolean;
  readonly boundsCheck: boolean | undefined;
  readonly debug: boolean;
  readonly launchBounds: number | undefined;
  readonly minBlocks: number | undefined;
  readonly cluster: Dim3 | undefined;
  readonly sharedCarveout: number | undefined;
  readonly maxRegisters: number | undefined;
  readonly lineInfo: boolean | undefined;
  readonly link: readonly LinkItem[] | undefined;
  readonly maxRecursion: number | undefined;
  readonly name: string | undefined;
  readonly captures: Readonly<Record<string, unknown>> | undefined;
}

const KNOWN: readonly (keyof JitOptions)[] = [
  'signature',
  'fastMath',
  'contract',
  'defaultFloat',
  'boundsCheck',
  'debug',
  'launchBounds',
  'cluster',
  'sharedCarveout',
  'maxRegisters',
  'lineInfo',
  'link',
  'maxRecursion',
  'name',
  'captures',
  'types',
];

/** Threads of a block, and registers of a thread, that any device has. */
const MOST_THREADS = 1024;
const MOST_REGISTERS = 255;
/** Blocks that any multiprocessor holds. */
const MOST_BLOCKS = 32;
/** Functions inside each other that every device's compiler takes. */
const MOST_RECURSION = 1024;
/** Blocks of a cluster that every GPU with clusters takes. */
const MOST_IN_CLUSTER = 8;

/** Checks what `jit` was given as options. */
export function checkOptions(options: unknown): CheckedOptions {
  if (typeof options === 'string' || Array.isArray(options)) {
    throw new TsambaTypeError(
      'E_JIT_OPTION',
      `jit takes its options as an object, got ${show(options)}: write jit(fn, { signature: ${show(options)} })`,
    );
  }
  if (typeof options !== 'object' || options === null) {
    throw new TsambaTypeError('E_JIT_OPTION', `jit takes its options as an object, got ${show(options)}`);
  }
  if (isInstance(options)) {
    throw new TsambaTypeError('E_JIT_OPTION', `jit takes its options as a plain object, got ${show(options)}`);
  }
  const given: { readonly [K in keyof JitOptions]: unknown } = readKeys('jit', options, KNOWN);
  return {
    signatures: given.signature === undefined ? undefined : parseSignatures(given.signature, named(given.types)),
    fastMath: flag('fastMath', given.fastMath) ?? false,
    contract: flag('contract', given.contract),
    defaultFloat: floatName(given.defaultFloat),
    floatIsChosen: given.defaultFloat !== undefined,
    boundsCheck: flag('boundsCheck', given.boundsCheck),
    debug: flag('debug', given.debug) ?? false,
    ...bounds(given.launchBounds),
    cluster: cluster(given.cluster),
    sharedCarveout: carveout(given.sharedCarveout),
    maxRegisters: count('maxRegisters', given.maxRegisters, MOST_REGISTERS),
    lineInfo: flag('lineInfo', given.lineInfo),
    link: given.link === undefined ? undefined : linkItems('link', given.link),
    maxRecursion: count('maxRecursion', given.maxRecursion, MOST_RECURSION),
    name: text('name', given.name),
    captures: captures(given.captures),
  };
}

/** What drivers are told for the code of a kernel. */
export function programOf(options: CheckedOptions, kernel: Program['kernel']): Program {
  const { launchBounds, minBlocks, cluster, sharedCarveout, maxRegisters, lineInfo } = options;
  return { launchBounds, minBlocks, cluster, sharedCarveout, maxRegisters, lineInfo, kernel };
}

/** The structs that signatures name. */
function named(value: unknown): NamedTypes {
  if (value === undefined) return {};
  if (typeof value === 'object' && value !== null && Object.values(value).every(isDType)) return value as NamedTypes;
  throw new TsambaTypeError('E_JIT_OPTION', `types must be an object of dtypes such as { Point }, got ${show(value)}`);
}

function flag(name: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw new TsambaTypeError('E_JIT_OPTION', `${name} must be true or false, got ${show(value)}`);
}

function count(name: string, value: unknown, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new TsambaTypeError('E_JIT_OPTION', `${name} must be a whole number, got ${show(value)}`);
  }
  if (value < 1) throw new TsambaRangeError('E_JIT_OPTION', `${name} must be at least 1, got ${value}`);
  if (value > most) throw new TsambaRangeError('E_JIT_OPTION', `${name} must be at most ${most}, got ${value}`);
  return value;
}

/** `256`, or `[256, 4]`. */
function bounds(value: unknown): Pick<CheckedOptions, 'launchBounds' | 'minBlocks'> {
  if (!Array.isArray(value)) return { launchBounds: count('launchBounds', value, MOST_THREADS), minBlocks: undefined };
  if (value.length !== 2) {
    throw new TsambaTypeError(
      'E_JIT_OPTION',
      `launchBounds takes threads, or [threads, minBlocks], got ${show(value)}`,
    );
  }
  return {
    launchBounds: count('launchBounds[0], threads of a block,', value[0], MOST_THREADS),
    minBlocks: count('launchBounds[1], blocks of a multiprocessor,', value[1], MOST_BLOCKS),
  };
}

function cluster(value: unknown): Dim3 | undefined {
  if (value === undefined) return undefined;
  const dim = toDim3('cluster', value);
  const blocks = dim[0] * dim[1] * dim[2];
  if (blocks <= MOST_IN_CLUSTER) return dim;
  throw new TsambaRangeError(
    'E_JIT_OPTION',
    `cluster has at most ${MOST_IN_CLUSTER} blocks, got ${showDim(dim)}, which are ${blocks}`,
  );
}

function carveout(value: unknown): number | undefined {
  if (value === 'shared') return 100;
  if (value === 'l1') return 0;
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= 100))
    return value && Math.round(value);
  throw new TsambaTypeError('E_JIT_OPTION', `sharedCarveout is a percentage, 'shared' or 'l1', got ${show(value)}`);
}

function text(name: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new TsambaTypeError('E_JIT_OPTION', `${name} must be a string, got ${show(value)}`);
}

function floatName(value: unknown): 'f32' | 'f64' {
  if (value === undefined) return 'f64';
  const name = typeof value === 'function' ? value.name : value;
  if (name === 'f32' || name === 'float32') return 'f32';
  if (name === 'f64' || name === 'float64') return 'f64';
  throw new TsambaTypeError('E_JIT_OPTION', `defaultFloat must be 'f32' or 'f64', got ${show(value)}`);
}

function captures(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new TsambaTypeError('E_JIT_OPTION', `captures must be an object such as { cuda, gain }, got ${show(value)}`);
}

/** `TSAMBA_BOUNDS_CHECK=1` or `=0`; undefined when unset. */
export function boundsCheckByEnvironment(env?: Environment): boolean | undefined {
  return switchFromEnvironment('TSAMBA_BOUNDS_CHECK', env);
}

/** Whether host arrays that are copied implicitly should be warned of. Numba: `NUMBA_CUDA_WARN_ON_IMPLICIT_COPY`. */
export function warnsImplicitCopy(env?: Environment): boolean {
  return switchFromEnvironment(['TSAMBA_WARN_IMPLICIT_COPY', 'NUMBA_CUDA_WARN_ON_IMPLICIT_COPY'], env) ?? true;
}

/** Whether grids that leave most of a GPU idle should be warned of. Numba: `NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS`. */
export function warnsLowOccupancy(env?: Environment): boolean {
  return switchFromEnvironment(['TSAMBA_WARN_LOW_OCCUPANCY', 'NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS'], env) ?? true;
}
