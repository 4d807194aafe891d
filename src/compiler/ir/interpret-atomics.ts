/**
 * What each atomic operation leaves in memory, given the old value and the operands.
 *
 * A part of the reference interpreter; that nothing comes in between is the business of whoever executes it.
 */
import type { Value } from './evaluate.ts';
import { evalBinary } from './evaluate.ts';
import type { AtomicOp, ValueType } from './ops.ts';

export function atomicResult(fn: AtomicOp, type: ValueType, old: Value, args: readonly Value[]): Value {
  const [a = 0, b = 0] = args;
  switch (fn) {
    case 'add':
    case 'sub':
    case 'and':
    case 'or':
    case 'xor':
      return evalBinary(fn, type, old, a);
    case 'exch':
    case 'store':
      return a;
    case 'load':
      return old;
    // As CUDA's: inc wraps to 0 past the operand, dec wraps to the operand below 0 or above it.
    case 'inc':
      return old >= a ? evalBinary('sub', type, a, a) : evalBinary('add', type, old, one(type));
    case 'dec':
      return Number(old) === 0 || old > a ? a : evalBinary('sub', type, old, one(type));
    case 'max':
    case 'min':
      // Not greater and not less than a NaN: no change.
      return (fn === 'max' ? a > old : a < old) ? a : old;
    case 'nanMax':
    case 'nanMin':
      if (Number.isNaN(old)) return a;
      return (fn === 'nanMax' ? a > old : a < old) ? a : old;
    case 'cas':
      return Object.is(old, a) ? b : old;
  }
}

function one(type: ValueType): Value {
  return type === 'i64' || type === 'u64' ? 1n : 1;
}
