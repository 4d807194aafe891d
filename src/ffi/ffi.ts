/**
 * Calling functions of native libraries: what Tsamba's drivers ask of an FFI, and nothing more.
 *
 * Addresses and handles are numbers where they fit and bigints where not, in both directions. `koffi.ts` implements this;
 * importing this file loads nothing.
 */

/** An address or an opaque handle of a library. */
export type Address = number | bigint;

/** A native function as a JavaScript function: synchronous, on the calling thread. */
export type NativeFunction = (...args: unknown[]) => unknown;

/** A native function that can also run on a thread of the pool; the event loop goes on meanwhile. */
export interface AsyncNativeFunction extends NativeFunction {
  /** Calls it off-thread; rejects only where the call itself cannot be made. */
  later(...args: unknown[]): Promise<unknown>;
}

/** A shared library that has been loaded; it is never unloaded. */
export interface NativeLibrary {
  readonly name: string;
  /** Declares a function by its C prototype, such as `int cuInit(unsigned int)`; undefined when the library has none of that name. */
  function(prototype: string): AsyncNativeFunction | undefined;
}

/** The FFI itself. */
export interface Ffi {
  /** Makes a name known in prototypes: a struct of so many bytes that is passed by value, as `{ bytes: Uint8Array }`. Calling it again does nothing. */
  struct(name: string, bytes: number): void;
  /** Loads the first of these libraries that there is; undefined with the loader's words for each when none can be loaded. */
  load(names: readonly string[]): { readonly library?: NativeLibrary; readonly reasons: readonly string[] };
  /** Address of the first byte of a view. The memory may move when it is a small one on V8's heap: touch `.buffer` first, and keep it. */
  address(view: ArrayBufferView): Address;
  /** Native memory as an ArrayBuffer. It must outlive the buffer. */
  view(address: Address, bytes: number): ArrayBuffer;
  /** A native function, of a prototype such as `void (void *)`, that calls a JavaScript one; never given back. Other threads' calls wait for this one. */
  callback(prototype: string, body: (...args: readonly unknown[]) => unknown): Address;
  /** Calls the native function at an address. */
  call(address: Address, prototype: string, ...args: readonly unknown[]): unknown;
}
