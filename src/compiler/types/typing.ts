/**
 * The type of an expression, from the types decided so far of live ranges and arguments.
 *
 * Used by inference while those types still widen, and by the lowering pass when they are final.
 */
import { isFloatType, isIntegerType, isWide, joinOr, type Type, typeOfElem } from './lattice.ts';
import type { TExpr } from './tree.ts';

/** The type of an expression, given the types decided so far. */
export function typeOf(e: TExpr): Type {
  switch (e.k) {
    case 'lit':
      if (typeof e.value === 'boolean') return 'bool';
      if (typeof e.value === 'bigint') return 'B';
      return Number.isInteger(e.value) && !Object.is(e.value, -0) ? 'L' : 'F';
    case 'local':
      return e.range?.type ?? 'L';
    case 'arg':
      return e.arg.type ?? 'A';
    case 'special':
      return 'int';
    case 'extent':
    case 'stride':
    case 'index':
      return 'idx';
    case 'neg':
    case 'plus':
    case 'abs':
    case 'sign':
      return numeric(typeOf(e.a));
    case 'bitnot':
      return bitType(typeOf(e.a));
    case 'not':
    case 'truth':
    case 'logic':
    case 'compare':
    case 'test':
      return 'bool';
    case 'arith': {
      const t = joinOr(numeric(typeOf(e.a)), numeric(typeOf(e.b)));
      if (e.fn === 'div' && isIntegerType(t) && !isWide(t)) return 'F';
      return t;
    }
    case 'bits': {
      const [a, b] = [bitType(typeOf(e.a)), bitType(typeOf(e.b))];
      // The bits are the same; JavaScript's bit operations give signed results.
      if ((a === 'i32' && b === 'u32') || (a === 'u32' && b === 'i32')) return 'i32';
      return joinOr(a, b);
    }
    case 'shift': {
      const t = bitType(typeOf(e.a));
      if (e.fn !== 'ushr') return t;
      return t === 'i64' || t === 'B' ? 'u64' : isWide(t) ? t : 'u32';
    }
    case 'select':
      return joinOr(typeOf(e.a), typeOf(e.b));
    case 'minmax':
      return joinOr(numeric(typeOf(e.a)), numeric(typeOf(e.b)));
    case 'cast': {
      const t = e.by === undefined ? undefined : typeOf(e.a);
      if (e.by === 'Number' && t === 'bool') return 'int';
      if (e.by === 'BigInt' && t !== undefined && isSignless(t)) return 'B';
      return typeOfElem(e.to);
    }
    case 'round': {
      const t = numeric(typeOf(e.a));
      if (isIntegerQuotient(e.a)) return quotientType(e.a);
      return t;
    }
    case 'toInt': {
      const t = typeOf(e.a);
      if (isWide(t)) return t;
      if (isIntegerQuotient(e.a)) {
        const q = quotientType(e.a);
        return e.unsigned ? 'u32' : q === 'u32' ? 'u32' : q === 'idx' ? 'int' : q;
      }
      if (e.unsigned) return 'u32';
      if (t === 'u32') return 'u32';
      // Data of any other type becomes i32; an index or a literal stays without a type of its own.
      return t === 'i32' || t === 's8' || t === 'u8' || isFloatType(t) || t === 'A' ? 'i32' : 'int';
    }
    case 'imul':
      return 'i32';
    case 'count': {
      const t = bitType(typeOf(e.a));
      return e.fn === 'clz32' || e.fn === 'ffs' ? 'int' : e.fn === 'brev' && !isWide(t) ? 'u32' : t;
    }
    case 'math': {
      const t = e.args.map((a) => numeric(typeOf(a))).reduce((a, b) => joinOr(a, b));
      if (t === 's8' || t === 'u8') return 'F';
      return isIntegerType(t) ? 'F' : t;
    }
    case 'fma': {
      const t = e.args.map((a) => numeric(typeOf(a))).reduce((a, b) => joinOr(a, b));
      return isIntegerType(t) ? 'F' : t;
    }
    case 'uniform':
      return typeOf(e.a);
    case 'load':
      return typeOfElem(e.mem.elem);
  }
}

/** Integers that are the same in i64 and u64, or that adopt either anyway. */
function isSignless(t: Type): boolean {
  return t === 'u8' || t === 'u32' || t === 'idx' || t === 'int' || t === 'L';
}

/** A truth value counts as a number in arithmetic. */
export function numeric(t: Type): Type {
  return t === 'bool' ? 'int' : t;
}

/** What a value is as the operand of a bit operation: floats become i32. */
function bitType(t: Type): Type {
  if (t === 'bool') return 'int';
  if (t === 'A') return 'int';
  return isFloatType(t) ? 'i32' : t === 's8' || t === 'u8' ? 'i32' : t === 'idx' ? 'idx' : t;
}

/** Whether `e` is a quotient whose operands are both integers, so that rounding it is an integer division. */
export function isIntegerQuotient(e: TExpr): boolean {
  return (
    e.k === 'arith' &&
    e.fn === 'div' &&
    isIntegerType(joinOr(numeric(typeOf(e.a)), numeric(typeOf(e.b)))) &&
    isIntegerType(numeric(typeOf(e.a))) &&
    isIntegerType(numeric(typeOf(e.b)))
  );
}

/** The type of that integer division. */
export function quotientType(e: TExpr): Type {
  if (e.k !== 'arith') return typeOf(e);
  const t = joinOr(numeric(typeOf(e.a)), numeric(typeOf(e.b)));
  return t === 'L' ? 'int' : t;
}
