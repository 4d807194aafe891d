/**
 * The modules of tests that only a GPU can run. Add yours here, one import and one entry each; `suite.ts` says what they look like.
 */
import { endurance } from './endurance.ts';
import { runnerSelfTest } from './runner-self-test.ts';
import type { GpuModule } from './suite.ts';
import { tour } from './tour.ts';

export const modules: readonly GpuModule[] = [endurance, tour, runnerSelfTest];
