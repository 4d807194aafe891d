/**
 * Type inference: decides the type of every live range and of every scalar argument.
 *
 * Three steps, after kernel-semantics "Types". (1) `integers.ts` marks what must be an integer because of its uses. (2) Forward:
 * the type of a range is the join of what is assigned to it; polymorphic values are the bottom of that lattice. (3) Backward: ranges and
 * arguments that are still polymorphic are linked through assignment, arithmetic and comparison, and each group takes the widest
 * type that it meets. (2) and (3) repeat until nothing changes. Types of expressions follow from those of ranges (`typeOf`).
 */
import { accumulators } from './accumulators.ts';
import { computedWith } from './defaulted.ts';
import { demandIntegers, isHalved } from './integers.ts';
import {
  isAdaptive,
  isBlend,
  isFloatType,
  isFractional,
  isHalf,
  isIntegerType,
  isPolymorphic,
  isWide,
  joinOr,
  mixesSigns,
  plain,
  type Type,
  typeOfElem,
  widened,
} from './lattice.ts';
import { expressionsOf, memOperands, operands, rangeRead, walkStatements } from './parts.ts';
import { settlePowers } from './powers.ts';
import type { Range, ScalarArg, TExpr, TStmt } from './tree.ts';
import { isIntegerQuotient, isLarge, isOutside, numeric, typeOf } from './typing.ts';

/** Things that can be polymorphic and need a type: a live range or an argument. */
type Cell = Range | ScalarArg;

export interface InferOptions {
  readonly defaultFloat: 'f32' | 'f64';
}

/** A set of polymorphic cells that must agree, with what they meet. */
class Group {
  parent: Group | undefined;
  cells: Cell[] = [];
  /** The widest concrete type met. */
  met: Type | undefined;
  /** A bigint literal is beyond i64. */
  isHigh = false;
  /** Both i32 and u32 are among what it has met. */
  bothSigns = false;
  /** The widest polymorphic class inside. */
  polymorphic: Type = 'L';
}

function root(g: Group): Group {
  let r = g;
  while (r.parent !== undefined) r = r.parent;
  return r;
}

function unite(a: Group | undefined, b: Group | undefined): Group | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const ra = root(a);
  const rb = root(b);
  if (ra === rb) return ra;
  rb.parent = ra;
  ra.cells.push(...rb.cells);
  ra.polymorphic = joinOr(ra.polymorphic, rb.polymorphic);
  if (rb.met !== undefined) meet(ra, rb.met);
  ra.isHigh ||= rb.isHigh;
  ra.bothSigns ||= rb.bothSigns;
  return ra;
}

function meet(g: Group | undefined, t: Type): void {
  if (g === undefined) return;
  const r = root(g);
  r.bothSigns ||= r.met !== undefined && mixesSigns(r.met, t);
  r.met = r.met === undefined ? t : joinOr(r.met, t);
}

/** Whether a literal that no u32 is is among what is assigned to a variable. */
function hasOutside({ defs }: Range): boolean {
  return defs.some((d) => 'expr' in d && isOutside(d.expr));
}

/** Whether a number that no integer of 32 bits is, `Number.MAX_VALUE` as the first minimum, is among what is assigned to a variable. */
function hasLarge({ defs }: Range): boolean {
  return defs.some((d) => 'expr' in d && isLarge(d.expr));
}

/** Whether it is a variable of the author's; what the compiler keeps for a while, the arms of a choice, takes any type. */
function isNamed({ local }: Range): boolean {
  return !local.name.startsWith('%');
}

/** Whether a number that has no type of its own is among what is assigned to a variable. */
function beginsOpen({ defs }: Range, counts: (e: TExpr) => boolean): boolean {
  return defs.some((d) => 'expr' in d && counts(d.expr) && isPolymorphic(typeOf(d.expr)));
}

function is32(t: Type): boolean {
  return ['i32', 'u32', 's8', 'u8'].includes(t);
}

/** Whether nothing in an expression still waits for its first type: what is computed from such a guess would stay in the join. */
function isTyped(e: TExpr): boolean {
  const open = e.k === 'local' || (e.k === 'load' && e.mem.root.open !== undefined);
  return (!open || rangeRead(e)?.type !== undefined) && operands(e).every(isTyped);
}

/** Step 2: joins of definitions, to a fixed point. What is defined by itself alone is left to the end. */
function settleRanges(ranges: readonly Range[], growing: ReadonlySet<Range>): void {
  joinDefinitions(ranges, growing, isTyped);
  joinDefinitions(ranges, growing, () => true);
}

