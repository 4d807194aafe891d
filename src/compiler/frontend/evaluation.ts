/**
 * The state of one partial evaluation: arguments and memory, inlined calls and their jump targets; and the services that all parts of the
 * front end share (positions, slots for variables, order of evaluation). The statement list is that of `statement-writer.ts`.
 *
 * The parts that evaluate expressions, statements and calls need each other; they meet here, in `parts`, and not by import.
 */
import type { AnyNode } from 'acorn';
import type { CapturedArray, CompileOptions } from '../contract.ts';
import type { Label } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Local, Root, ScalarArg, TExpr, TStmt } from '../types/tree.ts';
import { refuseUndefined } from './absence.ts';
import { fail } from './diagnostics.ts';
import type { Hints } from './hints.ts';
import { isCheap, isStable } from './measures.ts';
import { flagOf, keepOptional, notePresence, presenceNote, withFlag, withoutFlag } from './optionals.ts';
import { isNameable, nameFor } from './regions.ts';
import { StatementWriter } from './statement-writer.ts';
import {
  type Axis,
  type Binding,
  describeValue,
  type FunctionValue,
  isAbsent,
  isLiteral,
  isOptional,
  literal,
  mapScalars,
  readLocal,
  type Scope,
  scalar,
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
  /** Says whether `result` was given one. */
  flag?: Local;
  /** Some `return` gives nothing. */
  returnedNothing?: boolean;
  readonly targets: JumpTarget[];
  readonly site: Pos | undefined;
}

/** What the parts of the front end call each other by. */
export interface Parts {
  evaluate(ctx: Evaluation, node: AnyNode, scope: Scope): Value;
  condition(ctx: Evaluation, node: AnyNode, scope: Scope): TExpr;
  statements(ctx: Evaluation, list: readonly AnyNode[], scope: Scope): void;
  call(ctx: Evaluation, fn: FunctionValue, args: readonly Value[], pos: Pos): Value;
}

