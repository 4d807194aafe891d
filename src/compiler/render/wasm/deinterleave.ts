/**
 * Loads of narrow members of records: `p[4 * i]`, `p[4 * i + 1]`, … of the channels of a pixel. The records of all lanes are loaded as whole
 * vectors, or word by word where they lie anywhere, once for all members that are read together, and the bytes of each member are put into
 * lanes of the width that is wanted.
 */
import { ELEM_SIZE, type Expr } from '../../ir/ops.ts';
import type { LaneBits } from '../../ir/passes/lane-widths.ts';
import { distanceOf, isAnywhere, knownDistances, pushAddress, withAddresses } from './address.ts';
import type { Local } from './assembler.ts';
import { addressType, type Gen, type Kept, shapeOf } from './gen.ts';
import { memoryBits } from './memory.ts';
import { lanesName } from './narrow-ops.ts';

type Load = Expr & { op: 'load' };

/** Members of the largest records. */
const MOST_MEMBERS = 4;
/** Bytes of the records that lie anywhere. */
const WORD = 4;

interface Record {
  /** The member that lies first. */
  readonly first: Load;
  /** Bytes from one lane's record to the next one's, as they are loaded. */
  readonly step: number;
  /** Whether records lie anywhere in memory. */
  readonly anywhere: boolean;
  /** Members with their distances from the first, in bytes. */
  readonly members: readonly { readonly load: Load; readonly at: number }[];
}

/** Loads what of `loads` are members of records into locals; `wanted` says in lanes of how many bits, where that is known. */
export function deinterleaved(g: Gen, loads: readonly Load[], wanted: ReadonlyMap<Expr, LaneBits>): Map<Expr, Kept> {
  const kept = new Map<Expr, Kept>();
  for (const record of recordsOf(g, loads)) {
    const vectors = record.anywhere ? loadWords(g, record.first) : loadVectors(g, record);
    for (const { load, at } of record.members) kept.set(load, member(g, record, load, at, vectors, wanted.get(load)));
    g.f.release('v128', ...vectors);
  }
  return kept;
}

function recordsOf(g: Gen, loads: readonly Load[]): readonly Record[] {
  const records: Record[] = [];
  const left = loads.flatMap((load) => {
    const step = stepOf(g, load);
    return step === undefined ? [] : [{ load, ...step }];
  });
  while (left.length > 0) {
    const [{ load: any, step, anywhere }] = left as [(typeof left)[number]];
    const near = left.flatMap(({ load, step: other, anywhere: alike }) => {
      const like =
        other === step && alike === anywhere && load.mem.array === any.mem.array && load.mem.elem === any.mem.elem;
      const at = like ? distanceOf(load.mem, any.mem) : undefined;
      return at === undefined || Math.abs(at) >= step ? [] : [{ load, at }];
    });
    const least = Math.min(...near.map(({ at }) => at));
    const end = anywhere ? WORD - ELEM_SIZE[any.mem.elem] : step - 1;
    const members = near.map(({ load, at }) => ({ load, at: at - least })).filter(({ at }) => at <= end);
    const distinct = members.filter(({ at }, k) => members.findIndex((other) => other.at === at) === k);
    const first = distinct.find(({ at }) => at === 0);
    // A word for one member is no gain.
    if (first !== undefined && (distinct.length > 1 || !anywhere)) {
      records.push({ first: first.load, step, anywhere, members: distinct });
    }
    for (const { load } of members)
      left.splice(
        left.findIndex((other) => other.load === load),
        1,
      );
  }
  return records;
}

