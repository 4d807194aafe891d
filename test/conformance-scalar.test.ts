/**
 * The conformance suite on the CPU device without SIMD: a process of its own, as the choice is made once.
 */
import { defineConformance } from './support/conformance.ts';

await defineConformance({
  title: 'scalar',
  device: 'cpu',
  environment: { TSAMBA_CPU_SIMD: '0', TSAMBA_CPU_THREADS: '1' },
});
