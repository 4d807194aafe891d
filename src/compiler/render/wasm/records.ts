/**
 * Records whose size the launch tells, or a constant: `q[i][0]`, `q[i][1]`, … of a matrix of four columns, or anywhere: `q[j][0]`, `q[j][1]` where
 * `j` is data. Each lane has neighbouring members in one vector of its own; four lanes' vectors are turned into vectors of one member each.
 * `record-stores.ts` goes the same way back.
 */
import { add, i32, mul, sub } from '../../ir/builder.ts';
import { type ElemType, type Expr, isInt, type MemRef, type Stmt } from '../../ir/ops.ts';
import { foldExpr } from '../../ir/passes/fold.ts';
import { defined, loadsOf, someExpr } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { distanceOf, isAnywhere, knownDistances, type Purpose, pushAddress, withAddresses } from './address.ts';
import type { Local } from './assembler.ts';
import { boundsHazards, type Hazard } from './checks.ts';
import { scalar } from './expr.ts';
import { type Gen, isVector, type Kept, shapeOf } from './gen.ts';

type Load = Expr & { op: 'load' };

/** Bytes of a vector, and of a member. */
export const WHOLE = 16;
export const SIZE = 4;
/** How many statements are looked at. */
const LONGEST = 24;

const isMember = (elem: ElemType): boolean => elem === 'f32' || elem === 'i32' || elem === 'u32';

/** Elements from one lane's record to the next one's, or that these lie anywhere. */
type Step = Expr | 'anywhere';

/** Neighbouring members. */
export interface Group {
  /** The access to the first member. */
  readonly first: MemRef;
  readonly step: Step;
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

/**
 * Of an access whose lanes lie so far apart that they are not to be had in fewer vectors. With lanes that are not active only of loads from
 * anywhere, for which these have the index 0.
 */
export function stepOfMember(g: Gen, mem: MemRef, purpose: Purpose = 'load'): Step | undefined {
  if (g.lanes === 1 || g.variant.memory64 || g.variant.quick === true) return undefined;
  if (g.mask !== null && purpose !== 'load') return undefined;
  if (!isMember(mem.elem) || mem.array.space === 'local' || !isVector(g, mem.index)) return undefined;
  const known = knownDistances(g, mem, undefined);
  if (known !== undefined && Math.abs(known[1] ?? 0) < 2 * SIZE) return undefined;
  const step = stepOf(g, mem.index);
  if (step !== undefined)
    return g.mask !== null || someExpr(step, (e) => e.op === 'load' || e.op === 'call') ? undefined : step;
  return isAnywhere(g, mem) ? 'anywhere' : undefined;
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
function isPair({ scale }: MemRef, step: Step): boolean {
  return step !== 'anywhere' && step.op === 'const' && Number(step.value) * scale === 2 * SIZE;
}

/** The members of all lanes at so many bytes from the first, as vectors. */
function loadTurned(g: Gen, { first, step }: Group, places: readonly number[]): Map<number, Local[]> {
  const { f } = g;
  const vectors = new Map(places.map((at) => [at, [] as Local[]]));
  if (isPair(first, step)) {
    loadPairs(g, first, vectors);
    return vectors;
  }
  const load = Math.max(...places) < 2 * SIZE ? 'v128.load64_zero' : 'v128.load';
  withPointer(g, { first, step }, 'load', (next, offset) => {
    for (let p = 0; p < g.lanes / 4; p++) {
      const own = [0, 1, 2, 3].map(() => {
        const local = f.temp('v128');
        next();
        f.memory(load, 2, offset);
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
export function withPointer(
  g: Gen,
  { first, step }: Group,
  purpose: Purpose,
  use: (next: () => void, offset: number) => void,
): void {
  const { f } = g;
  if (step === 'anywhere') {
    withAddresses(g, first, purpose, (where) => {
      let lane = 0;
      if (where.kind === 'lanes') use(() => where.lane(lane++), where.offset);
    });
    return;
  }
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

/**
 * Members that a statement and the assignments after it load from the same records; undefined if there are none. What can fail of the
 * first statement is among them, and of the others nothing that fails after something else: what fails first is reported.
 */
export function memberLoads(
  g: Gen,
  list: readonly Stmt[],
  from: number,
): { readonly loads: readonly Load[]; readonly count: number } | undefined {
  if (list[from]?.op !== 'assign' || g.lanes === 1 || g.variant.quick === true) return undefined;
  const runs: Load[][] = [];
  const joined = new Set<Load>();
  const [loads, asked, assigned] = [[] as Load[], [] as Hazard[], new Set<number>()];
  let [count, isLate] = [1, false];
  for (let k = from; k < Math.min(list.length, from + LONGEST); k++) {
    const s = list[k] as Stmt;
    if (s.op !== 'assign' && s.op !== 'store') break;
    for (const load of loadsOf(s)) {
      if (g.prepared.has(load)) continue;
      const isOwn = isLoadOfMember(load) && stepOfMember(g, load.mem) !== undefined;
      const hazards = boundsHazards(g, load.mem);
      const run = isOwn ? runs.find((r) => areNear([load, ...r])) : undefined;
      const isSteady = run !== undefined && !someExpr(load, (e) => e.op === 'var' && assigned.has(e.var.id));
      const isNew = hazards.some((h) => !asked.some((other) => sameExpr(other.bad, h.bad)));
      if (k > from && (!isSteady || (isNew && isLate))) {
        isLate ||= isNew;
        continue;
      }
      loads.push(load);
      asked.push(...hazards);
      if (run !== undefined) run.push(load);
      else if (isOwn) runs.push([load]);
      if (k === from) continue;
      for (const e of run ?? []) joined.add(e);
      count = k - from + 1;
    }
    if (runs.length === 0 || s.op === 'store') break;
    assigned.add(defined(s) ?? -1);
  }
  const isWanted = (e: Load): boolean => joined.has(e) || boundsHazards(g, e.mem).length > 0;
  return joined.size === 0 ? undefined : { loads: loads.filter(isWanted), count };
}

/** Whether members lie within one vector: of more, each vector is left to the statement that wants it first. */
function areNear([first, ...others]: readonly Load[]): boolean {
  const places = others.map((e) => (first && apart(first.mem, e.mem)) ?? Number.NaN);
  return Math.max(0, ...places) - Math.min(0, ...places) < WHOLE;
}

const isLoadOfMember = (e: Load): boolean => isMember(e.mem.elem) && isInt(e.mem.index.type);
