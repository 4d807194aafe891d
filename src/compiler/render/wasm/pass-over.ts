/**
 * Passes over rounds of a loop, or work items, that do nothing: at the top of each, several are asked at once whether any of them does (`rare-rounds.ts`).
 *
 * The first one that does is run as it would, and the next ones are asked again. All checks that the vector leaves out are asked about ahead; where one may
 * fail, nothing is passed over.
 */
import { i32 } from '../../ir/builder.ts';
import type { Expr, Label, Stmt } from '../../ir/ops.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import type { BranchTarget, Local } from './assembler.ts';
import { part, scalar } from './expr.ts';
import { type Gen, varLocals } from './gen.ts';
import type { LanedRounds } from './laned-rounds.ts';
import type { MaskStack } from './masks.ts';
import { withPrepared } from './prepare.ts';
import { type Rare, rareItems } from './rare-rounds.ts';
import { askAll, distance, otherLanes, pushCount, step } from './round-lanes.ts';
import { lanesOf } from './row-sums.ts';
import { unmasked } from './row-vectors.ts';
import { withHoisted, withinLoop, withOtherLanes } from './scope.ts';

type List = (parts: LanedRounds['parts']) => void;

export interface PassOver {
  /** Written where a round begins; `again` is where the next one does. */
  begin(again: BranchTarget): void;
  /** Written behind the loop. */
  end(): void;
}

/** Items of a row from which on it is worth asking. */
const FEWEST = 16;

/** No round comes so late. */
const NEVER = 2 ** 31 - 1;

/** Writes what is asked ahead of a loop; undefined where it is none of whose rounds some are passed over. */
export function passOverRounds(g: Gen, label: Label, list: List): PassOver | undefined {
  const rare = g.rows?.rare.get(label);
  if (rare === undefined || g.variant.quick === true || !mayAsk(g, rare)) return undefined;
  return passOver(g, rare, { counter: varLocals(g, rare.counter)[0] as Local, bound: rare.bound, list });
}

/** Writes what is asked ahead of a row of work items, from the local of threadIdx.x on; undefined where none of them is passed over. */
export function passOverItems(g: Gen, node: WorkItemLoop, body: readonly Stmt[], list: List): PassOver | undefined {
  const [width] = g.variant.block;
  if (g.lanes > 1 || g.variant.quick === true || width < FEWEST) return undefined;
  if (node.reduce !== undefined || node.loads.length > 0 || node.saves.length > 0) return undefined;
  const rare = rareItems(body);
  if (rare === undefined || !mayAsk(g, rare) || rare.parts.some((s) => g.blockVars.some((v) => v.id === s.var.id)))
    return undefined;
  return passOver(g, rare, { counter: g.at.thread[0], bound: i32(width), list });
}

/** Whether what is loaded can be known to be there. */
const mayAsk = (g: Gen, { guarded }: Rare): boolean => g.kernel.checked || !guarded;

/** What counts, up to where, and how statements are written. */
interface Counting {
  readonly counter: Local;
  readonly bound: Expr;
  readonly list: List;
}

export function passOver(g: Gen, rare: Rare, { counter, bound, list }: Counting): PassOver {
  const { f } = g;
  const lanes = lanesOf({ bound, loads: rare.loads });
  const other = otherLanes(g, rare, [rare.cond], lanes);
  /** The last place where so many are left, and the first that has not been asked about. */
  const [last, next, bits] = [f.temp('i32'), f.temp('i32'), f.temp('i32')];
  const rounds = distance(g, bound, counter);
  f.i32(NEVER);
  f.set(next);
  const unsure = f.block();
  pushCount(g, rounds);
  f.i64(lanes);
  f.op('i64.lt_s');
  f.brIf(unsure);
  askAll(g, rare, ({ index }) => ({ counts: rare.shape(index) === 'C' ? [rounds] : [] }), unsure, rare.guarded);
  scalar(g, bound);
  f.i32(lanes);
  f.op('i32.sub');
  f.set(last);
  f.get(counter);
  f.set(next);
  f.end();
  const asked = new Set([...g.hoisted, ...rare.checks.map(({ check }) => check)]);
  /** Pushes which of the lanes do something, one bit each. */
  const doing = (): void => {
    list(rare.parts);
    const narrow = (p: number, lanes: number): void => {
      if (lanes === 4) part(g, rare.cond, p);
      else {
        narrow(p, lanes / 2);
        narrow(p + lanes / 8, lanes / 2);
        f.op(lanes === 8 ? 'i16x8.narrow_i32x4_s' : 'i8x16.narrow_i16x8_s');
      }
    };
    withPrepared(g, [rare.cond], [], () => narrow(0, lanes));
    f.op(lanes === 4 ? 'i32x4.bitmask' : lanes === 8 ? 'i16x8.bitmask' : 'i8x16.bitmask');
  };
  return {
    begin(again) {
      const run = f.block();
      f.get(counter, next);
      f.op('i32.lt_s');
      f.brIf(run);
      f.get(counter, last);
      f.op('i32.gt_s');
      f.brIf(run);
      withinLoop(g, () =>
        withHoisted(g, asked, () => withPrepared(g, rare.ahead, [], () => withOtherLanes(g, other, doing))),
      );
      f.tee(bits);
      f.op('i32.eqz');
      f.if();
      step(g, counter, lanes);
      f.br(again);
      f.end();
      f.get(counter, bits);
      f.op('i32.ctz', 'i32.add');
      f.tee(counter);
      f.i32(1);
      f.op('i32.add');
      f.set(next);
      f.end();
    },
    end: () => f.release('i32', last, next, bits),
  };
}

/** Runs the items of a row, but for those that are passed over. */
export function eachDoing(g: Gen, over: PassOver, item: (stack: MaskStack) => void): void {
  const { f } = g;
  const [x] = g.at.thread;
  const done = f.block();
  const again = f.loop();
  f.get(x);
  f.i32(g.variant.block[0]);
  f.op('i32.ge_s');
  f.brIf(done);
  over.begin(again);
  unmasked(g, item, () => {});
  f.get(x);
  f.i32(1);
  f.op('i32.add');
  f.set(x);
  f.br(again);
  f.end();
  f.end();
  over.end();
}
