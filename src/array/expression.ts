/**
 * Arithmetic of whole arrays, before it is done: an expression says what is wanted of arrays, numbers and other expressions.
 *
 * Nothing here computes. The methods make a node each, a few words of memory; what evaluates them (`fuse/`) compiles all that belongs together into one kernel, and registers
 * itself here, so that a program which evaluates nothing does not carry it.
 */
import type { Complex, DType, DTypeLike, ElementOf, Plain, TypedArray, ValueOf } from '../dtype/index.ts';
import { NotSupportedError } from '../errors.ts';
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
    'nothing in this program evaluates expressions, as a bundler has left it out: write cuda.fuse(expression), or use the object cuda',
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

/** Arithmetic of whole arrays: the methods of arrays on the device, and of expressions of them. Lazy: each gives an expression. */
export interface Operators<K extends ArrayKind> {
  /** Sums, differences, products of elements, broadcast. Types: those of the expression in a kernel. NumPy: `a + b`. */
  add<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  sub<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  mul<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Quotients; of integers f64, of i64 whole. NumPy: `a / b`. */
  div<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Remainders with the sign of the divisor, as NumPy's `a % b`. */
  mod<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Remainders with the sign of the dividend: JavaScript's `%`, NumPy's `fmod`. */
  rem<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  pow<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  atan2<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  hypot<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** The smaller or larger of two elements; NaN where either is. NumPy: `minimum`, `maximum`. */
  minimum<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  maximum<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  /** Held between two bounds. NumPy: `clip`. */
  clip<A, U extends ArrayOperand, V extends ArrayOperand>(this: A, low: U, high: V): Expression<Joined<Own<A>, U>, K>;
  /** Comparisons, whose results are bool. NumPy: `==`, `!=`, `<`, `<=`, `>`, `>=`. */
  equal(other: ArrayOperand): Expression<boolean, K>;
  notEqual(other: ArrayOperand): Expression<boolean, K>;
  less(other: ArrayOperand): Expression<boolean, K>;
  lessEqual(other: ArrayOperand): Expression<boolean, K>;
  greater(other: ArrayOperand): Expression<boolean, K>;
  greaterEqual(other: ArrayOperand): Expression<boolean, K>;
  logicalAnd(other: ArrayOperand): Expression<boolean, K>;
  logicalOr(other: ArrayOperand): Expression<boolean, K>;
  logicalNot(): Expression<boolean, K>;
  isNaN(): Expression<boolean, K>;
  isFinite(): Expression<boolean, K>;
  /** Elements of `yes` where this one is true, else of `no`. NumPy: `where(a, yes, no)`. */
  where<U extends ArrayOperand, V extends ArrayOperand>(yes: U, no: V): Expression<Either<U, V>, K>;
  bitAnd<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  bitOr<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  bitXor<A, U extends ArrayOperand>(this: A, other: U): Expression<Joined<Own<A>, U>, K>;
  neg<A>(this: A): Expression<Own<A>, K>;
  abs<A>(this: A): Expression<Own<A> extends { readonly re: unknown } ? number : Own<A>, K>;
  sign<A>(this: A): Expression<Own<A>, K>;
  square<A>(this: A): Expression<Own<A>, K>;
  sqrt<A>(this: A): Expression<Own<A>, K>;
  cbrt<A>(this: A): Expression<Own<A>, K>;
  exp<A>(this: A): Expression<Own<A>, K>;
  expm1<A>(this: A): Expression<Own<A>, K>;
  log<A>(this: A): Expression<Own<A>, K>;
  log1p<A>(this: A): Expression<Own<A>, K>;
  log2<A>(this: A): Expression<Own<A>, K>;
  log10<A>(this: A): Expression<Own<A>, K>;
  sin<A>(this: A): Expression<Own<A>, K>;
  cos<A>(this: A): Expression<Own<A>, K>;
  tan<A>(this: A): Expression<Own<A>, K>;
  asin<A>(this: A): Expression<Own<A>, K>;
  acos<A>(this: A): Expression<Own<A>, K>;
  atan<A>(this: A): Expression<Own<A>, K>;
  sinh<A>(this: A): Expression<Own<A>, K>;
  cosh<A>(this: A): Expression<Own<A>, K>;
  tanh<A>(this: A): Expression<Own<A>, K>;
  asinh<A>(this: A): Expression<Own<A>, K>;
  acosh<A>(this: A): Expression<Own<A>, K>;
  atanh<A>(this: A): Expression<Own<A>, K>;
  floor<A>(this: A): Expression<Own<A>, K>;
  ceil<A>(this: A): Expression<Own<A>, K>;
  trunc<A>(this: A): Expression<Own<A>, K>;
  round<A>(this: A): Expression<Own<A>, K>;
  /** Parts of complex numbers, and the number with the other sign of its imaginary part. */
  real(): Expression<number, K>;
  imag(): Expression<number, K>;
  conj<A>(this: A): Expression<Own<A>, K>;
  /** The elements as another type, as a cast in a kernel converts them. NumPy: `astype`. */
  astype<const D extends DTypeLike>(dtype: D): Expression<ValueOf<D>, K>;
  /** Sums and products; of bool and integers of 8 and 16 bits i32, of f16 and bf16 f32. NumPy: `sum`, `prod`. */
  sum<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  prod<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  /** The mean; of integers f64. */
  mean<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  /** The smallest and the largest; NaN where there is one. NumPy: `min`, `max`. */
  min<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  max<A>(this: A, options?: AxisOptions): Expression<Own<A>, K>;
  /** Whether one is true, or not 0, or all are. */
  any(options?: AxisOptions): Expression<boolean, K>;
  all(options?: AxisOptions): Expression<boolean, K>;
  /** The index of the first of the smallest or largest along one axis, or among all elements in C order, as i32. NaN counts as both. */
  argmin(options?: ArgOptions): Expression<number, K>;
  argmax(options?: ArgOptions): Expression<number, K>;
}

/** Options of `argmin` and `argmax`. */
export interface ArgOptions {
  readonly axis?: number | null | undefined;
  readonly keepDims?: boolean | undefined;
}

/** An expression of whole arrays, which is computed when its value is asked for. */
export interface Expression<T, K extends ArrayKind> extends Operators<K> {
  /** Length of each axis of the value. */
  readonly shape: readonly number[];
  /** The type of the elements of the value. */
  readonly dtype: DType<T>;
  /**
   * Computes: into a new array on the device, or into `out`. Enqueued; waits for nothing.
   * @throws RangeError for shapes that do not go together, TypeError for types that the arithmetic does not take.
   */
  evaluate<O>(options: EvaluateOptions<O> & { readonly out: O }): O;
  evaluate(options?: EvaluateOptions<undefined>): ArrayOf<K, T>;
  /** The same for devices that compile through promises alone. */
  evaluateAsync<O>(options: EvaluateOptions<O> & { readonly out: O }): Promise<O>;
  evaluateAsync(options?: EvaluateOptions<undefined>): Promise<ArrayOf<K, T>>;
  /** Computes, and gives one element of the value: without an index that of a value without axes. Waits. */
  get(...index: number[]): Plain<T>;
  getAsync(...index: number[]): Promise<Plain<T>>;
  /** Computes, and copies the value to the host. Waits. */
  copyToHost(): ArrayOf<K, T> extends { copyToHost(): infer H } ? H : unknown;
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
      value.dispose();
    }
  }

  async #onceLater(read: (value: Value) => Promise<unknown>): Promise<unknown> {
    const value = (await this.evaluateAsync()) as Value;
    try {
      return await read(value);
    } finally {
      value.dispose();
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
