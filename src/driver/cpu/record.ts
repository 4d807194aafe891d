/**
 * The launch record: where a module reads grid, parameters and the place of its constants (see render/wasm/module.ts).
 *
 * There is one, in the driver's own page of device memory: launches of a device follow one another.
 */
import type { Param } from '../../compiler/ir/ops.ts';
import { RECORD_PARAMS_SLOT } from '../../compiler/render/wasm/module.ts';
import { NotSupportedError } from '../../errors.ts';
import type { LaunchArgs, LaunchShape } from '../driver.ts';
import { type DeviceMemory, RECORD_ADDRESS, RECORD_BYTES } from './memory.ts';

const INT = 0;
const FLOAT = 1;
const DOUBLE = 2;
const LONG = 3;

/** How each parameter is written, once a kernel. */
export function encodingOf(params: readonly Param[]): Uint8Array {
  if (RECORD_PARAMS_SLOT + params.length > RECORD_BYTES / 8) {
    throw new NotSupportedError('E_TOO_MANY_PARAMETERS', `a kernel of ${params.length} parameters does not fit`);
  }
  return Uint8Array.from(params, ({ type }) => {
    if (type === 'ptr' || type === 'i64' || type === 'u64') return LONG;
    return type === 'f32' ? FLOAT : type === 'f64' ? DOUBLE : INT;
  });
}

/** Views of the record over one memory. */
export class LaunchRecord {
  readonly #ints: Int32Array;
  readonly #floats: Float32Array;
  readonly #doubles: Float64Array;

  /** The views stay good when the memory grows, but not when it moves. */
  constructor(memory: DeviceMemory) {
    const { buffer } = memory.bytes;
    this.#ints = new Int32Array(buffer, RECORD_ADDRESS, RECORD_BYTES / 4);
    this.#floats = new Float32Array(buffer, RECORD_ADDRESS, RECORD_BYTES / 4);
    this.#doubles = new Float64Array(buffer, RECORD_ADDRESS, RECORD_BYTES / 8);
  }

  write(shape: LaunchShape, constants: number, encoding: Uint8Array, args: LaunchArgs): void {
    const ints = this.#ints;
    const { grid } = shape;
    ints[0] = grid[0];
    ints[1] = grid[1];
    ints[2] = grid[2];
    ints[3] = shape.sharedBytes;
    this.#long(2, constants);
    for (let i = 0; i < encoding.length; i++) {
      const value = args[i] ?? 0;
      const slot = RECORD_PARAMS_SLOT + i;
      switch (encoding[i]) {
        case INT:
          ints[2 * slot] = Number(value);
          break;
        case FLOAT:
          this.#floats[2 * slot] = Number(value);
          break;
        case DOUBLE:
          this.#doubles[slot] = Number(value);
          break;
        default:
          this.#long(slot, value);
      }
    }
  }

  #long(slot: number, value: number | bigint | boolean): void {
    const ints = this.#ints;
    if (typeof value === 'number') {
      // Storing takes the value modulo 2^32, and flooring the quotient makes two's complement of negative values.
      ints[2 * slot] = value;
      ints[2 * slot + 1] = Math.floor(value / 2 ** 32);
    } else {
      const bits = BigInt(value);
      ints[2 * slot] = Number(BigInt.asIntN(32, bits));
      ints[2 * slot + 1] = Number(BigInt.asIntN(32, bits >> 32n));
    }
  }
}
