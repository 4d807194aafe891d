/**
 * Operations on vectors: one operator of the IR on one `v128` part at a time, where SIMD128 has it or a short sequence.
 *
 * `vectorBinary` and its like return false where there is nothing better than lane by lane; expr.ts then does that.
 * Operands come as thunks that push one part each.
 */
import type { BinaryOp, CompareOp, UnaryOp, ValueType } from '../../ir/ops.ts';
import { isFloat, isUnsigned } from '../../ir/ops.ts';
import type { FunctionBuilder, Local } from './assembler.ts';
import { isWide, wasmType } from './gen.ts';
import type { LaneOp, PlainOp } from './opcodes.ts';
import type { Push } from './scalar.ts';

/** Name of the vector type whose lanes hold values of a type. */
export function lanesOf(type: ValueType): 'i32x4' | 'i64x2' | 'f32x4' | 'f64x2' {
  switch (wasmType(type)) {
    case 'i64':
      return 'i64x2';
    case 'f32':
      return 'f32x4';
    case 'f64':
      return 'f64x2';
    default:
      return 'i32x4';
  }
}

export function splat(f: FunctionBuilder, type: ValueType): void {
  if (type === 'bool') {
    // 0 or 1 to a mask.
    const x = f.temp('i32');
    f.set(x);
    f.i32(0);
    f.get(x);
    f.op('i32.sub', 'i32x4.splat');
    f.release('i32', x);
    return;
  }
  f.op(`${lanesOf(type)}.splat`);
}

const words = new DataView(new ArrayBuffer(8));

/** A constant in all lanes. */
export function splatConst(f: FunctionBuilder, type: ValueType, value: number | bigint | boolean): void {
  switch (type) {
    case 'bool':
      words.setInt32(0, value ? -1 : 0, true);
      break;
    case 'i64':
    case 'u64':
      words.setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true);
      break;
    case 'f32':
      words.setFloat32(0, Number(value), true);
      break;
    case 'f64':
      words.setFloat64(0, Number(value), true);
      break;
    default:
      words.setInt32(0, Number(value), true);
  }
  const low = words.getInt32(0, true);
  const high = isWide(type) ? words.getInt32(4, true) : low;
  f.v128([low, high, low, high]);
}

export function extractLane(f: FunctionBuilder, type: ValueType, lane: number): void {
  f.lane(`${lanesOf(type)}.extract_lane` as LaneOp, lane);
  if (type !== 'bool') return;
  f.i32(1);
  f.op('i32.and');
}

/** Stack: vector, value. A bool goes in as 0 or 1 and becomes a mask lane. */
export function replaceLane(f: FunctionBuilder, type: ValueType, lane: number): void {
  f.lane(`${lanesOf(type)}.replace_lane` as LaneOp, lane);
}

export function withVector(f: FunctionBuilder, push: Push, use: (local: Local) => void): void {
  const local = f.temp('v128');
  push();
  f.set(local);
  use(local);
  f.release('v128', local);
}

export function vectorUnary(f: FunctionBuilder, fn: UnaryOp, type: ValueType, a: Push): boolean {
  const v = lanesOf(type);
  const plain = (...ops: readonly PlainOp[]): true => {
    a();
    f.op(...ops);
    return true;
  };
  switch (fn) {
    case 'uniform':
      return plain();
    case 'neg':
      return plain(`${v}.neg`);
    case 'abs':
      return isUnsigned(type) ? plain() : plain(`${v}.abs`);
    case 'not':
      return plain('v128.not');
    case 'sqrt':
    case 'floor':
    case 'ceil':
    case 'trunc':
      return plain(`${v as 'f32x4'}.${fn}`);
    case 'rint':
      return plain(`${v as 'f32x4'}.nearest`);
    case 'round':
      withVector(f, a, (x) => {
        const up = f.temp('v128');
        f.get(x);
        f.op(`${v as 'f32x4'}.ceil`);
        f.tee(up);
        // One less where the ceiling is more than a half away.
        splatConst(f, type, 1);
        f.get(up);
        splatConst(f, type, 0.5);
        f.op(`${v as 'f32x4'}.sub`);
        f.get(x);
        f.op(`${v as 'f32x4'}.gt`, 'v128.and', `${v as 'f32x4'}.sub`);
        f.release('v128', up);
      });
      return true;
    case 'sign':
      if (!isFloat(type)) return false;
      withVector(f, a, (x) => {
        splatConst(f, type, 1);
        f.get(x);
        splatConst(f, type, -0);
        f.op('v128.and', 'v128.or');
        f.get(x, x);
        f.op(`${v}.abs`);
        splatConst(f, type, 0);
        f.op(`${v as 'f32x4'}.gt`, 'v128.bitselect');
      });
      return true;
    default:
      return false;
  }
}

const DIRECT: Readonly<Record<'i32x4' | 'i64x2' | 'f32x4' | 'f64x2', readonly BinaryOp[]>> = {
  i32x4: ['add', 'sub', 'mul'],
  i64x2: ['add', 'sub', 'mul'],
  f32x4: ['add', 'sub', 'mul', 'div'],
  f64x2: ['add', 'sub', 'mul', 'div'],
};

/**
 * Math.min and Math.max of floats in three and six instructions of a processor; WebAssembly's own take seven and eight on x86, as they also make
 * all NaN the same. `pmin(x, y)` is `y < x ? y : x`, so x where one of them is NaN: what both orders give differs for NaN and for zeros only.
 */
