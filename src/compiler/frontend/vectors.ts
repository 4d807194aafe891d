/**
 * Vectors in kernels: values of two, three or four lanes, `f32x4`, that operators and functions work on lane by lane.
 *
 * A vector is an object of scalars that belong together, each of the lane's type. Unlike a record it is a value: what is read from an array
 * stays what it was. Where it came from is remembered until it is kept, so that it can be stored to (`a[i] += v`).
 */
import { isTimeDType, isVectorDType, LANES, type StructField, type VectorToken } from '../../dtype/index.ts';
import { alignmentOf, type Element, fieldsOf } from '../elements.ts';
import { ELEM_SIZE, type ElemType, isFloat, isInt } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Overwrite, TExpr, TMem, Wide } from '../types/tree.ts';
import { bitnot, negate } from './arithmetic.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { touchesMemory } from './measures.ts';
import { isTime, storedTime } from './times.ts';
import { describeValue, isLiteral, literal, scalar, type Value, type VectorValue, type View } from './values.ts';

/** What has lanes: a vector type, and the type of a date, whose only lane is its count. */
export type LaneType = VectorValue['type'];

/** The vector type of an element, or that of a date; undefined for others. */
export function vectorOfElement({ record }: Element): LaneType | undefined {
  return record !== undefined && (isVectorDType(record) || isTimeDType(record)) ? record : undefined;
}

/** Whether a value has lanes. What is asked of dates as well, `times.ts` has answered before. */
export function isVector(v: Value | undefined): v is VectorValue {
  return v?.kind === 'vector';
}

/** The lanes of a type, with their offsets. */
function lanesIn(type: LaneType): readonly StructField[] {
  return fieldsOf(type) ?? [];
}

/** The element type of a vector's lanes. */
function laneOf(type: LaneType): ElemType {
  return type.lane.name as ElemType;
}

/** The lanes; of a vector in memory, all are read here. */
function lanesOf(ctx: Evaluation, { lanes, at }: VectorValue): readonly TExpr[] {
  return at === undefined ? lanes : lanes.map((lane) => ctx.hold(lane));
}

export function vectorOf(type: LaneType, lanes: readonly TExpr[]): VectorValue {
  return { kind: 'vector', type, lanes };
}

/** The same in every lane. */
function repeated(type: LaneType, lane: TExpr): VectorValue {
  return vectorOf(
    type,
    lanesIn(type).map(() => lane),
  );
}

// ---------------------------------------------------------------- memory

/** No access of a device is wider. */
const MOST_BYTES = 16;

/** Lane `k` of `count` neighbours of `size` bytes, as part of the wide access that all of them, or halves of them, make. */
export function wideLane(k: number, count: number, size: number, align: number): Wide | undefined {
  const lanes = Math.min(count, MOST_BYTES / size);
  if (count === 3 || lanes < 2) return undefined;
  return { lane: k % lanes, lanes, aligned: align >= lanes * size };
}

/** The memory of each lane of the vector that a view without axes is; `first` is that of the first. */
export function laneMemory(type: LaneType, view: View, first: TMem): readonly TMem[] {
  const size = ELEM_SIZE[laneOf(type)];
  const align = Math.min(view.align, alignmentOf(view.disp));
  return lanesIn(type).map(({ offset }, k) => {
    const wide = wideLane(k, lanesIn(type).length, size, align);
    return { ...first, disp: first.disp + offset, ...(wide?.aligned && { wide }) };
  });
}

/** The vector that a view without axes is, to be read when it is used. */
export function vectorElement(type: LaneType, view: View, first: TMem, pos: Pos): VectorValue {
  const lanes = laneMemory(type, view, first).map((mem): TExpr => ({ k: 'load', mem, pos }));
  return { kind: 'vector', type, lanes, at: view };
}

/** One lane of a vector: of one in memory a load of its own. */
export function laneValue(value: VectorValue, name: string, pos: Pos): Value {
  if (isTime(value))
    return fail('K249', pos, `${describeValue(value)} has no ${name} in a kernel`, { help: 'its count is i64(d)' });
  const lane = value.lanes[LANES.indexOf(name as 'x')];
  if (lane === undefined) {
    return fail('K312', pos, `there is no lane ${name} in ${describeValue(value)}`, {
      help: `its lanes are ${LANES.slice(0, value.lanes.length).join(', ')}`,
    });
  }
  return scalar(lane.k === 'load' ? { ...lane, mem: { ...lane.mem, wide: undefined } } : lane);
}

