/**
 * Which reads of shared memory give all threads of a block the same: those of one element, between which and every store to the array there is
 * a barrier, on every way from one to the other. Then nobody stores while any thread reads: `while (flag[0] > 0) { …; syncThreads(); … }`.
 *
 * Goes over all ways through the kernel with what has been stored and read since the last barrier. Whether all threads come to the barriers together is
 * the uniformity analysis' to say, which takes these reads for uniform: where that does not hold, some barrier is refused.
 */
import {
  type ArraySym,
  ELEM_SIZE,
  type Expr,
  type Kernel,
  type Label,
  type MemRef,
  type Stmt,
  type Var,
} from '../ops.ts';
import { eachPart, hasBarrier, reachedBy, stmtExprs } from './walk.ts';

type Load = Expr & { readonly op: 'load' };

/** What has happened since the last barrier, on some way. */
interface Since {
  readonly stored: Set<MemRef>;
  readonly loads: Set<Load>;
}

/** Arrays that may share memory, as one thing: dynamic shared arrays all begin at the same place. */
export function memoryOf(array: ArraySym): unknown {
  return array.dynamic ? 'dynamic' : array;
}

/** The reads of shared arrays that no store can come between. `live`: threads without it have returned, and neither store nor read. */
export function steadyLoads({ body }: Kernel, live: Var | undefined): ReadonlySet<Expr> {
  if (!hasBarrier(body)) return new Set();
  const walk = new Walk(live);
  do {
    walk.changed = false;
    walk.list(body, { stored: new Set(), loads: new Set() });
  } while (walk.changed);
  return walk.found();
}

class Walk {
  changed = false;
  readonly #live: Var | undefined;
  readonly #all = new Set<Load>();
  readonly #unsteady = new Set<Load>();
  /** Of each loop: what comes to the start of a round. */
  readonly #starts = new Map<Stmt, Since>();
  /** What comes to the end of a construct, and to the update of a loop, by jumps. */
  readonly #breaks = new Map<Label, Since>();
  readonly #continues = new Map<Label, Since>();

  constructor(live: Var | undefined) {
    this.#live = live;
  }

  found(): ReadonlySet<Expr> {
    return new Set([...this.#all].filter((load) => !this.#unsteady.has(load)));
  }

  /** Goes over a list; undefined where control does not come out at its end. */
  list(stmts: readonly Stmt[], since: Since): Since | undefined {
    let at: Since | undefined = since;
    for (const s of stmts) {
      if (at === undefined) return undefined;
      at = this.#statement(s, at);
    }
    return at;
  }

  #statement(s: Stmt, since: Since): Since | undefined {
    for (const e of stmtExprs(s)) this.#reads(e, since);
    for (const mem of reachedBy(s)) this.#store(mem, since);
    switch (s.op) {
      case 'barrier':
        return { stored: new Set(), loads: new Set() };
      case 'if': {
        const then = this.list(s.then, copy(since));
        if (s.cond.op === 'var' && s.cond.var === this.#live) return then ?? since;
        return either(then, this.list(s.else, since));
      }
      case 'block':
        return either(this.list(s.body, since), take(this.#breaks, s.label));
      case 'loop':
        return this.#loop(s, since);
      case 'break':
      case 'continue': {
        const places = s.op === 'break' ? this.#breaks : this.#continues;
        places.set(s.label, either(places.get(s.label), since) ?? since);
        return undefined;
      }
      case 'return':
      case 'trap':
        return undefined;
      default:
        return since;
    }
  }

  /** One round. What comes to the start of the next is left to the next walk of the whole kernel, as in the uniformity analysis. */
  #loop(s: Stmt & { op: 'loop' }, since: Since): Since | undefined {
    const start = either(since, this.#starts.get(s)) ?? since;
    const next = either(this.list(s.body, copy(start)), take(this.#continues, s.label));
    const again = either(start, next && this.list(s.update, next)) ?? start;
    if (sizeOf(again) > sizeOf(this.#starts.get(s))) {
      this.#starts.set(s, again);
      this.changed = true;
    }
    return take(this.#breaks, s.label);
  }

  #reads(e: Expr, since: Since): void {
    eachPart(e, (part) => {
      if (part.op !== 'load' || part.mem.array.space !== 'shared') return;
      this.#all.add(part);
      for (const mem of since.stored) if (mayMeet(mem, part.mem)) this.#unsteady.add(part);
      since.loads.add(part);
    });
  }

  #store(mem: MemRef, since: Since): void {
    if (mem.array.space !== 'shared') return;
    since.stored.add(mem);
    for (const load of since.loads) if (mayMeet(mem, load.mem)) this.#unsteady.add(load);
  }
}

/** Whether two accesses may be to one element: not to two elements of one type that are known while compiling. */
function mayMeet(a: MemRef, b: MemRef): boolean {
  if (memoryOf(a.array) !== memoryOf(b.array)) return false;
  if (a.elem !== b.elem || a.index.op !== 'const' || b.index.op !== 'const') return true;
  const byte = (index: Expr & { op: 'const' }, { scale, disp }: MemRef): number => Number(index.value) * scale + disp;
  return Math.abs(byte(a.index, a) - byte(b.index, b)) < ELEM_SIZE[a.elem];
}

function copy({ stored, loads }: Since): Since {
  return { stored: new Set(stored), loads: new Set(loads) };
}

function sizeOf(since: Since | undefined): number {
  return since === undefined ? -1 : since.stored.size + since.loads.size;
}

function either(a: Since | undefined, b: Since | undefined): Since | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { stored: new Set([...a.stored, ...b.stored]), loads: new Set([...a.loads, ...b.loads]) };
}

function take(places: Map<Label, Since>, label: Label): Since | undefined {
  const at = places.get(label);
  places.delete(label);
  return at;
}
