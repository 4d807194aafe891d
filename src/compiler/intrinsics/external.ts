/**
 * Functions of other languages that kernels call: their types, the code that they come from, and what stands for them where that code cannot run.
 *
 * They are opaque values recognised by a brand, as intrinsics are. The front end makes a call of one a statement, with the fallback as the other
 * way; `ir/passes/externals.ts` keeps the way that a device can go.
 */
import type { StoredName } from '../../dtype/index.ts';

/** What a file or text to be linked holds. */
export type LinkKind = 'ptx' | 'cubin' | 'fatbin' | 'object' | 'ltoir' | 'cuda' | 'opencl' | 'hip';

/** A module that the driver has loaded, of a kernel and what it is linked with. */
export interface LoadedCode {
  /** The CUmodule. */
  readonly handle: bigint;
  /** Where a `__device__` variable of `extern "C"` lies, and its bytes; undefined where there is none of that name. */
  variable(name: string): { readonly pointer: number; readonly bytes: number } | undefined;
}

/** What code has done when a module with it is loaded, and before it is unloaded. */
export type LinkCallback = (module: LoadedCode) => void;

/** Code that a kernel is linked with. */
export interface LinkItem {
  readonly kind: LinkKind;
  /** The file, or what messages call a text. */
  readonly name: string;
  /** The same for the same code: a kernel is linked with it once. */
  readonly key: string;
  readonly setup?: LinkCallback | undefined;
  readonly teardown?: LinkCallback | undefined;
  /** Read when it is first linked. */
  code(): Uint8Array;
}

/** A parameter: a number, or the address of an array's first element. */
export interface ExternalParam {
  readonly elem: StoredName;
  readonly pointer: boolean;
}

/** A function with C's calling convention: `extern "C" __device__`. */
export interface ExternalFunction {
  readonly name: string;
  readonly params: readonly ExternalParam[];
  readonly result: StoredName | undefined;
  readonly link: readonly LinkItem[];
  /** The same in TypeScript, for devices that `link` has nothing for. */
  readonly fallback: ((...args: never[]) => unknown) | undefined;
  /** Of what is not a function but an instruction: its text with `$1` for the first operand, `$0` for the result. It touches no memory. */
  readonly texts?: { readonly ptx?: string; readonly hip?: string } | undefined;
}

const BRAND: unique symbol = Symbol.for('tsamba.external') as never;

/** What `declareDevice` declared by this value, or undefined when it did not make it. */
export function externalOf(value: unknown): ExternalFunction | undefined {
  if (typeof value !== 'function') return undefined;
  return (value as { [BRAND]?: ExternalFunction })[BRAND];
}

/** Makes the compiler take a value for this function. */
export function markExternal<F extends object>(value: F, external: ExternalFunction): F {
  Object.defineProperty(value, BRAND, { value: external });
  return value;
}

/** `float32(float32, int32*)`, as messages say it. */
export function showExternal({ name, params, result }: ExternalFunction): string {
  return `${result ?? 'void'} ${name}(${params.map(({ elem, pointer }) => `${elem}${pointer ? '*' : ''}`).join(', ')})`;
}
