/**
 * A block's position in the grid: what a launch of the whole grid says of it, or, where a launch runs only a part of the grid, that and
 * arguments.
 */
import { atom, type C, type Gen, Level } from './code.ts';
import type { OpenCLArg } from './module.ts';

const AXES = ['x', 'y', 'z'] as const;

type Axis = 0 | 1 | 2;

/** The number of the block along an axis. */
export function blockAlong({ options }: Gen, axis: Axis): C {
  const here = `get_group_id(${axis})`;
  return options.partial === true ? { text: `first_block_${AXES[axis]} + ${here}`, level: Level.sum } : atom(here);
}

/** How many blocks the grid has along an axis. */
export function blocksAlong({ options }: Gen, axis: Axis): C {
  return atom(options.partial === true ? `blocks_${AXES[axis]}` : `get_num_groups(${axis})`);
}

/** What tells a part of a grid where it is: arguments of the kernel, and of functions that ask for the position. */
export function positionArguments({ options }: Gen): readonly { readonly arg: OpenCLArg; readonly name: string }[] {
  if (options.partial !== true) return [];
  return ([0, 1, 2] as const).flatMap((axis) => [
    { arg: { kind: 'firstBlock', axis }, name: `first_block_${AXES[axis]}` },
    { arg: { kind: 'blocks', axis }, name: `blocks_${AXES[axis]}` },
  ]);
}
