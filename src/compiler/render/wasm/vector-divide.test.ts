/**
 * Remainders of sums, `(x + 1) % n`: at most one divisor is taken away where that is enough, for numbers of every size and sign.
 * Quotients by constants, at the ends of what they divide and at both sides of a multiple.
 */
import { expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { reciprocal } from '../../ir/passes/lane-widths.ts';
import { check } from './launch.testing.ts';

const t = ir.special('threadIdx.x');
const LEAST = -(2 ** 31);
const SUMS = [0, 1, 2, 5, 6, 7, 8, 13, 14, 15, 100, 0x70000000, 0x7ffffffe, 0x7fffffff];
const ALL = Int32Array.from([...SUMS, ...SUMS.map((x) => ~x), LEAST, LEAST + 7]);
const DIVISORS = [0, 1, 3, 7, 100, 0x6fffffff, 0x7fffffff, -1, -3, -7, -0x10000000, LEAST + 1, LEAST];

it.each(['i32', 'u32'] as const)('of %s', (type) => {
  const b = new ir.KernelBuilder('wraps');
  const [from, out, n] = [b.global(type, 'from'), b.global(type, 'out'), b.value(type, 'n')];
  const one = ir.constant(type, 1);
  const sum = ir.add(ir.load(ir.at(from, t)), one);
  const kernel = b.build([ir.store(ir.at(out, t), ir.binary('rem', sum, n))]);
  const bytes = ALL.length * 4;
  const image = new Uint8Array(2 * bytes);
  image.set(new Uint8Array(ALL.map((x) => x - 1).buffer));
  for (const by of DIVISORS) {
    const divisor = type === 'u32' ? by >>> 0 : by;
    check(kernel, { block: [ALL.length, 1, 1] }, [0, bytes, divisor], image, [
      { at: bytes, elem: type, length: ALL.length },
    ]);
  }
});

const CONSTANTS = [
  1, 3, 5, 6, 7, 9, 10, 11, 25, 60, 100, 153, 365, 641, 1000, 1461, 36525, 65537, 146097, 0x10000001, 0x3fffffff,
  0x40000001,
];
const LARGE = [0x55555555, 0x7ffffffe, 0x7fffffff];

/** Dividends around multiples of the divisor, of both signs, and the ends of the type. */
function around(by: number): Int32Array {
  const most = Math.floor(0x7fffffff / by);
  const multiples = [0, 1, 2, 3, most >> 1, most - 1, most].flatMap((k) => [k * by - 1, k * by, k * by + 1]);
  // Of u32 those of the upper half are multiples as well.
  const upper = [Math.floor(0xffffffff / by), Math.ceil(2 ** 31 / by)].flatMap((k) => [k * by - 1, k * by]);
  const list = [...multiples, ...upper, 0x7fffffff, 0x7ffffffe, 0xffffffff, 0xfffffffe];
  return Int32Array.from([...list, ...list.map((x) => -x), LEAST, LEAST + 1]);
}

it.each([
  ['i32', [...CONSTANTS, ...LARGE, -1, -3, -7]],
  ['u32', [...CONSTANTS, ...LARGE, 0x80000001, 0xaaaaaaab, 0xfffffffe, 0xffffffff]],
] as const)('by constants, of %s', (type, divisors) => {
  for (const by of divisors) {
    const from = around(Math.abs(by));
    const bytes = from.length * 4;
    const b = new ir.KernelBuilder('quotients');
    const [x, out] = [b.global(type, 'x'), b.global(type, 'out')];
    const d = ir.constant(type, by);
    const kernel = b.build(
      (['div', 'floordiv', 'rem'] as const).map((fn, k) =>
        ir.store(ir.at(out, ir.add(t, ir.constant('i32', k * from.length))), ir.binary(fn, ir.load(ir.at(x, t)), d)),
      ),
    );
    const image = new Uint8Array(4 * bytes);
    image.set(new Uint8Array(from.buffer));
    check(kernel, { block: [from.length, 1, 1] }, [0, bytes], image, [
      { at: bytes, elem: type, length: 3 * from.length },
    ]);
  }
});

it('by multiplication with all that a reciprocal of 32 bits is exact for', () => {
  expect(reciprocal(7, 2 ** 31, 32)).toEqual({ factor: 0x92492493, shift: 34 });
  expect(reciprocal(7, 2 ** 32 - 1, 32)).toBeUndefined();
  expect(reciprocal(10, 2 ** 32 - 1, 32)).toEqual({ factor: 0xcccccccd, shift: 35 });
  for (let by = 3; by < 5000; by++) {
    const { factor, shift } = reciprocal(by, 2 ** 31, 32) ?? { factor: 0, shift: 0 };
    for (const u of [by - 1, by, 2 ** 31 - (2 ** 31 % by) - 1, 2 ** 31 - 1, 2 ** 31])
      expect((BigInt(u) * BigInt(factor)) >> BigInt(shift)).toBe(BigInt(Math.floor(u / by)));
  }
});
