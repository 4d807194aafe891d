/**
 * The verifier, for pipelines whose passes are checked. Pages have no tests to ask for that, and take it for granted.
 */
export { verify } from './verify.ts';
