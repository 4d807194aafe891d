/**
 * A group's place in the grid, read at the start of the kernel.
 *
 * PoCL 3.1 keeps it in variables of the program, which it replaces after LLVM's own passes have run. Where two ways through the code read
 * different ones (`d === 0 ? gridDim.x : gridDim.y`), these passes can make one read of a chosen address of it, which nothing replaces: the
 * library does not load ("undefined symbol: _num_groups_y"), and the process ends. What is read before any condition stays as it is.
 */
import type { Kernel, Special } from '../../ir/ops.ts';
import { specialsIn } from '../../ir/passes/walk.ts';
import type { OpenCLTarget } from './module.ts';

const AXES = ['x', 'y', 'z'] as const;

/** The variables that stand for places, on targets that want it: of kernels that read them along several axes. */
export function earlyPositions(kernel: Kernel, target: OpenCLTarget): ReadonlyMap<Special, string> {
  if (target.positionsFirst !== true) return new Map();
  const read = specialsIn(kernel.body);
  const pairs = (['blockIdx', 'gridDim'] as const).flatMap((what) => {
    const names = AXES.map((axis) => `${what}.${axis}` as const).filter((name) => read.has(name));
    return names.length < 2 ? [] : names.map((name) => [name, name.replace('.', '_')] as const);
  });
  return new Map(pairs);
}
