/**
 * Random statements about values that may not be there: variables without one, functions that return on some paths, tests that
 * narrow, early exits; now and then a use that no test stands before.
 */
import type { MaybeVariable, Variable } from './expressions.ts';
import { type Case, type Expr, type Maybe, type Stmt, TYPES, type Ty } from './program.ts';
import { Statements, type Where } from './statements.ts';

export class Absences extends Statements {
  /** A value is used where it may not be there. */
  protected risky = false;

  protected override statement(w: Where): Stmt[] {
    const { r } = this;
    if (!r.chance(0.15)) return super.statement(w);
    const deep = w.depth > 3;
    const some = w.maybes.length > 0;
    const options: [number, () => Stmt[]][] = [
      [some ? 2 : 6, () => [this.declareMaybe(w)]],
      [some ? 5 : 0, () => [this.give(w)]],
      [some && !deep ? 4 : 0, () => this.narrow(w)],
      [some && (w.loops.length > 0 || w.fn !== undefined) ? 1.5 : 0, () => this.exit(w)],
      [some && !deep ? 1 : 0, () => this.switchOn(w)],
      [some && !deep ? 1.5 : 0, () => this.best(w)],
      [some && !this.risky && r.chance(0.25) ? 1 : 0, () => this.risk(w)],
    ];
    return r.weighted(options)();
  }

  protected override return(w: Where): Stmt {
    if (!w.maybe || w.fn === undefined) return super.return(w);
    const leave = this.leave(w, w.fn);
    return w.branch ? leave : { k: 'if', c: this.e.bool(this.env(w), 1), then: [leave], else: [] };
  }

  private leave(w: Where, t: Ty): Stmt {
    if (this.r.chance(0.2)) return { k: 'return' };
    return { k: 'return', maybe: this.e.maybe(t, this.env(w), 2, 'undefined') };
  }

  /** A function that returns nothing on some paths. */
  protected maybeFunction(): void {
    const { r } = this;
    const result = r.pick(TYPES);
    const params = Array.from({ length: 1 + r.below(3) }, () => {
      const t = r.pick(TYPES);
      return { name: this.name('p'), t, ...(r.chance(0.4) && { preset: this.e.literal(t) }) };
    });
    const scope = params
      .filter((p) => p.preset !== undefined)
      .map((p): Variable => ({ ...p, uniform: false, fixed: false }));
    const maybes = params
      .filter((p) => p.preset === undefined)
      .map((p): MaybeVariable => ({ ...p, nothing: 'undefined' }));
    const w: Where = {
      scope,
      maybes,
      declared: new Set(),
      loops: [],
      depth: 0,
      fn: result,
      maybe: true,
      branch: false,
    };
    const body = this.list(1 + r.below(4), w);
    if (r.chance(0.3)) {
      const on: Expr = {
        t: 'i32',
        k: 'bin',
        op: 'and',
        a: this.expr('i32', w, 1),
        b: { t: 'i32', k: 'lit', v: 3, polymorphic: true },
      };
      const cases = [0, 1, 2].map((test): Case => ({ test, body: [this.leave(this.inner(w), result)], falls: false }));
      body.push({ k: 'switch', on, cases: cases.filter(() => r.chance(0.7)) });
    } else if (body.at(-1)?.k !== 'return' && r.chance(0.5)) body.push(this.leave(w, result));
    this.functions.push({ name: this.name('ask'), params, body, result, maybe: true });
  }

  private declareMaybe(w: Where): Stmt {
    const { r } = this;
    const made: MaybeVariable = {
      name: this.name('m'),
      t: r.pick(TYPES),
      nothing: r.chance(0.2) ? 'null' : 'undefined',
    };
    const { t, nothing } = made;
    const how = r.chance(0.25) ? 'var' : 'let';
    const bare = nothing === 'undefined' && r.chance(0.6);
    const value = r.chance(0.4) ? this.e.maybe(t, this.env(w), 2, nothing) : ({ t, nothing, k: 'none' } as const);
    w.maybes.push(made);
    return { k: 'maybe', name: made.name, how, ...(!bare && { value }) };
  }

  private give(w: Where): Stmt {
    const m = this.r.pick(w.maybes);
    const ifNone = this.r.chance(0.2);
    return { k: 'give', name: m.name, value: this.e.maybe(m.t, this.env(w), 2, m.nothing), ifNone };
  }

  /** A place where a variable is known to have a value. */
  private known(w: Where, m: MaybeVariable): Where {
    const inner = this.inner(w, { branch: true });
    inner.scope.push({ name: m.name, t: m.t, uniform: false, fixed: false });
    inner.maybes.splice(inner.maybes.indexOf(m), 1);
    return inner;
  }

