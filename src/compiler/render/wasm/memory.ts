/**
 * Loads and stores: addresses, and how the lanes of a vector get at memory.
 *
 * Lanes with consecutive addresses move as whole vectors (narrow elements in lanes as narrow as fill one), a uniform address is
 * read once, anything else goes lane by lane. Inactive lanes never store; where an inactive lane loads, it loads something
 * harmless: an element near an active lane's, or element 0. Of narrow floats only f16 comes this far (ir/passes/expand-narrow.ts).
 */
import { isNarrowFloat } from '../../../dtype/index.ts';
import { ELEM_SIZE, type ElemType, type Expr, type MemRef } from '../../ir/ops.ts';
import { elementBits, type LaneBits } from '../../ir/passes/lane-widths.ts';
import { pushAddress, type Where, withAddresses } from './address.ts';
import { rowAside } from './aside.ts';
import type { Local } from './assembler.ts';
import { storeBlended } from './blended-stores.ts';
import { lanesPart, part, scalar } from './expr.ts';
import { type Gen, type Kept, maskParts, shapeOf, wasmType } from './gen.ts';
import { floatToHalfVector, halfToFloatVector } from './half.ts';
import type { Offsets } from './lane-facts.ts';
import { lanesName, splatBits } from './narrow-ops.ts';
import type { MemoryLaneOp } from './opcodes.ts';
import { isPermuted, storePermuted } from './permuted-stores.ts';
import { withMask } from './scope.ts';
import { packHalves, splat, withVector } from './vector.ts';
import { elementsBetween, storeWoven } from './woven-stores.ts';

const log2 = (size: number): number => Math.log2(size);

/** Bits of the lanes in which elements are loaded and stored, but for those of 8 bytes. */
export function memoryBits(g: Gen, elem: ElemType): LaneBits {
  const bits = g.widths === undefined ? undefined : elementBits(elem);
  return bits === undefined ? 32 : bits * g.lanes < 128 ? 16 : bits;
}

/** How many elements one vector of them holds. */
export function lanesPerPart(g: Gen, elem: ElemType): number {
  return ELEM_SIZE[elem] === 8 ? 2 : 128 / memoryBits(g, elem);
}

/** How many vectors hold the elements of all lanes. */
export function partsFor(g: Gen, elem: ElemType): number {
  return g.lanes / lanesPerPart(g, elem);
}

/** Stack: address. Pushes one widened element. */
export function scalarLoad(g: Gen, elem: ElemType, offset: number): void {
  const { f } = g;
  const align = log2(ELEM_SIZE[elem]);
  if (isNarrowFloat(elem)) {
    f.memory('i32.load16_u', align, offset);
    f.call(g.helpers.index('half_to_f32'));
    return;
  }
  switch (elem) {
    case 'bool':
      f.memory('i32.load8_u', 0, offset);
      f.i32(0);
      f.op('i32.ne');
      return;
    case 'i8':
    case 'u8':
      f.memory(`i32.load8_${elem === 'i8' ? 's' : 'u'}`, 0, offset);
      return;
    case 'i16':
    case 'u16':
      f.memory(`i32.load16_${elem === 'i16' ? 's' : 'u'}`, align, offset);
      return;
    default:
      f.memory(`${wasmType(elem)}.load`, align, offset);
  }
}

/** Stack: address, widened value. */
export function scalarStore(g: Gen, elem: ElemType, offset: number): void {
  const { f } = g;
  const align = log2(ELEM_SIZE[elem]);
  if (isNarrowFloat(elem)) {
    f.call(g.helpers.index('f32_to_half'));
    f.memory('i32.store16', align, offset);
    return;
  }
  switch (elem) {
    case 'bool':
    case 'i8':
    case 'u8':
      f.memory('i32.store8', 0, offset);
      return;
    case 'i16':
    case 'u16':
      f.memory('i32.store16', align, offset);
      return;
    default:
      f.memory(`${wasmType(elem)}.store`, align, offset);
  }
}

