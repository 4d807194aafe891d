/**
 * Prefix sums, maxima and the like of a block, recognised as wholes however they are written: by Blelloch (up and down a tree), Brent and Kung,
 * Sklansky; with places left out against conflicts of banks; with what is before an element, or that and the element.
 *
 * What the threads do between barriers is run once on symbols (`lockstep.ts`). Where each element ends up as what a pass over all of them would leave
 * there, and the order of the operations cannot be told from the result, one thread makes that pass (`scan-rows.ts`). Sums by Hillis and Steele
 * whose rounds go on beyond the array are those of `prefix-ladders.ts`.
 */
import * as ir from '../../ir/builder.ts';
import type { ArraySym, BinaryOp, Expr, Kernel, Label, MemRef, Stmt, ValueType, Var } from '../../ir/ops.ts';
import { runAnalysing } from '../../ir/passes/pipeline.ts';
import {
  assignedIn,
  eachExpr,
  hasBarrier,
  hasReturn,
  mapLists,
  someExpr,
  someStmt,
  stmtLists,
  written,
} from '../../ir/passes/walk.ts';
import { isJoin, Lockstep, NONE, neutralOf, type Value } from './lockstep.ts';
import { lineOf, Unknown } from './lockstep-numbers.ts';
import type { Ladders, Scan } from './prefix-ladders.ts';
import { treeOf, treePass } from './tree-scans.ts';

/** Where elements are. */
type Places = Pick<Scan, 'first' | 'count' | 'run' | 'gap'>;

/** The number of elements from which on a pass pays. */
const FEWEST = 8;
/** How often less is tried of what may be a scan. */
const MOST_TRIES = 4;
/** What all threads of a block may do in it: choose a way, load, store. */
const BUDGET = 100_000;

export function recogniseBlockScans(kernel: Kernel, block: readonly [number, number, number]): Ladders {
  if (!hasBarrier(kernel.body)) return { kernel, scans: new Map() };
  return runAnalysing('recognise scans', kernel, (k) => recognise(k, block));
}

function recognise(kernel: Kernel, block: readonly [number, number, number]): Ladders {
  const scans = new Map<Label, Scan>();
  const [width] = block;
  if (block[1] * block[2] !== 1 || width < 4 || width > 1024 || hasReturn(kernel.body)) return { kernel, scans };
  let joins = false;
  eachExpr(kernel.body, (e) => {
    joins ||= e.op === 'binary' && isJoin(e.fn, e.type) && [e.a, e.b].some(isElement);
  });
  return joins ? replaceScans(kernel, width, scans) : { kernel, scans };
}

const isElement = (e: Expr): boolean => e.op === 'load' && isPlain(e.mem.array);

function replaceScans(kernel: Kernel, width: number, scans: Map<Label, Scan>): Ladders {
  const builder = ir.KernelBuilder.from(kernel);
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    if (!list.some((s) => hasBarrier([s]))) return list;
    const found = replaceIn(list);
    if (found !== list) return found;
    let changed = false;
    const out = list.map((s) => {
      const inner = mapLists(s, inList);
      changed ||= inner !== s;
      return inner;
    });
    return changed ? out : list;
  };
  const replaceIn = (list: readonly Stmt[]): readonly Stmt[] => {
    for (const [from, to, array] of stretchesOf(list)) {
      const [size, another] = valuesIn(list.slice(from, to), kernel);
      // Where there are two, nobody knows what both are.
      if (another !== undefined) continue;
      for (const guess of size === undefined ? [undefined] : [2 * width, width]) {
        const guessed = size === undefined || guess === undefined ? undefined : { param: size, value: guess };
        let part: readonly [number, number] | undefined = [from, to];
        for (let tries = 0; tries < MOST_TRIES && part !== undefined; tries++) {
          const segment = new Segment(kernel, list, part, array, { width, guessed });
          const scan = segment.scan(builder, scans);
          if (scan !== undefined) return [...list.slice(0, part[0]), ...scan, ...inList(list.slice(part[1]))];
          part = segment.rest();
        }
      }
    }
    return list;
  };
  const body = inList(kernel.body);
  if (body === kernel.body) return { kernel, scans };
  return { kernel: { ...kernel, arrays: [...builder.arrays], vars: [...builder.vars], body }, scans };
}

