/**
 * Operations on single values: one operator of the IR at a time, exactly as ops.ts and evaluate.ts define it.
 *
 * Operands come as thunks that push them; each is called once. Rare operations are calls of helper functions.
 */
import type { BinaryOp, CompareOp, ElemType, UnaryOp, ValueType } from '../../ir/ops.ts';
import { isFloat, isUnsigned } from '../../ir/ops.ts';
import type { FunctionBuilder, Local } from './assembler.ts';
import { type Gen, isWide, wasmType } from './gen.ts';
import type { PlainOp } from './opcodes.ts';

/** Pushes a value. */
export type Push = () => void;

/** What code outside of a kernel body needs of it too: helper functions are written with the same operations. */
export type Operands = Pick<Gen, 'f' | 'helpers'>;

/** Evaluates into a temporary and hands it out for a while. */
export function withTemp(f: FunctionBuilder, type: ValueType, push: Push, use: (local: Local) => void): void {
  const wasm = wasmType(type);
  const local = f.temp(wasm);
  push();
  f.set(local);
  use(local);
  f.release(wasm, local);
}

export function pushConst(f: FunctionBuilder, type: ValueType, value: number | bigint | boolean): void {
  switch (type) {
    case 'i64':
    case 'u64':
      f.i64(BigInt(value));
      break;
    case 'f32':
      f.f32(Number(value));
      break;
    case 'f64':
      f.f64(Number(value));
      break;
    default:
      f.i32(Number(value));
  }
}

/** Modulo 2³² by way of 64 bits: beyond 2⁶³ an f32 has no low bits, and an f64 is reduced first. */
function toInt32Scalar(f: FunctionBuilder, type: ValueType, a: Push): void {
  withTemp(f, type, a, (x) => {
    f.get(x);
    if (type === 'f32') {
      f.f32(0);
      f.get(x);
      f.f32(2 ** 63);
      f.op('f32.lt', 'select', 'i64.trunc_sat_f32_s', 'i32.wrap_i64');
      return;
    }
    f.op('f64.abs');
    f.f64(2 ** 63);
    f.op('f64.lt');
    f.if('i32');
    f.get(x);
    f.op('i64.trunc_sat_f64_s', 'i32.wrap_i64');
    f.else();
    f.get(x, x);
    f.f64(2 ** -32);
    f.op('f64.mul', 'f64.trunc');
    f.f64(2 ** 32);
    f.op('f64.mul', 'f64.sub', 'i64.trunc_sat_f64_s', 'i32.wrap_i64');
    f.end();
  });
}

export function scalarUnary({ f }: Pick<Operands, 'f'>, fn: UnaryOp, type: ValueType, a: Push): void {
  const w = wasmType(type);
  const bits = isWide(type) ? 64 : 32;
  switch (fn) {
    case 'uniform':
      a();
      return;
    case 'neg':
      if (isFloat(type)) {
        a();
        f.op(`${w as 'f32'}.neg`);
      } else {
        pushConst(f, type, 0);
        a();
        f.op(`${w}.sub` as PlainOp);
      }
      return;
    case 'abs':
      if (isFloat(type)) {
        a();
        f.op(`${w as 'f32'}.abs`);
      } else if (isUnsigned(type)) {
        a();
      } else {
        withTemp(f, type, a, (x) => {
          const sign = (): void => {
            f.get(x);
            pushConst(f, type, bits - 1);
            f.op(`${w as 'i32'}.shr_s`);
          };
          f.get(x);
          sign();
          f.op(`${w as 'i32'}.xor`);
          sign();
          f.op(`${w as 'i32'}.sub`);
        });
      }
      return;
    case 'not':
      a();
      if (type === 'bool') f.op('i32.eqz');
      else {
        pushConst(f, type, -1);
        f.op(`${w as 'i32'}.xor`);
      }
      return;
    case 'sqrt':
    case 'floor':
    case 'ceil':
    case 'trunc':
      a();
      f.op(`${w as 'f32'}.${fn}`);
      return;
    case 'rint':
      a();
      f.op(`${w as 'f32'}.nearest`);
      return;
    case 'round':
      roundScalar(f, w as 'f32', a);
      return;
    case 'sign':
      signScalar(f, type, a);
      return;
    case 'toInt32':
      toInt32Scalar(f, type, a);
      return;
    case 'isNaN':
      withTemp(f, type, a, (x) => {
        f.get(x, x);
        f.op(`${w as 'f32'}.ne`);
      });
      return;
    case 'isFinite':
      a();
      f.op(`${w as 'f32'}.abs`);
      pushConst(f, type, Number.POSITIVE_INFINITY);
      f.op(`${w as 'f32'}.lt`);
      return;
  }
}

/** Math.round: the ceiling, less one where the ceiling is more than a half away. Keeps -0 and large values. */
function roundScalar(f: FunctionBuilder, type: 'f32' | 'f64', a: Push): void {
  withTemp(f, type, a, (x) => {
    const up = f.temp(type);
    f.get(x);
    f.op(`${type}.ceil`);
    f.tee(up);
    pushConst(f, type, 1);
    pushConst(f, type, 0);
    f.get(up);
    pushConst(f, type, 0.5);
    f.op(`${type}.sub`);
    f.get(x);
    f.op(`${type}.gt`, 'select', `${type}.sub`);
    f.release(type, up);
  });
}

