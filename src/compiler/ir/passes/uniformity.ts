/**
 * Which values are the same for all threads of a block, for the lanes of one SIMD vector, or consecutive across them.
 *
 * One lattice serves two readers: barrier legality on every device asks only for G; SIMD renderers want all four shapes.
 * A variable has one shape for the whole kernel. Control counts: where threads that took different ways meet again, a
 * variable that some of them assigned differs, if it is still read. `shapes.ts` has the rules for expressions.
 */

import { type Expr, isInt, type Kernel, type Label, type Stmt, type Var } from '../ops.ts';
import type { Construct, Liveness, VarSet } from './liveness.ts';
import { analyseLiveness } from './liveness.ts';
import { type Reason, reasons, type VarCause } from './reasons.ts';
import type { Shape, ShapeFacts, UniformityOptions } from './shapes.ts';
import { coarsen, exprShape, join, shapeByAlignment } from './shapes.ts';
import { memoryOf, steadyLoads } from './steady-loads.ts';
import { defined, eachExpr, eachStmt, neverEnds, reachedBy } from './walk.ts';

export type { Reason, Shape, UniformityOptions };

/** A place where threads part: on this condition some go one way, some another. */
export interface Parting {
  /** U: whole vectors go one way or the other. */
  readonly level: 'U' | 'V';
  readonly cond: Expr;
  /** The construct, or the jump that some threads take. */
  readonly stmt: Stmt;
}

export interface Uniformity {
  /** The shape of an expression among the threads that are active where it is evaluated. */
  shape(expr: Expr): Shape;
  varShape(v: Var): Shape;
  /**
   * How threads part in a construct. `if`: on its condition. `loop` and `block`: by the jumps inside that leave it, go on
   * with its update or return, under divergent control. G: they do not; U: whole vectors do; V: lanes do.
   */
  divergence(construct: Construct): 'G' | 'U' | 'V';
  /**
   * SIMD: whether an assignment to a variable must keep the old value of inactive lanes. False where no inactive lane
   * reads the variable again before writing it: then a plain assignment is right under any mask, the empty one included.
   */
  needsBlend(stmt: Stmt & { op: 'assign' | 'atomic' | 'warp' }): boolean;
  /**
   * What sets the threads at a statement apart from others. Of a barrier: from those of the block that are still running;
   * of a jump: from those that came into the construct that it leaves or goes on with (for `return`, into the kernel).
   * Undefined when nothing does.
   */
  parting(s: Stmt & { op: 'barrier' | 'warp' | 'break' | 'continue' | 'return' }): Parting | undefined;
  /** Whether shapes rest on vectors that begin at multiples of their lanes: then rows must not be run from elsewhere. */
  isAligned(): boolean;
  /** Whether a variable is kept once for the block (`UniformityOptions.uniform`): it can be read outside of work items. */
  isKeptOnce(v: Var): boolean;
  /** The chain of reasons why an expression is not G, outermost first; empty when it is. */
  why(expr: Expr): readonly Reason[];
  /** A new variable, for a renderer that runs several threads side by side: like `v`, in another thread. */
  another(v: Var): Var;
  /** Says that a renderer has another statement instead of one: what is known of the one holds of the other. */
  inPlaceOf(old: Stmt, s: Stmt): void;
}

/** A construct that encloses the place of the walk. */
interface Frame {
  readonly stmt: Construct;
  /** Of an `if` whose condition is not G. */
  readonly parting: Parting | undefined;
}

/** A set of places (by label: the end of a construct, or the update of a loop) where threads wait for others. */
type Waiting = Map<string, Parting>;

const endOf = (label: Label): string => `end ${label}`;
const updateOf = (label: Label): string => `update ${label}`;

/** Analyses a kernel at any stage; statements must be distinct objects. */
export function analyseUniformity(kernel: Kernel, options: UniformityOptions = {}): Uniformity {
  const walk = new Walk(kernel, options);
  do {
    walk.changed = false;
    walk.list(kernel.body);
  } while (walk.changed);
  walk.remember();
  return walk;
}

