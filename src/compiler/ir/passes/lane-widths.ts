/**
 * Lane widths: in how many bits a value of a vector can be computed. A vector of 128 bits holds sixteen bytes or four words.
 *
 * Elements of 8 and 16 bits widen to 32 in the language; most of what is done with them fits fewer. A lane of n bits holds a value
 * modulo 2^n, which is enough for sums, products and what is stored; what needs the value itself (comparisons, shifts to the
 * right) is done in lanes that its range fits.
 */
import type { ElemType, Expr, Kernel, Var } from '../ops.ts';
import { isFloat, isInt } from '../ops.ts';
import { IntegerRanges, type Range } from './integer-ranges.ts';
import type { Shape } from './shapes.ts';
import { eachExpr, eachStmt, exprParts } from './walk.ts';

export type LaneBits = 8 | 16 | 32;

/** How a comparison is made in narrow lanes. A scalar that may be anything is first brought to within `clamp`. */
export interface NarrowCompare {
  readonly bits: 8 | 16;
  readonly sign: 's' | 'u';
  readonly clamp: Range;
}

export interface Narrowing {
  /** G and U are the same in all lanes. */
  shape(e: Expr): Shape;
  /** Whether a variable may be kept in narrow lanes. */
  mayNarrow(v: Var): boolean;
  /** The narrowest lanes of which a vector is full. */
  readonly least: 8 | 16;
}

/** Bits of an element in memory as lanes; undefined of those that are wider, or no integers. */
export function elementBits(elem: ElemType): 8 | 16 | undefined {
  if (elem === 'bool' || elem === 'i8' || elem === 'u8') return 8;
  return elem === 'i16' || elem === 'u16' ? 16 : undefined;
}

/** How a range fits lanes: as numbers without a sign, with one, or not at all. */
export function fits([low, high]: Range, bits: LaneBits): 's' | 'u' | undefined {
  if (low >= 0) return high < 2 ** bits ? 'u' : undefined;
  return low >= -(2 ** (bits - 1)) && high < 2 ** (bits - 1) ? 's' : undefined;
}

/** Whether all of a range fits lanes of a given sign. */
export function fitsSign([low, high]: Range, bits: LaneBits, sign: 's' | 'u'): boolean {
  return sign === 'u' ? low >= 0 && high < 2 ** bits : low >= -(2 ** (bits - 1)) && high < 2 ** (bits - 1);
}

/** What to multiply by and how far to shift the product, instead of dividing. */
export interface Reciprocal {
  readonly factor: number;
  readonly shift: number;
}

/**
 * A factor m < 2^bits and a shift of at least `bits` with `x * m >> shift` = x / divisor, rounded down, for 0 <= x <= most: what the product with
 * ⌈2^shift / divisor⌉ is too large by is then less than the 1 / divisor by which a quotient is away from the next integer.
 */
export function reciprocal(divisor: number, most: number, bits: 16 | 32): Reciprocal | undefined {
  const by = BigInt(divisor);
  for (let shift = bits; shift < 2 * bits; shift++) {
    const power = 1n << BigInt(shift);
    const factor = (power + by - 1n) / by;
    if (factor >> BigInt(bits) > 0n) return undefined;
    if ((factor * by - power) * BigInt(most) < power) return { factor: Number(factor), shift };
  }
  return undefined;
}

export class LaneWidths {
  readonly ranges: IntegerRanges;
  readonly #options: Narrowing;
  readonly #widths: readonly (8 | 16)[];
  readonly #variables = new Map<number, LaneBits>();
  #natural = new Map<Expr, LaneBits>();
  #computable = { 8: new Map<Expr, boolean>(), 16: new Map<Expr, boolean>() };

  constructor(kernel: Kernel, options: Narrowing) {
    this.ranges = new IntegerRanges(kernel);
    this.#options = options;
    this.#widths = options.least === 8 ? [8, 16] : [16];
    this.#assignWidths(kernel);
  }

  /** The bits of the lanes in which a vector is best computed if its value is wanted. */
  of(e: Expr): LaneBits {
    if (e.type !== 'bool' && e.type !== 'i32' && e.type !== 'u32') return 32;
    let bits = this.#natural.get(e);
    if (bits === undefined) {
      // A variable is where it is, whatever is known of its value here.
      if (e.op === 'var') bits = this.ofVar(e.var);
      else bits = this.#isScalar(e) ? 32 : e.type === 'bool' ? this.#ofBool(e) : this.#ofInteger(e);
      this.#natural.set(e, bits);
    }
    return bits;
  }

  ofVar(v: Var): LaneBits {
    return this.#variables.get(v.id) ?? 32;
  }

