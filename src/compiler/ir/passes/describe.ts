/**
 * A pipeline as text, in a module of its own, which pages load when it is called.
 */
export { describePasses } from './describing.ts';
