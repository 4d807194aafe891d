/**
 * Copying and converting elements between any two layouts in host memory, element-exact: no byte between elements is touched.
 *
 * Elements of one dtype are moved as bytes, so that NaNs keep their bits and structs their padding. Others are converted one by
 * one by the rule of casts.
 */

import type { HostSide } from '../driver/driver.ts';
import { copyStrided } from '../driver/strided.ts';
import {
  areConvertible,
  codecOf,
  converterBetween,
  type DType,
  dataClassOf,
  describeDTypes,
  hasPlainData,
  inUnit,
  isScalarDType,
  isTextDType,
  isTimeDType,
  type ScalarName,
  sameDType,
  type TypedArray,
} from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import {
  collapseAxes,
  compactLayout,
  forEachRun,
  formatShape,
  mayOverlap,
  mayOverlapItself,
  type StridedLayout,
  sizeOf,
} from '../layout/index.ts';

/** An array in host memory as copies see it. `layout.offset` counts from the start of `bytes`. */
export interface HostMemory {
  readonly bytes: Uint8Array;
  readonly dtype: DType;
  readonly layout: StridedLayout;
}

/**
 * Copies all elements of `source` to `target`, which has the same shape, converting them where the dtypes differ (integers
 * wrap, floats saturate in integer types). Overlapping arrays behave as if the source had been copied out first. Where elements
 * of the target coincide, the last in index order stays. Throws RangeError for shapes, TypeError for dtypes that do not
 * convert.
 */
export function copyElements(target: HostMemory, source: HostMemory): void {
  const { shape } = target.layout;
  if (String(shape) !== String(source.layout.shape)) {
    throw new TsambaRangeError(
      'E_SHAPE_MISMATCH',
      `cannot copy an array of shape ${formatShape(source.layout.shape)} to one of shape ${formatShape(shape)}`,
    );
  }
  const convert = conversion(source.dtype, target.dtype);
  const from = overlapping(target, source) ? copyOut(source) : source;
  if (convert === undefined) moveElements(target, from);
  else if (!convertRuns(target, from)) convertElements(target, from, convert);
}

/** Writes one value, converted, to every element. */
export function fillElements(target: HostMemory, value: unknown): void {
  const { dtype, layout } = target;
  const bytes = new Uint8Array(dtype.itemSize);
  codecOf(dtype).write(new DataView(bytes.buffer), 0, value);
  const repeated = { ...layout, strides: layout.shape.map(() => 0), offset: 0 };
  moveElements(target, { bytes, dtype, layout: repeated });
}

/** How elements convert; undefined when they are the same and bytes can be moved. Throws TypeError when they do not. */
function conversion(from: DType, to: DType): ((value: unknown) => unknown) | undefined {
  if (sameDType(from, to)) return undefined;
  if (isScalarDType(from) && isScalarDType(to)) return converterBetween(from.name as ScalarName, to.name as ScalarName);
  if (to.kind === 'c' && (from.kind === 'c' || isScalarDType(from))) return (value) => value;
  if (isTextDType(from) && isTextDType(to)) return (value) => value;
  if (isTimeDType(from) && isTimeDType(to) && areConvertible(from, to)) return (value) => inUnit(from, to, value);
  const hint =
    from.kind === 'c'
      ? `; take the parts with view(${from.name === 'c64' ? 'f32' : 'f64'})`
      : isTimeDType(from) || isTimeDType(to)
        ? '; the counts of a date are seen through view(i64)'
        : '';
  const [own, wanted] = describeDTypes(from, to);
  throw new TsambaTypeError('E_CONVERT', `elements of ${own} cannot be converted to ${wanted}${hint}`);
}

function overlapping(target: HostMemory, source: HostMemory): boolean {
  if (target.bytes.buffer !== source.bytes.buffer) return false;
  const inBuffer = ({ bytes, layout }: HostMemory): StridedLayout => ({
    ...layout,
    offset: bytes.byteOffset + layout.offset,
  });
  return mayOverlap(inBuffer(target), inBuffer(source));
}