  /** The bits in which a vector is computed when it is wanted modulo 2^`wanted`: they may be fewer or more. */
  wantedAs(e: Expr, wanted: LaneBits): LaneBits {
    const bits = this.of(e);
    if (bits <= wanted || wanted === 32 || e.type === 'bool') return bits;
    return this.isComputable(e, wanted) ? wanted : bits;
  }

  /** Whether lanes of these bits can hold an integer modulo 2^bits without a conversion from wider ones. */
  isComputable(e: Expr, bits: 8 | 16): boolean {
    if (e.type !== 'i32' && e.type !== 'u32') return e.type === 'bool';
    const memo = this.#computable[bits];
    let computable = memo.get(e);
    if (computable === undefined) {
      computable = this.#isScalar(e) || this.#findComputable(e, bits);
      memo.set(e, computable);
    }
    return computable;
  }

  /** Undefined where a comparison wants lanes of 32 bits. */
  compare(a: Expr, b: Expr): NarrowCompare | undefined {
    if (!isWord(a)) return undefined;
    const [x, y] = [this.#comparand(a, b), this.#comparand(b, a)];
    for (const bits of this.#widths) {
      if (!this.isComputable(a, bits) || !this.isComputable(b, bits)) continue;
      const sign = (['u', 's'] as const).find((s) => fitsSign(x, bits, s) && fitsSign(y, bits, s));
      if (sign !== undefined) return { bits, sign, clamp: this.#isScalar(a) ? x : y };
    }
    return undefined;
  }

  /** Of a difference: the sign of its operands, where lanes of these bits hold both of them, so that its size is the larger less the smaller. */
  distance(e: Expr, bits: 8 | 16): 's' | 'u' | undefined {
    if (e.op !== 'binary' || e.fn !== 'sub' || !this.isComputable(e.a, bits) || !this.isComputable(e.b, bits))
      return undefined;
    const ranges = [this.ranges.of(e.a), this.ranges.of(e.b)];
    return (['u', 's'] as const).find((sign) => ranges.every((r) => fitsSign(r, bits, sign)));
  }

  // -------------------------------------------------------------- variables

  /** Begins with what the ranges allow, and widens until all that is assigned can be had in the variable's lanes. */
  #assignWidths(kernel: Kernel): void {
    const assigned = new Map<Var, Expr[]>();
    const opaque = new Set<number>();
    eachStmt(kernel.body, (s) => {
      if (s.op === 'assign') assigned.set(s.var, [...(assigned.get(s.var) ?? []), s.value]);
      else if ((s.op === 'atomic' || s.op === 'barrier' || s.op === 'warp') && s.result) opaque.add(s.result.id);
    });
    for (const v of assigned.keys()) {
      if (opaque.has(v.id) || !this.#options.mayNarrow(v)) continue;
      if (v.type !== 'bool' && v.type !== 'i32' && v.type !== 'u32') continue;
      const bits = v.type === 'bool' ? this.#options.least : this.#narrowest(this.ranges.ofVar(v));
      if (bits < 32) this.#variables.set(v.id, bits);
    }
    for (let changed = this.#variables.size > 0; changed; ) {
      changed = false;
      for (const [v, values] of assigned) {
        const bits = this.#variables.get(v.id);
        if (bits === undefined || values.every((e) => this.#holds(bits, e))) continue;
        if (bits === 8) this.#variables.set(v.id, 16);
        else this.#variables.delete(v.id);
        changed = true;
        this.#natural = new Map();
        this.#computable = { 8: new Map(), 16: new Map() };
      }
    }
  }

  #holds(bits: LaneBits, e: Expr): boolean {
    return this.#isScalar(e) || this.wantedAs(e, bits) <= bits;
  }

  // -------------------------------------------------------------- expressions

  #isScalar(e: Expr): boolean {
    const shape = this.#options.shape(e);
    return shape === 'G' || shape === 'U';
  }

  #narrowest(range: Range): LaneBits {
    return this.#widths.find((bits) => fits(range, bits) !== undefined) ?? 32;
  }

  #ofInteger(e: Expr): LaneBits {
    const range = this.ranges.of(e);
    return this.#widths.find((bits) => fits(range, bits) !== undefined && this.isComputable(e, bits)) ?? 32;
  }

