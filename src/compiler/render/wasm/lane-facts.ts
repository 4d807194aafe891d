/**
 * What is known of the lanes of an index when the code is written: how far they lie from the first lane, and what they may well
 * turn out to be.
 *
 * `2 * i + 1` over consecutive i is 0, 2, 4, … further on: an access at such indices has one address, and needs no index taken
 * out of a vector. `i % n` or `min(i + 1, n - 1)` are consecutive in most vectors, `i / n` is the same in most: there a test at
 * run time pays. Which values are the same or consecutive in any case is the uniformity analysis' to say.
 */
import { ELEM_SIZE, type Expr, isInt, type Kernel, type Stmt } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import type { Uniformity } from '../../ir/passes/uniformity.ts';
import { defined, eachStmt } from '../../ir/passes/walk.ts';

/** One number a lane; the first is 0. */
export type Offsets = readonly number[];

/** More than this, and an offset is none that fits into an instruction. */
const FARTHEST = 2 ** 16;

interface Assigned {
  readonly values: Expr[];
  /** Whether some lanes may keep what they had, or are given what is not an expression. */
  partly: boolean;
}

export class LaneFacts {
  readonly #kernel: Kernel;
  readonly #uniformity: Uniformity;
  readonly #lanes: number;
  /** By `Var.id`; null where nothing is known, or while a variable is looked at. */
  readonly #offsets = new Map<number, Offsets | null>();
  readonly #likely = new Map<number, number | null>();
  #assigned: ReadonlyMap<number, Assigned> | undefined;

  constructor(kernel: Kernel, uniformity: Uniformity, lanes: number) {
    this.#kernel = kernel;
    this.#uniformity = uniformity;
    this.#lanes = lanes;
  }

  /** Of a value modulo 2^32: what is widened from 32 to 64 bits may have wrapped before. */
  offsets(e: Expr): Offsets | undefined {
    if (!isInt(e.type)) return undefined;
    const shape = this.#uniformity.shape(e);
    if (shape === 'G' || shape === 'U') return this.#each(() => 0);
    if (shape === 'C') return this.#each((lane) => lane);
    const offsets = this.#derived(e);
    return offsets?.some((x) => Math.abs(x) > FARTHEST) ? undefined : offsets;
  }

  #each(offset: (lane: number) => number): Offsets {
    return Array.from({ length: this.#lanes }, (_, lane) => offset(lane));
  }

  #derived(e: Expr): Offsets | undefined {
    switch (e.op) {
      case 'var':
        return this.#variable(e.var.id);
      case 'cast':
        return isIndexCast(e) ? this.offsets(e.a) : undefined;
      case 'bitcast':
        return this.offsets(e.a);
      case 'unary':
        return e.fn === 'neg' ? this.#scaled(e.a, -1) : undefined;
      case 'binary':
        return this.#binary(e);
      default:
        return undefined;
    }
  }

