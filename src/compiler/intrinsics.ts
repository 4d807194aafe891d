/**
 * Intrinsics: the values by which kernels name what only a device can do (`cuda.grid`, `cuda.threadIdx`, …).
 *
 * They are opaque values recognised by identity and brand, never functions with a body: a bundler may inline a stub like
 * `function grid() { return 0 }`, and rename everything, but it cannot look into these. On the host they throw.
 */
import { NotSupportedError } from '../errors.ts';

const BRAND: unique symbol = Symbol.for('tsamba.intrinsic') as never;

/** The name of an intrinsic, such as `'grid'`, `'atomic.add'` or `'roc.barrier'`, or undefined when the value is none. */
export function intrinsicName(value: unknown): string | undefined {
  if ((typeof value !== 'function' && typeof value !== 'object') || value === null) return undefined;
  const name: unknown = (value as { [BRAND]?: unknown })[BRAND];
  return typeof name === 'string' ? name : undefined;
}

/** How users write the name of an intrinsic: those that only `roc` has say so themselves, all others are `cuda`'s. */
export function spelled(name: string): string {
  return name.startsWith('roc.') ? name : `cuda.${name}`;
}

function onHost(name: string): never {
  const jit = name.startsWith('roc.') ? 'roc.jit' : 'cuda.jit';
  throw new NotSupportedError(
    'E_HOST_INTRINSIC',
    `${spelled(name)} only works inside a kernel: call it in a function that is passed to ${jit}, not on the host`,
  );
}

/** A function that exists only in kernels. `F` is what the editor shows. */
export function intrinsic<F extends (...args: never[]) => unknown>(name: string): F {
  const value = (): never => onHost(name);
  Object.defineProperty(value, 'name', { value: name });
  Object.defineProperty(value, BRAND, { value: name });
  return Object.freeze(value) as unknown as F;
}

/** A value that exists only in kernels, with named parts: `threadIdx.x`. */
export function intrinsicObject<T extends object>(name: string, members: readonly (keyof T & string)[]): T {
  const value = {};
  Object.defineProperty(value, BRAND, { value: name });
  for (const member of members) {
    Object.defineProperty(value, member, { enumerable: true, get: () => onHost(`${name}.${member}`) });
  }
  return Object.freeze(value) as T;
}

/** A single number that exists only in kernels, like `laneId`: an opaque object that the editor takes for a number. */
export function intrinsicNumber(name: string): number {
  const value = { [Symbol.toPrimitive]: () => onHost(name) };
  Object.defineProperty(value, BRAND, { value: name });
  return Object.freeze(value) as unknown as number;
}

/** A device function of a library with what it takes from outside, by a factory that was called with that. */
export interface WithCaptures {
  readonly factory: (captures: never) => (...args: never[]) => unknown;
  readonly captures: Readonly<Record<string, unknown>>;
  /** What it computes. */
  readonly body: (...args: never[]) => unknown;
}

const withCaptures = new WeakMap<object, WithCaptures>();

/**
 * A device function that a library offers: `deviceFunction(({ next }) => (states, i) => next(states, i), { next })`. What it calls is found also
 * where no inspector shows scopes and a minifier has renamed everything. `name`: of one that has a meaning only inside a kernel, as users write it after `cuda.`.
 */
export function deviceFunction<C extends Readonly<Record<string, unknown>>, F extends (...args: never[]) => unknown>(
  factory: (captures: C) => F,
  captures: C,
  name?: string,
): F {
  const body = factory(captures);
  const fn = name === undefined ? body : ((() => onHost(name)) as unknown as F);
  withCaptures.set(fn, { factory, captures, body });
  return fn;
}

/** How a device function of a library was made; undefined for any other function. */
export function capturesOf(fn: object): WithCaptures | undefined {
  return withCaptures.get(fn);
}

/** Functions of Tsamba that only the host can call, with the name and the help that errors about them show. */
const declaredHostOnly = new WeakMap<object, HostOnly>();

/** What errors say of a function that only the host can call. */
export interface HostOnly {
  /** `'cuda.deviceArray'`, `'the kernel scale'`. */
  readonly what: string;
  /** What to do instead. */
  readonly help: string;
}

/** Makes the compiler refuse calls of a function in kernels, instead of compiling its source. */
export function declareHostOnly(fn: object, description: HostOnly): void {
  declaredHostOnly.set(fn, description);
}

/** A function of a namespace, by its name there: only the host can call it. */
export function hostFunction<F extends (...args: never[]) => unknown>(
  { namespace }: { readonly namespace: string },
  name: string,
  fn: F,
): F {
  Object.defineProperty(fn, 'name', { value: name });
  declareHostOnly(fn, { what: `${namespace}.${name}`, help: CALL_BEFORE });
  return fn;
}

/** A function that only the host can call, by the name that users know. It is kept where it is used: bundlers drop what a module does with others when it is loaded. */
export function hostOnly<F extends (...args: never[]) => unknown>(what: string, fn: F): F {
  Object.defineProperty(fn, 'name', { value: what.replace(/^.*\./, '') });
  declareHostOnly(fn, { what, help: CALL_BEFORE });
  return fn;
}

/** The static property by which a class says that only the host can use it. */
export const HOST_ONLY = '~hostOnly';

/** What to do with what only the host can call. */
export const CALL_BEFORE = 'call it before the launch, and pass its result as an argument';

/** What was declared of a function, or undefined when it may be a device function. */
export function hostOnlyOf(fn: object): HostOnly | undefined {
  const what: unknown = Object.hasOwn(fn, HOST_ONLY) ? Reflect.get(fn, HOST_ONLY) : undefined;
  return typeof what === 'string' ? { what, help: CALL_BEFORE } : declaredHostOnly.get(fn);
}

/** Marks kernels; its value is the function that the kernel was made of. */
export const KERNEL: unique symbol = Symbol.for('tsamba.kernel') as never;

/** The function that a kernel was made of: what a kernel means inside of another one. */
export function functionOfKernel(value: unknown): ((...args: never[]) => unknown) | undefined {
  return typeof value === 'function' && KERNEL in value
    ? ((value as { [KERNEL]: unknown })[KERNEL] as (...args: never[]) => unknown)
    : undefined;
}