export class Evaluation extends StatementWriter {
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
  /** Variables taken for numbers, though nothing has been assigned to them yet; with the error that they deserve if they are. */
  readonly supposed: Map<Local, (() => never) | undefined> = new Map();
  /** Expressions that have been evaluated already: where a chain with `?.` goes on from. */
  readonly pinned: Map<AnyNode, Value> = new Map();
  readonly #nodeIds = new Map<object, number>();
  constructor(parts: Parts, options: CompileOptions, hints: Hints) {
    super(hints);
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

  // ------------------------------------------------------------ values

  /** The scalar expression of a value, or an error that says what it is instead. */
  scalar(v: Value, pos: Pos, what = 'a number'): TExpr {
    if (v.kind === 'scalar') return v.expr;
    if (isAbsent(v) && v.why !== undefined) return refuseUndefined(v.name, pos, v.why);
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

  /** As `hold`, for all scalars inside a value. */
  holdValue(v: Value, name?: string): Value {
    return this.#kept(v, (e) => (isLiteral(e) ? e : this.hold(e, name)));
  }

  /** The value with every scalar replaced; what may be absent is copied. */
  #kept(v: Value, f: (e: TExpr) => TExpr): Value {
    if ('present' in v && v.present !== undefined) return keepOptional(this, v, v.present);
    if (v.kind === 'tuple') return { ...v, items: v.items.map((x) => this.#kept(x, f)) };
    if (v.kind === 'record')
      return { kind: 'record', fields: new Map([...v.fields].map(([k, x]) => [k, this.#kept(x, f)])) };
    return mapScalars(v, f);
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
        const held = this.#kept(v, (e) => (isStable(e) ? e : this.temp(e)));
        values[k] = at === undefined ? held : this.named(held, 'this', at);
      });
      this.list.splice(mark, 0, ...spills);
    }
    return values as { -readonly [K in keyof T]: Value };
  }

  // ------------------------------------------------------------ variables

  declare(scope: Scope, name: string, pos: Pos, constant: boolean): Binding {
    const binding: Binding = { name, pos, constant, value: undefined, depth: this.depth, loops: this.loops };
    if (!constant && this.hints.vanishes(binding)) {
      binding.flag = this.newLocal('%has', pos, false);
      binding.vanishes = true;
    }
    scope.names.set(name, binding);
    return binding;
  }

  /** Gives a declared variable its first value. */
  initialise(binding: Binding, value: Value, pos: Pos): void {
    binding.depth = this.depth;
    if (isAbsent(value)) return this.#empty(binding, value, pos);
    const given = withoutFlag(value);
    const notes = this.collect(() => notePresence(this, binding, value, pos));
    if (!binding.constant) {
      binding.value = this.slot(given, binding.name, pos);
      this.#fill(binding.value, given, binding, pos);
    } else if (given.kind === 'scalar') {
      if (isLiteral(given.expr)) binding.value = given;
      else binding.value = scalar(this.temp(given.expr, binding.name));
    } else {
      binding.value = this.named(this.holdValue(given, binding.name), binding.name, pos);
    }
    for (const s of notes) this.emit(s);
  }

  /** `name = value`. */
  assign(binding: Binding, value: Value, pos: Pos): void {
    if (isAbsent(value)) return this.#empty(binding, value, pos);
    const given = withoutFlag(value);
    if (binding.value === undefined) binding.depth = this.depth;
    // What is assigned may ask for the value that there was: `m = m === undefined ? 1 : 2`.
    const notes = this.collect(() => notePresence(this, binding, value, pos));
    binding.value ??= this.slot(given, binding.name, pos);
    this.#fill(binding.value, given, binding, pos);
    for (const s of notes) this.emit(s);
  }

  /** `name = undefined`. */
  #empty(binding: Binding, value: Extract<Value, { kind: 'host' }>, pos: Pos): void {
    const why = value.why ?? { text: `${binding.name} is ${value.name}`, pos };
    binding.empty = { ...value, name: binding.name, why };
    if (!binding.constant) notePresence(this, binding, value, pos, why);
  }

  /** A value of the same structure whose scalars are fresh variables. */
  slot(like: Value, name: string, pos: Pos): Value {
    const own = this.#slot(withoutFlag(like), name, pos);
    const optional = 'present' in like && like.present !== undefined;
    return optional ? withFlag(this, own, this.newLocal('%has', pos, false), pos) : own;
  }

  #slot(like: Value, name: string, pos: Pos): Value {
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
    this.#fill(slot, value, { name, pos, constant: false, value: slot, depth: -1, loops: 0 }, pos);
  }

  /** Stores `value` in the variables of a slot made by `slot`. */
  #fill(slot: Value, value: Value, binding: Binding, pos: Pos): void {
    const conflict = (from = value): never => {
      // What was read in a loop before it was assigned was taken for a number.
      if (binding.supposed === true && slot.kind === 'scalar' && (from.kind === 'record' || from.kind === 'tuple'))
        this.hints.reconsider(binding, from);
      return fail(
        'K231',
        pos,
        `${binding.name} holds ${describeValue(slot)} and cannot become ${describeValue(value)}`,
        {
          help: 'a variable keeps one kind of value; use another name, or index one array instead of choosing between several',
        },
      );
    };
    const moves: { local: Local; value: TExpr }[] = [];
    const names: TStmt[] = [];
    const notes: (() => void)[] = [];
    const plan = (to: Value, given: Value): void => {
      const flag = flagOf(to);
      if (flag !== undefined) {
        const why = isAbsent(given) ? given.why : undefined;
        notes.push(() =>
          this.emit({
            k: 'presence',
            flag,
            is: presenceNote(given),
            pos: why?.pos ?? pos,
            ...(why && { why: why.text }),
          }),
        );
        if (isAbsent(given)) return;
      }
      const from = flag === undefined ? given : withoutFlag(given);
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
    for (const note of notes) note();
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
    const optional = isOptional(a) || isOptional(b);
    if (thenList.length === 0 && elseList.length === 0 && !optional) {
      if (a.kind === 'scalar' && b.kind === 'scalar' && isCheap(a.expr) && isCheap(b.expr)) {
        return scalar({ k: 'select', cond, a: a.expr, b: b.expr, pos });
      }
      if (a.kind === 'host' && b.kind === 'host' && Object.is(a.value, b.value)) return a;
      if (a.kind === 'function' && b.kind === 'function' && a.fn.node === b.fn.node) return a;
    }
    if (isAbsent(a) && isAbsent(b) && a.value === b.value) {
      // Used as a statement: c ? f() : g(), c && f().
      this.emit({ k: 'if', cond, then: thenList, else: elseList, pos });
      return a;
    }
    const like = isAbsent(a) ? b : a;
    const other = isAbsent(b) ? like : b;
    if (like.kind !== other.kind || like.kind === 'function' || (like.kind === 'host' && !isAbsent(like))) {
      const text = [a, b].some((v) => v.kind === 'host' && typeof v.value === 'string');
      return fail('K232', pos, `one arm gives ${describeValue(a)}, the other ${describeValue(b)}`, {
        help: text
          ? 'a thread cannot choose between strings: write if (…) console.log(…); else console.log(…);'
          : 'both arms must give the same kind of value; write an if statement, or index one array instead of choosing between several',
      });
    }
    const own = this.slot(isAbsent(like) ? scalar(literal(0, pos)) : withoutFlag(like), '%choice', pos);
    const slot = optional ? withFlag(this, own, this.newLocal('%has', pos, false), pos) : own;
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

function hasEffect(s: TStmt): boolean {
  return !((s.k === 'assign' && s.local.stable) || s.k === 'name');
}

/** The same value with every view in it replaced. */
function mapViews(v: Value, f: (view: View) => View): Value {
  switch (v.kind) {
    case 'view':
      return { ...v, view: f(v.view) };
    case 'tuple':
      return { ...v, items: v.items.map((x) => mapViews(x, f)) };
    case 'record':
      return { ...v, fields: new Map([...v.fields].map(([k, x]) => [k, mapViews(x, f)])) };
    default:
      return v;
  }
}
