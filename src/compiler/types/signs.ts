/**
 * Which integers of 32 bits have no sign of their own: sums, differences and products of i32 with u32, variables that are one here and the
 * other there, and what a literal such as 0x811c9dc5, which is beyond i32, has gone into.
 *
 * Their bits are JavaScript's modulo 2³². That is all that bit operations, `imul`, `==`, stores and further sums need; where a sign
 * counts (`<`, `/`, `%`, floats, 64 bits) the author has to say it. Inference gives them i32.
 */
import { plain, type Type } from './lattice.ts';
import type { Range, TExpr } from './tree.ts';
import { typeOf } from './typing.ts';

/** Whether a literal is no i32; its 32 bits are one all the same. */
function isBeyond(value: number | bigint | boolean): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value !== (value | 0);
}

function isSigned(type: Type): boolean {
  const t = plain(type);
  return t === 'i32' || t === 's8' || t === 'u8' || t === 'int' || t === 'idx' || t === 'L';
}

export class Signs {
  /** Of variables that are i32: what has been assigned to them and is beyond that. */
  readonly #found = new Map<Range, TExpr>();
  #seen = new Map<TExpr, TExpr | undefined>();

  constructor(ranges: readonly Range[]) {
    const signed = ranges.filter(({ type }) => type !== undefined && type !== 'L' && isSigned(type));
    for (let before = -1; before !== this.#found.size; ) {
      before = this.#found.size;
      this.#seen = new Map();
      for (const range of signed) {
        if (this.#found.has(range)) continue;
        for (const def of range.defs) {
          const from = 'expr' in def ? this.#operand(def.expr) : undefined;
          if (from === undefined) continue;
          this.#found.set(range, from);
          break;
        }
      }
    }
  }

  /** What in an integer of 32 bits is beyond i32; undefined where its sign is its own. */
  beyond(e: TExpr): TExpr | undefined {
    return isSigned(typeOf(e)) ? this.#inside(e) : undefined;
  }

  #operand(e: TExpr): TExpr | undefined {
    return plain(typeOf(e)) === 'u32' ? e : this.#inside(e);
  }

  #inside(e: TExpr): TExpr | undefined {
    switch (e.k) {
      case 'lit':
        return isBeyond(e.value) ? e : undefined;
      case 'local':
        return e.range && this.#found.get(e.range);
      case 'neg':
      case 'plus':
      case 'uniform':
        return this.#operand(e.a);
      case 'arith':
        // `x - 2147483648` subtracts what i32 has, with its sign changed.
        if (e.fn === 'sub' && e.b.k === 'lit' && e.b.value === 2 ** 31) return this.#operand(e.a);
        return e.fn === 'add' || e.fn === 'sub' || e.fn === 'mul' ? this.#either(e, e.a, e.b) : undefined;
      case 'select':
        return this.#either(e, e.a, e.b);
      default:
        return undefined;
    }
  }

  /** Expressions may be shared. */
  #either(e: TExpr, a: TExpr, b: TExpr): TExpr | undefined {
    if (this.#seen.has(e)) return this.#seen.get(e);
    const from = this.#operand(a) ?? this.#operand(b);
    this.#seen.set(e, from);
    return from;
  }
}
