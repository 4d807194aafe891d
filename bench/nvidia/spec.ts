/**
 * What the three sides of the NVIDIA benchmark have in common: the cases, how often each is launched between two events, and
 * how near their results must be. The peers (bench/peers) get names and numbers of launches on their command lines.
 */
export interface CaseSpec {
  readonly name: string;
  /** As people call it. */
  readonly title: string;
  /** Launches between two events, so that they are 5 ms apart on a large GPU and a launch's own cost is hidden. */
  readonly launches: number;
  /** Bytes read and written by a launch, where memory is the limit. */
  readonly bytes?: number;
  /** How far a value may be from the peer's, relative to the larger of 1 and its magnitude. */
  readonly tolerance: number;
  /** Share of samples that may be further away: of counts at the edge of a chaotic set. */
  readonly outliers?: number;
}

const MI = 2 ** 20;

export const SPECS: readonly CaseSpec[] = [
  { name: 'saxpy', title: 'saxpy 64M', launches: 24, bytes: 12 * 64 * MI, tolerance: 1e-6 },
  { name: 'matmul', title: 'tiled matmul 2048', launches: 3, tolerance: 1e-4 },
  { name: 'transpose', title: 'transpose 8192', launches: 36, bytes: 8 * 8192 ** 2, tolerance: 0 },
  { name: 'stencil', title: '5-point stencil 8192', launches: 24, bytes: 8 * 8192 ** 2, tolerance: 1e-6 },
  { name: 'reduce', title: 'block reduction 64M', launches: 48, bytes: 4 * 64 * MI, tolerance: 1e-5 },
  { name: 'histogram', title: 'histogram 64M', launches: 48, bytes: 64 * MI, tolerance: 0 },
  { name: 'mandelbrot', title: 'Mandelbrot 4096', launches: 10, tolerance: 1e-3, outliers: 0.02 },
  { name: 'nbody', title: 'n-body 65,536', launches: 1, tolerance: 1e-3 },
  { name: 'blackscholes', title: 'Black-Scholes 16M', launches: 44, bytes: 20 * 16 * MI, tolerance: 1e-3 },
  { name: 'convolution', title: '3x3 convolution 8192', launches: 24, bytes: 8 * 8192 ** 2, tolerance: 1e-5 },
  { name: 'gaussian', title: 'separable blur 8192', launches: 16, bytes: 8 * 8192 ** 2, tolerance: 1e-5 },
  { name: 'resize', title: 'bilinear resize 8192', launches: 24, bytes: 4 * (6144 ** 2 + 8192 ** 2), tolerance: 1e-4 },
  { name: 'heat', title: 'heat 512 cubed', launches: 12, bytes: 8 * 512 ** 3, tolerance: 1e-5 },
  { name: 'julia', title: 'Julia set 4096, complex', launches: 10, tolerance: 1e-3, outliers: 0.02 },
  { name: 'scan', title: 'block scan 64M', launches: 24, bytes: 8 * 64 * MI, tolerance: 1e-5 },
  { name: 'layernorm', title: 'layer norm 65,536x1024', launches: 20, bytes: 8 * 64 * MI, tolerance: 1e-4 },
  { name: 'softmax', title: 'softmax 65,536x1024', launches: 16, bytes: 8 * 64 * MI, tolerance: 1e-5 },
  { name: 'bitonic', title: 'bitonic sort 16M by 512', launches: 12, tolerance: 0 },
  { name: 'matvec', title: 'matrix x vector 8192', launches: 48, bytes: 4 * 8192 ** 2, tolerance: 1e-4 },
  { name: 'spmv', title: 'sparse x vector 1M rows', launches: 20, tolerance: 1e-4 },
  // Of two points equally far away the sides may take either.
  { name: 'nearest', title: 'nearest of 65,536', launches: 1, tolerance: 1e-3, outliers: 0.02 },
  { name: 'boxmuller', title: 'normal numbers 64M', launches: 32, bytes: 8 * 32 * MI, tolerance: 1e-3 },
  { name: 'montecarlo', title: 'Monte Carlo 4M x 256', launches: 8, tolerance: 2e-2 },
  { name: 'crc', title: 'CRC-32 1M x 64 bytes', launches: 40, tolerance: 0 },
  { name: 'hash', title: 'hash of 64 bits 16M', launches: 32, tolerance: 0 },
  { name: 'levenshtein', title: 'Levenshtein 32,768 x 128', launches: 4, tolerance: 0 },
];

/** What one side found out in one process. */
export interface SideOutput {
  readonly results: Readonly<Record<string, { readonly ms: readonly number[]; readonly check: readonly number[] }>>;
  /** Milliseconds for a copy of 1 GiB on the device. */
  readonly copy?: readonly number[];
  /** Cases that could not be run, and why. */
  readonly failed?: Readonly<Record<string, string>>;
  readonly versions?: Readonly<Record<string, string>>;
}

/** What differs between two checks, or undefined. */
export function disagreement(spec: CaseSpec, a: readonly number[], b: readonly number[]): string | undefined {
  if (a.length !== b.length) return `${a.length} numbers against ${b.length}`;
  let far = 0;
  let first: string | undefined;
  for (let k = 0; k < a.length; k++) {
    const [own, theirs] = [a[k] ?? Number.NaN, b[k] ?? Number.NaN];
    if (Math.abs(own - theirs) <= spec.tolerance * Math.max(1, Math.abs(theirs))) continue;
    far++;
    first ??= `number ${k} is ${own} against ${theirs}`;
  }
  return far <= (spec.outliers ?? 0) * a.length ? undefined : `${far} of ${a.length} differ: ${first}`;
}
