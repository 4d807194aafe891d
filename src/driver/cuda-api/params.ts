/**
 * The packed parameter buffer of a loaded kernel: written anew by each launch, read by the driver during `cuLaunchKernel`.
 *
 * How each parameter is stored is settled when the kernel is loaded; a launch makes stores into typed arrays and nothing else.
 */
import type { ValueType } from '../../compiler/ir/ops.ts';
import type { Ffi } from '../../ffi/ffi.ts';
import type { LaunchArgs } from '../driver.ts';

/** Values of `extra`, the alternative to an array of pointers to parameters. */
const BUFFER_POINTER = 1n;
const BUFFER_SIZE = 2n;

const INT = 0;
const FLOAT = 1;
const DOUBLE = 2;
const LONG = 3;
const BOOL = 4;

/** Where a parameter stands in the buffer; offset and size in bytes. */
export interface PackedParam {
  readonly type: ValueType | 'ptr';
  readonly offset: number;
  readonly size: number;
}

/** What of a module its parameters need. */
export interface ParamLayout {
  readonly params: readonly PackedParam[];
  readonly paramBytes: number;
  /** Offset of the u32 launch number; undefined where the kernel takes none. */
  readonly launchNumber: number | undefined;
}

/** The parameters of one loaded kernel. */
export class ParamBuffer {
  /** For `cuLaunchKernel`: the address of its `extra` array. */
  readonly extra: number;
  /** For `cuLaunchCooperativeKernel`: the address of an array of pointers to the parameters. */
  readonly pointers: number;
  /** The packed bytes, for tests. */
  readonly bytes: Uint8Array;
  readonly #codes: Uint8Array;
  /** Index of each parameter in the array of its kind. */
  readonly #slots: Uint32Array;
  readonly #ints: Int32Array;
  readonly #floats: Float32Array;
  readonly #doubles: Float64Array;
  readonly #launchNumber: number;
  /** Of the arguments that are stored, where it is known. */
  #version = -1;
  /** The driver reads these by address. */
  readonly #kept: readonly ArrayBufferView[];

  /** `end` is what ends the list of `extra`. */
  constructor(ffi: Ffi, { params, paramBytes, launchNumber }: ParamLayout, end: bigint) {
    // Never on V8's moving heap, which small typed arrays are.
    const buffer = new ArrayBuffer(Math.max(128, (paramBytes + 15) & ~15));
    this.bytes = new Uint8Array(buffer, 0, paramBytes);
    this.#ints = new Int32Array(buffer);
    this.#floats = new Float32Array(buffer);
    this.#doubles = new Float64Array(buffer);
    this.#codes = Uint8Array.from(params, codeOf);
    this.#slots = Uint32Array.from(params, (param, i) => param.offset / unitOf(this.#codes[i]));
    this.#launchNumber = launchNumber === undefined ? -1 : launchNumber / 4;
    const address = BigInt(ffi.address(this.#ints));
    const pointed = [...params.map(({ offset }) => offset), ...(launchNumber === undefined ? [] : [launchNumber])];
    // [0]: the size; [1…5]: extra; then the pointers.
    const words = new BigUint64Array(new ArrayBuffer(8 * Math.max(16, 6 + pointed.length)));
    const base = BigInt(ffi.address(words));
    words.set([BigInt(paramBytes), BUFFER_POINTER, address, BUFFER_SIZE, base, end]);
    words.set(
      pointed.map((offset) => address + BigInt(offset)),
      6,
    );
    this.extra = Number(base) + 8;
    this.pointers = Number(base) + 48;
    this.#kept = [words];
  }

  /** Stores the arguments, one for each parameter, unless those of this version (-1: of none) are stored. */
  write(args: LaunchArgs, version = -1): void {
    if (version === this.#version && version !== -1) return;
    this.#version = version;
    const codes = this.#codes;
    const slots = this.#slots;
    for (let i = 0; i < codes.length; i++) {
      const value = args[i];
      const slot = slots[i] as number;
      switch (codes[i]) {
        case INT:
          this.#ints[slot] = value as number;
          break;
        case FLOAT:
          this.#floats[slot] = value as number;
          break;
        case DOUBLE:
          this.#doubles[slot] = value as number;
          break;
        case LONG:
          this.#long(2 * slot, value);
          break;
        default:
          this.bytes[slot] = value === true || value === 1 ? 1 : 0;
      }
    }
  }

  /** Stores the number under which fault records name the launch. */
  writeLaunchNumber(number: number): void {
    if (this.#launchNumber >= 0) this.#ints[this.#launchNumber] = number;
  }

  #long(word: number, value: number | bigint | boolean | undefined): void {
    const ints = this.#ints;
    if (typeof value === 'number') {
      // Storing takes the value modulo 2^32, and flooring the quotient makes two's complement of negative values.
      ints[word] = value;
      ints[word + 1] = Math.floor(value / 4294967296);
    } else {
      const bits = BigInt(value ?? 0);
      ints[word] = Number(BigInt.asIntN(32, bits));
      ints[word + 1] = Number(BigInt.asIntN(32, bits >> 32n));
    }
  }

  /** Keeps what the driver is given addresses of. */
  get kept(): readonly ArrayBufferView[] {
    return this.#kept;
  }
}

function codeOf({ type }: PackedParam): number {
  switch (type) {
    case 'ptr':
    case 'i64':
    case 'u64':
      return LONG;
    case 'f32':
      return FLOAT;
    case 'f64':
      return DOUBLE;
    case 'bool':
      return BOOL;
    default:
      return INT;
  }
}

function unitOf(code: number | undefined): number {
  if (code === BOOL) return 1;
  return code === LONG || code === DOUBLE ? 8 : 4;
}