/** The integers among a kernel's arguments that statements read. */
function valuesIn(list: readonly Stmt[], { params }: Kernel): readonly number[] {
  const found = new Set<number>();
  eachExpr(list, (e) => {
    if (e.op === 'param' && e.type === 'i32' && params[e.param]?.origin.kind === 'value') found.add(e.param);
  });
  return [...found];
}

/** Arrays whose elements are what vectors hold. */
function isPlain({ space, dynamic, elem }: ArraySym): boolean {
  return space === 'shared' && dynamic !== true && (elem === 'i32' || elem === 'u32' || elem === 'f32');
}

/** Statements that may be a scan of an array: some barriers, in front of which nothing is done but with that array. */
function stretchesOf(list: readonly Stmt[]): (readonly [from: number, to: number, array: ArraySym])[] {
  const found: [number, number, ArraySym][] = [];
  let from = 0;
  const facts = list.map(factsOf);
  const end = (to: number): void => {
    let [first, last] = [from, to];
    while (first < last && !facts[first]?.works) first++;
    // What only loads at the end may do so behind the pass.
    while (last > first && !facts[last - 1]?.changes) last--;
    const part = facts.slice(first, last);
    const [array] = part.flatMap((f) => (f?.array === undefined ? [] : [f.array]));
    const barriers = part.reduce((sum, f) => sum + (f?.barriers ?? 0), 0);
    // Up a tree and down again.
    const climbs = part.filter((f) => f?.adds && f.barriers > 1).length > 1;
    if (array !== undefined && barriers > 1 && (climbs || part.some((f) => f?.joins))) found.push([first, last, array]);
    from = to;
  };
  let array: ArraySym | undefined;
  for (const [k, f] of facts.entries()) {
    if (f === undefined || (array !== undefined && f.array !== undefined && f.array !== array)) {
      end(k);
      array = undefined;
      if (f === undefined) from = k + 1;
    }
    array = f?.array ?? array;
  }
  end(list.length);
  return found;
}

interface Facts {
  /** The shared array that is loaded or stored to. */
  readonly array: ArraySym | undefined;
  readonly barriers: number;
  /** Whether it loads from the array, or stores to it. */
  readonly works: boolean;
  /** Whether it stores anything, or has barriers of its own. */
  readonly changes: boolean;
  /** Whether elements are combined with others, so that their order cannot be told. */
  readonly joins: boolean;
  /** Whether they are combined so that it can. */
  readonly adds: boolean;
}

/** Undefined of what no scan does. */
function factsOf(s: Stmt): Facts | undefined {
  let array: ArraySym | undefined;
  let [barriers, joins, adds, fits, changes] = [0, false, false, true, s.op === 'loop'];
  const meet = (mem: MemRef): void => {
    fits &&= isPlain(mem.array) && (array ?? mem.array) === mem.array;
    array = mem.array;
  };
  const visitExpr = (e: Expr): void => {
    if (e.op === 'load') meet(e.mem);
    else if (e.op === 'call' || e.op === 'intrinsic' || e.op === 'native') fits = false;
    else if (e.op === 'binary' && array !== undefined && e.type === array.elem) {
      joins ||= neutralOf(e.fn, e.type) !== undefined;
      adds ||= isJoin(e.fn, e.type);
    }
  };
  const visit = (x: Stmt, inLoop: number): void => {
    if (x.op === 'barrier') barriers += inLoop > 0 ? 2 : 1;
    else if (x.op === 'store') {
      changes = true;
      if (x.mem.array.space !== 'global') meet(x.mem);
    } else if (!PLAIN.has(x.op)) fits = false;
    for (const inner of stmtLists(x)) for (const y of inner) visit(y, inLoop + Number(x.op === 'loop'));
  };
  visit(s, 0);
  if (fits) eachExpr([s], visitExpr);
  return fits
    ? { array, barriers, works: array !== undefined, changes: changes && array !== undefined, joins, adds }
    : undefined;
}

