/**
 * Floating-point helper functions: remainder and fused multiply-add with a single rounding, conversion to single
 * precision that a second rounding does not spoil.
 *
 * WebAssembly has neither fmod nor fma. Both are exact here, in every corner: the remainder by long division of the
 * significands, the fused multiply-add of doubles by a 128-bit sum, that of singles in double precision rounded to odd
 * (S. Boldo, G. Melquiond: Emulation of a FMA and correctly rounded sums, IEEE Trans. Comput. 57, 2008).
 */
import type { FunctionBuilder, Local, WasmType } from './assembler.ts';
import { writePostfix } from './postfix.ts';

/** Locals by name: parameters first, then new ones. */
function declare(
  f: FunctionBuilder,
  params: readonly string[],
  locals: Readonly<Record<string, WasmType>>,
): Record<string, Local> {
  const all: Record<string, Local> = {};
  for (const [i, name] of params.entries()) all[name] = i;
  for (const [name, type] of Object.entries(locals)) all[name] = f.local(type);
  return all;
}

/**
 * Rounds to odd: truncates, and sets the last bit if anything was lost. Rounding that to half precision gives what one
 * rounding would have given.
 */
export function writeDemoteToOdd(f: FunctionBuilder): void {
  const l = declare(f, ['x'], { y: 'f32', bits: 'i32' });
  writePostfix(
    f,
    l,
    `x f32.demote_f64 ~y f64.promote_f32 x f64.eq
     x x f64.ne i32.or
     if y return end
     y i32.reinterpret_f32 =bits
     y f64.promote_f32 f64.abs x f64.abs f64.gt
     if bits i32#1 i32.sub =bits end
     bits i32#1 i32.or f32.reinterpret_i32`,
  );
}

/** The product of singles is exact in double precision; the sum is rounded to odd there, then to single. */
export function writeFma32(f: FunctionBuilder): void {
  const l = declare(f, ['a', 'b', 'c'], { p: 'f64', z: 'f64', s: 'f64', t: 'f64', e: 'f64', bits: 'i64' });
  writePostfix(
    f,
    l,
    `a f64.promote_f32 b f64.promote_f32 f64.mul ~p
     c f64.promote_f32 ~z f64.add ~s
     p f64.sub =t
     p s t f64.sub f64.sub z t f64.sub f64.add =e
     e f64.abs f64#0 f64.gt
     if
       s i64.reinterpret_f64 ~bits i64#1 i64.and i64.eqz
       if
         bits i64#1 i64#-1
         e f64#0 f64.gt s f64#0 f64.gt i32.eq select
         i64.add f64.reinterpret_i64 =s
       end
     end
     s f32.demote_f64`,
  );
}

