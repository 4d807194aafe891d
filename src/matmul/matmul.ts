/**
 * `cuda.matmul`: products of matrices and vectors, and of batches of them. NumPy's `matmul`.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { hostFunction } from '../compiler/intrinsics.ts';
import type { DType } from '../dtype/index.ts';
import { TsambaRangeError } from '../errors.ts';
import { ownJitOf } from '../kernel/own-jit.ts';
import type { Step } from '../kernel/steps.ts';
import { broadcastShapes, formatShape } from '../layout/index.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { readOptions } from '../options.ts';
import { guarded, inBothForms, type Planned } from '../ufunc/applied.ts';
import { type StreamLike, Workplace } from '../ufunc/operands.ts';
import { targetOf } from '../ufunc/results.ts';
import {
  type Chosen,
  chosenFor,
  libraryReads,
  librarySteps,
  libraryWrites,
  makerOption,
  type ProductMaker,
  type Sizes3,
} from './library.ts';
import { Converter, type Given, givenArray } from './operands.ts';
import { inPieces, Products, readable } from './plan.ts';
import type { Matmul } from './types.ts';

/** Options of products. */
export interface ProductOptions {
  readonly out?: unknown;
  readonly stream?: StreamLike;
  readonly library?: ProductMaker | undefined;
}

const PRODUCT_OPTIONS: readonly (keyof ProductOptions)[] = ['out', 'stream', 'library'];

/** Reads the options of a call. */
export function productOptions(name: string, given: unknown): ProductOptions {
  const own = readOptions(name, given as ProductOptions | undefined, PRODUCT_OPTIONS as never) as ProductOptions;
  return { ...own, library: makerOption(name, own.library) };
}

/** The function of a namespace. */
export function matmulOf(devices: DeviceSelection): Matmul {
  const plan = (a: unknown, b: unknown, options?: unknown): Planned => multiplierOf(devices).planned(a, b, options);
  const inspect = (a: unknown, b: unknown, options?: unknown): Chosen => multiplierOf(devices).inspected(a, b, options);
  const both = inBothForms(devices, 'matmul', plan as never);
  return Object.assign(both, { inspect: hostFunction(devices, 'matmul.inspect', inspect) }) as unknown as Matmul;
}

const multipliers = new WeakMap<DeviceSelection, Multiplier>();

/** What multiplies on the devices of a namespace. */
export function multiplierOf(devices: DeviceSelection): Multiplier {
  let multiplier = multipliers.get(devices);
  if (multiplier === undefined) {
    multiplier = new Multiplier(devices);
    multipliers.set(devices, multiplier);
  }
  return multiplier;
}

/** What products need, of one namespace. */
export class Multiplier {
  readonly devices: DeviceSelection;
  readonly converter: Converter;
  readonly #products: Products;

  constructor(devices: DeviceSelection) {
    this.devices = devices;
    const jit = ownJitOf(devices);
    this.converter = new Converter(jit);
    this.#products = new Products(jit);
  }

  planned(a: unknown, b: unknown, options: unknown): Planned {
    const own = productOptions('matmul', options);
    const place = new Workplace('matmul', this.devices.currentContext(), own.stream);
    return guarded(place, () => {
      const given = [givenArray(place, a, 'argument 1'), givenArray(place, b, 'argument 2')] as const;
      return this.multiplied(place, given, own);
    });
  }

  /** Who computes a product, and why. */
  inspected(first: unknown, second: unknown, options: unknown): Chosen {
    const own = productOptions('matmul.inspect', options);
    const place = new Workplace('matmul.inspect', this.devices.currentContext(), own.stream);
    try {
      const given = [givenArray(place, first, 'argument 1'), givenArray(place, second, 'argument 2')] as const;
      const { a, b, dtype, outer } = this.#met(place, given);
      return chosenFor(place, own.library, { dtype, ...sizesOf(a, b, outer) });
    } finally {
      disposeUnseen(place.made);
    }
  }

