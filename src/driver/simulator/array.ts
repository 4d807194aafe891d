/**
 * An array as a simulated kernel sees it: element access with every check that the simulator makes.
 *
 * Generated code calls `get`, `set` and `update` with a site number and a byte offset from the array's first element.
 */
import { readElement, type Value, writeElement } from '../../compiler/ir/evaluate.ts';
import { atomicResult } from '../../compiler/ir/interpret-atomics.ts';
import type { ArraySym, AtomicOp, ElemType } from '../../compiler/ir/ops.ts';
import { ELEM_SIZE, widen } from '../../compiler/ir/ops.ts';
import { HELP } from '../launch-errors.ts';
import type { Runtime } from './runtime.ts';
import type { AccessKind, Shadow } from './shadow.ts';

/** Memory behind an array. */
export interface Backing {
  readonly view: DataView;
  readonly shadow: Shadow;
}

/** An array of one launch under one element type; local arrays are the running thread's. */
export class SimulatedArray {
  readonly sym: ArraySym;
  /** What is accessed: as a rule the array's own type. */
  readonly elem: ElemType;
  readonly #runtime: Runtime;
  readonly #size: number;
  readonly #view: DataView;
  readonly #shadow: Shadow;
  /** Where the first element is; for local arrays, the first thread's. */
  readonly #base: number;
  /** Bytes from one thread's array to the next: 0 unless local. */
  readonly #perThread: number;
  /** Offsets that are inside. */
  readonly #low: number;
  readonly #high: number;

  constructor(sym: ArraySym, elem: ElemType, runtime: Runtime, backing: Backing, base: number) {
    this.sym = sym;
    this.elem = elem;
    this.#runtime = runtime;
    this.#size = ELEM_SIZE[elem];
    this.#view = backing.view;
    this.#shadow = backing.shadow;
    this.#base = base;
    const own = (sym.length ?? 0) * ELEM_SIZE[sym.elem];
    this.#perThread = sym.space === 'local' ? own : 0;
    this.#low = -base;
    this.#high = sym.space === 'local' ? own : backing.view.byteLength - base;
    this.#shadow.prepare(this.#size, base);
  }

  get(site: number, offset: number): Value {
    const at = this.#place(site, offset);
    const { elem } = this;
    const { space } = this.sym;
    if (space !== 'constant') {
      if (space !== 'global') this.#written(site, at, offset);
      if (space !== 'local') this.#exclusive('read', site, at, offset);
    }
    return readElement(this.#view, at, elem);
  }

  set(site: number, offset: number, value: Value): void {
    const at = this.#place(site, offset);
    this.#touch('write', site, at, offset);
    const { elem } = this;
    const runtime = this.#runtime;
    if (runtime.watching && !Object.is(readElement(this.#view, at, elem), value)) runtime.changes++;
    writeElement(this.#view, at, elem, value);
  }

  /** Read-modify-write; the old value. */
  update(site: number, offset: number, fn: AtomicOp, ...args: Value[]): Value {
    const at = this.#place(site, offset);
    const { elem } = this;
    const { space } = this.sym;
    if (space !== 'global' && fn !== 'store') this.#written(site, at, offset);
    this.#touch('atomic', site, at, offset);
    const old = readElement(this.#view, at, elem);
    const value = atomicResult(fn, widen(elem), old, args);
    const changes = !Object.is(old, value);
    if (changes) this.#runtime.changes++;
    this.#runtime.clocks.atomic(
      this.#runtime.thread,
      this.#shadow,
      at,
      fn === 'cas' ? Object.is(old, args[0]) : fn !== 'load',
    );
    writeElement(this.#view, at, elem, value);
    return old;
  }

  #touch(kind: AccessKind, site: number, at: number, offset: number): void {
    const { space } = this.sym;
    if (space !== 'local') this.#exclusive(kind, site, at, offset);
    if (space !== 'global') this.#shadow.initialise(at, this.#size, this.#runtime.epoch);
  }

  /** An element for messages; a member of a record by its byte. */
  #label(offset: number): string {
    const { name, elem } = this.sym;
    return elem === this.elem ? `${name}[${offset / this.#size}]` : `byte ${offset} of ${name}`;
  }

  /** Where in the view an element of the running thread is. */
  #place(site: number, offset: number): number {
    if (offset < this.#low || offset + this.#size > this.#high) {
      const { name, space, elem } = this.sym;
      const what = elem === this.elem ? `element ${offset / this.#size}` : `byte ${offset}`;
      const where = space === 'global' ? 'the allocation behind it' : `its ${this.#high} bytes`;
      this.#runtime.fail(site, `${what} of ${name} is outside ${where}`);
    }
    return this.#base + this.#runtime.thread * this.#perThread + offset;
  }

  #written(site: number, at: number, offset: number): void {
    const { space } = this.sym;
    if (this.#shadow.isInitialised(at, this.#size, this.#runtime.epoch)) return;
    const who = space === 'local' ? 'this thread has not' : 'no thread of the block has';
    this.#runtime.fail(site, `reads ${this.#label(offset)}, ${space} memory that ${who} written,`, HELP.uninitialised);
  }

  #exclusive(kind: AccessKind, site: number, at: number, offset: number): void {
    const runtime = this.#runtime;
    const conflict = this.#shadow.access(kind, at, this.#size, runtime, site);
    if (conflict !== undefined) runtime.race(site, kind, this.#label(offset), conflict);
  }
}
