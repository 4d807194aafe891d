/**
 * Random accesses at `k ^ m`, `k % m`, `k / m` and their like, where m is a number that only the launch knows or that changes from
 * round to round: neighbouring threads are then next to each other in some vectors, at one place in others, or anywhere.
 */
import type { Env, Variable } from './expressions.ts';
import {
  type ArrayDecl,
  type BinOp,
  count,
  ELEMS,
  type Elem,
  type Expr,
  type LValue,
  type Stmt,
  widened,
} from './program.ts';
import type { Where } from './statements.ts';
import { Stencils } from './stencils.ts';

const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v, polymorphic: true });
const join = (op: BinOp, a: Expr, b: Expr): Expr => ({ t: 'i32', k: 'bin', op, a, b });
const variable = (name: string): Expr => ({ t: 'i32', k: 'var', name });

export class Runs extends Stencils {
  /** Arrays of which each thread writes an element that a permutation gives it. */
  private readonly permuted = new Set<ArrayDecl>();

  protected override env(w: Where, uniform = false): Env {
    const env = super.env(w, uniform);
    return { ...env, own: env.own.filter((a) => !this.permuted.has(a)) };
  }

  /** The arrays whose elements belong to threads by their numbers. */
  protected outputs(): ArrayDecl[] {
    return this.arrays.filter((a) => a.space === 'out' && !this.permuted.has(a));
  }

  protected override statement(w: Where): Stmt[] {
    const { r } = this;
    if (w.fn !== undefined || w.depth > 1 || !r.chance(0.06)) return super.statement(w);
    if (w.depth === 0 && r.chance(0.5)) return r.chance(0.5) ? [this.permutation(w)] : this.records(w);
    return (r.chance(0.2) ? this.backwards(w) : this.sum(w)) ?? super.statement(w);
  }

  /** `for (it < n) sum += a[place]` */
  private sum(w: Where): Stmt[] | undefined {
    const { r } = this;
    const arrays = this.env(w).readable.filter((a) => a.shape.length === 1 && count(a) >= 8 && a.space !== 'local');
    if (arrays.length === 0) return undefined;
    const array = r.pick(arrays);
    const t = widened(array.elem);
    const sum: Variable = { name: this.name('sum'), t, uniform: false, fixed: false };
    const it = this.name('it');
    const rounds = r.pick([2, 4, 9]);
    const m = r.chance(0.6)
      ? join('add', join('mul', variable(it), word(r.pick([1, 2, 4]))), word(1))
      : this.number(r.pick([1, 3, 4, 8, 16]));
    const place = this.place({ t: 'i32', k: 'thread', what: r.pick(['k', 't'] as const) }, m, variable(it));
    const named = r.chance(0.5) ? this.name('at') : undefined;
    const at = named === undefined ? place : variable(named);
    // Below 64, and where all threads are, nothing else can come out.
    const inRange = place.k === 'bin' && place.op === 'xor' && count(array) >= Math.max(this.threads + 1, 64);
    const value: Expr = { t, k: 'load', array, at: { form: inRange ? 'raw' : 'any', index: [at] } };
    const collect: Stmt = { k: 'set', name: sum.name, t, ...(t !== 'bool' && { op: 'add' as const }), value };
    const start: Stmt = { k: 'let', name: sum.name, value: this.e.literal(t) };
    const use: Stmt[] = named === undefined ? [collect] : [{ k: 'let', name: named, value: place }, collect];
    w.scope.push(sum);
    const body: Stmt[] = r.chance(0.3) ? [{ k: 'if', c: this.odd(), then: use, else: [] }] : use;
    return [start, { k: 'for', name: it, from: 0, to: rounds, step: 1, body }];
  }

  /** True in some threads of most vectors. */
  private odd(): Expr {
    const k: Expr = { t: 'i32', k: 'thread', what: 'k' };
    return { t: 'bool', k: 'cmp', op: 'ne', a: join('rem', k, word(this.r.pick([3, 5, 16]))), b: word(0) };
  }

  /** A number that is no constant of the code. */
  private number(v: number): Expr {
    const scalar = { name: this.name('m'), t: 'i32' as const, v };
    this.scalars = [...this.scalars, scalar];
    return variable(scalar.name);
  }

