/**
 * What a name for a record may be along the ways through a kernel: the record in the array, or an object that an assignment to
 * the element has since replaced there. In JavaScript `p[0] = v` leaves `const t = p[0]` with the object that was there.
 *
 * Assignments by other threads count from a barrier on: those that a thread can reach from it without passing another.
 */

import { expressionsOf, walkExpression, walkStatements } from '../types/parts.ts';
import type { Overwrite, RecordName, Region, Root, TExpr, TMem, TStmt } from '../types/tree.ts';
import { isPrivate } from './array-choices.ts';
import { type Paths, type Point, pathsThrough } from './paths.ts';
import { overlap, regionOfScalar } from './regions.ts';

/** The record in the array. */
export const CURRENT = 1;
/** Perhaps no longer in the array. */
const REPLACED = 2;
/** Perhaps no longer in the array, and perhaps still there and changed since. */
const UNCERTAIN = 4;

/** Why a name cannot have a meaning. */
export interface Trouble {
  readonly pos: TExpr['pos'];
  readonly why: 'written' | 'uncertain' | 'index';
}

/** The states of all names in one kernel. */
export class NameStates {
  readonly names: readonly RecordName[];
  /** Names that are read when the record that they are may have been replaced. */
  readonly stale: Set<RecordName> = new Set();
  readonly troubles: Map<RecordName, Trouble> = new Map();
  /** What replaces the record of each name. */
  readonly replacing: Map<RecordName, Map<TStmt, Overwrite>> = new Map();
  /** Arguments that must not share memory, as names whose troubles come from nothing else are taken to be of another array. */
  readonly apart: [Root, Root][] = [];
  readonly #index: ReadonlyMap<RecordName, number>;
  readonly #trusting: ReadonlySet<RecordName>;
  readonly #states = new Map<Point, Uint8Array>();
  readonly #points = new Map<TStmt, Point>();
  readonly #phases = new Map<TStmt, readonly Overwrite[]>();