function joinDefinitions(ranges: readonly Range[], growing: ReadonlySet<Range>, counts: (e: TExpr) => boolean): void {
  for (let changed = true; changed; ) {
    changed = false;
    for (const range of ranges) {
      let t: Type | undefined = range.type;
      for (const def of range.defs) {
        if (!('expr' in def)) t = joinOr(t, def.type);
        else if (counts(def.expr)) t = joinOr(t, typeOf(def.expr));
      }
      // `let crc = -1` that is u32 later: as JavaScript's bit operations, it has a sign.
      if (t !== undefined && plain(t) === 'u32' && hasOutside(range)) t = joinOr(t, 'i32');
      // `let best = Number.MAX_SAFE_INTEGER; if (x[i] < best) best = x[i]`: a number, as Infinity makes it one.
      if (t !== undefined && is32(t) && range.demand === undefined && hasLarge(range)) t = 'f64';
      // `let sum = 0; sum += h[i]`: what began as a number without a type is no half, so that sums keep their digits.
      if (t !== undefined && isHalf(t) && isNamed(range) && beginsOpen(range, counts)) t = 'f32';
      // Until something has decided its type, it stays open to what it meets.
      if (t !== undefined && isAdaptive(t) && range.type !== t && growing.has(range)) t = 'L';
      if (range.demand !== undefined && t !== undefined && (t === 'L' || t === 'A' || isAdaptive(t))) {
        t = joinOr(t === 'A' ? 'L' : t, range.demand === 'index' ? 'idx' : 'int');
      }
      if (range.demand === 'index' && t !== undefined && isFloatType(t) && isHalved(range)) t = 'idx';
      if (t !== range.type) {
        range.type = t;
        changed = true;
      }
    }
  }
}

