/**
 * Early-return lowering: afterwards no `return` is left, and barriers are met by every thread of the block.
 *
 * Without barriers, `if (c) return; rest` becomes `if (!c) { rest }` (see `structure.ts`). With them, a return clears the
 * thread's `live` flag; whatever stands between two barriers afterwards is guarded by it, while control that contains
 * barriers, which is uniform by law, is not. The same is done for other jumps that only some threads take out of a
 * construct that contains barriers: these have a flag each, which is cleared where the threads meet again.
 */
import {
  and,
  assign,
  block,
  bool,
  breakTo,
  eq,
  i32,
  ifElse,
  KernelBuilder,
  ne,
  not,
  or,
  read,
  vote,
} from '../builder.ts';
import { canFail, mayFail } from '../measures.ts';
import type { Expr, Kernel, Label, Stmt, Var } from '../ops.ts';
import { structureExits } from './structure.ts';
import type { Uniformity } from './uniformity.ts';
import { analyseUniformity } from './uniformity.ts';
import { assignedIn, hasBarrier, hasReturn, jumpsTo, mapLists, someExpr, stmtLists } from './walk.ts';

export interface ReturnsLowered {
  readonly kernel: Kernel;
  /** bool; false once the thread has returned. Only where threads may return one by one before a barrier. */
  readonly live: Var | undefined;
  /** Ids of variables that all running threads of a block agree on. */
  readonly uniform: ReadonlySet<number>;
  /** What says that a thread takes no part for now: it has returned, or waits where it jumped to. */
  readonly flags: readonly Flag[];
}

type Jump = Stmt & { op: 'break' | 'continue' };

/**
 * Takes a kernel whose barriers are legal. The result means the same to each thread on its own. Returns among `alone` count as some
 * threads' only, whatever their condition: those of threads that have failed, which need not end loops for all.
 */
export function lowerReturns(kernel: Kernel, alone: ReadonlySet<Stmt> = new Set()): ReturnsLowered {
  const labels = KernelBuilder.from(kernel);
  if (!hasBarrier(kernel.body)) {
    const replace = (s: Stmt): readonly Stmt[] | undefined => (s.op === 'return' ? [] : undefined);
    const body = structureExits(kernel.body, { replace, freshLabel: () => labels.label() });
    return { kernel: { ...kernel, body }, live: undefined, uniform: new Set(), flags: [] };
  }
  // A return is a jump to the end of a block around the body.
  const end = labels.label();
  const returns = new Map<Stmt, Stmt & { op: 'return' }>();
  const body = hasReturn(kernel.body) ? [block(end, returnsToBreaks(kernel.body, end, returns))] : kernel.body;
  const facts: Facts = { end, returns, alone, uniformity: analyseUniformity(kernel) };
  // Which variables returned threads miss shows only when all is done, and makes a difference; then once more.
  const missed = new Set<number>();
  for (;;) {
    const before = missed.size;
    const b = KernelBuilder.from({ ...kernel, body });
    const lowering = new Lowering(b, facts, missed);
    const lowered = lowering.list(body);
    if (missed.size > before) continue;
    const { live, uniform, flags } = lowering;
    const start = live ? [assign(live, bool(true))] : [];
    return { kernel: { ...kernel, vars: [...b.vars], body: [...start, ...lowered] }, live, uniform, flags };
  }
}

/** `origin` is told which return each new break stands for. */
function returnsToBreaks(
  list: readonly Stmt[],
  label: Label,
  origin: Map<Stmt, Stmt & { op: 'return' }>,
): readonly Stmt[] {
  return list.map((s): Stmt => {
    if (s.op !== 'return') return mapLists(s, (inner) => returnsToBreaks(inner, label, origin));
    const jump = breakTo(label, s.pos);
    origin.set(jump, s);
    return jump;
  });
}

/** Says that a thread has jumped somewhere and takes no part until the others come there. */
export interface Flag {
  readonly var: Var;
  /** The value that says so. */
  readonly set: boolean;
}

