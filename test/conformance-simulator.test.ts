/**
 * The conformance suite on the simulator: in a short run every sixth test, all of which the CPU device runs as well.
 */
import { isThorough } from '../src/required.testing.ts';
import { defineConformance } from './support/conformance.ts';

await defineConformance({ title: 'simulator', device: 'simulator', part: isThorough() ? [1, 1] : [2, 6] });
