/**
 * One operator, reduced over arrays of a device: which kernels run, with what grid. `reduce.ts` and the universal functions say what users see of it.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import { type DType, f32, i32, rowOf, SCALAR_TOKENS, type ScalarName, vectorOf } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { ScalarArgument } from '../kernel/scalar.ts';
import type { Step, Steps } from '../kernel/steps.ts';
import type { Context } from '../memory/context.ts';
import type { Stream } from '../stream/stream.ts';
import {
  BLOCK,
  type Finish,
  finishBlockOn,
  finishOf,
  type Lanes,
  type Operation,
  type Partials,
  partialsOf,
  partialsOfTiles,
  tileOf,
} from './kernels.ts';

type AnyFunction = (...args: never[]) => unknown;

/** Elements that one block reduces by itself, in a single launch. */
const ONE_BLOCK = 16 * BLOCK;
/** Blocks on the CPU device: the same on all machines, so that results are, and enough for its threads to share. */
const CPU_BLOCKS = 64;
/** Blocks that fit on a multiprocessor of a GPU. */
const GPU_BLOCKS = 8;
/** So many times as many are launched where there is work for them: some multiprocessors are farther from memory than others, and get fewer. */
const WAVES = 5;
/** Tiles that each of these more has at least. */
const TILES = 4;
/** Bytes of one access. */
const VECTOR_BYTES = 16;

/** The kernels for one element type. */
interface Compiled {
  readonly operation: Operation;
  readonly finishOnHost: Finish;
  /** On GPUs, by the threads of a block. */
  readonly finish: Map<number, Finish>;
  readonly partials: Partials;
  readonly tiles: { readonly kernel: Partials; readonly lanes: Lanes } | undefined;
}

/** What is to be reduced, and where the result goes. */
export interface Request {
  /** Of one axis. */
  readonly x: DeviceNDArray;
  /** An array of one element, of the type of `x`. */
  readonly result: DeviceNDArray;
  readonly init: ScalarArgument | undefined;
  readonly stream: Stream | 0 | null | undefined;
}

/** Reduces by one operator. Kernels are compiled once for each element type. */
export class Reducer {
  readonly #jit: Jit;
  readonly #op: AnyFunction;
  readonly #name: string;
  readonly #compiled = new Map<DType, Compiled>();

  constructor(jit: Jit, op: AnyFunction, name: string) {
    this.#jit = jit;
    this.#op = op;
    this.#name = name;
  }

  /** The launches of a reduction of at least one element. */
  plan({ x, result, init, stream }: Request): Steps {
    const { context } = x;
    const compiled = this.#of(x.dtype);
    const { operation, partials, tiles } = compiled;
    const host = onHost(context);
    const last = host ? BLOCK : finishBlockOn(context.info);
    const finish = host ? compiled.finishOnHost : this.#finishOnGpu(compiled, last);
    const finishing = (from: DeviceNDArray): Step => ({
      kernel: finish as unknown as Step['kernel'],
      shape: { grid: 1, block: last, stream },
      args: [from, result, init],
    });
    if (x.size <= ONE_BLOCK) return { steps: [finishing(x)], temporaries: [] };
    const fast = tiles !== undefined && canTile(x) ? tiles : undefined;
    const most = fast === undefined ? Math.floor(x.size / BLOCK) : Math.floor(x.size / tileOf(fast.lanes));
    const blocks = Math.min(blocksOn(context, fast === undefined ? most / 4 : most), most);
    const parts = newArray(context, blocks, operation.type, { stream });
    const first: Step = {
      kernel: (fast?.kernel ?? partials) as unknown as Step['kernel'],
      shape: { grid: blocks, block: BLOCK, stream },
      args: [x, parts],
    };
    return { steps: [first, finishing(parts)], temporaries: [parts] };
  }

  #finishOnGpu({ finish, operation }: Compiled, block: number): Finish {
    let kernel = finish.get(block);
    if (kernel === undefined) {
      kernel = finishOf(this.#jit, operation, true, block);
      finish.set(block, kernel);
    }
    return kernel;
  }

  #of(dtype: DType): Compiled {
    let compiled = this.#compiled.get(dtype);
    if (compiled === undefined) {
      compiled = this.#make(dtype);
      this.#compiled.set(dtype, compiled);
    }
    return compiled;
  }

  #make(dtype: DType): Compiled {
    const type = typeToReduceIn(dtype);
    const operation = { op: this.#op as Operation['op'], cast: castTo(type), type, name: this.#name };
    const lanes = lanesOf(dtype);
    return {
      operation,
      finishOnHost: finishOf(this.#jit, operation, false, BLOCK),
      finish: new Map(),
      partials: partialsOf(this.#jit, operation),
      tiles: lanes && { kernel: partialsOfTiles(this.#jit, operation, lanes), lanes },
    };
  }
}

/** Narrow numbers are reduced as what they are in expressions: sums of bytes wrap once, at the end, and those of f16 are rounded once. */
function typeToReduceIn(dtype: DType): DType {
  if (dtype.fields !== undefined || dtype.kind === 'b' || dtype.kind === 'c' || dtype.itemSize > 2) return dtype;
  return dtype.kind === 'f' || rowOf(dtype.name as ScalarName).value === 'f32' ? f32 : i32;
}

/** Values that are not real numbers are what the operator gives; of records a copy, which does not change with the element. */
const asIs: Operation['cast'] = (value) => value;
const copied: Operation['cast'] = (value) => ({ ...(value as object) }) as never;

function castTo(type: DType): Operation['cast'] {
  if (type.kind === 'c' || type.kind === 'b') return asIs;
  if (type.fields !== undefined) return copied;
  return SCALAR_TOKENS[type.name as ScalarName] as unknown as Operation['cast'];
}

/** How elements of 32 and 64 bits are loaded; undefined for all others. */
function lanesOf({ name, itemSize, kind }: DType): Lanes | undefined {
  if (!'iuf'.includes(kind) || itemSize < 4) return undefined;
  const lanes = VECTOR_BYTES / itemSize;
  const vector = vectorOf(name, lanes);
  return vector === undefined ? undefined : { vector, lanes };
}

/** Whether wide loads pay, and are aligned. On the CPU device neighbouring threads are the lanes of vectors already. */
function canTile(x: DeviceNDArray): boolean {
  return !onHost(x.context) && x.isCContiguous() && x.pointer % VECTOR_BYTES === 0;
}

function onHost({ info }: Context): boolean {
  return info.kind === 'cpu' || info.kind === 'simulator';
}

/** `tiles` is what there is for all blocks. */
function blocksOn(context: Context, tiles: number): number {
  if (onHost(context)) return CPU_BLOCKS;
  const once = GPU_BLOCKS * context.info.limits.multiprocessors;
  return Math.max(once, Math.min(WAVES * once, Math.floor(tiles / TILES)));
}
