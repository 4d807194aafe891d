/**
 * The launches that encode runs of equal elements in one pass, on GPUs whose tiles can look back.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { spellDType } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { oneByOne } from './accesses.ts';
import { BEGUN, type EncodeKernel, type Encoding, encodeKernel } from './encode-kernels.ts';
import { stateFor } from './look-back.ts';
import { remember } from './memo.ts';
import { castTo } from './operator.ts';
import { jitOn } from './place.ts';
import { type Shape, tileOf } from './scan-kernels.ts';
import type { Selected } from './selecting.ts';

/** Bytes that a tile keeps in shared memory at most. */
const TILE_BYTES = 32_768;

/** `heads` says which elements begin a run; there is at least one. */
export function encodingRuns(
  place: Workplace,
  heads: Pick<Selected, 'keys' | 'name' | 'length' | 'argument' | 'read' | 'packed' | 'keep'>,
  [values, counts]: readonly [values: DeviceNDArray, counts: DeviceNDArray],
  count: DeviceNDArray,
): Step[] {
  const { length, argument, read, packed, keep, name } = heads;
  const { dtype: type } = values;
  const lanes = packed?.count ?? 1;
  const shape = shapeOf(lanes * (type.itemSize + 2));
  const begun = remember(['begun'], BEGUN);
  const jit = jitOn(place.context);
  const dtypes = [values, counts, count].map(({ dtype }) => spellDType(dtype));
  const kernel = remember(['encode', jit, ...heads.keys, read, packed, ...dtypes], () => {
    const load = (packed?.load ?? oneByOne(read, 1)) as Encoding['load'];
    const casts = { castLength: castTo(counts.dtype), castCount: castTo(count.dtype) };
    return encodeKernel(jit, { lanes, load, read, keep, type, name, ...casts }, begun, shape);
  }) as EncodeKernel;
  const tiles = Math.ceil(length / tileOf(shape, lanes));
  const { state, step } = stateFor(place, tiles, begun.count);
  // Nothing but a length: as wide as indices have to be.
  const sized = place.view(count, [length], [0]);
  return [
    step,
    {
      kernel: kernel as unknown as Step['kernel'],
      shape: { grid: tiles, block: shape.block, stream: place.stream },
      args: [argument, values, counts, count, state, sized],
    },
  ];
}

/** `bytes` of shared memory for each row of a lane. */
function shapeOf(bytes: number): Shape {
  const block = bytes > 128 ? 128 : 256;
  let rows = 8;
  while (rows > 1 && block * rows * bytes > TILE_BYTES) rows /= 2;
  return { block, rows, blocks: bytes > 64 ? 2 : bytes > 24 ? 4 : 8 };
}
