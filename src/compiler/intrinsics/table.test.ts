/**
 * The rows of the table against each other: what they mean, what they expand to, and that every device has one or the other.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../../cuda/index.ts';
import { constant, intrinsic } from '../ir/builder.ts';
import { evalIntrinsic, type Value } from '../ir/evaluate.ts';
import { foldExpr } from '../ir/passes/fold.ts';
import { OPERATIONS, random, randomConstant } from '../ir/testing.ts';
import { INTRINSICS } from './table.ts';

const value = (name: string, type: 'i32' | 'u32' | 'i64' | 'u64', ...args: Value[]): Value => {
  const row = INTRINSICS.get(name);
  if (row === undefined) throw new Error(`no ${name}`);
  return evalIntrinsic(row, type, args);
};

describe('the table of intrinsics', () => {
  it('counts and reverses bits', () => {
    expect([0, 1, -1, 0x00ffffff].map((a) => value('clz', 'i32', a))).toEqual([32, 31, 0, 8]);
    expect([0, 1, 0x80000000, 12].map((a) => value('ctz', 'u32', a))).toEqual([32, 0, 31, 2]);
    expect([0n, -(1n << 63n)].map((a) => value('ctz', 'i64', a))).toEqual([64n, 63n]);
    expect([-1n, 0n, 10n].map((a) => value('popc', 'i64', a))).toEqual([64n, 0n, 2n]);
    expect([1, 0x12345678].map((a) => value('brev', 'u32', a))).toEqual([0x80000000, 0x1e6a2c48]);
    expect(value('brev', 'i64', 1n)).toBe(-(1n << 63n));
  });

  it('refuses types that a row does not have', () => {
    expect(() => value('brev', 'i32', 1)).toThrow('there is no brev of i32');
    expect(() => value('ffs', 'i32', 1)).toThrow('there is no ffs of i32');
  });

  it.each(OPERATIONS.filter((row) => row.expand !== undefined))('$name means what it expands to', (row) => {
    const rng = random(11);
    for (const type of row.types) {
      for (let k = 0; k < 50; k++) {
        const args = Array.from({ length: row.arity }, () => randomConstant(rng, type));
        expect(foldExpr(row.expand?.(...args) ?? constant('bool', false))).toEqual(foldExpr(intrinsic(row, ...args)));
      }
    }
  });

  it.each([...INTRINSICS.values()])('$name is there on every device', ({ types, expand, native, evaluate }) => {
    if (expand !== undefined) return;
    expect(evaluate).toBeDefined();
    expect(types.filter((type) => native?.ptx?.(type, 50) === undefined)).toEqual([]);
    expect([native?.opencl, native?.wasm]).not.toContain(undefined);
  });

  it('has its public names among the members of cuda', () => {
    for (const name of ['popc', 'clz', 'ffs', 'brev'] as const) expect(cuda[name]).toHaveProperty('name', name);
  });
});
