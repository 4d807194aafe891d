/**
 * The launches that combine runs of equal keys in one pass, on GPUs whose tiles can look back.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { spellDType } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { oneByOne, packedOf } from './accesses.ts';
import type { Input } from './input.ts';
import { stateFor } from './look-back.ts';
import { remember } from './memo.ts';
import { castTo, type Operator, type Value } from './operator.ts';
import { jitOn } from './place.ts';
import { type RunKernel, type RunReduction, runKernel, soFarWords } from './run-kernels.ts';
import { sameOf } from './same.ts';
import { type Shape, tileOf } from './scan-kernels.ts';
import { combining, packedIn, readingIn } from './scan-plain.ts';
import { valueWords } from './value-words.ts';

/** Bytes that a tile keeps in shared memory at most. */
const TILE_BYTES = 32_768;

/** Keys, and the values beside them. */
export interface Runs {
  readonly operator: Operator;
  readonly by: Input;
  readonly input: Input;
  /** What comes first in each run, as kernels take it; undefined for nothing. */
  readonly init: unknown;
}

/** The launches that write a key and a result for each run of at least one element. */
export function combiningRuns(
  place: Workplace,
  { operator, by, input, init }: Runs,
  outs: readonly DeviceNDArray[],
  count: DeviceNDArray,
): Step[] {
  const [keysOut, results] = outs as readonly [DeviceNDArray, DeviceNDArray];
  const packed = packedRuns(operator, by, input);
  const part = valueWords(operator.type);
  const words = remember(['so far', spellDType(operator.type)], () => soFarWords(part));
  const lanes = packed?.count ?? 1;
  const bytes = keysOut.itemSize + results.itemSize;
  const shape = shapeOf(words.count * lanes, lanes * bytes, operator.type.fields === undefined);
  const jit = jitOn(place.context);
  const op = combining(operator);
  const dtypes = [
    spellDType(operator.type),
    spellDType(keysOut.dtype),
    spellDType(results.dtype),
    spellDType(count.dtype),
  ];
  const keys = ['runs', jit, op, operator.name, by.read, input.read, packed, init !== undefined, ...dtypes];
  const kernel = remember(keys, () => {
    const value = readingIn(operator, input.read);
    const functions = { key: by.read, value, same: sameOf(by.dtype), op, part, castCount: castTo(count.dtype) };
    const loads = packed ?? { loadKeys: oneByOne(by.read, 1), loadValues: oneByOne(value, 1) };
    const finish = finishing(operator, op, results, init !== undefined);
    const types = [keysOut.dtype, results.dtype] as const;
    const reduction: RunReduction = { ...functions, ...loads, lanes, finish, types, name: place.name };
    return runKernel(jit, reduction, words, shape);
  }) as RunKernel;
  const tiles = Math.ceil(by.length / tileOf(shape, lanes));
  const { state, step } = stateFor(place, tiles, words.count);
  // Nothing but a length: as wide as indices have to be.
  const sized = place.view(count, [by.length], [0]);
  return [
    step,
    {
      kernel: kernel as unknown as Step['kernel'],
      shape: { grid: tiles, block: shape.block, stream: place.stream },
      args: [[by.argument, input.argument], [keysOut, results], count, state, init, sized],
    },
  ];
}

interface PackedRuns extends Pick<RunReduction, 'loadKeys' | 'loadValues'> {
  readonly count: number;
}

/** Vectors of both, where they have equally many elements in one; what is not an array is read one by one beside vectors of keys. */
function packedRuns(operator: Operator, by: Input, input: Input): PackedRuns | undefined {
  const keys = packedOf(by.array);
  if (keys === undefined) return undefined;
  const values = packedIn(operator, input);
  const { count } = keys;
  if (input.array !== undefined && values?.count !== count) return undefined;
  const loadValues = values?.load ?? oneByOne(readingIn(operator, input.read), count);
  return remember(['packed runs', keys, loadValues], () => ({
    count,
    loadKeys: keys.load as never,
    loadValues: loadValues as never,
  }));
}

/** What is in flight has to hide latencies, and to fit into registers and shared memory. */
function shapeOf(words: number, bytes: number, areNumbers: boolean): Shape {
  const block = 256;
  const isMiddle = areNumbers && words > 2 && words <= 8;
  let rows = words <= 2 ? 8 : isMiddle ? 4 : words <= 8 ? 2 : 1;
  while (rows > 1 && block * rows * bytes > TILE_BYTES) rows /= 2;
  return { block: block * bytes > TILE_BYTES ? 128 : block, rows, blocks: isMiddle ? 3 : words <= 8 ? 4 : 2 };
}

function finishing(
  { cast }: Operator,
  op: RunReduction['op'],
  { dtype }: DeviceNDArray,
  hasInit: boolean,
): RunReduction['finish'] {
  const captures = { op, cast, to: castTo(dtype), hasInit };
  return deviceFunction(
    ({ op, cast, to, hasInit }: typeof captures) =>
      (value: Value, init: Value) =>
        to(hasInit ? op(cast(init), value) : value),
    captures as typeof captures & Record<string, unknown>,
  ) as RunReduction['finish'];
}
