/**
 * Prefix sums, maxima and the like by Hillis and Steele, recognised as wholes: `for (step = 1; step < n; step *= 2)`, between barriers,
 * `s[t] = op(s[t], s[t - step])` where `t >= step`.
 *
 * Where the order of the operations cannot be told from the result (integers; the larger or smaller of floats), all rounds together
 * are one pass over the elements. The first thread makes it in a plain loop, which the renderer writes as vectors (`scan-rows.ts`). What a round does is
 * found by running it twice on symbols, for a thread that has a partner and for one that has none, so that it does not matter how it is written.
 * Only for blocks of one row, whose elements are all reached: what a check may find beyond them must be found as before.
 */
import * as ir from '../../ir/builder.ts';
import { type Loop, testedLoop } from '../../ir/loops.ts';
import {
  type ArraySym,
  type BinaryOp,
  ELEM_SIZE,
  type Expr,
  type Kernel,
  type Label,
  type MemRef,
  type Stmt,
  type Var,
} from '../../ir/ops.ts';
import { assignedIn, eachExpr, hasBarrier, hasReturn, mapLists, stmtLists } from '../../ir/passes/walk.ts';
import { neutralOf } from './lockstep.ts';
import { Unknown } from './lockstep-numbers.ts';
import { definitionsOf } from './structure.ts';

/** A pass over neighbouring elements of a shared array in which each takes in the one before, or the one behind. */
export interface Scan {
  readonly array: ArraySym;
  readonly fn: BinaryOp;
  /** The first element, and how many there are; after every `run` of them, `gap` are left out. */
  readonly first: number;
  readonly count: number;
  readonly run: number;
  readonly gap: number;
  /** How far the elements that are taken in lie behind those that they become. */
  readonly source: number;
  /** From the last element to the first. */
  readonly down: boolean;
  /** Whether an element becomes what is before it, without itself. */
  readonly exclusive: boolean;
  /** Where all of them together go. */
  readonly total: ArraySym | undefined;
}

export interface Ladders {
  readonly kernel: Kernel;
  /** By the labels of the loops in which the first thread makes them. */
  readonly scans: ReadonlyMap<Label, Scan>;
}

/** The number of threads from which on a pass pays. */
const FEWEST = 8;

export function recogniseLadders(kernel: Kernel, block: readonly [number, number, number]): Ladders {
  const scans = new Map<Label, Scan>();
  const [width] = block;
  if (block[1] * block[2] !== 1 || width < FEWEST || !hasBarrier(kernel.body) || hasReturn(kernel.body))
    return { kernel, scans };
  let builder: ir.KernelBuilder | undefined;
  let definitions: ReadonlyMap<number, Expr> | undefined;
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    let changed = false;
    const out = list.flatMap((s, k): readonly Stmt[] => {
      if (!stmtLists(s).some(hasBarrier)) return [s];
      definitions ??= definitionsOf(kernel.body);
      const ladder = s.op === 'loop' ? ladderOf(kernel, list, k, s, { width, definitions }) : undefined;
      if (ladder !== undefined) {
        changed = true;
        builder ??= ir.KernelBuilder.from(kernel);
        const [label, counter] = [builder.label(), builder.variable('i32', '%scan')];
        scans.set(label, ladder.scan);
        return passOver(ladder, label, counter, s.pos);
      }
      const inner = mapLists(s, inList);
      changed ||= inner !== s;
      return [inner];
    });
    return changed ? out : list;
  };
  const body = inList(kernel.body);
  return {
    kernel: body === kernel.body ? kernel : { ...kernel, vars: [...(builder?.vars ?? kernel.vars)], body },
    scans,
  };
}

interface Ladder {
  readonly scan: Scan;
  readonly step: Var;
  /** What the step is in the end. */
  readonly last: number;
  /** Variables that hold the thread's element. */
  readonly copies: readonly Var[];
}

