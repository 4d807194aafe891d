/**
 * One evaluation of an expression: what types and shapes its nodes have, which of them go into one kernel, and the launches.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { type ExpressionNode, expression, nodeOf } from '../array/expression.ts';
import type { ArgType } from '../compiler/contract.ts';
import { asDType, bool, type DType, f64 } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Step } from '../kernel/steps.ts';
import { broadcastShapes, broadcastTo, formatShape, normalizeAxis, sizeOf } from '../layout/index.ts';
import { elementType, type Operand, type Workplace } from '../ufunc/operands.ts';
import type { Input } from '../ufunc/universal.ts';

import { conversion, FUNCTIONS, OF_BOOL } from './functions.ts';
import type { Compiled, Kernels } from './kernels.ts';
import type { Operation } from './program.ts';

/** Operations of one kernel, at most. */
const MOST = 40;

/** What is known of an operand. */
interface Known {
  readonly shape: readonly number[];
  /** Undefined of numbers, which take the type of what they meet. */
  readonly dtype: DType | undefined;
  readonly type: ArgType;
  /** Operations in a kernel that computes it; 0 of what is in memory. */
  readonly weight: number;
}

/** Reductions that a kernel does; all others are made of them. */
const REDUCTIONS: readonly string[] = ['sum', 'prod', 'min', 'max'];
const EMPTY: Readonly<Record<string, number>> = { sum: 0, prod: 1 };
const COMBINED: Readonly<Record<string, string>> = { sum: 'add', prod: 'mul', min: 'minimum', max: 'maximum' };

export class Evaluation {
  readonly steps: Step[] = [];
  readonly #kernels: Kernels;
  readonly #place: Workplace;
  readonly #read = new Map<unknown, Operand>();
  readonly #known = new Map<unknown, Known>();
  readonly #simpler = new Map<object, unknown>();
  readonly #values = new Map<object, DeviceNDArray>();

  constructor(kernels: Kernels, place: Workplace) {
    this.#kernels = kernels;
    this.#place = place;
  }

  /** The arrays that the expression reads. */
  get inputs(): readonly DeviceNDArray[] {
    return [...this.#read.values()].flatMap((operand) => (operand.kind === 'array' ? [operand.array] : []));
  }

  get onDevice(): boolean {
    return [...this.#read.values()].some((operand) => operand.kind === 'array' && operand.onDevice);
  }

  /** Shape and type of an expression. */
  describe(value: object): { readonly shape: readonly number[]; readonly dtype: DType } {
    const { shape, dtype } = this.#know(value);
    return { shape, dtype: dtype as DType };
  }

  /** Appends the launches that compute an expression into an array of its shape. */
  into(value: object, out: DeviceNDArray): void {
    const simple = this.#simplified(value);
    const node = nodeOf(simple);
    if (node !== undefined && REDUCTIONS.includes(node.op)) this.#reduce(simple as object, node, out);
    else if (out.size > 0) this.#elementwise(simple, out);
  }

  // ---------------------------------------------------------------- what is known

  #know(given: unknown): Known {
    const value = this.#simplified(given);
    let known = this.#known.get(value);
    if (known === undefined) {
      known = this.#found(value);
      // Numbers are told apart by where they stand.
      if (typeof value === 'object') this.#known.set(value, known);
    }
    return known;
  }

  #found(value: unknown): Known {
    const node = nodeOf(value);
    if (node === undefined) {
      const operand = this.#operand(value);
      if (operand.kind === 'scalar') return { shape: [], dtype: undefined, type: operand.type, weight: 0 };
      const { array } = operand as Extract<Operand, { kind: 'array' }>;
      return { shape: array.shape, dtype: array.dtype, type: typeOf(array.dtype), weight: 0 };
    }
    const operands = node.operands.map((operand) => this.#know(operand));
    const [first] = operands as [Known];
    if (REDUCTIONS.includes(node.op)) {
      const shape = this.#reducedShape(node, first.shape);
      const dtype = node.op === 'min' || node.op === 'max' ? (first.dtype ?? f64) : this.#sumType(first);
      return { shape, dtype, type: typeOf(dtype), weight: 0 };
    }
    const shape = broadcastShapes(...operands.map(({ shape }) => shape));
    const dtype = node.op === 'astype' ? asDType(node.options['dtype'] as DType) : this.#resultOf(node, operands);
    const weight = 1 + operands.reduce((sum, { weight }) => sum + (weight >= MOST ? 0 : weight), 0);
    return { shape, dtype, type: typeOf(dtype), weight };
  }

  #resultOf(node: ExpressionNode, operands: readonly Known[]): DType {
    const { fn } = this.#functionOf(node, operands);
    return this.#kernels.single(node.op, fn).resultOf(operands.map(({ type }) => type));
  }

