/**
 * A kernel loaded on the CPU device: its compiled forms, one for each block shape, and how a launch runs them.
 *
 * A launch is over when `launch` returns, unless it was put into the queue. What goes wrong inside the kernel comes back as an error
 * for the device to keep until somebody synchronises.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { describePasses } from '../../compiler/ir/passes/describe.ts';
import { FAULT_BYTES, type WasmModule } from '../../compiler/render/wasm/module.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import { mayBlock } from '../../host/threads.ts';
import { ifLoaded } from '../../on-demand.ts';
import { enqueueLaunch, type Running } from '../async-launch.ts';
import { attributesOf } from '../attributes.ts';
import { refuseSeveralBlocks, waitsForGrid } from '../cooperative.ts';
import type {
  Executable,
  ExecutableAttributes,
  LaunchArgs,
  LaunchShape,
  PendingLaunch,
  StreamHandle,
} from '../driver.ts';
import { faultAt, readFault } from '../fault-message.ts';
import type { LaunchHost } from '../host-memory.ts';
import { Interruption, listensForInterrupts } from '../interrupts.ts';
import { HELP, kernelFault, timeoutError, withLaunchStack } from '../launch-errors.ts';
import { SlicedRun } from '../sliced-run.ts';
import type { Ended } from './detached.ts';
import { disassemble } from './disassembly.ts';
import type { Engine } from './engine.ts';
import { RECORD_ADDRESS } from './memory.ts';
import { type Plan, Plans } from './plans.ts';
import type { Job, ThreadFault, ThreadPool } from './pool.ts';
import { encodingOf } from './record.ts';
import { ANY_ROWS } from './short-rows.ts';
import { WebAssembly } from './webassembly.ts';

/** Blocks are numbered with 32 bits, and counters of the pool may overshoot. */
const MAX_BLOCKS = 2 ** 31 - 1;
const MAX_POOL_BLOCKS = 2 ** 30;
/** Chunks that a thread's share of the blocks becomes where each begins and ends with copies of counters. */
const COPIES = 8;
/** Launches expected to take longer than this are left to the workers where the program handles SIGINT. */
const LONG_MS = 50;

/** A kernel on the CPU device. Compiled for a block shape when that is first launched. */
export class CpuExecutable implements Executable {
  readonly attributes: ExecutableAttributes;
  readonly #engine: Engine;
  readonly #host: LaunchHost;
  readonly #kernel: Kernel;
  readonly #encoding: Uint8Array;
  readonly #plans: Plans;
  readonly #waitsForGrid: boolean;
  #loaded = true;

