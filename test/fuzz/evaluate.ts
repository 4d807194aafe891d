/**
 * Runs a program directly, thread by thread, in phases between barriers: what every device must give, bit for bit.
 *
 * Expressions and statements become closures once; those that hold a barrier become generators that yield at it. Shares no
 * code with the compiler.
 */
import {
  type ArrayDecl,
  count,
  type Expr,
  type FuncDecl,
  hasBarrier,
  isBig,
  isFloat,
  type Maybe,
  type Place,
  type Program,
  type Stmt,
  type Ty,
  type Val,
  widened,
} from './program.ts';
import { atomic, binary, cast, compare, fma, ofBits, quotient, roundTo, stored, unary, wrap } from './semantics.ts';
import { Traffic } from './traffic.ts';
import { Absent, Discarded, Refused } from './verdicts.ts';

const MAX_STEPS = 2_000_000;

interface Thread {
  v: (Val | undefined)[];
  readonly locals: Map<string, Val[]>;
  readonly x: number;
  readonly y: number;
  readonly block: number;
  readonly t: number;
  readonly k: number;
  result: Val | undefined;
  /** How often an assertion of uniformity was reached. */
  readonly times: Map<Expr, number>;
}

/** What a statement ends with: nothing, a jump, or a return. */
type Signal = undefined | { readonly k: 'break' | 'continue'; readonly label: string | undefined } | 'return';
type Ev = (s: Thread) => Val;
/** Undefined: there is nothing. */
type EvMaybe = (s: Thread) => Val | undefined;
type Run = (s: Thread) => Signal;
interface Stop {
  readonly kind: 'barrier' | 'Count' | 'And' | 'Or';
  readonly site: Stmt;
  readonly pred: boolean;
}
type Gen = (s: Thread) => Generator<Stop, Signal, number>;

function missing(name: string): never {
  throw new Discarded(`no ${name}`);
}

class Evaluator {
  readonly p: Program;
  readonly memory = new Map<string, Val[]>();
  readonly traffic = new Map<string, Traffic>();
  /** Of each assertion of uniformity, the value found by block and number of the visit. */
  private readonly uniform = new Map<Expr, Map<string, Val>>();
  steps = 0;
  private slots = new Map<string, number>();
  private readonly functions = new Map<FuncDecl, (args: readonly (Val | undefined)[], s: Thread) => Val | undefined>();

  constructor(p: Program) {
    this.p = p;
    for (const a of p.arrays) this.memory.set(a.name, [...a.data]);
  }

  step(): void {
    if (++this.steps > MAX_STEPS) throw new Discarded('too long');
  }

  private slot(name: string): number {
    let n = this.slots.get(name);
    if (n === undefined) this.slots.set(name, (n = this.slots.size));
    return n;
  }

  private cells(a: ArrayDecl, s: Thread): Val[] {
    const list = (a.space === 'local' ? s.locals : this.memory).get(a.name);
    if (list === undefined) throw new Discarded(`no memory for ${a.name}`);
    return list;
  }

  private place(a: ArrayDecl, at: Place): (s: Thread) => number {
    const n = count(a);
    if (at.form === 'own') {
      const block = a.space === 'shared' || a.space === 'dynamic';
      return (s) => {
        const linear = (block ? s.t : s.k) * at.scale + at.offset;
        if (linear < 0 || linear >= n) throw new Discarded(`own place ${linear} of ${a.name}`);
        return at.reverse ? n - 1 - linear : linear;
      };
    }
    if (at.form === 'counter') {
      const slot = this.slot(at.name);
      return (s) => {
        const i = Number(s.v[slot]);
        if (i < 0 || i >= n) throw new Discarded(`counter ${i} of ${a.name}`);
        return i;
      };
    }
    const parts = at.index.map((e) => this.expr(e));
    if (at.form === 'raw') {
      return (s) => {
        let linear = 0;
        for (let d = 0; d < parts.length; d++) {
          const extent = a.shape[d] as number;
          const i = Number((parts[d] as Ev)(s));
          if (i < 0 || i >= extent)
            throw new Refused([`index ${i} is out of range`, `block (${s.block}, 0, 0)`, `thread (${s.x}, ${s.y}, 0)`]);
          linear = linear * extent + i;
        }
        return linear;
      };
    }
    return (s) => {
      let linear = 0;
      for (let d = 0; d < parts.length; d++) {
        const extent = a.shape[d] as number;
        linear = linear * extent + (Number((parts[d] as Ev)(s)) & (extent - 1));
      }
      return linear;
    };
  }

