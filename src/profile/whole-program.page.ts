/**
 * `whole-program.ts` in pages, which have no environment, no files and no standard error.
 */

/** Nothing is asked for. */
export function watchProgram(): void {}
