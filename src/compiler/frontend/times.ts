/**
 * Dates and durations in kernels: values that carry their unit, with NumPy's arithmetic, in which NaT spreads and equals nothing.
 *
 * To all that comes behind the front end a date is its count, a number of 64 bits. What is of two units is computed in the finer one; where a
 * number and a unit would have to be guessed, this refuses.
 */
import {
  datetime64,
  finerUnit,
  monthsIn,
  NaT,
  nanosecondsIn,
  type TimeToken,
  type TimeUnit,
  timedelta64,
} from '../../dtype/index.ts';
import type { CompareOp } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, compare, negate, not, select } from './arithmetic.ts';
import { daysOfMonths, floorQuotient, inline, monthsOfDays } from './device-functions.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { describeValue, isLiteral, literal, scalar, type Value, type VectorValue } from './values.ts';

/** A date or a duration. */
export type Time = VectorValue & { readonly type: TimeToken };

export function isTime(v: Value | undefined): v is Time {
  return v?.kind === 'vector' && v.type.kind !== 'V';
}

/** The date or duration of a count. */
export function timeOf(type: TimeToken, count: TExpr): Time {
  return { kind: 'vector', type, lanes: [count] };
}

/** The count of a date or duration: what `i64(d)` and `Number(d)` convert. */
export function countOf({ lanes: [count] }: Time): TExpr {
  if (count === undefined) throw new Error('a date without its count');
  return count;
}

/** A number that is known at compile time, of 64 bits. */
function long(value: bigint, pos: Pos): TExpr {
  return { k: 'cast', to: 'i64', a: literal(value, pos), pos };
}

function isNone(count: TExpr, pos: Pos): TExpr {
  return compare('eq', count, long(NaT, pos), pos);
}

/** `result`, or NaT where one of the counts is. */
function unlessNone(counts: readonly TExpr[], result: TExpr, pos: Pos): TExpr {
  const none = counts.map((count) => isNone(count, pos)).reduce((a, b) => ({ k: 'logic', fn: 'or', a, b, pos }));
  return select(none, long(NaT, pos), result, pos);
}

/** A date of the host: a captured `Date`, in milliseconds. */
export function hostDate(date: Date, pos: Pos): Value {
  const type = datetime64('ms') as TimeToken;
  return timeOf(type, long(type(date as never), pos));
}

// ---------------------------------------------------------------- units

const isOfMonths = (unit: TimeUnit): boolean => monthsIn(unit) !== undefined;

/** The count in another unit, rounded down. It is held. */
function converted(ctx: Evaluation, { kind }: TimeToken, count: TExpr, from: TimeUnit, to: TimeUnit, pos: Pos): TExpr {
  if (from === to) return count;
  if (kind === 'm' && isOfMonths(from) !== isOfMonths(to)) {
    return fail('K249', pos, `a duration in ${from} has no meaning in ${to}: months have different lengths`, {
      help: 'durations convert among Y and M, and among all other units',
    });
  }
  const months = (of: TExpr): TExpr => scaled(ctx, of, monthsIn(from) ?? 1n, monthsIn(to) ?? 1n, pos);
  const linear = (of: TExpr, own: TimeUnit, wanted: TimeUnit): TExpr =>
    scaled(ctx, of, nanosecondsIn(own), nanosecondsIn(wanted), pos);
  const call = (fn: (count: bigint) => bigint, of: TExpr): TExpr => inline(ctx, fn, [scalar(of)], pos);
  let result: TExpr;
  if (isOfMonths(from) && isOfMonths(to)) result = months(count);
  else if (isOfMonths(from)) result = linear(call(daysOfMonths, months(count)), 'D', to);
  else if (isOfMonths(to)) result = months(call(monthsOfDays, linear(count, from, 'D')));
  else result = linear(count, from, to);
  return ctx.hold(unlessNone([count], result, pos));
}

