/**
 * Products of matrices by a library of the device's vendor, where it has one: when it is taken, what it reads as it lies, and how it is called.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { MatrixProduct, ProductMatrix, ProductType } from '../driver/driver.ts';
import { type DType, f32 } from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import type { Step } from '../kernel/steps.ts';
import { recording } from '../memory/recording.ts';
import { show } from '../show.ts';
import { streamOption } from '../stream/stream.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { type Batch, batchesOf, type Matrix, type Product, readable, sumType } from './plan.ts';
import { THIN } from './thin.ts';

/** The implementation that multiplies: Tsamba's kernels, or NVIDIA's cuBLAS. */
export type ProductMaker = 'own' | 'cublas';

/** Which implementation multiplies, and why. */
export interface Chosen {
  /** The implementation that multiplies. */
  readonly library: ProductMaker;
  /** The reason, as a readable sentence. */
  readonly why: string;
  /** Name and version of the library. */
  readonly version?: string;
}

/** What a choice is made by. */
export interface Sizes3 {
  readonly dtype: DType;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly count: number;
}

const TYPES: readonly string[] = ['f16', 'bf16', 'f32', 'f64', 'c64', 'c128'] satisfies readonly ProductType[];
/** Products of elements below which a launch costs more than what it does. */
const WORTH_IT = 2 ** 21;
/** cuBLAS counts in 32 bits. */
const MOST = 2 ** 31;

/** Reads the option `library`. */
export function makerOption(name: string, value: unknown): ProductMaker | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'own' || value === 'cublas') return value;
  throw new TsambaTypeError('E_MATMUL', `${name}: library must be 'own' or 'cublas', got ${show(value)}`);
}

/** The implementation that multiplies. Throws NotSupportedError where cuBLAS is asked for and cannot. */
export function chosenFor(place: Workplace, asked: ProductMaker | undefined, sizes: Sizes3): Chosen {
  if (asked === 'own') return { library: 'own', why: "the option says { library: 'own' }" };
  const refusal = unable(place, sizes) ?? (asked === undefined ? unworthy(sizes) : undefined);
  const { name, reason = 'this kind of device has none' } =
    refusal === undefined ? (place.context.driver.productLibrary?.() ?? {}) : { reason: refusal };
  if (name !== undefined) {
    const why =
      asked === undefined ? 'it is installed, and the product is a large one' : "the option says { library: 'cublas' }";
    return { library: 'cublas', why, version: name };
  }
  if (asked === undefined) return { library: 'own', why: reason };
  throw new NotSupportedError(
    'E_CUBLAS',
    `${place.name}: cuBLAS cannot be used on ${place.context.info.name}: ${reason}`,
  );
}

function unable({ context }: Workplace, { dtype, m, n, k, count }: Sizes3): string | undefined {
  if (context.driver.productLibrary === undefined) return 'this kind of device has no library of products';
  if (!TYPES.includes(dtype.name)) return `cuBLAS does not multiply ${dtype.name}`;
  return Math.max(m, n, k, count) >= MOST ? 'cuBLAS counts in 32 bits' : undefined;
}

function unworthy({ m, n, k, count }: Sizes3): string | undefined {
  if (count === 1 && Math.min(m, n) <= THIN) return 'the product is thin, and takes as long as reading its operands';
  return m * n * k * count < WORTH_IT ? 'the product is small' : undefined;
}

/** Whether the library reads an operand as it lies: its rows or its columns in a piece each. */
export function libraryReads(array: DeviceNDArray): boolean {
  const [rows = 1, columns = 1] = array.shape.slice(-2);
  const [row = 0, column = 0] = array.strides.slice(-2).map((stride) => stride / array.itemSize);
  return (
    readable(array, false) &&
    placed({ row: rows === 1 ? columns : row, column: columns === 1 ? 1 : column }, rows, columns) !== undefined
  );
}

/** Whether the library can write a result: of the type, or f32 for halves, with its rows in a piece each. */
export function libraryWrites(array: DeviceNDArray, dtype: DType): boolean {
  const [rows = 1, columns = 1] = array.shape.slice(-2);
  const [row = 0, column = 0] = array.strides.slice(-2).map((stride) => stride / array.itemSize);
  const same = array.dtype === dtype || (array.dtype === f32 && sumType(dtype) === f32);
  return same && readable(array, false) && (columns === 1 || column === 1) && (rows === 1 || row >= columns);
}

/** The launches, which are calls of the library. */
export function librarySteps(place: Workplace, product: Product): Step[] {
  const { c } = product;
  return batchesOf(place, product, (batch) => productOf(batch) !== undefined).map((batch) => ({
    kernel: {
      name: place.name,
      launch: () => multiply(place, batch),
      compileAsync: async () => undefined,
    },
    shape: { threads: Math.max(c.size, 1) },
    args: [],
  }));
}

function multiply({ context, stream: given, name }: Workplace, batch: Batch): void {
  if (context.turns.waiting > 0) context.turns.check(name);
  const stream = streamOption(given, context);
  const { a, b, c } = batch;
  for (const { array } of [a, b, c]) {
    array.checkUsable();
    if (stream !== undefined || recording.current !== undefined) array.owner.touch(stream);
  }
  context.beforeLaunch?.();
  context.driver.multiply?.(productOf(batch) as MatrixProduct, stream?.use());
}

/** What the driver is asked for; undefined where the library cannot read it. */
function productOf({ m, n, k, count, a, b, c }: Batch): MatrixProduct | undefined {
  const [inA, inB, inC] = [matrixOf(a, m, k), matrixOf(b, k, n), matrixOf(c, m, n)];
  if (inA === undefined || inB === undefined || inC === undefined || inC.turned) return undefined;
  return { m, n, k, count, a: inA, b: inB, c: inC };
}

function matrixOf(matrix: Matrix, rows: number, columns: number): ProductMatrix | undefined {
  const at = placed(matrix, rows, columns);
  if (at === undefined) return undefined;
  const { array, next } = matrix;
  return { pointer: array.pointer, type: array.dtype.name as ProductType, next, ...at };
}

/** How a matrix lies: by its rows, or turned by its columns. */
function placed(
  { row, column }: Pick<Matrix, 'row' | 'column'>,
  rows: number,
  columns: number,
): Pick<ProductMatrix, 'step' | 'turned'> | undefined {
  if (column === 1 && row >= columns && row < MOST) return { step: row, turned: false };
  const apart = column >= rows && column < MOST;
  return (row === 1 || rows === 1) && apart ? { step: column, turned: true } : undefined;
}
