/**
 * Prefix sums and products of floats by trees, up and down, as Blelloch, Brent and Kung write them. Which numbers are rounded together stays as it is.
 * But a tree by twos has a barrier for each of its levels, whose threads load and store at distances that double; here, a thread takes four neighbours,
 * which are two levels. That leaves half as many barriers, and what the threads of a vector load and store lies side by side, as records do.
 */
import * as ir from '../../ir/builder.ts';
import type { BinaryOp, Expr, MemRef, Stmt, ValueType } from '../../ir/ops.ts';
import { type Lockstep, NONE } from './lockstep.ts';

/** The number of elements from which on a tree pays. */
const FEWEST = 16;

export interface Tree {
  readonly fn: BinaryOp;
  /** The number of elements: a power of two. */
  readonly count: number;
  /** What is in front of the first element. */
  readonly root: number;
  /** Whether an element becomes what is before it, without itself. */
  readonly exclusive: boolean;
  /** The node of all elements together. */
  readonly total: number;
}

/** The tree that elements at these places have gone through; undefined where they have become anything else. */
export function treeOf(steps: Lockstep, places: readonly number[]): Tree | undefined {
  const { fn, neutral } = steps;
  const count = places.length;
  if (fn === undefined || neutral === undefined || count < FEWEST || (count & (count - 1)) !== 0) return undefined;
  const levels: (readonly number[])[] = [];
  let level = places;
  for (; level.length > 1; level = inPairs(level).map(([a, b]) => steps.joined(a, b))) levels.unshift(level);
  const [total = NONE] = level;
  const ends = places.map((place) => steps.memory[place] as number);
  const first = steps.constantOf(ends[0] as number);
  const [root, exclusive] = [first ?? neutral, first !== undefined];
  let before: readonly number[] = [steps.constant(root)];
  for (const own of levels)
    before = inPairs(own).flatMap(([a], k) => [before[k] as number, steps.joined(before[k] as number, a)]);
  const wanted = exclusive ? before : [...before.slice(1), total];
  const isSo = total !== NONE && ends.every((node, k) => node === wanted[k]);
  return isSo ? { fn, count, root, exclusive, total } : undefined;
}

function inPairs(nodes: readonly number[]): (readonly [number, number])[] {
  return Array.from({ length: nodes.length / 2 }, (_, k) => [nodes[2 * k] as number, nodes[2 * k + 1] as number]);
}

/** Sums of four, of sixteen and so on, by their order. */
type Sums = (rank: Expr) => MemRef;

export interface TreePass {
  readonly statements: readonly Stmt[];
  /** Where all elements together are, behind the statements. */
  readonly total: MemRef;
}

/** Neighbours that a thread takes. */
const FOUR: readonly number[] = [0, 1, 2, 3];

/**
 * What the threads of a block do instead, of which a quarter of the elements are enough. `member` is one of the four elements of a thread; `room` makes
 * place for so many sums.
 */
export function treePass(
  builder: ir.KernelBuilder,
  { fn, count, root, exclusive }: Tree,
  type: ValueType,
  member: (k: number) => MemRef,
  room: (length: number) => Sums,
): TreePass {
  const t = ir.special('threadIdx.x');
  const statements: Stmt[] = [ir.barrier()];
  const inThreads = (threads: number, body: readonly Stmt[]): void => {
    statements.push(ir.ifElse(ir.lt(t, ir.i32(threads)), body), ir.barrier());
  };
  const join = (x: Expr, y: Expr): Expr => ir.binary(fn, x, y);
  const take = (body: Stmt[], name: string, value: Expr): Expr => {
    const v = builder.variable(type, `%${name}`);
    body.push(ir.assign(v, value));
    return ir.read(v);
  };
  // Levels of the tree from the lowest to the highest, which has one sum or two; behind its sums, each has room for what all are together.
  const levels: { readonly fours: readonly MemRef[]; readonly sums: Sums; readonly length: number }[] = [];
  let fours = FOUR.map(member);
  for (let length = count / 4; length >= 1; length /= 4) {
    const sums = room(length + 1);
    levels.push({ fours, sums, length });
    fours = FOUR.map((k) => sums(ir.add(ir.mul(t, ir.i32(4)), ir.i32(k))));
  }
  for (const { fours, sums, length } of levels) {
    const [a, b, c, d] = fours.map((mem) => ir.load(mem)) as [Expr, Expr, Expr, Expr];
    inThreads(length, [ir.store(sums(t), join(join(a, b), join(c, d)))]);
  }
  const top = levels.at(-1) as (typeof levels)[number];
  const [low, high] = [top.sums(ir.i32(0)), top.sums(ir.i32(1))];
  const start = ir.constant(type, root);
  const atTop: Stmt[] = [];
  const own = take(atTop, 'own', ir.load(low));
  const all = top.length === 1 ? own : take(atTop, 'all', join(own, ir.load(high)));
  atTop.push(ir.store(low, start));
  if (top.length > 1) atTop.push(ir.store(high, join(start, own)));
  for (const { sums, length } of levels) atTop.push(ir.store(sums(ir.i32(length)), all));
  inThreads(1, atTop);
  for (const { fours, sums, length } of [...levels].reverse()) {
    const body: Stmt[] = [];
    const [a, b, c] = fours.slice(0, 3).map((mem, k) => take(body, `member${k}`, ir.load(mem))) as [Expr, Expr, Expr];
    const before = take(body, 'before', ir.load(sums(t)));
    const half = take(body, 'half', join(before, join(a, b)));
    const within = [join(before, a), half, join(half, c)];
    const shifts = length === count / 4 && !exclusive;
    const values = shifts ? [...within, ir.load(sums(ir.add(t, ir.i32(1))))] : [before, ...within];
    inThreads(length, [...body, ...fours.map((mem, k) => ir.store(mem, values[k] as Expr))]);
  }
  const [lowest] = levels;
  return { statements, total: (lowest as typeof top).sums(ir.i32(count / 4)) };
}
