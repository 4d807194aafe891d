/**
 * What the lanes of a warp give each other, for the evaluator: each by itself, from the definitions of `__shfl_sync` and its like.
 */
import type { ExchangeOp, Val } from './program.ts';

/** A thread that has come to an exchange: its lane, and what it brings. */
export interface Given {
  readonly lane: number;
  readonly mask: number;
  readonly value: Val;
  readonly by: number;
}

const WARP = 32;

/**
 * What one thread gets, with all that its mask names. `absent` is called where it asks a lane that takes no part: it keeps its own value, but on GPUs that
 * have shuffles, which give any.
 */
export function exchanged(fn: ExchangeOp, own: Given, others: readonly Given[], absent: () => void): Val {
  const bits = (test: (o: Given) => boolean): number =>
    others.filter(test).reduce((mask, o) => (mask | (1 << o.lane)) >>> 0, 0);
  const from = (lane: number): Val => {
    const other = others.find((o) => o.lane === lane);
    if (other === undefined) absent();
    return (other ?? own).value;
  };
  const by = ((own.by % WARP) + WARP) % WARP;
  switch (fn) {
    case 'shflSync':
      return from(by);
    case 'shflUpSync':
      return own.lane < by ? own.value : from(own.lane - by);
    case 'shflDownSync':
      return own.lane + by >= WARP ? own.value : from(own.lane + by);
    case 'shflXorSync':
      return from(own.lane ^ by);
    case 'ballotSync':
      return bits((o) => o.value === true);
    case 'allSync':
      return others.every((o) => o.value === true);
    case 'anySync':
      return others.some((o) => o.value === true);
    case 'eqSync':
      return others.every((o) => o.value === own.value);
    case 'matchAnySync':
      return bits((o) => o.value === own.value);
    case 'matchAllSync':
      return others.every((o) => o.value === own.value) ? bits(() => true) : 0;
  }
}