  /** Not yet in range. m is 1 at least. */
  private place(k: Expr, m: Expr, it: Expr): Expr {
    const { r } = this;
    const quotient = (a: Expr): Expr => ({ t: 'i32', k: 'quotient', op: 'floor', a, b: m });
    const twice = join('mul', k, word(2));
    return r.pick([
      () => join('xor', k, m),
      () => join('xor', join('add', k, word(1)), m),
      () => join('and', k, m),
      () => join('rem', k, m),
      () => quotient(k),
      () => join('add', k, quotient(k)),
      () => join('add', join('mul', quotient(k), m), join('rem', k, m)),
      () => join('sub', twice, join('and', k, join('sub', m, word(1)))),
      () => join('add', join('sub', twice, join('rem', k, m)), m),
      () => join('min', join('add', k, it), m),
      () => join('max', k, join('mul', m, word(2))),
      () => join('add', join('mul', k, word(r.pick([2, 3, 4]))), it),
      () => join('sub', m, k),
    ])();
  }

  /** An array that nothing else writes; most often one whose elements lie one after another. */
  private own(elem: Elem, n: number): ArrayDecl {
    const made = this.declare('out', elem, n, true);
    const array: ArrayDecl = this.r.chance(0.7) ? { ...made, shape: [n], layout: 'C' } : made;
    this.arrays[this.arrays.indexOf(made)] = array;
    this.permuted.add(array);
    return array;
  }

  /** `y[k ^ m] = value` or its like, of an array of its own. */
  private permutation(w: Where): Stmt {
    const { r } = this;
    const elem = r.pick(ELEMS);
    const value = this.expr(widened(elem), w, 2);
    const n = this.power(this.threads + 1);
    const array = this.own(elem, n);
    const k: Expr = { t: 'i32', k: 'thread', what: 'k' };
    const m = this.number(r.below(n));
    const swapped = join('xor', r.chance(0.7) ? k : join('add', k, word(1)), m);
    const x = r.pick([() => swapped, () => join('add', k, m), () => join('sub', m, k)])();
    const inner = array.shape[1];
    const at: LValue =
      inner === undefined
        ? { form: x === swapped && r.chance(0.7) ? 'raw' : 'any', index: [x] }
        : { form: 'any', index: [join('shr', x, word(Math.log2(inner))), x] };
    const store: Stmt = { k: 'store', array, at, value };
    return r.chance(0.3) ? { k: 'if', c: this.odd(), then: [store], else: [] } : store;
  }

  /** `let at = n - 1 - k; if (…) at = n - k; sum = a[at]`: places that lie alike, of which each thread has one or the other. */
  private backwards(w: Where): Stmt[] | undefined {
    const { r } = this;
    const arrays = this.env(w).readable.filter((a) => a.shape.length === 1 && count(a) >= this.threads);
    const array = arrays.length > 0 ? r.pick(arrays) : undefined;
    if (array === undefined || array.space === 'local') return undefined;
    const [at, k] = [this.name('at'), { t: 'i32', k: 'thread', what: 'k' } as const];
    const t = widened(array.elem);
    const sum: Variable = { name: this.name('sum'), t, uniform: false, fixed: false };
    const from = (n: number): Expr => join('sub', word(n), k);
    w.scope.push(sum);
    return [
      { k: 'let', name: at, value: from(count(array) - 1) },
      { k: 'if', c: this.odd(), then: [{ k: 'set', name: at, t: 'i32', value: from(count(array)) }], else: [] },
      { k: 'let', name: sum.name, value: { t, k: 'load', array, at: { form: 'raw', index: [variable(at)] } } },
    ];
  }

  /** `y[4 * k] = …; y[4 * k + 1] = …` and so on, in any order, of an array of its own. */
  private records(w: Where): Stmt[] {
    const { r } = this;
    const elem = r.pick(ELEMS);
    const t = widened(elem);
    const n = r.pick([2, 4, 4]);
    const values = Array.from({ length: n }, () => this.expr(t, w, 1));
    const array = this.own(elem, this.power(n * this.threads));
    const member = (offset: number): LValue => ({ form: 'own', scale: n, offset, reverse: false });
    const like = this.arrays.filter((a) => a.space === 'in' && a.elem === elem && count(a) >= n * this.threads);
    const order = values.map((_, i) => i).sort(() => r.below(3) - 1);
    const stores = order.map((offset, i): Stmt => {
      const other = like.length > 0 ? r.pick(like) : array;
      const source = r.chance(0.5) ? offset : r.below(n);
      const load: Expr = { t, k: 'load', array: r.chance(0.5) ? array : other, at: member(source) };
      return { k: 'store', array, at: member(offset), value: r.chance(0.5) ? load : (values[i] as Expr) };
    });
    return r.chance(0.2) ? [{ k: 'if', c: this.odd(), then: stores, else: [] }] : stores;
  }
}
