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
    if (Math.abs(a[k] - b[k]) <= spec.tolerance * Math.max(1, Math.abs(b[k]))) continue;
    far++;
    first ??= `number ${k} is ${a[k]} against ${b[k]}`;
  }
  return far <= (spec.outliers ?? 0) * a.length ? undefined : `${far} of ${a.length} differ: ${first}`;
}
