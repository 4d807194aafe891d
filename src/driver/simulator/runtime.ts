/**
 * What the generated code of a simulated kernel calls: checks, operations that JavaScript has no operator for, and the state
 * of the thread that is running.
 */
import { INTRINSICS } from '../../compiler/intrinsics/table.ts';
import {
  evalBinary,
  evalBitcast,
  evalCast,
  evalFma,
  evalIntrinsic,
  evalUnary,
  type Value,
} from '../../compiler/ir/evaluate.ts';
import type { FusedType } from '../../compiler/ir/exact.ts';
import type {
  ArraySym,
  BinaryOp,
  ElemType,
  Kernel,
  MathFn,
  UnaryOp,
  ValueType,
  WarpOp,
} from '../../compiler/ir/ops.ts';
import { arrayOf, classNamed, functionNamed, objectOf } from '../../compiler/ir/print-forms.ts';
import { WARP_SIZE } from '../../compiler/ir/warp.ts';
import { HOST_MATH } from '../../compiler/math/host.ts';
import type { Pos } from '../../compiler/source.ts';
import type { DriverError } from '../../errors.ts';
import { warn } from '../../host/index.ts';
import type { LaunchShape } from '../driver.ts';
import { coordinates, describeFault, describePosition, HELP, kernelFault, outOfRange } from '../launch-errors.ts';
import { Clocks } from './clocks.ts';
import { describeOverflow, describeSaturation, type Overflow, Words } from './overflow.ts';
import { type AccessKind, type Conflict, whoOf } from './shadow.ts';

/** A place in the kernel that can stop it; generated code names it by its number. */
export interface Site {
  readonly pos: Pos;
  /** Of a memory access. */
  readonly array?: ArraySym | undefined;
  /** Of a trap. */
  readonly message?: string | undefined;
}

/** Thrown through generated code when a check fails. */
export class Fault extends Error {
  readonly error: DriverError;
  constructor(error: DriverError) {
    super(error.message);
    this.error = error;
  }
}

/** What a thread hands out when it stops for a while. A number is a plain barrier: its site. */
export type Stop = number | Vote | Pause | Exchange;

/** A thread at a barrier with a reduction, and what it says there. */
export class Vote {
  readonly site: number;
  readonly kind: VoteKind;
  readonly pred: boolean;
  constructor(site: number, kind: VoteKind, pred: boolean) {
    this.site = site;
    this.kind = kind;
    this.pred = pred;
  }
}

/** A thread that waits for the lanes of its warp that `mask` names, and what it brings them. */
export class Exchange {
  readonly site: number;
  readonly fn: WarpOp;
  readonly mask: number;
  readonly args: readonly Value[];
  constructor(site: number, fn: WarpOp, mask: number, args: readonly Value[]) {
    this.site = site;
    this.fn = fn;
    this.mask = mask;
    this.args = args;
  }
}

/** What such a barrier gives: how many, all, any. */
export type VoteKind = 'count' | 'and' | 'or';

/** A thread in a loop that may be waiting for another thread. `state` holds its variables. */
export class Pause {
  readonly site: number;
  readonly state: readonly unknown[];
  constructor(site: number, state: readonly unknown[]) {
    this.site = site;
    this.state = state;
  }
}

/** Rounds of loops after which a thread lets the others have a turn. */
const FUEL = 1 << 14;

/** Phases of all launches of this process have numbers of their own, so that shadows need no clearing. */
let phases = 0;

