/**
 * Runs a program directly, thread by thread, in phases between barriers: what every device must give, bit for bit.
 *
 * Expressions and statements become closures once; those that hold a barrier become generators that yield at it. Shares no
 * code with the compiler.
 */
import { type Call, type Thread, Values } from './evaluate-values.ts';
import { exchanged, type Given } from './exchanges.ts';
import type { Line } from './prints.ts';
import {
  count,
  type Expr,
  type FuncDecl,
  hasBarrier,
  isBig,
  isFloat,
  type Program,
  type Stmt,
  type Val,
  widened,
} from './program.ts';
import { atomic, binary, cast, ofBits, quotient, stored } from './semantics.ts';
import { Traffic } from './traffic.ts';
import { Discarded } from './verdicts.ts';

/** What a statement ends with: nothing, a jump, or a return. */
type Signal = undefined | { readonly k: 'break' | 'continue'; readonly label: string | undefined } | 'return';
type Run = (s: Thread) => Signal;
interface Stop {
  readonly kind: 'barrier' | 'Count' | 'And' | 'Or' | 'exchange';
  readonly site: Stmt;
  readonly pred: boolean;
  readonly given?: Given;
}
/** Fewer than a device has room for. */
const MAX_LINES = 4000;

type Gen = (s: Thread) => Generator<Stop, Signal, Val>;

/** A value that is computed with, which an element that nobody wrote does not have. */
function present(v: Val | undefined, name: string): Val {
  if (v === undefined) throw new Discarded(`${name} is not initialised`);
  return v;
}

/** What a launch leaves: the contents of all global arrays, and the lines that were printed. */
export interface Outcome {
  readonly memory: ReadonlyMap<string, readonly Val[]>;
  readonly lines: readonly Line[];
  /** Whether a thread has asked a lane for its value that took no part. */
  readonly asksAbsentLanes: boolean;
  readonly hasSubnormals: boolean;
  readonly roundsOnce: boolean;
}

class Evaluator extends Values {
  readonly lines: Line[] = [];
  asksAbsentLanes = false;
  private readonly functions = new Map<FuncDecl, Call>();

  protected override fn(f: FuncDecl): Call {
    const known = this.functions.get(f);
    if (known !== undefined) return known;
    const outer = this.slots;
    this.slots = new Map();
    for (const p of f.params) this.slot(p.name);
    const presets = f.params.map((p) => p.preset && this.expr(p.preset));
    const body = this.list(f.body);
    this.slots = outer;
    const call: Call = (args, s) => {
      const frame = s.v;
      s.v = f.params.map((_, i) => args[i] ?? presets[i]?.(s));
      s.result = undefined;
      if (body(s) !== 'return' && !f.maybe) throw new Discarded(`${f.name} does not return`);
      s.v = frame;
      const { result } = s;
      s.result = undefined;
      return result;
    };
    this.functions.set(f, call);
    return call;
  }

  list(list: readonly Stmt[]): Run {
    const runs = list.map((s) => this.stmt(s));
    return (s) => {
      for (const run of runs) {
        const signal = run(s);
        if (signal !== undefined) return signal;
      }
      return undefined;
    };
  }

