/**
 * Helper functions of a module: operations too long to write out at each use. Each is made when first asked for.
 *
 * `half_to_f32` and `f32_to_half` convert half precision by integer operations; the others are in helpers-float.ts.
 */
import type { MathFn } from '../../ir/ops.ts';
import type { FunctionBuilder, ModuleBuilder, WasmType } from './assembler.ts';
import { writeDemoteToOdd, writeFma32, writeFma64, writeFmod } from './helpers-float.ts';

type Writer = (f: FunctionBuilder, helpers: Helpers) => void;
interface Recipe {
  readonly params: readonly WasmType[];
  readonly result: WasmType;
  readonly write: Writer;
}

export type HelperName =
  | 'ipow_i32'
  | 'ipow_i64'
  | 'ipow_i32_u'
  | 'ipow_i64_u'
  | 'floordiv_i32'
  | 'floordiv_i64'
  | 'fmod_f32'
  | 'fmod_f64'
  | 'fma_f32'
  | 'fma_f64'
  | 'demote_to_odd'
  | 'half_to_f32'
  | 'f32_to_half';

const RECIPES: Readonly<Record<HelperName, Recipe>> = {
  ipow_i32: { params: ['i32', 'i32'], result: 'i32', write: (f) => writePower(f, 'i32', true) },
  ipow_i64: { params: ['i64', 'i64'], result: 'i64', write: (f) => writePower(f, 'i64', true) },
  ipow_i32_u: { params: ['i32', 'i32'], result: 'i32', write: (f) => writePower(f, 'i32', false) },
  ipow_i64_u: { params: ['i64', 'i64'], result: 'i64', write: (f) => writePower(f, 'i64', false) },
  floordiv_i32: { params: ['i32', 'i32'], result: 'i32', write: (f) => writeFloorDivide(f, 'i32') },
  floordiv_i64: { params: ['i64', 'i64'], result: 'i64', write: (f) => writeFloorDivide(f, 'i64') },
  fmod_f32: { params: ['f32', 'f32'], result: 'f32', write: (f) => writeFmod(f, 'f32') },
  fmod_f64: { params: ['f64', 'f64'], result: 'f64', write: (f) => writeFmod(f, 'f64') },
  fma_f32: { params: ['f32', 'f32', 'f32'], result: 'f32', write: (f) => writeFma32(f) },
  fma_f64: { params: ['f64', 'f64', 'f64'], result: 'f64', write: (f) => writeFma64(f) },
  demote_to_odd: { params: ['f64'], result: 'f32', write: (f) => writeDemoteToOdd(f) },
  half_to_f32: { params: ['i32'], result: 'f32', write: (f) => writeHalfToFloat(f) },
  f32_to_half: { params: ['f32'], result: 'i32', write: (f) => writeFloatToHalf(f) },
};

/** Number of operands of the functions that are imported. */
const TWO_OPERANDS: ReadonlySet<MathFn> = new Set<MathFn>(['atan2', 'pow', 'hypot']);

export class Helpers {
  readonly #module: ModuleBuilder;
  readonly #made = new Map<HelperName, number>();
  readonly #math = new Map<MathFn, number>();
  readonly #print: number | undefined;

  /** Declares the imports that a kernel needs, before any function of the module. */
  constructor(module: ModuleBuilder, math: Iterable<MathFn>, print: boolean, address: 'i32' | 'i64') {
    this.#module = module;
    for (const fn of math) {
      const params: WasmType[] = TWO_OPERANDS.has(fn) ? ['f64', 'f64'] : ['f64'];
      this.#math.set(fn, module.importFunction('math', fn, params, ['f64']));
    }
    if (print) this.#print = module.importFunction('env', 'print', ['i32', address], []);
  }

  /** Function index of an imported function of doubles. */
  math(fn: MathFn): number {
    const index = this.#math.get(fn);
    if (index === undefined) throw new Error(`internal error: ${fn} was not imported`);
    return index;
  }

