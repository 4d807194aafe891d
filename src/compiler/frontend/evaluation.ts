/**
 * The state of one partial evaluation: arguments and memory, inlined calls and their jump targets; and the services that all parts of the
 * front end share (positions, slots for variables, order of evaluation). The statement list is that of `statement-writer.ts`.
 *
 * The parts that evaluate expressions, statements and calls need each other; they meet here, in `parts`, and not by import.
 */
import type { AnyNode } from 'acorn';
import { isTimeDType } from '../../dtype/index.ts';
import type { CapturedArray, CompileOptions } from '../contract.ts';
import type { Label } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Local, Recursion, Root, ScalarArg, TExpr, TStmt } from '../types/tree.ts';
import { refuseUndefined } from './absence.ts';
import { areAlike, eitherView, refuseUnlike } from './array-choices.ts';
import type { CapturedFunction } from './captured.ts';
import { complex, refuseComplex, selectComplex, toComplex } from './complex.ts';
import { fail } from './diagnostics.ts';
import { eitherFunction, isCallable, isSame, withSameFunctions } from './function-choices.ts';
import type { Hints } from './hints.ts';
import { isCheap, isStable, neverEnds } from './measures.ts';
import { eitherObject, hasObject, hold, isObject, putInBox } from './object-slots.ts';
import { keepOptional, notePresence, withFlag, withoutFlag } from './optionals.ts';
import { isNameable, nameFor } from './regions.ts';
import { fillSlot, makeSlot } from './slots.ts';
import { StatementWriter } from './statement-writer.ts';
import {
  type Binding,
  type ClassValue,
  describeValue,
  type FunctionValue,
  isAbsent,
  isLiteral,
  isOptional,
  literal,
  mapScalars,
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
  /** A call inside of a function that calls itself has used its result. */
  asked?: boolean;
  /** Some `return` in it gives a value. */
  gave?: boolean;
  /** Some `return` gives nothing. */
  returnedNothing?: boolean;
  readonly targets: JumpTarget[];
  readonly site: Pos | undefined;
  /** Set in a function that calls itself. */
  readonly recursion?: RecursiveCall;
  /** Its names, which a `return` leaves. */
  readonly scope?: Scope;
}

/** The function that calls itself, as its outermost call has found it. */
export interface RecursiveCall extends Recursion {
  /** What its parameters are in all calls: variables for arguments that differ. */
  readonly given: readonly Value[];
  readonly self: Value | undefined;
}

