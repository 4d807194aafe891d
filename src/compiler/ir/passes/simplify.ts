/**
 * Exact simplification of a kernel: constant folding, copy propagation, branch folding, structure, dead code.
 *
 * Nothing here changes a bit of any result (NaN payloads excepted): integers wrap and divide as ops.ts says, floats are
 * neither reassociated nor assumed to be finite. Stores, atomics, prints, traps and what checked mode tests are kept.
 */
import { i32, ifElse, KernelBuilder, negate } from '../builder.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { WARP_SIZE } from '../warp.ts';
import { removeDead } from './dead.ts';
import { multipleIn, withExactQuotientsIn } from './divisible.ts';
import { foldNode } from './fold.ts';
import { structureExits } from './structure.ts';
import {
  addReads,
  assignedIn,
  defined,
  eachStmt,
  jumpsTo,
  mapStmtExprs,
  neverEnds,
  someStmt,
  stmtExprs,
} from './walk.ts';

export interface SimplifyOptions {
  /** Known block shape: blockDim becomes a constant, threadIdx of an axis of extent 1 becomes 0. */
  readonly block?: readonly [number, number, number] | undefined;
  /** Whether `threadIdx.x & 7` is put in the place of a variable that it is assigned to, as constants are. */
  readonly masks?: boolean;
}

/** At any stage before regions are formed. Variables that are no longer used are dropped. */
export function simplify(kernel: Kernel, options: SimplifyOptions = {}): Kernel {
  const b = KernelBuilder.from(kernel);
  let { body } = kernel;
  // Each round may uncover more; in practice two or three are enough, and stopping early is never wrong.
  for (let round = 0; round < 4; round++) {
    const before = body;
    body = removeDead(new Forward(b, options).list(body, new Map()), kernel.checked);
    if (body === before) break;
  }
  const used = usedVars(body);
  return { ...kernel, vars: kernel.vars.filter((v) => used.has(v.id)), body };
}

function usedVars(body: readonly Stmt[]): Set<number> {
  const used = new Set<number>();
  eachStmt(body, (s) => {
    const id = defined(s);
    if (id !== undefined) used.add(id);
    for (const e of stmtExprs(s)) addReads(e, used);
  });
  return used;
}

/** What variables are known to be, by id: constants, parameters, special values or other variables. */
type Known = Map<number, Expr>;

class Forward {
  readonly #b: KernelBuilder;
  readonly #block: readonly [number, number, number] | undefined;
  readonly #masks: boolean;

  constructor(b: KernelBuilder, { block, masks = false }: SimplifyOptions) {
    this.#b = b;
    this.#block = block;
    this.#masks = masks;
  }

  /** Goes through a list in the order of execution; `known` is brought up to its end. */
  list(list: readonly Stmt[], known: Known): readonly Stmt[] {
    const out: Stmt[] = [];
    for (const s of list) out.push(...this.#statement(this.#withKnown(s, known), known));
    return out.length === list.length && out.every((s, i) => s === list[i]) ? list : out;
  }

  #withKnown(s: Stmt, known: Known): Stmt {
    // From the leaves up, so that what was put in place is folded as well.
    return mapStmtExprs(s, (e) => foldNode(this.#leaf(e, known)));
  }

  #leaf(e: Expr, known: Known): Expr {
    if (e.op === 'var') return known.get(e.var.id) ?? e;
    if (e.op !== 'special') return e;
    if (e.name === 'warpSize') return i32(WARP_SIZE);
    if (!this.#block) return e;
    const axis = ['x', 'y', 'z'].indexOf(e.name.at(-1) ?? '');
    const extent = this.#block[axis];
    if (extent === undefined) return e;
    if (e.name.startsWith('blockDim.')) return i32(extent);
    return e.name.startsWith('threadIdx.') && extent === 1 ? i32(0) : e;
  }

  #statement(s: Stmt, known: Known): readonly Stmt[] {
    switch (s.op) {
      case 'if':
        return this.#branch(s, known);
      case 'loop': {
        forget(known, assignedIn([...s.body, ...s.update]));
        const body = this.list(s.body, new Map(known));
        const update = this.list(s.update, new Map(known));
        return [body === s.body && update === s.update ? s : { ...s, body, update }];
      }
      case 'block': {
        const body = this.list(s.body, new Map(known));
        forget(known, assignedIn(s.body));
        return this.#openBlock(body === s.body ? s : { ...s, body });
      }
      default: {
        const id = defined(s);
        if (id !== undefined) forget(known, [id]);
        if (s.op === 'assign') {
          const { value } = s;
          if (value.op === 'var' && value.var === s.var) return [];
          if (isLeaf(value) || (this.#masks && isMaskedIndex(value))) known.set(s.var.id, value);
        }
        return [s];
      }
    }
  }

  #branch(s: Stmt & { op: 'if' }, known: Known): readonly Stmt[] {
    if (s.cond.op === 'const') return this.list(s.cond.value ? s.then : s.else, known);
    const [inThen, inElse] = [new Map(known), new Map(known)];
    const multiple = multipleIn(s.cond);
    const divided = (list: readonly Stmt[], when: boolean): readonly Stmt[] =>
      multiple?.when === when ? withExactQuotientsIn(list, multiple) : list;
    const then = divided(this.list(s.then, inThen), true);
    const otherwise = divided(this.list(s.else, inElse), false);
    // After it is known what both ways agree on; a way that ends in a jump does not come there.
    const ways = [neverEnds(then) ? [] : [inThen], neverEnds(otherwise) ? [] : [inElse]].flat();
    forget(known, assignedIn([...s.then, ...s.else]));
    const [first, second] = ways;
    if (first) for (const [id, e] of first) if (!second || second.get(id) === e) known.set(id, e);
    if (then.length === 0 && otherwise.length > 0) return [ifElse(negate(s.cond), otherwise, [], s.pos)];
    return [then === s.then && otherwise === s.else ? s : ifElse(s.cond, then, otherwise, s.pos)];
  }

  /** A block that is only left forwards, past ifs, is no block: an inlined function with early returns. */
  #openBlock(s: Stmt & { op: 'block' }): readonly Stmt[] {
    if (!jumpsTo(s.body, s.label)) return s.body;
    let residual = false;
    const body = structureExits(s.body, {
      replace: (x) => (x.op === 'break' && x.label === s.label ? [] : undefined),
      freshLabel: () => {
        residual = true;
        return this.#b.label();
      },
    });
    return residual || someStmt(body, (x) => x.op === 'break' && x.label === s.label) ? [s] : body;
  }
}

function isLeaf(e: Expr): boolean {
  return e.op === 'const' || e.op === 'var' || e.op === 'param' || e.op === 'special';
}

/** What lanes lie apart by is told from this itself, not from a variable. */
function isMaskedIndex(e: Expr): boolean {
  return e.op === 'binary' && e.fn === 'and' && e.a.op === 'special' && e.b.op === 'const';
}

/** Variables were assigned: what was known of them, or said in terms of them, is no longer so. */
function forget(known: Known, ids: Iterable<number>): void {
  const gone = new Set(ids);
  if (gone.size === 0) return;
  for (const [id, e] of known) if (gone.has(id) || (e.op === 'var' && gone.has(e.var.id))) known.delete(id);
}
