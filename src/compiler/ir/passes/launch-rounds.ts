/**
 * The rounds that loops make in a launch, as far as its arguments tell before it is made: `for (k = 0; k < n; k++)` makes n, and `k < x.length` as many as x is long.
 *
 * Rough, and at most: guards and jumps count for nothing, and integers do not wrap.
 */
import type { Loop } from '../loops.ts';
import { work } from '../measures.ts';
import type { Expr, Kernel, Special, Stmt } from '../ops.ts';
import { foldExpr } from './fold.ts';
import { countingLoop } from './trip-counts.ts';
import { assignedIn, stmtLists } from './walk.ts';

type Dim3 = readonly [number, number, number];

interface Shape {
  readonly grid: Dim3;
  readonly block: Dim3;
}

interface Launch {
  readonly shape: Shape;
  /** One value a parameter. */
  readonly args: readonly unknown[];
  /** Of loops, once they are known. */
  readonly rounds: Map<Stmt, number>;
}

type Interval = readonly [least: number, most: number];

/** What variables may hold at a place, by `Var.id`; those that are not there, anything. */
type Environment = Map<number, Interval>;

/** Nodes that a thread evaluates at most in a launch with these arguments; undefined where a loop makes as many rounds as only its threads know. */
export function nodesOfThread(kernel: Kernel, shape: Shape, args: readonly unknown[]): number | undefined {
  const launch: Launch = { shape, args, rounds: new Map() };
  if (!countRounds(launch, kernel.body, new Map())) return undefined;
  return work(kernel.body, (loop) => launch.rounds.get(loop) ?? 1).nodes;
}

/** Goes through statements in order, and notes the rounds of their loops; whether all are known. */
function countRounds(launch: Launch, list: readonly Stmt[], env: Environment): boolean {
  for (const s of list) {
    if (s.op === 'assign') set(env, s.var.id, intervalOf(launch, s.value, env));
    else if (s.op === 'loop' ? !countLoop(launch, s, env) : !countInner(launch, s, env)) return false;
  }
  return true;
}

function set(env: Environment, id: number, value: Interval | undefined): void {
  if (value === undefined) env.delete(id);
  else env.set(id, value);
}

function countInner(launch: Launch, s: Stmt, env: Environment): boolean {
  for (const list of stmtLists(s)) if (!countRounds(launch, list, new Map(env))) return false;
  for (const id of assignedIn([s])) env.delete(id);
  return true;
}

function countLoop(launch: Launch, loop: Loop, env: Environment): boolean {
  const counting = countingLoop(loop, foldExpr);
  if (counting?.step.op !== 'const') return false;
  const { counter, bound, step, inclusive, body } = counting;
  const start = env.get(counter.id);
  const assigned = assignedIn([loop]);
  for (const id of assigned) env.delete(id);
  const end = intervalOf(launch, bound, env);
  if (start === undefined || end === undefined) return false;
  const size = Number(step.value);
  const distance = (size > 0 ? end[1] - start[0] : start[1] - end[0]) + (inclusive ? 1 : 0);
  const rounds = Math.max(0, Math.ceil(distance / Math.abs(size)));
  if (!Number.isFinite(rounds)) return false;
  launch.rounds.set(loop, rounds);
  env.set(counter.id, [Math.min(start[0], end[0]), Math.max(start[1], end[1])]);
  const known = countRounds(launch, body, env);
  for (const id of assigned) env.delete(id);
  return known;
}

/** Between which numbers an integer lies; undefined where that cannot be told. */
function intervalOf(launch: Launch, e: Expr, env: Environment): Interval | undefined {
  const of = (part: Expr): Interval | undefined => intervalOf(launch, part, env);
  switch (e.op) {
    case 'const':
      return at(Number(e.value));
    case 'var':
      return env.get(e.var.id);
    case 'param':
      return at(Number(launch.args[e.param]));
    case 'special':
      return ofSpecial(e.name, launch.shape);
    case 'cast':
      return of(e.a);
    case 'select':
      return join(of(e.a), of(e.b));
    case 'unary':
      return e.fn === 'uniform' ? of(e.a) : undefined;
    case 'binary': {
      const [a, b] = [of(e.a), of(e.b)];
      return a && b && ofBinary(e.fn, a, b);
    }
    default:
      return undefined;
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