/** Loads into locals. */
export function loadKept(g: Gen, e: Expr & { op: 'load' }): Kept {
  const { f } = g;
  const { mem } = e;
  const shape = shapeOf(g, e);
  if (shape !== 'V') {
    const local = f.temp(wasmType(e.type));
    scalarLoad(g, mem.elem, pushAddress(g, mem));
    f.set(local);
    return { type: e.type, shape, locals: [local] };
  }
  const bits = memoryBits(g, mem.elem);
  const locals = Array.from({ length: partsFor(g, mem.elem) }, () => f.temp('v128'));
  const each = (push: (p: number) => void): void => {
    for (const [p, local] of locals.entries()) {
      push(p);
      f.set(local);
    }
  };
  const spread = (push: () => void, offset: number): void => {
    push();
    scalarLoad(g, mem.elem, offset);
    if (bits === 32) splat(f, e.type);
    else {
      f.op(`${lanesName(bits)}.splat`);
      if (e.type === 'bool') f.op(`${lanesName(bits)}.neg`);
    }
    for (const local of locals) f.tee(local);
    f.op('drop');
  };
  const load = (where: Where): void => {
    const { offset } = where;
    // One address for all lanes, in a value that was taken to vary.
    if (where.kind === 'uniform') spread(where.push, offset);
    else if (where.kind === 'consecutive') each((p) => consecutiveLoad(g, mem.elem, where.push, offset, p));
    else if (where.kind === 'exchanged') {
      each((p) => {
        where.push(p);
        f.memory('v128.load', 2, offset);
        f.get(where.order);
        f.op('i8x16.swizzle');
      });
    } else if (where.distances === undefined) each((p) => gather(g, mem.elem, where.lane, offset, p));
    else each((p) => nearbyLoad(g, mem.elem, where.lane, offset, p, where.distances ?? []));
  };
  withAddresses(g, mem, 'load', load);
  return { type: e.type, shape, bits, locals };
}

/** Loads one f32 into all lanes at once; undefined for other values. */
export function loadSpread(g: Gen, e: Expr & { op: 'load' }): Kept | undefined {
  const shape = shapeOf(g, e);
  if (e.mem.elem !== 'f32' || shape === 'V') return undefined;
  const splat = g.f.temp('v128');
  g.f.memory('v128.load32_splat', 2, pushAddress(g, e.mem));
  g.f.set(splat);
  return { type: 'f32', shape, locals: [], splat };
}

/** Pushes part `p` of lanes that lie one after another. */
export function consecutiveLoad(g: Gen, elem: ElemType, address: () => void, base: number, p: number): void {
  const { f } = g;
  const size = ELEM_SIZE[elem];
  const bits = memoryBits(g, elem);
  const offset = base + p * lanesPerPart(g, elem) * size;
  const bytes = (): void => {
    address();
    const sign = elem === 'i8' ? 's' : 'u';
    if (bits === 8) f.memory('v128.load', 0, offset);
    else if (bits === 16) f.memory(`v128.load8x8_${sign}`, 0, offset);
    else {
      f.memory('v128.load32_zero', 0, offset);
      f.op(`i16x8.extend_low_i8x16_${sign}`, `i32x4.extend_low_i16x8_${sign}`);
    }
  };
  switch (elem) {
    case 'i8':
    case 'u8':
      bytes();
      return;
    case 'bool':
      bytes();
      f.v128([0, 0, 0, 0]);
      f.op(`${lanesName(bits)}.ne`);
      return;
    case 'i16':
    case 'u16':
      address();
      f.memory(bits === 16 ? 'v128.load' : `v128.load16x4_${elem === 'i16' ? 's' : 'u'}`, 1, offset);
      return;
    case 'f16':
      halfToFloatVector(f, () => {
        address();
        f.memory('v128.load16x4_u', 1, offset);
      });
      return;
    default:
      address();
      f.memory('v128.load', log2(size), offset);
  }
}

/** Bytes of two vectors: the first eight of each. */
const LOW_HALVES = Array.from({ length: 16 }, (_, i) => (i < 8 ? i : i + 8));

