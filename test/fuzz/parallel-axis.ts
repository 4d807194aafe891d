/**
 * Random programs of `tsamba/parallel`: lines along an axis of arrays of several axes.
 */
import * as parallel from '../../src/parallel/index.ts';
import { type AnyArray, eachPlace, shuffled } from './parallel-inputs.ts';
import { ALL, KINDS, type Kind, NUMBERS, order, show, type Value } from './parallel-kinds.ts';
import { folded, identityOf, needsInit, operatorFor, running } from './parallel-operators.ts';
import type { Trial } from './parallel-trial.ts';

interface Lines {
  readonly kind: Kind;
  readonly x: AnyArray;
  readonly axis: number;
  readonly shape: readonly number[];
  readonly lines: readonly (readonly Value[])[];
  /** Where the elements of each line are, in C order. */
  readonly places: readonly (readonly number[])[];
}

/** The lines along one axis of a shape. */
function placesOf(shape: readonly number[], axis: number): number[][] {
  const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const length = shape[axis] as number;
  const lines: number[][] = Array.from({ length: shape.reduce((a, b, k) => (k === axis ? a : a * b), 1) }, () => []);
  eachPlace(shape, (_, k) => {
    (lines[Math.floor(k / (length * inner)) * inner + (k % inner)] as number[]).push(k);
  });
  return lines;
}

function linesFor(
  t: Trial,
  kinds: readonly Kind[],
  style: Parameters<Trial['any']>[2],
  least = 0,
  given?: Kind,
): Lines {
  const { r } = t;
  const kind = given ?? t.kind(kinds);
  const ndim = 1 + r.below(3);
  const sizes = ndim === 1 ? [0, 1, 40, 513] : ndim === 2 ? [0, 1, 2, 5, 33, 130] : [1, 2, 3, 7, 20];
  const shape = Array.from({ length: ndim }, () => Math.max(r.pick(sizes), least));
  while (shape.reduce((a, b) => a * b, 1) > t.most) shape[shape.indexOf(Math.max(...shape))] = 2;
  const axis = r.below(ndim);
  const size = shape.reduce((a, b) => a * b, 1);
  const values = t.elements(kind, style, size);
  const x = t.inputs.shaped(kind, values, shape);
  t.note(
    `x: ${kind.name} of shape ${shape}, strides ${x.strides}, axis ${axis}: ${values.slice(0, 40).map(show).join(' ')}`,
  );
  const places = placesOf(shape, axis);
  return { kind, x, axis, shape, places, lines: places.map((line) => line.map((k) => values[k] as Value)) };
}

/** Lines put back where they were. */
function whole({ places, shape }: Lines, lines: readonly (readonly Value[])[]): Value[] {
  const all = new Array<Value>(shape.reduce((a, b) => a * b, 1));
  places.forEach((line, s) => {
    line.forEach((place, k) => {
      all[place] = lines[s]?.[k] as Value;
    });
  });
  return all;
}

function shapeIs(t: Trial, found: AnyArray, { shape, axis }: Lines, keepDims: boolean): void {
  const kept = shape.map((n, k) => (k === axis ? 1 : n));
  t.same(String(found.shape), String(keepDims ? kept : kept.filter((_, k) => k !== axis)), 'shape');
}

/** Along several axes at once: all that have the same place along the others. */
async function axesReduce(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const op = operatorFor(t.r, kind, true);
  t.note(`op: ${op.text}`);
  const all = linesFor(t, ALL, op.style, 0, kind);
  const axes = all.shape.map((_, k) => k).filter(() => t.r.chance(0.5));
  const given = shuffled(t.r, axes.length).map((k) => (axes[k] as number) - (t.r.chance(0.3) ? all.shape.length : 0));
  const keepDims = t.r.chance(0.3);
  t.note(`axes ${given}, keepDims ${keepDims}`);
  const shape = all.shape.map((n, k) => (axes.includes(k) ? 1 : n));
  const groups: Value[][] = Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => []);
  const values = whole(all, all.lines);
  eachPlace(all.shape, (at, k) => {
    const group = at.reduce((sum, i, axis) => (axes.includes(axis) ? sum : sum * (shape[axis] as number) + i), 0);
    groups[group]?.push(values[k] as Value);
  });
  const { type, result } = op.reduces(kind);
  const own = identityOf(op.text, type);
  const init = needsInit(op.text, kind) ? op.init : undefined;
  const left = keepDims ? shape : shape.filter((_, k) => !axes.includes(k));
  const size = left.reduce((a, b) => a * b, 1);
  const out =
    t.r.chance(0.4) && left.length > 0 ? t.inputs.shaped(result, t.elements(result, 'small', size), left) : undefined;
  const found = await t.call<AnyArray>(parallel.reduce, all.x, op.given, {
    axis: given,
    keepDims,
    init,
    ...(out && { out }),
  });
  t.same(String(found.shape), String(left), 'shape');
  await t.is(
    found,
    result,
    groups.map((group) => result.store((folded(group, op, type, init) ?? own) as Value)),
  );
}