/** Stores a vector, or a number for all lanes, to the places of its lanes. `by`: as part of the assignment of a whole record. */
export function storeLanes(
  ctx: Evaluation,
  type: LaneType,
  places: readonly TMem[],
  value: Value,
  pos: Pos,
  by?: Overwrite,
): void {
  const given = asVector(ctx, type, value, pos);
  const read = lanesOf(ctx, given);
  // All is read before anything is stored.
  const lanes = read.some(touchesMemory) ? read.map((lane) => ctx.hold(lane)) : read;
  places.forEach((mem, k) => {
    const lane = lanes[k];
    if (lane !== undefined) ctx.emit({ k: 'store', mem, value: lane, part: by, pos });
  });
}

// ---------------------------------------------------------------- values

/** A value where a vector of a type is wanted: one of it, an object of its members, or a number for every lane. */
function asVector(ctx: Evaluation, type: LaneType, value: Value, pos: Pos): VectorValue {
  if (isTimeDType(type)) return storedTime(type, value, pos);
  const to = laneOf(type);
  if (isVector(value)) return value.type === type ? value : doesNotMix(value.type, type, pos);
  if (value.kind === 'record') {
    const names = lanesIn(type).map((field) => field.name);
    const given = names.flatMap((name) => value.fields.get(name) ?? []);
    if (given.length < names.length || value.fields.size > names.length) {
      return fail('K242', pos, `${describeValue(value)} is no ${type.name}`, {
        help: `write ${type.name}(${names.join(', ')})`,
      });
    }
    return vectorOf(
      type,
      given.map((v) => inLane(ctx.scalar(v, pos), to, pos)),
    );
  }
  const all = inLane(ctx.scalar(value, pos, `a ${type.name} or a number`), to, pos);
  return repeated(type, isLiteral(all) ? all : ctx.hold(all));
}

/** A value that has a lane's type, by the rule of stores: integers wrap, floats round, and a float is no integer. */
function inLane(a: TExpr, to: ElemType, pos: Pos): TExpr {
  return { k: 'cast', to, a, by: 'lane', pos };
}

function doesNotMix(a: LaneType, b: LaneType, pos: Pos): never {
  const same = lanesIn(a).length === lanesIn(b).length;
  return fail('K203', pos, `${a.name} and ${b.name} do not mix`, {
    help: same ? `convert one: ${b.name}(…)` : 'they have different numbers of lanes: take the lanes you need',
  });
}

/** What is done with vectors lane by lane: `f` gets a lane of each operand, and of numbers themselves. The result is of the operands' type. */
export function lanewise(
  ctx: Evaluation,
  operands: readonly Value[],
  pos: Pos,
  f: (lanes: readonly TExpr[]) => TExpr,
): VectorValue {
  const type = operands.find(isVector)?.type;
  if (type === undefined) throw new Error('no operand is a vector');
  const parts = operands.map((operand) => {
    if (isVector(operand)) {
      if (operand.type !== type) doesNotMix(type, operand.type, pos);
      return lanesOf(ctx, operand);
    }
    const all = ctx.scalar(operand, pos, `a ${type.name} or a number`);
    const held = isLiteral(all) ? all : ctx.hold(all);
    return lanesIn(type).map(() => held);
  });
  const to = laneOf(type);
  return vectorOf(
    type,
    lanesIn(type).map((_, k) => inLane(f(parts.flatMap((part) => part[k] ?? [])), to, pos)),
  );
}

/** A binary operator with a vector on either side. */
export function vectorOperator(
  ctx: Evaluation,
  operator: string,
  left: Value,
  right: Value,
  pos: Pos,
  apply: (a: TExpr, b: TExpr) => TExpr,
): Value {
  const type = (isVector(left) ? left : (right as VectorValue)).type;
  const lane = laneOf(type);
  if (/^[!=]==?$/.test(operator)) return equality(ctx, operator, left, right, pos, apply);
  if (/^[<>]=?$/.test(operator)) {
    return fail('K247', pos, `${type.name} has no order: ${operator} does not take vectors`, {
      help: 'compare lanes, a.x < b.x; Math.min and Math.max take vectors lane by lane',
    });
  }
  if (isFloat(lane) && /^(?:[&|^]|<<|>>>?)$/.test(operator)) {
    return fail('K247', pos, `${operator} works on integers, and the lanes of ${type.name} are floats`, {
      help: 'convert it: i32x4(v)',
    });
  }
  if (operator === '/' && isInt(lane) && ELEM_SIZE[lane] < 8) {
    return fail('K247', pos, `a quotient of integers is a fraction, which ${type.name} does not hold`, {
      help: `convert first, f32x${lanesIn(type).length}(a) / b, or divide the lanes: ${type.name}(a.x / b.x, …) drops the fractions`,
    });
  }
  if (operator === '>>>' && !lane.startsWith('u')) {
    return fail('K247', pos, `>>> gives unsigned integers, and the lanes of ${type.name} are signed`, {
      help: `convert it: u${type.name.slice(1)}(v) >>> n`,
    });
  }
  return lanewise(ctx, [left, right], pos, ([a, b]) => apply(a as TExpr, b as TExpr));
}

