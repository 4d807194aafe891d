/**
 * Fifty values that no function of the library expects everywhere. Each is made anew for each call, as some change when they are read.
 */

/** What getters and proxies of these values throw: the program's own error, which passes through as it is. */
export class OwnError extends Error {}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cyclicArray(): unknown {
  const list: unknown[] = [1];
  list.push(list);
  return list;
}

function cyclicObject(): unknown {
  const object: Record<string, unknown> = { x: 1 };
  object.self = object;
  return object;
}

function detached(): unknown {
  const array = new Float32Array(8);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

/** An array that is longer each time it is asked. */
function growing(): unknown {
  let length = 1;
  return new Proxy([1, 2, 3], {
    get: (target, key) => (key === 'length' ? Math.min(length++, 50) : Reflect.get(target, key)),
  });
}

function throwing(): unknown {
  const object = {};
  for (const key of ['length', 'shape', 'dtype', 'grid', 'block', 'stream', 'order', '0', '__cuda_array_interface__']) {
    Object.defineProperty(object, key, {
      enumerable: true,
      get: () => {
        throw new OwnError(`reading ${key}`);
      },
    });
  }
  return object;
}

class Point {
  readonly x = 1;
  readonly y = 2;
}

export const ODD_VALUES: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  false: () => false,
  '0': () => 0,
  '-0': () => -0,
  '1': () => 1,
  '-1': () => -1,
  '0.5': () => 0.5,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  '-Infinity': () => Number.NEGATIVE_INFINITY,
  '1e300': () => 1e300,
  '2 ** 31': () => 2 ** 31,
  '2 ** 32': () => 2 ** 32,
  '2 ** 53': () => 2 ** 53,
  '0n': () => 0n,
  '-1n': () => -1n,
  '2n ** 70n': () => 2n ** 70n,
  "''": () => '',
  "'x'": () => 'x',
  "'f32'": () => 'f32',
  'a string of 100 000 characters': () => 'x'.repeat(100_000),
  'a lone surrogate': () => '\ud800',
  'a symbol': () => Symbol('odd'),
  'Symbol.iterator': () => Symbol.iterator,
  '[]': () => [],
  '{}': () => ({}),
  'an array with a hole': () => Object.assign(new Array(3), { 0: 1, 2: 3 }),
  'a sparse array': () => {
    const list: unknown[] = [];
    list[1_000_000] = 1;
    return list;
  },
  '[[1, 2], [3]]': () => [[1, 2], [3]],
  'an array in itself': cyclicArray,
  'an object in itself': cyclicObject,
  'an array nested 10 000 deep': () => {
    let list: unknown = 1;
    for (let k = 0; k < 10_000; k++) list = [list];
    return list;
  },
  'an array of symbols': () => [Symbol('a'), Symbol('b')],
  'an array of bigints and numbers': () => [1n, 2],
  'an array that grows': growing,
  'a function': () => () => 1,
  'a class': () => Point,
  'an instance': () => new Point(),
  'a Date': () => new Date(0),
  'an invalid Date': () => new Date(Number.NaN),
  'a Map': () => new Map([[1, 2]]),
  'a promise': () => Promise.resolve(1),
  'a rejected promise': () => {
    const promise = Promise.reject(new OwnError('rejected'));
    promise.catch(() => {});
    return promise;
  },
  'a revoked proxy': revoked,
  'an object whose getters throw': throwing,
  'an object without a prototype': () => Object.assign(Object.create(null), { x: 1 }),
  'a detached array': detached,
  'a DataView': () => new DataView(new ArrayBuffer(3)),
  'a BigInt64Array': () => new BigInt64Array(2),
  'a Float32Array over 3 bytes of 8': () => new Float32Array(new ArrayBuffer(16), 4, 1),
};
