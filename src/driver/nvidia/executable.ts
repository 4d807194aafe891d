/**
 * A kernel loaded on an NVIDIA device: one module, and a second one for launches whose arrays overlap, made when first wanted.
 *
 * `launch` is the path that counts: no allocation, no closure, and no check that could be made once. CUDA driver API, sections
 * "Execution Control" and "Occupancy".
 */

import { withinStack } from '../../compiler/frontend/too-deep.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import { describePasses } from '../../compiler/ir/passes/pipeline.ts';
import type { PtxModule, PtxTarget } from '../../compiler/render/ptx/module.ts';
import { variable } from '../../environment.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import type { Executable, ExecutableAttributes, LaunchArgs, LaunchShape, Program, StreamHandle } from '../driver.ts';
import { describeLaunch, kernelLabel } from '../launch-errors.ts';
import type { PtxPipeline } from './compile.ts';
import type { CudaContext } from './context.ts';
import type { Cuda } from './library.ts';
import { LoadedModule } from './module.ts';
import type { LaunchRecords } from './records.ts';
import type { CudaStream, CudaStreams } from './streams.ts';

/** What a loaded kernel needs of its device. */
export interface ExecutableHost {
  readonly context: CudaContext;
  readonly streams: CudaStreams;
  readonly records: LaunchRecords;
  readonly pipeline: PtxPipeline;
  readonly target: PtxTarget;
  readonly maxThreadsPerBlock: number;
  /** Shared memory of a block, static and dynamic together. */
  readonly maxSharedBytes: number;
  readonly cooperative: boolean;
  /** `TSAMBA_DEBUG=sync`: launches wait, and throw what goes wrong. */
  readonly synchronous: boolean;
  /** What closing the device has to unload. */
  readonly loaded: Set<Executable>;
  synchronizeStream(stream: CudaStream): void;
  /** Whether an address that kernels are given is in memory of the host. */
  isHost(address: number): boolean;
}

/** A kernel on an NVIDIA device. */
export class CudaExecutable implements Executable {
  readonly attributes: ExecutableAttributes;
  readonly #host: ExecutableHost;
  readonly #context: CudaContext;
  readonly #streams: CudaStreams;
  readonly #launchKernel: Cuda['cuLaunchKernel'];
  readonly #program: Program;
  readonly #module: LoadedModule;
  #aliased: LoadedModule | undefined;
  #loaded = true;

  constructor(host: ExecutableHost, program: Program) {
    this.#host = host;
    this.#context = host.context;
    this.#streams = host.streams;
    this.#launchKernel = host.context.cuda.cuLaunchKernel;
    this.#program = program;
    this.#module = this.#load(false);
    const { registers, localBytes, constBytes, staticBytes, maxThreadsPerBlock, ptx } = this.#module;
    if (ptx.cooperative && !host.cooperative) {
      throw new NotSupportedError(
        'E_COOPERATIVE',
        `${this.#name}: ${host.context.name} cannot launch grids whose blocks wait for each other`,
      );
    }
    this.attributes = {
      registers,
      localBytes,
      constBytes,
      sharedBytes: staticBytes + ptx.extraSharedBytes,
      maxThreadsPerBlock: Math.min(maxThreadsPerBlock, program.launchBounds ?? host.maxThreadsPerBlock),
    };
  }

