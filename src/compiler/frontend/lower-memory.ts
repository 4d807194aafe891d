/**
 * Lowering of accesses to memory. An access to one of several arrays becomes one to each, behind a test of which it is: whatever comes
 * later knows single arrays alone.
 */
import { compare } from '../ir/builder.ts';
import { type Expr, type MemRef, type Stmt, widen } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Root, TExpr, TMem } from '../types/tree.ts';
import { rootsOf } from './array-choices.ts';
import { constant } from './convert.ts';
import type { Symbols } from './symbols.ts';
import { isMisaligned, loadPieces } from './unaligned.ts';

/** Writes the statement list that is being lowered. */
export interface Writer {
  /** The value as one that is computed here. */
  hold(value: Expr, pos: Pos): Expr;
  emit(s: Stmt): void;
  /** The statements that are emitted meanwhile. */
  collect(run: () => void): Stmt[];
}

export class MemoryLowering {
  readonly #symbols: Symbols;
  readonly #index: (e: TExpr) => Expr;
  readonly #writer: Writer;

  constructor(symbols: Symbols, index: (e: TExpr) => Expr, writer: Writer) {
    this.#symbols = symbols;
    this.#index = index;
    this.#writer = writer;
  }

  /** A reference to an element of a single array. */
  ref(open: TMem): MemRef {
    const m = this.#symbols.typed(open);
    return {
      array: this.#symbols.array(m.root),
      elem: m.elem,
      index: this.#index(m.index),
      scale: m.unit,
      disp: m.disp,
      checks: m.checks.map((c) => ({ index: this.#index(c.index), extent: this.#index(c.extent), axis: c.axis })),
      cache: m.cache,
      wide: m.wide,
      pos: m.pos,
    };
  }

  /** Writes an access by `write`: once for each array that it may be to. */
  access(open: TMem, write: (mem: MemRef, root: Root) => void): void {
    const { pos, which, root } = open;
    const [first, ...others] = rootsOf(root);
    if (first === undefined) throw new Error(`${root.name} is no array`);
    const mem = this.ref({ ...open, root: first });
    if (which === undefined || others.length === 0) return write(mem, first);
    const hold = (value: Expr): Expr => this.#writer.hold(value, pos);
    const held: MemRef = {
      ...mem,
      index: hold(mem.index),
      checks: mem.checks.map((c) => ({ ...c, index: hold(c.index), extent: hold(c.extent) })),
      wide: undefined,
    };
    const number = hold(this.#index(which));
    const from = (one: Root, [next, ...rest]: readonly Root[]): void => {
      const own = (): void => write({ ...held, array: this.#symbols.array(one) }, one);
      if (next === undefined) return own();
      const is = compare('eq', number, constant(one.id, number.type, pos));
      const { emit, collect } = this.#writer;
      emit({ op: 'if', cond: is, then: collect(own), else: collect(() => from(next, rest)), pos });
    };
    from(first, others);
  }

  load(open: TMem): Expr {
    const { elem, align, pos } = this.#symbols.typed(open);
    const type = widen(elem);
    const { hold, emit } = this.#writer;
    const read = (mem: MemRef): Expr =>
      isMisaligned({ elem, align }) ? loadPieces(mem, align, (value) => hold(value, pos)) : { op: 'load', type, mem };
    const roots = rootsOf(open.root);
    const [only] = roots;
    if (only !== undefined && roots.length === 1) return read(this.ref({ ...open, root: only }));
    const result = this.#symbols.fresh('%either', type);
    this.access(open, (mem) => emit({ op: 'assign', var: result, value: read(mem), pos }));
    return { op: 'var', type, var: result };
  }
}
