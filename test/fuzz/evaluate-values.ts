/**
 * What the expressions of a program come to, each as a closure over the state of a thread. Statements are `evaluate.ts`.
 */
import {
  type ArrayDecl,
  type Choice,
  count,
  type Expr,
  type FuncDecl,
  isFloat,
  type LValue,
  type Maybe,
  type Program,
  type Shown,
  type Ty,
  type Val,
} from './program.ts';
import { binary, cast, compare, dp4a, fma, isSubnormal, ofBits, quotient, roundTo, unary, wrap } from './semantics.ts';
import type { Traffic } from './traffic.ts';
import { Absent, Discarded, Refused } from './verdicts.ts';

const MAX_STEPS = 2_000_000;

/** The state of a thread. */
export interface Thread {
  v: (Val | undefined)[];
  readonly locals: Map<string, Val[]>;
  /** What variables stand for. */
  readonly arrays: Map<string, ArrayDecl>;
  readonly x: number;
  readonly y: number;
  readonly block: number;
  readonly t: number;
  readonly k: number;
  result: Val | undefined;
  /** How often an assertion of uniformity was reached. */
  readonly times: Map<Expr, number>;
}

export type Ev = (s: Thread) => Val;
/** Undefined: there is nothing. */
export type EvMaybe = (s: Thread) => Val | undefined;
export type Call = (args: readonly (Val | undefined)[], s: Thread) => Val | undefined;

function missing(name: string): never {
  throw new Discarded(`no ${name}`);
}

export abstract class Values {
  readonly p: Program;
  readonly memory = new Map<string, Val[]>();
  readonly traffic = new Map<string, Traffic>();
  /** Of each assertion of uniformity, the value found by block and number of the visit. */
  private readonly uniform = new Map<Expr, Map<string, Val>>();
  steps = 0;
  protected slots = new Map<string, number>();

  constructor(p: Program) {
    this.p = p;
    for (const a of p.arrays) this.memory.set(a.name, [...a.data]);
  }

  /** Whether some f32, or some float that devices keep in one, was subnormal, which devices may take for zero. */
  hasSubnormals = false;
  /** Whether some product and sum would be another number if it were rounded twice. */
  roundsOnce = false;

  protected abstract fn(f: FuncDecl): Call;

  step(): void {
    if (++this.steps > MAX_STEPS) throw new Discarded('too long');
  }

  protected slot(name: string): number {
    let n = this.slots.get(name);
    if (n === undefined) this.slots.set(name, (n = this.slots.size));
    return n;
  }

  /** The array that a name stands for. */
  protected actual(a: ArrayDecl, s: Thread): ArrayDecl {
    return a.space === 'name' ? (s.arrays.get(a.name) ?? missing(a.name)) : a;
  }

  protected choice(c: Choice): (s: Thread) => ArrayDecl {
    switch (c.k) {
      case 'array':
        return (s) => this.actual(c.array, s);
      case 'either': {
        const [test, a, b] = [this.expr(c.c), this.choice(c.a), this.choice(c.b)];
        return (s) => (test(s) ? a : b)(s);
      }
      case 'nth': {
        const [index, of] = [this.expr(c.index), c.of.map((x) => this.choice(x))];
        return (s) => (of[Number(index(s)) & (of.length - 1)] ?? missing('choice'))(s);
      }
    }
  }

  protected cells(name: ArrayDecl, s: Thread): Val[] {
    const a = this.actual(name, s);
    const list = (a.space === 'local' ? s.locals : this.memory).get(a.name);
    if (list === undefined) throw new Discarded(`no memory for ${a.name}`);
    return list;
  }

  protected place(a: ArrayDecl, at: LValue): (s: Thread) => number {
    const n = count(a);
    if (at.form === 'own') {
      const block = a.space === 'shared' || a.space === 'dynamic';
      const counter = at.counter === undefined ? -1 : this.slot(at.counter);
      return (s) => {
        const linear = (block ? s.t : s.k) * at.scale + at.offset + (counter < 0 ? 0 : Number(s.v[counter]));
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

  /** Notes what WGSL leaves open. */
  expr(e: Expr): Ev {
    const value = this.value(e);
    if (!isFloat(e.t) || e.t === 'f64') return value;
    return (s) => {
      const v = value(s);
      if (isSubnormal(v)) this.hasSubnormals = true;
      return v;
    };
  }

  private value(e: Expr): Ev {
    switch (e.k) {
      case 'lit': {
        const v =
          typeof e.v === 'boolean'
            ? e.v
            : typeof e.v === 'bigint'
              ? wrap(e.t, e.v)
              : isFloat(e.t)
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
      case 'length': {
        const length = count(e.array);
        return () => length;
      }
      case 'thread':
        return this.special(e.what);
      case 'load': {
        const place = this.place(e.array, e.at);
        return (s) => {
          const i = place(s);
          const v = this.cells(e.array, s)[i];
          this.traffic.get(this.actual(e.array, s).name)?.read(i, s.t);
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
        const beyond = e.b.k === 'lit' && e.b.polymorphic && !isFloat(e.b.t) ? e.b.v : undefined;
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
        return (s) => {
          const [x, y, z] = [Number(a(s)), Number(b(s)), Number(c(s))];
          const once = fma(t, x, y, z);
          if (!Object.is(once, roundTo(t, roundTo(t, x * y) + z))) this.roundsOnce = true;
          return once;
        };
      }
      case 'dp4a': {
        const [a, b, c, { t }] = [this.expr(e.a), this.expr(e.b), this.widened(e.c, e.t), e];
        return (s) => dp4a(t, Number(a(s)), Number(b(s)), Number(c(s)));
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

  /** What one argument of `console.log` is, in JavaScript. */
  protected shown(shown: Shown): (s: Thread) => unknown {
    switch (shown.k) {
      case 'value':
        return this.expr(shown.e);
      case 'word':
        return () => shown.text;
      case 'text': {
        const parts = shown.parts.map((part) => (typeof part === 'string' ? () => part : this.expr(part)));
        return (s) => parts.map((part) => String(part(s))).join('');
      }
      case 'items': {
        const items = shown.of.map((item) => this.shown(item));
        return (s) => items.map((item) => item(s));
      }
      case 'fields': {
        const fields = shown.of.map(([name, value]) => [name, this.shown(value)] as const);
        return (s) => Object.fromEntries(fields.map(([name, value]) => [name, value(s)]));
      }
    }
  }

  protected maybe(m: Maybe): EvMaybe {
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
      case 'laneId':
        return (s) => s.t % 32;
      case 't':
        return (s) => s.t;
      default:
        return (s) => s.k;
    }
  }
}
