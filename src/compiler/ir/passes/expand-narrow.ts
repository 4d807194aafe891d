/**
 * Replaces narrow floats that a device has no instructions for by their bits: elements become unsigned integers, loads, stores and
 * conversions the operations of narrow-float.ts.
 */
import { isNarrowFloat, type NarrowName, SCALARS } from '../../../dtype/index.ts';
import type { Pos } from '../../source.ts';
import { assign, cast, KernelBuilder, load, read } from '../builder.ts';
import { fusedNarrow, narrowSingle, oddSingle, roundSingle, widenNarrow } from '../narrow-float.ts';
import { type ArraySym, ELEM_SIZE, type ElemType, type Expr, type Kernel, type MemRef, type Stmt } from '../ops.ts';
import { isArithmetic, updateLoop } from './narrow-atomics.ts';
import { mapLists, mapStmtExprs, someExpr, someStmt, stmtExprs, written } from './walk.ts';

/** From what types a device converts to a format itself: `'all'`, or from f32. */
export type NativeNarrow = Readonly<Partial<Record<NarrowName, 'all' | 'f32'>>>;

/** Formats that a device computes in itself, beyond conversions. */
export interface NarrowArithmetic {
  /** It has an fma of them. */
  readonly fused?: readonly NarrowName[];
  /** It adds to them atomically. */
  readonly added?: readonly NarrowName[];
}

const BITS: Readonly<Record<number, ElemType>> = { 1: 'u8', 2: 'u16' };

/** The same kernel without formats and operations that are not native; the kernel itself when it has none. */
export function expandNarrow(
  kernel: Kernel,
  native: NativeNarrow,
  { fused = [], added = [] }: NarrowArithmetic = {},
): Kernel {
  if (!someStmt(kernel.body, isNarrow)) return kernel;
  const symbols = KernelBuilder.from(kernel);
  const arrays = new Map<ArraySym, ArraySym>();
  let expanded = false;

  /** The format of an element that is not native. */
  const foreign = (elem: ElemType): NarrowName | undefined =>
    isNarrowFloat(elem) && native[elem] === undefined ? elem : undefined;
  const bitsOf = (elem: ElemType): ElemType => (foreign(elem) === undefined ? elem : (BITS[ELEM_SIZE[elem]] ?? elem));

  const arrayOf = (array: ArraySym): ArraySym => {
    if (foreign(array.elem) === undefined) return array;
    const known = arrays.get(array) ?? { ...array, elem: bitsOf(array.elem) };
    arrays.set(array, known);
    return known;
  };
  const memOf = (mem: MemRef): MemRef => {
    const [array, elem] = [arrayOf(mem.array), bitsOf(mem.elem)];
    if (array === mem.array && elem === mem.elem) return mem;
    expanded = true;
    return { ...mem, array, elem };
  };

  const change = (e: Expr, hold: (value: Expr) => Expr): Expr => {
    if (e.op === 'load') {
      const mem = memOf(e.mem);
      const name = foreign(e.mem.elem);
      if (name !== undefined) return widenNarrow(SCALARS[name].narrow, load(mem), hold);
      return mem === e.mem ? e : { ...e, mem };
    }
    if (e.op === 'fma' && e.to !== undefined && !fused.includes(e.to)) {
      expanded = true;
      return change(cast(e.to, fusedNarrow(e.to, [e.a, e.b, e.c], hold)), hold);
    }
    if (e.op !== 'cast' || !isNarrowFloat(e.to)) return e;
    const { to } = e;
    if (native[to] === 'all' || (native[to] === 'f32' && e.a.type === 'f32')) return e;
    expanded = true;
    const single = oddSingle(e.a, hold);
    if (native[to] === 'f32') return { ...e, a: single };
    return roundSingle(SCALARS[to].narrow, single, hold);
  };

  const list = (statements: readonly Stmt[]): Stmt[] => {
    const out: Stmt[] = [];
    for (const s of statements) {
      const hold = holder(symbols, out, s.pos);
      // One may be shared, as an index and the check of it are.
      const done = new Map<Expr, Expr>();
      const own = mapStmtExprs(s, (e) => {
        const known = done.get(e) ?? change(e, hold);
        done.set(e, known);
        return known;
      });
      if (own.op === 'atomic' && isNarrowFloat(own.mem.elem)) out.push(...atomically(own, own.mem.elem, hold));
      else out.push(mapLists(stored(own, hold), list));
    }
    return out;
  };

  /** A statement that writes memory, with the bits of what it writes. */
  const stored = (s: Stmt, hold: (value: Expr) => Expr): Stmt => {
    const target = written(s);
    if (target === undefined || (s.op !== 'store' && s.op !== 'atomic')) return s;
    const mem = memOf(target);
    const name = foreign(target.elem);
    if (name === undefined || s.op !== 'store') return mem === target ? s : { ...s, mem };
    return { ...s, mem, value: narrowSingle(SCALARS[name].narrow, s.value, hold) };
  };

  /** An atomic operation on the bits of a narrow float; sums are all that some devices have of the float. */
  const atomically = (s: Stmt & { op: 'atomic' }, name: NarrowName, hold: (value: Expr) => Expr): Stmt[] => {
    if (s.fn === 'add' && added.includes(name)) return [s];
    expanded = true;
    const { narrow } = SCALARS[name];
    const elem = BITS[ELEM_SIZE[name]] ?? name;
    const mem: MemRef = { ...s.mem, array: arrayOf(s.mem.array), elem };
    if (isArithmetic(s)) return updateLoop(s, narrow, elem, mem, symbols, (out) => holder(symbols, out, s.pos));
    const args = s.args.map((a) => cast(elem, narrowSingle(narrow, a, hold)));
    if (s.result === undefined) return [{ ...s, mem, args }];
    const bits = symbols.variable('i32', '%narrow');
    const after: Stmt[] = [];
    const value = widenNarrow(narrow, read(bits), holder(symbols, after, s.pos));
    return [{ ...s, mem, args, result: bits }, ...after, assign(s.result, value, s.pos)];
  };

  const body = list(kernel.body);
  if (!expanded) return kernel;
  return { ...kernel, arrays: symbols.arrays.map(arrayOf), vars: [...symbols.vars], body };
}

/** Whether a statement has to do with narrow floats. */
function isNarrow(s: Stmt): boolean {
  const target = written(s);
  return (target !== undefined && isNarrowFloat(target.elem)) || stmtExprs(s).some((e) => someExpr(e, isNarrowNode));
}

function isNarrowNode(e: Expr): boolean {
  if (e.op === 'load') return isNarrowFloat(e.mem.elem);
  return e.op === 'cast' ? isNarrowFloat(e.to) : e.op === 'fma' && e.to !== undefined;
}

/** Names values by variables that are assigned before a statement. */
function holder(symbols: KernelBuilder, out: Stmt[], pos: Pos): (value: Expr) => Expr {
  return (value) => {
    if (value.op === 'const' || value.op === 'var' || value.op === 'param') return value;
    const v = symbols.variable(value.type, '%narrow');
    out.push(assign(v, value, pos));
    return read(v);
  };
}
