/**
 * A kernel loaded on the CPU device: its compiled forms, one for each block shape, and how a launch runs them.
 *
 * A launch is over when `launch` returns. What goes wrong inside the kernel comes back as an error for the device to keep
 * until somebody synchronises.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { describePasses } from '../../compiler/ir/passes/pipeline.ts';
import { FAULT_BYTES, type WasmModule } from '../../compiler/render/wasm/module.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import { attributesOf } from '../attributes.ts';
import { refuseSeveralBlocks, waitsForGrid } from '../cooperative.ts';
import type { Dim3, Executable, ExecutableAttributes, LaunchArgs, LaunchShape, StreamHandle } from '../driver.ts';
import { faultAt } from '../fault-message.ts';
import type { LaunchHost } from '../host-memory.ts';
import { HELP, kernelFault, withLaunchStack } from '../launch-errors.ts';
import { disassemble } from './disassemble.ts';
import type { Engine } from './engine.ts';
import { factsOf, type KernelFacts } from './facts.ts';
import { readFault } from './fault-record.ts';
import { RECORD_ADDRESS } from './memory.ts';
import type { ThreadFault } from './pool.ts';
import { encodingOf } from './record.ts';
import { Schedule } from './schedule.ts';
import { instantiate, type Variant } from './variant.ts';
import { WebAssembly } from './webassembly.ts';

/** Blocks are numbered with 32 bits, and counters of the pool may overshoot. */
const MAX_BLOCKS = 2 ** 31 - 1;
const MAX_POOL_BLOCKS = 2 ** 30;

/** All there is for one block shape in the memory as it is now. */
interface Plan {
  readonly block: Dim3;
  readonly generation: number;
  readonly alone: Variant;
  /** The form in which several threads may run; made when first wanted. */
  together: Variant | undefined;
  /** The number under which the pool knows it, and that pool. */
  registered: { readonly id: number; readonly pool: object } | undefined;
  readonly schedule: Schedule;
}

/** A kernel on the CPU device. Compiled for a block shape when that is first launched. */
export class CpuExecutable implements Executable {
  readonly attributes: ExecutableAttributes;
  readonly #engine: Engine;
  readonly #host: LaunchHost;
  readonly #kernel: Kernel;
  readonly #prepared: Kernel;
  readonly #facts: KernelFacts;
  readonly #encoding: Uint8Array;
  readonly #plans = new Map<string, Plan>();
  #last: Plan | undefined;
  readonly #waitsForGrid: boolean;
  #constants = 0;
  #loaded = true;

