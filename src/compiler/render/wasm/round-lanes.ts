/**
 * What it takes to write scalar code's rounds, or work items, as lanes of vectors: what must hold of their checks, and the state of the renderer meanwhile.
 */
import type { Expr, Var } from '../../ir/ops.ts';
import { LaneWidths } from '../../ir/passes/lane-widths.ts';
import type { Uniformity } from '../../ir/passes/uniformity.ts';
import { eachPart } from '../../ir/passes/walk.ts';
import type { BranchTarget, Local } from './assembler.ts';
import { scalar } from './expr.ts';
import { type Gen, varLocals } from './gen.ts';
import { LaneFacts } from './lane-facts.ts';
import type { Asked, LanedRounds } from './laned-rounds.ts';
import type { OtherLanes } from './scope.ts';

/** Goes on by so many rounds. */
export function step({ f }: Gen, counter: Local, by: number): void {
  f.get(counter);
  f.i32(by);
  f.op('i32.add');
  f.set(counter);
}

/** A number of rounds: known, or code that pushes it in 64 bits. */
export type Count = number | (() => void);

/** How many rounds a loop has yet to make. `first`: what its counter is, if that is known. */
export function distance(g: Gen, bound: Expr, counter: Local, first?: number): Count {
  const { f } = g;
  if (first !== undefined && bound.op === 'const') return Number(bound.value) - first;
  return () => {
    scalar(g, bound);
    f.op('i64.extend_i32_s');
    f.get(counter);
    f.op('i64.extend_i32_s', 'i64.sub');
  };
}

export function pushCount({ f }: Gen, count: Count): void {
  if (typeof count === 'number') f.i64(count);
  else count();
}

/** How the index of a check changes in the rounds that are asked about. */
export interface Along {
  /** How many rounds there are of each loop in which it counts up. */
  readonly counts: readonly Count[];
  /** Pushes by how much it changes in all rounds of a loop in which it changes evenly, in 64 bits. */
  readonly even?: (() => void) | undefined;
}

/**
 * Leaves where some check may fail. What they ask of is there for the first round; `along` says what becomes of it. From 0 on and no further than the
 * extent, nothing wraps in between. `all`: what is known not to fail is asked, too.
 */
export function askAll(
  g: Gen,
  row: LanedRounds,
  along: (asked: Asked) => Along,
  done: BranchTarget,
  all = false,
): void {
  const { f } = g;
  if (!g.kernel.checked) return;
  for (const asked of row.checks) {
    const { check, index } = asked;
    if (!all && (g.eliminated.has(check) || g.hoisted.has(check))) continue;
    const { counts, even } = along(asked);
    scalar(g, index);
    if (counts.length === 0 && even === undefined) {
      scalar(g, check.extent);
      f.op('i32.ge_u');
      f.brIf(done);
      continue;
    }
    /** Pushes how much further the index counts up. */
    const more = (): void => {
      const known = counts.reduce<number>((sum, count) => (typeof count === 'number' ? sum + count - 1 : sum), 0);
      f.i64(known);
      for (const count of counts) {
        if (typeof count === 'number') continue;
        count();
        f.op('i64.add');
        f.i64(1);
        f.op('i64.sub');
      }
    };
    const extent = (): void => {
      scalar(g, check.extent);
      f.op('i64.extend_i32_u');
    };
    // What is negative is beyond all extents as a number without a sign.
    f.op('i64.extend_i32_u');
    more();
    f.op('i64.add');
    extent();
    f.op('i64.ge_s');
    f.brIf(done);
    if (even === undefined) continue;
    // There, what counts up has room; so it is where the first of it is that matters.
    scalar(g, index);
    f.op('i64.extend_i32_u');
    even();
    f.op('i64.add');
    extent();
    more();
    f.op('i64.sub', 'i64.ge_u');
    f.brIf(done);
  }
}

/** The state in which expressions are written whose lanes are rounds. */
export function otherLanes(g: Gen, row: LanedRounds, values: readonly Expr[], lanes: 4 | 8 | 16): OtherLanes {
  const own = new Set(row.parts.map((s) => s.var.id));
  const { shape, varShape } = row;
  const read = (e: Expr): void => {
    if (e.op === 'var' && !own.has(e.var.id)) varLocals(g, e.var);
  };
  for (const e of [...row.parts.map((s) => s.value), ...values]) eachPart(e, read);
  const uniformity: Uniformity = {
    shape,
    varShape,
    divergence: () => 'G',
    needsBlend: () => false,
    parting: () => undefined,
    isAligned: () => false,
    isKeptOnce: () => false,
    why: () => [],
    another: (v) => v,
    inPlaceOf: () => undefined,
  };
  return {
    lanes,
    uniformity,
    definitions: g.definitions,
    hoisted: new Set([...g.hoisted, ...row.checks.map(({ check }) => check)]),
    rank: g.rank,
    shapes: new Map(),
    laneFacts: new LaneFacts({ ...g.kernel, body: [] }, uniformity, lanes),
    vars: new Map([...g.vars].filter(([id]) => !own.has(id))),
    widths:
      lanes < 8
        ? undefined
        : new LaneWidths(g.kernel, {
            shape,
            mayNarrow: (v: Var) => own.has(v.id) && varShape(v) === 'V',
            least: lanes === 16 ? 8 : 16,
          }),
  };
}
