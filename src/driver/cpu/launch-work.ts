/**
 * How long launches take, as far as their arguments tell before they are made.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { nodesOfThread } from '../../compiler/ir/passes/launch-rounds.ts';
import type { LaunchArgs, LaunchShape } from '../driver.ts';
import { type KernelFacts, NANOSECONDS_PER_NODE } from './facts.ts';

/** What launches of one kernel do. The last answer is kept, as most launches are like the one before. */
export class LaunchWork {
  readonly #kernel: Kernel;
  readonly #facts: KernelFacts;
  /** Parameters that are not addresses. */
  readonly #numbers: readonly number[];
  #asked: readonly unknown[] = [];
  #nodes: number | undefined;

  constructor(kernel: Kernel, facts: KernelFacts) {
    this.#kernel = kernel;
    this.#facts = facts;
    this.#numbers = kernel.params.filter(({ type }) => type !== 'ptr').map(({ index }) => index);
  }

  /** Milliseconds that a launch takes, very roughly; undefined where there is no loop, or one of as many rounds as only its threads know. */
  milliseconds({ grid, block }: Pick<LaunchShape, 'grid' | 'block'>, args: LaunchArgs): number | undefined {
    if (this.#facts.loops !== 'counted') return undefined;
    const asked = [...grid, ...block, ...this.#numbers.map((index) => args[index])];
    if (asked.length !== this.#asked.length || asked.some((x, k) => x !== this.#asked[k])) {
      this.#asked = asked;
      this.#nodes = nodesOfThread(this.#kernel, { grid, block }, args);
    }
    if (this.#nodes === undefined) return undefined;
    const threads = [...grid, ...block].reduce((a, b) => a * b);
    return (this.#nodes * threads * NANOSECONDS_PER_NODE) / 1e6;
  }
}
