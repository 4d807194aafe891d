/**
 * Which kernels a scan launches, with what grids: the part of `inclusiveScan` that other primitives use.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { spellDType } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { Context } from '../memory/context.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { oneByOne, type Packed, packedOf, storeOneByOne } from './accesses.ts';
import { arrayInput, type Read } from './input.ts';
import { stateFor } from './look-back.ts';
import { type Key, remember } from './memo.ts';
import type { Value } from './operator.ts';
import { jitOn, onHost } from './place.ts';
import { chunkKernel, STRANDS } from './scan-chunks.ts';
import { type Scan, type ScanKernel, type Shape, scanKernel, tileOf } from './scan-kernels.ts';
import type { ValueWords } from './value-words.ts';

/** Chunks on the CPU device: the same on all machines, so that results are, and enough for its threads to share. */
const CPU_CHUNKS = 256;
/** Elements that a chunk has at least there. */
const CPU_CHUNK = 4096;
/** The same for each multiprocessor of a GPU whose blocks cannot wait for each other. */
const GPU_CHUNKS = 1024;
const GPU_CHUNK = 64;
/** Tiles that one block goes through by itself, in a single launch. */
const ONE_BLOCK = 4;

type Op = (a: Value, b: Value) => Value;

/** What is to be scanned. */
export interface Scanned {
  /** What decides the kernels: functions, dtypes, names. */
  readonly keys: readonly Key[];
  readonly value: ValueWords;
  readonly op: Op;
  readonly name: string;
  /** What kernels are passed, and how they read what is scanned of it. */
  readonly argument: unknown;
  readonly read: Read;
  /** How they read several elements at once. */
  readonly packed?: Pick<Packed, 'count' | 'load'> | undefined;
  /** As many elements as are read. */
  readonly out: DeviceNDArray;
  readonly emit: Scan['emit'];
  /** What kernels take for a first value; undefined for none. */
  readonly init?: unknown;
}

/** The launches of a scan of at least one element. */
export function scanning(place: Workplace, scanned: Scanned): Step[] {
  const ways = waysOn(place.context, scanned);
  const { chunk, chunks } = ways;
  if (ways.looks) return looking(place, scanned, ways);
  const args = { argument: scanned.argument, init: scanned.init, sized: scanned.out };
  if (chunks === 1) return [ways.step(place, 'apply', { ...args, chunk, chunks, out: scanned.out })];
  const totals = place.temporary([chunks], scanned.value.type);
  return [
    ways.step(place, 'totals', { ...args, chunk, chunks, out: totals }),
    ...scanning(place, totalsOf(scanned, totals)),
    ways.step(place, 'apply', { ...args, chunk, chunks, out: scanned.out, state: totals }),
  ];
}

/** Lines of `length` elements, one behind the other, each scanned by itself. */
export function scanningLines(place: Workplace, scanned: Scanned, length: number): Step[] {
  const ways = waysOn(place.context, scanned, length);
  const { argument, init, out } = scanned;
  return [ways.step(place, 'apply', { argument, init, sized: out, out, chunk: length, chunks: out.size / length })];
}

/** What chunks come to, each with all before it: scanned in their place. */
function totalsOf({ keys, value, op, name }: Scanned, totals: DeviceNDArray): Scanned {
  const { argument, read } = arrayInput(totals);
  const emit = remember(['inclusive'], () => inclusive);
  const copy = remember(['read value', spellDType(value.type)], () => readCopy(read, value));
  return { keys: ['totals', ...keys], value, op, name, argument, read: copy, out: totals, emit };
}

const inclusive = ((_before: Value, _has: boolean, after: Value): Value => after) as Scan['emit'];

/** A copy, which does not change with the element. */
function readCopy(read: Read, { pick }: ValueWords): Read {
  const captures = { read, pick };
  return deviceFunction(
    ({ read, pick }: typeof captures) =>
      (argument: Value, i: number) => {
        const value = read(argument, i);
        return pick(true, value, value);
      },
    captures as typeof captures & Record<string, unknown>,
  ) as Read;
}

interface Launch {
  readonly argument: unknown;
  readonly out: DeviceNDArray;
  readonly state?: DeviceNDArray | undefined;
  readonly chunk: number;
  readonly chunks: number;
  readonly init: unknown;
  readonly sized: DeviceNDArray;
}

interface Ways {
  readonly looks: boolean;
  readonly chunk: number;
  readonly chunks: number;
  readonly tile: number;
  readonly step: (place: Workplace, mode: 'look' | 'apply' | 'totals', launch: Launch) => Step;
}

