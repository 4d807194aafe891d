/**
 * The math table gives the same bits however it is run: SIMD, scalar WebAssembly, the interpreter. Lanes of one vector take rare
 * and ordinary paths side by side here.
 */
import { describe, expect, it } from 'vitest';
import { MATH_F64 } from '../../src/compiler/math/f64/table.ts';
import {
  arity,
  evaluateF64Table,
  evaluateTable,
  fromBits,
  MATH_FNS,
  SPECIAL,
} from '../../src/compiler/math/testing.ts';
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

/** As above, but f64: special, spread over sizes, ordinary, in turns. */
const doubles = arguments_.map((x, k) => (k % 3 === 1 ? x ** 3 : k % 3 === 2 ? x * 1.000000059 : x));
const otherDoubles = doubles.map((_, k) => doubles[(k * 5 + Math.floor(k / 7)) % SIZE] ?? 0);

describe.each(MATH_FNS.filter((fn) => MATH_F64[fn] !== undefined))('%s of f64', (fn) => {
  const columns = [doubles, otherDoubles].slice(0, arity(fn));
  const run = (lanes: 1 | 4) => {
    const f = compileFunction(fn, lanes, SIZE, 'f64');
    columns.forEach((column, k) => [f.a, f.b][k]?.set(column));
    f.run();
    return f.y;
  };
  it('has the same bits in SIMD and scalar code and in the interpreter', () => {
    const vector = bits(run(4));
    expect(vector).toEqual(bits(run(1)));
    const few = columns.map((column) => column.slice(0, INTERPRETED));
    expect(vector.slice(0, INTERPRETED)).toEqual(bits(evaluateF64Table(fn, ...few)));
  });
});
