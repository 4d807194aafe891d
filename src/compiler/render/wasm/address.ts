/**
 * Byte addresses of memory accesses.
 *
 * An address is built as a sum that begins with what changes least (see `ranking`), so that the optimiser can keep partial
 * sums out of inner loops. In a 32-bit memory all of it is arithmetic modulo 2^32, which may be reassociated freely.
 */
import { type ArraySym, ELEM_SIZE, type Expr, type MemRef } from '../../ir/ops.ts';
import { sameExpr } from '../../ir/same.ts';
import { pushAside } from './aside.ts';
import type { Local } from './assembler.ts';
import { lanesFrom, part, scalar } from './expr.ts';
import { addressType, type Gen, isWide, ScalarOnly, shapeOf } from './gen.ts';
import type { Offsets } from './lane-facts.ts';
import { extractLane, splatConst } from './vector.ts';
import { isWholeElement } from './whole-warps.ts';

/** Where the lanes of an access are. Each `push` pushes an address to which `offset` (in the instruction) is added. */
export type Where =
  | { readonly kind: 'uniform'; readonly push: () => void; readonly offset: number }
  | { readonly kind: 'consecutive'; readonly push: () => void; readonly offset: number }
  /** Each four lanes of 4 bytes are a vector whose address `push` pushes, with its elements as `order` swizzles them. */
  | {
      readonly kind: 'exchanged';
      readonly push: (p: number) => void;
      readonly order: Local;
      readonly offset: number;
    }
  /** `lane` pushes and returns a further constant offset. */
  | {
      readonly kind: 'lanes';
      readonly lane: (lane: number) => number;
      readonly offset: number;
      /** How far the lanes lie from what `lane` pushes for any of them; undefined where each pushes its own address. */
      readonly distances?: Offsets | undefined;
      /** Whether inactive lanes have an address that nobody reads, so that all may be stored. */
      readonly harmless?: boolean;
    };

/** What addresses are for. Those of atomic operations are handed out once, others may be for each of two branches. */
export type Purpose = 'load' | 'store' | 'atomic';

/** Most that is added to an index in the instruction. Global memory must not begin below this address. */
const MOST_FOLDED = 4096;

interface Term {
  readonly e: Expr;
  readonly factor: number;
  /** Whether threadIdx.x is what its local says. */
  readonly unshifted?: boolean;
}

/**
 * index = sum of terms + constant, modulo 2^32. In the code of one vector of a row, threadIdx.x is a constant, and so what is left is
 * the same for all vectors of the row: engines compute it once.
 */
function linear(e: Expr, factor: number, terms: Term[], g?: Pick<Gen, 'first' | 'shift' | 'definitions'>): number {
  if (g !== undefined && (g.first !== undefined || g.shift !== undefined)) {
    if (e.op === 'special' && e.name === 'threadIdx.x') {
      if (g.first !== undefined) return Math.imul(g.first, factor);
      terms.push({ e, factor, unshifted: true });
      return Math.imul(g.shift ?? 0, factor);
    }
    const value = e.op === 'var' ? g.definitions.get(e.var.id) : undefined;
    if (value !== undefined) return linear(value, factor, terms, g);
  }
  const constant = (x: Expr): number | undefined =>
    x.op === 'const' && typeof x.value !== 'boolean' ? Number(BigInt.asIntN(32, BigInt(x.value))) : undefined;
  if (e.op === 'const') return Math.imul(constant(e) ?? 0, factor);
  if (e.op === 'binary') {
    const [a, b] = [constant(e.a), constant(e.b)];
    if (e.fn === 'add') return (linear(e.a, factor, terms, g) + linear(e.b, factor, terms, g)) | 0;
    if (e.fn === 'sub') return (linear(e.a, factor, terms, g) + linear(e.b, -factor | 0, terms, g)) | 0;
    if (e.fn === 'mul' && b !== undefined) return linear(e.a, Math.imul(factor, b), terms, g);
    if (e.fn === 'mul' && a !== undefined) return linear(e.b, Math.imul(factor, a), terms, g);
    if (e.fn === 'shl' && b !== undefined) return linear(e.a, Math.imul(factor, 1 << (b & 31)), terms, g);
  }
  if (e.op === 'cast' && (e.to === 'i64' || e.to === 'u64' || e.to === 'i32' || e.to === 'u32') && isIndex(e.a)) {
    return linear(e.a, factor, terms, g);
  }
  terms.push({ e, factor });
  return 0;
}

const isIndex = (e: Expr): boolean => e.type === 'i32' || e.type === 'u32' || e.type === 'i64' || e.type === 'u64';