/** What is known of the kernel before it is lowered. */
interface Facts {
  /** The label of the block around the body. */
  readonly end: Label;
  readonly returns: ReadonlyMap<Stmt, Stmt & { op: 'return' }>;
  readonly alone: ReadonlySet<Stmt>;
  readonly uniformity: Uniformity;
}

class Lowering {
  /** Ids of variables that all running threads have the same value of. */
  readonly uniform: Set<number>;
  live: Var | undefined;
  /** The flags that only some threads set, `live` last. */
  flags: Flag[] = [];
  readonly #b: KernelBuilder;
  readonly #facts: Facts;
  /** Uniform variables whose value threads that took no part may not have: found while lowering. */
  readonly #missed: Set<number>;
  /** The kernel's own variables among `uniform`. */
  readonly #shared: ReadonlySet<number>;
  /** Labels of the loops around that contain barriers, the innermost last. */
  readonly #loops: Label[] = [];
  /** Labels of the constructs around that contain barriers. */
  readonly #crossed = new Set<Label>();
  readonly #flags = new Map<string, Flag>();
  /** Flags that may be set at the place of the walk. */
  #waiting = new Set<Flag>();

  constructor(b: KernelBuilder, facts: Facts, missed: Set<number>) {
    this.#b = b;
    this.#facts = facts;
    this.#missed = missed;
    this.#shared = new Set(b.vars.filter((v) => facts.uniformity.varShape(v) === 'G').map((v) => v.id));
    this.uniform = new Set(this.#shared);
  }

  /** Whether only some of the threads that may take a jump do. */
  #parts(jump: Jump): boolean {
    const origin = this.#facts.returns.get(jump) ?? jump;
    return this.#facts.alone.has(origin) || this.#facts.uniformity.parting(origin) !== undefined;
  }

