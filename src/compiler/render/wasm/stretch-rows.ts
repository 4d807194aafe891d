/**
 * Code for rows that are run in stretches of one quotient: see `stretches.ts`.
 */
import { codeSize } from '../../ir/measures.ts';
import type { Expr, Stmt, Var } from '../../ir/ops.ts';
import { pushPointer } from './address.ts';
import type { Local } from './assembler.ts';
import { scalar } from './expr.ts';
import { type Gen, varLocals } from './gen.ts';
import { MaskStack } from './masks.ts';
import { withHoisted, withinLoop, withPointers } from './scope.ts';
import { keepOutside } from './slots.ts';
import { emitList } from './statements.ts';
import { hoistedIn, type Quotient, type Stretches } from './stretches.ts';

/** What is done around each vector. */
export interface Around {
  readonly begin: () => void;
  readonly end: () => void;
  /** A vector by itself, all of it. */
  readonly any: () => void;
}

/** Runs whole vectors from threadIdx.x up to the one that begins at `last`, at least one. */
export function emitStretches(g: Gen, s: Stretches, last: Local, { begin, end, any }: Around): void {
  const { f } = g;
  const list = (body: readonly Stmt[]): void => emitList(g, body, new MaskStack(g));
  const single = (vector: () => void): void => (s.goesOn ? inItsBlock(g, vector) : vector());
  const kept = keptOf(g, s);
  begin();
  list(s.steady);
  list(s.moving);
  list(s.numbers);
  for (const { divide } of s.quotients) list(divide);
  pushMayCarry(g, s, last);
  if (s.even) {
    keepSteps(g, s, kept, list);
    pushWithin(g, s, kept, last);
    f.op('i32.and');
  }
  f.if();
  emitCarried(g, s, last, kept, begin, end, () =>
    single(() => {
      begin();
      list(s.mixed);
      end();
    }),
  );
  f.else();
  const again = f.loop();
  single(any);
  pushNext(g, last);
  f.brIf(again);
  f.end();
  f.end();
  f.release('i32', ...kept.flatMap(({ local, step }) => [local, step]));
}

/** Counts threadIdx.x on by a vector, and pushes whether one begins there that is not behind the last one. */
function pushNext({ f, at, lanes }: Gen, last: Local): void {
  f.get(at.thread[0]);
  f.i32(lanes);
  f.op('i32.add');
  f.tee(at.thread[0]);
  f.get(last);
  f.op('i32.le_s');
}

const localOf = (g: Gen, v: Var): Local => varLocals(g, v)[0] ?? 0;

/** Pushes how many threads there are from the first one of the vector to the last one of the row, less one. */
function pushOthers({ f, at, lanes }: Gen, last: Local): void {
  f.get(last, at.thread[0]);
  f.op('i32.sub');
  f.i32(lanes - 1);
  f.op('i32.add');
}

/** Divisors below this are added to places in a row without wrapping. */
const LARGEST = 2 ** 30;

/** Pushes whether quotients go up by ones along the row: what is divided is not negative and does not wrap, and a vector has at most two of them. */
function pushMayCarry(g: Gen, { quotients }: Stretches, last: Local): void {
  const { f } = g;
  for (const [k, { first, by }] of quotients.entries()) {
    scalar(g, by);
    f.i32(g.lanes);
    f.op('i32.sub');
    f.i32(LARGEST);
    f.op('i32.lt_u');
    f.get(localOf(g, first));
    f.i32(0);
    f.op('i32.ge_s', 'i32.and');
    f.i32(2 ** 31 - 1);
    f.get(localOf(g, first));
    f.op('i32.sub');
    pushOthers(g, last);
    f.op('i32.ge_u', 'i32.and');
    if (k > 0) f.op('i32.and');
  }
}

/** Computes what is kept for the first quotient of a row, and by how much that grows with each. */
function keepSteps(g: Gen, s: Stretches, kept: readonly KeptInRow[], list: (body: readonly Stmt[]) => void): void {
  const { f } = g;
  const move = (sign: 'i32.add' | 'i32.sub'): void => {
    for (const { quotient, start, by } of s.quotients) {
      f.get(localOf(g, quotient));
      f.i32(1);
      f.op(sign);
      f.set(localOf(g, quotient));
      f.get(localOf(g, start));
      scalar(g, by);
      f.op(sign);
      f.set(localOf(g, start));
    }
  };
  list(s.common);
  for (const { local, push } of kept) {
    push();
    f.set(local);
  }
  move('i32.add');
  list(s.common);
  for (const [k, { local, step, push }] of kept.entries()) {
    const check = s.checks[k];
    if (check?.turns === false) continue;
    push();
    f.get(local);
    f.op('i32.sub');
    if (check === undefined) keepOutside(g, 'i32', step);
    else f.set(step);
  }
  move('i32.sub');
}