/** Stack: sum so far. Adds `scalar * factor * scale`. */
function addTerm(g: Gen, { e, factor: own, unshifted }: Term, scale: number): void {
  const { f } = g;
  const factor = Math.imul(own, scale);
  if (unshifted) f.get(g.at.thread[0]);
  else scalar(g, e);
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
  const known = g.pointers.get(index);
  if (known !== undefined && known.mem.array === array && known.mem.scale === scale && disp >= 0) {
    f.get(known.local);
    if (known.beyond !== undefined) return disp + known.beyond;
    pushThread(g, scale);
    f.op('i32.add');
    return disp;
  }
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
  const constant = linear(index, 1, terms, g);
  let rest = (Math.imul(constant, scale) + disp) | 0;
  // `disp` alone lies within an element of the array; a constant part of the index may be balanced by what follows.
  if (rest >= 0 && rest <= MOST_FOLDED) {
    offset += rest;
    rest = 0;
  }
  const addRest = (): void => {
    if (rest === 0) return;
    f.i32(rest);
    f.op('i32.add');
  };
  const isShared = g.first !== undefined || g.shift !== undefined;
  if (!isShared) addRest();
  const ranked = terms.map((term) => ({ term, rank: g.rank(term.e) })).sort((a, b) => a.rank - b.rank);
  for (const { term } of ranked) addTerm(g, term, scale);
  if (isShared) addRest();
  return offset;
}

/** Pushes threadIdx.x times a number. */
function pushThread({ f, at }: Gen, scale: number): void {
  f.get(at.thread[0]);
  const power = Math.log2(scale);
  f.i32(Number.isInteger(power) ? power : scale);
  f.op(Number.isInteger(power) ? 'i32.shl' : 'i32.mul');
}

/** Pushes where an access is, in a 32-bit memory: `index` is what its index is here. */
export function pushPlace(g: Gen, { array, scale }: MemRef, index: Expr): void {
  const { f } = g;
  const offset = pushScaled(g, array, index, scale, 0);
  f.i32(offset);
  f.op('i32.add');
}

/** The same less threadIdx.x times the scale. */
export function pushPointer(g: Gen, mem: MemRef, index: Expr): void {
  pushPlace(g, mem, index);
  pushThread(g, mem.scale);
  g.f.op('i32.sub');
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
  if (!isWholeElement(mem)) throw new ScalarOnly();
  const copies = perItem ? layout.items : g.lanes;
  return { scale: mem.scale * copies, disp: mem.disp * copies, lane: size, addItem: addItem(size) };
}

/**
 * Works out where the lanes of an access are, and hands it out for a while: twice, for two branches, where a test at run time may
 * well find the lanes in a row, the inactive ones among them.
 */
export function withAddresses(g: Gen, mem: MemRef, purpose: Purpose, use: (where: Where) => void): void {
  const { f } = g;
  const local = localArray(g, mem);
  const t = addressType(g);
  const distances = knownDistances(g, mem, local?.lane);
  if (distances === undefined) {
    scattered(g, mem, local, purpose, use);
    return;
  }
  const address = f.temp(t);
  const offset = pushAddress(g, mem);
  const least = Math.min(...distances);
  if (least < 0) {
    if (t === 'i64') f.i64(least);
    else f.i32(least);
    f.op(`${t}.add`);
  }
  f.set(address);
  const push = (): void => f.get(address);
  const size = ELEM_SIZE[mem.elem];
  if (distances.every((x) => x === 0)) use({ kind: 'uniform', push, offset });
  else if (distances.every((x, lane) => x === lane * size)) use({ kind: 'consecutive', push, offset });
  else {
    const from = distances.map((x) => x - Math.min(least, 0));
    const lane = (k: number): number => {
      push();
      return from[k] ?? 0;
    };
    use({ kind: 'lanes', lane, offset, distances: from });
  }
  f.release(t, address);
}

/** How many bytes one access lies beyond another one of the same array or its like, where their indices differ by a constant. */
export function distanceOf(a: MemRef, b: MemRef): number | undefined {
  const [plus, minus]: [Term[], Term[]] = [[], []];
  const constant = (linear(a.index, 1, plus) - linear(b.index, 1, minus)) | 0;
  for (const { e, factor } of plus) {
    const twin = minus.findIndex((t) => t.factor === factor && sameExpr(t.e, e));
    if (twin < 0) return undefined;
    minus.splice(twin, 1);
  }
  return minus.length > 0 ? undefined : constant * a.scale + a.disp - b.disp;
}

/** How many bytes beyond a multiple of `bytes`, a power of two, an access lies from the base of its array, where that is so for any index. */
export function placeWithin({ index, scale, disp }: MemRef, bytes: number): number | undefined {
  const terms: Term[] = [];
  const constant = linear(index, 1, terms);
  // Modulo 2^32, which is a multiple too.
  if (terms.some(({ e, factor }) => (factor * scale * powerIn(e)) % bytes !== 0)) return undefined;
  return (Math.imul(constant, scale) + disp) & (bytes - 1);
}

