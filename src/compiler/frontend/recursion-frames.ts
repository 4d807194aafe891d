/**
 * Unfolds functions that call themselves: the body becomes the states of a loop, cut where a call inside stands, and what a call has yet to do goes to a
 * stack in local memory.
 *
 *     for (;;) {
 *       if (state === 0) { … a call: stack[level] = what is read behind it; level += 1; parameters; state = 0 … }
 *       if (state === 1) { … behind the call: what was kept is read back … }
 *       if (state === 2) { if (level === 0) break; level -= 1; state = returns[level]; }
 *     }
 *
 * States stand in the order of the program, so that what jumps forward stays in the round and threads of a warp that wait for each other meet. Parts of the
 * program without such calls stay as they are. A call whose result is returned as it is needs no stack: it is a jump to the start.
 */
import { OPEN } from '../elements.ts';
import type { Label } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import { expressionsOf, walkExpression, walkStatements } from '../types/parts.ts';
import type { Local, Recursion, TExpr, TMem, TStmt } from '../types/tree.ts';
import { arith, compare, toIndex } from './arithmetic.ts';
import { allocateView } from './arrays.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { literal, readLocal, type View } from './values.ts';

type RecurseStmt = Extract<TStmt, { k: 'recurse' }>;

/** A stretch of the program from one call to the next; the first is the start of the function. */
interface State {
  readonly id: number;
  readonly body: TStmt[];
  end: End;
}

/** Where control goes at the end of a state. */
type End =
  | { readonly k: 'never' }
  | { readonly k: 'to'; readonly state: State }
  | { readonly k: 'if'; readonly cond: TExpr; readonly then: State; readonly else: State; readonly pos: Pos }
  | { readonly k: 'call'; readonly call: RecurseStmt; readonly back: State }
  | { readonly k: 'return' };

/** The program without functions that call themselves. */
export function unfolded(ctx: Evaluation, body: readonly TStmt[]): TStmt[] {
  return body.flatMap((s): readonly TStmt[] => {
    switch (s.k) {
      case 'recursive':
        return new Unfolding(ctx, s.of, unfolded(ctx, s.body)).statements();
      case 'if':
        return [{ ...s, then: unfolded(ctx, s.then), else: unfolded(ctx, s.else) }];
      case 'loop':
        return [{ ...s, body: unfolded(ctx, s.body), update: unfolded(ctx, s.update) }];
      case 'block':
        return [{ ...s, body: unfolded(ctx, s.body) }];
      default:
        return [s];
    }
  });
}

class Unfolding {
  readonly #ctx: Evaluation;
  readonly #of: Recursion;
  readonly #states: State[] = [];
  /** Where jumps out of what was cut lead. */
  readonly #breaks = new Map<Label, State>();
  readonly #continues = new Map<Label, State>();
  readonly #start: State;
  readonly #leave: State;
  /** The state that runs. */
  readonly #state: Local;
  readonly #round: Label;
  readonly #kept = new Map<Local, View>();
  #returns: View | undefined;

  constructor(ctx: Evaluation, of: Recursion, body: readonly TStmt[]) {
    this.#ctx = ctx;
    this.#of = of;
    this.#state = ctx.newLocal('%state', of.pos, false);
    this.#round = ctx.newLabel();
    refuseBarriers(of, body);
    this.#start = this.#made();
    const leave: State = { id: -1, body: [], end: { k: 'return' } };
    this.#leave = leave;
    const last = this.#cut(body, this.#start);
    if (last !== undefined) last.end = { k: 'to', state: leave };
    this.#states.push(leave);
  }

  #made(): State {
    const state: State = { id: this.#states.length, body: [], end: { k: 'never' } };
    this.#states.push(state);
    return state;
  }