/** Pushes part `p` of lanes with addresses of their own. */
function gather(g: Gen, elem: ElemType, address: (lane: number) => number, base: number, p: number): void {
  const { f } = g;
  const size = ELEM_SIZE[elem];
  const lanes = lanesPerPart(g, elem);
  const first = p * lanes;
  if (size >= 4) {
    const bits = size * 8;
    const extra = address(first);
    f.memory(`v128.load${bits as 32}_zero`, log2(size), base + extra);
    for (let lane = 1; lane < lanes; lane++) {
      withVector(
        f,
        () => {},
        (soFar) => {
          const more = address(first + lane);
          f.get(soFar);
          f.memoryLane(`v128.load${bits as 32}_lane`, log2(size), base + more, lane);
        },
      );
    }
    return;
  }
  const name = lanesName(memoryBits(g, elem));
  const width = memoryBits(g, elem) / 8;
  const signed = (elem === 'i8' || elem === 'i16') && size < width;
  const elements = (): void => {
    // Of wider lanes the low bytes, or the high ones, which are shifted down.
    const at = (lane: number): number => (lane * width) / size + (signed ? width / size - 1 : 0);
    /** Each lane waits for the one before: of many lanes two halves go side by side. */
    const half = lanes < 8 ? lanes : lanes / 2;
    const chain = (from: number): void => {
      f.v128([0, 0, 0, 0]);
      for (let lane = 0; lane < half; lane++) {
        withVector(
          f,
          () => {},
          (soFar) => {
            const extra = address(first + from + lane);
            f.get(soFar);
            f.memoryLane(`v128.load${(8 * size) as 8}_lane`, log2(size), base + extra, at(lane));
          },
        );
      }
    };
    chain(0);
    if (half < lanes) {
      chain(half);
      f.shuffle(LOW_HALVES);
    }
    if (!signed) return;
    f.i32(8 * (width - size));
    f.op(`${name as 'i16x8' | 'i32x4'}.shr_s`);
  };
  if (elem === 'f16') halfToFloatVector(f, elements);
  else elements();
  if (elem === 'bool') {
    f.v128([0, 0, 0, 0]);
    f.op(`${name}.ne`);
  }
}

/**
 * Pushes part `p` of lanes at known distances from what `address` pushes: where a few vectors hold all of them, from these.
 */
function nearbyLoad(
  g: Gen,
  elem: ElemType,
  address: (lane: number) => number,
  base: number,
  p: number,
  distances: Offsets,
): void {
  const { f } = g;
  const size = ELEM_SIZE[elem];
  const lanes = lanesPerPart(g, elem);
  const own = distances.slice(p * lanes, (p + 1) * lanes);
  const span = (list: Offsets): number => Math.max(...list) + size - Math.min(...list);
  const halves = [own.slice(0, lanes / 2), own.slice(lanes / 2)];
  const whole = span(own) <= (size === 8 ? 16 : 32);
  if (elem === 'f16' || !(whole || (size < 4 && halves.every((half) => span(half) <= 32)))) {
    gather(g, elem, address, base, p);
    return;
  }
  const vector = (at: number): void => {
    address(0);
    f.memory('v128.load', log2(size), base + at);
  };
  const width = 16 / lanes;
  const pick = (list: Offsets): void => {
    const least = Math.min(...list);
    // An element goes into the upper bytes of its lane, to be shifted down where that has more.
    const wanted = list.flatMap((at) =>
      Array.from({ length: width }, (_, i) => at - least + Math.max(0, i - width + size)),
    );
    const bytes = Array.from({ length: 16 }, (_, i) => wanted[i] ?? 0);
    if (span(list) === 16 && wanted.every((byte, i) => byte === i)) {
      vector(least);
      return;
    }
    if (span(list) <= 16) {
      withVector(
        f,
        () => vector(least),
        (x) => {
          f.get(x, x);
          f.shuffle(bytes);
        },
      );
      return;
    }
    vector(least);
    vector(least + span(list) - 16);
    // The second vector overlaps the first one by what both are longer together.
    const twice = 32 - span(list);
    f.shuffle(bytes.map((i) => (i < 16 ? i : i + twice)));
  };
  if (whole) pick(own);
  else {
    for (const half of halves) pick(half);
    packHalves(f);
  }
  const name = lanesName(memoryBits(g, elem));
  if (size < width) {
    f.i32(8 * (width - size));
    f.op(`${name as 'i16x8' | 'i32x4'}.${elem === 'i8' || elem === 'i16' ? 'shr_s' : 'shr_u'}`);
  }
  if (elem === 'bool') {
    f.v128([0, 0, 0, 0]);
    f.op(`${name}.ne`);
  }
}

/** Stores the active lanes of a value. */
export function emitStore(g: Gen, mem: MemRef, value: Expr): void {
  const { f } = g;
  const even = (e: Expr): boolean => shapeOf(g, e) === 'G' || shapeOf(g, e) === 'U';
  // Before there are branches for where the lanes are.
  let parts = g.lanes > 1 && !even(mem.index) ? storeParts(g, mem.elem, value) : undefined;
  const store = (where: Where): void => {
    if (parts === undefined && where.kind === 'uniform' && even(value)) {
      where.push();
      scalar(g, value);
      scalarStore(g, mem.elem, where.offset);
      return;
    }
    parts ??= storeParts(g, mem.elem, value);
    storeAt(g, mem, where, parts);
  };
  withAddresses(g, mem, 'store', store);
  if (parts !== undefined) f.release('v128', ...parts);
}

