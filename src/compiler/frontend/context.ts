/**
 * The state of one elaboration: the statement list being written, scopes, jump targets, inlined calls; and the services that
 * all parts of the front end share (positions, temporaries, slots for variables, order of evaluation).
 *
 * The parts that evaluate expressions, statements and calls need each other; they meet here, in `parts`, and not by import.
 */
import type { AnyNode } from 'acorn';
import type { CapturedArray, CompileOptions } from '../contract.ts';
import type { Label } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Local, Root, ScalarArg, TExpr, TStmt } from '../types/tree.ts';
import { walkExpression } from '../types/tree.ts';
import { fail } from './diagnostics.ts';
import { isNameable, nameFor } from './regions.ts';
import {
  type Axis,
  type Binding,
  describeValue,
  type FunctionValue,
  isLiteral,
  literal,
  readLocal,
  type Scope,
  scalar,
  UNDEFINED,
  type Value,
  type View,
} from './values.ts';

/** Where `break` and `continue` go. */
export interface JumpTarget {
  readonly label: Label;
  readonly names: readonly string[];
  readonly kind: 'loop' | 'switch' | 'block';
}

/** The function being inlined; `kernel` for the outermost. */
export interface Frame {
  readonly fn: FunctionValue | 'kernel';
  readonly label: Label | undefined;
  /** What `return` has stored so far. */
  result: Value | undefined;
  returned: boolean;
  readonly targets: JumpTarget[];
  readonly site: Pos | undefined;
}

/** What the parts of the front end call each other by. */
export interface Parts {
  evaluate(ctx: Context, node: AnyNode, scope: Scope): Value;
  condition(ctx: Context, node: AnyNode, scope: Scope): TExpr;
  statements(ctx: Context, list: readonly AnyNode[], scope: Scope): void;
  call(ctx: Context, fn: FunctionValue, args: readonly Value[], pos: Pos): Value;
}

export class Context {
  readonly parts: Parts;
  readonly options: CompileOptions;
  readonly roots: Root[] = [];
  readonly args: ScalarArg[] = [];
  readonly captured: CapturedArray[] = [];
  /** Memory made by a call expression in the source: one per place, whoever inlines it. */
  readonly sharedSites: Map<string, Root> = new Map();
  /** Constant and captured memory by host object. */
  readonly hostArrays: Map<object, View> = new Map();
  readonly frames: Frame[] = [];
  /** Calls that were inlined into device functions. */
  inlinedWithin = 0;
  readonly #nodeIds = new Map<object, number>();
  list: TStmt[] = [];
  /** Nesting of conditional constructs. */
  depth = 0;
  #labels = 0;
  #locals = 0;

  constructor(parts: Parts, options: CompileOptions) {
    this.parts = parts;
    this.options = options;
  }

  // ------------------------------------------------------------ services

  pos(node: AnyNode, scope: Scope): Pos {
    const caller = this.frames.at(-1)?.site;
    return caller === undefined
      ? { source: scope.captured.source, start: node.start, end: node.end }
      : { source: scope.captured.source, start: node.start, end: node.end, caller };
  }

  /** A number for a syntax node, to key what is made once a place. */
  nodeId(node: object): number {
    let id = this.#nodeIds.get(node);
    if (id === undefined) {
      id = this.#nodeIds.size;
      this.#nodeIds.set(node, id);
    }
    return id;
  }

  get frame(): Frame {
    const f = this.frames.at(-1);
    if (f === undefined) throw new Error('no frame');
    return f;
  }

  newLabel(): Label {
    return this.#labels++;
  }