/** The statements instead of the loop. */
function passOver({ scan, step, last, copies }: Ladder, label: Label, k: Var, pos: Stmt['pos']): readonly Stmt[] {
  const { array, first, count, down, fn } = scan;
  const t = ir.special('threadIdx.x');
  const at = (back: number): MemRef => {
    const index = down
      ? ir.sub(ir.i32(first + count - 1 + back), ir.read(k))
      : ir.add(ir.read(k), ir.i32(first - back));
    return ir.at(array, index, { pos });
  };
  const value = ir.binary(fn, ir.load(at(0)), ir.load(at(1)));
  const leave = ir.ifElse(ir.ge(ir.read(k), ir.i32(count)), [ir.breakTo(label, pos)], [], pos);
  return [
    ir.barrier(pos),
    ir.ifElse(
      ir.eq(t, ir.i32(0)),
      [
        ir.assign(k, ir.i32(1), pos),
        ir.loop(label, [leave, ir.store(at(0), value, pos)], [ir.assign(k, ir.add(ir.read(k), ir.i32(1)), pos)], pos),
      ],
      [],
      pos,
    ),
    ir.barrier(pos),
    ...copies.map((v) => ir.assign(v, ir.load(ir.at(array, ir.add(t, ir.i32(first)), { pos })), pos)),
    ir.assign(step, ir.i32(last), pos),
  ];
}

// ---------------------------------------------------------------- what a round does

interface Where {
  readonly width: number;
  readonly definitions: ReadonlyMap<number, Expr>;
}

/** `t * threadIdx.x + step * (the step) + c`, or what a thread's elements hold. */
type Sym =
  | { readonly kind: 'linear'; readonly t: number; readonly step: number; readonly c: number }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'own' | 'other' }
  | { readonly kind: 'both'; readonly fn: BinaryOp };

const OWN: Sym = { kind: 'own' };
const OTHER: Sym = { kind: 'other' };

function ladderOf(kernel: Kernel, list: readonly Stmt[], k: number, loop: Loop, where: Where): Ladder | undefined {
  const tested = testedLoop(loop);
  if (tested === undefined) return undefined;
  const round = [...tested.body, ...loop.update];
  const stepping = round.at(-1);
  if (stepping?.op !== 'assign' || stepping.var.type !== 'i32' || !doubles(stepping.value, stepping.var))
    return undefined;
  const step = stepping.var;
  const work = round.slice(0, -1);
  const array = storedTo(work);
  if (array === undefined || assignedIn(work).has(step.id)) return undefined;
  const before = list.slice(0, k).findLastIndex((s) => assignedIn([s]).has(step.id));
  const start = list[before];
  if (start?.op !== 'assign' || start.value.op !== 'const' || Number(start.value.value) !== 1) return undefined;
  const bound = boundOf(tested.exit, step, where.width);
  if (bound === undefined || bound < where.width || bound > 2 ** 30) return undefined;
  try {
    return [false, true]
      .map((down) => laddered(kernel, list.slice(0, k), loop, work, { ...where, array, step, down }))
      .find((l) => l !== undefined)?.(2 ** Math.ceil(Math.log2(bound)));
  } catch (error) {
    if (error instanceof Unknown) return undefined;
    throw error;
  }
}

/** `v * 2`, `v << 1`, `v + v`. */
function doubles(value: Expr, v: Var): boolean {
  if (value.op !== 'binary' || value.a.op !== 'var' || value.a.var.id !== v.id) return false;
  if (value.fn === 'add') return value.b.op === 'var' && value.b.var.id === v.id;
  const by = value.b.op === 'const' ? Number(value.b.value) : 0;
  return (value.fn === 'mul' && by === 2) || (value.fn === 'shl' && by === 1);
}

/** The step at which the loop is left, or a larger one: `step >= n`, `!(step < n)`. */
function boundOf(exit: Expr, step: Var, width: number): number | undefined {
  const [cond, fn] = exit.op === 'unary' && exit.fn === 'not' ? [exit.a, 'lt'] : [exit, 'ge'];
  if (cond.op !== 'compare' || cond.fn !== fn || cond.a.op !== 'var' || cond.a.var.id !== step.id) return undefined;
  if (cond.b.op === 'special' && cond.b.name === 'blockDim.x') return width;
  return cond.b.op === 'const' ? Number(cond.b.value) : undefined;
}

