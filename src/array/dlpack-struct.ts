/**
 * DLPack's structs in native memory: DLManagedTensor and, from version 1 on, DLManagedTensorVersioned, 64-bit layouts.
 *
 * Reads and writes bytes; whose memory the tensors are is `dlpack.ts` and `dlpack-export.ts`.
 * https://dmlc.github.io/dlpack/latest/c_api.html
 */
import {
  c64,
  c128,
  type DType,
  isScalarDType,
  rowOf,
  SCALAR_NAMES,
  SCALAR_TOKENS,
  type ScalarName,
} from '../dtype/index.ts';
import { NotSupportedError, TsambaRangeError } from '../errors.ts';
import type { Address, Ffi } from '../ffi/ffi.ts';
import { cStrides } from '../layout/index.ts';

/** DLDeviceType: where a tensor's memory is. */
export const DL_CPU = 1;
export const DL_CUDA = 2;
export const DL_CUDA_HOST = 3;
export const DL_CUDA_MANAGED = 13;

/** Which of the two structs: 0 is DLManagedTensor, 1 DLManagedTensorVersioned. */
export type DlpackVersion = 0 | 1;

/** What both structs say. */
export interface DlpackTensor {
  /** Address of the first element; 0 when there are none. */
  readonly address: number;
  readonly deviceType: number;
  readonly deviceIndex: number;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Bytes. */
  readonly strides: readonly number[];
  readonly readOnly: boolean;
}

/** Offsets in bytes: the tensor, who deletes it, flags, and the size of it all. */
const LAYOUTS = [
  { tensor: 0, deleter: 56, flags: undefined, bytes: 64 },
  { tensor: 32, deleter: 16, flags: 24, bytes: 80 },
] as const;

/** DLTensor, from its start. */
const DATA = 0;
const DEVICE_TYPE = 8;
const DEVICE_INDEX = 12;
const NDIM = 16;
const DTYPE = 20;
const SHAPE = 24;
const STRIDES = 32;
const BYTE_OFFSET = 40;

const READ_ONLY = 1n;
const MINOR = 0;

/** DLDataTypeCode by NumPy's kinds, where a type has none of its own. */
const CODES: Readonly<Record<string, number>> = { i: 0, u: 1, f: 2, c: 5, b: 6 };

function codeOf(dtype: DType): number | undefined {
  return (isScalarDType(dtype) ? rowOf(dtype.name as ScalarName).dlpack : undefined) ?? CODES[dtype.kind];
}

/** What has a code; of two types with the same elements the first. */
const DTYPES: readonly DType[] = [...SCALAR_NAMES.map((name) => SCALAR_TOKENS[name]), c64, c128];

/** A tensor as a struct in memory of its own, which must be kept as long as anybody may read it. Throws for structs and gaps that DLPack has no words for. */
export function writeTensor(
  ffi: Ffi,
  tensor: DlpackTensor,
  version: DlpackVersion,
  deleter: Address,
): { readonly pointer: number; readonly memory: ArrayBuffer } {
  const { dtype, shape } = tensor;
  const code = codeOf(dtype);
  if (code === undefined) {
    throw new NotSupportedError(
      'E_DLPACK',
      `DLPack has no type for elements of ${dtype.name}: view() the array as bytes`,
    );
  }
  if (tensor.readOnly && version === 0) {
    throw new NotSupportedError('E_DLPACK', 'DLManagedTensor cannot say that memory is read-only: use { version: 1 }');
  }
  const strides = tensor.strides.map((stride, axis) => elementsOf(stride, dtype.itemSize, shape[axis] ?? 1));
  const layout = LAYOUTS[version];
  const ndim = shape.length;
  const memory = new ArrayBuffer(layout.bytes + 16 * ndim);
  const pointer = Number(ffi.address(new Uint8Array(memory)));
  const view = new DataView(memory);
  if (version === 1) {
    view.setUint32(0, 1, true);
    view.setUint32(4, MINOR, true);
    view.setBigUint64(24, tensor.readOnly ? READ_ONLY : 0n, true);
  }
  view.setBigUint64(layout.deleter, BigInt(deleter), true);
  const at = layout.tensor;
  view.setBigUint64(at + DATA, BigInt(tensor.address), true);
  view.setInt32(at + DEVICE_TYPE, tensor.deviceType, true);
  view.setInt32(at + DEVICE_INDEX, tensor.deviceIndex, true);
  view.setInt32(at + NDIM, ndim, true);
  view.setUint8(at + DTYPE, code);
  view.setUint8(at + DTYPE + 1, 8 * dtype.itemSize);
  view.setUint16(at + DTYPE + 2, 1, true);
  if (ndim > 0) {
    view.setBigUint64(at + SHAPE, BigInt(pointer + layout.bytes), true);
    view.setBigUint64(at + STRIDES, BigInt(pointer + layout.bytes + 8 * ndim), true);
  }
  for (let axis = 0; axis < ndim; axis++) {
    view.setBigInt64(layout.bytes + 8 * axis, BigInt(shape[axis] ?? 0), true);
    view.setBigInt64(layout.bytes + 8 * (ndim + axis), BigInt(strides[axis] ?? 0), true);
  }
  return { pointer, memory };
}

