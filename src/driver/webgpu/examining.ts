/**
 * Asks adapters what they do beyond what WGSL guarantees, and whether they do what it guarantees.
 */
export { examine } from './examine.ts';
