/**
 * An array that fills itself when it is first looked at, and that nobody can change: lists of devices, which importing Tsamba must not
 * look for.
 */

/** `fill` adds to the list what it lacks, and gives it. */
export function lazyList<T>(fill: (list: T[]) => T[]): readonly T[] {
  const list: T[] = [];
  const unchangeable = (): boolean => false;
  // Printing an object looks past a proxy at what stands behind it.
  Object.defineProperty(list, Symbol.for('nodejs.util.inspect.custom'), {
    value: () => [...fill(list)],
    enumerable: false,
  });
  return new Proxy(list, {
    get: (target, key) => Reflect.get(fill(target), key) as unknown,
    has: (target, key) => Reflect.has(fill(target), key),
    ownKeys: (target) => Reflect.ownKeys(fill(target)),
    getOwnPropertyDescriptor: (target, key) => Reflect.getOwnPropertyDescriptor(fill(target), key),
    set: unchangeable,
    deleteProperty: unchangeable,
    defineProperty: unchangeable,
    setPrototypeOf: unchangeable,
    preventExtensions: unchangeable,
  });
}
