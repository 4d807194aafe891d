/**
 * Reductions of arrays in kernels, as NumPy has them, over all elements of all axes: `a.sum()`, `tile.argmax()`. Every thread goes through
 * the elements by itself.
 */
import type { Pos } from '../source.ts';
import type { Local, TExpr } from '../types/tree.ts';
import { arith, compare, mulIndex, not, select, toIndex, truth } from './arithmetic.ts';
import { elementValue, viewSize } from './arrays.ts';
import { complex, complexBinary } from './complex.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { eachItem } from './sequences.ts';
import { literal, readLocal, scalar, type Value, type View } from './values.ts';

type Visit = (value: TExpr, ordinal: TExpr, leave: () => void) => void;

/** Visits all elements, rows first. `leave` goes on with the next row. */
function eachElement(ctx: Evaluation, view: View, visit: Visit, pos: Pos, ordinal: TExpr = literal(0, pos)): void {
  if (view.axes.length === 0) return visit(ctx.scalar(elementValue(view, pos), pos), ordinal, () => {});
  eachItem(ctx, { kind: 'view', view }, pos, ({ item, index, leave }) => {
    const extent = view.axes[0]?.extent ?? literal(1, pos);
    const own = view.firstAxis === 0 ? index : arith('add', mulIndex(ordinal, extent, pos), index, pos);
    if (item.kind === 'view') eachElement(ctx, item.view, visit, pos, ctx.hold(own));
    else visit(ctx.scalar(item, pos), own, leave);
  });
}

/** The first element, which has to be there. */
function first(ctx: Evaluation, view: View, name: string, pos: Pos): TExpr {
  const size = viewSize(view, pos);
  if (size.k === 'lit' && size.value === 0) fail('K235', pos, `${name} of an array without elements`);
  const [zero, axes] = [literal(0, pos), view.axes];
  const checks = axes.map((a, axis) => ({ index: zero, extent: a.extent, axis: view.firstAxis + axis }));
  return ctx.temp(ctx.scalar(elementValue({ ...view, axes: [], checks: [...view.checks, ...checks] }, pos), pos));
}

type Reduction = (ctx: Evaluation, view: View, name: string, pos: Pos) => TExpr;

/** `fn` of all elements, from `start` on. */
function folded(fn: 'add' | 'mul', start: number): Reduction {
  return (ctx, view, name, pos) => {
    const sum = ctx.newLocal(`%${name}`, pos, false);
    ctx.emit({ k: 'assign', local: sum, value: literal(start, pos), pos });
    eachElement(ctx, view, (v) => assign(ctx, sum, arith(fn, readLocal(sum, pos), v, pos), pos), pos);
    return readLocal(sum, pos);
  };
}

function assign(ctx: Evaluation, local: Local, value: TExpr, pos: Pos): void {
  ctx.emit({ k: 'assign', local, value, pos });
}

function extreme(fn: 'min' | 'max'): Reduction {
  return (ctx, view, name, pos) => {
    const best = ctx.newLocal(`%${name}`, pos, false);
    assign(ctx, best, first(ctx, view, name, pos), pos);
    eachElement(ctx, view, (v) => assign(ctx, best, { k: 'minmax', fn, a: readLocal(best, pos), b: v, pos }, pos), pos);
    return readLocal(best, pos);
  };
}

/** The position of the least or greatest element in C order: the first of equal ones, and the first NaN before all. */
function place(order: 'lt' | 'gt'): Reduction {
  return (ctx, view, name, pos) => {
    const [best, at] = [ctx.newLocal('%best', pos, false), ctx.newLocal(`%${name}`, pos, false)];
    assign(ctx, best, first(ctx, view, name, pos), pos);
    assign(ctx, at, literal(0, pos), pos);
    const nan = (a: TExpr): TExpr => isNaNTest(a, pos);
    eachElement(
      ctx,
      view,
      (value, ordinal) => {
        const v = ctx.temp(value);
        const old = readLocal(best, pos);
        const becomesNaN: TExpr = { k: 'logic', fn: 'and', a: nan(v), b: not(nan(old), pos), pos };
        const cond: TExpr = { k: 'logic', fn: 'or', a: compare(order, v, old, pos), b: becomesNaN, pos };
        const then = ctx.branch(() => {
          assign(ctx, best, v, pos);
          assign(ctx, at, toIndex(ordinal), pos);
        });
        ctx.emit({ k: 'if', cond, then, else: [], pos });
      },
      pos,
    );
    return readLocal(at, pos);
  };
}

/** Whether some element is true (`found`), or none is false. */
function quantified(found: boolean): Reduction {
  return (ctx, view, name, pos) => {
    const result = ctx.newLocal(`%${name}`, pos, false);
    assign(ctx, result, literal(!found, pos), pos);
    eachElement(
      ctx,
      view,
      (v, _, leave) => {
        const then = ctx.branch(() => {
          assign(ctx, result, literal(found, pos), pos);
          leave();
        });
        ctx.emit({ k: 'if', cond: found ? truth(v) : not(v, pos), then, else: [], pos });
      },
      pos,
    );
    return readLocal(result, pos);
  };
}

function isNaNTest(a: TExpr, pos: Pos): TExpr {
  return { k: 'test', fn: 'isNaN', a, pos };
}

/** As `folded`, of the elements that are not NaN: the others count as `start`. */
function foldedNumbers(fn: 'add' | 'mul', start: number): Reduction {
  return (ctx, view, name, pos) => {
    const result = ctx.newLocal(`%${name}`, pos, false);
    assign(ctx, result, literal(start, pos), pos);
    const each = (value: TExpr): void => {
      const v = ctx.temp(value);
      const number = select(isNaNTest(v, pos), literal(start, pos), v, pos);
      assign(ctx, result, arith(fn, readLocal(result, pos), number, pos), pos);
    };
    eachElement(ctx, view, each, pos);
    return readLocal(result, pos);
  };
}