/** Stores the active lanes of what `storeParts` made. */
export function emitStoreOf(g: Gen, mem: MemRef, parts: readonly Local[]): void {
  withAddresses(g, mem, 'store', (where) => storeAt(g, mem, where, parts));
}

function storeAt(g: Gen, mem: MemRef, where: Where, parts: readonly Local[]): void {
  const { offset } = where;
  if (where.kind === 'consecutive') storeConsecutive(g, mem, where.push, offset, parts);
  else if (where.kind === 'uniform') storeLast(g, mem.elem, where.push, offset, parts);
  else if (where.kind === 'exchanged') storeExchanged(g, where, parts);
  else if (where.distances !== undefined && isPermuted(g, mem, where.distances))
    storePermuted(g, where.lane, offset, parts, where.distances);
  else if (where.distances !== undefined && g.mask === null) {
    const between = elementsBetween(g, mem, where.distances);
    if (between !== undefined) storeWoven(g, where.lane, offset, parts, between);
    else storeRuns(g, mem.elem, where.lane, offset, parts, where.distances);
  } else if (where.harmless) withMask(g, null, () => scatter(g, mem.elem, where.lane, offset, parts));
  else scatter(g, mem.elem, where.lane, offset, parts);
}

/** The value in locals, ready to be stored: narrow elements in the low bytes of wider lanes, where they do not fill a vector. */
function storeParts(g: Gen, elem: ElemType, value: Expr): Local[] {
  return Array.from({ length: partsFor(g, elem) }, (_, p) => {
    const local = g.f.temp('v128');
    storePart(g, elem, value, p);
    g.f.set(local);
    return local;
  });
}

/** Pushes part `p` of a value, ready to be stored. */
export function storePart(g: Gen, elem: ElemType, value: Expr, p: number): void {
  const { f } = g;
  const bits = memoryBits(g, elem);
  if (elem === 'f16') floatToHalfVector(f, () => part(g, value, p));
  else lanesPart(g, value, bits, p);
  if (elem !== 'bool') return;
  splatBits(f, bits, 1);
  f.op('v128.and');
}

function storeConsecutive(g: Gen, mem: MemRef, address: () => void, offset: number, parts: readonly Local[]): void {
  const { f, mask } = g;
  const whole = (): void => {
    for (const [p, local] of parts.entries()) consecutiveStore(g, mem.elem, address, offset, p, local);
  };
  if (mask === null) {
    whole();
    return;
  }
  const size = ELEM_SIZE[mem.elem];
  const blended = (): void => storeBlended(g, size, address, offset, parts);
  // Nobody else sees this memory while the block runs: write back what inactive lanes hold.
  if (size >= 4 && mem.array.space !== 'global') {
    blended();
    return;
  }
  const alone = g.stored !== undefined && size >= 4;
  if (g.stored !== undefined && alone) {
    f.get(g.stored);
    f.if();
    blended();
    f.else();
  }
  for (const [p, active] of mask.parts.entries()) {
    f.get(active);
    if (p > 0) f.op('v128.and');
  }
  f.op('i32x4.bitmask');
  f.i32(15);
  f.op('i32.eq');
  f.if();
  whole();
  f.else();
  if (g.variant.memory64) {
    const lane = (k: number): number => {
      address();
      return k * size;
    };
    scatter(g, mem.elem, lane, offset, parts);
  } else storeRow(g, mem.elem, address, offset, mask.parts, parts);
  f.end();
  if (alone) f.end();
}

/** Puts lanes in the order of memory, which is the same order once more, and the mask with them. */
function storeExchanged(g: Gen, { push, order, offset }: Where & { kind: 'exchanged' }, parts: readonly Local[]): void {
  const { f, mask } = g;
  for (const [p, local] of parts.entries()) {
    push(p);
    f.get(local, order);
    f.op('i8x16.swizzle');
    if (mask !== null) {
      push(p);
      f.memory('v128.load', 2, offset);
      f.get(mask.parts[p] ?? 0, order);
      f.op('i8x16.swizzle', 'v128.bitselect');
    }
    f.memory('v128.store', 2, offset);
  }
}

/** Stores the active ones of lanes in a row one by one. */
function storeRow(
  g: Gen,
  elem: ElemType,
  address: () => void,
  offset: number,
  active: readonly Local[],
  parts: readonly Local[],
): void {
  const { f } = g;
  const first = (): void => {
    address();
    f.i32(offset);
    f.op('i32.add');
  };
  const row = rowAside(g, active, first, ELEM_SIZE[elem]);
  const lane = (k: number): number => {
    f.get(row[k >> 2] ?? 0);
    f.lane('i32x4.extract_lane', k & 3);
    return 0;
  };
  withMask(g, null, () => scatter(g, elem, lane, 0, parts));
  f.release('v128', ...row);
}

