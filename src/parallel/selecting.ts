/**
 * Which kernels a selection launches, with what grids: the part of `select`, `partition`, `unique` and the others that they share.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { type DType, f64, i32, spellDType } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { oneByOne, type Packed } from './accesses.ts';
import { arrayInput, type Read } from './input.ts';
import { stateFor } from './look-back.ts';
import { type Key, remember } from './memo.ts';
import { castTo, type Operator, operatorOf, type Value } from './operator.ts';
import { jitOn, onHost } from './place.ts';
import { type Shape, tileOf } from './scan-kernels.ts';
import { plainScan } from './scan-plain.ts';
import { chunksOn, looksOn, scanning } from './scanning.ts';
import { selectChunks } from './select-chunks.ts';
import { type Selection, type SelectKernel, selectKernel } from './select-kernels.ts';
import { valueWords } from './value-words.ts';

/** Bytes that a tile keeps in shared memory. */
const TILE_BYTES = 32_768;

/** What is to be selected. */
export interface Selected {
  /** What decides the kernels: functions, names. */
  readonly keys: readonly Key[];
  readonly name: string;
  readonly length: number;
  /** What kernels are passed, and how they read an element of it. */
  readonly argument: unknown;
  readonly read: Read;
  readonly packed?: Pick<Packed, 'count' | 'load'> | undefined;
  readonly keep: Selection['keep'];
  readonly parts: Selection['parts'];
  /** The arrays that parts of kept elements go to; where `both` is set as many again, for those of the others. */
  readonly outs: readonly DeviceNDArray[];
  readonly both?: boolean | undefined;
  /** An array of one element that gets the number of kept elements. */
  readonly count: DeviceNDArray;
}

/** The launches of a selection from at least one element. */
export function selecting(place: Workplace, selected: Selected): Step[] {
  const { length } = selected;
  const counted = length < 2 ** 31 ? i32 : f64;
  if (!looksOn(place.context, length)) {
    const { chunk, chunks: all } = chunksOn(place.context, length);
    const block = onHost(place.context) ? 1 : 64;
    const jit = jitOn(place.context);
    const selection = selectionOf(selected, counted);
    return inPasses(place, selected, counted, all, (mode, chunks) => ({
      kernel: remember(['select chunks', mode, chunk, jit, ...keysOf(selected, counted)], () =>
        selectChunks(jit, selection, mode, chunk),
      ),
      shape: { threads: chunks, block, stream: place.stream },
    }));
  }
  const selection = selectionOf(selected, counted);
  const shape = shapeOf(selection);
  const tiles = Math.ceil(length / tileOf(shape, selection.lanes));
  const jit = jitOn(place.context);
  const kernel = remember(['select', selection.lanes, jit, ...keysOf(selected, counted)], () =>
    selectKernel(jit, selection, shape),
  );
  const { state, step } = stateFor(place, tiles, valueWords(counted).count);
  const launch = { kernel, shape: { grid: tiles, block: shape.block, stream: place.stream } };
  return [step, stepOf(place, selected, launch, state)];
}

interface Launch {
  readonly kernel: SelectKernel;
  readonly shape: Step['shape'];
}

/** Counts, what all counts up to each come to, and the elements themselves. */
function inPasses(
  place: Workplace,
  selected: Selected,
  counted: DType,
  chunks: number,
  launch: (mode: 'count' | 'apply', chunks: number) => Launch,
): Step[] {
  const counts = place.temporary([chunks], counted);
  const apply = stepOf(place, selected, launch('apply', chunks), counts);
  if (chunks === 1) return [apply];
  const sum: Operator = operatorOf(place, 'sum', counted);
  return [
    stepOf(place, selected, launch('count', chunks), counts),
    ...scanning(place, plainScan(sum, arrayInput(counts), counts, undefined, false)),
    apply,
  ];
}

function stepOf(
  place: Workplace,
  { argument, outs, count, length }: Selected,
  launch: Launch,
  state: DeviceNDArray,
): Step {
  // Nothing but a length: as wide as indices have to be.
  const sized = place.view(count, [length], [0]);
  return { ...launch, kernel: launch.kernel as unknown as Step['kernel'], args: [argument, outs, count, state, sized] };
}

/** As many rows as shared memory and the bits of a word have room for. What was fastest on an H200. */
export function shapeOf({ lanes, types }: Selection): Shape {
  const bytes = types.reduce((sum, { itemSize }) => sum + itemSize, 0);
  if (bytes === 4 && lanes === 4) return { block: 512, rows: 4, blocks: 4 };
  const block = bytes > 32 ? 128 : 256;
  let rows = 8;
  while (rows > 1 && block * rows * lanes * bytes > TILE_BYTES) rows /= 2;
  return { block, rows, blocks: bytes > 8 ? 2 : 4 };
}

export function selectionOf(selected: Selected, counted: DType): Selection {
  const { keep, parts, outs, both = false, count, name, read, packed } = selected;
  const types = outs.slice(0, parts.length).map(({ dtype }) => dtype);
  const rest = { keep, parts, types, both, name, read, counted: valueWords(counted), castCount: castTo(count.dtype) };
  if (packed !== undefined) return { ...rest, lanes: packed.count, load: packed.load as Selection['load'] };
  return { ...rest, lanes: 1, load: oneByOne(read, 1) };
}

const keysOf = ({ keys, read, packed, outs, both, count, parts }: Selected, counted: DType): readonly Key[] => [
  ...keys,
  read,
  packed,
  both,
  spellDType(counted),
  spellDType(count.dtype),
  ...parts,
  ...outs.map(({ dtype }) => spellDType(dtype)),
];

/** The element itself. */
export const itself = ((value: Value): Value => value) as Selection['parts'][number];
