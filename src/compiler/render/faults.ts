/**
 * Checked mode and traps as plain code: each check becomes a branch in front of the statement, which ends in a return.
 *
 * A thread that returns must still come to every barrier, which return lowering sees to. What a trap reports is in two variables
 * then, and its message is the number of its site.
 */
import {
  add,
  and,
  assign,
  at,
  atomic,
  barrier,
  binary,
  bitcast,
  cast,
  compare,
  eq,
  i32,
  i64,
  ifElse,
  KernelBuilder,
  lt,
  ne,
  read,
  ret,
  special,
  store,
  trap,
  u32,
} from '../ir/builder.ts';
import type { ArraySym, Expr, Kernel, MemRef, Stmt, Var } from '../ir/ops.ts';
import { isUnsigned } from '../ir/ops.ts';
import { exprParts, mapLists, someStmt, stmtExprs, written } from '../ir/passes/walk.ts';
import type { FaultSite } from './sites.ts';

export interface FaultsLowered {
  readonly kernel: Kernel;
  readonly sites: readonly FaultSite[];
  /** The returns of threads that have failed. */
  readonly stops: ReadonlySet<Stmt>;
  /** i64: what a trap says. Undefined in a kernel that cannot fail. */
  readonly fault: { readonly index: Var; readonly extent: Var } | undefined;
}

export function lowerFaults(kernel: Kernel): FaultsLowered {
  if (!kernel.checked && !someStmt(kernel.body, (s) => s.op === 'trap')) {
    return { kernel, sites: [], stops: new Set(), fault: undefined };
  }
  return new Lowering(kernel).result();
}

