/**
 * `cuda.einsum`: sums of products over labelled axes. NumPy's `einsum`.
 *
 * Views of the operands do what they can (diagonals, orders of axes); what is a product of matrices goes to `matmul`, all else becomes one kernel of an expression.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { expression } from '../array/expression.ts';
import type { DType } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { kernelsOf } from '../fuse/engine.ts';
import { Evaluation } from '../fuse/evaluation.ts';
import type { Kernels } from '../fuse/kernels.ts';
import type { Step } from '../kernel/steps.ts';
import { reshapeLayout } from '../layout/index.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { guarded, inBothForms, isOptions, type Planned } from '../ufunc/applied.ts';
import { Workplace } from '../ufunc/operands.ts';
import { targetOf } from '../ufunc/results.ts';
import { contractionsOf, sizeOfLabels } from './contraction.ts';
import { type Multiplier, multiplierOf, type ProductOptions, productOptions } from './matmul.ts';
import { type Given, givenArray } from './operands.ts';
import { type Labels, readSubscripts, type Subscripts } from './subscripts.ts';
import type { Einsum } from './types.ts';

/** An array with a label for each axis, none twice. */
interface Term {
  readonly array: DeviceNDArray;
  readonly labels: Labels;
}

/** The function of a namespace. */
export function einsumOf(devices: DeviceSelection): Einsum {
  const plan = (text: unknown, ...given: readonly unknown[]): Planned => planned(devices, text, given);
  return inBothForms(devices, 'einsum', plan) as unknown as Einsum;
}

function planned(devices: DeviceSelection, text: unknown, given: readonly unknown[]): Planned {
  const last = given.at(-1);
  const withOptions = given.length > 1 && isOptions(last);
  const operands = withOptions ? given.slice(0, -1) : given;
  const own = productOptions('einsum', withOptions ? last : undefined);
  const place = new Workplace('einsum', devices.currentContext(), own.stream);
  return guarded(place, () => {
    if (operands.length === 0) throw new TsambaTypeError('E_EINSUM', 'einsum takes subscripts and one array or more');
    const read = operands.map((value, k) => givenArray(place, value, `operand ${k + 1}`));
    const subscripts = readSubscripts(
      text,
      read.map(({ array }) => array.shape),
    );
    return summed(place, devices, { subscripts, read, options: own });
  });
}

/** What is summed, and where it goes. */
export interface Summed {
  readonly subscripts: Subscripts;
  readonly read: readonly Given[];
  readonly options: ProductOptions;
}

/** The plan of sums of products. */
export function summed(place: Workplace, devices: DeviceSelection, { subscripts, read, options }: Summed): Planned {
  const { inputs, output, sizes } = subscripts;
  const [multiplier, kernels] = [multiplierOf(devices), kernelsOf(devices)];
  const arrays = read.map(({ array }) => array);
  const dtype = multiplier.converter.typeOf(place, arrays);
  const shape = output.map((label) => sizes.get(label) ?? 1);
  const onDevice = read.some((one) => one.onDevice) && shape.length > 0;
  const target = targetOf(
    place,
    options.out,
    { shape, dtype },
    { onDevice, numbers: true, inputs: arrays, whole: true },
  );
  const { written } = target;
  const steps: Step[] = [];
  if ([...sizes.values()].includes(0)) {
    if (written.size > 0) written.set(0);
  } else {
    const long = (label: string): boolean => (sizes.get(label) ?? 1) > 1;
    const terms = arrays.map((array, k) => withoutShort(place, diagonal(place, array, inputs[k] ?? []), sizes));
    const into = { array: onlyAxes(place, written, output.map(long)), labels: output.filter(long) };
    new Sums({ place, multiplier, kernels, dtype, sizes, steps, library: options.library }).contract(terms, into);
  }
  return { place, steps, targets: [target] };
}

/** Axes with the same label are one, along the diagonal. */
function diagonal(place: Workplace, array: DeviceNDArray, labels: Labels): Term {
  const unique = [...new Set(labels)];
  if (unique.length === labels.length) return { array, labels };
  const axes = unique.map((label) => labels.flatMap((other, axis) => (other === label ? [axis] : [])));
  const lengths = axes.map((list) => Math.max(...list.map((axis) => array.shape[axis] ?? 1)));
  const strides = axes.map((list) =>
    list.reduce((sum, axis) => sum + (array.shape[axis] === 1 ? 0 : (array.strides[axis] ?? 0)), 0),
  );
  return { array: place.view(array, lengths, strides), labels: unique };
}

