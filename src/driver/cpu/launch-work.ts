/**
 * How much a launch does, as far as its arguments tell before it is made: `for (k = 0; k < n; k++)` makes n rounds, and `k < x.length` as many as x is long.
 *
 * Rough, and at most: guards and jumps count for nothing, and integers do not wrap.
 */
import type { Loop } from '../../compiler/ir/loops.ts';
import { work } from '../../compiler/ir/measures.ts';
import type { Expr, Kernel, Special, Stmt } from '../../compiler/ir/ops.ts';
import { foldExpr } from '../../compiler/ir/passes/fold.ts';
import { countingLoop } from '../../compiler/ir/passes/trip-counts.ts';
import { assignedIn, stmtLists } from '../../compiler/ir/passes/walk.ts';
import type { LaunchArgs, LaunchShape } from '../driver.ts';
import { type KernelFacts, NANOSECONDS_PER_NODE } from './facts.ts';

type Shape = Pick<LaunchShape, 'grid' | 'block'>;

type Interval = readonly [least: number, most: number];

/** What variables may hold at a place, by `Var.id`; those that are not there, anything. */
type Environment = Map<number, Interval>;

/** What launches of one kernel do. The last answer is kept, as most launches are like the one before. */
export class LaunchWork {
  readonly #kernel: Kernel;
  readonly #facts: KernelFacts;
  /** Parameters that are not addresses. */
  readonly #numbers: readonly number[];
  #asked: readonly unknown[] = [];
  #nodes: number | undefined;

  constructor(kernel: Kernel, facts: KernelFacts) {
    this.#kernel = kernel;
    this.#facts = facts;
    this.#numbers = kernel.params.filter(({ type }) => type !== 'ptr').map(({ index }) => index);
  }