function elementsOf(stride: number, itemSize: number, length: number): number {
  const elements = stride / itemSize;
  if (Number.isInteger(elements)) return elements;
  // Nobody steps along such an axis.
  if (length <= 1) return 0;
  throw new NotSupportedError(
    'E_DLPACK',
    `DLPack counts strides in elements, but a stride of ${stride} bytes is not a multiple of ${itemSize}: copy the array first`,
  );
}

/** Reads a struct, and where the function is that deletes it (0: there is none). Throws for tensors that have no counterpart here. */
export function readTensor(
  ffi: Ffi,
  pointer: Address,
  version: DlpackVersion,
): { readonly tensor: DlpackTensor; readonly deleter: bigint } {
  const layout = LAYOUTS[version];
  const view = copyOf(ffi, pointer, layout.bytes);
  if (version === 1) checkVersion(view.getUint32(0, true), view.getUint32(4, true));
  const at = layout.tensor;
  const ndim = view.getInt32(at + NDIM, true);
  if (ndim < 0 || ndim > 64) {
    throw new TsambaRangeError(
      'E_DLPACK',
      `fromDlpack: ${ndim} axes: the pointer is not one of a tensor of this version`,
    );
  }
  const dtype = dtypeOf(view, at + DTYPE);
  const shape = integers(ffi, view.getBigUint64(at + SHAPE, true), ndim);
  const stridesAt = view.getBigUint64(at + STRIDES, true);
  const strides =
    stridesAt === 0n ? cStrides(shape, dtype.itemSize) : integers(ffi, stridesAt, ndim).map((n) => n * dtype.itemSize);
  const address = Number(view.getBigUint64(at + DATA, true) + view.getBigUint64(at + BYTE_OFFSET, true));
  const flags = layout.flags === undefined ? 0n : view.getBigUint64(layout.flags, true);
  return {
    tensor: {
      address,
      deviceType: view.getInt32(at + DEVICE_TYPE, true),
      deviceIndex: view.getInt32(at + DEVICE_INDEX, true),
      dtype,
      shape,
      strides,
      readOnly: (flags & READ_ONLY) !== 0n,
    },
    deleter: view.getBigUint64(layout.deleter, true),
  };
}

function checkVersion(major: number, minor: number): void {
  if (major === 1) return;
  throw new NotSupportedError(
    'E_DLPACK',
    `fromDlpack: DLPack version ${major}.${minor} is not known; a DLManagedTensor without a version needs { version: 0 }`,
  );
}

function dtypeOf(view: DataView, at: number): DType {
  const [code, bits, lanes] = [view.getUint8(at), view.getUint8(at + 1), view.getUint16(at + 2, true)];
  const dtype = DTYPES.find((known) => codeOf(known) === code && known.itemSize * 8 === bits);
  if (dtype !== undefined && lanes === 1) return dtype;
  throw new NotSupportedError(
    'E_DLPACK',
    `fromDlpack: elements of type code ${code} with ${bits} bits and ${lanes} lanes have no counterpart here`,
  );
}

function integers(ffi: Ffi, pointer: bigint, count: number): number[] {
  if (count === 0) return [];
  const view = copyOf(ffi, pointer, 8 * count);
  return Array.from({ length: count }, (_, k) => Number(view.getBigInt64(8 * k, true)));
}

/** The bytes as they are now: the original may be deleted at any time. */
function copyOf(ffi: Ffi, pointer: Address, bytes: number): DataView {
  if (Number(pointer) === 0) throw new TsambaRangeError('E_DLPACK', 'fromDlpack: a null pointer');
  return new DataView(ffi.view(pointer, bytes).slice(0));
}
