/**
 * Why arrays, streams and events cannot be sent to another thread, said where it is tried.
 *
 * The structured clone algorithm drops the class and private state of an object without a word. It refuses symbols, though,
 * and puts the symbol's description into its DataCloneError. So each object carries one such symbol as its first property.
 */

export const UNCLONEABLE_ARRAY: symbol = Symbol(
  'A Tsamba device array belongs to the thread that made it: send the result of copyToHost(), and toDevice() it there. This',
);

export const UNCLONEABLE_HOST_ARRAY: symbol = Symbol(
  'A Tsamba NDArray has no methods in another thread: send its data, shape and dtype.name, and make it again with ndarray(data, { shape, dtype }). This',
);

export const UNCLONEABLE_STREAM: symbol = Symbol(
  'A Tsamba stream or event belongs to the thread that made it: make one in each thread. This',
);