/** `count * own / wanted`, rounded down, where one of the two divides the other. */
function scaled(ctx: Evaluation, count: TExpr, own: bigint, wanted: bigint, pos: Pos): TExpr {
  if (own >= wanted) return own === wanted ? count : arith('mul', count, long(own / wanted, pos), pos);
  return inline(ctx, floorQuotient, [scalar(count), scalar(long(wanted / own, pos))], pos);
}

/** Both counts in the finer unit. A date becomes one of days before days are added to its months. */
function inOneUnit(ctx: Evaluation, a: Time, b: Time, pos: Pos): { unit: TimeUnit; x: TExpr; y: TExpr } {
  const unit = finerUnit(a.type.unit, b.type.unit);
  const [x, y] = [a, b].map((t) => converted(ctx, t.type, ctx.hold(countOf(t)), t.type.unit, unit, pos)) as [
    TExpr,
    TExpr,
  ];
  return { unit, x, y };
}

// ---------------------------------------------------------------- operators

const ORDER: Readonly<Record<string, CompareOp>> = { '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' };

/** A binary operator with a date or a duration on either side. */
export function timeOperator(ctx: Evaluation, operator: string, left: Value, right: Value, pos: Pos): Value {
  if (isTime(left) && isTime(right)) {
    if (/^(?:[!=]==?|[<>]=?)$/.test(operator)) return scalar(compared(ctx, operator, left, right, pos));
    return sum(ctx, operator, left, right, pos);
  }
  const [own, other] = isTime(left) ? [left, right] : [right as Time, left];
  if (other.kind === 'scalar' && own.type.kind === 'm' && (operator === '*' || (operator === '/' && own === left))) {
    return product(ctx, operator, own, other.expr, pos);
  }
  const named = spelled(own.type);
  return fail('K249', pos, `${describeValue(left)} ${operator} ${describeValue(right)} has no meaning`, {
    help:
      other.kind !== 'scalar'
        ? `compare and compute with dates and durations: ${named}(…) makes one of a bigint`
        : `say what the number is: ${own.type.kind === 'M' && /^[+-]$/.test(operator) ? `timedelta64('${own.type.unit}')` : named}(n); the count of a date is i64(d)`,
  });
}

/** NaT is neither before nor behind anything, and equals nothing. */
function compared(ctx: Evaluation, operator: string, left: Time, right: Time, pos: Pos): TExpr {
  if (left.type.kind !== right.type.kind)
    return fail('K249', pos, `a date is compared with a duration: ${left.type.name} ${operator} ${right.type.name}`);
  const { x, y } = inOneUnit(ctx, left, right, pos);
  const both = (a: TExpr, b: TExpr): TExpr => ({ k: 'logic', fn: 'and', a, b, pos });
  const order = ORDER[operator];
  // NaT is the least count: what is less than another is that itself, or neither is.
  if (order !== undefined)
    return both(compare(order, x, y, pos), not(isNone(order === 'gt' || order === 'ge' ? y : x, pos), pos));
  const same = both(compare('eq', x, y, pos), not(isNone(x, pos), pos));
  return operator.startsWith('!') ? not(same, pos) : same;
}

function sum(ctx: Evaluation, operator: string, left: Time, right: Time, pos: Pos): Value {
  const kinds = `${left.type.kind}${operator}${right.type.kind}`;
  const gives = /^(?:M-M|m[+-]m)$/.test(kinds) ? timedelta64 : /^(?:M[+-]m|m\+M)$/.test(kinds) ? datetime64 : undefined;
  if (gives === undefined) {
    return fail('K249', pos, `${left.type.name} ${operator} ${right.type.name} has no meaning`, {
      help: /[/%*]/.test(operator)
        ? 'compute with their counts: i64(a) / i64(b), or Number(a) / Number(b) for a fraction'
        : 'dates have differences, and durations are added to them',
    });
  }
  const { unit, x, y } = inOneUnit(ctx, left, right, pos);
  return timeOf(gives(unit) as TimeToken, unlessNone([x, y], arith(operator === '+' ? 'add' : 'sub', x, y, pos), pos));
}

