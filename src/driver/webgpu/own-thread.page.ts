/**
 * `own-thread.ts` in pages, where no program waits for a GPU.
 */

export function openWaiting(): undefined {}
