/**
 * The FFI by koffi, an optional dependency that is loaded when a driver first asks for it.
 *
 * Where koffi is not installed, or has no binary for this platform, `loadFfi` gives the reason: drivers pass it on, and
 * nothing crashes.
 */
import type { Address, AsyncNativeFunction, Ffi, NativeLibrary } from './ffi.ts';
import { requireKoffi } from './package-path.ts';

/** Bytes of the stack that calls run on: libraries that compile in a call (PTX, OpenCL C) need more than koffi's own sizes. */
const STACK_BYTES = 16 * 1024 * 1024;

/** What is used of koffi. */
interface Koffi {
  config(settings?: Record<string, number>): Record<string, number>;
  load(name: string): KoffiLibrary;
  address(view: ArrayBufferView): bigint;
  view(address: Address, bytes: number): ArrayBuffer;
  struct(name: string, members: Record<string, unknown>): unknown;
  array(item: string, length: number, hint: 'Typed'): unknown;
  proto(result: string, parameters: readonly string[]): unknown;
  pointer(type: unknown): unknown;
  register(body: (...args: readonly unknown[]) => unknown, type: unknown): bigint;
  call(address: Address, type: unknown, ...args: readonly unknown[]): unknown;
}

interface KoffiLibrary {
  func(prototype: string): KoffiFunction;
}

interface KoffiFunction {
  (...args: unknown[]): unknown;
  async(...args: unknown[]): void;
}

/** The FFI, or why there is none. */
export type FfiOrReason =
  | { readonly ffi: Ffi; readonly reason?: undefined }
  | { readonly ffi?: undefined; readonly reason: string };

let loaded: FfiOrReason | undefined;

/** Loads koffi, once; later calls give the same. Never throws. */
export function loadFfi(): FfiOrReason {
  loaded ??= load();
  return loaded;
}

function load(): FfiOrReason {
  try {
    const koffi = requireKoffi() as Koffi;
    raiseStacks(koffi);
    return { ffi: new KoffiFfi(koffi) };
  } catch (error) {
    return { reason: `koffi, which calls native libraries, ${whyNot(error)}` };
  }
}

function whyNot(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (String(code).endsWith('MODULE_NOT_FOUND')) return 'is not installed: npm install koffi';
  const said = firstLine(error);
  if (code === 'ERR_DLOPEN_DISABLED') return `may not be loaded (${said}): allow it with --allow-addons`;
  if ((error as Error).name === 'NotCapable') return `may not be loaded (${said})`;
  return `cannot be loaded (${said}): npm install koffi`;
}

/** Refused once a library has been loaded, as by another user of koffi in this process: then its sizes stay. */
function raiseStacks(koffi: Koffi): void {
  try {
    const { sync_stack_size: now = 0 } = koffi.config();
    const bytes = Math.max(now, STACK_BYTES);
    koffi.config({ ...koffi.config(), sync_stack_size: bytes, async_stack_size: bytes });
  } catch {
    // The sizes are advice.
  }
}

class KoffiFfi implements Ffi {
  readonly #koffi: Koffi;
  readonly #libraries = new Map<string, NativeLibrary>();
  readonly #prototypes = new Map<string, unknown>();

  constructor(koffi: Koffi) {
    this.#koffi = koffi;
  }

  struct(name: string, bytes: number): void {
    try {
      this.#koffi.struct(name, { bytes: this.#koffi.array('uint8_t', bytes, 'Typed') });
    } catch (error) {
      // Names are of the whole process: another copy of this module has made it.
      if (!(error instanceof Error && error.message.startsWith('Duplicate'))) throw error;
    }
  }

  load(names: readonly string[]): { readonly library?: NativeLibrary; readonly reasons: readonly string[] } {
    const reasons: string[] = [];
    for (const name of names) {
      try {
        let library = this.#libraries.get(name);
        if (library === undefined) {
          library = new KoffiNativeLibrary(name, this.#koffi.load(name));
          this.#libraries.set(name, library);
        }
        return { library, reasons };
      } catch (error) {
        reasons.push(`${name}: ${firstLine(error).replace(/^Failed to load shared library: /, '')}`);
      }
    }
    return { reasons };
  }

  address(view: ArrayBufferView): Address {
    // In Deno koffi takes no DataView.
    const bytes = view instanceof DataView ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength) : view;
    const address = this.#koffi.address(bytes);
    return address <= Number.MAX_SAFE_INTEGER ? Number(address) : address;
  }

  view(address: Address, bytes: number): ArrayBuffer {
    return this.#koffi.view(address, bytes);
  }

  callback(prototype: string, body: (...args: readonly unknown[]) => unknown): Address {
    return this.#koffi.register(body, this.#koffi.pointer(this.#prototype(prototype)));
  }

  call(address: Address, prototype: string, ...args: readonly unknown[]): unknown {
    return this.#koffi.call(address, this.#prototype(prototype), ...args);
  }

  #prototype(text: string): unknown {
    let type = this.#prototypes.get(text);
    if (type === undefined) {
      const [result = '', parameters = ''] = text.replace(/\)$/, '').split('(');
      // Without a name: those are of the whole process.
      type = this.#koffi.proto(
        result.trim(),
        parameters.split(',').map((parameter) => parameter.trim()),
      );
      this.#prototypes.set(text, type);
    }
    return type;
  }
}

class KoffiNativeLibrary implements NativeLibrary {
  readonly name: string;
  readonly #library: KoffiLibrary;

  constructor(name: string, library: KoffiLibrary) {
    this.name = name;
    this.#library = library;
  }

  function(prototype: string): AsyncNativeFunction | undefined {
    let native: KoffiFunction;
    try {
      native = this.#library.func(prototype);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('Cannot find function')) return undefined;
      throw error;
    }
    // koffi's own function, not a wrapper around it: a call costs tens of nanoseconds.
    const later = (...args: unknown[]): Promise<unknown> =>
      new Promise((resolve, reject) => {
        native.async(...args, (error: unknown, result: unknown) => {
          if (error === null || error === undefined) resolve(result);
          else reject(error);
        });
      });
    return Object.assign(native, { later });
  }
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
}
