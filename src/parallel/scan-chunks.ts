/**
 * The kernels of scans where blocks share few threads, the CPU device and the simulator: a thread goes through some chunks, side by side.
 */
import type { Jit } from '../kernel/jit.ts';
import type { Vec } from '../kernel/types.ts';
import { LANE_WORDS as WORDS } from './lane-words.ts';
import type { Value } from './operator.ts';
import type { Scan, ScanKernel } from './scan-kernels.ts';

/** As `scanKernel`, with a thread for every `STRANDS` chunks. */
export function chunkKernel(jit: Jit, scan: Scan, mode: 'apply' | 'totals'): ScanKernel {
  return mode === 'apply' ? applying(jit, scan) : totalling(jit, scan);
}

/** Chunks that a thread goes through side by side: a processor adds to several sums in the time that it takes to add to one. */
export const STRANDS = 4;

function totalling(jit: Jit, { op, read, name }: Scan): ScanKernel {
  const captures = { ...WORDS, op, read, strands: STRANDS };
  return jit(
    ({ grid, op, read, strands }: typeof captures) =>
      (argument: Value, out: Vec<Value>, _state: Value, chunk: number, _init: Value, sized: Vec<Value>) => {
        const n = sized.length;
        const c = grid(1) * strands;
        const from = c * chunk;
        const last = from + (strands - 1) * chunk;
        if (last < n) {
          let [p, q] = [read(argument, from), read(argument, from + chunk)];
          let [r, s] = [read(argument, from + 2 * chunk), read(argument, last)];
          const least = Math.min(n - last, chunk);
          for (let i = from + 1; i < from + least; i++) {
            p = op(p, read(argument, i));
            q = op(q, read(argument, i + chunk));
            r = op(r, read(argument, i + 2 * chunk));
            s = op(s, read(argument, i + 3 * chunk));
          }
          // Only the very last chunk is shorter than the others.
          for (let i = from + least; i < from + chunk; i++) {
            p = op(p, read(argument, i));
            q = op(q, read(argument, i + chunk));
            r = op(r, read(argument, i + 2 * chunk));
          }
          out[c] = p;
          out[c + 1] = q;
          out[c + 2] = r;
          out[c + 3] = s;
          return;
        }
        for (let first = from; first < n; first += chunk) {
          const end = Math.min(n, first + chunk);
          let sum = read(argument, first);
          for (let i = first + 1; i < end; i++) sum = op(sum, read(argument, i));
          out[Math.floor(first / chunk)] = sum;
        }
      },
    { captures, name },
  ) as unknown as ScanKernel;
}

function applying(jit: Jit, { op, read, emit, value, name }: Scan): ScanKernel {
  const captures = { ...WORDS, op, read, emit, pick: value.pick, strands: STRANDS };
  return jit(
    ({ grid, op, read, emit, pick, strands }: typeof captures) =>
      (argument: Value, out: Vec<Value>, state: Value, chunk: number, init: Value, sized: Vec<Value>) => {
        const n = sized.length;
        const c = grid(1) * strands;
        const from = c * chunk;
        // The first element of a chunk, and what all up to there come to.
        const begin = (i: number, of: number): Value => {
          const first = read(argument, i);
          if (state === undefined) {
            out[i] = emit(first, false, first, first, init);
            return first;
          }
          const has = of > 0;
          const before = pick(true, (state as Vec<Value>)[Math.max(of - 1, 0)] as Value, first);
          const sum = pick(has, op(before, first), first);
          out[i] = emit(before, has, sum, first, init);
          return sum;
        };
        const next = (sum: Value, i: number): Value => {
          const own = read(argument, i);
          const after = op(sum, own);
          out[i] = emit(sum, true, after, own, init);
          return after;
        };
        const last = from + (strands - 1) * chunk;
        if (last < n) {
          let [p, q] = [begin(from, c), begin(from + chunk, c + 1)];
          let [r, s] = [begin(from + 2 * chunk, c + 2), begin(last, c + 3)];
          const least = Math.min(n - last, chunk);
          for (let i = from + 1; i < from + least; i++) {
            p = next(p, i);
            q = next(q, i + chunk);
            r = next(r, i + 2 * chunk);
            s = next(s, i + 3 * chunk);
          }
          for (let i = from + least; i < from + chunk; i++) {
            p = next(p, i);
            q = next(q, i + chunk);
            r = next(r, i + 2 * chunk);
          }
          return;
        }
        for (let first = from; first < n; first += chunk) {
          const end = Math.min(n, first + chunk);
          let sum = begin(first, Math.floor(first / chunk));
          for (let i = first + 1; i < end; i++) sum = next(sum, i);
        }
      },
    { captures, name },
  ) as unknown as ScanKernel;
}