/** What the parts of the front end call each other by. */
export interface Parts {
  evaluate(ctx: Evaluation, node: AnyNode, scope: Scope): Value;
  condition(ctx: Evaluation, node: AnyNode, scope: Scope): TExpr;
  statements(ctx: Evaluation, list: readonly AnyNode[], scope: Scope): void;
  /** `self`: what `this` is in it. */
  call(ctx: Evaluation, fn: FunctionValue, args: readonly Value[], pos: Pos, self?: Value): Value;
  /** A plain object of the host as the object of values that it is in a kernel; other values as they are. */
  asObject(ctx: Evaluation, v: Value, pos: Pos): Value;
  /** A string in memory as a copy in memory of the thread; other values as they are. */
  ownText(ctx: Evaluation, v: Value, pos: Pos): Value;
  /** Two values that a thread chooses between, with strings that are known in constant memory. */
  chosenTexts(ctx: Evaluation, a: Value, b: Value, pos: Pos): readonly [Value, Value];
  /** Two values of different kinds meet: one may only have been taken for what it is. */
  guessAgain(ctx: Evaluation, a: Value, b: Value): void;
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
  /** Strings that are known while compiling, as constant memory holds them. */
  readonly texts: Map<string, object> = new Map();
  /** Literals that are rows of arrays in memory. */
  readonly rows: WeakSet<AnyNode> = new WeakSet();
  readonly frames: Frame[] = [];
  /** Classes of the host that have been read. */
  readonly classes: Map<object, ClassValue> = new Map();
  /** Calls that were inlined into device functions. */
  inlinedWithin = 0;
  /** Variables taken for numbers, though nothing has been assigned to them yet; with the error that they deserve if they are. */
  readonly supposed: Map<Local, (() => never) | undefined> = new Map();
  /** Expressions of the function being evaluated that have been evaluated already: where a chain with `?.` goes on from. */
  pinned: Map<AnyNode, Value> = new Map();
  /** The function that the kernel was made of, by which others are read. */
  readonly kernel: CapturedFunction;
  readonly #nodeIds = new Map<object, number>();
  constructor(parts: Parts, kernel: CapturedFunction, options: CompileOptions, hints: Hints) {
    super(hints);
    this.parts = parts;
    this.kernel = kernel;
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
    if (v.kind === 'complex') return refuseComplex(what, pos);
    if (isAbsent(v) && v.why !== undefined) return refuseUndefined(v.name, pos, v.why);
    if (v.kind === 'host' && v.why !== undefined) {
      const number = typeof v.value === 'string' && v.value.trim() !== '' && Number.isFinite(Number(v.value));
      return fail('K221', pos, `expected ${what}, but ${v.why.text}`, {
        help: number
          ? `write ${Number(v.value)} without quotes`
          : 'a string can be compared with others, and nothing else',
      });
    }
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
    if (v.kind === 'vector' && isTimeDType(v.type)) {
      return fail('K221', pos, `expected ${what}, but this is ${describeValue(v)}`, {
        help: 'its count is i64(d), as a number Number(i64(d))',
      });
    }
    if (v.kind === 'vector') {
      return fail('K221', pos, `expected ${what}, but this is ${describeValue(v)}`, { help: 'name a lane, as in v.x' });
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
    if (v.kind === 'record') return { ...v, fields: new Map([...v.fields].map(([k, x]) => [k, this.#kept(x, f)])) };
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
    const { depth, loops } = this;
    const binding: Binding = { name, pos, constant, value: undefined, depth, loops, scope };
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
    binding.boundIn = this.inBranch;
    if (isAbsent(value)) return this.#empty(binding, value, pos);
    const plain = this.#widened(binding, withoutFlag(value));
    const given = binding.constant ? plain : this.parts.asObject(this, plain, pos);
    const notes = this.collect(() => notePresence(this, binding, value, pos));
    if (!binding.constant) {
      if (!putInBox(this, binding, given, pos)) {
        binding.value = this.slot(given, binding.name, pos);
        fillSlot(this, binding.value, given, binding, pos);
      }
    } else if (given.kind === 'scalar') {
      if (isLiteral(given.expr)) binding.value = given;
      else binding.value = scalar(this.temp(given.expr, binding.name));
    } else if (given.kind === 'complex') {
      const { re, im } = given;
      binding.value = complex(this.temp(re, `${binding.name}.re`), this.temp(im, `${binding.name}.im`));
    } else {
      const own = this.hints.isKept(binding.name, pos) ? this.parts.ownText(this, given, pos) : given;
      binding.value = this.named(this.holdValue(own, binding.name), binding.name, pos);
    }
    hold(binding, given);
    for (const s of notes) this.emit(s);
  }

  /** `name = value`. */
  assign(binding: Binding, value: Value, pos: Pos): void {
    if (isAbsent(value)) return this.#empty(binding, value, pos);
    const given = this.parts.asObject(this, this.#widened(binding, withoutFlag(value)), pos);
    if (binding.value === undefined) {
      binding.depth = this.depth;
      binding.boundIn = this.inBranch;
    }
    // What is assigned may ask for the value that there was: `m = m === undefined ? 1 : 2`.
    const notes = this.collect(() => notePresence(this, binding, value, pos));
    if (!putInBox(this, binding, given, pos)) {
      binding.value ??= this.slot(given, binding.name, pos);
      fillSlot(this, binding.value, given, binding, pos);
    }
    hold(binding, given);
    for (const s of notes) this.emit(s);
  }

  /** What a variable that becomes complex further down is given. */
  #widened(binding: Binding, value: Value): Value {
    return value.kind === 'scalar' && this.hints.isComplex(binding) ? (toComplex(value) ?? value) : value;
  }

  /** `name = undefined`. */
  #empty(binding: Binding, value: Extract<Value, { kind: 'host' }>, pos: Pos): void {
    const why = value.why ?? { text: `${binding.name} is ${value.name}`, pos };
    binding.empty = { ...value, name: binding.name, why };
    if (!binding.constant) notePresence(this, binding, value, pos, why);
  }

  /** A value of the same structure whose scalars are fresh variables. */
  slot(like: Value, name: string, pos: Pos): Value {
    return makeSlot(this, like, name, pos);
  }

  /** Stores `value` in a slot made by `slot` that belongs to no variable: the result of a call. */
  store(slot: Value, value: Value, name: string, pos: Pos): void {
    fillSlot(
      this,
      slot,
      value,
      { name, pos, constant: false, value: slot, depth: -1, loops: Number.POSITIVE_INFINITY },
      pos,
    );
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
    if (neverEnds(thenList) || neverEnds(elseList)) {
      // Only one arm gives a value.
      this.emit({ k: 'if', cond, then: thenList, else: elseList, pos });
      return neverEnds(thenList) ? b : a;
    }
    // One arm is complex: so is the other.
    if (a.kind === 'complex' && !isOptional(b)) b = toComplex(b) ?? b;
    if (b.kind === 'complex' && !isOptional(a)) a = toComplex(a) ?? a;
    // Captured objects are chosen between as those are that the kernel makes.
    if (a.kind !== b.kind || (a.kind === 'host' && b.kind === 'host' && a.value !== b.value)) {
      a = this.parts.asObject(this, a, pos);
      b = this.parts.asObject(this, b, pos);
    }
    if (a.kind === 'host' || b.kind === 'host') [a, b] = this.parts.chosenTexts(this, a, b, pos);
    const optional = isOptional(a) || isOptional(b);
    // One of them is memory: so has the other to be.
    for (const [is, other] of [
      [a, b],
      [b, a],
    ] as const)
      if (is.kind === 'view' && other.kind === 'tuple') this.hints.beMemory(other);
    if (thenList.length === 0 && elseList.length === 0 && !optional) {
      if (a.kind === 'scalar' && b.kind === 'scalar' && isCheap(a.expr) && isCheap(b.expr)) {
        return scalar({ k: 'select', cond, a: a.expr, b: b.expr, pos });
      }
      if (a.kind === 'complex' && b.kind === 'complex' && [a.re, a.im, b.re, b.im].every(isCheap)) {
        return selectComplex(this, cond, a, b, pos);
      }
      if (a.kind === 'view' && b.kind === 'view' && isArray(a.view) && isArray(b.view) && areAlike(a.view, b.view))
        return { kind: 'view', view: eitherView(this.hints, this.hold(cond), a.view, b.view, pos) };
      if (isSame(a, b)) return a;
    }
    if (isCallable(a) && isCallable(b)) return eitherFunction(this, cond, [thenList, a], [elseList, b], pos);
    if (isAbsent(a) && isAbsent(b) && a.value === b.value) {
      // Used as a statement: c ? f() : g(), c && f().
      this.emit({ k: 'if', cond, then: thenList, else: elseList, pos });
      return a;
    }
    if (isObject(a) && isObject(b) && !optional && (hasObject(a) || hasObject(b))) {
      // Which it is must be known for good: what the arms do may change what was asked.
      const which = this.hold(cond);
      if (thenList.length > 0 || elseList.length > 0)
        this.emit({ k: 'if', cond: which, then: thenList, else: elseList, pos });
      return eitherObject(this, which, a, b, pos);
    }
    const like = isAbsent(a) ? b : a;
    const other = isAbsent(b) ? like : b;
    if (like.kind === 'view' && other.kind === 'view' && !areAlike(like.view, other.view))
      return refuseUnlike(like.view, other.view, pos);
    if (like.kind !== other.kind) this.parts.guessAgain(this, like, other);
    if (like.kind !== other.kind || like.kind === 'function' || (like.kind === 'host' && !isAbsent(like))) {
      const text = [a, b].some((v) => v.kind === 'host' && typeof v.value === 'string');
      return fail('K232', pos, `one branch gives ${describeValue(a)}, the other ${describeValue(b)}`, {
        help: text
          ? 'both branches must be strings, and a known string must fit into the type of the other'
          : 'both branches must give the same kind of value; write an if statement, or index one array instead of choosing between several',
      });
    }
    let which: TExpr | undefined;
    const [first, second] = withSameFunctions(() => (which ??= this.hold(cond)), a, b, pos);
    const form = isAbsent(first) ? second : first;
    const own = this.slot(isAbsent(form) ? scalar(literal(0, pos)) : withoutFlag(form), '%choice', pos);
    const slot = optional ? withFlag(this, own, this.newLocal('%has', pos, false), pos) : own;
    const store = (list: TStmt[], v: Value): TStmt[] => [
      ...list,
      ...this.collect(() => this.store(slot, v, 'the result', pos)),
    ];
    this.emit({ k: 'if', cond: which ?? cond, then: store(thenList, first), else: store(elseList, second), pos });
    return slot;
  }
}

/** Whether a view is no object of JavaScript's inside a record, and no more than a little work to name. */
function isArray({ axes, via, checks, offset }: View): boolean {
  const parts = [offset, ...axes.flatMap((a) => [a.extent, a.stride]), ...checks.flatMap((c) => [c.index, c.extent])];
  return axes.length > 0 && via === undefined && parts.every((e) => e === undefined || isCheap(e));
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
