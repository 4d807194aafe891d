/**
 * What writes functions that call themselves as loops, at once.
 */
export { unfolded } from './recursion-frames.ts';