function waysOn(context: Context, scanned: Scanned, line?: number): Ways {
  const { out } = scanned;
  if (!looksOn(context, out.size)) {
    return { looks: false, tile: 1, ...chunksOn(context, out.size), step: hostStep(scanned) };
  }
  const scan = scanOf(scanned, line);
  const shape = shapeOf(scanned.value, scan.lanes);
  const tile = tileOf(shape, scan.lanes);
  const tiles = Math.ceil(out.size / tile);
  const step = blockStep(scanned, scan, shape);
  if (tiles <= ONE_BLOCK) return { looks: false, tile, chunk: tiles * tile, chunks: 1, step };
  return { looks: true, tile, chunk: tile, chunks: tiles, step };
}

/** Whether blocks that have begun get done whatever others wait for, and tiles are counted with 32 bits. */
export function looksOn({ info }: Context, size: number): boolean {
  return (info.kind === 'nvidia' || info.kind === 'hip') && size < 2 ** 31;
}

/** How many elements a thread goes through, and how many threads do, where a thread goes through a chunk. */
export function chunksOn(context: Context, size: number): { chunk: number; chunks: number } {
  const isHost = onHost(context);
  const most = isHost ? CPU_CHUNKS : GPU_CHUNKS * context.info.limits.multiprocessors;
  const chunks = Math.max(1, Math.min(most, Math.floor(size / (isHost ? CPU_CHUNK : GPU_CHUNK))));
  const chunk = Math.ceil(size / chunks);
  return { chunk, chunks: Math.ceil(size / chunk) };
}

function looking(place: Workplace, { argument, out, init, value }: Scanned, ways: Ways): Step[] {
  const { state, step } = stateFor(place, ways.chunks, value.count);
  return [
    step,
    ways.step(place, 'look', { argument, out, state, init, chunk: ways.chunk, chunks: ways.chunks, sized: out }),
  ];
}

/**
 * How many rows a warp has of a tile: what is in flight has to hide the memory's latency and that of the look-back, and to fit into registers. What was fastest on an
 * H200.
 */
export function shapeOf({ count, type }: ValueWords, lanes: number): Shape {
  const words = count * lanes;
  if (words === 4 && count === 1) return { block: 128, rows: 24, blocks: 4 };
  // Numbers of 64 bits.
  if (words === 4 && type.fields === undefined) return { block: 128, rows: 20, blocks: 4 };
  if (words === 4) return { block: 128, rows: 12, blocks: 4 };
  // Numbers of 32 bits, and whether each begins a segment.
  if (count === 2 && lanes === 4) return { block: 256, rows: 10, blocks: 2 };
  const rows = words < 4 ? 8 : words <= 8 ? 4 : words <= 16 ? 2 : 1;
  return { block: 256, rows, blocks: words <= 16 ? 4 : 2 };
}

/** Wide accesses where both sides can have them, and lines begin at a multiple of them. */
export function scanOf(scanned: Scanned, line = 0): Scan {
  const { packed, out, read } = scanned;
  const target = packedOf(out);
  if (packed !== undefined && target?.count === packed.count && line % packed.count === 0) {
    return { ...scanned, lanes: packed.count, load: packed.load, store: target.store as Scan['store'] };
  }
  return { ...scanned, lanes: 1, load: oneByOne(read, 1), store: storeOneByOne as Scan['store'] };
}

function hostStep(scanned: Scanned): Ways['step'] {
  return (place, mode, launch) => {
    const jit = jitOn(place.context);
    const kernel = remember(['chunks', mode, jit, ...keysOf(scanned)], () =>
      chunkKernel(jit, scanOf(scanned), mode === 'totals' ? 'totals' : 'apply'),
    );
    return stepOf(kernel, launch, {
      threads: Math.ceil(launch.chunks / STRANDS),
      block: onHost(place.context) ? 1 : 64,
      stream: place.stream,
    });
  };
}

function blockStep(scanned: Scanned, scan: Scan, shape: Shape): Ways['step'] {
  return (place, mode, launch) => {
    const jit = jitOn(place.context);
    const keys = ['tiles', mode, scan.lanes, jit, ...keysOf(scanned)];
    const kernel = remember(keys, () => scanKernel(jit, scan, mode === 'look' ? mode : 'apply', shape));
    return stepOf(kernel, launch, { grid: launch.chunks, block: shape.block, stream: place.stream });
  };
}

const keysOf = ({ keys, value, read, packed, out }: Scanned): readonly Key[] => [
  ...keys,
  packed,
  spellDType(value.type),
  read,
  spellDType(out.dtype),
];

function stepOf(kernel: ScanKernel, { argument, out, state, chunk, init, sized }: Launch, shape: Step['shape']): Step {
  return { kernel: kernel as unknown as Step['kernel'], shape, args: [argument, out, state, chunk, init, sized] };
}
