/**
 * The math table gives the same bits however it is run: SIMD, scalar WebAssembly, the interpreter. Lanes of one vector take rare
 * and ordinary paths side by side here.
 */
import { describe, expect, it } from 'vitest';
import { arity, evaluateTable, fromBits, MATH_FNS, SPECIAL } from '../../src/compiler/math/testing.ts';
import { compileFunction } from './compiled.ts';

const SIZE = 16384;
/** Special, spread over all exponents, ordinary, in turns. */
const arguments_ = Array.from({ length: SIZE }, (_, k) => {
  if (k % 3 === 0) return SPECIAL[(k / 3) % SPECIAL.length] ?? 0;
  return k % 3 === 1 ? fromBits((k * 2654435) >>> 0) : Math.fround((k - SIZE / 2) / 1000);
});
const seconds = Array.from({ length: SIZE }, (_, k) => arguments_[(k * 5 + Math.floor(k / 7)) % SIZE] ?? 0);
const INTERPRETED = 800;

/** As text, in which NaN is NaN whatever its bits and -0 is not 0. */
function bits(values: Iterable<number>): string[] {
  return [...values].map((v) => (Object.is(v, -0) ? '-0' : String(v)));
}

describe.each(MATH_FNS)('%s', (fn) => {
  const vector = compileFunction(fn, 4, SIZE);
  const scalar = compileFunction(fn, 1, SIZE);
  for (const f of [vector, scalar]) {
    f.a.set(arguments_);
    if (arity(fn) === 2) f.b.set(seconds);
    f.run();
  }
  it('has the same bits in SIMD and scalar code', () => {
    expect(bits(vector.y)).toEqual(bits(scalar.y));
  });
  it('has the same bits in compiled code and in the interpreter', () => {
    const columns = [arguments_, seconds].slice(0, arity(fn)).map((c) => c.slice(0, INTERPRETED));
    expect(bits(vector.y.subarray(0, INTERPRETED))).toEqual(bits(evaluateTable(fn, ...columns)));
  });
});
