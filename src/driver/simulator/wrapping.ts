/**
 * Which operations of a kernel have to give JavaScript's result: sums, differences, products, powers, negation and `Math.abs` of integers of 32
 * bits whose result is used as a number, and floats that are stored to elements of integer arrays.
 *
 * Not those that are only used modulo 2³²: through bit operations, casts to as many bits or fewer, stores to integer arrays, and sums and
 * products that are themselves used so only. A variable is one more step on the way. Front ends mark what the author wrote with a position.
 */
import { ELEM_SIZE, type ElemType, type Expr, isInt, type Stmt } from '../../compiler/ir/ops.ts';
import { eachStmt, exprParts } from '../../compiler/ir/passes/walk.ts';

const OPERATIONS: ReadonlySet<string> = new Set(['add', 'sub', 'mul', 'ipow', 'neg', 'abs']);
const BITS: ReadonlySet<string> = new Set(['and', 'or', 'xor', 'shl', 'shr', 'not']);
/** The wrapped result follows from wrapped operands. */
const MODULAR: ReadonlySet<string> = new Set(['add', 'sub', 'mul', 'neg', 'uniform']);
const WRAPPING_ATOMICS: ReadonlySet<string> = new Set(['add', 'sub', 'and', 'or', 'xor', 'exch', 'cas', 'store']);

/** The operations whose wrapping is a mistake. */
export function exactOperations(body: readonly Stmt[]): ReadonlySet<Expr> {
  const uses = new Uses();
  // A variable that turns out to be used as a number makes what is assigned to it so: again until there is no more.
  for (let before = -1; before !== uses.variables.size; ) {
    before = uses.variables.size;
    eachStmt(body, (s) => uses.statement(s));
  }
  return uses.operations;
}

class Uses {
  readonly operations = new Set<Expr>();
  /** Ids of variables of which some use needs the number. */
  readonly variables = new Set<number>();

  statement(s: Stmt): void {
    switch (s.op) {
      case 'assign':
        return this.#value(s.value, this.variables.has(s.var.id));
      case 'store':
        this.#value(s.value, false);
        return this.#access(s.mem);
      case 'atomic':
        for (const a of s.args) this.#value(a, !WRAPPING_ATOMICS.has(s.fn));
        return this.#access(s.mem);
      case 'warp':
        for (const [k, a] of s.args.entries())
          this.#value(a, k > 0 || s.result === undefined || this.variables.has(s.result.id));
        return;
      case 'if':
        return this.#value(s.cond, true);
      case 'barrier':
        if (s.pred !== undefined) this.#value(s.pred, true);
        return;
      case 'rest':
        return this.#value(s.nanoseconds, true);
      case 'print':
        for (const part of s.parts) if (typeof part !== 'string') this.#value(part, true);
    }
  }

  /** What is checked are the author's own indices; the address is made of them. */
  #access(mem: Extract<Stmt, { op: 'store' }>['mem']): void {
    for (const { index, extent } of mem.checks) {
      this.#value(index, true);
      this.#value(extent, true);
    }
  }

  /** `exact`: whether the number is needed, not only the number modulo 2³². */
  #value(e: Expr, exact: boolean): void {
    switch (e.op) {
      case 'var':
        if (exact) this.variables.add(e.var.id);
        return;
      case 'unary':
      case 'binary':
        if (exact && isReported(e)) this.operations.add(e);
        this.#operands(e, exact);
        return;
      case 'cast':
        if (e.stores && ELEM_SIZE[e.to] <= 4) this.operations.add(e);
        return this.#value(e.a, !wraps(e.a.type, e.to));
      case 'bitcast':
        return this.#value(e.a, false);
      case 'select':
        this.#value(e.cond, true);
        this.#value(e.a, exact);
        return this.#value(e.b, exact);
      case 'intrinsic':
        for (const a of e.args) this.#value(a, false);
        return;
      case 'load':
        return this.#access(e.mem);
      default:
        for (const part of exprParts(e)) this.#value(part, true);
    }
  }

  #operands(e: Expr & { op: 'unary' | 'binary' }, exact: boolean): void {
    const needed = !isInt(e.type) ? true : BITS.has(e.fn) ? false : MODULAR.has(e.fn) ? exact : true;
    this.#value(e.a, e.fn === 'ipow' ? exact : needed);
    if (e.op === 'binary') this.#value(e.b, needed);
  }
}

function isReported(e: Expr & { op: 'unary' | 'binary' }): boolean {
  return e.pos !== undefined && (e.type === 'i32' || e.type === 'u32') && OPERATIONS.has(e.fn);
}

/** Whether a cast takes an integer modulo 2 to the bits of `to`. */
function wraps(from: ElemType, to: ElemType): boolean {
  return isInt(from) && isInt(to) && ELEM_SIZE[to] <= ELEM_SIZE[from];
}
