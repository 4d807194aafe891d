/**
 * What assignments to arrays, streams and events do that nobody foresaw: they throw, in sloppy code as well, and say what to write.
 *
 * Elements are no properties: `d[0] = 5` would make one and change no element. A proxy behind the class's prototype sees what is found nowhere
 * else, so that members cost nothing more than before.
 */
import { TsambaTypeError } from './errors.ts';

/**
 * The one property of its own that shows what an array is over: comparisons (`toEqual`, `deepStrictEqual`) see no private state, and would
 * find any two arrays equal. Nothing else reads it.
 */
export const COMPARED = '~state';

/** The public fields of guarded classes. Bundlers whose targets have no class fields make assignments of them. */
const FIELDS: ReadonlySet<string | symbol> = new Set(['crossThread', COMPARED]);

/** Makes the properties of a class without setters throw when they are assigned. */
export function refuseAssignments(name: string, prototype: object): void {
  for (const [key, { get, set }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (get === undefined) continue;
    Object.defineProperty(prototype, key, {
      // What copies read of an array is what its class says, and not what somebody has put there.
      configurable: false,
      set:
        set ??
        (() => {
          throw new TsambaTypeError(
            'E_PROPERTY',
            `${key} of ${name} cannot be assigned: it is set when the object is created`,
          );
        }),
    });
  }
}

/** As `refuseAssignments`, and unknown properties and indices with a help. `read` is the method that reads an element. */
export function guardProperties(name: string, prototype: object, read = 'get'): void {
  refuseAssignments(name, prototype);
  const parent: object | null = Object.getPrototypeOf(prototype);
  // A class that extends a guarded one has its guard.
  if (parent !== Object.prototype) return;
  const guard = new Proxy(Object.freeze(Object.create(parent) as object), {
    get(target, key, receiver): unknown {
      if (isIndex(key)) throw element(name, `does not read an element: write .${read}(${key})`, key);
      return Reflect.get(target, key, receiver);
    },
    set(_target, key, value, receiver): boolean {
      if (isIndex(key)) throw element(name, `= … does not change an element: write .set(value, ${key})`, key);
      // Classes that extend the array may have fields of their own.
      const allowed = typeof key === 'symbol' || FIELDS.has(key) || Object.getPrototypeOf(receiver) !== prototype;
      if (Object.isExtensible(receiver) && allowed) {
        return Reflect.defineProperty(receiver, key, { value, writable: true, enumerable: true, configurable: true });
      }
      throw new TsambaTypeError('E_PROPERTY', `${name} has no property ${String(key)}, and cannot get new ones`);
    },
  });
  Object.setPrototypeOf(prototype, guard);
}

function isIndex(key: string | symbol): key is string {
  return typeof key === 'string' && /^-?\d+$/.test(key);
}

function element(name: string, what: string, key: string): TsambaTypeError {
  return new TsambaTypeError('E_PROPERTY', `[${key}] of ${name} ${what}`);
}

/** Makes properties of an object what they are for good. */
export function lockProperties<T extends object>(object: T, ...keys: readonly (keyof T)[]): void {
  for (const key of keys) Object.defineProperty(object, key, { writable: false, configurable: false });
}

/** Freezes plain data, whatever it holds. */
export function freezeData<T>(data: T): T {
  if (typeof data !== 'object' || data === null || Object.isFrozen(data)) return data;
  for (const value of Object.values(data)) freezeData(value);
  return Object.freeze(data);
}
