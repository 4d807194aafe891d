/**
 * What holds for a stretch of the code that is being written, and for that alone: the active lanes, the checks that need not be
 * made, how deep in loops it is, whether it is a vector's code and where in its row that lies, whether few vectors come there, which of two items it is for, and which counters are in registers. `Gen` shows them; only these functions set them, and put them back.
 */
import type { Check } from '../../ir/ops.ts';
import type { Local } from './assembler.ts';
import type { Gen, Mask } from './gen.ts';

/** What may be set. */
type Scoped = { -readonly [Key in Scope]: Gen[Key] };

type Scope =
  | 'at'
  | 'counters'
  | 'definitions'
  | 'first'
  | 'hoisted'
  | 'laneFacts'
  | 'lanes'
  | 'loopDepth'
  | 'mask'
  | 'pointers'
  | 'rank'
  | 'rare'
  | 'second'
  | 'shapes'
  | 'shift'
  | 'stored'
  | 'uniformity'
  | 'vars'
  | 'warps'
  | 'widths';

/** Writes code with other lanes active; null: all. */
export function withMask(g: Gen, mask: Mask | null, body: () => void): void {
  withOne(g, 'mask', mask, body);
}

/** Writes a region whose counters are in registers. */
export function withCounters(g: Gen, counters: Gen['counters'], body: () => void): void {
  withOne(g, 'counters', counters, body);
}

/** Writes code in which these checks have been made for all the work items that it runs. */
export function withHoisted(g: Gen, hoisted: ReadonlySet<Check>, body: () => void): void {
  withOne(g, 'hoisted', hoisted, body);
}

/** Writes code that may run more than once. */
export function withinLoop(g: Gen, body: () => void): void {
  withOne(g, 'loopDepth', g.loopDepth + 1, body);
}

/** Writes code in which these places in memory are known. */
export function withPointers(g: Gen, pointers: Gen['pointers'], body: () => void): void {
  withOne(g, 'pointers', pointers, body);
}

/** Writes the code of a vector whose inactive lanes have stored all there is to store, where a local says so. */
export function withStored(g: Gen, stored: Local, body: () => void): void {
  withOne(g, 'stored', stored, body);
}

/** Writes code that few vectors run: it is to be short. */
export function withRare(g: Gen, body: () => void): void {
  withOne(g, 'rare', true, body);
}

/** Writes the code of the vector that begins at this threadIdx.x. */
export function withFirst(g: Gen, first: number, body: () => void): void {
  withOne(g, 'first', first, body);
}

/** Writes the code of an item that is so much further on in its row than the local of threadIdx.x says. */
export function withShift(g: Gen, shift: number, body: () => void): void {
  withOne(g, 'shift', shift, body);
}

/** Writes scalar code, whose variables are in these locals. */
export function withOneLane(g: Gen, vars: Gen['vars'], body: () => void): void {
  withState(g, { lanes: 1, mask: null, vars, warps: false }, body);
}

/** Writes scalar code of the item beside the one that is noted, whose variables and threadIdx.x are in these locals. */
export function withSecond(g: Gen, vars: Gen['vars'], x: Local, body: () => void): void {
  const [, y, z] = g.at.thread;
  withState(g, { at: { ...g.at, thread: [x, y, z] }, second: true, vars }, body);
}

/** What else lanes may be than threads: see `rounds.ts`. */
export type OtherLanes = Pick<
  Gen,
  'definitions' | 'hoisted' | 'laneFacts' | 'lanes' | 'rank' | 'shapes' | 'uniformity' | 'vars' | 'widths'
>;

/** Writes code whose lanes are something else than threads. */
export function withOtherLanes(g: Gen, lanes: OtherLanes, body: () => void): void {
  withState(g, { ...lanes, mask: null, warps: false }, body);
}

function withState(g: Gen, state: Partial<Scoped>, body: () => void): void {
  const before: Record<string, unknown> = {};
  // Not all that might be set: nearly all calls set few.
  for (const key of Object.keys(state) as (keyof Scoped)[]) before[key] = g[key];
  Object.assign(g, state);
  body();
  Object.assign(g, before);
}

/** The same of one property, as in nearly all calls. */
function withOne<Key extends keyof Scoped>(g: Gen, key: Key, value: Scoped[Key], body: () => void): void {
  const scoped: Scoped = g;
  const before = scoped[key];
  scoped[key] = value;
  body();
  scoped[key] = before;
}