  /** Milliseconds that a launch takes, very roughly; undefined where there is no loop, or one of as many rounds as only its threads know. */
  milliseconds({ grid, block }: Shape, args: LaunchArgs): number | undefined {
    if (this.#facts.loops !== 'counted') return undefined;
    const asked = [...grid, ...block, ...this.#numbers.map((index) => args[index])];
    if (asked.length !== this.#asked.length || asked.some((x, k) => x !== this.#asked[k])) {
      this.#asked = asked;
      this.#nodes = nodesOfThread(this.#kernel, { grid, block }, args);
    }
    if (this.#nodes === undefined) return undefined;
    const threads = [...grid, ...block].reduce((a, b) => a * b);
    return (this.#nodes * threads * NANOSECONDS_PER_NODE) / 1e6;
  }
}

/** Nodes that a thread evaluates at most; undefined where a loop makes as many rounds as only its threads know. */
function nodesOfThread(kernel: Kernel, shape: Shape, args: LaunchArgs): number | undefined {
  const rounds = new Map<Stmt, number>();
  const known = new Rounds(shape, args, rounds).list(kernel.body, new Map());
  return known ? work(kernel.body, (loop) => rounds.get(loop) ?? 1).nodes : undefined;
}

/** Goes through a kernel in order, and notes the rounds of its loops. */
class Rounds {
  readonly #shape: Shape;
  readonly #args: LaunchArgs;
  readonly #found: Map<Stmt, number>;

  constructor(shape: Shape, args: LaunchArgs, found: Map<Stmt, number>) {
    this.#shape = shape;
    this.#args = args;
    this.#found = found;
  }

  /** Whether the rounds of all loops are known. */
  list(list: readonly Stmt[], env: Environment): boolean {
    for (const s of list) {
      if (s.op === 'assign') this.#set(env, s.var.id, this.#of(s.value, env));
      else if (s.op === 'loop' ? !this.#loop(s, env) : !this.#inner(s, env)) return false;
    }
    return true;
  }

  #set(env: Environment, id: number, value: Interval | undefined): void {
    if (value === undefined) env.delete(id);
    else env.set(id, value);
  }

  #inner(s: Stmt, env: Environment): boolean {
    if ('result' in s && s.result !== undefined) env.delete(s.result.id);
    const lists = stmtLists(s);
    for (const list of lists) if (!this.list(list, new Map(env))) return false;
    for (const list of lists) for (const id of assignedIn(list)) env.delete(id);
    return true;
  }

  #loop(loop: Loop, env: Environment): boolean {
    const counting = countingLoop(loop, foldExpr);
    if (counting?.step.op !== 'const') return false;
    const { counter, bound, step, inclusive, body } = counting;
    const start = env.get(counter.id);
    for (const id of assignedIn([loop])) env.delete(id);
    const end = this.#of(bound, env);
    if (start === undefined || end === undefined) return false;
    const size = Number(step.value);
    const distance = (size > 0 ? end[1] - start[0] : start[1] - end[0]) + (inclusive ? 1 : 0);
    const rounds = Math.max(0, Math.ceil(distance / Math.abs(size)));
    if (!Number.isFinite(rounds)) return false;
    this.#found.set(loop, rounds);
    env.set(counter.id, [Math.min(start[0], end[0]), Math.max(start[1], end[1])]);
    const known = this.list(body, env);
    for (const id of assignedIn([loop])) env.delete(id);
    return known;
  }

  /** Between which numbers an integer lies; undefined where that cannot be told. */
  #of(e: Expr, env: Environment): Interval | undefined {
    switch (e.op) {
      case 'const':
        return at(Number(e.value));
      case 'var':
        return env.get(e.var.id);
      case 'param':
        return at(Number(this.#args[e.param]));
      case 'special':
        return ofSpecial(e.name, this.#shape);
      case 'cast':
        return this.#of(e.a, env);
      case 'select':
        return join(this.#of(e.a, env), this.#of(e.b, env));
      case 'unary':
        return e.fn === 'uniform' ? this.#of(e.a, env) : undefined;
      case 'binary': {
        const [a, b] = [this.#of(e.a, env), this.#of(e.b, env)];
        return a && b && ofBinary(e.fn, a, b);
      }
      default:
        return undefined;
    }
  }
}

function at(x: number): Interval | undefined {
  return Number.isNaN(x) ? undefined : [x, x];
}

function join(a: Interval | undefined, b: Interval | undefined): Interval | undefined {
  return a && b && [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

function ofSpecial(name: Special, { grid, block }: Shape): Interval | undefined {
  const [of, axis] = name.split('.');
  const count = (of === 'threadIdx' || of === 'blockDim' ? block : grid)['xyz'.indexOf(axis ?? '')];
  if (count === undefined) return name === 'warpSize' ? [32, 32] : name === 'laneId' ? [0, 31] : undefined;
  return of === 'threadIdx' || of === 'blockIdx' ? [0, count - 1] : [count, count];
}

function ofBinary(fn: (Expr & { op: 'binary' })['fn'], a: Interval, b: Interval): Interval | undefined {
  switch (fn) {
    case 'add':
      return [a[0] + b[0], a[1] + b[1]];
    case 'sub':
      return [a[0] - b[1], a[1] - b[0]];
    case 'mul':
      return corners(a, b, (x, y) => x * y);
    case 'min':
      return [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
    case 'max':
      return [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
    case 'div':
    case 'floordiv':
      return b[0] > 0 ? corners(a, b, (x, y) => x / y) : undefined;
    case 'shl':
      return corners(a, b, (x, y) => x * 2 ** y);
    case 'shr':
      return corners(a, b, (x, y) => x / 2 ** y);
    case 'rem':
      return [a[0] < 0 ? -b[1] : 0, b[1]];
    case 'and':
      return a[0] >= 0 && b[0] >= 0 ? [0, Math.min(a[1], b[1])] : undefined;
    default:
      return undefined;
  }
}

function corners(a: Interval, b: Interval, of: (x: number, y: number) => number): Interval {
  const all = [of(a[0], b[0]), of(a[0], b[1]), of(a[1], b[0]), of(a[1], b[1])];
  return [Math.min(...all), Math.max(...all)];
}
