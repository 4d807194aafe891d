/**
 * Out-parameters: memory that native functions write results to and read small arguments from, by address. That costs a tenth of what
 * the FFI's own out-parameters do. Also texts as C has them.
 */
import type { Ffi } from './ffi.ts';

/** Sixteen out-parameters of eight bytes each, off the moving heap, for results of calls on this thread. */
export class OutParameters {
  readonly #words: Uint32Array;
  readonly #view: DataView;
  readonly #address: number;

  constructor(ffi: Ffi) {
    const buffer = new ArrayBuffer(128);
    this.#words = new Uint32Array(buffer);
    this.#view = new DataView(buffer);
    this.#address = Number(ffi.address(this.#words));
  }

  /** The address of one. */
  at(index: number): number {
    return this.#address + 8 * index;
  }

  /** One as a signed 32-bit integer. */
  int(index: number): number {
    return (this.#words[2 * index] as number) | 0;
  }

  /** One as a 64-bit unsigned integer below 2^53: an address, a handle or a size. */
  long(index: number): number {
    const words = this.#words;
    return (words[2 * index] as number) + (words[2 * index + 1] as number) * 2 ** 32;
  }

  float(index: number): number {
    return this.#view.getFloat32(8 * index, true);
  }

  /** Writes a 64-bit unsigned integer. */
  set(index: number, value: bigint): void {
    this.#view.setBigUint64(8 * index, value, true);
  }
}

/** A text as C has it. */
export function cString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`, 'utf8');
}

/** The text that stands in a buffer up to its first zero. */
export function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return Buffer.from(bytes.buffer, bytes.byteOffset, end < 0 ? bytes.length : end).toString('utf8');
}