async function axisReduce(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const op = operatorFor(t.r, kind, true);
  t.note(`op: ${op.text}`);
  const all = linesFor(t, ALL, op.style, 0, kind);
  const { type, result } = op.reduces(kind);
  const [own, keepDims] = [identityOf(op.text, type), t.r.chance(0.3)];
  const init = t.r.chance(0.3) || (needsInit(op.text, kind) && all.shape[all.axis] === 0) ? op.init : undefined;
  t.note(`init ${String(init)}`);
  const axis = t.r.chance(0.5) ? all.axis : all.axis - all.shape.length;
  const found = await t.call<AnyArray>(parallel.reduce, all.x, op.given, { axis, keepDims, init });
  shapeIs(t, found, all, keepDims);
  await t.is(
    found,
    result,
    all.lines.map((line) => result.store((folded(line, op, type, init) ?? own) as Value)),
  );
}

async function axisScan(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const op = operatorFor(t.r, kind, false);
  t.note(`op: ${op.text}`);
  const all = linesFor(t, ALL, op.style, 0, kind);
  const { type, result } = op.scans(kind);
  const exclusive = t.r.chance(0.4);
  const own = identityOf(op.text, type);
  const init = t.r.chance(0.3) || (exclusive && own === undefined) ? op.init : undefined;
  const first = { init: init ?? (exclusive ? own : undefined), exclusive };
  const out = t.r.chance(0.3) ? outFor(t, all, result) : undefined;
  t.note(`exclusive ${exclusive}, init ${String(init)}, out ${out?.strides}`);
  const fn = exclusive ? parallel.exclusiveScan : parallel.inclusiveScan;
  const found = await t.call<AnyArray>(fn, all.x, op.given, { axis: all.axis, init, ...(out && { out }) });
  const sums = all.lines.map((line) => running(line, op, type, first).map(result.store));
  await t.is(found, result, whole(all, sums));
}

const outFor = (t: Trial, { x, shape, kind }: Lines, result: Kind): AnyArray =>
  kind === result && t.r.chance(0.4)
    ? x
    : t.inputs.shaped(
        result,
        t.elements(
          result,
          'small',
          shape.reduce((a, b) => a * b, 1),
        ),
        shape,
      );

async function axisSort(t: Trial): Promise<void> {
  const all = linesFor(t, [...NUMBERS, KINDS.bool], t.r.pick(['few', 'wild']));
  const descending = t.r.chance(0.4);
  const by = order(descending);
  const key = all.kind.name === 'i32' && t.r.chance(0.5) ? (v: number) => v % 4 : undefined;
  // Integers have no -0.
  const of = (v: Value): Value => (key === undefined ? v : key(v as number) + 0);
  const sorted = all.lines.map((line) =>
    line.map((_, k) => k).sort((i, j) => by(of(line[i] as Value), of(line[j] as Value)) || i - j),
  );
  const options = { axis: all.axis, descending, ...(key && { key }) };
  const places = await t.call<AnyArray>(parallel.argsort, all.x, options);
  await t.is(places, KINDS.i32, whole(all, sorted), 'place');
  const out = t.r.chance(0.3) ? outFor(t, all, all.kind) : undefined;
  t.note(`descending ${descending}, key ${key}, out ${out?.strides}`);
  const found = await t.call<AnyArray>(parallel.sort, all.x, { ...options, ...(out && { out }) });
  const lines = sorted.map((line, s) => line.map((k) => all.lines[s]?.[k] as Value));
  await t.is(found, all.kind, whole(all, lines), 'sorted');
}

async function axisQuestions(t: Trial): Promise<void> {
  const all = linesFor(t, [KINDS.i32, KINDS.f32, KINDS.f64, KINDS.u8], t.r.pick(['few', 'wild']), 1);
  const options = { axis: all.axis, keepDims: t.r.chance(0.3) };
  const best = (line: readonly Value[], better: (a: Value, b: Value) => boolean): number =>
    line.reduce<number>((at, v, k) => (better(v, line[at] as Value) ? k : at), 0);
  const isNaNFirst = (a: Value, b: Value): boolean => Number.isNaN(a) && !Number.isNaN(b);
  const least = await t.call<AnyArray>(parallel.argmin, all.x, options);
  shapeIs(t, least, all, options.keepDims);
  await t.is(
    least,
    KINDS.i32,
    all.lines.map((line) => best(line, (a, b) => a < b || isNaNFirst(a, b))),
    'argmin',
  );
  const most = await t.call<AnyArray>(parallel.argmax, all.x, options);
  await t.is(
    most,
    KINDS.i32,
    all.lines.map((line) => best(line, (a, b) => a > b || isNaNFirst(a, b))),
    'argmax',
  );
  const extent = await t.call<{ min: AnyArray; max: AnyArray }>(parallel.minmax, all.x, options);
  await t.is(
    extent.min,
    all.kind,
    all.lines.map((line) => Math.min(...(line as number[]))),
    'min',
  );
  await t.is(
    extent.max,
    all.kind,
    all.lines.map((line) => Math.max(...(line as number[]))),
    'max',
  );
  const test = (v: number): boolean => v > 1;
  const holds = test as never as (v: Value) => boolean;
  await t.is(
    await t.call<AnyArray>(parallel.any, all.x, test, options),
    KINDS.bool,
    all.lines.map((line) => line.some(holds)),
    'any',
  );
  await t.is(
    await t.call<AnyArray>(parallel.all, all.x, test, options),
    KINDS.bool,
    all.lines.map((line) => line.every(holds)),
    'all',
  );
  const counts = all.lines.map((line) => line.filter(holds).length);
  await t.is(await t.call<AnyArray>(parallel.countIf, all.x, test, options), KINDS.i32, counts, 'countIf');
}

export const ALONG = { axisReduce, axesReduce, axisScan, axisSort, axisQuestions };
