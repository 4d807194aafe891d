/**
 * The kernels of scans where blocks share few threads, the CPU device and the simulator: a thread goes through a chunk.
 */
import type { Jit } from '../kernel/jit.ts';
import type { Vec } from '../kernel/types.ts';
import { LANE_WORDS as WORDS } from './lane-words.ts';
import type { Value } from './operator.ts';
import type { Scan, ScanKernel } from './scan-kernels.ts';

/** As `scanKernel`, with a thread for each chunk. */
export function chunkKernel(jit: Jit, scan: Scan, mode: 'apply' | 'totals'): ScanKernel {
  return mode === 'apply' ? applying(jit, scan) : totalling(jit, scan);
}

function totalling(jit: Jit, { op, read, name }: Scan): ScanKernel {
  const captures = { ...WORDS, op, read };
  return jit(
    ({ grid, op, read }: typeof captures) =>
      (argument: Value, out: Vec<Value>, _state: Value, chunk: number, _init: Value, sized: Vec<Value>) => {
        const c = grid(1);
        const from = c * chunk;
        const end = Math.min(sized.length, from + chunk);
        if (from >= end) return;
        let sum = read(argument, from);
        for (let i = from + 1; i < end; i++) sum = op(sum, read(argument, i));
        out[c] = sum;
      },
    { captures, name },
  ) as unknown as ScanKernel;
}

function applying(jit: Jit, { op, read, emit, value, name }: Scan): ScanKernel {
  const captures = { ...WORDS, op, read, emit, pick: value.pick };
  return jit(
    ({ grid, op, read, emit, pick }: typeof captures) =>
      (argument: Value, out: Vec<Value>, state: Value, chunk: number, init: Value, sized: Vec<Value>) => {
        const c = grid(1);
        const from = c * chunk;
        const end = Math.min(sized.length, from + chunk);
        if (from >= end) return;
        const first = read(argument, from);
        let sum = first;
        if (state === undefined) {
          out[from] = emit(first, false, first, first, init);
        } else {
          const has = c > 0;
          const before = pick(true, (state as readonly Value[])[Math.max(c - 1, 0)] as Value, first);
          sum = pick(has, op(before, first), first);
          out[from] = emit(before, has, sum, first, init);
        }
        for (let i = from + 1; i < end; i++) {
          const own = read(argument, i);
          const after = op(sum, own);
          out[i] = emit(sum, true, after, own, init);
          sum = after;
        }
      },
    { captures, name },
  ) as unknown as ScanKernel;
}