/** The remainder with the sign of the dividend, exact. */
export function writeFmod(f: FunctionBuilder, type: 'f32' | 'f64'): void {
  const i = type === 'f32' ? 'i32' : 'i64';
  const fraction = type === 'f32' ? 23 : 52;
  const exponents = type === 'f32' ? 0xff : 0x7ff;
  const width = type === 'f32' ? 32 : 64;
  const l = declare(f, ['x', 'y'], { a: i, b: i, ea: i, eb: i, shift: i, difference: i });
  const magnitude = (name: string): string => `${name} ${type}.abs ${i}.reinterpret_${type}`;
  // Splits bits into exponent and significand with its leading bit; the exponent of a denormal is 0 or less.
  const split = (m: string, e: string): string =>
    `${m} ${i}#${fraction} ${i}.shr_u ~${e} ${i}.eqz
     if
       ${m} ${i}.clz ${i}#${width - 1 - fraction} ${i}.sub =shift
       ${m} shift ${i}.shl =${m}
       ${i}#1 shift ${i}.sub =${e}
     else ${m} ${i}#${2n ** BigInt(fraction) - 1n} ${i}.and ${i}#2^${fraction} ${i}.or =${m} end`;
  const zeroResult = `${type}#0 x ${type}.copysign return`;
  writePostfix(
    f,
    l,
    `${magnitude('y')} ~b ${i}.eqz
     b ${i}#${BigInt(exponents) << BigInt(fraction)} ${i}.gt_u i32.or
     ${magnitude('x')} ~a ${i}#${BigInt(exponents) << BigInt(fraction)} ${i}.ge_u i32.or
     if x y ${type}.mul ~x x ${type}.div return end
     a b ${i}.lt_u if x return end
     a b ${i}.eq if ${zeroResult} end
     ${split('a', 'ea')} ${split('b', 'eb')}
     ea eb ${i}.sub =difference`,
  );
  const get = (name: string): void => f.get(l[name] ?? 0);
  const done = f.block();
  const again = f.loop();
  // One binary digit of the quotient a round.
  writePostfix(f, l, `a b ${i}.ge_u if a b ${i}.sub =a end`);
  writePostfix(f, l, `a ${i}.eqz if ${zeroResult} end`);
  get('difference');
  f.op(`${i}.eqz`);
  f.brIf(done);
  writePostfix(f, l, `a ${i}#1 ${i}.shl =a difference ${i}#1 ${i}.sub =difference`);
  f.br(again);
  f.end();
  f.end();
  // a * 2^(eb - bias - fraction): shift the leading bit to where it belongs, as far as the exponent goes.
  writePostfix(
    f,
    l,
    `a ${i}.clz ${i}#${width - 1 - fraction} ${i}.sub =shift
     shift eb ${i}.ge_s
     if
       eb ${i}#0 ${i}.gt_s
       if a eb ${i}#1 ${i}.sub ${i}.shl =a
       else a ${i}#1 eb ${i}.sub ${i}.shr_u =a end
     else
       a shift ${i}.shl ${i}#2^${fraction} ${i}.sub eb shift ${i}.sub ${i}#${fraction} ${i}.shl ${i}.add =a
     end
     a ${type}.reinterpret_${i} x ${type}.copysign`,
  );
}

