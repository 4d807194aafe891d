/**
 * Finds the polymorphic variables and arguments that must be integers: used as an index, a slice bound, a shift or bit operand; a
 * counter stepped only by integer literals; what such a counter or an index is compared to; and what makes a quotient with one that is rounded.
 * (kernel-semantics, rule 2.)
 */
import { isAdaptive, isFloatType, isIntegerType, type Type } from './lattice.ts';
import { expressionsOf, rangeRead, walkExpression, walkStatements } from './parts.ts';
import type { Range, ScalarArg, TExpr, TMem, TStmt } from './tree.ts';
import { isIntegerQuotient, typeOf } from './typing.ts';

type Demand = 'index' | 'int';

/** Whether the value cannot be an integer by nature: a fraction, a quotient, a float. */
function inherentlyFloat(e: TExpr): boolean {
  const t: Type = typeOf(e);
  return isFloatType(t);
}

function isIntLiteral(e: TExpr): boolean {
  return e.k === 'lit' && typeof e.value === 'number' && Number.isInteger(e.value);
}

/** Whether a variable begins with a quotient of integers and is cut from then on: `for (let s = n / 2; s > 0; s >>= 1)`. */
export function isHalved({ defs }: Range): boolean {
  let cuts = 0;
  for (const def of defs) {
    if (!('expr' in def)) return false;
    const { expr } = def;
    const rounds = expr.k === 'round' && (expr.exact !== true || isIntegerQuotient(expr.a));
    if (expr.k === 'shift' || expr.k === 'toInt' || rounds) cuts++;
    else if (!(expr.k === 'arith' && expr.fn === 'div' && isIntegerQuotient(expr)) && !isIntegerType(typeOf(expr)))
      return false;
  }
  return cuts > 0;
}

/** Whether `e` is this range itself plus or minus an integer literal. */
function isStep(e: TExpr, range: Range): boolean {
  if (e.k === 'plus') return isStep(e.a, range);
  if (e.k !== 'arith' || (e.fn !== 'add' && e.fn !== 'sub')) return false;
  const self = (x: TExpr): boolean => rangeRead(x) === range || (x.k === 'plus' && self(x.a));
  return (self(e.a) && isIntLiteral(e.b)) || (e.fn === 'add' && self(e.b) && isIntLiteral(e.a));
}

/** A counter: at least one step by an integer literal, and nothing else but integers to start from. */
function isCounter(range: Range): boolean {
  let steps = 0;
  for (const def of range.defs) {
    if (!('expr' in def)) return false;
    if (isStep(def.expr, range)) steps++;
    else {
      const t = typeOf(def.expr);
      if (!isIntLiteral(def.expr) && !isAdaptive(t)) return false;
    }
  }
  return steps > 0;
}

function raise(cell: Range | ScalarArg, demand: Demand): boolean {
  if (cell.demand === 'index' || cell.demand === demand) return false;
  cell.demand = demand;
  return true;
}

function adaptive(t: Type): Demand | undefined {
  return t === 'idx' ? 'index' : t === 'int' ? 'int' : undefined;
}

/** Integer by marks made so far: what it is compared to becomes one, too. */
function marked(e: TExpr): Demand | undefined {
  switch (e.k) {
    case 'local':
    case 'load':
      return rangeRead(e)?.demand ?? adaptive(typeOf(e));
    case 'arg':
      return e.arg.demand;
    case 'arith':
    case 'minmax': {
      if (e.k === 'arith' && e.fn === 'div') return undefined;
      const a = marked(e.a);
      const b = marked(e.b);
      if (a === undefined && b === undefined) return undefined;
      if ((a === undefined && !isIntLiteral(e.a)) || (b === undefined && !isIntLiteral(e.b))) return undefined;
      return a === 'index' || b === 'index' ? 'index' : 'int';
    }
    case 'neg':
    case 'plus':
      return marked(e.a);
    default:
      return adaptive(typeOf(e));
  }
}

/** Sets `demand` on ranges and arguments. */
export function demandIntegers(body: readonly TStmt[], ranges: readonly Range[]): void {
  let changed = false;
  const demand = (e: TExpr, as: Demand): void => {
    // In an index there may be variables that are cut to integers, and then it is one, too.
    if (inherentlyFloat(e) && as !== 'index') return;
    switch (e.k) {
      case 'local':
      case 'load': {
        const range = rangeRead(e);
        if (range === undefined) return;
        const isFloat = range.defs.some((d) => 'expr' in d && inherentlyFloat(d.expr));
        if (isFloat && !(as === 'index' && isHalved(range))) return;
        if (raise(range, as)) {
          changed = true;
          for (const def of range.defs) if ('expr' in def) demand(def.expr, as);
        }
        return;
      }
      case 'arg':
        if (e.arg.given === 'number' && raise(e.arg, as)) changed = true;
        return;
      case 'arith':
        if (e.fn !== 'div') {
          demand(e.a, as);
          demand(e.b, as);
        }
        return;
      case 'minmax':
      case 'select':
        demand(e.a, as);
        demand(e.b, as);
        return;
      case 'neg':
      case 'plus':
      case 'abs':
      case 'index':
      case 'uniform':
        demand(e.a, as);
        return;
      default:
        return;
    }
  };
  /** What an integer that is no data is divided by, or divides, where the quotient is rounded: `Math.floor(i / width)`. */
  const demandQuotient = (e: TExpr): void => {
    if (e.k !== 'arith' || e.fn !== 'div') return;
    if (marked(e.a) !== undefined) demand(e.b, 'int');
    else if (marked(e.b) !== undefined) demand(e.a, 'int');
  };
  const demandPlace = ({ which, index, checks }: TMem): void => {
    if (which !== undefined) demand(which, 'index');
    demand(index, 'index');
    for (const c of checks) demand(c.index, 'index');
  };
  const visit = (e: TExpr): void =>
    walkExpression(e, (x) => {
      switch (x.k) {
        case 'load':
        case 'address':
          demandPlace(x.mem);
          return;
        case 'index':
          demand(x.a, 'index');
          return;
        case 'shift':
        case 'bits':
        case 'imul':
          demand(x.a, 'int');
          demand(x.b, 'int');
          return;
        case 'bitnot':
        case 'word':
        case 'clz32':
          demand(x.a, 'int');
          return;
        case 'intrinsic':
          for (const a of x.args) demand(a, 'int');
          return;
        case 'toInt':
          if (x.a.k !== 'arith' || x.a.fn !== 'div') demand(x.a, 'int');
          else demandQuotient(x.a);
          return;
        case 'round':
          demandQuotient(x.a);
          return;
        case 'compare': {
          const a = marked(x.a);
          const b = marked(x.b);
          if (a !== undefined && b === undefined) demand(x.b, a);
          if (b !== undefined && a === undefined) demand(x.a, b);
          return;
        }
        default:
          return;
      }
    });

  for (const range of ranges) if (isCounter(range)) raise(range, 'int');
  do {
    changed = false;
    walkStatements(body, (s) => {
      for (const e of expressionsOf(s)) visit(e);
      if (s.k === 'store' || s.k === 'atomic') {
        demandPlace(s.mem);
      }
    });
  } while (changed);
}
