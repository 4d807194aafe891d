/**
 * Which kernels a reduction launches, with what grids: the part of `reduce` that other primitives use.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { type DType, sameDType, spellDType, vectorOf } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { Context } from '../memory/context.ts';
import { finishBlockOn } from '../reduce/kernels.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { arrayInput, type Input } from './input.ts';
import { remember } from './memo.ts';
import { castTo, type Operator } from './operator.ts';
import { jitOn, onHost } from './place.ts';
import { BLOCK, finishOf, type Lanes, partialsOf, partialsOfTiles, tileOf } from './reduce-kernels.ts';

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

/** The launches that reduce at least one element into `result[0]`; `init` is what a kernel takes for a value, combined first. */
export function reducing(
  place: Workplace,
  operator: Operator,
  input: Input,
  result: DeviceNDArray,
  init: unknown,
): Step[] {
  const { stream, context } = place;
  if (input.length <= ONE_BLOCK) return [finishing(place, operator, input, result, init)];
  const lanes = lanesFor(input, context);
  const most = Math.floor(input.length / (lanes === undefined ? BLOCK : tileOf(lanes)));
  const blocks = Math.max(1, Math.min(blocksOn(context, lanes === undefined ? most / 4 : most), most));
  const parts = place.temporary([blocks], operator.type);
  const jit = jitOn(context);
  const key = [jit, operator.op, operator.name, spellDType(operator.type)];
  const kernel =
    lanes === undefined
      ? remember(['reduce', ...key, input.read], () => partialsOf(jit, operator, input.read, !onHost(context)))
      : remember(['reduce tiles', ...key, lanes.vector], () => partialsOfTiles(jit, operator, lanes));
  const first: Step = {
    kernel: kernel as unknown as Step['kernel'],
    shape: { grid: blocks, block: BLOCK, stream },
    args: [input.argument, input.length, parts],
  };
  return [first, finishing(place, operator, arrayInput(parts), result, init)];
}

function finishing(place: Workplace, operator: Operator, input: Input, result: DeviceNDArray, init: unknown): Step {
  const { op, name, type } = operator;
  const jit = jitOn(place.context);
  // What is read decides nothing but how it is read.
  const to = sameDType(type, result.dtype) ? (castTo(type) as Operator['cast']) : castTo(result.dtype);
  const inFlight = !onHost(place.context);
  const block = inFlight ? finishBlockOn(place.context.info) : BLOCK;
  // What is read decides nothing but how it is read.
  const keys = ['finish', jit, op, name, spellDType(type), spellDType(result.dtype), input.read, block];
  const kernel = remember(keys, () => finishOf(jit, operator, { read: input.read, to, inFlight, block }));
  return {
    kernel: kernel as unknown as Step['kernel'],
    shape: { grid: 1, block, stream: place.stream },
    args: [input.argument, input.length, result, init],
  };
}

/** How elements of 32 and 64 bits are loaded where wide loads pay and are aligned; on the CPU device neighbouring threads are the lanes of vectors already. */
function lanesFor({ array }: Input, context: Context): Lanes | undefined {
  if (array === undefined || onHost(context)) return undefined;
  const { dtype, pointer } = array;
  const lanes = lanesOf(dtype);
  if (lanes === undefined || !array.isCContiguous() || pointer % VECTOR_BYTES !== 0) return undefined;
  return array.size < tileOf(lanes) ? undefined : lanes;
}

function lanesOf({ name, itemSize, kind }: DType): Lanes | undefined {
  if (!'iuf'.includes(kind) || itemSize < 4) return undefined;
  const lanes = VECTOR_BYTES / itemSize;
  const vector = vectorOf(name, lanes);
  return vector === undefined ? undefined : { vector, lanes };
}

/** Blocks of a launch that goes through all elements: `tiles` is what there is for them. */
function blocksOn(context: Context, tiles: number): number {
  if (onHost(context)) return CPU_BLOCKS;
  const once = GPU_BLOCKS * context.info.limits.multiprocessors;
  return Math.max(once, Math.min(WAVES * once, Math.floor(tiles / TILES)));
}
