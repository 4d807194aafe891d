/**
 * Records whose size the launch tells, or a constant: `q[i][0]`, `q[i][1]`, … of a matrix of four columns. Each lane has neighbouring members in one
 * vector of its own; four lanes' vectors are turned into vectors of one member each. `record-stores.ts` goes the same way back.
 */
import { add, i32, mul, sub } from '../../ir/builder.ts';
import { type ElemType, type Expr, isInt, type MemRef, type Stmt } from '../../ir/ops.ts';
import { foldExpr } from '../../ir/passes/fold.ts';
import { defined, exprParts, someExpr, stmtExprs } from '../../ir/passes/walk.ts';
import { distanceOf, knownDistances, pushAddress } from './address.ts';
import type { Local } from './assembler.ts';
import { scalar } from './expr.ts';
import { type Gen, isVector, type Kept, shapeOf } from './gen.ts';

type Load = Expr & { op: 'load' };

/** Bytes of a vector, and of a member. */
export const WHOLE = 16;
export const SIZE = 4;
/** How many statements are looked at. */
const LONGEST = 24;

const isMember = (elem: ElemType): boolean => elem === 'f32' || elem === 'i32' || elem === 'u32';

/** Neighbouring members. */
export interface Group {
  /** The access to the first member. */
  readonly first: MemRef;
  /** Elements from one lane's to the next one's. */
  readonly step: Expr;
}

/** By how much each lane of an index exceeds the one before, where that is one value for all: not what any compiler knows, but what can be had. */
function stepOf(g: Gen, e: Expr): Expr | undefined {
  if (e.type !== 'i32') return undefined;
  const shape = shapeOf(g, e);
  if (shape !== 'V') return i32(shape === 'C' ? 1 : 0);
  if (e.op === 'var') {
    const value = g.definitions.get(e.var.id);
    return value && stepOf(g, value);
  }
  if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub' && e.fn !== 'mul')) return undefined;
  const [a, b] = [stepOf(g, e.a), stepOf(g, e.b)];
  if (a === undefined || b === undefined) return undefined;
  if (e.fn !== 'mul') return foldExpr(e.fn === 'add' ? add(a, b) : sub(a, b));
  if (!isVector(g, e.b) && shapeOf(g, e.b) !== 'C') return foldExpr(mul(a, e.b));
  return isVector(g, e.a) || shapeOf(g, e.a) === 'C' ? undefined : foldExpr(mul(b, e.a));
}

/** Of an access whose lanes lie so far apart that they are not to be had in fewer vectors. */
export function stepOfMember(g: Gen, mem: MemRef): Expr | undefined {
  if (g.lanes === 1 || g.mask !== null || g.variant.memory64 || g.variant.quick === true) return undefined;
  if (!isMember(mem.elem) || mem.array.space === 'local' || !isVector(g, mem.index)) return undefined;
  const known = knownDistances(g, mem, undefined);
  if (known !== undefined && Math.abs(known[1] ?? 0) < 2 * SIZE) return undefined;
  const step = stepOf(g, mem.index);
  return step === undefined || someExpr(step, (e) => e.op === 'load' || e.op === 'call') ? undefined : step;
}

/** Whether two accesses are to members of records of one array, and how far the second one lies from the first. */
export function apart(a: MemRef, b: MemRef): number | undefined {
  if (a.array !== b.array || a.elem !== b.elem || a.scale !== b.scale) return undefined;
  const at = distanceOf(b, a);
  return at === undefined || at % SIZE !== 0 ? undefined : at;
}

// ---------------------------------------------------------------- loads

/** Loads what of `loads` are neighbouring members into locals. */
export function turnedLoads(g: Gen, loads: readonly Load[]): Map<Expr, Kept> {
  const kept = new Map<Expr, Kept>();
  for (const { first, step, members } of groupsOf(g, loads)) {
    const places = [...new Set(members.map(({ at }) => at))];
    const locals = loadTurned(g, { first, step }, places);
    for (const { load, at } of members) {
      kept.set(load, { type: load.type, shape: 'V', bits: 32, locals: locals.get(at) ?? [] });
    }
  }
  return kept;
}

interface LoadGroup extends Group {
  readonly members: readonly { readonly load: Load; readonly at: number }[];
}

/** Groups of two members and more, each within one vector. */
function groupsOf(g: Gen, loads: readonly Load[]): readonly LoadGroup[] {
  const groups: LoadGroup[] = [];
  let left = loads.flatMap((load) => {
    const step = isVector(g, load) ? stepOfMember(g, load.mem) : undefined;
    return step === undefined ? [] : [{ load, step }];
  });
  while (left.length > 1) {
    const [{ load: any, step }] = left as [(typeof left)[number]];
    const near = left.flatMap(({ load }) => {
      const at = apart(any.mem, load.mem);
      return at === undefined ? [] : [{ load, at }];
    });
    const least = Math.min(...near.map(({ at }) => at));
    // Of records of two members, those of the next lane are as quickly had by themselves.
    const end = isPair(any.mem, step) ? 2 * SIZE : WHOLE;
    const members = near.map(({ load, at }) => ({ load, at: at - least })).filter(({ at }) => at < end);
    const first = members.find(({ at }) => at === 0)?.load.mem;
    if (first !== undefined && members.some(({ at }) => at > 0)) groups.push({ first, step, members });
    left = left.filter(({ load }) => !members.some((m) => m.load === load));
  }
  return groups;
}

/** Whether records have two members. */
function isPair({ scale }: MemRef, step: Expr): boolean {
  return step.op === 'const' && Number(step.value) * scale === 2 * SIZE;
}

