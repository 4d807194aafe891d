/**
 * Random programs of `tsamba/parallel`: elements brought to where primitives read them: arrays on the device in any layout, arrays of the host, JavaScript arrays, lazy inputs.
 */
import { cuda, type DeviceNDArray, type NDArray, ndarray } from '../../src/index.ts';
import { constant, counting, map, permute, reverse, strided, zip } from '../../src/parallel/index.ts';
import { elementOf, elementsOf, KINDS, type Kind, type Style, type Value } from './parallel-kinds.ts';
import type { Random } from './random.ts';

export type AnyArray = DeviceNDArray<never>;

/** A sequence for a call. */
export interface Given {
  /** What it holds, in C order. */
  readonly values: readonly Value[];
  readonly kind: Kind;
  /** What is passed. */
  readonly x: never;
  /** Set where that is an array on the device of one axis. */
  readonly array: AnyArray | undefined;
  readonly text: string;
}

interface Placed {
  readonly x: unknown;
  readonly text: string;
  readonly array?: AnyArray | undefined;
}

/** Makes inputs, and remembers what has to be disposed. */
export class Inputs {
  readonly #r: Random;
  readonly #made = new Set<{ dispose(): void }>();

  constructor(r: Random) {
    this.#r = r;
  }

  /** To be disposed when the program has ended. */
  keep<A>(array: A): A {
    this.#made.add(array as { dispose(): void });
    return array;
  }

  dispose(): void {
    for (const array of this.#made) array.dispose();
    this.#made.clear();
  }

  /** Elements of a kind, in runs or not, as any input there is. */
  any(kind: Kind, style: Style, length: number, inRuns = false): Given {
    const r = this.#r;
    const own = r.chance(0.08) ? this.#computed(kind, style, length) : undefined;
    return own ?? this.of(kind, elementsOf(r, kind, style, length, inRuns));
  }

  /** These elements as any input that can hold them. */
  of(kind: Kind, values: readonly Value[]): Given {
    const placed = this.#place(kind, values, this.#r.chance(0.75) ? 0 : 2);
    return { values, kind, array: undefined, ...placed, x: placed.x as never };
  }

  /** These elements in a device array with a random layout along one axis. */
  line(kind: Kind, values: readonly Value[]): Given {
    const { x, text } = this.#line(kind, values);
    return { values, kind, x: x as never, text, array: x as AnyArray };
  }

  /** These elements in a device array of several axes, with a random layout. */
  shaped(kind: Kind, values: readonly Value[], shape: readonly number[]): AnyArray {
    const r = this.#r;
    // The axes lie in memory in another order, some backwards, some with gaps.
    const lie = r.chance(0.4) ? shape.map((_, k) => k) : shuffled(r, shape.length);
    const plain = r.chance(0.4);
    const ways = shape.map(() => (plain ? 1 : r.pick([1, 1, -1, 2, -2])));
    const room = shape.map((n, k) => n * Math.abs(ways[k] as number));
    const memory = lie.map((axis) => room[axis] as number);
    const size = memory.reduce((a, b) => a * b, 1);
    const filled = Array.from({ length: size }, () => elementOf(r, kind, 'small'));
    const strides = new Array<number>(shape.length).fill(1);
    let step = 1;
    for (let k = lie.length - 1; k >= 0; k--) {
      strides[lie[k] as number] = step;
      step *= memory[k] as number;
    }
    eachPlace(shape, (at, k) => {
      let offset = 0;
      at.forEach((i, axis) => {
        const way = ways[axis] as number;
        const n = room[axis] as number;
        offset += (way > 0 ? i * way : n - 1 + i * way) * (strides[axis] as number);
      });
      filled[offset] = values[k] as Value;
    });
    const base = this.#upload(host(kind, filled, memory));
    const turned = this.keep(base.transpose(lie.map((_, axis) => lie.indexOf(axis))));
    return this.keep(turned.slice(...ways.map((way) => `::${way}`))) as unknown as AnyArray;
  }

  /** A device array of so many elements for results, of any layout. */
  room(kind: Kind, length: number): AnyArray {
    return this.line(kind, elementsOf(this.#r, kind, 'small', length)).array as AnyArray;
  }

  #upload(array: NDArray): DeviceNDArray {
    return this.keep(cuda.toDevice(array as never)) as unknown as DeviceNDArray;
  }

  #place(kind: Kind, values: readonly Value[], depth: number): Placed {
    const r = this.#r;
    const ways = [() => this.#line(kind, values), () => this.#line(kind, values), () => this.#folded(kind, values)];
    ways.push(() => ({ x: host(kind, values, [values.length]), text: 'host array' }));
    if (['f64', 'i64', 'bool'].includes(kind.name) && values.length > 0)
      ways.push(() => ({ x: [...values], text: 'list' }));
    if (depth > 0)
      ways.push(
        () => this.#lazy(kind, values, depth - 1),
        () => this.#lazy(kind, values, depth - 1),
      );
    return r.pick(ways)();
  }

  /** Along one axis: with a gap before it, with steps, backwards. */
  #line(kind: Kind, values: readonly Value[]): Placed {
    const r = this.#r;
    const step = r.pick([1, 1, 1, -1, 2, 3, -2]);
    const [before, width] = [r.pick([0, 0, 1, 3, 4]), Math.abs(step)];
    const memory = elementsOf(r, kind, 'small', before + values.length * width);
    const place = (i: number): number => before + (step > 0 ? i : values.length - 1 - i) * width;
    values.forEach((v, i) => {
      memory[place(i)] = v;
    });
    const base = this.#upload(host(kind, memory, [memory.length]));
    const isAll = before === 0 && step === 1;
    const behind = isAll ? base : this.keep(base.slice([before, null]));
    const last = before + (values.length - 1) * width;
    const from = step > 0 ? behind : this.keep(base.slice([before, last + 1]));
    const x = step === 1 ? behind : this.keep(from.slice([null, null, step]));
    const array = x as unknown as AnyArray;
    return { x: array, array, text: `device array from ${before} in steps of ${step}` };
  }

  /** All elements of an array of several axes. */
  #folded(kind: Kind, values: readonly Value[]): Placed {
    const { length } = values;
    const rows = [2, 3, 4, 5, 7, 8].find((n) => length % n === 0) ?? 1;
    const shape = this.#r.chance(0.5) ? [rows, length / rows] : [length / rows, rows, 1];
    return { x: this.shaped(kind, values, shape), text: `device array of shape ${shape}` };
  }

