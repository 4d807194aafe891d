/**
 * A reference interpreter of the IR: thread by thread, phase by phase, as the comments in ops.ts read.
 *
 * It exists to be obviously right. Passes are proven by running a kernel before and after on the same memory; renderers
 * are held against it. It takes any stage of the IR, knows no races, and is slow.
 */

import type { Pos } from '../source.ts';
import { constant } from './builder.ts';
import type { Value } from './evaluate.ts';
import {
  evalBinary,
  evalBitcast,
  evalCall,
  evalCast,
  evalCompare,
  evalFma,
  evalIntrinsic,
  evalUnary,
  readElement,
  writeElement,
  zero,
} from './evaluate.ts';
import { atomicResult } from './interpret-atomics.ts';
import type { ArraySym, Expr, Kernel, MathFn, MemRef, Special, Stmt } from './ops.ts';
import { ELEM_SIZE, widen } from './ops.ts';
import { printArguments } from './print-forms.ts';
import { exchangeLanes, WARP_SIZE } from './warp.ts';

export interface InterpretLaunch {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes?: number | undefined;
}

export interface InterpretOptions {
  /** Approximated functions; `evalCall` unless given. */
  readonly math?: ((fn: MathFn, type: 'f32' | 'f64', args: readonly number[]) => number) | undefined;
  /** Statements one thread may run before it is taken to hang. Default 1e6. */
  readonly maxSteps?: number | undefined;
  /** The order in which the threads of a block take turns within a phase: a permutation of 0…n-1. Ascending unless given. */
  readonly order?: ((threads: number) => readonly number[]) | undefined;
  /** Called after each assignment. `rounds`: how often each enclosing loop has gone round, outermost first. */
  readonly trace?:
    | ((s: Stmt & { op: 'assign' }, value: Value, thread: number, block: number, rounds: readonly number[]) => void)
    | undefined;
}

export type FaultKind = 'bounds' | 'trap' | 'cast' | 'uniform' | 'exponent' | 'memory' | 'barrier' | 'steps';

/** What stopped the kernel. `memory`: an unchecked access outside of everything. */
export interface InterpretFault {
  readonly kind: FaultKind;
  readonly message: string;
  readonly pos: Pos;
  /** Linear in the block; linear in the grid. */
  readonly thread: number;
  readonly block: number;
}

export interface InterpretResult {
  readonly fault: InterpretFault | undefined;
  readonly prints: readonly (readonly unknown[])[];
}

export class Fault extends Error {
  readonly kind: FaultKind;
  readonly pos: Pos;
  constructor(kind: FaultKind, message: string, pos: Pos) {
    super(message);
    this.kind = kind;
    this.pos = pos;
  }
}

/** How a statement ended: `undefined` means normally. */
type Completion = undefined | 'return' | { readonly to: 'break' | 'continue'; readonly label: number };
type Barrier = Stmt & { op: 'barrier' };
type Exchange = Stmt & { op: 'warp' };
/** Where a thread waits for others: at a barrier with its predicate, or at a warp operation with its operands. */
type Stop =
  | { readonly at: Barrier; readonly pred: Value }
  | { readonly at: Exchange; readonly mask: number; readonly args: readonly Value[] };
/** A thread runs until it has to wait, which it hands out; it is resumed with the result. */
type Running = Generator<Stop, Completion, Value>;

/** Runs a launch on `memory`: pointers (`ptr` params) are byte offsets into it. `args`: one value a parameter. */
export function interpret(
  kernel: Kernel,
  launch: InterpretLaunch,
  args: readonly Value[],
  memory: Uint8Array,
  options: InterpretOptions = {},
): InterpretResult {
  const run = new Run(kernel, launch, args, memory, options);
  const [gx, gy, gz] = launch.grid;
  let blocks = Array.from({ length: gx * gy * gz }, (_, b) =>
    runBlock(run, [b % gx, Math.floor(b / gx) % gy, Math.floor(b / (gx * gy))], b),
  );
  // Blocks run one after another, but for those that wait for all others at a barrier of the grid.
  while (blocks.length > 0) {
    const waiting: typeof blocks = [];
    for (const block of blocks) {
      const { done, value } = block.next();
      if (!done) waiting.push(block);
      else if (value) return { fault: value, prints: run.prints };
    }
    blocks = waiting;
  }
  return { fault: undefined, prints: run.prints };
}

/** What all threads of a launch share. */
export class Run {
  readonly kernel: Kernel;
  readonly launch: InterpretLaunch;
  readonly args: readonly Value[];
  readonly memory: DataView;
  readonly options: InterpretOptions;
  readonly prints: (readonly unknown[])[] = [];
  /** Arrays that are the same for all blocks. */
  readonly constants: ReadonlyMap<ArraySym, DataView>;