const PLAIN: ReadonlySet<Stmt['op']> = new Set(['assign', 'if', 'loop', 'block', 'break', 'continue']);

/** Which elements are joined in a node: those from `lo` on, up to `hi`, by their order among all that are touched. */
interface Span {
  readonly lo: number;
  readonly hi: number;
}

interface Where {
  readonly width: number;
  /** A parameter that is taken for the number of elements. */
  readonly guessed: { readonly param: number; readonly value: number } | undefined;
}

/** Statements of a list, which may be a scan. */
class Segment {
  readonly #kernel: Kernel;
  readonly #list: readonly Stmt[];
  readonly #work: readonly Stmt[];
  readonly #from: number;
  readonly #to: number;
  /** The statement that is not understood. */
  #stop: number | undefined;
  readonly #array: ArraySym;
  readonly #width: number;
  readonly #guessed: Where['guessed'];

  constructor(
    kernel: Kernel,
    list: readonly Stmt[],
    [from, to]: readonly [number, number],
    array: ArraySym,
    { width, guessed }: Where,
  ) {
    this.#kernel = kernel;
    this.#list = list;
    this.#work = list.slice(from, to);
    this.#from = from;
    this.#to = to;
    this.#array = array;
    this.#width = width;
    this.#guessed = guessed;
  }