/** a*b + c of doubles: both terms as 128-bit integers with an exponent, added exactly, rounded once. */
export function writeFma64(f: FunctionBuilder): void {
  const l = declare(f, ['a', 'b', 'c'], {
    ma: 'i64',
    mb: 'i64',
    mc: 'i64',
    ea: 'i64',
    eb: 'i64',
    ec: 'i64',
    h1: 'i64',
    l1: 'i64',
    e1: 'i64',
    s1: 'i64',
    h2: 'i64',
    l2: 'i64',
    e2: 'i64',
    s2: 'i64',
    t: 'i64',
    d: 'i64',
    carry: 'i64',
  });
  const sign = (x: string): string => `${x} i64.reinterpret_f64 i64#63 i64.shr_u`;
  // x = m * 2^(e - 1075) with 2^52 <= m < 2^53, denormals included.
  const split = (x: string, m: string, e: string): string =>
    `${x} f64.abs i64.reinterpret_f64 ~${m} i64#52 i64.shr_u ~${e} i64.eqz
     if
       ${m} i64.clz i64#11 i64.sub =t
       ${m} t i64.shl =${m}
       i64#1 t i64.sub =${e}
     else ${m} i64#0xfffffffffffff i64.and i64#2^52 i64.or =${m} end`;
  writePostfix(
    f,
    l,
    `a f64.abs f64#Infinity f64.lt b f64.abs f64#Infinity f64.lt i32.and i32.eqz
     a f64#0 f64.eq i32.or b f64#0 f64.eq i32.or
     if a b f64.mul c f64.add return end
     c f64.abs f64#Infinity f64.lt i32.eqz if c return end
     c f64#0 f64.eq if a b f64.mul return end
     ${sign('a')} ${sign('b')} i64.xor =s1 ${sign('c')} =s2
     ${split('a', 'ma', 'ea')} ${split('b', 'mb', 'eb')} ${split('c', 'mc', 'ec')}`,
  );
  // The product, up to 106 bits, from 32-bit halves; then both terms with their leading bit near bit 125.
  writePostfix(
    f,
    l,
    `ma i64#0xffffffff i64.and mb i64#0xffffffff i64.and i64.mul =l1
     ma i64#32 i64.shr_u mb i64#0xffffffff i64.and i64.mul
     ma i64#0xffffffff i64.and mb i64#32 i64.shr_u i64.mul i64.add =t
     ma i64#32 i64.shr_u mb i64#32 i64.shr_u i64.mul t i64#32 i64.shr_u i64.add =h1
     l1 t i64#32 i64.shl i64.add =d
     h1 d l1 i64.lt_u i64.extend_i32_u i64.add =h1
     h1 i64#20 i64.shl d i64#44 i64.shr_u i64.or =h1
     d i64#20 i64.shl =l1
     ea eb i64.add i64#2170 i64.sub =e1
     mc i64#9 i64.shl =h2 i64#0 =l2
     ec i64#1148 i64.sub =e2`,
  );
  // The term with the larger exponent first; the other is shifted right, what falls off stays as a sticky last bit.
  const swap = (x: string, y: string): string => `${x} ${y} =${x} =${y}`;
  writePostfix(
    f,
    l,
    `e1 e2 i64.lt_s
     if ${swap('h1', 'h2')} ${swap('l1', 'l2')} ${swap('e1', 'e2')} ${swap('s1', 's2')} end
     e1 e2 i64.sub =d
     d i64#127 i64.gt_s
     if i64#0 =h2 i64#1 =l2
     else
       d i64#63 i64.gt_s
       if
         l2 i64#0 i64.ne i64.extend_i32_u =carry
         h2 =l2 i64#0 =h2
         l2 carry i64.or =l2
         d i64#64 i64.sub =d
       end
       d i64#0 i64.ne
       if
         l2 i64#64 d i64.sub i64.shl i64#0 i64.ne i64.extend_i32_u =carry
         l2 d i64.shr_u h2 i64#64 d i64.sub i64.shl i64.or carry i64.or =l2
         h2 d i64.shr_u =h2
       end
     end
     s1 s2 i64.eq
     if
       l1 l2 i64.add ~t l1 i64.lt_u i64.extend_i32_u h1 h2 i64.add i64.add =h1
       t =l1
     else
       h1 h2 i64.sub l1 l2 i64.lt_u i64.extend_i32_u i64.sub =h1
       l1 l2 i64.sub =l1
       h1 i64#0 i64.lt_s
       if
         i64#0 h1 i64.sub l1 i64#0 i64.ne i64.extend_i32_u i64.sub =h1
         i64#0 l1 i64.sub =l1
         s1 i64#1 i64.xor =s1
       end
     end
     h1 l1 i64.or i64.eqz if f64#0 return end`,
  );
  // Leading bit to bit 127, sticky bit into the upper word, then one rounding to the digits that the exponent allows.
  writePostfix(
    f,
    l,
    `h1 i64.eqz
     if l1 =h1 i64#0 =l1 e1 i64#64 i64.sub =e1 end
     h1 i64.clz =t
     t i64#0 i64.ne
     if
       h1 t i64.shl l1 i64#64 t i64.sub i64.shr_u i64.or =h1
       l1 t i64.shl =l1
     end
     h1 l1 i64#0 i64.ne i64.extend_i32_u i64.or =h1
     e1 t i64.sub i64#127 i64.add =e1
     e1 i64#1023 i64.gt_s
     if f64#Infinity s1 i64#63 i64.shl f64.reinterpret_i64 f64.copysign return end
     i64#11 =d
     e1 i64#-1022 i64.lt_s
     if i64#11 i64#-1022 e1 i64.sub i64.add =d end
     d i64#63 i64.gt_s
     if
       d i64#63 i64.sub =t
       t i64#63 i64.gt_s
       if i64#1 =h1
       else h1 t i64.shr_u h1 i64#64 t i64.sub i64.shl i64#0 i64.ne i64.extend_i32_u i64.or =h1 end
       i64#63 =d
     end
     h1 d i64.shr_u =t
     h1 i64#64 d i64.sub i64.shl =l1
     t
     l1 i64#0x8000000000000000 i64.gt_u
     l1 i64#0x8000000000000000 i64.eq t i32#1 i64.extend_i32_u i64.and i32.wrap_i64 i32.and i32.or
     i64.extend_i32_u i64.add =t
     e1 i64#-1022 i64.ge_s
     if t e1 i64#1022 i64.add i64#52 i64.shl i64.add =t end
     t f64.reinterpret_i64 s1 i64#63 i64.shl f64.reinterpret_i64 f64.copysign`,
  );
}
