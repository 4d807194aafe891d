/**
 * Quotients of integers that leave no remainder because the program has asked: `if (y % 2 !== 0) continue; … row[y / 2]`. As those of
 * `exact-quotients.ts`, they are computed by integer division, and can be indices.
 *
 * What was asked is known until one of its variables is assigned; a loop begins with what it changes nothing of, and nothing is taken from an inner call
 * of a function to another.
 */
import { expressionsOf, mapOperands, mapStatement, walkExpression, walkStatements } from '../types/parts.ts';
import type { Local, TExpr, TStmt } from '../types/tree.ts';
import { isMultipleOf, isSame, source } from './exact-quotients.ts';
import { jumps } from './measures.ts';
import { isLiteral, literal } from './values.ts';

/** What is known at one point of the program. */
interface State {
  readonly known: readonly Known[];
  /** What variables say that conditions were assigned to: where they are true, and where they are false. */
  readonly tests: ReadonlyMap<Local, readonly [yes: readonly Known[], no: readonly Known[]]>;
}

/** `of % by` is 0. */
interface Known {
  readonly of: TExpr;
  readonly by: TExpr;
  /** The variables in both. */
  readonly locals: ReadonlySet<Local>;
}

const NOTHING: State = { known: [], tests: new Map() };

/** The program with all such quotients as integer divisions; the same where it asks for no remainder. */
export function settleRemainders(body: readonly TStmt[]): readonly TStmt[] {
  return asks(body) ? inList(body, NOTHING) : body;
}

function asks(body: readonly TStmt[]): boolean {
  let [remainder, quotient] = [false, false];
  walkStatements(body, (s) => {
    for (const e of expressionsOf(s))
      walkExpression(e, (x) => {
        remainder ||= x.k === 'truth' || (x.k === 'compare' && (isZero(x.a) || isZero(x.b)));
        quotient ||= x.k === 'arith' && x.fn === 'div';
      });
  });
  return remainder && quotient;
}

function inList(list: readonly TStmt[], start: State): readonly TStmt[] {
  let now = start;
  return list.map((s) => {
    const before = now;
    const changed = assignedIn([s]);
    now = without(now, changed);
    switch (s.k) {
      case 'if': {
        const [yes, no] = [learnt(s.cond, true, before), learnt(s.cond, false, before)];
        const behind = jumps(s.then) ? no : jumps(s.else) ? yes : [];
        now = without(knowing(now, behind), changed);
        return {
          ...s,
          cond: inExpr(s.cond, before),
          then: inList(s.then, knowing(before, yes)),
          else: inList(s.else, knowing(before, no)),
        };
      }
      case 'loop':
        return { ...s, body: inList(s.body, now), update: inList(s.update, now) };
      case 'block':
        return { ...s, body: inList(s.body, before) };
      case 'recursive':
      case 'recurse':
        now = NOTHING;
        return { ...s, body: inList(s.body, NOTHING) };
      default:
        if (s.k === 'assign') {
          const says = [learnt(s.value, true, before), learnt(s.value, false, before)] as const;
          if (says.some((list) => list.length > 0)) {
            const tests = new Map(now.tests).set(s.local, says);
            now = without({ ...now, tests }, changed, s.local);
          }
        }
        return mapStatement(
          s,
          (e) => inExpr(e, before),
          (l) => l,
        );
    }
  });
}

const knowing = (state: State, more: readonly Known[]): State =>
  more.length === 0 ? state : { ...state, known: [...state.known, ...more] };

/** What still holds when variables have been assigned, of which `kept` has just been given what it says. */
function without({ known, tests }: State, changed: ReadonlySet<Local>, kept?: Local): State {
  const left = (list: readonly Known[]): readonly Known[] =>
    list.filter(({ locals }) => ![...locals].some((l) => changed.has(l)));
  const still = [...tests].filter(([local]) => local === kept || !changed.has(local));
  return { known: left(known), tests: new Map(still.map(([local, [yes, no]]) => [local, [left(yes), left(no)]])) };
}

function inExpr(e: TExpr, state: State): TExpr {
  const below = (x: TExpr): TExpr => inExpr(x, state);
  const where = (cond: TExpr, holds: boolean): State => knowing(state, learnt(cond, holds, state));
  switch (e.k) {
    case 'select':
      return {
        ...e,
        cond: below(e.cond),
        a: inExpr(e.a, where(e.cond, true)),
        b: inExpr(e.b, where(e.cond, false)),
      };
    case 'logic':
      return { ...e, a: below(e.a), b: inExpr(e.b, where(e.a, e.fn === 'and')) };
    case 'round':
    case 'toInt':
      // Says itself what becomes of a quotient.
      return mapOperands(e, (x) => mapOperands(x, below));
    default: {
      const own = mapOperands(e, below);
      const isKnown = (of: TExpr, by: TExpr): boolean => state.known.some((k) => isSame(k.of, of) && isPart(by, k.by));
      if (own.k !== 'arith' || own.fn !== 'div' || e.k !== 'arith' || !isMultipleOf(e.a, e.b, isKnown)) return own;
      return { k: 'round', fn: 'trunc', a: own, exact: true, pos: own.pos };
    }
  }
}

/** Whether what leaves no remainder divided by `whole` leaves none divided by `by`. */
function isPart(by: TExpr, whole: TExpr): boolean {
  const [x, y] = [source(by), source(whole)];
  if (isSame(x, y)) return true;
  return isLiteral(x) && isLiteral(y) && Number(x.value) !== 0 && Number(y.value) % Number(x.value) === 0;
}

/** What a condition says of remainders where it holds, or where it does not. */
function learnt(cond: TExpr, holds: boolean, state: State): readonly Known[] {
  const x = source(cond);
  switch (x.k) {
    case 'local':
      return state.tests.get(x.local)?.[holds ? 0 : 1] ?? [];
    case 'not':
      return learnt(x.a, !holds, state);
    case 'truth':
      return holds ? learnt(x.a, true, state) : [...zero(x.a), ...learnt(x.a, false, state)];
    case 'logic':
      return (x.fn === 'and') === holds ? [...learnt(x.a, holds, state), ...learnt(x.b, holds, state)] : [];
    case 'compare':
      if (x.fn !== (holds ? 'eq' : 'ne')) return [];
      return isZero(x.b) ? zero(x.a) : isZero(x.a) ? zero(x.b) : [];
    default:
      return [];
  }
}

function zero(e: TExpr): readonly Known[] {
  const x = source(e);
  if (x.k === 'arith' && x.fn === 'rem') return [knownOf(x.a, x.b)];
  if (x.k !== 'bits' || x.fn !== 'and') return [];
  const [of, mask] = isLiteral(x.a) ? [x.b, x.a] : [x.a, source(x.b)];
  const by = isLiteral(mask) ? Number(mask.value) + 1 : 0;
  return by > 1 && Number.isInteger(Math.log2(by)) ? [knownOf(of, literal(by, e.pos))] : [];
}

function knownOf(of: TExpr, by: TExpr): Known {
  const locals = new Set<Local>();
  for (const e of [of, by])
    walkExpression(e, (x) => {
      if (x.k === 'local') locals.add(x.local);
    });
  return { of, by, locals };
}

/** Of numbers: what bigints are divided by leaves a whole number as it is. */
const isZero = (e: TExpr): boolean => isLiteral(e) && e.value === 0;

function assignedIn(list: readonly TStmt[]): ReadonlySet<Local> {
  const found = new Set<Local>();
  walkStatements(list, (s) => {
    if (s.k === 'assign') found.add(s.local);
    else if ('result' in s && s.result !== undefined) found.add(s.result);
  });
  return found;
}
