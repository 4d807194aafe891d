/**
 * What the kernels of the NVIDIA benchmark share: the form of a case, and its data, which the peers make by the same formulas.
 */
import { cuda, ndarray } from 'tsamba';

/** A case that has been set up. */
export interface Contestant {
  launch(): void;
  /** Before the first launch, where kernels are compiled through promises alone. */
  compile?(): Promise<unknown>;
  /** The arrays with results. */
  readonly outputs: readonly { copyToHost(): unknown }[];
  readonly arrays: readonly { dispose(): void }[];
}

/** Divides the extents, so that small machines can try the cases; 1 for the benchmark itself. */
export type Scale = number;

/** Uniform in [0, 1), the same on all sides: Knuth's multiplicative hash of the index. */
export function hashed(n: number, seed: number): Float32Array {
  const x = new Float32Array(n);
  for (let i = 0; i < n; i++) x[i] = (Math.imul(i + seed, 2654435761) >>> 8) / 2 ** 24;
  return x;
}

/** A matrix of such numbers on the device. */
export const matrix = (rows: number, columns: number, seed: number) =>
  cuda.toDevice(ndarray(hashed(rows * columns, seed), { shape: [rows, columns] }));
