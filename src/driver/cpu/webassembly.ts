/**
 * The engine's WebAssembly interface, as far as the CPU device uses it.
 *
 * TypeScript declares it in its DOM library, which a Node package should not pull in, and without 64-bit memories.
 */

export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
  grow(pages: number | bigint): number | bigint;
}

/** Compiled code; may be posted to workers. */
export type WasmCode = object & { readonly __code?: never };

interface Api {
  readonly Memory: new (
    descriptor:
      | { readonly initial: number; readonly maximum: number; readonly shared: true }
      | { readonly address: 'i64'; readonly initial: bigint; readonly maximum: bigint; readonly shared: true },
  ) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => WasmCode;
  readonly Instance: new (
    code: WasmCode,
    imports: Record<string, Record<string, unknown>>,
  ) => { readonly exports: Record<string, unknown> };
  readonly RuntimeError: new (message: string) => Error;
  validate(bytes: Uint8Array): boolean;
}

export const WebAssembly: Api = (globalThis as unknown as { WebAssembly: Api }).WebAssembly;