/** A duration times or divided by an integer; divided by 0 it is NaT. */
function product(ctx: Evaluation, operator: '*' | '/', own: Time, factor: TExpr, pos: Pos): Value {
  const count = ctx.hold(countOf(own));
  const whole: TExpr =
    isLiteral(factor) && typeof factor.value === 'bigint'
      ? long(factor.value, pos)
      : { k: 'cast', to: 'i64', a: factor, by: 'lane', pos };
  const by = ctx.hold(whole);
  if (operator === '*') return timeOf(own.type, unlessNone([count], arith('mul', count, by, pos), pos));
  const quotient = unlessNone([count], arith('div', count, by, pos), pos);
  return timeOf(own.type, select(compare('eq', by, long(0n, pos), pos), long(NaT, pos), quotient, pos));
}

/** `-d` and `+d` of a duration. */
export function timeUnary(ctx: Evaluation, operator: string, value: Time, pos: Pos): Value {
  // NaT negated is NaT: two's complement has no other least number.
  if (value.type.kind === 'm' && operator === '-') return timeOf(value.type, negate(ctx.hold(countOf(value)), pos));
  if (operator === '+') return value;
  return fail('K249', pos, `${operator} has no meaning for ${describeValue(value)}`, { help: 'its count is i64(d)' });
}

// ---------------------------------------------------------------- making and asking

/** `datetime64('s')(x)`: a count, a date in another unit, or what the host makes one of. */
export function makeTime(ctx: Evaluation, type: TimeToken, args: readonly Value[], pos: Pos): Value {
  const [value] = args;
  const name = spelled(type);
  if (value === undefined || args.length > 1)
    return fail('K316', pos, `${name}(x) takes 1 argument, not ${args.length}`);
  if (isTime(value)) {
    if (value.type.kind !== type.kind)
      return fail('K249', pos, `${describeValue(value)} is no ${type.name}`, {
        help: `take its count: ${name}(i64(x))`,
      });
    return timeOf(type, converted(ctx, type, ctx.hold(countOf(value)), value.type.unit, type.unit, pos));
  }
  if (value.kind === 'host' && typeof value.value === 'string')
    return timeOf(type, long(read(type, value.value, pos), pos));
  const count = ctx.scalar(value, pos, 'a count or a date');
  if (isLiteral(count) && typeof count.value === 'bigint') return timeOf(type, long(read(type, count.value, pos), pos));
  return timeOf(type, { k: 'cast', to: 'i64', a: count, by: 'lane', pos });
}

function read(type: TimeToken, value: unknown, pos: Pos): bigint {
  try {
    return type(value as never);
  } catch (cause) {
    return fail('K249', pos, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** What is stored where dates or durations of a type are. NaT is of every unit. */
export function storedTime(type: TimeToken, value: Value, pos: Pos): Time {
  if (isTime(value) && value.type === type) return value;
  if (value.kind === 'scalar' && isLiteral(value.expr) && value.expr.value === NaT) return timeOf(type, long(NaT, pos));
  return fail('K249', pos, `${describeValue(value)} is stored to ${type.name}`, {
    help:
      isTime(value) && value.type.kind !== type.kind
        ? 'dates have differences, which are durations'
        : `convert it: ${spelled(type)}(x)`,
  });
}

/** `isNaT(x)`. */
export function askNaT(ctx: Evaluation, args: readonly Value[], pos: Pos): Value {
  const [value] = args;
  if (args.length !== 1 || !isTime(value))
    return fail('K249', pos, 'isNaT asks for one date or duration', { help: 'isNaT(d)' });
  return scalar(isNone(ctx.hold(countOf(value)), pos));
}

function spelled({ kind, unit }: TimeToken): string {
  return `${kind === 'M' ? 'datetime64' : 'timedelta64'}('${unit}')`;
}