  /** Operands as matrices. Throws RangeError for those that do not go together. */
  #met(place: Workplace, [{ array: x }, { array: y }]: readonly [Given, Given]): Met {
    const dtype = this.converter.typeOf(place, [x, y]);
    if (x.ndim === 0 || y.ndim === 0)
      throw mismatch(place, x, y, 'arrays without axes are numbers: multiply by them with mul');
    const a = x.ndim === 1 ? withAxis(place, x, 0) : x;
    const b = y.ndim === 1 ? withAxis(place, y, 1) : y;
    const [k, rows] = [a.shape.at(-1), b.shape.at(-2)];
    if (k !== rows) throw mismatch(place, x, y, `rows have ${k} elements, and columns ${rows}`);
    return { a, b, dtype, outer: broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2)) };
  }

  /** The plan of a product of operands that have been read. */
  multiplied(place: Workplace, given: readonly [Given, Given], { out, library }: ProductOptions): Planned {
    const [{ array: x, ...first }, { array: y, ...second }] = given;
    const { a, b, dtype, outer } = this.#met(place, given);
    const [m, n] = [a.shape.at(-2) as number, b.shape.at(-1) as number];
    const left = [...outer, ...(x.ndim === 1 ? [] : [m]), ...(y.ndim === 1 ? [] : [n])];
    const origins = {
      onDevice: (first.onDevice || second.onDevice) && left.length > 0,
      numbers: true,
      inputs: [x, y],
      whole: true,
    };
    const target = targetOf(place, out, { shape: left, dtype }, origins);
    const steps: Step[] = [];
    const { written } = target;
    let c = written;
    if (y.ndim === 1) c = withAxis(place, c, 1);
    if (x.ndim === 1) c = withAxis(place, c, 0);
    this.product(place, { a, b, c, steps, library });
    return { place, steps, targets: [target] };
  }

  /** The launches of a product, appended to `steps`. A and B have two axes or more; `c` has the batches of both. */
  product(place: Workplace, { a, b, c, steps, library }: Wanted): void {
    if (c.size === 0) return;
    if (a.shape.at(-1) === 0) {
      c.set(0);
      return;
    }
    if (c.strides.at(-1) !== c.itemSize && c.strides.at(-2) === c.itemSize && c.shape.at(-1) !== 1) {
      // A result that has its columns in a piece is that of the transposed product.
      const [left, right] = [turned(place, b), turned(place, a)];
      this.product(place, { a: left, b: right, c: turned(place, c), steps, library });
      return;
    }
    const dtype = this.converter.typeOf(place, [a, b]);
    const chosen = chosenFor(place, library, { dtype, ...sizesOf(a, b, c.shape.slice(0, -2)) });
    const byLibrary = chosen.library === 'cublas';
    const rows = inPieces(place.context, dtype);
    const read = (array: DeviceNDArray, inPieces: boolean): boolean =>
      byLibrary ? libraryReads(array) : readable(array, inPieces);
    const own = (array: DeviceNDArray, inPieces: boolean): DeviceNDArray =>
      array.dtype === dtype && read(array, inPieces) ? array : this.converter.copy(place, array, dtype, steps);
    const direct = byLibrary
      ? libraryWrites(c, dtype)
      : (c.dtype === dtype || (c.dtype.kind === 'f' && dtype.kind === 'f')) && readable(c, rows);
    const into = direct ? c : place.temporary(c.shape, dtype);
    const product = { a: own(a, false), b: own(b, rows), c: into };
    steps.push(...(byLibrary ? librarySteps(place, product) : this.#products.steps(place, product)));
    if (into !== c) steps.push(...this.converter.into(place, into, c));
  }
}

/** A product and where it goes. */
export interface Wanted {
  readonly a: DeviceNDArray;
  readonly b: DeviceNDArray;
  readonly c: DeviceNDArray;
  readonly steps: Step[];
  readonly library?: ProductMaker | undefined;
}

/** Operands as matrices, and batches of them. */
interface Met {
  readonly a: DeviceNDArray;
  readonly b: DeviceNDArray;
  readonly dtype: DType;
  readonly outer: readonly number[];
}

function sizesOf(a: DeviceNDArray, b: DeviceNDArray, outer: readonly number[]): Omit<Sizes3, 'dtype'> {
  const [m, k] = a.shape.slice(-2) as [number, number];
  return { m, k, n: b.shape.at(-1) as number, count: outer.reduce((x, y) => x * y, 1) };
}

/** The last two axes swapped. */
function turned(place: Workplace, array: DeviceNDArray): DeviceNDArray {
  const swap = (list: readonly number[]): number[] => [...list.slice(0, -2), ...list.slice(-2).reverse()];
  return place.view(array, swap(array.shape), swap(array.strides));
}

/** A view with an axis of length 1 at the end or before the last. */
function withAxis(place: Workplace, array: DeviceNDArray, at: 0 | 1): DeviceNDArray {
  const put = (list: readonly number[], value: number): number[] =>
    at === 1 ? [...list, value] : [...list.slice(0, -1), value, ...list.slice(-1)];
  return place.view(array, put(array.shape, 1), put(array.strides, 0));
}

/** The error of shapes that do not match. */
export function mismatch({ name }: Workplace, a: DeviceNDArray, b: DeviceNDArray, why: string): TsambaRangeError {
  return new TsambaRangeError(
    'E_MATMUL',
    `${name}: shapes ${formatShape(a.shape)} and ${formatShape(b.shape)} cannot be multiplied: ${why}`,
  );
}