/** Step 3: what polymorphic cells meet. Returns whether any cell got a type. */
function resolvePolymorphic(
  body: readonly TStmt[],
  ranges: readonly Range[],
  args: readonly ScalarArg[],
  options: InferOptions,
  last: boolean,
): boolean {
  const groups = new Map<object, Group>();
  const groupOf = (key: object, polymorphic: Type, cell?: Cell): Group => {
    let g = groups.get(key);
    if (g === undefined) {
      g = new Group();
      g.polymorphic = polymorphic;
      if (cell !== undefined) g.cells.push(cell);
      groups.set(key, g);
    }
    return root(g);
  };

  /** What has grown, and the quotients that it is divided for. */
  const divided: (readonly [operand: Group, quotient: Group])[] = [];

  /** The group of a polymorphic expression; visits operands once, meeting and uniting as it goes. */
  const seen = new Map<TExpr, Group | undefined>();
  const visit = (e: TExpr): Group | undefined => {
    if (seen.has(e)) return seen.get(e);
    const g = compute(e);
    seen.set(e, g);
    return g;
  };
  /** Unites what is linked by one operation; of no group itself unless `polymorphic`. */
  const unified = (list: readonly TExpr[], polymorphic = true): Group | undefined => {
    const gs = list.map(visit);
    let g: Group | undefined;
    for (const x of gs) g = unite(g, x);
    for (const x of list) {
      const t = numeric(typeOf(x));
      if (!isPolymorphic(t)) meet(g, t);
    }
    return polymorphic ? g : undefined;
  };
  /** An exponent is of the type of what comes out, but for its sign. */
  const exponents: (readonly [exponent: Group, power: Group | undefined, t: Type])[] = [];
  const power = (e: Extract<TExpr, { k: 'arith' }>, t: Type): Group | undefined => {
    const [base, exponent] = [visit(e.a), visit(e.b)];
    const g = isPolymorphic(t) ? unite(base, groupOf(e, t)) : base;
    for (const x of [e.a, e.b]) {
      const own = numeric(typeOf(x));
      if (!isPolymorphic(own)) meet(g, own);
    }
    if (exponent !== undefined) exponents.push([exponent, g, t]);
    return isPolymorphic(t) ? g : undefined;
  };
  const compute = (e: TExpr): Group | undefined => {
    const t = typeOf(e);
    switch (e.k) {
      case 'lit':
        if (!isPolymorphic(t)) return undefined;
        groupOf(e, t).isHigh = typeof e.value === 'bigint' && e.value >= 2n ** 63n;
        return groupOf(e, t);
      case 'local':
        return e.range !== undefined && isPolymorphic(t) ? groupOf(e.range, t, e.range) : undefined;
      case 'arg':
        return isPolymorphic(t) ? groupOf(e.arg, t, e.arg) : undefined;
      case 'arith': {
        if (e.fn === 'div' && isIntegerQuotient(e)) {
          const operands = [visit(e.a), visit(e.b)];
          if (isWide(typeOf(e))) return unified([e.a, e.b]);
          const quotient = groupOf(e, 'F');
          for (const operand of operands) if (operand !== undefined) divided.push([operand, quotient]);
          return quotient;
        }
        if (e.fn === 'pow') return power(e, t);
        return unified([e.a, e.b], isPolymorphic(t));
      }
      case 'neg':
      case 'plus':
      case 'widen':
      case 'abs':
      case 'sign':
      case 'uniform':
        return unified([e.a], isPolymorphic(t));
      case 'round':
        if (isIntegerQuotient(e.a)) {
          visit(e.a);
          return undefined;
        }
        return unified([e.a], isPolymorphic(t));
      case 'select': {
        visit(e.cond);
        return unified([e.a, e.b], isPolymorphic(t));
      }
      case 'native':
      case 'minmax':
      case 'like':
      case 'fma': {
        return unified(operands(e), isPolymorphic(t));
      }
      case 'math':
      case 'complex':
      case 'exact': {
        const own = unified(e.args.filter((x) => !isIntegerType(numeric(typeOf(x)))));
        for (const x of operands(e)) visit(x);
        if (e.k === 'exact' && e.by !== undefined) meet(visit(e.by), 'i32');
        if (!isPolymorphic(t)) return undefined;
        return unite(own, groupOf(e, 'F'));
      }
      case 'bits':
        return unified(operands(e), t === 'B');
      case 'shift': {
        visit(e.b);
        const g = visit(e.a);
        return t === 'B' ? g : undefined;
      }
      case 'compare':
      case 'intrinsic':
        unified(operands(e));
        return undefined;
      case 'bitcast':
        meet(visit(e.a), e.from);
        return undefined;
      case 'half':
        if (e.fn === 'bits') meet(visit(e.a), 'f32');
        else visit(e.a);
        return undefined;
      case 'cast': {
        if (e.by === 'lane') {
          meet(visit(e.a), typeOfElem(e.to));
          return undefined;
        }
        const g = e.a.k === 'arg' ? undefined : visit(e.a);
        // What 64 bits are cut from may be computed in them.
        if (typeOf(e.a) === 'B' && isWide(t) && t !== 'B') meet(g, t);
        return t === 'B' ? groupOf(e, t) : undefined;
      }
      case 'load':
      case 'address': {
        for (const x of memOperands(e.mem)) visit(x);
        const range = rangeRead(e);
        return range !== undefined && isPolymorphic(t) ? groupOf(range, t, range) : undefined;
      }
      default:
        for (const x of operands(e)) visit(x);
        return undefined;
    }
  };

  walkStatements(body, (s) => {
    for (const e of expressionsOf(s)) visit(e);
    const target = s.k === 'assign' ? s.range : s.k === 'store' ? s.mem.root.open : undefined;
    if (target !== undefined && (s.k === 'assign' || s.k === 'store')) {
      const g = visit(s.value);
      const t = target.type;
      if (t !== undefined && isPolymorphic(t)) {
        unite(groupOf(target, t, target), g);
        const v = typeOf(s.value);
        if (!isPolymorphic(v)) meet(groupOf(target, t, target), v);
      } else if (t !== undefined) meet(g, t);
    } else if (s.k === 'store') {
      const g = visit(s.value);
      // What is clamped may be of any type, and what is rounded when it is stored need not be before.
      const t = typeOfElem(s.mem.elem);
      if (!s.mem.clamped) meet(g, isHalf(t) ? 'f32' : t);
    } else if (s.k === 'warp' && s.range !== undefined && s.fn.startsWith('shfl')) {
      // The value goes to another lane's variable as if by assignment.
      const t = s.range.type;
      const g = s.args[0] && visit(s.args[0]);
      if (t !== undefined && isPolymorphic(t)) unite(groupOf(s.range, t, s.range), g);
      else if (t !== undefined) meet(g, t);
    } else if (s.k === 'extern') {
      for (const [k, { elem, pointer }] of s.fn.params.entries()) {
        const arg = s.args[k];
        if (arg !== undefined && !pointer) meet(visit(arg), typeOfElem(elem));
      }
    } else if (s.k === 'atomic') {
      for (const a of s.args) meet(visit(a), typeOfElem(s.mem.elem));
    }
  });
  for (const r of ranges) if (r.type !== undefined && isPolymorphic(r.type)) groupOf(r, r.type, r);
  for (const a of args) if (a.type === undefined || isPolymorphic(a.type)) groupOf(a, a.type ?? 'A', a);

  // `sum / n` is an f64: so is the sum, which might not fit 32 bits.
  for (const [operand, quotient] of divided) if (root(quotient).met === 'f64') meet(root(operand), 'f64');

  for (const [exponent, g, t] of exponents) {
    const met = (g && root(g).met) ?? (isPolymorphic(t) ? undefined : t);
    if (met !== undefined) meet(exponent, plain(met) === 'u32' ? 'i32' : met === 'u64' ? 'i64' : met);
  }

  let any = false;
  for (const g of new Set([...groups.values()].map(root))) {
    const pending = g.cells.filter((c) => c.type === undefined || isPolymorphic(c.type));
    if (pending.length === 0) continue;
    const t = decide(g, options, last);
    if (t === undefined) continue;
    for (const c of pending) {
      c.type = t.type;
      if ('given' in c) c.defaulted = t.defaulted;
    }
    any = true;
  }
  return any;
}

