/**
 * Chapters: the primitives of `tsamba/parallel`.
 */
import type { ConformanceTest } from '../suite.ts';
import { parallelAxis } from './axis.ts';
import { collectiveItems } from './collective-items.ts';
import { collectives } from './collectives.ts';
import { parallelCounting } from './counting.ts';
import { parallelReduce } from './reduce.ts';
import { parallelScan } from './scan.ts';
import { parallelSelect } from './select.ts';
import { parallelSort } from './sort.ts';

export const parallelPrimitives: readonly ConformanceTest[] = [
  ...parallelReduce,
  ...parallelCounting,
  ...parallelSort,
  ...collectives,
  ...collectiveItems,
  ...parallelScan,
  ...parallelSelect,
  ...parallelAxis,
];
