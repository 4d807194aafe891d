/**
 * Short loops written out and small arrays as variables, for devices whose compiler does neither.
 */
export { nameElements } from './named-elements.ts';
