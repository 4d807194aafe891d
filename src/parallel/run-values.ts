/**
 * What scans by runs combine: how many runs have begun, and what the last of them has come to.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import type { Value } from './operator.ts';
import type { ValueWords } from './value-words.ts';

/** How many runs begin among some elements, and what those from the last beginning on come to; from the first on where there is none. */
export interface SoFar {
  readonly runs: number;
  readonly value: Value;
}

type Join = (a: SoFar, b: SoFar) => SoFar;

/** What two neighbouring stretches come to. A device function. */
export function runOp(op: (a: Value, b: Value) => Value, { pick }: ValueWords): Join {
  const captures = { op, pick };
  return deviceFunction(
    ({ op, pick }: typeof captures) =>
      (a: SoFar, b: SoFar) => ({
        runs: a.runs + b.runs,
        value: pick(b.runs !== 0, b.value, op(a.value, b.value)),
      }),
    captures as typeof captures & Record<string, unknown>,
  ) as unknown as Join;
}