  newLocal(name: string, pos: Pos, stable: boolean): Local {
    return { id: this.#locals++, name, pos, stable };
  }

  emit(s: TStmt): void {
    this.list.push(s);
  }

  /** Runs `body` with a fresh statement list and returns what it wrote. */
  collect(body: () => void): TStmt[] {
    const saved = this.list;
    const list: TStmt[] = [];
    this.list = list;
    try {
      body();
    } finally {
      this.list = saved;
    }
    return list;
  }

  /** As `collect`, for code that may not run. */
  branch(body: () => void): TStmt[] {
    this.depth++;
    try {
      return this.collect(body);
    } finally {
      this.depth--;
    }
  }

  // ------------------------------------------------------------ values

  /** The scalar expression of a value, or an error that says what it is instead. */
  scalar(v: Value, pos: Pos, what = 'a number'): TExpr {
    if (v.kind === 'scalar') return v.expr;
    if (v.kind === 'view' && v.view.axes.length === 0 && v.view.element.record !== undefined) {
      return fail('K221', pos, `expected ${what}, but this is ${describeValue(v)}`, {
        help: 'name one of its members, as in p[i].x',
      });
    }
    if (v.kind === 'view' && v.view.axes.length === 0) {
      return fail('K221', pos, `expected ${what}, but this is a 0-d array`, { help: 'read its element with .get()' });
    }
    if (v.kind === 'view') {
      return fail('K221', pos, `expected ${what}, but this is ${describeValue(v)}`, {
        help: `give ${v.view.axes.length === 1 ? 'an index' : `${v.view.axes.length} indices`}: ${v.view.name}${'[i]'.repeat(v.view.axes.length)}`,
      });
    }
    const help =
      what === 'an index' ? 'give each axis brackets of its own: a[i][j]' : 'take it apart: const [x, y] = …, or v[0]';
    return fail('K221', pos, `expected ${what}, but this is ${describeValue(v)}`, {
      help: v.kind === 'tuple' ? help : undefined,
    });
  }

  /** Assigns to a fresh temporary that is never assigned again. */
  temp(expr: TExpr, name = '%t'): TExpr {
    const local: Local = { ...this.newLocal(name, expr.pos, true), is: isStable(expr) ? expr : undefined };
    this.emit({ k: 'assign', local, value: expr, pos: expr.pos });
    return readLocal(local, expr.pos);
  }

  /** An expression that gives the same value whenever it is read later. */
  hold(expr: TExpr, name?: string): TExpr {
    return isStable(expr) && size(expr) <= 3 ? expr : this.temp(expr, name);
  }

  /** As `hold`, for all scalars inside a value. */
  holdValue(v: Value, name?: string): Value {
    return mapScalars(v, (e) => (isLiteral(e) ? e : this.hold(e, name)));
  }

  /** Evaluates in order; what was computed earlier is kept in a temporary if something later has an effect on it. */
  sequence<const T extends readonly (() => Value)[]>(thunks: T): { -readonly [K in keyof T]: Value } {
    const values: Value[] = [];
    const marks: number[] = [];
    for (const thunk of thunks) {
      values.push(thunk());
      marks.push(this.list.length);
    }
    for (let k = thunks.length - 2; k >= 0; k--) {
      const mark = marks[k] ?? 0;
      const v = values[k];
      if (v === undefined || !this.list.slice(mark).some(hasEffect)) continue;
      const at = this.list[mark]?.pos;
      const spills = this.collect(() => {
        const held = mapScalars(v, (e) => (isStable(e) ? e : this.temp(e)));
        values[k] = at === undefined ? held : this.named(held, 'this', at);
      });
      this.list.splice(mark, 0, ...spills);
    }
    return values as { -readonly [K in keyof T]: Value };
  }

  // ------------------------------------------------------------ variables

  declare(scope: Scope, name: string, pos: Pos, constant: boolean): Binding {
    const binding: Binding = { name, pos, constant, value: undefined, depth: this.depth };
    scope.names.set(name, binding);
    return binding;
  }

  /** Gives a declared variable its first value. */
  initialise(binding: Binding, value: Value, pos: Pos): void {
    binding.depth = this.depth;
    if (!binding.constant) {
      binding.value = this.slot(value, binding.name, pos);
      this.#fill(binding.value, value, binding, pos);
    } else if (value.kind === 'scalar') {
      if (isLiteral(value.expr)) binding.value = value;
      else binding.value = scalar(this.temp(value.expr, binding.name));
    } else {
      binding.value = this.named(this.holdValue(value, binding.name), binding.name, pos);
    }
  }

  /** `name = value`. */
  assign(binding: Binding, value: Value, pos: Pos): void {
    if (binding.value === undefined) {
      binding.depth = this.depth;
      binding.value = this.slot(value, binding.name, pos);
    }
    this.#fill(binding.value, value, binding, pos);
  }

  /** A value of the same structure whose scalars are fresh variables. */
  slot(like: Value, name: string, pos: Pos): Value {
    switch (like.kind) {
      case 'scalar':
        return scalar(readLocal(this.newLocal(name, pos, false), pos));
      case 'tuple':
        return { kind: 'tuple', items: like.items.map((v, k) => this.slot(v, `${name}.${k}`, pos)) };
      case 'record':
        return {
          kind: 'record',
          fields: new Map([...like.fields].map(([k, v]) => [k, this.slot(v, `${name}.${k}`, pos)])),
        };
      case 'view': {
        const local = (part: string): TExpr => readLocal(this.newLocal(`%${name}.${part}`, pos, false), pos);
        // A variable that is assigned again, as in `rest = rest.slice('1:')`, may have other extents and strides then.
        const leaf = (e: TExpr, part: string): TExpr => (isLiteral(e) ? e : local(part));
        const axes: Axis[] = like.view.axes.map((a, k) => ({
          extent: leaf(a.extent, `extent${k}`),
          stride: leaf(a.stride, `stride${k}`),
        }));
        const checks = like.view.checks.map((c, k) => ({
          index: local(`index${k}`),
          // The bounds of indices that have been given stay what they are: a check against a value of each thread's own costs more.
          extent: isGiven(c.extent) ? c.extent : local(`bound${k}`),
          axis: c.axis,
        }));
        const offset = readLocal(this.newLocal(`%${name}.offset`, pos, false), pos);
        const view: View = { ...like.view, axes, checks, offset };
        if (!isNameable(view)) return { kind: 'view', view };
        return { kind: 'view', view: { ...view, via: { name: nameFor(view, name, false, pos), at: 0 } } };
      }
      default:
        return like;
    }
  }

  /** Stores `value` in a slot made by `slot` that belongs to no variable: the result of a call. */
  store(slot: Value, value: Value, name: string, pos: Pos): void {
    this.#fill(slot, value, { name, pos, constant: false, value: slot, depth: -1 }, pos);
  }

  /** Stores `value` in the variables of a slot made by `slot`. */
  #fill(slot: Value, value: Value, binding: Binding, pos: Pos): void {
    const conflict = (): never =>
      fail('K231', pos, `${binding.name} holds ${describeValue(slot)} and cannot become ${describeValue(value)}`, {
        help: 'a variable keeps one kind of value; use another name, or index one array instead of choosing between several',
      });
    const moves: { local: Local; value: TExpr }[] = [];
    const names: TStmt[] = [];
    const plan = (to: Value, from: Value): void => {
      if (to.kind === 'scalar' && from.kind === 'scalar') {
        if (to.expr.k === 'local') moves.push({ local: to.expr.local, value: from.expr });
        else conflict();
      } else if (to.kind === 'tuple' && from.kind === 'tuple' && to.items.length === from.items.length) {
        to.items.forEach((t, k) => {
          const f = from.items[k];
          if (f !== undefined) plan(t, f);
        });
      } else if (to.kind === 'record' && from.kind === 'record' && to.fields.size === from.fields.size) {
        for (const [k, t] of to.fields) {
          const f = from.fields.get(k);
          if (f === undefined) conflict();
          else plan(t, f);
        }
      } else if (to.kind === 'view' && from.kind === 'view') {
        planView(to.view, from.view);
      } else if (to.kind === 'function' && from.kind === 'function' && to.fn.node === from.fn.node) {
        return;
      } else if (to.kind === 'host' && from.kind === 'host' && Object.is(to.value, from.value)) {
        return;
      } else if (this.depth <= binding.depth) {
        binding.value = this.slot(from, binding.name, pos);
        this.#fill(binding.value, from, binding, pos);
      } else conflict();
    };
    const planView = (to: View, from: View): void => {
      const same = to.root === from.root && to.axes.length === from.axes.length && to.unit === from.unit;
      if (!same || to.element !== from.element || to.disp !== from.disp || to.align > from.align)
        return void conflict();
      const leaf = (t: TExpr, f: TExpr): void => {
        if (t.k === 'local') moves.push({ local: t.local, value: f });
        else if (!isSameGiven(t, f)) conflict();
      };
      to.axes.forEach((a, k) => {
        const b = from.axes[k];
        if (b === undefined) return;
        leaf(a.extent, b.extent);
        leaf(a.stride, b.stride);
      });
      to.checks.forEach((c, k) => {
        const d = from.checks[k];
        if (d === undefined) return void conflict();
        leaf(c.index, d.index);
        leaf(c.extent, d.extent);
      });
      if (to.checks.length !== from.checks.length) conflict();
      if (to.offset !== undefined) leaf(to.offset, from.offset ?? literal(0, pos));
      if (to.via?.name !== undefined) names.push({ k: 'name', names: to.via.name, of: from.via, pos });
    };
    plan(slot, value);
    // All are read before any is written: [a, b] = [b, a].
    const held = moves.length > 1 ? moves.map((m) => ({ local: m.local, value: this.hold(m.value) })) : moves;
    for (const m of held) this.emit({ k: 'assign', local: m.local, value: m.value, pos });
    for (const s of names) this.emit(s);
  }

