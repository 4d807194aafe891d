/**
 * Integers of 64 bits as two words, low half first: the functions that the text brings along, each behind those that it calls.
 */
import { define, type Gen } from './code.ts';

const W = 'vec2<u32>';

export type WideName =
  | 'add_64'
  | 'sub_64'
  | 'neg_64'
  | 'product'
  | 'mul_64'
  | 'shl_64'
  | 'shr_u64'
  | 'shr_i64'
  | 'lt_u64'
  | 'lt_i64'
  | 'abs_i64'
  | 'sign_i64'
  | 'sign_u64'
  | 'divide'
  | 'div_u64'
  | 'rem_u64'
  | 'div_i64'
  | 'rem_i64'
  | 'floordiv_u64'
  | 'floordiv_i64'
  | 'mulhi_u64'
  | 'mulhi_i64'
  | 'ipow_u64'
  | 'ipow_i64'
  | 'f32_of_u64'
  | 'f32_of_i64'
  | 'u64_of_f32'
  | 'i64_of_f32';

interface Helper {
  readonly needs?: readonly WideName[];
  readonly text: string;
}

const two = (name: string, body: string, needs?: readonly WideName[]): Helper => ({
  text: `fn ${name}(a: ${W}, b: ${W}) -> ${W} { ${body} }`,
  ...(needs && { needs }),
});
const one = (name: string, body: string, needs?: readonly WideName[]): Helper => ({
  text: `fn ${name}(a: ${W}) -> ${W} { ${body} }`,
  ...(needs && { needs }),
});
const less = (name: string, body: string): Helper => ({ text: `fn ${name}(a: ${W}, b: ${W}) -> bool { ${body} }` });

/** The sign of a signed operand decides; the magnitudes are computed with. */
const bySigns = (name: string, unsigned: WideName, negative: string): Helper =>
  two(name, `let q = ${unsigned}(abs_i64(a), abs_i64(b)); if (${negative}) { return neg_64(q); } return q;`, [
    'abs_i64',
    'neg_64',
    unsigned,
  ]);