  expr(e: Expr): Ev {
    switch (e.k) {
      case 'lit': {
        const v =
          typeof e.v === 'boolean'
            ? e.v
            : typeof e.v === 'bigint'
              ? wrap(e.t, e.v)
              : e.t === 'f32' || e.t === 'f64'
                ? roundTo(e.t, e.v)
                : wrap(e.t, BigInt(e.v));
        return () => v;
      }
      case 'var': {
        const scalar = this.p.scalars.find((x) => x.name === e.name);
        if (scalar !== undefined) return () => scalar.v;
        const n = this.slot(e.name);
        return (s) => {
          const v = s.v[n];
          if (v === undefined) throw this.p.risky ? new Absent(e.name) : new Discarded(`${e.name} has no value`);
          return v;
        };
      }
      case 'thread':
        return this.special(e.what);
      case 'load': {
        const place = this.place(e.array, e.at);
        return (s) => {
          const i = place(s);
          const v = this.cells(e.array, s)[i];
          this.traffic.get(e.array.name)?.read(i, s.t);
          if (v === undefined) throw new Discarded(`${e.array.name} is not initialised`);
          return v;
        };
      }
      case 'bin': {
        const { op, t } = e;
        const apart = op === 'pow' || ofBits(op);
        const [a, b] = apart ? [this.expr(e.a), this.expr(e.b)] : [this.widened(e.a, t), this.widened(e.b, t)];
        return (s) => binary(op, t, a(s), b(s));
      }
      case 'quotient': {
        const [a, b, { op, t }] = [this.expr(e.a), this.expr(e.b), e];
        return (s) => quotient(op, t, a(s), b(s));
      }
      case 'un': {
        if (e.op === 'uniform') return this.asserted(e, this.expr(e.a));
        const [a, { op, t }, from] = [this.expr(e.a), e, e.a.t];
        return (s) => unary(op, from, t, a(s));
      }
      case 'cmp': {
        // A literal that is beyond the type decides the comparison.
        const beyond = e.b.k === 'lit' && e.b.weak && !isFloat(e.b.t) ? e.b.v : undefined;
        const [a, { op }] = [this.expr(e.a), e];
        const b = beyond === undefined ? this.widened(e.b, e.a.t) : () => beyond;
        return (s) => compare(op, a(s), b(s));
      }
      case 'logic': {
        const [a, b] = [this.expr(e.a), this.expr(e.b)];
        return e.op === 'and' ? (s) => a(s) && b(s) : (s) => a(s) || b(s);
      }
      case 'sel': {
        const [c, a, b] = [this.expr(e.c), this.widened(e.a, e.t), this.widened(e.b, e.t)];
        if (!e.selp) return (s) => (c(s) ? a(s) : b(s));
        return (s) => {
          const [yes, no] = [a(s), b(s)];
          return c(s) ? yes : no;
        };
      }
      case 'cast': {
        const [a, from, { to }] = [this.expr(e.a), e.a.t, e];
        return (s) => cast(from, to, a(s));
      }
      case 'fma': {
        const [a, b, c, { t }] = [this.expr(e.a), this.expr(e.b), this.widened(e.c, e.t), e];
        return (s) => fma(t, Number(a(s)), Number(b(s)), Number(c(s)));
      }
      case 'call': {
        const args = e.args.map((a) => this.expr(a));
        const fn = this.fn(this.p.functions.find((f) => f.name === e.fn.name) ?? missing(e.fn.name));
        return (s) =>
          fn(
            args.map((a) => a(s)),
            s,
          ) ?? missing(e.fn.name);
      }
      case 'absent': {
        const [of, falsy] = [this.maybe(e.of), e.how === 'falsy'];
        return (s) => {
          const v = of(s);
          return falsy ? !v : v === undefined;
        };
      }
      case 'coalesce': {
        const [of, otherwise] = [this.maybe(e.of), this.expr(e.otherwise)];
        return (s) => of(s) ?? otherwise(s);
      }
    }
  }

  private maybe(m: Maybe): EvMaybe {
    switch (m.k) {
      case 'of':
        return this.expr(m.value);
      case 'none':
        return () => undefined;
      case 'name': {
        const n = this.slot(m.name);
        return (s) => s.v[n];
      }
      case 'ask': {
        const args = m.args.map((a) => this.maybe(a));
        const fn = this.fn(this.p.functions.find((f) => f.name === m.fn.name) ?? missing(m.fn.name));
        return (s) =>
          fn(
            args.map((a) => a(s)),
            s,
          );
      }
      case 'choice': {
        const [c, a, b] = [this.expr(m.c), this.maybe(m.a), this.maybe(m.b)];
        return (s) => (c(s) ? a(s) : b(s));
      }
    }
  }

  /** An operand in the type of the operation: narrower ones widen without being asked. */
  private widened(e: Expr, t: Ty): Ev {
    const a = this.expr(e);
    return e.t === t ? a : (s) => cast(e.t, t, a(s));
  }

  /** A value that all threads of a block must find the same, each time they come to it. */
  private asserted(e: Expr, a: Ev): Ev {
    return (s) => {
      const v = a(s);
      const times = (s.times.get(e) ?? 0) + 1;
      s.times.set(e, times);
      const key = `${s.block} ${times}`;
      const found = this.uniform.get(e) ?? new Map<string, Val>();
      this.uniform.set(e, found);
      if (found.has(key) && !Object.is(found.get(key), v)) throw new Discarded('a value is not uniform');
      found.set(key, v);
      return v;
    };
  }

