/** Keeps fast-check from shrinking. */
import fc from 'fast-check';

fc.configureGlobal({ endOnFailure: true });
