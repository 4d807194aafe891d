/**
 * The compiled forms of one kernel on the CPU device: one for each block shape that was launched, and short rows of the arrays it was launched on
 * (`short-rows.ts`), in the memory as it is now.
 *
 * A shape gets quick code first, which leaves out what pays only in long runs (`WasmVariant.quick`), unless its first launch is expected to be
 * long; where it is known to be very short, scalar code, a third the size. When launches have taken as long as compiling again takes, it is
 * compiled in full: no kernel pays more than twice what it need.
 */
import { withinStack } from '../../compiler/frontend/too-deep.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import { readOnlyParams } from '../../compiler/ir/passes/walk.ts';
import type { WasmModule } from '../../compiler/render/wasm/module.ts';
import { ifLoaded } from '../../on-demand.ts';
import type { Dim3, LaunchArgs, LaunchShape } from '../driver.ts';
import type { Engine } from './engine.ts';
import { factsOf, type KernelFacts } from './facts.ts';
import { LaunchWork } from './launch-work.ts';
import { Schedule } from './schedule.ts';
import { ANY_ROWS, type Rows, ShortRows } from './short-rows.ts';
import { instantiate, type Variant } from './variant.ts';

/** A first launch that is expected to take so long is worth the full code at once. */
const LONG_FIRST_MS = 0.1;
/** A first launch that is expected to take less gains less by vectors than they take to compile. */
const SHORT_FIRST_MS = 0.01;
/** So long launches run on quick code: about what it takes to compile a small kernel again. */
const QUICK_MS = 1;

/** How much is done for the code of a kernel, the least first. */
export type Effort = 'scalar' | 'quick' | 'full';

/** All there is for one block shape and the short rows that arrays have. */
export interface Plan {
  readonly block: Dim3;
  readonly rows: Rows;
  /** Whether the code takes arrays that are only read to share no memory with those that are written. */
  readonly apart: boolean;
  readonly generation: number;
  readonly effort: Effort;
  /** Milliseconds that its launches were expected to take, before they were made. */
  spent: number;
  readonly alone: Variant;
  /** The form in which several threads may run; made when first wanted. */
  parallel: Variant | undefined;
  /** The number under which the pool knows it, and that pool. */
  registered: { readonly id: number; readonly pool: object } | undefined;
  readonly schedule: Schedule;
}

/** What the code of a plan depends on. */
export type Form = Pick<Plan, 'block' | 'rows' | 'apart' | 'effort'>;

type Key = Pick<Plan, 'block' | 'rows' | 'apart'>;

const keyOf = ({ block, rows, apart }: Key): string => `${block.join()};${rows.join()};${apart}`;

/** The forms of a kernel. */
export class Plans {
  /** Where the constant arrays of the kernel stand; 0 where it has none. */
  constants = 0;
  readonly facts: KernelFacts;
  readonly #engine: Engine;
  readonly #prepared: Kernel;
  /** Parameters of arrays that the kernel as it was written only reads: of these it is known whether they are aliased. */
  readonly #readOnly: ReadonlySet<number>;
  readonly #rows: ShortRows;
  readonly #work: LaunchWork;
  readonly #plans = new Map<string, Plan>();
  #last: Plan | undefined;