/** The one shared array that a round changes, if its elements are what vectors hold. */
function storedTo(list: readonly Stmt[]): ArraySym | undefined {
  const arrays = new Set<ArraySym>();
  const visit = (s: Stmt): void => {
    if (s.op === 'store') arrays.add(s.mem.array);
    for (const inner of stmtLists(s)) inner.forEach(visit);
  };
  list.forEach(visit);
  const [array] = arrays;
  const plain = arrays.size === 1 && array?.space === 'shared' && array.dynamic !== true;
  return plain && (array.elem === 'i32' || array.elem === 'u32' || array.elem === 'f32') ? array : undefined;
}

interface Asked extends Where {
  readonly array: ArraySym;
  readonly step: Var;
  readonly down: boolean;
}

/** What a thread does in a round, in which it has a partner or not. */
interface Round {
  readonly memory: Sym;
  readonly vars: ReadonlyMap<number, Sym>;
  /** Variables that were read before they were assigned. */
  readonly carried: ReadonlySet<number>;
  /** The element of the first thread. */
  readonly first: number | undefined;
}

function laddered(
  kernel: Kernel,
  before: readonly Stmt[],
  loop: Loop,
  work: readonly Stmt[],
  asked: Asked,
): ((last: number) => Ladder) | undefined {
  if (!isOrdered(work, asked)) return undefined;
  const [alone, paired] = [false, true].map((hasPartner) => runRound(work, hasPartner, asked)) as [
    Round | undefined,
    Round | undefined,
  ];
  if (alone === undefined || paired === undefined) return undefined;
  const { memory, first } = paired;
  if (memory.kind !== 'both' || alone.memory.kind !== 'own' || first === undefined) return undefined;
  if (alone.first !== undefined && alone.first !== first) return undefined;
  const carried = new Set([...alone.carried, ...paired.carried]);
  const copies: Var[] = [];
  for (const id of assignedIn(work)) {
    const v = kernel.vars.find((other) => other.id === id);
    if (v === undefined) return undefined;
    const kept = carried.has(id) ? OWN : undefined;
    const [a, p] = [alone, paired].map(({ vars }) => vars.get(id) ?? kept);
    const follows = a?.kind === 'own' && p?.kind === 'both' && p.fn === memory.fn;
    if (carried.has(id) && !(follows && isCopy(before, v, first, asked))) return undefined;
    if (follows) copies.push(v);
    else if (isReadOutside(kernel, loop, v)) return undefined;
  }
  const { array, width, step, down } = asked;
  const whole = { run: width, gap: 0, source: 0, exclusive: false, total: undefined };
  const scan = { array, fn: memory.fn, first, count: width, down, ...whole };
  return (last) => ({ scan, step, last, copies });
}

/** Whether there is a barrier before anybody stores in the round. Where none ends it, its last stretch goes on in the next one. */
function isOrdered(work: readonly Stmt[], { array }: Asked): boolean {
  const stretches: Stmt[][] = [[]];
  for (const s of work) {
    if (s.op === 'barrier') {
      if (s.kind !== 'sync' || s.result !== undefined) return false;
      stretches.push([]);
    } else if (hasBarrier([s])) return false;
    else stretches.at(-1)?.push(s);
  }
  if (stretches.length < 2) return false;
  const stores = (list: readonly Stmt[] = []): boolean => list.some((s) => assignsTo(s, array));
  const from = stretches.findIndex(stores);
  return from > 0 && !(stores(stretches.at(-1)) && loads(stretches[0] ?? [], array));
}

function assignsTo(s: Stmt, array: ArraySym): boolean {
  return (
    (s.op === 'store' && s.mem.array === array) || stmtLists(s).some((list) => list.some((x) => assignsTo(x, array)))
  );
}

function loads(list: readonly Stmt[], array: ArraySym): boolean {
  let found = false;
  eachExpr(list, (e) => {
    found ||= e.op === 'load' && e.mem.array === array;
  });
  return found;
}