  get #kernel(): Kernel {
    return this.#program.kernel;
  }

  get #name(): string {
    return kernelLabel(this.#kernel);
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const { grid, block } = shape;
    const context = this.#context;
    const target = this.#streams.resolve(stream, 'cuLaunchKernel');
    if (grid[0] * grid[1] * grid[2] === 0) return;
    if (!this.#loaded) this.#failUnloaded();
    context.enter('cuLaunchKernel');
    const module = shape.aliased === true ? this.#aliasedModule() : this.#module;
    const { params } = module;
    params.write(args);
    const dynamic = shape.sharedBytes + module.ptx.extraSharedBytes;
    if (dynamic > module.allowed) module.allowShared(this.#host.maxSharedBytes);
    if (module.watched) params.writeLaunchNumber(this.#host.records.note(module, shape, target, this.launch));
    context.launches.note(this.#kernel, shape);
    const result = module.ptx.cooperative
      ? this.#launchCooperative(module, shape, dynamic, target)
      : this.#launchKernel(
          module.function,
          grid[0],
          grid[1],
          grid[2],
          block[0],
          block[1],
          block[2],
          dynamic,
          target.handle,
          0,
          params.extra,
        );
    if (result !== 0) this.#failLaunch(result, shape);
    if (this.#host.synchronous) this.#host.synchronizeStream(target);
  }

  #launchCooperative(module: LoadedModule, { grid, block }: LaunchShape, dynamic: number, stream: CudaStream): number {
    const { cuLaunchCooperativeKernel: launch } = this.#context.cuda;
    // Without the function the device is not `cooperative`, and the kernel was refused.
    if (launch === undefined) return 0;
    return launch(
      module.function,
      grid[0],
      grid[1],
      grid[2],
      block[0],
      block[1],
      block[2],
      dynamic,
      stream.handle,
      module.params.pointers,
    );
  }

  #failLaunch(result: number, shape: LaunchShape): never {
    const launch = `${this.#name} with ${describeLaunch(shape)}`;
    throw this.#context.failure(result, 'cuLaunchKernel', { about: `launching kernel ${launch}`, launch });
  }

  #failUnloaded(): never {
    throw new DriverError('E_UNLOADED', `kernel ${this.#name} has been unloaded with its device: launch it anew`);
  }

  /** The form that reads nothing through the read-only path. */
  #aliasedModule(): LoadedModule {
    if (!this.#module.ptx.usesReadOnlyPath) return this.#module;
    this.#aliased ??= this.#load(true);
    return this.#aliased;
  }

  #load(aliased: boolean): LoadedModule {
    this.#context.enter('cuModuleLoadDataEx');
    return new LoadedModule(this.#context, this.#kernel, this.#compile(aliased));
  }

  #compile(aliased: boolean, kernel: Kernel = this.#kernel): PtxModule {
    const { launchBounds, maxRegisters } = this.#program;
    const name = this.#program.name ?? (isProfiled() ? kernelLabel(kernel) : kernel.name);
    const { pipeline, target } = this.#host;
    return withinStack(
      () => kernel.pos,
      () => pipeline.compile(kernel, target, { name, launchBounds, maxRegisters, aliased }),
    );
  }

  inspect(target: string): string | undefined {
    if (target === 'passes') return describePasses(this.#kernel, (kernel) => this.#compile(false, kernel));
    return target === 'ptx' ? this.#module.ptx.text : undefined;
  }

  suggestBlock(sharedBytes: number, limit: number): number {
    const { cuda, cells } = this.#context;
    this.#context.enter('cuOccupancyMaxPotentialBlockSize');
    const dynamic = sharedBytes + this.#module.ptx.extraSharedBytes;
    const result = cuda.cuOccupancyMaxPotentialBlockSize(
      cells.at(0),
      cells.at(1),
      this.#module.function,
      0,
      dynamic,
      limit,
    );
    this.#context.check(result, 'cuOccupancyMaxPotentialBlockSize');
    return Math.min(limit, Math.max(1, cells.int(1)));
  }

  activeBlocks(threads: number, sharedBytes: number): number {
    const { cuda, cells } = this.#context;
    const api = 'cuOccupancyMaxActiveBlocksPerMultiprocessor';
    this.#context.enter(api);
    const dynamic = sharedBytes + this.#module.ptx.extraSharedBytes;
    if (dynamic > this.#module.allowed) this.#module.allowShared(this.#host.maxSharedBytes);
    this.#context.check(cuda[api](cells.at(0), this.#module.function, threads, dynamic), api);
    return cells.int(0);
  }

  unload(): void {
    if (!this.#loaded) return;
    this.#loaded = false;
    this.#host.loaded.delete(this);
    if (this.#context.closed || this.#context.broken !== undefined) return;
    this.#context.enter('cuModuleUnload');
    this.#module.unload(this.#host.records);
    this.#aliased?.unload(this.#host.records);
  }
}

/**
 * Whether a profiler has started this process: then anonymous kernels are called what their file assigns them to. Finding that out
 * reads files and source maps, which takes longer than compiling does.
 */
function isProfiled(): boolean {
  return ['CUDA_INJECTION64_PATH', 'NSYS_PROFILING_SESSION_ID', 'NV_TPS_LAUNCH_TOKEN'].some(
    (name) => variable(name) !== undefined,
  );
}
