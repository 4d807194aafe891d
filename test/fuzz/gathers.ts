/**
 * Random loops that gather and scatter by masked indices, and random lines for `console.log`.
 */
import { Absences } from './absences.ts';
import type { Variable } from './expressions.ts';
import { wandering } from './masked.ts';
import {
  type ArrayDecl,
  count,
  ELEMS,
  type Expr,
  isFloat,
  type LValue,
  type Shown,
  type Stmt,
  TYPES,
  type Ty,
  widened,
} from './program.ts';
import { COMPOUND, kindOf, type Where } from './statements.ts';

/** Elements of all rows together. */
const MANY = 1024;
const WORDS = ['x', 'sum of', '', '%d', 'a"b', '𝒳'];

export class Gathers extends Absences {
  protected override statement(w: Where): Stmt[] {
    const { r } = this;
    if (w.fn !== undefined || w.depth > 2) return super.statement(w);
    if (r.chance(0.07)) return [this.gather(w)];
    return r.chance(0.03) ? this.print(w) : super.statement(w);
  }

  // -------------------------------------------------------------- gathers

  /** Arrays of which each thread has a row, to be written in loops. */
  protected declareRows(): void {
    const { r } = this;
    const widths = [4, 8, 16, 32].filter((width) => width * this.threads <= MANY);
    if (widths.length === 0 || !r.chance(0.4)) return;
    const row = r.pick(widths);
    const array = this.declare('out', r.pick(ELEMS), this.power(row * this.threads), true);
    this.arrays[this.arrays.indexOf(array)] = { ...array, row };
  }

  /** `for (it < n) target[it] = source[(it + 4 * (it & 3)) & 15]`, or what is like it. */
  protected gather(w: Where): Stmt {
    const { r } = this;
    const targets = this.arrays.filter((a) => a.row !== undefined || a.space === 'local');
    const target = targets.length > 0 ? r.pick(targets) : undefined;
    const sources = this.env(w).readable.filter((a) => count(a) >= 4 && a !== target);
    const like = sources.filter((a) => a.elem === target?.elem);
    const source = like.length > 0 && r.chance(0.6) ? r.pick(like) : r.pick(sources);
    // As many rounds as a mask has values, or fewer, is what loops must have to be taken for permutations.
    const most = target?.row ?? r.pick([4, 8, 16]);
    const n = source !== undefined && r.chance(0.5) ? Math.min(source.shape.at(-1) ?? most, most) : most;
    const variable: Variable = { name: this.name('it'), t: 'i32', uniform: true, fixed: true, below: n };
    const x: Expr = { t: 'i32', k: 'var', name: variable.name };
    const inner = this.inner(w, { loops: [...w.loops, { label: undefined }] });
    inner.scope.push(variable);
    const body: Stmt[] = [];
    for (let i = 1 + r.below(2); i > 0; i--) {
      const t = target === undefined ? this.accumulator(w) : widened(target.elem);
      if (t === undefined) break;
      const value = this.gathered(source, t, x);
      if (target !== undefined) body.push(this.scatter(target, value, x));
      else {
        const v = r.pick(w.scope.filter((each) => !each.fixed && each.t === t));
        const op = t !== 'bool' ? r.pick(['add', 'sub', 'mul'] as const) : undefined;
        body.push({ k: 'set', name: v.name, t, ...(op && { op }), value });
      }
      if (r.chance(0.2)) body.push(...this.list(1, inner));
    }
    return { k: 'for', name: variable.name, from: 0, to: n, step: 1, body };
  }

  /** The type of a variable that may collect what was gathered. */
  private accumulator(w: Where): Ty | undefined {
    const able = w.scope.filter((v) => !v.fixed);
    return able.length > 0 ? this.r.pick(able).t : undefined;
  }

