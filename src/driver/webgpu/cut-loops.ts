/**
 * Asks adapters that may end loops early.
 */
export { loopsCutBy } from './rounds.ts';
