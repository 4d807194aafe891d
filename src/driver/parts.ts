/**
 * Launches that are wider than a device can make at once, as several launches of parts of the grid, in order on the same stream.
 *
 * Blocks of one launch may run in any order and do not wait for each other, so a kernel cannot tell the difference, but for its place in the
 * grid: that comes as arguments, in code that is compiled when the first such launch is made.
 */
import type { Dim3, LaunchShape } from './driver.ts';

/** Threads along one axis that a launch may have: AMD's packets for the GPU have 32 bits for them, and their OpenCL refuses more. */
export const MOST_ALONG: number = 2 ** 32 - 1;

/** Some of the blocks of a grid. */
export interface GridPart {
  readonly first: Dim3;
  readonly grid: Dim3;
}

/** Whether a launch has to be made in parts of at most so many threads along each axis. */
export function isTooWide({ grid, block }: LaunchShape, most: number): boolean {
  return grid[0] * block[0] > most || grid[1] * block[1] > most || grid[2] * block[2] > most;
}

/** The parts of a grid, each of at most so many threads along each axis. */
export function* partsOf({ grid, block }: LaunchShape, most: number): Generator<GridPart, undefined> {
  const step = (axis: 0 | 1 | 2): number => Math.max(1, Math.floor(most / block[axis]));
  const [dx, dy, dz] = [step(0), step(1), step(2)];
  for (let z = 0; z < grid[2]; z += dz) {
    for (let y = 0; y < grid[1]; y += dy) {
      for (let x = 0; x < grid[0]; x += dx) {
        const rest: Dim3 = [Math.min(dx, grid[0] - x), Math.min(dy, grid[1] - y), Math.min(dz, grid[2] - z)];
        yield { first: [x, y, z], grid: rest };
      }
    }
  }
}