  private stmt(s: Stmt): Run {
    switch (s.k) {
      case 'let': {
        const [n, value] = [this.slot(s.name), this.expr(s.value)];
        return (x) => void (x.v[n] = value(x));
      }
      case 'ratio': {
        const { other, t } = s;
        const [a, b] = [this.expr(s.a), this.expr(s.b)];
        const [c, x, y] = other ? [this.expr(other.c), this.expr(other.a), other.b && this.expr(other.b)] : [];
        const uses = s.uses.map((u) => [this.slot(u.name), u.op] as const);
        return (z) => {
          let [over, under] = [a(z), b(z)];
          if (c?.(z)) [over, under] = [x?.(z) ?? 0, y?.(z) ?? 1];
          for (const [n, op] of uses) z.v[n] = quotient(op, t, over, under);
        };
      }
      case 'set': {
        const [n, value, { op, t }] = [this.slot(s.name), this.expr(s.value), s];
        if (op === undefined) return (x) => void (x.v[n] = value(x));
        const from = s.value.t;
        if (t === 'bool')
          return (x) => void (Boolean(present(x.v[n], s.name)) === (op === 'and') && (x.v[n] = value(x)));
        const own = ofBits(op) ? (v: Val): Val => v : (v: Val): Val => cast(from, t, v);
        return (x) => void (x.v[n] = binary(op, t, present(x.v[n], s.name), own(value(x))));
      }
      case 'arrays': {
        const to = s.to.map(({ name, of }) => [name.name, this.choice(of)] as const);
        return (x) => {
          const found = to.map(([name, of]) => [name, of(x)] as const);
          for (const [name, array] of found) x.arrays.set(name, array);
          return undefined;
        };
      }
      case 'store': {
        const [place, value, { op }] = [this.place(s.array, s.at), this.expr(s.value), s];
        const t = widened(s.array.elem);
        return (x) => {
          const array = this.actual(s.array, x);
          const cells = this.cells(array, x);
          const i = place(x);
          if (op !== undefined && t === 'bool' && present(cells[i], array.name) !== (op === 'and')) {
            this.traffic.get(array.name)?.read(i, x.t);
            return undefined;
          }
          const v = value(x);
          const traffic = this.traffic.get(array.name);
          if (op !== undefined) traffic?.read(i, x.t);
          traffic?.write(i, x.t, false);
          // A rounded float goes into integers as a conversion does, saturating.
          if (op === undefined && (isFloat(s.value.t) ? !isFloat(t) : array.elem === 'u8c')) {
            cells[i] = cast(s.value.t, array.elem, v);
            return undefined;
          }
          // Clamped bytes are computed with in the type of the float, and rounded once.
          if (array.elem === 'u8c' && op !== undefined && isFloat(s.value.t) && !ofBits(op)) {
            const sum = binary(op, s.value.t, cast(t, s.value.t, present(cells[i], array.name)), v);
            cells[i] = cast(s.value.t, 'u8c', sum);
            return undefined;
          }
          cells[i] = stored(
            array.elem,
            op === undefined || t === 'bool'
              ? v
              : binary(op, t, present(cells[i], array.name), ofBits(op) ? v : cast(s.value.t, t, v)),
          );
          return undefined;
        };
      }
      case 'bump': {
        const [place, n, { array, up, prefix }] = [this.place(s.array, s.at), this.slot(s.name), s];
        const t = widened(array.elem);
        return (x) => {
          const cells = this.cells(array, x);
          const i = place(x);
          const traffic = this.traffic.get(array.name);
          traffic?.read(i, x.t);
          traffic?.write(i, x.t, false);
          const before = present(cells[i], array.name);
          const after = binary(up ? 'add' : 'sub', t, before, isBig(t) ? 1n : 1);
          cells[i] = stored(array.elem, after);
          x.v[n] = prefix ? after : before;
          return undefined;
        };
      }
      case 'atomic': {
        const [place, args] = [this.place(s.array, s.at), s.args.map((a) => this.expr(a))];
        const n = s.name === undefined ? -1 : this.slot(s.name);
        const { op, array } = s;
        return (x) => {
          const cells = this.cells(array, x);
          const i = place(x);
          const old = cells[i];
          if (old === undefined) throw new Discarded(`${array.name} is not initialised`);
          this.traffic.get(array.name)?.write(i, x.t, s.at.form !== 'own');
          cells[i] = atomic(
            op,
            array.elem,
            old,
            args.map((a) => a(x)),
          );
          if (n >= 0) x.v[n] = old;
          return undefined;
        };
      }
      case 'if': {
        const [c, then, otherwise] = [this.expr(s.c), this.list(s.then), this.list(s.else)];
        return (x) => (c(x) ? then(x) : otherwise(x));
      }
      case 'for': {
        const [n, from, to, by] = [this.slot(s.name), this.bound(s.from), this.bound(s.to), this.bound(s.step)];
        const body = this.list(s.body);
        return (x) => {
          const { next, goesOn } = stepping(s, to(x), by(x));
          for (let i = from(x); goesOn(i); i = next(i)) {
            this.step();
            x.v[n] = i;
            const signal = ends(body(x), s.label);
            if (signal === 'over') break;
            if (signal !== undefined) return signal;
          }
          return undefined;
        };
      }
      case 'while': {
        const [n, c, body] = [this.slot(s.fuelName), this.expr(s.c), this.list(s.body)];
        const test = (x: Thread): boolean => {
          const fuel = Number(x.v[n]);
          x.v[n] = fuel + 1;
          return fuel < s.fuel && Boolean(c(x));
        };
        return (x) => {
          x.v[n] = 0;
          if (!s.post && !test(x)) return undefined;
          do {
            this.step();
            const signal = ends(body(x), s.label);
            if (signal === 'over') break;
            if (signal !== undefined) return signal;
          } while (test(x));
          return undefined;
        };
      }
      case 'switch': {
        const on = this.expr(s.on);
        const bodies = s.cases.map((c) => this.list(c.body));
        return (x) => {
          const v = Number(on(x));
          let at = s.cases.findIndex((c) => c.test === v);
          if (at < 0) at = s.cases.findIndex((c) => c.test === undefined);
          if (at < 0) return undefined;
          for (; at < bodies.length; at++) {
            const signal = (bodies[at] as Run)(x);
            if (signal !== undefined)
              return signal !== 'return' && signal.k === 'break' && signal.label === undefined ? undefined : signal;
            if (!s.cases[at]?.falls) return undefined;
          }
          return undefined;
        };
      }
      case 'break':
      case 'continue': {
        const signal = { k: s.k, label: s.label };
        return () => signal;
      }
      case 'maybe': {
        const [n, value] = [this.slot(s.name), s.value && this.maybe(s.value)];
        if (value === undefined && s.how === 'var') return () => undefined;
        return (x) => void (x.v[n] = value?.(x));
      }
      case 'give': {
        const [n, value, { ifNone }] = [this.slot(s.name), this.maybe(s.value), s];
        return (x) => void (ifNone ? (x.v[n] ??= value(x)) : (x.v[n] = value(x)));
      }
      case 'return': {
        const given = s.maybe && this.maybe(s.maybe);
        const value = s.value === undefined ? given : this.expr(s.value);
        return (x) => {
          if (value !== undefined) x.result = value(x);
          return 'return';
        };
      }
      case 'print': {
        const args = s.args.map((shown) => this.shown(shown));
        return (x) => {
          if (this.lines.push([x.k, ...args.map((a) => a(x))]) > MAX_LINES) throw new Discarded('too many lines');
          return undefined;
        };
      }
      case 'barrier':
      case 'vote':
      case 'exchange':
        throw new Error('barriers are run by generators');
    }
  }

