import { describe, expect, it } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { f32, f64 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { typeArgument } from './args.ts';
import { resolveOverload } from './overload.ts';
import { scalar } from './scalar.ts';
import { parseSignatures } from './signature.ts';
import { showSignature } from './type-text.ts';

const context = new Context(new BlockDriver());
const name = (i: number): string => `argument ${i + 1}`;

function resolve(signature: unknown, ...args: unknown[]): string {
  const typed = args.map((arg, i) => typeArgument(arg, context, () => name(i)));
  return showSignature(resolveOverload({ name: 'scale' }, parseSignatures(signature), typed, name));
}

const F = ndarray.zeros([3, 3], { dtype: f32, order: 'F' });
const C = ndarray.zeros([3, 3], f32);

describe('one signature', () => {
  it('types numbers, and keeps the layout that comes', () => {
    expect(resolve('void(f32[:], i32)', new Float32Array(2), 3)).toBe('void(f32[::1], i32)');
    expect(resolve('void(f32[:,:], f32)', F, 0.5)).toBe('void(f32[::1, :], f32)');
    expect(resolve('void(i64, u64, bool)', 1, 2n, true)).toBe('void(i64, u64, bool)');
    expect(resolve('void((f32, i32[:]))', [1, new Int32Array(1)])).toBe('void((f32, i32[::1]))');
    expect(resolve('void(f64)', scalar(f64, 1))).toBe('void(f64)');
  });

  it('takes an array that is contiguous both ways as either', () => {
    const column = ndarray.zeros([3, 1], f32);
    expect(resolve('void(f32[::1, :])', column)).toBe('void(f32[::1, :])');
    expect(resolve('void(f32[:, ::1])', column)).toBe('void(f32[:, ::1])');
  });

  it.each<[unknown, unknown[], string]>([
    ['void(f32[:])', [], 'scale takes 1 argument, void(f32[:]), but got 0'],
    ['void(f32[:])', [new Float32Array(1), 1], 'scale takes 1 argument, void(f32[:]), but got 2'],
    [
      'void(f32[:])',
      [new Float64Array(1)],
      'argument 1 is f64[::1], and void(f32[:]) wants f32[:]: make the array with dtype f32, or add a signature',
    ],
    [
      'void(f32[:])',
      [C],
      'argument 1 is f32[:, ::1], and void(f32[:]) wants f32[:]: the array has 2 dimensions, not 1',
    ],
    [
      'void(f32[:,::1])',
      [F],
      'argument 1 is f32[::1, :], and void(f32[:, ::1]) wants f32[:, ::1]: pass a contiguous array',
    ],
    ['void(f32[::1,:])', [C], 'or write f32[:, :] for any layout'],
    ['void(i32)', [1n], 'argument 1 is a bigint, and void(i32) wants i32: write Number(1)'],
    ['void(i32)', [true], 'argument 1 is a boolean, and void(i32) wants i32: write 1 or 0'],
    ['void(bool)', [1], 'argument 1 is a number, and void(bool) wants bool: write true or false'],
    ['void(i32)', [scalar(f32, 1)], 'argument 1 is a scalar of f32, and void(i32) wants i32'],
    ['void(i32)', [new Int32Array(1)], 'argument 1 is i32[::1], and void(i32) wants i32'],
    ['void(i32[:])', [1], 'argument 1 is a number, and void(i32[:]) wants i32[:]'],
    ['void((f32, f32))', [[1]], 'argument 1 is (a number), and void((f32, f32)) wants (f32, f32)'],
  ])('%s refuses %o', (signature, args, message) => {
    expect(() => resolve(signature, ...args)).toThrow(message);
    expect(() => resolve(signature, ...args)).toThrow(TypeError);
  });
});

describe('several signatures', () => {
  const both = ['void(f32[:], f32)', 'void(f64[:], f64)'];

  it('are told apart by the arrays', () => {
    expect(resolve(both, new Float64Array(1), 2)).toBe('void(f64[::1], f64)');
    expect(resolve(both, new Float32Array(1), 2)).toBe('void(f32[::1], f32)');
  });

  it('refuse what none takes', () => {
    expect(() => resolve(both, new Int32Array(1), 2)).toThrow(
      'no signature of scale takes (i32[::1], a number): it has void(f32[:], f32) or void(f64[:], f64)',
    );
  });

  it('do not guess between types of a number', () => {
    const numbers = ['void(i32)', 'void(f32)'];
    expect(() => resolve(numbers, 2)).toThrow(
      '(a number) fits several signatures of scale: void(i32) and void(f32). Say which type',
    );
    expect(resolve(numbers, scalar(f32, 2))).toBe('void(f32)');
  });
});
