import { openclConformance } from './support/conformance-opencl.ts';

await openclConformance(2, 4);