const WIDE: Readonly<Record<WideName, Helper>> = {
  add_64: two('add_64', `let low = a.x + b.x; return ${W}(low, a.y + b.y + u32(low < a.x));`),
  sub_64: two('sub_64', `return ${W}(a.x - b.x, a.y - b.y - u32(a.x < b.x));`),
  neg_64: one('neg_64', `return ${W}(0u - a.x, ~a.y + u32(a.x == 0u));`),
  /** The whole product of two words. */
  product: {
    text: `fn product(a: u32, b: u32) -> ${W} { let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh = b >> 16u; let low = al * bl; let m = ah * bl + (low >> 16u); let n = al * bh + (m & 0xffffu); return ${W}(a * b, ah * bh + (m >> 16u) + (n >> 16u)); }`,
  },
  mul_64: two('mul_64', `let p = product(a.x, b.x); return ${W}(p.x, p.y + a.x * b.y + a.y * b.x);`, ['product']),
  shl_64: {
    text: `fn shl_64(a: ${W}, b: u32) -> ${W} { let n = b & 63u; if (n == 0u) { return a; } if (n >= 32u) { return ${W}(0u, a.x << (n - 32u)); } return ${W}(a.x << n, (a.y << n) | (a.x >> (32u - n))); }`,
  },
  shr_u64: {
    text: `fn shr_u64(a: ${W}, b: u32) -> ${W} { let n = b & 63u; if (n == 0u) { return a; } if (n >= 32u) { return ${W}(a.y >> (n - 32u), 0u); } return ${W}((a.x >> n) | (a.y << (32u - n)), a.y >> n); }`,
  },
  shr_i64: {
    text: `fn shr_i64(a: ${W}, b: u32) -> ${W} { let n = b & 63u; let high = bitcast<i32>(a.y); if (n == 0u) { return a; } if (n >= 32u) { return ${W}(bitcast<u32>(high >> (n - 32u)), bitcast<u32>(high >> 31u)); } return ${W}((a.x >> n) | (a.y << (32u - n)), bitcast<u32>(high >> n)); }`,
  },
  lt_u64: less('lt_u64', 'return a.y < b.y || (a.y == b.y && a.x < b.x);'),
  lt_i64: less('lt_i64', 'return bitcast<i32>(a.y) < bitcast<i32>(b.y) || (a.y == b.y && a.x < b.x);'),
  abs_i64: one('abs_i64', 'if (bitcast<i32>(a.y) < 0) { return neg_64(a); } return a;', ['neg_64']),
  sign_i64: one(
    'sign_i64',
    `if (bitcast<i32>(a.y) < 0) { return ${W}(0xffffffffu, 0xffffffffu); } return ${W}(u32((a.x | a.y) != 0u), 0u);`,
  ),
  sign_u64: one('sign_u64', `return ${W}(u32((a.x | a.y) != 0u), 0u);`),
  /** Quotient and remainder: of one word by the hardware, of more bit by bit. */
  divide: {
    needs: ['lt_u64', 'sub_64'],
    text: `struct Division { q: ${W}, r: ${W} } fn divide(a: ${W}, b: ${W}) -> Division { if ((b.x | b.y) == 0u) { return Division(${W}(0u, 0u), ${W}(0u, 0u)); } if ((a.y | b.y) == 0u) { return Division(${W}(a.x / b.x, 0u), ${W}(a.x % b.x, 0u)); } var q = ${W}(0u, 0u); var r = ${W}(0u, 0u); for (var k = 63; k >= 0; k--) { let word = select(a.x, a.y, k >= 32); r = ${W}((r.x << 1u) | ((word >> (u32(k) & 31u)) & 1u), (r.y << 1u) | (r.x >> 31u)); if (!lt_u64(r, b)) { r = sub_64(r, b); if (k >= 32) { q.y |= 1u << u32(k - 32); } else { q.x |= 1u << u32(k); } } } return Division(q, r); }`,
  },
  div_u64: two('div_u64', 'return divide(a, b).q;', ['divide']),
  rem_u64: two('rem_u64', 'return divide(a, b).r;', ['divide']),
  div_i64: bySigns('div_i64', 'div_u64', 'bitcast<i32>(a.y ^ b.y) < 0'),
  rem_i64: bySigns('rem_i64', 'rem_u64', 'bitcast<i32>(a.y) < 0'),
  floordiv_u64: two('floordiv_u64', 'return divide(a, b).q;', ['divide']),
  floordiv_i64: two(
    'floordiv_i64',
    `let q = div_i64(a, b); let r = rem_i64(a, b); if ((r.x | r.y) != 0u && bitcast<i32>(a.y ^ b.y) < 0) { return sub_64(q, ${W}(1u, 0u)); } return q;`,
    ['div_i64', 'rem_i64', 'sub_64'],
  ),
  mulhi_u64: two(
    'mulhi_u64',
    `let low = product(a.x, b.x); let m = add_64(product(a.y, b.x), ${W}(low.y, 0u)); let n = add_64(product(a.x, b.y), ${W}(m.x, 0u)); return add_64(product(a.y, b.y), add_64(${W}(m.y, 0u), ${W}(n.y, 0u)));`,
    ['product', 'add_64'],
  ),
  mulhi_i64: two(
    'mulhi_i64',
    'var h = mulhi_u64(a, b); if (bitcast<i32>(a.y) < 0) { h = sub_64(h, b); } if (bitcast<i32>(b.y) < 0) { h = sub_64(h, a); } return h;',
    ['mulhi_u64', 'sub_64'],
  ),
  ipow_u64: two(
    'ipow_u64',
    `var r = ${W}(1u, 0u); var s = a; var e = b; loop { if ((e.x | e.y) == 0u) { break; } if ((e.x & 1u) != 0u) { r = mul_64(r, s); } s = mul_64(s, s); e = shr_u64(e, 1u); } return r;`,
    ['mul_64', 'shr_u64'],
  ),
  ipow_i64: two('ipow_i64', `if (bitcast<i32>(b.y) < 0) { return ${W}(0u, 0u); } return ipow_u64(a, b);`, ['ipow_u64']),
  /** To nearest, ties to even: the top 24 bits, and whether anything is behind them. */
  f32_of_u64: {
    needs: ['shl_64', 'shr_u64'],
    text: `fn f32_of_u64(a: ${W}) -> f32 { if (a.y == 0u) { return f32(a.x & 0xffff0000u) + f32(a.x & 0xffffu); } let zeros = countLeadingZeros(a.y); let top = shl_64(a, zeros); let m = top.y >> 8u; let rest = (top.y & 0xffu) | u32(top.x != 0u); let half = (top.y >> 7u) & 1u; let odd = u32(((top.y & 0x7fu) | u32(top.x != 0u)) != 0u); let up = half & (odd | (m & 1u)) & u32(rest != 0u); return bitcast<f32>(((190u - zeros) << 23u) + (m & 0x7fffffu) + up); }`,
  },
  f32_of_i64: {
    needs: ['f32_of_u64', 'abs_i64'],
    text: `fn f32_of_i64(a: ${W}) -> f32 { let m = f32_of_u64(abs_i64(a)); if (bitcast<i32>(a.y) < 0) { return -m; } return m; }`,
  },
  /** Truncated and saturated, NaN as 0. */
  u64_of_f32: {
    needs: ['shl_64'],
    text: `fn u64_of_f32(a: f32) -> ${W} { let bits = bitcast<u32>(a); let e = (bits >> 23u) & 0xffu; if (bits > 0x7f800000u || e < 127u) { return ${W}(0u, 0u); } if (e >= 191u) { return ${W}(0xffffffffu, 0xffffffffu); } let m = (bits & 0x7fffffu) | 0x800000u; if (e < 150u) { return ${W}(m >> (150u - e), 0u); } return shl_64(${W}(m, 0u), e - 150u); }`,
  },
  i64_of_f32: {
    needs: ['u64_of_f32', 'neg_64'],
    text: `fn i64_of_f32(a: f32) -> ${W} { let bits = bitcast<u32>(a); if ((bits & 0x7fffffffu) > 0x7f800000u) { return ${W}(0u, 0u); } let m = u64_of_f32(bitcast<f32>(bits & 0x7fffffffu)); let negative = (bits >> 31u) != 0u; if (m.y >= 0x80000000u) { return select(${W}(0xffffffffu, 0x7fffffffu), ${W}(0u, 0x80000000u), negative); } if (negative) { return neg_64(m); } return m; }`,
  },
};

/** The name of a function of 64 bits, which is from now on part of the text. */
export function wide(g: Pick<Gen, 'helpers'>, name: WideName): string {
  const { needs = [], text } = WIDE[name];
  for (const other of needs) wide(g, other);
  return define(g, name, text);
}
