/**
 * Random stencils: threads that read around their own place in an array, and what they do where that leaves it.
 *
 * Guards, clamps, wraps and masks are what compilers drop in the blocks that are far from all edges. Here most launches have
 * blocks of both kinds. Indices are in range without any help, whatever the place.
 */
import type { Variable } from './expressions.ts';
import { Gathers } from './gathers.ts';
import { type ArrayDecl, type BinOp, type CmpOp, count, type Expr, type Stmt, type Ty, widened } from './program.ts';
import type { Where } from './statements.ts';

const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v, polymorphic: true });
const join = (op: BinOp, a: Expr, b: Expr): Expr => ({ t: 'i32', k: 'bin', op, a, b });
const compare = (op: CmpOp, a: Expr, b: Expr): Expr => ({ t: 'bool', k: 'cmp', op, a, b });
const logic = (op: 'and' | 'or', a: Expr, b: Expr): Expr => ({ t: 'bool', k: 'logic', op, a, b });
const not = (a: Expr): Expr => ({ t: 'bool', k: 'un', op: 'not', a });

/** What a stencil is about: the place of the thread, the array, how long it is and how far to reach. */
interface Stencil {
  readonly place: Expr;
  readonly array: ArrayDecl;
  readonly n: Expr;
  readonly reach: number;
}

export class Stencils extends Gathers {
  protected override statement(w: Where): Stmt[] {
    if (w.fn !== undefined || w.depth > 1 || !this.r.chance(0.06)) return super.statement(w);
    return this.stencil(w) ?? super.statement(w);
  }

  /** `let v = …; if (inside) v += a[k - 1] …`, or a loop over what is around the place. */
  private stencil(w: Where): Stmt[] | undefined {
    const { r } = this;
    const arrays = this.arrays.filter((a) => (a.space === 'in' || a.space === 'const') && a.shape.length === 1);
    const long = arrays.filter((a) => count(a) >= this.threads);
    if (arrays.length === 0) return undefined;
    const array = r.pick(long.length > 0 && r.chance(0.8) ? long : arrays);
    const reach = 1 + r.below(3);
    if (count(array) <= reach) return undefined;
    const s: Stencil = { place: { t: 'i32', k: 'thread', what: 'k' }, array, n: this.length(array), reach };
    const t = widened(array.elem);
    const sum: Variable = { name: this.name('sum'), t, uniform: false, fixed: false };
    const start: Stmt = { k: 'let', name: sum.name, value: this.e.literal(t) };
    const body = r.chance(0.4) ? this.inside(s, sum) : this.around(s, sum);
    w.scope.push(sum);
    return [start, ...body];
  }

  /** The extent of an array as a number, or as an argument. */
  private length(array: ArrayDecl): Expr {
    const n = count(array);
    if (this.r.chance(0.4)) return word(n);
    let scalar = this.scalars.find((s) => s.t === 'i32' && s.v === n);
    if (scalar === undefined) {
      scalar = { name: this.name('n'), t: 'i32', v: n };
      this.scalars = [...this.scalars, scalar];
    }
    return { t: 'i32', k: 'var', name: scalar.name };
  }

  private collect(sum: Variable, array: ArrayDecl, index: Expr): Stmt {
    const t: Ty = sum.t;
    const value: Expr = { t, k: 'load', array, at: { form: 'raw', index: [index] } };
    return { k: 'set', name: sum.name, t, ...(t !== 'bool' && { op: 'add' as const }), value };
  }

  /** Three elements, where all of them are there. */
  private inside({ place, array, n, reach }: Stencil, sum: Variable): Stmt[] {
    const { r } = this;
    const far = word(reach);
    const then = [join('sub', place, far), place, join('add', place, far)].map((i) => this.collect(sum, array, i));
    const [low, high] = [compare('ge', place, far), compare('lt', place, join('sub', n, far))];
    const [under, over] = [compare('lt', place, far), compare('ge', place, join('sub', n, far))];
    const guard = (c: Expr, list: readonly Stmt[]): Stmt => ({ k: 'if', c, then: list, else: [] });
    return r.pick([
      () => [guard(logic('and', low, high), then)],
      () => [guard(not(logic('or', under, over)), then)],
      () => [guard(low, [guard(not(over), then)])],
      () => [{ k: 'if' as const, c: logic('or', under, over), then: [], else: then }],
    ])();
  }

  /** The elements around the place, each brought into the array. */
  private around({ place, array, n, reach }: Stencil, sum: Variable): Stmt[] {
    const { r } = this;
    const it: Variable = { name: this.name('it'), t: 'i32', uniform: true, fixed: true };
    const near = join('sub', join('add', place, { t: 'i32', k: 'var', name: it.name }), word(reach));
    const last = join('sub', n, word(1));
    // In a variable, as most write it, or in its place.
    const named = r.chance(0.5) ? this.name('at') : undefined;
    const use = (index: Expr): Stmt[] =>
      named === undefined
        ? [this.collect(sum, array, index)]
        : [{ k: 'let', name: named, value: index }, this.collect(sum, array, { t: 'i32', k: 'var', name: named })];
    const choose = (c: Expr, a: Expr, b: Expr): Expr => ({ t: 'i32', k: 'sel', selp: false, c, a, b });
    const clamped = join('min', join('max', near, word(0)), last);
    const body = r.pick([
      () => use(clamped),
      () => use(join('rem', join('add', near, n), n)),
      () => use(join('rem', join('add', join('rem', near, n), n), n)),
      () => use(join('and', near, last)),
      () => use(choose(compare('lt', near, word(0)), word(0), choose(compare('ge', near, n), last, near))),
      () => use(choose(compare('eq', place, last), word(0), clamped)),
      () => [
        {
          k: 'if' as const,
          c: logic('and', compare('ge', near, word(0)), compare('lt', near, n)),
          then: [this.collect(sum, array, near)],
          else: [],
        },
      ],
    ])();
    return [{ k: 'for', name: it.name, from: 0, to: 2 * reach + 1, step: 1, body }];
  }
}