  /** The value with a name for each record in it, which a variable that is assigned once has from here on. */
  named(v: Value, name: string, pos: Pos): Value {
    return mapViews(v, (view) => {
      if (!isNameable(view)) return view;
      const names = nameFor(view, name, true, pos);
      this.emit({ k: 'name', names, of: view.via, pos });
      return { ...view, via: { name: names, at: 0 } };
    });
  }

  /** The value of one of two, decided at run time. `then` and `else` are the statements that compute them. */
  choose(cond: TExpr, then: () => Value, otherwise: () => Value, pos: Pos): Value {
    if (isLiteral(cond)) return cond.value ? then() : otherwise();
    let a: Value | undefined;
    let b: Value | undefined;
    const thenList = this.branch(() => {
      a = then();
    });
    const elseList = this.branch(() => {
      b = otherwise();
    });
    if (a === undefined || b === undefined) throw new Error('unreachable');
    if (thenList.length === 0 && elseList.length === 0) {
      if (a.kind === 'scalar' && b.kind === 'scalar' && isCheap(a.expr) && isCheap(b.expr)) {
        return scalar({ k: 'select', cond, a: a.expr, b: b.expr, pos });
      }
      if (a.kind === 'host' && b.kind === 'host' && Object.is(a.value, b.value)) return a;
      if (a.kind === 'function' && b.kind === 'function' && a.fn.node === b.fn.node) return a;
    }
    const empty = (v: Value): boolean => v.kind === 'host' && v.value === undefined;
    if (empty(a) || empty(b)) {
      // Used as a statement: c ? f() : g(), c && f().
      this.emit({ k: 'if', cond, then: thenList, else: elseList, pos });
      return UNDEFINED;
    }
    if (a.kind !== b.kind || a.kind === 'function' || a.kind === 'host') {
      const text = [a, b].some((v) => v.kind === 'host' && typeof v.value === 'string');
      return fail('K232', pos, `one arm gives ${describeValue(a)}, the other ${describeValue(b)}`, {
        help: text
          ? 'a thread cannot choose between strings: write if (…) console.log(…); else console.log(…);'
          : 'both arms must give the same kind of value; write an if statement, or index one array instead of choosing between several',
      });
    }
    const slot = this.slot(a, '%choice', pos);
    const first = a;
    const second = b;
    const store = (list: TStmt[], v: Value): TStmt[] => [
      ...list,
      ...this.collect(() => this.store(slot, v, 'the result', pos)),
    ];
    this.emit({ k: 'if', cond, then: store(thenList, first), else: store(elseList, second), pos });
    return slot;
  }
}