/** A small power of two that an integer is certain to be a multiple of. */
function powerIn(e: Expr): number {
  if (e.op === 'const') return Number(e.value) % 4 === 0 ? 4 : Number(e.value) % 2 === 0 ? 2 : 1;
  return e.op === 'binary' && e.fn === 'mul' ? powerIn(e.a) * powerIn(e.b) : 1;
}

/** Bytes that may be read next to an element of an array, wherever it lies. */
const NEAR = 256;

/** Whether nothing is known of where lanes lie, nor likely: `withAddresses` then hands out an address for each lane, once. */
export function isAnywhere(g: Gen, mem: MemRef): boolean {
  if (g.variant.memory64 || mem.array.space === 'local' || isWide(mem.index.type) || shapeOf(g, mem.index) !== 'V')
    return false;
  if (knownDistances(g, mem, undefined) !== undefined || g.laneFacts.isExchange(mem.index)) return false;
  return g.laneFacts.likelyStep(mem.index) === undefined;
}

/** How far the addresses of the lanes lie from that of lane 0; undefined where each must be asked for its own. */
export function knownDistances(g: Gen, mem: MemRef, localLane: number | undefined): Offsets | undefined {
  if (g.lanes === 1) return [0];
  const shape = shapeOf(g, mem.index);
  const all = (of: (lane: number) => number): Offsets => Array.from({ length: g.lanes }, (_, lane) => of(lane));
  if (localLane !== undefined) return shape === 'V' || shape === 'C' ? undefined : all((lane) => lane * localLane);
  if (shape === 'G' || shape === 'U') return all(() => 0);
  if (shape === 'V' && g.variant.memory64) return undefined;
  const offsets = shape === 'C' ? all((lane) => lane) : g.laneFacts.offsets(mem.index);
  const distances = offsets?.map((x) => x * mem.scale);
  // An inactive lane loads too: from near an active one, if it cannot be from far away.
  if (g.mask !== null && distances?.some((x) => Math.abs(x) > NEAR)) return undefined;
  return distances;
}

/**
 * Every lane has an index of its own. Where a test does not find all in a row, those of inactive lanes are made 0, or lead to
 * a place in the scratch memory for what they store: a branch for each lane would often be guessed wrong.
 */
function scattered(
  g: Gen,
  mem: MemRef,
  local: ReturnType<typeof localArray>,
  purpose: Purpose,
  use: (where: Where) => void,
): void {
  const { f, mask } = g;
  const wide = isWide(mem.index.type);
  const perPart = wide ? 2 : 4;
  const scale = local?.scale ?? mem.scale;
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
  // With a 32-bit memory the multiplication may be done on all lanes at once, modulo 2^32.
  const early = !wide && t === 'i32';
  if (early && local === undefined && isExchanged(g, mem, purpose)) {
    exchanged(g, mem, base, offset, use);
    f.release(t, base);
    return;
  }
  const parts = Array.from({ length: g.lanes / perPart }, (_, p) => {
    const temp = f.temp('v128');
    part(g, mem.index, p);
    if (early) scaleVector(g, scale);
    f.set(temp);
    return temp;
  });
  /** What is done before a lane is asked for, but after any test of all lanes. */
  const separate = (): void => {
    for (const [p, local] of parts.entries()) {
      if (mask === null && !early) continue;
      f.get(local);
      if (mask !== null) {
        f.get(mask.parts[wide ? p >> 1 : p] ?? 0);
        if (wide) f.op(p & 1 ? 'i64x2.extend_high_i32x4_s' : 'i64x2.extend_low_i32x4_s');
        f.op('v128.and');
      }
      if (early) {
        f.get(base);
        f.op('i32x4.splat', 'i32x4.add');
      }
      f.set(local);
    }
  };
  /** The same for stores: inactive lanes go elsewhere. */
  const redirect = (active: readonly Local[]): void => {
    for (const [p, local] of parts.entries()) {
      f.get(base);
      f.i32(offset);
      f.op('i32.add', 'i32x4.splat');
      f.get(local);
      f.op('i32x4.add');
      pushAside(g);
      f.get(active[p] ?? 0);
      f.op('v128.bitselect');
      f.set(local);
    }
  };
  const lane = (k: number): number => {
    if (!early) f.get(base);
    f.get(parts[Math.floor(k / perPart)] ?? 0);
    extractLane(f, wide ? 'i64' : 'i32', k % perPart);
    if (!early) {
      if (t === 'i64' && !wide) f.op('i64.extend_i32_s');
      if (t === 'i32') f.op('i32.wrap_i64');
      if (t === 'i64') f.i64(scale);
      else f.i32(scale);
      f.op(`${t}.mul`, `${t}.add`);
    }
    return local === undefined ? 0 : k * local.lane;
  };
  const likely = purpose !== 'atomic' && early && local === undefined ? likelyPlaces(g, mem) : undefined;
  if (likely !== undefined) {
    const push = (): void => {
      f.get(base, parts[0] ?? 0);
      f.lane('i32x4.extract_lane', 0);
      f.op('i32.add');
    };
    pushIsRun(g, parts, likely === 'consecutive' ? ELEM_SIZE[mem.elem] : 0);
    f.if();
    use({ kind: likely, push, offset });
    f.else();
  }
  if (purpose === 'store' && mask !== null && early && local === undefined) {
    redirect(mask.parts);
    use({ kind: 'lanes', offset: 0, lane, harmless: true });
  } else {
    separate();
    if (purpose === 'load' && early && local === undefined)
      withPairs(g, parts, (lane) => use({ kind: 'lanes', offset, lane }));
    else use({ kind: 'lanes', offset, lane });
  }
  if (likely !== undefined) f.end();
  f.release(t, base);
  f.release('v128', ...parts);
}