export function consecutiveStore(
  g: Gen,
  elem: ElemType,
  address: () => void,
  base: number,
  p: number,
  local: Local,
): void {
  const { f } = g;
  const size = ELEM_SIZE[elem];
  const bits = memoryBits(g, elem);
  const offset = base + p * lanesPerPart(g, elem) * size;
  address();
  f.get(local);
  if (8 * size >= bits) {
    f.memory('v128.store', log2(size), offset);
    return;
  }
  f.get(local);
  const bytes = Array.from({ length: 16 }, (_, at) => Math.floor(at / size) * (bits / 8) + (at % size));
  f.shuffle(bytes.map((at) => at % 16));
  if ((16 * size * 8) / bits === 4) f.memoryLane('v128.store32_lane', log2(size), offset, 0);
  else f.memoryLane('v128.store64_lane', log2(size), offset, 0);
}

/** Runs `each` for every active lane, in lane order. */
export function forActiveLanes(g: Gen, each: (lane: number) => void): void {
  const { f, mask } = g;
  if (mask === null) {
    for (let lane = 0; lane < g.lanes; lane++) each(lane);
    return;
  }
  const bits = f.temp('i32');
  for (let p = 0; p < maskParts(g); p++) {
    f.get(mask.parts[p] ?? 0);
    f.op('i32x4.bitmask');
    f.set(bits);
    for (let lane = 0; lane < 4; lane++) {
      f.get(bits);
      f.i32(1 << lane);
      f.op('i32.and');
      f.if();
      each(4 * p + lane);
      f.end();
    }
  }
  f.release('i32', bits);
}

/** Stack: address, vector. Stores one lane (numbered within its part). */
function storeLane(g: Gen, elem: ElemType, offset: number, lane: number): void {
  const size = ELEM_SIZE[elem];
  const op: MemoryLaneOp = `v128.store${(size * 8) as 8}_lane`;
  // An element may be in the low bytes of a wider lane.
  g.f.memoryLane(op, log2(size), offset, size >= 4 ? lane : (lane * memoryBits(g, elem)) / (8 * size));
}

function scatter(
  g: Gen,
  elem: ElemType,
  address: (lane: number) => number,
  base: number,
  parts: readonly Local[],
): void {
  const perPart = lanesPerPart(g, elem);
  forActiveLanes(g, (lane) => {
    const extra = address(lane);
    g.f.get(parts[Math.floor(lane / perPart)] ?? 0);
    storeLane(g, elem, base + extra, lane % perPart);
  });
}

/** Stores all lanes at known distances: fours and pairs that lie in a row at once. */
function storeRuns(
  g: Gen,
  elem: ElemType,
  address: (lane: number) => number,
  base: number,
  parts: readonly Local[],
  distances: Offsets,
): void {
  const { f } = g;
  const size = ELEM_SIZE[elem];
  const perPart = lanesPerPart(g, elem);
  const inRow = (first: number, count: number): boolean =>
    distances.slice(first, first + count).every((x, k) => x === (distances[first] ?? 0) + k * size);
  for (let lane = 0; lane < g.lanes; ) {
    const at = lane % perPart;
    // Only lanes of four bytes and more hold nothing but their element.
    const run = size < 4 ? 1 : at === 0 && inRow(lane, perPart) ? perPart : at % 2 === 0 && inRow(lane, 2) ? 2 : 1;
    const extra = address(lane);
    f.get(parts[Math.floor(lane / perPart)] ?? 0);
    if (run === 1) storeLane(g, elem, base + extra, at);
    else if (run === perPart) f.memory('v128.store', log2(size), base + extra);
    else f.memoryLane('v128.store64_lane', log2(size), base + extra, at / 2);
    lane += run;
  }
}

/** All lanes store to one address: the last active one stays. */
function storeLast(g: Gen, elem: ElemType, address: () => void, base: number, parts: readonly Local[]): void {
  const lane = (): number => {
    address();
    return 0;
  };
  if (g.mask !== null) {
    scatter(g, elem, lane, base, parts);
    return;
  }
  lane();
  g.f.get(parts.at(-1) ?? 0);
  storeLane(g, elem, base, lanesPerPart(g, elem) - 1);
}