/** Data of 8 or 16 bits: of fractions it makes f32, where nothing asks for more digits. */
function isNarrow(met: Type | undefined): boolean {
  return met !== undefined && ['s8', 'u8'].includes(plain(met));
}

/** The type of a group; undefined while something may still come. */
function decide(g: Group, options: InferOptions, last: boolean): { type: Type; defaulted: boolean } | undefined {
  // A variable that is assigned more than once may be a sum.
  let met =
    g.met !== undefined && isHalf(g.met) && g.cells.some((c) => 'defs' in c && c.defs.length > 1 && isNamed(c))
      ? 'f32'
      : g.met;
  if (g.bothSigns && met !== undefined && plain(met) === 'i32' && !isFractional(g.polymorphic))
    return { type: isBlend(met) ? 'idx' : 'int', defaulted: false };
  if (met !== undefined && plain(met) === 'u32' && g.cells.some((c) => 'defs' in c && hasOutside(c)))
    met = joinOr(met, 'i32');
  if (g.polymorphic === 'B') {
    if (met !== undefined && isWide(met) && met !== 'B') return { type: met, defaulted: false };
    return last ? { type: g.isHigh ? 'u64' : 'i64', defaulted: false } : undefined;
  }
  if (met !== undefined && !isAdaptive(met) && !isPolymorphic(met)) {
    const t = isFractional(g.polymorphic) ? joinOr(g.polymorphic, met) : met;
    if (!isPolymorphic(t)) return { type: widened(t), defaulted: false };
  }
  if (!last) return undefined;
  if (g.polymorphic === 'L') return { type: met === 'idx' ? 'idx' : met === 'int' ? 'int' : 'i32', defaulted: false };
  if (g.polymorphic === 'S' || isNarrow(met)) return { type: 'f32', defaulted: false };
  return { type: options.defaultFloat, defaulted: g.cells.some((c) => 'given' in c) };
}

/** Decides all types. Conflicts are left for the lowering pass, which knows how to tell them. */
export function infer(
  body: readonly TStmt[],
  ranges: readonly Range[],
  args: readonly ScalarArg[],
  options: InferOptions,
): void {
  for (const arg of args) arg.type = arg.given === 'number' ? 'A' : arg.given === 'bigint' ? 'B' : arg.given;
  const none: ReadonlySet<Range> = new Set();
  settleRanges(ranges, none);
  demandIntegers(body, ranges);
  for (const arg of args) {
    if (arg.given === 'number' && arg.demand !== undefined) arg.type = arg.demand === 'index' ? 'idx' : 'int';
  }
  // Now that it is known which variables have to be integers, those that merely grew of integers need not be.
  const growing = new Set([...accumulators(ranges)].filter((range) => range.demand === undefined));
  if (growing.size > 0) for (const range of ranges) range.type = undefined;
  settleRanges(ranges, growing);
  // First without defaults: what meets something settles, and may settle others; then the rest falls to the defaults.
  for (const last of [false, true]) {
    while (resolvePolymorphic(body, ranges, args, options, last)) settleRanges(ranges, growing);
    settleRanges(ranges, growing);
  }
  for (const r of ranges) if (r.type === undefined) r.type = 'i32';
  settlePowers(body, ranges, options.defaultFloat);
  // An argument that is never used has no group of its own to decide it.
  for (const arg of args)
    if (arg.type === undefined || isPolymorphic(arg.type))
      arg.type = arg.given === 'bigint' ? 'i64' : options.defaultFloat;
  if (!args.some((arg) => arg.defaulted)) return;
  const computed = computedWith(body);
  for (const arg of args) arg.defaulted &&= computed.has(arg);
}