class Lowering {
  readonly #kernel: Kernel;
  readonly #b: KernelBuilder;
  readonly #sites: FaultSite[] = [];
  readonly #stops = new Set<Stmt>();
  readonly #index: Var;
  readonly #extent: Var;
  readonly #asserted: (Expr & { op: 'unary' })[] = [];
  readonly #slots: ArraySym;
  #loops = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#b = KernelBuilder.from(kernel);
    this.#index = this.#b.variable('i64', '%index');
    this.#extent = this.#b.variable('i64', '%extent');
    const asserts = (e: Expr): number =>
      exprParts(e).reduce((sum, part) => sum + asserts(part), e.op === 'unary' && e.fn === 'uniform' ? 1 : 0);
    const count = (list: readonly Stmt[]): number =>
      list.reduce((sum, s) => {
        let inner = 0;
        mapLists(s, (l) => {
          inner += count(l);
          return l;
        });
        return sum + inner + stmtExprs(s).reduce((n, e) => n + asserts(e), 0);
      }, 0);
    this.#slots = this.#b.shared('u32', '%uniform', kernel.checked ? count(kernel.body) : 0);
  }

  result(): FaultsLowered {
    const body = this.#list(this.#kernel.body);
    const { vars } = this.#b;
    const used = this.#asserted.length;
    const arrays = used > 0 ? [...this.#b.arrays] : this.#kernel.arrays;
    return {
      kernel: { ...this.#kernel, vars: [...vars], arrays, body: [...this.#clear(used), ...body] },
      sites: this.#sites,
      stops: this.#stops,
      fault: { index: this.#index, extent: this.#extent },
    };
  }

  #list(list: readonly Stmt[]): readonly Stmt[] {
    return list.flatMap((s) => {
      const out: Stmt[] = [];
      const done = new Set<Expr>();
      if (this.#kernel.checked) {
        for (const e of stmtExprs(s)) this.#checks(e, out, done);
        const mem = written(s);
        if (mem) this.#bounds(mem, out);
      }
      if (s.op === 'trap') {
        out.push(...this.#fail({ kind: 'trap', pos: s.pos, message: s.message }, i64(0), i64(0)));
        return out;
      }
      if (s.op === 'loop') this.#loops++;
      out.push(mapLists(s, (inner) => this.#list(inner)));
      if (s.op === 'loop') this.#loops--;
      return out;
    });
  }

  #fail(site: FaultSite, index: Expr, extent: Expr): Stmt[] {
    const number = this.#sites.push(site);
    const { pos } = site;
    const stop = ret(pos);
    this.#stops.add(stop);
    return [assign(this.#index, index, pos), assign(this.#extent, extent, pos), trap(String(number), pos), stop];
  }

  /** Checks of an expression, those of its parts first. */
  #checks(e: Expr, out: Stmt[], done: Set<Expr>): void {
    if (done.has(e)) return;
    done.add(e);
    for (const part of exprParts(e)) this.#checks(part, out, done);
    const site = (kind: FaultSite['kind']): FaultSite => ({
      kind,
      pos: ('pos' in e ? e.pos : undefined) ?? this.#kernel.pos,
    });
    if (e.op === 'load') this.#bounds(e.mem, out);
    else if (e.op === 'cast' && e.checked && e.type !== 'bool' && e.a.type !== e.type) {
      const bad = ne(cast(e.a.type, e), e.a);
      out.push(ifElse(bad, this.#fail(site('cast'), asLong(e.a), i64(0)), [], site('cast').pos));
    } else if (e.op === 'binary' && e.fn === 'ipow' && !isUnsigned(e.type)) {
      const bad = lt(e.b, cast(e.type, i32(0)));
      out.push(ifElse(bad, this.#fail(site('exponent'), asLong(e.b), i64(0)), [], site('exponent').pos));
    } else if (e.op === 'unary' && e.fn === 'uniform' && this.#loops === 0) this.#assert(e, site('uniform'), out);
  }

  /** One comparison an axis: a negative index is a large one. */
  #bounds(mem: MemRef, out: Stmt[]): void {
    for (const { index, extent, axis } of mem.checks) {
      const wide = isWide(index) || isWide(extent);
      const whole = (e: Expr): Expr => (wide ? cast('u64', asLong(e)) : cast('u32', e));
      const site: FaultSite = { kind: 'bounds', pos: mem.pos, array: mem.array, axis };
      const bad = compare('ge', whole(index), whole(extent));
      out.push(ifElse(bad, this.#fail(site, asLong(index), asLong(extent)), [], mem.pos));
    }
  }

  /**
   * The first thread of the block that comes here leaves its value in shared memory, and others compare. Not inside loops, where
   * the same place has many values.
   */
  #assert(e: Expr & { op: 'unary' }, site: FaultSite, out: Stmt[]): void {
    const slot = at(this.#slots, this.#at(this.#asserted.push(e) - 1));
    const said = this.#b.variable('u32', '%said');
    const old = this.#b.variable('u32', '%first');
    // Never 0, which is what nobody has said yet.
    const packed = binary('or', binary('mul', folded(e.a), u32(2654435761)), u32(1));
    out.push(assign(said, packed, site.pos), atomic('cas', slot, [u32(0), read(said)], old, site.pos));
    const bad = and(ne(read(old), u32(0)), ne(read(old), read(said)));
    out.push(ifElse(bad, this.#fail(site, asLong(e.a), i64(0)), [], site.pos));
  }

  #at(k: number): Expr {
    return this.#kernel.indexBits === 64 ? i64(k) : i32(k);
  }

  /** Clears the slots before anybody uses them. */
  #clear(count: number): Stmt[] {
    if (count === 0) return [];
    const { pos } = this.#kernel;
    const axes = ['threadIdx.x', 'threadIdx.y', 'threadIdx.z'] as const;
    const first = axes.map((name) => eq(special(name), i32(0))).reduce(and);
    const zeros = Array.from({ length: count }, (_, k) => store(at(this.#slots, this.#at(k)), u32(0), pos));
    return [ifElse(first, zeros, [], pos), barrier(pos)];
  }
}

function isWide({ type }: Expr): boolean {
  return type === 'i64' || type === 'u64';
}

function asLong(e: Expr): Expr {
  return e.type === 'i64' ? e : cast('i64', e);
}

/** A value of any type as 32 bits that tell different ones apart, all but always. */
function folded(e: Expr): Expr {
  switch (e.type) {
    case 'f32':
      return bitcast('u32', e);
    case 'f64':
      return folded(bitcast('u64', e));
    case 'i64':
    case 'u64': {
      const whole = cast('u64', e);
      const high = cast('u32', binary('shr', whole, cast('u64', u32(32))));
      return add(binary('mul', high, u32(2246822519)), cast('u32', whole));
    }
    default:
      return cast('u32', e);
  }
}