  constructor(engine: Engine, kernel: Kernel, maxThreads: number, host: LaunchHost) {
    this.#engine = engine;
    this.#kernel = kernel;
    this.#host = host;
    this.#waitsForGrid = waitsForGrid(kernel);
    this.#plans = new Plans(engine, kernel);
    this.#encoding = encodingOf(kernel.params);
    this.attributes = attributesOf(kernel, maxThreads);
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const target = this.#host.streamOf(stream);
    const blocks = this.#blocksOf(shape);
    if (blocks === 0) return;
    const engine = this.#engine;
    this.#host.waitForWork();
    // Mapped host memory may be copied in, which may move the memory: before anything is planned.
    this.#host.beforeLaunch(args);
    const plan = this.#plans.forLaunch(shape, args, blocks, true);
    if (shape.timeout || (this.#mayBeLong(plan, blocks) && listensForInterrupts())) {
      this.#runWatched(shape, args, target, blocks);
      return;
    }
    engine.begin(this.#kernel.name);
    let error: DriverError | undefined;
    try {
      engine.writeRecord(shape, this.#plans.constants, this.#encoding, args);
      error = this.#parallel(plan, blocks)
        ? this.#runParallel(plan, shape, blocks)
        : this.#runAlone(plan, shape, blocks);
    } finally {
      engine.end();
      this.#host.afterLaunch(args);
    }
    if (error !== undefined) this.#host.onFault(withLaunchStack(error, this.launch), target);
  }

  launchLater(
    asked: LaunchShape,
    given: LaunchArgs,
    stream: StreamHandle | undefined,
    onProgress: ((done: number) => void) | undefined,
  ): PendingLaunch {
    const target = this.#host.streamOf(stream);
    this.#blocksOf(asked);
    return enqueueLaunch(
      this.#host,
      target,
      asked,
      given,
      (shape, args) => this.#begin(shape, args, true, true),
      onProgress,
    );
  }

  prepare({ grid, block }: LaunchShape): void {
    const blocks = grid[0] * grid[1] * grid[2];
    if (blocks > 0) this.#plans.find({ block, rows: ANY_ROWS, apart: this.#plans.facts.ordered }, blocks);
  }

  /** Blocks of a launch; throws for one that cannot be. */
  #blocksOf({ grid }: LaunchShape): number {
    const blocks = grid[0] * grid[1] * grid[2];
    if (blocks === 0) return 0;
    if (!this.#loaded)
      throw new DriverError(
        'E_UNLOADED',
        `kernel ${this.#kernel.name} has been unloaded with its device: launch it again`,
      );
    if (this.#waitsForGrid) refuseSeveralBlocks(this.#kernel, blocks, 'the CPU device');
    if (blocks > MAX_BLOCKS) {
      throw new NotSupportedError(
        'E_LAUNCH_LIMIT',
        `the CPU device runs up to ${MAX_BLOCKS} blocks per launch, not ${blocks}: make the blocks larger, or let threads process several elements`,
      );
    }
    return blocks;
  }

  /** Whether a launch may take longer than a signal should wait, as far as anybody can tell. */
  #mayBeLong({ schedule }: Plan, blocks: number): boolean {
    const { loops } = this.#plans.facts;
    return loops === 'endless' || (loops === 'counted' && !schedule.measured) || schedule.expected(blocks) > LONG_MS;
  }

  /** A launch that is waited for without taking part in it, so that it can be ended, and signals be heard. */
  #runWatched(shape: LaunchShape, args: LaunchArgs, target: object, blocks: number): void {
    const engine = this.#engine;
    const started = performance.now();
    // Where this thread may not sleep it has to do the work: nobody could tell when workers that were ended are gone.
    const running = this.#begin(shape, args, mayBlock(), false);
    let error: DriverError | undefined;
    // What this thread runs is guarded for itself.
    if (!running.eager) engine.begin(this.#kernel.name);
    try {
      finishOrStop(running);
      this.#plans.last?.schedule.ranWatched(blocks, performance.now() - started);
    } finally {
      error = running.end();
      if (!running.eager) engine.end();
      this.#host.afterLaunch(args);
    }
    if (error === undefined) return;
    withLaunchStack(error, this.launch);
    if (error.code !== 'E_KERNEL_FAULT') throw error;
    this.#host.onFault(error, target);
  }

  /**
   * Begins a launch that others run, all earlier ones being over: the workers, or this thread in slices where they cannot. `unplanned`: quick code may be
   * replaced, as nobody has asked for the plan yet.
   */
  #begin(shape: LaunchShape, args: LaunchArgs, detached: boolean, unplanned: boolean): Running {
    const engine = this.#engine;
    const blocks = shape.grid[0] * shape.grid[1] * shape.grid[2];
    const limit = shape.timeout ?? 0;
    const plan = this.#plans.forLaunch(shape, args, blocks, unplanned);
    const timedOut = (done: number): DriverError => timeoutError(this.#kernel, shape, done);
    const mayShare = detached && plan.alone.portable;
    const shared = mayShare && blocks <= MAX_POOL_BLOCKS ? this.#share(plan, shape, blocks) : undefined;
    // What was planned stays good: memory moves only while the queue is empty.
    const own = shared === undefined ? this.#plans.forLaunch(shape, args, blocks, false) : plan;
    engine.writeRecord(shape, this.#plans.constants, this.#encoding, args);
    const sliced = (): Running =>
      new SlicedRun({
        total: blocks,
        limit,
        enter: () => engine.begin(this.#kernel.name),
        leave: () => engine.end(),
        run: (first, end) => this.#runBlocks(own, shape, first, end),
        timedOut,
      });
    const { workers } = engine;
    if (shared === undefined || workers === undefined || !shared.pool.detach(shared.job, limit)) return sliced();
    const { pool } = shared;
    const conclude = ({ ending, faults, lost }: Ended, done: number): DriverError | undefined => {
      if (lost) engine.dropPool();
      if (ending === 'timeout') return timedOut(done);
      if (ending === 'died') return workers.workerDied();
      return faults.length === 0 ? undefined : this.#faulted(shared.module, shape, faults);
    };
    return new workers.PoolRun(new workers.DetachedRun(pool, shared.job, limit), conclude, sliced);
  }

  inspect(target: string): string | undefined {
    if (target !== 'wasm' && target !== 'passes') return undefined;
    const plans = this.#plans;
    const { last } = plans;
    // Scalar code says nothing of what longer launches run.
    const shown =
      last === undefined || last.effort === 'scalar'
        ? plans.make({ block: [256, 1, 1], rows: ANY_ROWS, apart: plans.facts.ordered, ...last, effort: 'full' })
        : last;
    const { alone } = shown;
    if (target === 'wasm') return disassemble(alone.module.bytes);
    const { pipeline } = this.#engine;
    return describePasses(this.#kernel, (kernel) => plans.compile(pipeline.prepare(kernel), shown, false));
  }

  suggestBlock(_sharedBytes: number, limit: number): number {
    return Math.min(256, limit);
  }

  /** One block runs at a time on a thread of the processor. */
  activeBlocks(): number {
    return 1;
  }

  unload(): void {
    if (!this.#loaded) return;
    this.#loaded = false;
    // Launches in the queue still need all of it.
    this.#host.afterWork(() => this.#plans.clear());
  }

  #parallel(plan: Plan, blocks: number): boolean {
    const engine = this.#engine;
    if (engine.threads === 1 || blocks < 2 || blocks > MAX_POOL_BLOCKS || !plan.alone.portable) return false;
    return engine.alwaysParallel || plan.schedule.worthPool(blocks, () => engine.inBurst);
  }

  #runAlone(plan: Plan, shape: LaunchShape, blocks: number): DriverError | undefined {
    const { schedule } = plan;
    const timed = schedule.wantsTime(blocks);
    const started = timed ? performance.now() : 0;
    const error = this.#runBlocks(plan, shape, 0, blocks);
    if (timed && error === undefined) schedule.ranAlone(blocks, this.#sinceLaunch(started));
    return error;
  }

  /** Milliseconds that a launch has taken, which is over now. */
  #sinceLaunch(started: number): number {
    this.#engine.lastEnd = performance.now();
    return this.#engine.lastEnd - started;
  }

  /** Runs blocks on this thread alone. */
  #runBlocks({ alone }: Plan, shape: LaunchShape, first: number, end: number): DriverError | undefined {
    const { memory, scratch } = this.#engine;
    let code: number;
    try {
      code = memory.memory64
        ? alone.run(first, end, BigInt(RECORD_ADDRESS), BigInt(scratch))
        : alone.run(first, end, RECORD_ADDRESS, scratch);
    } catch (error) {
      if (!isTrap(error)) throw error;
      return this.#trapped(shape, `${error.name}: ${error.message}`);
    }
    return code === 0
      ? undefined
      : this.#faulted(alone.module, shape, [{ thread: 0, site: code - 1, error: undefined }]);
  }

  #runParallel(plan: Plan, shape: LaunchShape, blocks: number): DriverError | undefined {
    const shared = this.#share(plan, shape, blocks);
    // Where making room has moved the memory, this launch goes the other way by a plan of its own.
    if (shared === undefined) return this.#runAlone(this.#plans.find(plan, blocks), shape, blocks);
    const { pool } = shared;
    const { ready } = pool;
    const started = performance.now();
    const faults = pool.run(shared.job);
    // Before the workers have come up the time says nothing; if there are none, it is how things are.
    if (ready > 0 || pool.workers.length === 0) plan.schedule.ranParallel(blocks, this.#sinceLaunch(started));
    return faults.length === 0 ? undefined : this.#faulted(shared.module, shape, faults);
  }

  /**
   * The job that a launch is for the pool; undefined where there is none, when making room for it has moved the memory, and made the plan stale, and in a page that has not loaded what makes the code
   * for several threads.
   */
  #share(
    plan: Plan,
    shape: LaunchShape,
    blocks: number,
  ): { readonly pool: ThreadPool; readonly job: Job; readonly module: WasmModule } | undefined {
    const engine = this.#engine;
    if (engine.workers === undefined) return undefined;
    const variant = ifLoaded(() => this.#plans.parallelOf(plan));
    if (variant === undefined) return undefined;
    const { module, code, run } = variant;
    engine.reserveScratch(engine.threads, module.scratchBytes + ((shape.sharedBytes + 15) & ~15));
    if (plan.generation !== engine.memory.generation) return undefined;
    const { pool } = engine;
    if (pool === undefined) return undefined;
    if (plan.registered?.pool !== pool) plan.registered = { id: pool.register(code), pool };
    const { scratch, scratchStride: stride } = engine;
    const { grain: least } = plan.schedule;
    const grain = module.copies === true ? Math.max(least, Math.ceil(blocks / (engine.threads * COPIES))) : least;
    const job = { module: plan.registered.id, total: blocks, record: RECORD_ADDRESS, scratch, stride, grain, run };
    return { pool, job, module };
  }

  /** The fault in the lowest block is the launch's: all blocks before one that fails are run, so which one that is does not vary. */
  #faulted(module: WasmModule, shape: LaunchShape, faults: readonly ThreadFault[]): DriverError {
    const engine = this.#engine;
    const records = faults
      .filter((fault) => fault.error === undefined)
      .map((fault) => {
        const address = engine.scratch + fault.thread * engine.scratchStride;
        return readFault(new DataView(engine.memory.bytes.buffer, address, FAULT_BYTES));
      })
      .sort((a, b) => a.block - b.block || a.thread - b.thread);
    const [first] = records;
    if (first === undefined) return this.#trapped(shape, faults[0]?.error ?? '');
    return faultAt(this.#kernel, shape, module.sites, first);
  }

  #trapped(shape: LaunchShape, text: string): DriverError {
    const help = this.#kernel.checked ? undefined : HELP.unchecked;
    return kernelFault(this.#kernel, shape, text, undefined, undefined, help);
  }
}

/** Blocks until a kernel is over. A SIGINT handler that throws ends it, and is what the launch fails with. */
function finishOrStop(running: Running): void {
  try {
    running.finish();
  } catch (error) {
    if (!(error instanceof Interruption)) throw error;
    running.stop();
    running.finish();
    throw error.reason;
  }
}

/** What the engine throws out of WebAssembly code, as opposed to what a `console.log` of the user's throws. */
function isTrap(error: unknown): error is Error {
  if (error instanceof WebAssembly.RuntimeError) return true;
  return error instanceof RangeError && error.message.includes('call stack');
}