/** How the elements of lanes lie, of a load of narrow integers that are members of records. */
function stepOf(g: Gen, load: Load): Pick<Record, 'step' | 'anywhere'> | undefined {
  const { mem } = load;
  const size = ELEM_SIZE[mem.elem];
  if (size > 2 || !/^[iu]/.test(mem.elem) || shapeOf(g, load) !== 'V' || mem.array.space === 'local') return undefined;
  if (isAnywhere(g, mem)) return { step: WORD, anywhere: true };
  const distances = knownDistances(g, mem, undefined);
  const step = distances?.[1] ?? 0;
  if (step < 2 * size || step > MOST_MEMBERS * size) return undefined;
  return distances?.every((x, lane) => x === lane * step) ? { step, anywhere: false } : undefined;
}

/** The records of all lanes. What lies behind the last one may be read too. */
function loadVectors(g: Gen, { first, step, members }: Record): readonly Local[] {
  const { f } = g;
  const size = ELEM_SIZE[first.mem.elem];
  const bytes = (g.lanes - 1) * step + Math.max(...members.map(({ at }) => at)) + size;
  const address = f.temp(addressType(g));
  const offset = pushAddress(g, first.mem);
  f.set(address);
  const vectors = Array.from({ length: Math.ceil(bytes / 16) }, (_, v) => {
    const local = f.temp('v128');
    f.get(address);
    f.memory('v128.load', Math.log2(size), offset + 16 * v);
    f.set(local);
    return local;
  });
  f.release(addressType(g), address);
  return vectors;
}

/** A word of each lane, four to a vector: as records that lie in a row. */
function loadWords(g: Gen, { mem }: Load): readonly Local[] {
  const { f } = g;
  const locals = Array.from({ length: g.lanes / WORD }, () => f.temp('v128'));
  withAddresses(g, mem, 'load', (where) => {
    if (where.kind !== 'lanes') return;
    for (const [p, local] of locals.entries()) {
      for (let lane = 0; lane < WORD; lane++) {
        const more = where.lane(WORD * p + lane);
        if (lane > 0) f.get(local);
        if (lane > 0) f.memoryLane('v128.load32_lane', 0, where.offset + more, lane);
        else f.memory('v128.load32_zero', 0, where.offset + more);
        f.set(local);
      }
    }
  });
  return locals;
}

function member(
  g: Gen,
  { step }: Record,
  load: Load,
  at: number,
  vectors: readonly Local[],
  wanted: LaneBits | undefined,
): Kept {
  const { f } = g;
  const { elem } = load.mem;
  const own = memoryBits(g, elem);
  const bits = wanted === undefined || wanted < own ? own : wanted;
  const perPart = 128 / bits;
  const size = ELEM_SIZE[elem];
  const width = bits / 8;
  const signed = elem.startsWith('i') && size < width;
  const locals = Array.from({ length: g.lanes / perPart }, (_, p) => {
    const local = f.temp('v128');
    // Which byte of the records goes into each byte of the part: those above an element are zero, or its sign after a shift.
    const wantedBytes = Array.from({ length: 16 }, (_, i) => {
      const byte = (i % width) - (signed ? width - size : 0);
      return byte < 0 || byte >= size ? undefined : (p * perPart + Math.floor(i / width)) * step + at + byte;
    });
    let some = false;
    for (const [v, vector] of vectors.entries()) {
      const order = wantedBytes.map((x) => (x === undefined || x >> 4 !== v ? 0x80 : x & 15));
      if (order.every((x) => x === 0x80)) continue;
      f.get(vector);
      f.v128(words(order));
      f.op('i8x16.swizzle');
      if (some) f.op('v128.or');
      some = true;
    }
    if (signed) {
      f.i32(8 * (width - size));
      f.op(`${lanesName(bits) as 'i16x8' | 'i32x4'}.shr_s`);
    }
    f.set(local);
    return local;
  });
  return { type: load.type, shape: 'V', bits, locals };
}

function words(bytes: readonly number[]): [number, number, number, number] {
  const word = (k: number): number => bytes.slice(4 * k, 4 * k + 4).reduce((sum, x, i) => sum | (x << (8 * i)), 0);
  return [word(0), word(1), word(2), word(3)];
}
