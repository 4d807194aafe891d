/**
 * A kernel loaded on the simulator: its text, compiled under the name of the author's file, and how a launch runs it.
 *
 * Blocks run one after another, the threads of a block take turns at barriers. The first fault ends the launch.
 */
import type { ArraySym, Kernel } from '../../compiler/ir/ops.ts';
import { ELEM_SIZE } from '../../compiler/ir/ops.ts';
import { describePasses } from '../../compiler/ir/passes/describe.ts';
import { switchFromEnvironment } from '../../environment.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import { findNodeModule } from '../../host/index.ts';
import { trace } from '../../trace.ts';
import { enqueueLaunch } from '../async-launch.ts';
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
import type { LaunchHost } from '../host-memory.ts';
import { kernelLabel, timeoutError, withLaunchStack } from '../launch-errors.ts';
import { SlicedRun } from '../sliced-run.ts';
import { type Backing, SimulatedArray } from './array.ts';
import { indices, runInPhases, runStraight, type ThreadFunction } from './block.ts';
import { type Emitted, ENVIRONMENT, emitKernel, type Script } from './emit.ts';
import type { SimulatorMemory } from './memory.ts';
import { Fault, Runtime } from './runtime.ts';
import { Shadow } from './shadow.ts';

/** A kernel on the simulator. A launch is over when it returns. */
export class SimulatorExecutable implements Executable {
  readonly attributes: ExecutableAttributes;
  readonly #memory: SimulatorMemory;
  readonly #host: LaunchHost;
  readonly #kernel: Kernel;
  readonly #emitted: Emitted;
  readonly #factories: readonly ((...environment: unknown[]) => ThreadFunction)[];
  readonly #constants: ReadonlyMap<ArraySym, Backing>;
  readonly #waitsForGrid: boolean;
  #loaded = true;

