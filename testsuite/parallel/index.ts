/**
 * Chapters: the primitives of `tsamba/parallel`.
 */
import type { ConformanceTest } from '../suite.ts';
import { parallelReduce } from './reduce.ts';

export const parallelPrimitives: readonly ConformanceTest[] = [...parallelReduce];