/** Whether a variable holds the thread's element when the loop begins. */
function isCopy(before: readonly Stmt[], v: Var, first: number, asked: Asked): boolean {
  const isOwn = ({ array, index, scale, disp }: MemRef): boolean => {
    if (array !== asked.array || scale !== ELEM_SIZE[array.elem] || disp !== 0) return false;
    const place = new Thread(asked, false).value(index);
    return place.kind === 'linear' && place.t === 1 && place.step === 0 && place.c === first;
  };
  for (const s of before.toReversed()) {
    if (s.op === 'store' && s.mem.array === asked.array)
      return isOwn(s.mem) && s.value.op === 'var' && s.value.var.id === v.id;
    if (s.op === 'assign' && s.var.id === v.id) return s.value.op === 'load' && isOwn(s.value.mem);
    if (s.op !== 'assign' && s.op !== 'barrier') return false;
  }
  return false;
}

function isReadOutside(kernel: Kernel, loop: Loop, v: Var): boolean {
  const reads = (list: readonly Stmt[]): number => {
    let count = 0;
    eachExpr(list, (e) => {
      if (e.op === 'var' && e.var.id === v.id) count++;
    });
    return count;
  };
  return reads(kernel.body) !== reads([loop]);
}

/** Runs a round for a thread that has a partner, or for one that has none; undefined where it does something else. */
function runRound(work: readonly Stmt[], hasPartner: boolean, asked: Asked): Round | undefined {
  const thread = new Thread(asked, hasPartner, assignedIn(work));
  try {
    thread.run(work);
  } catch (error) {
    if (error instanceof Unknown) return undefined;
    throw error;
  }
  return thread;
}

/** One thread in a round, on symbols. Whatever is not understood is thrown as `Unknown`. */
class Thread implements Round {
  memory: Sym = OWN;
  readonly vars = new Map<number, Sym>();
  readonly carried = new Set<number>();
  first: number | undefined;
  readonly #asked: Asked;
  readonly #hasPartner: boolean;
  readonly #assigned: ReadonlySet<number>;
  #stored = false;
  /** Whether the partner's element has been read since the last barrier. */
  #asking = false;

  constructor(asked: Asked, hasPartner: boolean, assigned: ReadonlySet<number> = new Set()) {
    this.#asked = asked;
    this.#hasPartner = hasPartner;
    this.#assigned = assigned;
  }