  /** Narrow numbers are added as what they are in expressions. */
  #sumType({ dtype, type }: Known): DType {
    return dtype === undefined ? f64 : this.#kernels.single('add', FUNCTIONS['add'] as never).resultOf([type, type]);
  }

  #functionOf(
    node: ExpressionNode,
    [first]: readonly Known[],
  ): { readonly name: string; readonly fn: Operation['fn'] } {
    const from = first?.dtype;
    if (node.op === 'astype') {
      const to = asDType(node.options['dtype'] as DType);
      return { name: `${to.name} of ${from?.kind}`, fn: conversion(to, from ?? f64) };
    }
    const ofBool = from === bool ? OF_BOOL[node.op] : undefined;
    if (node.op === 'conj') {
      return from?.kind === 'c' ? { name: 'conj', fn: this.#kernels.conj } : { name: 'same', fn: (x: never) => x };
    }
    return {
      name: ofBool === undefined ? node.op : `${node.op} of bool`,
      fn: ofBool ?? (FUNCTIONS[node.op] as Operation['fn']),
    };
  }

  /** Reads an operand once. */
  #operand(value: unknown): Operand {
    let operand = typeof value === 'object' ? this.#read.get(value) : undefined;
    if (operand === undefined) {
      const read = this.#place.read(value, 'an operand');
      operand =
        read.kind === 'nested'
          ? { kind: 'array', array: this.#place.nested(read.value, undefined), onDevice: false }
          : read;
      if (typeof value === 'object') this.#read.set(value, operand);
    }
    return operand;
  }

  // ---------------------------------------------------------------- what is made of what

  /** An expression in reductions that kernels do. */
  #simplified(value: unknown): unknown {
    const node = nodeOf(value);
    if (node === undefined) return value;
    let simple = this.#simpler.get(value as object);
    if (simple === undefined) {
      simple = this.#simplify(value as object, node);
      this.#simpler.set(value as object, simple);
    }
    return simple;
  }

  #simplify(value: object, { op, operands, options }: ExpressionNode): unknown {
    const [x] = operands as [object];
    const make = (name: string, of: readonly unknown[], own: ExpressionNode['options'] = {}): object =>
      expression({ op: name, operands: of, options: own });
    const isBool = (): boolean => this.#know(x).dtype === bool;
    const numbers = (): object => (isBool() ? make('flag', [x]) : x);
    switch (op) {
      case 'sum':
      case 'prod':
        return isBool() ? this.#simplified(make(op, [numbers()], options)) : value;
      case 'min':
      case 'max':
        return isBool() ? this.#simplified(make(op === 'min' ? 'all' : 'any', [x], options)) : value;
      case 'any':
      case 'all': {
        if (sizeOf(this.#know(x).shape) === 0)
          return make('truth', [make(op === 'any' ? 'sum' : 'prod', [make('flag', [x])], options)]);
        return make('truth', [make(op === 'any' ? 'max' : 'min', [make('flag', [x])], options)]);
      }
      case 'mean': {
        const { shape, dtype } = this.#know(x);
        const given =
          dtype !== undefined && 'bui'.includes(dtype.kind) ? make('astype', [numbers()], { dtype: f64 }) : x;
        const count = this.#axesOf(options, shape).reduce((n, axis) => n * (shape[axis] ?? 1), 1);
        return make('div', [make('sum', [given], options), count]);
      }
      case 'argmin':
      case 'argmax':
        return this.#arg(numbers(), op === 'argmin' ? 'min' : 'max', options);
      default:
        return value;
    }
  }

  /** The smallest index of what is the smallest or largest. */
  #arg(x: object, op: 'min' | 'max', options: ExpressionNode['options']): object {
    const { shape } = this.#know(x);
    const axes = this.#axesOf(options, shape);
    if (axes.length > 1 && options['axis'] !== undefined && options['axis'] !== null)
      throw new TsambaTypeError('E_EXPRESSION', `arg${op} takes one axis, or none for all elements`);
    const count = axes.reduce((n, axis) => n * (shape[axis] ?? 1), 1);
    const make = (name: string, ...of: readonly unknown[]): object =>
      expression({ op: name, operands: of, options: {} });
    let step = 1;
    let index: object | undefined;
    for (const axis of [...axes].reverse()) {
      const length = shape[axis] ?? 1;
      const own = shape.map((_, k) => (k === axis ? length : 1));
      const along = this.#place.view(
        this.#kernels.counting(this.#place, length),
        own,
        own.map((n) => (n === 1 ? 0 : 4)),
      );
      const term: object = step === 1 ? along : make('mul', along, step);
      index = index === undefined ? term : make('add', index, term);
      step *= length;
    }
    const extreme = expression({ op, operands: [x], options: { ...options, keepDims: true } });
    const found = make('where', make('best', x, extreme), index, count);
    return expression({ op: 'min', operands: [found], options });
  }

  #axesOf({ axis }: ExpressionNode['options'], shape: readonly number[]): readonly number[] {
    if (axis === undefined || axis === null) return shape.map((_, k) => k);
    const axes = (Array.isArray(axis) ? axis : [axis]).map((k: number) => normalizeAxis(k, shape.length));
    return [...new Set(axes)].sort((a, b) => a - b);
  }

  #reducedShape({ options }: ExpressionNode, shape: readonly number[]): readonly number[] {
    const axes = this.#axesOf(options, shape);
    return options['keepDims'] === true
      ? shape.map((n, k) => (axes.includes(k) ? 1 : n))
      : shape.filter((_, k) => !axes.includes(k));
  }

  // ---------------------------------------------------------------- launches

  /** The operations of a tree, and the arrays and numbers that they begin with. */
  #program(root: unknown): {
    readonly compiled: Compiled;
    readonly arrays: readonly DeviceNDArray[];
    readonly numbers: readonly Operand[];
  } {
    const arrays: DeviceNDArray[] = [];
    const numbers: Operand[] = [];
    const operations: { readonly name: string; readonly fn: Operation['fn']; readonly of: readonly Place[] }[] = [];
    const places = new Map<object, Place>();
    const visit = (given: unknown, isRoot: boolean): Place => {
      const value = this.#simplified(given);
      const before = typeof value === 'object' && value !== null ? places.get(value) : undefined;
      if (before !== undefined) return before;
      const place = this.#placed(value, isRoot, arrays, numbers, (node) => {
        const of = node.operands.map((operand) => visit(operand, false));
        operations.push({
          ...this.#functionOf(
            node,
            node.operands.map((operand) => this.#know(operand)),
          ),
          of,
        });
        return { kind: 'made', index: operations.length - 1 };
      });
      if (typeof value === 'object' && value !== null) places.set(value, place);
      return place;
    };
    visit(root, true);
    const starts = { array: 0, number: arrays.length, made: arrays.length + numbers.length };
    const numbered = operations.map(({ name, fn, of }) => ({
      name,
      fn,
      of: of.map(({ kind, index }) => starts[kind] + index),
    }));
    return { compiled: this.#kernels.compiled(numbered, arrays.length, numbers.length), arrays, numbers };
  }

  #placed(
    value: unknown,
    isRoot: boolean,
    arrays: DeviceNDArray[],
    numbers: Operand[],
    operation: (node: ExpressionNode) => Place,
  ): Place {
    const node = nodeOf(value);
    const known = this.#know(value);
    if (node !== undefined && !REDUCTIONS.includes(node.op) && (isRoot || known.weight < MOST)) return operation(node);
    if (node === undefined && known.dtype === undefined) {
      numbers.push(this.#operand(value));
      return { kind: 'number', index: numbers.length - 1 };
    }
    const array =
      node === undefined
        ? (this.#operand(value) as { readonly array: DeviceNDArray }).array
        : this.#value(value as object);
    arrays.push(array);
    return { kind: 'array', index: arrays.length - 1 };
  }

  /** What a part of the expression comes to, in an array of its own. */
  #value(value: object): DeviceNDArray {
    let array = this.#values.get(value);
    if (array === undefined) {
      const { shape, dtype } = this.#know(value);
      array = this.#place.temporary(shape, dtype as DType);
      this.#values.set(value, array);
      this.into(value, array);
    }
    return array;
  }

  #elementwise(value: unknown, out: DeviceNDArray): void {
    const { compiled, arrays, numbers } = this.#program(value);
    const inputs: Input[] = [
      ...arrays,
      ...numbers.map((number) => ({ scalar: (number as { readonly value: unknown }).value })),
    ];
    this.steps.push(...compiled.universal.steps(this.#place, { inputs, result: out.dtype, stated: true }, out));
  }

  #reduce(value: object, node: ExpressionNode, out: DeviceNDArray): void {
    const [x] = node.operands;
    const { shape } = this.#know(x);
    const axes = this.#axesOf(node.options, shape);
    const { dtype } = this.#know(value);
    if (out.size === 0) return;
    if (axes.some((axis) => shape[axis] === 0)) {
      const identity = EMPTY[node.op];
      if (identity === undefined)
        throw new TsambaRangeError(
          'E_EXPRESSION',
          `${node.op} of shape ${formatShape(shape)}: there are no elements along the axes, and the operation has no identity`,
        );
      out.set(identity);
      return;
    }
    const kept = shape.flatMap((n, k) => (axes.includes(k) ? [] : [n]));
    const strides = node.options['keepDims'] === true ? out.strides.filter((_, k) => !axes.includes(k)) : out.strides;
    // A result that is converted is computed beside.
    const same = out.dtype === dtype;
    const result = same ? this.#place.view(out, kept, strides) : this.#place.temporary(kept, dtype as DType);
    this.#lines(node.op, x, { shape, axes, kept }, result);
    if (!same) this.steps.push(...this.#kernels.copy(this.#place, result, this.#place.view(out, kept, strides)));
  }

  #lines(op: string, x: unknown, { shape, axes, kept }: Reduced, result: DeviceNDArray): void {
    const { compiled, arrays, numbers } = this.#program(x);
    const combining = this.#kernels.combining(op, FUNCTIONS[COMBINED[op] as string] as never);
    const given = arrays.length === 0 ? [this.#kernels.counting(this.#place, 1)] : arrays;
    const rest = shape.map((_, k) => k).filter((k) => !axes.includes(k));
    const strides = given.map(
      (array) => broadcastTo({ shape: array.shape, strides: array.strides, offset: 0, itemSize: 0 }, shape).strides,
    );
    const { inner, outer } = mergeable(shape, axes, strides);
    const length = inner.reduce((n, axis) => n * (shape[axis] as number), 1);
    const order = [...rest, ...outer];
    const lines = given.map((array, k) => {
      const own = strides[k] as readonly number[];
      return this.#place.view(
        array,
        [...order.map((axis) => shape[axis] as number), length],
        [...order.map((axis) => own[axis] as number), own[inner.at(-1) as number] ?? 0],
      );
    });
    const values = numbers.map((number) => (number as { readonly value: unknown }).value);
    const left = outer.map((axis) => shape[axis] as number);
    const into = outer.length === 0 ? result : this.#place.temporary([...kept, ...left], result.dtype);
    const plain = compiled.operations === 0 && arrays.length === 1;
    this.steps.push(
      ...combining.reduce(
        this.#place,
        { lines, numbers: values, fn: plain ? undefined : compiled.universal.user.fn },
        into,
      ),
    );
    if (outer.length === 0) return;
    // What is left of the axes lies in a piece.
    const count = left.reduce((a, b) => a * b, 1);
    const line = this.#place.view(into, [...kept, count], [...into.strides.slice(0, kept.length), into.itemSize]);
    this.steps.push(...combining.reduce(this.#place, { lines: [line], numbers: [], fn: undefined }, result));
  }
}

interface Reduced {
  readonly shape: readonly number[];
  readonly axes: readonly number[];
  /** Lengths of the axes that stay. */
  readonly kept: readonly number[];
}

interface Place {
  readonly kind: 'array' | 'number' | 'made';
  readonly index: number;
}

/** The axes that step as one in all arrays, the one with the smallest step last, and the others. */
function mergeable(
  shape: readonly number[],
  axes: readonly number[],
  strides: readonly (readonly number[])[],
): { readonly inner: readonly number[]; readonly outer: readonly number[] } {
  const size = (axis: number): number => Math.max(...strides.map((list) => Math.abs(list[axis] ?? 0)));
  const sorted = axes.filter((axis) => shape[axis] !== 1).sort((a, b) => size(b) - size(a));
  let at = sorted.length - 1;
  while (at > 0) {
    const [outer, inner] = [sorted[at - 1] as number, sorted[at] as number];
    const joined = strides.every((list) => (list[outer] ?? 0) === (list[inner] ?? 0) * (shape[inner] as number));
    if (!joined) break;
    at--;
  }
  return { inner: sorted.slice(Math.max(at, 0)), outer: sorted.slice(0, Math.max(at, 0)) };
}

function typeOf(dtype: DType): ArgType {
  return elementType(dtype);
}