/** An operand does not change along axes of length 1: it does without them. */
function withoutShort(place: Workplace, { array, labels }: Term, sizes: ReadonlyMap<string, number>): Term {
  const kept = labels.map((label, axis) => (sizes.get(label) ?? 1) > 1 && array.shape[axis] !== 1);
  return { array: onlyAxes(place, array, kept), labels: labels.filter((_, axis) => kept[axis]) };
}

function onlyAxes(place: Workplace, array: DeviceNDArray, kept: readonly boolean[]): DeviceNDArray {
  if (kept.every(Boolean)) return array;
  const only = (list: readonly number[]): number[] => list.filter((_, axis) => kept[axis]);
  return place.view(array, only(array.shape), only(array.strides));
}

interface Summing {
  readonly place: Workplace;
  readonly multiplier: Multiplier;
  readonly kernels: Kernels;
  /** What the operands have in common. */
  readonly dtype: DType;
  readonly sizes: ReadonlyMap<string, number>;
  readonly steps: Step[];
  readonly library: ProductOptions['library'];
}

/** The launches of one call. */
class Sums {
  readonly #own: Summing;

  constructor(own: Summing) {
    this.#own = own;
  }

  contract(terms: readonly Term[], into: Term): void {
    const { sizes } = this.#own;
    const path = contractionsOf(
      terms.map(({ labels }) => labels),
      into.labels,
      sizes,
    );
    let left = [...terms];
    for (const [k, { of, result }] of path.entries()) {
      const some = of.map((place) => left[place] as Term);
      const out = k === path.length - 1 ? into : this.#temporary(result);
      this.#product(some, out);
      left = [...left.filter((_, place) => !of.includes(place)), out];
    }
  }

  #temporary(labels: Labels): Term {
    const { place, dtype, sizes } = this.#own;
    const shape = labels.map((label) => sizes.get(label) ?? 1);
    return { array: place.temporary(shape, dtype), labels };
  }

  #product(terms: readonly Term[], into: Term): void {
    if (terms.length === 2) {
      const [a, b] = terms as [Term, Term];
      const axes = axesOf(a, b, into, this.#own.sizes);
      if (axes !== undefined) {
        const own = [...axes.batch, ...axes.sum];
        this.#matrices(this.#only(a, [...own, ...axes.left]), this.#only(b, [...own, ...axes.right]), into, axes);
        return;
      }
    }
    this.#fused(terms, into);
  }

  /** A term summed over the axes that nothing else has. */
  #only(term: Term, labels: readonly string[]): Term {
    if (term.labels.every((label) => labels.includes(label))) return term;
    const out = this.#temporary(term.labels.filter((label) => labels.includes(label)));
    this.#fused([term], out);
    return out;
  }

  /** A product of matrices. */
  #matrices(a: Term, b: Term, into: Term, { batch, left, right, sum }: Axes): void {
    const { place, multiplier, steps, library } = this.#own;
    const first = this.#grouped(a, batch, left, sum);
    const second = this.#grouped(b, batch, sum, right);
    const direct = grouped(place, into, batch, left, right);
    const c = direct ?? this.#grouped(this.#temporary([...batch, ...left, ...right]), batch, left, right);
    multiplier.product(place, { a: first, b: second, c, steps, library });
    if (direct !== undefined) return;
    const target = ordered(place, into, [...batch, ...left, ...right]);
    const shaped = place.view(c, target.shape, contiguous(target.shape, c.itemSize));
    steps.push(...multiplier.converter.into(place, shaped, target));
  }

  /** As matrices; copied where the axes of a side do not step as one. */
  #grouped(term: Term, batch: Labels, rows: Labels, columns: Labels): DeviceNDArray {
    const { place, multiplier, dtype, steps } = this.#own;
    const found = grouped(place, term, batch, rows, columns);
    if (found !== undefined) return found;
    const labels = [...batch, ...rows, ...columns];
    const array = multiplier.converter.copy(place, ordered(place, term, labels), dtype, steps);
    return grouped(place, { array, labels }, batch, rows, columns) as DeviceNDArray;
  }

  /** One kernel: the product of all elements, summed. */
  #fused(terms: readonly Term[], into: Term): void {
    const { place, kernels, dtype, sizes, steps } = this.#own;
    const labels = new Set([...into.labels, ...terms.flatMap((term) => term.labels)]);
    const kept = into.labels.length;
    const factors = terms.map((term) => {
      const [shape, strides] = [...labels].reduce<[number[], number[]]>(
        ([lengths, steps], label) => {
          const axis = term.labels.indexOf(label);
          return [
            [...lengths, axis < 0 ? 1 : (sizes.get(label) ?? 1)],
            [...steps, axis < 0 ? 0 : (term.array.strides[axis] ?? 0)],
          ];
        },
        [[], []],
      );
      const view = place.view(term.array, shape, strides);
      return term.array.dtype === dtype ? view : expression({ op: 'astype', operands: [view], options: { dtype } });
    });
    const product = factors.reduce<object>(
      (all, factor, k) => (k === 0 ? factor : expression({ op: 'mul', operands: [all, factor], options: {} })),
      {},
    );
    const axis = Array.from({ length: labels.size - kept }, (_, k) => kept + k);
    const value = axis.length === 0 ? product : expression({ op: 'sum', operands: [product], options: { axis } });
    const evaluation = new Evaluation(kernels, place);
    evaluation.into(value, into.array);
    steps.push(...evaluation.steps);
  }
}