function floatExtreme(f: FunctionBuilder, fn: 'min' | 'max', v: 'f32x4' | 'f64x2', a: Push, b: Push): void {
  withVector(f, a, (x) =>
    withVector(f, b, (y) => {
      f.get(x, y);
      f.op(`${v}.p${fn}`);
      f.get(y, x);
      f.op(`${v}.p${fn}`);
      // All bits that either has: a zero has its sign if one of them has, and NaN stays NaN.
      if (fn === 'min') {
        f.op('v128.or');
        return;
      }
      f.set(y);
      f.tee(x);
      f.get(y);
      f.op('v128.and');
      f.get(x, y);
      f.op('v128.or');
      f.tee(x);
      f.get(x);
      f.op(`${v}.ne`, 'v128.or');
    }),
  );
}

/** The same with a constant that is neither NaN nor, for the smaller one, -0: one instruction, and one more for the larger of x and 0. */
export function floatExtremeOf(
  f: FunctionBuilder,
  fn: 'min' | 'max',
  type: 'f32' | 'f64',
  x: Push,
  constant: number,
): void {
  const v = type === 'f32' ? 'f32x4' : 'f64x2';
  x();
  splatConst(f, type, constant);
  f.op(`${v}.p${fn}`);
  if (fn !== 'max' || !Object.is(constant, 0)) return;
  // -0 + 0 is 0.
  splatConst(f, type, 0);
  f.op(`${v}.add`);
}

export function vectorBinary(f: FunctionBuilder, fn: BinaryOp, type: ValueType, a: Push, b: Push): boolean {
  const v = lanesOf(type);
  const plain = (op: PlainOp): true => {
    a();
    b();
    f.op(op);
    return true;
  };
  if (type !== 'bool' && DIRECT[v].includes(fn)) return plain(`${v}.${fn}` as PlainOp);
  switch (fn) {
    case 'and':
    case 'or':
    case 'xor':
      return plain(`v128.${fn}`);
    case 'min':
    case 'max':
      if (v === 'i32x4') return plain(`i32x4.${fn}_${isUnsigned(type) ? 'u' : 's'}`);
      if (v !== 'i64x2') {
        floatExtreme(f, fn, v, a, b);
        return true;
      }
      withVector(f, a, (x) =>
        withVector(f, b, (y) => {
          f.get(x, y);
          vectorCompare(
            f,
            fn === 'min' ? 'lt' : 'gt',
            type,
            () => f.get(x),
            () => f.get(y),
          );
          f.op('v128.bitselect');
        }),
      );
      return true;
    case 'fmin':
    case 'fmax':
      withVector(f, a, (x) =>
        withVector(f, b, (y) => {
          // y where x is NaN, x where y is NaN, else the smaller or larger.
          f.get(y, x, x, y);
          f.op(`${v as 'f32x4'}.${fn === 'fmin' ? 'min' : 'max'}`);
          f.get(y, y);
          f.op(`${v}.ne`, 'v128.bitselect');
          f.get(x, x);
          f.op(`${v}.ne`, 'v128.bitselect');
        }),
      );
      return true;
    case 'copysign':
      a();
      b();
      splatConst(f, type, -0);
      // The bits of b where the mask is set: its sign.
      withVector(
        f,
        () => {},
        (mask) =>
          withVector(
            f,
            () => {},
            (sign) =>
              withVector(
                f,
                () => {},
                (magnitude) => {
                  f.get(sign, magnitude, mask);
                  f.op('v128.bitselect');
                },
              ),
          ),
      );
      return true;
    default:
      return false;
  }
}

/** A shift of all lanes by the same count, which is pushed as an i32. */
export function vectorShift(f: FunctionBuilder, fn: 'shl' | 'shr', type: ValueType, a: Push, count: Push): void {
  const v = lanesOf(type) as 'i32x4' | 'i64x2';
  a();
  count();
  f.op(fn === 'shl' ? `${v}.shl` : `${v}.shr_${isUnsigned(type) ? 'u' : 's'}`);
}

/** Compares one part; the lanes of the result are as wide as those of the operands. */
export function vectorCompare(f: FunctionBuilder, fn: CompareOp, type: ValueType, a: Push, b: Push): void {
  const v = lanesOf(type);
  if (fn === 'eq' || fn === 'ne' || isFloat(type)) {
    a();
    b();
    f.op(`${v}.${fn}` as PlainOp);
    return;
  }
  if (type === 'u64') {
    // There are only signed comparisons: turn the order round by flipping the sign bits.
    for (const operand of [a, b]) {
      operand();
      splatConst(f, 'i64', -(2n ** 63n));
      f.op('v128.xor');
    }
    f.op(`i64x2.${fn}_s`);
    return;
  }
  a();
  b();
  f.op(`${v as 'i32x4'}.${fn}_${isUnsigned(type) ? 'u' : 's'}`);
}

/** Two masks of two 64-bit lanes each to one of four 32-bit lanes; also packs the low words of integers. */
export function packLow(f: FunctionBuilder): void {
  f.shuffle([0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]);
}

/** Puts the low halves of two vectors together. */
export function packHalves(f: FunctionBuilder): void {
  f.shuffle([0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]);
}

/** The upper half of a vector, moved down. */
export function highHalf(f: FunctionBuilder, push: Push): void {
  withVector(f, push, (x) => {
    f.get(x, x);
    f.shuffle([8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]);
  });
}