/** The state of one launch. */
export class Runtime {
  /** What `console.log` shows. */
  readonly arrayOf: typeof arrayOf = arrayOf;
  readonly objectOf: typeof objectOf = objectOf;
  readonly classNamed: typeof classNamed = classNamed;
  readonly functionNamed: typeof functionNamed = functionNamed;
  readonly kernel: Kernel;
  readonly shape: LaunchShape;
  readonly sites: readonly Site[];
  readonly clocks: Clocks;
  /** Arithmetic that reports what wraps. */
  readonly i32: Words = new Words('i32', (site, overflow) => this.#overflow(site, overflow));
  readonly u32: Words = new Words('u32', (site, overflow) => this.#overflow(site, overflow));
  /** Linear numbers of the running thread and block. */
  thread = 0;
  block = 0;
  phase = 0;
  /** Writes that changed memory. Stores count only while `watching`. */
  changes = 0;
  watching = false;
  fuel: number = FUEL;
  /** The block's number among all blocks that ever ran: shared and local memory starts unwritten with each. */
  epoch = 0;
  /** Whether an integer that wrapped has been told of: the first one of a launch is. */
  #toldOverflow = false;
  /** How often the lanes of each warp have met in this phase. */
  readonly #rounds: number[] = [];
  /** The values that the first thread to come gave to `uniform`, by site; how far each thread has come. */
  readonly #uniform = new Map<number, { readonly values: Value[]; readonly seen: Map<number, number> }>();

  constructor(kernel: Kernel, shape: LaunchShape, sites: readonly Site[]) {
    this.kernel = kernel;
    this.shape = shape;
    this.sites = sites;
    const [x, y, z] = shape.block;
    this.clocks = new Clocks(x * y * z);
  }

  beginBlock(block: number): void {
    this.block = block;
    this.#uniform.clear();
    this.beginPhase();
    this.epoch = this.phase;
  }

  beginPhase(): void {
    this.phase = ++phases | 0;
    this.#rounds.fill(0);
    this.clocks.clear();
  }

  fence(): void {
    this.clocks.fence(this.thread);
  }

  /** The lanes of a warp have met: what they do from now on comes after what they did before. */
  beginRound(warp: number): void {
    this.#rounds[warp] = (this.#rounds[warp] ?? 0) + 1;
  }

  /** The running thread, as shadows know it. */
  get who(): number {
    return whoOf(this.thread, this.#rounds[Math.floor(this.thread / WARP_SIZE)] ?? 0);
  }

  // ---------------------------------------------------------------- checks

  fail(site: number, what: string, help?: string): never {
    const { block, thread } = this;
    throw new Fault(kernelFault(this.kernel, this.shape, what, this.sites[site]?.pos, { block, thread }, help));
  }

  check(site: number, axis: number, index: number | bigint, extent: number | bigint): void {
    if (index >= 0 && index < extent) return;
    const array = this.sites[site]?.array;
    if (array === undefined) this.fail(site, `index ${index} is out of range (length ${extent})`);
    const what = outOfRange(this.kernel, array, axis, BigInt(index), BigInt(extent));
    this.fail(site, what, index < 0 ? HELP.negative : undefined);
  }

  trap(site: number): never {
    this.fail(site, this.sites[site]?.message ?? 'the kernel stopped itself');
  }

  race(site: number, kind: AccessKind, element: string, other: Conflict): never {
    const who = other.thread === undefined ? 'other threads' : `thread ${coordinates(this.shape.block, other.thread)}`;
    const verb = { read: 'reads', write: 'writes', atomic: 'updates' }[kind];
    const did = { read: 'read', write: 'wrote', atomic: 'updated' }[other.kind];
    const there = this.sites[other.site]?.pos;
    const line = there === undefined ? '' : ` (${describePosition(there)})`;
    const what = `race: ${verb} ${element}, which ${who} ${did}${line} with no barrier in between,`;
    this.fail(site, what, HELP.race);
  }

  /** A warning, not a fault: integers wrap on every device. */
  #overflow(site: number, overflow: Overflow): void {
    if (!this.#toldOverflow) this.#warn(site, describeOverflow(overflow));
  }

  /** The first of a launch is told. */
  #warn(site: number, [what, help]: readonly [what: string, help: string]): void {
    if (this.#toldOverflow) return;
    this.#toldOverflow = true;
    const { kernel, shape, block, thread } = this;
    const message = describeFault(kernel, shape, what, this.sites[site]?.pos, { block, thread }, help);
    warn(message, { type: 'TsambaWarning', code: 'TSAMBA_OVERFLOW' });
  }

  /** A float for an element of an integer array. */
  stored(site: number, from: ValueType, to: ElemType, value: number): Value {
    const kept = Number(evalCast(from, to, value));
    const beyond = describeSaturation(value, kept, to);
    if (beyond !== undefined) this.#warn(site, beyond);
    return kept;
  }

  uniform(site: number, value: Value): Value {
    let record = this.#uniform.get(site);
    if (record === undefined) {
      record = { values: [], seen: new Map() };
      this.#uniform.set(site, record);
    }
    const round = record.seen.get(this.thread) ?? 0;
    record.seen.set(this.thread, round + 1);
    const { values } = record;
    if (round >= values.length) values.push(value);
    else if (!Object.is(values[round], value)) {
      this.fail(
        site,
        `the argument of uniform() is ${value} here but ${values[round]} in another thread of the block,`,
      );
    }
    return value;
  }

  // ---------------------------------------------------------------- stops

  vote(site: number, kind: VoteKind, pred: Value): Vote {
    return new Vote(site, kind, Boolean(pred));
  }

  exchange(site: number, fn: WarpOp, mask: number, args: readonly Value[]): Exchange {
    return new Exchange(site, fn, mask, args);
  }

  pause(site: number, state: readonly unknown[]): Pause {
    this.fuel = FUEL;
    return new Pause(site, state);
  }

  // ---------------------------------------------------------------- operations

  unary(fn: UnaryOp, type: ValueType, a: Value): Value {
    return evalUnary(fn, type, a);
  }

  binary(fn: BinaryOp, type: ValueType, a: Value, b: Value): Value {
    return evalBinary(fn, type, a, b);
  }

  intrinsic(name: string, type: ValueType, args: readonly Value[]): Value {
    const row = INTRINSICS.get(name);
    if (row === undefined) throw new Error(`internal error: there is no ${name}`);
    return evalIntrinsic(row, type, args);
  }

  /** The exponent of an integer power. */
  exponent(site: number, b: Value): Value {
    if (Number(b) < 0) this.fail(site, `integer power with the negative exponent ${b}`, HELP.exponent);
    return b;
  }

  cast(from: ValueType, to: ElemType, a: Value): Value {
    return evalCast(from, to, a);
  }

  /** A conversion of a value that must fit. */
  fit(site: number, from: ValueType, to: ElemType, a: Value): Value {
    const result = evalCast(from, to, a);
    if (Number(result) !== Number(a)) {
      this.fail(site, `the value ${a} does not fit its 32-bit type`, HELP.cast);
    }
    return result;
  }

  bitcast(from: ValueType, to: ValueType, a: Value): Value {
    return evalBitcast(from, to, a);
  }

  fma(type: FusedType, a: number, b: number, c: number): number {
    return evalFma(type, a, b, c);
  }

  call(fn: MathFn, type: 'f32' | 'f64', ...args: number[]): number {
    const result = HOST_MATH[fn](...args);
    return type === 'f32' ? Math.fround(result) : result;
  }
}
