/**
 * The conformance suite on the simulator.
 */
import { defineConformance } from './support/conformance.ts';

await defineConformance({ title: 'simulator', device: 'simulator' });
