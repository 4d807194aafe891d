/**
 * Checks of options objects, `{ stream, order }`, for every function that takes one.
 *
 * A misspelt option would otherwise do nothing, and so would a stream given by position, as Numba has it.
 */
import { TsambaTypeError } from './errors.ts';

/** Throws TypeError when `options` is no plain object, or has a key that is none of `known`. Undefined is no options. */
export function checkOptionsObject(what: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null || Array.isArray(options) || isInstance(options)) {
    const isOrder = typeof options === 'string' && known.includes('order');
    const example = isOrder ? `order: '${options}'` : known.includes('stream') ? 'stream' : (known[0] ?? '');
    throw new TsambaTypeError(
      'E_OPTION',
      `${what} takes its options as an object, such as { ${example} }, got ${kindOf(options)}`,
    );
  }
  checkKeys(what, options, known);
}

/** Throws TypeError for a key of its own that is none of `known`. */
export function checkKeys(what: string, options: object, known: readonly string[]): void {
  for (const key in options) {
    if (known.includes(key) || !Object.hasOwn(options, key)) continue;
    const near = known.find((name) => isNear(key, name));
    throw new TsambaTypeError(
      'E_OPTION',
      `${what} has no option '${key}'${near === undefined ? `: the options are ${known.join(', ')}` : `: did you mean '${near}'?`}`,
    );
  }
}

/** Of a class of its own: an array, a stream. Objects of other realms and without a prototype are plain. */
export function isInstance(value: object): boolean {
  // Every call with options asks, and nearly always about a plain object: reading a property is the quickest way to tell.
  if (value.constructor === Object) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return `a value of class ${value.constructor?.name ?? '(none)'}`;
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`;
  return typeof value === 'string' ? `'${value}'` : `the ${typeof value} ${String(value)}`;
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
