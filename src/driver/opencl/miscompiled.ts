/**
 * Code that implementations have been seen to compile wrong, and what helps: the list that probe-kernels.ts goes through when a device
 * is opened. To add a pattern, write the kernel that showed it and the numbers that it must give.
 *
 * A kernel is called `probe`, has the parameters `PARAMETERS` and is run by one work-group. `from` holds 0, 1, 2, … It
 * must not leave its buffers when it is compiled wrong, and not take long. `HIDE(x)` stands around what the code generator would
 * hide there.
 */
import type { OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import type { Hardware } from './platforms.ts';

/** What every probe takes: numbers, its results, and an argument that is zero. */
export const PARAMETERS = 'global const int *from, global int *to, int zero';
/** Elements of `from` and of `to`. */
export const ELEMENTS = 2048;

/** One way in which a compiler is known to go wrong. */
export interface Pattern {
  readonly name: string;
  /** On what it has been seen; other devices are not asked. */
  readonly concerns: (device: { readonly hardware: Hardware }) => boolean;
  readonly workItems: number;
  readonly text: string;
  /** The elements of `to` that are written. */
  readonly expected: readonly number[];
}

/** A way to get right results from a compiler that goes wrong. */
export interface Cure {
  /** What `currentDevice().workarounds` says. */
  readonly name: string;
  /** What `HIDE(x)` is in probes. */
  readonly hide: string;
  readonly options: string;
  readonly target: Partial<OpenCLTarget>;
}

export const NO_CURE: Cure = { name: '', hide: '(x)', options: '', target: {} };

/** The cheapest first. */
export const CURES: readonly Cure[] = [
  { name: 'hidden masks', hide: '((x) ^ zero)', options: '', target: { hidesMasks: true } },
  { name: 'no optimisation', hide: '(x)', options: '-cl-opt-disable', target: { unoptimized: true } },
];

interface MaskedIndex {
  readonly type: 'int' | 'long' | 'short';
  readonly stride: number;
  readonly mask: number;
  readonly rounds: number;
  readonly local?: boolean;
}

/** What LLVM 15 gets wrong on x86: each with some vector width, as its cost model has it. */
const MASKED_INDICES: readonly MaskedIndex[] = [
  { type: 'int', stride: 5, mask: 15, rounds: 16 },
  { type: 'int', stride: 5, mask: 15, rounds: 16, local: true },
  { type: 'int', stride: 3, mask: 31, rounds: 32 },
  { type: 'int', stride: 3, mask: 63, rounds: 64, local: true },
  { type: 'int', stride: 6, mask: 31, rounds: 16 },
  { type: 'int', stride: 2, mask: 7, rounds: 8 },
  { type: 'long', stride: 3, mask: 15, rounds: 16 },
  { type: 'short', stride: 7, mask: 63, rounds: 32 },
];
/** Elements of `to` for each of them. */
const ROOM = 64;

/** Work items of the kernel that every GPU must get right. */
const LANES = 64;

export const PATTERNS: readonly Pattern[] = [
  {
    name: 'barriers, atomic sums and floats',
    concerns: ({ hardware }) => hardware === 'gpu',
    workItems: LANES,
    text: basics(),
    expected: [...Array.from({ length: LANES }, (_, k) => 6 * (LANES - 1) - 3 * k), (3 * LANES * (LANES - 1)) / 2, 1],
  },
  {
    name: 'masked indices in loops',
    concerns: ({ hardware }) => hardware !== 'gpu',
    workItems: 8,
    text: maskedIndices(),
    expected: MASKED_INDICES.flatMap(({ stride, mask, rounds }) =>
      Array.from({ length: ROOM }, (_, k) => (k < rounds ? (stride * k) & mask : 0)),
    ),
  },
];

/**
 * What any kernel relies on, so that a GPU that cannot do it is known when it is opened: values that cross a barrier, local atomics, 64-bit
 * integers, and the precision of f64 where there is f64.
 */
function basics(): string {
  return `#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#define SMALL 1099511627776
#else
typedef float real;
#define SMALL 1024
#endif
kernel void probe(${PARAMETERS}) {
  local int near[${LANES}];
  local int sum;
  const int i = get_local_id(0);
  if (i == 0) sum = 0;
  near[i] = from[3 * i];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int other = near[${LANES - 1} - i];
  atomic_add(&sum, other);
  const long wide = (long)near[i] << 33;
  const real quarter = (real)other / (real)4;
  const real small = (real)(1 + zero) / (real)SMALL;
  barrier(CLK_LOCAL_MEM_FENCE);
  to[i] = (int)(quarter * (real)8) + (int)(wide >> 33);
  if (i == 0) {
    to[${LANES}] = sum;
    to[${LANES + 1}] = (int)(((real)(1 + zero) + small - (real)1) * (real)SMALL);
  }
}
`;
}

/** Loops over arrays of each type, by the first work item. Masked indices reach at most 7 × 63 when the mask is forgotten. */
function maskedIndices(): string {
  const loops = MASKED_INDICES.map(({ type, stride, mask, rounds, local }, i) => {
    const array = `${local === true ? 'near' : 'far'}_${type}`;
    return `    for (int k = 0; k < ${rounds}; k++) out[${ROOM * i} + k] = ${array}[HIDE((${stride} * k) & ${mask})];`;
  });
  return `kernel void probe(${PARAMETERS}) {
  local int near_int[512];
  global const int *far_int = from;
  global int *out = to;
  long far_long[512];
  short far_short[512];
  for (int k = get_local_id(0); k < 512; k += get_local_size(0)) near_int[k] = from[k];
  for (int k = 0; k < 512; k++) far_long[k] = far_short[k] = from[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
${loops.join('\n')}
  }
}
`;
}