  /** The statements instead of it. */
  scan(builder: ir.KernelBuilder, scans: Map<Label, Scan>): readonly Stmt[] | undefined {
    try {
      const guessed = this.#guessed;
      const params = new Map(guessed === undefined ? [] : [[guessed.param, guessed.value]]);
      const steps = new Lockstep(this.#array, this.#width, params, BUDGET);
      for (const s of this.#list.slice(0, this.#from)) {
        if (s.op === 'assign') steps.note(s);
        else for (const id of assignedIn([s])) steps.forget(id);
      }
      for (const [k, s] of this.#work.entries()) {
        this.#stop = this.#from + k;
        steps.run([s]);
      }
      this.#stop = undefined;
      const pass = this.#passOver(steps, builder, scans);
      if (pass === undefined || guessed === undefined) return pass;
      const isSo = ir.eq(ir.param('i32', guessed.param), ir.i32(guessed.value));
      return [ir.ifElse(isSo, pass, this.#work, this.#work[0]?.pos)];
    } catch (error) {
      if (error instanceof Unknown) return undefined;
      throw error;
    }
  }

  /** What is left to be tried: what is in front of a statement that is not understood, or behind it. */
  rest(): readonly [number, number] | undefined {
    const [from, to, stop] = [this.#from, this.#to, this.#stop];
    if (stop === undefined) {
      const work = this.#list.slice(from, to);
      const end = work.findLastIndex((s) => s.op !== 'barrier');
      const last = work.slice(0, Math.max(end, 0)).findLastIndex((s) => s.op === 'barrier');
      return last > 0 ? [from, from + last] : undefined;
    }
    return hasBarrier(this.#list.slice(from, stop)) ? [from, stop] : [stop + 1, to];
  }

  #passOver(steps: Lockstep, builder: ir.KernelBuilder, scans: Map<Label, Scan>): readonly Stmt[] | undefined {
    const { fn } = steps;
    const array = this.#array;
    const type = array.elem as ValueType;
    if (fn === undefined) return undefined;
    const touched = Array.from(steps.touched.keys()).filter((place) => steps.touched[place] === 1);
    const neutral = neutralOf(fn, type);
    if (neutral === undefined) return this.#upAndDown(steps, touched, builder);
    const needed = this.#needed(steps, touched);
    const count = needed.length;
    const places = placesOf(needed);
    if (count < FEWEST || places === undefined) return undefined;
    const sources = needed === touched ? touched : leavesOf(steps, needed);
    let spans: (Span | undefined)[] = [];
    const spanOf = (node: number): Span | undefined => {
      const value = steps.constantOf(node);
      if (value !== undefined) return value === neutral ? { lo: 0, hi: 0 } : undefined;
      return spans[node];
    };
    /** How far the elements that are joined lie behind those that they become. */
    let source = 0;
    const form = FORMS.find(({ down, exclusive }) => {
      const end = down ? -1 : 0;
      source = (sources.at(end) ?? 0) - (needed.at(end) as number);
      const from = needed.map((place) => place + source);
      const isApart = source === 0 || Math.abs(source) > (needed.at(-1) as number) - (needed[0] as number);
      if (!isApart || from.some((place) => place < 0 || place >= steps.memory.length)) return false;
      spans = spansOf(steps, from, fn);
      return needed.every((place, k) => {
        const span = spanOf(steps.memory[place] as number);
        if (span === undefined) return false;
        const wanted = down ? { lo: k + Number(exclusive), hi: count } : { lo: 0, hi: k + Number(!exclusive) };
        return wanted.lo === wanted.hi ? span.lo === span.hi : span.lo === wanted.lo && span.hi === wanted.hi;
      });
    });
    if (form === undefined) return undefined;
    const { down, exclusive } = form;
    let total: ArraySym | undefined;
    /** The place of the element that holds a node in the end; -1: that of all together. */
    const holderOf = (node: number): number => {
      const span = spanOf(node);
      const empty = span !== undefined && span.lo === span.hi;
      if (span === undefined || (empty ? !exclusive : down ? span.hi !== count : span.lo !== 0)) throw new Unknown();
      const rank = down ? (empty ? count : span.lo) - Number(exclusive) : span.hi - Number(!exclusive);
      return rank < 0 || rank >= count ? -1 : (needed[rank] as number);
    };
    const held = (place: number): Expr => {
      if (place >= 0) return ir.load(this.#at(array, ir.i32(place)));
      total ??= builder.shared(array.elem, '%total', 1);
      return ir.load(this.#at(total, ir.i32(0)));
    };
    const behind = this.#behind(steps, holderOf, held);
    if (behind === undefined) return undefined;
    const label = builder.label();
    const [k, sum, own] = [
      builder.variable('i32', '%scan'),
      builder.variable(type, '%sum'),
      builder.variable(type, '%own'),
    ];
    const scan: Scan = { ...places, source, array, fn, down, exclusive, total };
    scans.set(label, scan);
    const pass = passOf(scan, { kernel: this.#kernel, label, k, sum, own, neutral }, this.#work[0]?.pos);
    return [...pass, ...behind];
  }

  /** A tree by fours instead of one by twos. */
  #upAndDown(steps: Lockstep, touched: readonly number[], builder: ir.KernelBuilder): readonly Stmt[] | undefined {
    const array = this.#array;
    const type = array.elem as ValueType;
    const tree = treeOf(steps, touched);
    const places = placesOf(touched);
    if (tree === undefined || places === undefined || tree.count > 4 * this.#width) return undefined;
    const { first, run, gap } = places;
    if (gap > 0 && run % 4 !== 0) return undefined;
    const t = ir.special('threadIdx.x');
    const skipped = ir.mul(ir.binary('div', t, ir.i32(run / 4)), ir.i32(gap));
    const four = gap > 0 ? ir.add(ir.mul(t, ir.i32(4)), skipped) : ir.mul(t, ir.i32(4));
    const member = (k: number): MemRef => this.#at(array, ir.add(four, ir.i32(first + k)));
    const { statements, total } = treePass(builder, tree, type, member, (length) => {
      const sums = builder.shared(array.elem, '%sums', length);
      return (rank) => this.#at(sums, rank);
    });
    const holders = new Map(touched.map((place) => [steps.memory[place] as number, place]));
    const holderOf = (node: number): number => {
      const holder = node === tree.total ? -1 : holders.get(node);
      if (holder === undefined) throw new Unknown();
      return holder;
    };
    const held = (place: number): Expr => ir.load(place < 0 ? total : this.#at(array, ir.i32(place)));
    const behind = this.#behind(steps, holderOf, held);
    return behind && [...statements, ...behind];
  }

  /** What threads store elsewhere, and what variables hold that are read later. */
  #behind(
    steps: Lockstep,
    holderOf: (node: number) => number,
    held: (place: number) => Expr,
  ): readonly Stmt[] | undefined {
    const behind: Stmt[] = [];
    const assigned = assignedIn(this.#work);
    for (const { thread, store, node } of steps.effects) {
      const { mem, pos } = store;
      const own = [mem.index, ...mem.checks.flatMap((c) => [c.index, c.extent])];
      const varies = (e: Expr): boolean => e.op === 'load' || (e.op === 'var' && assigned.has(e.var.id));
      if (own.some((e) => someExpr(e, varies))) return undefined;
      const value = held(holderOf(node));
      const isThread = ir.eq(ir.special('threadIdx.x'), ir.i32(thread));
      behind.push(ir.ifElse(isThread, [ir.store(mem, value, pos)], [], pos));
    }
    for (const id of assigned) {
      const v = this.#kernel.vars.find((other) => other.id === id);
      if (v === undefined) return undefined;
      if (this.#isReadOutside(v)) behind.push(this.#keep(v, steps.valueOf(id), holderOf, held));
    }
    return behind;
  }

  /** Those elements that are touched and loaded once more, as far as that is known. */
  #needed(steps: Lockstep, touched: readonly number[]): readonly number[] {
    if (this.#list !== this.#kernel.body) return touched;
    const behind = this.#list.slice(this.#to);
    const later = assignedIn(behind);
    const needed = new Set<number>();
    let known = !someStmt(behind, (s) => s.op !== 'store' && written(s)?.array === this.#array);
    eachExpr(behind, (e) => {
      if (e.op === 'address') known = false;
      if (e.op !== 'load' || e.mem.array !== this.#array || !known) return;
      known = !someExpr(e.mem.index, (x) => x.op === 'var' && later.has(x.var.id));
      const places = known ? steps.placesOf(e.mem) : undefined;
      for (const place of places ?? []) needed.add(place);
      known = places !== undefined;
    });
    return known && touched.some((place) => !needed.has(place))
      ? touched.filter((place) => needed.has(place))
      : touched;
  }

  /** Gives a variable what it holds in the end. */
  #keep(v: Var, value: Value | undefined, holderOf: (node: number) => number, held: (place: number) => Expr): Stmt {
    const line = value === undefined || value instanceof Int32Array ? undefined : lineOf(value);
    const t = ir.special('threadIdx.x');
    if (line?.step === 0) return ir.assign(v, ir.constant(v.type, line.first));
    if (line !== undefined && v.type === 'i32')
      return ir.assign(v, ir.add(ir.mul(t, ir.i32(line.step)), ir.i32(line.first)));
    if (!(value instanceof Int32Array)) throw new Unknown();
    if (v.type !== this.#array.elem || value.includes(NONE)) throw new Unknown();
    const [first = 0, second = 0] = Array.from(value.subarray(0, 2), holderOf);
    const step = second - first;
    if (value.some((node, t) => holderOf(node) !== first + t * step)) throw new Unknown();
    if (step === 0) return ir.assign(v, held(first));
    if (first < 0 || first + (this.#width - 1) * step < 0) throw new Unknown();
    const place = ir.add(ir.mul(t, ir.i32(step)), ir.i32(first));
    return ir.assign(v, ir.load(this.#at(this.#array, place)));
  }

  #at(array: ArraySym, place: Expr): MemRef {
    return elementAt(array, place, this.#kernel);
  }

  #isReadOutside(v: Var): boolean {
    const reads = (list: readonly Stmt[]): number => {
      let count = 0;
      eachExpr(list, (e) => {
        if (e.op === 'var' && e.var.id === v.id) count++;
      });
      return count;
    };
    return reads(this.#kernel.body) !== reads(this.#work);
  }
}

const FORMS = [false, true].flatMap((down) => [false, true].map((exclusive) => ({ down, exclusive })));

/** The elements that are joined in others. */
function leavesOf({ left, right, memory }: Lockstep, places: readonly number[]): readonly number[] {
  const met = new Set<number>();
  const meet = (node: number): void => {
    if (node < 0 || met.has(node)) return;
    met.add(node);
    if (node < memory.length) return;
    meet(left[node - memory.length] as number);
    meet(right[node - memory.length] as number);
  };
  for (const place of places) meet(memory[place] as number);
  return [...met].filter((node) => node < memory.length).sort((a, b) => a - b);
}

/** What is joined in nodes; undefined of those that are not neighbours, or joined more often than once where that matters. */
function spansOf(steps: Lockstep, touched: readonly number[], fn: BinaryOp): (Span | undefined)[] {
  const { left, right, memory } = steps;
  const spans: (Span | undefined)[] = new Array(memory.length + left.length);
  for (const [k, place] of touched.entries()) spans[place] = { lo: k, hi: k + 1 };
  const twice = fn === 'min' || fn === 'max' || fn === 'and' || fn === 'or';
  for (const [k, l] of left.entries()) {
    const [a, b] = [spans[l], spans[right[k] as number]];
    if (a === undefined || b === undefined) continue;
    const [low, high] = a.lo <= b.lo ? [a, b] : [b, a];
    if (low.hi !== high.lo && !(twice && low.hi > high.lo)) continue;
    spans[memory.length + k] = { lo: low.lo, hi: Math.max(low.hi, high.hi) };
  }
  return spans;
}

/** Where so many elements are, if that can be said in short. */
function placesOf(touched: readonly number[]): Places | undefined {
  const [first = 0] = touched;
  const count = touched.length;
  const skip = touched.findIndex((place, k) => place !== first + k);
  if (skip < 0) return { first, count, run: count, gap: 0 };
  const gap = (touched[skip] as number) - first - skip;
  const fits = touched.every((place, k) => place === first + k + Math.floor(k / skip) * gap);
  return fits ? { first, count, run: skip, gap } : undefined;
}

/** An element at a place of 32 bits. */
function elementAt(array: ArraySym, place: Expr, { indexBits }: Kernel, pos: Stmt['pos'] = ir.NOWHERE): MemRef {
  return ir.at(array, indexBits === 64 ? ir.cast('i64', place) : place, { pos });
}

interface Names {
  readonly kernel: Kernel;
  readonly label: Label;
  readonly k: Var;
  readonly sum: Var;
  readonly own: Var;
  readonly neutral: number;
}

/** The pass, and what comes behind it. */
function passOf(
  scan: Scan,
  { kernel, label, k, sum, own, neutral }: Names,
  pos: Stmt['pos'] = ir.NOWHERE,
): readonly Stmt[] {
  const { array, fn, first, count, run, gap, source, down, exclusive, total } = scan;
  const rank = down ? ir.sub(ir.i32(count - 1), ir.read(k)) : ir.read(k);
  const dense = ir.add(rank, ir.i32(first));
  const place = gap === 0 ? dense : ir.add(dense, ir.mul(ir.binary('div', rank, ir.i32(run)), ir.i32(gap)));
  const element = elementAt(array, place, kernel, pos);
  const from = source === 0 ? element : elementAt(array, ir.add(place, ir.i32(source)), kernel, pos);
  const take = ir.assign(own, ir.load(from), pos);
  const next = ir.assign(sum, ir.binary(fn, ir.read(sum), ir.read(own)), pos);
  const put = ir.store(element, ir.read(sum), pos);
  const leave = ir.ifElse(ir.ge(ir.read(k), ir.i32(count)), [ir.breakTo(label, pos)], [], pos);
  const round = exclusive ? [take, put, next] : [take, next, put];
  return [
    ir.barrier(pos),
    ir.ifElse(
      ir.eq(ir.special('threadIdx.x'), ir.i32(0)),
      [
        ir.assign(k, ir.i32(0), pos),
        ir.assign(sum, ir.constant(sum.type, neutral), pos),
        ir.loop(label, [leave, ...round], [ir.assign(k, ir.add(ir.read(k), ir.i32(1)), pos)], pos),
        ...(total === undefined ? [] : [ir.store(elementAt(total, ir.i32(0), kernel, pos), ir.read(sum), pos)]),
      ],
      [],
      pos,
    ),
    ir.barrier(pos),
  ];
}
