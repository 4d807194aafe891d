/**
 * Loads and stores: addresses, and how the lanes of a vector get at memory.
 *
 * Lanes with consecutive addresses move as whole vectors (narrow elements are widened on the way), a uniform address is
 * read once, anything else goes lane by lane. Inactive lanes never store; where an inactive lane loads, it loads something
 * harmless: an element near an active lane's, or element 0. Of narrow floats only f16 comes this far (ir/passes/expand-narrow.ts).
 */
import { isNarrowFloat } from '../../../dtype/index.ts';
import { ELEM_SIZE, type ElemType, type Expr, type MemRef } from '../../ir/ops.ts';
import { pushAddress, withAddresses } from './address.ts';
import type { Local } from './assembler.ts';
import { part, scalar } from './expr.ts';
import { type Gen, isWide, type Kept, maskParts, partCount, shapeOf, wasmType } from './gen.ts';
import { floatToHalfVector, halfToFloatVector } from './half.ts';
import type { MemoryLaneOp, MemoryOp } from './opcodes.ts';
import { extractLane, replaceLane, withVector } from './vector.ts';

const log2 = (size: number): number => Math.log2(size);

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
  const locals = Array.from({ length: partCount(g, e.type) }, () => f.temp('v128'));
  withAddresses(g, mem, (where) => {
    for (const [p, local] of locals.entries()) {
      if (where.kind === 'uniform') {
        // One address for all lanes, in a value that was taken to vary.
        where.push();
        scalarLoad(g, mem.elem, where.offset);
        f.op(
          `${isWide(e.type) ? (e.type === 'f64' ? 'f64x2' : 'i64x2') : wasmType(e.type) === 'f32' ? 'f32x4' : 'i32x4'}.splat`,
        );
        if (e.type === 'bool') f.op('i32x4.neg');
      } else if (where.kind === 'consecutive') {
        consecutiveLoad(g, mem.elem, where.push, where.offset, p);
      } else {
        gather(g, mem.elem, where.lane, where.offset, p);
      }
      f.set(local);
    }
  });
  return { type: e.type, shape, locals };
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
  const offset = base + p * (size === 8 ? 16 : 4 * size);
  const bytes = (): void => {
    address();
    f.memory('v128.load32_zero', 0, offset);
    const sign = elem === 'i8' ? 's' : 'u';
    f.op(`i16x8.extend_low_i8x16_${sign}`, `i32x4.extend_low_i16x8_${sign}`);
  };
  switch (elem) {
    case 'i8':
    case 'u8':
      bytes();
      return;
    case 'bool':
      bytes();
      f.v128([0, 0, 0, 0]);
      f.op('i32x4.ne');
      return;
    case 'i16':
    case 'u16':
      address();
      f.memory(`v128.load16x4_${elem === 'i16' ? 's' : 'u'}`, 1, offset);
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

/** Pushes part `p` of lanes with addresses of their own. */
function gather(g: Gen, elem: ElemType, address: (lane: number) => number, base: number, p: number): void {
  const { f } = g;
  const size = ELEM_SIZE[elem];
  const lanes = size === 8 ? 2 : 4;
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
  const op: MemoryOp =
    size === 1 ? (elem === 'i8' ? 'i32.load8_s' : 'i32.load8_u') : elem === 'i16' ? 'i32.load16_s' : 'i32.load16_u';
  const words = (): void => {
    for (let lane = 0; lane < 4; lane++) {
      const extra = address(first + lane);
      f.memory(op, log2(size), base + extra);
      if (lane === 0) f.op('i32x4.splat');
      else replaceLane(f, 'i32', lane);
    }
  };
  if (elem === 'f16') halfToFloatVector(f, words);
  else words();
  if (elem === 'bool') {
    f.v128([0, 0, 0, 0]);
    f.op('i32x4.ne');
  }
}

/** Stores the active lanes of a value. */
export function emitStore(g: Gen, mem: MemRef, value: Expr): void {
  const { f } = g;
  withAddresses(g, mem, (where) => {
    const uniformValue = shapeOf(g, value) === 'G' || shapeOf(g, value) === 'U';
    if (g.lanes === 1 || (where.kind === 'uniform' && uniformValue)) {
      if (where.kind !== 'uniform') throw new Error('internal error: a scattered store in scalar code');
      where.push();
      scalar(g, value);
      scalarStore(g, mem.elem, where.offset);
      return;
    }
    const parts = storeParts(g, mem.elem, value);
    if (where.kind === 'consecutive') {
      storeConsecutive(g, mem, where.push, where.offset, parts);
    } else if (where.kind === 'uniform') {
      storeLast(g, mem.elem, where.push, where.offset, parts);
    } else {
      scatter(g, mem.elem, where.lane, where.offset, parts);
    }
    f.release('v128', ...parts);
  });
}

/** The value in locals, ready to be stored: narrow elements in the low bytes of 32-bit lanes. */
function storeParts(g: Gen, elem: ElemType, value: Expr): Local[] {
  const { f } = g;
  return Array.from({ length: partCount(g, value.type) }, (_, p) => {
    const local = f.temp('v128');
    if (elem === 'f16') floatToHalfVector(f, () => part(g, value, p));
    else part(g, value, p);
    if (elem === 'bool') {
      f.v128([1, 1, 1, 1]);
      f.op('v128.and');
    }
    f.set(local);
    return local;
  });
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
  if (size >= 4 && mem.array.space !== 'global') {
    // Nobody else sees this memory while the block runs: write back what inactive lanes hold.
    for (const [p, local] of parts.entries()) {
      address();
      f.get(local);
      address();
      f.memory('v128.load', log2(size), offset + 16 * p);
      maskPart(g, size === 8, p);
      f.op('v128.bitselect');
      f.memory('v128.store', log2(size), offset + 16 * p);
    }
    return;
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
  scatter(
    g,
    mem.elem,
    (lane) => {
      address();
      return lane * size;
    },
    offset,
    parts,
  );
  f.end();
}

/** Pushes the mask of part `p`, whose lanes may be wide. */
function maskPart(g: Gen, wide: boolean, p: number): void {
  const { f, mask } = g;
  f.get(mask?.parts[wide ? p >> 1 : p] ?? 0);
  if (wide) f.op(p & 1 ? 'i64x2.extend_high_i32x4_s' : 'i64x2.extend_low_i32x4_s');
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
  const offset = base + p * (size === 8 ? 16 : 4 * size);
  address();
  f.get(local);
  if (size >= 4) {
    f.memory('v128.store', log2(size), offset);
    return;
  }
  f.get(local);
  if (size === 1) {
    f.shuffle([0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12]);
    f.memoryLane('v128.store32_lane', 0, offset, 0);
  } else {
    f.shuffle([0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13]);
    f.memoryLane('v128.store64_lane', 1, offset, 0);
  }
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
  // A narrow element is in the low bytes of a 32-bit lane.
  g.f.memoryLane(op, log2(size), offset, size === 8 ? lane : lane * (4 / size));
}

function scatter(
  g: Gen,
  elem: ElemType,
  address: (lane: number) => number,
  base: number,
  parts: readonly Local[],
): void {
  const perPart = ELEM_SIZE[elem] === 8 ? 2 : 4;
  forActiveLanes(g, (lane) => {
    const extra = address(lane);
    g.f.get(parts[Math.floor(lane / perPart)] ?? 0);
    storeLane(g, elem, base + extra, lane % perPart);
  });
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
  const perPart = ELEM_SIZE[elem] === 8 ? 2 : 4;
  lane();
  g.f.get(parts.at(-1) ?? 0);
  storeLane(g, elem, base, perPart - 1);
}

/** Pushes lane `lane` of a value kept in parts. */
export function keptLane(g: Gen, type: Expr['type'], parts: readonly Local[], lane: number): void {
  const perPart = isWide(type) ? 2 : 4;
  g.f.get(parts[Math.floor(lane / perPart)] ?? 0);
  extractLane(g.f, type, lane % perPart);
}