  #lazy(kind: Kind, values: readonly Value[], depth: number): Placed {
    const r = this.#r;
    const { length } = values;
    const inner = (list: readonly Value[]): Placed => this.#place(kind, list, depth);
    switch (r.below(4)) {
      case 0: {
        const from = inner([...values].reverse());
        return { x: reverse(from.x), text: `reverse of ${from.text}` };
      }
      case 1: {
        const from = inner(values);
        return { x: map(from.x, ((v: Value) => v) as never, kind.dtype), text: `map of ${from.text}` };
      }
      case 2: {
        const places = shuffled(r, length);
        const list = new Array<Value>(length);
        places.forEach((place, k) => {
          list[place] = values[k] as Value;
        });
        const from = inner(list);
        const index = this.#line(KINDS.i32, places);
        return { x: permute(from.x, index.x), text: `permute of ${from.text} by ${index.text}` };
      }
      default: {
        if (length === 0) return inner(values);
        const step = r.pick([1, 2, 3, -1, -2]);
        const width = Math.abs(step);
        const start = r.below(3) + (step < 0 ? (length - 1) * width : 0);
        const size = (length - 1) * width + 1 + (step < 0 ? start - (length - 1) * width : start);
        const list = elementsOf(r, kind, 'small', size);
        values.forEach((v, k) => {
          list[start + k * step] = v;
        });
        const from = inner(list);
        // Backwards there may be room for more.
        const x = strided(from.x, step, start);
        if (x.length !== length) return inner(values);
        return { x, text: `every ${step} from ${start} of ${from.text}` };
      }
    }
  }

  /** Elements that nobody stored. */
  #computed(kind: Kind, style: Style, length: number): Given | undefined {
    const r = this.#r;
    if (r.chance(0.3)) {
      const value = elementOf(r, kind, style);
      const values = Array.from({ length }, () => value);
      return given(values, kind, constant(value, length, kind.dtype), `constant ${String(value)}`);
    }
    if (kind.name === 'line') {
      const [a, b] = ['a', 'b'].map((name) => this.of(KINDS.i32, fieldOf(elementsOf(r, kind, style, length), name)));
      const values = Array.from({ length }, (_, k) => ({ a: a?.values[k] as number, b: b?.values[k] as number }));
      return given(values, kind, zip({ a: a?.x, b: b?.x }), `zip of ${a?.text} and ${b?.text}`);
    }
    if (!['i32', 'i64', 'f64'].includes(kind.name) || style !== 'small') return undefined;
    const [start, step] = [r.below(20) - 10, r.pick([-1, 0])];
    const values = Array.from({ length }, (_, k) => kind.store(start + step * k));
    const isBig = kind.name === 'i64';
    const x = isBig
      ? counting(length, BigInt(start), BigInt(step))
      : counting(length, start, step, kind.dtype as never);
    return given(values, kind, x, `counting from ${start} by ${step}`);
  }
}

const given = (values: readonly Value[], kind: Kind, x: unknown, text: string): Given => ({
  values,
  kind,
  x: x as never,
  text,
  array: undefined,
});
const fieldOf = (values: readonly Value[], name: string): Value[] =>
  values.map((v) => (v as Record<string, number>)[name] as number);

/** A host array. */
export function host(kind: Kind, values: readonly Value[], shape: readonly number[]): NDArray {
  const flat = values.length === 0 ? [] : values;
  const made = ndarray(flat as never, { dtype: kind.dtype as never }) as unknown as NDArray;
  return made.reshape(shape as never) as unknown as NDArray;
}

/** The numbers up to one in a random order. */
export function shuffled(r: Random, length: number): number[] {
  const places = Array.from({ length }, (_, k) => k);
  for (let k = length - 1; k > 0; k--) {
    const other = r.below(k + 1);
    [places[k], places[other]] = [places[other] as number, places[k] as number];
  }
  return places;
}

/** Calls back with each place of a shape, in C order. */
export function eachPlace(shape: readonly number[], visit: (at: readonly number[], k: number) => void): void {
  const size = shape.reduce((a, b) => a * b, 1);
  const at = shape.map(() => 0);
  for (let k = 0; k < size; k++) {
    visit(at, k);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at[axis] = (at[axis] as number) + 1;
      if ((at[axis] as number) < (shape[axis] as number)) break;
      at[axis] = 0;
    }
  }
}