  run(list: readonly Stmt[]): void {
    for (const s of list) {
      if (s.op === 'assign') this.vars.set(s.var.id, this.value(s.value));
      else if (s.op === 'store') {
        const value = this.value(s.value);
        if (this.#place(s.mem) !== 'own') throw new Unknown();
        // Between two barriers, others may have stored already what is read here.
        if (this.#asking) throw new Unknown();
        this.memory = value;
        this.#stored = true;
      } else if (s.op === 'if') this.run(this.#holds(s.cond) ? s.then : s.else);
      else if (s.op === 'barrier') this.#asking = false;
      else throw new Unknown();
    }
  }

  value(e: Expr): Sym {
    switch (e.op) {
      case 'const':
        if (e.type === 'i32') return { kind: 'linear', t: 0, step: 0, c: Number(e.value) };
        return { kind: 'number', value: Number(e.value) };
      case 'special':
        if (e.name === 'threadIdx.x') return { kind: 'linear', t: 1, step: 0, c: 0 };
        throw new Unknown();
      case 'var':
        return this.#variable(e.var);
      case 'load':
        return this.#load(e.mem);
      case 'select': {
        // Both may be evaluated.
        const [a, b] = [this.value(e.a), this.value(e.b)];
        return this.#holds(e.cond) ? a : b;
      }
      case 'binary':
        return this.#binary(e, this.value(e.a), this.value(e.b));
      default:
        throw new Unknown();
    }
  }

  #variable(v: Var): Sym {
    const { step, definitions } = this.#asked;
    if (v.id === step.id) return { kind: 'linear', t: 0, step: 1, c: 0 };
    const known = this.vars.get(v.id);
    if (known !== undefined) return known;
    if (this.#assigned.has(v.id)) {
      // Whether it is the thread's element that it holds is asked when the round is known.
      if (v.type !== this.#type()) throw new Unknown();
      this.carried.add(v.id);
      return OWN;
    }
    const value = definitions.get(v.id);
    if (value === undefined) throw new Unknown();
    return this.value(value);
  }

  #type(): Expr['type'] {
    return this.#asked.array.elem as Expr['type'];
  }

  #binary({ fn, type }: Expr & { op: 'binary' }, a: Sym, b: Sym): Sym {
    if (a.kind === 'linear' && b.kind === 'linear') {
      const sign = fn === 'add' ? 1 : fn === 'sub' ? -1 : 0;
      if (sign === 0) throw new Unknown();
      return { kind: 'linear', t: a.t + sign * b.t, step: a.step + sign * b.step, c: a.c + sign * b.c };
    }
    const none = type === this.#type() ? neutralOf(fn, type) : undefined;
    if (none === undefined) throw new Unknown();
    if (isConstant(a, none)) return b;
    if (isConstant(b, none)) return a;
    const kinds = `${a.kind} ${b.kind}`;
    if (kinds === 'own other' || kinds === 'other own') return { kind: 'both', fn };
    throw new Unknown();
  }

  #load(mem: MemRef): Sym {
    const place = this.#place(mem);
    if (place === 'own') return this.memory;
    // Behind a barrier that follows a store, the partner's element is another one.
    if (this.#stored || !this.#hasPartner) throw new Unknown();
    this.#asking = true;
    return OTHER;
  }

  /** Whose element it is, which is there for certain. */
  #place({ array, elem, index, scale, disp, checks }: MemRef): 'own' | 'other' {
    const { array: asked, width, down } = this.#asked;
    if (array !== asked || elem !== array.elem || scale !== ELEM_SIZE[elem] || disp !== 0) throw new Unknown();
    const place = this.value(index);
    if (place.kind !== 'linear' || place.t !== 1) throw new Unknown();
    const { step, c } = place;
    if (step !== 0 && step !== (down ? 1 : -1)) throw new Unknown();
    this.first ??= c;
    const isInside = (extent: number): boolean => c >= 0 && c + width <= extent;
    if (c !== this.first || !isInside(array.length ?? 0)) throw new Unknown();
    for (const { index: checked, extent } of checks) {
      const own = this.value(checked);
      const same = own.kind === 'linear' && own.t === 1 && own.step === step && own.c === c;
      if (!same || extent.op !== 'const' || !isInside(Number(extent.value))) throw new Unknown();
    }
    return step === 0 ? 'own' : 'other';
  }

  /** Conditions tell threads with a partner from others, or nothing is known of them. */
  #holds(e: Expr): boolean {
    if (e.op === 'unary' && e.fn === 'not') return !this.#holds(e.a);
    if (e.op !== 'compare') throw new Unknown();
    const [a, b] = [this.value(e.a), this.value(e.b)];
    if (a.kind !== 'linear' || b.kind !== 'linear') throw new Unknown();
    const isLess = e.fn === 'lt' || e.fn === 'ge';
    if (!isLess && e.fn !== 'gt' && e.fn !== 'le') throw new Unknown();
    // Whether `left >= right`, or not.
    const [left, right] = isLess ? [a, b] : [b, a];
    const truth = e.fn === 'ge' || e.fn === 'le';
    const apart = [left.t - right.t, left.step - right.step, left.c - right.c].join(' ');
    const { width, down } = this.#asked;
    const [partner, none] = down ? [`-1 -1 ${width - 1}`, `1 1 ${-width}`] : ['1 -1 0', '-1 1 -1'];
    if (apart === partner) return this.#hasPartner === truth;
    if (apart === none) return this.#hasPartner !== truth;
    throw new Unknown();
  }
}

function isConstant(s: Sym, value: number): boolean {
  return s.kind === 'number' ? s.value === value : s.kind === 'linear' && s.t === 0 && s.step === 0 && s.c === value;
}
