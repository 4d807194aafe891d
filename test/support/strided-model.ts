/**
 * A naive model of strided arrays for property tests: a table from each index tuple to the address of its element.
 *
 * It knows no strides. Every operation is carried out on the table, element by element, from the definition: slices by walking
 * as Python's documentation tells it, reshapes by listing the elements in order. It shares no code with the layout engine.
 */
import type { StridedLayout } from '../../src/layout/index.ts';

export type Tuple = readonly number[];

export interface Model {
  readonly shape: readonly number[];
  /** Address of the element at each index, keyed by the tuple joined with commas; row-major insertion order. */
  readonly at: ReadonlyMap<string, number>;
  readonly itemSize: number;
}

/** All index tuples of a shape, last axis fastest. */
export function tuples(shape: readonly number[]): Tuple[] {
  let list: Tuple[] = [[]];
  for (const length of shape) {
    const longer: Tuple[] = [];
    for (const tuple of list) for (let i = 0; i < length; i++) longer.push([...tuple, i]);
    list = longer;
  }
  return list;
}

/** All index tuples, first axis fastest. */
export function tuplesF(shape: readonly number[]): Tuple[] {
  return tuples([...shape].reverse()).map((tuple) => [...tuple].reverse());
}

const key = (tuple: Tuple): string => tuple.join(',');

/** A model from a rule that gives the address of each index. */
export function modelOf(shape: readonly number[], itemSize: number, address: (tuple: Tuple) => number): Model {
  return { shape: [...shape], itemSize, at: new Map(tuples(shape).map((tuple) => [key(tuple), address(tuple)])) };
}

export function addressOf(model: Model, tuple: Tuple): number {
  const address = model.at.get(key(tuple));
  if (address === undefined) throw new Error(`the model has no element ${key(tuple)}`);
  return address;
}

/** Elements placed one after another in row-major or column-major order. */
export function placed(shape: readonly number[], itemSize: number, order: 'C' | 'F', start = 0): Model {
  const next = new Map((order === 'C' ? tuples(shape) : tuplesF(shape)).map((tuple, n) => [key(tuple), n]));
  return modelOf(shape, itemSize, (tuple) => start + itemSize * (next.get(key(tuple)) ?? 0));
}

/** What the layout engine's result says, read index by index. */
export function modelOfLayout({ shape, strides, offset, itemSize }: StridedLayout): Model {
  return modelOf(shape, itemSize, (tuple) => tuple.reduce((sum, i, axis) => sum + i * Number(strides[axis]), offset));
}

/** The indices that `start:stop:step` picks from an axis, by walking. */
export function walkRange(
  length: number,
  start: number | null | undefined,
  stop: number | null | undefined,
  step: number | null | undefined,
): number[] {
  const by = step ?? 1;
  const picked: number[] = [];
  if (by > 0) {
    let i = start ?? 0;
    if (i < 0) i += length;
    if (i < 0) i = 0;
    let end = stop ?? length;
    if (end < 0) end += length;
    for (; i < end && i < length; i += by) picked.push(i);
  } else {
    let i = start ?? length - 1;
    if (i < 0) i += length;
    if (i > length - 1) i = length - 1;
    let end = stop ?? -1 - length; // before the first, after the wrap below
    if (end < 0) end += length;
    for (; i > end && i >= 0; i += by) picked.push(i);
  }
  return picked;
}

/** For each axis the index that is taken (the axis goes) or the list of those that are kept. */
export function pick(model: Model, picks: readonly (number | readonly number[])[]): Model {
  const kept = picks.filter((p): p is readonly number[] => typeof p !== 'number');
  return modelOf(
    kept.map((p) => p.length),
    model.itemSize,
    (tuple) => {
      let next = 0;
      const source = picks.map((p) => {
        if (typeof p === 'number') return p;
        const i = p[Number(tuple[next++])];
        if (i === undefined) throw new Error('out of range in the model');
        return i;
      });
      return addressOf(model, source);
    },
  );
}

/** The same elements, listed and placed in C or F order, under another shape. */
export function reshaped(model: Model, shape: readonly number[], order: 'C' | 'F'): Model {
  const list = order === 'C' ? tuples : tuplesF;
  const addresses = list(model.shape).map((tuple) => addressOf(model, tuple));
  const target = new Map(list(shape).map((tuple, n) => [key(tuple), Number(addresses[n])]));
  return modelOf(shape, model.itemSize, (tuple) => Number(target.get(key(tuple))));
}

/** Axis `k` of the result is axis `axes[k]` of the model. */
export function permuted(model: Model, axes: readonly number[]): Model {
  return modelOf(
    axes.map((axis) => Number(model.shape[axis])),
    model.itemSize,
    (tuple) => {
      const source: number[] = [];
      axes.forEach((axis, k) => {
        source[axis] = Number(tuple[k]);
      });
      return addressOf(model, source);
    },
  );
}

/** Repeats axes of length 1 and adds axes in front. */
export function repeated(model: Model, shape: readonly number[]): Model {
  const added = shape.length - model.shape.length;
  return modelOf(shape, model.itemSize, (tuple) =>
    addressOf(
      model,
      model.shape.map((length, axis) => (length === 1 ? 0 : Number(tuple[axis + added]))),
    ),
  );
}

/** The bytes of a row-major compact model read as elements of another size; undefined when rows do not come out whole. */
export function viewed(model: Model, itemSize: number): Model | undefined {
  const last = Number(model.shape.at(-1));
  const bytes = last * model.itemSize;
  if (bytes % itemSize !== 0) return undefined;
  return modelOf([...model.shape.slice(0, -1), bytes / itemSize], itemSize, (tuple) => {
    const byte = Number(tuple.at(-1)) * itemSize;
    const element = Math.floor(byte / model.itemSize);
    return addressOf(model, [...tuple.slice(0, -1), element]) + (byte % model.itemSize);
  });
}

/** Every byte that belongs to an element. */
export function bytesTouched(model: Model): Set<number> {
  const bytes = new Set<number>();
  for (const address of model.at.values()) for (let b = 0; b < model.itemSize; b++) bytes.add(address + b);
  return bytes;
}

/** Whether listing the elements in an order walks memory from the first element on without gaps. */
export function isCompact(model: Model, order: 'C' | 'F'): boolean {
  const list = order === 'C' ? tuples(model.shape) : tuplesF(model.shape);
  const first = list[0];
  if (first === undefined) return true;
  const start = addressOf(model, first);
  return list.every((tuple, n) => addressOf(model, tuple) === start + n * model.itemSize);
}

/** Whether some strides describe the model: each axis adds the same amount at every step, wherever one stands. */
export function isStrided(model: Model): boolean {
  const origin = model.shape.map(() => 0);
  if (model.at.size === 0) return true;
  const strides = model.shape.map((length, axis) => {
    if (length < 2) return 0;
    const neighbour = origin.map((_, i) => (i === axis ? 1 : 0));
    return addressOf(model, neighbour) - addressOf(model, origin);
  });
  const base = addressOf(model, origin);
  return tuples(model.shape).every(
    (tuple) => addressOf(model, tuple) === tuple.reduce((sum, i, axis) => sum + i * Number(strides[axis]), base),
  );
}
