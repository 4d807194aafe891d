import { openclConformance } from './support/conformance-opencl.ts';

await openclConformance(4, 4);
