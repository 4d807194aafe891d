/**
 * The phantom by which the editor tells arrays of different rank apart. Types only: no array has the property at run time.
 *
 * It has the type of a method, because TypeScript compares the parameters of methods both ways: an array of rank 2 is then
 * no array of rank 1, while one whose rank is just `number` goes where either is wanted, and both go where `number` is.
 */

/** The type of the phantom property `~rank`. */
export type RankMark<R extends number> = { compare(rank: R): void }['compare'];
