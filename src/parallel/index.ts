/**
 * The entry point `tsamba/parallel`: what CUDA's users have in CUB and Thrust, over arrays and lazy inputs, with functions of the user as operators.
 */
/// <reference lib="esnext.disposable" preserve="true" />

export type { AllElements, AlongAxis } from './axis.ts';
export {
  type Bincount,
  type BincountCall,
  type BincountOptions,
  bincount,
  type Histogram,
  type Histogram2d,
  type Histogram2dCall,
  type Histogram2dOptions,
  type HistogramCall,
  type HistogramOptions,
  histogram,
  histogram2d,
  type Range,
} from './histogram.ts';
export { constant, counting, Lazy, map, permute, reverse, strided, type Zipped, zip } from './lazy.ts';
export { collect, gather, type MoveOptions, type ShuffleOptions, scatter, shuffle } from './moving.ts';
export type { OperatorName } from './operator.ts';
export type { Primitive } from './primitive.ts';
export {
  type Ask,
  type AskCall,
  all,
  any,
  argmax,
  argmin,
  countIf,
  type Extent,
  type MinMax,
  type MinMaxCall,
  minmax,
  type Test,
  type TestCall,
} from './queries.ts';
export {
  type Reduce,
  type ReduceCall,
  type ReduceInto,
  type ReduceIntoCall,
  type ReduceIntoOptions,
  type ReduceOptions,
  reduce,
  reduceInto,
} from './reduce.ts';
export {
  type ReduceByKey,
  type ReduceByKeyOptions,
  type RunLengthEncode,
  type Runs,
  reduceByKey,
  reduceByKeyInto,
  runLengthEncode,
  runLengthEncodeInto,
} from './runs.ts';
export { exclusiveScan, inclusiveScan, type ScanFunction, type ScanOptions } from './scan.ts';
export {
  type ScanByKey,
  type SegmentedScan,
  type SegmentedScanOptions,
  scanByKey,
  segmentedScan,
} from './scan-by-key.ts';
export { type MergeOptions, merge, type SearchOptions, searchSorted } from './searching.ts';
export {
  type SegmentedReduce,
  type SegmentedReduceCall,
  type SegmentedReduceOptions,
  segmentedReduce,
} from './segmented.ts';
export { type SegmentedSort, segmentedSort } from './segmented-sort.ts';
export {
  type Chooser,
  type Partition,
  type Parts,
  partition,
  partitionInto,
  type Select,
  select,
  selectInto,
} from './select.ts';
export {
  type Argsort,
  type ArgsortCall,
  argsort,
  type Order,
  type Sort,
  type SortCall,
  type SortOptions,
  sort,
  stableSort,
} from './sort.ts';
export { type SortByKey, type SortByKeyOptions, type Sorted, sortByKey } from './sort-by-key.ts';
export { type Top, type TopK, type TopKOptions, topK } from './top-k.ts';
export { type OutOptions, type Transform, type TransformCalls, transform } from './transform.ts';
export type {
  BigArray,
  Elements,
  ElementTypes,
  InKernels,
  LazyLike,
  NumberArray,
  OnStream,
  OperatorLike,
  Sequence,
} from './types.ts';
export {
  type KeyedValues,
  type Unique,
  type UniqueByKey,
  unique,
  uniqueByKey,
  uniqueByKeyInto,
  uniqueInto,
} from './unique.ts';