/** Steps and numbers of quotients below these have products that do not wrap. */
const FARTHEST = 2 ** 18;
const MOST_QUOTIENTS = 2 ** 12;

/** Pushes whether all that the vectors of a row ask about is within bounds, as the first and the last of it are. */
function pushWithin(g: Gen, s: Stretches, kept: readonly KeptInRow[], last: Local): void {
  const { f } = g;
  const [x] = g.at.thread;
  const [{ first, start, by }] = s.quotients as readonly [Quotient];
  const [index, more] = [f.temp('i32'), f.temp('i32')];
  const pushRest = (): void => {
    f.get(localOf(g, first), localOf(g, start));
    f.op('i32.sub');
  };
  f.i32(1);
  if (s.checks.some(({ turns }) => turns)) {
    // Quotients to come: a divisor of 0 has been found out, but is not to be divided by.
    pushRest();
    pushOthers(g, last);
    f.op('i32.add');
    scalar(g, by);
    f.i32(1);
    scalar(g, by);
    f.op('select', 'i32.div_u');
    f.tee(more);
    f.i32(MOST_QUOTIENTS);
    f.op('i32.lt_u', 'i32.and');
  }
  for (const [k, { check, moves, turns }] of s.checks.entries()) {
    const { local, step } = kept[k] as KeptInRow;
    if (!moves && !turns) {
      f.get(local);
      scalar(g, check.extent);
      f.op('i32.lt_u', 'i32.and');
      continue;
    }
    /** That the index and the one so much further on are within bounds. */
    const within = (push: () => void): void => {
      f.set(index);
      f.get(index);
      scalar(g, check.extent);
      f.op('i32.lt_u');
      push();
      scalar(g, check.extent);
      f.get(index);
      f.op('i32.sub', 'i32.lt_u', 'i32.and');
    };
    f.get(local);
    if (moves) {
      f.get(x);
      f.op('i32.add');
    }
    within(() => {
      if (turns) {
        f.get(more, step);
        f.op('i32.mul');
      }
      if (moves) pushOthers(g, last);
      if (moves && turns) f.op('i32.add');
    });
    if (turns) {
      f.get(step);
      f.i32(FARTHEST);
      f.op('i32.lt_u', 'i32.and');
    }
    if (moves && turns) {
      // Columns begin anew with each quotient: all that there are of one.
      f.get(local, x);
      f.op('i32.add');
      pushRest();
      f.op('i32.sub');
      within(() => {
        scalar(g, by);
        f.i32(1);
        f.op('i32.sub');
      });
      f.get(step);
      scalar(g, by);
      f.op('i32.add', 'i32.eqz', 'i32.and', 'i32.or');
    }
    f.op('i32.and');
  }
  f.release('i32', index, more);
}

/** The size of what stretches do that is written a second time. */
const SMALL = 60;

