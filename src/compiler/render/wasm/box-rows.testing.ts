/**
 * For tests: random guards that leave boxes of blocks, and whether they do the same as thread by thread.
 */
import * as ir from '../../ir/builder.ts';
import type { CompareOp, ElemType, Expr, Kernel, MemRef, Stmt, Var } from '../../ir/ops.ts';
import { ELEM_SIZE } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, assign, i32, ifElse, load, mul, read, store, sub } = ir;
type Block = readonly [number, number, number];
type Axis = 'x' | 'y' | 'z';
const AXES: readonly Axis[] = ['x', 'y', 'z'];
/** Where a thread is in the grid. */
export const place = (axis: Axis): Expr =>
  add(mul(ir.special(`blockIdx.${axis}`), ir.special(`blockDim.${axis}`)), ir.special(`threadIdx.${axis}`));

const BLOCKS: readonly Block[] = [
  [8, 2, 1],
  [16, 4, 2],
  [32, 2, 2],
  [8, 4, 4],
  [40, 3, 1],
  [12, 3, 2],
  [7, 3, 2],
  [20, 1, 1],
  [4, 4, 4],
  [16, 16, 1],
  [64, 1, 2],
];

interface Case {
  readonly kernel: Kernel;
  readonly block: Block;
  readonly grid: readonly [number, number, number];
  /** Extents along x, y and z, and of the memory that checks allow. */
  readonly extents: readonly [number, number, number];
  readonly lengths: readonly number[];
  readonly elem: ElemType;
  readonly far: number;
}

/** Room in front of an array, behind it and between planes, which no check allows. */
const SIZE = 9000;