  /** An element of the source as a `t`; a row of a few elements where there is no source. */
  private gathered(source: ArrayDecl | undefined, t: Ty, x: Expr): Expr {
    if (source === undefined) return { t, k: 'cast', to: t, a: wandering(this.r, x) };
    const from = widened(source.elem);
    const load: Expr = { t: from, k: 'load', array: source, at: this.wanderingPlace(source, x) };
    const cast: Expr = from === t ? load : { t, k: 'cast', to: t, a: load };
    if (t === 'bool' || this.r.chance(0.6)) return cast;
    const op = isFloat(t) ? ('mul' as const) : ('xor' as const);
    return { t, k: 'bin', op, a: cast, b: this.e.literal(t) };
  }

  private wanderingPlace(array: ArrayDecl, x: Expr): LValue {
    return { form: 'any', index: array.shape.map(() => wandering(this.r, x)) };
  }

  private scatter(array: ArrayDecl, value: Expr, x: Expr): Stmt {
    const { r } = this;
    const op = array.elem !== 'u8c' && r.chance(0.2) ? r.pick(COMPOUND[kindOf(value.t)]) : undefined;
    const safe = op === 'shl' || op === 'shr' || op === 'rem' ? 'add' : op;
    const counter = x.k === 'var' ? x.name : '';
    const at: LValue =
      array.row !== undefined
        ? { form: 'own', scale: array.row, offset: 0, reverse: false, counter }
        : r.chance(0.6) || array.shape.length > 1
          ? this.wanderingPlace(array, x)
          : { form: 'any', index: [x] };
    return { k: 'store', array, at, ...(safe && { op: safe }), value };
  }

  // -------------------------------------------------------------- records

  /** Each thread reads neighbouring elements of its own row, in any order, and writes others. */
  protected members(w: Where): Stmt[] {
    const { r } = this;
    const rows = this.arrays.filter((a) => a.row !== undefined);
    if (rows.length === 0 && 4 * this.threads <= MANY && r.chance(0.4)) {
      const made = this.declare('out', r.pick(['f32', 'i32', 'u32']), this.power(4 * this.threads), true);
      const array = { ...made, row: 4 };
      this.arrays[this.arrays.indexOf(made)] = array;
      rows.push(array);
    }
    const [array] = rows;
    if (array === undefined) return [];
    const { row = 1 } = array;
    const t = widened(array.elem);
    const first = r.below(Math.max(1, row - 3));
    const own = (): LValue => ({ form: 'own', scale: row, offset: first + r.below(Math.min(row, 4)), reverse: false });
    const loaded = Array.from({ length: 2 + r.below(3) }, (): Stmt & { k: 'let' } => {
      return { k: 'let', name: this.name('m'), value: { t, k: 'load', array, at: own() } };
    });
    w.scope.push(...loaded.map(({ name }): Variable => ({ name, t, uniform: false, fixed: true })));
    const stores = Array.from({ length: 1 + r.below(4) }, (): Stmt => {
      const { name } = r.pick(loaded);
      const value: Expr = t === 'bool' || r.chance(0.5) ? { t, k: 'var', name } : this.expr(t, w, 1);
      return { k: 'store', array, at: own(), value };
    });
    return [...loaded, ...stores];
  }

  // -------------------------------------------------------------- register tiles