  /** A list that all running threads go through together. */
  list(list: readonly Stmt[]): readonly Stmt[] {
    const out: Stmt[] = [];
    let run: Stmt[] = [];
    const flush = (): void => {
      out.push(...this.#guard(run));
      run = [];
    };
    for (const s of list) {
      if (this.#isControl(s)) {
        flush();
        out.push(...this.#control(s));
      } else if (this.#jumps([s]).length > 0) {
        flush();
        out.push(...this.#crossing(s));
      } else run.push(s);
    }
    flush();
    return out;
  }

  /** Whether the block as a whole goes through a statement: it holds a barrier, or all threads may jump out together. */
  #isControl(s: Stmt): boolean {
    if (hasBarrier([s])) return true;
    if (this.#isCrossing(s)) return !this.#parts(s);
    return (
      s.op === 'if' &&
      this.#facts.uniformity.shape(s.cond) === 'G' &&
      [...s.then, ...s.else].some((inner) => this.#isControl(inner))
    );
  }

  #isCrossing(s: Stmt): s is Jump {
    return (s.op === 'break' || s.op === 'continue') && this.#crossed.has(s.label);
  }

  /** The jumps in a list out of constructs around it that contain barriers. */
  #jumps(list: readonly Stmt[]): Jump[] {
    return list.flatMap((s) => (this.#isCrossing(s) ? [s] : stmtLists(s).flatMap((inner) => this.#jumps(inner))));
  }

  #control(s: Stmt): readonly Stmt[] {
    switch (s.op) {
      case 'if': {
        // With nobody left to say, the block goes where a way leads out.
        const [setup, cond] = this.#condition(s.cond, this.#exits(s.then).length > 0);
        const before = new Set(this.#waiting);
        const then = this.list(s.then);
        const after = this.#waiting;
        this.#waiting = before;
        const otherwise = this.list(s.else);
        for (const flag of after) this.#waiting.add(flag);
        return [...setup, ifElse(cond, then, otherwise, s.pos)];
      }
      case 'block': {
        this.#crossed.add(s.label);
        const body = this.list(s.body);
        this.#crossed.delete(s.label);
        const reset = this.#meet(s.label, 'break');
        return [...reset(), ...(jumpsTo(body, s.label) ? [{ ...s, body }] : body), ...reset()];
      }
      case 'loop': {
        this.#crossed.add(s.label);
        this.#loops.push(s.label);
        // From the second round on, flags may be set that are set in the first.
        for (const jump of this.#jumps([...s.body, ...s.update])) {
          const again = jump.op === 'continue' && jump.label === s.label;
          if (!again && this.#parts(jump)) this.#waiting.add(this.#flag(jump));
        }
        const body = this.list(s.body);
        const resume = this.#meet(s.label, 'continue');
        const update = this.list(s.update);
        const givenUp = this.#givenUp(s);
        this.#loops.pop();
        this.#crossed.delete(s.label);
        const reset = this.#meet(s.label, 'break');
        return [
          ...reset(),
          { ...s, body: [...resume(), ...body, ...givenUp], update: [...resume(), ...update] },
          ...reset(),
        ];
      }
      case 'barrier': {
        if (!s.pred || this.#waiting.size === 0) return [s];
        const [setup, pred] = this.#contribution(s.pred, s.kind === 'and');
        return [...setup, { ...s, pred }];
      }
      default:
        return [s];
    }
  }

  /** The jumps in a list that lead out of the innermost loop around it. */
  #exits(list: readonly Stmt[]): Jump[] {
    return this.#jumps(list).filter(({ op, label }) => op === 'break' || label !== this.#loops.at(-1));
  }

  /** A loop that threads leave only one by one ends when nobody is left in it. */
  #givenUp(s: Stmt & { op: 'loop' }): readonly Stmt[] {
    const exits = this.#exits([...s.body, ...s.update]);
    const { live } = this;
    if (live === undefined || exits.length === 0 || !exits.every((jump) => this.#parts(jump))) return [];
    const said = this.#b.variable('i32', '%said');
    this.uniform.add(said.id);
    return [vote('or', read(live), said), ifElse(eq(read(said), i32(0)), [breakTo(s.label, s.pos)], [], s.pos)];
  }

  /** A predicate for all threads to vote with: those that take no part come to the barrier too, but do not count. */
  #contribution(pred: Expr, neutral: boolean): readonly [setup: readonly Stmt[], pred: Expr] {
    const v = this.#b.variable('bool', '%pred');
    const takesPart = [...this.#waiting].map((flag) => (flag.set ? not(read(flag.var)) : read(flag.var))).reduce(and);
    // Once more for all threads: what analyses know of variables holds for those that take part.
    const counted = neutral ? or(not(takesPart), read(v)) : and(takesPart, read(v));
    return [[assign(v, bool(neutral)), ...this.#guard([assign(v, pred)])], counted];
  }

  /**
   * A condition that the block as a whole goes by. When it takes a thread to find it out, those that take part do so
   * beforehand, and if there are others, tell them; `otherwise` is what counts when all have returned.
   */
  #condition(cond: Expr, otherwise: boolean): readonly [setup: readonly Stmt[], cond: Expr] {
    const missed = someExpr(cond, (e) => e.op === 'var' && this.#missed.has(e.var.id));
    if (!missed && !someExpr(cond, (e) => this.#needsThread(e))) return [[], cond];
    if (this.#waiting.size > 0) {
      // Who has not returned waits further in, and is not to be left behind.
      const neutral = otherwise && [...this.#waiting].every((flag) => flag.var === this.live);
      const [setup, pred] = this.#contribution(cond, neutral);
      const said = this.#b.variable('i32', '%said');
      this.uniform.add(said.id);
      return [[...setup, vote(neutral ? 'and' : 'or', pred, said)], ne(read(said), i32(0))];
    }
    const v = this.#b.variable('bool', '%cond');
    this.uniform.add(v.id);
    return [[assign(v, cond)], read(v)];
  }

  #needsThread(e: Expr): boolean {
    if (e.op === 'var') return !this.uniform.has(e.var.id);
    return canFail(e) || (e.op === 'special' && (e.name.startsWith('threadIdx') || e.name === 'laneId'));
  }

  /** Code without barriers, for threads that take part only. */
  #guard(run: readonly Stmt[]): readonly Stmt[] {
    // `live` outermost and alone: analyses and renderers know that form.
    const flags = [...this.#waiting].sort((a, b) => Number(b.set) - Number(a.set));
    if (flags.length === 0) return run;
    const out: Stmt[] = [];
    let guarded: readonly Stmt[] = [];
    const flush = (): void => {
      if (guarded.length === 0) return;
      const pos = guarded[0]?.pos;
      for (const { var: v, set } of flags) guarded = [ifElse(set ? not(read(v)) : read(v), guarded, [], pos)];
      out.push(...guarded);
      guarded = [];
    };
    for (const s of run) {
      // Values that all share need no guard, and are known for the whole block without one.
      const all = s.op === 'assign' && this.#shared.has(s.var.id) && !mayFail(s.value);
      if (!all || someExpr(s.value, (e) => e.op === 'var' && this.#missed.has(e.var.id))) this.#miss(s);
      if (all) {
        flush();
        out.push(s);
      } else guarded = [...guarded, s];
    }
    flush();
    return out;
  }

  /** Threads that take no part do not have the values that a statement assigns. */
  #miss(s: Stmt): void {
    for (const id of assignedIn([s])) if (this.#shared.has(id)) this.#missed.add(id);
  }

  /** A statement without barriers out of which some threads jump, or all do from within a loop. */
  #crossing(s: Stmt): readonly Stmt[] {
    const jumps = this.#jumps([s]);
    const replace = (x: Stmt): readonly Stmt[] | undefined => {
      if (!this.#isCrossing(x)) return undefined;
      const flag = this.#flag(x);
      return [assign(flag.var, bool(flag.set), x.pos)];
    };
    this.#miss(s);
    const out = [...this.#guard(structureExits([s], { replace, freshLabel: () => this.#b.label() }))];
    const uniformJumps = new Map<Flag, Jump>();
    for (const jump of jumps) {
      const flag = this.#flag(jump);
      if (this.uniform.has(flag.var.id)) uniformJumps.set(flag, jump);
      else this.#waiting.add(flag);
    }
    for (const [flag, jump] of uniformJumps) {
      if (this.#waiting.size > 0) this.#missed.add(flag.var.id);
      const [setup, cond] = this.#condition(read(flag.var), true);
      out.push(...setup, ifElse(cond, [{ ...jump }], [], jump.pos));
    }
    return out;
  }

  #flag(jump: Jump): Flag {
    const parted = this.#parts(jump);
    const key = `${jump.op} ${jump.label} ${parted}`;
    let flag = this.#flags.get(key);
    if (!flag) {
      const isReturn = jump.label === this.#facts.end && parted;
      flag = { var: this.#b.variable('bool', isReturn ? '%live' : '%jumped'), set: !isReturn };
      if (isReturn) this.live = flag.var;
      if (!parted) this.uniform.add(flag.var.id);
      else if (isReturn) this.flags.push(flag);
      else this.flags.unshift(flag);
      this.#flags.set(key, flag);
    }
    return flag;
  }

  /**
   * Threads that waited for a place take part again. Returns what clears their flags, there and where they start towards
   * it (they may not have got there the last time, when all of them were called off to a place further out).
   */
  #meet(label: Label, op: Jump['op']): () => readonly Stmt[] {
    const flags = [true, false].flatMap((parted) => this.#flags.get(`${op} ${label} ${parted}`) ?? []);
    for (const flag of flags) this.#waiting.delete(flag);
    // A thread returns once.
    return () => (label === this.#facts.end ? [] : flags.map((flag) => assign(flag.var, bool(!flag.set))));
  }
}
