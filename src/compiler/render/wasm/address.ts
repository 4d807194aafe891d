/**
 * Byte addresses of memory accesses.
 *
 * An address is built as a sum that begins with what changes least (see `ranking`), so that the optimiser can keep partial
 * sums out of inner loops. In a 32-bit memory all of it is arithmetic modulo 2^32, which may be reassociated freely.
 */
import { type ArraySym, ELEM_SIZE, type Expr, type MemRef } from '../../ir/ops.ts';
import type { Local } from './assembler.ts';
import { part, scalar } from './expr.ts';
import { addressType, type Gen, isWide, ScalarOnly, shapeOf } from './gen.ts';
import { extractLane, splatConst } from './vector.ts';

/** Where the lanes of an access are. Each `push` pushes an address to which `offset` (in the instruction) is added. */
export type Where =
  | { readonly kind: 'uniform'; readonly push: () => void; readonly offset: number }
  | { readonly kind: 'consecutive'; readonly push: () => void; readonly offset: number }
  /** `lane` pushes and returns a further constant offset. */
  | { readonly kind: 'lanes'; readonly lane: (lane: number) => number; readonly offset: number };

/** Most that is added to an index in the instruction. Global memory must not begin below this address. */
const MOST_FOLDED = 4096;

interface Term {
  readonly e: Expr;
  readonly factor: number;
}

/** index = sum of terms + constant, modulo 2^32. */
function linear(e: Expr, factor: number, terms: Term[]): number {
  const constant = (x: Expr): number | undefined =>
    x.op === 'const' && typeof x.value !== 'boolean' ? Number(BigInt.asIntN(32, BigInt(x.value))) : undefined;
  if (e.op === 'const') return Math.imul(constant(e) ?? 0, factor);
  if (e.op === 'binary') {
    const [a, b] = [constant(e.a), constant(e.b)];
    if (e.fn === 'add') return (linear(e.a, factor, terms) + linear(e.b, factor, terms)) | 0;
    if (e.fn === 'sub') return (linear(e.a, factor, terms) + linear(e.b, -factor | 0, terms)) | 0;
    if (e.fn === 'mul' && b !== undefined) return linear(e.a, Math.imul(factor, b), terms);
    if (e.fn === 'mul' && a !== undefined) return linear(e.b, Math.imul(factor, a), terms);
    if (e.fn === 'shl' && b !== undefined) return linear(e.a, Math.imul(factor, 1 << (b & 31)), terms);
  }
  if (e.op === 'cast' && (e.to === 'i64' || e.to === 'u64' || e.to === 'i32' || e.to === 'u32') && isIndex(e.a)) {
    return linear(e.a, factor, terms);
  }
  terms.push({ e, factor });
  return 0;
}

const isIndex = (e: Expr): boolean => e.type === 'i32' || e.type === 'u32' || e.type === 'i64' || e.type === 'u64';

/** Stack: sum so far. Adds `scalar * factor`. */
function addTerm(g: Gen, { e, factor }: Term): void {
  const { f } = g;
  scalar(g, e);
  if (isWide(e.type)) f.op('i32.wrap_i64');
  const size = Math.abs(factor);
  const power = Math.log2(size);
  if (Number.isInteger(power)) {
    if (power > 0) {
      f.i32(power);
      f.op('i32.shl');
    }
    f.op(factor < 0 ? 'i32.sub' : 'i32.add');
  } else {
    f.i32(factor);
    f.op('i32.mul', 'i32.add');
  }
}

/** Pushes the base address of an array; returns the offset to be put into the instruction. */
export function pushBase(g: Gen, array: ArraySym): number {
  if (array.space === 'shared' || array.space === 'local') {
    g.f.get(g.at.scratch);
    return g.layout.arrays.get(array) ?? 0;
  }
  g.f.get(g.bases.get(array) ?? 0);
  return 0;
}

/** Pushes base + index * scale of a scalar index. Returns the offset to be put into the instruction. */
function pushScaled(g: Gen, array: ArraySym, index: Expr, scale: number, disp: number): number {
  const { f } = g;
  let offset = pushBase(g, array);
  if (g.variant.memory64) {
    scalar(g, index);
    if (!isWide(index.type)) f.op('i64.extend_i32_s');
    f.i64(scale);
    f.op('i64.mul', 'i64.add');
    if (disp < 0) {
      f.i64(disp);
      f.op('i64.add');
      return offset;
    }
    return offset + disp;
  }
  const terms: Term[] = [];
  const constant = linear(index, 1, terms);
  let rest = (Math.imul(constant, scale) + disp) | 0;
  // `disp` alone lies within an element of the array; a constant part of the index may be balanced by what follows.
  if (rest >= 0 && rest <= MOST_FOLDED) {
    offset += rest;
    rest = 0;
  }
  if (rest !== 0) {
    f.i32(rest);
    f.op('i32.add');
  }
  const ranked = terms.map((t) => ({ ...t, rank: g.rank(t.e) })).sort((a, b) => a.rank - b.rank);
  for (const { e, factor } of ranked) addTerm(g, { e, factor: Math.imul(factor, scale) });
  return offset;
}

