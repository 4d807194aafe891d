/**
 * The launches of a matrix product: which kernel, how it reads its operands, and over which batches.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { bf16, type DType, f16, f32, i32, type ScalarName, vectorOf } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import { scalar } from '../kernel/scalar.ts';
import type { Step } from '../kernel/steps.ts';
import { broadcastTo, collapseAxes } from '../layout/index.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { PATCH_ROWS, PATCH_THREADS, patchProduct } from './patches.ts';
import { STRIP_COLUMNS, STRIP_ROWS, stripProduct } from './strips.ts';
import { partsOf, partsSum, spreadOf, THIN, thinProduct } from './thin.ts';
import {
  type Elements,
  type ProductKernel,
  type Reading,
  type Sizes,
  THREADS,
  type Tile,
  tiledProduct,
} from './tiles.ts';
import type { SumSpec } from './words.ts';

/** Matrices along y or z of one launch. */
const MOST_MATRICES = 32768;
/** Where an index no longer fits into 32 bits. */
const MOST_ELEMENTS = 2 ** 31;

/** `C[…] = A[…] · B[…]`, all of them on the device: shapes `[…, m, k]`, `[…, k, n]`, `[…, m, n]`, of which the first axes of A and B are broadcast. */
export interface Product {
  readonly a: DeviceNDArray;
  readonly b: DeviceNDArray;
  readonly c: DeviceNDArray;
}

/** A matrix of a batch in memory: steps in elements from row to row, from column to column, from matrix to matrix. */
export interface Matrix {
  readonly array: DeviceNDArray;
  readonly row: number;
  readonly column: number;
  readonly next: number;
}

/** One launch's worth: matrices at equal distances. */
export interface Batch {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly count: number;
  readonly a: Matrix;
  readonly b: Matrix;
  readonly c: Matrix;
}

/** The kernels of products that have been needed. */
export class Products {
  readonly #jit: Jit;
  readonly #kernels = new Map<string, ProductKernel>();

  constructor(jit: Jit) {
    this.#jit = jit;
  }

  /** The launches; k is not 0. Operands that no kernel can read as they are have been copied before (`readable`). */
  steps(place: Workplace, product: Product): Step[] {
    const [strips, patches] = [inStrips(place.context, product.a.dtype), inPatches(place.context)];
    return batchesOf(place, product).flatMap((batch) => {
      if (strips) return this.#strips(place, batch);
      if (batch.m <= THIN) return this.#thin(place, batch);
      if (batch.n <= THIN) return this.#thin(place, turned(batch));
      return patches ? this.#patches(place, batch) : this.#tiles(place, batch);
    });
  }

