import { openclConformance } from './support/conformance-opencl.ts';

await openclConformance(3, 4);
