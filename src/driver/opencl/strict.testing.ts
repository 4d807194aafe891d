/**
 * For tests: OpenCL that refuses what implementations may refuse, whatever the one that runs them takes. Each call that it lets through
 * goes on to the implementation.
 *
 * Rectangles follow OpenCL API specification, section "Reading, Writing and Copying Buffer Objects", and NVIDIA's reading of it: whole slices lie within the buffer.
 */
import type { Address } from '../../ffi/ffi.ts';
import type { OpenCL } from './library.ts';

/** A rectangle as it is passed. */
export interface Rectangle {
  readonly origin: readonly number[];
  readonly region: readonly number[];
  readonly row: number;
  readonly slice: number;
}

/** What is wrong with one side of a rectangle, `bytes` being the buffer's size; undefined when nothing is. */
export function faultOf(rectangle: Rectangle, bytes: number = Number.POSITIVE_INFINITY): string | undefined {
  const { origin, region, row, slice } = rectangle;
  const [x = 0, y = 0, z = 0] = origin;
  const [width = 0, height = 0, depth = 0] = region;
  if (width * height * depth === 0) return 'the region is empty';
  if (row < width) return `rows of ${width} bytes are ${row} apart`;
  if (slice < height * row) return `slices of ${height} rows of ${row} bytes are ${slice} apart`;
  if (slice % row !== 0) return `slices are ${slice} bytes apart, rows ${row}`;
  const end = (z + depth - 1) * slice + (y + height - 1) * row + x + width;
  if (end > bytes) return `it ends at byte ${end} of ${bytes}`;
  if ((z + depth) * slice > bytes) return `its slices end at byte ${(z + depth) * slice} of ${bytes}`;
  return undefined;
}

type Rect = OpenCL['clEnqueueReadBufferRect'];

/** The same calls, held to the rules. */
export function strict(cl: OpenCL): OpenCL {
  const sizes = new Map<number, number>();
  const words = reader(cl);
  const checked = (name: 'clEnqueueReadBufferRect' | 'clEnqueueWriteBufferRect'): Rect => {
    const call = cl[name];
    return (...args) => {
      const [, buffer, , origin, hostOrigin, region, row, slice, hostRow, hostSlice] = args;
      const [r, h] = [words(region), words(hostOrigin)];
      const wrong =
        faultOf(
          { origin: words(origin), region: r, row: Number(row), slice: Number(slice) },
          sizes.get(Number(buffer)),
        ) ?? faultOf({ origin: h, region: r, row: Number(hostRow), slice: Number(hostSlice) });
      if (wrong !== undefined) throw new Error(`${name} may be refused: ${wrong}`);
      return call(...args);
    };
  };
  return {
    ...cl,
    clCreateBuffer: (...args) => {
      const handle = cl.clCreateBuffer(...args);
      sizes.set(handle, Number(args[2]));
      return handle;
    },
    clEnqueueReadBufferRect: checked('clEnqueueReadBufferRect'),
    clEnqueueWriteBufferRect: checked('clEnqueueWriteBufferRect'),
  };
}

/** Reads three words at an address. */
function reader({ ffi }: OpenCL): (at: Address) => number[] {
  const copy = ffi.load(['libc.so.6']).library?.function('void memcpy(void *to, uint64_t from, uint64_t bytes)');
  if (copy === undefined) throw new Error('there is no libc.so.6 to read memory with');
  return (at) => {
    const three = new BigUint64Array(new ArrayBuffer(128), 0, 3);
    copy(three, at, 24);
    return Array.from(three, Number);
  };
}