  /** Statements with barriers inside. */
  gens(list: readonly Stmt[]): Gen {
    const parts = list.map((s) => (hasBarrier([s]) ? { gen: this.gen(s) } : { run: this.stmt(s) }));
    return function* (s) {
      for (const part of parts) {
        const signal: Signal = 'gen' in part ? yield* part.gen(s) : part.run(s);
        if (signal !== undefined) return signal;
      }
      return undefined;
    };
  }

  private gen(s: Stmt): Gen {
    switch (s.k) {
      case 'barrier':
        return function* () {
          yield { kind: 'barrier', site: s, pred: false };
          return undefined;
        };
      case 'vote': {
        const [n, pred] = [this.slot(s.name), this.expr(s.pred)];
        return function* (x) {
          x.v[n] = yield { kind: s.kind, site: s, pred: Boolean(pred(x)) };
          return undefined;
        };
      }
      case 'exchange': {
        const n = this.slot(s.name);
        const [mask, value, by] = [this.expr(s.mask), this.expr(s.value), this.expr(s.by)];
        return function* (x) {
          const given: Given = { lane: x.t % 32, mask: Number(mask(x)), value: value(x), by: Number(by(x)) };
          x.v[n] = yield { kind: 'exchange', site: s, pred: false, given };
          return undefined;
        };
      }
      case 'if': {
        const [c, then, otherwise] = [this.expr(s.c), this.gens(s.then), this.gens(s.else)];
        return function* (x) {
          return yield* (c(x) ? then : otherwise)(x);
        };
      }
      case 'for': {
        const [n, body] = [this.slot(s.name), this.gens(s.body)];
        const [from, to, by] = [this.bound(s.from), this.bound(s.to), this.bound(s.step)];
        return function* (x) {
          const { next, goesOn } = stepping(s, to(x), by(x));
          for (let i = from(x); goesOn(i); i = next(i)) {
            x.v[n] = i;
            const signal = ends(yield* body(x), s.label);
            if (signal === 'over') break;
            if (signal !== undefined) return signal;
          }
          return undefined;
        };
      }
      default:
        throw new Error(`a barrier in ${s.k}`);
    }
  }

  /** Where a loop starts, or how far it steps. */
  private bound(b: number | Expr): (x: Thread) => number {
    if (typeof b === 'number') return () => b;
    const value = this.expr(b);
    return (x) => Number(value(x));
  }
}

