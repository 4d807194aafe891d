/**
 * Warp lowering, for devices whose threads do not run in warps: exchanges go through shared memory, between two barriers.
 *
 * Each thread has a slot for its value and one that says whether it takes part, cleared again after each exchange; a thread
 * that has returned or stands elsewhere leaves its slot clear. A branch with an exchange in it that only some threads take
 * becomes a block that the others jump out of: return lowering then lets all threads pass the barriers in it, and only
 * those do something that are meant. A loop that threads leave at different times around an exchange cannot be said so.
 */
import type { Pos } from '../../source.ts';
import {
  add,
  and,
  assign,
  at,
  barrier,
  binary,
  bitcast,
  block,
  bool,
  breakTo,
  cast,
  eq,
  ge,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  ne,
  not,
  or,
  read,
  select,
  special,
  store,
  sub,
  u32,
} from '../builder.ts';
import type { ArraySym, ElemType, Expr, Kernel, MemRef, Stmt, ValueType, Var } from '../ops.ts';
import { WARP_SIZE } from '../warp.ts';
import { lowerReturns } from './returns.ts';
import { analyseUniformity, isFull, type Uniformity } from './uniformity.ts';
import { eachStmt, hasBarrier, mapLists, someStmt } from './walk.ts';

/** Threads of a block at most; each has its slots. */
const THREADS = 1024;
const SLOT = 8;

/** What a thread says of itself in an exchange. */
const ABSENT = 0;
const NO = 1;
const YES = 2;

/** An exchange in a place that this lowering cannot reach. */
export interface WarpProblem {
  readonly pos: Pos;
  /** The loop that threads leave at different times. */
  readonly reasonPos: Pos;
}

export interface WarpsLowered {
  /** Undefined when there are problems. */
  readonly kernel: Kernel | undefined;
  readonly problems: readonly WarpProblem[];
}

type Block = readonly [x: number, y: number, z: number];
type Exchange = Stmt & { op: 'warp' };

const isExchange = (s: Stmt): s is Exchange => s.op === 'warp';

/** Whether a kernel's threads exchange anything within warps. */
export function hasExchange(kernel: Kernel): boolean {
  return someStmt(kernel.body, isExchange);
}

/**
 * Replaces exchanges by stores, loads and barriers. Before return lowering. `warps`: the block, if the device has warps that can exchange as long as all their lanes do: exchanges to which whole warps
 * come are left to it.
 */
export function lowerWarps(kernel: Kernel, warps?: Block): WarpsLowered {
  if (!hasExchange(kernel)) return { kernel, problems: [] };
  const native = warps === undefined ? new Set<Stmt>() : exchangesOfWholeWarps(kernel, warps);
  if (!someStmt(kernel.body, (s) => isExchange(s) && !native.has(s))) return { kernel, problems: [] };
  const lowering = new WarpLowering(kernel, native);
  const body = lowering.body();
  const { problems } = lowering;
  return { kernel: problems.length > 0 ? undefined : body, problems };
}

/** The exchanges to which all lanes of a warp come, or none of them: nobody has returned or gone another way, and no thread stops where the others go on. */
function exchangesOfWholeWarps(kernel: Kernel, block: Block): ReadonlySet<Stmt> {
  const found = new Set<Stmt>();
  if ((block[0] * block[1] * block[2]) % WARP_SIZE !== 0) return found;
  // Where rows are no multiples of warps, only what is the same in the whole block is known.
  const inRows = block[0] % WARP_SIZE === 0;
  const uniformity = analyseUniformity(kernel, inRows ? { block, lanes: WARP_SIZE, warps: 'whole' } : { block });
  const isWhole = (s: Stmt & { op: 'warp' | 'return' }): boolean => {
    const parting = uniformity.parting(s);
    return parting === undefined || (inRows && parting.level === 'U');
  };
  if (someStmt(kernel.body, (s) => s.op === 'trap' || (s.op === 'return' && !isWhole(s)))) return found;
  eachStmt(kernel.body, (s) => {
    const named = isExchange(s) && (s.mask === undefined || isFull(s.mask));
    if (named && s.fn !== 'sync' && isWhole(s)) found.add(s);
  });
  return found;
}

class WarpLowering {
  readonly problems: WarpProblem[] = [];
  readonly #kernel: Kernel;
  readonly #b: KernelBuilder;
  readonly #uniformity: Uniformity;
  readonly #isLowered: (s: Stmt) => boolean;
  readonly #values: ArraySym;
  readonly #states: ArraySym;
  /** Whether some threads jump over barriers now. */
  #jumps = false;
  /** Linear in the block. */
  readonly #thread: Var;

