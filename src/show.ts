/**
 * How values are written in error messages: short, recognisable, never the content of a large array. Whatever a program passes by
 * mistake can be shown: what it does when it is asked for its name or its text is not run, or not let out.
 */

/** One value as a few words: `2.5`, `'abc'`, `[1, 2, null]`, `a Float32Array of 8`, `an object with the keys x, y`. Never throws. */
export function show(value: unknown): string {
  try {
    return showAt(value, 0);
  } catch {
    return `a value of type ${typeof value}`;
  }
}

function showAt(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return value.length > 40 ? `'${value.slice(0, 37)}…'` : `'${value}'`;
    case 'bigint':
      return `${value}n`;
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'symbol':
      return String(value);
    case 'function':
      return value.name === '' ? 'a function' : `the function ${value.name}`;
  }
  if (value === null) return 'null';
  return showObject(value as object, depth);
}

function showObject(value: object, depth: number): string {
  if (Array.isArray(value)) {
    if (depth > 1 || value.length > 8) return `an array of ${value.length}`;
    return `[${Array.from(value, (item: unknown) => showAt(item, depth + 1)).join(', ')}]`;
  }
  if (ArrayBuffer.isView(value)) {
    const length: unknown = (value as { length?: unknown }).length;
    return typeof length === 'number' ? `a ${className(value)} of ${length}` : `a ${className(value)}`;
  }
  const name = className(value);
  if (name !== '' && name !== 'Object') return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return 'an empty object';
  return `an object with the keys ${keys.slice(0, 6).join(', ')}${keys.length > 6 ? ', …' : ''}`;
}

function className(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null) return '';
  const made: unknown = (prototype as { constructor?: unknown }).constructor;
  return typeof made === 'function' ? made.name : '';
}
