/**
 * How a program's global arrays lie in device memory, and the bytes of their elements. Shares no code with the library.
 *
 * Each array has an allocation of its own, with a margin and gaps that hold a pattern: whatever writes there is found.
 */
import { type ArrayDecl, count, type Elem, type Narrow, SIZE, type Val } from './program.ts';

export interface Placement {
  /** Bytes of the whole allocation. */
  readonly bytes: number;
  /** Byte offset of element 0, and byte strides. */
  readonly offset: number;
  readonly strides: readonly number[];
  /** As the compiler is told. */
  readonly layout: 'C' | 'F' | 'A';
  readonly unit: number;
}

const MARGIN = 32;
const PATTERN = 0xa5;

function spread(a: ArrayDecl): { readonly strides: readonly number[]; readonly layout: 'C' | 'F' | 'A' } {
  const s = SIZE[a.elem];
  const [rows = 1, columns = 1] = a.shape;
  const flat = a.shape.length === 1;
  switch (a.layout) {
    case 'C':
      return { strides: flat ? [s] : [columns * s, s], layout: 'C' };
    case 'F':
      return flat ? { strides: [s], layout: 'C' } : { strides: [s, rows * s], layout: 'F' };
    case 'reversed':
      return { strides: flat ? [-s] : [-columns * s, -s], layout: 'A' };
    case 'stepped':
    case 'bytes':
      return { strides: flat ? [2 * s] : [(2 * columns + 1) * s, 2 * s], layout: 'A' };
    case 'transposed':
      return { strides: flat ? [3 * s] : [s, (rows + 3) * s], layout: 'A' };
    case 'broadcast':
      return { strides: flat ? [0] : [0, s], layout: 'A' };
  }
}

export function placement(a: ArrayDecl): Placement {
  const { strides, layout } = spread(a);
  const reach = a.shape.map((n, d) => (n - 1) * (strides[d] ?? 0));
  const low = reach.reduce((x, y) => x + Math.min(y, 0), 0);
  const high = reach.reduce((x, y) => x + Math.max(y, 0), 0);
  return {
    bytes: 2 * MARGIN + high - low + SIZE[a.elem],
    offset: MARGIN - low,
    strides,
    layout,
    unit: a.layout === 'bytes' ? 1 : SIZE[a.elem],
  };
}

/** Byte offset of element `i` (in C order). */
function at(a: ArrayDecl, p: Placement, i: number): number {
  const columns = a.shape[1];
  if (columns === undefined) return p.offset + i * (p.strides[0] ?? 0);
  return p.offset + Math.floor(i / columns) * (p.strides[0] ?? 0) + (i % columns) * (p.strides[1] ?? 0);
}

/** The allocation's bytes when the array holds `values`. */
export function image(a: ArrayDecl, values: readonly Val[]): Uint8Array {
  const p = placement(a);
  const bytes = new Uint8Array(p.bytes).fill(PATTERN);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < count(a); i++) write(view, at(a, p, i), a.elem, values[i] as Val);
  return bytes;
}

export interface Difference {
  readonly array: string;
  readonly what: string;
}

/** How the bytes that a device left differ from what was expected; NaNs are all alike. */
export function difference(a: ArrayDecl, expected: readonly Val[], got: Uint8Array): Difference | undefined {
  const p = placement(a);
  const view = new DataView(got.buffer, got.byteOffset, got.byteLength);
  const rest = got.slice();
  for (let i = 0; i < count(a); i++) {
    const [want, found] = [expected[i] as Val, read(view, at(a, p, i), a.elem)];
    if (!Object.is(want, found))
      return { array: a.name, what: `${a.name}[${i}] (${a.elem}) is ${show(found)}, must be ${show(want)}` };
    rest.fill(PATTERN, at(a, p, i), at(a, p, i) + SIZE[a.elem]);
  }
  const stray = rest.findIndex((b) => b !== PATTERN);
  return stray < 0 ? undefined : { array: a.name, what: `byte ${stray - p.offset} beside ${a.name} was written` };
}

export function show(v: Val): string {
  return typeof v === 'bigint' ? `${v}n` : Object.is(v, -0) ? '-0' : String(v);
}