  #strips(place: Workplace, batch: Batch): Step[] {
    const spec = sumSpecOf(batch);
    const kernel = this.#kernel(`strips ${spec.result.name} ${spec.sum.name}`, () => stripProduct(this.#jit, spec));
    return apart(place, batch, { kernel, rows: STRIP_ROWS, columns: STRIP_COLUMNS, block: STRIP_COLUMNS });
  }

  #patches(place: Workplace, batch: Batch): Step[] {
    const { n, c } = batch;
    const wide = n > 2 * PATCH_THREADS ? 4 : n > PATCH_THREADS ? 2 : 1;
    const spec = { columns: c.array.itemSize > 8 ? 1 : wide, ...sumSpecOf(batch) };
    const key = `patches ${spec.columns} ${spec.result.name} ${spec.sum.name}`;
    const kernel = this.#kernel(key, () => patchProduct(this.#jit, spec));
    return apart(place, batch, {
      kernel,
      rows: PATCH_ROWS,
      columns: PATCH_THREADS * spec.columns,
      block: PATCH_THREADS,
    });
  }

  #thin(place: Workplace, batch: Batch): Step[] {
    const { m, n, k, a, b, c } = batch;
    const sum = sumType(a.array.dtype);
    const rows = m <= 2 ? m : m <= 4 ? 4 : THIN;
    const across = n > 1 && b.column <= b.row;
    const { wide, columns } = spreadOf({ across, sum });
    const blocks = Math.ceil(n / (wide * columns));
    const deep = THREADS / wide;
    const { part, parts } = partsOf(place.context.info.limits.multiprocessors, k, blocks * batch.count, deep);
    const result = parts === 1 ? c.array.dtype : sum;
    const kernel = this.#kernel(`thin ${rows} ${across} ${a.array.dtype.name} ${sum.name} ${result.name}`, () =>
      thinProduct(this.#jit, { rows, across, sum, result }),
    );
    const steps = { ...productSizes(batch), part };
    const ends = { cRow: c.row, cColumn: c.column, cNext: c.next };
    return parted(place, batch, (z, count, at) => {
      const [inA, inB, inC] = at(a, b, c, z) as [DeviceNDArray, DeviceNDArray, DeviceNDArray];
      const shape = { grid: [blocks, parts, count], block: THREADS, stream: place.stream } as const;
      if (parts === 1) return [{ kernel, shape, args: [inA, inB, inC, integers({ ...steps, ...ends, cPart: 0 })] }];
      const sums = place.temporary([count * parts * m * n], sum);
      const apart = { cRow: n, cColumn: 1, cPart: m * n, cNext: parts * m * n };
      const add = this.#kernel(`parts ${sum.name} ${c.array.dtype.name}`, () =>
        partsSum(this.#jit, { sum, result: c.array.dtype }),
      );
      const whole = { block: THREADS, grid: Math.ceil((count * m * n) / THREADS), stream: place.stream };
      return [
        { kernel, shape, args: [inA, inB, sums, integers({ ...steps, ...apart })] },
        { kernel: add, shape: whole, args: [sums, inC, integers({ m, n, parts, count, ...ends })] },
      ];
    });
  }

  #tiles(place: Workplace, batch: Batch): Step[] {
    const { m, n, k, a, b, c } = batch;
    const element = elementsOf(a.array.dtype);
    const sum = elementsOf(sumType(a.array.dtype));
    const result = elementsOf(c.array.dtype);
    const readA = readingOf(
      a.array,
      { outer: m, step: m === 1 ? 0 : a.row, k, stepK: a.column, next: a.next },
      element,
    );
    const readB = readingOf(
      b.array,
      { outer: n, step: n === 1 ? 0 : b.column, k, stepK: b.row, next: b.next },
      element,
    );
    const vectorsOut =
      result.lanes > 1 && result.lanes === sum.lanes && c.column === 1 && fits(c.array, result, [n, c.row, c.next]);
    const tile = tileFor(place, batch, sum);
    const spec = { a: readA, b: readB, vectorsOut, element, result, sum, tile };
    const key = `${readA} ${readB} ${vectorsOut} ${element.type.name} ${result.type.name} ${Object.values(tile)}`;
    const kernel = this.#kernel(key, () => tiledProduct(this.#jit, spec));
    const lanes = (reading: Reading): number => (reading.startsWith('vectors') ? element.lanes : 1);
    const sizes = sizesOf(batch, lanes(readA), lanes(readB), vectorsOut ? result.lanes : 1);
    const tiles = Math.ceil(m / (16 * tile.rows)) * Math.ceil(n / (16 * tile.columns));
    return parted(place, batch, (z, count, at) => [
      {
        kernel,
        shape: { grid: [tiles, count], block: THREADS, stream: place.stream },
        args: [...at(a, b, c, z), sizes],
      },
    ]);
  }

  #kernel(key: string, make: () => ProductKernel): ProductKernel {
    let kernel = this.#kernels.get(key);
    if (kernel === undefined) {
      kernel = make();
      this.#kernels.set(key, kernel);
    }
    return kernel;
  }
}

/** What products of a type are added in. */
export function sumType(dtype: DType): DType {
  return dtype === f16 || dtype === bf16 ? f32 : dtype;
}

/** Whether a kernel can read an operand as it lies: by whole elements, forwards, and on the CPU device B with its rows contiguous. */
export function readable(array: DeviceNDArray, contiguousRows: boolean): boolean {
  const { itemSize, shape, strides, pointer } = array;
  const whole = strides.every((stride, k) => shape[k] === 1 || (stride >= 0 && stride % itemSize === 0));
  if (!whole || pointer % itemSize !== 0) return false;
  return !contiguousRows || shape.at(-1) === 1 || strides.at(-1) === itemSize;
}

