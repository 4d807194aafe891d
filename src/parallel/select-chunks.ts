/**
 * The kernels of selections where blocks share few threads, the CPU device and the simulator: a thread goes through a chunk.
 */
import type { Jit } from '../kernel/jit.ts';
import type { Vec } from '../kernel/types.ts';
import { LANE_WORDS } from './lane-words.ts';
import type { Value } from './operator.ts';
import type { Selection, SelectKernel } from './select-kernels.ts';

/** As `selectKernel`, with a thread for each chunk of `chunk` elements. */
export function selectChunks(jit: Jit, selection: Selection, mode: 'count' | 'apply', chunk: number): SelectKernel {
  const { read, keep, parts, both, counted, castCount, name } = selection;
  const cast = counted.type as unknown as (value: number) => Value;
  const captures = { ...LANE_WORDS, read, keep, parts, both, cast, castCount, chunk, outputs: parts.length };
  if (mode === 'count') {
    return jit(
      ({ grid, read, keep, cast, chunk }: typeof captures) =>
        (argument: Value, _outs: readonly Vec<Value>[], _count: Vec<Value>, state: Value, sized: Vec<Value>) => {
          const c = grid(1);
          const n = sized.length;
          const from = c * chunk;
          const end = Math.min(n, from + chunk);
          if (from >= end) return;
          let sum = 0;
          for (let i = from; i < end; i++) sum += keep(argument, i, [read(argument, i)], n)[0] ? 1 : 0;
          (state as Value[])[c] = cast(sum);
        },
      { captures, name },
    ) as unknown as SelectKernel;
  }
  return jit(
    ({ grid, read, keep, parts, both, cast, castCount, chunk, outputs }: typeof captures) =>
      (argument: Value, outs: readonly Vec<Value>[], count: Vec<Value>, state: Value, sized: Vec<Value>) => {
        const c = grid(1);
        const n = sized.length;
        const zero = n - n;
        const from = c * chunk;
        const end = Math.min(n, from + chunk);
        if (from >= end) return;
        let to = zero;
        if (c > 0) to = zero + Math.floor((state as readonly number[])[Math.max(c - 1, 0)] as number);
        for (let i = from; i < end; i++) {
          const value = read(argument, i);
          if (keep(argument, i, [value], n)[0]) {
            parts.forEach((part, p) => {
              (outs[p] as Vec<Value>)[to] = part(value, i);
            });
            to += 1;
          } else if (both) {
            parts.forEach((part, p) => {
              (outs[p + outputs] as Vec<Value>)[i - to] = part(value, i);
            });
          }
        }
        if (end === n) count[0] = castCount(cast(to) as Value);
      },
    { captures, name },
  ) as unknown as SelectKernel;
}
