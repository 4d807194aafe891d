/**
 * The offsets of segments: integers, one more than there are segments.
 */
import { TsambaRangeError } from '../errors.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { type Input, indexing, integersOf } from './input.ts';

/**
 * Offsets of segments of `length` elements, as kernels take indices. Those of the host are held to what they must be; those on the device, which are not waited for, are taken as they are. Throws
 * TypeError, RangeError.
 */
export function offsetsOf(place: Workplace, given: unknown, length: number): Input {
  const offsets = integersOf(place, given, 'offsets');
  if (offsets.length === 0) {
    throw new TsambaRangeError('E_PARALLEL', `${place.name}: offsets is empty: n segments have n + 1 offsets`);
  }
  if (Array.isArray(given) || ArrayBuffer.isView(given)) check(place, given as unknown as ArrayLike<number>, length);
  return indexing(offsets, length);
}

function check({ name }: Workplace, offsets: ArrayLike<number | bigint>, length: number): void {
  let before: number | bigint = 0;
  for (let s = 0; s < offsets.length; s++) {
    const offset = offsets[s] as number | bigint;
    if (offset >= before && offset <= length) {
      before = offset;
      continue;
    }
    const why = offset > length ? `there are ${length} elements` : `the offset before it is ${before}`;
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${name}: offsets[${s}] is ${offset}, and ${s === 0 && offset < 0 ? 'the first element is number 0' : why}: offsets must ascend from 0 to the number of elements`,
    );
  }
}
