/**
 * Copies for names whose records are replaced in their arrays (`record-names.ts`): each scalar that is read through such a name
 * after that becomes a variable.
 *
 * The copy of a constant name is taken as late as possible, before the first statement beside its declaration that may replace the
 * record, so that it stands behind the guards that its reads stand behind. A variable is copied where it is assigned. Until the
 * record is replaced, what changes it changes the copy as well.
 */
import { ELEM_SIZE } from '../ir/ops.ts';
import { rewriteExpression, rewriteStatement, walkStatements } from '../types/parts.ts';
import type { Local, RecordName, TExpr, TMem, TStmt, Via } from '../types/tree.ts';
import { isPrivate } from './array-choices.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { CURRENT, isBarrier, type NameStates } from './name-states.ts';
import { regionOfScalar } from './regions.ts';
import { readLocal } from './values.ts';

/** A copy has at most so many scalars. */
const MOST_SCALARS = 64;

type Naming = Extract<TStmt, { k: 'name' }>;

/** A scalar of a copy. */
interface Part {
  readonly at: number;
  readonly like: TMem;
  readonly local: Local;
}

/** Where a copy is made, or made anew. */
interface Spot {
  readonly list: TStmt[];
  readonly index: number;
  readonly name: RecordName;
  /** The copy that this is a copy of; undefined for one of memory. */
  readonly of: Via | undefined;
  /** The part that has changed; undefined for all. */
  readonly changed: TMem | undefined;
}

export function copyNames(ctx: Evaluation, states: NameStates, body: readonly TStmt[]): readonly TStmt[] {
  return states.stale.size === 0 ? body : new Copies(ctx, states).rewrite(body);
}

class Copies {
  readonly #ctx: Evaluation;
  readonly #states: NameStates;
  readonly #parts = new Map<RecordName, Map<string, Part>>();
  readonly #spots: Spot[] = [];
  /** Names that need a copy later, but are still read from the array. */
  readonly #early = new Set<RecordName>();

  constructor(ctx: Evaluation, states: NameStates) {
    this.#ctx = ctx;
    this.#states = states;
  }

  rewrite(body: readonly TStmt[]): readonly TStmt[] {
    const out = this.#list(body);
    const made = this.#spots.map((spot) => ({ spot, stores: () => this.#fill(spot) }));
    // Copies of copies add to what those hold.
    for (let before = -1; before !== this.#size(); ) {
      before = this.#size();
      for (const { stores } of made) stores();
    }
    for (const { spot, stores } of made.reverse()) spot.list.splice(spot.index, 0, ...stores());
    return out;
  }

  #size(): number {
    return [...this.#parts.values()].reduce((n, parts) => n + parts.size, 0);
  }

  #list(list: readonly TStmt[]): TStmt[] {
    const out: TStmt[] = [];
    const late = new Map<number, Naming[]>();
    list.forEach((s, k) => {
      if (s.k !== 'name' || !this.#states.stale.has(s.names)) return;
      const first = this.#firstReplacement(list, k);
      if (first === undefined) return;
      late.set(first, [...(late.get(first) ?? []), s]);
      this.#early.add(s.names);
    });
    list.forEach((s, k) => {
      for (const { names } of late.get(k) ?? []) {
        this.#early.delete(names);
        // It is still the element; what it was named by may be another one by now.
        this.#copyHere(out, names, undefined);
      }
      out.push(
        rewriteStatement(
          s,
          (e) => this.#read(e),
          (l) => this.#list(l),
        ),
      );
      if (s.k === 'name' && this.#isCopied(s.names)) {
        this.#copyHere(out, s.names, s.of);
      } else this.#refresh(s, out);
    });
    return out;
  }