function signScalar(f: FunctionBuilder, type: ValueType, a: Push): void {
  const w = wasmType(type);
  withTemp(f, type, a, (x) => {
    if (isFloat(type)) {
      // NaN and the zeros come back as they are.
      pushConst(f, type, 1);
      f.get(x);
      f.op(`${w as 'f32'}.copysign`);
      f.get(x, x);
      f.op(`${w as 'f32'}.abs`);
      pushConst(f, type, 0);
      f.op(`${w as 'f32'}.gt`, 'select');
      return;
    }
    // (x > 0) - (x < 0)
    f.get(x);
    pushConst(f, type, 0);
    f.op(isUnsigned(type) ? `${w as 'i32'}.gt_u` : `${w as 'i32'}.gt_s`);
    if (!isUnsigned(type)) {
      f.get(x);
      pushConst(f, type, 0);
      f.op(`${w as 'i32'}.lt_s`, 'i32.sub');
    }
    if (w === 'i64') f.op('i64.extend_i32_s');
  });
}

/** Whether a constant divisor needs no care: not 0, and not -1 for signed types; above 0 for quotients that are rounded down. */
export interface DivisorKnown {
  readonly nonZero: boolean;
  readonly notMinusOne: boolean;
  readonly positive: boolean;
}

export function scalarBinary(
  { f, helpers }: Operands,
  fn: BinaryOp,
  type: ValueType,
  a: Push,
  b: Push,
  divisor: DivisorKnown = { nonZero: false, notMinusOne: false, positive: false },
): void {
  const w = wasmType(type);
  const float = isFloat(type);
  const sign = isUnsigned(type) ? 'u' : 's';
  const plain = (op: string): void => {
    a();
    b();
    f.op(`${w}.${op}` as PlainOp);
  };
  switch (fn) {
    case 'add':
    case 'sub':
    case 'mul':
    case 'and':
    case 'or':
    case 'xor':
    case 'shl':
    case 'copysign':
      plain(fn);
      return;
    case 'shr':
      plain(`shr_${sign}`);
      return;
    case 'div':
      if (float) plain('div');
      else divideScalar(f, type, a, b, divisor);
      return;
    case 'rem':
      if (float) {
        a();
        b();
        f.call(helpers.index(`fmod_${w as 'f32'}`));
      } else {
        guardZero(f, type, a, b, divisor.nonZero, (x, y) => {
          f.get(x, y);
          f.op(`${w as 'i32'}.rem_${sign}`);
        });
      }
      return;
    case 'floordiv':
      if (sign === 'u') divideScalar(f, type, a, b, divisor);
      else if (divisor.positive) floorDivide(f, type, a, b);
      else {
        a();
        b();
        f.call(helpers.index(`floordiv_${w as 'i32'}`));
      }
      return;
    case 'min':
    case 'max':
      if (float) plain(fn);
      else {
        withTemp(f, type, a, (x) =>
          withTemp(f, type, b, (y) => {
            f.get(x, y, x, y);
            f.op(`${w as 'i32'}.${fn === 'min' ? 'lt' : 'gt'}_${sign}`, 'select');
          }),
        );
      }
      return;
    case 'fmin':
    case 'fmax':
      withTemp(f, type, a, (x) =>
        withTemp(f, type, b, (y) => {
          // y if x is NaN, x if y is NaN, else the smaller or larger.
          f.get(y, x, x, y);
          f.op(`${w as 'f32'}.${fn === 'fmin' ? 'min' : 'max'}`);
          f.get(y, y);
          f.op(`${w as 'f32'}.ne`, 'select');
          f.get(x, x);
          f.op(`${w as 'f32'}.ne`, 'select');
        }),
      );
      return;
    case 'ipow':
      a();
      b();
      f.call(helpers.index(type === 'i32' || type === 'i64' ? `ipow_${type}` : `ipow_${w as 'i32'}_u`));
      return;
  }
}

/** `use` with both operands in locals; 0 where the divisor is 0. */
function guardZero(
  f: FunctionBuilder,
  type: ValueType,
  a: Push,
  b: Push,
  nonZero: boolean,
  use: (x: Local, y: Local) => void,
): void {
  withTemp(f, type, a, (x) =>
    withTemp(f, type, b, (y) => {
      if (nonZero) {
        use(x, y);
        return;
      }
      f.get(y);
      if (wasmType(type) === 'i64') f.op('i64.eqz');
      else f.op('i32.eqz');
      f.if(wasmType(type));
      pushConst(f, type, 0);
      f.else();
      use(x, y);
      f.end();
    }),
  );
}

