/**
 * Neighbouring stores to the members of records: `z[2 * i] = re; z[2 * i + 1] = im`, or the four channels of a pixel, together
 * fill memory without gaps. They are made as whole vectors, the members put in turns in registers.
 *
 * A later value that is loaded must not be what an earlier store has changed. Loads of members like those that are stored are
 * not, as long as the records of both arrays begin at the same multiple: that is tested at run time.
 */
import { type ArraySym, ELEM_SIZE, type ElemType, type Expr, type MemRef, type Stmt } from '../../ir/ops.ts';
import { eachPart, hasLoad, someExpr } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { distanceOf, knownDistances, placeWithin, pushAddress, pushBase } from './address.ts';
import type { Local } from './assembler.ts';
import { boundsHazards } from './checks.ts';
import { lanesPart, part } from './expr.ts';
import type { Gen } from './gen.ts';
import { lanesPerPart, memoryBits, partsFor } from './memory.ts';
import { withPrepared } from './prepare.ts';

/** Members of the largest records. */
export const MOST_MEMBERS = 4;

type Store = Stmt & { op: 'store' };
type Load = Expr & { op: 'load' };

interface Records {
  readonly stores: readonly Store[];
  /** The store to the first member. */
  readonly first: Store;
  /** Members in the order in which they lie. */
  readonly values: readonly Expr[];
  /** Bytes of a record. */
  readonly bytes: number;
  /** Arrays whose records must begin where those that are stored do, modulo their size. */
  readonly sources: ReadonlySet<ArraySym>;
}

/** Stores to all members of records that begin a list; undefined where there are none, or lanes that are not active. */
export function recordStores(g: Gen, list: readonly Stmt[]): Records | undefined {
  const [s] = list;
  if (s?.op !== 'store' || g.lanes === 1 || g.mask !== null || g.variant.memory64) return undefined;
  const { mem } = s;
  const size = ELEM_SIZE[mem.elem];
  const stride = strideOf(g, mem);
  if (stride === undefined || mem.elem === 'f16' || mem.elem === 'bool') return undefined;
  const count = stride / size;
  const fits = isFull(g, mem.elem) ? count === 2 || (count === 4 && size < 8) : stride === 4;
  if (!fits || list.length < count) return undefined;
  const members = new Map<number, Store>();
  const sources = new Set<ArraySym>();
  for (const other of list.slice(0, count)) {
    const at = other.op === 'store' && other.mem.elem === mem.elem ? memberOf(g, other.mem, mem, stride) : undefined;
    if (other.op !== 'store' || at === undefined || other.mem.array !== mem.array) return undefined;
    if (hasLoad(other.mem.index) || members.has(at)) return undefined;
    // What is loaded for the first store is loaded before any.
    if (other !== s && !isApart(g, other, [...members.keys()], s, stride, sources)) return undefined;
    members.set(at, other);
  }
  const places = [...members.keys()].sort((a, b) => a - b);
  const [least = 0] = places;
  if (places.some((at, i) => at !== least + i * size)) return undefined;
  const inOrder = places.map((at) => members.get(at) as Store);
  return {
    stores: list.slice(0, count) as Store[],
    first: inOrder[0] as Store,
    values: inOrder.map((o) => o.value),
    bytes: stride,
    sources,
  };
}

/** Whether elements are computed in lanes of their own size. */
function isFull(g: Gen, elem: ElemType): boolean {
  return ELEM_SIZE[elem] >= 4 || memoryBits(g, elem) === 8 * ELEM_SIZE[elem];
}

/** Bytes from lane to lane; undefined where they differ. */
function strideOf(g: Gen, mem: MemRef): number | undefined {
  if (mem.array.space === 'local') return undefined;
  const distances = knownDistances(g, mem, undefined);
  const stride = distances?.[1] ?? 0;
  return stride > 0 && distances?.every((x, lane) => x === lane * stride) ? stride : undefined;
}

/** How many bytes further on than another access one is, in records of the same size. */
function memberOf(g: Gen, mem: MemRef, other: MemRef, stride: number): number | undefined {
  return strideOf(g, mem) === stride && mem.scale === other.scale ? distanceOf(mem, other) : undefined;
}

/** Whether a store's value holds no loads but of members other than these, of arrays that are added to `sources`; `first`: the first store. */
function isApart(
  g: Gen,
  s: Store,
  stored: readonly number[],
  first: Store,
  stride: number,
  sources: Set<ArraySym>,
): boolean {
  const { mem } = first;
  const from = placeWithin(mem, stride);
  /** Wherever a record lies, its members are in their places. */
  const anywhere = (e: Load): number | undefined => {
    const at = placeWithin(e.mem, stride);
    return at === undefined || from === undefined || !isAsked(g, e, first.value) ? undefined : at - from;
  };
  return !someExpr(s.value, (e) => {
    if (e.op !== 'load' || !mayBeSame(g, e.mem.array, mem.array)) return false;
    const isLike = e.mem.elem === mem.elem;
    const at = isLike ? (memberOf(g, e.mem, mem, stride) ?? anywhere(e)) : undefined;
    if (at === undefined || stored.some((x) => (x - at) % stride === 0)) return true;
    if (e.mem.array !== mem.array) sources.add(e.mem.array);
    return false;
  });
}