/** `if (bounds on each axis, in some form) out[z][y][x] = …`, of elements around the place. */
function random(r: Random): Case {
  const block = r.pick(BLOCKS);
  const small = block[0] <= 8 && block[1] * block[2] <= 8;
  const grid = [r.pick(small ? [1, 2, 3, 5, 17, 19] : [1, 2, 3]), r.pick([1, 2, 3]), r.pick([1, 1, 2])] as const;
  const extents = AXES.map((_, k) => {
    const threads = (block[k] ?? 1) * (grid[k] ?? 1);
    return r.chance(0.85)
      ? Math.max(0, threads + r.pick([0, 0, 1, 2, 9, -1, -2, -5, -threads]))
      : threads - r.below(threads);
  }) as unknown as [number, number, number];
  const elem = r.pick(['i32', 'f32', 'f64', 'u8', 'u16', 'i64', 'f32'] as const);
  const b = new ir.KernelBuilder('boxes');
  const [x, out] = [b.global(elem, 'x'), b.global(elem, 'out')];
  const [w, h, d] = [b.value('i32', 'w'), b.value('i32', 'h'), b.value('i32', 'd')];
  const [n, m, one] = [b.value('i32', 'n'), b.value('i32', 'm'), b.value('i32', 'one')];
  const far = b.value('i32', 'far');
  const dims = [w, h, d] as const;
  const vars = AXES.map((axis) => b.variable('i32', axis)) as [Var, Var, Var];
  const named = r.chance(0.7);
  const at = (k: number): Expr => (named ? read(vars[k] as Var) : place(AXES[k] as Axis));
  const reach = r.pick([0, 1, 1, 2]);
  const decls: Stmt[] = named ? vars.map((v, k) => assign(v, place(AXES[k] as Axis))) : [];

  // Most often as much is left out as is reached.
  const comparison = (a: Expr, fn: CompareOp, limit: Expr): Expr => {
    const mirrored = { lt: 'gt', le: 'ge', gt: 'lt', ge: 'le', eq: 'eq', ne: 'ne' } as const;
    const opposite = { lt: 'ge', le: 'gt', gt: 'le', ge: 'lt', eq: 'ne', ne: 'eq' } as const;
    return r.pick([
      () => ir.compare(fn, a, limit),
      () => ir.compare(mirrored[fn], limit, a),
      () => ir.not(ir.compare(opposite[fn], a, limit)),
    ])();
  };
  const conds: Expr[] = [];
  let inside = true;
  for (const k of [0, 1, 2]) {
    const margin = r.chance(0.9) ? reach : r.below(3);
    // Where a row or a plane goes on in the next one, two threads would store to one place.
    const meets = k < 2 && (block[k] ?? 1) * (grid[k] ?? 1) > (extents[k] ?? 0);
    const limited = r.chance(0.9) || meets;
    inside &&= limited && margin >= reach;
    if (limited) conds.push(comparison(at(k), 'lt', sub(dims[k] as Expr, i32(margin))));
    if (margin > 0 || r.chance(0.2)) conds.push(comparison(at(k), 'ge', i32(margin)));
    if (r.chance(0.05)) conds.push(comparison(at(k), 'eq', one));
    if (r.chance(0.05)) conds.push(comparison(ir.bitcast('u32', at(k)), 'lt', ir.bitcast('u32', dims[k] as Expr)));
  }
  // Somewhere in the grid it wraps.
  if (r.chance(0.15)) conds.push(comparison(add(at(r.below(2)), far), r.pick(['lt', 'ge']), w));
  if (r.chance(0.1)) conds.push(ir.compare(r.pick(['eq', 'ne'] as const), one, i32(1)));
  if (r.chance(0.05)) conds.push(ir.lt(ir.special('blockIdx.y'), i32(1)));
  if (r.chance(0.05)) conds.push(ir.lt(add(at(0), at(1)), w));

  const flat = (k: readonly [Expr, Expr, Expr]): Expr => add(mul(add(mul(k[2], h), k[1]), w), k[0]);
  const near = (k: number, by: number): Expr => (by === 0 ? at(k) : add(at(k), i32(by)));
  const perAxis = r.chance(0.5);
  const memory = (array: typeof x, by: readonly [number, number, number], limit: Expr): MemRef => {
    const own = [near(0, by[0]), near(1, by[1]), near(2, by[2])] as const;
    const index = flat(own);
    const checks = perAxis
      ? own.map((e, k) => ({ index: e, extent: dims[k] as Expr, axis: 2 - k }))
      : [{ index, extent: limit, axis: 0 }];
    return ir.at(array, index, { checks });
  };
  const type = elem === 'u8' || elem === 'u16' ? 'i32' : elem;
  const inPlace = r.chance(0.35);
  const here = [0, 0, 0] as const;
  const terms: Expr[] = [ir.cast(type, add(at(r.below(3)), i32(3)))];
  if (inPlace) terms.push(load(memory(out, here, m)));
  for (let k = 1 + r.below(4); k > 0; k--) {
    const axis = r.below(3);
    const by = here.map((_, j) => (j === axis || r.chance(0.1) ? r.below(2 * reach + 1) - reach : 0));
    terms.push(load(memory(x, by as unknown as [number, number, number], n)));
  }
  // Of places that are the same along a row, that rest on where vectors begin, that are here and there, or that are in memory.
  const other = (index: Expr, limit?: Expr): void => {
    terms.push(load(ir.at(x, index, limit === undefined ? {} : { checks: [{ index, extent: limit, axis: 0 }] })));
  };
  if (r.chance(0.15)) other(ir.binary('and', at(1), i32(7)));
  if (r.chance(0.1)) other(ir.binary('xor', at(0), i32(r.pick([1, 3, 7]))));
  if (r.chance(0.1)) other(add(at(0), ir.binary('shr', at(0), i32(r.pick([3, 4, 5])))));
  if (r.chance(0.05)) other(ir.binary('and', mul(at(0), i32(3)), i32(63)));
  // Where nothing else fails: of several threads of a vector, the one is accused that fails in what comes first.
  const loads = inside && r.chance(0.15);
  if (loads) other(ir.cast('i32', load(memory(x, here, n))), r.pick([n, i32(90)]));
  // Zero, as nothing has been assigned.
  const late = r.chance(0.1) ? b.variable('i32', 'late') : undefined;
  if (late !== undefined) other(add(at(0), read(late)));
  const value = terms.reduce((a, c) => (r.chance(0.5) ? add(a, c) : add(c, a)));
  const sum = b.variable(type, 'sum');
  const body: Stmt[] = r.chance(0.4)
    ? [assign(sum, value), store(memory(out, here, m), read(sum))]
    : [store(memory(out, here, m), value)];
  // Where nobody else stores: what has been stored is stored again.
  if (r.chance(0.2))
    body.push(store(memory(out, here, m), add(load(memory(out, here, m)), ir.constant(type, type === 'i64' ? 2n : 2))));
  if (late !== undefined) body.push(assign(late, add(ir.special('threadIdx.y'), i32(2))));
  const all = conds.length === 0 ? undefined : conds.reduce((a, c) => ir.and(a, c));
  const guarded: Stmt[] =
    all === undefined
      ? body
      : r.chance(0.4)
        ? [
            ifElse(
              conds.map((c) => ir.not(c)).reduce((a, c) => ir.or(a, c)),
              [ir.ret()],
            ),
            ...body,
          ]
        : [ifElse(all, body)];
  const volume = extents[0] * extents[1] * extents[2];
  const lengths = [0, 1].map(() => (loads || r.chance(0.7) ? volume : Math.max(0, volume - r.pick([1, 7, 64]))));
  return {
    kernel: b.build([...decls, ...guarded], { checked: true }),
    block,
    grid,
    extents,
    lengths,
    elem,
    far: r.pick([2 ** 31 - 9, 2 ** 31 - 40, -(2 ** 31), -5]),
  };
}

/** Runs a random kernel; whether something failed. */
export function checkBoxes(seed: number): boolean {
  const { kernel, block, grid, extents, lengths, elem, far } = random(new Random(seed));
  const bytes = ELEM_SIZE[elem];
  const image = new Uint8Array(2 * SIZE * bytes + 256);
  const view = new DataView(image.buffer);
  for (let i = 0; i < 2 * SIZE; i++) {
    const v = (Math.imul(i + seed, 7919) >>> 3) % 97;
    if (elem === 'f32') view.setFloat32(4 * i, v, true);
    else if (elem === 'f64') view.setFloat64(8 * i, v, true);
    else for (let k = 0; k < bytes; k++) image[bytes * i + k] = k === 0 ? v : 0;
  }
  const args = [0, SIZE * bytes, ...extents, ...lengths, 1, far];
  return check(kernel, { block, grid }, args, image, [{ at: 0, elem, length: 2 * SIZE }]) !== undefined;
}