  constructor(engine: Engine, kernel: Kernel, maxThreads: number, host: LaunchHost) {
    this.#engine = engine;
    this.#kernel = kernel;
    this.#host = host;
    this.#waitsForGrid = waitsForGrid(kernel);
    this.#prepared = engine.pipeline.prepare(kernel);
    this.#facts = factsOf(this.#prepared);
    this.#encoding = encodingOf(kernel.params);
    this.attributes = attributesOf(kernel, maxThreads);
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const { grid } = shape;
    const blocks = grid[0] * grid[1] * grid[2];
    const target = this.#host.streamOf(stream);
    if (blocks === 0) return;
    if (!this.#loaded)
      throw new DriverError(
        'E_UNLOADED',
        `kernel ${this.#kernel.name} has been unloaded with its device: launch it anew`,
      );
    if (this.#waitsForGrid) refuseSeveralBlocks(this.#kernel, blocks, 'the CPU device');
    if (blocks > MAX_BLOCKS) {
      throw new NotSupportedError(
        'E_LAUNCH_LIMIT',
        `the CPU device runs up to ${MAX_BLOCKS} blocks a launch, not ${blocks}: make the blocks larger, or let threads take several elements`,
      );
    }
    const engine = this.#engine;
    // Mapped host memory may be copied in, which may move the memory: before anything is planned.
    this.#host.beforeLaunch(args);
    const plan = this.#planFor(shape);
    engine.begin(this.#kernel.name);
    let error: DriverError | undefined;
    try {
      engine.writeRecord(shape, this.#constants, this.#encoding, args);
      error = this.#together(plan, blocks)
        ? this.#runTogether(plan, shape, blocks)
        : this.#runAlone(plan, shape, blocks);
    } finally {
      engine.end();
      this.#host.afterLaunch(args);
    }
    if (error !== undefined) this.#host.onFault(withLaunchStack(error, this.launch), target);
  }

  inspect(target: string): string | undefined {
    if (target !== 'wasm' && target !== 'passes') return undefined;
    const { block, alone } = this.#last ?? this.#make([256, 1, 1]);
    if (target === 'wasm') return disassemble(alone.module.bytes);
    return describePasses(this.#kernel, (kernel) => this.#compile(this.#engine.pipeline.prepare(kernel), block, false));
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
    const { memory } = this.#engine;
    if (this.#constants !== 0) memory.free(this.#constants);
    for (const plan of this.#plans.values()) this.#forget(plan);
    this.#plans.clear();
    this.#last = undefined;
  }

  /** The plan for a launch, with scratch reserved. Reserving may move the memory, which makes plans stale. */
  #planFor(shape: LaunchShape): Plan {
    const engine = this.#engine;
    const { block } = shape;
    for (;;) {
      const last = this.#last;
      const same =
        last !== undefined &&
        last.block[0] === block[0] &&
        last.block[1] === block[1] &&
        last.block[2] === block[2] &&
        last.generation === engine.memory.generation;
      const plan = same ? last : this.#find(block);
      const dynamic = (shape.sharedBytes + 15) & ~15;
      engine.reserveScratch(1, plan.alone.module.scratchBytes + dynamic);
      if (plan.together !== undefined) {
        engine.reserveScratch(engine.threads, plan.together.module.scratchBytes + dynamic);
      }
      if (plan.generation === engine.memory.generation) return plan;
    }
  }

  #find(block: Dim3): Plan {
    const key = block.join();
    let plan = this.#plans.get(key);
    if (plan?.generation !== this.#engine.memory.generation) {
      if (plan !== undefined) this.#forget(plan);
      plan = this.#make([block[0], block[1], block[2]]);
      this.#plans.set(key, plan);
    }
    this.#last = plan;
    return plan;
  }

  #make(block: Dim3): Plan {
    const alone = this.#variant(block, false);
    this.#placeConstants(alone);
    const { estimate, atomics, contended } = this.#facts;
    const threads = block[0] * block[1] * block[2];
    return {
      block,
      generation: this.#engine.memory.generation,
      alone,
      together: atomics || !alone.portable ? undefined : alone,
      registered: undefined,
      schedule: new Schedule(estimate * threads, contended, this.#engine.threads),
    };
  }

  #variant(block: Dim3, concurrent: boolean): Variant {
    return instantiate(this.#compile(this.#prepared, block, concurrent), this.#engine.memory);
  }

  #compile(prepared: Kernel, block: Dim3, concurrent: boolean): WasmModule {
    const { memory, lanes, pipeline } = this.#engine;
    return pipeline.compile(prepared, { block, lanes, concurrent, memory64: memory.memory64 });
  }

  #placeConstants({ module }: Variant): void {
    if (this.#constants !== 0 || module.constants.length === 0) return;
    const { memory } = this.#engine;
    this.#constants = memory.allocate(module.constants.length);
    memory.bytes.set(module.constants, this.#constants);
  }

  #forget(plan: Plan): void {
    const { pool } = this.#engine;
    if (plan.registered?.pool === pool) pool.forget(plan.registered.id);
  }

  #together(plan: Plan, blocks: number): boolean {
    const engine = this.#engine;
    if (engine.threads === 1 || blocks < 2 || blocks > MAX_POOL_BLOCKS || !plan.alone.portable) return false;
    return engine.alwaysParallel || plan.schedule.worthPool(blocks);
  }

  #runAlone(plan: Plan, shape: LaunchShape, blocks: number): DriverError | undefined {
    const engine = this.#engine;
    const { alone, schedule } = plan;
    const { scratch } = engine;
    const timed = schedule.wantsTime(blocks);
    const started = timed ? performance.now() : 0;
    let code: number;
    try {
      code = engine.memory.memory64
        ? alone.run(0, blocks, BigInt(RECORD_ADDRESS), BigInt(scratch))
        : alone.run(0, blocks, RECORD_ADDRESS, scratch);
    } catch (error) {
      if (!isTrap(error)) throw error;
      return this.#trapped(shape, `${error.name}: ${error.message}`);
    }
    if (timed) schedule.ranAlone(blocks, performance.now() - started);
    return code === 0
      ? undefined
      : this.#faulted(alone.module, shape, [{ thread: 0, site: code - 1, error: undefined }]);
  }

  #runTogether(plan: Plan, shape: LaunchShape, blocks: number): DriverError | undefined {
    const engine = this.#engine;
    plan.together ??= this.#variant(plan.block, true);
    const { module, code, run } = plan.together;
    engine.reserveScratch(engine.threads, module.scratchBytes + ((shape.sharedBytes + 15) & ~15));
    // Making room may have moved the memory: then this launch goes the other way, by a plan of its own.
    if (plan.generation !== engine.memory.generation) return this.#runAlone(this.#find(plan.block), shape, blocks);
    const { pool } = engine;
    if (plan.registered?.pool !== pool) plan.registered = { id: pool.register(code), pool };
    const { ready } = pool;
    const started = performance.now();
    const faults = pool.run({
      module: plan.registered.id,
      total: blocks,
      record: RECORD_ADDRESS,
      scratch: engine.scratch,
      stride: engine.scratchStride,
      run,
    });
    // Before the workers have come up the time says nothing; if there are none, it is how things are.
    if (ready > 0 || pool.workers.length === 0) plan.schedule.ranTogether(blocks, performance.now() - started);
    return faults.length === 0 ? undefined : this.#faulted(module, shape, faults);
  }

  /** The fault in the lowest block is the launch's: chunks go out in order, so which one that is does not vary. */
  #faulted(module: WasmModule, shape: LaunchShape, faults: readonly ThreadFault[]): DriverError {
    const engine = this.#engine;
    const records = faults
      .filter((fault) => fault.error === undefined)
      .map((fault) => {
        const address = engine.scratch + fault.thread * engine.scratchStride;
        return readFault(new DataView(engine.memory.bytes.buffer, address, FAULT_BYTES), fault.site);
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

/** What the engine throws out of WebAssembly code, as opposed to what a `console.log` of the user's throws. */
function isTrap(error: unknown): error is Error {
  if (error instanceof WebAssembly.RuntimeError) return true;
  return error instanceof RangeError && error.message.includes('call stack');
}
