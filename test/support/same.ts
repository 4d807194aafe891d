/** Comparisons for tests that make many: `expect` takes a hundred times as long, and so is asked for its message only. */
import { expect } from 'vitest';

/** The same bytes. */
export function expectBytes(got: Uint8Array, wanted: Uint8Array): void {
  if (Buffer.compare(got, wanted) !== 0) expect(got).toEqual(wanted);
}

/** The same values at the same keys. */
export function expectTable<K, V>(got: ReadonlyMap<K, V>, wanted: ReadonlyMap<K, V>): void {
  const same = got.size === wanted.size && [...wanted].every(([key, value]) => got.has(key) && got.get(key) === value);
  if (!same) expect(got).toEqual(wanted);
}