  /**
   * A local array of which loops name every element: `tile[it] = …`, several rounds of `tile[it] += …` with a barrier between
   * them perhaps, and `v += tile[it]`. Nothing else sees it.
   */
  protected tile(w: Where, barrier: () => Stmt[]): Stmt[] {
    const { r } = this;
    const t = this.accumulator(w);
    if (t === undefined || t === 'bool') return [];
    const all = this.arrays;
    const array = this.declare('local', t, r.pick([2, 4, 8, 16]), false);
    const hidden = this.arrays.filter((a) => a !== array);
    this.arrays = hidden;
    const n = count(array);
    const inside = (depth: number): { readonly variable: Variable; readonly inner: Where } => {
      const variable: Variable = { name: this.name('it'), t: 'i32', uniform: true, fixed: true, below: n };
      const inner = this.inner(w, { loops: [...w.loops, { label: undefined }], depth: w.depth + depth });
      inner.scope.push(variable);
      return { variable, inner };
    };
    const over = (body: (at: LValue, inner: Where) => Stmt[], from = 0): Stmt => {
      const { variable, inner } = inside(1);
      const index: Expr = { t: 'i32', k: 'var', name: variable.name };
      // One axis: an element by its number. Two: a row and a column of it.
      const at: LValue = { form: 'any', index: array.shape.map(() => index) };
      return { k: 'for', name: variable.name, from, to: array.shape[0] ?? n, step: 1, body: body(at, inner) };
    };
    const element = (at: LValue): Expr => ({ t, k: 'load', array, at });
    const list: Stmt[] = [];
    list.push(over((at, inner) => [{ k: 'store', array, at, value: this.e.expr(t, this.env(inner), 2) }]));
    for (let i = 1 + r.below(2); i > 0; i--) {
      if (r.chance(0.5)) list.push(...barrier());
      const { variable } = inside(1);
      const rounds = over((at, inner) => [
        {
          k: 'store',
          array,
          at,
          op: r.pick(['add', 'mul', 'sub'] as const),
          value: this.e.expr(t, this.env(inner), 2),
        },
      ]);
      list.push({ k: 'for', name: variable.name, from: 0, to: 1 + r.below(4), step: 1, body: [rounds] });
    }
    const v = r.pick(w.scope.filter((each) => !each.fixed && each.t === t));
    list.push(over((at) => [{ k: 'set', name: v.name, t, op: 'add', value: element(at) }]));
    this.arrays = all.includes(array) ? all : [...all, array];
    return list;
  }

  // -------------------------------------------------------------- prints

  /** A line of the thread's number, words, values, tuples and objects. In loops within loops one thread prints. */
  protected print(w: Where): Stmt[] {
    const { r } = this;
    const args = Array.from({ length: 1 + r.below(3) }, () => this.shown(w, 2));
    const makes = (s: Shown): boolean => s.k === 'items' || s.k === 'fields';
    const names = args.map((s) => (makes(s) && r.chance(0.3) ? this.name('made') : undefined));
    const line: Stmt = { k: 'print', args, names };
    if (w.depth < 1) return [line];
    const [k, one]: [Expr, Expr] = [
      { t: 'i32', k: 'thread', what: 'k' },
      { t: 'i32', k: 'lit', v: r.below(this.threads) },
    ];
    return [{ k: 'if', c: { t: 'bool', k: 'cmp', op: 'eq', a: k, b: one }, then: [line], else: [] }];
  }

  /** Texts are put together where they are printed: not inside of tuples and objects. */
  private shown(w: Where, depth: number): Shown {
    const { r } = this;
    const value = (): Shown => ({ k: 'value', e: this.expr(r.pick(TYPES), w, 2) });
    const several = (): Shown[] => Array.from({ length: 1 + r.below(3) }, () => this.shown(w, depth - 1));
    return r.weighted<() => Shown>([
      [4, value],
      [1, () => ({ k: 'word', text: r.pick(WORDS) })],
      [depth === 2 ? 1.5 : 0, () => ({ k: 'text', template: r.chance(0.5), parts: this.text(w) })],
      [depth > 0 ? 2 : 0, () => ({ k: 'items', of: several() })],
      [depth > 0 ? 2 : 0, () => ({ k: 'fields', of: several().map((s, i) => [`f${i}`, s]) })],
    ])();
  }

  /** Words and values in turns; the first is a word. */
  private text(w: Where): (string | Expr)[] {
    const { r } = this;
    return Array.from({ length: 1 + r.below(2) }, () => [r.pick(WORDS), this.expr(r.pick(TYPES), w, 1)]).flat();
  }
}
