/**
 * How errors are worded, by the library that answers: its names, and what its results mean.
 */

/** What is known of a result beyond its name. */
export interface Meaning {
  readonly code: string;
  readonly help: string;
  /** Every later call on the context fails as well. */
  readonly sticky?: true;
}

/** The words of a library. */
export interface Vocabulary {
  /** `CUDA`, `HIP`. Devices of one platform share an address space, and what they do not survive. */
  readonly platform: string;
  /** What stands behind a function of the CUDA driver API. */
  functionName(api: string): string;
  meaning(result: number): Meaning | undefined;
}
