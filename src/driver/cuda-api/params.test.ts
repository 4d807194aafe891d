import { describe, expect, it } from 'vitest';
import type { Ffi } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { type PackedParam, ParamBuffer } from './params.ts';

function ffi(): Ffi {
  const loaded = loadFfi();
  if (loaded.ffi === undefined) throw new Error(loaded.reason);
  return loaded.ffi;
}

const SIZE = { ptr: 8, i64: 8, u64: 8, f64: 8, i32: 4, u32: 4, f32: 4, bool: 1 } as const;

/** Parameters at their natural alignment, as the renderer lays them out. */
function layout(types: readonly (keyof typeof SIZE)[]): { params: PackedParam[]; paramBytes: number } {
  const params: PackedParam[] = [];
  let at = 0;
  for (const type of types) {
    const size = SIZE[type];
    at = Math.ceil(at / size) * size;
    params.push({ type, offset: at, size });
    at += size;
  }
  return { params, paramBytes: at };
}

describe('the parameter buffer', () => {
  const types = ['ptr', 'bool', 'i32', 'f64', 'u32', 'i64', 'f32', 'u64', 'bool'] as const;
  const buffer = new ParamBuffer(ffi(), { ...layout(types), launchNumber: undefined }, 0n);
  const view = new DataView(buffer.bytes.buffer);

  it('stores each type at its offset', () => {
    buffer.write([0x7f00_0000_1000, true, -7, 0.1, 4_000_000_000, -(2n ** 40n), 1.5, 2n ** 63n, false]);
    expect(view.getBigUint64(0, true)).toBe(0x7f00_0000_1000n);
    expect(view.getUint8(8)).toBe(1);
    expect(view.getInt32(12, true)).toBe(-7);
    expect(view.getFloat64(16, true)).toBe(0.1);
    expect(view.getUint32(24, true)).toBe(4_000_000_000);
    expect(view.getBigInt64(32, true)).toBe(-(2n ** 40n));
    expect(view.getFloat32(40, true)).toBe(1.5);
    expect(view.getBigUint64(48, true)).toBe(2n ** 63n);
    expect(view.getUint8(56)).toBe(0);
    expect(buffer.bytes.length).toBe(57);
  });

  it('stores arguments of one version once', () => {
    const stored = (i: number, version?: number): number => {
      buffer.write([0, false, i, 0, 0, 0, 0, 0, false], version);
      return view.getInt32(12, true);
    };
    expect([stored(1, 5), stored(2, 5), stored(3, 6), stored(4), stored(5), stored(6, 6)]).toEqual([1, 1, 3, 4, 5, 6]);
  });

  it('takes 64-bit integers as numbers too', () => {
    for (const value of [0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, -(2 ** 53) + 1]) {
      buffer.write([0, false, 0, 0, 0, value, 0, 0, false]);
      expect(view.getBigInt64(32, true)).toBe(BigInt(value));
    }
    buffer.write([2n ** 48n, false, 0, 0, 0, 0, 0, 5n, false]);
    expect(view.getBigUint64(0, true)).toBe(2n ** 48n);
    expect(view.getBigUint64(48, true)).toBe(5n);
  });

  it('is described by `extra`, and parameter by parameter for cooperative launches', () => {
    const address = BigInt(ffi().address(buffer.bytes));
    const extra = new BigUint64Array(ffi().view(buffer.extra, 40));
    expect([extra[0], extra[1], extra[2], extra[4]]).toEqual([1n, address, 2n, 0n]);
    expect(new BigUint64Array(ffi().view(Number(extra[3]), 8))[0]).toBe(57n);
    const pointers = new BigUint64Array(ffi().view(buffer.pointers, 8 * types.length));
    expect([...pointers].map((p) => Number(p - address))).toEqual(layout(types).params.map(({ offset }) => offset));
  });

  it('has room for the launch number behind the parameters', () => {
    const numbered = new ParamBuffer(ffi(), { ...layout(['ptr', 'f32']), paramBytes: 16, launchNumber: 12 }, 0n);
    numbered.write([1, 2]);
    numbered.writeLaunchNumber(2 ** 31 + 5);
    expect(new DataView(numbered.bytes.buffer).getUint32(12, true)).toBe(2 ** 31 + 5);
    const pointers = new BigUint64Array(ffi().view(numbered.pointers, 24));
    expect(Number(pointers[2]) - Number(pointers[0])).toBe(12);
  });

  it('works for a kernel without parameters', () => {
    const none = new ParamBuffer(ffi(), { params: [], paramBytes: 0, launchNumber: undefined }, 0n);
    none.write([]);
    none.writeLaunchNumber(1);
    expect(none.bytes.length).toBe(0);
  });
});
