/**
 * Which `.version` and `.target` a module asks for: no newer than the device and its driver know.
 */
import type { PtxTarget } from './module.ts';

type Version = readonly [major: number, minor: number];

/** Architectures and the PTX ISA version that introduced each (PTX ISA, release notes). */
const ARCHITECTURES: readonly (readonly [sm: number, isa: Version])[] = [
  [50, [4, 0]],
  [52, [4, 1]],
  [53, [4, 2]],
  [60, [5, 0]],
  [61, [5, 0]],
  [62, [5, 0]],
  [70, [6, 0]],
  [72, [6, 1]],
  [75, [6, 3]],
  [80, [7, 0]],
  [86, [7, 1]],
  [87, [7, 4]],
  [89, [7, 8]],
  [90, [7, 8]],
  [100, [8, 6]],
  [103, [8, 8]],
  [110, [9, 0]],
  [120, [8, 7]],
  [121, [8, 8]],
];

/** Whether a version is as new as another. */
export function atLeast(a: Version, b: Version): boolean {
  return a[0] > b[0] || (a[0] === b[0] && a[1] >= b[1]);
}

/** The newest architecture that the device runs and the driver's PTX knows, with its version. */
export function architecture(target: PtxTarget): { readonly sm: number; readonly isa: Version } {
  let best = { sm: 50, isa: [4, 0] as Version };
  for (const [sm, isa] of ARCHITECTURES) if (sm <= target.capability && atLeast(target.isa, isa)) best = { sm, isa };
  return best;
}
