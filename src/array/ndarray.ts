/**
 * `NDArray`: a strided array in host memory, over a TypedArray.
 *
 * Indexing, slicing and views follow NumPy; all of their arithmetic is `layout/`, and slices share memory. Making arrays from
 * other things is `ndarray-create.ts` and `ndarray-input.ts`, copying and conversion `ndarray-copy.ts`, printing
 * `ndarray-print.ts`.
 */
import { NDARRAY } from '../compiler/contract.ts';
import {
  asDType,
  bytesOf,
  type Codec,
  codecOf,
  type DataOf,
  type DType,
  type DTypeLike,
  dataClassOf,
  describeDType,
  type FieldElement,
  type FieldOf,
  type InKernel,
  isDType,
  memberOf,
  type Plain,
  type Scalar,
  type TypedArray,
  type ValueOf,
} from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { COMPARED, guardProperties } from '../guarded.ts';
import {
  broadcastForAssignment,
  checkBounds,
  compactLayout,
  elementOffset,
  formatShape,
  indexLayout,
  inferShape,
  isCContiguous,
  isFContiguous,
  normalizeOrder,
  type Order,
  type ReshapeOrder,
  reshapeLayout,
  resolveOrder,
  type ShapeLike,
  type SliceSpec,
  type StridedLayout,
  sizeOf,
  sliceLayout,
  transposeLayout,
  viewLayout,
} from '../layout/index.ts';
import { UNCLONEABLE_HOST_ARRAY } from '../memory/uncloneable.ts';
import { readOptions } from '../options.ts';
import { copyElements, fillElements, type HostMemory } from './ndarray-copy.ts';
import { type Described, dataOver, describeSource, readOwnArraysBy } from './ndarray-input.ts';
import { printArray } from './ndarray-print.ts';
import type { RankMark } from './rank.ts';
import { reshapeArguments, reshapedInPlace } from './reshaping.ts';

/** The rank that a shape argument stands for: a number has one axis, a tuple as many as it is long. */
export type RankOf<S> = S extends number | bigint ? 1 : S extends readonly unknown[] ? S['length'] : number;

/** What `toArray` gives: nested arrays, as deep as the array has axes. */
export type NestedOf<V, R extends number> = R extends 0
  ? V
  : R extends 1
    ? V[]
    : R extends 2
      ? V[][]
      : R extends 3
        ? V[][][]
        : unknown;

/** What an index picks of a captured array in a kernel. */
// biome-ignore lint/suspicious/noExplicitAny: an element or a row, where the rank is not known
type ItemOf<T, R extends number> = R extends 1 ? InKernel<T> : R extends 2 | 3 | 4 ? NDArray<T, LessOne<R>> : any;

type LessOne<R extends number> = R extends 4 ? 3 : R extends 3 ? 2 : 1;

let readState: (value: object) => Described | undefined;
let comparedState: PropertyDescriptor;

/**
 * A host array of `T` with `R` axes over a TypedArray; made by `ndarray()`. Slices and transposes share its memory. Strides and
 * offsets are bytes. NumPy's `ndarray`.
 */
export class NDArray<T = Scalar, R extends number = number> implements HostMemory {
  /** @internal Makes a structured clone fail with a message that says what to do; must stay the first property. */
  readonly crossThread: symbol = UNCLONEABLE_HOST_ARRAY;
  /** Phantom: tells ranks apart in the editor. */
  declare readonly '~rank'?: RankMark<R>;
  /** In a kernel that captured the array: an element, or a row. On the host it throws, and `get` reads an element. */
  readonly [index: number]: ItemOf<T, R>;
  readonly #data: TypedArray;
  readonly #dtype: DType<T>;
  #layout: StridedLayout;
  readonly #view: DataView;
  readonly #codec: Codec;
  readonly #bytes: Uint8Array;
  readonly #byteLength: number;