/** Vectors are equal if all of their lanes are. */
function equality(
  ctx: Evaluation,
  operator: string,
  left: Value,
  right: Value,
  pos: Pos,
  apply: (a: TExpr, b: TExpr) => TExpr,
): Value {
  if (!isVector(left) || !isVector(right)) {
    return fail('K247', pos, `a vector is compared with ${describeValue(isVector(left) ? right : left)}`, {
      help: 'make a vector of it: f32x4(s)',
    });
  }
  if (left.type !== right.type) doesNotMix(left.type, right.type, pos);
  const [as, bs] = [lanesOf(ctx, left), lanesOf(ctx, right)];
  const fn = operator.startsWith('!') ? 'or' : 'and';
  const lanes = as.map((a, k) => apply(a, bs[k] as TExpr));
  return scalar(lanes.reduce((a, b) => ({ k: 'logic', fn, a, b, pos })));
}

/** `f32x4(x, y, z, w)`, `f32x4(s)`, `f32x4(xy, z, w)`, `f32x4(v)`: each number is converted as by the scalar's cast. */
export function makeVector(ctx: Evaluation, type: VectorToken<unknown>, parts: readonly Value[], pos: Pos): Value {
  const to = laneOf(type);
  const given = parts.flatMap((part) => partsOf(ctx, part, pos));
  const count = lanesIn(type).length;
  const whole = parts.length === 1 && given.length === 1;
  if (given.length !== count && !whole) {
    return fail('K316', pos, `${type.name} has ${count} lanes, not ${given.length}`, {
      help: `${type.name}(${LANES.slice(0, count).join(', ')}), or ${type.name}(s) for the same in each`,
    });
  }
  const cast = (a: TExpr): TExpr => ({ k: 'cast', to, a, pos });
  if (!whole) return vectorOf(type, given.map(cast));
  return repeated(type, ctx.hold(cast(given[0] ?? literal(0, pos))));
}

function partsOf(ctx: Evaluation, part: Value, pos: Pos): readonly TExpr[] {
  if (isVector(part)) return lanesOf(ctx, part);
  if (part.kind === 'tuple') return part.items.flatMap((item) => partsOf(ctx, item, pos));
  return [ctx.scalar(part, pos, 'a number or a vector')];
}

/** Functions that give integers for integers; all others need lanes of floats. */
const OF_INTEGERS: ReadonlySet<string> = new Set([
  'abs',
  'sign',
  'min',
  'max',
  'floor',
  'ceil',
  'round',
  'trunc',
  'imul',
  'clz32',
  'rint',
  'fmin',
  'fmax',
  'selp',
]);

/** What no lane-by-lane meaning fits: they give other types than they get, or ask something of a number. */
const OF_NUMBERS: ReadonlySet<string> = new Set([
  'Number',
  'BigInt',
  'Boolean',
  'isNaN',
  'isFinite',
  'Number.isInteger',
  'BigInt.asIntN',
  'BigInt.asUintN',
]);

/** A function of numbers, called with vectors: each lane for itself. `name` is what messages call it. */
export function vectorFunction(
  ctx: Evaluation,
  name: string,
  args: readonly Value[],
  pos: Pos,
  f: (lanes: readonly TExpr[]) => TExpr,
): Value {
  const date = args.find(isTime);
  if (date !== undefined)
    return fail('K249', pos, `${name} does not take ${describeValue(date)}`, { help: 'its count is i64(d)' });
  const type = args.find(isVector)?.type;
  const own = name.replace(/^Math\./, '');
  if (
    type !== undefined &&
    (OF_NUMBERS.has(name) || (isInt(laneOf(type)) && !OF_INTEGERS.has(own) && name.startsWith('Math.')))
  ) {
    return fail('K247', pos, `${name} does not take ${type.name}`, {
      help: OF_NUMBERS.has(name) ? `it is for one number: ${name}(v.x)` : `convert it: f32x${lanesIn(type).length}(v)`,
    });
  }
  return lanewise(ctx, args, pos, f);
}

/** `-v`, `~v`, `+v`. */
export function vectorUnary(ctx: Evaluation, operator: string, value: VectorValue, pos: Pos): Value {
  if (operator === '+') return value;
  if (operator === '~' && isFloat(laneOf(value.type))) {
    return fail('K247', pos, `~ works on integers, and the lanes of ${value.type.name} are floats`, {
      help: 'convert it: i32x4(v)',
    });
  }
  return lanewise(ctx, [value], pos, ([a]) => (operator === '-' ? negate(a as TExpr, pos) : bitnot(a as TExpr, pos)));
}
