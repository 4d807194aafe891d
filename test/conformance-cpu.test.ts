/**
 * The conformance suite on the CPU device with SIMD, on the caller's thread alone.
 */
import { defineConformance } from './support/conformance.ts';

await defineConformance({ title: 'SIMD', device: 'cpu', environment: { TSAMBA_CPU_THREADS: '1' } });
