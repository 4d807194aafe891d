/**
 * The modules of tests that only a GPU can run. Add yours here, one import and one entry each; `suite.ts` says what they look like.
 */
import type { GpuModule } from './suite.ts';

export const modules: readonly GpuModule[] = [];