/** Runs the vectors of a row whose quotients go up by ones. */
function emitCarried(
  g: Gen,
  s: Stretches,
  last: Local,
  kept: readonly KeptInRow[],
  begin: () => void,
  end: () => void,
  mixed: () => void,
): void {
  const { f } = g;
  const [x] = g.at.thread;
  const list = (body: readonly Stmt[]): void => emitList(g, body, new MaskStack(g));
  const add = (to: Local, push: () => void): void => {
    f.get(to);
    push();
    f.op('i32.add');
    f.set(to);
  };
  const more = f.temp('i32');
  // Where the quotients end.
  const ends = s.quotients.map(({ first, start, by }) => {
    const local = f.temp('i32');
    f.get(x, localOf(g, start), localOf(g, first));
    f.op('i32.sub', 'i32.add');
    scalar(g, by);
    f.op('i32.add');
    f.set(local);
    return local;
  });
  const done = f.block();
  /** Stretches one after another, up to a vector that has not the same quotients, or the last one. A loop by itself: what such a vector needs is not kept in registers. */
  const stretches = (): void => {
    const crossed = f.block();
    const next = f.loop();
    // Where the last vector begins that is whole and has the quotients: before this one where that has not.
    f.get(last);
    f.set(more);
    for (const [k, { quotient, start, by }] of s.quotients.entries()) {
      const ahead = ends[k] as Local;
      f.get(x, ahead);
      f.op('i32.ge_s');
      f.if();
      for (const to of [ahead, localOf(g, start)]) add(to, () => scalar(g, by));
      add(localOf(g, quotient), () => f.i32(1));
      // Checks have been made for the row.
      if (s.even) for (const { local, step } of kept.slice(s.checks.length)) add(local, () => f.get(step));
      f.end();
      const push = (): void => {
        f.get(ahead);
        f.i32(g.lanes);
        f.op('i32.sub');
      };
      push();
      f.get(more);
      push();
      f.get(more);
      f.op('i32.lt_s', 'select');
      f.set(more);
    }
    begin();
    list(s.moving);
    list(s.numbers);
    f.get(more, x);
    f.op('i32.lt_s');
    f.brIf(crossed);
    list(s.common);
    if (!s.even) {
      for (const { local, push } of kept) {
        push();
        keepOutside(g, 'i32', local);
      }
      pushFailing(g, s, kept, more);
      f.brIf(crossed);
    }
    const pointers = s.accesses.map(({ mem }, k) => ({ mem, local: kept[s.checks.length + k]?.local ?? 0 }));
    withinLoop(g, () => {
      withHoisted(g, hoistedIn(g, s.checks), () => {
        withPointers(g, new Map(pointers.map((p) => [p.mem.index, p] as const)), () => {
          const stretch = f.loop();
          begin();
          list(s.moving);
          list(s.own);
          end();
          pushNext(g, more);
          f.brIf(stretch);
          f.end();
        });
      });
    });
    f.get(x, last);
    f.op('i32.le_s');
    f.brIf(next);
    f.br(done);
    f.end();
    f.end();
  };
  // And where there is never one, as rows are whole vectors, it is not in the loop either.
  const twice = codeSize(s.own, SMALL) < SMALL;
  if (twice) stretches();
  const again = f.loop();
  if (!twice) stretches();
  mixed();
  pushNext(g, last);
  if (twice) {
    f.op('i32.eqz');
    f.brIf(done);
    stretches();
    f.br(again);
  } else f.brIf(again);
  f.end();
  f.end();
  f.release('i32', more, ...ends);
}

/** Pushes whether a check fails in a stretch whose last vector begins there or before. */
function pushFailing(g: Gen, s: Stretches, kept: readonly KeptInRow[], more: Local): void {
  const { f } = g;
  const [x] = g.at.thread;
  f.i32(0);
  for (const [k, { check, moves }] of s.checks.entries()) {
    const index = (): void => {
      f.get(kept[k]?.local ?? 0);
      if (!moves) return;
      f.get(x);
      f.op('i32.add');
    };
    index();
    scalar(g, check.extent);
    f.op('i32.ge_u');
    if (moves) {
      // Down to a multiple of the lanes: what the last vector has.
      f.get(more, x);
      f.op('i32.sub');
      f.i32(-g.lanes);
      f.op('i32.and');
      f.i32(g.lanes - 1);
      f.op('i32.add');
      scalar(g, check.extent);
      index();
      f.op('i32.sub', 'i32.ge_u', 'i32.or');
    }
    f.op('i32.or');
  }
}

/** Writes a vector of a row that goes on through several blocks: with the block and the threadIdx.x that it has. */
function inItsBlock(g: Gen, vector: () => void): void {
  const { f, at } = g;
  const [x] = at.thread;
  const [block] = at.block;
  const [width] = g.variant.block;
  const [first, place] = [f.temp('i32'), f.temp('i32')];
  f.get(block);
  f.tee(first);
  f.get(x);
  f.tee(place);
  f.i32(width);
  f.op('i32.div_u', 'i32.add');
  f.set(block);
  f.get(place);
  f.i32(width);
  f.op('i32.rem_u');
  f.set(x);
  vector();
  f.get(first);
  f.set(block);
  f.get(place);
  f.set(x);
  f.release('i32', first, place);
}

/** What is kept for a stretch: what checks ask about and where accesses are, both less what threadIdx.x adds. */
interface KeptInRow {
  readonly local: Local;
  /** How much it grows from one quotient to the next. */
  readonly step: Local;
  readonly push: () => void;
}

function keptOf(g: Gen, { checks, accesses }: Stretches): readonly KeptInRow[] {
  const { f } = g;
  const [x] = g.at.thread;
  const pushIndex = (index: Expr, moves: boolean): void => {
    scalar(g, index);
    if (!moves) return;
    f.get(x);
    f.op('i32.sub');
  };
  const pushes = [
    ...checks.map(
      ({ index, moves }) =>
        (): void =>
          pushIndex(index, moves),
    ),
    ...accesses.map(
      ({ mem, index }) =>
        (): void =>
          pushPointer(g, mem, index),
    ),
  ];
  return pushes.map((push) => ({ local: f.temp('i32'), step: f.temp('i32'), push }));
}
