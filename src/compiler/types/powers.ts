/**
 * Powers of integers whose exponent is not a constant: integers where integers are asked for, and what JavaScript means by them, fractions
 * among it, where floats are.
 *
 * As with quotients of integers, the use decides. What only passes the value on, or multiplies it, is computed in the float as well; a sum
 * or a remainder is not, which could lose digits that integers keep. A variable of powers is a float where floats are all it goes into.
 */
import { isFloatType, isFractional, isIntegerType, isWide, joinOr, type Type, typeOfElem } from './lattice.ts';
import { expressionsOf, memOperands, operands, walkStatements } from './parts.ts';
import type { Range, TExpr, TStmt } from './tree.ts';
import { comparing, isIntegerQuotient, numeric, typeOf } from './typing.ts';

/**
 * Whether an integer is a power, perhaps with another sign or times another integer, which a float can be computed of in its place. `held`: variables of
 * powers.
 */
export function holdsPower(e: TExpr, held?: { has(range: Range): boolean }): boolean {
  switch (e.k) {
    case 'local':
      return held !== undefined && e.range !== undefined && held.has(e.range);
    case 'arith':
      if (!isNumber(e)) return false;
      if (e.fn === 'pow') return e.b.k !== 'lit';
      return e.fn === 'mul' && (holdsPower(e.a, held) || holdsPower(e.b, held));
    case 'neg':
    case 'plus':
    case 'abs':
    case 'uniform':
      return holdsPower(e.a, held);
    case 'select':
    case 'minmax':
      return isNumber(e) && (holdsPower(e.a, held) || holdsPower(e.b, held));
    default:
      return false;
  }
}

/** An integer that is a number in JavaScript, not a bigint. */
function isNumber(e: TExpr): boolean {
  const t = numeric(typeOf(e));
  return isIntegerType(t) && !isWide(t);
}

/** What a value goes into: a float of a type, a variable of powers, or something that takes it as it is. */
type Sink = Type | Range | undefined;

/** Makes floats of the variables that hold powers and go into floats alone. */
export function settlePowers(body: readonly TStmt[], ranges: readonly Range[], defaultFloat: 'f32' | 'f64'): void {
  const uses = new Map<Range, Set<Sink>>();
  const mayBe = ({ type, demand, defs }: Range): boolean =>
    type !== undefined &&
    isIntegerType(type) &&
    !isWide(type) &&
    demand === undefined &&
    defs.every((d) => 'expr' in d);
  for (let before = -1; before < uses.size; ) {
    before = uses.size;
    for (const range of ranges)
      if (mayBe(range) && range.defs.some((d) => 'expr' in d && holdsPower(d.expr, uses)))
        uses.set(range, uses.get(range) ?? new Set());
  }
  if (uses.size === 0) return;

  const float = (t: Type | undefined, sink: Sink): Sink => {
    if (t === undefined || !isFloatType(t)) return undefined;
    if (!isFractional(t)) return t === 'f64' ? t : 'f32';
    return sink ?? (t === 'F' ? defaultFloat : 'f32');
  };
  const visit = (e: TExpr, sink: Sink): void => {
    if (e.k === 'local') {
      if (e.range !== undefined) uses.get(e.range)?.add(sink);
      return;
    }
    for (const x of operands(e)) visit(x, within(e, x, sink));
  };
  /** What an operand goes into. */
  const within = (e: TExpr, x: TExpr, sink: Sink): Sink => {
    switch (e.k) {
      case 'neg':
      case 'plus':
      case 'abs':
      case 'uniform':
        return sink;
      case 'select':
        if (x === e.cond) return undefined;
        return isNumber(e) ? sink : float(typeOf(e), sink);
      case 'minmax':
        return isNumber(e) ? sink : float(typeOf(e), sink);
      case 'arith':
        if (isNumber(e)) return e.fn === 'mul' ? sink : undefined;
        return float(typeOf(e), sink);
      case 'compare':
        return float(comparing(e.a, e.b), undefined);
      case 'cast':
        return float(typeOf(e), undefined);
      case 'round':
        return isIntegerQuotient(e.a) || isNumber(e.a) ? undefined : float(typeOf(e.a), sink);
      case 'math':
      case 'fma':
      case 'like':
        return float(typeOf(e), sink);
      default:
        return undefined;
    }
  };
  walkStatements(body, (s) => {
    if (s.k === 'assign') {
      const { range } = s;
      visit(s.value, range !== undefined && uses.has(range) ? range : float(range?.type, undefined));
    } else if (s.k === 'store') {
      for (const x of memOperands(s.mem)) visit(x, undefined);
      visit(s.value, s.mem.clamped ? undefined : float(typeOfElem(s.mem.elem), undefined));
    } else for (const e of expressionsOf(s)) visit(e, undefined);
  });

  // What goes into anything else is an integer, and so is what goes into that.
  const isType = (sink: Sink): sink is Type => typeof sink === 'string';
  for (let changed = true; changed; ) {
    changed = false;
    for (const [range, sinks] of uses) {
      if ([...sinks].every((x) => isType(x) || (x !== undefined && uses.has(x)))) continue;
      uses.delete(range);
      changed = true;
    }
  }
  const typeFor = (range: Range, seen: ReadonlySet<Range>): Type | undefined => {
    let t: Type | undefined;
    for (const sink of uses.get(range) ?? []) {
      const own = isType(sink) ? sink : sink && !seen.has(sink) ? typeFor(sink, new Set([...seen, sink])) : undefined;
      if (own !== undefined) t = joinOr(t, own);
    }
    return t;
  };
  for (const range of uses.keys()) range.type = typeFor(range, new Set([range])) ?? range.type;
}
