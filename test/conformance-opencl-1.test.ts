import { openclConformance } from './support/conformance-opencl.ts';

await openclConformance(1, 4);
