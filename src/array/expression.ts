/**
 * Arithmetic of whole arrays, before it is done: an expression says what is wanted of arrays, numbers and other expressions.
 *
 * Nothing here computes. The methods make a node each, a few words of memory; what evaluates them (`fuse/`) compiles all that belongs together into one kernel, and registers
 * itself here, so that a program which evaluates nothing does not carry it.
 */

import type { Complex, DType, DTypeLike, ElementOf, Plain, TypedArray, ValueOf } from '../dtype/index.ts';
import { NotSupportedError } from '../errors.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import type { Stream } from '../stream/stream.ts';

/** Arrays by their elements: what an expression becomes. `(K & { element: f32 })['array']` is an array of f32. */
export interface ArrayKind {
  readonly element: unknown;
  readonly array: unknown;
}

/** An array of a kind with elements `T`. */
type ArrayOf<K extends ArrayKind, T> = (K & { readonly element: T })['array'];

/** What an operand may be: a number, an array on the device or the host, an expression, nested JavaScript arrays. */
export type ArrayOperand =
  | (number | bigint | boolean | Complex)
  | { readonly dtype: DType<unknown> }
  | TypedArray
  | readonly unknown[];

/** The elements of an operand; never of numbers, which take the type of what they meet. */
type ElementsOf<U> = U extends { readonly dtype: DType<infer V> } ? V : U extends TypedArray ? ElementOf<U> : never;
/** What elements of two types give: one of them where they are the same. */
export type Joined<T, U> = [ElementsOf<U>] extends [never]
  ? T
  : [ElementsOf<U>] extends [T]
    ? [T] extends [ElementsOf<U>]
      ? T
      : Plain<T> | Plain<ElementsOf<U>>
    : Plain<T> | Plain<ElementsOf<U>>;

/** The elements of an array or expression. */
type Own<A> = A extends { readonly dtype: DType<infer V> } ? V : unknown;
/** What is one of two operands. */
type Either<U, V> = [ElementsOf<U>] extends [never]
  ? [ElementsOf<V>] extends [never]
    ? number
    : ElementsOf<V>
  : Joined<ElementsOf<U>, V>;

/** Options of reductions. */
export interface AxisOptions {
  /** The axis, or several; default all of them. Negative ones count from the end. */
  readonly axis?: number | readonly number[] | null | undefined;
  /** Whether the axes stay, with a length of 1. Default false. */
  readonly keepDims?: boolean | undefined;
}

/** Options of evaluating. */
export interface EvaluateOptions<O = unknown> {
  /** An array on the device or the host that gets the result; it is what the call gives. */
  readonly out?: O | null | undefined;
  /** The stream that the work is enqueued on. */
  readonly stream?: Stream | 0 | null | undefined;
}