  print(): number {
    if (this.#print === undefined) throw new Error('internal error: print was not imported');
    return this.#print;
  }

  /** Function index of a helper. */
  index(name: HelperName): number {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const recipe: Recipe = RECIPES[name];
    const { index, builder } = this.#module.function(recipe.params, [recipe.result]);
    this.#made.set(name, index);
    recipe.write(builder, this);
    return index;
  }
}

/** Power by squaring, modulo 2^width; 0 for a negative exponent. */
function writePower(f: FunctionBuilder, t: 'i32' | 'i64', signed: boolean): void {
  const push = (value: number): void => (t === 'i32' ? f.i32(value) : f.i64(value));
  const result = f.local(t);
  if (signed) {
    f.get(1);
    push(0);
    f.op(`${t}.lt_s`);
    f.if();
    push(0);
    f.op('return');
    f.end();
  }
  push(1);
  f.set(result);
  const done = f.block();
  const again = f.loop();
  f.get(1);
  f.op(`${t}.eqz`);
  f.brIf(done);
  f.get(result, 0);
  f.op(`${t}.mul`);
  f.get(result, 1);
  push(1);
  f.op(`${t}.and`);
  if (t === 'i64') f.op('i32.wrap_i64');
  f.op('select');
  f.set(result);
  f.get(0, 0);
  f.op(`${t}.mul`);
  f.set(0);
  f.get(1);
  push(1);
  f.op(`${t}.shr_u`);
  f.set(1);
  f.br(again);
  f.end();
  f.end();
  f.get(result);
}

/** Signed division rounding down; x/0 is 0, least/-1 wraps. */
function writeFloorDivide(f: FunctionBuilder, t: 'i32' | 'i64'): void {
  const push = (value: number): void => (t === 'i32' ? f.i32(value) : f.i64(value));
  const quotient = f.local(t);
  f.get(1);
  f.op(`${t}.eqz`);
  f.if();
  push(0);
  f.op('return');
  f.end();
  f.get(1);
  push(-1);
  f.op(`${t}.eq`);
  f.if();
  push(0);
  f.get(0);
  f.op(`${t}.sub`, 'return');
  f.end();
  f.get(0, 1);
  f.op(`${t}.div_s`);
  f.tee(quotient);
  push(1);
  f.op(`${t}.sub`);
  f.get(quotient);
  // One less where there is a remainder and the signs differ.
  f.get(0, 1);
  f.op(`${t}.rem_s`);
  push(0);
  f.op(`${t}.ne`);
  f.get(0, 1);
  f.op(`${t}.xor`);
  push(0);
  f.op(`${t}.lt_s`, 'i32.and', 'select');
}

/** Multiplication by 2^112 rebases the exponent and normalises what is denormal; infinity and NaN apart. */
function writeHalfToFloat(f: FunctionBuilder): void {
  const rest = f.local('i32');
  f.get(0);
  f.i32(0x7fff);
  f.op('i32.and');
  f.tee(rest);
  f.i32(13);
  f.op('i32.shl');
  f.i32(0x7f800000);
  f.op('i32.or');
  f.get(rest);
  f.i32(13);
  f.op('i32.shl', 'f32.reinterpret_i32');
  f.f32(2 ** 112);
  f.op('f32.mul', 'i32.reinterpret_f32');
  f.get(rest);
  f.i32(0x7c00);
  f.op('i32.ge_u', 'select');
  f.get(0);
  f.i32(0x8000);
  f.op('i32.and');
  f.i32(16);
  f.op('i32.shl', 'i32.or', 'f32.reinterpret_i32');
}

/** Rounds half to even. A NaN becomes the quiet one. */
function writeFloatToHalf(f: FunctionBuilder): void {
  const bits = f.local('i32');
  const sign = f.local('i32');
  f.get(0);
  f.op('i32.reinterpret_f32');
  f.tee(bits);
  f.i32(16);
  f.op('i32.shr_u');
  f.i32(0x8000);
  f.op('i32.and');
  f.set(sign);
  f.get(bits);
  f.i32(0x7fffffff);
  f.op('i32.and');
  f.set(bits);
  f.get(bits);
  f.i32(0x47800000);
  f.op('i32.ge_u');
  f.if('i32');
  f.i32(0x7e00);
  f.get(sign);
  f.i32(0x7c00);
  f.op('i32.or');
  f.get(bits);
  f.i32(0x7f800000);
  f.op('i32.gt_u', 'select');
  f.else();
  f.get(bits);
  f.i32(0x38800000);
  f.op('i32.lt_u');
  f.if('i32');
  // Denormal: adding 0.5 leaves the rounded half in the low bits.
  f.get(bits);
  f.op('f32.reinterpret_i32');
  f.f32(0.5);
  f.op('f32.add', 'i32.reinterpret_f32');
  f.i32(0x3f000000);
  f.op('i32.sub');
  f.else();
  f.get(bits);
  f.i32(0xfff - ((127 - 15) << 23));
  f.op('i32.add');
  f.get(bits);
  f.i32(13);
  f.op('i32.shr_u');
  f.i32(1);
  f.op('i32.and', 'i32.add');
  f.i32(13);
  f.op('i32.shr_u');
  f.end();
  f.get(sign);
  f.op('i32.or');
  f.end();
}
