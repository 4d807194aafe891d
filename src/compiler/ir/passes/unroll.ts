/**
 * Unrolling of short loops whose number of rounds is known: a tile's inner loop, the taps of a filter.
 *
 * Indices then are constants that end up in the addresses of loads, checks on them vanish, and independent work of several
 * rounds overlaps. Only small, straight bodies are copied, as code costs time to compile.
 */

import { KernelBuilder } from '../builder.ts';
import { type Loop, testedLoop } from '../loops.ts';
import type { ArraySym, BinaryOp, Expr, Kernel, Label, Stmt, Var } from '../ops.ts';
import { foldExpr, foldNode } from './fold.ts';
import { renamed } from './rename.ts';
import { anew, copyAt, copyOf, countRounds, isRead, nodesIn, ownVariables } from './round-copies.ts';
import { unrollableArrays } from './scalars.ts';
import { inGroups, MOST_COUNTED, severalRounds } from './several-rounds.ts';
import {
  assignedIn,
  eachExpr,
  eachStmt,
  jumpsTo,
  mapExpr,
  mapLists,
  someExpr,
  someStmt,
  stmtExprs,
  written,
} from './walk.ts';

/** What is unrolled. */
export interface UnrollOptions {
  /** At most this many rounds, and this many expression nodes in all copies together. */
  readonly rounds: number;
  readonly nodes: number;
  /** The same of loops of up to four rounds, such as those over the channels of a pixel, where it is more. */
  readonly fewNodes?: number | undefined;
  /** At most this many loads in all copies together, where all are from memory of known extents. */
  readonly plainLoads: number;
  /** Whether bodies may have barriers in them. */
  readonly barriers: boolean;
  /** Whether loops over the elements of small local arrays are unrolled beyond these limits, so that the elements can be variables. */
  readonly elements: boolean;
  /** How many rounds of a loop that is too long for that are made one; 1 for none. */
  readonly factor: number;
  /** Whether loops whose inner loops' rounds follow from their counter are written out together with these. */
  readonly nests: boolean;
  /** At most this many expression nodes in all copies of the stages of a transform (see `isStages`); 0 where those stay a loop. */
  readonly stages: number;
}

/**
 * For the CPU device. Loads from memory of known extents need no checks in a loop either, and V8 begins a stretch of straight
 * code with most of its loads: what does not fit into registers goes to the stack and back.
 */
const DEFAULTS: UnrollOptions = {
  rounds: 32,
  nodes: 480,
  fewNodes: 900,
  plainLoads: 12,
  barriers: false,
  elements: true,
  factor: 1,
  nests: false,
  stages: 2400,
};

/**
 * Before regions are formed; `simplify` afterwards puts the constants in their places. The same kernel when nothing changes. Loops with labels in
 * `stay` are left alone.
 */
export function unroll(
  kernel: Kernel,
  options: UnrollOptions = DEFAULTS,
  stay: ReadonlySet<Label> = new Set(),
): Kernel {
  const named = options.elements ? unrollableArrays(kernel) : new Set<ArraySym>();
  const b = KernelBuilder.from(kernel);
  const own = ownVariables(kernel);
  const body = unrollList(kernel.body, {
    ...options,
    stay,
    named,
    own: (loop) => new Map(own(loop).map((v) => [v.id, b.variable(v.type, v.name)])),
  });
  return body === kernel.body ? kernel : { ...kernel, vars: [...b.vars], body };
}

/** The limits for loops that name the elements of arrays. */
const MOST_ELEMENTS = 64;
const MOST_NAMING = 6000;

const FEW = 4;

interface Unrolling extends UnrollOptions {
  readonly stay: ReadonlySet<Label>;
  /** The arrays whose elements are to be named. */
  readonly named: ReadonlySet<ArraySym>;
  /** New variables for those that no round of a loop of the kernel leaves to others, by `Var.id`. */
  readonly own: (loop: Loop) => ReadonlyMap<number, Var>;
}

function unrollList(list: readonly Stmt[], options: Unrolling): readonly Stmt[] {
  const out: Stmt[] = [];
  let changed = false;
  for (const [k, s] of list.entries()) {
    const inner = mapLists(s, (inside) => unrollList(inside, options));
    const own = s.op === 'loop' ? { ...options, own: () => options.own(s) } : options;
    const copies =
      inner.op === 'loop' && !options.stay.has(inner.label)
        ? (copiesOf(inner, list[k - 1], own) ?? inGroups(inner, list, k, own))
        : undefined;
    if (copies === undefined) out.push(inner);
    else out.push(...copies);
    changed ||= copies !== undefined || inner !== s;
  }
  return changed ? out : list;
}

/** The rounds of a loop one after another, or undefined when it is to stay. `before` is the statement in front of it. */
function copiesOf(loop: Loop, before: Stmt | undefined, options: Unrolling): readonly Stmt[] | undefined {
  const tested = testedLoop(loop);
  const [step] = loop.update;
  if (
    tested === undefined ||
    before?.op !== 'assign' ||
    before.value.op !== 'const' ||
    loop.update.length !== 1 ||
    step?.op !== 'assign'
  )
    return undefined;
  const { exit, body } = tested;
  const counter = before.var;
  if (step.var !== counter) return undefined;
  if (options.nests && someStmt(body, (s) => s.op === 'loop'))
    return nestCopies({ loop, body, step, start: before.value, exit }, options);
  const stages = options.stages > 0 && isStages(body, step.value, counter);
  const straight = isStraight(body, loop.label, stages || options.barriers);
  if (!straight || assignedIn(body).has(counter.id)) return undefined;
  const naming = namesElements(body, counter, options.named);
  const rounds = countRounds(
    exit,
    step.value,
    counter,
    before.value,
    options.factor > 1 ? MOST_COUNTED : Math.max(options.rounds, naming ? MOST_ELEMENTS : 0),
  );
  if (rounds === undefined) return undefined;
  const { loads, global } = accessesIn(body);
  const nodes = rounds * nodesIn(body);
  const small = rounds <= options.rounds && nodes <= ((rounds <= FEW ? options.fewNodes : undefined) ?? options.nodes);
  if (naming && nodes <= MOST_NAMING) {
    // All copies are made, however large: nothing else lets the arrays go.
  } else if (stages && rounds <= options.rounds && nodes <= options.stages) {
    // Each copy has strides of its own.
  } else if (!small || (!global && rounds * loads > options.plainLoads)) {
    return severalRounds(loop, step, before.value, rounds, options);
  }
  const copies: Stmt[] = [];
  for (let k = 0; k < rounds; k++) {
    const round = body.map(copyOf);
    // What lanes of a variable lie apart by differs from stage to stage.
    copies.push(...(stages ? renamed(round, options.own(loop)) : round), copyOf(step));
  }
  return copies;
}