/** What stands at a node: an operation, the number of whose operands its name says. */
export interface ExpressionNode {
  readonly op: string;
  readonly operands: readonly unknown[];
  /** Of reductions and casts. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What does the arithmetic. */
export interface Evaluator {
  describe(expression: object): { readonly shape: readonly number[]; readonly dtype: DType };
  evaluate(expression: object, options: unknown): unknown;
  evaluateAsync(expression: object, options: unknown): Promise<unknown>;
}

/** By the namespace whose arrays they compute with, the first that was loaded first. */
const evaluators = new Map<string, Evaluator>();

/** Called by what does the arithmetic of a namespace, when it is loaded. */
export function useEvaluator(namespace: string, found: Evaluator): void {
  if (!evaluators.has(namespace)) evaluators.set(namespace, found);
}

/** That of the namespace whose arrays an expression is made of. */
function evaluatorOf(value: object): Evaluator {
  const evaluator = evaluators.get(namespaceIn(value) ?? '') ?? evaluators.values().next().value;
  if (evaluator !== undefined) return evaluator;
  throw new NotSupportedError(
    'E_EXPRESSION',
    'a bundler has removed the code that evaluates expressions: write cuda.fuse(expression), or use the object cuda',
  );
}

/** The namespace of the first array on the device. */
function namespaceIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const node = nodes.get(value);
  if (node === undefined) return isArray(value) ? (value as OnDevice).context.namespace : undefined;
  for (const operand of node.operands) {
    const found = namespaceIn(operand);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface OnDevice {
  readonly context: { readonly namespace: string };
}

/** What arrays on the device inherit from. */
const addedTo: object[] = [];

function isArray(value: object): boolean {
  return addedTo.some((prototype) => Object.prototype.isPrototypeOf.call(prototype, value));
}

const nodes = new WeakMap<object, ExpressionNode>();

/** The node of an expression; undefined for all else. */
export function nodeOf(value: unknown): ExpressionNode | undefined {
  return typeof value === 'object' && value !== null ? nodes.get(value) : undefined;
}

/** Arithmetic of whole arrays: methods of device arrays and of expressions. They are lazy: each returns an expression. */
export interface Operators<K extends ArrayKind> {
  /** Sums of elements, broadcast. The result has the type that the expression has in a kernel. NumPy: `a + b`. */
  add<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Differences of elements, broadcast. NumPy: `a - b`. */
  sub<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Products of elements, broadcast; `cuda.matmul` multiplies matrices. NumPy: `a * b`. */
  mul<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Quotients, broadcast: f64 for integers, rounded towards zero for i64 and u64. NumPy: `a / b`. */
  div<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Remainders with the sign of the divisor, as NumPy's `a % b`. */
  mod<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Remainders with the sign of the dividend: JavaScript's `%`, NumPy's `fmod`. */
  rem<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Powers of elements, broadcast, as `**` in a kernel. NumPy: `a ** b`. */
  pow<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** The angle of the point (`other`, this) in radians, from -π to π. NumPy: `arctan2`. */
  atan2<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** The square root of the sum of both squares. NumPy: `hypot`. */
  hypot<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** The smaller of two elements; NaN if either is NaN. NumPy: `minimum`. */
  minimum<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** The larger of two elements; NaN if either is NaN. NumPy: `maximum`. */
  maximum<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Elements limited to the range from `low` to `high`. NumPy: `clip`. */
  clip<A, U extends ArrayOperand, V extends ArrayOperand>(this: A, low: U, high: V): Expression<Joined<Own<A>, U>, K>;
  /** Whether elements are equal; NaN equals nothing. Bool. NumPy: `a == b`. */
  equal(other: ArrayOperand): Expression<boolean, K>;
  /** Whether elements differ; NaN differs from everything. Bool. NumPy: `a != b`. */
  notEqual(other: ArrayOperand): Expression<boolean, K>;
  /** Whether elements are less than those of `other`. Bool. NumPy: `a < b`. */
  less(other: ArrayOperand): Expression<boolean, K>;
  /** Whether elements are less than or equal to those of `other`. Bool. NumPy: `a <= b`. */
  lessEqual(other: ArrayOperand): Expression<boolean, K>;
  /** Whether elements are greater than those of `other`. Bool. NumPy: `a > b`. */
  greater(other: ArrayOperand): Expression<boolean, K>;
  /** Whether elements are greater than or equal to those of `other`. Bool. NumPy: `a >= b`. */
  greaterEqual(other: ArrayOperand): Expression<boolean, K>;
  /** Whether both elements are true, or not 0. Bool. NumPy: `logical_and`. */
  logicalAnd(other: ArrayOperand): Expression<boolean, K>;
  /** Whether at least one of both elements is true, or not 0. Bool. NumPy: `logical_or`. */
  logicalOr(other: ArrayOperand): Expression<boolean, K>;
  /** Whether the element is false, or 0. Bool. NumPy: `logical_not`. */
  logicalNot(): Expression<boolean, K>;
  /** Whether elements are NaN. Bool. NumPy: `isnan`. */
  isNaN(): Expression<boolean, K>;
  /** Whether elements are neither infinite nor NaN. Bool. NumPy: `isfinite`. */
  isFinite(): Expression<boolean, K>;
  /** Elements of `yes` where this one is true, else of `no`. NumPy: `where(a, yes, no)`. */
  where<U extends ArrayOperand, V extends ArrayOperand>(yes: U, no: V): Expression<Either<U, V>, K>;
  /** Bitwise and, of integers and booleans. NumPy: `a & b`. */
  bitAnd<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Bitwise or, of integers and booleans. NumPy: `a | b`. */
  bitOr<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Bitwise exclusive or, of integers and booleans. NumPy: `a ^ b`. */
  bitXor<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Elements with the opposite sign. NumPy: `-a`. */
  neg<A>(this: A): Expression<Own<A>, K>;
  /** Absolute values; of complex numbers their magnitude, which is real. NumPy: `abs`. */
  abs<A>(this: A): Expression<Own<A> extends { readonly re: unknown } ? number : Own<A>, K>;
  /** -1, 0 or 1 by the sign; NaN stays NaN. NumPy: `sign`. */
  sign<A>(this: A): Expression<Own<A>, K>;
  /** The square of each element. NumPy: `square`. */
  square<A>(this: A): Expression<Own<A>, K>;
  /** The square root; NaN for negative reals. NumPy: `sqrt`. */
  sqrt<A>(this: A): Expression<Own<A>, K>;
  /** The cube root. NumPy: `cbrt`. */
  cbrt<A>(this: A): Expression<Own<A>, K>;
  /** e raised to the element. NumPy: `exp`. */
  exp<A>(this: A): Expression<Own<A>, K>;
  /** `exp(x) - 1`, precise for small x. NumPy: `expm1`. */
  expm1<A>(this: A): Expression<Own<A>, K>;
  /** The natural logarithm. NumPy: `log`. */
  log<A>(this: A): Expression<Own<A>, K>;
  /** `log(1 + x)`, precise for small x. NumPy: `log1p`. */
  log1p<A>(this: A): Expression<Own<A>, K>;
  /** The logarithm to base 2. NumPy: `log2`. */
  log2<A>(this: A): Expression<Own<A>, K>;
  /** The logarithm to base 10. NumPy: `log10`. */
  log10<A>(this: A): Expression<Own<A>, K>;
  /** The sine of angles in radians. NumPy: `sin`. */
  sin<A>(this: A): Expression<Own<A>, K>;
  /** The cosine of angles in radians. NumPy: `cos`. */
  cos<A>(this: A): Expression<Own<A>, K>;
  /** The tangent of angles in radians. NumPy: `tan`. */
  tan<A>(this: A): Expression<Own<A>, K>;
  /** The arcsine, in radians. NumPy: `arcsin`. */
  asin<A>(this: A): Expression<Own<A>, K>;
  /** The arccosine, in radians. NumPy: `arccos`. */
  acos<A>(this: A): Expression<Own<A>, K>;
  /** The arctangent, in radians. NumPy: `arctan`. */
  atan<A>(this: A): Expression<Own<A>, K>;
  /** The hyperbolic sine. NumPy: `sinh`. */
  sinh<A>(this: A): Expression<Own<A>, K>;
  /** The hyperbolic cosine. NumPy: `cosh`. */
  cosh<A>(this: A): Expression<Own<A>, K>;
  /** The hyperbolic tangent. NumPy: `tanh`. */
  tanh<A>(this: A): Expression<Own<A>, K>;
  /** The inverse hyperbolic sine. NumPy: `arcsinh`. */
  asinh<A>(this: A): Expression<Own<A>, K>;
  /** The inverse hyperbolic cosine. NumPy: `arccosh`. */
  acosh<A>(this: A): Expression<Own<A>, K>;
  /** The inverse hyperbolic tangent. NumPy: `arctanh`. */
  atanh<A>(this: A): Expression<Own<A>, K>;
  /** Rounded down. NumPy: `floor`. */
  floor<A>(this: A): Expression<Own<A>, K>;
  /** Rounded up. NumPy: `ceil`. */
  ceil<A>(this: A): Expression<Own<A>, K>;
  /** Rounded towards zero. NumPy: `trunc`. */
  trunc<A>(this: A): Expression<Own<A>, K>;
  /** Rounded to the nearest integer, halves up, as `Math.round`; NumPy's `round` takes halves to even. */
  round<A>(this: A): Expression<Own<A>, K>;
  /** The real parts of complex numbers. NumPy: `real`. */
  real(): Expression<number, K>;
  /** The imaginary parts of complex numbers. NumPy: `imag`. */
  imag(): Expression<number, K>;
  /** The complex conjugates. NumPy: `conj`. */
  conj<A>(this: A): Expression<Own<A>, K>;
  /** The elements as another type, as a cast in a kernel converts them. NumPy: `astype`. */
  astype<const D extends DTypeLike>(dtype: D): Expression<ValueOf<D>, K>;
  /** The sum of all elements or along `axis`; bool and integers of 8 and 16 bits give i32. NumPy: `sum`. */
  sum<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  /** The product of all elements or along `axis`; bool and integers of 8 and 16 bits give i32. NumPy: `prod`. */
  prod<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  /** The mean of all elements or along `axis`; f64 for integers. NumPy: `mean`. */
  mean<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  /** The smallest element, of all or along `axis`; NaN if there is one. NumPy: `min`. */
  min<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  /** The largest element, of all or along `axis`; NaN if there is one. NumPy: `max`. */
  max<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  /** Whether at least one element is true, or not 0. Bool. NumPy: `any`. */
  any(options?: AxisOptions): Expression<boolean, K>;
  /** Whether all elements are true, or not 0. Bool. NumPy: `all`. */
  all(options?: AxisOptions): Expression<boolean, K>;
  /** The index of the first smallest element along one axis, or among all elements in C order, as i32. The first NaN counts as the smallest. NumPy: `argmin`. */
  argmin(options?: ArgOptions): Expression<number, K>;
  /**
   * The index of the first largest element along one axis, or among all elements in C order, as i32. The first NaN counts as the largest. NumPy:
   * `argmax`.
   */
  argmax(options?: ArgOptions): Expression<number, K>;
}

/** Options of `argmin` and `argmax`. */
export interface ArgOptions {
  /** The axis; null or undefined for all elements in C order. */ readonly axis?: number | null | undefined;
  /** Keeps the axis, with length 1. Default: false. */
  readonly keepDims?: boolean | undefined;
}

/** An expression of whole arrays, which is computed when its value is asked for. */
export interface Expression<T, K extends ArrayKind> extends Operators<K> {
  /** Length of each axis of the value. */
  readonly shape: readonly number[];
  /** The type of the elements of the value. */
  readonly dtype: DType<T>;
  /**
   * Computes: into a new array on the device, or into `out`. Enqueued; does not wait.
   * @throws RangeError for shapes that do not match, TypeError for types that the arithmetic does not take.
   */
  evaluate<O>(options: EvaluateOptions<O> & { readonly out: O }): O;
  evaluate(options?: EvaluateOptions<undefined>): ArrayOf<K, T>;
  /** The same for devices that compile through promises alone. */
  evaluateAsync<O>(options: EvaluateOptions<O> & { readonly out: O }): Promise<O>;
  evaluateAsync(options?: EvaluateOptions<undefined>): Promise<ArrayOf<K, T>>;
  /** Computes, and gives one element of the value: without an index that of a value without axes. Waits. */
  get(...index: number[]): Plain<T>;
  /** The same without blocking the event loop: resolves to the element. */
  getAsync(...index: number[]): Promise<Plain<T>>;
  /** Computes, and copies the value to the host. Waits. */
  copyToHost(): ArrayOf<K, T> extends { copyToHost(): infer H } ? H : unknown;
  /** The same without blocking the event loop: resolves to the host array. */
  copyToHostAsync(): Promise<ArrayOf<K, T> extends { copyToHost(): infer H } ? H : unknown>;
}

/** What an evaluated expression can be asked. */
interface Value {
  get(...index: number[]): unknown;
  getAsync(...index: number[]): Promise<unknown>;
  copyToHost(): unknown;
  copyToHostAsync(): Promise<unknown>;
  dispose(): void;
}

const UNARY =
  'logicalNot isNaN isFinite neg abs sign square sqrt cbrt exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh floor ceil trunc round real imag conj';
const BINARY =
  'add sub mul div mod rem pow atan2 hypot minimum maximum equal notEqual less lessEqual greater greaterEqual logicalAnd logicalOr bitAnd bitOr bitXor';
const TERNARY = 'clip where';
const REDUCING = 'sum prod mean min max any all argmin argmax';

/** Gives the methods of `Operators` to a class. */
export function addOperators(prototype: object): void {
  if (prototype !== Lazy.prototype) addedTo.push(prototype);
  const method = (name: string, value: (this: object, ...given: never[]) => object): void => {
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  };
  const plain = (names: string, count: number): void => {
    for (const name of names.split(' '))
      method(name, function (...given: unknown[]) {
        return expression({ op: name, operands: [this, ...given.slice(0, count)], options: {} });
      });
  };
  plain(UNARY, 0);
  plain(BINARY, 1);
  plain(TERNARY, 2);
  method('astype', function (dtype: unknown) {
    return expression({ op: 'astype', operands: [this], options: { dtype } });
  });
  for (const name of REDUCING.split(' '))
    method(name, function (options: Readonly<Record<string, unknown>> = {}) {
      return expression({ op: name, operands: [this], options });
    });
}

class Lazy {
  get shape(): readonly number[] {
    return evaluatorOf(this).describe(this).shape;
  }

  get dtype(): DType {
    return evaluatorOf(this).describe(this).dtype;
  }

  evaluate(options?: unknown): unknown {
    return evaluatorOf(this).evaluate(this, options);
  }

  evaluateAsync(options?: unknown): Promise<unknown> {
    return evaluatorOf(this).evaluateAsync(this, options);
  }

  get(...index: number[]): unknown {
    return this.#once((value) => value.get(...index));
  }

  getAsync(...index: number[]): Promise<unknown> {
    return this.#onceLater((value) => value.getAsync(...index));
  }

  copyToHost(): unknown {
    return this.#once((value) => value.copyToHost());
  }

  copyToHostAsync(): Promise<unknown> {
    return this.#onceLater((value) => value.copyToHostAsync());
  }

  #once(read: (value: Value) => unknown): unknown {
    const value = this.evaluate() as Value;
    try {
      return read(value);
    } finally {
      disposeUnseen([value]);
    }
  }

  async #onceLater(read: (value: Value) => Promise<unknown>): Promise<unknown> {
    const value = (await this.evaluateAsync()) as Value;
    try {
      return await read(value);
    } finally {
      disposeUnseen([value]);
    }
  }
}
addOperators(Lazy.prototype);

/** An expression of a node. */
export function expression(node: ExpressionNode): object {
  const made = Object.freeze(new Lazy());
  nodes.set(made, node);
  return made;
}
