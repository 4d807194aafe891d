import { describe, expect, test } from 'vitest';
import { f32 } from '../../dtype/index.ts';
import { fusedMultiplyAdd, roundHalfEven } from './exact.ts';
import { random } from './testing.ts';

/** A finite double as numerator / 2^k, exactly. */
const SCALE = 2100n;
function scaled(x: number): bigint {
  // Multiplying by powers of two and splitting off 53 bits at a time is exact.
  let y = x;
  let shift = 0n;
  while (!Number.isInteger(y)) {
    y *= 2 ** 64;
    shift += 64n;
    if (Math.abs(y) > 2 ** 900) break;
  }
  return BigInt(y) << (SCALE + 300n - shift);
}

const bytes = new DataView(new ArrayBuffer(8));
function neighbour(type: 'f32' | 'f64', x: number, step: 1 | -1): number {
  if (x === 0) return step * (type === 'f32' ? 2 ** -149 : 5e-324);
  const up = step * Math.sign(x);
  if (type === 'f64') {
    bytes.setFloat64(0, x);
    bytes.setBigInt64(0, bytes.getBigInt64(0) + BigInt(up));
    return bytes.getFloat64(0);
  }
  bytes.setFloat32(0, x);
  bytes.setInt32(0, bytes.getInt32(0) + up);
  return bytes.getFloat32(0);
}

/** Whether `y` is the nearest float to exact / 2^(SCALE+300), a tie going to the even one. */
function isNearest(type: 'f32' | 'f64', exact: bigint, y: number): boolean {
  const size = (b: bigint): bigint => (b < 0n ? -b : b);
  const error = size(exact - scaled(y));
  return ([1, -1] as const).every((step) => {
    const other = neighbour(type, y, step);
    if (!Number.isFinite(other)) return true;
    const otherError = size(exact - scaled(other));
    if (otherError !== error) return otherError > error;
    bytes.setFloat64(0, y);
    return type === 'f64' ? (bytes.getUint8(7) & 1) === 0 : (bytes.getBigUint64(0) >> 29n) % 2n === 0n;
  });
}

test('half to even, with the sign of zero', () => {
  expect([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 4503599627370495.5].map(roundHalfEven)).toEqual([
    0, 2, 2, -0, -2, 0, 4503599627370496,
  ]);
  expect(Object.is(roundHalfEven(-0.2), -0)).toBe(true);
  expect(roundHalfEven(Number.NEGATIVE_INFINITY)).toBe(Number.NEGATIVE_INFINITY);
});

test('64-bit integers to single precision are rounded once', () => {
  // Just above a tie of single precision; as a double it is the tie, which would go down.
  const x = (1n << 62n) + (1n << 38n) + 1n;
  expect(f32(x)).toBe(2 ** 62 + 2 ** 39);
  expect(Math.fround(Number(x))).toBe(2 ** 62);
  const rng = random(1);
  for (let i = 0; i < 5000; i++) {
    const bits = BigInt(rng.below(2 ** 32)) * 2n ** 32n + BigInt(rng.below(2 ** 32));
    const tie = rng.once(2) ? ((bits >> 40n) << 40n) + (1n << 39n) + BigInt(rng.below(3) - 1) : bits;
    const n = BigInt.asIntN(64, tie) >> BigInt(rng.below(60));
    if (!isNearest('f32', n << (SCALE + 300n), f32(n))) expect.fail(String(n));
  }
  expect([0n, 1n, -1n, (1n << 64n) - 1n, -(1n << 63n)].map(f32)).toEqual([0, 1, -1, 2 ** 64, -(2 ** 63)]);
});

describe('fused multiply-add', () => {
  test('is rounded once, from the exact sum', () => {
    expect(fusedMultiplyAdd('f64', 0.1, 10, -1)).toBe(2 ** -54);
    const rng = random(2);
    const pick = (type: 'f32' | 'f64'): number => {
      const m = (rng.below(2 ** 32) - 2 ** 31) * (rng.once(3) ? 1 : 2 ** 20 + rng.below(2 ** 20));
      const x = (rng.once(4) ? Math.sign(m) : m) * 2 ** (rng.below(80) - 60);
      return type === 'f32' ? Math.fround(x) : x;
    };
    for (let i = 0; i < 6000; i++) {
      const type = rng.once(2) ? 'f32' : 'f64';
      const [a, b] = [pick(type), pick(type)];
      // Often close to the product, where digits cancel.
      const c = rng.once(2) ? pick(type) : type === 'f32' ? -Math.fround(a * b) : -(a * b);
      const y = fusedMultiplyAdd(type, a, b, c);
      // Overflow has a test of its own.
      if (!Number.isFinite(y)) continue;
      const exact = ((scaled(a) * scaled(b)) >> (SCALE + 300n)) + scaled(c);
      if (!isNearest(type, exact, y)) expect.fail(`${type} ${a} * ${b} + ${c} = ${y}`);
    }
  });

  test('denormals, overflow, infinities, zeros', () => {
    expect(fusedMultiplyAdd('f64', 2 ** -600, 2 ** -474, 0)).toBe(5e-324);
    expect(fusedMultiplyAdd('f64', 2 ** -600, 2 ** -475, 0)).toBe(0);
    expect(fusedMultiplyAdd('f64', 2 ** -600, 1.5 * 2 ** -475, 0)).toBe(5e-324);
    expect(fusedMultiplyAdd('f32', 2 ** -100, 2 ** -49, 0)).toBe(2 ** -149);
    expect(fusedMultiplyAdd('f32', 2 ** 100, 2 ** 28, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(fusedMultiplyAdd('f64', 1e300, 1e300, -Number.MAX_VALUE)).toBe(Number.POSITIVE_INFINITY);
    expect(fusedMultiplyAdd('f64', 1e300, 1e300, Number.NEGATIVE_INFINITY)).toBe(Number.NEGATIVE_INFINITY);
    expect(fusedMultiplyAdd('f64', Number.POSITIVE_INFINITY, 0, 1)).toBeNaN();
    expect(Object.is(fusedMultiplyAdd('f64', -0, 1, -0), -0)).toBe(true);
    expect(Object.is(fusedMultiplyAdd('f64', 1, 1, -1), 0)).toBe(true);
  });
});