interface Nest {
  readonly loop: Loop;
  readonly body: readonly Stmt[];
  readonly step: Stmt & { op: 'assign' };
  readonly start: Expr;
  readonly exit: Expr;
}

/**
 * The rounds of a loop whose inner loops' rounds follow from its counter, as those of a sorting network or a transform: all of them written out, or
 * undefined where an inner loop would stay or the whole is too large.
 */
function nestCopies({ loop, body, step, start, exit }: Nest, options: Unrolling): readonly Stmt[] | undefined {
  const counter = step.var;
  const isOpen =
    jumpsTo(body, loop.label) || someStmt(body, (s) => s.op === 'block') || assignedIn(body).has(counter.id);
  const rounds = isOpen ? undefined : countRounds(exit, step.value, counter, start, options.rounds);
  if (rounds === undefined) return undefined;
  const out: Stmt[] = [];
  let value = start;
  let nodes = 0;
  for (let k = 0; k < rounds; k++) {
    const round = unrollList(
      body.map((s) => copyAt(s, counter, value, (e) => foldNode(anew(e)))),
      options,
    );
    nodes += nodesIn(round);
    if (nodes > options.nodes || someStmt(round, (s) => s.op === 'loop')) return undefined;
    value = foldExpr(mapExpr(step.value, (e) => (isRead(e, counter) ? value : e)));
    out.push(...round, { ...step, value });
  }
  return out;
}

/** Whether the counter goes into an index of one of the arrays, by way of other variables too. */
function namesElements(body: readonly Stmt[], counter: Var, named: ReadonlySet<ArraySym>): boolean {
  if (named.size === 0) return false;
  const derived = new Set([counter.id]);
  const isDerived = (e: Expr): boolean => someExpr(e, (x) => x.op === 'var' && derived.has(x.var.id));
  let found = false;
  eachStmt(body, (s) => {
    const mem = written(s);
    found ||= mem !== undefined && named.has(mem.array) && isDerived(mem.index);
    for (const e of stmtExprs(s))
      found ||= someExpr(e, (x) => x.op === 'load' && named.has(x.mem.array) && isDerived(x.mem.index));
    if (s.op === 'assign' && isDerived(s.value)) derived.add(s.var.id);
  });
  return found;
}

const DOUBLING: ReadonlySet<BinaryOp> = new Set<BinaryOp>(['shl', 'shr', 'mul', 'div', 'floordiv']);
const STRIDING: ReadonlySet<BinaryOp> = new Set<BinaryOp>(['and', 'mul', 'shl', 'shr', 'div', 'floordiv', 'rem']);

/**
 * Whether rounds between barriers are the stages of a transform: `for (half = 1; half < n; half <<= 1)` over butterflies that lie
 * `half` apart, or as much as another variable says that is doubled along with it. Where each thread's elements lie is known of each stage for itself.
 */
function isStages(body: readonly Stmt[], step: Expr, counter: Var): boolean {
  if (!isDoubled(step, counter) || !body.some((s) => s.op === 'barrier')) return false;
  const doubled = body.flatMap((s) => (s.op === 'assign' && isDoubled(s.value, s.var) ? [s.var] : []));
  const isStride = (e: Expr): boolean => [counter, ...doubled].some((v) => isRead(e, v));
  const steps = new Set(body.flatMap((s) => (s.op === 'assign' && isDoubled(s.value, s.var) ? [s.value] : [])));
  let strides = false;
  eachExpr(body, (e) => {
    strides ||=
      e.op === 'binary' && STRIDING.has(e.fn) && !steps.has(e) && (someExpr(e.a, isStride) || someExpr(e.b, isStride));
  });
  return strides;
}

/** Whether a step makes the variable twice or half as large, or the like. */
function isDoubled(step: Expr, v: Var): boolean {
  return step.op === 'binary' && DOUBLING.has(step.fn) && isRead(step.a, v) && step.b.op === 'const';
}

/** No jump within the loop, no label that copies would repeat, and no barrier unless those are wanted. */
function isStraight(body: readonly Stmt[], label: Label, barriers: boolean): boolean {
  return (
    !jumpsTo(body, label) &&
    !someStmt(body, (s) => s.op === 'loop' || s.op === 'block' || (!barriers && s.op === 'barrier'))
  );
}

/** How many loads there are, and whether any access is to memory whose extents only the launch knows. */
function accessesIn(body: readonly Stmt[]): { loads: number; global: boolean } {
  let [loads, global] = [0, false];
  eachStmt(body, (s) => {
    global ||= written(s)?.array.space === 'global';
  });
  eachExpr(body, (e) => {
    if (e.op !== 'load') return;
    loads++;
    global ||= e.mem.array.space === 'global';
  });
  return { loads, global };
}
