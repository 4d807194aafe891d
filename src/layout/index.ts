/**
 * The layout engine, gathered: pure functions over shape, strides and offset (in bytes) and item size, for host and device
 * arrays alike. Depends on nothing but the errors.
 */
export {
  normalizePermutation,
  splitLayout,
  splitLengths,
  squeezeLayout,
  transposeLayout,
  viewLayout,
} from './axes.ts';
export { broadcastForAssignment, broadcastShapes, broadcastTo } from './broadcast.ts';
export { type CollapsedAxes, collapseAxes, forEachRun } from './collapse.ts';
export {
  checkBounds,
  coreOf,
  type Extent,
  extentOf,
  isSingleRegion,
  mayOverlap,
  mayOverlapItself,
} from './extent.ts';
export {
  type Bound,
  elementOffset,
  indexLayout,
  normalizeIndex,
  type RangeSpec,
  type ResolvedRange,
  resolveRange,
  type SliceSpec,
  sliceLayout,
} from './indexing.ts';
export { inferShape, type ReshapeOrder, ravelLayout, reshapeLayout, resolveOrder } from './reshape.ts';
export {
  formatShape,
  normalizeAxis,
  normalizeOrder,
  normalizeShape,
  normalizeStrides,
  type Order,
  type ShapeLike,
  type StridedLayout,
  sizeOf,
} from './shape.ts';
export {
  classifyLayout,
  compactLayout,
  cStrides,
  fStrides,
  isCContiguous,
  isFContiguous,
  likeStrides,
  stridesFor,
  strideUnit,
} from './strides.ts';