  constructor(
    kernel: Kernel,
    launch: InterpretLaunch,
    args: readonly Value[],
    memory: Uint8Array,
    options: InterpretOptions,
  ) {
    this.kernel = kernel;
    this.launch = launch;
    // As a launch gives them: 64-bit integers may be numbers, f32 not yet rounded.
    this.args = kernel.params.map((p, i) => {
      const arg = args[i] ?? 0;
      return p.type === 'ptr' ? arg : (constant(p.type, arg) as Expr & { op: 'const' }).value;
    });
    this.memory = viewOf(memory);
    this.options = options;
    this.constants = new Map(
      kernel.arrays.flatMap((a) => (a.space === 'constant' ? [[a, viewOf(a.data ?? new Uint8Array())] as const] : [])),
    );
  }

  /** Fresh memory for the arrays of one space: of one block, or of one thread. Dynamic shared arrays alias. */
  allocate(space: 'shared' | 'local'): Map<ArraySym, DataView> {
    const dynamic = viewOf(new Uint8Array(this.launch.sharedBytes ?? 0));
    const arrays = this.kernel.arrays.filter((a) => a.space === space);
    return new Map(
      arrays.map((a) => [a, a.dynamic ? dynamic : viewOf(new Uint8Array((a.length ?? 0) * ELEM_SIZE[a.elem]))]),
    );
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface State {
  readonly t: number;
  readonly running: Running;
  resume: Value;
  stop: Stop | undefined;
  done: boolean;
}

/** Runs a block to its end; hands out when it waits for the whole grid. */
function* runBlock(
  run: Run,
  blockIdx: readonly [number, number, number],
  block: number,
): Generator<undefined, InterpretFault | undefined, undefined> {
  const [bx, by, bz] = run.launch.block;
  const shared = run.allocate('shared');
  const uniforms = new Map<Expr, Value[]>();
  const threads = Array.from({ length: bx * by * bz }, (_, t): State => {
    const place = [t % bx, Math.floor(t / bx) % by, Math.floor(t / (bx * by))] as const;
    const thread = new Thread(run, shared, uniforms, place, blockIdx, t, block);
    return { t, running: thread.list(run.kernel.body), resume: 0, stop: undefined, done: false };
  });
  const order = run.options.order?.(threads.length) ?? threads.map((_, t) => t);
  for (;;) {
    for (const t of order) {
      const state = threads[t];
      if (state === undefined || state.done || state.stop) continue;
      try {
        const step = state.running.next(state.resume);
        if (step.done) state.done = true;
        else state.stop = step.value;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        return { kind: error.kind, message: error.message, pos: error.pos, thread: t, block };
      }
    }
    if (meetInWarps(threads)) continue;
    const waiting = order.flatMap((t) => (threads[t]?.stop ? [threads[t]] : []));
    const [first] = waiting;
    if (first?.stop === undefined) return undefined;
    const { at } = first.stop;
    const other = at.op === 'warp' ? first : waiting.find((w) => w.stop?.at !== at);
    if (other?.stop) {
      const message =
        at.op === 'warp'
          ? `divergent exchange: thread ${first.t} waits for lanes that do not come`
          : `divergent barrier: threads ${first.t} and ${other.t} wait at different barriers`;
      return { kind: 'barrier', message, pos: other.stop.at.pos, thread: other.t, block };
    }
    if (at.op === 'barrier' && at.kind === 'grid') yield;
    const preds = waiting.map((w) => w.stop !== undefined && 'pred' in w.stop && w.stop.pred === true);
    const result = at.op === 'barrier' ? reduce(at.kind, preds) : 0;
    for (const w of waiting) {
      w.resume = result;
      w.stop = undefined;
    }
  }
}

/** Lets warps go on whose lanes have come together; whether there were any. */
function meetInWarps(threads: readonly State[]): boolean {
  let any = false;
  for (let base = 0; base < threads.length; base += WARP_SIZE) {
    const lanes = threads.slice(base, base + WARP_SIZE);
    for (const state of lanes) {
      const { stop } = state;
      if (stop === undefined || !('mask' in stop)) continue;
      const named = lanes.filter((l, lane) => (stop.mask >>> lane) & 1 && !l.done);
      const converged = stop.at.fn === 'activeMask' ? named.filter((l) => l.stop?.at === stop.at) : named;
      if (!converged.includes(state) || converged.some((l) => l.stop?.at !== stop.at)) continue;
      const results = exchangeLanes(
        stop.at.fn,
        converged.map((l) => ({ lane: l.t - base, args: l.stop && 'args' in l.stop ? l.stop.args : [] })),
      );
      converged.forEach((l, k) => {
        l.resume = results[k] ?? 0;
        l.stop = undefined;
      });
      any = true;
    }
  }
  return any;
}

function reduce(kind: Barrier['kind'], preds: readonly boolean[]): number {
  switch (kind) {
    case 'sync':
    case 'grid':
      return 0;
    case 'count':
      return preds.filter((p) => p).length;
    case 'and':
      return preds.every((p) => p) ? 1 : 0;
    case 'or':
      return preds.some((p) => p) ? 1 : 0;
  }
}

/** One thread: its variables and local arrays, and the meaning of every statement and expression for it. */
export class Thread {
  readonly run: Run;
  readonly arrays: ReadonlyMap<ArraySym, DataView>;
  readonly specials: Readonly<Record<Special, number>>;
  readonly vars: Map<number, Value> = new Map();
  readonly linear: number;
  readonly block: number;
  /** The round in which each enclosing loop is. */
  readonly rounds: number[] = [];
  /** How often this thread has been at each `uniform`, and what the threads of the block found there. */
  readonly asserted: Map<Expr, number> = new Map();
  readonly uniforms: Map<Expr, Value[]>;
  steps = 0;

  constructor(
    run: Run,
    shared: ReadonlyMap<ArraySym, DataView>,
    uniforms: Map<Expr, Value[]>,
    threadIdx: readonly [number, number, number],
    blockIdx: readonly [number, number, number],
    linear: number,
    gridBlock: number,
  ) {
    this.run = run;
    this.linear = linear;
    this.block = gridBlock;
    this.uniforms = uniforms;
    this.arrays = new Map([...run.constants, ...run.allocate('local'), ...shared]);
    const { block, grid, sharedBytes } = run.launch;
    this.specials = {
      'threadIdx.x': threadIdx[0],
      'threadIdx.y': threadIdx[1],
      'threadIdx.z': threadIdx[2],
      'blockIdx.x': blockIdx[0],
      'blockIdx.y': blockIdx[1],
      'blockIdx.z': blockIdx[2],
      'blockDim.x': block[0],
      'blockDim.y': block[1],
      'blockDim.z': block[2],
      'gridDim.x': grid[0],
      'gridDim.y': grid[1],
      'gridDim.z': grid[2],
      laneId: linear % 32,
      warpSize: 32,
      sharedBytes: sharedBytes ?? 0,
    };
  }

  *list(stmts: readonly Stmt[]): Running {
    for (const s of stmts) {
      const completion = yield* this.statement(s);
      if (completion) return completion;
    }
    return undefined;
  }

  *statement(s: Stmt): Running {
    if (++this.steps > (this.run.options.maxSteps ?? 1e6)) throw new Fault('steps', 'the thread runs for ever', s.pos);
    switch (s.op) {
      case 'assign': {
        const value = this.value(s.value);
        this.vars.set(s.var.id, value);
        this.run.options.trace?.(s, value, this.linear, this.block, this.rounds);
        return undefined;
      }
      case 'store': {
        const value = this.value(s.value);
        const [view, address] = this.element(s.mem);
        writeElement(view, address, s.mem.elem, value);
        return undefined;
      }
      case 'atomic': {
        const args = s.args.map((a) => this.value(a));
        const [view, address] = this.element(s.mem);
        const old = readElement(view, address, s.mem.elem);
        writeElement(view, address, s.mem.elem, atomicResult(s.fn, widen(s.mem.elem), old, args));
        if (s.result) this.vars.set(s.result.id, old);
        return undefined;
      }
      case 'if':
        return yield* this.list(this.value(s.cond) ? s.then : s.else);
      case 'loop': {
        this.rounds.push(0);
        const completion = yield* this.loop(s);
        this.rounds.pop();
        return completion;
      }
      case 'block': {
        const body = yield* this.list(s.body);
        return body !== undefined && body !== 'return' && body.label === s.label ? undefined : body;
      }
      case 'break':
      case 'continue':
        return { to: s.op, label: s.label };
      case 'return':
        return 'return';
      case 'barrier': {
        const pred = s.pred ? this.value(s.pred) : false;
        const result = yield { at: s, pred };
        if (s.result) this.vars.set(s.result.id, result);
        return undefined;
      }
      case 'warp': {
        const mask = s.mask ? Number(this.value(s.mask)) : 0xffffffff;
        const result = yield { at: s, mask, args: s.args.map((a) => this.value(a)) };
        if (s.result) this.vars.set(s.result.id, result);
        return undefined;
      }
      case 'fence':
      case 'rest':
        return undefined;
      case 'print':
        {
          const values = s.parts.map((p) => (typeof p === 'string' ? p : this.value(p)));
          this.run.prints.push(printArguments(values, s.forms));
        }
        return undefined;
      case 'trap':
        throw new Fault('trap', s.message, s.pos);
      case 'extern':
        throw new Error(`internal error: ${s.fn.name} is of another language`);
      default:
        return s satisfies never;
    }
  }

  *loop(s: Stmt & { op: 'loop' }): Running {
    const depth = this.rounds.length - 1;
    for (let round = 0; ; round++) {
      this.rounds[depth] = round;
      if (++this.steps > (this.run.options.maxSteps ?? 1e6)) throw new Fault('steps', 'the loop runs for ever', s.pos);
      const body = yield* this.list(s.body);
      if (body === 'return' || (body && body.label !== s.label)) return body;
      if (body?.to === 'break') return undefined;
      const update = yield* this.list(s.update);
      if (update) return update === 'return' || update.label !== s.label ? update : undefined;
    }
  }

  value(e: Expr): Value {
    switch (e.op) {
      case 'const':
        return e.value;
      case 'var':
        return this.vars.get(e.var.id) ?? zero(e.type);
      case 'param':
        return e.type === 'u64' ? BigInt(this.run.args[e.param] ?? 0n) : (this.run.args[e.param] ?? zero(e.type));
      case 'special':
        return this.specials[e.name];
      case 'unary': {
        const a = this.value(e.a);
        if (e.fn === 'uniform' && this.run.kernel.checked) this.assertUniform(e, a);
        return evalUnary(e.fn, e.a.type, a);
      }
      case 'binary': {
        const a = this.value(e.a);
        const b = this.value(e.b);
        if (e.fn === 'ipow' && this.run.kernel.checked && Number(b) < 0) {
          throw new Fault('exponent', `negative exponent ${b} of an integer power`, e.pos ?? this.run.kernel.pos);
        }
        return evalBinary(e.fn, e.type, a, b);
      }
      case 'compare':
        return evalCompare(e.fn, this.value(e.a), this.value(e.b));
      case 'select':
        // Both arms are pure; only the chosen one is evaluated, so that faults of the other do not show.
        return this.value(e.cond) ? this.value(e.a) : this.value(e.b);
      case 'cast': {
        const a = this.value(e.a);
        const result = evalCast(e.a.type, e.to, a);
        if (e.checked && this.run.kernel.checked && Number(result) !== Number(a)) {
          throw new Fault('cast', `${a} does not fit ${e.to}`, e.pos ?? this.run.kernel.pos);
        }
        return result;
      }
      case 'bitcast':
        return evalBitcast(e.a.type, e.type, this.value(e.a));
      case 'fma':
        return evalFma(e.to ?? e.type, Number(this.value(e.a)), Number(this.value(e.b)), Number(this.value(e.c)));
      case 'call':
        return (this.run.options.math ?? evalCall)(
          e.fn,
          e.type,
          e.args.map((a) => Number(this.value(a))),
        );
      case 'intrinsic':
        return evalIntrinsic(
          e.fn,
          e.type,
          e.args.map((a) => this.value(a)),
        );
      case 'load': {
        const [view, address] = this.element(e.mem);
        return readElement(view, address, e.mem.elem);
      }
      case 'native':
        if (e.otherwise === undefined) throw new Error(`internal error: ${e.fn.name} has no expansion`);
        return this.value(e.otherwise);
      case 'available':
        return false;
      case 'address':
        throw new Error('internal error: addresses are for functions of other languages');
    }
  }

  /** The n-th value that a thread asserts in one place must be the n-th of every other thread of the block. */
  assertUniform(e: Expr & { op: 'unary' }, value: Value): void {
    const n = this.asserted.get(e) ?? 0;
    this.asserted.set(e, n + 1);
    const seen = this.uniforms.get(e) ?? [];
    this.uniforms.set(e, seen);
    if (seen.length <= n) seen.push(value);
    else if (!Object.is(seen[n], value)) {
      throw new Fault(
        'uniform',
        `${value} is not ${seen[n]}, the value in another thread`,
        e.pos ?? this.run.kernel.pos,
      );
    }
  }

  /** The memory and byte address of an element, after its checks. */
  element(mem: MemRef): readonly [view: DataView, address: number] {
    if (this.run.kernel.checked) {
      for (const check of mem.checks) {
        const index = BigInt(this.value(check.index));
        const extent = BigInt(this.value(check.extent));
        if (index < 0n || index >= extent) {
          const message = `index ${index} out of range for axis ${check.axis} of '${mem.array.name}' (extent ${extent})`;
          throw new Fault('bounds', message, mem.pos);
        }
      }
    }
    const global = mem.array.space === 'global';
    const base = global ? Number(this.run.args[mem.array.param ?? -1]) : 0;
    const view = global ? this.run.memory : this.arrays.get(mem.array);
    const address = base + Number(this.value(mem.index)) * mem.scale + mem.disp;
    if (view === undefined || !(address >= 0 && address + ELEM_SIZE[mem.elem] <= view.byteLength)) {
      throw new Fault('memory', `access to '${mem.array.name}' at byte ${address} is outside its memory`, mem.pos);
    }
    return [view, address];
  }
}