/** Whether an access that belongs to a later store is inside its array where those of a first value are. */
export function isAsked(g: Gen, { mem }: Load, first: Expr): boolean {
  const asked: Expr[] = [];
  eachPart(first, (e) => {
    if (e.op === 'load') asked.push(...boundsHazards(g, e.mem).map(({ bad }) => bad));
  });
  return boundsHazards(g, mem).every(({ bad }) => asked.some((other) => sameExpr(other, bad)));
}

/** Whether arrays may be the same memory, the second of which is stored to. */
export function mayBeSame(g: Gen, a: ArraySym, stored: ArraySym): boolean {
  if (a === stored) return true;
  if (a.space !== stored.space) return false;
  return a.space === 'global' ? !g.apart.has(a.param ?? -1) : a.dynamic === true && stored.dynamic === true;
}

/** Emits the stores; `apart` as they stand. */
export function emitRecordStores(g: Gen, records: Records, apart: () => void): void {
  const { stores, sources, first, bytes } = records;
  const together = (): void =>
    withPrepared(
      g,
      stores.flatMap((s) => [s.value, s.mem.index]),
      stores.map((s) => s.mem),
      () => storeTogether(g, records),
    );
  withAlike(g, first.mem.array, sources, bytes, together, apart);
}

/** Runs one piece of code where arrays begin at the same place as another one, modulo `bytes`, a power of two, else the other. */
export function withAlike(
  g: Gen,
  like: ArraySym,
  arrays: ReadonlySet<ArraySym>,
  bytes: number,
  alike: () => void,
  otherwise: () => void,
): void {
  const { f } = g;
  if (arrays.size === 0) {
    alike();
    return;
  }
  for (const [i, array] of [...arrays].entries()) {
    const [own, other] = [g.f.temp('i32'), g.f.temp('i32')];
    for (const [local, a] of [
      [own, like],
      [other, array],
    ] as const) {
      f.i32(pushBase(g, a));
      f.op('i32.add');
      f.set(local);
    }
    f.get(own, other);
    f.op('i32.xor');
    if (i > 0) f.op('i32.or');
    f.release('i32', own, other);
  }
  f.i32(bytes - 1);
  f.op('i32.and', 'i32.eqz');
  f.if();
  alike();
  f.else();
  otherwise();
  f.end();
}

function storeTogether(g: Gen, { first, values, bytes }: Records): void {
  const { f } = g;
  const { elem } = first.mem;
  const size = ELEM_SIZE[elem];
  const full = isFull(g, elem);
  const address = f.temp('i32');
  const offset = pushAddress(g, first.mem);
  f.set(address);
  const [parts, lanes] = full ? [partsFor(g, elem), lanesPerPart(g, elem)] : [g.lanes / 4, 4];
  for (let p = 0; p < parts; p++) {
    const store = (i: number, push: () => void): void => {
      f.get(address);
      push();
      f.memory('v128.store', Math.log2(size), offset + p * lanes * bytes + 16 * i);
    };
    if (!full) {
      store(0, () => pushPacked(g, values, size, p));
      continue;
    }
    let members = values.map((value) => {
      const local = f.temp('v128');
      lanesPart(g, value, memoryBits(g, elem), p);
      f.set(local);
      return local;
    });
    let unit = size;
    if (members.length === 4) {
      // Pairs of members, which then are put in turns like members of twice the size.
      const [a = 0, b = 0, c = 0, d = 0] = members;
      const pairs = [0, 1].flatMap((half) => [inTurns(g, a, b, size, half), inTurns(g, c, d, size, half)]);
      f.release('v128', ...members);
      members = pairs;
      unit = 2 * size;
    }
    for (let i = 0; i < members.length; i++) {
      store(i, () => pushInTurns(g, members[i & ~1] ?? 0, members[i | 1] ?? 0, unit, i & 1));
    }
    f.release('v128', ...members);
  }
  f.release('i32', address);
}

/** Pushes the lower or upper halves of two vectors, an element of one and an element of the other in turns. */
function pushInTurns({ f }: Gen, a: Local, b: Local, size: number, half: number): void {
  f.get(a, b);
  f.shuffle(
    Array.from({ length: 16 }, (_, i) => {
      const element = Math.floor(i / (2 * size));
      const from = Math.floor(i / size) % 2;
      return 16 * from + 8 * half + element * size + (i % size);
    }),
  );
}

function inTurns(g: Gen, a: Local, b: Local, size: number, half: number): Local {
  const local = g.f.temp('v128');
  pushInTurns(g, a, b, size, half);
  g.f.set(local);
  return local;
}

/** Pushes 32-bit lanes that hold all members of a record, each in so many bytes. */
function pushPacked(g: Gen, values: readonly Expr[], size: number, p: number): void {
  const { f } = g;
  for (const [i, value] of values.entries()) {
    part(g, value, p);
    if (i < values.length - 1) {
      const mask = size === 1 ? 0xff : 0xffff;
      f.v128([mask, mask, mask, mask]);
      f.op('v128.and');
    }
    if (i === 0) continue;
    f.i32(8 * size * i);
    f.op('i32x4.shl', 'v128.or');
  }
}