  #calls(list: readonly TStmt[]): boolean {
    let found = false;
    walkStatements(list, (s) => {
      found ||= s.k === 'recurse' && s.of === this.#of;
    });
    return found;
  }

  // ------------------------------------------------------------ cutting

  /** Appends a list to a state; gives the state that control is in at its end, if it comes there. */
  #cut(list: readonly TStmt[], from: State): State | undefined {
    let at = from;
    for (const s of list) {
      if (!this.#calls([s])) {
        at.body.push(s);
        if (s.k === 'break' || s.k === 'continue' || s.k === 'return' || s.k === 'trap') return undefined;
        continue;
      }
      const next = this.#split(s, at);
      if (next === undefined) return undefined;
      at = next;
    }
    return at;
  }

  #split(s: TStmt, at: State): State | undefined {
    switch (s.k) {
      case 'recurse': {
        const back = this.#made();
        at.end = { k: 'call', call: s, back };
        return back;
      }
      case 'if': {
        const [then, first] = this.#arm(s.then);
        const [otherwise, second] = this.#arm(s.else);
        at.end = { k: 'if', cond: s.cond, then, else: otherwise, pos: s.pos };
        return this.#join(first, second);
      }
      case 'block': {
        const leaving: State = { id: -1, body: [], end: { k: 'never' } };
        this.#breaks.set(s.label, leaving);
        const end = this.#cut(s.body, at);
        if (end !== undefined) end.end = { k: 'to', state: leaving };
        return this.#placed(leaving);
      }
      case 'loop': {
        const head = this.#made();
        at.end = { k: 'to', state: head };
        const leaving: State = { id: -1, body: [], end: { k: 'never' } };
        const update: State = { id: -1, body: [], end: { k: 'never' } };
        this.#breaks.set(s.label, leaving);
        this.#continues.set(s.label, update);
        const end = this.#cut(s.body, head);
        if (end !== undefined) end.end = { k: 'to', state: update };
        this.#placed(update);
        const again = this.#cut(s.update, update);
        if (again !== undefined) again.end = { k: 'to', state: head };
        return this.#placed(leaving);
      }
      default:
        throw new Error(`a call inside of ${s.k}`);
    }
  }

  #arm(list: readonly TStmt[]): readonly [State, State | undefined] {
    const start = this.#made();
    return [start, this.#cut(list, start)];
  }

  #join(a: State | undefined, b: State | undefined): State | undefined {
    if (a === undefined && b === undefined) return undefined;
    const both = this.#made();
    for (const arm of [a, b]) if (arm !== undefined) arm.end = { k: 'to', state: both };
    return both;
  }

  /** Puts a state that was named before in its place in the program. */
  #placed(state: State): State {
    (state as { id: number }).id = this.#states.length;
    this.#states.push(state);
    return state;
  }

  // ------------------------------------------------------------ variables

  #isOwn(local: Local): boolean {
    return local.id >= this.#of.first && local.id < this.#of.last && !this.#of.results.has(local);
  }

  /** Where the jumps of a list lead that leave it. */
  #jumps(list: readonly TStmt[]): State[] {
    const found: State[] = [];
    walkStatements(list, (s) => {
      if (s.k !== 'break' && s.k !== 'continue') return;
      const to = (s.k === 'break' ? this.#breaks : this.#continues).get(s.label);
      if (to !== undefined) found.push(to);
    });
    return found;
  }

  /** The variables of a call that are read at the start of a state or further on, before they are assigned. */
  #live(): Map<State, Set<Local>> {
    const live = new Map<State, Set<Local>>(this.#states.map((s) => [s, new Set()]));
    const at = (s: State): ReadonlySet<Local> => live.get(s) ?? new Set();
    for (let changed = true; changed; ) {
      changed = false;
      for (const state of [...this.#states].reverse()) {
        const after = new Set<Local>();
        const add = (from: Iterable<Local>): void => {
          for (const local of from) after.add(local);
        };
        const { end } = state;
        if (end.k === 'to') add(at(end.state));
        if (end.k === 'if') {
          add(at(end.then));
          add(at(end.else));
          add(this.#readBy([end.cond]));
        }
        if (end.k === 'call') {
          add(at(end.back));
          add(this.#readIn(end.call.body));
        }
        for (const s of [...state.body].reverse()) {
          for (const to of this.#jumps([s])) add(at(to));
          if (s.k === 'assign') after.delete(s.local);
          add(this.#readIn([s]));
        }
        const known = live.get(state);
        if (known !== undefined && known.size !== after.size) {
          live.set(state, after);
          changed = true;
        }
      }
    }
    return live;
  }

  #readIn(list: readonly TStmt[]): Set<Local> {
    const found = new Set<Local>();
    walkStatements(list, (s) => {
      for (const local of this.#readBy(expressionsOf(s))) found.add(local);
    });
    return found;
  }

  #readBy(expressions: readonly TExpr[]): Set<Local> {
    const found = new Set<Local>();
    for (const e of expressions) {
      walkExpression(e, (x) => {
        if (x.k === 'local' && this.#isOwn(x.local)) found.add(x.local);
      });
    }
    return found;
  }

  /** Whether what stands behind a call does nothing but return what the call has returned. */
  #isTail(back: State): boolean {
    const copies = new Map<Local, Local>();
    const seen = new Set<State>();
    for (let at = back; !seen.has(at); ) {
      seen.add(at);
      let to: State | undefined = at.end.k === 'to' ? at.end.state : undefined;
      for (const s of at.body) {
        if (s.k === 'name') continue;
        if (s.k === 'break' || s.k === 'continue') {
          to = (s.k === 'break' ? this.#breaks : this.#continues).get(s.label);
          break;
        }
        if (s.k !== 'assign' || s.value.k !== 'local') return false;
        const from = s.value.local;
        const of = copies.get(from) ?? (this.#of.results.has(from) ? from : undefined);
        if (of === undefined || (this.#of.results.has(s.local) && s.local !== of)) return false;
        copies.set(s.local, of);
      }
      if (to === undefined) return false;
      if (to === this.#leave) return true;
      at = to;
    }
    return false;
  }

  // ------------------------------------------------------------ writing

  statements(): TStmt[] {
    const { pos, level } = this.#of;
    const live = this.#live();
    const body = this.#states.map((state): TStmt => {
      const cond = compare('eq', readLocal(this.#state, pos), literal(this.#states.indexOf(state), pos), pos);
      const then = [...this.#jumping(state.body), ...this.#ending(state, live)];
      return { k: 'if', cond, then, else: [], pos };
    });
    const start: TStmt[] = [
      { k: 'assign', local: level, value: toIndex(literal(0, pos)), pos },
      { k: 'assign', local: this.#state, value: this.#numberOf(this.#start, pos), pos },
    ];
    return [...start, { k: 'loop', label: this.#round, body, update: [], pos }];
  }

  #numberOf(state: State, pos: Pos): TExpr {
    let to = state;
    while (to.body.length === 0 && to.end.k === 'to' && to.end.state !== state) to = to.end.state;
    return { k: 'cast', to: 'i32', a: literal(this.#states.indexOf(to), pos), pos };
  }

  #goTo(state: State, pos: Pos): TStmt {
    return { k: 'assign', local: this.#state, value: this.#numberOf(state, pos), pos };
  }

  /** The statements, with jumps to where something was cut. */
  #jumping(list: readonly TStmt[]): TStmt[] {
    return list.flatMap((s): readonly TStmt[] => {
      switch (s.k) {
        case 'break':
        case 'continue': {
          const to = (s.k === 'break' ? this.#breaks : this.#continues).get(s.label);
          if (to === undefined) return [s];
          return [this.#goTo(to, s.pos), { k: 'continue', label: this.#round, pos: s.pos }];
        }
        case 'if':
          return [{ ...s, then: this.#jumping(s.then), else: this.#jumping(s.else) }];
        case 'loop':
          return [{ ...s, body: this.#jumping(s.body), update: this.#jumping(s.update) }];
        case 'block':
          return [{ ...s, body: this.#jumping(s.body) }];
        default:
          return [s];
      }
    });
  }

  #ending({ end }: State, live: ReadonlyMap<State, ReadonlySet<Local>>): readonly TStmt[] {
    const { pos, level } = this.#of;
    switch (end.k) {
      case 'never':
        return [];
      case 'to':
        return [this.#goTo(end.state, pos)];
      case 'if':
        return [
          {
            k: 'if',
            cond: end.cond,
            then: [this.#goTo(end.then, end.pos)],
            else: [this.#goTo(end.else, end.pos)],
            pos: end.pos,
          },
        ];
      case 'call':
        if (this.#isTail(end.back)) return [...end.call.body, this.#goTo(this.#start, end.call.pos)];
        return this.#call(end.call, end.back, live.get(end.back) ?? new Set());
      case 'return': {
        const done = compare('eq', readLocal(level, pos), literal(0, pos), pos);
        const leave: TStmt = { k: 'if', cond: done, then: [{ k: 'break', label: this.#round, pos }], else: [], pos };
        if (this.#returns === undefined) return [leave];
        const back: TExpr = { k: 'load', mem: this.#at(this.#returns, pos), pos };
        return [leave, this.#step('sub', pos), { k: 'assign', local: this.#state, value: back, pos }];
      }
    }
  }

  #call({ body, pos }: RecurseStmt, back: State, kept: ReadonlySet<Local>): readonly TStmt[] {
    const { depth, level, name } = this.#of;
    const deep = compare('ge', readLocal(level, pos), literal(depth - 1, pos), pos);
    const message = `${name} calls itself more than ${depth} deep (maxRecursion)`;
    const room = Math.max(depth - 1, 1);
    const slots = [...kept].map((local) => {
      const view = this.#kept.get(local) ?? allocateView(this.#ctx, 'local', [room], OPEN, local.name, pos);
      this.#kept.set(local, view);
      return { local, view };
    });
    this.#returns ??= allocateView(this.#ctx, 'local', [room], OPEN, '%returns', pos);
    back.body.unshift(
      ...slots.map(({ local, view }): TStmt => {
        return { k: 'assign', local, value: { k: 'load', mem: this.#at(view, pos), pos }, pos };
      }),
    );
    return [
      { k: 'if', cond: deep, then: [{ k: 'trap', message, pos }], else: [], pos },
      ...slots.map(({ local, view }): TStmt => {
        return { k: 'store', mem: this.#at(view, pos), value: readLocal(local, pos), pos };
      }),
      { k: 'store', mem: this.#at(this.#returns, pos), value: this.#numberOf(back, pos), pos },
      this.#step('add', pos),
      ...body,
      this.#goTo(this.#start, pos),
    ];
  }

  #step(fn: 'add' | 'sub', pos: Pos): TStmt {
    const { level } = this.#of;
    return { k: 'assign', local: level, value: arith(fn, readLocal(level, pos), toIndex(literal(1, pos)), pos), pos };
  }

  /** The element of a stack that belongs to the frame that runs. */
  #at({ root, element, unit, align }: View, pos: Pos): TMem {
    return { root, elem: element.elem, disp: 0, align, index: readLocal(this.#of.level, pos), unit, checks: [], pos };
  }
}

/** Threads are at different depths, and at different calls. */
function refuseBarriers({ name }: Recursion, body: readonly TStmt[]): void {
  walkStatements(body, (s) => {
    if (s.k !== 'barrier' && s.k !== 'warp') return;
    fail(
      'K315',
      s.pos,
      `${name} calls itself, and threads that wait for each other in it would be in different calls of it`,
      {
        help: 'move barriers and exchanges between the threads of a warp out of functions that call themselves',
      },
    );
  });
}