function sizesOf({ m, n, k, a, b, c }: Batch, lanesA: number, lanesB: number, lanesC: number): Sizes {
  const sizes = {
    m,
    n,
    k,
    aRow: inVectors(a.row, lanesA),
    aK: inVectors(a.column, lanesA),
    aNext: a.next / lanesA,
    bK: inVectors(b.row, lanesB),
    bColumn: inVectors(b.column, lanesB),
    bNext: b.next / lanesB,
    cRow: c.row / lanesC,
    cColumn: c.column,
    cNext: c.next / lanesC,
  };
  return integers(sizes) as never;
}

/** Sizes and steps in elements. */
function productSizes({ m, n, k, a, b }: Batch): Record<string, number> {
  const [inA, inB] = [
    { aRow: a.row, aK: a.column, aNext: a.next },
    { bK: b.row, bColumn: b.column, bNext: b.next },
  ];
  return { m, n, k, ...inA, ...inB };
}

/** Integers that products have been told; programs mostly multiply matrices of the same few sizes. */
const integersTold = new Map<number, unknown>();
const MOST_TOLD = 1024;

function integer(value: number): unknown {
  let told = integersTold.get(value);
  if (told === undefined) {
    told = scalar(i32, value);
    if (integersTold.size >= MOST_TOLD) integersTold.clear();
    integersTold.set(value, told);
  }
  return told;
}

/** As arguments of kernels. */
function integers(sizes: Readonly<Record<string, number>>): unknown {
  const told: Record<string, unknown> = {};
  for (const name in sizes) told[name] = integer(Math.trunc(sizes[name] as number));
  return told;
}

/** The same product, of the transposed matrices. */
function turned({ m, n, k, count, a, b, c }: Batch): Batch {
  const flip = ({ array, row, column, next }: Matrix): Matrix => ({ array, row: column, column: row, next });
  return { m: n, n: m, k, count, a: flip(b), b: flip(a), c: flip(c) };
}

/** A step of one element is one of a vector where these are read along it. */
function inVectors(step: number, lanes: number): number {
  return step === 1 ? 1 : step / lanes;
}

/** What a launch covers of a batch with many matrices. `at` gives the memory from matrix z on. */
function parted(
  place: Workplace,
  { count, m, n, k, a, b, c }: Batch,
  stepsOf: (z: number, count: number, at: (a: Matrix, b: Matrix, c: Matrix, z: number) => DeviceNDArray[]) => Step[],
): Step[] {
  // Indices count from the first matrix of a launch.
  const longest = Math.max(...[a, b, c].map(({ next }) => next));
  const fitting = longest === 0 ? MOST_MATRICES : Math.max(1, Math.floor((MOST_ELEMENTS - 1) / longest) - 1);
  const most = Math.min(MOST_MATRICES, fitting);
  const steps: Step[] = [];
  for (let z = 0; z < count; z += most) {
    const some = Math.min(most, count - z);
    const at = (...given: readonly [Matrix, Matrix, Matrix, number]): DeviceNDArray[] => [
      memoryFrom(place, given[0], z, [some, m, k]),
      memoryFrom(place, given[1], z, [some, k, n]),
      memoryFrom(place, given[2], z, [some, m, n]),
    ];
    steps.push(...stepsOf(z, some, at));
  }
  return steps;
}

/** What a kernel is launched with in which no thread needs what others have read. */
interface Apart {
  readonly kernel: ProductKernel;
  /** Of the result, for each block. */
  readonly rows: number;
  readonly columns: number;
  /** Threads. */
  readonly block: number;
}

/** Launches of such a kernel, for elements that are read one by one. */
function apart(place: Workplace, batch: Batch, { kernel, rows, columns, block }: Apart): Step[] {
  const { m, n, a, b, c } = batch;
  const sizes = sizesOf(batch, 1, 1, 1);
  const grid = [Math.ceil(m / rows), Math.ceil(n / columns)] as const;
  return parted(place, batch, (z, count, at) => [
    { kernel, shape: { grid: [...grid, count], block, stream: place.stream }, args: [...at(a, b, c, z), sizes] },
  ]);
}

function sumSpecOf({ a, c }: Batch): SumSpec {
  return { result: c.array.dtype, sum: sumType(a.array.dtype) };
}

