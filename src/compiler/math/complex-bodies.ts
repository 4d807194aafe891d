/**
 * The bodies of complex functions, at once.
 */
import { COMPLEX } from './complex-trig.ts';

export function complexBodies(): typeof COMPLEX {
  return COMPLEX;
}