/** What a loop does after a round that ended with `signal`: goes on, is over, or passes it outwards. */
function ends(signal: Signal, label: string | undefined): Signal | 'over' {
  if (signal === undefined || signal === 'return') return signal;
  if (signal.label !== undefined && signal.label !== label) return signal;
  return signal.k === 'break' ? 'over' : undefined;
}

/** What the launch leaves. */
export function evaluate(p: Program): Outcome {
  const evaluator = new Evaluator(p);
  const main = evaluator.gens(p.body);
  const [bx, by] = p.block;
  const blocks = new Map(
    p.arrays.filter((a) => a.space === 'out').map((a) => [a.name, new Int32Array(count(a)).fill(-1)]),
  );
  for (let block = 0; block < p.grid; block++) {
    for (const a of p.arrays)
      if (a.space === 'shared' || a.space === 'dynamic') evaluator.memory.set(a.name, new Array(count(a)));
    const running = Array.from({ length: bx * by }, (_, t) => {
      const locals = new Map(
        p.arrays.filter((a) => a.space === 'local').map((a): [string, Val[]] => [a.name, new Array(count(a))]),
      );
      const thread: Thread = {
        v: [],
        locals,
        arrays: new Map(),
        x: t % bx,
        y: Math.floor(t / bx),
        block,
        t,
        k: block * bx * by + t,
        result: 0,
        times: new Map(),
      };
      return { t, run: main(thread), answer: 0 };
    });
    phases(
      running,
      () => {
        for (const a of p.arrays)
          if (a.space !== 'local' && a.space !== 'const')
            evaluator.traffic.set(a.name, new Traffic(count(a), block, blocks.get(a.name)));
      },
      () => {
        evaluator.asksAbsentLanes = true;
      },
    );
  }
  return evaluator;
}

interface Running {
  readonly t: number;
  readonly run: Generator<Stop, Signal, Val>;
  answer: Val;
  stop?: Stop | undefined;
}

/** Runs the threads of one block from barrier to barrier until all have ended. */
function phases(threads: readonly Running[], begin: () => void, absent: () => void): void {
  let running = [...threads];
  while (running.length > 0) {
    begin();
    do {
      running = running.filter((thread) => {
        if (thread.stop !== undefined) return true;
        const { done, value } = thread.run.next(thread.answer);
        if (!done) thread.stop = value as Stop;
        return !done;
      });
    } while (meetInWarps(running, absent));
    const stops = running.flatMap(({ stop }) => (stop === undefined ? [] : [stop]));
    const [first] = stops;
    if (first === undefined) return;
    if (first.kind === 'exchange' || stops.some((s) => s.site !== first.site))
      throw new Discarded('barriers are not reached together');
    const yes = stops.filter((s) => s.pred).length;
    const answer =
      first.kind === 'Count'
        ? yes
        : first.kind === 'And'
          ? Number(yes === stops.length)
          : first.kind === 'Or'
            ? Number(yes > 0)
            : 0;
    for (const thread of running) {
      thread.answer = answer;
      thread.stop = undefined;
    }
  }
}

/** Lets threads go on whose lanes have all come, and says whether there were any. */
function meetInWarps(running: readonly Running[], absent: () => void): boolean {
  const met: [Running, Val][] = [];
  for (const thread of running) {
    const { stop } = thread;
    if (stop?.given === undefined || stop.site.k !== 'exchange') continue;
    const { mask } = stop.given;
    const named = running.filter((o) => o.t >> 5 === thread.t >> 5 && (mask >>> (o.t % 32)) & 1);
    if (!named.includes(thread) || named.some((o) => o.stop?.site !== stop.site)) continue;
    const others = named.flatMap((o) => o.stop?.given ?? []);
    met.push([thread, exchanged(stop.site.fn, stop.given, others, absent)]);
  }
  for (const [thread, answer] of met) {
    thread.answer = answer;
    thread.stop = undefined;
  }
  return met.length > 0;
}

/** How the counter of a loop goes on, and as long as what. */
function stepping(
  { shift }: Stmt & { k: 'for' },
  to: number,
  step: number,
): { next(i: number): number; goesOn(i: number): boolean } {
  const down = shift === 'right' || (shift === undefined && step <= 0);
  const moved = { left: (i: number) => i << step, right: (i: number) => i >> step };
  return {
    next: shift === undefined ? (i) => i + step : moved[shift],
    goesOn: down ? (i) => i > to : (i) => i < to,
  };
}