/** Takes addresses out of vectors of four in pairs, which takes half the instructions, and hands out what pushes each. */
function withPairs({ f }: Gen, parts: readonly Local[], use: (lane: (lane: number) => number) => void): void {
  const pairs = parts.flatMap((local) =>
    [0, 1].map((k) => {
      const pair = f.temp('i64');
      f.get(local);
      f.lane('i64x2.extract_lane', k);
      f.set(pair);
      return pair;
    }),
  );
  use((lane) => {
    f.get(pairs[lane >> 1] ?? 0);
    if (lane & 1) {
      f.i64(32);
      f.op('i64.shr_u');
    }
    f.op('i32.wrap_i64');
    return 0;
  });
  f.release('i64', ...pairs);
}

/** Whether lanes exchange places in fours, and can be stored as vectors where they are. */
function isExchanged(g: Gen, mem: MemRef, purpose: Purpose): boolean {
  if (purpose === 'atomic' || mem.scale !== 4 || ELEM_SIZE[mem.elem] !== 4) return false;
  if (purpose === 'store' && g.mask !== null && mem.array.space === 'global') return false;
  return g.laneFacts.isExchange(mem.index);
}

/**
 * Each four lanes are a vector in an order that the low bits of the first lane's index tell: byte i of it comes from byte i xor
 * those bits. Where the first lane is tells where the others are, as all began at a multiple of the lanes.
 */
function exchanged(g: Gen, mem: MemRef, base: Local, offset: number, use: (where: Where) => void): void {
  const { f } = g;
  const [first, order] = [f.temp('i32'), f.temp('v128')];
  part(g, mem.index, 0);
  f.lane('i32x4.extract_lane', 0);
  f.i32(2);
  f.op('i32.shl');
  f.tee(first);
  f.i32(12);
  f.op('i32.and', 'i8x16.splat');
  f.v128([0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c]);
  f.op('v128.xor');
  f.set(order);
  f.get(first);
  f.i32(-16);
  f.op('i32.and');
  f.set(first);
  const push = (p: number): void => {
    f.get(first);
    if (p > 0) {
      f.i32(16 * p);
      f.op('i32.xor');
    }
    f.get(base);
    f.op('i32.add');
  };
  use({ kind: 'exchanged', push, order, offset });
  f.release('i32', first);
  f.release('v128', order);
}

/** Stack: a vector of 32-bit lanes. */
function scaleVector({ f }: Gen, scale: number): void {
  const power = Math.log2(scale);
  if (power === 0) return;
  if (Number.isInteger(power)) {
    f.i32(power);
    f.op('i32x4.shl');
  } else {
    splatConst(f, 'i32', scale);
    f.op('i32x4.mul');
  }
}

/** What a test may well find of the lanes of an access, where that is worth a test. */
function likelyPlaces(g: Gen, mem: MemRef): 'uniform' | 'consecutive' | undefined {
  const step = g.laneFacts.likelyStep(mem.index);
  if (step === 0) return 'uniform';
  return step === 1 && mem.scale === ELEM_SIZE[mem.elem] ? 'consecutive' : undefined;
}

/** Pushes whether each lane exceeds the one before by a number. */
function pushIsRun({ f }: Gen, parts: readonly Local[], step: number): void {
  const first = f.temp('v128');
  f.get(parts[0] ?? 0);
  f.lane('i32x4.extract_lane', 0);
  f.op('i32x4.splat');
  f.set(first);
  for (const [p, local] of parts.entries()) {
    f.get(first);
    if (step > 0) {
      const [a, b, c, d] = lanesFrom(4 * p);
      f.v128([a * step, b * step, c * step, d * step]);
      f.op('i32x4.add');
    }
    f.get(local);
    f.op('i32x4.ne');
    if (p > 0) f.op('v128.or');
  }
  f.op('i32x4.bitmask', 'i32.eqz');
  f.release('v128', first);
}
