/** Dtypes as array protocols write them; what NumPy prints for `dtype.descr` is the reference. */
import { describe, expect, it } from 'vitest';
import { describeDType, descrOf, dtypeOfDescr, f32, f64, i32, sameDType, struct, u8 } from './index.ts';

describe('descr', () => {
  it('of a scalar has one field without a name', () => {
    expect(descrOf(f32)).toEqual([['', '<f4']]);
    expect(descrOf(u8)).toEqual([['', '|u1']]);
  });

  it('of structs is what NumPy writes: padding has no name', () => {
    expect(descrOf(struct({ x: f32, y: i32 }))).toEqual([
      ['x', '<f4'],
      ['y', '<i4'],
    ]);
    const aligned = struct({ a: u8, x: f64, z: u8 }, { align: true });
    expect(descrOf(aligned)).toEqual([
      ['a', '|u1'],
      ['', '|V7'],
      ['x', '<f8'],
      ['z', '|u1'],
      ['', '|V7'],
    ]);
    const nested = struct({ p: struct({ x: f32, y: f32 }), m: i32.array(3, 2) });
    expect(descrOf(nested)).toEqual([
      [
        'p',
        [
          ['x', '<f4'],
          ['y', '<f4'],
        ],
      ],
      ['m', '<i4', [3, 2]],
    ]);
  });

  it('is read back to the same dtype', () => {
    for (const dtype of [
      struct({ x: f32, y: i32 }),
      struct({ a: u8, x: f64, z: u8 }, { align: true }),
      struct({ p: struct({ a: u8, x: f64 }, { align: true }), m: i32.array(3, 2) }),
    ]) {
      const read = dtypeOfDescr(dtype.typestr, JSON.parse(JSON.stringify(descrOf(dtype))));
      expect(sameDType(read, dtype), describeDType(read)).toBe(true);
      expect(read.itemSize % read.alignment).toBe(0);
    }
    expect(dtypeOfDescr('<f4', [['', '<f4']])).toBe(f32);
    expect(dtypeOfDescr('|u1', undefined)).toBe(u8);
  });

  it('takes titles, lengths without brackets, and elements longer than their fields', () => {
    const read = dtypeOfDescr('|V16', [
      [['title', 'x'], '<f4', 2],
      ['y', '<i4', []],
    ]);
    expect(describeDType(read)).toBe('struct{x: f32[2], y: i32}');
    expect(read.itemSize).toBe(16);
  });

  it.each([
    ['|V4', undefined, /no fields/],
    ['|V4', [['', '|V4']], /no fields/],
    ['|V4', [['x', '<f8']], /take 8 bytes, the elements have 4/],
    ['|V4', [['x']], /list of \[name, type\]/],
    ['|V4', [['x', '>f4']], /big-endian/],
    [
      '|V8',
      [
        ['x', '<f4'],
        ['', '<f4'],
      ],
      /padding/,
    ],
    [5, undefined, /must be a string/],
    ['|O', undefined, /no counterpart/],
  ] as const)('refuses %j with %j', (typestr, descr, message) => {
    expect(() => dtypeOfDescr(typestr, descr)).toThrow(message);
  });
});