  constructor(body: readonly TStmt[], trusting: ReadonlySet<RecordName>) {
    this.#trusting = trusting;
    this.names = namesIn(body);
    this.#index = new Map(this.names.map((name, k) => [name, k]));
    const paths = pathsThrough(body);
    for (const p of paths.points) {
      if (p.statement === undefined) continue;
      this.#points.set(p.statement, p);
      if (isBarrier(p.statement)) this.#phases.set(p.statement, overwritesAfter(p));
    }
    this.#solve(paths);
    for (const [p, state] of this.#states) if (p.statement !== undefined) this.#uses(p.statement, state);
    this.#inherit();
  }

  /** The state of a name before a statement: a sum of the constants above, 0 where it has none. */
  before(s: TStmt, name: RecordName): number {
    const point = this.#points.get(s);
    return (point && this.#states.get(point)?.[this.#index.get(name) ?? -1]) ?? 0;
  }

  /** What replaces the record of a name. */
  overwritesOf(name: RecordName): Overwrite[] {
    return [...new Set(this.replacing.get(name)?.values())];
  }

  /** Whether a name's record is replaced by a store to another argument. */
  isReplacedByArguments(name: RecordName): boolean {
    return this.overwritesOf(name).some((by) => overlap(by.region, name.region) === 'arguments');
  }

  /** Whether a store may change the record that a name is, as one of its parts. */
  changes(region: Region, part: Overwrite | undefined, name: RecordName): boolean {
    if (part !== undefined && this.#replaces(part, name) !== false) return false;
    return overlap(region, name.region) !== false;
  }

  #replaces(by: Overwrite, name: RecordName): boolean | 'arguments' {
    const { level, bytes } = name.region;
    if (by.region.level > level) return false;
    const found = overlap(by.region, name.region);
    // Other arguments count if their elements are of one type.
    return found === 'arguments' && by.region.level === level && by.region.bytes !== bytes ? false : found;
  }

  #solve({ start }: Paths): void {
    this.#states.set(start, new Uint8Array(this.names.length));
    const waiting = [start];
    for (let p = waiting.pop(); p !== undefined; p = waiting.pop()) {
      const before = this.#states.get(p);
      if (before === undefined) continue;
      const after = p.statement === undefined ? before : this.#step(p.statement, before);
      for (const next of p.next) if (this.#merge(next, after)) waiting.push(next);
    }
  }

  #merge(p: Point, more: Uint8Array): boolean {
    const known = this.#states.get(p);
    if (known === undefined) {
      this.#states.set(p, more.slice());
      return true;
    }
    let changed = false;
    for (let k = 0; k < more.length; k++) {
      const both = (known[k] ?? 0) | (more[k] ?? 0);
      if (both !== known[k]) changed = true;
      known[k] = both;
    }
    return changed;
  }

  #step(s: TStmt, before: Uint8Array): Uint8Array {
    switch (s.k) {
      case 'name': {
        const after = before.slice();
        const of = s.of?.name && before[this.#index.get(s.of.name) ?? -1];
        after[this.#index.get(s.names) ?? -1] = of || CURRENT;
        return after;
      }
      case 'overwritten':
        return this.#each(before, (state, name) => {
          const found = this.#replaces(s.by, name);
          if (found === false) return state;
          return this.#replaced(s, s.by, name, found) ? REPLACED | (state & UNCERTAIN) : state;
        });
      case 'store':
      case 'atomic': {
        const region = regionOfScalar(s.mem);
        const part = s.k === 'store' ? s.part : undefined;
        return this.#each(before, (state, name) => {
          if ((state & REPLACED) === 0 || s.mem.via?.name === name || !this.changes(region, part, name)) return state;
          if (overlap(region, name.region) === true) return state | UNCERTAIN;
          this.apart.push([region.root, name.region.root]);
          return state;
        });
      }
      case 'barrier':
      case 'warp': {
        const overwrites = this.#phases.get(s) ?? [];
        if (overwrites.length === 0) return before;
        return this.#each(before, (state, name) => {
          if (isPrivate(name.region.root)) return state;
          const by = overwrites.find((o) => this.#replaces({ ...o, region: anyThreads(o.region) }, name) === true);
          return by !== undefined && this.#replaced(s, by, name, true) ? REPLACED | (state & UNCERTAIN) : state;
        });
      }
      default:
        return before;
    }
  }

  #each(before: Uint8Array, step: (state: number, name: RecordName) => number): Uint8Array {
    const after = before.slice();
    for (const [k, name] of this.names.entries()) if (after[k] !== 0) after[k] = step(after[k] ?? 0, name);
    return after;
  }

  /** Notes what replaces a name's record; false where it is taken to be in another array. */
  #replaced(s: TStmt, by: Overwrite, name: RecordName, found: true | 'arguments'): boolean {
    if (found === 'arguments' && this.#trusting.has(name)) {
      this.apart.push([by.region.root, name.region.root]);
      return false;
    }
    const known = this.replacing.get(name) ?? new Map<TStmt, Overwrite>();
    this.replacing.set(name, known.set(s, by));
    return true;
  }

  /** What a statement does with names whose records may have been replaced. */
  #uses(s: TStmt, state: Uint8Array): void {
    const stateOf = ({ via }: TMem): number => (via?.name && state[this.#index.get(via.name) ?? -1]) ?? 0;
    for (const e of expressionsOf(s)) {
      walkExpression(e, (x) => {
        if (x.k !== 'load' || x.mem.via?.name === undefined) return;
        const { name, at } = x.mem.via;
        const found = stateOf(x.mem);
        if ((found & REPLACED) === 0) return;
        this.stale.add(name);
        if ((found & UNCERTAIN) !== 0) this.#trouble(name, { pos: x.pos, why: 'uncertain' });
        if (at === undefined) this.#trouble(name, { pos: x.pos, why: 'index' });
      });
    }
    if ((s.k === 'store' || s.k === 'atomic') && (stateOf(s.mem) & REPLACED) !== 0 && s.mem.via?.name !== undefined) {
      this.#trouble(s.mem.via.name, { pos: s.pos, why: 'written' });
    }
  }

  #trouble(name: RecordName, trouble: Trouble): void {
    if (!this.troubles.has(name)) this.troubles.set(name, trouble);
  }

  /** What is copied when the name that it came from has been replaced is copied from that one's copy. */
  #inherit(): void {
    const { stale } = this;
    for (let before = -1; before !== stale.size; ) {
      before = stale.size;
      for (const s of this.#points.keys()) {
        if (s.k !== 'name' || s.of?.name === undefined || !stale.has(s.names)) continue;
        if ((this.before(s, s.of.name) & REPLACED) === 0) continue;
        stale.add(s.of.name);
        if (s.of.at === undefined) this.#trouble(s.of.name, { pos: s.pos, why: 'index' });
      }
    }
  }
}

function namesIn(body: readonly TStmt[]): RecordName[] {
  const names = new Set<RecordName>();
  walkStatements(body, (s) => {
    if (s.k === 'name') names.add(s.names);
  });
  return [...names];
}

/** Whether threads see here what others have stored. */
export function isBarrier(s: TStmt): boolean {
  return s.k === 'barrier' || (s.k === 'warp' && s.fn === 'sync');
}

/** Overwrites that can be reached from a barrier without passing another. */
function overwritesAfter(barrier: Point): readonly Overwrite[] {
  const found: Overwrite[] = [];
  const seen = new Set<Point>();
  const waiting = [...barrier.next];
  for (let p = waiting.pop(); p !== undefined; p = waiting.pop()) {
    if (seen.has(p)) continue;
    seen.add(p);
    if (p.statement?.k === 'overwritten' && !isPrivate(p.statement.by.region.root)) found.push(p.statement.by);
    if (p.statement === undefined || !isBarrier(p.statement)) waiting.push(...p.next);
  }
  return found;
}

/** A region as other threads have it, whose variables have other values. */
function anyThreads(region: Region): Region {
  return region.place === undefined || region.place.scale === 0 ? region : { ...region, place: undefined };
}
