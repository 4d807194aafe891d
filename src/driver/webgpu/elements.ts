/**
 * Small arrays of a thread as variables, for devices whose compiler leaves them in memory.
 */
export { nameElements } from './named-elements.ts';