/** The axes of a product of two operands: those that both have and the result, those of one and the result, and what is summed. */
interface Axes {
  readonly batch: Labels;
  readonly left: Labels;
  readonly right: Labels;
  readonly sum: Labels;
}

/** Of a product of matrices; undefined where it is none. Axes are in the order of the result, summed ones in that of the larger operand. */
function axesOf(a: Term, b: Term, { labels }: Term, sizes: ReadonlyMap<string, number>): Axes | undefined {
  const inA = (label: string): boolean => a.labels.includes(label);
  const inB = (label: string): boolean => b.labels.includes(label);
  const left = labels.filter((label) => inA(label) && !inB(label));
  const right = labels.filter((label) => inB(label) && !inA(label));
  const larger = sizeOfLabels(a.labels, sizes) >= sizeOfLabels(b.labels, sizes) ? a : b;
  const sum = larger.labels.filter((label) => inA(label) && inB(label) && !labels.includes(label));
  if (left.length === 0 || right.length === 0 || sum.length === 0) return undefined;
  return { batch: labels.filter((label) => inA(label) && inB(label)), left, right, sum };
}

/** A view with its axes in an order. */
function ordered(place: Workplace, { array, labels }: Term, order: Labels): DeviceNDArray {
  const axes = order.map((label) => labels.indexOf(label));
  const put = (list: readonly number[]): number[] => axes.map((axis) => list[axis] as number);
  return place.view(array, put(array.shape), put(array.strides));
}

/** A view as matrices: the axes of the batch, then one for the rows and one for the columns. Undefined where these do not step as one. */
function grouped(
  place: Workplace,
  term: Term,
  batch: Labels,
  rows: Labels,
  columns: Labels,
): DeviceNDArray | undefined {
  const array = ordered(place, term, [...batch, ...rows, ...columns]);
  const [outer, high] = [batch.length, batch.length + rows.length];
  const product = (list: readonly number[]): number => list.reduce((x, y) => x * y, 1);
  const one = (from: number, to: number): readonly [number, number] | undefined => {
    const shape = array.shape.slice(from, to);
    const layout = { shape, strides: array.strides.slice(from, to), offset: 0, itemSize: array.itemSize };
    const [stride] = reshapeLayout(layout, [product(shape)])?.strides ?? [];
    return stride === undefined ? undefined : [product(shape), stride];
  };
  const [m, n] = [one(outer, high), one(high, array.ndim)];
  if (m === undefined || n === undefined) return undefined;
  const shape = [...array.shape.slice(0, outer), m[0], n[0]];
  return place.view(array, shape, [...array.strides.slice(0, outer), m[1], n[1]]);
}

function contiguous(shape: readonly number[], itemSize: number): number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((x, y) => x * y, itemSize));
}
