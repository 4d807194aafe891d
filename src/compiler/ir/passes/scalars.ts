/**
 * Scalar replacement: a small local array of which every access names its element becomes a variable for each element.
 *
 * `const acc = cuda.local.array(64, f32)` holds the accumulators of a register tile. Variables live in registers, or in a slot
 * for each item where a barrier comes between; an array is memory at every access. What loops index is known once they are
 * unrolled, so that `unroll` asks here which arrays are worth it.
 */
import { assign, KernelBuilder, read } from '../builder.ts';
import {
  type ArraySym,
  ELEM_SIZE,
  type ElemType,
  type Expr,
  type Kernel,
  type MemRef,
  type Stmt,
  type Var,
  widen,
} from '../ops.ts';
import { defined, eachExpr, eachStmt, mapExpr, mapLists, mapTopExprs, someExpr, written } from './walk.ts';

/** Elements of an array, at most. */
const LARGEST = 64;

/** The kernel without the arrays that can be variables; the same one when there are none. */
export function replaceArrays(kernel: Kernel): Kernel {
  const arrays = smallArrays(kernel, isElement);
  if (arrays.size === 0) return kernel;
  const b = KernelBuilder.from(kernel);
  const vars = new Map([...arrays].map((a): [ArraySym, (Var | undefined)[]] => [a, []]));
  const element = ({ array, elem, index, scale, disp }: MemRef): Var | undefined => {
    const elements = vars.get(array);
    if (elements === undefined || index.op !== 'const') return undefined;
    const k = Number(index.value);
    const at = k * scale + disp;
    elements[at] ??= b.variable(widen(elem), `${array.name}[${k}]`);
    return elements[at];
  };
  const change = (e: Expr): Expr => {
    const v = e.op === 'load' ? element(e.mem) : undefined;
    return v === undefined ? e : read(v);
  };
  const inList = (list: readonly Stmt[]): readonly Stmt[] =>
    list.map((s) => {
      const own = mapLists(
        mapTopExprs(s, (e) => mapExpr(e, change)),
        inList,
      );
      const v = own.op === 'store' ? element(own.mem) : undefined;
      return own.op === 'store' && v !== undefined ? assign(v, own.value, own.pos) : own;
    });
  const body = inList(kernel.body);
  return { ...kernel, vars: [...b.vars], arrays: kernel.arrays.filter((a) => !arrays.has(a)), body };
}

/** Local arrays all of whose elements are named by constants, counters of loops, and what is made of these. */
export function unrollableArrays(kernel: Kernel): ReadonlySet<ArraySym> {
  if (!kernel.arrays.some((a) => a.space === 'local')) return new Set();
  const values = new Map<number, (Expr | undefined)[]>();
  eachStmt(kernel.body, (s) => {
    const id = defined(s);
    if (id === undefined) return;
    const value = s.op === 'assign' ? s.value : undefined;
    if (!values.get(id)?.push(value)) values.set(id, [value]);
  });
  const known = new Map<number, boolean>();
  const isNumber = (e: Expr): boolean =>
    !someExpr(e, (x) => {
      if (x.op === 'var') return !isCounter(x.var.id);
      return x.op === 'load' || x.op === 'param' || x.op === 'special' || x.op === 'call';
    });
  const isCounter = (id: number): boolean => {
    const before = known.get(id);
    if (before !== undefined) return before;
    known.set(id, true);
    const all = values.get(id) ?? [];
    const counter = all.length > 0 && all.every((value) => value !== undefined && isNumber(value));
    known.set(id, counter);
    return counter;
  };
  return smallArrays(kernel, ({ index }) => isNumber(index));
}

/** How an array is accessed: bytes from element to element, and the types of its parts by where they begin. */
interface Parts {
  scale: number;
  readonly types: Map<number, ElemType>;
}

/** Small local arrays of values as they are, or of numbers that have parts, such as complex ones, of which `allows` says yes to every access. */
function smallArrays(kernel: Kernel, allows: (mem: MemRef) => boolean): Set<ArraySym> {
  const local = kernel.arrays.filter((a) => a.space === 'local' && (a.length ?? LARGEST + 1) <= LARGEST);
  const small = new Set(local);
  if (small.size === 0) return small;
  const parts = new Map(local.map((a): [ArraySym, Parts] => [a, { scale: 0, types: new Map() }]));
  const visit = (mem: MemRef, atomic = false): void => {
    if (atomic || !isPart(parts.get(mem.array) as Parts, mem) || !allows(mem)) small.delete(mem.array);
  };
  eachStmt(kernel.body, (s) => {
    const mem = written(s);
    if (mem !== undefined && small.has(mem.array)) visit(mem, s.op === 'atomic');
  });
  eachExpr(kernel.body, (e) => {
    if (e.op === 'load' && small.has(e.mem.array)) visit(e.mem);
    // Who has the address finds the elements in memory.
    if (e.op === 'address') small.delete(e.mem.array);
  });
  return small;
}

/** Whether an access is to a part that no other overlaps, always as the same type. */
function isPart(parts: Parts, { elem, scale, disp }: MemRef): boolean {
  const size = ELEM_SIZE[elem];
  if (widen(elem) !== elem || elem === 'bool' || disp < 0 || disp + size > scale) return false;
  if (parts.scale === 0) parts.scale = scale;
  if (parts.scale !== scale) return false;
  const known = parts.types.get(disp);
  if (known !== undefined) return known === elem;
  for (const [other, type] of parts.types) if (disp < other + ELEM_SIZE[type] && other < disp + size) return false;
  parts.types.set(disp, elem);
  return true;
}

/** Whether an access is to one element, and no check of it can fail. */
function isElement({ array, index, scale, checks }: MemRef): boolean {
  const within = (i: Expr, extent: Expr): boolean =>
    i.op === 'const' && extent.op === 'const' && Number(i.value) >= 0 && Number(i.value) < Number(extent.value);
  const bytes = (array.length ?? 0) * ELEM_SIZE[array.elem];
  if (index.op !== 'const' || Number(index.value) < 0 || (Number(index.value) + 1) * scale > bytes) return false;
  return checks.every((check) => within(check.index, check.extent));
}