  private special(what: string): Ev {
    const [bx, by] = this.p.block;
    switch (what) {
      case 'threadIdx.x':
        return (s) => s.x;
      case 'threadIdx.y':
        return (s) => s.y;
      case 'blockIdx.x':
        return (s) => s.block;
      case 'blockDim.x':
        return () => bx;
      case 'blockDim.y':
        return () => by;
      case 'gridDim.x':
        return () => this.p.grid;
      case 't':
        return (s) => s.t;
      default:
        return (s) => s.k;
    }
  }

  private fn(f: FuncDecl): (args: readonly (Val | undefined)[], s: Thread) => Val | undefined {
    const known = this.functions.get(f);
    if (known !== undefined) return known;
    const outer = this.slots;
    this.slots = new Map();
    for (const p of f.params) this.slot(p.name);
    const presets = f.params.map((p) => p.preset && this.expr(p.preset));
    const body = this.list(f.body);
    this.slots = outer;
    const call = (args: readonly (Val | undefined)[], s: Thread): Val | undefined => {
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
        if (t === 'bool') return (x) => void (Boolean(x.v[n]) === (op === 'and') && (x.v[n] = value(x)));
        const own = ofBits(op) ? (v: Val): Val => v : (v: Val): Val => cast(from, t, v);
        return (x) => void (x.v[n] = binary(op, t, x.v[n] as Val, own(value(x))));
      }
      case 'store': {
        const [place, value, { op, array }] = [this.place(s.array, s.at), this.expr(s.value), s];
        const t = widened(array.elem);
        return (x) => {
          const cells = this.cells(array, x);
          const i = place(x);
          if (op !== undefined && t === 'bool' && cells[i] !== (op === 'and')) {
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
            const sum = binary(op, s.value.t, cast(t, s.value.t, cells[i] as Val), v);
            cells[i] = cast(s.value.t, 'u8c', sum);
            return undefined;
          }
          cells[i] = stored(
            array.elem,
            op === undefined || t === 'bool'
              ? v
              : binary(op, t, cells[i] as Val, ofBits(op) ? v : cast(s.value.t, t, v)),
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
          const before = cells[i] as Val;
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
        const n = this.slot(s.name);
        const body = this.list(s.body);
        return (x) => {
          for (let i = s.from; s.step > 0 ? i < s.to : i > s.to; i += s.step) {
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
      case 'barrier':
      case 'vote':
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
      case 'if': {
        const [c, then, otherwise] = [this.expr(s.c), this.gens(s.then), this.gens(s.else)];
        return function* (x) {
          return yield* (c(x) ? then : otherwise)(x);
        };
      }
      case 'for': {
        const [n, body] = [this.slot(s.name), this.gens(s.body)];
        return function* (x) {
          for (let i = s.from; s.step > 0 ? i < s.to : i > s.to; i += s.step) {
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
}

/** What a loop does after a round that ended with `signal`: goes on, is over, or passes it outwards. */
function ends(signal: Signal, label: string | undefined): Signal | 'over' {
  if (signal === undefined || signal === 'return') return signal;
  if (signal.label !== undefined && signal.label !== label) return signal;
  return signal.k === 'break' ? 'over' : undefined;
}

/** Contents of all global arrays after the launch. */
export function evaluate(p: Program): Map<string, Val[]> {
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
        x: t % bx,
        y: Math.floor(t / bx),
        block,
        t,
        k: block * bx * by + t,
        result: 0,
        times: new Map(),
      };
      return { run: main(thread), answer: 0 };
    });
    phases(running, () => {
      for (const a of p.arrays)
        if (a.space !== 'local' && a.space !== 'const')
          evaluator.traffic.set(a.name, new Traffic(count(a), block, blocks.get(a.name)));
    });
  }
  return evaluator.memory;
}

/** Runs the threads of one block from barrier to barrier until all have ended. */
function phases(
  threads: readonly { readonly run: Generator<Stop, Signal, number>; answer: number }[],
  begin: () => void,
): void {
  let running = [...threads];
  while (running.length > 0) {
    begin();
    const stops: Stop[] = [];
    running = running.filter((thread) => {
      const { done, value } = thread.run.next(thread.answer);
      if (!done) stops.push(value as Stop);
      return !done;
    });
    const [first] = stops;
    if (first === undefined) return;
    if (stops.some((s) => s.site !== first.site)) throw new Discarded('barriers are not reached together');
    const yes = stops.filter((s) => s.pred).length;
    const answer =
      first.kind === 'Count'
        ? yes
        : first.kind === 'And'
          ? Number(yes === stops.length)
          : first.kind === 'Or'
            ? Number(yes > 0)
            : 0;
    for (const thread of running) thread.answer = answer;
  }
}
