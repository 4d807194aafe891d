/**
 * The number of bits set as it is counted where there is no word for it: in pairs, fours and bytes, whose sum is the upper byte of a product.
 *
 *     x = v - ((v >>> 1) & 0x55555555);
 *     x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
 *     n = Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
 *
 * Steps are found in any variables, but in one list, so that it is plain that none of them changes in between. Whether shifts go through the sign does not
 * matter: bits that come from it are masked, or at the end are 0.
 */
import { POPC } from '../../intrinsics/operations.ts';
import { cast, intrinsic, read } from '../builder.ts';
import type { BinaryOp, Expr, Kernel, Stmt, Var } from '../ops.ts';
import { assignedIn, defined, eachExpr, mapLists, mapSame, mapStmtExprs } from './walk.ts';

const [PAIRS, FOURS, NIBBLES, ONES] = [0x55555555, 0x33333333, 0x0f0f0f0f, 0x01010101];

/** How far the bits of a variable are counted: by two, by four, in bytes, all in the upper byte. */
interface Counted {
  readonly step: 1 | 2 | 3 | 4;
  readonly of: Var;
}

export function countBits(kernel: Kernel): Kernel {
  let mayApply = false;
  eachExpr(kernel.body, (e) => {
    mayApply ||= e.op === 'binary' && e.fn === 'mul' && isNumber(e.b, ONES);
  });
  if (!mayApply) return kernel;
  const body = inList(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, body };
}

function inList(list: readonly Stmt[]): readonly Stmt[] {
  const known = new Map<number, Counted>();
  return mapSame(list, (before) => {
    const s = mapLists(
      mapStmtExprs(before, (e) => {
        const of = isShift(e, 24) && e.op === 'binary' ? counted(e.a, known) : undefined;
        return of?.step === 4 ? cast(e.type, intrinsic(POPC, read(of.of))) : e;
      }),
      inList,
    );
    const found = s.op === 'assign' ? counted(s.value, known) : undefined;
    const own = defined(s);
    for (const id of own === undefined ? assignedIn([s]) : [own]) {
      known.delete(id);
      for (const [other, { of }] of known) if (of.id === id) known.delete(other);
    }
    if (s.op === 'assign' && found !== undefined && found.of !== s.var) known.set(s.var.id, found);
    return s;
  });
}

function counted(value: Expr, known: ReadonlyMap<number, Counted>): Counted | undefined {
  const e = word(value);
  if (e.op === 'var') return known.get(e.var.id);
  if (e.op !== 'binary') return undefined;
  const next = (x: Expr | undefined, step: Counted['step']): Counted | undefined => {
    const before = x && counted(x, known);
    return before?.step === step - 1 ? { step, of: before.of } : undefined;
  };
  switch (e.fn) {
    case 'sub': {
      // v - ((v >> 1) & 0x55555555): of a pair, what is left is 0, 1 or 2.
      const [v, half] = [word(e.a), masked(e.b, PAIRS)];
      return v.op === 'var' && isShiftOf(half, v, 1) ? { step: 1, of: v.var } : undefined;
    }
    case 'add': {
      const [low, high] = [masked(e.a, FOURS), masked(e.b, FOURS)];
      if (isShiftOf(high, low, 2)) return next(low, 2);
      return isShiftOf(low, high, 2) ? next(high, 2) : undefined;
    }
    case 'and': {
      const sum = masked(e, NIBBLES);
      if (sum?.op !== 'binary' || sum.fn !== 'add') return undefined;
      if (isShiftOf(sum.b, sum.a, 4)) return next(sum.a, 3);
      return isShiftOf(sum.a, sum.b, 4) ? next(sum.b, 3) : undefined;
    }
    case 'mul':
      return isNumber(e.b, ONES) ? next(e.a, 4) : undefined;
    default:
      return undefined;
  }
}

/** Without what changes the sign of a word alone. */
function word(e: Expr): Expr {
  const same = (e.op === 'cast' || e.op === 'bitcast') && isWord(e) && isWord(e.a);
  return same ? word(e.a) : e;
}

const isWord = ({ type }: Expr): boolean => type === 'i32' || type === 'u32';

const isNumber = (e: Expr, value: number): boolean => e.op === 'const' && isWord(e) && Number(e.value) === value;

function operandOf(e: Expr, fn: BinaryOp, value: number): Expr | undefined {
  const x = word(e);
  if (x.op !== 'binary' || x.fn !== fn || !isWord(x) || !isNumber(word(x.b), value)) return undefined;
  return word(x.a);
}

const masked = (e: Expr, mask: number): Expr | undefined => operandOf(e, 'and', mask);

const isShift = (e: Expr, by: number): boolean => operandOf(e, 'shr', by) !== undefined;

/** Whether it is a variable, shifted. */
function isShiftOf(e: Expr | undefined, of: Expr | undefined, by: number): boolean {
  const x = e && operandOf(e, 'shr', by);
  const v = of && word(of);
  return x?.op === 'var' && v?.op === 'var' && x.var === v.var;
}
