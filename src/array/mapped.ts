/**
 * Which host arrays are device arrays as well: their class says so when it is first used, so that pages without them do not load it.
 */
import type { DeviceNDArray } from './device-array.ts';

/** What is asked of a mapped array. */
interface Mapped {
  readonly device: DeviceNDArray;
  readonly disposed: boolean;
}

let isMapped: ((value: object) => value is Mapped & object) | undefined;

/** Called by the class of mapped arrays when it makes one. */
export function knowMapped(test: (value: object) => boolean): void {
  isMapped ??= test as NonNullable<typeof isMapped>;
}

/** A value that is a mapped array; undefined for others. */
export function mappedArray(value: object): Mapped | undefined {
  return isMapped?.(value) === true ? value : undefined;
}