/** Truncating division; x/0 is 0 and least/-1 wraps, where WebAssembly would trap. */
export function divideScalar(f: FunctionBuilder, type: ValueType, a: Push, b: Push, divisor: DivisorKnown): void {
  const w = wasmType(type) as 'i32' | 'i64';
  guardZero(f, type, a, b, divisor.nonZero, (x, y) => {
    if (isUnsigned(type)) {
      f.get(x, y);
      f.op(`${w}.div_u`);
      return;
    }
    const divide = (): void => {
      f.get(x, y);
      f.op(`${w}.div_s`);
    };
    if (divisor.notMinusOne) {
      divide();
      return;
    }
    f.get(y);
    pushConst(f, type, -1);
    f.op(`${w}.eq`);
    f.if(w);
    pushConst(f, type, 0);
    f.get(x);
    f.op(`${w}.sub`);
    f.else();
    divide();
    f.end();
  });
}

/** By a constant above 0, which engines multiply by something instead: one less than the truncated quotient where that is too large. */
function floorDivide(f: FunctionBuilder, type: ValueType, a: Push, b: Push): void {
  const w = wasmType(type) as 'i32' | 'i64';
  const quotient = (x: Local): void => {
    f.get(x);
    b();
    f.op(`${w}.div_s`);
  };
  withTemp(f, type, a, (x) =>
    withTemp(
      f,
      type,
      () => quotient(x),
      (q) => {
        f.get(q, q);
        b();
        f.op(`${w}.mul`);
        f.get(x);
        f.op(`${w}.gt_s`);
        if (w === 'i64') f.op('i64.extend_i32_u');
        f.op(`${w}.sub`);
      },
    ),
  );
}

export function compareOp(fn: CompareOp, type: ValueType): PlainOp {
  const w = wasmType(type);
  if (fn === 'eq' || fn === 'ne' || isFloat(type)) return `${w}.${fn}` as PlainOp;
  return `${w as 'i32'}.${fn}_${isUnsigned(type) ? 'u' : 's'}`;
}

const CLAMP: Partial<Record<ElemType, readonly [least: number, most: number]>> = {
  i8: [-0x80, 0x7f],
  u8: [0, 0xff],
  i16: [-0x8000, 0x7fff],
  u16: [0, 0xffff],
};

export function saturationRange(to: ElemType): readonly [least: number, most: number] | undefined {
  return CLAMP[to];
}

/** Narrows an i32 on the stack to a storage type and widens it again. */
export function narrowInteger(f: FunctionBuilder, to: ElemType): void {
  if (to === 'i8') f.op('i32.extend8_s');
  else if (to === 'i16') f.op('i32.extend16_s');
  else if (to === 'u8' || to === 'u16') {
    f.i32(to === 'u8' ? 0xff : 0xffff);
    f.op('i32.and');
  }
}

export function scalarCast(context: Operands, from: ValueType, to: ElemType, a: Push): void {
  const { f, helpers } = context;
  const source = wasmType(from);
  if (to === 'bool') {
    a();
    if (from === 'bool') return;
    if (isFloat(from)) {
      f.op(`${source as 'f32'}.abs`);
      pushConst(f, from, 0);
      f.op(`${source as 'f32'}.gt`);
    } else {
      pushConst(f, from, 0);
      f.op(`${source as 'i32'}.ne`);
    }
    return;
  }
  if (to === 'f16') {
    if (from === 'f64') {
      a();
      f.call(helpers.index('demote_to_odd'));
    } else {
      scalarCast(context, from, 'f32', a);
    }
    f.call(helpers.index('f32_to_half'));
    f.call(helpers.index('half_to_f32'));
    return;
  }
  a();
  const unsignedFrom = from === 'bool' || isUnsigned(from) ? 'u' : 's';
  const target = to === 'f32' || to === 'f64' ? to : to === 'i64' || to === 'u64' ? 'i64' : 'i32';
  if (target === 'f32' || target === 'f64') {
    if (target === source) return;
    if (isFloat(from)) f.op(target === 'f32' ? 'f32.demote_f64' : 'f64.promote_f32');
    else f.op(`${target}.convert_${source as 'i32'}_${unsignedFrom}`);
    return;
  }
  if (isFloat(from)) {
    f.op(`${target}.trunc_sat_${source as 'f32'}_${to === 'u32' || to === 'u64' ? 'u' : 's'}`);
    const range = CLAMP[to];
    if (range !== undefined) {
      clampInteger(f, range);
    }
    return;
  }
  if (target === 'i64' && source === 'i32') f.op(`i64.extend_i32_${unsignedFrom}`);
  if (target === 'i32' && source === 'i64') f.op('i32.wrap_i64');
  narrowInteger(f, to);
}

function clampInteger(f: FunctionBuilder, [least, most]: readonly [number, number]): void {
  const x = f.temp('i32');
  for (const [bound, keep] of [
    [least, 'i32.gt_s'],
    [most, 'i32.lt_s'],
  ] as const) {
    f.set(x);
    f.get(x);
    f.i32(bound);
    f.get(x);
    f.i32(bound);
    f.op(keep, 'select');
  }
  f.release('i32', x);
}
