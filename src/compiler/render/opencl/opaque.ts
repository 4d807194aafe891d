/**
 * Parts of indices that the compiler must not see through.
 *
 * LLVM's loop vectoriser takes `s[(5 * k) & 15]` for an array read with stride 5, as if the mask changed nothing, where the loop makes no
 * more rounds than the mask has values (llvm-project 156849; all releases up to 21 at least). PoCL compiles with it. So remainders,
 * masks, shifts and narrow conversions that an index depends on are combined with a zero that is only known at run time: an exclusive
 * or, which ends the vectoriser's analysis of strides and costs one instruction. Whether a device wants it, its driver finds out.
 */
import { type BinaryOp, type Expr, isInt, type Kernel, type MemRef, type Stmt } from '../../ir/ops.ts';
import { addReads, eachStmt, exprParts, stmtExprs, written } from '../../ir/passes/walk.ts';
import { type C, castTo, Level, typeOf, within } from './code.ts';

/** The argument that is always zero. */
export const ZERO = 'zero';

/** What keeps only some bits of a number, or becomes that when LLVM simplifies it (`k - k / 16 * 16`). */
const PARTIAL: ReadonlySet<BinaryOp> = new Set(['and', 'rem', 'div', 'floordiv', 'shr']);
const NARROW: ReadonlySet<string> = new Set(['i8', 'u8', 'i16', 'u16']);

/** The parts of a kernel's indices that are to be hidden. */
export function opaqueParts({ body }: Kernel): ReadonlySet<Expr> {
  const indices = indexExprs(body);
  const relevant = new Set<number>();
  for (const index of indices) addReads(index, relevant);
  const assigned: { readonly id: number; readonly value: Expr }[] = [];
  eachStmt(body, (s) => {
    if (s.op === 'assign') assigned.push({ id: s.var.id, value: s.value });
  });
  for (let known = -1; known < relevant.size; ) {
    known = relevant.size;
    for (const { id, value } of assigned) if (relevant.has(id)) addReads(value, relevant);
  }
  const found = new Set<Expr>();
  const look = (e: Expr): void => {
    if (isPartial(e)) found.add(e);
    for (const part of exprParts(e)) look(part);
  };
  indices.forEach(look);
  for (const { id, value } of assigned) if (relevant.has(id)) look(value);
  return found;
}

/** The indices of all accesses to memory. */
function indexExprs(body: readonly Stmt[]): readonly Expr[] {
  const mems = new Set<MemRef>();
  const loads = (e: Expr): void => {
    if (e.op === 'load' || e.op === 'address') mems.add(e.mem);
    for (const part of exprParts(e)) loads(part);
  };
  eachStmt(body, (s) => {
    const mem = written(s);
    if (mem !== undefined) mems.add(mem);
    stmtExprs(s).forEach(loads);
  });
  return [...mems].map(({ index }) => index);
}

function isPartial(e: Expr): boolean {
  if (!isInt(e.type)) return false;
  if (e.op === 'cast') return NARROW.has(e.to);
  return e.op === 'binary' && PARTIAL.has(e.fn) && (e.a.op === 'const' || e.b.op === 'const');
}

/** The same value, by a way that the compiler does not know. */
export function hidden(e: Expr, c: C): C {
  const zero = e.type === 'i32' ? ZERO : castTo(typeOf(e.type), { text: ZERO, level: Level.atom }).text;
  return { text: `${within(c, Level.unary)} ^ ${zero}`, level: Level.loose };
}