/** The same for the whole launch: a constant, or what the launch says of an array. */
function isGiven(e: TExpr): boolean {
  return isLiteral(e) || e.k === 'extent' || e.k === 'stride';
}

function isSameGiven(a: TExpr, b: TExpr): boolean {
  if (a.k === 'lit' && b.k === 'lit') return a.value === b.value;
  if (a.k === 'extent' && b.k === 'extent') return a.root === b.root && a.axis === b.axis;
  return a.k === 'stride' && b.k === 'stride' && a.root === b.root && a.axis === b.axis && a.unit === b.unit;
}

/** Reads the same later as now: nothing in it can be assigned or stored to in between. */
export function isStable(e: TExpr): boolean {
  let stable = true;
  walkExpression(e, (x) => {
    if (x.k === 'load' || (x.k === 'local' && !x.local.stable)) stable = false;
  });
  return stable;
}

export function touchesMemory(e: TExpr): boolean {
  let found = false;
  walkExpression(e, (x) => {
    if (x.k === 'load') found = true;
  });
  return found;
}

/** May be evaluated although the source might not: no memory access, and little work. */
export function isCheap(e: TExpr): boolean {
  let cheap = true;
  walkExpression(e, (x) => {
    if (x.k === 'load' || x.k === 'uniform' || x.k === 'math') cheap = false;
  });
  return cheap && size(e) <= 24;
}

export function size(e: TExpr): number {
  let n = 0;
  walkExpression(e, () => {
    n++;
  });
  return n;
}

function hasEffect(s: TStmt): boolean {
  return !((s.k === 'assign' && s.local.stable) || s.k === 'name');
}

/** The same value with every view in it replaced. */
function mapViews(v: Value, f: (view: View) => View): Value {
  switch (v.kind) {
    case 'view':
      return { kind: 'view', view: f(v.view) };
    case 'tuple':
      return { ...v, items: v.items.map((x) => mapViews(x, f)) };
    case 'record':
      return { kind: 'record', fields: new Map([...v.fields].map(([k, x]) => [k, mapViews(x, f)])) };
    default:
      return v;
  }
}

/** The same value with every scalar in it replaced. */
export function mapScalars(v: Value, f: (e: TExpr) => TExpr): Value {
  switch (v.kind) {
    case 'scalar':
      return scalar(f(v.expr));
    case 'tuple':
      return { kind: 'tuple', items: v.items.map((x) => mapScalars(x, f)) };
    case 'record':
      return { kind: 'record', fields: new Map([...v.fields].map(([k, x]) => [k, mapScalars(x, f)])) };
    case 'view':
      return {
        kind: 'view',
        view: {
          ...v.view,
          axes: v.view.axes.map((a) => ({ extent: f(a.extent), stride: f(a.stride) })),
          checks: v.view.checks.map((c) => ({ index: f(c.index), extent: f(c.extent), axis: c.axis })),
          offset: v.view.offset === undefined ? undefined : f(v.view.offset),
        },
      };
    default:
      return v;
  }
}