  #binary({ fn, a, b }: Expr & { op: 'binary' }): Offsets | undefined {
    if (fn === 'mul') {
      const [x, y] = [smallFactor(a), smallFactor(b)];
      if (y !== undefined) return this.#scaled(a, y);
      return x === undefined ? undefined : this.#scaled(b, x);
    }
    if (fn === 'shl') {
      const count = b.op === 'const' ? Number(b.value) : -1;
      return count >= 0 && count < 16 ? this.#scaled(a, 2 ** count) : undefined;
    }
    if (fn === 'and') return this.#masked(a, b);
    if (fn === 'xor') return this.#exchanged(a, b) ?? this.#exchanged(b, a);
    if (fn !== 'add' && fn !== 'sub') return undefined;
    const [x, y] = [this.offsets(a), this.offsets(b)];
    if (x === undefined || y === undefined) return undefined;
    return this.#each((lane) => (x[lane] ?? 0) + (fn === 'add' ? 1 : -1) * (y[lane] ?? 0));
  }

  /** Bits of consecutive values from a multiple of the lanes on: those of the lane's number count up from what the first lane has. */
  #masked(a: Expr, b: Expr): Offsets | undefined {
    if (b.op !== 'const' || this.#uniformity.shape(a) !== 'C' || !this.#isAligned(a)) return undefined;
    const mask = Number(BigInt.asUintN(16, BigInt(b.value)));
    return this.#each((lane) => lane & mask);
  }

  /** Consecutive values from a multiple of the lanes on, each xor the same constant: so is the lane's number, in its bits. */
  #exchanged(a: Expr, b: Expr): Offsets | undefined {
    const isRow = this.#uniformity.shape(a) === 'C' && this.#isAligned(a);
    if (b.op !== 'const' || !isRow) return undefined;
    const low = Number(BigInt.asUintN(16, BigInt(b.value))) & (this.#lanes - 1);
    return this.#each((lane) => (lane ^ low) - low);
  }

  #scaled(e: Expr, factor: number): Offsets | undefined {
    return this.offsets(e)?.map((x) => x * factor);
  }

  /** A variable whose values all lie the same way, and which no lane keeps while others change it. */
  #variable(id: number): Offsets | undefined {
    const known = this.#offsets.get(id);
    if (known !== undefined) return known ?? undefined;
    this.#offsets.set(id, null);
    const { values, partly } = this.#assignments(id);
    if (partly) return undefined;
    let common: Offsets | undefined;
    for (const value of values) {
      if (this.#isStep(value, id)) continue;
      const offsets = this.offsets(value);
      if (offsets === undefined || common?.some((x, lane) => x !== offsets[lane])) return undefined;
      common = offsets;
    }
    if (common !== undefined) this.#offsets.set(id, common);
    return common;
  }

  /** `v + c`, with the same c in all lanes. */
  #isStep(value: Expr, id: number): boolean {
    if (value.op !== 'binary' || (value.fn !== 'add' && value.fn !== 'sub')) return false;
    const shape = this.#uniformity.shape(value.b);
    return value.a.op === 'var' && value.a.var.id === id && (shape === 'G' || shape === 'U');
  }

  #assignments(id: number): Assigned {
    this.#assigned ??= this.#collect();
    return this.#assigned.get(id) ?? { values: [], partly: true };
  }

  #collect(): ReadonlyMap<number, Assigned> {
    const all = new Map<number, Assigned>();
    const note = (s: Stmt, id: number): void => {
      const facts = all.get(id) ?? { values: [], partly: false };
      all.set(id, facts);
      if (s.op !== 'assign' || this.#uniformity.needsBlend(s)) facts.partly = true;
      if (s.op === 'assign') facts.values.push(s.value);
    };
    eachStmt(this.#kernel.body, (s) => {
      const id = defined(s);
      if (id !== undefined) note(s, id);
    });
    // Zero in all lanes before it is assigned.
    for (const id of analyseLiveness(this.#kernel.body).entry) {
      const facts = all.get(id);
      if (facts !== undefined) facts.partly = true;
    }
    return all;
  }

  /**
   * Whether a value is consecutive ones from a multiple of the lanes on, each xor the same number: then each four lanes are four
   * neighbours from a multiple of four on, in an order that the two low bits of the first one tell.
   */
  isExchange(e: Expr): boolean {
    if (this.#uniformity.shape(e) !== 'V') return false;
    if (e.op === 'var') {
      const { values, partly } = this.#assignments(e.var.id);
      return !partly && values.length > 0 && values.every((value) => value.op !== 'var' && this.isExchange(value));
    }
    if (e.op !== 'binary' || e.fn !== 'xor' || (e.type !== 'i32' && e.type !== 'u32')) return false;
    const [a, b] = [this.#uniformity.shape(e.a), this.#uniformity.shape(e.b)];
    if (a === 'C') return (b === 'G' || b === 'U') && this.#isAligned(e.a);
    return b === 'C' && (a === 'G' || a === 'U') && this.#isAligned(e.b);
  }

  /** Whether a consecutive value begins at a multiple of the lanes: then its low bits are consecutive, too. */
  #isAligned(e: Expr): boolean {
    const low: Expr = { op: 'const', type: e.type, value: this.#lanes - 1 };
    return this.#uniformity.shape({ op: 'binary', type: e.type, fn: 'and', a: e, b: low }) === 'C';
  }

  /**
   * By how much each lane most likely exceeds the one before: 0 where all are the same but for a few vectors. Undefined where
   * nothing is likely.
   */
  likelyStep(e: Expr): number | undefined {
    if (!isInt(e.type)) return undefined;
    const shape = this.#uniformity.shape(e);
    if (shape !== 'V') return shape === 'C' ? 1 : 0;
    switch (e.op) {
      case 'var':
        return this.#likelyStepOfVariable(e.var.id);
      case 'cast':
        return isIndexCast(e) ? this.likelyStep(e.a) : undefined;
      case 'bitcast':
        return this.likelyStep(e.a);
      case 'select':
        return either(this.likelyStep(e.a), this.likelyStep(e.b));
      case 'binary':
        return combined(e, this.likelyStep(e.a), this.likelyStep(e.b));
      default:
        return undefined;
    }
  }

  #likelyStepOfVariable(id: number): number | undefined {
    const known = this.#likely.get(id);
    if (known !== undefined) return known ?? undefined;
    this.#likely.set(id, null);
    const values = this.#assignments(id).values.filter((value) => !this.#isStep(value, id));
    const [first, ...others] = values.map((value) => this.likelyStep(value));
    const joined = others.reduce(either, first);
    this.#likely.set(id, joined ?? null);
    return joined;
  }
}

/** A conversion between the types that are used as indices. */
function isIndexCast(e: Expr & { op: 'cast' }): boolean {
  return isInt(e.a.type) && (ELEM_SIZE[e.type] === 8 || e.to === 'i32' || e.to === 'u32');
}

/** Of a value that is one or the other: what varies is the rule, what does not is for the margins. */
/** A constant that products with lanes' distances stay exact by. */
function smallFactor(e: Expr): number | undefined {
  const value = e.op === 'const' ? Number(e.value) : Number.NaN;
  return Math.abs(value) < 2 ** 31 ? value : undefined;
}

function scaledBy(distance: number, factor: number | undefined): number | undefined {
  return factor === undefined ? undefined : distance * factor;
}

function either(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined || (a !== 0 && b !== 0 && a !== b) ? undefined : a || b;
}

function combined(
  { fn, a, b }: Expr & { op: 'binary' },
  x: number | undefined,
  y: number | undefined,
): number | undefined {
  if (x === undefined || y === undefined) return undefined;
  switch (fn) {
    case 'add':
      return x + y;
    case 'sub':
      return x - y;
    case 'mul':
      if (x === 0 && y === 0) return 0;
      return scaledBy(x, smallFactor(b)) ?? scaledBy(y, smallFactor(a));
    case 'xor':
    case 'or':
    case 'and':
    case 'rem':
    case 'min':
    case 'max':
      return either(x, y);
    case 'div':
    case 'floordiv':
    case 'shr':
      return y === 0 ? 0 : undefined;
    default:
      return x === 0 && y === 0 ? 0 : undefined;
  }
}