  constructor(engine: Engine, kernel: Kernel) {
    this.#engine = engine;
    this.#prepared = engine.pipeline.prepare(kernel);
    this.#readOnly = readOnlyParams(kernel);
    this.facts = factsOf(this.#prepared);
    this.#rows = new ShortRows(this.#prepared);
    this.#work = new LaunchWork(this.#prepared, this.facts);
  }

  /** The form that was launched last. */
  get last(): Plan | undefined {
    return this.#last;
  }

  /**
   * The plan for a launch, with scratch reserved. Reserving may move the memory, which makes plans stale. `settled`: no launch is under way, so that
   * quick code may be replaced.
   */
  forLaunch(shape: LaunchShape, args: LaunchArgs, blocks: number, settled: boolean): Plan {
    const engine = this.#engine;
    const dynamic = (shape.sharedBytes + 15) & ~15;
    for (;;) {
      const plan = this.#current(shape, args, blocks, settled);
      engine.reserveScratch(1, plan.alone.module.scratchBytes + dynamic);
      if (plan.parallel !== undefined) {
        engine.reserveScratch(engine.threads, plan.parallel.module.scratchBytes + dynamic);
      }
      if (plan.generation === engine.memory.generation) return plan;
    }
  }

  #current(shape: LaunchShape, args: LaunchArgs, blocks: number, settled: boolean): Plan {
    const { block, aliased } = shape;
    const last = this.#last;
    const apart = aliased !== true && this.facts.ordered;
    const same =
      last !== undefined &&
      last.block[0] === block[0] &&
      last.block[1] === block[1] &&
      last.block[2] === block[2] &&
      last.apart === apart &&
      this.#rows.are(last.rows, args) &&
      last.generation === this.#engine.memory.generation;
    const plan = same ? last : this.#forRows({ block, rows: this.#rows.of(args), apart }, blocks, shape, args);
    if (plan.effort === 'full' || !settled) return plan;
    // What launches of other arguments took may say nothing of this one.
    const told = plan.effort === 'scalar' ? this.#work.milliseconds(shape, args) : 0;
    plan.spent += Math.max(plan.schedule.expected(blocks), told ?? 0);
    if (plan.spent <= QUICK_MS) return plan;
    // A page that has not loaded what makes the full code goes on with what it has.
    return ifLoaded(() => this.#replace(plan, 'full')) ?? plan;
  }

  /** A page that has not loaded what makes code for these rows has the code for any. */
  #forRows(key: Key, blocks: number, shape: LaunchShape, args: LaunchArgs): Plan {
    const find = (wanted: Key): Plan => this.find(wanted, blocks, () => this.#work.milliseconds(shape, args));
    return key.rows === ANY_ROWS ? find(key) : (ifLoaded(() => find(key)) ?? find({ ...key, rows: ANY_ROWS }));
  }

  /**
   * The plan for a block shape, made where there is none in the memory as it is now. `told`: milliseconds that the launch takes, as far as its
   * arguments tell.
   */
  find(key: Key, blocks: number, told?: () => number | undefined): Plan {
    const known = this.#plans.get(keyOf(key));
    if (known?.generation === this.#engine.memory.generation) {
      this.#last = known;
      return known;
    }
    if (known !== undefined) return this.#replace(known, known.effort);
    const { block, rows, apart } = key;
    const estimate = (this.#estimate(block) * blocks) / 1e6;
    const effort = this.#effortFor(estimate, this.facts.loops === 'none' ? estimate : told?.());
    return this.#keep(this.make({ block: [block[0], block[1], block[2]], rows, apart, effort }));
  }

  /** What a first launch is worth that is expected, and perhaps known, to take so many milliseconds. */
  #effortFor(expected: number, known: number | undefined): Effort {
    const { quick, scalarFirst } = this.#engine;
    if (!quick || (known ?? expected) >= LONG_FIRST_MS) return 'full';
    return scalarFirst && this.facts.separate && known !== undefined && known < SHORT_FIRST_MS ? 'scalar' : 'quick';
  }

  make({ block, rows, apart, effort }: Form): Plan {
    const alone = this.#variant({ block, rows, apart, effort }, false);
    this.#placeConstants(alone);
    const { atomics, contended } = this.facts;
    return {
      block,
      rows,
      apart,
      generation: this.#engine.memory.generation,
      effort,
      spent: 0,
      alone,
      parallel: atomics || alone.module.exclusive === true || !alone.portable ? undefined : alone,
      registered: undefined,
      schedule: new Schedule(this.#estimate(block), contended, this.#engine.threads),
    };
  }

  /** The form in which several threads may run blocks of one launch. */
  parallelOf(plan: Plan): Variant {
    plan.parallel ??= this.#engine.threads === 1 ? plan.alone : this.#variant(plan, true);
    return plan.parallel;
  }

  /** The code for a block shape, by all passes. */
  compile(prepared: Kernel, { block, rows, apart, effort }: Form, concurrent: boolean): WasmModule {
    const { memory, pipeline } = this.#engine;
    const lanes = effort === 'scalar' ? 1 : this.#engine.lanes;
    const quick = effort !== 'full';
    const known = this.#rows.values(rows);
    const variant = { block, known, apart: apart ? this.#readOnly : undefined, lanes, concurrent, quick };
    return withinStack(
      () => prepared.pos,
      () => pipeline.compile(prepared, { ...variant, memory64: memory.memory64 }),
    );
  }

  /** Gives up code and constants. */
  clear(): void {
    if (this.constants !== 0) this.#engine.memory.free(this.constants);
    for (const plan of this.#plans.values()) this.#forget(plan);
    this.#plans.clear();
    this.#last = undefined;
  }

  /** Nanoseconds a block, very roughly. */
  #estimate(block: Dim3): number {
    return this.facts.estimate * block[0] * block[1] * block[2];
  }

  #replace(old: Plan, effort: Effort): Plan {
    const made = this.make({ ...old, effort });
    this.#forget(old);
    return this.#keep(made);
  }

  #keep(plan: Plan): Plan {
    this.#plans.set(keyOf(plan), plan);
    this.#last = plan;
    return plan;
  }

  #variant(form: Form, concurrent: boolean): Variant {
    const module = this.compile(this.#prepared, form, concurrent);
    return instantiate(module, this.#engine.memory, this.#prepared.pos);
  }

  #placeConstants({ module }: Variant): void {
    if (this.constants !== 0 || module.constants.length === 0) return;
    const { memory } = this.#engine;
    this.constants = memory.allocate(module.constants.length);
    memory.bytes.set(module.constants, this.constants);
  }

  #forget({ registered }: Plan): void {
    const { pool } = this.#engine;
    if (registered !== undefined && registered.pool === pool) pool?.forget(registered.id);
  }
}