/** Pushes the address of an access whose index is uniform, or of lane 0. */
export function pushAddress(g: Gen, mem: MemRef): number {
  const local = localArray(g, mem);
  if (local === undefined) return pushScaled(g, mem.array, mem.index, mem.scale, mem.disp);
  const offset = pushScaled(g, mem.array, mem.index, local.scale, local.disp);
  local.addItem();
  return offset;
}

/**
 * Local arrays. In vector code each element has the copies of all lanes (or, across barriers, of all work items) side by
 * side, so that a uniform index is a consecutive access; in scalar code the copies of the work items stand one after
 * another. Undefined for other arrays.
 */
function localArray(
  g: Gen,
  mem: MemRef,
): { scale: number; disp: number; lane: number; addItem: () => void } | undefined {
  if (mem.array.space !== 'local') return undefined;
  const { f, layout } = g;
  const perItem = layout.perItem.has(mem.array);
  const size = ELEM_SIZE[mem.array.elem];
  const addItem = (bytes: number) => (): void => {
    if (!perItem) return;
    f.get(g.at.item);
    f.i32(bytes);
    f.op('i32.mul');
    if (g.variant.memory64) f.op('i64.extend_i32_u', 'i64.add');
    else f.op('i32.add');
  };
  if (g.lanes === 1) {
    return { scale: mem.scale, disp: mem.disp, lane: 0, addItem: addItem((mem.array.length ?? 0) * size) };
  }
  if (ELEM_SIZE[mem.elem] !== size || mem.scale % size !== 0 || mem.disp % size !== 0) throw new ScalarOnly();
  const copies = perItem ? layout.items : g.lanes;
  return { scale: mem.scale * copies, disp: mem.disp * copies, lane: size, addItem: addItem(size) };
}

/** Works out where the lanes of an access are, and hands it out for a while. */
export function withAddresses(g: Gen, mem: MemRef, use: (where: Where) => void): void {
  const { f } = g;
  const shape = shapeOf(g, mem.index);
  const local = localArray(g, mem);
  const t = addressType(g);
  const size = ELEM_SIZE[mem.elem];
  if (g.lanes > 1 && (shape === 'V' || (shape === 'C' && local !== undefined))) {
    scattered(g, mem, local, use);
    return;
  }
  const address = f.temp(t);
  const offset = pushAddress(g, mem);
  f.set(address);
  const push = (): void => f.get(address);
  const stride = g.lanes === 1 ? 0 : local !== undefined ? local.lane : shape === 'C' ? mem.scale : 0;
  if (stride === 0) use({ kind: 'uniform', push, offset });
  else if (stride === size) use({ kind: 'consecutive', push, offset });
  else {
    use({
      kind: 'lanes',
      lane: (lane) => {
        push();
        if (lane * stride >= 0) return lane * stride;
        if (t === 'i64') f.i64(lane * stride);
        else f.i32(lane * stride);
        f.op(`${t}.add`);
        return 0;
      },
      offset,
    });
  }
  f.release(t, address);
}

/** Every lane has an index of its own: those of inactive lanes are made 0. */
function scattered(g: Gen, mem: MemRef, local: ReturnType<typeof localArray>, use: (where: Where) => void): void {
  const { f, mask } = g;
  const wide = isWide(mem.index.type);
  const perPart = wide ? 2 : 4;
  const count = g.lanes / perPart;
  const scale = local?.scale ?? mem.scale;
  // With a 32-bit memory the multiplication may be done on all lanes at once, modulo 2^32.
  const early = !wide && !g.variant.memory64;
  const parts: Local[] = [];
  for (let p = 0; p < count; p++) {
    const temp = f.temp('v128');
    part(g, mem.index, p);
    if (mask !== null) {
      f.get(mask.parts[wide ? p >> 1 : p] ?? 0);
      if (wide) f.op(p & 1 ? 'i64x2.extend_high_i32x4_s' : 'i64x2.extend_low_i32x4_s');
      f.op('v128.and');
    }
    if (early && scale !== 1) {
      const power = Math.log2(scale);
      if (Number.isInteger(power)) {
        f.i32(power);
        f.op('i32x4.shl');
      } else {
        splatConst(f, 'i32', scale);
        f.op('i32x4.mul');
      }
    }
    f.set(temp);
    parts.push(temp);
  }
  const t = addressType(g);
  const base = f.temp(t);
  let offset = pushBase(g, mem.array);
  const disp = local?.disp ?? mem.disp;
  if (disp >= 0) offset += disp;
  else {
    if (t === 'i64') f.i64(disp);
    else f.i32(disp);
    f.op(`${t}.add`);
  }
  local?.addItem();
  f.set(base);
  use({
    kind: 'lanes',
    offset,
    lane: (lane) => {
      f.get(base);
      f.get(parts[Math.floor(lane / perPart)] ?? 0);
      extractLane(f, wide ? 'i64' : 'i32', lane % perPart);
      if (!early) {
        if (t === 'i64' && !wide) f.op('i64.extend_i32_s');
        if (t === 'i32') f.op('i32.wrap_i64');
        if (t === 'i64') f.i64(scale);
        else f.i32(scale);
        f.op(`${t}.mul`);
      }
      f.op(`${t}.add`);
      return local === undefined ? 0 : lane * local.lane;
    },
  });
  f.release(t, base);
  f.release('v128', ...parts);
}