function copyOut(source: HostMemory): HostMemory {
  const { shape } = source.layout;
  const { itemSize } = source.dtype;
  const copy = {
    bytes: new Uint8Array(sizeOf(shape) * itemSize),
    dtype: source.dtype,
    layout: compactLayout(shape, itemSize),
  };
  moveElements(copy, source);
  return copy;
}

function moveElements(target: HostMemory, source: HostMemory): void {
  const { shape, itemSize } = target.layout;
  copyStrided({ target: sideOf(target), source: sideOf(source), shape, itemSize });
}

function sideOf({ bytes, layout: { offset, strides } }: HostMemory): HostSide {
  return { bytes, offset, strides };
}

/** Lets the engine convert whole runs where its rule is ours and both sides are compact; false when that is not so. */
function convertRuns(target: HostMemory, source: HostMemory): boolean {
  const [to, from] = [target.dtype, source.dtype];
  if (!hasPlainData(to) || !hasPlainData(from)) return false;
  // Floats wrap in the engine's integer arrays and saturate in ours. 64-bit integers convert only among themselves.
  if (from.kind === 'f' && to.kind !== 'f') return false;
  if (isBig(from) !== isBig(to)) return false;
  if (mayOverlapItself(target.layout.shape, target.layout.strides, to.itemSize)) return false;
  const axes = collapseAxes(target.layout.shape, [target.layout.strides, source.layout.strides]);
  const [targetStep, sourceStep] = axes.strides.map((strides) => strides.at(-1));
  if (targetStep !== to.itemSize || sourceStep !== from.itemSize) return false;
  const targetData = wholeData(target);
  const sourceData = wholeData(source);
  if (targetData === undefined || sourceData === undefined) return false;
  const { offset: targetOffset } = target.layout;
  const { offset: sourceOffset } = source.layout;
  if (!aligned(axes.strides[0], targetOffset, to.itemSize)) return false;
  if (!aligned(axes.strides[1], sourceOffset, from.itemSize)) return false;
  forEachRun(axes, [targetOffset, sourceOffset], ([t = 0, s = 0], length) => {
    const start = s / from.itemSize;
    setNumbers(targetData, sourceData.subarray(start, start + length), t / to.itemSize);
  });
  return true;
}

function isBig(dtype: DType): boolean {
  return dtype.kind !== 'f' && dtype.itemSize === 8;
}

function setNumbers(target: TypedArray, source: TypedArray, at: number): void {
  // Both hold numbers or both hold bigints, which the caller has seen to and the types do not show.
  (target as Float64Array).set(source as Float64Array, at);
}

/** The memory as its dtype's TypedArray, as far as whole elements go; undefined when it is not aligned for that. */
function wholeData({ bytes, dtype }: HostMemory): TypedArray | undefined {
  if (bytes.byteOffset % dtype.itemSize !== 0) return undefined;
  return new (dataClassOf(dtype))(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / dtype.itemSize));
}

function aligned(strides: readonly number[] | undefined, offset: number, itemSize: number): boolean {
  return offset % itemSize === 0 && strides?.every((stride) => stride % itemSize === 0) === true;
}

function convertElements(target: HostMemory, source: HostMemory, convert: (value: unknown) => unknown): void {
  const write = codecOf(target.dtype);
  const read = codecOf(source.dtype);
  const to = viewOf(target.bytes);
  const from = viewOf(source.bytes);
  const step = (axis: number): [number, number] => [target.layout.strides[axis] ?? 0, source.layout.strides[axis] ?? 0];
  // In index order, so that where elements of the target coincide, the last one stays.
  const descend = (axis: number, t: number, s: number): void => {
    const length = target.layout.shape[axis];
    if (length === undefined) {
      write.write(to, t, convert(read.read(from, s)));
      return;
    }
    const [targetStep, sourceStep] = step(axis);
    for (let i = 0; i < length; i++) descend(axis + 1, t + i * targetStep, s + i * sourceStep);
  };
  descend(0, target.layout.offset, source.layout.offset);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