  /** Masks change their width easily: what joins several of them is as narrow as the narrowest. */
  #ofBool(e: Expr): LaneBits {
    const narrowest = (list: readonly Expr[]): LaneBits =>
      list.reduce<LaneBits>((bits, x) => (this.#isScalar(x) || this.of(x) > bits ? bits : this.of(x)), 32);
    switch (e.op) {
      case 'load':
        return this.#options.least;
      case 'compare':
        return this.compare(e.a, e.b)?.bits ?? 32;
      case 'unary':
        return e.fn === 'not' || e.fn === 'uniform' ? this.of(e.a) : 32;
      case 'binary':
        return narrowest([e.a, e.b]);
      case 'select':
        return narrowest([e.a, e.b]);
      default:
        return 32;
    }
  }

  /** The range of what is compared; of a scalar, as far as it matters beside the other. */
  #comparand(e: Expr, other: Expr): Range {
    const range = this.ranges.of(e);
    if (!this.#isScalar(e)) return range;
    const [low, high] = this.ranges.of(other);
    return range[0] >= low - 1 && range[1] <= high + 1 ? range : [low - 1, high + 1];
  }

  #findComputable(e: Expr, bits: 8 | 16): boolean {
    const all = (...list: readonly Expr[]): boolean => list.every((x) => this.isComputable(x, bits));
    /** The operands' own values are wanted. */
    const exact = (...list: readonly Expr[]): boolean =>
      all(...list) && list.every((x) => fits(this.ranges.of(x), bits) !== undefined);
    switch (e.op) {
      case 'var':
        return this.ofVar(e.var) <= bits;
      case 'load':
        return (elementBits(e.mem.elem) ?? 32) <= bits;
      case 'select':
        return all(e.a, e.b);
      case 'bitcast':
        return isWord(e.a) && all(e.a);
      case 'cast':
        return this.#castComputable(e, bits);
      case 'unary':
        if (e.fn === 'abs')
          return (fitsSign(this.ranges.of(e.a), bits, 's') && all(e.a)) || this.distance(e.a, bits) !== undefined;
        return (e.fn === 'neg' || e.fn === 'not' || e.fn === 'uniform') && all(e.a);
      case 'binary':
        break;
      default:
        return false;
    }
    const count = e.b.op === 'const' ? Number(e.b.value) : -1;
    switch (e.fn) {
      case 'add':
      case 'sub':
      case 'and':
      case 'or':
      case 'xor':
        return all(e.a, e.b);
      case 'mul':
        return bits === 16 && all(e.a, e.b);
      case 'shl':
        return count >= 0 && count < bits && all(e.a);
      case 'shr':
        return count >= 0 && count < bits && exact(e.a) && (bits === 16 || this.ranges.of(e.a)[0] >= 0);
      case 'min':
      case 'max': {
        const ranges = [this.ranges.of(e.a), this.ranges.of(e.b)];
        return all(e.a, e.b) && (['u', 's'] as const).some((s) => ranges.every((r) => fitsSign(r, bits, s)));
      }
      case 'div':
      case 'rem':
      case 'floordiv': {
        const [low, high] = this.ranges.of(e.a);
        if (low < 0 || count <= 0 || !exact(e.a)) return false;
        if (Number.isInteger(Math.log2(count))) return count < 2 ** bits;
        return bits === 16 && reciprocal(count, high, 16) !== undefined;
      }
      default:
        return false;
    }
  }

  #castComputable(e: Expr & { op: 'cast' }, bits: 8 | 16): boolean {
    if (e.checked) return false;
    if (e.a.type === 'bool') return true;
    if (e.a.type === 'f32') return elementBits(e.to) !== undefined && (elementBits(e.to) ?? 32) <= bits;
    return isWord(e.a) && isInt(e.to) && !isFloat(e.to) && this.isComputable(e.a, bits);
  }
}

/**
 * Whether most of what a kernel computes from its arrays fits narrow lanes: then a row is run in vectors of bytes. Before shapes are
 * known; what comes from no array is taken for the same in all lanes.
 */
export function isMostlyNarrow(kernel: Kernel): boolean {
  if (!kernel.arrays.some((a) => elementBits(a.elem) !== undefined)) return false;
  const varies = new Set<number>();
  const isVarying = (e: Expr): boolean =>
    e.op === 'load' || (e.op === 'var' && varies.has(e.var.id)) || exprParts(e).some(isVarying);
  for (let before = -1; before !== varies.size; ) {
    before = varies.size;
    eachStmt(kernel.body, (s) => {
      if (s.op === 'assign' && !varies.has(s.var.id) && isVarying(s.value)) varies.add(s.var.id);
    });
  }
  const widths = new LaneWidths(kernel, {
    shape: (e) => (isVarying(e) ? 'V' : 'G'),
    mayNarrow: (v) => varies.has(v.id),
    least: 8,
  });
  let [narrow, wide] = [0, 0];
  eachExpr(kernel.body, (e) => {
    if (e.op === 'var' || e.op === 'const' || !isVarying(e)) return;
    if (widths.of(e) < 32) narrow++;
    else wide++;
  });
  return narrow >= wide;
}

function isWord(e: Expr): boolean {
  return e.type === 'i32' || e.type === 'u32';
}
