/**
 * The elements of `ndarray.arange`: how many there are and what each is, from start, stop and step, as NumPy has it.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

export interface Progression {
  readonly length: number;
  readonly at: (i: number) => number | bigint;
  /** Whether the elements are bigints. */
  readonly wide: boolean;
}

/** `bounds`: [stop], [start, stop] or [start, stop, step], numbers or bigints. */
export function progression(bounds: readonly unknown[]): Progression {
  if (bounds.length < 1 || bounds.length > 3) {
    throw new TsambaTypeError(
      'E_SHAPE',
      `arange takes (stop), (start, stop) or (start, stop, step) as numbers, and then a dtype or options; got ${bounds.length} numbers`,
    );
  }
  const [start, stop, step] = bounds.length === 1 ? [undefined, bounds[0]] : bounds;
  if (bounds.every((x) => typeof x === 'bigint')) {
    return whole((start as bigint | undefined) ?? 0n, stop as bigint, (step as bigint | undefined) ?? 1n);
  }
  const odd = bounds.find((x) => typeof x !== 'number');
  if (odd !== undefined) {
    throw new TsambaTypeError('E_SHAPE', `arange takes numbers or bigints, not both: got ${show(odd)} among numbers`);
  }
  return real((start as number | undefined) ?? 0, stop as number, (step as number | undefined) ?? 1);
}

function real(start: number, stop: number, step: number): Progression {
  if (step === 0) throw stepOfZero();
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!Number.isSafeInteger(length)) {
    throw new TsambaRangeError('E_SHAPE', `arange from ${start} to ${stop} in steps of ${step} has no length`);
  }
  // NumPy takes the distance of the first two elements, as they are rounded.
  const distance = start + step - start;
  return { length, at: (i) => start + i * distance, wide: false };
}

function whole(start: bigint, stop: bigint, step: bigint): Progression {
  if (step === 0n) throw stepOfZero();
  const past = step > 0n ? stop - start + step - 1n : stop - start + step + 1n;
  const length = Number(past / step);
  return { length: Math.max(0, length), at: (i) => start + BigInt(i) * step, wide: true };
}

function stepOfZero(): TsambaRangeError {
  return new TsambaRangeError('E_SHAPE', 'arange with a step of 0 never ends');
}
