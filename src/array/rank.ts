/**
 * The phantoms by which the editor tells arrays of different rank apart, and those of `cuda` from those of `roc`. Types only: no array has
 * the properties at run time.
 *
 * They have the type of a method, because TypeScript compares the parameters of methods both ways: an array of rank 2 is then
 * no array of rank 1, while one whose rank is just `number` goes where either is wanted, and both go where `number` is.
 */

/** Whose device an array is on, where the editor knows. */
export type Namespace = 'cuda' | 'roc';

/** The type of the phantom property `~rank`. */
export type RankMark<R extends number> = { compare(rank: R): void }['compare'];
/** The type of the phantom property `~namespace`. */
export type NamespaceMark<N extends Namespace> = { compare(namespace: N): void }['compare'];