/** How many elements something is true of. */
function counted(is: (v: TExpr, pos: Pos) => TExpr): Reduction {
  return (ctx, view, name, pos) => {
    const count = ctx.newLocal(`%${name}`, pos, false);
    const one = arith('add', toIndex(readLocal(count, pos)), literal(1, pos), pos);
    assign(ctx, count, toIndex(literal(0, pos)), pos);
    const each = (value: TExpr): void => {
      const then = ctx.branch(() => assign(ctx, count, one, pos));
      ctx.emit({ k: 'if', cond: is(ctx.temp(value), pos), then, else: [], pos });
    };
    eachElement(ctx, view, each, pos);
    return readLocal(count, pos);
  };
}

/** The least or greatest element that is not NaN; NaN if all are. */
function extremeNumber(order: 'lt' | 'gt'): Reduction {
  return (ctx, view, name, pos) => {
    const best = ctx.newLocal(`%${name}`, pos, false);
    assign(ctx, best, first(ctx, view, name, pos), pos);
    const each = (value: TExpr): void => {
      const [v, old] = [ctx.temp(value), readLocal(best, pos)];
      const cond: TExpr = { k: 'logic', fn: 'or', a: compare(order, v, old, pos), b: isNaNTest(old, pos), pos };
      assign(ctx, best, select(cond, v, old, pos), pos);
    };
    eachElement(ctx, view, each, pos);
    return readLocal(best, pos);
  };
}

/** The mean of the squares of what elements are away from their mean (NumPy's `ddof` is 0). */
const variance: Reduction = (ctx, view, name, pos) => {
  const size = viewSize(view, pos);
  const mean = ctx.hold(arith('div', sum(ctx, view, name, pos), size, pos));
  const squares = ctx.newLocal(`%${name}`, pos, false);
  assign(ctx, squares, literal(0, pos), pos);
  const each = (v: TExpr): void => {
    const away = ctx.temp(arith('sub', v, mean, pos));
    assign(ctx, squares, arith('add', readLocal(squares, pos), arith('mul', away, away, pos), pos), pos);
  };
  eachElement(ctx, view, each, pos);
  return arith('div', readLocal(squares, pos), size, pos);
};

const sum = folded('add', 0);
const numberSum = foldedNumbers('add', 0);
const numbers = counted((v, pos) => not(isNaNTest(v, pos), pos));

const REDUCTIONS: Readonly<Record<string, Reduction>> = {
  sum,
  prod: folded('mul', 1),
  mean: (ctx, view, name, pos) => arith('div', sum(ctx, view, name, pos), viewSize(view, pos), pos),
  min: extreme('min'),
  max: extreme('max'),
  argmin: place('lt'),
  argmax: place('gt'),
  any: quantified(true),
  all: quantified(false),
  var: variance,
  std: (ctx, view, name, pos) => ({ k: 'math', fn: 'sqrt', args: [variance(ctx, view, name, pos)], pos }),
  nanSum: numberSum,
  nanProd: foldedNumbers('mul', 1),
  nanMean: (ctx, view, name, pos) => {
    const total = ctx.hold(numberSum(ctx, view, name, pos));
    return arith('div', total, numbers(ctx, view, name, pos), pos);
  },
  nanMin: extremeNumber('lt'),
  nanMax: extremeNumber('gt'),
  // NaN is not 0.
  countNonzero: counted((v, pos) => ({ k: 'logic', fn: 'or', a: truth(v), b: isNaNTest(v, pos), pos })),
};

/** Sum or product of complex numbers. */
function foldedComplex(operator: '+' | '*', start: number): (...of: Parameters<Reduction>) => Value {
  return (ctx, view, name, pos) => {
    const what = `%${name}`;
    const total = ctx.slot(complex(literal(start, pos), literal(0, pos)), what, pos);
    ctx.store(total, scalar(literal(start, pos)), what, pos);
    const visit = (v: Value): void => {
      if (v.kind === 'view') eachItem(ctx, { kind: 'view', view: v.view }, pos, ({ item }) => visit(item));
      else ctx.store(total, complexBinary(ctx, operator, total, v, pos) as Value, what, pos);
    };
    visit({ kind: 'view', view });
    return total;
  };
}

const complexSum = foldedComplex('+', 0);
const COMPLEX_REDUCTIONS: Readonly<Record<string, (...of: Parameters<Reduction>) => Value>> = {
  sum: complexSum,
  prod: foldedComplex('*', 1),
  mean: (ctx, view, name, pos) =>
    complexBinary(ctx, '/', complexSum(ctx, view, name, pos), scalar(viewSize(view, pos)), pos) as Value,
};

export function isReduction(name: string): boolean {
  return Object.hasOwn(REDUCTIONS, name);
}

/** `view.name()`. */
export function reduction(ctx: Evaluation, view: View, name: string, given: number, pos: Pos): Value {
  const reduce = REDUCTIONS[name];
  if (reduce === undefined) throw new Error(`no reduction ${name}`);
  if (given > 0)
    fail('K316', pos, `${name}() takes no arguments in a kernel: it goes over all elements`, {
      help: `for one row write A[i].${name}()`,
    });
  const ofComplex = view.element.record?.kind === 'c' ? COMPLEX_REDUCTIONS[name] : undefined;
  if (ofComplex !== undefined) return ofComplex(ctx, view, name, pos);
  return scalar(ctx.hold(reduce(ctx, view, name, pos)));
}