  constructor(kernel: Kernel, maxThreads: number, memory: SimulatorMemory, host: LaunchHost) {
    this.#kernel = kernel;
    this.#memory = memory;
    this.#host = host;
    this.#waitsForGrid = waitsForGrid(kernel);
    this.attributes = attributesOf(kernel, maxThreads);
    this.#emitted = emitKernel(kernel, switchFromEnvironment('TSAMBA_SIMULATOR_OVERFLOW') ?? true);
    const { arrays, parameters, scripts } = this.#emitted;
    trace('js', () => `${kernelLabel(kernel)}\n${this.#text()}`);
    const environment = [
      ...ENVIRONMENT,
      ...arrays.map(({ name }) => name),
      ...parameters.filter((p) => p !== undefined),
    ];
    this.#factories = scripts.map((script) => evaluate(script, environment));
    this.#constants = new Map(
      kernel.arrays
        .filter(({ space }) => space === 'constant')
        .map((array) => [array, backing(array.data?.slice() ?? new Uint8Array())]),
    );
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const target = this.#host.streamOf(stream);
    this.#check(shape);
    this.#host.waitForWork();
    this.#host.beforeLaunch(args);
    let error: DriverError | undefined;
    try {
      const run = this.#begin(shape, args);
      run.finish();
      error = run.end();
    } finally {
      this.#host.afterLaunch(args);
    }
    if (error === undefined) return;
    withLaunchStack(error, this.launch);
    if (error.code === 'E_TIMEOUT') throw error;
    this.#host.onFault(error, target);
  }

  launchLater(
    asked: LaunchShape,
    given: LaunchArgs,
    stream: StreamHandle | undefined,
    onProgress: ((done: number) => void) | undefined,
  ): PendingLaunch {
    const target = this.#host.streamOf(stream);
    this.#check(asked);
    return enqueueLaunch(this.#host, target, asked, given, this.#begin.bind(this), onProgress);
  }

  /** Throws for a launch that cannot be. */
  #check({ grid }: LaunchShape): void {
    if (!this.#loaded)
      throw new DriverError(
        'E_UNLOADED',
        `kernel ${this.#kernel.name} has been unloaded with its device: launch it again`,
      );
    if (this.#waitsForGrid) refuseSeveralBlocks(this.#kernel, grid[0] * grid[1] * grid[2], 'the simulator');
  }

  /** The blocks of a launch, x fastest. */
  #begin(shape: LaunchShape, args: LaunchArgs): SlicedRun {
    const runtime = new Runtime(this.#kernel, shape, this.#emitted.sites);
    const main = this.#bind(runtime, shape, args);
    const runOne = this.#emitted.generator ? runInPhases : runStraight;
    const threads = indices(shape.block);
    const [nx, ny, nz] = shape.grid;
    const run = (first: number, end: number): DriverError | undefined => {
      try {
        for (let number = first; number < end; number++) {
          runtime.beginBlock(number);
          const row = Math.floor(number / nx);
          runOne(main, runtime, threads, { x: number % nx, y: row % ny, z: Math.floor(row / ny) });
        }
        return undefined;
      } catch (error) {
        if (error instanceof Fault) return error.error;
        throw error;
      }
    };
    const timedOut = (done: number): DriverError => timeoutError(this.#kernel, shape, done);
    return new SlicedRun({ total: nx * ny * nz, limit: shape.timeout ?? 0, run, timedOut });
  }

  inspect(target: string): string | undefined {
    // It runs what the front end made.
    if (target === 'passes') return describePasses(this.#kernel, () => undefined);
    if (target !== 'js') return undefined;
    return this.#text();
  }

  #text(): string {
    return this.#emitted.scripts
      .map(({ url, line, text }) => `// ${url}:${line + 1}\n${text.replace(/\n{3,}/g, '\n\n')}`)
      .join('\n\n');
  }

  suggestBlock(_sharedBytes: number, limit: number): number {
    return Math.min(256, limit);
  }

  /** One block runs at a time on a thread of the processor. */
  activeBlocks(): number {
    return 1;
  }

  unload(): void {
    this.#loaded = false;
  }

  /** The thread function over the memory and arguments of this launch. */
  #bind(runtime: Runtime, shape: LaunchShape, args: LaunchArgs): ThreadFunction {
    const backings = this.#backings(shape);
    const [x, y, z] = shape.block;
    const [gx, gy, gz] = shape.grid;
    const functions: ThreadFunction[] = [];
    const values: unknown[] = [runtime, functions, { x, y, z }, { x: gx, y: gy, z: gz }];
    for (const { array, elem } of this.#emitted.arrays) {
      const [memory, base] = array.space === 'global' ? this.#global(array, args) : [backings(array), 0];
      values.push(new SimulatedArray(array, elem, runtime, memory, base));
    }
    this.#emitted.parameters.forEach((name, index) => {
      if (name !== undefined) values.push(this.#argument(index, args));
    });
    functions.push(...this.#factories.map((factory) => factory(...values)));
    const [main] = functions;
    if (main === undefined) throw new Error('internal error: no function was emitted');
    return main;
  }

  #argument(index: number, args: LaunchArgs): number | bigint | boolean {
    const value = args[index] ?? 0;
    switch (this.#kernel.params[index]?.type) {
      case 'bool':
        return Boolean(value);
      case 'i64':
        return BigInt.asIntN(64, BigInt(value));
      case 'u64':
        return BigInt.asUintN(64, BigInt(value));
      case 'i32':
        return Number(value) | 0;
      case 'u32':
        return Number(value) >>> 0;
      case 'f32':
        return Math.fround(Number(value));
      default:
        return Number(value);
    }
  }

  #global(array: ArraySym, args: LaunchArgs): [Backing, number] {
    const address = Number(args[array.param ?? -1] ?? 0);
    const allocation = address === 0 ? undefined : this.#memory.find(address);
    // An array of no elements has no memory; neither has one that was freed, which the first access will tell.
    return allocation === undefined ? [backing(new Uint8Array()), 0] : [allocation, address - allocation.start];
  }

  /** Memory of shared and local arrays, made when first asked for; all dynamic arrays are one. */
  #backings(shape: LaunchShape): (array: ArraySym) => Backing {
    const made = new Map<ArraySym | 'dynamic', Backing>(this.#constants);
    const threads = shape.block[0] * shape.block[1] * shape.block[2];
    return (array) => {
      const key = array.dynamic ? 'dynamic' : array;
      let memory = made.get(key);
      if (memory === undefined) {
        const own = (array.length ?? 0) * ELEM_SIZE[array.elem];
        const bytes = array.dynamic ? shape.sharedBytes : array.space === 'local' ? own * threads : own;
        memory = backing(new Uint8Array(bytes));
        made.set(key, memory);
      }
      return memory;
    };
  }
}

function backing(bytes: Uint8Array): Backing {
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), shadow: new Shadow(bytes.length) };
}

/** Compiles a script as if it stood in the author's file: breakpoints that are set there bind to it. Pages show it by itself. */
function evaluate(script: Script, environment: readonly string[]): (...values: unknown[]) => ThreadFunction {
  const { text, url, line } = script;
  const compiled: unknown =
    findNodeModule('node:vm')?.compileFunction(text, environment, { filename: url, lineOffset: line }) ??
    inPage(environment, `${text}\n//# sourceURL=${url}`);
  return compiled as (...values: unknown[]) => ThreadFunction;
}

function inPage(environment: readonly string[], text: string): unknown {
  try {
    return Reflect.construct(Function, [...environment, text]);
  } catch (cause) {
    if (!(cause instanceof EvalError)) throw cause;
    throw new NotSupportedError(
      'E_NO_EVAL',
      "the simulator makes JavaScript of kernels, which the page's content security policy forbids: add 'unsafe-eval' to its script-src while you debug, or compute on another device, " +
        "which needs none: await cuda.open('cpu')",
      { cause },
    );
  }
}
