/**
 * How a host array prints: `NDArray f32 [2, 3] [[1, 2, 3], [4, 5, 6]]`, with the middle of long axes left out.
 */
import { codecOf, type DType, describeDType } from '../dtype/index.ts';
import { formatShape, type StridedLayout, sizeOf } from '../layout/index.ts';

/** Arrays with more elements show only the ends of their axes. */
const FULL_SIZE = 200;
/** Items shown at each end of a long axis. */
const EDGE = 3;

/** Dtype, shape and elements as text. */
export function printArray(array: {
  readonly bytes: Uint8Array;
  readonly dtype: DType;
  readonly layout: StridedLayout;
}): string {
  const { shape, strides, offset } = array.layout;
  const codec = codecOf(array.dtype);
  const view = new DataView(array.bytes.buffer, array.bytes.byteOffset, array.bytes.byteLength);
  const shorten = sizeOf(shape) > FULL_SIZE;
  const print = (axis: number, at: number): string => {
    const length = shape[axis];
    if (length === undefined) return codec.show?.(view, at) ?? printElement(codec.read(view, at));
    const item = (i: number): string => print(axis + 1, at + i * (strides[axis] ?? 0));
    const range = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => item(from + i));
    const items =
      shorten && length > 2 * EDGE ? [...range(0, EDGE), '…', ...range(length - EDGE, length)] : range(0, length);
    const separator = axis === shape.length - 1 ? ', ' : `,\n${' '.repeat(axis + 1)}`;
    return `[${items.join(separator)}]`;
  };
  const body = sizeOf(shape) === 0 ? '[]' : print(0, offset);
  const gap = shape.length > 1 && body.includes('\n') ? '\n' : ' ';
  return `NDArray ${describeDType(array.dtype)} ${formatShape(shape)}${gap}${body}`;
}

function printElement(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'NaT' : value.toISOString();
  if (Array.isArray(value)) return `[${value.map(printElement).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    return `{ ${entries.map(([key, part]) => `${key}: ${printElement(part)}`).join(', ')} }`;
  }
  return String(value);
}
