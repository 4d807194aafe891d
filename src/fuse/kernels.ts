/**
 * The kernels of expressions that have been needed on the devices of a namespace.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { copyToContext } from '../array/device-create.ts';
import { intrinsic } from '../compiler/intrinsics.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Step } from '../kernel/steps.ts';
import { Reducer } from '../reduce/reduction.ts';
import { LineKernels } from '../ufunc/lines.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { Universal } from '../ufunc/universal.ts';
import { functionOf, keyOf, type Operation } from './program.ts';

type AnyFunction = (...args: never[]) => unknown;

/** Programs whose kernels are kept. */
const MOST_KEPT = 512;

/** A program that has been compiled, or will be. */
export interface Compiled {
  readonly universal: Universal;
  readonly operations: number;
}

/** What is reduced. */
export interface Given {
  /** Of one shape, with the line last. */
  readonly lines: readonly DeviceNDArray[];
  readonly numbers: readonly unknown[];
  /** What makes a value of their elements; undefined of elements as they are. */
  readonly fn: AnyFunction | undefined;
}

/** Reduces by one operator. */
export class Combining {
  readonly #lines: LineKernels;
  readonly #reducer: Reducer;

  constructor(jit: Jit, fn: AnyFunction, name: string) {
    this.#lines = new LineKernels(new Universal(jit, { fn, name }, 2, undefined));
    this.#reducer = new Reducer(jit, fn, name);
  }

  reduce(place: Workplace, { lines, numbers, fn }: Given, out: DeviceNDArray): Step[] {
    const [line] = lines as [DeviceNDArray];
    if (fn !== undefined) return this.#lines.reduceOf(place, { arrays: lines, numbers, fn }, out);
    if (out.size !== 1 || line.dtype !== out.dtype)
      return this.#lines.reduce(place, { array: line, length: line.shape.at(-1) as number }, out, undefined);
    const x = place.view(line, line.shape.slice(-1), line.strides.slice(-1));
    const { steps, temporaries } = this.#reducer.plan({
      x,
      result: place.view(out, [1], [out.itemSize]),
      init: undefined,
      stream: place.stream,
    });
    for (const temporary of temporaries) place.own(temporary);
    return [...steps];
  }
}

/** Kernels by what they compute. */
export class Kernels {
  readonly conj: AnyFunction = intrinsic<AnyFunction>('conj');
  readonly #jit: Jit;
  readonly #programs = new Map<string, Compiled>();
  readonly #singles = new Map<AnyFunction, Universal>();
  readonly #combining = new Map<string, Combining>();

  constructor(jit: Jit) {
    this.#jit = jit;
  }

  /** One operation by itself: for its type. */
  single(name: string, fn: AnyFunction): Universal {
    let universal = this.#singles.get(fn);
    if (universal === undefined) {
      universal = new Universal(this.#jit, { fn, name }, fn.length, undefined);
      this.#singles.set(fn, universal);
    }
    return universal;
  }

  /** A program by its operations. */
  compiled(operations: readonly Operation[], arrays: number, numbers: number): Compiled {
    const key = `${arrays} ${numbers} ${keyOf(operations)}`;
    let compiled = this.#programs.get(key);
    if (compiled === undefined) {
      const user = { fn: functionOf(operations), name: operations.at(-1)?.name.split(' ')[0] ?? 'evaluate' };
      compiled = {
        universal: new Universal(this.#jit, user, arrays + numbers, undefined),
        operations: operations.length,
      };
      if (this.#programs.size >= MOST_KEPT) this.#programs.clear();
      this.#programs.set(key, compiled);
    }
    return compiled;
  }

  combining(name: string, fn: AnyFunction): Combining {
    let combining = this.#combining.get(name);
    if (combining === undefined) {
      combining = new Combining(this.#jit, fn, name);
      this.#combining.set(name, combining);
    }
    return combining;
  }

  /** 0, 1, 2 … on the device, as i32. */
  counting(place: Workplace, length: number): DeviceNDArray {
    const host = Int32Array.from({ length }, (_, k) => k);
    return place.own(copyToContext(place.context, host, { stream: place.stream }) as DeviceNDArray);
  }

  /** Converts into an array of the same shape. */
  copy(place: Workplace, from: DeviceNDArray, out: DeviceNDArray): Step[] {
    return this.compiled([], 1, 0).universal.steps(place, { inputs: [from], result: out.dtype, stated: true }, out);
  }
}