class Walk implements Uniformity {
  changed = false;
  readonly #options: UniformityOptions;
  readonly #liveness: Liveness;
  #facts: ShapeFacts;
  readonly #shapes = new Map<number, Shape>();
  /** Why a variable left G. */
  readonly #causes = new Map<number, VarCause>();
  readonly #frames: Frame[] = [];
  /** Where threads that are not active here wait. Those that returned wait nowhere. */
  #waiting: Waiting = new Map();
  /** Of each loop: where threads wait that have left it, or a round of it, by the end of its update. */
  readonly #leftEarlier = new Map<Stmt, Waiting>();
  /** The partings that led to each waiting place, over the whole analysis. */
  readonly #arrivals: Waiting = new Map();
  readonly #divergence = new Map<Stmt, Parting>();
  readonly #partings = new Map<Stmt, Parting>();
  /** Assignments under which inactive lanes still want the old value. */
  readonly #blends = new Set<Stmt>();
  readonly #kernel: Kernel;
  #aligned: boolean | undefined;
  #fresh: number;
  /** Places that jumps lead to, together or not. */
  readonly #targets = new Set<string>();
  /** Assignments made while threads waited at a place. */
  readonly #assignments = new Map<string, Set<Stmt>>();

  constructor(kernel: Kernel, options: UniformityOptions) {
    this.#kernel = kernel;
    this.#options = options;
    this.#liveness = analyseLiveness(kernel.body);
    this.#fresh = kernel.vars.reduce((most, v) => Math.max(most, v.id), 0) + 1;
    const steady = steadyLoads(kernel, options.live);
    const writes = new Set<unknown>();
    const values = new Map<number, Expr[]>();
    const opaque = new Set<number>(this.#liveness.entry);
    eachStmt(kernel.body, (s) => {
      for (const { array } of reachedBy(s)) writes.add(memoryOf(array));
      const id = defined(s);
      if (id === undefined) return;
      if (s.op !== 'assign') opaque.add(id);
      else if (!values.get(id)?.push(s.value)) values.set(id, [s.value]);
    });
    this.#facts = {
      options,
      varShape: (v) => this.varShape(v),
      isWritten: (a) => writes.has(memoryOf(a)),
      isSteady: (load) => steady.has(load),
      values: ({ id }) => (opaque.has(id) ? undefined : values.get(id)),
      known: undefined,
    };
    // Read before any assignment: zero, in every thread.
    for (const id of this.#liveness.entry) this.#shapes.set(id, 'G');
  }

  // -------------------------------------------------------------- answers

  shape(expr: Expr): Shape {
    return exprShape(expr, this.#facts);
  }

  varShape(v: Var): Shape {
    return this.#options.uniform?.has(v.id) ? 'G' : (this.#shapes.get(v.id) ?? 'G');
  }

  divergence(construct: Construct): 'G' | 'U' | 'V' {
    return this.#divergence.get(construct)?.level ?? 'G';
  }

  needsBlend(stmt: Stmt & { op: 'assign' | 'atomic' | 'warp' }): boolean {
    return this.#blends.has(stmt);
  }

  parting(s: Stmt & { op: 'barrier' | 'warp' | 'break' | 'continue' | 'return' }): Parting | undefined {
    return this.#partings.get(s);
  }

  isAligned(): boolean {
    if (this.#aligned === undefined) {
      let found = false;
      eachExpr(this.#kernel.body, (e) => {
        if (found || e.op !== 'binary') return;
        const [a, b] = [this.shape(e.a) === 'C', this.shape(e.b) === 'C'];
        const byLane = (e.fn === 'xor' && (a || b)) || (e.fn === 'and' && a && e.b.op === 'const');
        found = byLane || (a && shapeByAlignment(e, this.#facts) !== undefined);
      });
      this.#aligned = found;
    }
    return this.#aligned;
  }

  isKeptOnce(v: Var): boolean {
    return this.#options.uniform?.has(v.id) ?? false;
  }

  why(expr: Expr): readonly Reason[] {
    return reasons(expr, this.#facts, this.#causes);
  }

  another(v: Var): Var {
    const other = { ...v, id: this.#fresh++ };
    this.#shapes.set(other.id, this.varShape(v));
    return other;
  }

  inPlaceOf(old: Stmt, s: Stmt): void {
    const parting = this.#divergence.get(old);
    if (parting !== undefined) this.#divergence.set(s, parting);
    if (this.#blends.has(old)) this.#blends.add(s);
  }

  /** Shapes are final: each expression's need be found but once. */
  remember(): void {
    this.#facts = { ...this.#facts, known: new Map() };
  }

  // -------------------------------------------------------------- the walk

  list(stmts: readonly Stmt[]): void {
    for (const s of stmts) this.#statement(s);
  }

  #statement(s: Stmt): void {
    if (defined(s) !== undefined) for (const place of this.#waiting.keys()) this.#meanwhile(place).add(s);
    switch (s.op) {
      case 'assign':
        this.#join(s.var.id, this.shape(s.value), { kind: 'value', name: s.var.name, value: s.value, pos: s.pos });
        return;
      case 'atomic':
      case 'extern':
        if (s.result) this.#join(s.result.id, this.#coarse('V'), { kind: 'atomic', name: s.result.name, pos: s.pos });
        return;
      case 'warp': {
        const parting = this.#partingWithin(0);
        if (parting) this.#partings.set(s, parting);
        const shape = this.#coarse(this.#exchanged(s, parting));
        if (s.result) this.#join(s.result.id, shape, { kind: 'warp', name: s.result.name, pos: s.pos });
        return;
      }
      case 'barrier': {
        const parting = this.#partingWithin(0);
        if (parting) this.#partings.set(s, parting);
        if (s.result) this.#join(s.result.id, 'G', { kind: 'atomic', name: s.result.name, pos: s.pos });
        return;
      }
      case 'if':
        this.#branch(s);
        return;
      case 'loop':
        this.#round(s);
        return;
      case 'block':
        this.#frames.push({ stmt: s, parting: undefined });
        this.list(s.body);
        this.#frames.pop();
        this.#meet(endOf(s.label), this.#liveness.after(s), s, s.body);
        return;
      case 'break':
      case 'continue':
        this.#jump(s);
        return;
      case 'return': {
        this.#leaveDown(s, 0);
        const parting = this.#partingWithin(0);
        if (parting) this.#partings.set(s, parting);
        return;
      }
    }
  }

  /** What lanes get: votes of the same lanes give all of them the same, as does a lane that gives to all, if none is missing. */
  #exchanged({ fn, mask, args }: Stmt & { op: 'warp' }, parting: Parting | undefined): Shape {
    const { warps, live } = this.#options;
    const steady = (e: Expr | undefined): boolean => e === undefined || join(this.shape(e), 'U') === 'U';
    if (warps === undefined || !steady(mask) || fn === 'matchAny') return 'V';
    if (!fn.startsWith('shfl') || steady(args[0])) return 'U';
    const all = warps === 'whole' && live === undefined && parting?.level !== 'V' && isFull(mask);
    return all && fn === 'shfl' && steady(args[1]) ? 'U' : 'V';
  }

  #branch(s: Stmt & { op: 'if' }): void {
    const shape = this.shape(s.cond);
    let parting: Parting | undefined =
      shape === 'G' ? undefined : { level: shape === 'U' ? 'U' : 'V', cond: s.cond, stmt: s };
    if (parting) this.#part(this.#divergence, s, parting);
    // Threads that have returned read nothing any more: it is as if the others had not parted from them.
    if (s.cond.op === 'var' && s.cond.var === this.#options.live) parting = undefined;
    const before = new Map(this.#waiting);
    this.#frames.push({ stmt: s, parting });
    this.list(s.then);
    const then = this.#waiting;
    this.#waiting = before;
    this.list(s.else);
    this.#frames.pop();
    for (const [place, p] of then) worsen(this.#waiting, place, p);
    if (!parting) return;
    const after = this.#liveness.after(s);
    const [thenEnds, elseEnds] = [!neverEnds(s.then), !neverEnds(s.else)];
    // Threads meet after the `if` only when they come there both ways.
    if (thenEnds && elseEnds) {
      this.#merge(parting, s.then, after);
      this.#merge(parting, s.else, after);
    }
    // A vector goes through both parts with one set of variables: what one part assigns, the other lanes must not see.
    if ((this.#options.lanes ?? 1) > 1) {
      this.#merge(parting, s.then, this.#liveness.elseEntry(s));
      if (thenEnds) this.#merge(parting, s.else, after);
    }
  }

  #round(s: Stmt & { op: 'loop' }): void {
    this.#frames.push({ stmt: s, parting: undefined });
    // Threads that left in an earlier round are missing from the top on. What is new of them is left to the next walk of the
    // whole kernel: going round here, loop by loop, would take time exponential in the depth of nesting.
    const left = this.#leftEarlier.get(s) ?? new Map<string, Parting>();
    this.#leftEarlier.set(s, left);
    for (const [place, parting] of left) worsen(this.#waiting, place, parting);
    this.list(s.body);
    this.#meet(updateOf(s.label), this.#liveness.updateEntry(s), s, s.body);
    this.list(s.update);
    for (const [place, parting] of this.#waiting) this.#part(left, place, parting);
    this.#frames.pop();
    this.#meet(endOf(s.label), this.#liveness.after(s), s, [...s.body, ...s.update]);
  }

  #jump(s: Stmt & { op: 'break' | 'continue' }): void {
    const target = this.#frames.findLastIndex(({ stmt }) => stmt.op !== 'if' && stmt.label === s.label);
    const place = s.op === 'break' ? endOf(s.label) : updateOf(s.label);
    this.#targets.add(place);
    this.#leaveDown(s, target);
    const parting = this.#partingWithin(target);
    if (!parting) return;
    const jump: Parting = { ...parting, stmt: s };
    this.#partings.set(s, jump);
    worsen(this.#waiting, place, jump);
    this.#part(this.#arrivals, place, jump);
    // Where the threads parted on the way to the jump, what either side assigned differs as well.
    for (const frame of this.#frames.slice(target)) {
      if (!frame.parting || frame.stmt.op !== 'if') continue;
      eachStmt([frame.stmt], (x) => {
        if (defined(x) !== undefined) this.#meanwhile(place).add(x);
      });
    }
  }

  #meanwhile(place: string): Set<Stmt> {
    let stmts = this.#assignments.get(place);
    if (!stmts) {
      stmts = new Set();
      this.#assignments.set(place, stmts);
    }
    return stmts;
  }

  /** Notes that some threads leave the loops and blocks from the innermost one to the frame `target`. */
  #leaveDown(s: Stmt, target: number): void {
    for (let f = this.#frames.length - 1; f >= Math.max(target, 0); f--) {
      const stmt = this.#frames[f]?.stmt;
      const parting = this.#partingWithin(f);
      if (parting && stmt && stmt.op !== 'if') this.#part(this.#divergence, stmt, { ...parting, stmt: s });
    }
  }

  /** Threads that waited at a place go on; what some of the others assigned in the meantime now differs. */
  #meet(place: string, live: VarSet, construct: Construct, inside: readonly Stmt[]): void {
    this.#waiting.delete(place);
    const parting = this.#arrivals.get(place);
    if (parting) for (const s of this.#meanwhile(place)) this.#differ(parting, s, live);
    // Under masks, code may go on a little way after all lanes have jumped.
    if (this.#targets.has(place) && this.divergence(construct) === 'V') {
      eachStmt(inside, (s) => {
        if (live.has(defined(s) ?? -1)) this.#blends.add(s);
      });
    }
  }

  /** What the threads active here differ in from those that entered frame `from`: the worst of it. */
  #partingWithin(from: number): Parting | undefined {
    const found: Parting[] = [];
    const labels = new Set<string>();
    for (const { stmt, parting } of this.#frames.slice(from)) {
      if (parting) found.push(parting);
      if (stmt.op !== 'if') labels.add(endOf(stmt.label)).add(updateOf(stmt.label));
    }
    for (const [place, parting] of this.#waiting) if (labels.has(place)) found.push(parting);
    return found.find((p) => p.level === 'V') ?? found[0];
  }

  #merge(parting: Parting, list: readonly Stmt[], live: VarSet): void {
    eachStmt(list, (s) => this.#differ(parting, s, live));
  }

  /** Only some of the threads ran `s`, and now they meet where `live` variables will be read. */
  #differ(parting: Parting, s: Stmt, live: VarSet): void {
    const id = defined(s);
    if (id === undefined || !live.has(id)) return;
    const old = this.#shapes.get(id) ?? 'G';
    const shape = parting.level === 'V' ? 'V' : join(old, 'U') === 'U' ? 'U' : old;
    this.#join(id, this.#coarse(shape), { kind: 'control', parting, pos: parting.stmt.pos });
    if (parting.level === 'V') this.#blends.add(s);
  }

  #coarse(shape: Shape): Shape {
    return coarsen(shape, this.#options);
  }

  /** Raises a variable's shape. The first assignment sets it; G is the least only until there is one. */
  #join(id: number, shape: Shape, cause: VarCause): void {
    const old = this.#shapes.get(id);
    const joined = old === undefined ? shape : join(old, shape);
    if (joined === old) return;
    if (joined !== 'G' && !this.#causes.has(id)) this.#causes.set(id, cause);
    this.#shapes.set(id, joined);
    this.changed = true;
  }

  /** Notes a parting for good. */
  #part<K>(map: Map<K, Parting>, key: K, parting: Parting): void {
    if (worsen(map, key, parting)) this.changed = true;
  }
}

/** Whether a mask names all lanes of a warp: a constant, or one of another integer type, as literals are before they are simplified. */
export function isFull(mask: Expr | undefined): boolean {
  const value = mask?.op === 'cast' && mask.to === 'u32' && isInt(mask.a.type) ? mask.a : mask;
  return value?.op === 'const' && BigInt.asUintN(32, BigInt(value.value)) === 0xffffffffn;
}

/** Sets the parting of a key, if that is a worse one; returns whether it was. */
function worsen<K>(map: Map<K, Parting>, key: K, parting: Parting): boolean {
  const old = map.get(key);
  if (old && (old.level === 'V' || parting.level === 'U')) return false;
  map.set(key, parting);
  return true;
}
