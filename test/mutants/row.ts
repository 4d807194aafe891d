/** A mutant as lists have it: a file below the list's folder, the text that stands there once, what to put in its place, what that does, and the tests that must find it where the battery need not. */
export type Row = readonly [file: string, find: string, replace: string, what: string, tests?: readonly string[]];