/** The members of all lanes at so many bytes from the first, as vectors. */
function loadTurned(g: Gen, { first, step }: Group, places: readonly number[]): Map<number, Local[]> {
  const { f } = g;
  const vectors = new Map(places.map((at) => [at, [] as Local[]]));
  if (isPair(first, step)) {
    loadPairs(g, first, vectors);
    return vectors;
  }
  withPointer(g, first, step, (next, offset) => {
    for (let p = 0; p < g.lanes / 4; p++) {
      const own = [0, 1, 2, 3].map(() => {
        const local = f.temp('v128');
        next();
        f.memory('v128.load', 2, offset);
        f.set(local);
        return local;
      });
      turn(g, own, places, (at, push) => {
        const local = f.temp('v128');
        push();
        f.set(local);
        vectors.get(at)?.push(local);
      });
      f.release('v128', ...own);
    }
  });
  return vectors;
}

/** Records of two members lie next to each other: two of them are a vector. */
function loadPairs(g: Gen, first: MemRef, vectors: ReadonlyMap<number, Local[]>): void {
  const { f } = g;
  const [address, low, high] = [f.temp('i32'), f.temp('v128'), f.temp('v128')];
  const offset = pushAddress(g, first);
  f.set(address);
  for (let p = 0; p < g.lanes / 4; p++) {
    for (const [k, local] of [low, high].entries()) {
      f.get(address);
      f.memory('v128.load', 2, offset + WHOLE * (2 * p + k));
      f.set(local);
    }
    for (const [at, locals] of vectors) {
      const local = f.temp('v128');
      f.get(low, high);
      f.shuffle(Array.from({ length: 16 }, (_, i) => 2 * SIZE * Math.floor(i / SIZE) + at + (i % SIZE)));
      f.set(local);
      locals.push(local);
    }
  }
  f.release('i32', address);
  f.release('v128', low, high);
}

/** Hands out what pushes the addresses of the lanes, from the first on; it is to be called once for each. */
export function withPointer(g: Gen, first: MemRef, step: Expr, use: (next: () => void, offset: number) => void): void {
  const { f } = g;
  const [address, by] = [f.temp('i32'), f.temp('i32')];
  const offset = pushAddress(g, first);
  f.set(address);
  scalar(g, foldExpr(mul(step, i32(first.scale))));
  f.set(by);
  let lane = 0;
  const next = (): void => {
    f.get(address);
    if (lane++ > 0) {
      f.get(by);
      f.op('i32.add');
      f.tee(address);
    }
  };
  use(next, offset);
  f.release('i32', address, by);
}

/** Columns of four rows of four: `each` gets what pushes those at `places`, in bytes, in turn. */
export function turn(
  g: Gen,
  rows: readonly Local[],
  places: readonly number[],
  each: (at: number, push: () => void) => void,
): void {
  const { f } = g;
  const [a = 0, b = 0, c = 0, d = 0] = rows;
  for (const half of [0, 1]) {
    const wanted = places.filter((at) => at >> 3 === half);
    if (wanted.length === 0) continue;
    const [x, y] = [f.temp('v128'), f.temp('v128')];
    for (const [local, one, other] of [
      [x, a, b],
      [y, c, d],
    ] as const) {
      f.get(one, other);
      f.shuffle(inTurns(4, half));
      f.set(local);
    }
    for (const at of wanted) {
      each(at, () => {
        f.get(x, y);
        f.shuffle(inTurns(8, (at >> 2) & 1));
      });
    }
    f.release('v128', x, y);
  }
}

/** Elements of so many bytes of the lower or upper halves of two vectors, one of each in turns. */
function inTurns(size: number, half: number): number[] {
  return Array.from({ length: 16 }, (_, i) => {
    const element = Math.floor(i / (2 * size));
    return 16 * (Math.floor(i / size) % 2) + 8 * half + element * size + (i % size);
  });
}

/** Members that a statement and the assignments after it load from the same records; undefined if there are none. */
export function memberLoads(
  g: Gen,
  list: readonly Stmt[],
  from: number,
): { readonly loads: readonly Load[]; readonly count: number } | undefined {
  const s = list[from];
  if (s?.op !== 'assign' || g.lanes === 1 || g.mask !== null || g.variant.quick === true) return undefined;
  const own = loadsOf(s).filter((e) => !g.prepared.has(e) && stepOfMember(g, e.mem) !== undefined);
  if (own.length === 0) return undefined;
  const assigned = new Set([s.var.id]);
  const loads = new Set<Load>();
  let count = 1;
  for (let k = from + 1; k < Math.min(list.length, from + LONGEST); k++) {
    const other = list[k] as Stmt;
    if (other.op !== 'assign' && other.op !== 'store') break;
    for (const load of loadsOf(other)) {
      if (g.prepared.has(load) || someExpr(load, (e) => e.op === 'var' && assigned.has(e.var.id))) continue;
      const near = own.filter((e) => Math.abs(apart(e.mem, load.mem) ?? WHOLE) < WHOLE);
      if (near.length === 0 || stepOfMember(g, load.mem) === undefined) continue;
      for (const e of [...near, load]) loads.add(e);
      count = k - from + 1;
    }
    if (other.op === 'store') break;
    assigned.add(defined(other) ?? -1);
  }
  return loads.size === 0 ? undefined : { loads: [...loads], count };
}

function loadsOf(s: Stmt): Load[] {
  const found: Load[] = [];
  const visit = (e: Expr): void => {
    if (e.op === 'load' && isLoadOfMember(e)) found.push(e);
    for (const operand of e.op === 'load' ? [e.mem.index] : exprParts(e)) visit(operand);
  };
  for (const e of stmtExprs(s)) visit(e);
  return found;
}

const isLoadOfMember = (e: Load): boolean => isMember(e.mem.elem) && isInt(e.mem.index.type);
