/**
 * Scalar replacement: a small local array of which every access names its element becomes a variable for each element.
 *
 * `const acc = cuda.local.array(64, f32)` holds the accumulators of a register tile. Variables live in registers, or in a slot
 * for each item where a barrier comes between; an array is memory at every access. What loops index is known once they are
 * unrolled, so that `unroll` asks here which arrays are worth it.
 */
import { assign, KernelBuilder, read } from '../builder.ts';
import { type ArraySym, ELEM_SIZE, type Expr, type Kernel, type MemRef, type Stmt, type Var, widen } from '../ops.ts';
import { defined, eachExpr, eachStmt, mapExpr, mapLists, mapTopExprs, someExpr, written } from './walk.ts';

/** Elements of an array, at most. */
const LARGEST = 64;

/** The kernel without the arrays that can be variables; the same one when there are none. */
export function replaceArrays(kernel: Kernel): Kernel {
  const arrays = smallArrays(kernel, isElement);
  if (arrays.size === 0) return kernel;
  const b = KernelBuilder.from(kernel);
  const vars = new Map([...arrays].map((a): [ArraySym, (Var | undefined)[]] => [a, []]));
  const element = ({ array, index }: MemRef): Var | undefined => {
    const elements = vars.get(array);
    if (elements === undefined || index.op !== 'const') return undefined;
    const k = Number(index.value);
    elements[k] ??= b.variable(widen(array.elem), `${array.name}[${k}]`);
    return elements[k];
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

/** Small local arrays of values as they are, of which `allows` says yes to every access. */
function smallArrays(kernel: Kernel, allows: (mem: MemRef) => boolean): Set<ArraySym> {
  const small = new Set(
    kernel.arrays.filter(
      (a) =>
        a.space === 'local' && (a.length ?? LARGEST + 1) <= LARGEST && widen(a.elem) === a.elem && a.elem !== 'bool',
    ),
  );
  if (small.size === 0) return small;
  const visit = (mem: MemRef, atomic = false): void => {
    const { array, elem, scale, disp } = mem;
    const whole = elem === array.elem && scale === ELEM_SIZE[elem] && disp === 0;
    if (atomic || !whole || !allows(mem)) small.delete(array);
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

/** Whether an access is to one element, and no check of it can fail. */
function isElement({ array, index, checks }: MemRef): boolean {
  const within = (i: Expr, extent: Expr): boolean =>
    i.op === 'const' && extent.op === 'const' && Number(i.value) >= 0 && Number(i.value) < Number(extent.value);
  if (index.op !== 'const' || Number(index.value) < 0 || Number(index.value) >= (array.length ?? 0)) return false;
  return checks.every((check) => within(check.index, check.extent));
}
