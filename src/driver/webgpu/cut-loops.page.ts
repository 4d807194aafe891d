/**
 * What asks adapters that may end loops early: pages load it where they have such an adapter.
 */
type Rounds = typeof import('./rounds.ts');

export const loopsCutBy: Rounds['loopsCutBy'] = async (...args) => (await import('./rounds.ts')).loopsCutBy(...args);
