/**
 * In which order the operands of `einsum` are multiplied: pairs, or all of them in one kernel. Pure.
 */
import type { Labels } from './subscripts.ts';

/** Operands that are multiplied next, by their places among those that are left; the product comes last. Sums go over what nothing else needs. */
export interface Contraction {
  readonly of: readonly number[];
  readonly result: Labels;
}

type Sizes = ReadonlyMap<string, number>;

/** Elements of axes. */
export function sizeOfLabels(labels: Iterable<string>, sizes: Sizes): number {
  let size = 1;
  for (const label of labels) size *= sizes.get(label) ?? 1;
  return size;
}

/** The steps: one of all operands where pairs would not be cheaper, else always the cheapest pair. The last gives the output. */
export function contractionsOf(inputs: readonly Labels[], output: Labels, sizes: Sizes): readonly Contraction[] {
  const all = [{ of: inputs.map((_, k) => k), result: output }];
  if (inputs.length <= 2) return all;
  const together = sizeOfLabels(new Set(inputs.flat()), sizes);
  const pairs: Contraction[] = [];
  let cost = 0;
  let left = [...inputs];
  while (left.length > 1) {
    const best = cheapest(left, output, sizes);
    pairs.push(best.pair);
    cost += best.cost;
    left = [...left.filter((_, k) => !best.pair.of.includes(k)), best.pair.result];
  }
  return together <= cost ? all : pairs;
}

interface Choice {
  readonly pair: Contraction;
  /** Products of elements. */
  readonly cost: number;
  /** By how much the product is larger than its operands. */
  readonly growth: number;
}

function cheapest(left: readonly Labels[], output: Labels, sizes: Sizes): Choice {
  let best: Choice | undefined;
  for (let i = 0; i < left.length; i++) {
    for (let j = i + 1; j < left.length; j++) {
      const choice = chosen(left, [i, j], output, sizes);
      if (best === undefined || cheaper(choice, best)) best = choice;
    }
  }
  return best as Choice;
}

function chosen(left: readonly Labels[], of: readonly [number, number], output: Labels, sizes: Sizes): Choice {
  const [a, b] = of.map((k) => left[k] as Labels) as [Labels, Labels];
  const labels = new Set([...a, ...b]);
  const needed = new Set([...output, ...left.filter((_, k) => !of.includes(k)).flat()]);
  const last = left.length === 2;
  const result = last ? output : [...labels].filter((label) => needed.has(label));
  const growth = sizeOfLabels(result, sizes) - sizeOfLabels(a, sizes) - sizeOfLabels(b, sizes);
  return { pair: { of, result }, cost: sizeOfLabels(labels, sizes), growth };
}

function cheaper(a: Choice, b: Choice): boolean {
  return a.cost < b.cost || (a.cost === b.cost && a.growth < b.growth);
}
