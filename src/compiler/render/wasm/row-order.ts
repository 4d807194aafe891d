/**
 * The regions of a kernel, and in which order they go over memory: each vector through all rounds of a loop, or each round over the
 * whole row.
 */
import type { Kernel, Label } from '../../ir/ops.ts';
import type { FullRounds } from '../../ir/passes/full-rounds.ts';
import { interchange } from '../../ir/passes/interchange.ts';
import { runAnalysing, runPass } from '../../ir/passes/pipeline.ts';
import type { RegionNode } from '../../ir/passes/region-tree.ts';
import { formRegions, type Regions } from '../../ir/passes/regions.ts';
import { lowerReturns } from '../../ir/passes/returns.ts';
import { WARP_SIZE } from '../../ir/warp.ts';
import { fuseIndexLoads } from './fuse.ts';
import type { Lanes } from './lane-count.ts';
import type { WasmVariant } from './module.ts';
import { warpLanes } from './whole-warps.ts';

/** Vectors in a row, or items, from which on a loop around rows is as good as one inside of them. */
const LONG_ROW = 8;
const LONG = 128;

/** Whether vectors are warps, and all of these whole. */
export function warpsOf(kernel: Kernel, variant: WasmVariant, lanes: Lanes): 'whole' | 'partial' | undefined {
  if (warpLanes(kernel, variant) !== lanes) return undefined;
  return variant.block[0] % WARP_SIZE === 0 ? 'whole' : 'partial';
}

/** The regions of a kernel; loops of rounds that are `together` may be gone through round by round although they carry so many values. */
export function regionsOf(
  source: Kernel,
  variant: WasmVariant,
  lanes: Lanes,
  together: ReadonlyMap<Label, number> = new Map(),
): Regions {
  const kernel = runPass({ name: 'fuse index loads', run: fuseIndexLoads }, source);
  const [width, height, depth] = variant.block;
  // Rows are run as whole vectors, the last one under a mask, so that a vector never reaches into the next row.
  const block = [Math.ceil(width / lanes) * lanes, height, depth] as const;
  const options = { block, lanes, warps: warpsOf(kernel, variant, lanes) };
  const form = (k: Kernel): Regions => formRegions(runAnalysing('lower returns', k, lowerReturns), options);
  const plain = form(kernel);
  const long = lanes > 1 && block[0] >= Math.min(LONG_ROW * lanes, LONG);
  const turn = (k: Kernel): Kernel => interchange(k, options, together);
  const turned = long ? runPass({ name: 'interchange', run: turn }, kernel) : kernel;
  if (turned === kernel) return plain;
  const regions = form(turned);
  const carried = [...together.values()].reduce((sum, n) => sum + n, 0);
  const same = regions.slots.length <= plain.slots.length + carried;
  return same && regions.perItemArrays.size <= plain.perItemArrays.size ? regions : plain;
}

/** The regions of a kernel with full rounds that are gone through several at a time, row by row; undefined if there are none. */
export function inRowOrder({ kernel, together }: FullRounds, variant: WasmVariant, lanes: Lanes): Regions | undefined {
  if (together.size === 0) return undefined;
  const regions = regionsOf(kernel, variant, lanes, together);
  const turned = loopNodes(regions.nodes);
  return [...together.keys()].every((label) => turned.has(label)) ? regions : undefined;
}

/** Loops that are run once for the block, around the regions in them. */
function loopNodes(nodes: readonly RegionNode[], found: Set<Label> = new Set()): Set<Label> {
  for (const node of nodes) {
    if (node.kind === 'loop') found.add(node.label);
    if (node.kind === 'if') loopNodes([...node.then, ...node.else], found);
    else if (node.kind === 'loop' || node.kind === 'block') loopNodes(node.body, found);
  }
  return found;
}
