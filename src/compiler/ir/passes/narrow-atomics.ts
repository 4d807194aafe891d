/**
 * Atomic arithmetic on narrow floats, of which devices only exchange the bits: reads, computes, and exchanges if nobody was faster; otherwise again,
 * with what that one left.
 */
import type { NarrowFloat } from '../../../dtype/index.ts';
import { assign, atomic, breakTo, cast, compare, ifElse, type KernelBuilder, loop, read, select } from '../builder.ts';
import { type Hold, narrowSingle, widenNarrow } from '../narrow-float.ts';
import type { ElemType, Expr, MemRef, Stmt } from '../ops.ts';

type Atomic = Stmt & { readonly op: 'atomic' };

/** What there is arithmetic of; all else moves bits. */
export function isArithmetic({ fn }: Atomic): boolean {
  return fn !== 'exch' && fn !== 'cas' && fn !== 'load' && fn !== 'store';
}

/** The value that an update leaves in memory, which has a NaN stay where nothing is greater or less. */
function updated({ fn }: Atomic, old: Expr, a: Expr): Expr {
  switch (fn) {
    case 'add':
    case 'sub':
      return { op: 'binary', type: 'f32', fn, a: old, b: a };
    case 'max':
    case 'min':
      return select(compare(fn === 'max' ? 'gt' : 'lt', a, old), a, old);
    case 'nanMax':
    case 'nanMin': {
      const lost: Expr = { op: 'unary', type: 'bool', fn: 'isNaN', a: old };
      const better = compare(fn === 'nanMax' ? 'gt' : 'lt', a, old);
      return select({ op: 'binary', type: 'bool', fn: 'or', a: lost, b: better }, a, old);
    }
    default:
      throw new Error(`internal error: atomic.${fn} of a float`);
  }
}

/** The update as statements; `elem` is the integer that the bits are kept in, `mem` the element as one, `holding` names values before a statement. */
export function updateLoop(
  s: Atomic,
  format: NarrowFloat,
  elem: ElemType,
  mem: MemRef,
  symbols: KernelBuilder,
  holding: (out: Stmt[]) => Hold,
): Stmt[] {
  const { pos } = s;
  const out: Stmt[] = [];
  const hold = holding(out);
  // What it is computed from may change with the element itself.
  const at: MemRef = { ...mem, index: hold(mem.index) };
  const [operand] = s.args;
  if (operand === undefined) throw new Error(`internal error: atomic.${s.fn} without an operand`);
  const a = hold(operand);
  const [seen, found] = [symbols.variable('i32', '%seen'), symbols.variable('i32', '%found')];
  out.push(atomic('load', at, [], seen, pos, s.scope === undefined ? {} : { scope: s.scope }));
  const body: Stmt[] = [];
  const inside = holding(body);
  const old = inside(widenNarrow(format, read(seen), inside));
  const next = cast(elem, narrowSingle(format, updated(s, old, a), inside));
  const label = symbols.label();
  const how = { ...(s.order && { order: s.order }), ...(s.scope && { scope: s.scope }) };
  body.push(
    atomic('cas', { ...at, checks: [] }, [read(seen), next], found, pos, how),
    ifElse(compare('eq', read(found), read(seen)), [breakTo(label, pos)], [], pos),
    assign(seen, read(found), pos),
  );
  out.push(loop(label, body, [], pos));
  if (s.result) out.push(assign(s.result, widenNarrow(format, read(seen), holding(out)), pos));
  return out;
}