/** The memory of some matrices as an array of one axis. */
function memoryFrom(
  place: Workplace,
  { array, row, column, next }: Matrix,
  z: number,
  [count, rows, columns]: readonly [number, number, number],
): DeviceNDArray {
  const extent = (count - 1) * next + (rows - 1) * row + (columns - 1) * column + 1;
  return place.view(array, [extent], [array.itemSize], z * next * array.itemSize);
}

/** The batches: all matrices where they lie at equal distances, as one long matrix where that is `accepted`. */
export function batchesOf(
  place: Workplace,
  { a, b, c }: Product,
  accepted: (batch: Batch) => boolean = () => true,
): Batch[] {
  const outer = c.shape.slice(0, -2);
  const [m, n] = c.shape.slice(-2) as [number, number];
  const k = a.shape.at(-1) as number;
  const strides = [c, a, b].map(({ shape, strides }) => {
    const own = { shape: shape.slice(0, -2), strides: strides.slice(0, -2), offset: 0, itemSize: 0 };
    return broadcastTo(own, outer).strides;
  });
  const axes = collapseAxes(outer, strides);
  const count = axes.shape.at(-1) ?? 1;
  const steps = axes.strides.map((list) => list.at(-1) ?? 0);
  return offsetsOf(axes.shape.slice(0, -1), axes.strides).map((offsets) => {
    const [inC, inA, inB] = [c, a, b].map((array, q): Matrix => {
      const [row = 0, column = 0] = array.strides.slice(-2);
      const { itemSize } = array;
      const [rows = 1, columns = 1] = array.shape.slice(-2);
      return {
        array: array.ndim === 2 ? array : place.view(array, array.shape.slice(-2), [row, column], offsets[q] ?? 0),
        // Steps of axes of length 1 say nothing.
        row: rows === 1 ? Math.max(columns, 1) : row / itemSize,
        column: columns === 1 ? 1 : column / itemSize,
        next: count === 1 ? 0 : (steps[q] ?? 0) / itemSize,
      };
    }) as [Matrix, Matrix, Matrix];
    const batch = { m, n, k, count, a: inA, b: inB, c: inC };
    const one = asOne(batch);
    return accepted(one) ? one : batch;
  });
}

/** Matrices of which all are multiplied by the same one, and follow one another, are one long matrix. */
function asOne(batch: Batch): Batch {
  const { m, count, a, b, c } = batch;
  if (count === 1 || b.next !== 0 || m * count >= MOST_ELEMENTS) return batch;
  if (m === 1)
    return { ...batch, m: count, count: 1, a: { ...a, row: a.next, next: 0 }, c: { ...c, row: c.next, next: 0 } };
  if (a.next !== m * a.row || c.next !== m * c.row) return batch;
  return { ...batch, m: m * count, count: 1, a: { ...a, next: 0 }, c: { ...c, next: 0 } };
}

/** The byte offsets of each array at every index of the outer axes. */
function offsetsOf(outer: readonly number[], strides: readonly (readonly number[])[]): number[][] {
  let all: number[][] = [strides.map(() => 0)];
  for (const [axis, length] of outer.entries()) {
    all = all.flatMap((offsets) =>
      Array.from({ length }, (_, i) => offsets.map((offset, k) => offset + i * (strides[k]?.[axis] ?? 0))),
    );
  }
  return all;
}

/** Vectors of a type: of 16 bytes, or of four lanes. */
function elementsOf(type: DType): Elements {
  const lanes = type.kind === 'c' ? 1 : type.itemSize === 8 ? 2 : 4;
  const vector = lanes === 1 ? undefined : vectorOf(type.name as ScalarName, lanes);
  return vector === undefined ? { type, vector: type, lanes: 1 } : { type, vector, lanes };
}

interface Axes {
  readonly outer: number;
  readonly step: number;
  readonly k: number;
  readonly stepK: number;
  readonly next: number;
}