  #copyHere(list: TStmt[], name: RecordName, of: Via | undefined): void {
    const copied = of?.name !== undefined && this.#isCopied(of.name);
    this.#spots.push({ list, index: list.length, name, of: copied ? of : undefined, changed: undefined });
  }

  /** Where in its list the record that a constant names may be replaced first. */
  #firstReplacement(list: readonly TStmt[], naming: number): number | undefined {
    const s = list[naming];
    if (s?.k !== 'name' || !s.names.constant) return undefined;
    if (s.of?.name !== undefined && this.#states.before(s, s.of.name) > CURRENT) return undefined;
    const replacing = this.#states.replacing.get(s.names);
    const overwrites = this.#states.overwritesOf(s.names);
    const found = list.findIndex((other, k) => {
      if (k <= naming) return false;
      let replaces = false;
      walkStatements([other], (x) => {
        if (replacing?.has(x) || (x.k === 'store' && x.part !== undefined && overwrites.includes(x.part)))
          replaces = true;
      });
      return replaces;
    });
    return found < 0 ? undefined : found;
  }

  #isCopied(name: RecordName): boolean {
    return this.#states.stale.has(name) && !this.#early.has(name);
  }

  /** What is read through a name that has a copy. */
  #read(e: TExpr): TExpr {
    if (e.k !== 'load') return e;
    const { via } = e.mem;
    if (via?.name === undefined || via.at === undefined || !this.#isCopied(via.name)) return e;
    return readLocal(this.#part(via.name, via.at, e.mem).local, e.pos);
  }

  #part(name: RecordName, at: number, like: TMem): Part {
    const parts = this.#parts.get(name) ?? new Map<string, Part>();
    this.#parts.set(name, parts);
    const key = `${at}:${like.elem}`;
    let part = parts.get(key);
    if (part === undefined) {
      if (parts.size === MOST_SCALARS) {
        fail(
          'K243',
          like.pos,
          `${name.name} has more than ${MOST_SCALARS} numbers, too many to be copied into variables`,
          {
            help: 'copy the element before it is assigned, to one of cuda.local.array(1, dtype)',
          },
        );
      }
      part = { at, like, local: this.#ctx.newLocal(`%${name.name}.${at}`, name.pos, false) };
      parts.set(key, part);
    }
    return part;
  }

  /** After a change to what is still the element, its copy changes as well. */
  #refresh(s: TStmt, out: TStmt[]): void {
    const isStore = s.k === 'store' || s.k === 'atomic';
    if (!isStore && !isBarrier(s)) return;
    for (const name of this.#states.stale) {
      if (!this.#isCopied(name) || this.#states.before(s, name) !== CURRENT) continue;
      if (isStore) {
        const part = s.k === 'store' ? s.part : undefined;
        if (!this.#states.changes(regionOfScalar(s.mem), part, name)) continue;
      } else if (this.#states.replacing.get(name)?.has(s) || isPrivate(name.region.root)) continue;
      const changed = isStore && s.mem.via?.name === name ? s.mem : undefined;
      this.#spots.push({ list: out, index: out.length, name, of: undefined, changed });
    }
  }

  /** The assignments that make a copy. */
  #fill({ name, of, changed }: Spot): TStmt[] {
    return [...(this.#parts.get(name)?.values() ?? [])].flatMap((part): TStmt[] => {
      if (changed !== undefined && !touches(changed, part)) return [];
      const { pos } = name;
      return [{ k: 'assign', local: part.local, value: this.#source(name, part, of), pos }];
    });
  }

  #source({ base, pos }: RecordName, { at, like }: Part, of: Via | undefined): TExpr {
    if (of?.name !== undefined && of.at !== undefined) {
      return readLocal(this.#part(of.name, of.at + at, like).local, pos);
    }
    const fresh = (e: TExpr): TExpr => rewriteExpression(e, (x) => (x.k === 'local' ? readLocal(x.local, pos) : x));
    const checks = base.checks.map((c) => ({ ...c, index: fresh(c.index), extent: fresh(c.extent) }));
    const which = base.which && fresh(base.which);
    const mem: TMem = {
      ...like,
      ...base,
      which,
      index: fresh(base.index),
      disp: base.disp + at,
      checks,
      via: undefined,
    };
    return { k: 'load', mem, pos };
  }
}

function touches({ via, elem }: TMem, part: Part): boolean {
  const from = via?.at;
  return from === undefined || (from < part.at + ELEM_SIZE[part.like.elem] && part.at < from + ELEM_SIZE[elem]);
}
