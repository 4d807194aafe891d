/**
 * What the 64 lanes of a wavefront give each other (`roc.dsPermute` and its like), made of shared memory and barriers of the block.
 *
 * Every device can run that, AMD's among them, and barriers must be reached uniformly on all: a kernel that compiles on one device
 * compiles on all. A thread that has returned takes no part: it says so at the start of the kernel and after each exchange.
 */
import {
  add,
  and,
  assign,
  at,
  atomic,
  barrier,
  binary,
  bitcast,
  cast,
  constant,
  eq,
  i32,
  ifElse,
  load,
  lt,
  mul,
  ne,
  read,
  special,
  store,
  sub,
} from '../ir/builder.ts';
import type { ArraySym, Expr, MemRef, Stmt, ValueType, Var } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Symbols } from './symbols.ts';

/** Lanes of a wavefront of AMD's GCN and CDNA. Numba's ROC target knows no other. */
export const WAVE_SIZE = 64;
/** Threads of a block at most; each has its slots. */
const THREADS = 1024;
const SLOT = 8;

/** Operands that may be read twice. */
export interface WaveOperands {
  readonly value: Expr;
  readonly lane: Expr;
  /** What a lane gets that asks one which takes no part; 0 without it, as AMD's hardware gives. */
  readonly otherwise: Expr | undefined;
}

const BITS: Partial<Record<ValueType, ValueType>> = { f32: 'i32', u32: 'i32', f64: 'i64', u64: 'i64' };

export class WaveLowering {
  readonly #symbols: Symbols;
  #thread: Var | undefined;
  #values: ArraySym | undefined;
  /** 1 where a thread takes part in the exchange that is going on. */
  #present: ArraySym | undefined;
  /** The lane, from 1, that sends to this one. */
  #senders: ArraySym | undefined;

  constructor(symbols: Symbols) {
    this.#symbols = symbols;
  }

  /** What stands at the start of the kernel. */
  start(): readonly Stmt[] {
    if (this.#thread === undefined) return [];
    const [x, y, z] = [special('threadIdx.x'), special('threadIdx.y'), special('threadIdx.z')];
    const linear = add(mul(add(mul(z, special('blockDim.y')), y), special('blockDim.x')), x);
    const marks = [this.#present, this.#senders].filter((array) => array !== undefined);
    return [assign(this.#thread, linear), ...marks.map((array) => store(this.#mark(array, this.#own), i32(0)))];
  }

  /** Each lane gets the value of lane `lane % 64`. AMD's `ds_bpermute_b32`. */
  pull({ value, lane, otherwise }: WaveOperands, result: Var, pos: Pos): readonly Stmt[] {
    this.#present ??= this.#symbols.shared('%present', 'i32', THREADS);
    const mark = this.#mark(this.#present, this.#own);
    const from = this.#symbols.fresh('%from', 'i32');
    const there = ne(load(this.#mark(this.#present, read(from))), i32(0));
    return [
      this.#give(value, pos),
      store(mark, i32(1), pos),
      barrier(pos),
      assign(from, this.#laneThread(lane), pos),
      assign(result, otherwise ?? constant(result.type, 0), pos),
      ifElse(lt(read(from), blockThreads()), [ifElse(there, [this.#take(result, read(from), pos)], [], pos)], [], pos),
      barrier(pos),
      store(mark, i32(0), pos),
    ];
  }

  /** Each lane's value goes to lane `lane % 64`; the highest of those that send to one wins, 0 where none does. AMD's `ds_permute_b32`. */
  push({ value, lane }: WaveOperands, result: Var, pos: Pos): readonly Stmt[] {
    this.#senders ??= this.#symbols.shared('%senders', 'i32', THREADS);
    const to = this.#symbols.fresh('%to', 'i32');
    const sender = this.#symbols.fresh('%sender', 'i32');
    const mark = this.#mark(this.#senders, this.#own);
    const ownLane = and(this.#own, i32(WAVE_SIZE - 1));
    const send = atomic('max', this.#mark(this.#senders, read(to)), [add(ownLane, i32(1))], undefined, pos);
    const taken = this.#take(result, add(this.#waveStart(), sub(read(sender), i32(1))), pos);
    return [
      this.#give(value, pos),
      assign(to, this.#laneThread(lane), pos),
      barrier(pos),
      ifElse(lt(read(to), blockThreads()), [send], [], pos),
      barrier(pos),
      assign(sender, load(mark), pos),
      assign(result, constant(result.type, 0), pos),
      ifElse(eq(read(sender), i32(0)), [], [taken], pos),
      store(mark, i32(0), pos),
      barrier(pos),
    ];
  }

  #give(value: Expr, pos: Pos): Stmt {
    const bits = BITS[value.type];
    const given = bits === undefined ? value : bitcast(bits, value);
    return store(this.#slot(this.#own, given.type), given, pos);
  }

  #take(result: Var, thread: Expr, pos: Pos): Stmt {
    const bits = BITS[result.type];
    const given = load(this.#slot(thread, bits ?? result.type));
    return assign(result, bits === undefined ? given : bitcast(result.type, given), pos);
  }

  get #own(): Expr {
    this.#thread ??= this.#symbols.fresh('%thread', 'i32');
    return read(this.#thread);
  }

  #waveStart(): Expr {
    return and(this.#own, i32(-WAVE_SIZE));
  }

  /** The thread that is lane `lane` of this wavefront. */
  #laneThread(lane: Expr): Expr {
    return binary('or', this.#waveStart(), and(lane, i32(WAVE_SIZE - 1)));
  }

  #index(thread: Expr): Expr {
    return this.#symbols.indexBits === 64 ? cast('i64', thread) : thread;
  }

  #slot(thread: Expr, type: ValueType): MemRef {
    this.#values ??= this.#symbols.shared('%lanes', 'i64', THREADS);
    return { ...at(this.#values, this.#index(thread)), elem: type, scale: SLOT };
  }

  #mark(array: ArraySym, thread: Expr): MemRef {
    return at(array, this.#index(thread));
  }
}

function blockThreads(): Expr {
  return mul(mul(special('blockDim.x'), special('blockDim.y')), special('blockDim.z'));
}