  /** `native`: exchanges that stay. */
  constructor(kernel: Kernel, native: ReadonlySet<Stmt>) {
    this.#kernel = kernel;
    this.#isLowered = (s) => isExchange(s) && !native.has(s);
    this.#uniformity = analyseUniformity(kernel);
    this.#b = KernelBuilder.from(kernel);
    this.#values = this.#b.shared('i64', '%lanes', THREADS);
    this.#states = this.#b.shared('u8', '%states', THREADS);
    this.#thread = this.#b.variable('i32', '%thread');
  }

  body(): Kernel {
    const [x, y, z] = [special('threadIdx.x'), special('threadIdx.y'), special('threadIdx.z')];
    const linear = add(mul(add(mul(z, special('blockDim.y')), y), special('blockDim.x')), x);
    const body = this.#list(this.#kernel.body, undefined);
    const start = [assign(this.#thread, linear), this.#say(ABSENT, this.#kernel.pos)];
    const { arrays, vars } = this.#b;
    const lowered = { ...this.#kernel, arrays: [...arrays], vars: [...vars], body: [...start, ...body] };
    // Jumps over barriers are not what later passes expect.
    return this.#jumps ? lowerReturns(lowered).kernel : lowered;
  }

  /** `ragged`: the loop around, if threads leave it at different times. */
  #list(list: readonly Stmt[], ragged: Stmt | undefined): Stmt[] {
    return list.flatMap((s) => this.#statement(s, ragged));
  }

  #statement(s: Stmt, ragged: Stmt | undefined): readonly Stmt[] {
    if (!someStmt([s], this.#isLowered)) return [s];
    if (isExchange(s)) {
      if (ragged) this.problems.push({ pos: s.pos, reasonPos: ragged.pos });
      return this.#exchange(s);
    }
    if (s.op === 'if' && this.#uniformity.shape(s.cond) !== 'G') return this.#branch(s, ragged);
    const around = s.op === 'loop' && this.#uniformity.divergence(s) !== 'G' ? s : ragged;
    return [mapLists(s, (inner) => this.#list(inner, around))];
  }

  #branch(s: Stmt & { op: 'if' }, ragged: Stmt | undefined): readonly Stmt[] {
    const cond = this.#b.variable('bool', '%taken');
    const part = (list: readonly Stmt[], skip: Expr): readonly Stmt[] => {
      if (list.length === 0) return [];
      const inner = this.#list(list, ragged);
      if (!hasBarrier(inner)) return [ifElse(not(skip), inner, [], s.pos)];
      this.#jumps = true;
      const label = this.#b.label();
      return [block(label, [ifElse(skip, [breakTo(label, s.pos)], [], s.pos), ...inner], undefined, s.pos)];
    };
    return [assign(cond, s.cond, s.pos), ...part(s.then, not(read(cond))), ...part(s.else, read(cond))];
  }

  #exchange(s: Exchange): readonly Stmt[] {
    const { fn, pos } = s;
    if (fn === 'sync') return [barrier(pos)];
    const [value, by] = s.args;
    const bits = value && value.type !== 'bool' ? this.#keep(bitsOf(value), pos) : undefined;
    const mask = this.#keep(s.mask ?? u32(0xffffffff), pos);
    const saying = value?.type === 'bool' ? select(value, i32(YES), i32(NO)) : i32(YES);
    const result = s.result === undefined ? [] : this.#result(s, read(mask.var), bits?.var, by);
    return [
      ...(bits ? [bits.stmt, store(this.#slot(read(this.#thread), bits.var.type), read(bits.var), pos)] : []),
      mask.stmt,
      store(this.#state(read(this.#thread)), saying, pos),
      barrier(pos),
      ...result,
      barrier(pos),
      this.#say(ABSENT, pos),
    ];
  }

  #result(s: Exchange, mask: Expr, bits: Var | undefined, by: Expr | undefined): readonly Stmt[] {
    const { fn, result, pos } = s;
    if (!result) return [];
    if (fn.startsWith('shfl') && bits && by) return this.#shuffle(s, result, mask, bits, by);
    const present = this.#b.variable('u32', '%present');
    const chosen = this.#b.variable('u32', '%chosen');
    const lane = this.#b.variable('i32', '%lane');
    const label = this.#b.label();
    const other = add(this.#warpStart(), read(lane));
    const bit = binary('shl', u32(1), cast('u32', read(lane)));
    const said = load(this.#state(other));
    // `match` chooses lanes with the same bits, votes those that say yes; all others do not look.
    const same =
      fn.startsWith('match') && bits ? eq(load(this.#slot(other, bits.type)), read(bits)) : eq(said, i32(YES));
    const count = [
      ifElse(ne(said, i32(ABSENT)), [
        assign(present, or(read(present), bit), pos),
        ifElse(same, [assign(chosen, or(read(chosen), bit), pos)], [], pos),
      ]),
    ];
    const named = and(isNamed(mask, read(lane)), lt(other, blockThreads()));
    return [
      assign(present, u32(0), pos),
      assign(chosen, u32(0), pos),
      assign(lane, i32(0), pos),
      loop(
        label,
        [ifElse(ge(read(lane), i32(WARP_SIZE)), [breakTo(label, pos)], [], pos), ifElse(named, count, [], pos)],
        [assign(lane, add(read(lane), i32(1)), pos)],
        pos,
      ),
      assign(result, answer(fn, read(chosen), read(present)), pos),
    ];
  }

  #shuffle(s: Exchange, result: Var, mask: Expr, bits: Var, by: Expr): readonly Stmt[] {
    const { fn, pos } = s;
    const lane = and(read(this.#thread), i32(WARP_SIZE - 1));
    const step = and(by, i32(WARP_SIZE - 1));
    const from = this.#keep(
      fn === 'shfl'
        ? step
        : fn === 'shflXor'
          ? binary('xor', lane, step)
          : fn === 'shflUp'
            ? sub(lane, step)
            : add(lane, step),
      pos,
    );
    const there = add(this.#warpStart(), read(from.var));
    const inWarp = and(ge(read(from.var), i32(0)), lt(read(from.var), i32(WARP_SIZE)));
    const inside = isFull(s.mask) ? inWarp : and(inWarp, isNamed(mask, read(from.var)));
    const value = this.#b.variable(bits.type, '%given');
    const fetch = ifElse(
      and(inside, lt(there, blockThreads())),
      [
        ifElse(
          ne(load(this.#state(there)), i32(ABSENT)),
          [assign(value, load(this.#slot(there, bits.type)), pos)],
          [],
          pos,
        ),
      ],
      [],
      pos,
    );
    return [
      from.stmt,
      assign(value, read(bits), pos),
      fetch,
      assign(result, result.type === bits.type ? read(value) : bitcast(result.type, read(value)), pos),
    ];
  }

  #keep(value: Expr, pos: Pos): { readonly var: Var; readonly stmt: Stmt } {
    const v = this.#b.variable(value.type, '%lane');
    return { var: v, stmt: assign(v, value, pos) };
  }

  #say(state: number, pos: Pos): Stmt {
    return store(this.#state(read(this.#thread)), i32(state), pos);
  }

  #warpStart(): Expr {
    return and(read(this.#thread), i32(-WARP_SIZE));
  }

  #index(thread: Expr): Expr {
    return this.#kernel.indexBits === 64 ? cast('i64', thread) : thread;
  }

  #slot(thread: Expr, elem: ElemType): MemRef {
    return { ...at(this.#values, this.#index(thread)), elem, scale: SLOT };
  }

  #state(thread: Expr): MemRef {
    return at(this.#states, this.#index(thread));
  }
}

function blockThreads(): Expr {
  return mul(mul(special('blockDim.x'), special('blockDim.y')), special('blockDim.z'));
}

/** Whether a mask names a lane. */
function isNamed(mask: Expr, lane: Expr): Expr {
  return ne(and(binary('shr', mask, cast('u32', lane)), u32(1)), u32(0));
}

/** A value as an integer of its width: slots are compared by their bits. */
function bitsOf(value: Expr): Expr {
  const type: Partial<Record<ValueType, ValueType>> = { f32: 'i32', u32: 'i32', f64: 'i64', u64: 'i64' };
  const bits = type[value.type];
  return bits === undefined ? value : bitcast(bits, value);
}

/** `chosen`: the lanes that say yes, or hold the same bits; `present`: those that take part. */
function answer(fn: Exchange['fn'], chosen: Expr, present: Expr): Expr {
  switch (fn) {
    case 'all':
      return eq(chosen, present);
    case 'any':
      return ne(chosen, u32(0));
    case 'eq':
      return or(eq(chosen, present), eq(chosen, u32(0)));
    case 'ballot':
    case 'matchAny':
      return chosen;
    case 'matchAll':
      return select(eq(chosen, present), present, u32(0));
    case 'activeMask':
      return present;
    default:
      return bool(false);
  }
}
