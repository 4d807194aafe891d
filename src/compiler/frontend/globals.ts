/** The globals that mean something in a kernel. */

/** Their values are those of Tsamba's own realm. */
export const GLOBALS: readonly string[] = [
  ...['undefined', 'NaN', 'Infinity', 'Math', 'Number', 'BigInt', 'Boolean', 'String', 'Symbol', 'Object', 'Array'],
  ...['isNaN', 'isFinite', 'console', 'Error', 'RangeError', 'TypeError'],
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array'],
];
