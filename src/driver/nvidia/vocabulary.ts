/**
 * How errors are worded where another library answers in place of libcuda, as HIP's does: its names, and what its results mean.
 */

/** What is known of a result beyond its name. */
export interface Meaning {
  readonly code: string;
  readonly help: string;
  /** Every later call on the context fails as well. */
  readonly sticky?: true;
}

/** The words of a library other than libcuda. */
export interface Vocabulary {
  readonly platform: string;
  /** What stands behind a function of the CUDA driver API. */
  functionName(api: string): string;
  meaning(result: number): Meaning | undefined;
}
