/**
 * Plain objects, and objects of classes, as arguments of kernels: which there are, and what they are made of.
 */
import { type VectorToken, vectorTypeOf } from '../dtype/index.ts';

type AnyFunction = (...args: never[]) => unknown;

/** What an object argument is made of. */
export interface ObjectParts {
  readonly names: readonly string[];
  /** The class, of an object that is of one. */
  readonly maker: AnyFunction | undefined;
  /** The type of a vector. */
  readonly vector?: VectorToken<unknown> | undefined;
}

/**
 * The parts of an object that a kernel can take: its own enumerable fields, in their order. Undefined for anything that is not a plain object and
 * of no class of the program: a Map, a Date, a Promise.
 */
export function objectParts(value: object): ObjectParts | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return { names: Object.keys(value), maker: undefined };
  const maker = (prototype as { readonly constructor?: unknown }).constructor;
  if (typeof maker !== 'function') return undefined;
  // What the engine and its modules bring has state that no field shows.
  if (/\{\s*\[native code\]\s*\}\s*$/.test(Function.prototype.toString.call(maker))) return undefined;
  if (Object.getPrototypeOf(prototype) !== Object.prototype) return undefined;
  return { names: Object.keys(value), maker: maker as AnyFunction };
}

/** Whether an object has these fields, in this order, and no others. Allocates nothing. */
export function hasParts(value: object, { names, maker, vector }: ObjectParts): boolean {
  // Which objects are vectors no field says.
  if (names[0] === 'x' && vectorTypeOf(value) !== vector) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (maker === undefined ? prototype !== Object.prototype && prototype !== null : prototype !== maker.prototype)
    return false;
  let k = 0;
  for (const name in value) if (Object.hasOwn(value, name) && names[k++] !== name) return false;
  return k === names.length;
}

const numbers = new WeakMap<AnyFunction, number>();
let next = 0;

/** A number for a function: the same as long as it lives. */
export function numberOf(fn: AnyFunction): number {
  let number = numbers.get(fn);
  if (number === undefined) {
    number = next++;
    numbers.set(fn, number);
  }
  return number;
}