  private absent(m: MaybeVariable): Expr {
    const of: Maybe = { ...m, k: 'name' };
    return { t: 'bool', k: 'absent', of, how: this.e.how(of) };
  }

  /** `if (m !== undefined && …) …`, and the same the other way round; or by a name for the test. */
  private narrow(w: Where): Stmt[] {
    const { r } = this;
    const m = r.pick(w.maybes);
    const not = (a: Expr): Expr => ({ t: 'bool', k: 'un', op: 'not', a });
    const inside = this.known(w, m);
    let none = this.absent(m);
    const before: Stmt[] = [];
    if (r.chance(0.2)) {
      const name = this.name('ok');
      before.push({ k: 'let', name, value: none });
      none = { t: 'bool', k: 'var', name };
    }
    if (r.chance(0.4)) none = { t: 'bool', k: 'logic', op: 'or', a: none, b: this.e.bool(this.env(inside), 2) };
    const then = this.list(1 + r.below(3), inside);
    const other = r.chance(0.4) ? this.list(1 + r.below(2), this.inner(w, { branch: true })) : [];
    if (r.chance(0.3)) return [...before, { k: 'if', c: none, then: other, else: then }];
    return [...before, { k: 'if', c: not(none), then, else: other }];
  }

  /** A jump where there is nothing: behind it there is something. */
  private exit(w: Where): Stmt[] {
    const { r } = this;
    const m = r.pick(w.maybes);
    const inner = this.inner(w, { branch: true });
    const jump: Stmt = w.loops.length > 0 ? { k: r.pick(['break', 'continue'] as const) } : this.return(inner);
    const test: Stmt = { k: 'if', c: this.absent(m), then: [jump], else: [] };
    w.maybes.splice(w.maybes.indexOf(m), 1);
    w.scope.push({ name: m.name, t: m.t, uniform: false, fixed: false });
    return [test];
  }

  /** Every case gives a value, or all but some do. */
  private switchOn(w: Where): Stmt[] {
    const { r } = this;
    const m = r.pick(w.maybes);
    const on: Expr = {
      t: 'i32',
      k: 'bin',
      op: 'and',
      a: this.expr('i32', w, 1),
      b: { t: 'i32', k: 'lit', v: 3, polymorphic: true },
    };
    const value = (): Maybe => ({ ...m, k: 'of', value: this.expr(m.t, w, 1) });
    const given = (): Stmt => ({ k: 'give', name: m.name, value: value(), ifNone: false });
    const tests = [0, 1, 2, undefined].sort(() => r.unit() - 0.5);
    const whole = r.chance(0.6);
    const cases = tests.map((test): Case => {
      const body = this.list(r.below(2), this.inner(w, {}));
      const ends = body.some((s) => s.k === 'break' || s.k === 'continue' || s.k === 'return');
      return { test, body: ends ? body : [...body, given()], falls: r.chance(0.3) };
    });
    const s: Stmt = { k: 'switch', on, cases: whole ? cases : cases.filter(() => r.chance(0.6)) };
    return [s, { k: 'let', name: this.name('v'), value: this.e.expr(m.t, this.env(w), 2) }];
  }

  /** `if (m === undefined || x > m) m = x;` in a loop. */
  private best(w: Where): Stmt[] {
    const m = this.r.pick(w.maybes);
    const x = this.expr(m.t, w, 1);
    const name = this.name('v');
    const value: Expr = { t: m.t, k: 'var', name };
    const better: Expr = {
      t: 'bool',
      k: 'cmp',
      op: m.t === 'bool' ? 'ne' : 'gt',
      a: value,
      b: { ...value, name: m.name },
    };
    const c: Expr = { t: 'bool', k: 'logic', op: 'or', a: this.absent(m), b: better };
    const give: Stmt = { k: 'give', name: m.name, value: { ...m, k: 'of', value }, ifNone: false };
    const { variable, ...bounds } = this.counter(false);
    const body: Stmt[] = [
      { k: 'let', name, value: x },
      { k: 'if', c, then: [give], else: [] },
    ];
    return [{ k: 'for', name: variable.name, ...bounds, body }];
  }

  /** A use that no test stands before. */
  private risk(w: Where): Stmt[] {
    const m = this.r.pick(w.maybes);
    this.risky = true;
    const one: Expr = { t: m.t, k: 'var', name: m.name };
    const value: Expr =
      m.t === 'bool' ? { t: 'i32', k: 'cast', to: 'i32', a: one } : { t: m.t, k: 'bin', op: 'add', a: one, b: one };
    const variable: Variable = { name: this.name('v'), t: value.t, uniform: false, fixed: false };
    w.scope.push(variable);
    return [{ k: 'let', name: variable.name, value }];
  }
}