/** The elements of an array one after another, in C order. */
export function packed(a: ArrayDecl): Uint8Array {
  const bytes = new Uint8Array(count(a) * SIZE[a.elem]);
  a.data.forEach((v, i) => void write(new DataView(bytes.buffer), i * SIZE[a.elem], a.elem, v));
  return bytes;
}

function write(view: DataView, o: number, elem: Elem, v: Val): void {
  switch (elem) {
    case 'bool':
      return view.setUint8(o, Number(v));
    case 'i8':
      return view.setInt8(o, Number(v));
    case 'u8':
    case 'u8c':
      return view.setUint8(o, Number(v));
    case 'i16':
      return view.setInt16(o, Number(v), true);
    case 'u16':
      return view.setUint16(o, Number(v), true);
    case 'i32':
      return view.setInt32(o, Number(v), true);
    case 'u32':
      return view.setUint32(o, Number(v), true);
    case 'f32':
      return view.setFloat32(o, Number(v), true);
    case 'f64':
      return view.setFloat64(o, Number(v), true);
    case 'i64':
      return view.setBigInt64(o, BigInt(v), true);
    case 'u64':
      return view.setBigUint64(o, BigInt(v), true);
    case 'f16':
    case 'bf16':
      return view.setUint16(o, bitsOf(elem, Number(v)), true);
    case 'f8e4m3':
    case 'f8e5m2':
      return view.setUint8(o, bitsOf(elem, Number(v)));
  }
}

function read(view: DataView, o: number, elem: Elem): Val {
  switch (elem) {
    case 'bool': {
      const b = view.getUint8(o);
      return b > 1 ? b : b === 1;
    }
    case 'i8':
      return view.getInt8(o);
    case 'u8':
    case 'u8c':
      return view.getUint8(o);
    case 'i16':
      return view.getInt16(o, true);
    case 'u16':
      return view.getUint16(o, true);
    case 'i32':
      return view.getInt32(o, true);
    case 'u32':
      return view.getUint32(o, true);
    case 'f32':
      return view.getFloat32(o, true);
    case 'f64':
      return view.getFloat64(o, true);
    case 'i64':
      return view.getBigInt64(o, true);
    case 'u64':
      return view.getBigUint64(o, true);
    case 'f16':
    case 'bf16':
      return VALUES[elem][view.getUint16(o, true)] as number;
    case 'f8e4m3':
    case 'f8e5m2':
      return VALUES[elem][view.getUint8(o)] as number;
  }
}

/** The value of every element, by the bits of exponent and fraction. */
function values(exponentBits: number, fractionBits: number, finite = false): readonly number[] {
  const half = 2 ** (exponentBits + fractionBits);
  const bias = 2 ** (exponentBits - 1) - 1;
  return Array.from({ length: 2 * half }, (_, bits) => {
    const sign = bits >= half ? -1 : 1;
    const [field, m] = [Math.floor((bits % half) / 2 ** fractionBits), bits % 2 ** fractionBits];
    if (finite && bits % half === half - 1) return Number.NaN;
    if (!finite && field === 2 ** exponentBits - 1) return m === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    const digits = field === 0 ? m : 2 ** fractionBits + m;
    return sign * digits * 2 ** (Math.max(field, 1) - bias - fractionBits);
  });
}

const VALUES: Readonly<Record<Narrow, readonly number[]>> = {
  f16: values(5, 10),
  bf16: values(8, 7),
  f8e4m3: values(4, 3, true),
  f8e5m2: values(5, 2),
};
const keyOf = (v: number): number | string => (Object.is(v, -0) ? '-0' : v);
const BITS_OF = Object.fromEntries(
  Object.entries(VALUES).map(([elem, list]) => [
    elem,
    new Map(list.map((v, bits) => [keyOf(v), bits] as const).reverse()),
  ]),
);

function bitsOf(elem: Narrow, x: number): number {
  const bits = BITS_OF[elem]?.get(keyOf(x));
  if (bits === undefined) throw new Error(`${x} is no ${elem}`);
  return bits;
}

/** All elements of an array in an allocation's bytes, in C order. */
export function elements(a: ArrayDecl, bytes: Uint8Array): Val[] {
  const p = placement(a);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: count(a) }, (_, i) => read(view, at(a, p, i), a.elem));
}
