/**
 * Reading of options objects, `{ stream, order }`, for every function that takes one.
 *
 * Only properties of the object itself are options: what a program, or a library in it, has put on `Object.prototype` must not switch off
 * bounds checks. Each is read once, so a getter cannot say one thing to the check and another to the use. A misspelt option would
 * otherwise do nothing, and so would a stream given by position, as Numba has it.
 */
import { TsambaTypeError } from './errors.ts';
import { show } from './show.ts';

/** What copies of options inherit from: nothing that could be added to. A null prototype itself would make them slow objects. */
const NOTHING: Readonly<Record<string, unknown>> = Object.freeze(Object.create(null));

/**
 * A copy of the options, each of which is one of `known`. Undefined is no options.
 * @throws TypeError when `options` is no plain object, or has a key that is none of `known`.
 */
export function readOptions<T extends object>(
  what: string,
  options: T | undefined,
  known: readonly (keyof T & string)[],
): T;
export function readOptions(what: string, options: unknown, known: readonly string[]): object;
export function readOptions(what: string, options: unknown, known: readonly string[]): object {
  if (options === undefined) return NOTHING;
  if (typeof options !== 'object' || options === null || Array.isArray(options) || isInstance(options)) {
    const isOrder = typeof options === 'string' && known.includes('order');
    const example = isOrder ? `order: '${options}'` : known.includes('stream') ? 'stream' : (known[0] ?? '');
    throw new TsambaTypeError(
      'E_OPTION',
      `${what} takes its options as an object, such as { ${example} }, got ${kindOf(options)}`,
    );
  }
  return readKeys(what, options, known);
}

/** As `readOptions`, of what the caller knows to be an object. */
export function readKeys(what: string, options: object, known: readonly string[]): Readonly<Record<string, unknown>> {
  let own: Record<string, unknown> | undefined;
  for (const key in options) {
    if (!Object.hasOwn(options, key)) continue;
    if (!known.includes(key)) throw unknownOption(what, key, known);
    own ??= Object.create(NOTHING) as Record<string, unknown>;
    own[key] = (options as Record<string, unknown>)[key];
  }
  return own ?? NOTHING;
}

function unknownOption(what: string, key: string, known: readonly string[]): TsambaTypeError {
  const near = key.length > 40 ? undefined : known.find((name) => isNear(key, name));
  const instead = near === undefined ? `: the options are ${known.join(', ')}` : `: did you mean '${near}'?`;
  return new TsambaTypeError('E_OPTION', `${what} has no option ${show(key)}${instead}`);
}

/** A property of the object itself; undefined when it has none of this name. */
export function ownValue(object: object, key: PropertyKey): unknown {
  return Object.hasOwn(object, key) ? (object as Record<PropertyKey, unknown>)[key] : undefined;
}

/**
 * Whether an object or its class has a property: what all objects have, or were given, does not count. For what other libraries' arrays
 * say of themselves, by getters of their classes as often as not.
 */
export function describes(object: object, key: PropertyKey): boolean {
  if (Object.hasOwn(object, key)) return true;
  if (!(key in object)) return false;
  let prototype: object | null = Object.getPrototypeOf(object);
  while (prototype !== null) {
    const next: object | null = Object.getPrototypeOf(prototype);
    // The last of the chain is `Object.prototype`, of this realm or another.
    if (next === null) return false;
    if (Object.hasOwn(prototype, key)) return true;
    prototype = next;
  }
  return false;
}

/** What an object or its class says under a name, as `describes` has it. */
export function describedValue(object: object, key: PropertyKey): unknown {
  return describes(object, key) ? (object as Record<PropertyKey, unknown>)[key] : undefined;
}

/** Whether a value is an object without a class: `{ … }`, of any realm, or one without a prototype. */
export function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isInstance(value);
}

/** Of a class of its own (an array, a stream), or made from another object. Objects of other realms and without a prototype are plain. */
export function isInstance(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') {
    const { name } = value.constructor ?? {};
    return name === 'Object'
      ? 'an object that inherits from another: copy it with { ...options }'
      : `a value of class ${name ?? '(none)'}`;
  }
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`;
  return typeof value === 'string' ? show(value) : `the ${typeof value} ${String(value)}`;
}

/** Whether two names differ by case, underscores, or a letter or two at one place. */
function isNear(a: string, b: string): boolean {
  const [x, y] = [a, b].map((name) => name.toLowerCase().replaceAll('_', '')) as [string, string];
  if (x === y) return true;
  let start = 0;
  while (start < Math.min(x.length, y.length) && x[start] === y[start]) start++;
  let end = 0;
  while (end < Math.min(x.length, y.length) - start && x[x.length - 1 - end] === y[y.length - 1 - end]) end++;
  return Math.max(x.length, y.length) - start - end <= 2;
}

/** An option that is true or false, or undefined where it was not given. `'no'` would else count as true. */
export function flag(what: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw new TsambaTypeError('E_OPTION', `${what} must be true or false, got ${show(value)}`);
}