/** How an operand is read: as vectors where they lie so, else with neighbouring threads along the shorter step. */
function readingOf(array: DeviceNDArray, { outer, step, k, stepK, next }: Axes, element: Elements): Reading {
  if (element.lanes > 1) {
    if (stepK === 1 && fits(array, element, [k, step, next])) return 'vectors-k';
    if (step === 1 && fits(array, element, [outer, stepK, next])) return 'vectors';
  }
  return step !== 0 && step < stepK ? 'other' : 'k';
}

/** Whether vectors begin at multiples of their size, and end where rows do. */
function fits(array: DeviceNDArray, { type, lanes }: Elements, multiples: readonly number[]): boolean {
  return array.pointer % (lanes * type.itemSize) === 0 && multiples.every((n) => n % lanes === 0);
}

/** Tiles by the lanes of what is added, largest first. Measured on an H200. */
const TILES: Readonly<Record<1 | 2 | 4, readonly Tile[]>> = {
  4: [
    { rows: 16, columns: 8, depth: 16, unrolled: 8, blocks: 1 },
    { rows: 8, columns: 8, depth: 16, unrolled: 2, blocks: 2 },
    { rows: 8, columns: 4, depth: 16, unrolled: 4, blocks: 2 },
    { rows: 4, columns: 4, depth: 32, unrolled: 4, blocks: 3 },
    { rows: 4, columns: 4, depth: 16, unrolled: 2, blocks: 4 },
  ],
  2: [
    { rows: 8, columns: 8, depth: 16, unrolled: 2, blocks: 1 },
    { rows: 8, columns: 4, depth: 8, unrolled: 2, blocks: 2 },
    { rows: 4, columns: 4, depth: 8, unrolled: 1, blocks: 2 },
  ],
  1: [
    { rows: 8, columns: 8, depth: 16, unrolled: 2, blocks: 1 },
    { rows: 8, columns: 4, depth: 8, unrolled: 1, blocks: 2 },
    { rows: 4, columns: 4, depth: 8, unrolled: 1, blocks: 2 },
  ],
};
/** Of elements of 16 bytes: a step along k of 8 × 4 reads 12 of them for 128 multiplications, and takes 214 registers; of 8 × 8 nothing is left. */
const WIDE_TILES: readonly Tile[] = [
  { rows: 8, columns: 4, depth: 8, unrolled: 1, blocks: 1 },
  { rows: 4, columns: 4, depth: 8, unrolled: 1, blocks: 2 },
];
/** Part of the multiprocessors that tiles of a size are enough for. */
const ENOUGH = 0.75;

/** The tiles that fit into a block's shared memory, largest first. */
function tilesOn({ info }: Workplace['context'], { lanes, type }: Elements): readonly Tile[] {
  const bytes = ({ rows, columns, depth }: Tile): number =>
    2 * depth * (16 * (rows + columns) + 2 * lanes) * type.itemSize;
  const tiles = type.itemSize > 8 ? WIDE_TILES : TILES[lanes];
  return tiles.filter((tile) => bytes(tile) <= info.limits.maxSharedBytesPerBlock);
}

/** Whether products of a type are computed without shared memory: where neighbouring threads are lanes of vectors, or there is too little of it. */
function inStrips(context: Workplace['context'], dtype: DType): boolean {
  const { kind } = context.info;
  return kind === 'cpu' || kind === 'simulator' || tilesOn(context, elementsOf(sumType(dtype))).length === 0;
}

/** Whether products are computed in patches, without shared memory: where a GPU is a processor. */
function inPatches({ info }: Workplace['context']): boolean {
  return info.kind === 'webgpu' && info.hardware?.type === 'cpu';
}

/** Whether kernels read B and write C with their rows in a piece each. */
export function inPieces(context: Workplace['context'], dtype: DType): boolean {
  return inPatches(context) || inStrips(context, dtype);
}

/** The largest tiles of which there are enough for all multiprocessors. */
function tileFor({ context }: Workplace, { m, n, count }: Batch, sum: Elements): Tile {
  const { multiprocessors } = context.info.limits;
  const tiles = tilesOn(context, sum);
  const enough = ({ rows, columns }: Tile): boolean =>
    Math.ceil(m / (16 * rows)) * Math.ceil(n / (16 * columns)) * count >= ENOUGH * multiprocessors;
  return tiles.find(enough) ?? (tiles.find(({ rows, columns }) => rows === 4 && columns === 4) as Tile);
}