  /**
   * An array over memory that exists; users call `ndarray()`. Throws RangeError when an element lies outside `data`.
   */
  constructor(data: TypedArray, dtype: DType<T>, layout: Omit<StridedLayout, 'itemSize'>) {
    if (!ArrayBuffer.isView(data) || !isDType(dtype) || typeof layout !== 'object' || layout === null) {
      throw new TsambaTypeError('E_HOST_ARRAY', 'host arrays are made by ndarray(data, { shape, dtype })');
    }
    const bytes = bytesOf(data);
    this.#bytes = bytes;
    this.#byteLength = bytes.length;
    const { itemSize } = dtype;
    // Copied before it is checked: what is handed in could say something else when it is read again.
    const own = ownLayout({ ...layout, itemSize });
    checkBounds(own, bytes.length, 'the data');
    this.#data = data;
    this.#dtype = dtype;
    this.#layout = own;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#codec = codecOf(dtype);
    Object.defineProperty(this, COMPARED, comparedState);
    // Classes that are made of this one may still add fields.
    if (new.target === NDArray) Object.freeze(this);
  }

  static {
    readState = (value) => {
      if (!(#data in value)) return undefined;
      value.checkMemory();
      return { data: value.#data, bytes: value.#bytes, dtype: value.#dtype, layout: value.#layout };
    };
    comparedState = {
      enumerable: true,
      get(this: NDArray): unknown {
        return { data: this.#data, dtype: this.#dtype, layout: this.#layout };
      },
    };
  }

  /**
   * The elements: bool as bytes 0 and 1, f16 as its bits, complex as pairs, structs as bytes. Views share it, so it may hold
   * more than this array; `byteOffset` and `strides` say where the elements are.
   */
  get data(): DataOf<T> {
    return this.#data as DataOf<T>;
  }

  /** The type of the elements. */
  get dtype(): DType<T> {
    return this.#dtype;
  }

  /** Assigning a shape of as many elements is `reshape` in place, where no element need be moved. */
  get shape(): readonly number[] {
    return this.#layout.shape;
  }

  set shape(shape: ShapeLike) {
    this.#layout = ownLayout(reshapedInPlace(this.#layout, shape));
  }

  /** Bytes from one element to the next along each axis. */
  get strides(): readonly number[] {
    return this.#layout.strides;
  }

  /** Bytes from the start of `data` to the first element. */
  get byteOffset(): number {
    return this.#layout.offset;
  }

  /** Shape, strides, offset and item size in one, as the layout functions take them. */
  get layout(): StridedLayout {
    return this.#layout;
  }

  /** All bytes of `data`. Throws TypeError when the ArrayBuffer was detached, or shrunk below them. */
  get bytes(): Uint8Array {
    this.checkMemory();
    return this.#bytes;
  }

  /** Number of axes. NumPy: `ndim`. */
  get ndim(): R {
    return this.#layout.shape.length as R;
  }

  /** Number of elements. */
  get size(): number {
    return sizeOf(this.#layout.shape);
  }

  /** Bytes that the elements take, without gaps and repetitions. */
  get nbytes(): number {
    return this.size * this.#dtype.itemSize;
  }

  /** Bytes of one element. */
  get itemSize(): number {
    return this.#dtype.itemSize;
  }

  /** The array with its axes reversed; shares memory. */
  get T(): NDArray<T, R> {
    return this.transpose();
  }

  /** One element: `a.get(i, j)`. Negative indices count from the end. Throws RangeError out of range, TypeError. */
  get(...index: number[]): Plain<T> {
    return this.#codec.read(this.#memory, elementOffset(this.#layout, index)) as Plain<T>;
  }

  /**
   * Assigns a scalar or an array, which is broadcast, to the elements that an index picks (`slice`'s forms; all of them when
   * there is none): `a.set(1, 2, 3)`, `a.set(row, ':', 0)`. Values convert as by casts: floats truncate and saturate in
   * integer arrays. Overlapping source and target are handled. Throws RangeError, TypeError.
   */
  set(value: unknown, ...index: SliceSpec[]): void {
    if (typeof value !== 'object' && index.length === this.#layout.shape.length && index.every(isNumber)) {
      this.#codec.write(this.#memory, elementOffset(this.#layout, index), value);
      return;
    }
    const layout = indexLayout(this.#layout, index);
    const target = { bytes: this.bytes, dtype: this.#dtype, layout };
    const source = describeSource(value, this.#dtype);
    if (source !== undefined) {
      copyElements(target, { ...source, layout: broadcastForAssignment(source.layout, layout.shape) });
    } else if (layout.shape.length === 0) {
      this.#codec.write(this.#memory, layout.offset, value);
    } else {
      fillElements(target, value);
    }
  }

  /**
   * A part of the array, sharing memory: for each axis an integer, `[start?, stop?, step?]` or `'1:5'`; axes not named are
   * taken whole. Throws TypeError when no axis is left (use `get`), RangeError out of range.
   */
  slice(...specs: SliceSpec[]): NDArray<T> {
    return this.#withLayout(sliceLayout(this.#layout, specs));
  }

  /**
   * The same elements in another shape: `a.reshape(2, 3)`, `a.reshape([2, -1], { order: 'F' })`. Elements are taken and placed in
   * the order given, whatever their order in memory; memory is shared where the strides allow it, else copied. Throws RangeError.
   */
  reshape<const S extends ShapeLike>(shape: S, options?: { readonly order?: ReshapeOrder }): NDArray<T, RankOf<S>>;
  reshape(...shape: number[]): NDArray<T>;
  reshape(...args: readonly [...shape: number[], options: { readonly order?: ReshapeOrder }]): NDArray<T>;
  reshape(...args: readonly unknown[]): NDArray<T> {
    const { shape, order } = reshapeArguments(args);
    const newShape = inferShape(shape, this.size);
    const layout = reshapeLayout(this.#layout, newShape, order);
    if (layout !== undefined) return this.#withLayout(layout);
    const resolved = resolveOrder(this.#layout, order);
    const copy = this.copy({ order: resolved });
    return copy.#withLayout(compactLayout(newShape, this.#layout.itemSize, resolved));
  }

  /** All elements along one axis, in the order given; shares memory where it can. */
  ravel(options: { readonly order?: ReshapeOrder } = {}): NDArray<T, 1> {
    return this.reshape([this.size], readOptions('ravel', options, ['order']));
  }

  /** The axes in another order (`a.transpose([1, 0])`, `a.transpose(1, 0)`), reversed by default; shares memory. */
  transpose(...axes: readonly number[] | readonly [axes?: readonly number[]]): NDArray<T, R> {
    const [first] = axes;
    const order = first === undefined ? undefined : typeof first === 'number' ? (axes as readonly number[]) : first;
    return this.#withLayout(transposeLayout(this.#layout, order)) as NDArray<T, R>;
  }

  /**
   * The same bytes as elements of another type. Another item size needs a C-contiguous array, whose last axis is resized.
   * Throws RangeError.
   */
  view<const D extends DTypeLike>(dtype: D): NDArray<ValueOf<D>, R> {
    const target = asDType(dtype);
    const layout = viewLayout(this.#layout, target.itemSize);
    const { data, offset } = dataOver(this.#data, target, layout);
    return this.derive(data, target, { ...layout, offset }) as NDArray<ValueOf<D>, R>;
  }

  /**
   * The member of every struct (or part of every complex number) as an array over the same memory; a sub-array adds its axes at the
   * end. NumPy: `a['x']`. Throws TypeError when there is none of this name.
   */
  field<K extends FieldOf<T>>(name: K): NDArray<FieldElement<T, K>> {
    const { dtype, offset, shape, strides } = memberOf(this.#dtype, name);
    const layout = {
      shape: [...this.#layout.shape, ...shape],
      strides: [...this.#layout.strides, ...strides],
      offset: this.#layout.offset + offset,
      itemSize: dtype.itemSize,
    };
    const over = dataOver(this.#data, dtype, layout);
    return this.derive(over.data, dtype as DType<FieldElement<T, K>>, { ...layout, offset: over.offset });
  }

  /** A compact copy: in C order, or as given. */
  copy(options: { readonly order?: Order } = {}): NDArray<T, R> {
    return this.#convert(this.#dtype, normalizeOrder(readOptions('copy', options, ['order']).order)) as NDArray<T, R>;
  }

  /** A compact copy with the elements converted as by casts. Throws TypeError from complex to real, and for structs. */
  astype<const D extends DTypeLike>(dtype: D, options: { readonly order?: Order } = {}): NDArray<ValueOf<D>, R> {
    const { order } = readOptions('astype', options, ['order']);
    return this.#convert(asDType(dtype), normalizeOrder(order)) as NDArray<ValueOf<D>, R>;
  }

  #convert<U>(dtype: DType<U>, order: Order): NDArray<U> {
    const result = allocate(this.#layout.shape, dtype, order);
    copyElements(result, this);
    return result;
  }

  #withLayout(layout: StridedLayout): NDArray<T> {
    return this.derive(this.#data, this.#dtype, layout);
  }

  /** @internal A view of the same memory; arrays over memory of the driver's make one that shares its owner. */
  protected derive<U>(data: TypedArray, dtype: DType<U>, layout: Omit<StridedLayout, 'itemSize'>): NDArray<U> {
    return new NDArray<U>(data, dtype, layout);
  }

  /** The elements as nested JavaScript arrays; of a 0-d array, its element. */
  toArray(): NestedOf<Plain<T>, R> {
    const memory = this.#memory;
    const nest = (axis: number, offset: number): unknown => {
      const length = this.#layout.shape[axis];
      if (length === undefined) return this.#codec.read(memory, offset);
      const stride = this.#layout.strides[axis] ?? 0;
      return Array.from({ length }, (_, i) => nest(axis + 1, offset + i * stride));
    };
    return nest(0, this.#layout.offset) as NestedOf<Plain<T>, R>;
  }

  /** Whether the elements lie without gaps, last axis fastest (axes of length 1 are ignored). */
  isCContiguous(): boolean {
    return isCContiguous(this.#layout.shape, this.#layout.strides, this.#layout.itemSize);
  }

  /** Whether the elements lie without gaps, first axis fastest (axes of length 1 are ignored). */
  isFContiguous(): boolean {
    return isFContiguous(this.#layout.shape, this.#layout.strides, this.#layout.itemSize);
  }

  /** Nested arrays, as `toArray` gives them; bigints are for the caller's replacer, as everywhere in JSON. */
  toJSON(): unknown {
    return this.toArray();
  }

  toString(): string {
    if (this.#bytes.length === this.#byteLength) return printArray(this);
    return `NDArray ${describeDType(this.#dtype)} ${formatShape(this.#layout.shape)} (its memory ${GONE})`;
  }

  get #memory(): DataView {
    this.checkMemory();
    return this.#view;
  }

  /** @internal A detached ArrayBuffer, or one that was resized to less, leaves views of length 0: no read may take that for data. */
  protected checkMemory(): void {
    if (this.#bytes.length === this.#byteLength) return;
    throw new TsambaTypeError(
      'E_DETACHED',
      `the memory of this array of shape ${formatShape(this.#layout.shape)} ${GONE}`,
    );
  }
}

const GONE = 'is gone: its ArrayBuffer was transferred, or resized to less';

// By this property an array is known to be one, whichever copy of the library made it. It is defined outside of the class,
// because isolated declarations allow no computed names in one.
Object.defineProperty(NDArray.prototype, NDARRAY, {
  get(this: NDArray): NDArray {
    return this;
  },
});
/** What `console.log` shows in Node. */
Object.defineProperty(NDArray.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(this: NDArray): string {
    return this.toString();
  },
});

guardProperties('NDArray', NDArray.prototype);
readOwnArraysBy(readState);

/** A copy of a layout that nobody can change. */
function ownLayout({ shape, strides, offset, itemSize }: StridedLayout): StridedLayout {
  return Object.freeze({
    shape: Object.freeze([...shape]),
    strides: Object.freeze([...strides]),
    offset,
    itemSize,
  });
}

/** A new array of zeros. */
export function allocate<T>(shape: readonly number[], dtype: DType<T>, order: Order = 'C'): NDArray<T> {
  const Data = dataClassOf(dtype);
  const bytes = sizeOf(shape) * dtype.itemSize;
  let data: TypedArray;
  try {
    data = new Data(bytes / Data.BYTES_PER_ELEMENT);
    // An engine may have arrays of so many bytes, but no bytes of so many.
    bytesOf(data);
  } catch (cause) {
    throw new TsambaRangeError(
      'E_SHAPE',
      `a host array of shape ${formatShape(shape)} takes ${bytes} bytes, more than this engine or machine has for one`,
      { cause },
    );
  }
  return new NDArray<T>(data, dtype, compactLayout(shape, dtype.itemSize, order));
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}
